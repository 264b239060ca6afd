"""The tests of `while` loops: what ends a loop first, and what a test names, have their places in it or before it."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator
from typing import TypeGuard

from .leaving import has_own, is_endless
from .making import name, negated
from .rebuilding import with_origin


def ended_first(
    node: ast.For | ast.While,
) -> tuple[ast.For | ast.While, list[ast.stmt]]:
    """A loop and what follows it: `while True: if c: break; ...` is `while not c: ...`; so is a return."""
    if not isinstance(node, ast.While) or node.orelse:
        return node, []
    match node.body:
        case [ast.If(test=test, body=[ast.Break()], orelse=[]), _, *_]:
            made = copy.copy(node)
            made.test = running(node.test, [], negated(test))
            made.body = node.body[1:]
            return ended_first(made)
        case [ast.If(test=test, body=[ast.Return() as leave], orelse=[]), _, *_] if (
            is_endless(node)
        ):
            made = copy.copy(node)
            made.test = negated(test)
            made.body = node.body[1:]
            if not any(has_own(s, ast.Break) for s in made.body):
                return made, [leave]
    return node, []


def naming_inside(node: ast.For | ast.While) -> ast.For | ast.While:
    """`while (y := e) > 1: ...` is `while True: y = e; if not y > 1: break; ...`."""
    if not isinstance(node, ast.While) or node.orelse:
        return node
    found = list(_first_named(node.test))
    named = [n for n in ast.walk(node.test) if isinstance(n, ast.NamedExpr)]
    if not named or found != named:
        return node
    test = copy.deepcopy(node.test)
    names: list[ast.stmt] = [
        ast.Assign([ast.Name(n.target.id, ast.Store())], n.value) for n in found
    ]
    made = copy.copy(node)
    made.test = ast.Constant(True)
    leave = ast.If(negated(_Named().visit(test)), [ast.Break()], [])
    made.body = [*names, leave, *node.body]
    with_origin(made, node)
    return made


def _first_named(node: ast.expr) -> Iterator[ast.NamedExpr]:
    """The `:=` that a test evaluates first, whatever comes of it."""
    match node:
        case ast.NamedExpr():
            yield node
        case ast.Compare(left=left):
            yield from _first_named(left)
        case ast.UnaryOp(operand=operand):
            yield from _first_named(operand)
        case ast.BoolOp(values=[first, *_]):
            yield from _first_named(first)


class _Named(ast.NodeTransformer):
    """The names in the place of what names them."""

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        made = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
        made.made = True  # type: ignore[attr-defined]
        return made


def running(test: ast.expr, stops: Iterable[str], *more: ast.expr) -> ast.expr:
    """The test of a loop that flags end, too."""
    going: list[ast.expr] = [negated(name(flag)) for flag in stops]
    if not (isinstance(test, ast.Constant) and test.value):
        going += test.values if _is_and(test) else [test]
    going += more
    if not going:
        return test
    return going[0] if len(going) == 1 else ast.BoolOp(ast.And(), going)


def _is_and(node: ast.expr) -> TypeGuard[ast.BoolOp]:
    return isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And)
