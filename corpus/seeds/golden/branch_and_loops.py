"""A branch, a short counted loop, and a loop to a given sum that counts its rounds.

The count is a Python number in eager mode, and an int32 tensor in a graph, which
cannot divide a float.
"""

import tensorflow as tf


@tf.function(autograph=False, input_signature=[tf.TensorSpec([3], tf.float32)])
def f(x):
    result = tf.cond(tf.reduce_mean(x) > 0, lambda: x * 2, lambda: x * -1)
    for i in range(3):
        result = result + tf.cast(i, tf.float32)

    def body(result, rounds):
        result = result + 1.0
        rounds += 1
        return result, rounds

    result, rounds = tf.while_loop(
        lambda result, rounds: tf.reduce_sum(result) < 100,
        body,
        (result, tf.constant(0, tf.int64)),
    )
    return result / tf.cast(rounds + 1, result.dtype)


ARGS = [
    (tf.constant([1.0, 2.0, 3.0]),),
    (tf.constant([-4.0, -5.0, 1.0]),),
    (tf.constant([50.0, 60.0, 70.0]),),
    (tf.constant([0.0, 0.0, 0.0]),),
]
