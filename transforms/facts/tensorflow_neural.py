"""What tf.nn and Keras's activations and losses give."""

from __future__ import annotations

from . import tensorflow_values as values
from .kinds import NONE, Kind, Python, Scalar, Tensor
from .outcome import Outcome, Raises, Unsure, outcome
from .tensorflow_arguments import Arguments, Rule, named
from .tensorflow_math import unary
from .tensorflow_values import (
    COMPLEXES,
    FLOATS,
    INTEGERS,
    NUMBERS,
    REALS,
    accept,
    tensor,
)

Sizes = tuple[int | None, ...]
LABELS = frozenset({"int32", "int64"})

# ---- activations


def along_axis(a: Arguments) -> Kind:
    """tf.nn.softmax and its like."""
    x = tensor(a.at(0))
    accept(x.dtype, FLOATS)
    axis = -1 if a["axis"] == NONE else values.constant_int(a["axis"])
    if x.shape is not None and axis is not None:
        values.axis_in(axis, len(x.shape))
    return x


def leaky_relu(a: Arguments) -> Kind:
    x = tensor(a["features"])
    accept(x.dtype, REALS)
    return Tensor("float32" if x.dtype in INTEGERS else x.dtype, x.shape)


def l2_loss(a: Arguments) -> Kind:
    x = tensor(a["t"])
    accept(x.dtype, FLOATS)
    return Tensor(x.dtype, ())


def zero_fraction(a: Arguments) -> Kind:
    tensor(a["value"])
    return Tensor("float32", ())


def bias_add(a: Arguments) -> Kind:
    a.only("value", "bias")
    x = tensor(a["value"])
    accept(x.dtype, NUMBERS)
    bias = tensor(a["bias"], x.dtype)
    width = values.with_rank(bias.shape, 1)[0]
    if x.shape is None:
        return x
    if len(x.shape) < 2:
        raise Raises("a bias of a vector")
    return Tensor(x.dtype, (*x.shape[:-1], values.equal_sizes(x.shape[-1], width)))


def dropout(a: Arguments) -> Outcome:
    x = tensor(a["x"])
    accept(x.dtype, FLOATS)
    return outcome(x, "random")


def batch_normalization(a: Arguments) -> Kind:
    x = tensor(a["x"])
    accept(x.dtype, FLOATS)
    shape = x.shape
    for name in ("mean", "variance", "offset", "scale"):
        if a[name] != NONE:
            shape = values.broadcast(shape, tensor(a[name]).shape)
    return Tensor(x.dtype, shape)


def embedding_lookup(a: Arguments) -> Kind:
    a.only("params", "ids")
    x, ids = tensor(a["params"]), tensor(a["ids"])
    accept(ids.dtype, LABELS)
    if x.shape is None or ids.shape is None:
        return Tensor(x.dtype)
    return Tensor(x.dtype, (*ids.shape, *x.shape[1:]))


# ---- losses


def sigmoid_cross_entropy(a: Arguments) -> Kind:
    logits = tensor(a["logits"])
    labels = tensor(
        a["labels"], None if values.is_strong(a["labels"]) else logits.dtype
    )
    accept(logits.dtype, FLOATS)
    return Tensor(
        values.same_dtype(logits.dtype, labels.dtype),
        values.equal_shapes(logits.shape, labels.shape),
    )


def softmax_cross_entropy(a: Arguments) -> Kind:
    logits, labels = tensor(a["logits"]), tensor(a["labels"])
    accept(logits.dtype, FLOATS)
    accept(labels.dtype, NUMBERS | values.BOOL)
    axis = values.constant_int(a["axis"])
    if logits.shape is None or labels.shape is None or axis is None:
        return Tensor(logits.dtype)
    try:
        shape = values.equal_shapes(logits.shape, labels.shape)
    except Raises as reason:
        raise Unsure("logits and labels of several shapes") from reason
    assert shape is not None
    n = values.axis_in(axis, len(shape))
    return Tensor(logits.dtype, shape[:n] + shape[n + 1 :])


def sparse_softmax_cross_entropy(a: Arguments) -> Kind:
    logits, labels = tensor(a["logits"]), tensor(a["labels"])
    accept(logits.dtype, FLOATS)
    accept(labels.dtype, LABELS)
    shape = None if logits.shape is None else logits.shape[:-1]
    if logits.shape == ():
        raise Raises("logits without dimensions")
    return Tensor(logits.dtype, values.equal_shapes(shape, labels.shape))


def keras_unary(a: Arguments) -> Kind:
    """An activation of Keras, on a tensor of floats."""
    return _floats(a.at(0))


def keras_softmax(a: Arguments) -> Kind:
    _floats(a.at(0))
    return along_axis(a)


