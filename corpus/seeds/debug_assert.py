"""A guard raises on bad input, and a print shows what passed.

A graph raises another error than the caller catches, and prints no values.
"""

import tensorflow as tf


def checked_log(x):
    """The repeated logarithm of positive numbers. Raises AssertionError for others."""
    assert tf.reduce_all(x > 0.0), "checked_log wants positive numbers"
    print("smallest:", int(tf.reduce_min(x)))
    for _ in range(20):
        x = tf.nn.relu(tf.math.log1p(x)) + 0.5
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
