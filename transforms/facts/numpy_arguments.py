"""What NumPy makes of the arguments of its functions: arrays, and the dtype that several become."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as Sequenced

from .kinds import INT, SIZE, Array, Elements, Kind, Python, Sequence, Tensor, Variable
from .outcome import Unsure
from .tensorflow_numpy import array_or_scalar, operand, promoted

Given = Mapping[str, Kind]
EXACT = frozenset({"float32", "float64", "int32", "int64"})
FLOATS = frozenset({"float32", "float64"})
INTS = frozenset({"int32", "int64"})


def as_array(kind: Kind) -> Kind:
    """What NumPy makes of an argument: tensors become arrays, 0-dimensional ones scalars."""
    if isinstance(kind, Tensor) and kind.weak not in (None, "numpy"):
        return Python(kind.weak)
    if isinstance(kind, Tensor | Variable):
        if kind.dtype is None or kind.shape is None:
            raise Unsure("an array of unknown rank or dtype")
        return array_or_scalar(kind.dtype, kind.shape)
    if isinstance(kind, Sequence):
        return Sequence(kind.type, tuple(map(as_array, kind.items)))
    if isinstance(kind, Elements):
        return Elements(kind.type, as_array(kind.element))
    return INT if kind == SIZE else kind


def array_of(kind: Kind) -> Array:
    """An argument as an array of a dtype that is known."""
    if isinstance(kind, Sequence):
        return _packed(kind)
    found = operand(kind)
    if isinstance(kind, Python):
        raise Unsure("NumPy of Python numbers alone")
    if found.dtype is None or found.shape is None:
        raise Unsure("an array of unknown rank or dtype")
    return found


def _packed(kind: Sequence) -> Array:
    """A list of numbers and arrays as one array."""
    if not kind.items:
        raise Unsure("an empty list")
    if all(isinstance(k, Python) for k in kind.items):
        dtype = common_dtype(kind.items)
        return Array(dtype, (len(kind.items),))
    parts = [k if isinstance(k, Python) else array_of(k) for k in kind.items]
    shapes = {() if isinstance(p, Python) else p.shape for p in parts}
    if len(shapes) != 1:
        raise Unsure("arrays of several shapes in a list")
    (shape,) = shapes
    assert shape is not None
    own = {p.dtype for p in parts if isinstance(p, Array)}
    if len(own) != 1 or any(isinstance(p, Python) for p in parts):
        raise Unsure("several dtypes in a list")
    return Array(own.pop(), (len(kind.items), *shape))


WEAK = {"bool": "bool", "int": "int64", "float": "float64"}


def common_dtype(kinds: Sequenced[Kind]) -> str:
    """The dtype that several operands become."""
    result: str | None = None
    for kind in kinds:
        own = kind.type if isinstance(kind, Python) else operand(kind).dtype
        result = own if result is None else promoted(result, own)
    if result in WEAK:
        return WEAK[result]
    if result is None or result not in EXACT | {"bool"}:
        raise Unsure(f"arrays of {result}")
    return result


def is_int(kind: Kind) -> bool:
    return isinstance(kind, Python) and kind.type == "int" and kind.known
