"""What a call gives: TensorFlow's API, methods, builtins, and the project's own functions and classes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from . import operators
from .definitions import FunctionDefinition
from .kind_joins import forget, join_all
from .kinds import (
    BOOL,
    INT,
    SIZE,
    STR,
    UNKNOWN,
    Array,
    Dataset,
    Dict,
    Elements,
    Iterator,
    Kind,
    Maybe,
    Object,
    Python,
    Ragged,
    Record,
    Rows,
    Sequence,
    Tensor,
    Variable,
    members,
    python,
    weak,
)
from .kinds import (
    Mapping as DictOf,
)
from .outcome import Outcome, failure, outcome
from .staging import holds_tensor, is_numpy, is_tensor, is_weak, may_hold_tensor

TEXTS = frozenset({"str", "repr", "format", "ascii", "hex", "oct", "bin", "chr"})
"""Builtin functions that make a text of a value."""
PIPELINES = (Dataset, Iterator)


@dataclass
class Arguments:
    """The kinds a call passes; `spread` where `*` or `**` hides some of them."""

    positional: list[Kind]
    keywords: dict[str, Kind]
    spread: bool = False

    @property
    def all(self) -> list[Kind]:
        return [*self.positional, *self.keywords.values()]


def bind(
    definition: FunctionDefinition,
    arguments: Arguments,
    receiver: Kind | None,
    defaults: Mapping[str, Kind],
) -> dict[str, Kind] | None:
    """The kinds of a function's parameters in a call; None where they do not fit."""
    args = definition.node.args
    names = [a.arg for a in (*args.posonlyargs, *args.args)]
    given = list(arguments.positional)
    if receiver is not None and not definition.is_static:
        given.insert(0, receiver)
    if arguments.spread:
        return None
    bound = dict(zip(names, given, strict=False))
    extra = given[len(names) :]
    if args.vararg:
        bound[args.vararg.arg] = Sequence("tuple", tuple(extra))
    elif extra:
        return None
    known = {*names, *(a.arg for a in args.kwonlyargs)}
    others = {k: v for k, v in arguments.keywords.items() if k not in known}
    bound |= {k: v for k, v in arguments.keywords.items() if k in known}
    if args.kwarg:
        bound[args.kwarg.arg] = Dict(tuple(others.items()))
    elif others:
        return None
    for name in known - bound.keys():
        if name not in defaults:
            return None
        bound[name] = defaults[name]
    return bound


def call_builtin(name: str, arguments: Arguments) -> Outcome | None:
    """What a builtin function gives; None for one that is not known."""
    handler = _BUILTINS.get(name)
    if handler is None or arguments.spread:
        return None
    return handler(arguments)


def host_read(name: str, arguments: Arguments) -> Outcome | None:
    """What a builtin function of Python's values gives for one that is read from a tensor; None for other functions."""
    if name == "round":
        digits = len(arguments.positional) > 1 or "ndigits" in arguments.keywords
        return outcome(Python("float" if digits else "int"), "host")
    return outcome(STR, "host") if name in TEXTS else None


def _length(arguments: Arguments) -> Outcome | None:
    kind = operators.length(arguments.positional[0])
    if kind == SIZE:
        kind = weak("int")
    return None if kind == UNKNOWN else outcome(kind)


def _conversion(
    name: str, fold: Callable[..., object]
) -> Callable[[Arguments], Outcome | None]:
    """int, float, bool, str: of a tensor the Python value that it would be, held in a tensor."""

    def convert(arguments: Arguments) -> Outcome | None:
        if len(arguments.all) > 1 or arguments.keywords:
            return None
        if not arguments.positional:
            return outcome(python(fold()))
        kind = arguments.positional[0]
        if isinstance(kind, Tensor | Variable):
            if (
                name == "str"
                or kind.dtype == "string"
                or not (kind.shape is None or all(d == 1 for d in kind.shape))
            ):
                return None
            return outcome(replace(weak(name), mixed=False))
        if (
            isinstance(kind, Python)
            and kind.known
            and kind.type in ("int", "float", "bool", "str")
        ):
            try:
                return outcome(python(fold(kind.value)))
            except (ValueError, OverflowError) as error:
                return failure(str(error))
        if holds_tensor(kind) or isinstance(kind, Maybe) or kind == UNKNOWN:
            return None
        return outcome(Python(name))

    return convert


