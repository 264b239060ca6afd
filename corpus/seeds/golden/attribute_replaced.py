"""A weight that is an attribute is replaced between calls by a new variable.

A trace holds on to the variable that it met.
"""

import tensorflow as tf

RNG = tf.random.Generator.from_seed(13)


class Projector:
    def __init__(self, size):
        self.weight = tf.Variable(RNG.normal([size, size], stddev=0.3))

    @staticmethod
    @tf.function(autograph=False)
    def call_graph(x, weight):
        for _ in range(20):
            x = tf.tanh(tf.linalg.matvec(weight, x)) + 0.1
        return x

    def call(self, x):
        return self.call_graph(x, self.weight)


projector = Projector(6)
f = projector.call


def between(i):
    projector.weight = tf.Variable(projector.weight + 0.1 * i)


ARGS = [(RNG.normal([6]),) for _ in range(4)]
