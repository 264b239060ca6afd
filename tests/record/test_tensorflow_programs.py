"""What a profile says of functions that use TensorFlow, Keras and NumPy: one run, many programs."""

import json
import sys

import numpy as np
import pytest

pytest.importorskip("tensorflow")

TENSORS = """
import numpy as np
import tensorflow as tf

SCALE = tf.constant([2.0])
BUFFER = np.zeros(2)


def branch(x, k):
    if tf.reduce_sum(x) > k and k > 0:
        return x * k
    return tf.cast(x, tf.float64)


def grow(n):
    rows = tf.zeros((0, 2))
    total = 0
    for i in tf.range(n):
        rows = tf.concat([rows, tf.ones((1, 2))], 0)
        total = total + i
    return rows, total


def numbers(a, s, w):
    global SCALE
    SCALE = SCALE + 1.0
    BUFFER[0] += 1
    return SCALE * w + a * s


def kinds(*values):
    return values[0]


def draws():
    np.random.rand()
    return tf.random.normal((2,))


def generator(g):
    return g.normal((2,))


def shuffled(ds):
    return ds.shuffle(3)


def text(s):
    if s == b"a":
        return tf.strings.upper(s)
    return s


def samples(x, options, flag=True, *, name="n"):
    options["k"].append(1)
    return x


def big(x):
    return x


for size in (3, 4):
    branch(tf.ones(size), 1), branch(tf.ones(size), 5.0)
    grow(size)
numbers(np.ones(2, np.float32), np.float32(2), tf.Variable([1.0, 2.0]))
numbers(np.ones(2, np.float32), np.float32(2), tf.Variable([1.0, 2.0]))
kinds(
    tf.ragged.constant([[1], [2, 3]]),
    tf.sparse.from_dense([0.0, 1.0]),
    tf.TensorArray(tf.float32, 2).write(0, [1.0]),
    tf.data.Dataset.from_tensor_slices({"a": [1], "b": [2.0]}).batch(2),
    tf.constant("t"),
    tf.TensorShape([1, None]),
    tf.int32,
    [tf.ones(2)] * 9,
)
draws(), generator(tf.random.Generator.from_seed(1)), shuffled(tf.data.Dataset.range(3))
text(tf.constant([b"a"])[0]), text(tf.constant("b"))
for i in range(4):
    samples(tf.ones(2) * i, {"k": [np.array(i)]}, name=None)
samples(tf.constant(["x", "y"]), {"k": [float("nan")]})
samples(object(), {"k": []})
big(tf.ones((1 << 18) + 1)), big(tf.ones(4))
"""

GRAPHS = """
import tensorflow as tf


class Step(tf.Module):
    def __init__(self):
        self.w = tf.Variable(2.0)

    @tf.function
    def __call__(self, x):
        return inner(x) * self.w


def inner(x, k=2):
    if tf.reduce_sum(x) > 0:
        return x * k
    return x


@tf.function(autograph=False, input_signature=[tf.TensorSpec([None, 2])])
def plain(x):
    y = x + 1.0
    return y


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(3)
        self.scale = self.add_weight(shape=(3,), name="scale")

    def call(self, x, training=False):
        y = self.dense(x) * self.scale
        return y


def build(x):
    return Net()(x)


Step()(tf.ones(3))
plain(tf.ones((2, 2))), plain(tf.ones((3, 2)))
net = Net()
net.compile("sgd", "mse")
net.fit(tf.ones((8, 2)), tf.ones((8, 3)), batch_size=4, verbose=0)
build(tf.keras.Input((2,)))
"""


@pytest.fixture(scope="module")
def functions(shared):
    shared.write("tensors.py", TENSORS)
    shared.write("graphs.py", GRAPHS)
    shared.write("program.py", "import tensors, graphs\n")
    done = shared.record(sys.executable, "program.py", CUDA_VISIBLE_DEVICES="-1")
    assert done.returncode == 0, done.stderr
    return shared.functions


def test_shapes_are_joined(functions):
    entry = functions["tensors.py::branch"]
    assert entry["parameters"] == {"x": "tensor(float32, None)", "k": "float | int"}
    assert entry["returns"] == "tensor(float32, None) | tensor(float64, None)"
    assert entry["callers"] == ["tensors.py::<module>"]


def test_leaves_are_tensors_or_python(functions):
    assert functions["tensors.py::branch"]["tests"] == {
        "1:7": {"kind": "tensor(bool)", "true": 2, "false": 2},
        "1:32": {"kind": "bool", "true": 2, "false": 0},
    }


