"""Each step of a loop joins one more element to the result.

A graph loop holds its variables to the shape they came in with.
"""

import tensorflow as tf


@tf.function(
    autograph=False,
    input_signature=[tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.int32)],
)
def f(start, n):
    result = tf.reshape(start, [1])

    def body(i, result):
        step = tf.cast(i, tf.float32) * 0.1
        latest = tf.sin(result[-1] + step)
        result = tf.concat([result, [latest]], axis=0)
        return i + 1, result

    _, result = tf.while_loop(
        lambda i, result: i < n,
        body,
        (tf.constant(0), result),
        shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])),
    )
    return result


ARGS = [
    (tf.constant(1.0), tf.constant(40)),
    (tf.constant(-0.5), tf.constant(60)),
    (tf.constant(0.25), tf.constant(0)),
    (tf.constant(2.0), tf.constant(7)),
]
