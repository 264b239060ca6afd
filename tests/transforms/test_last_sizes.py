"""Layers of Keras that make their weights inside a graph, for what a loop carries or makes."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from graphlift.codemods.pipeline import Rewritten, rewrite
from graphlift.transforms.facts.kind_notation import parse
from graphlift.transforms.facts.profile import Profile, Recorded, fingerprint
from graphlift.transforms.options import Options

LAYER = """
import tensorflow as tf

DENSE = tf.keras.layers.Dense(3, kernel_initializer="ones")

def f(x, n):
    h = x
    for _ in tf.range(n):
        h = DENSE(tf.nn.relu(h)) * 0.5
    return h
"""
CELL = """
import tensorflow as tf

CELL = tf.keras.layers.GRUCell(4, kernel_initializer="ones", recurrent_initializer="ones")
DENSE = tf.keras.layers.Dense(2, kernel_initializer="ones")

def f(x, n):
    state = tf.zeros((tf.shape(x)[0], 4))
    outputs = []
    for _ in tf.range(n):
        out, states = CELL(x, [state])
        state = states[0]
        outputs.append(out)
    keys = tf.stack(outputs, axis=1)
    return tf.reduce_sum(DENSE(keys)) + tf.reduce_sum(DENSE(state))
"""
OBJECTS = {
    "DENSE": "object(keras.src.layers.core.dense.Dense)",
    "CELL": "object(keras.src.layers.rnn.gru.GRUCell)",
}


def lifted(text: str, names: dict[str, str], loops: dict[str, Any]) -> Rewritten:
    """A program lifted by what a run of it would have told."""
    node = ast.parse(text).body[-1]
    assert isinstance(node, ast.FunctionDef)
    seen = Recorded(
        fingerprint(text.splitlines(), node),
        3,
        {"x": parse("tensor(float32, None, 3)"), "n": parse("tensor(int32)")},
        parse("tensor(float32, ...)"),
        {name: parse(kind) for name, kind in OBJECTS.items()},
        names={place: parse(kind) for place, kind in names.items()},
        loops=loops,
    )
    return rewrite(text, "m.py", Options(), Profile(Path(), {"m.py::f": seen}))


def results(text: str) -> list[np.ndarray]:
    """What `f` gives, call by call, its layers without weights at first."""
    scope: dict[str, Any] = {}
    exec(text, scope)
    calls = [(tf.ones([2, 3]), 2), (-tf.ones([1, 3]), 3), (tf.ones([4, 3]), 1)]
    return [scope["f"](x, tf.constant(n)).numpy() for x, n in calls]


def agree(text: str, rewritten: Rewritten) -> None:
    assert "tf.while_loop" in rewritten.text, rewritten.findings
    for ours, theirs in zip(results(rewritten.text), results(text), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_a_loop_keeps_a_last_size_that_it_was_seen_to_keep() -> None:
    seen = {"trips": [1, 3], "names": {"h": ["tensor(float32, None, 3)"] * 2}}
    rewritten = lifted(LAYER, {"3:8:h": "tensor(float32, None, 3)"}, {"2:4": seen})
    assert "tf.TensorShape([None, 3])" in rewritten.text
    agree(LAYER, rewritten)


def test_a_loop_that_was_seen_to_change_it_stays_eager() -> None:
    names = {"h": ["tensor(float32, None, 3)", "tensor(float32, None, None)"]}
    seen = {"trips": [1, 3], "names": names}
    rewritten = lifted(LAYER, {"3:8:h": "tensor(float32, None, None)"}, {"2:4": seen})
    assert rewritten.text == LAYER
    assert "a layer has to know the last size" in rewritten.findings[0].message


def test_what_a_loop_makes_is_given_to_layers_outside_the_graph() -> None:
    names = {
        "1:4:state": "tensor(float32, None, 4)",
        "4:8:out": "tensor(float32, None, 4)",
        "4:13:states": "list(tensor(float32, None, 4))",
        "5:8:state": "tensor(float32, None, 4)",
        "7:4:keys": "tensor(float32, None, None, 4)",
    }
    seen = {"trips": [1, 3], "names": {"state": ["tensor(float32, None, 4)"] * 2}}
    rewritten = lifted(CELL, names, {"3:4": seen})
    assert "return tf.reduce_sum(DENSE(keys))" in rewritten.text
    agree(CELL, rewritten)
