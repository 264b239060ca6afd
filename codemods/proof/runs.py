"""Runs of a program, in fresh workers, and what they have in common."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from .processes import Template, Worker
from .scratch import Trees
from .targets import Target


class NotLoaded(Exception):
    """The file of a program can't be loaded, and why."""


@dataclass(frozen=True)
class Seen:
    """What one run showed; the observation itself is a file at `observed`.

    `raised`: for each call the exception as worker/compare.py describes it, or None; `imported`:
    the files of the project that were loaded; `inputs`: how many different calls there are.
    """

    observed: str
    raised: Sequence[dict[str, Any] | None]
    seconds: Sequence[float]
    imported: Sequence[str]
    inputs: int
    traces: int
    nodes: int | None


@dataclass(frozen=True)
class Found:
    """What two observations differ in, in words, and how far floats are apart.

    `excess`: the largest distance in units of the tolerance, infinite where a difference is no
    matter of rounding; `structural`: types or structure differ; `raised`: only the second raised.
    """

    differences: Sequence[str]
    excess: float
    max_abs: float
    max_rel: float
    structural: bool
    raised: bool


class Bench:
    """Runs programs of two trees, "original" and "lifted", and compares what they showed."""

    def __init__(
        self,
        template: Template,
        referee: Worker,
        trees: Trees,
        timeout: float,
    ) -> None:
        self._template = template
        self._referee = referee
        self._trees = trees
        self._timeout = timeout

    def worker(self) -> AbstractContextManager[Worker]:
        """A worker that may take `timeout` seconds in all."""
        return self._template.worker(self._timeout)

    def observe(
        self,
        worker: Worker,
        tree: str,
        target: Target,
        *,
        calls: int | None = None,
        optimized: bool = True,
        eagerly: bool = False,
    ) -> Seen:
        """Run a program in a new worker; raises Lost or NotLoaded.

        `calls`: how many, else three or more; `optimized`: with TensorFlow's graph optimizer;
        `eagerly`: with tf.functions switched off.
        """
        folder = self._trees.lifted if tree == "lifted" else self._trees.original
        answer = worker.ask(
            "observe",
            tree=str(folder),
            file=str(folder / target.file),
            function=target.function,
            inputs=target.inputs,
            calls=calls,
            enough=self._timeout / 3,
            optimized=optimized,
            eagerly=eagerly,
        )
        if "failed" in answer:
            raise NotLoaded(f"can't be loaded: {answer['failed']}")
        return Seen(**answer)

    def observe_again(self, tree: str, target: Target, calls: int, **how: bool) -> Seen:
        """The same in a worker of its own."""
        with self.worker() as worker:
            return self.observe(worker, tree, target, calls=calls, **how)

    def compare(self, reference: Seen, candidate: Seen) -> Found:
        """What differs between two runs."""
        answer = self._referee.ask(
            "compare", reference=reference.observed, candidate=candidate.observed
        )
        return Found(**answer)
