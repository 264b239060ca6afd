"""Calls of methods that other classes have in their own way: what a graph calls has to be graph code in each of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .classes import class_at, class_made_here
from .facts.definitions import ClassDefinition, FunctionDefinition
from .facts.environment import FunctionFacts
from .facts.kinds import Object
from .facts.session import Session
from .facts.syntax import changed_object, is_named
from .findings import Refusal

HINDERING = frozenset({"print", "input", "open", "float", "int", "bool", "numpy"})
"""Functions and methods that graph code does not call."""


def obstacle(facts: FunctionFacts, session: Session) -> Refusal | None:
    """Why a function that calls a method of an object that it is given can be no graph, if another class overrides that."""
    own = ((node, session, name) for node, name in facts.calls.items())
    others = ((node, c.session, c.qualname) for node, c in facts.foreign.items())
    for node, home, qualname in (*own, *others):
        called = home.module.functions[qualname]
        receiver = _receiver(node, called)
        if called.owner is None or receiver is None:
            continue
        kind = facts.kind(receiver)
        if not isinstance(kind, Object) or (
            class_at(session, receiver, facts) or class_made_here(session, kind, facts)
        ):
            continue
        refusal = _refusal(
            node, called, _seen_as(receiver, facts) or called.owner, home
        )
        if refusal is not None:
            return refusal
    return None


def _receiver(node: ast.expr, called: FunctionDefinition) -> ast.expr | None:
    """The object of which a method is called, or a property read; Keras's own calls are made for graphs."""
    function = node.func if isinstance(node, ast.Call) else node
    match function:
        case ast.Attribute(value=ast.Name() | ast.Attribute() as receiver):
            is_method = function.attr == called.node.name
            return receiver if is_method else _called_itself(function, called)
        case ast.Name():
            return _called_itself(function, called)
    return None


def _called_itself(function: ast.expr, called: FunctionDefinition) -> ast.expr | None:
    return function if called.node.name == "__call__" else None


def _seen_as(receiver: ast.expr, facts: FunctionFacts) -> ClassDefinition | None:
    """The class that the function itself is a method of, where this is its `self`."""
    definition = facts.definition
    own = is_named(receiver, definition.receiver)
    return definition.owner if own else None


def _refusal(
    node: ast.expr, called: FunctionDefinition, seen: ClassDefinition, home: Session
) -> Refusal | None:
    name, module = called.node.name, home.module
    for made in _extending(seen, home):
        other = made.methods.get(name)
        if other is not None and other is not called and _hinders(other, home):
            reason = f"`{ast.unparse(node)}` may be one of `{other.qualname}`, which no graph can call as it is"
            way_out = "keep what that changes in a `tf.Variable`, or give the subclass a function of its own"
            return Refusal(reason, node, way_out=way_out)
    named = home.modules.named_elsewhere(home.path) if home.modules else ()
    family = {seen.qualname, *(c.qualname for c in _extending(seen, home))}
    if named and family & set(named) and name in module.elsewhere.overrides:
        reason = f"`{ast.unparse(node)}` may call the `{name}` that a class of another module has"
        way_out = f"put `@tf.function` on it if each `{name}` can be called in a graph"
        return Refusal(reason, node, way_out=way_out)
    return None


def _extending(seen: ClassDefinition, home: Session) -> Iterator[ClassDefinition]:
    module = home.module
    return (
        made
        for name, made in module.classes.items()
        if seen.qualname in module.bases(name)
    )


def _hinders(definition: FunctionDefinition, home: Session) -> bool:
    """Whether a method changes Python's state, or may do something else that is nothing for a graph."""
    facts = home.known(definition.qualname)
    if facts is not None:
        return bool(facts.problems) or "mutates" in facts.effects
    nodes = list(ast.walk(definition.original))
    names = {getattr(n, "id", getattr(n, "attr", "")) for n in nodes}
    return bool(HINDERING & names) or any(map(_is_hindering, nodes))


def _is_hindering(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute | ast.Subscript):
        return not isinstance(node.ctx, ast.Load)
    if changed_object(node) is not None:
        return True
    return isinstance(node, ast.If | ast.While | ast.For | ast.Global)
