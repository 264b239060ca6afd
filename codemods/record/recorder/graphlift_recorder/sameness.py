"""Whether a value seen later is the one seen first: by identity for tensors and objects, by equality
for Python values, containers of them and small arrays. And which names have one tensor.

Nothing seen is kept alive, and no `__eq__` of the user's is run.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

Same = Callable[[Any], bool]

MOST_ITEMS = 64
MOST_BYTES = 65536
DEEPEST = 3

_PLAIN = (int, float, bool, str, bytes, complex, type(None))


def same_as(value: Any, depth: int = 0) -> Same:
    """A test of whether another value is this one."""
    cls = type(value)
    if cls in _PLAIN:
        return lambda other: (
            type(other) is cls
            and (other == value or (other != other and value != value))
        )
    if depth < DEEPEST and cls in (list, tuple):
        return _same_items(cls, value, depth)
    if depth < DEEPEST and cls is dict:
        keys, items = (
            _same_items(list, [*value], depth),
            _same_items(list, [*value.values()], depth),
        )
        return lambda other: (
            type(other) is dict and keys([*other]) and items([*other.values()])
        )
    numpy = sys.modules.get("numpy")
    if numpy is not None and cls is numpy.ndarray and _comparable(value):
        mark = _bytes(value)
        return lambda other: (
            type(other) is cls and _comparable(other) and _bytes(other) == mark
        )
    return _same_object(value)


def _same_items(cls: Any, value: Any, depth: int) -> Same:
    length = len(value)
    sames = [same_as(item, depth + 1) for item in value[:MOST_ITEMS]]

    def same_items(other: Any) -> bool:
        fits = type(other) is cls and len(other) == length
        return fits and all(map(_call, sames, other))

    return same_items


def _call(same: Same, item: Any) -> bool:
    return same(item)


def _comparable(array: Any) -> bool:
    return bool(array.nbytes <= MOST_BYTES and not array.dtype.hasobject)


def _bytes(array: Any) -> tuple[Any, ...]:
    return array.dtype, array.shape, array.tobytes()


def _same_object(value: Any) -> Same:
    try:
        ref = weakref.ref(value)
    except TypeError:
        address = id(value)
        return lambda other: id(other) == address
    return lambda other: ref() is other


class Steady:
    """Watches one value from call to call."""

    __slots__ = ("_same",)

    def __init__(self) -> None:
        self._same: Same | None = None

    def differs(self, value: Any) -> bool:
        """Whether the value is another than the first one."""
        if self._same is None:
            self._same = same_as(value)
            return False
        return not self._same(value)


def shared_tensors(named: Iterable[tuple[str, Any]]) -> list[tuple[str, str]]:
    """The pairs of names that have, or whose containers hold, one and the same tensor; a name twice where it has two."""
    owners: dict[int, str] = {}
    pairs = []
    for name, value in named:
        for tensor in _tensors(value, 0):
            first = owners.setdefault(id(tensor), "")
            if first:
                pairs.append((min(first, name), max(first, name)))
            else:
                owners[id(tensor)] = name
    return pairs


def _tensors(value: Any, depth: int) -> Iterator[Any]:
    cls = type(value)
    if cls.__name__ == "EagerTensor":
        yield value
    elif depth < DEEPEST and cls in (list, tuple, dict):
        for item in [*(value.values() if cls is dict else value)][:MOST_ITEMS]:
            yield from _tensors(item, depth + 1)
