"""Assignments to properties are calls of what sets them, so that these can be inlined like others."""

from __future__ import annotations

import ast
from collections.abc import Callable

from .rebuilding import with_origin


def in_full(node: ast.stmt, is_setter: Callable[[ast.Call], bool]) -> ast.stmt:
    """A statement, with `a.x += b` of a property as `a.x = a.x + b`."""
    match node:
        case ast.AugAssign(target=ast.Attribute() as target, op=op, value=value) if (
            is_setter(ast.Call(target, [value], []))
        ):
            read = getattr(target, "as_load", None)
            read = read or ast.Attribute(target.value, target.attr, ast.Load())
            made = ast.Assign([target], ast.BinOp(read, op, value))
            return with_origin(made, node)
    return node


def as_call(node: ast.stmt, is_setter: Callable[[ast.Call], bool]) -> ast.stmt:
    """A statement, with an assignment to a property as a call, of which the function is what was assigned to."""
    match node:
        case ast.Assign(targets=[ast.Attribute() as target], value=value):
            call = ast.Call(target, [value], [])
            if is_setter(call):
                return with_origin(ast.Expr(call), node)
    return node


def calling(node: ast.expr) -> ast.expr | None:
    """What tells a call from others: the property, where it is an assignment; None for what only names one."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        return None
    return assigned(node) or node


def assigned(node: ast.expr) -> ast.Attribute | None:
    """The property that a call stands for the assignment to; None for any other call."""
    match node:
        case ast.Call(func=ast.Attribute(ctx=ast.Store()) as target):
            return target
    return None
