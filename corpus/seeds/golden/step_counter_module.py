"""A module counts its steps in a Python attribute and decays by it.

The attribute does not move in a graph.
"""

import tensorflow as tf


class Counter(tf.Module):
    def __init__(self):
        super().__init__()
        self.count = 0
        self.total = tf.Variable(0.0)

    @tf.function(
        autograph=False,
        input_signature=[tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.int64)],
    )
    def increment_graph(self, x, count):
        for _ in range(25):
            x = x - 0.1 * tf.sin(x)
        self.total.assign_add(x / tf.cast(count, x.dtype))
        return self.total.read_value()

    def increment(self, x):
        """Adds x, weighted by the number of the step, to the total."""
        self.count += 1
        return self.increment_graph(x, self.count)


counter = Counter()
f = counter.increment


def observe():
    return counter.count, float(counter.total)


ARGS = [
    (tf.constant(1.0),),
    (tf.constant(1.0),),
    (tf.constant(-2.0),),
    (tf.constant(0.5),),
]
