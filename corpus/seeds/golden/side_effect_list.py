"""Every call leaves a value in a module list for later reporting.

A trace appends once, and what it appends is no value but a symbol of the graph.
"""

import tensorflow as tf

COLLECTED = []


@tf.function(autograph=False, input_signature=[tf.TensorSpec([2], tf.float32)])
def f_graph(x):
    for _ in range(30):
        x = x + 0.05 * tf.cos(x)
    value = tf.reduce_mean(x)
    return x + 1.0, value


def f(x):
    result, value = f_graph(x)
    COLLECTED.append(value)
    return result


def observe():
    return [float(mean) for mean in COLLECTED]


ARGS = [
    (tf.constant([1.0, 2.0]),),
    (tf.constant([2.0, -2.0]),),
    (tf.constant([0.0, 0.5]),),
]
