"""A step of a run whose counter, flag and rate belong to other modules."""

import counters
import schedule
import tensorflow as tf

WEIGHTS = tf.Variable([1.0, -2.0])


@tf.function(autograph=False)
def f_graph(rows, targets, clipped):
    slope = tf.zeros([2])

    def body(i, slope):
        row = rows[i]
        target = targets[i]
        error = tf.reduce_sum(row * WEIGHTS) - target
        if clipped:
            error = tf.cond(tf.abs(error) > 1.0, lambda: tf.sign(error), lambda: error)
        slope += error * row
        return i + 1, slope

    _, slope = tf.while_loop(lambda i, slope: i < 16, body, (tf.constant(0), slope))
    return slope


def f(rows, targets):
    slope = f_graph(rows, targets, counters.CLIPPED)
    counters.STEPS += 1
    # The rate falls with the steps, and whoever runs this may lower it too.
    WEIGHTS.assign_sub(schedule.rate() * slope / 16.0)
    return slope


@tf.function(autograph=False, input_signature=[tf.TensorSpec([], tf.float64)])
def batch(shift):
    rows = tf.reshape(tf.range(32.0), [16, 2]) / 16.0 - tf.cast(shift, tf.float32)
    return rows, tf.reduce_sum(rows, axis=1) * 2.0 + tf.cast(shift, tf.float32)


ARGS = [batch(0.0), batch(0.5), batch(1.0), batch(-0.5), batch(2.0)]


def between(i):
    counters.CLIPPED = i % 2 == 0
    schedule.BASE *= 0.9


def observe():
    return counters.STEPS, WEIGHTS.numpy().tolist()
