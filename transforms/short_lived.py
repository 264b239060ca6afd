"""Objects that a program makes anew again and again: a graph that is bound to one is traced for each of them."""

from __future__ import annotations

import ast
import copy

from .changing_state import changing_state, with_state_names
from .core_trials import Analyse
from .facts.definitions import ClassDefinition
from .facts.environment import FunctionFacts
from .facts.kinds import Object
from .facts.session import Session
from .facts.syntax import own_body
from .findings import Refusal
from .source import Names
from .split import may_have_core


def is_made_anew(session: Session, made: ClassDefinition | None) -> bool:
    """Whether the recorded run saw functions make the objects of a class, and none of them outlive these in a global."""
    return made is not None and _is_made_anew(session, made, frozenset())


def _is_made_anew(
    session: Session, made: ClassDefinition, seen: frozenset[str]
) -> bool:
    if made.qualname in seen or _is_in_global(session, made):
        return False
    initializer = session.module.method(made.qualname, "__init__")
    makers = session.recorded_callers(initializer.qualname) if initializer else []
    for maker in makers:
        owner = maker.removesuffix(".__init__")
        around = session.module.classes.get(owner) if owner != maker else None
        if around is not None and not _is_made_anew(
            session, around, seen | {made.qualname}
        ):
            continue
        if not maker.endswith("<module>"):
            return True
    return False


def _is_in_global(session: Session, made: ClassDefinition) -> bool:
    """Whether a global was seen to hold an object of a class."""
    text = str(Object(session.dotted(made.qualname)))
    recorded = map(session.recorded, session.module.functions)
    return any(
        text in str(kind) for seen in recorded if seen for kind in seen.globals.values()
    )


def apart(
    session: Session, facts: FunctionFacts, analyse: Analyse
) -> tuple[FunctionFacts, list[str]] | None:
    """The facts of a method that takes what it reads of its object, and not the object, and the texts of what it is given.

    None where it is no method of objects that are made anew, or does more with its object than read it.
    """
    definition = facts.definition
    if not (is_made_anew(session, definition.owner) and may_have_core(definition)):
        return None
    own = [a.arg for a in definition.parameters if a.arg != definition.receiver]
    names = Names.clear_of(definition.node, {*own, *session.module.globals})
    before = session.state()
    try:
        state = changing_state(session, facts, names, apart=True).values()
        kinds = {n: facts.parameters[n] for n in own}
        kinds |= {variable.name: variable.kind for variable in state}
        chains = {variable.chain: variable for variable in state}
        body = [with_state_names(s, chains) for s in own_body(definition.node)]
        made = copy.copy(definition)
        made.node = definition.sibling(definition.node.name, kinds, body).node
        found = analyse(made, kinds, definition.qualname)
    except Refusal:
        session.restore(before)
        return None
    if found.problems or not _does_without(found, definition.receiver):
        session.restore(before)
        return None
    return found, [*own, *(variable.text for variable in state)]


def _does_without(facts: FunctionFacts, receiver: str | None) -> bool:
    return receiver not in {
        n.id
        for s in facts.definition.node.body
        for n in ast.walk(s)
        if isinstance(n, ast.Name)
    }
