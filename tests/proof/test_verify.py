"""Whole proofs: hand-written originals and lifts, run side by side."""

from collections.abc import Callable
from textwrap import dedent

import pytest

from graphlift.codemods.proof import Proof, Row

Prove = Callable[..., Proof]

TF = "import tensorflow as tf\n"
ONCE = "\nARGS = [(tf.constant([1.0, -2.0]),)]\n"
GRAPH = "@tf.function(autograph=False)\n"
DOUBLE = TF + "def f(x):\n    return x * 2.0" + ONCE
FAST_DOUBLE = TF + GRAPH + "def f(x):\n    return x * 2.0" + ONCE


def function(body: str, head: str = "", tail: str = ONCE) -> str:
    """A program in which f(x) has this body."""
    lines = "".join(f"    {line}\n" for line in dedent(body).strip().splitlines())
    return f"{TF}{head}\ndef f(x):\n{lines}{tail}"


def graph(body: str, head: str = "", tail: str = ONCE) -> str:
    """The same, as one tf.function."""
    return function(body, head + "\n" + GRAPH.rstrip(), tail)


COUNTER = "CALLS = 0"
COUNTING = "global CALLS\nCALLS += 1\nreturn x * CALLS"
RAISING = "if tf.reduce_any(x < 0.0):\n    raise ValueError('negative')\nreturn x"
SHELL = """
if core(x):
    raise ValueError({message!r})
return x
"""
CORE = "@tf.function\ndef core(x):\n    return tf.reduce_any(x < 0.0)"
CHAIN = "return tf.cond(x[0] > 0.0, lambda: x + x + 1.0, lambda: x)"
MAIN = """
import tensorflow as tf
{decorator}
def step(x):
    return tf.reduce_sum(x) {operator} 2.0

def main():
    for i in range(2):
        print("step", i, "loss", float(step(tf.fill([3], float(i)))))
    return {{"loss": float(step(tf.ones([3])))}}

if __name__ == "__main__":
    raise SystemExit("not here")
"""
VALUES = """
import collections
import numpy as np
import tensorflow as tf

Point = collections.namedtuple("Point", "x y")

class Box:
    def __init__(self, x):
        self.x = x

{decorator}
def core(x):
    return x * 2.0

def f(x):
    y = core(x)
    return [
        tf.cast(y, tf.bfloat16), tf.ragged.constant([[1.0], []]), tf.constant([b"a\\xff", b""]),
        tf.sparse.from_dense(y), tf.complex(y, y), tf.data.Dataset.range(3), Box(y), Point(1, y),
        y.numpy(), np.float64(1), y.dtype, y.shape, tf.Variable(y), {{(1, 2): {{3}}}}, y > 0, None,
        tf.cast(y, tf.float16), tf.quantization.quantize(y, 0.0, 1.0, tf.qint8)[0], iter([1]),
    ]

ARGS = [(tf.constant([1.0, 2.0]),)]
"""
LAYERS = """
import tensorflow as tf
layer = tf.keras.layers.Dense(2)
optimizer = tf.keras.optimizers.Adam(0.1)

{decorator}
def core(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(x) ** 2)
    gradients = tape.gradient(loss, layer.trainable_variables)
    optimizer.apply_gradients(zip(gradients, layer.trainable_variables))
    return loss

def f(x):
    return float(core(x))

ARGS = [(tf.ones([2, 3]),)]
"""

