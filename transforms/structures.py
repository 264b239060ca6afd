"""One structure for results of several: `return x, y` on one way and `return x` on another, as a tensor decides.

A graph gives all the tensors back that one of the ways does, zeros for those that the way taken has not, and beside
them which way it was. The Python shell builds what that way returned.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from .facts.definitions import Form, FunctionDefinition, Tag
from .facts.environment import FunctionFacts
from .facts.kind_joins import join, join_all
from .facts.kind_parts import tensor_leaves
from .facts.kinds import (
    NONE,
    NUMPY,
    UNKNOWN,
    WEAK_DTYPES,
    Dict,
    Kind,
    Python,
    Rows,
    Sequence,
    Tensor,
    weak,
)
from .facts.profile import FunctionNode
from .findings import Refusal
from .making import is_atom
from .promotion import Promotion
from .rebuilding import rebuilt, with_origin
from .source import Names
from .stand_ins import nothing

NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}
MOST_FORMS = 4

Class = tuple[str, str]
"""What one tensor can hold: whether it is a tensor, a list or a Python value there, and its dtype or type."""


class _Unheld(Exception):
    """A part of a result that no tensor holds."""


@dataclass
class _Way:
    """The returns of one structure, or of one `raise`."""

    kind: Kind
    nodes: list[ast.Return | None] = field(default_factory=list)
    failure: str | None = None

    def leaves(self, node: ast.Return | None) -> list[ast.expr]:
        """The expressions of the tensors that one of them returns."""
        value = node.value if node and node.value else ast.Constant(None)
        return list(_leaves(value, self.kind))


def with_one_structure(
    facts: FunctionFacts, names: Names, tf: str
) -> tuple[FunctionNode, list[Tag], list[Form]] | None:
    """The function that returns one structure, and what its shell makes of it; None where that is not needed, or not to be."""
    definition = facts.definition
    failures = definition.failures
    if definition.tags or definition.is_inner:
        return None
    if facts.result != UNKNOWN and not failures:
        return None
    slots = _Slots(tf)
    try:
        ways = _ways(facts)
        forms = [slots.form(way, failures) for way in ways]
    except _Unheld:
        ways = []
    returning = [w for w in ways if w.failure is None]
    if failures and (
        len(ways) - len(returning) != len(failures) or len(returning) > MOST_FORMS
    ):
        raise Refusal(
            "it raises different exceptions as a tensor decides",
            definition.original,
            "GL108",
        )
    if not 1 < len(ways) <= MOST_FORMS + len(failures):
        return None
    tags = [Tag((), "form", names.fresh(_flag(w, ways))) for w in ways[:-1]]
    made = copy.copy(definition.node)
    returns: dict[ast.Return | None, ast.expr] = {}
    for i, (way, form) in enumerate(zip(ways, forms, strict=True)):
        told: list[ast.expr] = [ast.Constant(i == j) for j in range(len(tags))]
        for node in way.nodes:
            values = ast.Tuple(slots.filled(form, way.leaves(node)), ast.Load())
            returns[node] = ast.Tuple([values, *told], ast.Load())
    made.body = _returning(made.body, returns)
    if None in returns:
        made.body = [*made.body, ast.Return(returns[None])]
    return made, tags, forms


# ---- which returns have one structure


def _ways(facts: FunctionFacts) -> list[_Way]:
    """The returns by their structures, that of most tensors first, but None before all."""
    found: dict[object, _Way] = {}
    for node, kind in facts.returns:
        failure = _failure(kind, facts.definition)
        structure = _structure(kind) if failure is None else failure
        way = found.setdefault(structure, _Way(kind, failure=failure))
        way.kind = _held(way.kind, kind)
        way.nodes.append(node)
    return sorted(
        found.values(),
        key=lambda w: (
            (False,)
            if w.failure
            else (True, w.kind != NONE, -len(tensor_leaves(w.kind)))
        ),
    )


def _failure(kind: Kind, definition: FunctionDefinition) -> str | None:
    """The `raise` that a result stands for."""
    text = definition.raised(kind)
    shown = kind.items[1:] if text and isinstance(kind, Sequence) else ()
    if not all(isinstance(k, Tensor) for k in shown):
        raise _Unheld
    return text


def _structure(kind: Kind) -> object:
    match kind:
        case Sequence(type="tuple" | "list" as name, items=items):
            return name, *map(_structure, items)
        case Dict(items=entries):
            return "dict", *((key, _structure(value)) for key, value in entries)
    return "None" if kind == NONE else _class(kind)


def _held(a: Kind, b: Kind) -> Kind:
    """What two results of one structure are in the graph; a constant of both stays Python's."""
    match a, b:
        case Sequence(type=name), Sequence():
            return Sequence(name, tuple(map(_held, a.items, b.items)))
        case Dict(), Dict():
            pairs = zip(a.items, b.items, strict=True)
            return Dict(tuple((key, _held(x, y)) for (key, x), (_, y) in pairs))
    if a == b and isinstance(a, Python) and a.known:
        return a
    return weak(_class(a)[1]) if _class(a)[0] == "Python" else join(a, b)


