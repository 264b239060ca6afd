"""What Python values become when they have to live in a graph.

A Python value that is chosen by a tensor (set in an arm of a tensor `if`, or carried by a tensor loop) is held in a
tensor: an int as int64, a float as float64, a bool as bool, so that nothing is lost. It stays *weak*: where it meets a
tensor it takes that tensor's dtype, as the Python number would.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce

from .kind_joins import all_numbers, join, join_all, join_shapes, numbers_of
from .kinds import (
    NONE,
    NUMPY,
    SIZE,
    UNKNOWN,
    WEAK_DTYPES,
    Array,
    Dict,
    Elements,
    Kind,
    Maybe,
    Object,
    Python,
    Rows,
    Scalar,
    Sequence,
    Tensor,
    TensorArray,
    Union,
    Variable,
    members,
    weak,
)

LATE_METRICS = frozenset({"AUC", "F1Score", "FBetaScore", "R2Score"})
"""Metrics of Keras that may make their variables when they are first used."""
FLOATS = frozenset(
    {"float16", "bfloat16", "float32", "float64", "complex64", "complex128"}
)
INTS = frozenset(
    {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}
)


def is_tensor(kind: Kind) -> bool:
    """Whether the value lives in the graph."""
    return isinstance(kind, Tensor | Variable)


def holds_tensor(kind: Kind) -> bool:
    """Whether the value is, or may be, or contains a tensor."""
    if isinstance(kind, Union):
        return any(map(holds_tensor, kind.members))
    return is_tensor(kind) or any(map(holds_tensor, kind.parts))


def may_hold_tensor(kind: Kind) -> bool:
    """Whether the value contains a tensor, or items of which one may be a tensor."""
    element = getattr(kind, "element", None)
    return holds_tensor(kind) or (isinstance(element, Kind) and holds_tensor(element))


def holds_size(kind: Kind) -> bool:
    """Whether the value is, or contains, a size that is not static."""
    if isinstance(kind, Sequence):
        return any(map(holds_size, kind.items))
    if isinstance(kind, Elements):
        return holds_size(kind.element)
    return kind == SIZE


def is_numbers(kind: Kind) -> bool:
    """Whether a value is a list of Python numbers, or of such lists."""
    if not isinstance(kind, Elements | Sequence) or kind.type != "list":
        return False
    items = kind.items if isinstance(kind, Sequence) else (kind.element,)
    return any(
        is_numbers(k) or (isinstance(k, Python) and k.type in ("int", "float"))
        for k in items
    )


def holds_variable(kind: Kind) -> bool:
    """Whether the value is, or is a tuple, list or dict of, Variables."""
    return isinstance(kind, Variable) or any(map(holds_variable, kind.parts))


def is_structure(kind: Kind) -> bool:
    """Whether TensorFlow takes a value as a structure of its members, known one by one."""
    return isinstance(kind, Dict) or (isinstance(kind, Sequence) and kind.nests)


def fits_graph(kind: Kind) -> bool:
    """Whether a graph's branch or loop can give back such a value."""
    if isinstance(kind, Maybe):
        return fits_graph(kind.kind)
    if is_structure(kind):
        return all(map(fits_graph, kind.parts))
    if isinstance(kind, Rows):
        return not kind.ragged
    return isinstance(kind, Tensor | TensorArray) or kind == NONE


def is_of_library(kind: Kind) -> bool:
    """Whether this is an object of TensorFlow or Keras, whose lists are made anew for whoever asks."""
    return isinstance(kind, Object) and kind.name.startswith(("tensorflow.", "keras."))


def is_optimizer(kind: Kind) -> bool:
    """Whether this is one of Keras's optimizers."""
    return isinstance(kind, Object) and ".optimizers." in kind.name


def is_metric(kind: Kind) -> bool:
    """Whether this is one of Keras's metrics that have their variables from the start."""
    name = kind.name if isinstance(kind, Object) else ""
    return ".metrics." in name and name.rpartition(".")[2] not in LATE_METRICS


def is_bool(kind: Kind) -> bool:
    """Whether a value is a bool, of Python's or in a tensor."""
    if isinstance(kind, Python):
        return kind.type == "bool"
    return is_tensor(kind) and getattr(kind, "dtype", None) == "bool"


