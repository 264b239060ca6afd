"""The project of corpus/modules, whose modules share state: lifted as a whole, and doing what it did."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

CORPUS = Path(__file__).parents[2] / "corpus"
MODULES = CORPUS / "modules"
PACKAGE = {
    "pkg/__init__.py": "",
    "pkg/models.py": """
        import tensorflow as tf

        BIAS = 0.25


        class Net:
            def __init__(self):
                self.weight = tf.Variable(2.0)
                self.scale = 1.5

            def __call__(self, x):
                if x > 1.0:
                    return x * self.weight
                return x * self.scale


        def act(x):
            return tf.nn.relu(x) * 2.0


        def halvings(x):
            n = 0
            while x > 0.1:
                x = x / 2.0
                n += 1
            return n
    """,
    "pkg/steps.py": """
        import tensorflow as tf
        from pkg import models
        from .models import BIAS, Net, act

        net = Net()


        def step(x):
            y = act(x)
            for _ in range(3):
                y = net(y)
            return y * models.BIAS + BIAS


        def counted(x):
            return tf.sqrt(tf.abs(x)) * models.halvings(x)
    """,
    "run.py": """
        import tensorflow as tf
        from pkg import models, steps

        for value in (0.5, 2.0, -1.0, 3.0):
            x = tf.constant(value)
            print(steps.step(x).numpy(), steps.counted(x).numpy())
            models.BIAS += 1.0
            steps.net.scale -= 0.25
    """,
}
KINDS = {
    "state.py": """
        import tensorflow as tf

        SEEN = 0
        RATE = 0.5
        weights = tf.Variable([1.0, 2.0])


        def note():
            global SEEN
            SEEN += 1


        def counted(x):
            note()
            return tf.reduce_sum(x * x) * SEEN


        def rated(x):
            weights.assign_sub(RATE * tf.sin(x * weights))
            return tf.reduce_sum(weights * x)


        class Tracker:
            def __init__(self):
                self.mean, self.calls, self.open = tf.zeros([2]), 0, True

            def update(self, x):
                self.calls += 1
                if self.open:
                    self.mean = self.mean + (x - self.mean) / self.calls
                return self.mean * 2.0


        tracker = Tracker()


        def tracked(x):
            return tracker.update(x)


        def buffered(x):
            buffer = tf.Variable(tf.zeros([2]))
            for row in tf.stack([x, x * 2.0]):
                buffer.assign_add(row)
            return buffer * RATE


        def stepped(x):
            optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum((weights * x - 1.0) ** 2)
            optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
            return loss


        def around():
            total, rounds = tf.zeros([2]), 0

            def add(x):
                nonlocal total, rounds
                total, rounds = total + x, rounds + 1
                return total / rounds

            def reset():
                nonlocal total, rounds
                total, rounds = tf.zeros([2]), 0

            return add, reset


        add, reset = around()
    """,
    "run.py": """
        import tensorflow as tf
        import state
        from state import tracker

        NAMES = ("counted", "rated", "tracked", "buffered", "stepped", "add")

        for i in range(6):
            x = tf.constant([float(i), 1.0])
            for name in NAMES:
                print(name, getattr(state, name)(x).numpy().tolist())
            print(f"{state.SEEN} {tracker.calls} {tracker.mean.numpy().tolist()}")
            state.RATE *= 0.5
            tracker.open = not tracker.open
            if i == 2:
                state.SEEN = 10
                state.reset()
                tracker.mean, tracker.calls = tf.ones([2]), 0
                state.weights.assign([0.5, -0.5])
    """,
}
RECIPES = {
    "recipes.py": """
        from dataclasses import dataclass

        import tensorflow as tf


        @dataclass
        class Settings:
            rate: float = 0.1
            clip: bool = False
            patience: int = 2


        settings = Settings()
        options = {"scale": 1.0}
        strategy = tf.distribute.get_strategy()
        with strategy.scope():
            w = tf.Variable([1.0, -1.0])


        class Policy:
            def __init__(self):
                self.online = tf.Variable([0.5, 1.5])
                self.target = tf.Variable([0.5, 1.5])
                self.shadow = tf.Variable([0.0, 0.0])
                self.optimizer = tf.keras.optimizers.Adam(0.1)
                self.steps = 0

            def learn(self, x):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum((self.online * x - self.target) ** 2)
                gradient = tape.gradient(loss, self.online)
                self.optimizer.apply_gradients([(gradient, self.online)])
                self.shadow.assign(0.9 * self.shadow + 0.1 * self.online)
                self.steps += 1
                if self.steps % 3 == 0:
                    self.target.assign(self.online)
                return loss


        class Accumulator:
            def __init__(self, every):
                self.every = every
                self.waiting = None
                self.count = 0

            def step(self, x):
                gradient = tf.clip_by_norm(w - x, 1.0) if settings.clip else w - x
                if self.waiting is None:
                    self.waiting = gradient
                else:
                    self.waiting = self.waiting + gradient
                self.count += 1
                if self.count == self.every:
                    w.assign_sub(settings.rate * self.waiting / self.every)
                    self.waiting = None
                    self.count = 0
                return tf.reduce_sum(gradient)


        class Stopping:
            def __init__(self):
                self.best = float("inf")
                self.bad = 0
                self.stopped = False

            def update(self, x):
                loss = tf.reduce_sum(x * x)
                if loss < self.best:
                    self.best = float(loss)
                    self.bad = 0
                else:
                    self.bad += 1
                    if self.bad >= settings.patience:
                        self.stopped = True
                return tf.sqrt(loss)


        policy, accumulator, stopping = Policy(), Accumulator(2), Stopping()
        annealed = 0


        def learned(x):
            return policy.learn(x)


        def accumulated(x):
            return accumulator.step(x)


        def stopped(x):
            return stopping.update(x)


        def divergence(x):
            global annealed
            annealed += 1
            weight = min(1.0, annealed / 4.0) * options["scale"]
            return tf.reduce_mean(tf.exp(x) - x - 1.0) * weight


        def drawn(x):
            generator = tf.random.Generator.from_seed(3)
            return x + generator.normal([2]) * options["scale"]


        def replica(x):
            loss = tf.reduce_sum(tf.square(w * x))
            if loss > 2.0:
                loss = tf.sqrt(loss)
            return loss


        def distributed(x):
            return strategy.run(replica, args=(x,))


        def meter():
            cells = {"n": 0, "mean": tf.zeros([2])}

            def add(x):
                cells["n"] += 1
                cells["mean"] = cells["mean"] + (x - cells["mean"]) / cells["n"]
                return cells["mean"] * options["scale"]

            return add, cells


        metered, cells = meter()
    """,
    "run.py": """
        import tensorflow as tf
        import recipes
        from recipes import policy, settings, stopping

        NAMES = (
            "learned",
            "accumulated",
            "stopped",
            "divergence",
            "drawn",
            "distributed",
            "metered",
        )

        for i in range(6):
            x = tf.constant([float(i % 3), 1.0])
            for name in NAMES:
                print(name, getattr(recipes, name)(x).numpy().tolist())
            print(policy.steps, policy.shadow.numpy().tolist(), recipes.w.numpy().tolist())
            print(f"{stopping.best} {stopping.bad} {stopping.stopped} {recipes.annealed}")
            settings.rate *= 0.5
            settings.clip = not settings.clip
            recipes.options["scale"] = 1.0 + i
            if i == 2:
                policy.optimizer = tf.keras.optimizers.SGD(0.1)
                settings.patience = 1
                recipes.annealed = 0
                stopping.bad, stopping.best = 0, 4.0
                recipes.cells["n"] = 5
    """,
}
SWAPS = {
    "kept.py": """
        import tensorflow as tf

        front = tf.Variable([1.0, 2.0])
        back = tf.Variable([0.0, 0.0])
        losses = tf.keras.metrics.Mean(name="losses")


        class Settings:
            rate = 0.5
            clip = False
            used = 0


        class Smoother:
            made = 0

            def __init__(self, decay):
                Smoother.made += 1
                self.decay = decay
                self.mean = tf.zeros([2])

            def update(self, x):
                Settings.used += 1
                self.mean = self.decay * self.mean + (1.0 - self.decay) * x
                return self.mean * Settings.rate


        def swap():
            global front, back
            front, back = back, front


        def advanced(x):
            back.assign(0.5 * front + x)
            swap()
            return front.read_value() * 2.0


        def stepped(x):
            slope = tf.sin(x)
            if Settings.clip:
                slope = tf.clip_by_norm(slope, 0.5)
            return x - Settings.rate * slope


        def centered(x, seen={"n": 0, "mean": tf.zeros([2])}):
            seen["n"] += 1
            seen["mean"] = seen["mean"] + (x - seen["mean"]) / seen["n"]
            return x - seen["mean"]


        def powered(x, power=2.0, *, shift=0.5):
            if tf.reduce_sum(x) > 1.0:
                return tf.abs(x) ** power
            return x + shift


        def measured(x):
            losses.update_state(tf.reduce_mean(tf.square(x - 1.0)))
            return losses.result() * 2.0


        def averaged(x):
            mean = tf.keras.metrics.Mean()
            for row in tf.stack([x, x * 2.0]):
                mean.update_state(tf.reduce_sum(row))
            return mean.result() * Settings.rate


        def fitted(x):
            slope = tf.Variable(tf.zeros_like(x))
            for _ in range(3):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum(tf.square(slope * x - front))
                slope.assign_sub(0.1 * tape.gradient(loss, slope))
            return slope
    """,
    "others.py": """
        import tensorflow as tf
        import kept
        from kept import Settings, Smoother, losses


        class Counting(Smoother):
            def __init__(self, decay):
                super().__init__(decay)
                self.count = 0

            def update(self, x):
                self.count += 1
                self.mean = self.mean * tf.cast(self.count % 2, tf.float32)
                return super().update(x)


        def change(i):
            Settings.rate *= 0.5
            Settings.clip = not Settings.clip
            kept.back.assign([0.5 * i, -0.5])
            kept.powered.__defaults__ = (float(i),)
            kept.powered.__kwdefaults__ = {"shift": 0.1 * i}
            if i == 2:
                losses.reset_state()
                kept.centered.__defaults__[0]["n"] = 0
                Settings.used = 50
                kept.swap()
    """,
    "run.py": """
        import numpy as np
        import tensorflow as tf
        import kept
        import others

        NAMES = (
            "advanced",
            "stepped",
            "centered",
            "powered",
            "measured",
            "averaged",
            "fitted",
        )
        smoothers = [kept.Smoother(0.5), others.Counting(0.75)]

        for i in range(6):
            x = tf.constant([float(i % 4), 0.25])
            for name in NAMES:
                print(name, np.round(getattr(kept, name)(x).numpy(), 4).tolist())
            for smoother in smoothers:
                print(np.round(smoother.update(x).numpy(), 4).tolist(), smoother.decay)
            print(kept.Settings.used, kept.Smoother.made, smoothers[1].count)
            print(kept.front.numpy().tolist(), kept.back.numpy().tolist())
            print(f"{kept.losses.result():.3f} {kept.centered.__defaults__[0]['n']}")
            smoothers[0].decay *= 0.5
            others.change(i)
    """,
}
EXTENDED = {
    "models.py": """
        import tensorflow as tf


        class Model:
            def __init__(self):
                self.weights = tf.Variable([1.0, -2.0])
                self.calls = 0

            def loss(self, x):
                return tf.reduce_sum((self.weights - x) ** 2)

            def counted_loss(self, x):
                self.calls += 1
                return self.loss(x)


        def searched(model, x):
            best = model.counted_loss(x)
            for _ in range(5):
                x = x * 0.8
                loss = model.counted_loss(x)
                if loss > best:
                    break
                best = loss
            return x


        def descended(model, x):
            start, rate = model.loss(x), tf.constant(1.0)
            while model.loss(x - rate * x) > start - 1.0:
                rate = rate * 0.5
                if rate < 0.1:
                    break
            return x - rate * x


        def minimized(model):
            x = tf.constant([3.0, 4.0])
            for _ in range(4):
                x = descended(model, searched(model, x))
                print(x.numpy().round(4).tolist(), model.calls)


        def main():
            minimized(Model())
    """,
    "run.py": """
        import models

        models.main()
    """,
    "others.py": """
        from models import Model, minimized


        class Counted(Model):
            def loss(self, x):
                self.calls += 10
                return super().loss(x) + 1.0

            def counted_loss(self, x):
                self.calls += 100
                return 0.5 * super().counted_loss(x)


        class Other:
            def __init__(self):
                self.calls = 0

            def loss(self, x):
                self.calls += 1
                return x[0] ** 2

            def counted_loss(self, x):
                return self.loss(x) + x[1] ** 2


        for model in (Counted(), Other()):
            minimized(model)
    """,
}
REPLICAS = {
    "runs/__init__.py": """
        from .settings import SETTINGS
    """,
    "runs/settings.py": """
        from dataclasses import dataclass


        @dataclass
        class Settings:
            limit: float = 1.0
            phase: str = "warm up"


        SETTINGS = Settings()
    """,
    "runs/steps.py": """
        import tensorflow as tf

        from . import SETTINGS


        class Trainer:
            def __init__(self, strategy):
                self.strategy = strategy
                with strategy.scope():
                    self.weights = tf.Variable([1.0, -1.0])
                    self.optimizer = tf.keras.optimizers.SGD(0.1)

            def fixed(self, x):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum(tf.square(self.weights * x - 1.0))
                gradient = tape.gradient(loss, self.weights)
                if tf.norm(gradient) > 1.0:
                    gradient = gradient / tf.norm(gradient)
                self.optimizer.apply_gradients([(gradient, self.weights)])
                return loss

            def limited(self, x):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum(tf.square(self.weights * x - 1.0))
                gradient = tape.gradient(loss, self.weights)
                if tf.norm(gradient) > SETTINGS.limit:
                    gradient = gradient * SETTINGS.limit / tf.norm(gradient)
                self.applied(gradient)
                return loss

            def applied(self, gradient):
                scale = 1.0 + tf.math.sqrt(tf.math.abs(tf.math.sin(tf.norm(gradient))))
                gradient = tf.math.tanh(gradient) * tf.math.softplus(scale)
                self.optimizer.apply_gradients([(gradient, self.weights)])


        STRATEGY = tf.distribute.MirroredStrategy(["/cpu:0"])
        TRAINER = Trainer(STRATEGY)


        def whole(x):
            loss = tf.reduce_sum(tf.square(TRAINER.weights * x - 1.0))
            if loss > 1.0:
                loss = tf.sqrt(loss)
            return loss


        def smoothed(x):
            for value in x:
                x = x - 0.1 * value
            if SETTINGS.phase == "warm up":
                return x * 0.5
            return x
    """,
    "run.py": """
        import tensorflow as tf
        from runs import SETTINGS
        from runs.steps import STRATEGY, TRAINER, smoothed, whole

        for i in range(5):
            x = smoothed(tf.constant([float(i), 2.0]))
            print(STRATEGY.run(whole, args=(x,)).numpy())
            print(STRATEGY.run(TRAINER.fixed, args=(x,)).numpy())
            print(STRATEGY.run(TRAINER.limited, args=(x,)).numpy())
            print(TRAINER.weights.numpy().round(4).tolist())
            SETTINGS.limit = 1.0 / (1 + i)
            SETTINGS.phase = "main" if i == 2 else "warm up"
    """,
}
RUN = """
import training
for i, arguments in enumerate(training.ARGS):
    if i:
        training.between(i)
    print(training.f(*arguments).numpy().tolist(), training.observe())
