"""An end to what takes too long."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


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
