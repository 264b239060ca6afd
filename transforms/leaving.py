"""How statements are left: which blocks never fall through, which breaks and returns stand in a statement."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from types import UnionType

from .facts.profile import FunctionNode
from .facts.syntax import blocks


def always_leaves(body: list[ast.stmt]) -> bool:
    """Whether a block never falls through."""
    return any(map(_never_passes, body))


def _never_passes(node: ast.stmt) -> bool:
    match node:
        case ast.Return() | ast.Break() | ast.Continue() | ast.Raise():
            return True
        case ast.If(body=body, orelse=orelse):
            return always_leaves(body) and always_leaves(orelse)
        case ast.With(body=body) | ast.Try(body=body, handlers=[], orelse=[]):
            return always_leaves(body)
        case ast.While(body=body):
            return is_endless(node) and not any(
                has_own(inner, ast.Break) for inner in body
            )
    return False


def is_endless(node: ast.For | ast.While) -> bool:
    """Whether the test of a loop never fails."""
    return (
        isinstance(node, ast.While)
        and isinstance(node.test, ast.Constant)
        and bool(node.test.value)
    )


def has_own(node: ast.AST, kinds: type | UnionType) -> bool:
    """Whether a break or continue of the loop around a node stands in it."""
    if isinstance(node, kinds):
        return True
    if isinstance(node, ast.For | ast.While):
        return any(has_own(inner, kinds) for inner in node.orelse)
    if not isinstance(node, ast.stmt) or isinstance(node, FunctionNode | ast.ClassDef):
        return False
    return any(has_own(inner, kinds) for block in blocks(node) for inner in block)


def may_return(node: ast.stmt) -> bool:
    if isinstance(node, FunctionNode | ast.ClassDef):
        return False
    return isinstance(node, ast.Return) or any(
        may_return(inner) for block in blocks(node) for inner in block
    )


def set_before_breaks(body: list[ast.stmt]) -> Iterator[str | None]:
    """For each break of a loop with this body, the name that the statement before it sets to True, if it does so."""
    for before, node in itertools.pairwise([ast.Pass(), *body]):
        match before, node:
            case (
                ast.Assign(targets=[ast.Name(id=flag)], value=ast.Constant(value=True)),
                ast.Break(),
            ):
                yield flag
            case _, ast.Break():
                yield None
            case _, ast.For(orelse=orelse) | ast.While(orelse=orelse):
                yield from set_before_breaks(orelse)
            case _, ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                continue
            case _:
                for block in blocks(node):
                    yield from set_before_breaks(block)
