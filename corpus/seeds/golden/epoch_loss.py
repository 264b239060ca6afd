"""An epoch adds up the loss over its batches, and prints every fourth step.

A graph has no numbers to format, and prints while it is traced.
"""

import sys

import tensorflow as tf

RNG = tf.random.Generator.from_seed(6)
weight = tf.Variable(tf.zeros([5]))


@tf.function(
    autograph=False,
    input_signature=[
        tf.TensorSpec([None, None], tf.float32),
        tf.TensorSpec([None], tf.float32),
    ],
)
def step_loss(x, y):
    """The loss on one batch, after which the weight has moved."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.linalg.matvec(x, weight) - y))
    weight.assign_sub(0.1 * tape.gradient(loss, weight))
    return loss


@tf.function(
    autograph=False,
    input_signature=[
        tf.TensorSpec([None, 5], tf.float32),
        tf.TensorSpec([None], tf.float32),
    ],
)
def f_graph(x, y):
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(4)
    iterator = iter(dataset.enumerate())

    def body(item, step, epoch_loss, epoch_loss_is_float):
        step, (xs, ys) = item.get_value()
        loss = step_loss(xs, ys)
        epoch_loss += loss

        def true_fn():
            tf.print(
                tf.strings.join(
                    [
                        "step ",
                        tf.strings.as_string(step),
                        ", loss ",
                        tf.strings.as_string(loss, precision=4),
                    ],
                ),
                output_stream=sys.stdout,
            )

        tf.cond(step % 4 == 0, true_fn, lambda: None)
        return iterator.get_next_as_optional(), step, epoch_loss, tf.constant(False)

    _, step, epoch_loss, epoch_loss_is_float = tf.while_loop(
        lambda item, step, epoch_loss, epoch_loss_is_float: item.has_value(),
        body,
        (
            iterator.get_next_as_optional(),
            tf.zeros([], tf.int64),
            tf.constant(0.0, tf.float32),
            tf.constant(True),
        ),
    )
    mean = epoch_loss / tf.cast(step + 1, tf.float32)
    return mean, epoch_loss_is_float


def f(x, y):
    mean, mean_is_float = f_graph(x, y)
    mean = float(mean) if mean_is_float else mean
    print(f"mean loss {mean:.4f}")
    return mean


def observe():
    return weight.numpy()


def data(size):
    x = RNG.normal([size, 5])
    return x, tf.reduce_sum(x, axis=1) + 0.1 * RNG.normal([size])


ARGS = [data(48), data(48), data(20), data(6)]
