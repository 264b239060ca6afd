"""What the table says of TensorFlow's functions is what running them eagerly, and tracing them, gives."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from facts.expressions import (
    ODD_KINDS,
    Evaluation,
    Fails,
    Missing,
    attempt,
    cases,
    impure,
    kind_of,
    problems,
    traces,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from graphlift.transforms.facts import tensorflow_api, tensorflow_names
from graphlift.transforms.facts import tensorflow_values as values
from graphlift.transforms.facts.kind_notation import parse
from graphlift.transforms.facts.kinds import (
    NONE,
    Kind,
    Module,
    Object,
    Python,
    Sequence,
    Tensor,
    Type,
    python,
)
from graphlift.transforms.facts.operators import subscript
from graphlift.transforms.facts.outcome import Raises

pytestmark = pytest.mark.filterwarnings("ignore")

UNARY = [
    "tf.exp",
    "tf.sqrt",
    "tf.sin",
    "tf.cos",
    "tf.tan",
    "tf.sinh",
    "tf.cosh",
    "tf.tanh",
    "tf.sigmoid",
    "tf.asin",
    "tf.acos",
    "tf.atan",
    "tf.asinh",
    "tf.acosh",
    "tf.atanh",
    "tf.math.log",
    "tf.math.log1p",
    "tf.math.expm1",
    "tf.math.rsqrt",
    "tf.math.reciprocal",
    "tf.floor",
    "tf.math.ceil",
    "tf.math.erf",
    "tf.math.erfc",
    "tf.math.log_sigmoid",
    "tf.math.softplus",
    "tf.math.digamma",
    "tf.math.lgamma",
    "tf.math.bessel_i0",
    "tf.math.bessel_i1e",
    "tf.math.rint",
    "tf.math.ndtri",
    "tf.math.erfinv",
    "tf.square",
    "tf.math.conj",
    "tf.negative",
    "tf.sign",
    "tf.round",
    "tf.abs",
    "tf.math.real",
    "tf.math.imag",
    "tf.math.angle",
    "tf.logical_not",
    "tf.math.is_nan",
    "tf.math.is_inf",
    "tf.math.is_finite",
    "tf.bitwise.invert",
    "tf.reduce_sum",
    "tf.reduce_prod",
    "tf.reduce_mean",
    "tf.reduce_max",
    "tf.reduce_min",
    "tf.reduce_all",
    "tf.reduce_any",
    "tf.reduce_logsumexp",
    "tf.math.reduce_std",
    "tf.math.reduce_variance",
    "tf.math.reduce_euclidean_norm",
    "tf.math.count_nonzero",
    "tf.norm",
    "tf.argmax",
    "tf.argmin",
    "tf.identity",
    "tf.stop_gradient",
    "tf.zeros_like",
    "tf.ones_like",
    "tf.shape",
    "tf.size",
    "tf.rank",
    "tf.is_tensor",
    "tf.convert_to_tensor",
    "tf.constant",
    "tf.squeeze",
    "tf.transpose",
    "tf.where",
    "tf.sort",
    "tf.argsort",
    "tf.cumsum",
    "tf.math.cumprod",
    "tf.math.cumulative_logsumexp",
    "tf.unique",
    "tf.unique_with_counts",
    "tf.unstack",
    "tf.stack",
    "tf.as_string",
    "tf.nn.relu",
    "tf.nn.relu6",
    "tf.nn.elu",
    "tf.nn.selu",
    "tf.nn.gelu",
    "tf.nn.silu",
    "tf.nn.swish",
    "tf.nn.softsign",
    "tf.nn.softmax",
    "tf.nn.log_softmax",
    "tf.nn.softplus",
    "tf.nn.sigmoid",
    "tf.nn.tanh",
    "tf.nn.leaky_relu",
    "tf.nn.l2_loss",
    "tf.nn.compute_average_loss",
    "tf.math.l2_normalize",
    "tf.nn.zero_fraction",
    "tf.linalg.inv",
    "tf.linalg.det",
    "tf.linalg.cholesky",
    "tf.linalg.trace",
    "tf.linalg.adjoint",
    "tf.linalg.matrix_transpose",
    "tf.linalg.diag",
    "tf.linalg.diag_part",
    "tf.linalg.tensor_diag",
    "tf.linalg.tensor_diag_part",
    "tf.linalg.eigh",
    "tf.linalg.svd",
    "tf.linalg.qr",
    "tf.linalg.expm",
    "tf.linalg.pinv",
    "tf.linalg.logdet",
    "tf.strings.length",
    "tf.strings.lower",
    "tf.strings.upper",
    "tf.strings.strip",
    "tf.strings.to_number",
    "tf.strings.split",
    "tf.strings.reduce_join",
    "tf.one_hot",
    "tf.random.shuffle",
    "tf.debugging.check_numerics",
    "tf.sequence_mask",
    "tf.meshgrid",
    "tf.range",
    "tf.eye",
    "tf.zeros",
    "tf.ones",
    "tf.Variable",
    "tf.data.Dataset.from_tensor_slices",
    "tf.data.Dataset.from_tensors",
    "tf.math.bincount",
    "tf.print",
]

BINARY = [
    "tf.add",
    "tf.subtract",
    "tf.multiply",
    "tf.divide",
    "tf.truediv",
    "tf.math.divide_no_nan",
    "tf.realdiv",
    "tf.math.multiply_no_nan",
    "tf.math.floordiv",
    "tf.math.floormod",
    "tf.truncatediv",
    "tf.maximum",
    "tf.minimum",
    "tf.truncatemod",
    "tf.pow",
    "tf.atan2",
    "tf.math.squared_difference",
    "tf.math.xlogy",
    "tf.math.xlog1py",
    "tf.math.xdivy",
    "tf.math.igamma",
    "tf.math.zeta",
    "tf.less",
    "tf.less_equal",
    "tf.greater",
    "tf.greater_equal",
    "tf.equal",
    "tf.not_equal",
    "tf.logical_and",
    "tf.logical_or",
    "tf.math.logical_xor",
    "tf.bitwise.bitwise_and",
    "tf.bitwise.left_shift",
    "tf.complex",
]


def expressions(text: str) -> list[str]:
    return [
        line for line in text.strip().splitlines() if line and not line.startswith("#")
    ]


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("argument", ["x", "w", "l"])
def test_of_one(name: str, argument: str) -> None:
    text = f"{name}({argument})"
    assert problems(text, by_value=may_raise_by_value(text)) == []


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize(
    "pair", ["x, y", "x, n", "n, x", "x, a", "v, n", "n, m", "a, n"]
)
def test_of_two(name: str, pair: str) -> None:
    text = f"{name}({pair})"
    assert problems(text, by_value=may_raise_by_value(text)) == []


REDUCTIONS = [
    f"tf.{name}(x, {rest})"
    for name in (
        "reduce_sum",
        "reduce_mean",
        "reduce_max",
        "math.reduce_std",
        "reduce_any",
        "math.count_nonzero",
    )
    for rest in (
        "axis=0",
        "axis=-1",
        "axis=k",
        "axis=[0, 1]",
        "axis=[-1]",
        "axis=k, keepdims=True",
        "keepdims=True",
        "0, True",
    )
]

FORMS = expressions("""
tf.norm(x, axis=-1)
tf.norm(f, axis=[0, 1])
tf.norm(f, axis=k, keepdims=True)
tf.argmax(x, axis=-1)
tf.argmax(x, k)
tf.argmax(x, axis=1, output_type=tf.int32)
tf.argmin(x, axis=0)
tf.cast(w, tf.float32)
tf.cast(w, tf.int64)
tf.cast(w, tf.bool)
tf.cast(w, 'float64')
tf.cast(w, tf.string)
tf.cast(x, y.dtype)
tf.saturate_cast(x, tf.int32)
tf.constant(w, dtype=tf.float32)
tf.constant(n, tf.int32)
tf.constant(l, tf.float64)
tf.constant(n, shape=(2, 3))
tf.constant([1, 2, 3, 4], shape=(2, 2))
tf.constant([1, 2, 3], shape=(2, 2))
tf.constant([[1, 2], [3, 4]])
tf.constant([[1, 2.5], [3, 4]])
tf.constant([[1, 2], [3]])
tf.constant([])
tf.constant(2 ** 40)
tf.convert_to_tensor(w, tf.float32)
tf.convert_to_tensor([x, x])
tf.convert_to_tensor([x, n])
tf.convert_to_tensor([x, y])
tf.zeros((2, 3))
tf.zeros([2, 3], tf.int32)
tf.zeros(3)
tf.zeros((2, k))
tf.zeros((2, 3), x.dtype)
tf.zeros(x.shape)
tf.zeros(tf.shape(x))
tf.zeros([2.0])
tf.zeros([i, 2])
tf.zeros((x.shape[0], 2))
tf.ones((2,), x.dtype)
tf.ones([], tf.bool)
tf.fill([2, 3], n)
tf.fill(tf.shape(x), 1.0)
tf.fill([2], x)
tf.zeros_like(w)
tf.zeros_like(x, dtype=tf.float32)
tf.ones_like(w)
tf.ones_like(x, tf.int32)
tf.range(3)
tf.range(i)
tf.range(n)
tf.range(1, 10, 3)
tf.range(0, i)
tf.range(i, 5, 2)
tf.range(1.5, 4)
tf.range(f)
tf.range(0, 5, dtype=tf.float32)
tf.range(0, i, dtype=tf.int64)
tf.range(3.5, dtype=tf.int32)
tf.range(10, 0, -3)
tf.range(x)
tf.linspace(0.0, 1.0, 5)
tf.linspace(0, 10, 5)
tf.linspace(f, g, 3)
tf.one_hot(j, 3)
tf.one_hot(j, 3, axis=0)
tf.one_hot(j, i)
tf.one_hot(j, 3, on_value=n, off_value=n)
tf.one_hot(j, 3, dtype=tf.int32)
tf.one_hot([0, 1], depth=4)
tf.sequence_mask(j, 5)
tf.sequence_mask(j)
tf.sequence_mask(j, maxlen=4, dtype=tf.float32)
tf.meshgrid(f, f)
tf.meshgrid(tf.range(3), tf.range(4), indexing='ij')
tf.ensure_shape(x, (2, 3))
tf.ensure_shape(x, (None, 3))
tf.ensure_shape(x, None)
tf.shape(x, out_type=tf.int64)
tf.shape(x)[0]
tf.size(l)
tf.reshape(x, [-1])
tf.reshape(x, (3, -1))
tf.reshape(x, (1, 3))
tf.reshape(x, [])
tf.reshape(x, [2, i, -1])
tf.reshape(x, tf.shape(y))
tf.reshape(x, (-1, x.shape[-1]))
tf.reshape(l, [-1, 1])
tf.reshape(x, [k, -1])
tf.expand_dims(x, 0)
tf.expand_dims(x, -1)
tf.expand_dims(x, k)
tf.expand_dims(x, axis=5)
tf.squeeze(x, axis=0)
tf.squeeze(x, [1])
tf.squeeze(x, axis=k)
tf.transpose(x, [1, 0])
tf.transpose(x, perm=[0, 2, 1])
tf.reverse(x, [0])
tf.reverse(x, axis=[-1])
tf.reverse(x, 0)
tf.roll(x, 1, 0)
tf.roll(x, shift=[1, 1], axis=[0, 1])
tf.tile(x, [2])
tf.tile(x, (2, 1))
tf.tile(x, [i, 1])
tf.tile(x, tf.shape(y))
tf.repeat(x, 2)
tf.repeat(x, 2, axis=0)
tf.repeat(x, i, axis=-1)
tf.repeat(x, [1, 2], axis=0)
tf.pad(x, [[1, 1]])
tf.pad(x, [[1, 1], [0, 2]])
tf.pad(x, [[i, 1], [0, 2]])
tf.pad(x, [[0, 1]], constant_values=n)
tf.pad(f, tf.constant([[1, 1], [2, 2]]))
tf.pad(x, [[0, 0], [1, 1]], mode='REFLECT')
tf.broadcast_to(x, (2, 3))
tf.broadcast_to(x, [2, 1, 3])
tf.broadcast_to(x, tf.shape(y))
tf.concat([x, x], 0)
tf.concat([x, x], axis=-1)
tf.concat([x, y], 0)
tf.concat([x, y], axis=1)
tf.concat([x, [7]], 0)
tf.concat([x, x, x], axis=k)
tf.concat((f, g), i)
tf.stack([x, x])
tf.stack([x, x], axis=1)
tf.stack([x, y])
tf.stack([x, n])
tf.stack([n, m])
tf.stack((x, x, x), axis=-1)
tf.stack([x, x], axis=k)
tf.stack(x, axis=1)
tf.unstack(x, axis=1)
tf.unstack(x, num=2)
tf.unstack(x, 3, axis=-1)
tf.split(x, 3, axis=-1)
tf.split(x, 2)
tf.split(x, [1, 2], axis=-1)
tf.split(x, [1, -1], 1)
tf.split(x, num_or_size_splits=1, axis=k)
tf.gather(x, 0)
tf.gather(x, i)
tf.gather(x, j)
tf.gather(x, [0, 0], axis=-1)
tf.gather(x, y)
tf.gather(l, i)
tf.gather(x, j, axis=1)
tf.gather(x, j, batch_dims=1)
tf.gather_nd(x, [0])
tf.gather_nd(x, [[0, 0]])
tf.gather_nd(x, j)
tf.boolean_mask(x, c)
tf.boolean_mask(x, x > x)
tf.boolean_mask(x, [True, False])
tf.boolean_mask(x, [True, False], axis=0)
tf.boolean_mask(x, y)
tf.slice(x, [0], [1])
tf.slice(x, [0, 1], [1, 2])
tf.slice(x, [0, 0], [-1, 2])
tf.slice(x, [0, i], [1, i])
tf.where(c, x, x)
tf.where(c, x, n)
tf.where(c, n, x)
tf.where(c, n, m)
tf.where(c, x, y)
tf.where(x, y, y)
tf.where(c, v, n)
tf.where(x > 0, x, 0)
tf.where(c, a, x)
tf.sort(x, axis=0)
tf.sort(x, direction='DESCENDING')
tf.argsort(x, axis=k)
tf.searchsorted(x, y)
tf.searchsorted([1, 2, 3], [1])
tf.searchsorted(x, x, side='right', out_type=tf.int64)
tf.scatter_nd([[0], [1]], [1.0, 2.0], [3])
tf.scatter_nd([[0]], x, [4])
tf.tensor_scatter_nd_update(x, [[0]], [n])
tf.tensor_scatter_nd_update(f, [[0]], [1.0])
tf.tensor_scatter_nd_add(x, [[0, 0]], [1])
tf.dynamic_partition(x, [0, 1, 0], 2)
tf.dynamic_partition(x, j, 3)
tf.cumsum(x, axis=k)
tf.cumsum(x, axis=0, exclusive=True, reverse=True)
tf.clip_by_value(x, n, m)
tf.clip_by_value(x, 0.0, 1.0)
tf.clip_by_value(f, 0, 1)
tf.clip_by_value(f, g, g)
tf.clip_by_norm(x, 1.0)
tf.clip_by_norm(f, 1)
tf.clip_by_global_norm([f, g], 1.0)
tf.clip_by_global_norm([x, x], 1.0)
tf.linalg.global_norm([f, f])
tf.add_n([x, x])
tf.add_n([x, y])
tf.add_n([f, f, 1.0])
tf.math.scalar_mul(n, x)
tf.matmul(x, y)
tf.math.nextafter(f, g)
tf.math.nextafter(f, n)
tf.matmul(f, g)
tf.matmul(f, g, transpose_b=True)
tf.matmul(f, f, transpose_a=True)
tf.matmul(f, a)
tf.matmul(f, [[1.0], [2.0]])
tf.linalg.matvec(x, y)
tf.linalg.matvec(f, g)
tf.linalg.matvec(f, f, transpose_a=True)
tf.tensordot(f, g, 1)
tf.tensordot(x, x, 2)
tf.tensordot(f, g, axes=[[0], [0]])
tf.tensordot(f, g, axes=0)
tf.einsum('ij,jk->ik', f, g)
tf.einsum('ij,kj->ik', f, f)
tf.einsum('i,i->', x, x)
tf.einsum('ij->ji', x)
tf.einsum('...i,...i->...', f, f)
tf.linalg.solve(f, g)
tf.linalg.norm(f, axis=-1)
tf.linalg.band_part(x, 0, -1)
tf.linalg.cross(f, g)
tf.linalg.set_diag(f, g)
tf.linalg.eye(3)
tf.eye(2, 3)
tf.eye(i)
tf.eye(2, batch_shape=[3], dtype=tf.int32)
tf.math.top_k(x, 2)
tf.math.top_k(x, k=i)
tf.nn.top_k(f)
tf.math.in_top_k([0, 1], [[0.1, 0.9], [0.5, 0.5]], 1)
tf.math.confusion_matrix([0, 1], [1, 1], num_classes=2)
tf.math.segment_sum(x, [0, 0])
tf.math.segment_mean(f, [0, 1])
tf.math.segment_max(x, [0, 1])
tf.math.segment_prod(x, [0, 1])
tf.math.unsorted_segment_mean(f, [0, 1], 3)
tf.math.unsorted_segment_prod(x, [0, 1], 3)
tf.math.unsorted_segment_sqrt_n(f, [0, 1], 3)
tf.linalg.triangular_solve(f, g)
tf.tensor_scatter_nd_sub(x, [[0]], [1])
tf.tensor_scatter_nd_max(x, [[0, 0]], [1])
tf.math.unsorted_segment_sum(x, [0, 1], 3)
tf.math.unsorted_segment_max(x, j, num_segments=4)
tf.math.bincount([1, 1, 2])
tf.nn.moments(x, [0])
tf.math.accumulate_n([x, x])
tf.math.is_non_decreasing(x)
tf.math.is_strictly_increasing(x)
tf.math.invert_permutation([1, 0])
tf.histogram_fixed_width(f, [0.0, 2.0], nbins=5)
tf.linalg.eigvalsh(f)
tf.linalg.slogdet(f)
tf.linalg.normalize(f)
tf.linalg.normalize(x, axis=-1)
tf.linalg.cholesky_solve([[1.0, 0.0], [0.0, 1.0]], f)
tf.shape_n([x, y])
tf.identity_n([x, n])
tf.broadcast_static_shape(x.shape, y.shape)
tf.broadcast_dynamic_shape(tf.shape(x), tf.shape(y))
tf.as_dtype('float32')
tf.unravel_index(j, [2, 3])
tf.reverse_sequence(x, [1, 2], seq_axis=1)
tf.nest.flatten((x, {'b': 1, 'a': [n]}))
tf.nest.is_nested((x,))
tf.nn.moments(f, axes=[0], keepdims=True)
""")

NETWORKS = expressions("""
tf.keras.activations.relu(x)
tf.keras.activations.softmax(f)
tf.keras.activations.sigmoid(w)
tf.keras.activations.tanh(x)
tf.keras.activations.linear(x)
tf.keras.activations.gelu(f)
tf.keras.activations.exponential(x)
tf.keras.activations.elu(f)
tf.keras.activations.hard_sigmoid(f)
tf.keras.activations.leaky_relu(f)
tf.keras.activations.log_softmax(f)
tf.keras.activations.mish(f)
tf.keras.activations.relu6(f)
tf.keras.activations.selu(f)
tf.keras.activations.silu(f)
tf.keras.activations.softplus(f)
tf.keras.activations.softsign(f)
tf.keras.losses.KLD(f, f)
tf.keras.losses.MAPE(f, f)
tf.keras.losses.MSLE(f, f)
tf.keras.losses.logcosh(f, f)
tf.keras.losses.poisson(f, f)
tf.keras.losses.squared_hinge(f, f)
tf.nn.weighted_cross_entropy_with_logits(f, f, 2.0)
tf.nn.local_response_normalization(tf.ones((2, 8, 9, 3)))
tf.nn.avg_pool1d(tf.ones((2, 8, 3)), 2, 2, 'VALID')
tf.image.adjust_gamma(tf.ones((8, 9, 3)), 0.5)
tf.image.hsv_to_rgb(tf.ones((8, 9, 3)))
tf.image.random_contrast(tf.ones((8, 9, 3)), 0.1, 0.2)
tf.image.random_flip_up_down(tf.ones((2, 8, 9, 3)))
tf.image.random_hue(tf.ones((8, 9, 3)), 0.1)
tf.image.random_saturation(tf.ones((8, 9, 3)), 0.1, 0.2)
tf.image.stateless_random_brightness(tf.ones((8, 9, 3)), 0.1, (1, 2))
tf.image.stateless_random_contrast(tf.ones((8, 9, 3)), 0.1, 0.2, (1, 2))
tf.image.stateless_random_flip_up_down(tf.ones((8, 9, 3)), (1, 2))
tf.image.stateless_random_hue(tf.ones((8, 9, 3)), 0.1, (1, 2))
tf.image.stateless_random_saturation(tf.ones((8, 9, 3)), 0.1, 0.2, (1, 2))
tf.nn.softmax(x, axis=0)
tf.nn.softmax(f, axis=k)
tf.nn.leaky_relu(x, alpha=0.1)
tf.nn.bias_add(x, [1, 2, 3])
tf.nn.bias_add(f, g)
tf.nn.dropout(x, 0.5)
tf.nn.dropout(f, rate=0.5)
tf.nn.batch_normalization(f, 0.0, 1.0, None, None, 1e-3)
tf.nn.batch_normalization(f, g, g, g, g, 1e-3)
tf.nn.embedding_lookup(x, j)
tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=y)
tf.nn.sigmoid_cross_entropy_with_logits(labels=f, logits=g)
tf.nn.softmax_cross_entropy_with_logits(labels=x, logits=f)
tf.nn.softmax_cross_entropy_with_logits(labels=f, logits=f)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=f)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x)
tf.nn.conv2d(tf.ones((2, 8, 9, 3)), tf.ones((3, 3, 3, 4)), 1, 'SAME')
tf.nn.conv2d(tf.ones((2, 8, 9, 3)), tf.ones((3, 3, 3, 4)), strides=[1, 2, 2, 1], padding='VALID')
tf.nn.conv2d(tf.ones((2, 8, 9, 3)), tf.ones((3, 2, 3, 4)), 2, 'SAME')
tf.nn.conv2d(tf.ones((2, 8, 9, 3)), tf.ones((3, 3, 3, 4)), [2, 1], 'VALID', dilations=2)
tf.nn.conv2d(tf.ones((2, 8, 9, 3)), tf.ones((3, 3, 3, 4), tf.float64), 1, 'SAME')
tf.nn.conv2d(tf.ones((2, 8, 9, 3)), tf.ones((3, 3, 3, 4)), 1, [[0, 0], [1, 1], [1, 1], [0, 0]])
tf.nn.conv1d(tf.ones((2, 8, 3)), tf.ones((3, 3, 4)), 2, 'VALID')
tf.nn.conv1d(tf.ones((2, 8, 3)), tf.ones((3, 3, 4)), stride=1, padding='SAME')
tf.nn.conv3d(tf.ones((1, 4, 4, 4, 2)), tf.ones((2, 2, 2, 2, 3)), [1, 1, 1, 1, 1], 'SAME')
tf.nn.depthwise_conv2d(tf.ones((2, 8, 9, 3)), tf.ones((3, 3, 3, 2)), [1, 1, 1, 1], 'VALID')
tf.nn.conv2d_transpose(tf.ones((2, 4, 4, 3)), tf.ones((3, 3, 5, 3)), [2, 8, 8, 5], 2)
tf.nn.max_pool2d(tf.ones((2, 8, 9, 3)), 2, 2, 'SAME')
tf.nn.max_pool2d(tf.ones((2, 8, 9, 3)), ksize=3, strides=2, padding='VALID')
tf.nn.avg_pool2d(tf.ones((2, 8, 9, 3)), [1, 2, 2, 1], 1, 'VALID')
tf.nn.max_pool(tf.ones((2, 8, 9, 3)), 2, 2, 'VALID')
tf.nn.avg_pool(tf.ones((2, 8, 3)), 2, 2, 'SAME')
tf.nn.max_pool1d(tf.ones((2, 8, 3)), 2, 2, 'SAME')
tf.nn.space_to_depth(tf.ones((2, 4, 6, 3)), 2)
tf.nn.depth_to_space(tf.ones((2, 4, 6, 8)), 2)
tf.keras.losses.MSE(f, f)
tf.keras.losses.MSE(f, g)
tf.keras.losses.mse(x, f)
tf.keras.losses.mae(f, f)
tf.keras.losses.binary_crossentropy(f, f)
tf.keras.losses.categorical_crossentropy(f, f)
tf.keras.losses.sparse_categorical_crossentropy(j, f)
tf.keras.losses.huber(f, f)
tf.keras.losses.hinge(f, f)
tf.keras.losses.cosine_similarity(f, f)
tf.image.resize(tf.ones((2, 8, 9, 3)), [4, 5])
tf.image.resize(tf.ones((8, 9, 3), tf.uint8), (4, 5))
tf.image.resize(tf.ones((8, 9, 3), tf.uint8), (4, 5), method='nearest')
tf.image.resize(tf.ones((8, 9, 3)), (4, 5), preserve_aspect_ratio=True)
tf.image.resize(tf.ones((8, 9, 3), x.dtype), (4, i))
tf.image.flip_left_right(tf.ones((8, 9, 3), x.dtype))
tf.image.flip_up_down(tf.ones((2, 8, 9, 3)))
tf.image.random_flip_left_right(tf.ones((8, 9, 3)))
tf.image.rot90(tf.ones((8, 9, 3)))
tf.image.rot90(tf.ones((2, 8, 9, 3)), k=2)
tf.image.transpose(tf.ones((2, 8, 9, 3)))
tf.image.adjust_brightness(tf.ones((8, 9, 3)), 0.1)
tf.image.adjust_contrast(tf.ones((8, 9, 3), tf.uint8), 1.5)
tf.image.adjust_saturation(tf.ones((8, 9, 3)), 1.5)
tf.image.adjust_hue(tf.ones((8, 9, 3)), 0.1)
tf.image.random_brightness(tf.ones((8, 9, 3)), 0.1)
tf.image.random_crop(tf.ones((8, 9, 3)), [4, 5, 3])
tf.image.stateless_random_crop(tf.ones((8, 9, 3)), [4, 5, 3], seed=(1, 2))
tf.image.stateless_random_flip_left_right(tf.ones((8, 9, 3)), seed=(1, 2))
tf.image.rgb_to_grayscale(tf.ones((2, 8, 9, 3)))
tf.image.grayscale_to_rgb(tf.ones((8, 9, 1)))
tf.image.rgb_to_hsv(tf.ones((8, 9, 3)))
tf.image.crop_to_bounding_box(tf.ones((8, 9, 3)), 0, 0, 4, 5)
tf.image.pad_to_bounding_box(tf.ones((2, 8, 9, 3)), 0, 0, 10, 12)
tf.image.resize_with_crop_or_pad(tf.ones((8, 9, 3)), 10, 5)
tf.image.resize_with_pad(tf.ones((8, 9, 3)), 10, 5)
tf.image.convert_image_dtype(tf.ones((8, 9, 3), tf.uint8), tf.float32)
tf.image.per_image_standardization(tf.ones((8, 9, 3), tf.uint8))
tf.image.per_image_standardization(tf.ones((2, 8, 9, 3)))
tf.image.total_variation(tf.ones((2, 8, 9, 3)))
tf.image.psnr(tf.ones((2, 8, 9, 3)), tf.ones((2, 8, 9, 3)), 1.0)
tf.image.sobel_edges(tf.ones((2, 8, 9, 3)))
tf.image.image_gradients(tf.ones((2, 8, 9, 3)))
tf.image.non_max_suppression(tf.ones((3, 4)), [0.1, 0.2, 0.3], 2)
tf.image.crop_and_resize(tf.ones((2, 8, 9, 3)), tf.ones((5, 4)), [0, 0, 0, 1, 1], [3, 4])
""")

OTHERS = expressions("""
tf.strings.join([s, 'a'])
tf.strings.join([s, s], separator=' ')
tf.strings.join(['a', 'b'])
tf.strings.join([x, s])
tf.strings.regex_replace(s, 'a', 'b')
tf.strings.regex_full_match(s, '[0-9]')
tf.strings.substr(s, 0, 1)
tf.strings.to_number(s, tf.int32)
tf.strings.to_number(x)
tf.strings.as_string(x)
tf.strings.as_string(f, precision=2)
tf.strings.split(s)
tf.strings.reduce_join(s, axis=0)
tf.strings.reduce_join(s, axis=-1, keepdims=True)
tf.strings.format('{}', x)
tf.strings.format('{} {}', (x, y))
tf.strings.to_hash_bucket_fast(s, 10)
tf.strings.to_hash_bucket_strong(s, 10, [1, 2])
tf.strings.unicode_decode(s, 'UTF-8')
tf.strings.bytes_split(s)
tf.io.decode_raw(s, tf.uint8)
tf.io.encode_png(tf.ones((8, 9, 3), tf.uint8))
tf.io.decode_png(tf.io.encode_png(tf.ones((8, 9, 3), tf.uint8)))
tf.io.decode_image(tf.io.encode_png(tf.ones((8, 9, 3), tf.uint8)))
tf.io.decode_image(tf.io.encode_png(tf.ones((8, 9, 3), tf.uint8)), channels=3, expand_animations=False)
tf.io.decode_jpeg(tf.io.encode_jpeg(tf.ones((8, 9, 3), tf.uint8)), channels=3)
tf.io.parse_tensor(tf.io.serialize_tensor(f), f.dtype)
tf.io.serialize_tensor(x)
tf.io.encode_base64('a')
tf.signal.fft(tf.cast(f, tf.complex64))
tf.signal.rfft(f)
tf.signal.irfft(tf.cast(f, tf.complex64))
tf.signal.hann_window(5)
tf.io.decode_base64('YQ')
tf.signal.ifft(tf.cast(f, tf.complex64))
tf.signal.fft2d(tf.cast(f, tf.complex64))
tf.signal.ifftshift(f)
tf.signal.hamming_window(5)
tf.RaggedTensor.from_row_starts([1, 2, 3], [0, 1])
tf.RaggedTensor.from_row_limits([1, 2, 3], [1, 3])
tf.random.experimental.stateless_shuffle(x, seed=(1, 2))
tf.random.Generator.from_non_deterministic_state()
tf.debugging.assert_near(f, f)
tf.debugging.assert_all_finite(f, 'message')
tf.debugging.assert_integer(1)
tf.debugging.assert_scalar(i)
tf.debugging.assert_type(f, f.dtype)
tf.debugging.assert_rank_in(f, [0, 1, 2, 3])
tf.debugging.assert_rank_at_least(f, 0)
tf.debugging.assert_none_equal(f, f + 1)
tf.debugging.assert_non_negative(f)
tf.debugging.assert_negative(-f)
tf.debugging.assert_less_equal(f, f)
tf.debugging.assert_greater_equal(f, f)
tf.config.list_physical_devices()
tf.inside_function()
tf.keras.Sequential()
tf.debugging.assert_shapes([(f, f.shape)])
tf.constant_initializer(1.0)
tf.group()
tf.data.Dataset.choose_from_datasets([tf.data.Dataset.range(3)], tf.data.Dataset.range(1))
tf.data.Dataset.sample_from_datasets([tf.data.Dataset.range(3), tf.data.Dataset.range(3)])
tf.ragged.constant([[1], [2, 3]])
tf.ragged.constant([[1.0], [], [2, 3]])
tf.ragged.constant([[1], [2, 3]], dtype=tf.int64)
tf.ragged.stack([[1], [2, 3]])
tf.RaggedTensor.from_row_lengths([1, 2, 3], [1, 2])
tf.RaggedTensor.from_row_splits(f, [0, 2])
tf.SparseTensor([[0, 0]], [1.0], [2, 3])
tf.sparse.from_dense(x)
tf.sparse.to_dense(tf.sparse.from_dense(f))
tf.sparse.reorder(tf.sparse.from_dense(f))
tf.sparse.sparse_dense_matmul(tf.sparse.from_dense(f), g)
tf.random.uniform((2, 3))
tf.random.uniform([2], 0, 10, tf.int32)
tf.random.uniform([2], dtype=tf.int32)
tf.random.uniform([], maxval=5, dtype=tf.int64)
tf.random.uniform(tf.shape(x))
tf.random.uniform((i, 2), minval=-1.0, maxval=1.0)
tf.random.normal((2, 3), 1.0, 2.0)
tf.random.normal((2,), dtype=tf.float64)
tf.random.normal((2,), dtype=tf.int32)
tf.random.truncated_normal([2, 2])
tf.random.gamma([3], f)
tf.random.gamma([3], 0.5, 1.5)
tf.random.poisson([3], f)
tf.random.categorical(tf.ones((2, 3)), 4)
tf.random.categorical(tf.ones((2, 3)), i, dtype=tf.int32)
tf.random.shuffle(x)
tf.random.stateless_uniform((2, 3), seed=(1, 2))
tf.random.stateless_uniform((2,), (1, 2), 0, 5, tf.int32)
tf.random.stateless_normal((2, 3), seed=[1, 2])
tf.random.stateless_truncated_normal((2, 3), (1, 2))
tf.random.stateless_categorical(tf.ones((2, 3)), 4, (1, 2))
tf.random.stateless_gamma([2, 3], (1, 2), 1.5)
tf.random.stateless_poisson([2, 3], (1, 2), 1.5, tf.float32)
tf.signal.fftshift(f)
tf.strings.unicode_script([97])
tf.random.split((1, 2), 3)
tf.random.fold_in((1, 2), 3)
tf.random.Generator.from_seed(1)
tf.random.Generator.from_seed(1).uniform((2, 3))
tf.random.Generator.from_seed(1).uniform([2], maxval=5, dtype=tf.int32)
tf.random.Generator.from_seed(1).normal((2,), dtype=tf.float64)
tf.random.Generator.from_seed(1).make_seeds(2)
tf.random.Generator.from_seed(1).split(2)
tf.random.set_seed(1)
tf.Variable(w)
tf.Variable(n, dtype=tf.float32)
tf.Variable(x, dtype=tf.float32)
tf.Variable(l, trainable=False, name='v')
tf.Variable(f, shape=None)
tf.Variable([1.0], shape=(1,))
tf.TensorShape([2, None])
tf.TensorShape(None)
tf.TensorShape((2, 3)) == x.shape
tf.TensorArray(tf.float32, size=3)
tf.TensorArray(x.dtype, 0, dynamic_size=True, element_shape=(3,))
tf.GradientTape()
tf.GradientTape(persistent=True)
tf.TensorSpec([None], tf.float32)
tf.Module()
tf.keras.optimizers.Adam(1e-3)
tf.optimizers.SGD(learning_rate=0.1)
tf.keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)
tf.keras.layers.Dense(3)
tf.keras.metrics.Mean()
tf.keras.losses.MeanSquaredError()
tf.keras.initializers.GlorotUniform()
tf.data.Dataset.range(5)
tf.data.Dataset.range(1, 10, 2)
tf.data.Dataset.range(5, output_type=tf.int32)
tf.data.Dataset.from_tensor_slices((x, {'a': f}))
tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4]])
tf.data.Dataset.from_tensors((x, n))
tf.data.Dataset.zip((tf.data.Dataset.range(3), tf.data.Dataset.from_tensor_slices([1.0])))
tf.data.Dataset.zip(tf.data.Dataset.range(3), tf.data.Dataset.range(3))
tf.print(x)
tf.print('a', x, 1)
tf.debugging.assert_equal(1, 1)
tf.debugging.assert_positive(tf.constant(1))
tf.debugging.Assert(tf.constant(True), [x])
tf.debugging.check_numerics(x, 'message')
tf.timestamp()
tf.executing_eagerly()
tf.no_op()
tf.float32
tf.int64
tf.newaxis
tf.double
tf.reduce_sum()
tf.reduce_sum(x, bogus=1)
tf.reduce_sum(x, 0, True, None, 5)
tf.zeros(shape=(2,), dtype=tf.dtypes.float64)
tf.math.add(x, y)
tf.math.reduce_sum(x)
""")
BY_VALUE = (
    "invert_permutation",
    "unravel",
    "reverse_sequence",
    "dynamic_shape",
    "slogdet",
    "eigvalsh",
    "sparse_categorical",
    "searchsorted",
    "tf.shape(y)",
    "[2, i, -1]",
    "from_row",
    ", i)",
    "...i,",
    "gather",
    "slice",
    "inv(",
    "cholesky",
    "solve",
    "solve(",
    "expm",
    "scatter",
    "segment",
    "bincount",
    "floormod",
    "floordiv",
    "truncate",
    "gather_nd",
    "sparse_softmax",
    "to_number",
    "partition",
    "eigh",
    "svd",
    "zeros((2, k",
    "reshape(x, [k",
    "range(i, 5",
    "axis=i",
    "axis=k",
    "embedding",
)


def may_raise_by_value(text: str) -> bool:
    return any(part in text for part in BY_VALUE)


@pytest.mark.parametrize("text", [*REDUCTIONS, *FORMS, *NETWORKS, *OTHERS])
def test_calls(text: str) -> None:
    assert problems(text, by_value=may_raise_by_value(text)) == []


TRACED = [
    *(f"{name}(x)" for name in UNARY if name != "tf.Variable"),
    *(f"{name}(x, y)" for name in BINARY),
    *REDUCTIONS,
    *FORMS,
    *(
        text
        for text in (*NETWORKS, *OTHERS)
        if "Variable" not in text and "keras" not in text
    ),
]


def test_tracing() -> None:
    assert [problem for text in TRACED for problem in traces(text)] == []


def test_effects() -> None:
    texts = [f"{name}(w)" for name in UNARY]
    assert [
        p for text in [*texts, *FORMS, *NETWORKS, *OTHERS] for p in impure(text)
    ] == []


def test_what_is_pure_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    for text in [*(f"{name}(f)" for name in UNARY), *FORMS, *NETWORKS, *OTHERS]:
        env = next(cases(text, 1))
        evaluation = Evaluation({name: kind_of(value) for name, value in env.items()})
        try:
            evaluation(text)
        except (Missing, Fails):
            continue
        if "stdout" not in evaluation.effects:
            attempt(text, env)
    printed = capfd.readouterr()
    assert "".join(printed.out.split()) == ""


# ---- names


def test_names_are_those_of_the_installed_tensorflow() -> None:
    path = Path(__file__).parents[2] / "tools" / "tensorflow_names.py"
    spec = importlib.util.spec_from_file_location("tensorflow_names_tool", path)
    assert spec and spec.loader
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.collect() == tensorflow_names.data()


@pytest.mark.parametrize("name", sorted(tensorflow_api.RULES))
def test_rules_are_of_canonical_names(name: str) -> None:
    full = f"tensorflow.{name}"
    assert tensorflow_api.canonical(full) == full
    assert tensorflow_names.signature(full) is not None


@pytest.mark.parametrize("name", sorted(tensorflow_api.RULES))
def test_rules_take_anything(name: str) -> None:
    """No rule fails of itself, whatever it is given."""
    for count in range(5):
        for first in ODD_KINDS:
            for other in ODD_KINDS[:: 1 if count == 2 else 4]:
                tensorflow_api.call(
                    f"tensorflow.{name}", [first, *[other] * (count - 1)][:count], {}
                )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tensorflow.math.reduce_sum", "tensorflow.reduce_sum"),
        ("tensorflow.optimizers.Adam", "tensorflow.keras.optimizers.Adam"),
        ("keras.optimizers.Adam", "tensorflow.keras.optimizers.Adam"),
        ("keras.src.optimizers.adam.Adam", "tensorflow.keras.optimizers.Adam"),
        ("tensorflow.nn.tanh", "tensorflow.tanh"),
        ("tensorflow.data.Dataset.range", "tensorflow.data.Dataset.range"),
        ("tensorflow.compat.v1.placeholder", None),
        ("tensorflow.bogus", None),
        ("numpy.exp", None),
    ],
)
def test_canonical(name: str, expected: str | None) -> None:
    assert tensorflow_api.canonical(name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tensorflow.float32", Python("dtype", "float32")),
        ("tensorflow.dtypes.double", Python("dtype", "float64")),
        ("tensorflow.newaxis", NONE),
        ("tensorflow.nn", Module("tensorflow.nn")),
        (
            "tensorflow.errors.InvalidArgumentError",
            Type("tensorflow.errors.InvalidArgumentError"),
        ),
        ("tensorflow.data.AUTOTUNE", python(-1)),
        ("tensorflow.image.ResizeMethod.BILINEAR", python("bilinear")),
        (
            "tensorflow.UnconnectedGradients.ZERO",
            Object("tensorflow.UnconnectedGradients"),
        ),
        ("tensorflow.reduce_sum", None),
        ("tensorflow.Variable", None),
    ],
)
def test_constants(name: str, expected: Kind | None) -> None:
    assert tensorflow_api.constant(name) == expected


def test_unions_are_known_where_every_member_is() -> None:
    mixed = parse("float | tensor(float32, 2)")
    found = tensorflow_api.call("tensorflow.abs", [mixed], {})
    assert found is not None and found.kind == parse("tensor(float32, ...)")
    assert (
        tensorflow_api.call("tensorflow.abs", [parse("str | tensor(float32)")], {})
        is None
    )


@given(
    st.lists(st.integers(1, 6), max_size=4),
    st.lists(st.integers(1, 6), max_size=4),
    st.sets(st.integers(0, 3)),
)
@settings(max_examples=200, deadline=None)
def test_broadcast_of_shapes(a: list[int], b: list[int], lost: set[int]) -> None:
    known = tuple(None if n in lost else size for n, size in enumerate(a))
    try:
        expected: tuple[int, ...] | None = np.broadcast_shapes(tuple(a), tuple(b))
    except ValueError:
        expected = None
    try:
        found = values.broadcast(known, tuple(b))
    except Raises:
        assert expected is None
        return
    assert found is not None
    assert expected is None or all(
        x in (None, y) for x, y in zip(found, expected, strict=True)
    )
    assert expected is not None or lost


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=3),
    st.lists(
        st.tuples(
            *[st.none() | st.integers(-7, 7)] * 2, st.none() | st.integers(-3, 3)
        ),
        max_size=3,
    ),
)
@settings(max_examples=200, deadline=None)
def test_slices(
    shape: list[int], slices: list[tuple[int | None, int | None, int | None]]
) -> None:
    value = tf.zeros(shape)
    index = Sequence(
        "tuple", tuple(Sequence("slice", tuple(map(python, s))) for s in slices)
    )
    found = subscript(Tensor("float32", tuple(shape)), index)
    assert found is not None
    try:
        expected = value[tuple(slice(*s) for s in slices)]
    except Exception:
        assert found.error
        return
    assert found.kind == Tensor("float32", tuple(expected.shape))
