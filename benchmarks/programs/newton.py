"""Square roots by Newton's method, until they settle."""

import tensorflow as tf


def f(x):
    guess = tf.ones_like(x)
    for _ in tf.range(50):
        better = 0.5 * (guess + x / guess)
        if tf.reduce_max(tf.abs(better - guess)) < 1e-5:
            break
        guess = better
    return guess


ARGS = (tf.constant([2.0, 9.0, 1e4, 0.5]),)
