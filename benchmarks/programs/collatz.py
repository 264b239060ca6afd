"""A loop of unknown length, with a branch in it."""

import tensorflow as tf


def f(start):
    x = start
    steps = tf.constant(0)
    highest = start
    while x != 1:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
            highest = tf.maximum(highest, x)
        steps += 1
    return steps, highest


ARGS = (tf.constant(97),)
