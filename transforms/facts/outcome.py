"""What evaluating one expression gives: its kind, what else it does, or why eager TensorFlow raises."""

from __future__ import annotations

from dataclasses import dataclass

from .kinds import UNKNOWN, Kind

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
