"""Points come in as Python lists of numbers.

To a tf.function each list of other numbers is a new program to trace.
"""

import tensorflow as tf


@tf.function(autograph=False)
def potential(point, centres):
    """The potential at a point after it has slid downhill for thirty steps."""
    point = tf.constant(point)

    def body(i, point):
        offset = point - centres
        pull = tf.exp(-tf.reduce_sum(offset * offset, axis=1, keepdims=True))
        point = point - 0.1 * tf.reduce_sum(pull * offset, axis=0)
        return i + 1, point

    _, point = tf.while_loop(
        lambda i, point: i < 30,
        body,
        (tf.constant(0), point),
        shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])),
        maximum_iterations=30,
    )
    return tf.reduce_sum(tf.exp(-tf.norm(point - centres, axis=1)))


f = potential

CENTRES = tf.constant([[0.0, 0.0], [1.0, -1.0], [-2.0, 0.5]])
ARGS = [
    ([0.5, 0.5], CENTRES),
    ([0.25, -0.75], CENTRES),
    ([1.5, 0.5], CENTRES + 0.5),
    ([0.5, 0.5], CENTRES),
]
