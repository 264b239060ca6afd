"""A ladder of branches on one number: what is traced is more than what is run."""

import tensorflow as tf


def f(x):
    size = tf.reduce_mean(tf.abs(x))
    if size > 8.0:
        y = x / 8.0
    elif size > 4.0:
        y = tf.tanh(x)
    elif size > 2.0:
        y = tf.nn.relu(x)
    elif size > 1.0:
        y = tf.nn.elu(x)
    else:
        y = x * x
    if tf.reduce_max(y) > 1.0:
        y = y / tf.reduce_max(y)
    return y


ARGS = (tf.random.stateless_normal([64], [1, 2]),)
