"""How TensorFlow reads Python values: conversion to tensors, dtypes, static integers, broadcasting.

Every function raises `Raises` where eager TensorFlow would, and `Unsure` where that is not known.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeGuard

from .kinds import (
    NONE,
    SIZE,
    Array,
    Elements,
    Kind,
    Python,
    Scalar,
    Sequence,
    Shape,
    Tensor,
    Type,
    Variable,
)
from .outcome import Raises, Unsure

SIGNED = frozenset({"int8", "int16", "int32", "int64"})
INTEGERS = SIGNED | {"uint8", "uint16", "uint32", "uint64"}
FLOATS = frozenset({"float16", "bfloat16", "float32", "float64"})
COMPLEXES = frozenset({"complex64", "complex128"})
REALS = INTEGERS | FLOATS
NUMBERS = REALS | COMPLEXES
BOOL = frozenset({"bool"})
STRING = frozenset({"string"})
EVERY = NUMBERS | BOOL | STRING
INEXACT = FLOATS | COMPLEXES
SINGLE_OR_DOUBLE = frozenset({"float32", "float64"})
EXACT = SINGLE_OR_DOUBLE | COMPLEXES
INDICES = frozenset({"int32", "int64"})
REAL_DTYPES = {"complex64": "float32", "complex128": "float64"}
COMPLEX_DTYPES = {real: dtype for dtype, real in REAL_DTYPES.items()}
USUAL = frozenset({"float16", "float32", "float64", "int32", "int64", "bool", "string"})
"""The dtypes whose rules are known for certain; about the others a rule may be unsure."""

OWN_DTYPES = {
    "int": "int32",
    "float": "float32",
    "bool": "bool",
    "str": "string",
    "bytes": "string",
    "complex": "complex128",
}
"""What a Python value becomes where nothing else decides."""

TAKES = {
    "int": NUMBERS,
    "float": FLOATS | COMPLEXES,
    "bool": frozenset({"bool", "int32", "int64", "float16", "float32", "float64"}),
    "str": STRING,
    "bytes": STRING,
    "complex": COMPLEXES,
}
"""The dtypes that a Python value may be converted to."""

WIDE_INT = 2**31
TRUE, FALSE = Python("bool", True), Python("bool", False)


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


# ---- conversion to tensors


def tensor(kind: Kind, dtype: str | None = None) -> Tensor:
    """What tf.convert_to_tensor(value, dtype) gives; no dtype: the value's own."""
    match kind:
        case Tensor(weak="numpy"):
            return Tensor(_array_dtype(kind.dtype, dtype), kind.shape)
        case Tensor(weak=str()) | Python():
            return Tensor(_python_dtype(kind, dtype), ())
        case Tensor() | Variable():
            return Tensor(same_dtype(dtype, kind.dtype), kind.shape)
        case Array():
            return Tensor(_array_dtype(kind.dtype, dtype), kind.shape)
        case Scalar():
            return Tensor(_array_dtype(kind.dtype, dtype), ())
        case Sequence(type="tuple" | "list" | "shape"):
            return _packed(kind.items, dtype)
        case Elements(type="tuple" | "list" | "shape"):
            inner = _packed((kind.element,), dtype)
            return Tensor(
                inner.dtype, (None, *inner.shape[1:]) if inner.shape else None
            )
    if kind == SIZE:
        return Tensor(_python_dtype(Python("int"), dtype), ())
    raise Unsure(str(kind))


def is_strong(kind: Kind) -> TypeGuard[Tensor | Variable]:
    """Is it a tensor or Variable, whose dtype the others take?"""
    return (isinstance(kind, Tensor) and kind.weak is None) or isinstance(
        kind, Variable
    )


def as_python(kind: Kind) -> Python | None:
    """A Python number or text as such: weak tensors and sizes count as values that are not known."""
    if isinstance(kind, Python) and kind.type in OWN_DTYPES:
        return kind
    if isinstance(kind, Tensor) and kind.weak and kind.weak != "numpy":
        return Python(kind.weak)
    return Python("int") if kind == SIZE else None


def same_dtype(wanted: str | None, given: str | None) -> str | None:
    """The dtype of two that must agree; an unknown one is taken to."""
    if wanted is None or given is None or wanted == given:
        return wanted or given
    raise Raises(f"{given} where {wanted} is needed")


