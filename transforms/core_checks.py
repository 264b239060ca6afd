"""What no core of a split may take, keep or give back."""

from __future__ import annotations

import ast

from .changing_state import StateVariable
from .facts.environment import FunctionFacts
from .facts.kind_parts import is_mutable
from .facts.kinds import (
    NONE,
    Dict,
    Elements,
    Kind,
    Mapping,
    Object,
    Python,
    Sequence,
    Tensor,
)
from .facts.ownership import is_own
from .facts.session import Session
from .facts.staging import is_numpy, is_strong, is_weak
from .facts.syntax import all_bound_names, blocks, is_named, names_in
from .findings import Refusal
from .python_parts import GROWING
from .python_results import check_result

SMALL = 1000
"""Factors and divisors below this keep a number far from the largest int64."""


def outgrown(state: dict[str, StateVariable], made: list[ast.stmt]) -> Refusal | None:
    """The first statement that makes an int of Python's so much larger that no tensor holds it for long."""
    ints = {
        s.name
        for s in state.values()
        if isinstance(s.kind, Tensor) and s.kind.weak == "int"
    }
    for node in (n for s in made for n in ast.walk(s)):
        match node:
            case ast.AugAssign(target=ast.Name(id=name), op=op) if name in ints:
                grows = isinstance(op, GROWING)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in ints:
                grows = not _keeps_small(value, name) and any(
                    isinstance(n, ast.BinOp)
                    and isinstance(n.op, GROWING)
                    and name in names_in(n)
                    for n in ast.walk(value)
                )
            case _:
                continue
        if grows:
            return Refusal(f"`{name}` may outgrow a tensor", code="GL303")
    return None


def _keeps_small(node: ast.expr, name: str) -> bool:
    """Whether a value is the rest, by a small number, of one product of the name and a small number."""
    match node:
        case ast.BinOp(left=left, op=ast.Mod(), right=ast.Constant(int(by))):
            inner = list(ast.walk(left))
        case _:
            return False
    factors = [n.value for n in inner if isinstance(n, ast.Constant)]
    operators = [n for n in inner if isinstance(n, ast.operator)]
    return (
        0 < by < SMALL
        and names_in(left) == {name}
        and all(isinstance(f, int) and abs(f) < SMALL for f in factors)
        and all(isinstance(o, ast.Add | ast.Sub | ast.Mult) for o in operators)
        and sum(isinstance(o, ast.Mult) for o in operators) == 1
    )


def sets_first(name: str, made: list[ast.stmt]) -> bool:
    """Whether a core sets a name whatever it was, before anything reads it."""
    first = next((s for s in made if name in names_in(s)), None)
    match first:
        case ast.Assign(targets=[ast.Name(id=target)], value=value):
            return target == name and name not in names_in(value)
    return False


def unfit_result(facts: FunctionFacts, has_more: bool) -> Refusal | None:
    """Why no graph can give back what a core returns, if so."""
    result = facts.result
    if has_more and isinstance(result, Sequence):
        result = result.items[0]
    try:
        check_result(result, facts.definition.node)
    except Refusal as refusal:
        return refusal
    return None


def left_to_python(
    name: str, kind: Kind, made: list[ast.stmt], facts: FunctionFacts, session: Session
) -> Refusal | None:
    """Why a graph of these statements cannot give back what a name holds, if so: only Python has that."""
    if is_mutable(kind) and not is_own(name, facts, session):
        return Refusal(f"`{name}` has another name, too")
    if isinstance(kind, Python):
        binding = [s for s in made if name in all_bound_names(s)]
        return Refusal(f"`{name}` is a Python value", binding[-1], "GL205")
    return None


def holds_values(kind: Kind) -> bool:
    """Whether this is a list, set or dict of numbers, tensors or what is not known."""
    match kind:
        case Sequence(type="list", items=items):
            return all(not isinstance(item, Object) for item in items)
        case Elements(type="list" | "set", element=element):
            return not isinstance(element, Object)
    return isinstance(kind, Dict | Mapping)


def reading(made: list[ast.stmt], names: list[str]) -> Refusal | None:
    """The first place that reads a name which no graph takes."""
    return next(
        (
            Refusal(f"no graph takes `{n.id}`", n, "GL204")
            for s in made
            for n in ast.walk(s)
            if isinstance(n, ast.Name) and n.id in names
        ),
        None,
    )


def lost_where_it_raises(
    facts: FunctionFacts, made: list[ast.stmt], outs: set[str]
) -> Refusal | None:
    """The first assertion that stands behind a write of state, which a core gives back only where none fails."""
    checks = {n for n in facts.effects.get("assert", ()) if isinstance(n, ast.Call)}
    written = False
    for statement in made:
        inner = list(ast.walk(statement))
        writes = any(
            isinstance(n, ast.Name) and n.id in outs and isinstance(n.ctx, ast.Store)
            for n in inner
        )
        found = next((n for n in inner if n in checks), None)
        if found is not None and (written or (writes and blocks(statement))):
            return Refusal("what changed before it is lost where it raises", found)
        written = written or writes
    return None


def is_only_tested(name: str, body: list[ast.stmt]) -> bool:
    """Whether all that statements do with a name is to ask whether it is true, which a tensor tells as a bool does."""
    inner = [n for s in body for n in ast.walk(s)]
    tests = [n.test for n in inner if isinstance(n, ast.If | ast.Assert)]
    tests += [t.operand for t in tests if isinstance(t, ast.UnaryOp)]
    return all(n in tests for n in inner if is_named(n, name))


def is_of_arrays(facts: FunctionFacts) -> bool:
    """Whether a core computes with NumPy's arrays, or numbers of Python's, alone: Python does that as well."""
    kinds = facts.kinds.values()
    return any(is_numpy(k) or is_weak(k) for k in kinds) and not any(
        map(is_strong, kinds)
    )


def computes_python(kind: Kind) -> bool:
    if isinstance(kind, Python):
        return kind != NONE and not kind.known
    return any(map(computes_python, kind.parts))
