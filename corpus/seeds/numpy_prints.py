"""A function is watched by printing arrays as it goes.

Tensors of a graph have no .numpy().
"""

import tensorflow as tf


def f(x):
    print("x =", x.numpy())
    for _ in range(20):
        x = (3 * x + 1) % 101
    print("x mod 101 =", x.numpy())
    return x + 1


ARGS = [
    (tf.constant([1, 2, 3]),),
    (tf.constant([4, 5]),),
    (tf.constant([4, 5]),),
    (tf.constant([100, 7, 8, 9]),),
]
