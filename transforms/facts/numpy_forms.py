"""What NumPy's functions on the form of arrays give, and its products of arrays."""

from __future__ import annotations

from . import tensorflow_values as values
from .kinds import BOOL, NONE, Array, Kind, Python, Scalar, Sequence, Tensor, python
from .numpy_arguments import (
    EXACT,
    FLOATS,
    WEAK,
    Given,
    array_of,
    common_dtype,
    is_int,
)
from .operators_arithmetic import matmul_shape
from .outcome import Unsure
from .tensorflow_arrays import reshaped
from .tensorflow_linear import einsum_shape
from .tensorflow_numpy import array_or_scalar


def _reshaped(name: str, a: Given) -> Kind:
    x = array_of(a["a"])
    wanted = values.integers(a["shape"])
    if isinstance(a["shape"], Python):
        wanted = (values.constant_int(a["shape"]),)
    if wanted is None or None in wanted:
        raise Unsure("a shape that is not known")
    return Array(x.dtype, reshaped(x.shape, wanted))


def _raveled(name: str, a: Given) -> Kind:
    x = array_of(a["a"])
    return Array(x.dtype, (values.product(x.shape or ()),))


def _transposed(name: str, a: Given) -> Kind:
    x = array_of(a["a"])
    assert x.shape is not None
    axes = a.get("axes", NONE)
    order = range(len(x.shape))[::-1] if axes == NONE else values.axes(axes)
    if order is None or sorted(order) != list(range(len(x.shape))):
        raise Unsure("a permutation")
    return array_or_scalar(x.dtype, tuple(x.shape[n] for n in order))


def _expanded(name: str, a: Given) -> Kind:
    x = array_of(a["a"])
    axis = values.constant_int(a["axis"])
    if axis is None:
        raise Unsure("an axis that is not known")
    shape = list(x.shape or ())
    shape.insert(values.axis_in(axis, len(shape) + 1), 1)
    return Array(x.dtype, tuple(shape))


def _squeezed(name: str, a: Given) -> Kind:
    x = array_of(a["a"])
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


def _turned(name: str, a: Given) -> Kind:
    """np.fliplr, np.flipud and np.roll."""
    x = array_of(a["m" if "m" in a else "a"])
    rank = len(x.shape or ())
    axis = {"fliplr": python(1), "flipud": python(0)}.get(name, a.get("axis", NONE))
    if not is_int(axis) and not (axis == NONE and rank == 1):
        raise Unsure("an axis that is not known")
    if axis != NONE:
        values.axis_in(values.constant_int(axis) or 0, rank)
    if name == "roll" and values.constant_int(a["shift"]) is None:
        raise Unsure("how far")
    return Array(x.dtype, x.shape)


def _repeated(name: str, a: Given) -> Kind:
    x, times = array_of(a["a"]), values.constant_int(a["repeats"])
    axis = a.get("axis", NONE)
    if times is None or times < 0 or not x.shape:
        raise Unsure("how often")
    if axis == NONE:
        size = values.product(x.shape)
        return Array(x.dtype, (None if size is None else size * times,))
    if not is_int(axis):
        raise Unsure("an axis that is not known")
    at = values.axis_in(values.constant_int(axis) or 0, len(x.shape))
    size = x.shape[at]
    longer = None if size is None else size * times
    return Array(x.dtype, (*x.shape[:at], longer, *x.shape[at + 1 :]))


def _swapped(name: str, a: Given) -> Kind:
    x = array_of(a["a"])
    return Array(x.dtype, tuple((x.shape or ())[n] for n in swapped_axes(a, x)))


def swapped_axes(a: Given, x: Kind) -> list[int]:
    """The order of the axes of an array of which two change places."""
    rank = len(getattr(x, "shape", None) or ())
    places = [values.constant_int(a[n]) for n in ("axis1", "axis2")]
    if None in places or not rank:
        raise Unsure("an axis that is not known")
    one, other = (values.axis_in(p or 0, rank) for p in places)
    order = list(range(rank))
    order[one], order[other] = other, one
    return order