def is_weak(kind: Kind) -> bool:
    return isinstance(kind, Tensor) and kind.weak is not None


def is_strong(kind: Kind) -> bool:
    """A tensor or Variable with a dtype of its own."""
    return is_tensor(kind) and not is_weak(kind)


def is_numpy(kind: Kind) -> bool:
    """An array or scalar of NumPy that is held in a tensor."""
    return isinstance(kind, Tensor) and kind.weak == NUMPY


def hold(kind: Kind) -> Kind:
    """What a result of NumPy is in the graph: a tensor that stands for the array, scalar or Python value."""
    if isinstance(kind, Union):
        held = [hold(member) for member in kind.members]
        return join_all(held) if all(map(is_numpy, held)) else UNKNOWN
    if isinstance(kind, Array):
        return Tensor(kind.dtype, kind.shape, NUMPY)
    if isinstance(kind, Scalar):
        return Tensor(kind.dtype, (), NUMPY)
    if isinstance(kind, Python) and kind.type in WEAK_DTYPES:
        return weak(kind.type)
    return kind


def released(kind: Kind) -> Kind:
    """What eager mode has where the graph holds it in a tensor."""
    if not isinstance(kind, Tensor) or kind.weak is None:
        return kind
    if kind.weak != NUMPY:
        return Python(kind.weak)
    if kind.shape is None:
        return join(Array(kind.dtype), Scalar(kind.dtype))
    return Array(kind.dtype, kind.shape) if kind.shape else Scalar(kind.dtype)


def stage(kind: Kind) -> Kind:
    """What a value becomes in the graph; unknown for what cannot live there."""
    if isinstance(kind, Maybe) or kind == NONE:
        return kind
    if isinstance(kind, Python):
        if kind.type not in WEAK_DTYPES:
            return UNKNOWN
        return replace(weak(kind.type), numbers=numbers_of(kind))
    if isinstance(kind, Tensor | TensorArray | Rows):
        return kind
    if isinstance(kind, Variable):
        return Tensor(kind.dtype, kind.shape)
    if isinstance(kind, Array | Scalar):
        return hold(kind)
    if isinstance(kind, Union):
        staged = [stage(member) for member in kind.members]
        result = staged[0]
        for other in staged[1:]:
            result = choose(result, other)
        return result
    if is_structure(kind):
        staged_parts = kind.mapped(stage)
        return UNKNOWN if UNKNOWN in staged_parts.parts else staged_parts
    if isinstance(kind, Elements) and kind.type == "list":
        return list_of(kind.element)
    return UNKNOWN


def choose(a: Kind, b: Kind) -> Kind:
    """The kind of a value that a tensor chooses between two; unknown where no tensor can hold both."""
    if a == b and not isinstance(a, Python | Sequence | Dict):
        return join(a, b)
    if a == b == NONE:
        return NONE
    if any(isinstance(k, Union) and NONE in k.members for k in (a, b)):
        return UNKNOWN
    if NONE in (a, b) or isinstance(a, Maybe) or isinstance(b, Maybe):
        return _choose_maybe(a, b)
    if isinstance(a, Sequence) and isinstance(b, Sequence):
        return _choose_sequences(a, b)
    if is_list(a) and is_list(b):
        return list_of(*_list_items(a), *_list_items(b))
    if isinstance(a, Dict) and isinstance(b, Dict):
        return _choose_dicts(a, b)
    if isinstance(a, TensorArray) and isinstance(b, TensorArray) and a.dtype == b.dtype:
        return join(a, b)
    a, b = stage(a), stage(b)
    if not (isinstance(a, Tensor) and isinstance(b, Tensor)):
        return UNKNOWN
    if NUMPY in (a.weak, b.weak):
        return _choose_numpy(a, b)
    if a.weak and b.weak:
        return _choose_weak(a, b)
    if a.weak or b.weak:
        strong, number = (b, a) if a.weak else (a, b)
        if not takes(strong.dtype, str(number.weak)):
            return UNKNOWN
        shape = join_shapes(a.shape, b.shape)
        return Tensor(strong.dtype, shape, None, True, all_numbers(a, b))
    if a.dtype != b.dtype and a.dtype is not None and b.dtype is not None:
        return UNKNOWN
    return Tensor(
        a.dtype if a.dtype == b.dtype else None,
        join_shapes(a.shape, b.shape),
        mixed=a.mixed or b.mixed,
        numbers=all_numbers(a, b),
    )