def _extreme(fold: Callable[..., object]) -> Callable[[Arguments], Outcome | None]:
    def convert(arguments: Arguments) -> Outcome | None:
        kinds = arguments.positional
        if len(kinds) == 1 and isinstance(kinds[0], Sequence):
            kinds = list(kinds[0].items)
        if (
            arguments.keywords
            or not kinds
            or not all(isinstance(k, Python) for k in kinds)
        ):
            return _host_only(arguments)
        if all(isinstance(k, Python) and k.known for k in kinds):
            try:
                return outcome(python(fold(k.value for k in kinds)))  # type: ignore[attr-defined]
            except TypeError as error:
                return failure(str(error))
        return outcome(forget(join_all(kinds)))

    return convert


def _sum(arguments: Arguments) -> Outcome | None:
    kinds = arguments.positional
    if len(kinds) != 1 or arguments.keywords:
        return None
    if isinstance(kinds[0], Elements) and isinstance(kinds[0].element, Python):
        return outcome(
            join_all([INT, kinds[0].element]) if kinds[0].element != INT else INT
        )
    if isinstance(kinds[0], Elements) and isinstance(kinds[0].element, Tensor):
        return outcome(join_all([INT, kinds[0].element]))
    if not isinstance(kinds[0], Sequence):
        return None
    total: Kind = python(0)
    for item in kinds[0].items:
        added = operators.binary("add", total, item)
        if added is None or added.error:
            return added
        total = added.kind
    return outcome(total)


def _absolute(arguments: Arguments) -> Outcome | None:
    (kind,) = arguments.positional
    if isinstance(kind, Tensor):
        return outcome(kind)
    if isinstance(kind, Variable):
        return outcome(Tensor(kind.dtype, kind.shape))
    return outcome(forget(kind)) if isinstance(kind, Python) else None


def _range(arguments: Arguments) -> Outcome | None:
    kinds = arguments.positional
    if all(isinstance(k, Python) and k.type in ("int", "bool") for k in kinds):
        values = [k.value for k in kinds if isinstance(k, Python) and k.known]
        if len(values) == len(kinds) and len(range(*values)) <= 4096:  # type: ignore[call-overload]
            return outcome(Elements("range", Python("int")))
        return outcome(Elements("range", INT))
    if any(k == SIZE for k in kinds):
        return None
    if all(
        isinstance(k, Python)
        or (isinstance(k, Tensor | Variable) and k.shape in ((), None))
        for k in kinds
    ):
        return outcome(Elements("range", weak("int")))
    return None


def _enumerate(arguments: Arguments) -> Outcome | None:
    source, *more = arguments.positional
    starts = [*more, *arguments.keywords.values()]
    element = operators.iterate(source)
    if (
        element is None
        or len(starts) > 1
        or isinstance(source, Iterator)
        or _counts_tensor(source)
        or not all(isinstance(s, Python) and s.type == "int" for s in starts)
    ):
        return None
    start = getattr(starts[0], "value", None) if starts else 0
    if isinstance(source, Sequence):
        numbers = [
            python(start + i) if isinstance(start, int) else INT
            for i in range(len(source.items))
        ]
        pairs = zip(numbers, source.items, strict=True)
        items = tuple(Sequence("tuple", p) for p in pairs)
        return outcome(Sequence("enumerate", items))
    in_graph = _goes_over_rows(source) or isinstance(source, Dataset)
    index = weak("int") if in_graph else INT
    return outcome(Elements("enumerate", Sequence("tuple", (index, element))))