def _moved(name: str, a: Given) -> Kind:
    x = array_of(a["a"])
    return Array(x.dtype, tuple((x.shape or ())[n] for n in moved_axes(a, x)))


def moved_axes(a: Given, x: Kind) -> list[int]:
    """The order of the axes of an array of which one goes to another place."""
    rank = len(getattr(x, "shape", None) or ())
    places = [values.constant_int(a[n]) for n in ("source", "destination")]
    if None in places or not rank:
        raise Unsure("an axis that is not known")
    source, destination = (values.axis_in(p or 0, rank) for p in places)
    order = [n for n in range(rank) if n != source]
    order.insert(destination, source)
    return order


def _appended(name: str, a: Given) -> Kind:
    x, more = array_of(a["arr"]), a["values"]
    if isinstance(more, Python) and more.type in WEAK:
        more = Scalar(WEAK[more.type])
    y = array_of(more)
    dtype, shapes = common_dtype((x, y)), (x.shape or (), y.shape or ())
    if a.get("axis", NONE) == NONE:
        sizes = [values.product(shape) for shape in shapes]
        total = None if None in sizes else sum(n or 0 for n in sizes)
        return Array(dtype, (total,))
    return _joined(
        "concatenate", {"arrays": Sequence("list", (x, y)), "axis": a["axis"]}
    )


def _einsum(name: str, a: Given) -> Kind:
    equation = values.constant_str(a["subscripts"])
    operands = [array_of(kind) for n, kind in a.items() if n != "subscripts"]
    dtype = common_dtype(operands)
    shape = einsum_shape(equation, [Tensor(o.dtype, o.shape) for o in operands])
    if shape is None or dtype not in FLOATS:
        raise Unsure(f"einsum of {dtype}")
    return array_or_scalar(dtype, shape)


