"""A product is repeated as often as a Python argument says.

The graph holds every repetition one by one, and each new count is traced again.
"""

import tensorflow as tf


@tf.function(
    autograph=False,
    input_signature=[
        tf.TensorSpec([None, None], tf.float32),
        tf.TensorSpec([None, None], tf.float32),
        tf.TensorSpec([], tf.int64),
    ],
)
def f(a, b, repeats):
    def body(i, a):
        a = tf.matmul(a, b)
        a = a / tf.norm(a)
        return i + 1, a

    _, a = tf.while_loop(lambda i, a: i < repeats, body, (tf.constant(0, tf.int64), a))
    return a


RNG = tf.random.Generator.from_seed(1)
A, B = RNG.normal([16, 16]), RNG.normal([16, 16])
ARGS = [(A, B, 100), (B, A, 150), (A, A, 60), (A, B, 100)]
