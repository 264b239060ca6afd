"""What TensorFlow's functions that make tensors give, from values, shapes and dtypes."""

from __future__ import annotations

from . import tensorflow_values as values
from .kinds import (
    NONE,
    SIZE,
    Array,
    Elements,
    Kind,
    Python,
    Ragged,
    Scalar,
    Sequence,
    Shape,
    Sparse,
    Tensor,
    Variable,
)
from .outcome import Raises, Unsure
from .tensorflow_arguments import Arguments, Rule
from .tensorflow_values import (
    BOOL,
    FLOATS,
    INDICES,
    INTEGERS,
    NUMBERS,
    REALS,
    USUAL,
    accept,
    common,
    tensor,
)

RANGE_DTYPES = ("int32", "int64", "float32", "float64")


def constant(a: Arguments) -> Kind:
    """tf.constant: fills the shape with one value, or gives the values that shape."""
    dtype = asked_dtype(a["dtype"])
    value = a["value"]
    if isinstance(value, Sequence | Elements):
        _refuse_tensors(value)
    if isinstance(value, Variable):
        value = Array(value.dtype, value.shape)
    x = tensor(value, dtype)
    if a["dtype"] != NONE and dtype is None:
        x = Tensor(None, x.shape)
    if a["shape"] == NONE:
        return x
    shape = values.shape_of(a["shape"])
    have, want = count(x.shape), count(shape)
    if have is not None and want is not None and have not in (want, 1):
        raise Raises(f"{have} values for {want} places")
    return Tensor(x.dtype, shape)


def _refuse_tensors(kind: Sequence | Elements) -> None:
    for item in values.inner(kind):
        if isinstance(item, Sequence | Elements):
            _refuse_tensors(item)
        elif values.is_strong(item):
            if item.shape == ():
                raise Raises("a list of scalar tensors is no constant")
            raise Unsure("a list of tensors as a constant")


def count(shape: Shape) -> int | None:
    return None if shape is None else values.product(shape)


def asked_dtype(kind: Kind) -> str | None:
    return None if kind == NONE else values.dtype_of(kind)


def convert(a: Arguments) -> Kind:
    a.only("value", "dtype", "dtype_hint")
    dtype = asked_dtype(a["dtype"])
    x = tensor(a["value"], dtype)
    if a["dtype"] != NONE and dtype is None:
        return Tensor(None, x.shape)
    if a["dtype_hint"] != NONE and not values.is_strong(a["value"]):
        raise Unsure("dtype_hint")
    return x


def cast(a: Arguments) -> Kind:
    """tf.cast: numbers and bools to one another. A Variable that has the dtype stays a Variable."""
    dtype = values.dtype_of(a["dtype"])
    source = a.at(0)
    if isinstance(source, Ragged | Sparse):
        return type(source)(dtype, source.shape)
    if isinstance(source, Variable):
        if dtype is None or source.dtype is None:
            raise Unsure("a cast of a Variable, perhaps to what it is")
        if dtype == source.dtype:
            return source
    x = tensor(source)
    if (
        "string" in (x.dtype, dtype)
        and None not in (x.dtype, dtype)
        and x.dtype != dtype
    ):
        raise Raises("a cast of strings, or to them")
    return Tensor(dtype, x.shape)


def saturate_cast(a: Arguments) -> Kind:
    x = tensor(a["value"])
    dtype = values.dtype_of(a["dtype"])
    for one in (x.dtype, dtype):
        accept(one, REALS)
    return Tensor(dtype, x.shape)


def filled(refused: frozenset[str] = frozenset()) -> Rule:
    """tf.zeros and tf.ones."""

    def rule(a: Arguments) -> Kind:
        dtype = values.dtype_of(a["dtype"])
        if dtype in refused:
            raise Raises(f"not for {dtype}")
        return Tensor(dtype, wanted_shape(a["shape"]))

    return rule


def wanted_shape(kind: Kind) -> Shape:
    """The shape asked for; TensorFlow does not take floats or None in it."""
    if kind == NONE:
        raise Raises("no shape")
    if isinstance(kind, Tensor | Variable):
        accept(kind.dtype, INDICES)
    vector = isinstance(kind, Tensor | Variable | Array) and kind.shape
    if vector and len(vector) > 1:
        raise Raises("a shape of several dimensions")
    found = values.integers(kind)
    if isinstance(kind, Sequence) and kind.type != "shape":
        for item in kind.items:
            if (
                item == NONE
                or isinstance(item, Sequence | Elements)
                or (isinstance(item, Python) and item.type not in ("int", "bool"))
            ):
                raise Raises(f"{item} in a shape")
    if found is None and not isinstance(
        kind, Sequence | Elements | Tensor | Variable | Array
    ):
        raise Unsure(f"{kind} as a shape")
    if found is not None and any(n is not None and n < 0 for n in found):
        raise Raises("a negative size")
    return found


