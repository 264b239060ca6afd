"""An epoch adds up the loss over its batches, and prints every fourth step.

A graph has no numbers to format, and prints while it is traced.
"""

import tensorflow as tf

RNG = tf.random.Generator.from_seed(6)
weight = tf.Variable(tf.zeros([5]))


@tf.function(
    autograph=False,
    input_signature=[
        tf.TensorSpec([None, 5], tf.float32),
        tf.TensorSpec([None], tf.float32),
    ],
)
def step_loss(x, y):
    """The loss on one batch, after which the weight has moved."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.linalg.matvec(x, weight) - y))
    weight.assign_sub(0.1 * tape.gradient(loss, weight))
    return loss


def f(x, y):
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(4)
    epoch_loss = 0.0
    for step, (xs, ys) in enumerate(dataset):
        loss = step_loss(xs, ys)
        epoch_loss += loss
        if step % 4 == 0:
            print(f"step {step}, loss {loss:.4f}")
    mean = epoch_loss / (step + 1)
    print(f"mean loss {mean:.4f}")
    return mean


def observe():
    return weight.numpy()


def data(size):
    x = RNG.normal([size, 5])
    return x, tf.reduce_sum(x, axis=1) + 0.1 * RNG.normal([size])


ARGS = [data(48), data(48), data(20), data(6)]