SAME = {
    "lifted": (DOUBLE, FAST_DOUBLE),
    "values": (VALUES.format(decorator=""), VALUES.format(decorator="@tf.function")),
    "layers": (LAYERS.format(decorator=""), LAYERS.format(decorator="@tf.function")),
    "number_kept": (
        function("y = float(tf.reduce_sum(x))\nreturn y"),
        function("return float(core(x))", f"{GRAPH}def core(x):\n    return tf.reduce_sum(x)"),
    ),
    "printed": (
        function("print('x is', x[0] / 3.0)\nreturn x"),
        graph("tf.print('x is', x[0] / 3.0, output_stream=sys.stdout)\nreturn x", "import sys"),
    ),
    "order_of_output": (
        function("for i in range(3):\n    print(i, float(x[0]))\nprint('end')"),
        function("for i in range(3):\n    core(i, x)\nprint('end')",
                 f"import sys\n{GRAPH}def core(i, x):\n    tf.print(i, x[0], output_stream=sys.stdout)"),
    ),
    "global_as_variable": (
        function(COUNTING, COUNTER),
        graph("CALLS.assign_add(1)\nreturn x * tf.cast(CALLS, x.dtype)", "CALLS = tf.Variable(0)"),
    ),
    "exception": (function(RAISING), function(SHELL.format(message="negative"), CORE)),
    "assertion": (
        function("assert x[0] < 0.0, 'too large'\nreturn x"),
        graph("tf.debugging.Assert(x[0] < 0.0, ['too large'])\nreturn x"),
    ),
    "changed_between": (
        function("return x * RATE", "RATE = tf.constant(1.0)",
                 "\ndef between(i):\n    global RATE\n    RATE = tf.constant(float(i))" + ONCE),
        function("return core(x, RATE)", f"RATE = tf.constant(1.0)\n{GRAPH}def core(x, rate):\n    return x * rate",
                 "\ndef between(i):\n    global RATE\n    RATE = tf.constant(float(i))" + ONCE),
    ),
    "drawn_outside": (
        function("return x + tf.random.normal([2])"),
        function("return core(x, tf.random.normal([2]))", f"{GRAPH}def core(x, r):\n    return x + r"),
    ),
    "viewed": (
        function("return [x]", tail="\ndef view(result):\n    return result[0]" + ONCE),
        graph("return (x,)", tail="\ndef view(result):\n    return result[0]" + ONCE),
    ),
    "own_function_mended": (
        graph("print('call')\nreturn x"),
        function("print('call')\nreturn core(x)", f"{GRAPH}def core(x):\n    return x"),
    ),
    "method": (
        function("return M.f(x)", "class Model:\n    def f(self, x):\n        return x\nM = Model()"),
        function("return M.f(x)",
                 "class Model:\n    @tf.function\n    def f(self, x):\n        return x\nM = Model()"),
    ),
    "random": (DOUBLE, FAST_DOUBLE),  # the name of a module that is loaded already
    "package/__init__": ("", ""),
    "package/helper": ("def double(x):\n    return x * 2.0", "import tensorflow as tf\n\n@tf.function\ndef double(x):\n    return x * 2.0"),
    "package/uses": ("from .helper import double\n" + function("return double(x)"),) * 2,
    "observed_only": (
        function("return x * 2.0", tail="ARGS = []\ndef observe(f):\n    return f(tf.ones(2))"),
        graph("return x * 2.0", tail="ARGS = []\ndef observe(f):\n    return f(tf.ones(2))"),
    ),
    "program": (MAIN.format(decorator="", operator="*"), MAIN.format(decorator="@tf.function", operator="*")),
}  # fmt: skip

DIFFERENT = {
    "value": (DOUBLE, FAST_DOUBLE.replace("2.0\n", "2.5\n"), "call 1[1]: eager -4.0, lifted -5.0"),
    "type": (
        function("return 3"), graph("return tf.constant(3)"), "call 1: eager int 3, lifted tensor(int32) 3"
    ),
    "dtype": (
        DOUBLE, graph("return tf.cast(x * 2.0, tf.float64)"),
        "call 1: eager tensor(float32, 2) [ 2. -4.], lifted tensor(float64, 2) [ 2. -4.]",
    ),
    "print_lost": (
        function("print('x', float(x[0]))\nreturn x"), graph("print('x', 1.0)\nreturn x"),
        "call 2: eager prints 'x 1.0\\n', lifted prints nothing",
    ),
    "state_lost": (function(COUNTING, COUNTER), graph(COUNTING, COUNTER), "call 2[1]: eager -4.0, lifted -2.0"),
    "state_unseen": (
        function("global CALLS\nCALLS += 1\nreturn x", COUNTER),
        graph("global CALLS\nCALLS += 1\nreturn x", COUNTER), "CALLS: eager 3, lifted 1",
    ),
    "argument_not_changed": (
        function("x.append(1)", tail="\nARGS = [([],)]"), graph("return None", tail="\nARGS = [([],)]"),
        "call 1, arguments afterwards[0]: eager list of 1, lifted list of 0",
    ),
    "leak": (
        function("LAST.append(x * 2.0)\nreturn x", "LAST = []"), graph("LAST.append(x * 2.0)\nreturn x", "LAST = []"),
        "LAST: eager list of 3, lifted list of 1",
    ),
    "leaked_attribute": (
        function("BOX.x = x * 2.0\nreturn x", "class Box: ...\nBOX = Box()"),
        graph("BOX.x = x * 2.0\nreturn x", "class Box: ...\nBOX = Box()"), "BOX.x: eager tensor(float32, 2) [ 2. -4.], "
        'lifted a symbolic tensor, leaked: Tensor("mul:0", shape=(2,), dtype=float32)',
    ),
    "message_lost": (
        function(RAISING), function(SHELL.format(message="no"), CORE),
        "call 1: eager raises ValueError: negative, lifted raises ValueError: no",
    ),
    "exception_lost": (
        function(RAISING), graph("return x"),
        "call 1: eager raises ValueError: negative, lifted returns tensor(float32, 2) [ 1. -2.]",
    ),
    "draw_frozen": (
        function("return x * np.random.rand()", "import numpy as np"),
        graph("return x * np.random.rand()", "import numpy as np"), "call 2[1]: eager",
    ),
    "observed": (
        function("LOG.append(1)\nreturn x", "LOG = []", "\ndef observe():\n    return len(LOG)" + ONCE),
        graph("LOG.append(1)\nreturn x", "LOG = []", "\ndef observe():\n    return len(LOG)" + ONCE),
        "LOG: eager list of 3, lifted list of 1",
    ),
    "optimizer": (
        function("if x[0] > 0.0:\n    return x + x + 1.0\nreturn x"), graph(CHAIN),
        "TensorFlow's graph optimizer does that, without it they agree",
    ),
    "another_program": (
        MAIN.format(decorator="", operator="*"), MAIN.format(decorator="@tf.function", operator="+"),
        "call 1['loss']: eager 6.0, lifted 5.0",
    ),
}  # fmt: skip

