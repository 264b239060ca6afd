"""What TensorFlow's mathematics give: elementwise functions, reductions, sums of parts."""

from __future__ import annotations

from collections.abc import Iterable

from . import operators_arithmetic
from . import tensorflow_values as values
from .kinds import NONE, Array, Elements, Kind, Sequence, Shape, Tensor, Variable
from .outcome import Outcome, Raises, Unsure, outcome
from .tensorflow_arguments import Arguments, Rule, named
from .tensorflow_values import (
    BOOL,
    COMPLEX_DTYPES,
    COMPLEXES,
    EVERY,
    FLOATS,
    INDICES,
    INEXACT,
    INTEGERS,
    NUMBERS,
    REAL_DTYPES,
    REALS,
    SIGNED,
    SINGLE_OR_DOUBLE,
    STRING,
    accept,
    common,
    tensor,
)

# ---- families


def only_dtype(accepted: frozenset[str]) -> str | None:
    """The dtype that values without one become, where an op takes a single one."""
    return next(iter(accepted)) if len(accepted) == 1 else None


def unary(accepted: frozenset[str], result: str | None = None) -> Rule:
    """One tensor in, one of its shape out; of its dtype, unless a result is named."""

    def rule(a: Arguments) -> Kind:
        x = tensor(a.at(0), only_dtype(accepted))
        accept(x.dtype, accepted)
        return Tensor(result or x.dtype, x.shape)

    return rule


def binary(
    accepted: frozenset[str], result: str | None = None, first: bool = False
) -> Rule:
    """Two tensors of one dtype in, one of the broadcast shape out.

    `first`: a Python value in the first place does not take the second one's dtype.
    """

    def rule(a: Arguments) -> Kind:
        only = only_dtype(accepted)
        left: Kind = tensor(a.at(0), only) if first or only else a.at(0)
        x, y = common((left, a.at(1)))
        dtype = values.same_dtype(x.dtype, y.dtype)
        accept(dtype, accepted)
        return Tensor(result or dtype, values.broadcast(x.shape, y.shape))

    return rule


def quotient(first: bool = False) -> Rule:
    """Like binary; ints give floats."""
    same = binary(NUMBERS, first=first)

    def rule(a: Arguments) -> Kind:
        x = same(a)
        assert isinstance(x, Tensor)
        return Tensor(operators_arithmetic.quotient(x.dtype), x.shape)

    return rule


def divide(a: Arguments) -> Kind | Outcome:
    """tf.divide: the operator, where it is given a tensor."""
    if values.is_strong(a["x"]):
        return operators_arithmetic.tensor_binary("div", a["x"], a["y"])
    return quotient()(a)


def with_tensor(rule: Rule) -> Rule:
    """The rule where one of two operands is a tensor; Python values alone become something of their own."""

    def checked(a: Arguments) -> Kind | Outcome:
        if not values.is_strong(a.at(0)) and not values.is_strong(a.at(1)):
            raise Unsure("no tensor")
        return rule(a)

    return checked


def reduction(accepted: frozenset[str], real: bool = False) -> Rule:
    """A tensor in, one without the named axes out; `real`: complex numbers give real ones."""

    def rule(a: Arguments) -> Kind:
        x = tensor(a.at(0), only_dtype(accepted))
        accept(x.dtype, accepted)
        dtype = REAL_DTYPES.get(x.dtype or "", x.dtype) if real else x.dtype
        keep = values.constant_bool(a["keepdims"])
        return Tensor(dtype, reduced(x.shape, a["axis"], keep))

    return rule


def reduced(shape: Shape, axis: Kind, keep: bool | None) -> Shape:
    """The shape left after the axes are summed over; `keep`: they stay, with size 1."""
    if axis == NONE:
        return (
            _kept(shape, range(len(shape)), keep)
            if shape is not None
            else (None if keep is not False else ())
        )
    chosen = values.axes(axis)
    if (
        isinstance(axis, Sequence | Elements | Array | Tensor | Variable)
        and chosen is None
    ):
        return (None,) * len(shape) if shape is not None and keep else None
    if chosen is None:
        return _one_of_unknown_axis(shape, keep)
    if shape is None:
        return None
    return _kept(shape, {values.axis_in(n, len(shape)) for n in chosen}, keep)


def _kept(
    shape: tuple[int | None, ...], axes: Iterable[int], keep: bool | None
) -> Shape:
    axes = set(axes)
    if keep is None:
        return shape if not axes else None
    if keep:
        return tuple(1 if n in axes else size for n, size in enumerate(shape))
    return tuple(size for n, size in enumerate(shape) if n not in axes)


