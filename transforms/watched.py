"""Tensors that tapes watch: eager mode knows them by identity, which a graph keeps only between its own operations.

Two parameters of a graph are two tensors for it, whatever they are given; what an `if` or a loop of the graph gives
is another tensor than what went in. A tape that watches one of them then misses the uses of the other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

from .facts.environment import FunctionFacts
from .facts.kinds import UNKNOWN, Elements, Function, Kind, Tensor
from .facts.profile import FunctionNode
from .facts.session import Session
from .facts.staging import is_tensor
from .facts.syntax import (
    all_bound_names,
    bound_names,
    names_in,
    nested_statements,
    one_by_one,
)
from .findings import Refusal

GIVE_BACK = frozenset({"cast", "convert_to_tensor"})
"""Functions of TensorFlow that may give back the very tensor that they are given."""
CONTROL = (ast.For, ast.While, ast.If)
APART = "give the tape a tensor of its own to watch, by `tf.identity`, where the uses of one are meant"


@dataclass(frozen=True)
class Taped:
    """A piece of code that runs under a tape: what that watches, and all that the code reads."""

    node: ast.AST
    watched: frozenset[str]
    read: frozenset[str]


def obstacle(facts: FunctionFacts, session: Session) -> Refusal | None:
    """Why a graph may give other gradients than eager mode, if so: it may take one tensor that a tape watches for two."""
    taped = list(_taped(facts, session))
    if not taped:
        return None
    names = _Names(facts, session)
    for place in taped:
        for watched, read in product(sorted(place.watched), sorted(place.read)):
            if names.merged(watched, read, place.node) or names.given_twice(
                watched, read, place.node
            ):
                return _refusal(watched, read, place.node)
    return None


def crossing(
    core: FunctionFacts, whole: FunctionFacts, session: Session
) -> Refusal | None:
    """Why a graph that is part of a function may do so, if so: it is given one tensor under two names."""
    names = _Names(whole, session)
    for node in ast.walk(core.definition.node):
        if not isinstance(node, ast.With):
            continue
        watched = _watched(node) & core.parameters.keys()
        read = _places(node) & core.parameters.keys()
        for one, other in product(sorted(watched), sorted(read)):
            if one != other and names.origins(one) & names.origins(other):
                return _refusal(one, other, node)
    return None


def _refusal(watched: str, read: str, node: ast.AST) -> Refusal:
    if watched == read:
        reason = f"`{watched}` may hold one tensor twice, which a tape watches, and a graph takes that for two"
    else:
        reason = f"`{read}` may be the very tensor `{watched}` that a tape watches, and a graph takes them for two"
    return Refusal(reason, node, "GL401", APART)


def _taped(facts: FunctionFacts, session: Session) -> Iterator[Taped]:
    """What runs under tapes that watch tensors, in the function or in functions that it calls."""
    node = facts.definition.node
    inner = {
        n.name: n for n in ast.walk(node) if isinstance(n, FunctionNode) and n != node
    }
    for part in ast.walk(node):
        watched, read = frozenset[str](), _places(part)
        if isinstance(part, ast.With):
            watched = _watched(part)
            for name in inner.keys() & read:
                own = {n for s in inner[name].body for n in all_bound_names(s)}
                read |= _places(inner[name]) - own - _parameters(inner[name])
        elif isinstance(part, ast.Call) and part in facts.calls:
            watched = _watched_by(part, facts, session, frozenset())
        if watched:
            yield Taped(part, watched, read)


def _watched(node: ast.With) -> frozenset[str]:
    """What a tape, or a `tf.autodiff.ForwardAccumulator`, that a `with` opens is told to watch."""
    found = frozenset[str]()
    for inner in ast.walk(node):
        match inner:
            case ast.Call(func=ast.Attribute(attr="watch"), args=[what]):
                found |= _places(what)
            case ast.Call(func=ast.Attribute(attr="ForwardAccumulator", value=value)):
                found |= _places(inner) - _places(value)
    return found


def _watched_by(
    call: ast.Call, facts: FunctionFacts, session: Session, calling: frozenset[str]
) -> frozenset[str]:
    """What a call of a function of the module has watched of what it gives it."""
    qualname = facts.calls[call]
    called = session.known(qualname)
    if called is None or qualname in calling:
        return frozenset()
    node = called.definition.node
    places = frozenset[str]()
    for part in ast.walk(node):
        if isinstance(part, ast.With):
            places |= _watched(part)
        elif isinstance(part, ast.Call) and part in called.calls:
            places |= _watched_by(part, called, session, calling | {qualname})
    names = _Names(called, session) if places else None
    if names and any(names.origins(p) & names.parameters for p in places):
        values = [*call.args, *(k.value for k in call.keywords)]
        return frozenset(p for value in values for p in _places(value))
    return frozenset()


def _places(node: ast.AST) -> frozenset[str]:
    """The names, and attributes of names, that a piece of code mentions."""
    return frozenset(
        ast.unparse(n)
        for n in ast.walk(node)
        if isinstance(n, ast.Name) or (isinstance(n, ast.Attribute) and _is_chain(n))
    )


def _is_chain(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _parameters(node: FunctionNode) -> set[str]:
    return {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}


class _Names:
    """Where the tensors of a function's names come from, as names hand them on."""

    def __init__(self, facts: FunctionFacts, session: Session) -> None:
        self.facts = facts
        self.session = session
        node = facts.definition.node
        self.parameters = _parameters(node)
        self.bindings: dict[str, list[tuple[ast.stmt, set[str]]]] = {}
        self.controls: list[ast.For | ast.While | ast.If] = []
        for statement in nested_statements(node.body):
            self._note(statement)
            if isinstance(statement, CONTROL):
                self.controls.append(statement)

    def _note(self, statement: ast.stmt) -> None:
        """Take up what a statement binds, and the names whose tensors it may hand on."""
        handed: dict[str, set[str]] = {name: set() for name in bound_names(statement)}
        match statement:
            case ast.Assign():
                pairs = list(one_by_one(statement))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                pairs = [(target, value)]
            case ast.For(target=target, iter=iterable):
                pairs = [(target, ast.Subscript(iterable, ast.Constant(0)))]
            case _:
                pairs = []
        for target, value in pairs:
            for name in names_in(target) & handed.keys():
                handed[name] |= self._handed(value)
        for name, places in handed.items():
            self.bindings.setdefault(name, []).append((statement, places))

    def _handed(self, node: ast.expr) -> set[str]:
        """The places whose tensors an expression may give as they are."""
        match node:
            case ast.Name() | ast.Attribute():
                return set(_places(node)) if _is_chain(node) else set()
            case ast.Subscript(value=value):
                if is_tensor(self.facts.kind(value)):
                    return set()
                parts = [value]
            case ast.Call(func=func, args=args, keywords=keywords):
                if self._makes_tensor(func) or self._is_answered(node):
                    return set()
                parts = [*args, *(k.value for k in keywords)]
            case ast.IfExp(body=body, orelse=orelse):
                parts = [body, orelse]
            case (
                ast.BoolOp(values=parts)
                | ast.Tuple(elts=parts)
                | ast.List(elts=parts)
                | ast.Dict(values=parts)
            ):
                pass
            case ast.Starred(value=value) | ast.NamedExpr(value=value):
                parts = [value]
            case _:
                return set()
        return {place for part in parts for place in self._handed(part)}

    def _makes_tensor(self, function: ast.expr) -> bool:
        """Whether what a function gives is always a tensor of its own."""
        kind = self.facts.kind(function)
        if isinstance(function, ast.Attribute) and is_tensor(
            self.facts.kind(function.value)
        ):
            return True
        name = kind.name if isinstance(kind, Function) else ""
        return (
            name.startswith(("tensorflow.", "keras."))
            and name.rpartition(".")[2] not in GIVE_BACK
        )

    def _is_answered(self, call: ast.Call) -> bool:
        """Whether a function of the module gives tensors of its own, none that it was given."""
        qualname = self.facts.calls.get(call)
        called = self.session.known(qualname) if qualname else None
        if called is None or called.definition is self.facts.definition:
            return False
        names = _Names(called, self.session)
        values = [r.value for r, _ in called.returns if r is not None and r.value]
        return not any(
            names.origins(p) & names.parameters
            for value in values
            for p in names._handed(value)
        )

    def origins(
        self,
        place: str,
        before: ast.AST | None = None,
        seen: frozenset[str] = frozenset(),
    ) -> frozenset[str]:
        """Where in the function what a place holds was made, and what it was outside of it.

        `before`: the code that reads it, if that is not all of the function.
        """
        outside = place in self.parameters or place not in self.bindings
        found = frozenset({place} if outside else ())
        for statement, handed in self.bindings.get(place, ()):
            if before is not None and self._is_later(statement, before):
                continue
            if not handed:
                found |= {f"{place} of {id(statement)}"}
            for other in handed - seen - {place}:
                found |= self.origins(other, before, seen | {place})
        return found

    def _is_later(self, statement: ast.stmt, node: ast.AST) -> bool:
        """Whether a statement always runs behind a piece of code."""
        line = getattr(statement, "lineno", 0)
        behind = line > (getattr(node, "end_lineno", None) or 0)
        return behind and not any(
            isinstance(c, ast.For | ast.While)
            and _holds(c, node)
            and _holds(c, statement)
            for c in self.controls
        )

    def merged(self, watched: str, read: str, node: ast.AST) -> bool:
        """Whether a branch or a loop makes two tensors of what two places hold, which may be one."""
        return (
            watched != read
            and bool(self.origins(watched, node) & self.origins(read, node))
            and any(self._is_merged(name, node) for name in (watched, read))
        )

    def _is_merged(self, name: str, node: ast.AST) -> bool:
        """Whether what a name holds, where `node` reads it, may be what a branch or a loop gives."""
        for control in self.controls:
            if (
                name not in all_bound_names(control)
                or self._is_later(control, node)
                or _is_taped(control, node)
            ):
                continue
            inside = _holds(control, node)
            if isinstance(control, ast.If):
                if not inside and self._is_staged(control):
                    return True
            elif not inside or _is_carried(name, control):
                return True
        return any(
            isinstance(n, ast.IfExp) and self._is_staged(n)
            for statement, _ in self.bindings.get(name, ())
            if not isinstance(statement, CONTROL) and not _is_taped(statement, node)
            for n in ast.walk(statement)
        )

    def _is_staged(self, node: ast.If | ast.IfExp) -> bool:
        """Whether a tensor decides, or may."""
        return node in self.facts.staged or self.facts.kind(node.test) == UNKNOWN

    def given_twice(self, watched: str, read: str, node: ast.AST) -> bool:
        """Whether two places may hold one tensor that the function is given, or finds outside, under two names."""
        pairs = product(self.origins(watched, node), self.origins(read, node))
        return any(self._may_be_one(*sorted(pair)) for pair in pairs)

    def _may_be_one(self, one: str, other: str) -> bool:
        """Whether recorded calls had one tensor in both; without a recording, whether both may be given one."""
        qualname = self.facts.definition.qualname
        recorded = self.session.recorded(qualname)
        if recorded is not None:
            return f"{one} is {other}" in recorded.shared
        if one == other:
            return any(_fit(a, b) for a, b in combinations(self._tensors(one), 2))
        both = product(self._tensors(one), self._tensors(other))
        return any(_fit(a, b) for a, b in both)

    def _tensors(self, place: str) -> list[Tensor]:
        return list(_tensors(self._kinds.get(place, UNKNOWN)))

    @cached_property
    def _kinds(self) -> dict[str, Kind]:
        """What the places of the function that it doesn't set itself hold."""
        found = {
            ast.unparse(node): kind
            for node, kind in self.facts.kinds.items()
            if isinstance(node, ast.Name | ast.Attribute)
        }
        return {**found, **self.facts.parameters}


