"""A test on a tensor chooses a whole number in one arm and a fraction in the other.

As graph branches the two have different dtypes.
"""

import tensorflow as tf


def rescale(x):
    """x, doubled where its mean is positive and halved where it is not."""
    gain = tf.where(
        tf.reduce_mean(x) > 0, tf.constant(2, tf.float64), tf.constant(0.5, tf.float64)
    )
    return x * tf.cast(gain, x.dtype)


@tf.function(autograph=False, input_signature=[tf.TensorSpec([3], tf.float32)])
def f(x):
    def body(shift, x):
        x = rescale(x - tf.cast(0.1 * tf.cast(shift, tf.float64), x.dtype)) / 1.5
        return shift + 1, x

    _, x = tf.while_loop(
        lambda shift, x: shift < 30,
        body,
        (tf.constant(0, tf.int64), x),
        shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])),
        maximum_iterations=30,
    )
    return x


ARGS = [
    (tf.constant([1.0, 2.0, 3.0]),),
    (tf.constant([-1.0, -2.0, -3.0]),),
    (tf.constant([0.0, 0.0, 0.0]),),
    (tf.constant([100.0, -1.0, 4.0]),),
]
