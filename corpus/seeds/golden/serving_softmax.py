"""A serving module answers with a label in plain text.

A graph cannot index a Python list with a tensor that has no value yet.
"""

import tensorflow as tf

RNG = tf.random.Generator.from_seed(4)


class Classifier(tf.Module):
    def __init__(self, labels, features, depth):
        super().__init__()
        self.labels = labels
        self.hidden = [
            tf.Variable(RNG.normal([features, features], stddev=0.3))
            for _ in range(depth)
        ]
        self.output = tf.Variable(RNG.normal([features, len(labels)]))

    @tf.function(autograph=False, input_signature=[tf.TensorSpec([None], tf.float32)])
    def logits(self, x):
        for weight in self.hidden:
            x = x + tf.nn.relu(tf.linalg.matvec(weight, x))
        return tf.linalg.matvec(self.output, x, transpose_a=True)

    @tf.function(autograph=False, input_signature=[tf.TensorSpec([12], tf.float32)])
    def serve_graph(self, x):
        probabilities = tf.nn.softmax(self.logits(x))
        best = tf.argmax(probabilities)
        return tf.cast(probabilities[best], tf.float64), best

    def serve(self, x):
        """The label of one example and its probability."""
        value, best = self.serve_graph(x)
        value = float(value)
        best = int(best)
        return self.labels[best], value


classifier = Classifier(["cat", "dog", "fox"], features=12, depth=15)
f = classifier.serve

ARGS = [(RNG.normal([12]),) for _ in range(4)]
