"""What TensorFlow's functions on the form of tensors give: reshaping, joining, parting."""

from __future__ import annotations

from . import tensorflow_values as values
from .kinds import (
    NONE,
    Array,
    Elements,
    Kind,
    Python,
    Sequence,
    Shape,
    Tensor,
    Variable,
)
from .outcome import Raises, Unsure
from .tensorflow_arguments import Arguments, Rule
from .tensorflow_creation import count, inserted, wanted_shape
from .tensorflow_values import common, tensor

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
    have = count(shape)
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
    return Tensor(x.dtype, inserted(x.shape, axis, 1))


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
        return Tensor(x.dtype, (_repeated(count(x.shape), times),))
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
    shape = wanted_shape(a["shape"])
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
        (None,) * (len(shape) + 1) if axis is None else inserted(shape, axis, count),
    )


def _stacked_rows(x: Tensor, axis: int | None) -> Kind:
    """tf.stack of a tensor: of its rows, along another axis."""
    if not x.shape:
        raise Unsure("a stack of a scalar")
    if axis is None:
        return Tensor(x.dtype, (None,) * len(x.shape))
    return Tensor(x.dtype, inserted(x.shape[1:], axis, x.shape[0]))


def unstack(a: Arguments) -> Kind:
    x = tensor(a["value"])
    axis = values.constant_int(a["axis"])
    if x.shape is None or axis is None:
        rest = None if x.shape is None else (None,) * (len(x.shape) - 1)
        return Elements("list", Tensor(x.dtype, rest))
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


RULES: dict[str, Rule] = {
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
}
