"""What a statement reads and changes in the functions of the project that it calls, or names.

Globals and attributes go by their last names there, whatever module or object they belong to: what may be one counts as
one.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from .facts.environment import FunctionFacts
from .facts.kinds import UNKNOWN, Function, Type
from .facts.profile import FunctionNode
from .facts.session import Session
from .facts.syntax import (
    CALLED_IN_ANY_CASE,
    changed_object,
    stored_attributes,
)
from .inlining import local_names

MAKING = ("__init__", "__new__", "__post_init__")
Reached = tuple[Session, str]
"""A function by its session and qualified name."""


@dataclass(frozen=True)
class Touched:
    """The last names of the globals and attributes that functions read, and of those that they change; whether they raise."""

    read: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    raises: bool = False


class ReachedState:
    """Tells what the functions touch that one function's statements reach."""

    def __init__(self, session: Session, facts: FunctionFacts) -> None:
        self.session = session
        self.facts = facts
        self._known: dict[ast.stmt, Touched] = {}

    def of(self, statement: ast.stmt) -> Touched:
        """What a statement touches by calls, and by properties and functions that it names."""
        if statement not in self._known:
            self._known[statement] = self._touched_by(statement)
        return self._known[statement]

    def _touched_by(self, statement: ast.stmt) -> Touched:
        found: dict[Reached, Touched] = {}
        waiting = self._reached(self.session, self.facts, statement)
        while waiting:
            reached = waiting.pop()
            if reached in found:
                continue
            session, qualname = reached
            node = session.module.functions[qualname].original
            found[reached] = _touched(node)
            known = session.known(qualname)
            waiting += self._reached(session, known, node)
        return Touched(
            frozenset().union(*(t.read for t in found.values())),
            frozenset().union(*(t.changed for t in found.values())),
            any(t.raises for t in found.values()),
        )

    def _reached(
        self, session: Session, facts: FunctionFacts | None, node: ast.AST
    ) -> list[Reached]:
        """The functions that a piece of code may run."""
        inner = list(ast.walk(node))
        names = _last_names(node)
        calls = (n for n in inner if isinstance(n, ast.Call))
        if any(_may_call_object(facts, call) for call in calls):
            names |= CALLED_IN_ANY_CASE
        found = [
            (session, qualname)
            for qualname in session.module.functions
            if names & _goes_by(qualname)
        ]
        foreign = facts.foreign if facts is not None else {}
        found += [
            (foreign[n].session, foreign[n].qualname) for n in inner if n in foreign
        ]
        return found


def _may_call_object(facts: FunctionFacts | None, call: ast.Call) -> bool:
    kind = UNKNOWN if facts is None else facts.kind(call.func)
    return not isinstance(kind, Function | Type)


def _goes_by(qualname: str) -> set[str]:
    """The last names by which code runs a function: its own, and its class's where it makes the objects of that."""
    around, _, name = qualname.rpartition(".")
    return {name, around.rpartition(".")[2]} if name in MAKING else {name}


def _touched(function: FunctionNode) -> Touched:
    """What the text of a function itself touches, its functions inside included."""
    inner = list(ast.walk(function))
    local = local_names(function)
    changed = {name for node in inner for name in stored_attributes(node)}
    changed |= {
        name
        for node in inner
        if isinstance(node, ast.Global | ast.Nonlocal)
        for name in node.names
    }
    for owner in filter(None, map(changed_object, inner)):
        changed |= _last_names(owner)
    return Touched(
        frozenset(_last_names(function) - local),
        frozenset(changed - local),
        any(isinstance(n, ast.Raise | ast.Assert) for n in inner),
    )


def _last_names(node: ast.AST) -> set[str]:
    """The names of the variables and attributes in a piece of code."""
    inner = list(ast.walk(node))
    names = {n.id for n in inner if isinstance(n, ast.Name)}
    return names | {n.attr for n in inner if isinstance(n, ast.Attribute)}
