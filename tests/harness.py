"""Runs small programs and their lifts, for tests: same results, output, exceptions and state.

A `Program` is a text and the way to call it. `lift` runs it eagerly, watching what it is called
with, and rewrites it with that profile; `prove` runs a lifted text on the same calls, as it is
and with its graphs run eagerly, and demands that nothing differs.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import random
import sys
import tempfile
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from comparing import Frozen, difference, frozen, printed_difference
from observing import Observer, watching

from graphlift.codemods import pipeline
from graphlift.codemods.pipeline import Rewritten
from graphlift.transforms.facts.profile import Profile
from graphlift.transforms.options import Options

Rewrite = Callable[[str, str, Options, Profile | None], Rewritten]

FEWEST_CALLS = 3
GRADIENT_SLACK = 10.0
"""A graph adds up the gradients of a value's uses in another order."""


@dataclass(frozen=True)
class Program:
    """A program and its calls.

    `calls` (a list of argument tuples), `entry` (the function), `between` (run before each call
    but the first, `i` being its number) and `observe` (state to compare at the end) are Python,
    read in the program's own namespace with `tf` and `np`.
    """

    text: str
    calls: str
    entry: str = "f"
    between: str = ""
    observe: str = ""
    gradients: bool = False
    name: str = "case"


@dataclass(frozen=True)
class Outcome:
    """One call: what came back or was raised, the arguments after it, and their gradients.

    Where eager mode has no gradient a graph may have one of zeros: both are zeros here.
    """

    result: Frozen | None
    error: tuple[str, str] | None
    arguments: Frozen
    gradients: Frozen


@dataclass(frozen=True)
class Run:
    """What a program did on its calls, and the profile of them."""

    outcomes: list[Outcome]
    printed: str
    state: Frozen
    profile: Profile


def lift(
    program: Program, folder: Path, rewrite: Rewrite = pipeline.rewrite
) -> tuple[Run, Rewritten]:
    """The eager run of a program, and the program rewritten by the profile of that run."""
    with eager_functions():
        original = run(program, folder / "original")
    return original, rewrite(
        program.text, f"{program.name}.py", Options(), original.profile
    )


def prove(original: Run, lifted: Program, folder: Path, watched: bool = False) -> Run:
    """The run of a lifted program, which must do as the original did, as a graph and eagerly.

    `watched`: the graph's run has a profile, which doubles its time.
    """
    as_graph = run(lifted, folder / "lifted", watched)
    assert not differences(original, as_graph), report(
        "lifted", original, as_graph, lifted
    )
    with eager_functions():
        eagerly = run(lifted, folder / "eagerly", watched=False)
    assert not differences(original, eagerly), report(
        "run eagerly", original, eagerly, lifted
    )
    return as_graph


def report(how: str, original: Run, other: Run, lifted: Program) -> str:
    """The differences of a run from the original's, with the text that was run."""
    return "\n".join(
        [f"{how}, it differs:", *differences(original, other), "", lifted.text]
    )


