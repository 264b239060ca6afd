"""GL203 list-append: a dict of which a tensor decides the keys is two lists, of its keys and of its values.

The first step only. Keys stand in the order in which they came, as in the dict.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from .facts.environment import FunctionFacts
from .facts.kinds import Kind
from .facts.profile import FunctionNode
from .facts.staging import is_strong, is_weak
from .facts.syntax import is_named, names_in, own_nodes
from .facts.tensorflow_values import as_python
from .making import assigned, called, compared, is_atom, name, placed
from .rebuilding import each_made, rebuilt, replaced, with_body, with_origin
from .source import Names

LOOPS = ast.For | ast.While


def without_keys(
    facts: FunctionFacts, names: Names, raised: Collection[str]
) -> FunctionNode | None:
    """The function with two lists in the place of a dict that keeps it from being a graph; None where it has none that can be.

    `raised`: the exceptions that recorded calls raised.
    """
    node = facts.definition.node
    if "KeyError" in raised or not facts.problems:
        return None
    for made in own_nodes(node):
        match made:
            case ast.Assign(targets=[ast.Name(id=text)], value=ast.Dict(keys=[])):
                if _is_served(facts, node, text) and _grows(facts, made, text):
                    keys = names.fresh(f"{text}_keys")
                    values = names.fresh(f"{text}_values")
                    held = _Keyed(text, keys, values, names)
                    return with_body(node, held.block(node.body))
    return None


@dataclass(frozen=True)
class _Keyed:
    """A dict, and the names of the lists of its keys and values; `names` gives those of places in them."""

    name: str
    keys: str
    values: str
    names: Names

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return each_made(body, self._statement)

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        match node:
            case ast.Assign(targets=[ast.Name(id=text)]) if text == self.name:
                return [with_origin(self._new(n), node) for n in self._lists]
            case ast.Assign(targets=[target], value=value) if is_item(
                target, self.name
            ):
                assert isinstance(target, ast.Subscript)
                return [with_origin(self._set(target.slice, value), node)]
            case ast.AugAssign(target=target, op=op, value=value) if is_item(
                target, self.name
            ):
                assert isinstance(target, ast.Subscript)
                new = replaced(value, self._reads(value, {}))
                assert isinstance(new, ast.expr)
                place = self.names.fresh("place")
                changed = ast.AugAssign(self._at(place, ast.Store()), op, new)
                return [self._placed(place, target.slice), with_origin(changed, node)]
        table = {n: m for n in ast.walk(node) if (m := self._read(n)) is not None}
        made = replaced(rebuilt(node, self.block), table)
        assert isinstance(made, ast.stmt)
        return [made]

    @property
    def _lists(self) -> tuple[str, str]:
        return self.keys, self.values

    def _new(self, text: str) -> ast.stmt:
        made = assigned(text, ast.List([], ast.Load()))
        made.of_dict = self.name  # type: ignore[attr-defined]
        return made

    def _placed(self, place: str, key: ast.expr) -> ast.stmt:
        return assigned(place, called(f"{self.keys}.index", key))

    def _at(self, place: str, context: ast.expr_context) -> ast.Subscript:
        return ast.Subscript(name(self.values), name(place), context)

    def _set(self, key: ast.expr, value: ast.expr) -> ast.stmt:
        """An item set, where the key is in the dict and where it is not; asked for there, it is known."""
        same, place = ast.unparse(key), self.names.fresh("place")
        known: dict[ast.AST, ast.AST] = {}
        unknown: dict[ast.AST, ast.AST] = {}
        for node in ast.walk(value):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id=text), attr="get"),
                    args=[asked, default],
                ) if text == self.name and ast.unparse(asked) == same:
                    known[node] = placed(self._at(place, ast.Load()), node)
                    unknown[node] = placed(default, node)
        then = replaced(value, known | self._reads(value, known))
        other = replaced(value, unknown | self._reads(value, unknown))
        assert isinstance(then, ast.expr) and isinstance(other, ast.expr)
        changed = ast.Assign([self._at(place, ast.Store())], then)
        grown: list[ast.stmt] = [
            ast.Expr(called(f"{self.keys}.append", key)),
            ast.Expr(called(f"{self.values}.append", other)),
        ]
        return ast.If(self._has(key), [self._placed(place, key), changed], grown)

    def _reads(
        self, node: ast.AST, done: dict[ast.AST, ast.AST]
    ) -> dict[ast.AST, ast.AST]:
        inside = {n for root in done for n in ast.walk(root)}
        return {
            n: m
            for n in ast.walk(node)
            if n not in inside and (m := self._read(n)) is not None
        }

    def _read(self, node: ast.AST) -> ast.AST | None:
        """What reads the lists in the place of what reads the dict; None for anything else."""
        made = self._of_lists(node)
        return placed(made, node) if made and isinstance(node, ast.expr) else None

    def _of_lists(self, node: ast.AST) -> ast.expr | None:
        match node:
            case ast.Subscript(slice=key, ctx=ast.Load()) if is_item(node, self.name):
                return self._value(key)
            case ast.Compare(
                left=key, ops=[ast.In() | ast.NotIn() as op], comparators=[held]
            ) if self._is(held):
                return compared(key, op, name(self.keys))
            case ast.Call(
                func=ast.Attribute(value=held, attr="get"), args=[key, default]
            ) if self._is(held):
                return ast.IfExp(self._has(key), self._value(key), default)
            case ast.Call(func=ast.Attribute(value=held, attr=kind), args=[]) if (
                self._is(held)
            ):
                parts = {"keys": self.keys, "values": self.values}
                if kind in parts:
                    return name(parts[kind])
                return called("zip", *map(name, self._lists))
            case ast.Call(func=ast.Name(id="len"), args=[held]) if self._is(held):
                return called("len", name(self.keys))
        return None

    def _is(self, node: ast.AST) -> bool:
        return is_named(node, self.name)

    def _has(self, key: ast.expr) -> ast.expr:
        return compared(key, ast.In(), name(self.keys))

    def _value(self, key: ast.expr) -> ast.Subscript:
        place = called(f"{self.keys}.index", key)
        return ast.Subscript(name(self.values), place, ast.Load())


def is_item(node: ast.AST, text: str) -> bool:
    """Whether an expression is an item of what has this name."""
    match node:
        case ast.Subscript(value=ast.Name(id=owner)):
            return owner == text
    return False


def _is_served(facts: FunctionFacts, node: FunctionNode, text: str) -> bool:
    """Whether a tensor decides a key of the dict, all keys are of one type, and lists serve all its uses."""
    apart = FunctionNode | ast.Lambda | ast.ClassDef | ast.Try
    inner = [n for n in ast.walk(node) if n is not node and isinstance(n, apart)]
    if any(text in names_in(n) for n in inner):
        return False
    served: set[ast.AST] = set()
    stored: set[Kind] = set()
    for use in ast.walk(node):
        for held, key, sets in _uses(use):
            if not is_named(held, text):
                continue
            served.add(held)
            if key is None:
                continue
            if is_strong(facts.kind(key)) or not _is_plain(key):
                return False
            if sets:
                stored.add(facts.kind(key))
    uses = [n for n in ast.walk(node) if is_named(n, text)]
    types = {getattr(as_python(k), "type", None) for k in stored}
    return (
        any(map(is_weak, stored))
        and types <= {"int", "str"}
        and len(types) == 1
        and sum(use not in served for use in uses) == 1
    )


def _grows(facts: FunctionFacts, made: ast.Assign, text: str) -> bool:
    """Whether loops of the graph alone set items of a dict that is made before them.

    Elsewhere it may be traced while it is empty, and an empty tensor has no place to set.
    """
    node = facts.definition.node
    loops = [n for n in ast.walk(node) if n in facts.staged and isinstance(n, LOOPS)]
    around = [loop for loop in loops if made not in ast.walk(loop)]
    inside = {n for loop in around for n in ast.walk(loop)}
    return all(
        use in inside
        for use in ast.walk(node)
        for held, _, sets in _uses(use)
        if sets and is_named(held, text)
    )


def _uses(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None, bool]]:
    """The dicts that a node may use, each with the key, and whether it is set."""
    match node:
        case ast.Assign(targets=[ast.Subscript(value=held, slice=key)]) if isinstance(
            key, ast.Name | ast.Constant
        ):
            yield held, key, True
        case ast.AugAssign(target=ast.Subscript(value=held, slice=key)):
            yield held, key, True
        case ast.Subscript(ctx=ast.Load(), value=held, slice=key):
            yield held, key, False
        case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()], comparators=[held]):
            yield held, key, False
        case ast.Call(func=ast.Attribute(value=held, attr="get"), args=[key, default]):
            if is_atom(default):
                yield held, key, False
        case (
            ast.Call(
                func=ast.Attribute(value=held, attr="keys" | "values" | "items"),
                args=[],
            )
            | ast.Call(func=ast.Name(id="len"), args=[held])
        ):
            yield held, None, False


def _is_plain(key: ast.expr) -> bool:
    """Whether a key may be worked out twice."""
    match key:
        case ast.Call(func=ast.Name(id="int"), args=[inner], keywords=[]):
            return is_atom(inner)
    return is_atom(key)
