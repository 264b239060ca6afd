"""Each step of a loop joins one more element to the result.

A graph loop holds its variables to the shape they came in with.
"""

import tensorflow as tf


def f(start, n):
    result = tf.reshape(start, [1])
    for i in tf.range(n):
        step = tf.cast(i, tf.float32) * 0.1
        latest = tf.sin(result[-1] + step)
        result = tf.concat([result, [latest]], axis=0)
    return result


ARGS = [
    (tf.constant(1.0), tf.constant(40)),
    (tf.constant(-0.5), tf.constant(60)),
    (tf.constant(0.25), tf.constant(0)),
    (tf.constant(2.0), tf.constant(7)),
]
