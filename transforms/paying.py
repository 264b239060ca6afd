"""What tracing a graph costs against what its runs save: one that is made anew again and again has to run often."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from .facts.definitions import FunctionDefinition
from .facts.environment import FunctionFacts
from .facts.kinds import Function, Kind, Object, Python, Type, members
from .facts.profile import place_in
from .facts.session import Session
from .findings import Refusal
from .short_lived import is_made_anew
from .tapes import is_taped

FEWEST_RUNS, FEWEST_HEAVY_RUNS = 40, 16
"""Runs that are worth a trace; of what calls layers of Keras or takes gradients, where Python costs eager mode more."""
LOOPS = ast.For | ast.While
TRACED_FOR = ("keras.", "tensorflow.keras.", "tensorflow.random.Generator")
"""Where what a graph is traced anew for is, each one that it is given."""


class DoesNotPay(Refusal):
    """A graph would cost more than it saves."""


def too_seldom(
    session: Session,
    graph: FunctionFacts,
    of: FunctionDefinition,
    trips: int = 1,
    helps: bool = False,
    inside: int = 0,
) -> DoesNotPay | None:
    """Why a graph of the function `of` is not worth its traces, if the recorded run saw so.

    It is traced for each object that it takes, and, where it `helps` eager code of its module, for each Python number.
    It runs in loops of so many `trips` for each call of the function, which makes as many objects for it as `inside` says.
    """
    recorded = session.recorded(of.qualname)
    if recorded is None:
        return None
    kinds = graph.parameters.values()
    made = max((objects(session, kind) for kind in kinds), default=0)
    made = max(made, inside)
    numbers = helps and any(map(_may_be_number, kinds))
    traces = recorded.calls if numbers else made
    runs = trips * recorded.calls / max(1, traces)
    if any(isinstance(node, LOOPS) for node in graph.staged):
        runs *= max((most for _, most in recorded.trips.values()), default=1)
    needed = runs_needed(session, graph, graph.definition.node.body)
    if traces < 2 or runs >= needed:
        return None
    anew = (
        "a graph would be traced anew for each Python number that it is given"
        if numbers
        else f"it is given {made} objects, and a graph would be traced for each"
    )
    calls = f"{recorded.calls} calls" if recorded.calls > 1 else "one call"
    return DoesNotPay(
        f"{anew}, for which {calls} are too few",
        of.original,
        way_out="make objects once and use them again, and take what works on tensors alone to a function of the module",
    )


def _may_be_number(kind: Kind) -> bool:
    """Whether a graph may be given this as a number of Python's."""
    return any(
        isinstance(k, Python) and k.type in ("int", "float") for k in members(kind)
    )


def objects(session: Session, kind: Kind) -> int:
    """How many objects of a class the recorded run saw, where they are made anew; else 0."""
    made = session.class_of(kind.name) if isinstance(kind, Object) else None
    if made is None or not is_made_anew(session, made):
        return 0
    initializer = session.module.method(made.qualname, "__init__")
    recorded = session.recorded(initializer.qualname) if initializer else None
    return recorded.calls if recorded else 0


def made_inside(session: Session, graph: FunctionFacts, around: FunctionFacts) -> int:
    """How many layers, optimizers or generators the recorded run saw a function make that its graph is given."""
    recorded = session.recorded(around.definition.qualname)
    if recorded is None:
        return 0
    most = 0
    nodes = list(ast.walk(around.definition.node))
    loops = [n for n in nodes if isinstance(n, LOOPS)]
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=maker)):
                if _makes(around.kind(maker), graph.parameters.get(name)):
                    runs = recorded.calls
                    for loop in (n for n in loops if node in ast.walk(n)):
                        place = place_in(around.definition.original, loop)
                        runs *= recorded.trips.get(place, (1, 1))[1]
                    most = max(most, runs)
    return most


def _makes(maker: Kind, kind: Kind | None) -> bool:
    """Whether a call makes a new one of what a graph is given."""
    return (
        isinstance(kind, Object)
        and kind.name.startswith(TRACED_FOR)
        and isinstance(maker, Function | Type)
        and maker.name.startswith(kind.name)
    )


def runs_needed(
    session: Session, facts: FunctionFacts, body: Iterable[ast.stmt]
) -> int:
    """How often statements have to run for a trace of them to be worth it."""
    inner = [n for s in body for n in ast.walk(s)]
    heavy = any(
        is_taped(n)
        or (isinstance(n, ast.Call) and session.instances.is_layer(facts.kind(n.func)))
        for n in inner
    )
    return FEWEST_HEAVY_RUNS if heavy else FEWEST_RUNS
