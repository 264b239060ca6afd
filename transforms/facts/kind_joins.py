"""The join of kinds: the tightest kind that admits several."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .kinds import (
    NONE,
    UNKNOWN,
    Dataset,
    Dict,
    Elements,
    Kind,
    Mapping,
    Object,
    Python,
    Sequence,
    Shape,
    Shaped,
    Tensor,
    Union,
    Variable,
    members,
)

MOST_MEMBERS = 6
MOST_NUMBERS = 4


def numbers_of(kind: Kind) -> tuple[int | float, ...] | None:
    """The Python numbers that a value may be; None where that is not known."""
    if isinstance(kind, Tensor):
        return kind.numbers if kind.weak or kind.mixed else ()
    if isinstance(kind, Python) and isinstance(kind.value, int | float):
        return (kind.value,)
    return () if isinstance(kind, Variable) else None


def all_numbers(*kinds: Kind) -> tuple[int | float, ...] | None:
    """The Python numbers that one of several values may be; None where that is not known, or where they are many."""
    found: dict[str, int | float] = {}
    for kind in kinds:
        numbers = numbers_of(kind)
        if numbers is None:
            return None
        found |= {repr(number): number for number in numbers}
    return tuple(found.values()) if len(found) <= MOST_NUMBERS else None


def forget(kind: Kind) -> Kind:
    """The kind without the value of a Python constant."""
    if isinstance(kind, Python) and kind != NONE:
        return Python(kind.type)
    return kind.mapped(forget)


def join_shapes(a: Shape, b: Shape) -> Shape:
    """The tightest shape that admits both."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else None for x, y in zip(a, b, strict=True))


def join(a: Kind, b: Kind) -> Kind:
    """The tightest kind that admits both."""
    if a == b:
        return _both_numbers(a, b)
    if UNKNOWN in (a, b):
        return UNKNOWN
    merged = _merge(a, b)
    if merged is not None:
        return merged
    return _union((*members(a), *members(b)))


def _both_numbers(a: Kind, b: Kind) -> Kind:
    """One of two kinds that are equal but for the Python numbers they may be."""
    if isinstance(a, Tensor) and a.numbers is not None:
        return replace(a, numbers=all_numbers(a, b))
    return a


def join_all(kinds: Iterable[Kind]) -> Kind:
    """The join of any number of kinds; unknown for none."""
    result: Kind | None = None
    for kind in kinds:
        result = kind if result is None else join(result, kind)
    return UNKNOWN if result is None else result


def _merge(a: Kind, b: Kind) -> Kind | None:
    """One kind for two of a family, None where they are of different families."""
    if isinstance(a, Python) and isinstance(b, Python) and a.type == b.type:
        return Python(a.type)
    if isinstance(a, Shaped) and type(a) is type(b) and _same_dtype(a, b):
        if isinstance(a, Tensor) and isinstance(b, Tensor) and a.weak != b.weak:
            return None
        if isinstance(a, Tensor) and isinstance(b, Tensor):
            a = replace(a, mixed=a.mixed or b.mixed, numbers=all_numbers(a, b))
        dtype = a.dtype if a.dtype == b.dtype else None
        return replace(a, dtype=dtype, shape=join_shapes(a.shape, b.shape))
    if isinstance(a, Sequence | Elements) and isinstance(b, Sequence | Elements):
        return _merge_sequences(a, b)
    if isinstance(a, Dict | Mapping) and isinstance(b, Dict | Mapping):
        return _merge_dicts(a, b)
    if isinstance(a, Object) and isinstance(b, Object) and a.name == b.name:
        return Object(a.name)
    if isinstance(a, Object) and isinstance(b, Object) and _are_one_class(a, b):
        return Object(max(a.name, b.name, key=len))
    if isinstance(a, Dataset) and isinstance(b, Dataset):
        return Dataset(join(a.element, b.element))
    return None


def _are_one_class(a: Object, b: Object) -> bool:
    """Whether two names are of one class of Keras: where it is defined, and where it is to be imported from."""
    names = a.name, b.name
    own = any(n.startswith("keras.src.") for n in names)
    keras = all(n.startswith(("keras.", "tensorflow.keras.")) for n in names)
    return own and keras and len({n.rpartition(".")[2] for n in names}) == 1


def _merge_sequences(a: Sequence | Elements, b: Sequence | Elements) -> Kind | None:
    if a.type != b.type:
        return None
    if (
        isinstance(a, Sequence)
        and isinstance(b, Sequence)
        and len(a.items) == len(b.items)
    ):
        return replace(a, items=tuple(map(join, a.items, b.items)))
    inner = [
        k
        for s in (a, b)
        for k in (s.items if isinstance(s, Sequence) else (s.element,))
    ]
    return Elements(a.type, join_all(map(forget, inner)))


def _same_dtype(a: Shaped, b: Shaped) -> bool:
    return a.dtype == b.dtype or None in (a.dtype, b.dtype)


def _same_keys(a: Dict, b: Dict) -> bool:
    return [k for k, _ in a.items] == [k for k, _ in b.items]


def _merge_dicts(a: Dict | Mapping, b: Dict | Mapping) -> Kind:
    if isinstance(a, Dict) and isinstance(b, Dict) and _same_keys(a, b):
        return Dict(
            tuple(
                (k, join(x, y)) for (k, x), (_, y) in zip(a.items, b.items, strict=True)
            )
        )
    pairs = [
        pair
        for d in (a, b)
        for pair in (
            [(Python("str"), v) for _, v in d.items]
            if isinstance(d, Dict)
            else [(d.key, d.value)]
        )
    ]
    return Mapping(join_all(k for k, _ in pairs), join_all(forget(v) for _, v in pairs))


def _union(kinds: Iterable[Kind]) -> Kind:
    distinct: list[Kind] = []
    for kind in kinds:
        for i, other in enumerate(distinct):
            merged = kind if kind == other else _merge(kind, other)
            if merged is not None:
                distinct[i] = merged
                break
        else:
            distinct.append(kind)
    if len(distinct) > MOST_MEMBERS:
        return UNKNOWN
    if len(distinct) == 1:
        return distinct[0]
    return Union(tuple(sorted(distinct, key=str)))
