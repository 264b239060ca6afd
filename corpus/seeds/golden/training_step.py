"""A training step logs its loss as a number and skips weights without a gradient.

A graph has no number to log while it is traced.
"""

import tensorflow as tf

tf.keras.utils.set_random_seed(7)
RNG = tf.random.Generator.from_seed(7)

model = tf.keras.Sequential(
    [
        tf.keras.Input([6]),
        tf.keras.layers.Dense(16, activation="tanh"),
        tf.keras.layers.Dense(1),
    ]
)
unused = tf.Variable(1.0)
optimizer = tf.keras.optimizers.SGD(0.05)
history = []


@tf.function(
    autograph=False,
    input_signature=[
        tf.TensorSpec([None, 6], tf.float32),
        tf.TensorSpec([None], tf.float32),
    ],
)
def train_step_graph(x, y):
    weights = [*model.trainable_variables, unused]
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True)[:, 0] - y))
    gradients = tape.gradient(loss, weights)
    optimizer.apply_gradients(
        (gradient, weight)
        for gradient, weight in zip(gradients, weights)
        if gradient is not None
    )
    return loss


def train_step(x, y):
    """The loss of one step of gradient descent on a batch, before the step."""
    loss = train_step_graph(x, y)
    history.append(float(loss))
    return loss


f = train_step


def observe():
    return history, [weight.numpy() for weight in model.trainable_variables]


def batch(size):
    x = RNG.normal([size, 6])
    return x, tf.reduce_sum(x, axis=1)


ARGS = [batch(size) for size in (32, 32, 8, 32)]
