"""Proofs: original and lift are run on the same calls, compared and timed."""

from .interpreter import ProofError
from .results import Proof, Row
from .verify import verify

__all__ = ["Proof", "ProofError", "Row", "verify"]
