"""An end to what takes too long."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import TimeoutError, get_context
from types import FrameType
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class TooLong(BaseException):
    """The time is over. No `Exception`, so that what runs does not take it for its own."""


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """What runs inside is stopped after this time, between two steps of Python; main thread only.

    Raises:
        TooLong: it was.
    """

    def stop(signum: int, frame: FrameType | None) -> None:
        raise TooLong(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


class Worker:
    """A process of its own for one task after the other.

    One that takes too long ends with the process, wherever it is, and the next task has a new one: TensorFlow
    stopped in the midst of a trace would take the next program for a part of it.
    """

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self._process = get_context("spawn").Pool(1)

    def run(
        self,
        seconds: float | None,
        task: Callable[P, T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """What the task gives.

        Raises:
            TooLong: it gave nothing in this time, or its process has died.
        """
        try:
            return self._process.apply_async(task, args, kwargs).get(seconds)
        except TimeoutError:
            self.end()
            self._start()
            raise TooLong(f"more than {seconds} s") from None

    def end(self) -> None:
        self._process.terminate()
        self._process.join()
