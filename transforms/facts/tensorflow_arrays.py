"""What TensorFlow's functions on the form of tensors give: making, casting, reshaping, joining, picking."""

from __future__ import annotations

from . import operators
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
    INTEGERS,
    NUMBERS,
    REALS,
    accept,
    common,
    tensor,
)

INDICES = frozenset({"int32", "int64"})
RANGE_DTYPES = ("int32", "int64", "float32", "float64")

# ---- making


def constant(a: Arguments) -> Kind:
    """tf.constant: fills the shape with one value, or gives the values that shape."""
    dtype = _asked_dtype(a["dtype"])
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
    have, want = _count(x.shape), _count(shape)
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


def _count(shape: Shape) -> int | None:
    return None if shape is None else values.product(shape)


def _asked_dtype(kind: Kind) -> str | None:
    return None if kind == NONE else values.dtype_of(kind)


def convert(a: Arguments) -> Kind:
    a.only("value", "dtype", "dtype_hint")
    dtype = _asked_dtype(a["dtype"])
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
        return Tensor(dtype, _wanted_shape(a["shape"]))

    return rule


def _wanted_shape(kind: Kind) -> Shape:
    """The shape asked for; TensorFlow does not take floats or None in it."""
    if kind == NONE:
        raise Raises("no shape")
    if isinstance(kind, Tensor | Variable):
        accept(kind.dtype, INDICES)
    if isinstance(kind, Tensor | Variable | Array):
        if kind.shape is not None and len(kind.shape) > 1:
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
    return Tensor(x.dtype, _wanted_shape(a["dims"]))


def count_up(a: Arguments) -> Kind:
    """tf.range: of the widest dtype of its bounds."""
    if a["limit"] == NONE:
        bounds: tuple[Kind, ...] = (Python("int", 0), a["start"], a["delta"])
    else:
        bounds = (a["start"], a["limit"], a["delta"])
    dtype = _asked_dtype(a["dtype"])
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
    dtype = _asked_dtype(a["dtype"])
    if a["dtype"] == NONE:
        given = [tensor(kind).dtype for kind in (on, off) if kind != NONE]
        dtype = given[0] if given else "float32"
    if x.shape is None:
        return Tensor(dtype)
    axis = -1 if a["axis"] == NONE else values.constant_int(a["axis"])
    if axis is None:
        return Tensor(dtype, (None,) * (len(x.shape) + 1))
    return Tensor(dtype, _inserted(x.shape, axis, values.constant_int(a["depth"])))


def _inserted(shape: tuple[int | None, ...], axis: int, size: int | None) -> Shape:
    n = values.axis_in(axis, len(shape) + 1)
    return (*shape[:n], size, *shape[n:])


def sequence_mask(a: Arguments) -> Kind:
    x = tensor(a["lengths"])
    if x.dtype is not None and x.dtype not in REALS:
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
    sizes = [_count(t.shape) for t in tensors]
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
        _asked_dtype(a["out_type"]) or "int32",
        (None if x.shape is None else len(x.shape),),
    )


def size(a: Arguments) -> Kind:
    tensor(a["input"])
    return Tensor(_asked_dtype(a["out_type"]) or "int32", ())


def rank(a: Arguments) -> Kind:
    tensor(a["input"])
    return Tensor("int32", ())


def is_tensor(a: Arguments) -> Kind:
    x = a["x"]
    if isinstance(x, Tensor):
        return operators.FALSE if x.weak else operators.TRUE
    if isinstance(x, Variable | Ragged | Sparse):
        return operators.TRUE
    if isinstance(x, Python | Array | Scalar | Sequence | Elements) or x == SIZE:
        return operators.FALSE
    raise Unsure("is_tensor")


# ---- another shape


def reshape(a: Arguments) -> Kind:
    x = tensor(a["tensor"])
    wanted = values.integers(a["shape"])
    if isinstance(a["shape"], Sequence):
        for item in a["shape"].items:
            if isinstance(item, Python) and item.type not in ("int", "bool"):
                raise Raises(f"{item} in a shape")
    return Tensor(x.dtype, reshaped(x.shape, wanted))