def _zip(arguments: Arguments) -> Outcome | None:
    sources = arguments.positional
    if arguments.keywords.keys() - {"strict"}:
        return None
    if all(isinstance(s, Sequence) for s in sources):
        rows = zip(*(s.items for s in sources if isinstance(s, Sequence)), strict=False)
        return outcome(Sequence("zip", tuple(Sequence("tuple", row) for row in rows)))
    elements = [operators.iterate(s) for s in sources]
    over_rows = any(map(_goes_over_rows, sources))
    if any(e is None for e in elements) or any(
        isinstance(s, PIPELINES) or (_counts_tensor(s) and not over_rows)
        for s in sources
    ):
        return None
    kind = Sequence("tuple", tuple(e for e in elements if e))
    return outcome(Elements("zip", kind, over_rows))


def _goes_over_rows(kind: Kind) -> bool:
    """Whether a loop over this goes over the rows of tensors."""
    rows = isinstance(kind, Elements) and kind.over_rows
    return rows or is_tensor(kind) or isinstance(kind, Ragged | Rows)


def _reversed(arguments: Arguments) -> Outcome | None:
    (source,) = arguments.positional
    if isinstance(source, Sequence):
        return outcome(Sequence("reversed", source.items[::-1]))
    element = operators.iterate(source)
    return (
        None
        if element is None or isinstance(source, PIPELINES) or _counts_tensor(source)
        else outcome(Elements("reversed", element, _goes_over_rows(source)))
    )


def _counts_tensor(kind: Kind) -> bool:
    """Whether this is a range that a tensor bounds, which Python cannot count while tracing."""
    return isinstance(kind, Elements) and kind.type != "list" and is_weak(kind.element)


def _container(name: str) -> Callable[[Arguments], Outcome | None]:
    def convert(arguments: Arguments) -> Outcome | None:
        if not arguments.positional:
            return outcome(Sequence(name, ()))
        (source,) = arguments.positional
        if isinstance(source, Sequence):
            return outcome(Sequence(name, source.items))
        element = operators.iterate(source)
        ragged = isinstance(source, Ragged)
        held = ragged or is_tensor(source)
        if held and isinstance(element, Tensor) and name == "list":
            return outcome(Rows(element, ragged))
        if element is None or held:
            return None
        return outcome(Elements(name, element))

    return convert


def _host_only(arguments: Arguments) -> Outcome | None:
    """A builtin that stays Python's: fine while it meets no tensor."""
    if any(may_hold_tensor(kind) or kind in (UNKNOWN, SIZE) for kind in arguments.all):
        return None
    return outcome(UNKNOWN)


def _sorted(arguments: Arguments) -> Outcome | None:
    """A list of what Python has in the container, in an order that it may know."""
    (source,) = arguments.positional
    element = operators.iterate(source)
    others = list(arguments.keywords.values())
    if element is None or _host_only(Arguments([element, *others], {})) is None:
        return None
    values = [k.value for k in _members_of(source) if isinstance(k, Python) and k.known]
    if not others and isinstance(source, Sequence | Dict):
        try:
            in_order = sorted(values)  # type: ignore[type-var]
        except TypeError:
            in_order = []
        if in_order and len(in_order) == len(_members_of(source)):
            return outcome(Sequence("list", tuple(map(python, in_order))))
    return outcome(Elements("list", forget(element)))


def _members_of(kind: Kind) -> tuple[Kind, ...]:
    """What iterating gives, one by one, where that is known."""
    if isinstance(kind, Dict):
        return tuple(python(key) for key, _ in kind.items)
    return kind.items if isinstance(kind, Sequence) else ()


def _typed(kind: Kind) -> Callable[[Arguments], Outcome | None]:
    def convert(arguments: Arguments) -> Outcome | None:
        found = _host_only(arguments)
        return found and outcome(kind)

    return convert


def _id(arguments: Arguments) -> Outcome:
    return outcome(INT, *(() if _host_only(arguments) else ("identity",)))


def _iter(arguments: Arguments) -> Outcome | None:
    (source,) = arguments.positional
    return outcome(Iterator(source.element)) if isinstance(source, PIPELINES) else None


def _next(arguments: Arguments) -> Outcome | None:
    source = arguments.positional[0]
    if not isinstance(source, Iterator) or len(arguments.all) != 1:
        return None
    return outcome(source.element, "assert", "exhausts")


