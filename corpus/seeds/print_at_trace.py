"""A function reports what it is working on with print.

A trace prints once, and symbols where the values should be.
"""

import tensorflow as tf


def f(x):
    total = tf.reduce_sum(x)
    print("items:", x.shape[0], "total:", int(total))
    for step in range(20):
        x = (x * x + step) % 97
    print("checksum:", int(tf.reduce_sum(x)))
    return x


ARGS = [
    (tf.constant([1, 2, 3, 4]),),
    (tf.constant([5, 6, 7, 8]),),
    (tf.constant([5, 6, 7, 8]),),
    (tf.constant([9, 10, 11, 12, 13]),),
]
