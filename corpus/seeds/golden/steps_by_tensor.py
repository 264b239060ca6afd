"""The number of recurrent steps is a tensor, and the state starts as a Python number.

In a graph the loop state changes type on the first step, which a while loop refuses.
"""

import tensorflow as tf

RNG = tf.random.Generator.from_seed(5)
KERNEL = tf.Variable(RNG.normal([8, 8], stddev=0.4))


@tf.function(
    autograph=False,
    input_signature=[tf.TensorSpec([8], tf.float32), tf.TensorSpec([], tf.int32)],
)
def f(x, seq_len):
    def body(i, state):
        state = tf.tanh(x + tf.linalg.matvec(KERNEL, x) + state)
        return i + 1, state

    _, state = tf.while_loop(
        lambda i, state: i < seq_len,
        body,
        (tf.constant(0), tf.constant(0, tf.float32)),
        shape_invariants=(tf.TensorShape([]), tf.TensorShape(None)),
    )
    return x + state


ARGS = [
    (RNG.normal([8]), tf.constant(40)),
    (RNG.normal([8]), tf.constant(25)),
    (RNG.normal([8]), tf.constant(1)),
    (RNG.normal([8]), tf.constant(0)),
]