def _class(kind: Kind) -> Class:
    match kind:
        case Python(type=name) if name in WEAK_DTYPES:
            return "Python", name
        case Tensor(dtype=str() as dtype, weak=None, mixed=False):
            return "tensor", dtype
        case Tensor(weak=str() as name, mixed=False) if name != NUMPY:
            return "Python", name
        case Rows(element=element, ragged=False):
            return "list", " ".join(_class(element))
    raise _Unheld


def _leaves(value: ast.expr, kind: Kind) -> Iterator[ast.expr]:
    """The expressions of the tensors in a result."""
    for part, of in _parts(value, kind):
        if part is value:
            yield part
        else:
            yield from _leaves(part, of)


def _parts(value: ast.expr, kind: Kind) -> list[tuple[ast.expr, Kind]]:
    if isinstance(kind, Python):
        return []
    if not isinstance(kind, Sequence | Dict):
        return [(value, kind)]
    match value, kind:
        case (
            (ast.Tuple(elts=parts) | ast.List(elts=parts)),
            Sequence(items=items),
        ) if len(parts) == len(items) and not any(map(_is_starred, parts)):
            return list(zip(parts, items, strict=True))
        case ast.Dict(keys=keys, values=parts), Dict(items=entries) if (
            len(parts) == len(entries) and None not in keys
        ):
            return [(p, k) for p, (_, k) in zip(parts, entries, strict=True)]
    if not is_atom(value):
        raise _Unheld
    pairs: list[tuple[object, Kind]] = (
        [*kind.items] if isinstance(kind, Dict) else [*enumerate(kind.items)]
    )
    return [
        (ast.Subscript(value, ast.Constant(key), ast.Load()), of)  # type: ignore[arg-type]
        for key, of in pairs
    ]


def _is_starred(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred)


# ---- where the tensors of each stand


class _Slots:
    """The places of the one structure: each holds a tensor of every way that has one for it."""

    def __init__(self, tf: str) -> None:
        self.promotion = Promotion(tf)
        self.kinds: list[list[Kind]] = []
        self.texts: list[str] = []

    def form(self, way: _Way, failures: Mapping[str, list[str]]) -> Form:
        """What a way returns, and in which places."""
        kinds = tensor_leaves(way.kind)
        texts = [ast.unparse(leaf) for leaf in way.leaves(way.nodes[0])]
        free = list(range(len(self.kinds)))
        places: list[int | None] = [None] * len(kinds)
        for same in (str.__eq__, _any):
            for i, (kind, text) in enumerate(zip(kinds, texts, strict=True)):
                fitting = (j for j in free if self._fits(j, kind, text, same))
                if places[i] is None:
                    places[i] = next(fitting, None)
                    free = [j for j in free if j != places[i]]
        for i, (kind, text) in enumerate(zip(kinds, texts, strict=True)):
            if (place := places[i]) is None:
                places[i] = len(self.kinds)
                self.kinds.append([kind])
                self.texts.append(text)
            else:
                self.kinds[place].append(kind)
        held = tuple(p for p in places if p is not None)
        if way.failure is None:
            return Form(way.kind, held)
        return Form(way.kind, held, way.failure, tuple(failures[way.failure]))

    def _fits(
        self, place: int, kind: Kind, text: str, same: Callable[[str, str], bool]
    ) -> bool:
        return _class(self.kinds[place][0]) == _class(kind) and same(
            self.texts[place], text
        )

    def filled(self, form: Form, leaves: list[ast.expr]) -> list[ast.expr]:
        """The value of every place, on one way."""
        given = dict(zip(form.places, leaves, strict=True))
        return [
            given[i] if i in given else self._nothing(kinds)
            for i, kinds in enumerate(self.kinds)
        ]

    def _nothing(self, kinds: list[Kind]) -> ast.expr:
        held, name = _class(kinds[0])
        joined = join_all(kinds)
        if held == "Python":
            return nothing(weak(name), self.promotion)
        known = isinstance(joined, Tensor | Rows)
        return nothing(joined if known else Tensor(name, None), self.promotion)


def _any(a: str, b: str) -> bool:
    return True


# ---- how the ways are told


def _flag(way: _Way, ways: list[_Way]) -> str:
    """What the bool is called that tells a way from the others."""
    if way.failure is not None:
        return "failed"
    others = [w.kind for w in ways if w is not way and w.failure is None]
    name = _type_name(way.kind)
    if name not in map(_type_name, others):
        return f"result_is_{name}"
    if isinstance(way.kind, Dict):
        known = {key for k in others if isinstance(k, Dict) for key, _ in k.items}
        own = [k for k, _ in way.kind.items if k not in known and k.isidentifier()]
        if own:
            return f"result_has_{own[0]}"
    count = len(tensor_leaves(way.kind))
    return f"result_has_{NUMBERS.get(count, 'several')}"


def _type_name(kind: Kind) -> str:
    if isinstance(kind, Sequence):
        return kind.type
    if isinstance(kind, Dict):
        return "dict"
    if isinstance(kind, Rows):
        return "list"
    return (
        "none"
        if kind == NONE
        else _class(kind)[1]
        if isinstance(kind, Python)
        else "tensor"
    )


def _returning(
    body: list[ast.stmt], returns: dict[ast.Return | None, ast.expr]
) -> list[ast.stmt]:
    return [
        with_origin(ast.Return(returns[node]), node)
        if isinstance(node, ast.Return) and node in returns
        else rebuilt(node, lambda block: _returning(block, returns))
        for node in body
    ]
