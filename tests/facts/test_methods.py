"""Attributes and methods give what eager Python, NumPy and TensorFlow give."""

from __future__ import annotations

import re

import pytest
import tensorflow as tf
from facts.expressions import (
    ODD_KINDS,
    Evaluation,
    admits,
    impure,
    kind_of,
    problems,
    run,
)

from graphlift.transforms.facts.kind_notation import parse
from graphlift.transforms.facts.kinds import Kind, Object
from graphlift.transforms.facts.methods import attribute, method
from graphlift.transforms.facts.operators import Truth, binary, iterate, truth

pytestmark = pytest.mark.filterwarnings("ignore")

TENSORS = """
x.shape
x.dtype
x.ndim
x.device
x.name
x.op
x.T
x.numpy()
x.get_shape()
x.set_shape((2, 3))
x.set_shape([None, 3])
x.item()
x.astype('int32')
x.reshape([1])
x.cpu()
x.eval()
x.shape.rank
x.shape.ndims
x.shape.as_list()
x.shape.num_elements()
x.shape.concatenate([2])
x.dtype.name
x.dtype.is_floating
x.dtype.is_integer
x.dtype.is_bool
x.dtype.size
"""
VARIABLES = """
v.shape
v.dtype
v.name
v.trainable
v.device
v.op
v.numpy()
v.value()
v.read_value()
v.get_shape()
v.is_initialized()
v.assign(n)
v.assign(x)
v.assign(a)
v.assign(v)
v.assign_add(n)
v.assign_add(x)
v.assign_sub(f)
v.assign(v, read_value=False)
v.scatter_nd_update([[0]], [n])

"""
ARRAYS = """
a.shape
a.dtype
a.ndim
a.size
a.T
a.nbytes
a.sum()
a.sum(axis=0)
a.sum(axis=-1, keepdims=True)
a.sum(1)
a.mean()
a.mean(axis=0)
a.std()
a.max()
a.max(axis=k)
a.min(0)
a.prod()
a.any()
a.all(axis=0)
a.argmax()
a.argmax(axis=0)
a.astype('float32')
a.astype(np.int64)
a.astype(x.dtype.name)
a.reshape(-1)
a.reshape(3, -1)
a.reshape((-1, 1))
a.reshape([1, -1])
a.flatten()
a.ravel()
a.copy()
a.transpose()
a.tolist()
a.item()
a[0].item()
"""
PYTHON = """
[1, 2].append(n)
[1, 2].extend([n])
[1, 2].insert(0, n)
[1, x].pop()
[1, x].pop(0)
[1, x].pop(5)
[].pop()
l.pop()
l.copy()
l.index(1)
l.count(1)
l.reverse()
l.clear()
(1, 2).index(1)
(1, 2).count(n)
{'a': 1, 'b': x}.keys()
{'a': 1, 'b': x}.values()
{'a': 1, 'b': x}.items()
{'a': 1, 'b': x}.get('a')
{'a': 1, 'b': x}.get('c')
{'a': 1, 'b': x}.get('c', n)
{'a': 1, 'b': x}.pop('b')
{'a': 1, 'b': x}.pop('c')
{'a': 1, 'b': x}.pop('c', n)
{'a': 1}.update({'b': 2})
{'a': 1}.copy()
{1, 2}.add(3)
'abc'.upper()
'a,b'.split(',')
'{}'.format(n)
'-'.join(['a', 'b'])
'abc'.startswith('a')
'abc'.find('c')
'abc'.encode()
b'abc'.decode()
'abc'.replace('a', 'b')
(1.5).is_integer()
"""
ARRAYS_OF_TENSORS = """
tf.TensorArray(tf.float32, 2).write(0, [1.0, 2.0])
tf.TensorArray(tf.float32, 2).write(0, f)
tf.TensorArray(tf.float32, 2).write(0, x)
tf.TensorArray(tf.float32, 2).write(0, n)
tf.TensorArray(tf.int32, 2).write(i, 1)
tf.TensorArray(f.dtype, 2).write(0, f).write(1, f).stack()
tf.TensorArray(f.dtype, 2).write(0, f).write(1, f).concat()
tf.TensorArray(f.dtype, 2).write(0, f).write(1, g)
tf.TensorArray(f.dtype, 1).write(0, f).read(0)
tf.TensorArray(f.dtype, 1).write(0, f).size()
tf.TensorArray(f.dtype, 1).write(0, f).gather([0, 0])
tf.TensorArray(f.dtype, 3).unstack(f)
tf.TensorArray(f.dtype, 3).unstack(f).stack()
tf.TensorArray(f.dtype, 3).unstack(f).read(0)
tf.TensorArray(f.dtype, 0, dynamic_size=True).scatter([0], [f]).stack()
tf.TensorArray(f.dtype, 1).dtype
tf.TensorArray(f.dtype, 1).write(value=f, index=0).identity()
"""
DATASETS = """
tf.data.Dataset.range(5).batch(2)
tf.data.Dataset.range(5).batch(2, drop_remainder=True)
tf.data.Dataset.range(5).batch(i)
tf.data.Dataset.range(5).batch(n)
tf.data.Dataset.range(5).batch(2).unbatch()
tf.data.Dataset.range(5).batch(2).take(1).skip(1).repeat(2).prefetch(1).cache()
tf.data.Dataset.range(5).shuffle(3)
tf.data.Dataset.range(5).enumerate()
tf.data.Dataset.range(5).concatenate(tf.data.Dataset.range(3))
tf.data.Dataset.range(5).padded_batch(2)
tf.data.Dataset.from_tensors(x).batch(2)
tf.data.Dataset.from_tensors((x, {'a': f})).batch(2)
tf.data.Dataset.from_tensors((x, n)).enumerate()
tf.data.Dataset.from_tensor_slices(x).batch(2, True)
tf.data.Dataset.from_tensor_slices((f, f)).padded_batch(2)
tf.data.Dataset.range(5).shard(2, 0)
tf.data.Dataset.range(5).cardinality()
tf.data.Dataset.range(1).get_single_element()
tf.data.Dataset.range(5).as_numpy_iterator()
"""
OBJECTS = """
tf.random.Generator.from_seed(1).uniform((2, i))
tf.random.Generator.from_seed(1).uniform((2,), dtype=tf.int32)
tf.random.Generator.from_seed(1).truncated_normal([2])
tf.random.Generator.from_seed(1).uniform_full_int([2])
tf.random.Generator.from_seed(1).state
tf.keras.metrics.Mean().update_state(1.0)
tf.keras.metrics.Mean().reset_state()
tf.keras.metrics.Mean().name
tf.keras.metrics.Mean().result()
tf.keras.metrics.Mean()(2.0)
tf.keras.metrics.Sum().result()
tf.keras.metrics.SparseCategoricalAccuracy()([1], [[0.1, 0.9]])
tf.keras.metrics.AUC().result()
tf.keras.metrics.Precision().result()
tf.keras.losses.MeanSquaredError()(tf.ones((2, 3)), tf.ones((2, 3)))
tf.keras.losses.BinaryCrossentropy(reduction='none')(tf.ones((2, 3)), tf.ones((2, 3)))
tf.keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)(1)
tf.keras.optimizers.SGD(0.1).learning_rate
tf.keras.optimizers.SGD(0.1).iterations
tf.keras.optimizers.SGD(0.1).apply_gradients([(f, tf.Variable(f))])
tf.keras.optimizers.SGD(0.1).apply([f], [tf.Variable(f)])
tf.keras.optimizers.SGD(0.1).name
tf.SparseTensor([[0, 0]], [1.0], [2, 3]).values
tf.SparseTensor([[0, 0]], [1.0], [2, 3]).indices
tf.SparseTensor([[0, 0]], [1.0], [2, 3]).dense_shape
tf.SparseTensor([[0, 0]], [1.0], [2, 3]).shape
tf.ragged.constant([[1], [2, 3]]).shape
tf.ragged.constant([[1], [2, 3]]).dtype
"""
TEXTS = [
    line
    for group in (
        TENSORS,
        VARIABLES,
        ARRAYS,
        PYTHON,
        ARRAYS_OF_TENSORS,
        DATASETS,
        OBJECTS,
    )
    for line in group.split("\n")
    if line
]
BY_VALUE = ("index", "count", "scatter", "item()", "shard", "full_int", "batch(n)")


