"""Sums are taken over vectors of any length, and over a matrix now and then.

Each length and rank is a trace of its own.
"""

import tensorflow as tf


@tf.function(autograph=False, input_signature=[tf.TensorSpec(None, tf.float32)])
def flexible(x):
    """The sum of x after it was squashed towards its mean twenty times."""

    def body(i, x):
        x = x + 0.2 * tf.tanh(tf.reduce_mean(x) - x)
        return i + 1, x

    _, x = tf.while_loop(
        lambda i, x: i < 20,
        body,
        (tf.constant(0), x),
        shape_invariants=(tf.TensorShape([]), tf.TensorShape(None)),
        maximum_iterations=20,
    )
    return tf.reduce_sum(x)


f = flexible

RNG = tf.random.Generator.from_seed(12)
ARGS = [(RNG.normal(shape),) for shape in ([3], [5], [7, 3], [9], [2, 2], [3])]
