"""Scores are sharpened by a temperature that is a Python number and follows a schedule.

Each temperature is another trace.
"""

import tensorflow as tf


@tf.function(
    autograph=False,
    input_signature=[tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.float64)],
)
def sharpen(ids, temperature):
    """A distribution over ids, sharpened in twenty rounds of falling temperature."""
    scores = tf.cast(ids, tf.float32)
    for step in range(20):
        heat = temperature + (1.0 - temperature) * step / 19
        scores = scores - tf.reduce_logsumexp(scores / tf.cast(heat, scores.dtype))
        scores = scores / tf.reduce_max(tf.abs(scores))
    return tf.nn.softmax(scores)


f = sharpen

ARGS = [
    (tf.constant([1, 2, 3]), 4.0),
    (tf.constant([1, 2, 3]), 3.5),
    (tf.constant([7, 2]), 3.0),
    (tf.constant([5, 1, 4, 4]), 2.5),
    (tf.constant([1, 2, 3]), 1.0),
]
