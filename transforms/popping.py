"""Takes the items that a statement takes out of lists along the way, `found[stack.pop()] = i`, in statements before it."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TypeGuard

from .facts.environment import FunctionFacts
from .facts.kinds import Dict, Mapping
from .facts.profile import FunctionNode
from .facts.syntax import blocks
from .making import assigned, is_atom, name
from .rebuilding import each_made, rebuilt, replaced, with_body, with_origin
from .source import Names


def with_pops_first(facts: FunctionFacts, names: Names) -> FunctionNode | None:
    """The function with an item taken out first in each such statement; None where it has none."""
    if not any(p.code == "GL203" for p in facts.problems):
        return None

    def made(node: ast.stmt) -> list[ast.stmt]:
        if blocks(node):
            return [rebuilt(node, block)]
        taken = _first(_evaluated(node))
        if taken is None or _is_keyed(taken.func, facts):
            return [node]
        item = names.fresh("item")
        take = with_origin(assigned(item, taken), node)
        rest = replaced(node, {taken: name(item)})
        assert isinstance(rest, ast.stmt)
        return [take, rest]

    def block(body: list[ast.stmt]) -> list[ast.stmt]:
        return each_made(body, made)

    node = facts.definition.node
    return with_body(node, block(node.body))


def _is_keyed(method: ast.expr, facts: FunctionFacts) -> bool:
    return isinstance(method, ast.Attribute) and isinstance(
        facts.kind(method.value), Dict | Mapping
    )


def _evaluated(node: ast.stmt) -> list[ast.expr]:
    """What a statement that changes a list, or reads several items, works out, in order."""
    match node:
        case ast.Assign(
            targets=[ast.Subscript(value=ast.Name(), slice=index)], value=value
        ):
            return [value, index]
        case ast.AugAssign(target=ast.Subscript(value=ast.Name(), slice=index)):
            return [index]
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name()), args=args)):
            return args
        case (
            ast.Assign(targets=[ast.Name()], value=ast.expr() as value)
            | ast.Return(value=ast.expr() as value)
        ) if sum(map(_is_pop, ast.walk(value))) > 1:
            return [value]
    return []


def _first(nodes: Iterable[ast.expr]) -> ast.Call | None:
    """The item that is taken out before anything else is worked out, but names and constants."""
    for node in nodes:
        if not is_atom(node):
            return node if _is_pop(node) else _first(_parts(node))
    return None


def _parts(node: ast.expr) -> list[ast.expr]:
    """What an expression works out, in order, as long as it surely does."""
    match node:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.Compare(left=left, comparators=[right]):
            return [left, right]
        case ast.UnaryOp(operand=operand):
            return [operand]
        case ast.Call(func=function, args=args):
            return [function, *args]
        case ast.Subscript(value=value, slice=index):
            return [value, index]
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            return elts
        case ast.IfExp(test=test):
            return [test]
    return []


def _is_pop(node: ast.AST) -> TypeGuard[ast.Call]:
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(), attr="pop" | "popleft"), args=args
        ):
            return all(map(is_atom, args))
    return False
