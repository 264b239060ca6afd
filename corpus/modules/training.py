"""A step of a run whose counter, flag and rate belong to other modules."""

import counters
import schedule
import tensorflow as tf

WEIGHTS = tf.Variable([1.0, -2.0])


def f(rows, targets):
    counters.STEPS += 1
    slope = tf.zeros([2])
    for row, target in zip(rows, targets):
        error = tf.reduce_sum(row * WEIGHTS) - target
        if counters.CLIPPED:
            if tf.abs(error) > 1.0:
                error = tf.sign(error)
        slope += error * row
    # The rate falls with the steps, and whoever runs this may lower it too.
    WEIGHTS.assign_sub(schedule.rate() * slope / 16.0)
    return slope


def batch(shift):
    rows = tf.reshape(tf.range(32.0), [16, 2]) / 16.0 - shift
    return rows, tf.reduce_sum(rows, axis=1) * 2.0 + shift


ARGS = [batch(0.0), batch(0.5), batch(1.0), batch(-0.5), batch(2.0)]


def between(i):
    counters.CLIPPED = i % 2 == 0
    schedule.BASE *= 0.9


def observe():
    return counters.STEPS, WEIGHTS.numpy().tolist()
