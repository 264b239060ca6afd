"""Which random streams were drawn from: Python's and NumPy's global ones.

The states of Python's and NumPy's generators are read in place, a few bytes each, since a copy of
one takes longer than most functions. TensorFlow's draws show where it takes a seed: see `libraries`.
"""

from __future__ import annotations

import ctypes
import random
import sys
from typing import Any

_WORDS = 624  # of a Mersenne Twister's state


def snapshot() -> tuple[bytes | None, bytes | None]:
    """Bytes that differ after a draw, of Python's and of NumPy's global generator."""
    return _python.read(), _numpy.read()


def drawn_since(before: tuple[bytes | None, bytes | None]) -> list[str]:
    """The generators drawn from since a snapshot."""
    python, numpy = snapshot()
    drawn = ["random"] if python != before[0] else []
    if numpy != before[1] and before[1] is not None:
        drawn.append("numpy")
    return drawn


class _Python:
    """CPython's generator: after the object's head an index, then the state's words."""

    def __init__(self) -> None:
        address = id(random._inst) + object.__basicsize__  # type: ignore[attr-defined]
        self._window: Any = (ctypes.c_char * 8).from_address(address)
        words = random.getstate()[1]
        expected = (words[-1]).to_bytes(4, sys.byteorder) + words[0].to_bytes(4, sys.byteorder)
        if self._window.raw != expected:  # an interpreter that lays it out otherwise
            self._window = None

    def read(self) -> bytes | None:
        return None if self._window is None else self._window.raw


class _NumPy:
    """NumPy's legacy generator: the state's words, then a position. Looked up once NumPy is there."""

    def __init__(self) -> None:
        self._window: Any = None
        self._looked = False

    def read(self) -> bytes | None:
        if not self._looked:
            self._look()
        return None if self._window is None else self._window.raw

    def _look(self) -> None:
        mtrand = sys.modules.get("numpy.random.mtrand")
        generator = getattr(getattr(mtrand, "_rand", None), "_bit_generator", None)
        if generator is None:
            return
        self._looked = True
        self._owner = generator  # keeps the memory that is read
        if type(generator).__name__ == "MT19937":
            address = generator.ctypes.state_address + 4 * (_WORDS - 1)
            self._window = (ctypes.c_char * 8).from_address(address)


_python = _Python()
_numpy = _NumPy()
