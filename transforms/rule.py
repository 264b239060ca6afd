"""What a rule is: a code, a name, and a docstring that is its documentation."""

from __future__ import annotations

import inspect
from typing import ClassVar

from .findings import Applicability

TRUTH = r"Using a (symbolic )?(`?tf\.Tensor`? )?as a Python (`?bool`? )?is not allowed"
"""What TensorFlow says of a tensor that is asked for its truth; a shell takes what stands in backticks out."""
ITERATION = r"[Ii]terating over (a )?(symbolic )?(`?tf\.Tensor`? )?is not allowed"
ARMS = r"true_fn and false_fn arguments to tf\.cond must have the same number, type, and overall structure"
LEAK = r"InaccessibleTensorError|is out of scope and cannot be used here|cannot be accessed from .*FuncGraph"


class Rule:
    """A pattern that keeps code from running well as a graph, and its cure.

    The docstring of a rule is its documentation, under the headings What it finds, Why it matters, Before, After,
    When it is left alone.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    applicability: ClassVar[Applicability] = "safe"
    errors: ClassVar[tuple[str, ...]] = ()
    """Regular expressions of the messages of TensorFlow that this rule cures."""

    @classmethod
    def documentation(cls) -> str:
        return inspect.cleandoc(cls.__doc__ or "")