def filled_like(refused: frozenset[str] = frozenset()) -> Rule:
    """tf.zeros_like and tf.ones_like."""

    def rule(a: Arguments) -> Kind:
        x = tensor(a["input"])
        dtype = x.dtype if a["dtype"] == NONE else values.dtype_of(a["dtype"])
        if dtype in refused:
            raise Raises(f"not for {dtype}")
        return Tensor(dtype, x.shape)

    return rule


def fill(a: Arguments) -> Kind:
    x = tensor(a["value"])
    values.with_rank(x.shape, 0)
    return Tensor(x.dtype, wanted_shape(a["dims"]))


def count_up(a: Arguments) -> Kind:
    """tf.range: of the widest dtype of its bounds."""
    if a["limit"] == NONE:
        bounds: tuple[Kind, ...] = (Python("int", 0), a["start"], a["delta"])
    else:
        bounds = (a["start"], a["limit"], a["delta"])
    dtype = asked_dtype(a["dtype"])
    if dtype is None:
        tensors = [tensor(bound) for bound in bounds]
        if a["dtype"] == NONE:
            dtype = _widest([one.dtype for one in tensors])
    else:
        tensors = [tensor(b, None if values.is_strong(b) else dtype) for b in bounds]
    for one in tensors:
        accept(one.dtype, REALS)
        values.with_rank(one.shape, 0)
    return Tensor(dtype, (_range_size([values.constant_int(b) for b in bounds]),))


def _widest(dtypes: list[str | None]) -> str | None:
    if None in dtypes:
        return None
    for one in dtypes:
        accept(one, REALS)
    if not set(dtypes) <= set(RANGE_DTYPES):
        raise Unsure("a range of unusual dtype")
    return max((one for one in dtypes if one), key=RANGE_DTYPES.index)


def _range_size(numbers: list[int | None]) -> int | None:
    if numbers[2] == 0:
        raise Raises("a range of step zero")
    known = [n for n in numbers if n is not None]
    return len(range(*known)) if len(known) == len(numbers) else None


def linspace(a: Arguments) -> Kind:
    a.only("start", "stop", "num")
    start, stop = common((tensor(a["start"]), a["stop"]))
    dtype = "float64" if start.dtype in INTEGERS else start.dtype
    accept(dtype, FLOATS)
    shape = values.broadcast(start.shape, stop.shape)
    return Tensor(
        dtype, None if shape is None else (values.constant_int(a["num"]), *shape)
    )


def one_hot(a: Arguments) -> Kind:
    x = tensor(a["indices"])
    accept(x.dtype, frozenset({"uint8", "int8", "int32", "int64"}))
    tensor(a["depth"], "int32")
    on, off = (a[name] for name in ("on_value", "off_value"))
    dtype = asked_dtype(a["dtype"])
    if a["dtype"] == NONE:
        given = [tensor(kind).dtype for kind in (on, off) if kind != NONE]
        dtype = given[0] if given else "float32"
    if x.shape is None:
        return Tensor(dtype)
    axis = -1 if a["axis"] == NONE else values.constant_int(a["axis"])
    if axis is None:
        return Tensor(dtype, (None,) * (len(x.shape) + 1))
    return Tensor(dtype, inserted(x.shape, axis, values.constant_int(a["depth"])))


def inserted(shape: tuple[int | None, ...], axis: int, size: int | None) -> Shape:
    n = values.axis_in(axis, len(shape) + 1)
    return (*shape[:n], size, *shape[n:])


def sequence_mask(a: Arguments) -> Kind:
    x = tensor(a["lengths"])
    if x.dtype is not None and x.dtype not in REALS & USUAL:
        raise Unsure("lengths that are no numbers")
    size = None if a["maxlen"] == NONE else values.constant_int(a["maxlen"])
    return Tensor(
        values.dtype_of(a["dtype"]), None if x.shape is None else (*x.shape, size)
    )


