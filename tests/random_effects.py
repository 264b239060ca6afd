"""Writes small random programs that do more than compute: they keep state in objects, globals and Variables, append,
print, draw and read tensors into Python, between, before and after their tensor work.

The tensor work is that of `random_writer`; attributes are among the names that it reads and sets.
"""

from __future__ import annotations

import random

from harness import Program
from random_writer import RESULTS, Lines, Scope, Writer, indented

HEAD = """\
import random

import tensorflow as tf

random.seed(7)
LOG = []
SEEN = {"n": 0}
CALLS = 0


class Model:
    def __init__(self):
        self.total = tf.constant(0.5)
        self.best = tf.constant(-1.0)
        self.count = 0
        self.rate = 0.5
        self.w = tf.Variable(0.25)
        self.log = []
"""

OBSERVED = "(LOG, SEEN, CALLS, model.total, model.best, model.count, model.rate, model.w, model.log)"


class EffectWriter(Writer):
    """Writes one program with effects; the same random numbers write the same one."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.owner = "model"
        self.methods: list[str] = []
        self.counter = False
        self.depth = rng.choice([0, 1, 1, 2])
        self.result = rng.choice([*RESULTS[:4], _state, _reading])
        kinds = [self.logging, self.keeping, self.varying, self.drawing, self.printing]
        kinds += [self.reading, self.asking, self.tallying]
        self.kinds = rng.sample(kinds, rng.randint(1, 4))

    def program(self, name: str = "case") -> Program:
        """A program with its calls."""
        methods = [
            self.method(m) for m in ("step", "update")[: self.rng.choice([0, 1, 2])]
        ]
        head = "\n".join([HEAD, *methods]).rstrip() + "\n\n\nmodel = Model()"
        self.owner = "model"
        return Program(
            text="\n\n\n".join([head, self.function()]) + "\n",
            calls=self.calls(),
            observe=OBSERVED,
            name=name,
        )

    def method(self, name: str) -> str:
        self.owner = "self"
        scope = self.scope(["a"], [])
        with self.at_depth(min(self.depth, 1)):
            body = self.block(scope, self.returns_real)
        body += self.returns_real(scope)
        self.methods.append(name)
        lines = [f"def {name}(self, a):", *indented(["global CALLS", *body])]
        return "\n".join(indented(lines)) + "\n"

    def function(self) -> str:
        scope = self.scope(["x", "y"], ["v"])
        scope.steps.append("n")
        body = ["global CALLS", *self.block(scope, self.returns)]
        body += self.block(scope, self.returns) + self.returns(scope)
        head = "def f(x: tf.Tensor, y: tf.Tensor, n: tf.Tensor, v: tf.Tensor):"
        return "\n".join([head, *indented(body)])

    def scope(self, reals: list[str], vectors: list[str]) -> Scope:
        state = [f"{self.owner}.{n}" for n in ("total", "best")]
        counts = [f"{self.owner}.count", "CALLS"]
        return Scope(reals=[*reals, *reals, *state], vectors=vectors, counts=counts)

    # ---- statements

    def statement(self, scope: Scope, leave) -> Lines:  # type: ignore[no-untyped-def]
        if self.rng.random() < 0.45:
            return self.rng.choice(self.kinds)(scope)
        if self.methods and self.rng.random() < 0.25:
            return self.method_call(scope)
        return super().statement(scope, leave)

    def method_call(self, scope: Scope) -> Lines:
        name, method = self.local(scope), self.rng.choice(self.methods)
        return [f"{name} = {self.owner}.{method}({self.tensor(scope, 1)})"]

    def local(self, scope: Scope) -> str:
        return self.rng.choice([n for n in scope.reals if "." not in n])

    def logging(self, scope: Scope) -> Lines:
        """Something is appended to a list of the module's or of the object's."""
        real = self.rng.choice(scope.reals)
        kept = [
            f"float({real})",
            f"{real}.numpy()",
            real,
            self.rng.choice(scope.counts),
            "1",
        ]
        target = self.rng.choice(["LOG", f"{self.owner}.log"])
        return [f"{target}.append({self.rng.choice(kept)})"]

    def keeping(self, scope: Scope) -> Lines:
        """The object keeps a tensor or a number."""
        o = self.owner
        return [
            self.rng.choice(
                [
                    f"{o}.total = {self.tensor(scope, 2)}",
                    f"{o}.best = tf.maximum({o}.best, {self.local(scope)})",
                    f"{o}.total += {self.tensor(scope, 1)} * 0.25",
                    f"{o}.rate *= 0.5",
                    f"{self.local(scope)} = {self.tensor(scope, 1)} * {o}.rate",
                ]
            )
        ]

    def varying(self, scope: Scope) -> Lines:
        """A Variable is read or assigned."""
        name, w = self.local(scope), f"{self.owner}.w"
        return [
            self.rng.choice(
                [
                    f"{w}.assign_add({self.tensor(scope, 1)} * 0.25)",
                    f"{w}.assign({self.tensor(scope, 1)})",
                    f"{name} = {name} + {w} * 0.5",
                    f"{name} = tf.tanh({w}) - {self.tensor(scope, 1)}",
                ]
            )
        ]

    def drawing(self, scope: Scope) -> Lines:
        name = self.fresh("drawn")
        real = self.local(scope)
        return [f"{name} = random.random()", f"{real} = {real} * {name}"]

    def printing(self, scope: Scope) -> Lines:
        real = self.rng.choice(scope.reals)
        return [
            self.rng.choice(
                [
                    f'print("at", {self.rng.choice(scope.counts)})',
                    f'print("value", float({real}) > 0.0)',
                    'print("here")',
                ]
            )
        ]

    def reading(self, scope: Scope) -> Lines:
        """A tensor is read into Python, and used there."""
        name, real = self.fresh("k"), self.rng.choice(scope.reals)
        return [
            f"{name} = {self.rng.choice([f'int({real} * 2.0)', f'{real}.numpy()', f'float({real})'])}",
            self.rng.choice(
                [
                    f"LOG.append({name} > 1)",
                    f"{self.local(scope)} = {self.tensor(scope, 1)} * float({name})",
                ]
            ),
        ]

    def asking(self, scope: Scope) -> Lines:
        """Python's part is done where a tensor says so."""
        inner = scope.inner()
        others = [kind for kind in self.kinds if kind != self.asking]
        then = self.rng.choice([*others, self.logging])(inner)
        then += self.rng.choice([self.keeping, self.assignment, self.logging])(inner)
        lines = [f"if {self.test(scope)}:", *indented(then)]
        if self.rng.random() < 0.5:
            lines += ["else:", *indented(self.keeping(scope.inner()))]
        return lines

    def tallying(self, scope: Scope) -> Lines:
        return [
            self.rng.choice(
                [
                    'SEEN["n"] += 1',
                    f'SEEN["n"] = {self.rng.choice(scope.counts)}',
                    f'{self.local(scope)} = {self.tensor(scope, 1)} + SEEN["n"]',
                ]
            )
        ]


def _state(writer: Writer, scope: Scope) -> str:
    return "model.total"


def _reading(writer: Writer, scope: Scope) -> str:
    return "float(x), model.best, model.count"
