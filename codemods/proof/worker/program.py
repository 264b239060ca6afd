"""One program of the user: load it, call it, hold what comes out, time it."""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import random
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from . import samples
from .loading import load, own_modules
from .output import Output
from .traces import Traces
from .values import Held, Holder

Call = tuple[tuple[Any, ...], dict[str, Any]]

FEWEST_CALLS = 3
SEED = 20


class Program:
    """A file of a project folder (`tree`; both absolute real paths) and a function in it.

    `inputs`: "ARGS" (the function is called with each), "" (with nothing), or the path of a file
    of samples.
    """

    def __init__(
        self, tree: str, file: str, function: str, inputs: str, output: Output
    ) -> None:
        self._tree = tree
        self._file = file
        self._function = function
        self._kind = inputs
        self._output = output
        self._holder = Holder(self._is_own)
        self.traces = Traces()
        self.seconds: list[float] = []

    def load(self) -> None:
        """Import the file and find the function and what to call it with; raises what goes wrong."""
        seed()
        self._module = load(self._tree, self._file)
        self._target: Callable[..., Any] = getattr(self._module, self._function)
        self._calls: list[Call] = self._find_calls()
        self.inputs = len(self._calls)
        if not self.inputs and not hasattr(self._module, "observe"):
            raise ValueError("no calls to make")

    def observe(self, calls: int | None, enough: float) -> dict[str, Any]:
        """Make the calls and hold what comes of them, in the form of compare.py.

        So many calls; else each once and three at least, none begun after `enough` seconds.
        """
        observed: dict[str, Any] = {"loaded": self._output.take(), "calls": []}
        seed()
        end = time.perf_counter() + enough
        fewest = FEWEST_CALLS if self.inputs else 0
        for i in range(max(fewest, self.inputs) if calls is None else calls):
            if i and calls is None and time.perf_counter() > end:
                break
            observed["calls"].append(self._observe_call(i))
        if observe := getattr(self._module, "observe", None):
            takes_function = observe.__code__.co_argcount
            call = functools.partial(observe, *[self._target] * takes_function)
            observed["observed"] = self._outcome(call)
        observed["state"] = self._state()
        return observed

    def round(self, passes: int) -> float:
        """The seconds that a call takes: the mean of all inputs, so many times each."""
        before = len(self.seconds)
        gc.disable()
        try:
            for _ in range(passes):
                for i in range(len(self._calls)):
                    with contextlib.suppress(Exception):  # compared before
                        self._call(i)
        finally:
            gc.enable()
        self._output.take()
        taken, self.seconds = self.seconds[before:], self.seconds[:before]
        return sum(taken) / max(1, len(taken))

    def imported(self) -> list[str]:
        """The files of the project that have been loaded."""
        return sorted({file for file, _ in own_modules(self._tree)})

    def _find_calls(self) -> list[Call]:
        if self._kind == "ARGS":
            return [(tuple(args), {}) for args in self._module.ARGS]
        return samples.read(Path(self._kind)) if self._kind else [((), {})]

    def _observe_call(self, i: int) -> dict[str, Any]:
        view = getattr(self._module, "view", lambda result: result)
        outcome = self._outcome(lambda: view(self._call(i)))
        args, kwargs = self._calls[i % len(self._calls)]
        named = [{"value": name} for name in kwargs]
        values = [self._holder.hold(value) for value in (*args, *kwargs.values())]
        return {**outcome, "arguments": {"list": [*named, *values]}}

    def _call(self, i: int) -> Any:
        args, kwargs = self._calls[i % len(self._calls)]
        if i and self._kind == "ARGS" and hasattr(self._module, "between"):
            self._module.between(i)
        wait_for_devices()
        began = time.perf_counter()
        try:
            result = self._target(*args, **kwargs)
            wait_for_devices()
            return result
        finally:
            self.seconds.append(time.perf_counter() - began)

    def _outcome(self, call: Callable[[], Any]) -> dict[str, Any]:
        try:
            outcome = {"returned": self._holder.hold(call())}
        except BaseException as error:  # SystemExit is an outcome too
            outcome = {"raised": self._raised(error)}
        return {**outcome, "printed": self._output.take()}

    def _raised(self, error: BaseException) -> dict[str, Any]:
        frames = traceback.extract_tb(error.__traceback__)
        return {
            "class": type(error).__name__,
            "message": str(error).replace(self._tree, "."),
            "own": bool(frames) and self._is_inside(frames[-1].filename),
            "op": isinstance(error, tf.errors.OpError),
        }

    def _state(self) -> dict[str, dict[str, Held]]:
        """The module globals that hold something, by file; those of the program's own file under ""."""
        state: dict[str, dict[str, Held]] = {}
        for file, module in own_modules(self._tree):
            held = {
                name: self._holder.hold(value)
                for name, value in list(vars(module).items())
                if not name.startswith("__") and name != "ARGS"
            }
            state["" if module is self._module else file] = {
                name: value for name, value in held.items() if "opaque" not in value
            }
        return state

    def _is_inside(self, file: str) -> bool:
        return file.startswith(self._tree + os.sep)

    def _is_own(self, cls: type) -> bool:
        module = sys.modules.get(cls.__module__)
        return self._is_inside(getattr(module, "__file__", None) or "")


def seed() -> None:
    """Start all randomness anew."""
    random.seed(SEED)
    np.random.seed(SEED)
    tf.random.set_seed(SEED)


def device() -> str:
    """The name of the GPU that TensorFlow uses here, else "cpu"."""
    gpus = tf.config.get_visible_devices("GPU")
    if not gpus:
        return "cpu"
    name = tf.config.experimental.get_device_details(gpus[0]).get("device_name")
    return str(name or "GPU")


def peak_bytes() -> int | None:
    """The most memory that was in use on the GPU; None where there is none."""
    if device() == "cpu":
        return None
    return int(tf.config.experimental.get_memory_info("GPU:0")["peak"])


def wait_for_devices() -> None:
    """Wait until a GPU has done what it was given."""
    if _has_gpu():
        tf.test.experimental.sync_devices()


@functools.cache
def _has_gpu() -> bool:
    return device() != "cpu"
