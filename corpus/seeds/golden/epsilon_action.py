"""An agent explores with Python's random numbers.

A trace draws them once, and the agent repeats the same choices for ever.
"""

import random

import tensorflow as tf

ACTIONS = [0, 1, 2, 3]
WEIGHTS = tf.constant([[0.9, 0.1, -0.3, 0.2], [-0.2, 0.7, 0.4, -0.6]])


@tf.function(
    autograph=False,
    input_signature=[
        tf.TensorSpec([None], tf.float32),
        tf.TensorSpec([], tf.float64),
        tf.TensorSpec([], tf.float64),
        tf.TensorSpec([], tf.int64),
    ],
)
def choose_graph(state, epsilon, drawn, drawn_2):
    return tf.cond(
        drawn < epsilon,
        lambda: tf.cast(drawn_2, tf.int32),
        lambda: tf.argmax(
            tf.linalg.matvec(WEIGHTS, state, transpose_a=True), output_type=tf.int32
        ),
    )


def choose(state, epsilon):
    """An action: the best by value, or any with probability epsilon."""
    drawn = random.random()
    drawn_2 = random.choice(ACTIONS) if drawn < epsilon else 0
    return choose_graph(state, epsilon, drawn, drawn_2)


def f(state, epsilon):
    taken = []
    for _ in range(20):
        action = choose(state, epsilon)
        push = tf.gather([[0.1, 0.0], [-0.1, 0.0], [0.0, 0.1], [0.0, -0.1]], action)
        state = tf.tanh(state + push)
        taken.append(action)
    return tf.stack(taken), state


ARGS = [
    (tf.constant([0.5, -0.5]), 0.3),
    (tf.constant([0.5, -0.5]), 0.3),
    (tf.constant([-0.1, 0.8]), 0.1),
    (tf.constant([0.0, 0.0]), 1.0),
]
