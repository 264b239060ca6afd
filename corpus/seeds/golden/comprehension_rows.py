"""The rows of a tensor are gone over in a list comprehension.

A graph does not let a comprehension iterate over a tensor.
"""

import tensorflow as tf


def normalised(row):
    return (row - tf.reduce_mean(row)) / (tf.math.reduce_std(row) + 1e-3)


@tf.function(autograph=False, input_signature=[tf.TensorSpec([None, 4], tf.float32)])
def f(x):
    rows = tf.TensorArray(
        tf.float32, size=0, dynamic_size=True, infer_shape=False, element_shape=[None]
    )

    def body(i, rows):
        row = x[i]
        rows = tf.cond(
            tf.reduce_max(row) > 0.0,
            lambda: rows.write(rows.size(), normalised(row)),
            lambda: rows,
        )
        return i + 1, rows

    _, rows = tf.while_loop(
        lambda i, rows: i < tf.shape(x)[0], body, (tf.constant(0), rows)
    )
    return rows.stack()


RNG = tf.random.Generator.from_seed(15)
ARGS = [(RNG.normal([size, 4]),) for size in (30, 30, 12, 40)]
