"""The number of recurrent steps is a tensor, and the state starts as a Python number.

In a graph the loop state changes type on the first step, which a while loop refuses.
"""

import tensorflow as tf

RNG = tf.random.Generator.from_seed(5)
KERNEL = tf.Variable(RNG.normal([8, 8], stddev=0.4))


def f(x, seq_len):
    state = 0
    for _ in range(seq_len):
        state = tf.tanh(x + tf.linalg.matvec(KERNEL, x) + state)
    return x + state


ARGS = [
    (RNG.normal([8]), tf.constant(40)),
    (RNG.normal([8]), tf.constant(25)),
    (RNG.normal([8]), tf.constant(1)),
    (RNG.normal([8]), tf.constant(0)),
]
