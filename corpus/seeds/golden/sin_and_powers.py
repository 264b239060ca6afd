"""A formula is called with Python numbers that differ from call to call.

Each new number is a new trace with that number built in.
"""

import tensorflow as tf

SCALE = tf.Variable(2.0)


@tf.function(
    autograph=False,
    input_signature=[tf.TensorSpec([], tf.float64), tf.TensorSpec([], tf.float64)],
)
def compute(x, y):
    """A polynomial in sines of the two numbers."""
    z = SCALE * tf.cast(x, SCALE.dtype)
    for _ in range(25):
        z = z * tf.cast(y, z.dtype) + tf.sin(tf.cast(x, tf.float32))
        z = z**2
        z = tf.tanh(z + 1.0)
    return z


f = compute

ARGS = [(2.0, 3.0), (2.5, 3.0), (2.5, -1.0), (0.1, 0.2), (2.0, 3.0)]
