"""Two arms give vectors of different lengths, and the code below asks for the length.

In a graph the length is then unknown where Python needs a number.
"""

import tensorflow as tf


@tf.function(autograph=False, input_signature=[tf.TensorSpec([40], tf.float32)])
def f_graph(x):
    window = tf.cond(
        tf.reduce_mean(x) > 0.0, lambda: tf.ones([10]), lambda: tf.ones([5])
    )
    window = window / tf.cast(tf.shape(window, tf.int64)[0], window.dtype)
    smoothed = x
    return smoothed, window


def f(x):
    smoothed, window = f_graph(x)
    for _ in range(8):
        padded = tf.concat([smoothed[-window.shape[0] + 1 :], smoothed], axis=0)
        frames = tf.signal.frame(padded, window.shape[0], 1)
        smoothed = tf.linalg.matvec(frames, window)
    return smoothed


RNG = tf.random.Generator.from_seed(2)
ARGS = [(RNG.normal([40]) + shift,) for shift in (1.0, -1.0, 0.5, -2.0)]
