"""A product is repeated as often as a Python argument says.

The graph holds every repetition one by one, and each new count is traced again.
"""

import tensorflow as tf


def f(a, b, repeats):
    for _ in range(repeats):
        a = tf.matmul(a, b)
        a = a / tf.norm(a)
    return a


RNG = tf.random.Generator.from_seed(1)
A, B = RNG.normal([16, 16]), RNG.normal([16, 16])
ARGS = [(A, B, 100), (B, A, 150), (A, A, 60), (A, B, 100)]
