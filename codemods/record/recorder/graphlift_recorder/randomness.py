"""Which random streams were drawn from: Python's and NumPy's global ones.

The states of Python's and NumPy's generators are read in place, a few bytes each, since a copy of
one takes longer than most functions. TensorFlow's draws show where it takes a seed: see `libraries`.
"""

from __future__ import annotations

import ctypes
import random
import sys
from collections.abc import Callable
from typing import Any

_WORDS = 624  # of a Mersenne Twister's state


def snapshot() -> tuple[bytes, bytes]:
    """Bytes that differ after a draw, of Python's and of NumPy's global generator."""
    return _python.read(), _numpy.read()


def drawn_since(before: tuple[bytes, bytes]) -> list[str]:
    """The generators drawn from since a snapshot."""
    python, numpy = snapshot()
    drawn = ["random"] if python != before[0] else []
    if numpy != (before[1] or _numpy.first):  # NumPy may have been imported in between
        drawn.append("numpy")
    return drawn


class _Window:
    """A few bytes of the process's memory."""

    def __init__(self) -> None:
        self.read: Callable[[], bytes] = bytes

    def open(self, address: int) -> None:
        window = (ctypes.c_char * 8).from_address(address)
        self.read = lambda: window.raw


class _Python(_Window):
    """CPython's generator: after the object's head an index, then the state's words."""

    def __init__(self) -> None:
        super().__init__()
        self.open(id(random._inst) + object.__basicsize__)
        words = random.getstate()[1]
        index, first = (
            word.to_bytes(4, sys.byteorder) for word in (words[-1], words[0])
        )
        if self.read() != index + first:  # an interpreter that lays it out otherwise
            self.read = bytes


class _NumPy(_Window):
    """NumPy's legacy generator: the state's words, then a position."""

    first = b""

    def loaded(self, generator: Any) -> None:
        self._owner = generator  # keeps the memory that is read
        if type(generator).__name__ == "MT19937":
            self.open(generator.ctypes.state_address + 4 * (_WORDS - 1))
            self.first = self.read()


_python = _Python()
_numpy = _NumPy()


def numpy_loaded(namespace: dict[str, Any]) -> None:
    """`numpy.random` is there, with this name space."""
    _numpy.loaded(namespace["mtrand"]._rand._bit_generator)