def meshgrid(a: Arguments) -> Kind:
    tensors = [tensor(kind) for kind in a.rest]
    if not tensors:
        return Sequence("list", ())
    for one in tensors:
        accept(one.dtype, NUMBERS | BOOL)
    sizes = [count(t.shape) for t in tensors]
    indexing = (
        values.constant_str(a["indexing"])
        if "indexing" in a
        else _extra(a, "indexing", "xy")
    )
    if indexing == "xy" and len(sizes) > 1:
        sizes[:2] = sizes[1::-1]
    shape: Shape = tuple(sizes) if indexing else (None,) * len(sizes)
    dtypes = {t.dtype for t in tensors}
    if len(dtypes) > 1:
        raise Unsure("a mesh of several dtypes")
    return Sequence("list", tuple(Tensor(t.dtype, shape) for t in tensors))


def _extra(a: Arguments, name: str, default: str) -> str | None:
    found = dict(a.extra).get(name)
    return default if found is None else values.constant_str(found)


# ---- the same, about the same


def same(a: Arguments) -> Kind:
    """tf.identity, tf.stop_gradient."""
    return tensor(a.at(0))


def ensure_shape(a: Arguments) -> Kind:
    x = tensor(a["x"])
    shape = None if a["shape"] == NONE else values.shape_of(a["shape"])
    return Tensor(x.dtype, values.equal_shapes(x.shape, shape))


def shape_of(a: Arguments) -> Kind:
    x = tensor(a["input"])
    return Tensor(
        asked_dtype(a["out_type"]) or "int32",
        (None if x.shape is None else len(x.shape),),
    )


def size(a: Arguments) -> Kind:
    tensor(a["input"])
    return Tensor(asked_dtype(a["out_type"]) or "int32", ())


def rank(a: Arguments) -> Kind:
    tensor(a["input"])
    return Tensor("int32", ())


def each_shape(a: Arguments) -> Kind:
    """tf.shape_n."""
    found = common(_several(a["input"]))
    for one in found[1:]:
        values.same_dtype(found[0].dtype, one.dtype)
    dtype = values.dtype_of(a["out_type"])
    return Sequence(
        "list",
        tuple(
            Tensor(dtype, (None if t.shape is None else len(t.shape),)) for t in found
        ),
    )


def each_same(a: Arguments) -> Kind:
    """tf.identity_n."""
    return Sequence("list", tuple(tensor(one) for one in _several(a["input"])))


def _several(kind: Kind) -> tuple[Kind, ...]:
    if not isinstance(kind, Sequence):
        raise Unsure("how many there are")
    return kind.items


def static_broadcast(a: Arguments) -> Kind:
    """tf.broadcast_static_shape: a TensorShape of two."""
    x, y = a["shape_x"], a["shape_y"]
    if not all(isinstance(s, Sequence) and s.type == "shape" for s in (x, y)):
        raise Unsure("shapes")
    found = values.broadcast(values.shape_of(x), values.shape_of(y))
    return values.dimensions(found)


def dynamic_broadcast(a: Arguments) -> Kind:
    x, y = common((a["shape_x"], a["shape_y"]))
    dtype = values.same_dtype(x.dtype, y.dtype)
    accept(dtype, INDICES)
    ranks = [values.with_rank(s.shape, 1)[0] for s in (x, y)]
    known = [n for n in ranks if n is not None]
    return Tensor(dtype, (max(known) if len(known) == 2 else None,))


def as_dtype(a: Arguments) -> Kind:
    dtype = values.dtype_of(a["type_value"])
    if dtype is None:
        raise Unsure("a dtype")
    return Python("dtype", dtype)


def is_tensor(a: Arguments) -> Kind:
    x = a["x"]
    if isinstance(x, Tensor):
        return values.FALSE if x.weak else values.TRUE
    if isinstance(x, Variable | Ragged | Sparse):
        return values.TRUE
    if isinstance(x, Python | Array | Scalar | Sequence | Elements) or x == SIZE:
        return values.FALSE
    raise Unsure("is_tensor")


RULES: dict[str, Rule] = {
    "constant": constant,
    "convert_to_tensor": convert,
    "cast": cast,
    "saturate_cast": saturate_cast,
    "zeros": filled(),
    "ones": filled(values.STRING),
    "fill": fill,
    "zeros_like": filled_like(),
    "ones_like": filled_like(values.STRING),
    "range": count_up,
    "linspace": linspace,
    "one_hot": one_hot,
    "sequence_mask": sequence_mask,
    "meshgrid": meshgrid,
    "identity": same,
    "stop_gradient": same,
    "ensure_shape": ensure_shape,
    "shape": shape_of,
    "size": size,
    "rank": rank,
    "is_tensor": is_tensor,
    "shape_n": each_shape,
    "identity_n": each_same,
    "broadcast_static_shape": static_broadcast,
    "broadcast_dynamic_shape": dynamic_broadcast,
    "as_dtype": as_dtype,
}
