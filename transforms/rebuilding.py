"""Makes statements anew with other blocks, as the first steps of lifting do."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from typing import Any

from .facts.profile import FunctionNode
from .making import PLACE, filled

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
            setattr(made, name, new or ([] if name == "orelse" else [ast.Pass()]))
    return with_origin(made, node) if changed else node


def with_body(node: FunctionNode, body: Block) -> FunctionNode | None:
    """A function with another body; None where that is the one it has."""
    if body == node.body:
        return None
    made = copy.copy(node)
    made.body = body
    return made


def duplicated(body: Block) -> Block:
    """A block once more, to stand in a second place: new nodes, each for the same statement of the file."""
    return [_duplicate(node) for node in body]


def _duplicate(node: Any) -> Any:
    if isinstance(node, list):
        return [_duplicate(item) for item in node]
    if not isinstance(node, ast.AST):
        return node
    made = copy.copy(node)
    made.__dict__.pop("as_load", None)
    for name, value in ast.iter_fields(node):
        setattr(made, name, _duplicate(value))
    if isinstance(made, ast.stmt):
        with_origin(made, node)  # type: ignore[arg-type]
        made.duplicate_of = getattr(node, "duplicate_of", node)  # type: ignore[attr-defined]
    return made


def with_origin(made: ast.stmt, node: ast.stmt) -> ast.stmt:
    """A made statement, other than those of the file, that remembers which of them it stands for."""
    made.__dict__.pop("duplicate_of", None)
    made.origin = getattr(node, "origin", node)  # type: ignore[attr-defined]
    return made


def each_made(body: Block, change: Callable[[ast.stmt], Block]) -> Block:
    """A block with what `change` makes of each statement, which remembers where it comes from."""
    return [
        made if made is node else with_origin(made, node)
        for node in body
        for made in change(node)
    ]


def replaced(node: ast.AST, table: dict[ast.AST, ast.AST]) -> ast.AST:
    """A node with others in the place of some inside it; the same one where there are none."""
    if node in table:
        return table[node]
    made = copy.copy(node)
    changed = False
    for name, old in ast.iter_fields(node):
        if isinstance(old, ast.AST):
            new: object = replaced(old, table)
        elif isinstance(old, list):
            new = [replaced(n, table) if isinstance(n, ast.AST) else n for n in old]
        else:
            continue
        if new != old:
            setattr(made, name, new)
            changed = True
    if not changed:
        return node
    if isinstance(made, ast.stmt) and isinstance(node, ast.stmt):
        return with_origin(made, node)
    return made


def copied(node: ast.stmt) -> ast.stmt:
    """A deep copy whose statements remember where they come from."""
    made = copy.deepcopy(node)
    for old, new in zip(ast.walk(node), ast.walk(made), strict=True):
        if isinstance(new, ast.stmt):
            with_origin(new, old)  # type: ignore[arg-type]
    return made


def written_out(node: ast.stmt, values: dict[str, ast.expr]) -> ast.stmt:
    """A statement with values in the place of names in its expressions."""
    made = copy.copy(node)
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.expr):
            setattr(made, field, filled(value, values))
    for attribute in (PLACE | {"duplicate_of"}) & vars(made).keys():
        delattr(made, attribute)
    return with_origin(made, node)