def _one_of_unknown_axis(shape: Shape, keep: bool | None) -> Shape:
    """Without one axis, of which the number is not known."""
    if shape is None or keep is None:
        return None
    if keep:
        return (None,) * len(shape)
    return (None,) * (len(shape) - 1)


def arg_reduction(a: Arguments) -> Kind:
    """tf.argmax and tf.argmin: int64 indices along an axis, 0 by default."""
    x = tensor(a["input"])
    accept(x.dtype, REALS | BOOL)
    if x.shape == ():
        raise (
            Raises("an axis of a scalar")
            if a["axis"] == NONE
            else Unsure("argmax of a scalar")
        )
    n = 0 if a["axis"] == NONE else values.constant_int(a["axis"])
    dtype = values.dtype_of(a["output_type"])
    if x.shape is None:
        return Tensor(dtype)
    if n is None:
        return Tensor(dtype, (None,) * (len(x.shape) - 1))
    n = values.axis_in(n, len(x.shape))
    return Tensor(dtype, x.shape[:n] + x.shape[n + 1 :])


# ---- single functions


def absolute(a: Arguments) -> Kind:
    """tf.abs: complex numbers have real ones."""
    x = tensor(a["x"])
    accept(x.dtype, FLOATS | SIGNED | COMPLEXES)
    return Tensor(REAL_DTYPES.get(x.dtype or "", x.dtype), x.shape)


def real_part(accepted: frozenset[str]) -> Rule:
    """One part of complex numbers; other dtypes stay what they are."""

    def rule(a: Arguments) -> Kind:
        x = tensor(a["input"])
        accept(x.dtype, accepted)
        return Tensor(REAL_DTYPES.get(x.dtype or "", x.dtype), x.shape)

    return rule


def make_complex(a: Arguments) -> Kind:
    x, y = tensor(a["real"]), tensor(a["imag"])
    dtype = values.same_dtype(x.dtype, y.dtype)
    accept(dtype, SINGLE_OR_DOUBLE)
    return Tensor(
        COMPLEX_DTYPES[dtype] if dtype else None, values.broadcast(x.shape, y.shape)
    )


def power(a: Arguments) -> Kind:
    x, y = common((a["x"], a["y"]))
    return operators_arithmetic.tensor_binary(
        "pow", x, a["y"] if values.is_strong(a["x"]) else y
    )


def clip_by_value(a: Arguments) -> Kind:
    """The tensor's shape is kept: the limits may not have more dimensions."""
    x = tensor(a["t"])
    accept(x.dtype, REALS)
    dtype = x.dtype
    for name in ("clip_value_min", "clip_value_max"):
        limit = values.tensor_as(a[name], x.dtype)
        dtype = values.same_dtype(dtype, limit.dtype)
        both = values.broadcast(x.shape, limit.shape)
        if both is not None and x.shape is not None:
            values.equal_shapes(x.shape, both)
    return Tensor(dtype, x.shape)


def clip_by_norm(a: Arguments) -> Kind:
    x = tensor(a["t"])
    accept(x.dtype, FLOATS)
    tensor(a["clip_norm"], x.dtype)
    return x


def clip_by_global_norm(a: Arguments) -> Kind:
    tensors = _tensors_of(a["t_list"])
    accept(tensors[0].dtype, FLOATS)
    return Sequence(
        "tuple", (_like_list(a["t_list"], tensors), Tensor(_first_dtype(tensors), ()))
    )


def global_norm(a: Arguments) -> Kind:
    tensors = _tensors_of(a["t_list"])
    accept(tensors[0].dtype, FLOATS)
    return Tensor(_first_dtype(tensors), ())


def _first_dtype(tensors: list[Tensor]) -> str | None:
    dtypes = {t.dtype for t in tensors}
    if len(dtypes) > 1:
        raise Unsure("tensors of several dtypes")
    return dtypes.pop()


def _tensors_of(kind: Kind) -> list[Tensor]:
    """The members of a list of tensors."""
    if isinstance(kind, Sequence) and kind.items and kind.type in ("list", "tuple"):
        return [tensor(item) for item in kind.items]
    if isinstance(kind, Elements):
        return [tensor(kind.element)]
    raise Unsure(f"{kind} for a list of tensors")


def _like_list(kind: Kind, tensors: list[Tensor]) -> Kind:
    return (
        Sequence("list", tuple(tensors))
        if isinstance(kind, Sequence)
        else Elements("list", tensors[0])
    )


