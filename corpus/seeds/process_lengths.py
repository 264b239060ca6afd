"""Sequences of many lengths go through one function that says what it was given.

Each length is traced, and a length seen before says nothing.
"""

import tensorflow as tf


def process(x):
    """The sequence, smoothed thirty times over."""
    print("processing", x.shape[0], "values")
    for _ in range(30):
        x = 0.5 * x + 0.25 * (tf.roll(x, 1, axis=0) + tf.roll(x, -1, axis=0))
    return x * 2


f = process

ARGS = [(tf.sin(tf.range(float(length))),) for length in (3, 5, 3, 2, 8, 5)]
