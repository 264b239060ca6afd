"""Every call leaves a value in a module list for later reporting.

A trace appends once, and what it appends is no value but a symbol of the graph.
"""

import tensorflow as tf

COLLECTED = []


@tf.function(autograph=False, input_signature=[tf.TensorSpec([2], tf.float32)])
def f_graph(x):
    return x + 1.0


def f(x):
    for _ in range(30):
        x = x + 0.05 * tf.cos(x)
    COLLECTED.append(tf.reduce_mean(x))
    return f_graph(x)


def observe():
    return [float(mean) for mean in COLLECTED]


ARGS = [
    (tf.constant([1.0, 2.0]),),
    (tf.constant([2.0, -2.0]),),
    (tf.constant([0.0, 0.5]),),
]
