"""A branch, a short counted loop, and a loop to a given sum that counts its rounds.

The count is a Python number in eager mode, and an int32 tensor in a graph, which
cannot divide a float.
"""

import tensorflow as tf


def f(x):
    if tf.reduce_mean(x) > 0:
        result = x * 2
    else:
        result = x * -1
    for i in range(3):
        result = result + tf.cast(i, tf.float32)
    rounds = 0
    while tf.reduce_sum(result) < 100:
        result = result + 1.0
        rounds += 1
    return result / (rounds + 1)


ARGS = [
    (tf.constant([1.0, 2.0, 3.0]),),
    (tf.constant([-4.0, -5.0, 1.0]),),
    (tf.constant([50.0, 60.0, 70.0]),),
    (tf.constant([0.0, 0.0, 0.0]),),
]
