"""Bisection: a branch in a loop that carries three values."""

import tensorflow as tf


def f(target):
    low = tf.constant(0.0)
    high = tf.constant(10.0)
    steps = tf.constant(0)
    while high - low > 1e-4:
        middle = (low + high) / 2.0
        if middle * middle * middle > target:
            high = middle
        else:
            low = middle
        steps += 1
    return low, steps


ARGS = (tf.constant(42.0),)