def _dict(arguments: Arguments) -> Outcome | None:
    if arguments.positional:
        source = arguments.positional[0]
        return (
            outcome(source)
            if isinstance(source, Dict) and not arguments.keywords
            else None
        )
    return outcome(Dict(tuple(arguments.keywords.items())))


_BUILTINS: dict[str, Callable[[Arguments], Outcome | None]] = {
    "len": _length,
    "int": _conversion("int", int),
    "float": _conversion("float", float),
    "bool": _conversion("bool", bool),
    "str": _conversion("str", str),
    "abs": _absolute,
    "max": _extreme(max),
    "min": _extreme(min),
    "sum": _sum,
    "range": _range,
    "enumerate": _enumerate,
    "zip": _zip,
    "reversed": _reversed,
    "iter": _iter,
    "next": _next,
    "list": _container("list"),
    "tuple": _container("tuple"),
    "dict": _dict,
    "round": _typed(UNKNOWN),
    "repr": _typed(STR),
    "format": _typed(STR),
    "divmod": _host_only,
    "pow": _host_only,
    "any": _typed(BOOL),
    "all": _typed(BOOL),
    "callable": lambda arguments: outcome(BOOL),
    "id": _id,
    "sorted": _sorted,
    "slice": _typed(UNKNOWN),
    "complex": _typed(Python("complex")),
    "ValueError": lambda arguments: outcome(Object("builtins.Exception", fresh=True)),
    "TypeError": lambda arguments: outcome(Object("builtins.Exception", fresh=True)),
    "NotImplementedError": lambda arguments: outcome(
        Object("builtins.Exception", fresh=True)
    ),
    "RuntimeError": lambda arguments: outcome(Object("builtins.Exception", fresh=True)),
    "KeyError": lambda arguments: outcome(Object("builtins.Exception", fresh=True)),
    "IndexError": lambda arguments: outcome(Object("builtins.Exception", fresh=True)),
    "AssertionError": lambda arguments: outcome(
        Object("builtins.Exception", fresh=True)
    ),
}


def is_instance(
    kind: Kind, names: list[str], line: Callable[[str], frozenset[str]]
) -> bool | None:
    """What eager mode's isinstance answers; None where that is not known. `line`: what a class of the project extends."""
    answers = {is_member(member, names, line) for member in members(kind)}
    return answers.pop() if len(answers) == 1 else None


def is_member(
    kind: Kind, names: list[str], line: Callable[[str], frozenset[str]]
) -> bool | None:
    """The same of what is seen as one kind."""
    if is_numpy(kind):
        return None
    mine = _classes(kind, line)
    if not mine.isdisjoint(names):
        return True
    if not mine or (isinstance(kind, Record) and "tuple" in names):
        return None
    return False if all(name in CLASSES or line(name) for name in names) else None


CLASSES = frozenset(
    [
        *("int", "float", "bool", "str", "tuple", "list", "dict"),
        *("tensorflow.Tensor", "tensorflow.Variable", "numpy.ndarray"),
    ]
)
"""Of which no class of the project is one."""


def _classes(kind: Kind, line: Callable[[str], frozenset[str]]) -> frozenset[str]:
    """The classes that something is of; nothing where they are not known."""
    match kind:
        case Tensor(mixed=True):
            return frozenset()
        case Tensor(weak=None):
            return frozenset(["tensorflow.Tensor"])
        case Tensor(weak=str(name)) | Python(type=name):
            return frozenset([name, "int"] if name == "bool" else [name])
        case Variable():
            return frozenset(["tensorflow.Variable"])
        case Array():
            return frozenset(["numpy.ndarray"])
        case Object(name=name):
            return line(name)
        case Record(type=name):
            return line(name) or frozenset([name])
        case Sequence(type=name) | Elements(type=name) if name in ("tuple", "list"):
            return frozenset([name])
        case Dict() | DictOf():
            return frozenset(["dict"])
    return frozenset()


def class_names(node: ast.expr, kind: Callable[[ast.expr], Kind]) -> list[str]:
    """The classes that `isinstance` is asked about."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    named = (getattr(kind(part), "name", "") for part in parts)
    return [name.removeprefix("builtins.") for name in named]
