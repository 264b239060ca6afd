"""Makes statements anew with other blocks, as the first steps of lifting do."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable

from .facts.profile import FunctionNode

Block = list[ast.stmt]


def rebuilt(node: ast.stmt, change: Callable[[Block], Block]) -> ast.stmt:
    """A statement with its blocks made anew; the same one where nothing changes, or where it is a scope of its own.

    The new one remembers as `origin` which statement of the file it stands for.
    """
    if isinstance(node, FunctionNode | ast.ClassDef):
        return node
    made = copy.copy(node)
    changed = False
    for name in ("body", "orelse", "finalbody"):
        old = getattr(node, name, None)
        if isinstance(old, list) and old and isinstance(old[0], ast.stmt):
            new = change(old)
            changed = changed or new != old
            setattr(made, name, new or [ast.Pass()])
    return with_origin(made, node) if changed else node


def with_origin(made: ast.stmt, node: ast.stmt) -> ast.stmt:
    """A made statement that remembers the statement of the file it stands for."""
    made.origin = getattr(node, "origin", node)  # type: ignore[attr-defined]
    return made


def copied(node: ast.stmt) -> ast.stmt:
    """A deep copy whose statements remember where they come from."""
    made = copy.deepcopy(node)
    for old, new in zip(ast.walk(node), ast.walk(made), strict=True):
        if isinstance(new, ast.stmt):
            new.origin = getattr(old, "origin", old)  # type: ignore[attr-defined]
    return made
