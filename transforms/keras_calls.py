"""Calls of Keras layers and models of the project: where what Keras does around `call` comes to nothing.

Keras casts floats, builds, passes masks and a training flag, and tells in errors where they come from. A layer of which
nothing asks any of that gives what its `call` gives.
"""

from __future__ import annotations

import ast

from .facts.definitions import ClassDefinition, FunctionDefinition
from .facts.environment import FunctionFacts
from .facts.kinds import UNKNOWN, Kind, Python, Tensor
from .facts.project import ASKS, RUNS
from .facts.session import Session

AROUND = ("__call__", "build", "compute_mask", "compute_output_spec")
"""What a class that has it does besides."""
MAKES_LOSSES = frozenset({"add_loss", "add_metric"})
POLICIES = frozenset({"dtype", "autocast", "activity_regularizer"})
FLOATS_AS_THEY_ARE = "float32"


def calls_as_is(
    node: ast.Call,
    definition: FunctionDefinition,
    made: ClassDefinition,
    facts: FunctionFacts,
    session: Session,
) -> bool:
    """Whether calling an object of a Keras class gives what its `call` gives, with these arguments and by itself."""
    module, modules = session.module, session.modules
    if not module.is_of_keras(made.qualname):
        return False
    if any(module.method(made.qualname, name) for name in AROUND):
        return False
    if _is_layered(made, session) and not _may_run_twice(definition, session):
        return False
    words = modules.mentioned(session.path) if modules else frozenset()
    return not (words & ASKS or _has_policy(made, session)) and (
        _is_plain(definition) and _passes_plainly(node, definition, facts)
    )


def is_called_by_python(definition: FunctionDefinition, session: Session) -> bool:
    """Whether a method that Keras may call in graphs is called outside graphs alone, in a program that makes none.

    A layer without a `build` of its own is called in one, to be built, where it has layers.
    """
    owner, modules = definition.owner, session.modules
    if owner is None or modules is None or modules.mentioned(session.path) & RUNS:
        return False
    builds = definition.node.name == "call" and "build" not in owner.methods
    return not (builds and _is_layered(owner, session))


def _is_layered(made: ClassDefinition, session: Session) -> bool:
    """Whether objects of a class may have layers, so that Keras runs `call` once more, in a graph, to build them."""
    known = session.instances.class_attributes(made)
    seen = session.instances.seen_attributes(made)
    kinds = [seen.get(n, k) if k == UNKNOWN else k for n, k in known.items()]
    return any(k == UNKNOWN or "object(" in str(k) for k in kinds)


def _may_run_twice(definition: FunctionDefinition, session: Session) -> bool:
    """Whether nothing of Python's tells how often a function runs."""
    facts = session.known(definition.qualname)
    return facts is not None and facts.effects.keys() <= {"assign"}


def _has_policy(made: ClassDefinition, session: Session) -> bool:
    """Whether an object of a class may be made with a dtype of its own."""
    names = {made.qualname, "__init__"}
    return any(
        isinstance(n, ast.Call)
        and getattr(n.func, "id", getattr(n.func, "attr", "")) in names
        and any(k.arg in POLICIES for k in n.keywords)
        for n in session.module.nodes
    )


def _is_plain(definition: FunctionDefinition) -> bool:
    """Whether a `call` raises nothing of its own, the text of which Keras would add to, and adds no losses."""
    return not any(
        isinstance(n, ast.Raise | ast.Assert)
        or (isinstance(n, ast.Attribute) and n.attr in MAKES_LOSSES)
        for n in ast.walk(definition.original)
    )


def _passes_plainly(
    node: ast.Call, definition: FunctionDefinition, facts: FunctionFacts
) -> bool:
    names = [a.arg for a in definition.parameters][1:]
    given = {*names[: len(node.args)], *(k.arg for k in node.keywords)}
    if "mask" in names or ("training" in names and "training" not in given):
        return False
    values = [*node.args, *(k.value for k in node.keywords)]
    return all(_is_passed_as_is(facts.kind(value)) for value in values)


def _is_passed_as_is(kind: Kind) -> bool:
    if isinstance(kind, Tensor):
        floating = kind.dtype is None or "float" in kind.dtype
        return not kind.weak and (not floating or kind.dtype == FLOATS_AS_THEY_ARE)
    return isinstance(kind, Python) and kind.type in ("bool", "int", "None")
