"""A method keeps its running totals in variables that it makes on every call.

A tf.function may make variables on its first call only.
"""

import tensorflow as tf


class Smoother:
    def __init__(self, decay):
        self.decay = decay

    def average(self, values):
        """The exponential moving average after the last of values [time, width]."""
        level = tf.Variable(tf.zeros([values.shape[1]]))
        weight = tf.Variable(0.0)
        for value in values:
            level.assign(self.decay * level + (1.0 - self.decay) * value)
            weight.assign(self.decay * weight + (1.0 - self.decay))
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
