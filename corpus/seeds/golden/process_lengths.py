"""Sequences of many lengths go through one function that says what it was given.

Each length is traced, and a length seen before says nothing.
"""

import tensorflow as tf


@tf.function(autograph=False, input_signature=[tf.TensorSpec([None], tf.float32)])
def process_graph(x):
    printed = tf.shape(x, tf.int64)[0]

    def body(i, x):
        x = 0.5 * x + 0.25 * (tf.roll(x, 1, axis=0) + tf.roll(x, -1, axis=0))
        return i + 1, x

    _, x = tf.while_loop(
        lambda i, x: i < 30, body, (tf.constant(0), x), maximum_iterations=30
    )
    return x * 2, printed


def process(x):
    """The sequence, smoothed thirty times over."""
    result, printed = process_graph(x)
    print("processing", int(printed), "values")
    return result


f = process

ARGS = [(tf.sin(tf.range(float(length))),) for length in (3, 5, 3, 2, 8, 5)]
