"""A Keras model skips blocks where its activations are weak, and takes a Python flag.

AutoGraph does not reach into a Keras call, and each value of the flag is a trace.
"""

import tensorflow as tf

tf.keras.utils.set_random_seed(2)
RNG = tf.random.Generator.from_seed(2)


class Gated(tf.keras.Model):
    def __init__(self, depth, units):
        super().__init__()
        self.blocks = [
            tf.keras.layers.Dense(units, activation="tanh") for _ in range(depth)
        ]
        self.head = tf.keras.layers.Dense(2)

    def call(self, x, training=False):
        for block in self.blocks:
            y = block(x)
            x = tf.cond(
                tf.reduce_mean(tf.abs(y)) > 0.25, lambda: x + y, lambda: 0.5 * x
            )
        x = self.head(x)
        if training:
            return x
        return tf.nn.softmax(x)


model = Gated(depth=8, units=8)


@tf.function(autograph=False, reduce_retracing=True)
def f(x, training):
    return model(x, training=training)


model(tf.zeros([1, 8]))
ARGS = [
    (RNG.normal([4, 8]), False),
    (0.1 * RNG.normal([4, 8]), False),
    (RNG.normal([4, 8]), True),
    (RNG.normal([9, 8]), False),
]
