"""A module setting is changed between calls.

A trace keeps the setting it met first.
"""

import tensorflow as tf

THRESHOLD = 0.5


@tf.function(
    autograph=False,
    input_signature=[tf.TensorSpec([3], tf.float32), tf.TensorSpec([], tf.float64)],
)
def f_graph(x, threshold):
    kept = tf.zeros_like(x)
    for _ in range(20):
        kept = kept + tf.where(x > tf.cast(threshold, x.dtype), x, 0.0)
        x = x * 0.95
    return kept


def f(x):
    return f_graph(x, THRESHOLD)


def between(i):
    global THRESHOLD
    THRESHOLD = 0.5 + 0.1 * i


ARGS = [(tf.constant([0.6, 0.9, 0.2]),)] * 3 + [(tf.constant([0.85, 0.7, 1.0]),)]
