"""Subscripts of tensors, NumPy arrays, sequences, dicts and texts."""

from __future__ import annotations

from . import tensorflow_numpy
from . import tensorflow_values as values
from .kind_joins import forget, join_all
from .kinds import (
    NONE,
    SIZE,
    STR,
    Array,
    Dict,
    Elements,
    Kind,
    Mapping,
    Python,
    Scalar,
    Sequence,
    Shape,
    Tensor,
    Variable,
    members,
    weak,
)
from .outcome import Outcome, Raises, Unsure, outcome
from .staging import is_weak
from .tensorflow_values import as_python, constant_int, constant_str, inner, is_strong


def subscripted(value: Kind, index: Kind) -> Kind | Outcome:
    """`value[index]` for kinds that are no unions."""
    match value:
        case Tensor() | Variable() if is_strong(value):
            return _tensor_subscript(values.tensor(value), index)
        case Array():
            return _array_subscript(value, index)
        case Sequence() | Elements():
            return _sequence_subscript(value, index)
        case Dict() | Mapping():
            return _dict_subscript(value, index)
        case Python(type="str" | "bytes"):
            return _text_subscript(value, index)
        case Python(type="int" | "float" | "bool" | "None"):
            raise Raises(f"a subscript of {value}")
    raise Unsure(f"{value}[{index}]")


def _tensor_subscript(value: Tensor, index: Kind) -> Kind:
    if (
        isinstance(index, Tensor | Array)
        and index.dtype == "bool"
        and not is_weak(index)
    ):
        return Tensor(value.dtype, masked_shape(value.shape, index.shape))
    parts = (
        index.items
        if isinstance(index, Sequence) and index.type in ("tuple", "list")
        else (index,)
    )
    for part in parts:
        _check_index(part)
    return Tensor(value.dtype, indexed_shape(value.shape, parts))


def masked_shape(shape: Shape, mask: Shape) -> Shape:
    """The shape of what a mask leaves of a tensor."""
    if mask == ():
        raise Raises("a mask without dimensions")
    if shape is None or mask is None:
        return None
    if len(mask) > len(shape):
        raise Raises("a mask of more dimensions")
    values.equal_shapes(shape[: len(mask)], mask)
    return (None, *shape[len(mask) :])


def _check_index(part: Kind) -> None:
    """Raise where TensorFlow does not take it in a subscript."""
    match part:
        case Sequence(type="slice", items=bounds):
            for bound in bounds:
                if bound != NONE:
                    _check_index(bound)
        case Python(type="int" | "ellipsis" | "None") | Tensor(weak="int"):
            pass
        case Python(type="bool") | Tensor(weak="bool"):
            raise Unsure("a bool as index")
        case Python() | Sequence() | Elements() | Dict() | Mapping():
            raise Raises(f"{part} as an index of a tensor")
        case Tensor(dtype=dtype, shape=shape) | Variable(dtype=dtype, shape=shape):
            if shape is None or dtype is None:
                raise Unsure("an index of unknown rank")
            if shape != () or dtype not in ("int16", "int32", "int64"):
                raise Raises(f"{part} as an index of a tensor")
        case Scalar(dtype=dtype) if dtype in values.INTEGERS:
            pass
        case _ if part != SIZE:
            raise Unsure(f"{part} as an index")


def indexed_shape(shape: Shape, parts: tuple[Kind, ...]) -> Shape:
    """The shape a basic subscript leaves: integers, slices, None and an ellipsis."""
    if shape is None:
        return None
    taken = sum(1 for part in parts if part != NONE and not _is_ellipsis(part))
    if taken > len(shape):
        raise Raises(f"{taken} indices of {len(shape)} dimensions")
    if sum(map(_is_ellipsis, parts)) > 1:
        raise Raises("two ellipses")
    result: list[int | None] = []
    rest = list(shape)
    for part in parts:
        if _is_ellipsis(part):
            keep = len(shape) - taken
            result += rest[:keep]
            rest = rest[keep:]
        elif part == NONE:
            result.append(1)
        elif isinstance(part, Sequence):
            result.append(sliced_size(rest.pop(0), part))
        else:
            _check_bounds(rest.pop(0), constant_int(part))
    return (*result, *rest)


def _is_ellipsis(part: Kind) -> bool:
    return isinstance(part, Python) and part.type == "ellipsis"


def _check_bounds(size: int | None, position: int | None) -> None:
    if size is not None and position is not None and not -size <= position < size:
        raise Raises(f"index {position} of {size}")


def sliced_size(size: int | None, part: Sequence) -> int | None:
    """How many of the size a slice takes; None where that isn't known."""
    bounds = [None if bound == NONE else constant_int(bound) for bound in part.items]
    lower, upper, step = part.items
    if bounds[2] == 0:
        raise Raises("a slice step of zero")
    if (lower, upper) == (NONE, NONE) and (step == NONE or bounds[2] in (1, -1)):
        return size
    unknown = any(
        b is None and bound != NONE for b, bound in zip(bounds, part.items, strict=True)
    )
    if size is None or unknown:
        return None
    return len(range(*slice(*bounds).indices(size)))


