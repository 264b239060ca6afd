"""Proofs: original and lift are run on the same calls, compared and timed."""

from .interpreter import ProofError
from .results import UNPROVED, Proof, Row
from .verify import verify

__all__ = ["UNPROVED", "Proof", "ProofError", "Row", "verify"]
