"""Images are prepared one after the other and gathered in a list.

A graph loop cannot grow a Python list.
"""

import tensorflow as tf

RNG = tf.random.Generator.from_seed(9)


def prepare(image):
    """An image of bytes [16, 16, 3] as floats [8, 8, 3], stretched to full contrast."""
    image = tf.image.resize(tf.cast(image, tf.float32) / 255.0, [8, 8])
    low, high = tf.reduce_min(image), tf.reduce_max(image)
    return (image - low) / (high - low + 1e-6)


@tf.function(
    autograph=False, input_signature=[tf.TensorSpec([None, 16, 16, 3], tf.uint8)]
)
def f(images):
    prepared = tf.TensorArray(
        tf.float32,
        size=0,
        dynamic_size=True,
        infer_shape=False,
        element_shape=[8, 8, None],
    )

    def body(i, prepared):
        image = images[i]
        prepared = prepared.write(prepared.size(), prepare(image))
        return i + 1, prepared

    _, prepared = tf.while_loop(
        lambda i, prepared: i < tf.shape(images)[0], body, (tf.constant(0), prepared)
    )
    return prepared.stack()


def images(count):
    pixels = RNG.uniform([count, 16, 16, 3], maxval=256, dtype=tf.int32)
    return tf.cast(pixels, tf.uint8)


ARGS = [(images(12),), (images(20),), (images(1),), (images(12),)]
