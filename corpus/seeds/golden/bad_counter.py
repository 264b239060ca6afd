"""A module counter moves on every call and scales the result.

A trace runs the increment once, and every later call sees the first count.
"""

import tensorflow as tf

CALLS = 0


@tf.function(
    autograph=False,
    input_signature=[tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.float64)],
)
def settle(x, rate):
    """x after forty steps towards zero."""
    for _ in range(40):
        x = x - tf.cast(rate, tf.float32) * tf.tanh(x)
    return x


@tf.function(
    autograph=False,
    input_signature=[tf.TensorSpec([3], tf.float32), tf.TensorSpec([], tf.int64)],
)
def f_graph(x, calls):
    return settle(x, 0.05) * tf.cast(calls, tf.float32)


def f(x):
    global CALLS
    CALLS += 1
    return f_graph(x, CALLS)


def observe():
    return CALLS


ARGS = [
    (tf.constant([2.0, -1.0, 0.5]),),
    (tf.constant([2.0, -1.0, 0.5]),),
    (tf.constant([0.25, 3.0, -4.0]),),
    (tf.constant([0.0, 1.0, 1.0]),),
]