def _parted(name: str, a: Given) -> Kind:
    x, count = array_of(a["ary"]), values.constant_int(a["indices_or_sections"])
    axis = values.constant_int(a.get("axis", python(0)))
    if count is None or count < 1 or axis is None or not x.shape:
        raise Unsure("parts that are not known")
    at = values.axis_in(axis, len(x.shape))
    size = x.shape[at]
    if size is None or size % count:
        raise Unsure("parts that may differ")
    part = Array(x.dtype, (*x.shape[:at], size // count, *x.shape[at + 1 :]))
    return Sequence("list", (part,) * count)


def _padded(name: str, a: Given) -> Kind:
    x = array_of(a["array"])
    pairs = padding(a["pad_width"], len(x.shape or ()))
    if pairs is None or not x.shape:
        raise Unsure("how much")
    sizes = zip(x.shape, pairs, strict=True)
    return Array(
        x.dtype, tuple(None if s is None else s + m + n for s, (m, n) in sizes)
    )


def padding(kind: Kind, rank: int) -> list[tuple[int, int]] | None:
    """How much `np.pad` adds before and after, for each axis; None where that is not known."""
    if is_int(kind):
        size = values.constant_int(kind) or 0
        return [(size, size)] * rank if size >= 0 else None
    if not isinstance(kind, Sequence):
        return None
    if all(map(is_int, kind.items)) and len(kind.items) == 2:
        found = [kind.items] * rank
    elif all(isinstance(k, Sequence) and len(k.items) == 2 for k in kind.items):
        found = [k.items for k in kind.items]  # type: ignore[attr-defined]
    else:
        return None
    found = found * rank if len(found) == 1 else found
    pairs = [tuple(values.constant_int(n) for n in pair) for pair in found]
    known = all(n is not None and n >= 0 for pair in pairs for n in pair)
    return pairs if known and len(pairs) == rank else None  # type: ignore[return-value]


def _diagonal(name: str, a: Given) -> Kind:
    x = array_of(a["v" if name == "diag" else "a"])
    shape = x.shape or ()
    if name == "diag" and len(shape) == 1:
        return Array(x.dtype, (*shape, *shape))
    if len(shape) != 2 or (name == "trace" and x.dtype not in FLOATS):
        raise Unsure(f"{name} of {len(shape)} dimensions")
    if name == "trace":
        return Scalar(x.dtype)
    return Array(x.dtype, (None if None in shape else min(shape),))  # type: ignore[type-var]


def _triangular(name: str, a: Given) -> Kind:
    x = array_of(a["m"])
    if len(x.shape or ()) < 2 or x.dtype not in EXACT:
        raise Unsure(f"{name} of {x.dtype}")
    return Array(x.dtype, x.shape)


def _determinant(name: str, a: Given) -> Kind:
    x = array_of(a["a"])
    if len(x.shape or ()) != 2 or x.dtype not in FLOATS:
        raise Unsure("a determinant")
    values.equal_shapes((x.shape or ())[:1], (x.shape or ())[1:])
    return Scalar(x.dtype)


def _same_arrays(name: str, a: Given) -> Kind:
    first, second = array_of(a["a1"]), array_of(a["a2"])
    sizes = (*(first.shape or ()), *(second.shape or ()))
    if first.dtype != second.dtype or first.shape != second.shape or None in sizes:
        raise Unsure("arrays that may differ in shape")
    return BOOL


def _joined(name: str, a: Given) -> Kind:
    arrays = a["arrays"]
    if not isinstance(arrays, Sequence) or not arrays.items:
        raise Unsure("arrays that are not known one by one")
    parts = [array_of(k) for k in arrays.items]
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
    x = array_of(a["a"])
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
    x, y = array_of(a["a"]), array_of(a["b"])
    if x.dtype != y.dtype or x.dtype not in EXACT:
        raise Unsure(f"{name} of {x.dtype} and {y.dtype}")
    ranks = (len(x.shape or ()), len(y.shape or ()))
    if name == "outer" and ranks == (1, 1):
        return Array(x.dtype, (*x.shape, *y.shape))  # type: ignore[misc]
    if name != "outer" and ranks == (1, 1):
        values.equal_shapes(x.shape, y.shape)
        return Scalar(x.dtype)
    if name in ("dot", "matmul") and ranks == (2, 2):
        return Array(x.dtype, matmul_shape(x.shape, y.shape))
    if name in ("dot", "matmul") and ranks == (2, 1) and x.dtype in FLOATS:
        return Array(x.dtype, (x.shape or ())[:1])
    raise Unsure(f"{name} of {ranks} dimensions")


def places(name: str, a: Given) -> Kind:
    """Where an array is not zero: one array of places, or one for each dimension."""
    x = array_of(a["condition"] if name == "where" else a["a"])
    if not x.shape or x.dtype not in {*EXACT, "bool"}:
        raise Unsure(f"{name} of {x.dtype}")
    if name == "argwhere":
        return Array("int64", (None, len(x.shape)))
    along = Array("int64", (None,))
    each = Sequence("tuple", (along,) * len(x.shape))
    return along if name == "flatnonzero" else each


RULES = {
    name: rule
    for names, rule in {
        "reshape": _reshaped,
        "ravel": _raveled,
        "transpose": _transposed,
        "expand_dims": _expanded,
        "squeeze": _squeezed,
        "concatenate stack vstack hstack": _joined,
        "tile": _tiled,
        "fliplr flipud roll": _turned,
        "repeat": _repeated,
        "swapaxes": _swapped,
        "moveaxis": _moved,
        "append": _appended,
        "einsum": _einsum,
        "split": _parted,
        "pad": _padded,
        "diag trace": _diagonal,
        "tril triu": _triangular,
        "linalg.det": _determinant,
        "nonzero flatnonzero argwhere": places,
        "array_equal": _same_arrays,
        "dot matmul outer inner vdot": _product,
    }.items()
    for name in names.split()
}
