"""What NumPy's functions give: those that have an equivalent in TensorFlow, of the same result and dtype.

Arguments are of the kinds that eager mode has: tensors count as the arrays that NumPy makes of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Sequence as Sequenced

from . import numpy_forms
from . import tensorflow_values as values
from .kinds import BOOL, NONE, Array, Kind, Python, Scalar, Shape, Union, python
from .methods_numpy import REDUCTIONS, array_reduced, numpy_dtype
from .numpy_arguments import (
    EXACT,
    FLOATS,
    INTS,
    WEAK,
    Given,
    array_of,
    as_array,
    common_dtype,
    is_int,
)
from .outcome import Outcome, Unsure, each
from .tensorflow_math import reduced
from .tensorflow_numpy import array_or_scalar, operand

PARAMETERS: dict[str, tuple[str, ...]] = {
    name: tuple(text.split())
    for names, text in {
        "sum prod mean std var": "a axis dtype out keepdims",
        "average": "a axis",
        "count_nonzero nansum nanmean": "a axis",
        "max amax min amin any all argmax argmin": "a axis out keepdims",
        "cumsum cumprod": "a axis",
        "diff": "a",
        "linalg.norm": "x ord axis keepdims",
        "exp log sqrt sin cos tan tanh sinh cosh arcsin arccos arctan arcsinh arccosh arctanh log1p expm1": "x",
        "log2 log10": "x",
        "nan_to_num": "x",
        "isclose allclose": "a b rtol atol",
        "abs absolute fabs negative square sign floor ceil rint reciprocal": "x",
        "isnan isinf isfinite logical_not": "x",
        "degrees rad2deg radians deg2rad": "x",
        "round around": "a decimals",
        "add subtract multiply divide true_divide maximum minimum power mod remainder": "x1 x2",
        "equal not_equal less less_equal greater greater_equal": "x1 x2",
        "logical_and logical_or logical_xor": "x1 x2",
        "arctan2 fmod": "x1 x2",
        "clip": "a a_min a_max",
        "where": "condition x y",
        "nonzero flatnonzero argwhere": "a",
        "reshape": "a shape",
        "ravel": "a",
        "transpose": "a axes",
        "expand_dims squeeze": "a axis",
        "fliplr flipud": "m",
        "roll": "a shift axis",
        "repeat": "a repeats axis",
        "swapaxes": "a axis1 axis2",
        "moveaxis": "a source destination",
        "append": "arr values axis",
        "einsum": "subscripts first second third",
        "split": "ary indices_or_sections axis",
        "pad": "array pad_width",
        "diag": "v",
        "trace": "a",
        "tril triu": "m",
        "concatenate stack": "arrays axis",
        "vstack hstack": "arrays",
        "tile": "a reps",
        "dot matmul outer inner vdot": "a b",
        "array_equal": "a1 a2",
        "linalg.det": "a",
        "array asarray asanyarray": "a dtype",
        "copy ascontiguousarray": "a",
        "zeros ones empty": "shape dtype",
        "full": "shape fill_value dtype",
        "zeros_like ones_like": "a dtype",
        "full_like": "a fill_value dtype",
        "linspace": "start stop num",
        "arange": "start stop step",
        "eye identity": "n",
        "float16 float32 float64 int8 int16 int32 int64 uint8 bool_": "value",
    }.items()
    for name in names.split()
}
"""The parameters of each function, in order; calls with others are not known."""


def call(
    name: str, args: Sequenced[Kind], kwargs: Mapping[str, Kind]
) -> Outcome | None:
    """What `numpy.name(*args, **kwargs)` gives; None where that is not known."""
    rule = RULES.get(name)
    names = bound_names(name, len(args), kwargs)
    if rule is None or names is None:
        return None
    kinds = [*args, *kwargs.values()]
    if any(isinstance(k, Union) for k in kinds):
        return None

    def outcome(_: tuple[Kind, ...]) -> Kind:
        given = {n: as_array(k) for n, k in zip(names, kinds, strict=True)}
        try:
            return rule(name, given)
        except KeyError as missing:
            raise Unsure(f"{name} without {missing}") from missing

    found = each(outcome)
    flat = found is not None and getattr(found.kind, "shape", None) == ()
    return None if flat else found


def bound_names(
    name: str, count: int, kwargs: Mapping[str, object]
) -> list[str] | None:
    """The parameter that each argument of a call is for; None where they do not fit."""
    parameters = PARAMETERS.get(name, ())
    names = [*parameters[:count], *kwargs]
    fits = count <= len(parameters) and len(set(names)) == len(names)
    return names if fits and set(kwargs) <= set(parameters) else None


def _floating(dtype: str | None) -> str:
    """The dtype in which NumPy computes a function of real numbers."""
    if dtype in FLOATS:
        return str(dtype)
    if dtype in INTS:
        return "float64"
    raise Unsure(f"a function of {dtype}")


def _of_floats(name: str, a: Given) -> Kind:
    number = a["x"]
    if isinstance(number, Python) and number.type in ("int", "float"):
        return Scalar("float64")
    x = array_of(number)
    return array_or_scalar(_floating(x.dtype), x.shape)


def _of_logs(name: str, a: Given) -> Kind:
    """Logarithms that TensorFlow lacks: exact in float32, where they are worked out in float64."""
    x = array_of(a["x"])
    if x.dtype != "float32":
        raise Unsure(f"{name} of {x.dtype}")
    return array_or_scalar(x.dtype, x.shape)


def _close(name: str, a: Given) -> Kind:
    first, second = array_of(a["a"]), array_of(a["b"])
    tolerances = [k for n, k in a.items() if n in ("rtol", "atol")]
    known = all(
        isinstance(k, Python) and k.type in ("int", "float") for k in tolerances
    )
    if first.dtype != second.dtype or first.dtype not in FLOATS or not known:
        raise Unsure(f"{name} of {first.dtype} and {second.dtype}")
    shape = values.broadcast(first.shape, second.shape)
    return BOOL if name == "allclose" else array_or_scalar("bool", shape)


def _keeping(name: str, a: Given) -> Kind:
    x = array_of(a["x"])
    if x.dtype not in (FLOATS if name in OF_FLOATS else EXACT):
        raise Unsure(f"{name} of {x.dtype}")
    return array_or_scalar(x.dtype, x.shape)


OF_FLOATS = frozenset({"floor", "ceil", "rint", "reciprocal", "fabs", "nan_to_num"})


def _rounded(name: str, a: Given) -> Kind:
    x = array_of(a["a"])
    decimals = values.constant_int(a.get("decimals", python(0)))
    if x.dtype not in FLOATS or decimals is None or decimals < 0:
        raise Unsure("round")
    return array_or_scalar(x.dtype, x.shape)


def _asked(name: str, a: Given) -> Kind:
    x = array_of(a["x"])
    if x.dtype not in (("bool",) if name == "logical_not" else FLOATS):
        raise Unsure(f"{name} of {x.dtype}")
    return array_or_scalar("bool", x.shape)


def _pair(a: Given) -> tuple[Kind, Kind, Shape]:
    first, second = a["x1"], a["x2"]
    one, other = operand(first), operand(second)
    if isinstance(first, Python) and isinstance(second, Python):
        raise Unsure("NumPy of Python numbers alone")
    return first, second, values.broadcast(one.shape, other.shape)


def _arithmetic(name: str, a: Given) -> Kind:
    first, second, shape = _pair(a)
    dtype = common_dtype((first, second))
    if name in ("divide", "true_divide"):
        dtype = _floating(dtype)
    if dtype not in (
        FLOATS if name in ("power", "mod", "remainder", "arctan2", "fmod") else EXACT
    ):
        raise Unsure(f"{name} of {dtype}")
    return array_or_scalar(dtype, shape)


def _compared(name: str, a: Given) -> Kind:
    first, second, shape = _pair(a)
    if common_dtype((first, second)) == "bool" and name not in ("equal", "not_equal"):
        raise Unsure(f"{name} of bools")
    return array_or_scalar("bool", shape)


def _logical(name: str, a: Given) -> Kind:
    first, second, shape = _pair(a)
    if common_dtype((first, second)) != "bool":
        raise Unsure(f"{name} of numbers")
    return array_or_scalar("bool", shape)


def _clipped(name: str, a: Given) -> Kind:
    x = array_of(a["a"])
    bounds = [a["a_min"], a["a_max"]]
    if not all(isinstance(b, Python | Scalar) for b in bounds) or NONE in bounds:
        raise Unsure("clip to arrays")
    if common_dtype((a["a"], *bounds)) != x.dtype:
        raise Unsure("clip to another dtype")
    return array_or_scalar(x.dtype, x.shape)


def _chosen(name: str, a: Given) -> Kind:
    if a.keys() == {"condition"}:
        return numpy_forms.places(name, a)
    condition = array_of(a["condition"])
    first, second = a["x"], a["y"]
    shape = values.broadcast(operand(first).shape, operand(second).shape)
    return Array(
        common_dtype((first, second)), values.broadcast(condition.shape, shape)
    )


def _reduction(name: str, a: Given) -> Kind:
    x = array_of(a["a"])
    short = SHORT.get(name, name)
    if not set(a) <= {"a", "axis", "keepdims"}:
        raise Unsure(f"{name} with more arguments")
    axis = a.get("axis", NONE)
    if x.dtype not in EXACT and not (x.dtype == "bool" and short in COUNTED):
        raise Unsure(f"{name} of {x.dtype}")
    whole = NONE if name == "average" else axis
    if name in NOT_OF_NONE and not _is_filled(x.shape, whole):
        raise Unsure(f"{name} of what may be empty")
    if short in ("argmax", "argmin") and not (axis == NONE or is_int(axis)):
        raise Unsure(f"{name} over {axis}")
    if axis != NONE and values.axes(axis) is None:
        raise Unsure("an axis that is not known")
    keep = {"keepdims": a["keepdims"]} if "keepdims" in a else {}
    return array_reduced(x.dtype, x.shape, short, (), {"axis": axis, **keep})


COUNTED = frozenset({"sum", "mean", "any", "all"})
NOT_OF_NONE = frozenset({"max", "min", "amax", "amin", "average"})
SHORT = {"amax": "max", "amin": "min", "average": "mean"}


def _counted(name: str, a: Given) -> Kind:
    x = array_of(a["a"])
    axis = a.get("axis", NONE)
    if x.dtype not in EXACT | {"bool"} or not (axis == NONE or is_int(axis)):
        raise Unsure(f"{name} of {x.dtype}")
    return array_or_scalar("int64", reduced(x.shape, axis, False))


def _without_nan(name: str, a: Given) -> Kind:
    if array_of(a["a"]).dtype not in FLOATS:
        raise Unsure(f"{name} of numbers that are never NaN")
    return _reduction(name.removeprefix("nan"), a)


def _is_filled(shape: Shape, axis: Kind) -> bool:
    """Whether every reduced axis is known to have elements."""
    if shape is None:
        return False
    axes = (
        range(len(shape))
        if axis == NONE
        else [values.axis_in(n, len(shape)) for n in values.axes(axis) or ()]
    )
    return all(shape[n] for n in axes)


def _accumulated(name: str, a: Given) -> Kind:
    x = array_of(a["a"])
    if x.dtype not in EXACT:
        raise Unsure(f"{name} of {x.dtype}")
    if "axis" in a and a["axis"] != NONE and not is_int(a["axis"]):
        raise Unsure("an axis that is not known")
    dtype = "int64" if x.dtype in INTS else x.dtype
    whole = a.get("axis", NONE) == NONE
    return Array(dtype, (values.product(x.shape or ()),) if whole else x.shape)


def _differences(name: str, a: Given) -> Kind:
    x = array_of(a["a"])
    if x.dtype not in EXACT or not x.shape:
        raise Unsure(f"{name} of {x.dtype}")
    last = None if x.shape[-1] is None else max(x.shape[-1] - 1, 0)
    return Array(x.dtype, (*x.shape[:-1], last))


def _norm(name: str, a: Given) -> Kind:
    x = array_of(a["x"])
    axis, keep = a.get("axis", NONE), values.constant_bool(a.get("keepdims", NONE))
    order, flat = a.get("ord", NONE), axis == NONE and len(x.shape or ()) != 1
    known = isinstance(order, Python) and order.value in (1, 2, float("inf"))
    if (order != NONE and (flat or not known)) or x.dtype not in FLOATS:
        raise Unsure("a norm")
    if axis != NONE and not is_int(axis):
        raise Unsure("a matrix norm")
    return array_or_scalar(x.dtype, reduced(x.shape, axis, keep))


# ---- making arrays


def _made(name: str, a: Given) -> Kind:
    """np.array and np.asarray."""
    x = array_of(a["a"])
    if not x.shape and x.shape is not None:
        raise Unsure("an array without dimensions")
    dtype = _dtype_argument(a, x.dtype)
    return Array(dtype, x.shape)


def _dtype_argument(a: Given, otherwise: str | None) -> str | None:
    if a.get("dtype", NONE) == NONE:
        return otherwise
    dtype = numpy_dtype(a["dtype"])
    if dtype not in EXACT | {"bool"}:
        raise Unsure(f"an array of {dtype}")
    return dtype


def _converted(name: str, a: Given) -> Kind:
    """np.float32(x) and its like."""
    dtype = "bool" if name == "bool_" else name
    value = a["value"]
    if isinstance(value, Python) and value.type in WEAK:
        return Scalar(dtype)
    x = array_of(value)
    return array_or_scalar(dtype, x.shape)


def _filled(name: str, a: Given) -> Kind:
    shape = a["shape"]
    sizes = (
        (values.constant_int(shape),)
        if isinstance(shape, Python | Scalar)
        else values.integers(shape)
    )
    if sizes is None:
        raise Unsure("a shape that is not known")
    otherwise: str | None = "float64"
    if name == "full":
        otherwise = common_dtype((a["fill_value"],))
    return Array(_dtype_argument(a, otherwise), sizes)


def _like(name: str, a: Given) -> Kind:
    x = array_of(a["a"])
    return array_or_scalar(_dtype_argument(a, x.dtype), x.shape)


def _spaced(name: str, a: Given) -> Kind:
    count = values.constant_int(a.get("num", python(50)))
    if count is None or count < 2:
        raise Unsure("how many numbers")
    for bound in (a["start"], a["stop"]):
        if operand(bound).shape != ():
            raise Unsure("bounds that are arrays")
    if {getattr(a[n], "dtype", "float64") for n in ("start", "stop")} - {"float64"}:
        raise Unsure("bounds of another dtype")
    return Array("float64", (count,))


def _counting(name: str, a: Given) -> Kind:
    bounds = list(a.values())
    if not all(isinstance(b, Python | Scalar) for b in bounds):
        raise Unsure("bounds that are arrays")
    dtype = common_dtype(bounds)
    if dtype != "int64":
        raise Unsure(f"a range of {dtype}")
    if len(bounds) == 1 and isinstance(bounds[0], Python) and bounds[0].known:
        return Array(dtype, (values.constant_int(bounds[0]),))
    return Array(dtype, (None,))


def _identity(name: str, a: Given) -> Kind:
    n = values.constant_int(a["n"])
    return Array("float64", (n, n))


Rule = Callable[[str, Given], Kind]

RULES: dict[str, Rule] = {
    **numpy_forms.RULES,
    **{
        name: rule
        for names, rule in {
            " ".join(REDUCTIONS) + " amax amin average": _reduction,
            "count_nonzero": _counted,
            "cumsum cumprod": _accumulated,
            "diff": _differences,
            "linalg.norm": _norm,
            "exp log sqrt sin cos tan tanh sinh cosh arcsin arccos arctan arcsinh arccosh arctanh log1p expm1": _of_floats,
            "degrees rad2deg radians deg2rad": _of_floats,
            "log2 log10": _of_logs,
            "isclose allclose": _close,
            "nansum nanmean": _without_nan,
            "abs absolute fabs negative square sign floor ceil rint reciprocal nan_to_num": _keeping,
            "isnan isinf isfinite logical_not": _asked,
            "round around": _rounded,
            "add subtract multiply divide true_divide maximum minimum power mod remainder arctan2 fmod": _arithmetic,
            "equal not_equal less less_equal greater greater_equal": _compared,
            "logical_and logical_or logical_xor": _logical,
            "clip": _clipped,
            "where": _chosen,
            "array asarray asanyarray copy ascontiguousarray": _made,
            "zeros ones full empty": _filled,
            "zeros_like ones_like full_like": _like,
            "linspace": _spaced,
            "arange": _counting,
            "eye identity": _identity,
            "float16 float32 float64 int8 int16 int32 int64 uint8 bool_": _converted,
        }.items()
        for name in names.split()
    },
}

REPEATING = frozenset({"isclose", "allclose", "nan_to_num"})
"""Functions of which a graph names the arguments more than once."""
CONSTANTS: dict[str, Kind] = {
    "pi": python(3.141592653589793),
    "e": python(2.718281828459045),
    "inf": python(float("inf")),
    "nan": python(float("nan")),
    "newaxis": NONE,
}
TYPES = frozenset(
    [
        "float16",
        "float32",
        "float64",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "bool_",
        "ndarray",
    ]
)


METHODS = frozenset(
    [
        *REDUCTIONS,
        *("cumsum", "cumprod", "round", "clip", "ravel", "squeeze", "dot"),
        *("repeat", "swapaxes", "trace"),
    ]
)
OWN_METHODS = frozenset(
    ["item", "tolist", "astype", "copy", "flatten", "reshape", "transpose"]
)
"""Methods that no function has the parameters of."""


def is_method(name: str) -> bool:
    """Whether a method of arrays is the function of its name, with the array as the first argument."""
    return name in METHODS