def _array_subscript(value: Array, index: Kind) -> Kind | Outcome:
    parts = (
        index.items
        if isinstance(index, Sequence) and index.type == "tuple"
        else (index,)
    )
    effects = (
        ["host"] if any(isinstance(part, Tensor | Variable) for part in parts) else []
    )
    if len(parts) == 1 and isinstance(parts[0], Array):
        return _fancy(value, parts[0])
    if (
        len(parts) == 1
        and isinstance(parts[0], Tensor | Variable)
        and parts[0].shape != ()
    ):
        return outcome(_fancy(value, Array(parts[0].dtype, parts[0].shape)), "host")
    if (
        len(parts) == 1
        and isinstance(parts[0], Sequence | Elements)
        and parts[0].type == "list"
    ):
        chosen = values.tensor(parts[0])
        return _fancy(
            value,
            Array("int64" if chosen.dtype == "int32" else chosen.dtype, chosen.shape),
        )
    if any(
        isinstance(part, Array | Elements)
        or getattr(part, "type", "") in ("list", "bool")
        for part in parts
    ):
        raise Unsure("fancy indexing")
    for part in parts:
        _check_index(part)
    return outcome(
        tensorflow_numpy.array_or_scalar(
            value.dtype, indexed_shape(value.shape, parts)
        ),
        *effects,
    )


def _fancy(value: Array, index: Array) -> Kind:
    if index.dtype == "bool":
        return Array(value.dtype, masked_shape(value.shape, index.shape))
    if index.dtype not in values.INTEGERS or value.shape is None or index.shape is None:
        raise Unsure("fancy indexing")
    if not value.shape:
        raise Raises("an index of a scalar")
    return tensorflow_numpy.array_or_scalar(
        value.dtype, (*index.shape, *value.shape[1:])
    )


def _sequence_subscript(value: Sequence | Elements, index: Kind) -> Kind | Outcome:
    if isinstance(value, Elements) and value.type == "set":
        raise Raises("a subscript of a set")
    if isinstance(index, Sequence) and index.type == "slice":
        return _sliced_sequence(value, index)
    number = as_python(index)
    if (number is not None and number.type not in ("int", "bool")) or index == NONE:
        raise Raises(f"{index} as an index of a {value.type}")
    position = constant_int(index)
    if isinstance(value, Sequence) and position is not None:
        if not -len(value.items) <= position < len(value.items):
            raise Raises(f"index {position} of {len(value.items)}")
        return value.items[position]
    if isinstance(value, Sequence) and not value.items:
        raise Raises("an index of an empty sequence")
    found = join_all(map(forget, inner(value)))
    if number == index or isinstance(index, Scalar):
        return found
    return _looked_up(found, index)


def _looked_up(found: Kind, index: Kind) -> Kind | Outcome:
    """What a tensor picks from Python's values: numbers become weak, tensors stay what they are."""
    if is_strong(index) and not (index.shape == () and index.dtype in values.INTEGERS):
        if index.shape is None or index.dtype is None:
            raise Unsure("an index of unknown kind")
        raise Raises(f"{index} as an index")
    if as_python(index) is None and not is_strong(index):
        raise Unsure(f"{index} as an index")
    picked = [_held(kind) for kind in members(found)]
    if all(kind is not None for kind in picked):
        return join_all(kind for kind in picked if kind)
    return outcome(found, "host")


def _held(kind: Kind) -> Kind | None:
    """The value as one that lives in a graph; None for a value that can't."""
    if isinstance(kind, Tensor):
        return kind
    if isinstance(kind, Variable):
        return Tensor(kind.dtype, kind.shape)
    number = as_python(kind)
    return (
        weak(number.type)
        if number and number.type in ("int", "float", "bool", "str")
        else None
    )


def _sliced_sequence(value: Sequence | Elements, index: Sequence) -> Kind:
    if any(bound != NONE and not isinstance(bound, Python) for bound in index.items):
        raise Unsure("a slice by tensors")
    if isinstance(value, Elements):
        return value
    bounds = [None if bound == NONE else constant_int(bound) for bound in index.items]
    if any(
        b is None and bound != NONE
        for b, bound in zip(bounds, index.items, strict=True)
    ):
        return Elements(value.type, join_all(map(forget, value.items)))
    return Sequence(value.type, value.items[slice(*bounds)])


def _dict_subscript(value: Dict | Mapping, index: Kind) -> Kind | Outcome:
    if is_strong(index) and isinstance(index, Tensor):
        raise Raises("a tensor is not hashable")
    number = as_python(index)
    if number is None:
        raise Unsure(f"{index} as a key")
    if isinstance(value, Mapping):
        return value.value if number == index else _looked_up(value.value, index)
    key = constant_str(index)
    if key is not None:
        found = value.get(key)
        if found is None:
            raise Raises(f"no key {key!r}")
        return found
    if number != index:
        raise Unsure("a dict looked up by a tensor")
    return join_all(map(forget, value.parts))


def _text_subscript(value: Python, index: Kind) -> Kind:
    if isinstance(index, Python) and index.type == "int":
        return Python("int") if value.type == "bytes" else STR
    if isinstance(index, Sequence) and index.type == "slice":
        return Python(value.type)
    raise Unsure(f"{value}[{index}]")
