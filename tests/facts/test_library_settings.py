"""Settings of Keras's own objects that change after they were made."""

from __future__ import annotations

import ast
import textwrap

import pytest

from graphlift.transforms.facts.library_settings import changed_settings
from graphlift.transforms.facts.modules import ModuleFacts

MADE = """
import tensorflow as tf

base = tf.keras.layers.Dense(2)
opt = tf.keras.optimizers.SGD(0.1, momentum=0.5)


class Net(tf.keras.Model):
    def __init__(self):
        self.base = tf.keras.layers.Dropout(0.5)
        self.base.trainable = False


class Config:
    rate = 0.5

    def step(self):
        self.rate = 0.1
        self.momentum = 0.2


def train(x):
    return base(x)

"""


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("def g():\n    base.trainable = False", {"layer": "base.trainable"}),
        ("def g():\n    base.activation = tf.nn.relu", {"layer": "base.activation"}),
        ("def g(net):\n    net.base.rate = 0.1", {"layer": "net.base.rate"}),
        ("def g():\n    opt.momentum *= 0.9", {"optimizer": "opt.momentum"}),
        ("def g():\n    setattr(opt, 'clipnorm', 1.0)", {"optimizer": "opt.clipnorm"}),
        (
            "def g(model):\n    for layer in model.layers:\n        layer.trainable = True",
            {"layer": "layer.trainable"},
        ),
        ("train(1)\nbase.trainable = True", {"layer": "base.trainable"}),
        (
            "for x in y:\n    base.trainable = x",
            {"layer": "base.trainable"},
        ),
        (
            "def g():\n    opt.learning_rate = tf.keras.optimizers.schedules.CosineDecay(1, 2)",
            {"optimizer": "opt.learning_rate"},
        ),
        ("def g():\n    opt.learning_rate = 0.1", {}),
        ("base.trainable = False\ntrain(1)", {}),
        ("def g(config):\n    config.rate = 0.1", {}),
        ("def g():\n    config = Config()\n    config.trainable = 0.1", {}),
        (
            "def g():\n    net = tf.keras.Sequential()\n    for layer in net.layers:\n        layer.trainable = False\n    return net",
            {},
        ),
        (
            "def g():\n    net = Net()\n    train(net)\n    net.trainable = False",
            {"layer": "net.trainable"},
        ),
        ("def g(net):\n    net.compile('adam')", {"compiled": "net.compile"}),
        ("def g():\n    base.add(1)", {"layer": "base.add"}),
        ("def g(seen):\n    seen.add(1)", {}),
        ("net = Net()\nnet.compile('adam')\ntrain(net)", {}),
    ],
)
def test_settings(text: str, settings: dict[str, str]) -> None:
    tree = ast.parse(MADE + textwrap.dedent(text))
    assert changed_settings(ModuleFacts(tree, "m")) == settings
