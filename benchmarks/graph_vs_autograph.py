"""Times lifted code against the same function under AutoGraph: first call, and later calls.

    python benchmarks/graph_vs_autograph.py [NAME ...]

Both know the shapes and dtypes of the arguments: the lift by a profile, AutoGraph by its signature. All is
done in one process and interleaved, a round of each after the other, so that both see the same machine. Each
number is a median, with half the distance between the quartiles; each ratio is the median of the rounds' own, and
above 1 it is in favour of the lift. `nodes` are those of the two graphs, functions included.

AutoGraph converts a function once and keeps what it made under its code object, and equal ones count as one. A
program meets its functions for the first time, so each round has them at a line of their own: no two are equal.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import itertools
import os
import statistics
import sys
import tempfile
import time
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

from graphlift.codemods.pipeline import rewrite
from graphlift.transforms.facts.kinds import Tensor
from graphlift.transforms.facts.profile import Profile, Recorded, fingerprint
from graphlift.transforms.options import Options

PROGRAMS = Path(__file__).parent / "programs"
FIRST_ROUNDS = 7
ROUNDS = 15
SECONDS = 0.02
"""How long one round of later calls is to take."""


@dataclass(frozen=True)
class Times:
    """Seconds of rounds."""

    rounds: Sequence[float]

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)

    @property
    def spread(self) -> float:
        low, _, high = statistics.quantiles(self.rounds, n=4)
        return (high - low) / 2

    def over(self, other: Times) -> float:
        """How many times as long as the other's a round takes."""
        pairs = zip(self.rounds, other.rounds, strict=True)
        return statistics.median(a / b for a, b in pairs)

    def shown(self) -> str:
        return f"{1e3 * self.median:9.3f} ±{1e3 * self.spread:<7.3f}"


@dataclass(frozen=True)
class Pair:
    """The files of one program: as it is, and lifted."""

    original: Path
    lifted: Path

    def autograph(self) -> Callable[..., Any]:
        """The original under AutoGraph, not traced yet."""
        module = loaded(moved(self.original, self.lifted.parent))
        signature = [tf.TensorSpec(x.shape, x.dtype) for x in module.ARGS]
        return tf.function(module.f, input_signature=signature)  # type: ignore[no-any-return]

    def lift(self) -> Callable[..., Any]:
        """The lift, not traced yet."""
        return loaded(moved(self.lifted, self.lifted.parent)).f  # type: ignore[no-any-return]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    wanted = parser.parse_args().names
    tf.get_logger().setLevel("ERROR")  # functions are made anew on purpose
    paths = [p for p in sorted(PROGRAMS.glob("*.py")) if not wanted or p.stem in wanted]
    columns = ["first, AutoGraph", "first, lift", "later, AutoGraph", "later, lift"]
    heads = "".join(f"{column:>20}" for column in columns)
    print(f"milliseconds; {tf.config.list_logical_devices()[-1].name}")
    print(f"{'program':12}{heads}{'first':>9}{'later':>9}{'nodes':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            print(row(pair_of(path, Path(folder)), path.stem), flush=True)
    return 0


def pair_of(path: Path, folder: Path) -> Pair:
    """A program and its lift, written into the folder."""
    text = path.read_text(encoding="utf-8")
    rewritten = rewrite(text, path.name, Options(), profile_of(path, text))
    if "f" not in rewritten.lifted:
        sys.exit(f"{path.stem} is not lifted: {rewritten.findings}")
    lifted = folder / f"{path.stem}_lifted.py"
    lifted.write_text(rewritten.text, encoding="utf-8")
    return Pair(path, lifted)


def profile_of(path: Path, text: str) -> Profile:
    """What recording a program would say of its function's parameters."""
    definitions = ast.parse(text).body
    (node,) = [n for n in definitions if isinstance(n, ast.FunctionDef)]
    names = [argument.arg for argument in node.args.args]
    kinds = [Tensor(x.dtype.name, tuple(x.shape)) for x in loaded(path).ARGS]
    source = fingerprint(text.splitlines(), node)
    recorded = Recorded(source, 1, parameters=dict(zip(names, kinds, strict=True)))
    return Profile(path.parent, {f"{path.name}::{node.name}": recorded})


def row(pair: Pair, name: str) -> str:
    """A line of the table."""
    module = loaded(pair.original)
    expected = module.f(*module.ARGS)
    makers = (pair.autograph, pair.lift)
    first = first_calls(makers, module.ARGS)
    functions = [make() for make in makers]
    for function in functions:
        result = function(*module.ARGS)
        tf.nest.map_structure(
            partial(np.testing.assert_allclose, rtol=1e-5), result, expected
        )
    later = later_calls(functions, module.ARGS)
    cells = "".join(f"{times.shown():>20}" for times in (*first, *later))
    ratios = "".join(f"{a.over(b):>9.2f}" for a, b in (first, later))
    nodes = "/".join(str(count_of_nodes(function)) for function in functions)
    return f"{name:12}{cells}{ratios}{nodes:>9}"


def count_of_nodes(function: Callable[..., Any]) -> int:
    graph = function.get_concrete_function().graph.as_graph_def()  # type: ignore[attr-defined]
    functions = graph.library.function
    return len(graph.node) + sum(len(inner.node_def) for inner in functions)


def first_calls(
    makers: Sequence[Callable[[], Callable[..., Any]]], args: tuple[Any, ...]
) -> list[Times]:
    """The times of first calls, tracing included, of functions that are made anew for each."""
    rounds: list[list[float]] = [[] for _ in makers]
    for number in range(FIRST_ROUNDS):
        for i in alternating(len(makers), number):
            function = makers[i]()
            rounds[i].append(seconds(lambda function=function: function(*args)))  # type: ignore[misc]
    return list(map(Times, rounds))


def later_calls(
    functions: Sequence[Callable[..., Any]], args: tuple[Any, ...]
) -> list[Times]:
    """The times of one call each, in rounds of many, once the functions are traced."""
    counts = [
        max(1, round(SECONDS / seconds(lambda f=f: f(*args))))  # type: ignore[misc]
        for f in functions
    ]
    rounds: list[list[float]] = [[] for _ in functions]
    for number in range(ROUNDS):
        for i in alternating(len(functions), number):
            taken = seconds(lambda i=i: [functions[i](*args) for _ in range(counts[i])])  # type: ignore[misc]
            rounds[i].append(taken / counts[i])
    return list(map(Times, rounds))


def alternating(count: int, number: int) -> Sequence[int]:
    """The order of a round: forwards, then backwards."""
    return range(count)[:: 1 if number % 2 == 0 else -1]


def seconds(call: Callable[[], Any]) -> float:
    """How long a call takes until its results are there."""
    start = time.perf_counter()
    result = call()
    for tensor in tf.nest.flatten(result):
        np.asarray(tensor)
    return time.perf_counter() - start


LINES = itertools.count()


def moved(path: Path, folder: Path) -> Path:
    """A copy of a file with all of it further down than in any copy before."""
    lines = next(LINES)
    copy = folder / f"{path.stem}_{lines}.py"
    text = path.read_text(encoding="utf-8")
    copy.write_text("\n" * lines + text, encoding="utf-8")
    return copy


def loaded(path: Path) -> types.ModuleType:
    """A fresh module from a file; AutoGraph needs the file, so it has to stay."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main())
