"""What tracing a graph costs against what its runs save: one that is made anew again and again has to run often."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from .entries import is_taped
from .facts.definitions import ClassDefinition, FunctionDefinition
from .facts.environment import FunctionFacts
from .facts.kinds import Kind, Object
from .facts.profile import FunctionNode, Recorded
from .facts.session import Session
from .findings import Refusal
from .short_lived import is_made_anew

FEWEST_RUNS, FEWEST_HEAVY_RUNS = 40, 16
"""Runs that are worth a trace; of what calls layers of Keras or takes gradients, where Python costs eager mode more."""
LOOPS = ast.For | ast.While


class DoesNotPay(Refusal):
    """A graph would cost more than it saves."""


def too_seldom(
    session: Session, graph: FunctionFacts, of: FunctionDefinition, trips: int = 1
) -> DoesNotPay | None:
    """Why a graph that takes the object of the method `of` is not worth being traced for each, if the recorded run saw so.

    It runs in loops of so many `trips` for each call of the method.
    """
    recorded, made = session.recorded(of.qualname), objects(session, of.owner)
    if made < 2 or recorded is None or of.receiver is None:
        return None
    runs = trips * recorded.calls / made
    if any(isinstance(node, LOOPS) for node in graph.staged):
        runs *= max(most_trips(recorded).values(), default=1)
    if runs >= runs_needed(session, graph, graph.definition.node.body):
        return None
    return DoesNotPay(
        f"its object is made anew {made} times, and a graph would be traced for each, which {recorded.calls} calls are too few for",
        of.original,
        way_out="make the object once and use it again, or take what works on tensors alone to a function of the module",
    )


def objects(session: Session, made: ClassDefinition | None) -> int:
    """How many objects of a class the recorded run saw, where they are made anew; else 0."""
    if made is None or not is_made_anew(session, made):
        return 0
    initializer = session.module.method(made.qualname, "__init__")
    recorded = session.recorded(initializer.qualname) if initializer else None
    return recorded.calls if recorded else 0


def runs_needed(
    session: Session, facts: FunctionFacts, body: Iterable[ast.stmt]
) -> int:
    """How often statements have to run for a trace of them to be worth it."""
    inner = [n for s in body for n in ast.walk(s)]
    heavy = any(
        is_taped(n)
        or (isinstance(n, ast.Call) and _is_layer(session, facts.kind(n.func)))
        for n in inner
    )
    return FEWEST_HEAVY_RUNS if heavy else FEWEST_RUNS


def most_trips(recorded: Recorded) -> dict[str, int]:
    """The most iterations of each loop of a function, by its place in that."""
    found = {place: loop.get("trips") for place, loop in recorded.loops.items()}
    return {p: t[1] for p, t in found.items() if isinstance(t, list) and len(t) == 2}


def place_in(function: FunctionNode, loop: ast.stmt) -> str:
    """The place of a loop in a function, as a profile has it."""
    return f"{loop.lineno - function.lineno}:{loop.col_offset - function.col_offset}"


def _is_layer(session: Session, kind: Kind) -> bool:
    if not isinstance(kind, Object):
        return False
    made = session.class_of(kind.name)
    bases = session.module.bases(made.qualname) if made else [kind.name]
    return any("keras" in base for base in bases)
