"""What attributes and methods of NumPy arrays and scalars give."""

from __future__ import annotations

from . import tensorflow_values as values
from .kinds import (
    BOOL,
    FLOAT,
    INT,
    NONE,
    UNKNOWN,
    Array,
    Elements,
    Kind,
    Python,
    Scalar,
    Sequence,
    Shape,
    Tensor,
    Variable,
)
from .outcome import Outcome, Unsure, outcome
from .tensorflow_arrays import reshaped
from .tensorflow_math import reduced
from .tensorflow_numpy import array_or_scalar

Args = tuple[Kind, ...]
Kwargs = dict[str, Kind]
Result = Kind | Outcome


def array_attribute(kind: Array | Scalar, name: str) -> Result:
    shape = () if isinstance(kind, Scalar) else kind.shape
    match name:
        case "shape":
            if shape is None:
                return Elements("tuple", INT)
            return Sequence(
                "tuple", tuple(INT if n is None else Python("int", n) for n in shape)
            )
        case "dtype":
            return values.dtype_kind(kind.dtype)
        case "ndim":
            return values.rank_kind(shape)
        case "size":
            count = None if shape is None else values.product(shape)
            return INT if count is None else Python("int", count)
        case "T":
            return (
                kind
                if isinstance(kind, Scalar)
                else Array(kind.dtype, None if shape is None else shape[::-1])
            )
        case "nbytes" | "itemsize":
            return INT
    raise Unsure(name)


def array_method(kind: Array | Scalar, name: str, args: Args, kwargs: Kwargs) -> Result:
    if any(isinstance(k, Tensor | Variable) for k in (*args, *kwargs.values())):
        raise Unsure("a tensor given to NumPy")
    shape = () if isinstance(kind, Scalar) else kind.shape
    if name in REDUCTIONS:
        return array_reduced(kind.dtype, shape, name, args, kwargs)
    match name:
        case "item" if not args and not kwargs:
            return _item(kind.dtype)
        case "astype":
            wanted = args[0] if args else kwargs.get("dtype", UNKNOWN)
            dtype = numpy_dtype(wanted)
            if dtype == "string":
                raise Unsure("an array of texts")
            return array_or_scalar(dtype, shape)
        case "reshape" if not kwargs:
            return Array(kind.dtype, _reshaped(shape, args))
        case "flatten" | "ravel":
            return Array(
                kind.dtype, (None if shape is None else values.product(shape),)
            )
        case "copy":
            return kind
        case "transpose" if not args and not kwargs:
            return array_or_scalar(kind.dtype, None if shape is None else shape[::-1])
        case "tolist" if shape is not None and len(shape) <= 1:
            item = _item(kind.dtype)
            return Elements("list", item) if shape else item
        case "sort" | "fill":
            return outcome(NONE, "mutates")
    raise Unsure(name)


REDUCTIONS = (
    "sum",
    "prod",
    "mean",
    "std",
    "var",
    "max",
    "min",
    "any",
    "all",
    "argmax",
    "argmin",
)


def array_reduced(
    dtype: str | None, shape: Shape, name: str, args: Args, kwargs: Kwargs
) -> Kind:
    if len(args) > 1 or not set(kwargs) <= {"axis", "keepdims"}:
        raise Unsure(name)
    axis = args[0] if args else kwargs.get("axis", NONE)
    keep = values.constant_bool(kwargs.get("keepdims", NONE))
    result = _reduced_dtype(name, dtype)
    if axis == NONE and not keep:
        return Scalar(result)
    if shape == ():
        raise Unsure("an axis of a scalar")

    return array_or_scalar(result, reduced(shape, axis, keep))


def _reduced_dtype(name: str, dtype: str | None) -> str | None:
    if name in ("any", "all"):
        return "bool"
    if name in ("argmax", "argmin"):
        return "int64"
    if dtype is None:
        return None
    small = dtype == "bool" or dtype in values.INTEGERS
    if name in ("mean", "std", "var") and small:
        return "float64"
    if name in ("sum", "prod") and small:
        return "uint64" if dtype.startswith("uint") else "int64"
    return dtype


def _item(dtype: str | None) -> Kind:
    for family, kind in (
        (values.INTEGERS, INT),
        (values.FLOATS - {"bfloat16"}, FLOAT),
        (values.BOOL, BOOL),
    ):
        if dtype in family:
            return kind
    raise Unsure(f"an item of {dtype}")


def numpy_dtype(kind: Kind) -> str | None:
    names = {
        "builtins.float": "float64",
        "builtins.int": "int64",
        "builtins.bool": "bool",
        "float": "float64",
        "int": "int64",
        "bool": "bool",
    }
    name = getattr(kind, "name", None) or values.constant_str(kind) or ""
    return names.get(name) or values.dtype_of(kind)


def _reshaped(shape: Shape, args: Args) -> Shape:
    if len(args) == 1:
        return reshaped(shape, values.integers(args[0]))
    return reshaped(shape, tuple(map(values.constant_int, args)))
