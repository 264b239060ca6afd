"""A recurrent cell over the steps of a sequence, with a mask."""

import tensorflow as tf

WEIGHTS = tf.random.stateless_normal([16, 16], [1, 2]) * 0.1


def f(sequence, mask):
    state = tf.zeros([16])
    for i in tf.range(tf.shape(sequence)[0]):
        if mask[i]:
            state = tf.tanh(sequence[i] + tf.linalg.matvec(WEIGHTS, state))
    return state


ARGS = (
    tf.random.stateless_normal([64, 16], [3, 4]),
    tf.random.stateless_uniform([64], [5, 6]) > 0.2,
)
