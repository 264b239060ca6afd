"""A trainer counts its steps to warm up the learning rate, and keeps metrics.

The counter stands still in a graph, and with it the learning rate.
"""

import tensorflow as tf

tf.keras.utils.set_random_seed(5)
RNG = tf.random.Generator.from_seed(5)


class Trainer(tf.Module):
    def __init__(self, model, learning_rate=0.1, warmup=4):
        super().__init__()
        self.model = model
        self.learning_rate = learning_rate
        self.warmup = warmup
        self.steps = 0
        self.loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.mean_loss = tf.keras.metrics.Mean(name="loss")
        self.accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="accuracy")

    @tf.function(
        autograph=False,
        input_signature=[
            tf.TensorSpec([None, 8, 8, 1], tf.float32),
            tf.TensorSpec([None], tf.int32),
            tf.TensorSpec([], tf.float64),
        ],
    )
    def train_step_graph(self, images, labels, rate):
        weights = self.model.trainable_variables
        with tf.GradientTape() as tape:
            logits = self.model(images, training=True)
            loss = self.loss_fn(labels, logits)
            loss += sum(self.model.losses)
        for weight, gradient in zip(weights, tape.gradient(loss, weights)):
            weight.assign_sub(tf.cast(rate, gradient.dtype) * gradient)
        self.mean_loss.update_state(loss)
        self.accuracy.update_state(labels, logits)
        return loss

    def train_step(self, images, labels):
        """The loss on a batch; the weights move and the metrics count it."""
        self.steps += 1
        rate = self.learning_rate * min(1.0, self.steps / self.warmup)
        return self.train_step_graph(images, labels, rate)


regularizer = tf.keras.regularizers.L2(0.01)
model = tf.keras.Sequential(
    [
        tf.keras.Input([8, 8, 1]),
        tf.keras.layers.Conv2D(4, 3, activation="relu", kernel_regularizer=regularizer),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(10, kernel_regularizer=regularizer),
    ]
)
trainer = Trainer(model)
f = trainer.train_step


def observe():
    return (
        trainer.steps,
        float(trainer.mean_loss.result()),
        float(trainer.accuracy.result()),
    )


def batch(size):
    return RNG.normal([size, 8, 8, 1]), RNG.uniform([size], maxval=10, dtype=tf.int32)


ARGS = [batch(size) for size in (16, 16, 16, 4)]