RAISED = {
    "raises": (DOUBLE, graph("return x * tf.constant(2)"), "lifted raises TypeError"),
    "does_not_load": (DOUBLE, "import nowhere\n" + FAST_DOUBLE, "the lift can't be loaded: ModuleNotFoundError"),
    "does_not_parse": (DOUBLE, "def f(:\n", "the lift can't be loaded: SyntaxError"),
    "exits": (DOUBLE, "import sys\nsys.exit(3)\n" + FAST_DOUBLE, "the lift can't be loaded: SystemExit: 3"),
    "ends_the_process": (
        DOUBLE, function("os._exit(3)", "import os"), "the lift ends its process with exit status 3"
    ),
    "crashes": (
        DOUBLE, function("os.kill(os.getpid(), 11)", "import os"), "the lift is ended by SIGSEGV"
    ),
    "is_gone": (DOUBLE, FAST_DOUBLE.replace("def f", "def g"), "the lift can't be loaded: AttributeError"),
}  # fmt: skip

EAGER = {
    "not_a_graph": (DOUBLE, DOUBLE + "# looked at\n", "no graph was traced"),
    "unchanged": (DOUBLE, DOUBLE, "nothing was lifted"),
    "unchanged_graph": (FAST_DOUBLE, FAST_DOUBLE, "nothing was lifted"),
}

SKIPPED = {
    "nothing_to_run": (TF, TF + GRAPH + "def f(x): ...", "no ARGS with f, no main()"),
    "original_exits": ("import sys\nsys.exit(3)\n" + DOUBLE, FAST_DOUBLE, "the original can't be loaded: SystemExit: 3"),
    "original_crashes": (
        function("os.kill(os.getpid(), 11)", "import os"), FAST_DOUBLE, "the original is ended by SIGSEGV"
    ),
    "unsteady": (
        function("return time.time_ns()", "import time"), graph("return 3"), "eager mode itself does not give the same twice"
    ),
    "main_raises": (
        "def main():\n    open('nowhere')", "def main():\n    open('anywhere')", "the original raises FileNotFoundError"
    ),
    "no_calls": (DOUBLE + "ARGS = []", FAST_DOUBLE + "ARGS = []", "ValueError: no calls to make"),
}  # fmt: skip

PAIRS = {
    name: pair[:2]
    for group in (SAME, DIFFERENT, RAISED, EAGER, SKIPPED)
    for name, pair in group.items()
}


@pytest.fixture(scope="module")
def rows(prove: Prove, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Row]:
    """All pairs in one proof, so that TensorFlow is imported once."""
    told: list[str] = []
    proof = prove(tmp_path_factory.mktemp("project"), PAIRS, progress=told.append)
    assert told == [f"{name}.py" for name in PAIRS]
    assert proof.device == "cpu"
    return {row.function.partition(".py")[0]: row for row in proof.rows}


@pytest.mark.parametrize(
    "name",
    [name for name in SAME if name not in ("package/__init__", "package/helper")],
)
def test_same(rows: dict[str, Row], name: str) -> None:
    assert rows[name].status == "same", rows[name].reason
    assert rows[name].traces
    assert rows[name].graph_nodes


@pytest.mark.parametrize("name", DIFFERENT)
def test_different(rows: dict[str, Row], name: str) -> None:
    assert rows[name].status == "different"
    assert DIFFERENT[name][2] in rows[name].reason


@pytest.mark.parametrize("name", RAISED)
def test_raised(rows: dict[str, Row], name: str) -> None:
    assert rows[name].status == "raised"
    assert RAISED[name][2] in rows[name].reason


@pytest.mark.parametrize("name", EAGER)
def test_left_eager(rows: dict[str, Row], name: str) -> None:
    assert (rows[name].status, rows[name].reason) == ("eager", EAGER[name][2])


@pytest.mark.parametrize("name", SKIPPED)
def test_skipped(rows: dict[str, Row], name: str) -> None:
    assert rows[name].status == "skipped"
    assert SKIPPED[name][2] in rows[name].reason


def test_a_tf_function_that_goes_wrong_is_held_against_eager_mode(
    rows: dict[str, Row],
) -> None:
    assert rows["own_function_mended"].reason.startswith(
        "as eager mode; the tf.function of the original: call 2"
    )
