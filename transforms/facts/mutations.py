"""What lists and dicts hold after they were changed: one of their methods called, an item set or removed."""

from __future__ import annotations

from . import operators
from .calls import Arguments
from .kind_joins import forget, join_all
from .kinds import (
    UNKNOWN,
    Dict,
    Elements,
    Kind,
    Mapping,
    Python,
    Sequence,
)
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
    before = (receiver.element,) if isinstance(receiver, Elements) else receiver.parts
    return _list_of_any((*before, *added), staged)


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


def with_item(container: Kind, key: Kind, kind: Kind) -> Kind | None:
    """The container after `container[key] = kind`; None where that is not known."""
    if not (isinstance(key, Python) and key.known):
        return None
    if (
        isinstance(container, Sequence)
        and container.type == "list"
        and isinstance(key.value, int)
    ):
        items = list(container.items)
        if not -len(items) <= key.value < len(items):
            return None
        items[key.value] = kind
        return Sequence("list", tuple(items))
    if isinstance(container, Dict) and isinstance(key.value, str):
        entries = dict(container.items)
        entries[key.value] = kind
        return Dict(tuple(entries.items()))
    return None


def without_item(container: Kind, key: Kind) -> Kind:
    """The container after `del container[key]`."""
    if isinstance(container, Dict) and isinstance(key, Python) and key.known:
        return Dict(tuple(entry for entry in container.items if entry[0] != key.value))
    return UNKNOWN


def with_some_item(container: Kind, key: Kind, kind: Kind, staged: bool) -> Kind:
    """The container after `container[key] = kind`, where that may be any item."""
    if is_list(container):
        before = container.parts or (operators.iterate(container) or UNKNOWN,)
        return _list_of_any((*before, kind), staged)
    if isinstance(container, Dict | Mapping):
        return UNKNOWN if staged else _with_entry(container, key, kind)
    return container


def with_cell(lists: Kind, place: Kind, key: Kind, kind: Kind, staged: bool) -> Kind:
    """A list of lists after `lists[place][key] = kind`."""

    def changed(row: Kind) -> Kind:
        return with_item(row, key, kind) or with_some_item(row, key, kind, staged)

    number = constant_int(place)
    if isinstance(lists, Sequence) and number is not None:
        if not -len(lists.items) <= number < len(lists.items):
            return UNKNOWN
        return with_item(lists, place, changed(lists.items[number])) or UNKNOWN
    rows = lists.parts or (operators.iterate(lists) or UNKNOWN,)
    return _list_of_any((*rows, *map(changed, rows)), staged)


def _list_of_any(items: tuple[Kind, ...], staged: bool) -> Kind:
    if staged:
        return list_of(*items)
    return Elements("list", join_all(map(forget, items)))


def _with_entry(container: Dict | Mapping, key: Kind, kind: Kind) -> Kind:
    """A dict with one more entry, under a key that Python knows while tracing."""
    if isinstance(container, Dict):
        keys: list[Kind] = [Python("str")] * len(container.items)
        values = [*container.parts]
    else:
        keys, values = [container.key], [container.value]
    return Mapping(
        join_all(map(forget, [*keys, key])), join_all(map(forget, [*values, kind]))
    )
