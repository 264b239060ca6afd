"""An iteration runs until it moves little enough, and reports how many steps it took.

The number of steps is an int in eager mode and a tensor out of a graph.
"""

import tensorflow as tf


@tf.function(
    autograph=False,
    input_signature=[tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.float64)],
)
def square_root_graph(x, tolerance):
    guess = x / 2.0
    change = tf.constant(float("inf"))

    def body(change, guess, steps):
        better = guess - 0.1 * (guess - x / guess)
        change = tf.abs(better - guess)
        guess = better
        steps += 1
        return change, guess, steps

    _, guess, steps = tf.while_loop(
        lambda change, guess, steps: tf.logical_and(
            change > tf.cast(tolerance, change.dtype), steps < 200
        ),
        body,
        (change, guess, tf.constant(0, tf.int64)),
    )
    return guess, steps


def square_root(x, tolerance):
    """The root of x by Newton's iteration, and the number of steps taken."""
    guess, steps = square_root_graph(x, tolerance)
    return guess, int(steps)


f = square_root

ARGS = [
    (tf.constant(2.0), 1e-4),
    (tf.constant(9.0), 1e-4),
    (tf.constant(0.25), 1e-3),
    (tf.constant(1e4), 1e-6),
]