"""


DRAWN = {
    "clock.py": """
        import random

        random.seed(1)
        step, base = 0, 0.1


        def rate(scale):
            drawn = random.random()
            return drawn * base * scale / (1 + step)
    """,
    "steps.py": """
        import tensorflow as tf
        import clock

        weights = tf.Variable([1.0, 2.0])


        def looped(x):
            y = tf.sin(x)
            for _ in range(3):
                weights.assign_sub(clock.rate(0.5) * y)
                clock.step += 1
                y = tf.cos(y) * tf.exp(-y) + tf.sin(y)
            return y


        def chosen(x, flag):
            y = tf.sin(x) * tf.exp(x)
            if flag:
                clock.step += 1
                y = tf.cos(y) * clock.rate(3.0)
            else:
                y = tf.cos(y) * clock.rate(1.0)
            return y
    """,
    "run.py": """
        import tensorflow as tf
        import clock, steps

        for i in range(6):
            x = tf.constant([0.1 * i, 1.0])
            found = [*steps.looped(x), *steps.chosen(x, i % 2 == 0), *steps.weights]
            print(clock.step, *(f"{float(n):.4f}" for n in found))
            if i == 3:
                clock.step, clock.base = 0, 0.5
    """,
}


SHOWN = {
    "shown.py": """
        import tensorflow as tf

        weight = tf.Variable(0.25)
        MANY = tf.ones([200, 200])


        def show(x):
            for _ in tf.range(3):
                print("in", float(weight + tf.reduce_sum(MANY @ MANY) * 0.0))
                if x < 1.0:
                    break
            return x * 0.5
    """,
    "steps.py": """
        import tensorflow as tf
        import shown


        def step(x):
            y = shown.show(x)
            if x < 9.0:
                print("after")
            return y + x
    """,
    "run.py": """
        import tensorflow as tf
        import steps

        for value in (0.5, 2.0, -1.0, 10.0):
            steps.step(tf.constant(value))
    """,
}


def write(files: dict[str, str], folder: Path) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"))
LAYERS = {
    "layers.py": """
        import enum

        import tensorflow as tf


        class Mode(enum.Enum):
            TRAIN = 1
            TEST = 2


        class Center(tf.keras.layers.Layer):
            def __init__(self):
                super().__init__()
                self.seen = 0
                self.mode = Mode.TRAIN

            def build(self, shape):
                self.mean = self.add_weight(shape=shape[-1:], initializer="zeros")

            def call(self, x):
                if self.mode is Mode.TRAIN:
                    self.seen += 1
                    self.mean.assign(0.5 * self.mean + 0.5 * tf.reduce_mean(x, axis=0))
                return x - self.mean


        center = Center()
        strategy = tf.distribute.get_strategy()
        with strategy.scope():
            body = tf.keras.layers.Dense(2, kernel_initializer="ones")
            head = tf.keras.layers.Dense(1, kernel_initializer="ones")
        body.build((None, 2))
        head.build((None, 2))
        weights = tf.Variable([1.0, 2.0])
        losses = tf.keras.metrics.Mean()
        factor = 1.0
        steps = 0


        def measured(x):
            loss = tf.reduce_sum((weights - x) ** 2) * factor
            losses.update_state(loss)
            return loss


        def replica(x):
            loss = tf.reduce_mean(tf.nn.relu(x * weights) ** 2) * factor
            weights.assign_sub(0.1 * loss * x)
            return loss


        def distributed(x):
            global steps
            steps += 1
            return strategy.run(replica, args=(x,)) / steps


        def tuned(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(head(body(x)) ** 2)
            variables = body.trainable_variables + head.trainable_variables
            for slope, variable in zip(tape.gradient(loss, variables), variables):
                variable.assign_sub(0.01 * slope)
            return loss
    """,
    "steering.py": """
        import layers
        import tensorflow as tf


        def steer(i):
            layers.factor = 1.0 / (1 + i)
            layers.body.trainable = i % 2 == 0
            layers.center.mode = layers.Mode.TEST if i == 2 else layers.Mode.TRAIN
            if i == 3:
                layers.losses = tf.keras.metrics.Mean()
                layers.center.seen = 10
    """,
    "run.py": """
        import layers
        import steering
        import tensorflow as tf

        for i in range(5):
            x = tf.constant([float(i), 1.0])
            print(layers.center(tf.stack([x, 2.0 * x])).numpy(), layers.center.seen)
            print(layers.measured(x).numpy(), layers.losses.result().numpy())
            print(layers.distributed(x).numpy(), layers.steps)
            print(layers.tuned(x[None]).numpy(), layers.body.kernel.numpy())
            steering.steer(i)
    """,
}


STEPPED = {
    "run.py": """
        import keras
        import tensorflow as tf

        keras.utils.set_random_seed(0)


        class Net(keras.Model):
            def __init__(self, most):
                super().__init__()
                self.head = keras.layers.Dense(1)
                self.most = most
                self.losses_seen = keras.metrics.Mean()
                self.skipped = 0

            def call(self, x):
                return self.head(x)

            def train_step(self, data):
                x, y = data
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(tf.square(self(x) - y))
                grads = tape.gradient(loss, self.trainable_variables)
                norm = tf.linalg.global_norm(grads)
                if tf.math.is_nan(norm):
                    self.skipped += 1
                    return {"loss": self.losses_seen.result(), "norm": norm}
                if norm > self.most:
                    grads, _ = tf.clip_by_global_norm(grads, self.most)
                self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
                self.losses_seen.update_state(loss)
                return {"loss": self.losses_seen.result(), "norm": norm}


        def main():
            net = Net(1.0)
            net.build((None, 3))
            net.compile(optimizer=keras.optimizers.SGD(0.1))
            x = tf.reshape(tf.range(48.0) % 7.0, [16, 3]) - 2.0
            y = tf.reduce_sum(x, axis=1, keepdims=True)
            for epoch in range(3):
                for i in range(0, 16, 4):
                    logs = net.train_step((x[i : i + 4], y[i : i + 4]))
                bad = x[:2] * float("nan") if epoch else x[:2]
                logs = net.train_step((bad, y[:2]))
                print(epoch, round(float(logs["loss"]), 4), float(logs["norm"]), net.skipped)


        main()
    """
}


def graphs_of(
    files: dict[str, str], name: str, folder: Path, left: int = 1
) -> set[str]:
    """The graphs in a module of a project that, lifted, prints what it printed."""
    write(files, folder)
    eager = graphlift(folder, "record", "--", sys.executable, "run.py")
    graphlift(folder, "rewrite", ".", expect=left)
    assert output([sys.executable, "run.py"], folder) == eager
    text = (folder / name).read_text()
    return set(re.findall(r"tf\.function\(.*?\n *def (\w+)", text, re.DOTALL))


def test_state_that_another_module_changes(tmp_path: Path) -> None:
    assert graphs_of(KINDS, "state.py", tmp_path) == {
        "counted_graph",
        "rated_graph",
        "tracked_graph",
        "buffered_graph",
        "stepped",
        "add_graph",
    }


def test_training_that_another_module_steers(tmp_path: Path) -> None:
    assert graphs_of(RECIPES, "recipes.py", tmp_path) == {
        "learned_graph",
        "accumulated_graph",
        "update_graph",
        "divergence_graph",
        "drawn_graph",
        "replica",
        "add_graph",
    }


def test_what_another_module_swaps_extends_and_calls(tmp_path: Path) -> None:
    assert graphs_of(SWAPS, "kept.py", tmp_path) == {
        "update_graph",
        "advanced_graph",
        "stepped_graph",
        "centered_graph",
        "powered_graph",
        "measured",
        "averaged_graph",
        "fitted_graph",
    }
    assert "counting_update_graph" in (tmp_path / "others.py").read_text()


def test_layers_and_replicas_that_another_module_steers(tmp_path: Path) -> None:
    assert graphs_of(LAYERS, "layers.py", tmp_path) == {
        "call_graph",
        "measured_graph",
        "replica_graph",
    }


def test_what_a_strategy_runs_is_a_graph_as_a_whole_or_updates_outside(
    tmp_path: Path,
) -> None:
    assert graphs_of(REPLICAS, "runs/steps.py", tmp_path, left=0) == {
        "whole",
        "fixed_graph",
        "limited_graph",
        "applied_graph",
        "smoothed_graph",
    }


def test_steps_of_a_keras_model_that_no_graph_runs(tmp_path: Path) -> None:
    """The method has a graph, and so its caller's loop needs none."""
    assert graphs_of(STEPPED, "run.py", tmp_path) == {"train_step_graph"}


def test_classes_of_other_modules_that_no_recording_saw(tmp_path: Path) -> None:
    write(EXTENDED, tmp_path)
    graphlift(tmp_path, "record", "--", sys.executable, "run.py")
    eager = output([sys.executable, "others.py"], tmp_path)
    told = graphlift(tmp_path, "rewrite", "models.py", expect=1)
    assert output([sys.executable, "others.py"], tmp_path) == eager
    assert "`loss` that a class of another module has" in told


def test_what_another_module_draws_and_reads_keeps_its_place(tmp_path: Path) -> None:
    assert not graphs_of(DRAWN, "steps.py", tmp_path)


def test_what_another_module_prints_keeps_its_place(tmp_path: Path) -> None:
    assert graphs_of(SHOWN, "steps.py", tmp_path, left=0) == {"step"}


def test_graphs_call_what_other_modules_define(tmp_path: Path) -> None:
    write(PACKAGE, tmp_path)
    eager = graphlift(tmp_path, "record", "--", sys.executable, "run.py")
    told = graphlift(tmp_path, "rewrite", ".", expect=1)
    assert output([sys.executable, "run.py"], tmp_path) == eager
    steps = (tmp_path / "pkg" / "steps.py").read_text()
    assert "step_graph" in steps or "tf.function" in steps
    assert "`pkg.models.halvings`" in told


def graphlift(folder: Path, *arguments: str, expect: int = 0) -> str:
    run = "import sys; from graphlift.codemods.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", run, *arguments]
    return output(command, folder, expect)


def output(command: list[str], folder: Path, expect: int = 0) -> str:
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout


def test_modules_that_share_state(tmp_path: Path, update_golden: bool) -> None:
    for path in MODULES.glob("*.py"):
        shutil.copy(path, tmp_path)
    (tmp_path / "run.py").write_text(RUN)
    eager = graphlift(tmp_path, "record", "--", sys.executable, "run.py")
    graphlift(tmp_path, "rewrite", ".")
    texts = {path.name: path.read_text() for path in tmp_path.glob("*.py")}
    lifted = {
        path.name: texts[path.name]
        for path in MODULES.glob("*.py")
        if texts[path.name] != path.read_text()
    }
    if update_golden:
        for name, text in lifted.items():
            (MODULES / "golden" / name).write_text(text)
    golden = {path.name: path.read_text() for path in (MODULES / "golden").glob("*.py")}
    assert lifted == golden
    assert output([sys.executable, "run.py"], tmp_path) == eager
    graphlift(tmp_path, "rewrite", ".")
    assert texts == {path.name: path.read_text() for path in tmp_path.glob("*.py")}
