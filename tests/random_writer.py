"""Writes small random TensorFlow programs whose branches, loops and exits tensors decide.

A program is `f(x, y, n, v)`: two scalars, a count, a vector of any length. All it does is defined in
eager mode, and nearly all of it stays small, so that eager and graph must agree to rounding.
"""

from __future__ import annotations

import random
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from harness import Program

Lines = list[str]

DEEPEST = 3
TRIPS = 3


@dataclass
class Scope:
    """The names that are surely bound, by what they hold, and which exits are possible.

    `reals` and `vectors` are float tensors, `counts` Python ints that the program changes, `steps` ints or int
    tensors and `numbers` floats or float tensors that it only reads, `lists` hold reals, `options` a real or None.
    """

    reals: list[str]
    vectors: list[str]
    counts: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)
    options: list[str] = field(default_factory=list)
    in_loop: bool = False

    def inner(self, in_loop: bool | None = None) -> Scope:
        """A scope of its own for a block: what it binds first is not seen outside."""
        loop = self.in_loop if in_loop is None else in_loop
        names = {
            key: list(value)
            for key, value in vars(self).items()
            if isinstance(value, list)
        }
        return replace(self, **names, in_loop=loop)


class Writer:
    """Writes one program; the same random numbers write the same one."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.number = 0
        self.helpers: list[str] = []
        self.depth = DEEPEST
        self.counts = rng.random() < 0.5
        self.result = rng.choice(RESULTS)
        self.raises = rng.random() < 0.15
        self.prints = rng.random() < 0.15
        self.counter = rng.random() < 0.15

    def program(self, name: str = "case") -> Program:
        """A program with its calls."""
        parts = ["import tensorflow as tf"]
        if self.counter:
            parts.append("CALLS = 0")
        for helper in ("g", "h")[: self.rng.choice([0, 0, 1, 2])]:
            parts.append(self.helper(helper))
            self.helpers.append(helper)
        parts.append(self.function())
        return Program(
            text="\n\n\n".join(parts) + "\n",
            calls=self.calls(),
            observe="CALLS" if self.counter else "",
            gradients=self.rng.random() < 0.3,
            name=name,
        )

    def calls(self) -> str:
        rows = []
        for count in self.rng.sample(range(TRIPS + 1), TRIPS + 1):
            values = ", ".join(self.number_text(1.0) for _ in range(count))
            vector = f"tf.constant([{values}], tf.float32)"
            x, y = self.number_text(2.0), self.number_text(2.0)
            count = self.rng.randint(0, TRIPS)
            rows.append(
                f"(tf.constant({x}), tf.constant({y}), tf.constant({count}), {vector})"
            )
        return f"[{', '.join(rows)}]"

    # ---- functions

    def function(self) -> str:
        scope = Scope(reals=["x", "y"], vectors=["v"], steps=["n"])
        body = ["global CALLS", "CALLS += 1"] if self.counter else []
        if self.counts:
            body.append(f"count = {self.rng.randint(0, 3)}")
            scope.counts.append("count")
        if self.result in (LISTED, SUMMED) or self.rng.random() < 0.15:
            body.append(f"found = [{self.tensor(scope, 1)}]")
            scope.lists.append("found")
        if self.rng.random() < 0.2:
            body.append("last = None")
            scope.options.append("last")
        body += self.block(scope, self.returns)
        body += self.returns(scope)
        head = "def f(x: tf.Tensor, y: tf.Tensor, n: tf.Tensor, v: tf.Tensor):"
        return "\n".join([head, *indented(body)])

    def helper(self, name: str) -> str:
        scope = Scope(reals=["a", "b"], vectors=[])
        with self.at_depth(2):
            body = self.block(scope, self.returns_real)
        body += self.returns_real(scope)
        return "\n".join([f"def {name}(a, b):", *indented(body)])

    def returns(self, scope: Scope) -> Lines:
        return [f"return {self.result(self, scope)}"]

    def returns_real(self, scope: Scope) -> Lines:
        return [f"return {self.tensor(scope, 1)}"]

    @contextmanager
    def at_depth(self, depth: int) -> Iterator[None]:
        saved, self.depth = self.depth, depth
        yield
        self.depth = saved

    # ---- statements

    def block(self, scope: Scope, leave: Callable[[Scope], Lines]) -> Lines:
        """A few statements; `leave` writes a return."""
        lines: Lines = []
        for _ in range(self.rng.randint(1, 3 if self.depth == DEEPEST else 2)):
            lines += self.statement(scope, leave)
        return lines

    def statement(self, scope: Scope, leave: Callable[[Scope], Lines]) -> Lines:
        if self.depth > 0 and self.rng.random() < 0.5:
            with self.at_depth(self.depth - 1):
                write = self.rng.choice([self.branch, self.branch, self.loop])
                return write(scope, leave)
        writers = [self.assignment] * 4 + [self.ternary, self.exchange]
        if scope.vectors:
            writers += [self.vector_assignment, self.growth]
        if scope.counts:
            writers += [self.counting] * 2
        if scope.lists:
            writers += [self.append] * 2
        if scope.options:
            writers += [self.option] * 2
        if self.helpers:
            writers += [self.call] * 2
        if self.raises:
            writers.append(self.failure)
        if self.prints:
            writers.append(self.output)
        return self.rng.choice(writers)(scope)

    def assignment(self, scope: Scope) -> Lines:
        name = self.rng.choice(scope.reals)
        if self.rng.random() < 0.3:
            sign = self.rng.choice(["+=", "-=", "*="])
            value = self.number_text(1.0) if sign == "*=" else self.real(scope, 1)
            return [f"{name} {sign} {value}"]
        value = self.tensor(scope, 2)
        if self.rng.random() < 0.2:
            name = self.fresh("z")
            scope.reals.append(name)
        return [f"{name} = {value}"]

    def ternary(self, scope: Scope) -> Lines:
        name = self.rng.choice(scope.reals)
        then, other = self.tensor(scope, 1), self.tensor(scope, 1)
        test = self.test(scope)
        if self.rng.random() < 0.3:
            name, then = self.fresh("k"), self.number_text(2.0)
            scope.numbers.append(name)
        return [f"{name} = {then} if {test} else {other}"]

    def exchange(self, scope: Scope) -> Lines:
        if len(scope.reals) < 2:
            return self.assignment(scope)
        a, b = self.rng.sample(scope.reals, 2)
        return [f"{a}, {b} = {b} * 0.5, {a} + {self.number_text(1.0)}"]

    def vector_assignment(self, scope: Scope) -> Lines:
        value = self.vector(scope)
        if self.rng.random() < 0.3:
            scope.vectors.append(self.fresh("w"))
            return [f"{scope.vectors[-1]} = {value}"]
        return [f"{self.rng.choice(scope.vectors)} = {value}"]

    def growth(self, scope: Scope) -> Lines:
        """A tensor of another size, of which only the sum is used."""
        name, real = self.fresh("grown"), self.rng.choice(scope.reals)
        vector = self.rng.choice(scope.vectors)
        return [
            f"{name} = tf.concat([{vector}, [{self.real(scope, 1)}]], 0)",
            f"{real} = {real} * 0.5 + tf.reduce_sum({name})",
        ]

    def counting(self, scope: Scope) -> Lines:
        name = self.rng.choice(scope.counts)
        if self.rng.random() < 0.6:
            return [f"{name} += {self.rng.randint(1, 3)}"]
        return [f"{name} = ({name} * 3 + 1) % {self.rng.randint(2, 7)}"]

    def append(self, scope: Scope) -> Lines:
        return [f"{self.rng.choice(scope.lists)}.append({self.tensor(scope, 1)})"]

    def option(self, scope: Scope) -> Lines:
        name, real = self.rng.choice(scope.options), self.rng.choice(scope.reals)
        match self.rng.randint(0, 3):
            case 0:
                return [f"{name} = None"]
            case 1:
                return [f"{name} = {self.tensor(scope, 1)}"]
            case 2:
                return [f"if {name} is not None:", f"    {real} = {real} - {name}"]
        return [
            f"if {name} is None or {real} > 0.0:",
            f"    {name} = {self.tensor(scope, 1)}",
        ]

    def call(self, scope: Scope) -> Lines:
        name, helper = self.rng.choice(scope.reals), self.rng.choice(self.helpers)
        return [f"{name} = {helper}({self.tensor(scope, 1)}, {self.tensor(scope, 1)})"]

    def failure(self, scope: Scope) -> Lines:
        real, limit = self.rng.choice(scope.reals), self.rng.randint(2, 9)
        if self.rng.random() < 0.5:
            return [f'assert {real} < {limit}.0, "too large"']
        return [f"if {real} > {limit}.0:", '    raise ValueError("too large")']

    def output(self, scope: Scope) -> Lines:
        return [f'print("step", {self.rng.choice(scope.counts or ["0"])})']

    # ---- control flow

    def branch(self, scope: Scope, leave: Callable[[Scope], Lines]) -> Lines:
        lines = [f"if {self.test(scope)}:", *self.arm(scope, leave)]
        if self.rng.random() < 0.25:
            lines += [f"elif {self.test(scope)}:", *self.arm(scope, leave)]
        if self.rng.random() < 0.5:
            lines += ["else:", *self.arm(scope, leave)]
        return lines

    def arm(self, scope: Scope, leave: Callable[[Scope], Lines]) -> Lines:
        inner = scope.inner()
        body = self.block(inner, leave)
        chance = self.rng.random()
        if chance < 0.1:
            body += leave(inner)
        elif chance < 0.3 and scope.in_loop:
            body.append(self.rng.choice(["break", "continue"]))
        return indented(body)

    def loop(self, scope: Scope, leave: Callable[[Scope], Lines]) -> Lines:
        heads = [self.counted_while, self.endless_while, self.over_range]
        if scope.vectors:
            heads += [self.over_vector, self.over_enumerated]
        inner = scope.inner(in_loop=True)
        lines = self.rng.choice(heads)(scope, inner)
        lines += indented(self.block(inner, leave))
        if self.rng.random() < 0.15:
            lines += ["else:", *indented(self.block(scope.inner(), leave))]
        return lines

    def counted_while(self, scope: Scope, inner: Scope) -> Lines:
        step, limit = self.fresh("i"), self.limit(scope)
        start = self.rng.choice(["0", "tf.constant(0)"])
        inner.steps.append(step)
        more = f" and ({self.test(scope)})" if self.rng.random() < 0.5 else ""
        return [
            f"{step} = {start}",
            f"while {step} < {limit}{more}:",
            f"    {step} += 1",
        ]

    def endless_while(self, scope: Scope, inner: Scope) -> Lines:
        step, real = self.fresh("i"), self.rng.choice(scope.reals)
        inner.steps.append(step)
        return [
            f"{step} = 0",
            "while True:",
            f"    if {step} >= {TRIPS} or {real} > {self.number_text(3.0)}:",
            "        break",
            f"    {step} += 1",
        ]

    def over_range(self, scope: Scope, inner: Scope) -> Lines:
        step, limit = self.fresh("i"), self.limit(scope)
        inner.steps.append(step)
        ranges = [f"tf.range({limit})", f"range({limit})", f"range({TRIPS})"]
        return [f"for {step} in {self.rng.choice(ranges)}:"]

    def over_vector(self, scope: Scope, inner: Scope) -> Lines:
        name = self.fresh("e")
        inner.reals.append(name)
        return [f"for {name} in {self.rng.choice(scope.vectors)}:"]

    def over_enumerated(self, scope: Scope, inner: Scope) -> Lines:
        step, name = self.fresh("i"), self.fresh("e")
        inner.steps.append(step)
        inner.reals.append(name)
        return [f"for {step}, {name} in enumerate({self.rng.choice(scope.vectors)}):"]

    def limit(self, scope: Scope) -> str:
        return self.rng.choice(["n", "n + 1"]) if "n" in scope.steps else str(TRIPS)

    # ---- expressions

    def test(self, scope: Scope) -> str:
        sign = self.rng.choice([">", "<", ">=", "<=", "==", "!="])
        left = self.rng.choice(scope.reals)
        plain = f"{left} {sign} {self.real(scope, 1)}"
        other = f"{self.rng.choice(scope.reals)} > {self.number_text(1.0)}"
        choices = [
            plain,
            plain,
            f"{plain} and {other}",
            f"{plain} or {other}",
            f"not {other}",
            f"-1.0 < {left} < {self.number_text(2.0)}",
        ]
        if scope.counts:
            choices.append(f"{self.rng.choice(scope.counts)} % 2 == 0")
        if scope.steps:
            choices.append(f"{self.rng.choice(scope.steps)} > 1")
        if scope.vectors:
            choices.append(f"tf.reduce_sum({self.rng.choice(scope.vectors)}) > 0.0")
        return self.rng.choice(choices)

    def real(self, scope: Scope, depth: int) -> str:
        """A float tensor, or (seldom) a Python float."""
        if depth == 0 or self.rng.random() < 0.1:
            return self.rng.choice(
                [*scope.reals, *scope.reals, *scope.numbers, self.number_text(2.0)]
            )
        return self.tensor(scope, depth)

    def tensor(self, scope: Scope, depth: int) -> str:
        """A float tensor: a Python float alone would be added up to more digits than a tensor holds."""
        name = self.rng.choice(scope.reals)
        a, b = self.real(scope, depth - 1), self.real(scope, depth - 1)
        choices = [
            f"({name} + {b})",
            f"({a} - {name})",
            f"({a} * 0.5 + {name})",
            f"tf.maximum({name}, {b})",
            f"tf.tanh({name} * {b})",
            f"-{name}",
            f"abs({name})",
        ]
        if scope.counts:
            choices.append(f"{name} * {self.rng.choice(scope.counts)}")
        if scope.steps:
            choices.append(
                f"({name} + tf.cast({self.rng.choice(scope.steps)}, tf.float32))"
            )
        if scope.vectors:
            choices.append(f"tf.reduce_sum({self.rng.choice(scope.vectors)})")
        return self.rng.choice(choices)

    def vector(self, scope: Scope) -> str:
        name, real = self.rng.choice(scope.vectors), self.rng.choice(scope.reals)
        return self.rng.choice(
            [
                f"{name} * {self.number_text(1.0)} + {real}",
                f"tf.where({name} > {real}, {name}, {self.number_text(1.0)})",
                f"tf.tanh({name}) - {self.rng.choice(scope.vectors)}",
                f"{name}[::-1]",
            ]
        )

    def number_text(self, largest: float) -> str:
        return str(self.rng.randint(-round(4 * largest), round(4 * largest)) / 4)

    def fresh(self, name: str) -> str:
        self.number += 1
        return f"{name}{self.number}"


# ---- results


def _real(writer: Writer, scope: Scope) -> str:
    return " + ".join(["x", "y * 2.0", f"{scope.reals[-1]} * 3.0"])


def _pair(writer: Writer, scope: Scope) -> str:
    return f"x - y, {scope.counts[0] if scope.counts else 'n + 1'}"


def _mapping(writer: Writer, scope: Scope) -> str:
    return f'{{"x": x, "v": {writer.rng.choice(scope.vectors)}}}'


def _vector(writer: Writer, scope: Scope) -> str:
    return f"{writer.rng.choice(scope.vectors)} + x * y"


def _listed(writer: Writer, scope: Scope) -> str:
    return "found, x"


def _summed(writer: Writer, scope: Scope) -> str:
    return "tf.reduce_sum(tf.stack(found)) + x, len(found)"


LISTED, SUMMED = _listed, _summed
RESULTS: list[Callable[[Writer, Scope], str]] = [
    _real,
    _real,
    _pair,
    _mapping,
    _vector,
    _listed,
    _summed,
]
"""How a program's returns spell its result: all of one program in the same way."""


def indented(lines: Lines) -> Lines:
    return [textwrap.indent(line, "    ") for line in lines]