def _floats(kind: Kind) -> Tensor:
    """An argument of Keras as a tensor; what it makes of other values is not known."""
    if (
        not isinstance(kind, Tensor)
        or kind.weak
        or (kind.dtype is not None and kind.dtype not in FLOATS)
    ):
        raise Unsure(f"Keras on {kind}")
    return kind


def keras_loss(a: Arguments) -> Kind:
    """A loss function of Keras: the mean over the last axis, of the prediction's dtype."""
    y_true, y_pred = tensor(a["y_true"]), _floats(a["y_pred"])
    if y_true.dtype is not None and y_true.dtype not in NUMBERS | values.BOOL:
        raise Unsure(y_true.dtype)
    if y_true.shape is None or y_pred.shape is None:
        return Tensor(y_pred.dtype)
    if len(y_true.shape) != len(y_pred.shape) or not y_pred.shape:
        raise Unsure("a loss of several ranks")
    both = values.broadcast(y_true.shape, y_pred.shape)
    return Tensor(y_pred.dtype, None if both is None else both[:-1])


def keras_sparse_loss(a: Arguments) -> Kind:
    y_pred = _floats(a["y_pred"])
    if not values.is_strong(a["y_true"]):
        raise Unsure("labels that are no tensor")
    if a["axis"] not in (NONE, Python("int", -1)) or not y_pred.shape:
        return Tensor(y_pred.dtype)
    return Tensor(y_pred.dtype, y_pred.shape[:-1])


# ---- convolutions and pools


def _spatial(kind: Kind, rank: int) -> Sizes:
    """Strides or window sizes: one for all of the middle dimensions, one each, or one for every dimension."""
    if kind == NONE:
        return (1,) * rank
    if isinstance(kind, Python | Scalar):
        return (values.constant_int(kind),) * rank
    sizes = values.integers(kind)
    if sizes is None:
        return (None,) * rank
    if len(sizes) == 1:
        return sizes * rank
    return sizes[1:-1] if len(sizes) == rank + 2 else sizes


