"""What lists and dicts hold after one of their methods changed them."""

from __future__ import annotations

from . import operators
from .calls import Arguments
from .kind_joins import forget, join_all
from .kinds import UNKNOWN, Dict, Elements, Kind, Sequence
from .staging import is_list, list_of
from .tensorflow_values import constant_int, constant_str


def mutated(receiver: Kind, name: str, arguments: Arguments, staged: bool) -> Kind:
    """A list or dict after one of its methods."""
    if isinstance(receiver, Dict):
        return _mutated_dict(receiver, name, arguments)
    if not is_list(receiver):
        return receiver
    given = arguments.positional
    if isinstance(receiver, Sequence) and not arguments.keywords:
        exact = _exactly_mutated(list(receiver.items), name, given)
        if exact is not None:
            return Sequence("list", tuple(exact))
    added: list[Kind] = []
    if name in ("append", "insert"):
        added = [given[-1]]
    elif name == "extend":
        added = [operators.iterate(given[0]) or UNKNOWN]
    before = (
        list(receiver.items) if isinstance(receiver, Sequence) else [receiver.element]  # type: ignore[attr-defined]
    )
    if staged:
        return list_of(*before, *added)
    return Elements("list", join_all(map(forget, [*before, *added])))


def _exactly_mutated(
    items: list[Kind], name: str, given: list[Kind]
) -> list[Kind] | None:
    """The items of a list after one of its methods; None where they are not known one by one."""
    place = constant_int(given[0]) if given else -1
    match name, given:
        case "append", [item]:
            return [*items, item]
        case "extend", [Sequence(items=more)]:
            return [*items, *more]
        case "insert", [_, item] if place is not None:
            items.insert(place, item)
            return items
        case "pop", _ if (
            items and place is not None and (-len(items) <= place < len(items))
        ):
            items.pop(place)
            return items
        case "reverse", []:
            return items[::-1]
        case "clear", []:
            return []
    return None


def _mutated_dict(receiver: Dict, name: str, arguments: Arguments) -> Kind:
    entries = dict(receiver.items)
    given = arguments.positional
    key = constant_str(given[0]) if given else None
    match name, given:
        case "pop", [_, *_] if key is not None:
            entries.pop(key, None)
        case "setdefault", [_, value] if key is not None:
            entries.setdefault(key, value)
        case "clear", []:
            entries = {}
        case "update", [] | [Dict()]:
            for more in given:
                entries |= dict(more.items)  # type: ignore[attr-defined]
            entries |= arguments.keywords
        case _:
            return UNKNOWN
    return Dict(tuple(entries.items()))