def _is_taped(statement: ast.stmt, node: ast.AST) -> bool:
    """Whether a tape sees what a statement makes of what it watches."""
    watches = (
        n.lineno
        for n in ast.walk(node)
        if isinstance(n, ast.Attribute) and n.attr == "watch"
    )
    line = getattr(statement, "lineno", 0)
    return _holds(node, statement) and line > max(watches, default=0)


def _holds(control: ast.AST, node: ast.AST) -> bool:
    return any(inner is node for inner in ast.walk(control))


def _is_carried(name: str, loop: ast.For | ast.While) -> bool:
    """Whether an iteration of a loop may read what the one before it left in a name."""
    if isinstance(loop, ast.For) and name in names_in(loop.target):
        return False
    first = next((s for s in loop.body if name in names_in(s)), None)
    match first:
        case ast.Assign(value=value) if name in bound_names(first):
            return name in names_in(value)
    return True


def _tensors(kind: Kind) -> Iterator[Tensor]:
    """The tensors of a value, two for those of which it may hold any number."""
    match kind:
        case Tensor():
            yield kind
        case Elements(element=element):
            yield from [*_tensors(element)] * 2
        case _:
            for part in kind.parts:
                yield from _tensors(part)


def _fit(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors have one dtype and may have one shape."""
    if one.dtype != other.dtype or one.shape is None or other.shape is None:
        return one.dtype == other.dtype
    return len(one.shape) == len(other.shape) and all(
        a == b or None in (a, b) for a, b in zip(one.shape, other.shape, strict=True)
    )
