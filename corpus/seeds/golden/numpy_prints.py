"""A function is watched by printing arrays as it goes.

Tensors of a graph have no .numpy().
"""

import tensorflow as tf


@tf.function(autograph=False, input_signature=[tf.TensorSpec([None], tf.int32)])
def f_graph(x):
    printed = x
    for _ in range(20):
        x = (3 * x + 1) % 101
    return x + 1, printed, x


def f(x):
    result, printed, printed_2 = f_graph(x)
    print("x =", printed.numpy())
    print("x mod 101 =", printed_2.numpy())
    return result


ARGS = [
    (tf.constant([1, 2, 3]),),
    (tf.constant([4, 5]),),
    (tf.constant([4, 5]),),
    (tf.constant([100, 7, 8, 9]),),
]