def _windowed(
    size: int | None, window: int | None, stride: int | None, padding: str | None
) -> int | None:
    """How many windows fit a dimension."""
    if size is None or stride is None or padding not in ("SAME", "VALID"):
        return None
    if padding == "SAME":
        return -(-size // stride)
    return None if window is None else max(0, -(-(size - window + 1) // stride))


def _padding(kind: Kind) -> str | None:
    text = values.constant_str(kind)
    return text.upper() if text else None


def convolution(rank: int, depthwise: bool = False) -> Rule:
    """tf.nn.conv1d, conv2d, conv3d and depthwise_conv2d, channels last."""

    def rule(a: Arguments) -> Kind:
        x, filters = values.common((a.at(0), a.at(1)))
        dtype = values.same_dtype(x.dtype, filters.dtype)
        accept(dtype, FLOATS)
        if x.shape is None or not _channels_last(a):
            return Tensor(dtype)
        kernel = values.with_rank(filters.shape, rank + 2)
        outer = x.shape[: -rank - 1]
        if not outer:
            raise Raises(f"{len(x.shape)} dimensions where {rank + 2} are needed")
        strides = _spatial(
            a["strides" if "strides" in a.parameters else "stride"], rank
        )
        dilations = _spatial(
            a["dilations"] if "dilations" in a.parameters else NONE, rank
        )
        windows = tuple(map(_dilated, kernel[:rank], dilations))
        padding = _padding(a["padding"])
        middle = tuple(
            _windowed(*part, padding)
            for part in zip(x.shape[-rank - 1 : -1], windows, strides, strict=True)
        )
        channels = values.product(kernel[-2:]) if depthwise else kernel[-1]
        if depthwise:
            values.equal_sizes(x.shape[-1], kernel[-2])
        return Tensor(dtype, (*outer, *middle, channels))

    return rule


def _dilated(window: int | None, dilation: int | None) -> int | None:
    return None if window is None or dilation is None else (window - 1) * dilation + 1


def _channels_last(a: Arguments) -> bool:
    layout = a["data_format"]
    text = values.constant_str(layout)
    return layout == NONE or (text is not None and not text.startswith("NC"))


def transposed_convolution(rank: int) -> Rule:
    def rule(a: Arguments) -> Kind:
        x, filters = values.common((a["input"], a["filters"]))
        dtype = values.same_dtype(x.dtype, filters.dtype)
        accept(dtype, FLOATS)
        shape = values.shape_of(a["output_shape"])
        return Tensor(
            dtype, shape if shape is not None and len(shape) == rank + 2 else None
        )

    return rule


def pool(rank: int, accepted: frozenset[str]) -> Rule:
    """tf.nn.max_pool2d, avg_pool2d and so on, channels last."""

    def rule(a: Arguments) -> Kind:
        x = tensor(a["input"])
        accept(x.dtype, accepted)
        if x.shape is None or not _channels_last(a):
            return Tensor(x.dtype)
        shape = values.with_rank(x.shape, rank + 2)
        windows, strides = _spatial(a["ksize"], rank), _spatial(a["strides"], rank)
        padding = _padding(a["padding"])
        middle = tuple(
            _windowed(*part, padding)
            for part in zip(shape[1:-1], windows, strides, strict=True)
        )
        return Tensor(x.dtype, (shape[0], *middle, shape[-1]))

    return rule


def any_pool(accepted: frozenset[str]) -> Rule:
    """tf.nn.max_pool and avg_pool: of the input's rank."""

    def rule(a: Arguments) -> Kind | Outcome:
        x = tensor(a["input"])
        if x.shape is None:
            accept(x.dtype, accepted)
            return Tensor(x.dtype)
        if not 3 <= len(x.shape) <= 5:
            raise Raises(f"a pool over {len(x.shape)} dimensions")
        return pool(len(x.shape) - 2, accepted)(a)

    return rule


def space_to_depth(a: Arguments) -> Kind:
    x = tensor(a["input"])
    n = values.constant_int(a["block_size"])
    batch, height, width, depth = values.with_rank(x.shape, 4)
    if n is None or not _channels_last(a):
        return Tensor(x.dtype, (batch, None, None, None))
    parts = [None if s is None else s // n for s in (height, width)]
    return Tensor(x.dtype, (batch, *parts, None if depth is None else depth * n * n))


def depth_to_space(a: Arguments) -> Kind:
    x = tensor(a["input"])
    n = values.constant_int(a["block_size"])
    batch, height, width, depth = values.with_rank(x.shape, 4)
    if n is None or not _channels_last(a):
        return Tensor(x.dtype, (batch, None, None, None))
    parts = [None if s is None else s * n for s in (height, width)]
    return Tensor(x.dtype, (batch, *parts, None if depth is None else depth // (n * n)))


def keras(part: str, names: str, rule: Rule) -> dict[str, Rule]:
    """One rule for several functions of a part of Keras."""
    return {f"keras.{part}.{name}": rule for name in names.split()}


def average_loss(a: Arguments) -> Kind:
    """tf.nn.compute_average_loss: a scalar of its losses' dtype."""
    x = tensor(a["per_example_loss"])
    if x.shape == ():
        raise Raises("the average of a scalar loss")
    if x.dtype not in FLOATS:
        raise Unsure("losses that are no floats")
    return Tensor(x.dtype, ())


RULES: dict[str, Rule] = {
    "nn.compute_average_loss": average_loss,
    **named("nn.relu nn.relu6", unary(REALS)),
    **named("nn.elu nn.selu nn.gelu math.softsign", unary(FLOATS)),
    **named("nn.silu linalg.l2_normalize", unary(FLOATS | COMPLEXES)),
    **named("math.softmax math.log_softmax", along_axis),
    "nn.leaky_relu": leaky_relu,
    "nn.l2_loss": l2_loss,
    "math.zero_fraction": zero_fraction,
    "nn.bias_add": bias_add,
    "nn.dropout": dropout,
    "nn.batch_normalization": batch_normalization,
    "nn.local_response_normalization": unary(FLOATS - {"float64"}),
    "nn.embedding_lookup": embedding_lookup,
    "nn.sigmoid_cross_entropy_with_logits": sigmoid_cross_entropy,
    "nn.weighted_cross_entropy_with_logits": sigmoid_cross_entropy,
    "nn.softmax_cross_entropy_with_logits": softmax_cross_entropy,
    "nn.sparse_softmax_cross_entropy_with_logits": sparse_softmax_cross_entropy,
    "nn.conv1d": convolution(1),
    "nn.conv2d": convolution(2),
    "nn.conv3d": convolution(3),
    "nn.depthwise_conv2d": convolution(2, depthwise=True),
    "nn.conv2d_transpose": transposed_convolution(2),
    **{f"nn.max_pool{n}d": pool(n, REALS) for n in (1, 2)},
    **{f"nn.avg_pool{n}d": pool(n, FLOATS) for n in (1, 2)},
    "nn.max_pool": any_pool(REALS),
    "nn.avg_pool": any_pool(FLOATS),
    "nn.space_to_depth": space_to_depth,
    "nn.depth_to_space": depth_to_space,
    **keras(
        "activations",
        "relu relu6 leaky_relu sigmoid tanh gelu elu selu softplus softsign silu mish "
        "hard_sigmoid exponential linear",
        keras_unary,
    ),
    **keras("activations", "softmax log_softmax", keras_softmax),
    **keras(
        "losses",
        "MSE MAE MAPE MSLE KLD binary_crossentropy categorical_crossentropy huber hinge "
        "squared_hinge logcosh poisson cosine_similarity",
        keras_loss,
    ),
    **keras("losses", "sparse_categorical_crossentropy", keras_sparse_loss),
}