def _choose_maybe(a: Kind, b: Kind) -> Kind:
    staged = [stage(k) for k in (a, b) if k != NONE]
    values = [k.kind if isinstance(k, Maybe) else k for k in staged]
    kind = values[0] if len(values) == 1 else choose(*values)
    return UNKNOWN if kind == UNKNOWN else Maybe(kind)


def _choose_numpy(a: Tensor, b: Tensor) -> Kind:
    """Arrays alone, of one dtype: what else is chosen beside one has another dtype and type in eager mode."""
    same = a.weak == b.weak and a.dtype == b.dtype and a.dtype is not None
    scalars = a.shape == b.shape == () or () not in (a.shape, b.shape)
    if not same or not scalars:
        return UNKNOWN
    return Tensor(a.dtype, join_shapes(a.shape, b.shape), NUMPY)


def _choose_weak(a: Tensor, b: Tensor) -> Kind:
    mixed = a.mixed or b.mixed
    numbers = all_numbers(a, b)
    if a.weak == b.weak:
        return replace(a, mixed=mixed, numbers=numbers)
    if {a.weak, b.weak} == {"int", "float"}:
        return replace(weak("float"), mixed=True, numbers=numbers)
    return UNKNOWN


def _choose_sequences(a: Sequence, b: Sequence) -> Kind:
    if a.type != b.type:
        return UNKNOWN
    if len(a.items) != len(b.items):
        return list_of(*a.items, *b.items) if a.type == "list" else UNKNOWN
    items = tuple(map(choose, a.items, b.items))
    return UNKNOWN if UNKNOWN in items else replace(a, items=items)


def is_list(kind: Kind) -> bool:
    return isinstance(kind, Sequence | Elements) and kind.type == "list"


def _list_items(kind: Kind) -> tuple[Kind, ...]:
    if isinstance(kind, Sequence):
        return kind.items
    return (kind.element,) if isinstance(kind, Elements) else ()


def list_of(*items: Kind) -> Kind:
    """A list of any length that holds such items, as a tensor decides; unknown where no one kind holds them."""
    element = stage(items[0]) if items else UNKNOWN
    for item in items[1:]:
        element = choose(element, item)
    return UNKNOWN if element == UNKNOWN else Elements("list", element)


def _choose_dicts(a: Dict, b: Dict) -> Kind:
    if [k for k, _ in a.items] != [k for k, _ in b.items]:
        return UNKNOWN
    values = [choose(x, y) for (_, x), (_, y) in zip(a.items, b.items, strict=True)]
    if UNKNOWN in values:
        return UNKNOWN
    return Dict(tuple((k, v) for (k, _), v in zip(a.items, values, strict=True)))


def takes(dtype: str | None, number: str) -> bool:
    """Whether a tensor of this dtype takes a Python number of this type as it meets it."""
    if dtype is None:
        return number in ("int", "float")
    if number == "int":
        return dtype in FLOATS or dtype in INTS
    if number == "float":
        return dtype in FLOATS
    return dtype == WEAK_DTYPES[number]


def result_of(kinds: Iterable[Kind], chosen: bool) -> Kind:
    """The kind of a function's result, by those of its returns; `chosen`: a tensor decides between them."""
    first, *others = [*kinds] or [NONE]
    return reduce(choose if chosen else host_join, others, first)


def host_join(a: Kind, b: Kind) -> Kind:
    """The kind of a value that Python chooses between two, while tracing.

    A Python number that elsewhere is held in a tensor is held in one here too, so that the name has one kind.
    """
    if a == b:
        return a
    if isinstance(a, Maybe) or isinstance(b, Maybe):
        return choose(a, b)
    if is_numpy(a) != is_numpy(b) and all(
        is_numpy(k) or isinstance(k, Array | Scalar) for k in (a, b)
    ):
        return choose(a, b)
    joined = join(a, b)
    parts = members(joined)
    if (
        len(parts) > 1
        and any(map(is_weak, parts))
        and all(is_weak(p) or isinstance(p, Python) for p in parts)
    ):
        held = choose(parts[0], parts[1])
        for part in parts[2:]:
            held = choose(held, part)
        return joined if held == UNKNOWN and any(map(is_numpy, parts)) else held
    return joined