def _python_dtype(kind: Kind, dtype: str | None) -> str | None:
    value = as_python(kind)
    if value is None:
        raise Raises(f"{kind} is no tensor") if kind == NONE else Unsure(str(kind))
    if dtype is None:
        wide = isinstance(value.value, int) and not -WIDE_INT <= value.value < WIDE_INT
        return "int64" if wide else OWN_DTYPES[value.type]
    if dtype in TAKES[value.type]:
        return dtype
    if dtype in EVERY:
        raise Raises(f"a Python {value.type} does not become {dtype}")
    raise Unsure(dtype)


def _array_dtype(given: str | None, wanted: str | None) -> str | None:
    if wanted is None or given == wanted:
        return given
    if given in NUMBERS | BOOL and wanted in NUMBERS | BOOL:
        if given in COMPLEXES and wanted not in COMPLEXES:
            raise Unsure(wanted)
        return wanted
    if given in NUMBERS | BOOL and wanted in STRING:
        raise Raises(f"an array of {given} does not become {wanted}")
    raise Unsure(str(given))


def _packed(items: tuple[Kind, ...], dtype: str | None) -> Tensor:
    """A list or tuple as one tensor, its members side by side."""
    if not items:
        return Tensor(dtype or "float32", (0,))
    leaves = list(_leaves(items))
    if any(map(is_strong, leaves)):
        dtype = _dtype_among(leaves, dtype)
    elif dtype is None:
        dtype = _leading_dtype(leaves)
    inner = [tensor(item, dtype) for item in items]
    return Tensor(
        dtype,
        (len(items), *ranks) if (ranks := _one_shape(inner)) is not None else None,
    )


def _leaves(items: Iterable[Kind]) -> Iterable[Kind]:
    for item in items:
        if isinstance(item, Sequence):
            yield from _leaves(item.items)
        elif isinstance(item, Elements):
            yield from _leaves((item.element,))
        else:
            yield item


def _dtype_among(leaves: list[Kind], dtype: str | None) -> str | None:
    """The dtype that tensors in a list give to all of it."""
    for leaf in leaves:
        if is_strong(leaf):
            if dtype and leaf.dtype and dtype != leaf.dtype:
                raise Unsure("tensors of another dtype in a list")
            dtype = dtype or leaf.dtype
    return dtype


def _leading_dtype(leaves: list[Kind]) -> str | None:
    """The dtype of a list without tensors: its first member's, but floats win over ints."""
    if any(isinstance(leaf, Array | Scalar) for leaf in leaves):
        dtypes = {leaf.dtype for leaf in leaves if isinstance(leaf, Array)}
        if len(dtypes) == 1 and all(isinstance(leaf, Array) for leaf in leaves):
            return dtypes.pop()
        raise Unsure("NumPy scalars in a list")
    own = [tensor(leaf).dtype for leaf in leaves]
    for wider, narrower in (
        ("float32", "int32"),
        ("int64", "int32"),
        ("float32", "int64"),
    ):
        if set(own) == {wider, narrower}:
            return wider
    return own[0]


def _one_shape(inner: list[Tensor]) -> Shape:
    """The shape that all members of a list share."""
    first = inner[0].shape
    for other in inner[1:]:
        if first is None or other.shape is None:
            return None
        first = equal_shapes(first, other.shape)
    return first


def common(kinds: Iterable[Kind]) -> list[Tensor]:
    """Arguments that must share a dtype, as tensors: a strong tensor's dtype, else the first one's."""
    kinds = list(kinds)
    strong = [kind.dtype for kind in kinds if is_strong(kind)]
    if not strong:
        strong = [tensor(kinds[0]).dtype] if kinds else []
    return [
        tensor_as(kind, next((one for one in strong if one), None)) for kind in kinds
    ]


def tensor_as(kind: Kind, dtype: str | None) -> Tensor:
    """The value as a tensor of the dtype that another one has; of unknown dtype where that isn't known."""
    return Tensor(None, tensor(kind).shape) if dtype is None else tensor(kind, dtype)


def accept(dtype: str | None, accepted: frozenset[str]) -> None:
    """Raise where an op does not take the dtype."""
    if dtype is None or dtype in accepted:
        return
    if dtype in USUAL:
        raise Raises(f"not for {dtype}")
    raise Unsure(dtype)


# ---- arguments that are not tensors


def dtype_of(kind: Kind) -> str | None:
    """The dtype that an argument names; None where it can't be told."""
    if isinstance(kind, Python) and kind.type in ("dtype", "str") and kind.known:
        return str(kind.value)
    if isinstance(kind, Type):
        named = {
            "builtins.bool": "bool",
            "builtins.int": "int64",
            "builtins.float": "float32",
        }
        short = kind.name.removeprefix("numpy.")
        short = short.removesuffix("_") if short == "bool_" else short
        return named.get(kind.name) or (short if short in EVERY else None)
    return None


