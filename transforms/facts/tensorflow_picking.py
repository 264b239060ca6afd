"""What TensorFlow's functions that pick and place parts of tensors give."""

from __future__ import annotations

from contextlib import suppress

from . import operators_subscript
from . import tensorflow_values as values
from .kinds import NONE, Elements, Kind, Sequence, Shape, Tensor
from .outcome import Raises, Unsure
from .tensorflow_arguments import Arguments, Rule
from .tensorflow_creation import wanted_shape
from .tensorflow_values import (
    BOOL,
    COMPLEXES,
    EVERY,
    INDICES,
    NUMBERS,
    REALS,
    accept,
    common,
    tensor,
)


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
    rest = operators_subscript.masked_shape(x.shape[n:], mask.shape)
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
    accept(x.dtype, EVERY - COMPLEXES)
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
    return Tensor(updates.dtype, wanted_shape(a["shape"]))


def scattered(a: Arguments) -> Kind:
    """tf.tensor_scatter_nd_update and its like."""
    x = tensor(a["tensor"])
    with suppress(Unsure):  # where it does not raise, it gives such a tensor
        accept(tensor(a["indices"]).dtype, INDICES)
    values.same_dtype(x.dtype, tensor(a["updates"], x.dtype).dtype)
    return x


def unravel_index(a: Arguments) -> Kind:
    x, dims = common((a["indices"], a["dims"]))
    accept(x.dtype, INDICES)
    rank = values.with_rank(dims.shape, 1)[0]
    if x.shape is None or len(x.shape) > 1:
        raise Unsure("indices of several dimensions")
    return Tensor(x.dtype, (rank, *x.shape))


def reverse_sequence(a: Arguments) -> Kind:
    x = tensor(a["input"])
    accept(tensor(a["seq_lengths"]).dtype, INDICES)
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
    "unravel_index": unravel_index,
    "reverse_sequence": reverse_sequence,
    "dynamic_partition": dynamic_partition,
}
