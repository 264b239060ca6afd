"""Which statements find a list with something in it, whatever the tensors hold."""

from __future__ import annotations

import ast
from collections.abc import Collection

from .facts.syntax import blocks

SHRINKING = frozenset({"pop", "popleft", "clear", "remove"})
GROWING = frozenset({"append", "appendleft", "insert"})


def uses(body: list[ast.stmt], lists: Collection[str]) -> frozenset[ast.stmt]:
    """The statements that name a list, and before which no list that they name can be empty."""
    walk = _Walk(frozenset(lists))
    walk.block(body, frozenset())
    return frozenset(walk.found)


class _Walk:
    def __init__(self, lists: frozenset[str]) -> None:
        self.lists = lists
        self.found: set[ast.stmt] = set()

    def block(self, body: list[ast.stmt], filled: frozenset[str]) -> frozenset[str]:
        """Which lists are filled at the end of a block, by those that are at its start."""
        for node in body:
            filled = self.statement(node, filled)
        return filled

    def statement(self, node: ast.stmt, filled: frozenset[str]) -> frozenset[str]:
        if _named(node) & self.lists <= filled or hasattr(node, "never_empty"):
            self.found.add(node)
        if not blocks(node):
            return self._after(node, filled)
        kept = filled - self._emptied(node)
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                then = self.block(body, filled | self._told(test, True))
                other = self.block(orelse, filled | self._told(test, False))
                if _leaves(body):
                    return other
                return then if _leaves(orelse) else then & other
            case ast.While(test=test, body=body):
                self.block(body, kept | self._told(test, True))
                self.block(node.orelse, kept)
                return kept
        for block in blocks(node):
            self.block(block, kept)
        return kept

    def _after(self, node: ast.stmt, filled: frozenset[str]) -> frozenset[str]:
        filled -= self._emptied(node)
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.List(elts=[_, *_])
                | ast.Call(args=[ast.List(elts=[_, *_])], keywords=[]),
            ):
                return filled | {name} & self.lists
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr))
            ) if attr in GROWING:
                return filled | {name} & self.lists
        return filled

    def _emptied(self, node: ast.AST) -> frozenset[str]:
        """The lists of which something in a node may take items, or that it makes anew."""
        found: set[str] = set()
        for inner in ast.walk(node):
            match inner:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id=name), attr=attr)
                ) if attr in SHRINKING:
                    found.add(name)
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                    found.add(name)
                case ast.Subscript(value=ast.Name(id=name), ctx=ast.Del()):
                    found.add(name)
        return frozenset(found)

    def _told(self, test: ast.expr, truth: bool) -> frozenset[str]:
        """The lists that a test finds filled where it has that truth."""
        match test:
            case (
                ast.Name(id=name)
                | ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)])
            ) if truth:
                return self.lists & {name}
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._told(operand, not truth)
            case ast.BoolOp(op=operator, values=values) if truth == isinstance(
                operator, ast.And
            ):
                told = (self._told(value, truth) for value in values)
                return frozenset[str]().union(*told)
            case ast.Compare(
                left=ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]),
                ops=[operator],
                comparators=[ast.Constant(value=int() as size)],
            ) if _least(operator, size, truth) > 0:
                return self.lists & {name}
        return frozenset()


def _least(operator: ast.cmpop, size: int, truth: bool) -> int:
    """How long a list is at least where comparing its length with a size gives that truth."""
    match operator, truth:
        case (ast.Gt(), True) | (ast.LtE(), False):
            return size + 1
        case (ast.GtE(), True) | (ast.Lt(), False) | (ast.Eq(), True):
            return size
        case (ast.NotEq(), True) | (ast.Eq(), False):
            return 1 if size == 0 else 0
        case ast.NotEq(), False:
            return size
    return 0


def _leaves(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(
        body[-1], ast.Return | ast.Raise | ast.Break | ast.Continue
    )


def _named(node: ast.stmt) -> frozenset[str]:
    return frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
