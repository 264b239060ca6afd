"""What a `for` of the graph counts by, and what each of its iterations binds."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .findings import Refusal
from .steps import Code, Step

if TYPE_CHECKING:
    from .planner import Planner


@dataclass
class Counter:
    """What a for loop counts by, as texts: its start, test and next value, and its spec where that is no scalar.

    `begin` is what each iteration begins with, `before` what stands before the loop; `most` is how often it may run,
    where that is known.
    """

    start: str
    test: str
    next: str
    begin: list[Step]
    before: list[Step]
    spec: str | None = None
    most: int | None = None


def bind_row(planner: Planner, target: ast.expr, text: str) -> Step:
    if isinstance(target, ast.Name):
        return Code(f"{target.id} = {text}")
    if isinstance(target, ast.Tuple) and all(
        isinstance(e, ast.Name) for e in target.elts
    ):
        return Code(planner.unpacking(target, text))
    raise Refusal("how a row unpacks here is not known", target, "GL105")