def add_n(a: Arguments) -> Kind:
    tensors = _tensors_of(a["inputs"])
    dtype, shape = tensors[0].dtype, tensors[0].shape
    for other in tensors[1:]:
        dtype = values.same_dtype(dtype, other.dtype)
        shape = values.equal_shapes(shape, other.shape)
    if isinstance(a["inputs"], Elements) or len(tensors) > 1:
        accept(dtype, NUMBERS)
    return Tensor(dtype, shape)


def scalar_mul(a: Arguments) -> Kind:
    x = tensor(a["x"])
    accept(x.dtype, NUMBERS)
    scalar = tensor(a["scalar"], x.dtype)
    if scalar.shape != ():
        raise Unsure("a factor with dimensions")
    return x


def cumulative(accepted: frozenset[str]) -> Rule:
    """tf.cumsum and its like: a tensor of the same kind."""

    def rule(a: Arguments) -> Kind:
        x = tensor(a.at(0))
        accept(x.dtype, accepted)
        n = values.constant_int(a["axis"])
        if x.shape is not None and n is not None:
            values.axis_in(n, len(x.shape))
        return x

    return rule


def moments(a: Arguments) -> Kind:
    x = tensor(a["x"])
    accept(x.dtype, INEXACT | {"int32", "int64"})
    one = Tensor(
        x.dtype, reduced(x.shape, a["axes"], values.constant_bool(a["keepdims"]))
    )
    return Sequence("tuple", (one, one))


def count_nonzero(a: Arguments) -> Kind:
    x = tensor(a["input"])
    accept(x.dtype, EVERY)
    shape = reduced(x.shape, a["axis"], values.constant_bool(a["keepdims"]))
    return Tensor(values.dtype_of(a["dtype"]), shape)


def top_k(a: Arguments) -> Kind:
    x = tensor(a["input"])
    accept(x.dtype, REALS)
    if x.shape == ():
        raise Raises("top_k of a scalar")
    k = values.constant_int(a["k"])
    shape = None if x.shape is None else (*x.shape[:-1], k)
    index = (
        values.dtype_of(a["index_type"]) if "index_type" in a.parameters else "int32"
    )
    return Sequence("tuple", (Tensor(x.dtype, shape), Tensor(index, shape)))


def in_top_k(a: Arguments) -> Kind:
    targets = tensor(a["targets"])
    return Tensor("bool", values.with_rank(targets.shape, 1))


def bincount(a: Arguments) -> Kind:
    if "weights" in a or "axis" in a or "binary_output" in a:
        raise Unsure("bincount with weights")
    x = tensor(a["arr"])
    accept(x.dtype, REALS | BOOL)
    return Tensor(values.dtype_of(a["dtype"]), (None,))


def segment(a: Arguments) -> Kind:
    """tf.math.segment_sum and its like: rows joined by their ids."""
    x, ids = tensor(a["data"]), tensor(a["segment_ids"])
    accept(x.dtype, NUMBERS)
    accept(ids.dtype, frozenset({"int32", "int64"}))
    return Tensor(x.dtype, None if x.shape is None else (None, *x.shape[1:]))


def unsorted_segment(a: Arguments) -> Kind:
    x, ids = tensor(a["data"]), tensor(a["segment_ids"])
    accept(x.dtype, NUMBERS)
    accept(ids.dtype, frozenset({"int32", "int64"}))
    if x.shape is None or ids.shape is None:
        return Tensor(x.dtype)
    return Tensor(
        x.dtype, (values.constant_int(a["num_segments"]), *x.shape[len(ids.shape) :])
    )


def in_order(a: Arguments) -> Kind:
    """tf.math.is_non_decreasing and its like: one bool."""
    accept(tensor(a["x"]).dtype, REALS)
    return Tensor("bool", ())


def inverted_permutation(a: Arguments) -> Kind:
    x = tensor(a["x"])
    accept(x.dtype, INDICES)
    return Tensor(x.dtype, values.with_rank(x.shape, 1))


def histogram(a: Arguments) -> Kind:
    accept(tensor(a["values"]).dtype, SINGLE_OR_DOUBLE | INDICES)
    return Tensor(values.dtype_of(a["dtype"]), (values.constant_int(a["nbins"]),))


def confusion_matrix(a: Arguments) -> Kind:
    n = values.constant_int(a["num_classes"])
    return Tensor(values.dtype_of(a["dtype"]), (n, n))


