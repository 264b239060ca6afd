"""A recurrent cell is stepped in Python over the length of the batch.

The graph grows with the length, and is built anew for each length that comes along.
"""

import tensorflow as tf

UNITS = 16
RNG = tf.random.Generator.from_seed(11)
KERNEL = tf.Variable(RNG.normal([8, 4 * UNITS], stddev=0.3))
RECURRENT = tf.Variable(RNG.normal([UNITS, 4 * UNITS], stddev=0.3))


def cell(x, h, c):
    """One LSTM step: the new output and cell state."""
    gates = tf.matmul(x, KERNEL) + tf.matmul(h, RECURRENT)
    i, f, o, g = tf.split(gates, 4, axis=1)
    c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(g)
    return tf.sigmoid(o) * tf.tanh(c), c


@tf.function(autograph=False, input_signature=[tf.TensorSpec([4, None, 8], tf.float32)])
def encode(sequences):
    """The last output for a batch of sequences [batch, time, 8]."""
    batch = sequences.shape[0]
    h = tf.zeros([batch, UNITS])
    c = tf.zeros([batch, UNITS])
    limit = tf.shape(sequences)[1]

    def body(t, h, c):
        h, c = cell(sequences[:, t], h, c)
        return t + 1, h, c

    _, h, _ = tf.while_loop(
        lambda t, h, c: t < limit,
        body,
        (tf.constant(0), h, c),
        shape_invariants=(
            tf.TensorShape([]),
            tf.TensorShape([None, 16]),
            tf.TensorShape([None, 16]),
        ),
    )
    return h


f = encode

ARGS = [(RNG.normal([4, length, 8]),) for length in (20, 35, 20, 12)]
