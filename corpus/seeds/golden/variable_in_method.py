"""A method keeps its running totals in variables that it makes on every call.

A tf.function may make variables on its first call only.
"""

import tensorflow as tf


level = tf.Variable(tf.zeros([3], tf.float32))
weight = tf.Variable(tf.zeros([], tf.float32))


class Smoother:
    def __init__(self, decay):
        self.decay = decay

    @tf.function(
        autograph=False, input_signature=[tf.TensorSpec([None, 3], tf.float32)]
    )
    def average(self, values):
        """The exponential moving average after the last of values [time, width]."""
        level.assign(tf.zeros([values.shape[1]]))
        weight.assign(0.0)

        def body(i):
            value = values[i]
            level.assign(self.decay * level + (1.0 - self.decay) * value)
            weight.assign(self.decay * weight + (1.0 - self.decay))
            return (i + 1,)

        tf.while_loop(lambda i: i < tf.shape(values)[0], body, (tf.constant(0),))
        return level / weight


smoother = Smoother(0.9)
f = smoother.average

RNG = tf.random.Generator.from_seed(8)
ARGS = [
    (RNG.normal([50, 3]),),
    (RNG.normal([20, 3]),),
    (RNG.normal([50, 3]),),
    (RNG.normal([1, 3]),),
]