def constant_int(kind: Kind) -> int | None:
    """The value of a Python integer, where it is known."""
    if isinstance(kind, Python) and type(kind.value) is int:
        return kind.value
    return None


def constant_bool(kind: Kind) -> bool | None:
    """The value of a Python bool, where it is known."""
    if isinstance(kind, Python) and isinstance(kind.value, bool | int):
        return bool(kind.value)
    return False if kind == NONE else None


def constant_str(kind: Kind) -> str | None:
    """The value of a Python string, where it is known."""
    return (
        kind.value if isinstance(kind, Python) and isinstance(kind.value, str) else None
    )


def integers(kind: Kind) -> tuple[int | None, ...] | None:
    """The integers of a vector argument such as a shape, None for those not known; None for unknown length."""
    match kind:
        case Sequence(items=items):
            return tuple(map(constant_int, items))
        case (
            Tensor(shape=(int() as n,))
            | Variable(shape=(int() as n,))
            | Array(shape=(int() as n,))
        ):
            return (None,) * n
        case Python(type="int") | Scalar() | Tensor(shape=()):
            return (constant_int(kind),)
    return (None,) if kind == SIZE else None


def shape_of(kind: Kind) -> Shape:
    """The shape that an argument asks for: its integers, -1 and None standing for what isn't known."""
    found = integers(kind)
    return (
        None
        if found is None
        else tuple(None if n is None or n < 0 else n for n in found)
    )


def axes(kind: Kind) -> tuple[int, ...] | None:
    """The axes an argument names; None where they are not all known."""
    found = integers(kind)
    if found is None or any(n is None for n in found):
        return None
    return tuple(n for n in found if n is not None)


def axis_in(axis: int, rank: int) -> int:
    """The axis counted from the front."""
    if not -rank <= axis < rank:
        raise Raises(f"axis {axis} of {rank} dimensions")
    return axis % rank


# ---- shapes


def broadcast(a: Shape, b: Shape) -> Shape:
    """The shape two operands of the shapes give."""
    if a is None or b is None:
        return None
    n = max(len(a), len(b))
    pairs = zip((1,) * (n - len(a)) + a, (1,) * (n - len(b)) + b, strict=True)
    return tuple(_broadcast_size(x, y) for x, y in pairs)


def _broadcast_size(x: int | None, y: int | None) -> int | None:
    if x == y or y == 1:
        return x
    if x == 1:
        return y
    if x is None or y is None:
        return x if y is None else y
    raise Raises(f"sizes {x} and {y} do not broadcast")


def equal_shapes(a: Shape, b: Shape) -> Shape:
    """What is known of a shape of which two accounts are given."""
    if a is None or b is None:
        return b if a is None else a
    if len(a) != len(b):
        raise Raises(f"ranks {len(a)} and {len(b)} differ")
    return tuple(equal_sizes(x, y) for x, y in zip(a, b, strict=True))


def equal_sizes(x: int | None, y: int | None) -> int | None:
    """What is known of a size of which two accounts are given."""
    if x is None or y is None or x == y:
        return y if x is None else x
    raise Raises(f"sizes {x} and {y} differ")


def with_rank(shape: Shape, rank: int) -> tuple[int | None, ...]:
    """The shape, which must be of the rank."""
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise Raises(f"{len(shape)} dimensions where {rank} are needed")
    return shape


def product(sizes: Iterable[int | None]) -> int | None:
    """The number of elements, None where a size isn't known (and none is 0)."""
    result: int | None = 1
    for size in sizes:
        result = None if result is None or size is None else result * size
    return result


def dimensions(shape: Shape) -> Kind:
    """The kind of `x.shape`."""
    if shape is None:
        return Elements("shape", SIZE)
    return Sequence(
        "shape", tuple(SIZE if n is None else Python("int", n) for n in shape)
    )


def dtype_kind(name: str | None) -> Kind:
    """The kind of `x.dtype`."""
    return Python("dtype") if name is None else Python("dtype", name)


def rank_kind(shape: Shape) -> Kind:
    """The kind of `x.ndim`."""
    return Python("int") if shape is None else Python("int", len(shape))


def inner(kind: Sequence | Elements) -> tuple[Kind, ...]:
    """The kinds of the members of a sequence."""
    return kind.items if isinstance(kind, Sequence) else (kind.element,)
