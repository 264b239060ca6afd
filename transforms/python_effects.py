"""What statements do besides computing, that only Python can do: they log, write to a stream, change a list outside.

Such a statement can be done later, with the values that it had; the graph keeps them for it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from .extraction import PASSED_BY, PLAIN
from .facts.environment import FunctionFacts
from .facts.kinds import Function, Module, Python, Tensor, Type
from .facts.staging import is_strong
from .facts.syntax import HELD, changed_object, is_named, names_in
from .making import name
from .ordering import may_raise
from .printing import is_print, prints_alike
from .rebuilding import replaced
from .source import Names

STREAMS = frozenset(
    f"sys.{s}.{m}" for s in ("stdout", "stderr") for m in ("write", "flush")
)
CODES = frozenset({"GL202", "GL204", "GL205", "GL210", "GL302"})


def writes(node: ast.AST) -> bool:
    """Whether a statement writes to one of Python's streams by its own method."""
    call = getattr(node, "value", None)
    return isinstance(call, ast.Call) and ast.unparse(call.func) in STREAMS


def is_effect(facts: FunctionFacts, node: ast.AST) -> bool:
    """Whether a statement does something of Python's, and gives nothing."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    if is_print(facts, node):
        return True
    codes = set(facts.codes_inside(node))
    if any(p.node is node.value and p.code == "GL204" for p in facts.problems):
        inner = [
            c
            for child in ast.iter_child_nodes(node.value)
            for c in facts.codes_inside(child)
        ]
        codes = {"GL204", *inner}
    return writes(node) or bool(codes & {"GL202", "GL204"} and codes <= CODES)


def is_shown_in_graph(facts: FunctionFacts, node: ast.stmt) -> bool:
    """Whether a statement is a `print` of values that a graph has."""
    codes = CODES & {*facts.codes_inside(node)}
    return is_print(facts, node) and not codes and prints_alike(facts, node)


def are_seen(
    facts: FunctionFacts, effects: Sequence[ast.stmt], around: ast.stmt
) -> bool:
    """Whether the statement around some effects reads what they change, or may not come to its end."""
    inside = {n for s in effects for n in ast.walk(s)}
    changed = {
        ast.unparse(owner)
        for s in effects
        for n in ast.walk(s)
        if (owner := changed_object(n)) is not None
    }
    seen = any(
        isinstance(n, HELD) and n not in inside and ast.unparse(n) in changed
        for n in ast.walk(around)
    )
    return seen or bool(changed and may_raise(facts, around))


def taken(
    facts: FunctionFacts, names: Names, effect: ast.stmt
) -> tuple[ast.stmt, dict[str, ast.expr]]:
    """An effect with names for the tensors that it computes, and these."""
    values: dict[str, ast.expr] = {}
    table: dict[ast.AST, ast.AST] = {}
    for node in _computed(facts, effect):
        word = names.fresh("value")
        values[word] = node
        table[node] = name(word)
    rest = replaced(effect, table)
    assert isinstance(rest, ast.stmt)
    return rest, values


def _computed(facts: FunctionFacts, node: ast.AST) -> Iterator[ast.expr]:
    """The largest expressions that compute tensors."""
    if isinstance(node, ast.expr) and is_strong(facts.kind(node)):
        if not isinstance(node, PLAIN):
            yield node
    elif not isinstance(node, PASSED_BY):
        for child in ast.iter_child_nodes(node):
            yield from _computed(facts, child)


def lasts(
    facts: FunctionFacts, effect: ast.stmt, values: set[str], around: ast.stmt
) -> bool:
    """Whether what an effect reads besides some values is the same after the statement around it."""
    stored = {
        ast.unparse(n)
        for n in ast.walk(around)
        if isinstance(n, HELD) and isinstance(n.ctx, ast.Store)
    }
    called = getattr(getattr(effect, "value", None), "func", None)
    receivers = set(ast.walk(called)) if called else set()
    for inner in ast.walk(effect):
        if not isinstance(inner, HELD) or names_in(inner) & values:
            continue
        kind = facts.kind(inner)
        if isinstance(inner, ast.Attribute) and inner.attr in ("shape", "dtype"):
            continue
        lasting = isinstance(kind, Module | Function | Type | Python | Tensor)
        if ast.unparse(inner) in stored or not (lasting or inner in receivers):
            return False
    return True


def with_name(node: ast.stmt, old: str, new: str) -> ast.stmt:
    """A statement with another name in the place of one."""
    if old == new:
        return node
    table: dict[ast.AST, ast.AST] = {
        n: name(new) for n in ast.walk(node) if is_named(n, old)
    }
    made = replaced(node, table)
    assert isinstance(made, ast.stmt)
    return made