@pytest.mark.parametrize("text", TEXTS)
def test_members(text: str) -> None:
    assert problems(text, by_value=any(part in text for part in BY_VALUE)) == []


@pytest.mark.parametrize("text", [t for t in TEXTS if "numpy" not in t])
def test_effects(text: str) -> None:
    assert impure(text) == []


GRADIENTS = [
    ("tape.gradient(y, v)", "tensor(float32, 3)"),
    ("tape.gradient(y, [v, v])", "list(tensor(float32, 3), tensor(float32, 3))"),
    ("tape.gradient(y, (v,))", "tuple(tensor(float32, 3))"),
    ("tape.gradient(y, {'a': v})", "dict(a=tensor(float32, 3))"),
    ("tape.jacobian(y, v)", "tensor(float32, 3, 3)"),
    (
        "tape.batch_jacobian(tf.reshape(y, (1, 3)), tf.reshape(v, (1, 3)))",
        "tensor(float32, 1, 3, 3)",
    ),
]


@pytest.mark.parametrize(("text", "expected"), GRADIENTS)
def test_gradients(text: str, expected: str) -> None:
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(v)
        y = v * v
    names = {
        "tape": Object("tensorflow.GradientTape"),
        "v": kind_of(v),
        "y": kind_of(y),
    }
    kind = Evaluation(names)(text)
    assert str(kind) == expected
    if "batch" not in text:
        assert admits(kind, run(text, {"tape": tape, "v": v, "y": y}))


