"""Values that only some arms need are worked out in those, where gradients are taken.

The first step only, of GL101 and GL102. Eager mode sends no gradient to a value that the way taken does not use; a graph
sends zeros, which `1.0 / x`, `tf.sqrt` and their like turn into NaN at 0. What an arm does itself, gets nothing where
the arm is not taken.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable

from .facts.environment import FunctionFacts
from .facts.kinds import Dict, Elements, Kind, Mapping, Object, Sequence, Variable
from .facts.liveness import Liveness, liveness
from .facts.profile import FunctionNode
from .facts.staging import FLOATS, is_strong
from .making import filled, unplaced
from .rebuilding import duplicated, rebuilt, with_body, with_origin, written_out
from .singularities import singular_names
from .source import Source
from .tapes import GRADIENTS

SIMPLE = ast.Assign | ast.AugAssign | ast.Return | ast.Expr | ast.AnnAssign
CHANGING = Variable | Object | Sequence | Elements | Dict | Mapping
Block = list[ast.stmt]


def with_values_in_arms(facts: FunctionFacts, source: Source) -> FunctionNode | None:
    """The function with such values in the arms that need them; None where there are none."""
    node = facts.definition.node
    if not facts.taped or not facts.staged:
        return None
    return with_body(node, _Sinking(facts, source).block(node.body))


class _Sinking:
    def __init__(self, facts: FunctionFacts, source: Source) -> None:
        self.facts = facts
        self.source = source
        self.live: Liveness = liveness(facts.definition.node)
        self.affected = {id(n) for nodes in facts.effects.values() for n in nodes}
        self.singular = singular_names(facts)

    # ---- where a value is needed

    def block(self, body: Block) -> Block:
        for i in range(len(body) - 1, -1, -1):
            node = body[i]
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if (
                    name in self.singular and self._may_move(name, value, body, i)
                ):
                    rest = [self._with(s, name, node) for s in body[i + 1 :]]
                    kept = [node] if any(name in _read(s) for s in rest) else []
                    if kept and name in _read(value):
                        continue
                    return [*body[:i], *kept, *rest]
        return [rebuilt(node, self.block) for node in body]

    def _may_move(self, name: str, value: ast.expr, body: Block, place: int) -> bool:
        """Whether arms, and not all of them, are what needs a value, and it is the same there."""
        if not _may_hold_gradients(value, self.facts.kind(value)):
            return False
        rest = body[place + 1 :]
        users = [s for s in rest if name in _read(s)]
        if not users or name in self.live.captured | self._after(body):
            return False
        if any(id(n) in self.affected for n in ast.walk(value)) or any(
            isinstance(n, ast.Attribute) and n.attr in GRADIENTS
            for n in ast.walk(value)
        ):
            return False
        changes = {"assign", "mutates"} & self.facts.effects.keys()
        if changes and not self._is_stateless(value):
            return False
        between = rest[: rest.index(users[-1])]
        if name in _stored(rest) or _stored(between) & _read(value):
            return False
        whole = not isinstance(value, ast.Tuple | ast.List | ast.Dict)
        surely = whole and any(self._needs(s, name) for s in users)
        return not surely and any(self._has_arms(s, name) for s in users)

    def _is_stateless(self, value: ast.expr) -> bool:
        """Whether a value is of tensors and TensorFlow's functions alone: neither changes."""
        for node in ast.walk(value):
            kind = self.facts.kind(node) if isinstance(node, ast.expr) else None
            if isinstance(kind, CHANGING):
                return False
            if isinstance(node, ast.Call):
                name = getattr(self.facts.kind(node.func), "name", "")
                if not name.startswith("tensorflow."):
                    return False
        return True

    def _after(self, body: Block) -> frozenset[str]:
        return self.live.after.get(body[-1], frozenset())

    def _needs(self, node: ast.stmt, name: str) -> bool:
        """Whether every way through a statement sends a gradient to a value; so it is said of what is not known."""
        if name not in _read(node):
            return False
        if isinstance(node, ast.If) and node in self.facts.staged:
            arms = (node.body, node.orelse)
            return all(any(self._needs(s, name) for s in arm) for arm in arms)
        if not isinstance(node, SIMPLE):
            return True
        if isinstance(node, ast.Assign) and node.value is not None:
            dtype = getattr(self.facts.kind(node.value), "dtype", None)
            if dtype is not None and dtype not in FLOATS:
                return False
        if isinstance(node, ast.AugAssign) and name in _read(node.target):
            return True
        return node.value is not None and self._takes(node.value, name)

    def _takes(self, node: ast.AST, name: str) -> bool:
        """Whether an expression, whatever tensors decide, hands a gradient on to a value."""
        match node:
            case ast.Name(id=found):
                return found == name
            case ast.Compare():
                return False
            case ast.IfExp(body=body, orelse=orelse) if node in self.facts.staged:
                return self._takes(body, name) and self._takes(orelse, name)
        return any(self._takes(child, name) for child in ast.iter_child_nodes(node))

    def _has_arms(self, node: ast.stmt, name: str) -> bool:
        if isinstance(node, ast.If):
            return name in _read_in([*node.body, *node.orelse])
        parts = [p for c in self._choices(node) for p in (c.body, c.orelse)]
        return any(name in _read(p) for p in parts)

    def _choices(self, node: ast.stmt) -> list[ast.IfExp]:
        return [
            n
            for n in ast.walk(node)
            if isinstance(n, ast.IfExp) and n in self.facts.staged
        ]

    # ---- the arms with it

    def _with(self, node: ast.stmt, name: str, made: ast.Assign) -> ast.stmt:
        """A statement with a value worked out in its arms."""
        if isinstance(node, ast.If):
            return rebuilt(node, lambda arm: self._arm(arm, name, made))
        if not self._has_arms(node, name):
            return node
        result = unplaced(copy.deepcopy(node))
        pairs = list(zip(ast.walk(node), ast.walk(result), strict=True))
        for old, new in pairs:
            if isinstance(new, ast.IfExp) and old in self.facts.staged:
                value = {name: unplaced(copy.deepcopy(made.value))}
                new.body, new.orelse = (
                    _PICKED.visit(filled(new.body, value)),
                    _PICKED.visit(filled(new.orelse, value)),
                )
        return with_origin(result, node)

    def _arm(self, arm: Block, name: str, made: ast.Assign) -> Block:
        places = [i for i, s in enumerate(arm) if name in _read(s)]
        if not places:
            return arm
        first = places[0]
        node = arm[first]
        count = sum(
            n.id == name for s in arm for n in ast.walk(s) if isinstance(n, ast.Name)
        )
        if (
            count == 1
            and isinstance(node, SIMPLE)
            and not self._choices(node)
            and not _stored(arm[:first]) & _read(made.value)
            and not self.source.has_comment([made])
        ):
            value = {name: unplaced(copy.deepcopy(made.value))}
            used = _PICKED.visit(written_out(node, value))
            return [*arm[:first], used, *arm[first + 1 :]]
        return [*duplicated([made]), *arm]


