"""GL305 local-stateful: models and optimizers that a function may be given before they have their variables.

Keras makes these in the first call. A graph can only while it is traced for the first time: later it would draw them
anew in each run, or raise. So a call with one that has none yet runs op by op, and the next is the graph's.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Mapping

from .facts.environment import FunctionFacts
from .facts.kinds import Kind, Object, members
from .facts.session import Session
from .facts.staging import is_optimizer
from .facts.syntax import bound_names, own_nodes
from .findings import Refusal

APPLIES = frozenset({"apply_gradients", "apply", "minimize"})
WITH_VARIABLES = ("keras.src.models.", "keras.src.layers.")


def guard(
    session: Session,
    facts: FunctionFacts,
    core: str,
    given: Mapping[str, str],
    built: Container[str],
) -> str | None:
    """The text of what a shell calls for a core: it, or Python, where what it is given has no variables yet.

    None where all that it is given has its own; `built` has. What the shell gives under other names is in `given`.
    """
    texts = []
    for text in unbuilt(session, facts):
        root, *rest = text.split(".")
        texts.append(".".join([given.get(root, root), *rest]))
    texts = [text for text in texts if text not in built]
    test = " and ".join(f"{text}.built" for text in texts)
    return f"{core} if {test} else {core}.python_function" if test else None


def unbuilt(session: Session, facts: FunctionFacts) -> list[str]:
    """The texts of what a function is given that may have no variables yet: `model`, `agent.optimizer`."""
    definition = facts.definition
    given = [n for n in facts.parameters if n != definition.receiver]
    used = [*dict.fromkeys(_used(session, facts, {n: n for n in given}, set()))]
    rest = set(given) - {text.partition(".")[0] for text in used}
    return [
        *(
            n
            for n in given
            if n in rest and makes_variables(session, facts.parameters[n])
        ),
        *used,
    ]


def check_given(session: Session, facts: FunctionFacts) -> None:
    """Refuse a graph in which Python chooses what another function is given that may have no variables yet.

    Raises:
        Refusal: each one that is chosen later would make its variables anew.
    """
    own = {n for s in own_nodes(facts.definition.node) for n in bound_names(s)}
    for node, qualname in facts.calls.items():
        called = session.known(qualname)
        if called is None or not isinstance(node, ast.Call):
            continue
        roots = {text.partition(".")[0] for text in unbuilt(session, called)}
        for name, value in _pairs(node, called):
            root: ast.expr = value
            while isinstance(root, ast.Attribute):
                root = root.value
            if name in roots and (not isinstance(root, ast.Name) or root.id in own):
                reason = f"which `{name}` this is may change: each later one would make its variables anew"
                raise Refusal(reason, value, "GL305")


def makes_variables(session: Session, kind: Kind) -> bool:
    """Whether this may be a model, a layer or an optimizer, which makes its variables when it is called."""
    return may_be_optimizer(kind) or may_be_model(session, kind)


def may_be_optimizer(kind: Kind) -> bool:
    return any(map(is_optimizer, members(kind)))


def may_be_model(session: Session, kind: Kind) -> bool:
    """Whether this may be one of Keras's models or layers, or of a class of the project's made of these."""
    return any(_is_model(session, k) for k in members(kind))


def _is_model(session: Session, kind: Kind) -> bool:
    if not isinstance(kind, Object):
        return False
    made = session.class_of(kind.name)
    if made is not None:
        return session.module.is_of_keras(made.qualname)
    return kind.name.startswith(WITH_VARIABLES)


def _used(
    session: Session,
    facts: FunctionFacts,
    named: Mapping[str, str],
    seen: set[tuple[str, tuple[str, ...]]],
) -> Iterator[str]:
    """The texts, in what a function is given, of the models and optimizers that it and those it calls use."""
    key = (facts.definition.qualname, tuple(named.values()))
    if key in seen:
        return
    seen.add(key)
    bound = {n for s in own_nodes(facts.definition.node) for n in bound_names(s)}
    known = {name: text for name, text in named.items() if name not in bound}
    for node in ast.walk(facts.definition.node):
        if not isinstance(node, ast.Call):
            continue
        owner = _stateful(session, facts, node)
        text = owner and _chain(owner, known)
        if text:
            yield text
        called = session.known(facts.calls.get(node, ""))
        if called is not None and owner is None:
            yield from _used(session, called, _passed(node, called, known), seen)


def _stateful(
    session: Session, facts: FunctionFacts, node: ast.Call
) -> ast.expr | None:
    """The model that a call calls, or the optimizer that it has apply gradients."""
    function = node.func
    if may_be_model(session, facts.kind(function)):
        return function
    if isinstance(function, ast.Attribute) and function.attr in APPLIES:
        return function.value if may_be_optimizer(facts.kind(function.value)) else None
    return None


def _passed(
    node: ast.Call, called: FunctionFacts, known: Mapping[str, str]
) -> dict[str, str]:
    """What a function is given by a call, of what its caller was given, by its parameters."""
    chains = {name: _chain(value, known) for name, value in _pairs(node, called)}
    return {name: text for name, text in chains.items() if text}


def _pairs(node: ast.Call, called: FunctionFacts) -> list[tuple[str, ast.expr]]:
    """The parameters of a function that a call gives something, and what."""
    definition = called.definition
    given: list[ast.expr] = list(node.args)
    if definition.receiver:
        function = node.func
        owner = function.value if isinstance(function, ast.Attribute) else function
        given.insert(0, owner)
    names = [a.arg for a in definition.parameters]
    named = [(k.arg, k.value) for k in node.keywords if k.arg]
    return [*zip(names, given, strict=False), *named]


def _chain(node: ast.expr, known: Mapping[str, str]) -> str | None:
    """The text of a name, or of an attribute of one, in terms of what was given."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _chain(node.value, known)
        return owner and f"{owner}.{node.attr}"
    return None