def test_shapes_that_grow_in_a_loop(functions):
    loop = functions["tensors.py::grow"]["loops"]["3:4"]
    assert loop == {
        "iterable": "tensor(int32, None)",
        "trips": [3, 4],
        "names": {
            "rows": ["tensor(float32, 0, 2)", "tensor(float32, None, 2)"],
            "total": ["int", "tensor(int32)"],
        },
    }


def test_numbers_arrays_variables_and_globals(functions):
    entry = functions["tensors.py::numbers"]
    assert entry["parameters"] == {
        "a": "array(float32, 2)",
        "s": "scalar(float32)",
        "w": "variable(float32, 2)",
    }
    assert entry["globals"] == {
        "SCALE": "tensor(float32, 1)",
        "BUFFER": "array(float64, 2)",
    }
    assert entry["changed"] == ["BUFFER", "SCALE"]


def test_kinds_of_tensorflow(functions):
    assert functions["tensors.py::kinds"]["parameters"]["values"] == (
        "tuple(ragged(int32, 2, None), sparse(float32, 2), tensorarray(float32, 1), "
        "dataset(dict(a=tensor(int32, None), b=tensor(float32, None))), tensor(string), "
        "shape(int, size), dtype, list[tensor(float32, 2)])"
    )


def test_random_draws(functions):
    assert functions["tensors.py::draws"]["random"] == ["numpy", "tf"]
    assert functions["tensors.py::generator"]["random"] == ["tf"]
    assert functions["tensors.py::shuffled"]["random"] == ["tf"]


def test_strings(functions):
    entry = functions["tensors.py::text"]
    assert entry["tests"] == {"1:7": {"kind": "tensor(bool)", "true": 1, "false": 1}}


def test_graphs_are_recorded_while_traced(functions):
    entry = functions["graphs.py::plain"]
    assert entry["parameters"] == {"x": "tensor(float32, None, 2)"}
    assert entry["names"] == {"2:4:y": "tensor(float32, None, 2)"} or entry[
        "names"
    ] == {"1:4:y": "tensor(float32, None, 2)"}
    assert entry["calls"] == 1


def test_functions_that_autograph_converts_are_recorded_from_outside(functions):
    assert functions["graphs.py::Step.__call__"]["parameters"] == {
        "self": "object(graphs.Step)",
        "x": "tensor(float32, 3)",
    }
    assert functions["graphs.py::inner"]["parameters"] == {
        "x": "tensor(float32, 3)",
        "k": "int",
    }
    assert functions["graphs.py::inner"]["returns"] == "tensor(float32, 3)"


def test_symbolic_builds_of_keras_are_left_out(functions):
    assert "graphs.py::build" not in functions
    entry = functions["graphs.py::Net.call"]
    assert entry["parameters"]["x"] == "tensor(float32, 4, 2)"
    assert entry["attributes"]["self.scale"] == "variable(float32, 3)"
    assert entry["attributes"]["self.dense"].startswith("object(keras.")


def read(project, key):
    with np.load(project.samples(key), allow_pickle=False) as data:
        return json.loads(str(data["calls"])), {
            k: data[k] for k in data if k != "calls"
        }


def test_samples_are_arguments_as_they_were_at_the_call(functions, shared):
    calls, arrays = read(shared, "tensors.py::samples")
    first, *_, last = calls
    assert first == {
        "args": [
            {"tensor": "a0"},
            {"dict": {"k": {"list": [{"array": "a1"}]}}},
            {"value": True},
        ],
        "kwargs": {"name": {"value": None}},
    }
    assert arrays["a0"].tolist() == [0.0, 0.0]
    assert (arrays["a1"].shape, arrays["a1"].item()) == ((), 0)
    assert len(calls) == 4  # three as they come, and one of another kind
    assert arrays[last["args"][0]["tensor"]].tolist() == [b"x", b"y"]
    nan = last["args"][1]["dict"]["k"]["list"][0]["value"]
    assert nan != nan


def test_samples_are_bounded(functions, shared):
    _, arrays = read(shared, "tensors.py::big")
    assert [a.shape for a in arrays.values()] == [(4,)]


def test_a_function_whose_arguments_cannot_be_kept_has_no_samples(functions, shared):
    assert not shared.samples("tensors.py::generator").exists()