def _may_hold_gradients(value: ast.expr, kind: Kind) -> bool:
    """Whether this is a float tensor, or the display of a tuple, list or dict that holds one."""
    if isinstance(value, ast.Tuple | ast.List | ast.Dict):
        return any(_is_float(part) for part in kind.parts)
    return _is_float(kind)


def _is_float(kind: Kind) -> bool:
    return is_strong(kind) and getattr(kind, "dtype", None) in FLOATS


class _Picked(ast.NodeTransformer):
    """Items of displays, in the place of subscripts of these."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Subscript(
                value=ast.Tuple(elts=items) | ast.List(elts=items),
                slice=ast.Constant(value=int(place)),
                ctx=ast.Load(),
            ) if 0 <= place < len(items) and not _has_star(items):
                return items[place]
            case ast.Subscript(
                value=ast.Dict(keys=keys, values=values),
                slice=ast.Constant(value=wanted),
                ctx=ast.Load(),
            ):
                found = {
                    k.value: v
                    for k, v in zip(keys, values, strict=True)
                    if isinstance(k, ast.Constant)
                }
                if len(found) == len(keys) and wanted in found:
                    return found[wanted]
        return node


_PICKED = _Picked()


def _has_star(items: list[ast.expr]) -> bool:
    return any(isinstance(item, ast.Starred) for item in items)


def _read(node: ast.AST) -> set[str]:
    return {
        n.id
        for n in ast.walk(node)
        if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Store)
    } | {
        n.target.id
        for n in ast.walk(node)
        if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)
    }


def _read_in(body: Iterable[ast.stmt]) -> set[str]:
    return {name for node in body for name in _read(node)}


def _stored(body: Iterable[ast.stmt]) -> set[str]:
    return {
        n.id
        for node in body
        for n in ast.walk(node)
        if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
    }
