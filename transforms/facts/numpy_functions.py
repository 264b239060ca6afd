"""What NumPy's functions give: those that have an equivalent in TensorFlow, of the same result and dtype.

Arguments are of the kinds that eager mode has: tensors count as the arrays that NumPy makes of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Sequence as Sequenced

from . import tensorflow_values as values
from .kinds import (
    INT,
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
    Union,
    Variable,
    python,
)
from .methods_numpy import REDUCTIONS, array_reduced, numpy_dtype
from .operators_arithmetic import matmul_shape
from .outcome import Outcome, Unsure, each
from .tensorflow_arrays import reshaped
from .tensorflow_math import reduced
from .tensorflow_numpy import array_or_scalar, operand, promoted

PARAMETERS: dict[str, tuple[str, ...]] = {
    name: tuple(text.split())
    for names, text in {
        "sum prod mean std var": "a axis dtype out keepdims",
        "max amax min amin any all argmax argmin": "a axis out keepdims",
        "cumsum": "a axis",
        "linalg.norm": "x ord axis keepdims",
        "exp log sqrt sin cos tan tanh sinh cosh arcsin arccos arctan arcsinh log1p expm1": "x",
        "abs absolute negative square sign floor ceil rint": "x",
        "isnan isinf isfinite logical_not": "x",
        "round around": "a decimals",
        "add subtract multiply divide true_divide maximum minimum power mod remainder": "x1 x2",
        "equal not_equal less less_equal greater greater_equal": "x1 x2",
        "logical_and logical_or logical_xor": "x1 x2",
        "arctan2": "x1 x2",
        "clip": "a a_min a_max",
        "where": "condition x y",
        "reshape": "a shape",
        "ravel": "a",
        "transpose": "a axes",
        "expand_dims squeeze": "a axis",
        "concatenate stack": "arrays axis",
        "vstack hstack": "arrays",
        "tile": "a reps",
        "dot matmul outer": "a b",
        "array asarray asanyarray": "a dtype",
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

Given = Mapping[str, Kind]
EXACT = frozenset({"float32", "float64", "int32", "int64"})
FLOATS = frozenset({"float32", "float64"})
INTS = frozenset({"int32", "int64"})


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


def _array(kind: Kind) -> Array:
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
    parts = [k if isinstance(k, Python) else _array(k) for k in kind.items]
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
    x = _array(number)
    return array_or_scalar(_floating(x.dtype), x.shape)


def _keeping(name: str, a: Given) -> Kind:
    x = _array(a["x"])
    if x.dtype not in (FLOATS if name in ("floor", "ceil", "rint") else EXACT):
        raise Unsure(f"{name} of {x.dtype}")
    return array_or_scalar(x.dtype, x.shape)


def _rounded(name: str, a: Given) -> Kind:
    x = _array(a["a"])
    if x.dtype not in FLOATS or a.get("decimals", python(0)) != python(0):
        raise Unsure("round")
    return array_or_scalar(x.dtype, x.shape)


def _asked(name: str, a: Given) -> Kind:
    x = _array(a["x"])
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
        FLOATS if name in ("power", "mod", "remainder", "arctan2") else EXACT
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
    x = _array(a["a"])
    bounds = [a["a_min"], a["a_max"]]
    if not all(isinstance(b, Python | Scalar) for b in bounds) or NONE in bounds:
        raise Unsure("clip to arrays")
    if common_dtype((a["a"], *bounds)) != x.dtype:
        raise Unsure("clip to another dtype")
    return array_or_scalar(x.dtype, x.shape)


def _chosen(name: str, a: Given) -> Kind:
    condition = _array(a["condition"])
    first, second = a["x"], a["y"]
    shape = values.broadcast(operand(first).shape, operand(second).shape)
    return Array(
        common_dtype((first, second)), values.broadcast(condition.shape, shape)
    )


def _reduction(name: str, a: Given) -> Kind:
    x = _array(a["a"])
    short = name.removeprefix("a") if name in ("amax", "amin") else name
    if not set(a) <= {"a", "axis", "keepdims"}:
        raise Unsure(f"{name} with more arguments")
    axis = a.get("axis", NONE)
    if x.dtype not in EXACT and not (x.dtype == "bool" and short in COUNTED):
        raise Unsure(f"{name} of {x.dtype}")
    if short in ("max", "min") and not _is_filled(x.shape, axis):
        raise Unsure("the extreme of what may be empty")
    if short in ("argmax", "argmin") and not (axis == NONE or _is_int(axis)):
        raise Unsure(f"{name} over {axis}")
    if axis != NONE and values.axes(axis) is None:
        raise Unsure("an axis that is not known")
    keep = {"keepdims": a["keepdims"]} if "keepdims" in a else {}
    return array_reduced(x.dtype, x.shape, short, (), {"axis": axis, **keep})


COUNTED = frozenset({"sum", "mean", "any", "all"})


def _is_int(kind: Kind) -> bool:
    return isinstance(kind, Python) and kind.type == "int" and kind.known


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
    x = _array(a["a"])
    if x.dtype not in EXACT:
        raise Unsure(f"{name} of {x.dtype}")
    if "axis" in a and a["axis"] != NONE and not _is_int(a["axis"]):
        raise Unsure("an axis that is not known")
    dtype = "int64" if x.dtype in INTS else x.dtype
    whole = a.get("axis", NONE) == NONE
    return Array(dtype, (values.product(x.shape or ()),) if whole else x.shape)


def _norm(name: str, a: Given) -> Kind:
    x = _array(a["x"])
    if a.get("ord", NONE) != NONE or x.dtype not in FLOATS:
        raise Unsure("a norm")
    axis, keep = a.get("axis", NONE), values.constant_bool(a.get("keepdims", NONE))
    if axis != NONE and not _is_int(axis):
        raise Unsure("a matrix norm")
    return array_or_scalar(x.dtype, reduced(x.shape, axis, keep))


# ---- shapes


def _reshaped(name: str, a: Given) -> Kind:
    x = _array(a["a"])
    wanted = values.integers(a["shape"])
    if isinstance(a["shape"], Python):
        wanted = (values.constant_int(a["shape"]),)
    if wanted is None or None in wanted:
        raise Unsure("a shape that is not known")
    return Array(x.dtype, reshaped(x.shape, wanted))


def _raveled(name: str, a: Given) -> Kind:
    x = _array(a["a"])
    return Array(x.dtype, (values.product(x.shape or ()),))


def _transposed(name: str, a: Given) -> Kind:
    x = _array(a["a"])
    assert x.shape is not None
    axes = a.get("axes", NONE)
    order = range(len(x.shape))[::-1] if axes == NONE else values.axes(axes)
    if order is None or sorted(order) != list(range(len(x.shape))):
        raise Unsure("a permutation")
    return array_or_scalar(x.dtype, tuple(x.shape[n] for n in order))


def _expanded(name: str, a: Given) -> Kind:
    x = _array(a["a"])
    axis = values.constant_int(a["axis"])
    if axis is None:
        raise Unsure("an axis that is not known")
    shape = list(x.shape or ())
    shape.insert(values.axis_in(axis, len(shape) + 1), 1)
    return Array(x.dtype, tuple(shape))


def _squeezed(name: str, a: Given) -> Kind:
    x = _array(a["a"])
    axis = a.get("axis", NONE)
    sizes = x.shape or ()
    if None in sizes:
        raise Unsure("a size that is not known")
    axes = (
        [n for n, size in enumerate(sizes) if size == 1]
        if axis == NONE
        else [values.axis_in(n, len(sizes)) for n in values.axes(axis) or ()]
    )
    if any(sizes[n] != 1 for n in axes) or (axis != NONE and not axes):
        raise Unsure("an axis that is not 1")
    return Array(x.dtype, tuple(s for n, s in enumerate(sizes) if n not in axes))


def _joined(name: str, a: Given) -> Kind:
    arrays = a["arrays"]
    if not isinstance(arrays, Sequence) or not arrays.items:
        raise Unsure("arrays that are not known one by one")
    parts = [_array(k) for k in arrays.items]
    shapes = [p.shape or () for p in parts]
    axis = values.constant_int(a.get("axis", python(0)))
    if axis is None or len({len(s) for s in shapes}) != 1:
        raise Unsure("an axis that is not known")
    dtype, rank = common_dtype(arrays.items), len(shapes[0])
    if name in ("vstack", "hstack") and rank != (2 if name == "vstack" else 1):
        raise Unsure(f"{name} of {rank} dimensions")
    first = shapes[0]
    if name == "stack":
        for other in shapes[1:]:
            first = values.equal_shapes(first, other) or ()
        sizes = list(first)
        sizes.insert(values.axis_in(axis, rank + 1), len(parts))
        return Array(dtype, tuple(sizes))
    at = values.axis_in(axis, rank)
    total = 0
    for shape in shapes:
        if shape[at] is None:
            return Array(dtype, (*first[:at], None, *first[at + 1 :]))
        total += shape[at] or 0
    return Array(dtype, (*first[:at], total, *first[at + 1 :]))


def _tiled(name: str, a: Given) -> Kind:
    x = _array(a["a"])
    times = values.integers(a["reps"])
    if isinstance(a["reps"], Python):
        times = (values.constant_int(a["reps"]),)
    if times is None or len(times) != len(x.shape or ()):
        raise Unsure("tiles of another rank")
    return Array(
        x.dtype,
        tuple(
            None if s is None or t is None else s * t
            for s, t in zip(x.shape or (), times, strict=True)
        ),
    )


def _product(name: str, a: Given) -> Kind:
    x, y = _array(a["a"]), _array(a["b"])
    if x.dtype != y.dtype or x.dtype not in EXACT:
        raise Unsure(f"{name} of {x.dtype} and {y.dtype}")
    ranks = (len(x.shape or ()), len(y.shape or ()))
    if name == "outer" and ranks == (1, 1):
        return Array(x.dtype, (*x.shape, *y.shape))  # type: ignore[misc]
    if name in ("dot", "matmul") and ranks == (1, 1):
        values.equal_shapes(x.shape, y.shape)
        return Scalar(x.dtype)
    if name in ("dot", "matmul") and ranks == (2, 2):
        return Array(x.dtype, matmul_shape(x.shape, y.shape))
    if name in ("dot", "matmul") and ranks == (2, 1) and x.dtype in FLOATS:
        return Array(x.dtype, (x.shape or ())[:1])
    raise Unsure(f"{name} of {ranks} dimensions")


# ---- making arrays


def _made(name: str, a: Given) -> Kind:
    """np.array and np.asarray."""
    x = _array(a["a"])
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
    x = _array(value)
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
    x = _array(a["a"])
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
    name: rule
    for names, rule in {
        " ".join(REDUCTIONS) + " amax amin": _reduction,
        "cumsum": _accumulated,
        "linalg.norm": _norm,
        "exp log sqrt sin cos tan tanh sinh cosh arcsin arccos arctan arcsinh log1p expm1": _of_floats,
        "abs absolute negative square sign floor ceil rint": _keeping,
        "isnan isinf isfinite logical_not": _asked,
        "round around": _rounded,
        "add subtract multiply divide true_divide maximum minimum power mod remainder arctan2": _arithmetic,
        "equal not_equal less less_equal greater greater_equal": _compared,
        "logical_and logical_or logical_xor": _logical,
        "clip": _clipped,
        "where": _chosen,
        "reshape": _reshaped,
        "ravel": _raveled,
        "transpose": _transposed,
        "expand_dims": _expanded,
        "squeeze": _squeezed,
        "concatenate stack vstack hstack": _joined,
        "tile": _tiled,
        "dot matmul outer": _product,
        "array asarray asanyarray": _made,
        "zeros ones full empty": _filled,
        "zeros_like ones_like full_like": _like,
        "linspace": _spaced,
        "arange": _counting,
        "eye identity": _identity,
        "float16 float32 float64 int8 int16 int32 int64 uint8 bool_": _converted,
    }.items()
    for name in names.split()
}

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


METHODS = frozenset([*REDUCTIONS, "cumsum", "round", "clip", "ravel", "squeeze", "dot"])
OWN_METHODS = frozenset(
    ["item", "tolist", "astype", "copy", "flatten", "reshape", "transpose"]
)
"""Methods that no function has the parameters of."""


def is_method(name: str) -> bool:
    """Whether a method of arrays is the function of its name, with the array as the first argument."""
    return name in METHODS