def run(program: Program, folder: Path, watched: bool = True) -> Run:
    """Make a program's calls in a fresh import of it, from a file in the folder.

    `watched`: the run has a profile; else the profile is empty.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{program.name}.py"
    path.write_text(program.text, encoding="utf-8", newline="")
    observer = Observer(path, program.text)
    output = Output()
    with _importable(program.name), output.captured():
        module = _load(path)
        scope = {"tf": tf, "np": np, **vars(module)}
        calls = eval(program.calls, scope)
        assert len(calls) >= FEWEST_CALLS, f"at least {FEWEST_CALLS} calls are wanted"
        _seed()
        outcomes = []
        for i, arguments in enumerate(calls):
            if i and program.between:
                _change(module, program.between, i)
            entry = eval(program.entry, vars(module))
            with watching(observer) if watched else contextlib.nullcontext():
                outcomes.append(_call(entry, arguments, program.gradients))
            if error := outcomes[-1].error:
                observer.raised(getattr(entry, "__qualname__", ""), error[0])
        observed = program.observe and eval(
            program.observe, {"tf": tf, "np": np, **vars(module)}
        )
    return Run(outcomes, output.text, frozen(observed), observer.profile())


def differences(a: Run, b: Run) -> list[str]:
    """What differs between two runs, one line each."""
    found: list[str | None] = []
    for i, (x, y) in enumerate(zip(a.outcomes, b.outcomes, strict=True)):
        found += [f"call {i}: {text}" for text in _outcome_differences(x, y)]
    found.append(difference(a.state, b.state, "state"))
    found.append(printed_difference(a.printed, b.printed))
    return [text for text in found if text]


def _outcome_differences(a: Outcome, b: Outcome) -> list[str]:
    if a.error != b.error:
        return [f"raised {a.error} became {b.error}"]
    pairs = [
        (a.arguments, b.arguments, "arguments", 1.0),
        (a.gradients, b.gradients, "gradients", GRADIENT_SLACK),
    ]
    if a.result and b.result:
        pairs.append((a.result, b.result, "result", 1.0))
    return [text for *pair, slack in pairs if (text := difference(*pair, slack))]


def _call(
    entry: Callable[..., Any], arguments: tuple[Any, ...], gradients: bool
) -> Outcome:
    sources = [x for x in tf.nest.flatten(arguments) if gradients and _is_float(x)]
    result, error, slopes = None, None, []
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(sources)
        try:
            result = entry(*arguments)
        except Exception as raised:
            error = _described(raised)
        floats = [x for x in tf.nest.flatten(result) if sources and _is_float(x)]
        total = sum(tf.reduce_sum(tf.cast(x, tf.float64)) for x in floats)
    if floats:
        slopes = tape.gradient(total, sources, unconnected_gradients="zero")
    answer = None if error else frozen(result)
    return Outcome(answer, error, frozen(arguments), frozen(slopes))


def _change(module: types.ModuleType, statements: str, i: int) -> None:
    """Run statements as if they stood in the module, with `i`, `tf` and `np` in addition."""
    given = {"i": i, "tf": tf, "np": np}
    assigned = dict(given)
    exec(statements, vars(module), assigned)
    vars(module).update(
        {name: assigned[name] for name in assigned.keys() - given.keys()}
    )


def _is_float(value: Any) -> bool:
    return isinstance(value, tf.Tensor) and value.dtype.is_floating


def _described(error: Exception) -> tuple[str, str]:
    """Class and message; TensorFlow words its own errors differently in a graph."""
    own = isinstance(error, tf.errors.OpError)
    return type(error).__name__, "" if own else str(error)


def _load(path: Path) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


@contextlib.contextmanager
def _importable(name: str) -> Iterator[None]:
    """A module of the name may be imported inside, in place of any that there is."""
    before = sys.modules.get(name)
    tf.keras.utils.clear_session()
    try:
        yield
    finally:
        sys.modules.pop(name, None)
        if before is not None:
            sys.modules[name] = before


def _seed() -> None:
    random.seed(0)
    np.random.seed(0)
    tf.random.set_seed(0)


@contextlib.contextmanager
def eager_functions() -> Iterator[None]:
    tf.config.run_functions_eagerly(True)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Even though the `tf.config")
            yield
    finally:
        tf.config.run_functions_eagerly(False)


@dataclass
class Output:
    """Standard output of Python and of TensorFlow's kernels, which write to the descriptor."""

    text: str = field(default="")

    @contextlib.contextmanager
    def captured(self) -> Iterator[None]:
        """Keeps in `text` what is written inside."""
        stdout, saved = sys.stdout, os.dup(1)
        stdout.flush()
        with tempfile.TemporaryFile() as file:
            os.dup2(file.fileno(), 1)
            try:
                with os.fdopen(
                    os.dup(1), "w", buffering=1, encoding="utf-8"
                ) as sys.stdout:
                    yield
            finally:
                sys.stdout = stdout
                os.dup2(saved, 1)
                os.close(saved)
                file.seek(0)
                self.text = file.read().decode("utf-8", "replace")
