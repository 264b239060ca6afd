"""What kinds hold: their parts, and kinds with other parts."""

from __future__ import annotations

from dataclasses import replace

from .kind_joins import forget, join_all
from .kinds import (
    UNKNOWN,
    Array,
    Dict,
    Elements,
    Kind,
    Mapping,
    Maybe,
    Object,
    Python,
    Sequence,
    Shaped,
    Tensor,
    Union,
    members,
)


def has_unknown(kind: Kind) -> bool:
    """Whether a kind, or one of its parts, is unknown."""
    if isinstance(kind, Sequence):
        return any(map(has_unknown, kind.items))
    return any(
        m == UNKNOWN or (m is not kind and has_unknown(m)) for m in members(kind)
    )


def holds(kind: Kind, part: Kind) -> bool:
    """Whether this kind is, or has among what it holds, another one."""
    match kind:
        case Elements(element=inner) | Mapping(value=inner) | Maybe(kind=inner):
            return holds(inner, part)
    inside = kind.members if isinstance(kind, Union) else kind.parts
    return kind == part or any(holds(k, part) for k in inside)


def unwrapped(kind: Kind) -> Kind:
    """The structure of what may be None instead; another kind as it is."""
    inside = kind.kind if isinstance(kind, Maybe) else kind
    return inside if isinstance(inside, Sequence | Dict) else kind


def tensor_leaves(kind: Kind) -> list[Kind]:
    """What a structure, or one that may be None, holds that is none of Python's values, in order."""
    kind = unwrapped(kind)
    if isinstance(kind, Sequence | Dict):
        return [leaf for part in kind.parts for leaf in tensor_leaves(part)]
    return [] if isinstance(kind, Python) else [kind]


def of_any_size(kind: Kind, any_length: bool = True) -> Kind:
    """The kind without the sizes of its tensors, and maybe without the lengths of lists and tuples of tensors."""
    if isinstance(kind, Shaped) and kind.shape:
        return replace(kind, shape=(None,) * len(kind.shape))
    if isinstance(kind, Sequence):
        items = tuple(of_any_size(k, any_length) for k in kind.items)
        element = join_all(map(forget, items))
        listed = _is_tensor(element) or (kind.type == "list" and len(set(items)) == 1)
        if any_length and listed and kind.type in ("list", "tuple"):
            return Elements(kind.type, element)
        return replace(kind, items=items)
    if isinstance(kind, Elements):
        return replace(kind, element=of_any_size(kind.element, any_length))
    return kind.mapped(lambda part: of_any_size(part, any_length))


def of_any_shape(kind: Kind) -> Kind:
    """The kind without the sizes of its tensors."""
    return of_any_size(kind, any_length=False)


def _is_tensor(kind: Kind) -> bool:
    return isinstance(kind, Tensor) and kind.dtype is not None and not kind.mixed


def is_mutable(kind: Kind) -> bool:
    """Whether this is a list, a set, a dict or an array."""
    listed = isinstance(kind, Sequence | Elements) and kind.type in ("list", "set")
    return listed or isinstance(kind, Dict | Mapping | Array)


def holds_mutable(kind: Kind) -> bool:
    """Whether this is a list, a set, a dict or an array, or holds one."""
    if isinstance(kind, Sequence):
        return is_mutable(kind) or any(map(holds_mutable, kind.items))
    return is_mutable(kind)


def settled(kind: Kind) -> Kind:
    """What others see once it is stored: objects that anyone may change."""
    match kind:
        case Object(name=name):
            return Object(name)
        case Elements(element=element):
            return replace(kind, element=settled(element))
        case Mapping(value=value):
            return replace(kind, value=settled(value))
    return kind.mapped(settled)
