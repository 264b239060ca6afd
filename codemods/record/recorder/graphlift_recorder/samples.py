"""Arguments of calls, kept for replay.

A function's samples are one `.npz` file without pickles. Its entry "calls" is the text of a JSON list,
one `{"args": [VALUE, ...], "kwargs": {NAME: VALUE, ...}}` a call, in order, where VALUE is one of

    {"tensor": "a0"}   a tf.Tensor whose value is the file's entry a0 (bytes for a string tensor)
    {"array": "a1"}    a numpy.ndarray
    {"value": 0.5}     an int, float (NaN, Infinity, -Infinity as Python's json writes them), bool, str or null
    {"list": [VALUE, ...]}   {"tuple": [VALUE, ...]}   {"dict": {KEY: VALUE, ...}}

A call with any other argument is no sample.
"""

from __future__ import annotations

import json
import sys
from typing import Any

MOST_CALLS = 5
PLAIN_CALLS = 3
"""So many calls are taken as they come; further ones only if the kinds of their arguments are new."""
MOST_TRIES = 10
MOST_BYTES = 1 << 20

_DTYPE_KINDS = "biufcSU"
"""Kinds of dtypes that a file gives back as they were; bfloat16 and its like come back as raw bytes."""
_VALUES = (int, float, bool, str, type(None))


class Unsampled(Exception):
    """The argument is of a kind that samples don't hold, or too large."""


class Samples:
    """The samples of one function."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self.arrays: dict[str, Any] = {}
        self._bytes = 0
        self._tries = 0
        self._seen: set[tuple[str, ...]] = set()

    def wanted(self, kinds: tuple[str, ...]) -> bool:
        taken = len(self.calls)
        if taken == MOST_CALLS or self._tries == MOST_TRIES:
            return False
        return taken < PLAIN_CALLS or kinds not in self._seen

    def take(
        self, args: list[Any], kwargs: dict[str, Any], kinds: tuple[str, ...]
    ) -> None:
        """Keep a copy of a call's arguments, if they can be kept."""
        self._tries += 1
        call = _Call(len(self.arrays), MOST_BYTES - self._bytes)
        try:
            self.calls.append(
                {
                    "args": [call.keep(value) for value in args],
                    "kwargs": {
                        name: call.keep(value) for name, value in kwargs.items()
                    },
                }
            )
        except (Unsampled, RecursionError):
            return
        self._seen.add(kinds)
        self.arrays.update(call.arrays)
        self._bytes += call.bytes

    def save(self, path: str) -> None:
        """Write the .npz file; NumPy has to be there."""
        numpy = sys.modules["numpy"]
        numpy.savez(path, calls=numpy.array(json.dumps(self.calls)), **self.arrays)


class _Call:
    """The arguments of one call on their way into the samples."""

    def __init__(self, first: int, room: int) -> None:
        self.arrays: dict[str, Any] = {}
        self.bytes = 0
        self._first = first
        self._room = room

    def keep(self, value: Any) -> dict[str, Any]:
        cls = type(value)
        if cls in _VALUES:
            self._account(64 + (len(value) if cls is str else 0))
            return {"value": value}
        if cls in (list, tuple):
            return {cls.__name__: [self.keep(item) for item in value]}
        if cls is dict:
            if not all(type(key) is str for key in value):
                raise Unsampled
            return {"dict": {key: self.keep(item) for key, item in value.items()}}
        if cls.__name__ == "EagerTensor" and cls.__module__.startswith("tensorflow."):
            self._room_for(value.dtype.size * value.shape.num_elements())
            return {"tensor": self._array(value.numpy())}
        numpy = sys.modules.get("numpy")
        if numpy is not None and cls is numpy.ndarray:
            self._room_for(value.nbytes)
            return {"array": self._array(value)}
        raise Unsampled

    def _array(self, value: Any) -> str:
        numpy = sys.modules["numpy"]
        value = numpy.array(value)
        if value.dtype.hasobject:
            value = _bytes_array(value, numpy)
        if value.dtype.kind not in _DTYPE_KINDS:
            raise Unsampled
        self._account(value.nbytes)
        name = f"a{self._first + len(self.arrays)}"
        self.arrays[name] = value
        return name

    def _account(self, size: int) -> None:
        self._room_for(size)
        self.bytes += size

    def _room_for(self, size: int) -> None:
        if self.bytes + size > self._room:
            raise Unsampled


def _bytes_array(value: Any, numpy: Any) -> Any:
    """An array of byte strings that NumPy gives back as they were (it drops trailing NULs)."""
    items = value.reshape(-1).tolist()
    if not all(type(item) is bytes and not item.endswith(b"\0") for item in items):
        raise Unsampled
    return numpy.array(items, dtype="S").reshape(value.shape)