def checked(a: Arguments) -> Outcome:
    """tf.debugging.check_numerics and its like: the tensor itself, or an exception."""
    x = tensor(a.at(0))
    accept(x.dtype, FLOATS)
    return outcome(x, "assert")


RULES: dict[str, Rule] = {
    **named(
        "exp sqrt sin cos tan sinh cosh tanh sigmoid asin acos atan asinh acosh atanh "
        "math.log math.log1p math.expm1 math.rsqrt math.reciprocal",
        unary(INEXACT),
    ),
    **named(
        "floor math.ceil math.erf math.erfc math.log_sigmoid math.softplus",
        unary(FLOATS),
    ),
    **named(
        "math.digamma math.lgamma math.bessel_i0 math.bessel_i1 math.bessel_i0e math.bessel_i1e",
        unary(FLOATS - {"bfloat16"}),
    ),
    **named("math.rint math.ndtri math.erfinv", unary(SINGLE_OR_DOUBLE)),
    **named("square math.conj", unary(NUMBERS)),
    **named("negative sign", unary(INEXACT | SIGNED)),
    "round": unary(REALS),
    "abs": absolute,
    "math.real": real_part(NUMBERS),
    "math.imag": real_part(EVERY),
    "math.angle": real_part(INEXACT),
    "complex": make_complex,
    "logical_not": unary(BOOL),
    **named("math.is_nan math.is_inf math.is_finite", unary(FLOATS, "bool")),
    "bitwise.invert": unary(INTEGERS),
    "add": binary(NUMBERS | STRING, first=True),
    **named("subtract multiply", binary(NUMBERS)),
    "divide": divide,
    "math.divide_no_nan": quotient(),
    "truediv": quotient(first=True),
    "realdiv": binary(INEXACT),
    "math.multiply_no_nan": binary(INEXACT, first=True),
    **named("math.floordiv math.floormod truncatediv maximum minimum", binary(REALS)),
    "truncatemod": binary(SINGLE_OR_DOUBLE | {"int32", "int64"}),
    "pow": power,
    "atan2": binary(FLOATS),
    "math.squared_difference": binary(INEXACT | {"int32", "int64"}),
    **named("math.xlogy math.xlog1py math.xdivy", binary(INEXACT)),
    **named(
        "math.igamma math.igammac math.zeta math.polygamma", binary(SINGLE_OR_DOUBLE)
    ),
    "math.nextafter": with_tensor(binary(SINGLE_OR_DOUBLE)),
    **named("less less_equal greater greater_equal", binary(REALS, "bool")),
    **named("equal not_equal", binary(EVERY, "bool")),
    **named("logical_and logical_or math.logical_xor", binary(BOOL)),
    **named(
        "bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor "
        "bitwise.left_shift bitwise.right_shift",
        binary(INTEGERS),
    ),
    **named(
        "reduce_sum reduce_prod reduce_mean math.reduce_euclidean_norm",
        reduction(NUMBERS),
    ),
    **named("reduce_max reduce_min", reduction(REALS)),
    **named("reduce_all reduce_any", reduction(BOOL)),
    "reduce_logsumexp": reduction(FLOATS),
    **named("math.reduce_std math.reduce_variance", reduction(INEXACT, real=True)),
    "math.count_nonzero": count_nonzero,
    **named("argmax argmin", arg_reduction),
    "linalg.global_norm": global_norm,
    "nn.moments": moments,
    **named("cumsum math.cumprod", cumulative(NUMBERS)),
    "math.cumulative_logsumexp": cumulative(FLOATS),
    "math.top_k": top_k,
    "math.in_top_k": in_top_k,
    "math.bincount": bincount,
    **named("math.is_non_decreasing math.is_strictly_increasing", in_order),
    "math.invert_permutation": inverted_permutation,
    "histogram_fixed_width": histogram,
    "math.confusion_matrix": confusion_matrix,
    **{f"math.segment_{op}": segment for op in ("sum", "mean", "max", "min", "prod")},
    **{
        f"math.unsorted_segment_{op}": unsorted_segment
        for op in ("sum", "mean", "max", "min", "prod", "sqrt_n")
    },
    "clip_by_value": clip_by_value,
    "clip_by_norm": clip_by_norm,
    "clip_by_global_norm": clip_by_global_norm,
    **named("add_n math.accumulate_n", add_n),
    "scalar_mul": scalar_mul,
    **named("debugging.check_numerics debugging.assert_all_finite", checked),
}
