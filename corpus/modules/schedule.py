"""The learning rate, which falls as the run goes on."""

import counters

BASE = 0.1


def rate():
    return BASE / (1 + counters.STEPS // 2)