def reshaped(shape: Shape, wanted: tuple[int | None, ...] | None) -> Shape:
    """The wanted shape, with its -1 worked out where that can be."""
    if wanted is None:
        return None
    have = _count(shape)
    if any(n is not None and n < -1 for n in wanted) or wanted.count(-1) > 1:
        raise Raises("more than one size left open")
    rest = values.product(n for n in wanted if n != -1)
    if have is None or rest is None:
        return tuple(None if n == -1 else n for n in wanted)
    if -1 not in wanted:
        if have != rest:
            raise Raises(f"{have} elements do not fill {rest} places")
        return wanted
    if rest == 0 or have % rest:
        raise Raises(f"{have} elements do not divide by {rest}")
    return tuple(have // rest if n == -1 else n for n in wanted)


def expand_dims(a: Arguments) -> Kind:
    x = tensor(a["input"])
    if x.shape is None:
        return Tensor(x.dtype)
    axis = values.constant_int(a["axis"])
    if a["axis"] == NONE:
        raise Raises("no axis")
    if axis is None:
        return Tensor(x.dtype, (None,) * (len(x.shape) + 1))
    return Tensor(x.dtype, _inserted(x.shape, axis, 1))


def squeeze(a: Arguments) -> Kind:
    x = tensor(a["input"])
    if x.shape is None:
        return Tensor(x.dtype)
    if a["axis"] == NONE or a["axis"] == Sequence("list", ()):
        return Tensor(
            x.dtype, None if None in x.shape else tuple(n for n in x.shape if n != 1)
        )
    chosen = values.axes(a["axis"])
    if chosen is None:
        one = not isinstance(a["axis"], Sequence | Elements)
        return Tensor(
            x.dtype, (None,) * (len(x.shape) - 1) if one and x.shape else None
        )
    dropped = {values.axis_in(n, len(x.shape)) for n in chosen}
    for n in dropped:
        values.equal_sizes(x.shape[n], 1)
    return Tensor(x.dtype, tuple(s for n, s in enumerate(x.shape) if n not in dropped))


def transpose(a: Arguments) -> Kind:
    x = tensor(a["a"])
    if a["perm"] == NONE:
        return Tensor(x.dtype, None if x.shape is None else x.shape[::-1])
    order = values.axes(a["perm"])
    if order is None:
        return Tensor(x.dtype, None if x.shape is None else (None,) * len(x.shape))
    shape = values.with_rank(x.shape, len(order))
    places = [values.axis_in(n, len(order)) for n in order]
    if len(set(places)) < len(places):
        raise Raises("an axis named twice")
    return Tensor(x.dtype, tuple(shape[n] for n in places))


def reverse(a: Arguments) -> Kind:
    x = tensor(a["tensor"])
    chosen = values.axes(a["axis"])
    if isinstance(a["axis"], Python) and x.shape:
        raise Raises("an axis that is no list")
    if isinstance(a["axis"], Python) and x.shape is None:
        raise Unsure("an axis that is no list")
    if x.shape and chosen:
        for n in chosen:
            values.axis_in(n, len(x.shape))
    return x


def roll(a: Arguments) -> Kind:
    x = tensor(a["input"])
    if x.shape == ():
        raise Raises("a roll of a scalar")
    for n in values.axes(a["axis"]) or ():
        if x.shape is not None:
            values.axis_in(n, len(x.shape))
    return x


def tile(a: Arguments) -> Kind:
    x = tensor(a["input"])
    times = values.integers(a["multiples"])
    if isinstance(a["multiples"], Python):
        raise Raises("multiples that are no list")
    if times is None:
        return Tensor(x.dtype, None if x.shape is None else (None,) * len(x.shape))
    shape = values.with_rank(x.shape, len(times))
    return Tensor(
        x.dtype, tuple(values.product(pair) for pair in zip(shape, times, strict=True))
    )


def repeat(a: Arguments) -> Kind:
    x = tensor(a["input"])
    times = values.integers(a["repeats"])
    if a["axis"] == NONE:
        return Tensor(x.dtype, (_repeated(_count(x.shape), times),))
    if x.shape is None:
        return Tensor(x.dtype)
    shape = x.shape or (1,)
    axis = values.constant_int(a["axis"])
    if axis is None:
        return Tensor(x.dtype, (None,) * len(shape))
    n = values.axis_in(axis, len(shape))
    return Tensor(x.dtype, (*shape[:n], _repeated(shape[n], times), *shape[n + 1 :]))


def _repeated(size: int | None, times: tuple[int | None, ...] | None) -> int | None:
    """How many rows there are when each is repeated: all as often, or each by its own number."""
    if times is None or None in times:
        return None
    if len(times) == 1:
        return values.product((size, *times))
    values.equal_sizes(size, len(times))
    return sum(n for n in times if n is not None)


def pad(a: Arguments) -> Kind:
    x = tensor(a["tensor"])
    if a["mode"] == Python("str", "CONSTANT"):
        _check_fill(a["constant_values"], x.dtype)
    rows = a["paddings"]
    if isinstance(rows, Sequence) and rows.type in ("list", "tuple"):
        shape = values.with_rank(x.shape, len(rows.items))
        return Tensor(x.dtype, tuple(map(_padded, shape, rows.items)))
    if (
        isinstance(rows, Tensor | Variable | Array)
        and rows.shape
        and rows.shape[0] is not None
    ):
        return Tensor(x.dtype, (None,) * len(values.with_rank(x.shape, rows.shape[0])))
    return Tensor(x.dtype, None if x.shape is None else (None,) * len(x.shape))


def _check_fill(kind: Kind, dtype: str | None) -> None:
    """Raise where a padding value is not for the dtype; a Python 0 is for all."""
    number = values.as_python(kind)
    if number is not None and number.known and number.value == 0:
        return
    try:
        values.tensor_as(kind, dtype)
    except Raises as reason:
        if number is None or number.known:
            raise
        raise Unsure("a padding value that may be 0") from reason


def _padded(size: int | None, row: Kind) -> int | None:
    around = values.integers(row)
    if around is None or size is None or None in around:
        return None
    if len(around) != 2:
        raise Raises("a padding is two numbers")
    return size + sum(n for n in around if n is not None)


def broadcast_to(a: Arguments) -> Kind:
    x = tensor(a["input"])
    shape = _wanted_shape(a["shape"])
    if shape is not None and x.shape is not None and None not in shape:
        values.equal_shapes(values.broadcast(x.shape, shape), shape)
    return Tensor(x.dtype, shape)


# ---- joining and parting


def members_of(kind: Kind) -> tuple[list[Tensor], int | None]:
    """The tensors of a list argument, all of one dtype, and how many there are."""
    if isinstance(kind, Sequence) and kind.type in ("list", "tuple"):
        return common(kind.items), len(kind.items)
    if isinstance(kind, Elements) and kind.type in ("list", "tuple"):
        return [tensor(kind.element)], None
    raise Unsure(f"{kind} for a list of tensors")


def one_dtype(tensors: list[Tensor]) -> str | None:
    dtype: str | None = None
    for one in tensors:
        dtype = values.same_dtype(dtype, one.dtype)
    return dtype


def concat(a: Arguments) -> Kind:
    tensors, count = members_of(a["values"])
    if count == 0:
        raise Raises("nothing to concatenate")
    dtype = one_dtype(tensors)
    axis = values.constant_int(a["axis"])
    shapes = [t.shape for t in tensors if t.shape is not None]
    if not shapes:
        return Tensor(dtype)
    ranks = {len(shape) for shape in shapes}
    if len(ranks) > 1:
        raise Raises("a concatenation of several ranks")
    n = ranks.pop()
    if n == 0:
        raise Raises("a concatenation of scalars")
    if axis is None:
        return Tensor(dtype, (None,) * n)
    axis = values.axis_in(axis, n)
    rest: Shape = None
    for shape in shapes:
        rest = values.equal_shapes(rest, shape[:axis] + shape[axis + 1 :])
    assert rest is not None
    total: int | None = None
    if (
        count is not None
        and len(shapes) == len(tensors)
        and all(s[axis] is not None for s in shapes)
    ):
        total = sum(s[axis] or 0 for s in shapes)
    return Tensor(dtype, (*rest[:axis], total, *rest[axis:]))


def stack(a: Arguments) -> Kind:
    axis = values.constant_int(a["axis"])
    if isinstance(a["values"], Tensor | Variable | Array):
        return _stacked_rows(tensor(a["values"]), axis)
    if isinstance(a["values"], Sequence) and not any(
        map(values.is_strong, a["values"].items)
    ):
        return _stacked_rows(tensor(a["values"]), axis)
    tensors, count = members_of(a["values"])
    shape: Shape = None
    for one in tensors:
        shape = values.equal_shapes(shape, one.shape)
    dtype = one_dtype(tensors)
    if shape is None or any(one.shape is None for one in tensors):
        return Tensor(dtype)
    return Tensor(
        dtype,
        (None,) * (len(shape) + 1) if axis is None else _inserted(shape, axis, count),
    )


def _stacked_rows(x: Tensor, axis: int | None) -> Kind:
    """tf.stack of a tensor: of its rows, along another axis."""
    if not x.shape:
        raise Unsure("a stack of a scalar")
    if axis is None:
        return Tensor(x.dtype, (None,) * len(x.shape))
    return Tensor(x.dtype, _inserted(x.shape[1:], axis, x.shape[0]))


def unstack(a: Arguments) -> Kind:
    x = tensor(a["value"])
    if x.shape is None:
        return Elements("list", Tensor(x.dtype))
    axis = values.constant_int(a["axis"])
    if axis is None:
        return Elements("list", Tensor(x.dtype, (None,) * (len(x.shape) - 1)))
    n = values.axis_in(axis, len(x.shape))
    one = Tensor(x.dtype, x.shape[:n] + x.shape[n + 1 :])
    number = values.constant_int(a["num"])
    count = values.equal_sizes(x.shape[n], number)
    return Elements("list", one) if count is None else Sequence("list", (one,) * count)


def split(a: Arguments) -> Kind:
    x = tensor(a["value"])
    axis = values.constant_int(a["axis"])
    asked = a["num_or_size_splits"]
    n = None if axis is None or x.shape is None else values.axis_in(axis, len(x.shape))
    if values.as_python(asked) is not None:
        return _even_parts(x, n, values.constant_int(asked))
    sizes = values.integers(asked)
    if sizes is None:
        return Elements("list", _part(x, n, None))
    if n is not None and x.shape is not None and -1 not in sizes and None not in sizes:
        values.equal_sizes(x.shape[n], sum(s for s in sizes if s is not None))
    return Sequence("list", tuple(_part(x, n, None if s == -1 else s) for s in sizes))


def _even_parts(x: Tensor, n: int | None, count: int | None) -> Kind:
    if count is None:
        return Elements("list", _part(x, n, None))
    whole = x.shape[n] if x.shape is not None and n is not None else None
    if whole is not None and whole % count:
        raise Raises(f"{whole} does not divide by {count}")
    return Sequence(
        "list", (_part(x, n, None if whole is None else whole // count),) * count
    )


def _part(x: Tensor, n: int | None, size: int | None) -> Tensor:
    if x.shape is None:
        return x
    if n is None:
        return Tensor(x.dtype, (None,) * len(x.shape))
    return Tensor(x.dtype, (*x.shape[:n], size, *x.shape[n + 1 :]))


# ---- picking


def gather(a: Arguments) -> Kind:
    a.only("params", "indices", "axis", "batch_dims", "validate_indices")
    x, indices = tensor(a["params"]), tensor(a["indices"])
    accept(indices.dtype, INDICES)
    batch = values.constant_int(a["batch_dims"])
    axis = batch if a["axis"] == NONE else values.constant_int(a["axis"])
    if x.shape is None or indices.shape is None or batch is None:
        return Tensor(x.dtype)
    if x.shape == ():
        raise Raises("a gather from a scalar")
    if axis is None:
        return Tensor(
            x.dtype, (None,) * (len(x.shape) - 1 + len(indices.shape) - batch)
        )
    n = values.axis_in(axis, len(x.shape))
    if batch:
        batch = values.axis_in(batch, len(indices.shape) + 1) if batch < 0 else batch
        values.equal_shapes(x.shape[:batch], indices.shape[:batch])
    return Tensor(x.dtype, (*x.shape[:n], *indices.shape[batch:], *x.shape[n + 1 :]))


def gather_nd(a: Arguments) -> Kind:
    a.only("params", "indices", "batch_dims")
    x, indices = tensor(a["params"]), tensor(a["indices"])
    accept(indices.dtype, INDICES)
    if indices.shape == ():
        raise Raises("an index without dimensions")
    batch = values.constant_int(a["batch_dims"])
    if (
        x.shape is None
        or indices.shape is None
        or batch is None
        or indices.shape[-1] is None
    ):
        return Tensor(x.dtype)
    taken = batch + indices.shape[-1]
    if taken > len(x.shape):
        raise Raises(f"{taken} indices of {len(x.shape)} dimensions")
    return Tensor(x.dtype, (*indices.shape[:-1], *x.shape[taken:]))


def boolean_mask(a: Arguments) -> Kind:
    x, mask = tensor(a["tensor"]), tensor(a["mask"])
    accept(mask.dtype, (NUMBERS | BOOL) - {"float16"})
    axis = 0 if a["axis"] == NONE else values.constant_int(a["axis"])
    if axis is None or x.shape is None:
        return Tensor(x.dtype)
    n = values.axis_in(axis, len(x.shape)) if x.shape else 0
    rest = operators.masked_shape(x.shape[n:], mask.shape)
    return Tensor(x.dtype, None if rest is None else (*x.shape[:n], *rest))


def take_slice(a: Arguments) -> Kind:
    x = tensor(a["input_"])
    begin, sizes = values.integers(a["begin"]), values.integers(a["size"])
    if sizes is None:
        return Tensor(x.dtype, None if x.shape is None else (None,) * len(x.shape))
    shape = values.with_rank(x.shape, len(sizes))
    starts = begin if begin is not None else (None,) * len(sizes)
    if len(starts) != len(sizes):
        raise Raises("begin and size of several lengths")
    return Tensor(x.dtype, tuple(map(_slice_size, shape, starts, sizes)))


def _slice_size(whole: int | None, start: int | None, size: int | None) -> int | None:
    if size != -1:
        if (
            whole is not None
            and start is not None
            and size is not None
            and start + size > whole
        ):
            raise Raises(f"{size} of {whole} from {start}")
        return size
    return None if whole is None or start is None else whole - start


def where(a: Arguments) -> Kind:
    condition = tensor(a["condition"])
    if a["x"] == NONE or a["y"] == NONE:
        if a["x"] != a["y"]:
            raise Raises("x without y")
        accept(condition.dtype, (NUMBERS | BOOL) - {"float16"})
        if condition.shape == ():
            raise Raises("places in a scalar")
        return Tensor(
            "int64", (None, None if condition.shape is None else len(condition.shape))
        )
    accept(condition.dtype, BOOL)
    x, y = common((a["x"], a["y"]))
    dtype = values.same_dtype(x.dtype, y.dtype)
    return Tensor(
        dtype, values.broadcast(values.broadcast(x.shape, y.shape), condition.shape)
    )


def sort(a: Arguments) -> Kind:
    x = tensor(a["values"])
    accept(x.dtype, REALS)
    _axis_of(x.shape, a["axis"])
    return x


def argsort(a: Arguments) -> Kind:
    x = tensor(a["values"])
    accept(x.dtype, REALS)
    _axis_of(x.shape, a["axis"])
    return Tensor("int32", x.shape)


def _axis_of(shape: Shape, axis: Kind) -> None:
    n = values.constant_int(axis)
    if shape is not None and n is not None:
        values.axis_in(n, len(shape))


def unique(a: Arguments) -> Kind:
    x = tensor(a["x"])
    shape = values.with_rank(x.shape, 1)
    index = values.dtype_of(a["out_idx"])
    found = Tensor(x.dtype, (None,)), Tensor(index, shape)
    return Sequence("tuple", found)


def unique_with_counts(a: Arguments) -> Kind:
    found = unique(a)
    assert isinstance(found, Sequence)
    return Sequence(
        "tuple", (*found.items, Tensor(values.dtype_of(a["out_idx"]), (None,)))
    )


def searchsorted(a: Arguments) -> Kind:
    x, sought = common((a["sorted_sequence"], a["values"]))
    accept(x.dtype, REALS)
    if x.shape == () or sought.shape == ():
        raise Raises("a search without dimensions")
    return Tensor(values.dtype_of(a["out_type"]), sought.shape)


def scatter_nd(a: Arguments) -> Kind:
    accept(tensor(a["indices"]).dtype, INDICES)
    updates = tensor(a["updates"])
    return Tensor(updates.dtype, _wanted_shape(a["shape"]))


def scattered(a: Arguments) -> Kind:
    """tf.tensor_scatter_nd_update and its like."""
    x = tensor(a["tensor"])
    accept(tensor(a["indices"]).dtype, INDICES)
    values.same_dtype(x.dtype, tensor(a["updates"], x.dtype).dtype)
    return x


def dynamic_partition(a: Arguments) -> Kind:
    x, parts = tensor(a["data"]), tensor(a["partitions"])
    accept(parts.dtype, frozenset({"int32"}))
    count = values.constant_int(a["num_partitions"])
    if x.shape is None or parts.shape is None:
        one = Tensor(x.dtype)
    else:
        one = Tensor(x.dtype, (None, *x.shape[len(parts.shape) :]))
    return Elements("list", one) if count is None else Sequence("list", (one,) * count)


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
    "reshape": reshape,
    "expand_dims": expand_dims,
    "squeeze": squeeze,
    "transpose": transpose,
    "reverse": reverse,
    "roll": roll,
    "tile": tile,
    "repeat": repeat,
    "pad": pad,
    "broadcast_to": broadcast_to,
    "concat": concat,
    "stack": stack,
    "unstack": unstack,
    "split": split,
    "gather": gather,
    "gather_nd": gather_nd,
    "boolean_mask": boolean_mask,
    "slice": take_slice,
    "where": where,
    "sort": sort,
    "argsort": argsort,
    "unique": unique,
    "unique_with_counts": unique_with_counts,
    "searchsorted": searchsorted,
    "scatter_nd": scatter_nd,
    **dict.fromkeys(
        (f"tensor_scatter_nd_{op}" for op in ("update", "add", "sub", "max", "min")),
        scattered,
    ),
    "dynamic_partition": dynamic_partition,
}
