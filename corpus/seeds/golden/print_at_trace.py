"""A function reports what it is working on with print.

A trace prints once, and symbols where the values should be.
"""

import tensorflow as tf


@tf.function(autograph=False, input_signature=[tf.TensorSpec([None], tf.int32)])
def f_graph(x):
    total = tf.reduce_sum(x)
    printed = tf.shape(x, tf.int64)[0]
    printed_2 = total

    def body(step, x):
        x = (x * x + tf.cast(step, tf.int32)) % 97
        return step + 1, x

    _, x = tf.while_loop(
        lambda step, x: step < 20,
        body,
        (tf.constant(0, tf.int64), x),
        maximum_iterations=20,
    )
    return x, printed, printed_2, tf.reduce_sum(x)


def f(x):
    x, printed, printed_2, printed_3 = f_graph(x)
    print("items:", int(printed), "total:", int(printed_2))
    print("checksum:", int(printed_3))
    return x


ARGS = [
    (tf.constant([1, 2, 3, 4]),),
    (tf.constant([5, 6, 7, 8]),),
    (tf.constant([5, 6, 7, 8]),),
    (tf.constant([9, 10, 11, 12, 13]),),
]
