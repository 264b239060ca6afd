"""GL203 list-append: an array to which every iteration of a loop adds one item is as long as the loop."""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass

from .facts.environment import FunctionFacts
from .facts.kinds import Shaped
from .facts.profile import FunctionNode
from .facts.staging import is_strong
from .facts.syntax import bound_names, is_named, names_in, own_nodes
from .making import assigned, called, expression, name
from .rebuilding import rebuilt, with_body, with_origin
from .source import Names


def with_sizes(facts: FunctionFacts, names: Names, tf: str) -> FunctionNode | None:
    """The function with its growing arrays as long as the loops that fill them; None where it has none such."""
    node = facts.definition.node
    return with_body(node, _Sizes(facts, names, tf).block(node.body))


@dataclass(frozen=True)
class _Filling:
    """A loop that fills an array: its place in the block, what writes an item, and the item."""

    place: int
    loop: ast.For
    write: ast.stmt
    item: ast.expr


class _Sizes:
    """Sizes the arrays of one function."""

    def __init__(self, facts: FunctionFacts, names: Names, tf: str) -> None:
        self.facts = facts
        self.names = names
        self.tf = tf

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        for place, node in enumerate(body):
            made = _made_growing(node)
            filling = self._filling(made, body, place + 1) if made else None
            if filling is not None:
                return [
                    *body[:place],
                    *body[place + 1 : filling.place],
                    *self._sized(node, filling),
                    *body[filling.place + 1 :],
                ]
        return [rebuilt(node, self.block) for node in body]

    def _filling(self, array: str, body: list[ast.stmt], start: int) -> _Filling | None:
        """The first statement after the making that mentions the array, where that is a loop that fills it."""
        place = next(
            (i for i in range(start, len(body)) if _mentions(body[i], array)), None
        )
        loop = body[place] if place is not None else None
        if place is None or not isinstance(loop, ast.For) or not self._counts(loop):
            return None
        writes = [s for s in loop.body if _mentions(s, array)]
        if len(writes) != 1 or self._bound(array) != 2:
            return None
        item = _appended(writes[0], array)
        return None if item is None else _Filling(place, loop, writes[0], item)

    def _counts(self, loop: ast.For) -> bool:
        """Whether a loop runs to its end, over the rows of a tensor that has a name or over a `tf.range`."""
        ends = (ast.Break, ast.Continue, ast.Return, ast.Raise)
        if (
            loop not in self.facts.staged
            or loop.orelse
            or hasattr(loop, "stops")
            or not isinstance(loop.target, ast.Name)
            or any(isinstance(n, ends) for s in loop.body for n in ast.walk(s))
        ):
            return False
        kept = {n for s in loop.body for n in self._set_in(s)}
        kind = self.facts.kind(loop.iter)
        if isinstance(loop.iter, ast.Name):
            rows = isinstance(kind, Shaped) and is_strong(kind) and bool(kind.shape)
            return rows and loop.iter.id not in kept
        limit = self._limit(loop.iter)
        return limit is not None and not kept & {loop.target.id, *names_in(limit)}

    def _limit(self, node: ast.expr) -> ast.expr | None:
        """Where a `tf.range` that counts from 0 in int32 ends."""
        match node:
            case ast.Call(func=function, args=[limit], keywords=[]) if (
                getattr(self.facts.kind(function), "name", "") == "tensorflow.range"
                and getattr(self.facts.kind(node), "dtype", "") == "int32"
            ):
                return limit
        return None

    def _set_in(self, node: ast.stmt) -> set[str]:
        return {
            bound
            for inner in ast.walk(node)
            if isinstance(inner, ast.stmt)
            for bound in bound_names(inner)
        }

    def _bound(self, array: str) -> int:
        nodes = own_nodes(self.facts.definition.node)
        return sum(
            array in bound_names(node) for node in nodes if isinstance(node, ast.stmt)
        )

    def _sized(self, maker: ast.stmt, filling: _Filling) -> list[ast.stmt]:
        loop = filling.loop
        assert isinstance(loop.target, ast.Name)
        made = copy.copy(loop)
        length = self._limit(loop.iter)
        index = loop.target.id
        begin: list[ast.stmt] = []
        if length is None:
            assert isinstance(loop.iter, ast.Name)
            length = self._length(loop.iter)
            index = self.names.index()
            made.target = ast.Name(index, ast.Store())
            row = ast.Subscript(name(loop.iter.id), name(index), ast.Load())
            begin = [assigned(loop.target.id, row)] if self._is_read(loop) else []
        before: list[ast.stmt] = []
        if not isinstance(length, ast.Constant | ast.Name):
            named = self.names.fresh("length")
            before, length = [assigned(named, length)], name(named)
        made.iter = called(f"{self.tf}.range", length)
        written = _written_at(filling, index)
        made.body = [
            *begin,
            *(written if s is filling.write else s for s in loop.body),
        ]
        return [*before, _with_size(maker, length), with_origin(made, loop)]

    def _length(self, rows: ast.Name) -> ast.expr:
        """How many rows a tensor has."""
        kind = self.facts.kind(rows)
        size = kind.shape[0] if isinstance(kind, Shaped) and kind.shape else None
        if size is not None:
            return ast.Constant(size)
        return expression(f"{self.tf}.shape({rows.id})[0]")

    def _is_read(self, loop: ast.For) -> bool:
        assert isinstance(loop.target, ast.Name)
        target = loop.target.id
        return any(
            is_named(n, target) and isinstance(n.ctx, ast.Load)
            for n in ast.walk(self.facts.definition.node)
        )


def _made_growing(node: ast.stmt) -> str | None:
    """The name of the array that a statement makes, where it begins without items and takes any number of one shape."""
    match node:
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Call(func=ast.Attribute(attr="TensorArray"), keywords=keywords),
        ):
            given = {k.arg: ast.unparse(k.value) for k in keywords}
            grows = given.get("size") == "0" and given.get("dynamic_size") == "True"
            return name if grows and "infer_shape" not in given else None
    return None


def _appended(node: ast.stmt, array: str) -> ast.expr | None:
    """The item that a statement adds at the end of an array."""
    match node:
        case ast.Assign(
            targets=[ast.Name(id=target)],
            value=ast.Call(
                func=ast.Attribute(value=ast.Name(id=owner), attr="write"),
                args=[place, item],
                keywords=[],
            ),
        ) if target == owner == array and ast.unparse(place) == f"{array}.size()":
            return None if _mentions(item, array) else item
    return None


def _mentions(node: ast.AST, array: str) -> bool:
    return array in names_in(node)


def _written_at(filling: _Filling, index: str) -> ast.stmt:
    assert isinstance(filling.write, ast.Assign)
    made = copy.copy(filling.write)
    call = made.value
    assert isinstance(call, ast.Call)
    made.value = called(call.func, name(index), filling.item)
    return with_origin(made, filling.write)


def _with_size(node: ast.stmt, size: ast.expr) -> ast.stmt:
    assert isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
    made, call = copy.copy(node), copy.copy(node.value)
    call.keywords = [
        ast.keyword("size", size) if k.arg == "size" else k
        for k in call.keywords
        if k.arg != "dynamic_size"
    ]
    made.value = call
    return with_origin(made, node)
