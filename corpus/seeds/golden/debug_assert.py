"""A guard raises on bad input, and a print shows what passed.

A graph raises another error than the caller catches, and prints no values.
"""

import sys

import tensorflow as tf


@tf.function(autograph=False, input_signature=[tf.TensorSpec([None], tf.float32)])
def checked_log_graph(x):
    def true_fn(x):
        tf.print(
            "smallest:", tf.cast(tf.reduce_min(x), tf.int64), output_stream=sys.stdout
        )

        def body(i, x):
            x = tf.nn.relu(tf.math.log1p(x)) + 0.5
            return i + 1, x

        _, x = tf.while_loop(
            lambda i, x: i < 20, body, (tf.constant(0), x), maximum_iterations=20
        )
        return x, tf.constant(False)

    return tf.cond(
        tf.reduce_all(x > 0.0),
        lambda: true_fn(x),
        lambda: (tf.zeros([0], tf.float32), tf.constant(True)),
    )


def checked_log(x):
    """The repeated logarithm of positive numbers. Raises AssertionError for others."""
    x, failed = checked_log_graph(x)
    if failed:
        raise AssertionError("checked_log wants positive numbers")
    return x


def f(x):
    try:
        return checked_log(x)
    except AssertionError as error:
        print("rejected:", error)
        return tf.zeros_like(x)


ARGS = [
    (tf.constant([1.0, 2.0, 3.0]),),
    (tf.constant([1.0, -2.0, 3.0]),),
    (tf.constant([4.0, 5.0, 6.0]),),
    (tf.constant([0.0, 5.0, 6.0]),),
]
