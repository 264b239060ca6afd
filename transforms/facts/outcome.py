"""What evaluating one expression gives: its kind, what else it does, or why eager TensorFlow raises."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .kind_joins import join_all
from .kinds import UNKNOWN, Kind, members

EFFECTS = frozenset(
    {
        "random",  # draws from a random stream
        "stdout",  # prints
        "variable",  # creates a Variable, layer, optimizer, metric or Generator
        "assign",  # writes a Variable
        "assert",  # may raise, depending on values
        "io",  # reads or writes files, the clock, global settings
        "host",  # gives a Python value that only eager mode has
        "callback",  # calls Python functions it was given
        "mutates",  # changes a Python object in place
        "identity",  # asks which object something is that a graph makes anew
        "exhausts",  # raises StopIteration at the end of an iterator of the graph
        "write",  # gives a new TensorArray that must be used in the place of the old
    }
)


@dataclass(frozen=True)
class Outcome:
    """The kind an expression gives; `error` is why eager mode raises instead (kind is then UNKNOWN)."""

    kind: Kind
    effects: frozenset[str] = frozenset()
    error: str | None = None


class Raises(Exception):
    """Eager mode raises here; the argument says why."""


class Unsure(Exception):
    """What happens here is not known."""


def outcome(kind: Kind, *effects: str) -> Outcome:
    """The outcome of the kind with the named effects."""
    return Outcome(kind, frozenset(effects))


def failure(reason: str) -> Outcome:
    """The outcome where eager mode raises."""
    return Outcome(UNKNOWN, error=reason)


def each(
    rule: Callable[[tuple[Kind, ...]], Kind | Outcome], *kinds: Kind
) -> Outcome | None:
    """The rule's outcome for every combination of the members of the kinds, joined.

    None where one isn't known, or where some raise and others don't.
    """
    found: list[Outcome] = []
    try:
        for combination in every_member(kinds):
            try:
                result = rule(combination)
                found.append(result if isinstance(result, Outcome) else Outcome(result))
            except Raises as reason:
                found.append(failure(str(reason)))
    except Unsure:
        return None
    failed = [one for one in found if one.error]
    if failed:
        return failed[0] if len(failed) == len(found) else None
    return Outcome(
        join_all(one.kind for one in found),
        frozenset().union(*(one.effects for one in found)),
    )


def every_member(kinds: Iterable[Kind]) -> Iterable[tuple[Kind, ...]]:
    """The arguments with each union replaced by one of its members, in every combination."""
    combinations: list[tuple[Kind, ...]] = [()]
    for kind in kinds:
        combinations = [
            (*head, member) for head in combinations for member in members(kind)
        ]
        if len(combinations) > 36:
            raise Unsure("too many combinations of kinds")
    return combinations
