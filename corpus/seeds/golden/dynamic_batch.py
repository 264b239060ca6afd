"""A dense network meets a batch of another size on nearly every call.

Each new size is traced again, at a cost far above that of the call itself.
"""

import tensorflow as tf

RNG = tf.random.Generator.from_seed(3)
HIDDEN = [tf.Variable(RNG.normal([32, 32], stddev=0.2)) for _ in range(12)]
OUTPUT = tf.Variable(RNG.normal([32, 4], stddev=0.2))
BIAS = tf.Variable(tf.zeros([4]))


@tf.function(autograph=False, input_signature=[tf.TensorSpec([None, 32], tf.float32)])
def f(x):
    for weight in HIDDEN:
        x = tf.nn.relu(tf.matmul(x, weight)) + 0.1 * x
    x = x - tf.reduce_mean(x, axis=0)
    return tf.nn.softmax(tf.matmul(x, OUTPUT) + BIAS)


ARGS = [(RNG.normal([size, 32]),) for size in (32, 1, 17, 32, 5, 64)]
