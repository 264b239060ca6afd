"""The weight being fitted is a variable made inside the function.

A tf.function may make variables on its first call only.
"""

import tensorflow as tf


slope = tf.Variable(tf.zeros([], tf.float32))


@tf.function(
    autograph=False,
    input_signature=[
        tf.TensorSpec([None], tf.float32),
        tf.TensorSpec([None], tf.float32),
    ],
)
def fit_slope(x, y):
    """The slope of y over x by thirty steps of gradient descent."""
    slope.assign(0.0)

    def body(i):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(slope * x - y))
        slope.assign_sub(0.1 * tape.gradient(loss, slope))
        return (i + 1,)

    tf.while_loop(lambda i: i < 30, body, (tf.constant(0),), maximum_iterations=30)
    return slope.read_value()


f = fit_slope

X = tf.constant([0.5, 1.0, 1.5, 2.0])
ARGS = [(X, 3.0 * X), (X, -X + 0.25), (X[:3], X[:3] * X[:3]), (X, 3.0 * X)]
