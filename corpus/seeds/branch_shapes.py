"""Two arms give vectors of different lengths, and the code below asks for the length.

In a graph the length is then unknown where Python needs a number.
"""

import tensorflow as tf


def f(x):
    if tf.reduce_mean(x) > 0.0:
        window = tf.ones([10])
    else:
        window = tf.ones([5])
    window = window / window.shape[0]
    smoothed = x
    for _ in range(8):
        padded = tf.concat([smoothed[-window.shape[0] + 1 :], smoothed], axis=0)
        frames = tf.signal.frame(padded, window.shape[0], 1)
        smoothed = tf.linalg.matvec(frames, window)
    return smoothed


RNG = tf.random.Generator.from_seed(2)
ARGS = [(RNG.normal([40]) + shift,) for shift in (1.0, -1.0, 0.5, -2.0)]
