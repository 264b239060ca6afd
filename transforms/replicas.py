"""Graphs on the replicas of a distribution strategy: what they share is updated by the graph of the whole function alone.

A strategy takes a `tf.function` that it is given apart, and makes one graph of all its replicas. A graph inside of that
cannot wait for the other replicas, which an optimizer does, and so does a Variable that is aggregated.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .building import APPLIES, may_be_model, may_be_optimizer
from .facts.definitions import FunctionDefinition
from .facts.environment import FunctionFacts
from .facts.session import Session
from .findings import Refusal

WAY_OUT = "have the strategy run a function of the module that is a graph as a whole: pass it what it needs as arguments"


def check_replicas(
    core: FunctionFacts,
    function: FunctionDefinition,
    session: Session,
    is_whole: bool = False,
) -> None:
    """Refuse a graph that a function which strategies run cannot be, or have; `is_whole` where it is all of that.

    Raises:
        Refusal: replicas could not wait for each other in it, or it is a method.
    """
    module = session.module
    name = function.node.name
    runs, inside = module.replicated
    is_inside = name in inside | module.elsewhere.inside_replicated or any(
        caller.rpartition(".")[2] in runs | module.elsewhere.replicated
        for caller in session.recorded_callers(function.qualname)
    )
    given = name in runs | module.elsewhere.replicated
    if not (is_inside or given):
        return
    if is_whole and not is_inside:
        if function.receiver is None:
            return
        raise Refusal(
            "a strategy runs it, which gives a method that is a `tf.function` another object",
            function.original,
            "GL302",
            WAY_OUT,
        )
    update = next(_updates(core, session, frozenset()), None)
    if update is not None:
        raise Refusal(
            f"replicas of a strategy wait for each other at `{ast.unparse(update)}`, which none does in a graph of its own",
            update,
            "GL302",
            WAY_OUT,
        )


def _updates(
    facts: FunctionFacts, session: Session, known: frozenset[str]
) -> Iterator[ast.expr]:
    """Where a function, or one that it calls, updates what replicas share, or calls a model, which may do that."""
    for node in ast.walk(facts.definition.node):
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=name)) if (
                name in APPLIES and may_be_optimizer(facts.kind(owner))
            ) or (name.startswith("assign") and session.has_aggregates):
                yield node
            case ast.Call(func=function) if may_be_model(session, facts.kind(function)):
                yield node
    called = [(n, c.session, c.qualname, c.facts) for n, c in facts.foreign.items()]
    called += [
        (n, session, name, inner)
        for n, name in facts.calls.items()
        if (inner := session.known(name)) is not None
    ]
    for place, home, name, inner in called:
        if name not in known and any(_updates(inner, home, known | {name})):
            yield place
