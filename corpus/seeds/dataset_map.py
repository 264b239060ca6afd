"""A pipeline is built on every call with a scale that changes from call to call.

Eager calls build it with the scale of the day; a trace keeps the first.
"""

import tensorflow as tf

SCALE = 1.0


def prepare(value):
    value = tf.cast(value, tf.float32) / 255.0
    if value > 0.5:
        value = 1.0 - value
    return value * SCALE


def f(values):
    dataset = tf.data.Dataset.from_tensor_slices(values).map(prepare).batch(8)
    total = 0.0
    for batch in dataset:
        total += tf.reduce_sum(batch)
    return total


def between(i):
    global SCALE
    SCALE = 1.0 + i


ARGS = [
    (tf.range(64),),
    (tf.range(64),),
    (tf.range(100, 228),),
    (tf.range(30),),
]
