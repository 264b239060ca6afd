"""Cuts a program down while it still does what is looked for."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator


def shrunk(text: str, still: Callable[[str], bool]) -> str:
    """The smallest program that cuts lead to, one at a time, for which `still` answers True."""
    while True:
        for smaller in cuts(text):
            if still(smaller):
                text = smaller
                break
        else:
            return text


def cuts(text: str) -> Iterator[str]:
    """The program with one statement left out, or replaced by one of its blocks, or with a simpler value."""
    tree = ast.parse(text)
    for place, node in enumerate(ast.walk(tree)):
        for field, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                for i, statement in enumerate(value):
                    for instead in _instead(statement):
                        yield _with(tree, place, field, i, instead)
            elif isinstance(value, ast.expr):
                for part in _parts(value):
                    yield _with(tree, place, field, None, part)


def _instead(node: ast.stmt) -> list[list[ast.stmt]]:
    if isinstance(node, ast.Import):
        return []
    blocks = [getattr(node, name, []) for name in ("body", "orelse")]
    return [[], *([] if isinstance(node, ast.FunctionDef) else filter(None, blocks))]


def _parts(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.BoolOp(values=values):
            return values
        case ast.UnaryOp(operand=operand):
            return [operand]
        case ast.IfExp(body=body, orelse=orelse):
            return [body, orelse]
        case ast.Call(args=args):
            return args
    return []


def _with(tree: ast.Module, place: int, field: str, i: int | None, new: object) -> str:
    """The text of the tree with a member of one of its nodes replaced."""
    made = copy.deepcopy(tree)
    node = list(ast.walk(made))[place]
    if i is None:
        setattr(node, field, copy.deepcopy(new))
    else:
        members = getattr(node, field)
        members[i : i + 1] = copy.deepcopy(new)
        if not members and field != "orelse":
            members.append(ast.Pass())
    return ast.unparse(ast.fix_missing_locations(made)) + "\n"