ITERATED = [
    "tf.data.Dataset.range(5)",
    "tf.data.Dataset.range(5).batch(2)",
    "tf.data.Dataset.from_tensors((tf.ones(3), 'a')).enumerate()",
    "tf.data.Dataset.from_tensor_slices({'a': [1.0, 2.0]})",
    "tf.ones((2, 3))",
    "tf.Variable([1.0, 2.0])",
    "np.ones((2, 3))",
    "[1, 2]",
    "(1, 'a')",
    "{'a': 1}",
    "{'a': 1}.items()",
    "'ab'",
    "tf.ones((2, 3)).shape",
    "tf.ragged.constant([[1], [2, 3]])",
]


@pytest.mark.parametrize("text", ITERATED)
def test_iteration(text: str) -> None:
    value = run(text, {})
    kind = kind_of(value) if text.startswith("np.") else Evaluation({})(text)
    element = iterate(kind)
    assert element is not None
    assert all(admits(element, one) for one in value)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("None", Truth.FALSE),
        ("int", Truth.HOST),
        ("tensor(bool)", Truth.TENSOR),
        ("tensor(float32, 2)", Truth.RAISES),
        ("tensor(float32, None)", Truth.TENSOR),
        ("tensor(float32, 1, 1)", Truth.TENSOR),
        ("weak(bool)", Truth.TENSOR),
        ("size", Truth.TENSOR),
        ("array(float32, 2)", Truth.RAISES),
        ("scalar(float32)", Truth.HOST),
        ("list(int)", Truth.TRUE),
        ("list()", Truth.FALSE),
        ("list[int]", Truth.HOST),
        ("function(f)", Truth.TRUE),
        ("None | function(f)", Truth.HOST),
        ("None | tensor(bool)", Truth.UNKNOWN),
        ("unknown", Truth.UNKNOWN),
    ],
)
def test_truth(kind: str, expected: Truth) -> None:
    assert truth(parse(kind)) is expected


WEAK = [
    ("add", "weak(int)", "int", "weak(int)"),
    ("add", "weak(int)", "float", "weak(float)"),
    ("add", "weak(int)", "tensor(float32, 2)", "tensor(float32, 2)"),
    ("mult", "tensor(int64)", "weak(int)", "tensor(int64)"),
    ("div", "weak(int)", "int", "weak(float)"),
    ("floordiv", "weak(int)", "int", "weak(int)"),
    ("sub", "size", "int", "weak(int)"),
    ("add", "weak(bool)", "int", "weak(int)"),
    ("add", "weak(float)", "tensor(int32)", "error"),
    ("add", "weak(str)", "str", "weak(str)"),
]


@pytest.mark.parametrize(("op", "left", "right", "expected"), WEAK)
def test_weak_numbers(op: str, left: str, right: str, expected: str) -> None:
    found = binary(op, parse(left), parse(right))
    assert found is not None
    assert ("error" if found.error else str(found.kind)) == expected


RECEIVERS = [
    *ODD_KINDS,
    *map(
        parse,
        (
            "tensorarray(float32, ...)",
            "iterator(tensor(int64))",
            "object(tensorflow.GradientTape)",
            "object(tensorflow.random.Generator)",
            "object(tensorflow.keras.optimizers.Adam)",
            "object(tensorflow.keras.metrics.Mean)",
            "str",
            "dtype",
            "shape(int, size)",
            "set[int]",
            "dict[str, int]",
            "sparse(float32, 2, None)",
        ),
    ),
]
NAMES = sorted(
    {word for text in TEXTS for word in re.findall(r"\.([a-z_]+)", text)}
    | {
        "gradient",
        "jacobian",
        "batch_jacobian",
        "watch",
        "get_next",
        "map",
        "reduce",
        "filter",
    }
)


@pytest.mark.parametrize("receiver", RECEIVERS, ids=str)
def test_members_take_anything(receiver: Kind) -> None:
    for name in NAMES:
        attribute(receiver, name)
        method(receiver, name, [], {})
        for one in ODD_KINDS:
            method(receiver, name, [one], {})
            method(receiver, name, [one, one], {"axis": one})
