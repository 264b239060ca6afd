"""Whether what a recorded run saw can be what the facts expect."""

from __future__ import annotations

from .kinds import (
    NONE,
    UNKNOWN,
    Array,
    Dict,
    Kind,
    Maybe,
    Python,
    Scalar,
    Sequence,
    Tensor,
    Union,
    members,
)


def agrees(expected: Kind, seen: Kind) -> bool:
    """Whether each kind that was seen is one that was expected; true where either is not known well enough."""
    if UNKNOWN in (expected, seen):
        return True
    return all(
        any(_admits(wanted, member) for wanted in members(expected))
        for member in members(seen)
    )


def _admits(expected: Kind, seen: Kind) -> bool:
    match expected, seen:
        case Maybe(kind=kind), _:
            return seen == NONE or _admits(kind, seen)
        case Union(), _:
            return agrees(expected, seen)
        case Tensor(mixed=True), Tensor() | Python():
            return seen != NONE
        case Tensor(weak="numpy", dtype=dtype), Array() | Scalar():
            return dtype is None or seen.dtype in (None, dtype)
        case Tensor(weak=str(name)), Python(type=type):
            return name == type
        case Tensor(weak=str()), Tensor():
            return False
        case Tensor(dtype=dtype, shape=shape), Tensor():
            same = None in (dtype, seen.dtype) or dtype == seen.dtype
            ranked = shape is not None and seen.shape is not None
            return same and not (ranked and len(shape) != len(seen.shape))  # type: ignore[arg-type]
        case Python(type=type), Python():
            return type == seen.type
        case Tensor() | Python(), Tensor() | Python():
            return False
        case Sequence(type=type, items=items), Sequence():
            return (
                type == seen.type
                and len(items) == len(seen.items)
                and all(map(agrees, items, seen.items))
            )
        case Dict(items=items), Dict():
            known = dict(seen.items)
            return all(agrees(kind, known.get(name, UNKNOWN)) for name, kind in items)
        case Sequence() | Dict() | Tensor(), Python():
            return False
    return True
