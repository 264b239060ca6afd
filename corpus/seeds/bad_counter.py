"""A module counter moves on every call and scales the result.

A trace runs the increment once, and every later call sees the first count.
"""

import tensorflow as tf

CALLS = 0


def settle(x, rate):
    """x after forty steps towards zero."""
    for _ in range(40):
        x = x - rate * tf.tanh(x)
    return x


def f(x):
    global CALLS
    CALLS += 1
    return settle(x, 0.05) * CALLS


def observe():
    return CALLS


ARGS = [
    (tf.constant([2.0, -1.0, 0.5]),),
    (tf.constant([2.0, -1.0, 0.5]),),
    (tf.constant([0.25, 3.0, -4.0]),),
    (tf.constant([0.0, 1.0, 1.0]),),
]
