"""Functions that one function makes and another one calls: lambdas and nested functions that are passed as arguments.

They find the names around them where they were made, and what is found out about them belongs to the facts of their maker,
which is the one to write them.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .definitions import FunctionDefinition
from .environment import Environment, FunctionFacts

if TYPE_CHECKING:
    from .evaluation import Evaluation
    from .session import Session


@dataclass(frozen=True)
class Frame:
    """A function in the midst of a call, and what is bound in it there."""

    evaluation: Evaluation
    environment: Environment


def maker_of_lambda(session: Session, node: ast.Lambda) -> Frame | None:
    """The function in which a lambda stands, where that is in the midst of a call."""
    for frame in reversed(session.frames):
        if any(n is node for n in ast.walk(frame.evaluation.facts.definition.node)):
            return frame
    return None


def maker_of(session: Session, definition: FunctionDefinition) -> Frame | None:
    """The function around a nested one, where that is in the midst of a call."""
    parent = definition.parent
    for frame in reversed(session.frames):
        caller = frame.evaluation.facts.definition
        if parent is not None and parent.original is caller.original:
            return frame
    return None


def hand_over(found: FunctionFacts, maker: FunctionFacts, node: ast.Lambda) -> None:
    """Add to the facts of a lambda's maker what another function found out about the lambda by calling it."""
    found.borrows.add(maker.definition.qualname)
    inside = set(ast.walk(node.body))
    maker.staged |= found.staged & inside
    maker.tests |= {n for n in found.tests if n in inside}
    maker.nonzero |= {n for n in found.nonzero if n in inside}
    maker.calls |= {n: name for n, name in found.calls.items() if n in inside}
    maker.foreign |= {n: call for n, call in found.foreign.items() if n in inside}
