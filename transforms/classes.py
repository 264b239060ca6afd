"""Of which class of the module something is, for sure."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from .facts.definitions import ClassDefinition, FunctionDefinition
from .facts.environment import FunctionFacts
from .facts.kind_parts import holds
from .facts.kinds import Kind, Object
from .facts.modules import ELSEWHERE
from .facts.session import Session
from .facts.syntax import ANY, one_by_one, own_nodes
from .inlining import local_names

COPIES = ("copy.copy", "copy.deepcopy")


def class_of(
    session: Session, node: ast.expr, facts: FunctionFacts
) -> ClassDefinition | None:
    """The class of this module that an object is made of, where nothing else can be there."""
    match node:
        case ast.Name(id=name):
            owner = _owner_of_self(name, facts.definition)
            local = name in local_names(facts.definition.node)
            if owner is not None:
                return None if has_subclass(session, owner) else owner
            if local or name in session.module.rebound:
                return None
            values = session.module.assignments.get(name, [])
            return _made(session, values[0]) if len(values) == 1 else None
        case ast.Attribute(value=value, attr=name):
            holder = class_of(session, value, facts)
            return _made(session, kept_value(session, holder, name)) if holder else None
    return None


def _owner_of_self(name: str, definition: FunctionDefinition) -> ClassDefinition | None:
    """The class that a name is the `self` of, in a method or in a function that one makes."""
    around = definition.parent
    if definition.owner is None and around is not None:
        own = local_names(definition.node) | definition.reset_around
        return None if name in own else _owner_of_self(name, around)
    return definition.owner if name == definition.receiver else None


def class_at(
    session: Session, node: ast.expr, facts: FunctionFacts
) -> ClassDefinition | None:
    """The class of whatever object is there: that of all that the module ever puts there."""
    made = class_of(session, node, facts)
    if made is not None:
        return made
    match node:
        case ast.Name(id=name):
            if name in local_names(facts.definition.node):
                return None
            return _class_of_all(session, _values_of_global(session, name), facts)
        case ast.Attribute(value=value, attr=name):
            if class_at(session, value, facts) is None:
                return None
            return _class_of_all(session, _values_of_attribute(session, name), facts)
    return None


def _class_of_all(
    session: Session, values: list[ast.expr | None], facts: FunctionFacts
) -> ClassDefinition | None:
    found = [_made_or_copied(session, value, facts) for value in values]
    return found[0] if found and all(made is found[0] for made in found) else None


def _made_or_copied(
    session: Session, value: ast.expr | None, facts: FunctionFacts
) -> ClassDefinition | None:
    match value:
        case ast.Name() | ast.Attribute():
            return class_of(session, value, facts)
        case ast.Call(func=ast.Name() | ast.Attribute() as function, args=[copied]):
            dotted = session.module.imported(ast.unparse(function))
            if dotted in COPIES and isinstance(copied, ast.Name | ast.Attribute):
                return class_of(session, copied, facts)
    return _made(session, value)


def _values_of_global(session: Session, name: str) -> list[ast.expr | None]:
    """All that a global is ever given; None for what is not known."""
    module = session.module
    if name not in module.assignments or name in module.elsewhere.rebound:
        return [None]
    found = list(module.assignments[name])
    for definition in module.functions.values():
        if name in definition.declared_global:
            found += _stored(own_nodes(definition.original), name)
    return found


def _values_of_attribute(session: Session, name: str) -> list[ast.expr | None]:
    """All that attributes of a name are ever given in the module; None for what is not known."""
    writers = session.module.rebound_attributes
    if ELSEWHERE in writers.get(name, ()) or ANY in writers:
        return [None]
    return list(_stored(session.module.nodes, name))


def _stored(nodes: Iterable[ast.AST], name: str) -> Iterator[ast.expr | None]:
    """What statements give a name or an attribute."""
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=n) | ast.Attribute(attr=n)]) if (
                n == name
            ):
                yield node.value
            case ast.stmt() if not isinstance(node, COMPOUND):
                if any(
                    name in (getattr(t, "id", ""), getattr(t, "attr", ""))
                    and isinstance(getattr(t, "ctx", None), ast.Store | ast.Del)
                    for t in ast.walk(node)
                ):
                    yield None


COMPOUND = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.If,
    ast.While,
    ast.Try,
)
"""Statements that are looked into, statement by statement."""


def kept_value(session: Session, holder: ClassDefinition, name: str) -> ast.expr | None:
    """What every instance has under a name from the start, and keeps: what `__init__` sets it to."""
    initializer = session.module.method(holder.qualname, "__init__")
    writers = session.module.rebound_attributes.get(name, set())
    if initializer is None or writers != {initializer.qualname}:
        return None
    values = [
        value
        for s in initializer.original.body
        if isinstance(s, ast.Assign)
        for target, value in one_by_one(s)
        if isinstance(target, ast.Attribute) and target.attr == name
    ]
    return values[0] if len(values) == 1 else None


def class_made_here(
    session: Session, kind: Kind, facts: FunctionFacts
) -> ClassDefinition | None:
    """The class of an object that the function at hand has made, rather than been given by one that made it."""
    if not (isinstance(kind, Object) and kind.fresh) or _is_given(kind, facts, session):
        return None
    return session.class_of(kind.name)


def _is_given(made: Object, facts: FunctionFacts, session: Session) -> bool:
    """Whether a function, or one around it, has parameters that are, or hold, what another has made."""
    around = facts.definition.parent
    outer = session.known(around.qualname) if around else None
    return any(holds(kind, made) for kind in facts.parameters.values()) or bool(
        outer and _is_given(made, outer, session)
    )


def _made(session: Session, value: ast.expr | None) -> ClassDefinition | None:
    match value:
        case ast.Call(func=ast.Name(id=name)):
            return session.module.classes.get(name)
    return None


def has_subclass(session: Session, made: ClassDefinition) -> bool:
    module = session.module
    named = session.modules.named_elsewhere(session.path) if session.modules else ()
    name = made.qualname.rpartition(".")[2]
    return name in named or any(
        made.qualname in module.bases(other) for other in module.classes
    )
