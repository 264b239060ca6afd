"""Tapes: those that several arms ask for gradients are kept until the last, and those opened around a graph stay outside.

A graph traces all the arms, eager mode runs one. And a tape that is open around a graph has not seen what is in it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from .facts.environment import FunctionFacts
from .facts.kinds import NONE, Kind, Object, members
from .facts.profile import FunctionNode, Recorded
from .facts.syntax import is_none, names_in
from .findings import Refusal
from .making import placed
from .printing import only_prints
from .rebuilding import rebuilt, replaced, with_body

GRADIENTS = frozenset({"gradient", "jacobian", "batch_jacobian"})


def with_tapes_kept(facts: FunctionFacts) -> FunctionNode | None:
    """The function with such tapes made persistent; None where there are none."""
    node = facts.definition.node
    shared = {
        name
        for choice in facts.staged
        if isinstance(choice, ast.If | ast.IfExp)
        for name in _asked(choice.body, facts) & _asked(choice.orelse, facts)
    }
    if not shared:
        return None
    made: dict[ast.AST, ast.AST] = {
        item.context_expr: _persistent(item.context_expr)
        for inner in ast.walk(node)
        if isinstance(inner, ast.With)
        for item in inner.items
        if isinstance(item.optional_vars, ast.Name)
        and item.optional_vars.id in shared
        and isinstance(item.context_expr, ast.Call)
        and not _has_choice(item.context_expr)
    }
    body = [replaced(statement, made) for statement in node.body]
    return with_body(node, body)  # type: ignore[arg-type]


def check_none_tests(
    facts: FunctionFacts, function: FunctionNode, recorded: Recorded | None
) -> None:
    """Refuse a graph of a tape in which a tensor decides what is computed, where its function asks for gradients of None.

    Eager mode gives None for a source that no arm or round that ran has used, a graph gives zeros. A recording in which
    no gradient was None is trusted.

    Raises:
        Refusal: a gradient is asked so.
    """
    taped = (
        inner
        for node in ast.walk(facts.definition.node)
        if is_taped(node)
        for inner in ast.walk(node)
    )
    if facts.staged.isdisjoint(taped):
        return
    names = _names_of_gradients(function)
    asked = next(_none_tests(function, names), None)
    if asked is None or _never_none(recorded, names):
        return
    raise Refusal(
        "it asks whether a gradient is None, and a graph gives zeros for what no arm or round that ran has used",
        asked,
        way_out="pass `unconnected_gradients='zero'` and ask for zeros, or decide by what decides in the tape",
    )


def _names_of_gradients(function: FunctionNode) -> set[str]:
    """The names that may hold gradients, or lists of them, as a tape gave them."""
    names: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=targets, value=value) if _mentions(value, names):
                names |= {n for target in targets for n in names_in(target)}
            case (
                ast.For(target=target, iter=given)
                | ast.comprehension(target=target, iter=given)
            ) if _mentions(given, names):
                names |= names_in(target)
    return names


def _none_tests(function: FunctionNode, names: set[str]) -> Iterator[ast.expr]:
    for node in ast.walk(function):
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]) if isinstance(
                op, ast.Is | ast.IsNot
            ) and is_none(right):
                if _mentions(left, names):
                    yield node


def _mentions(node: ast.expr, names: set[str]) -> bool:
    """Whether an expression asks a tape for gradients, or names some."""
    asks = (
        isinstance(n, ast.Call)
        and isinstance(n.func, ast.Attribute)
        and n.func.attr in GRADIENTS
        and "unconnected_gradients" not in {k.arg for k in n.keywords}
        for n in ast.walk(node)
    )
    return any(asks) or bool(names_in(node) & names)


def _never_none(recorded: Recorded | None, names: set[str]) -> bool:
    """Whether a recording tells of gradients, and of none that was None."""
    seen = recorded.names.items() if recorded else ()
    kinds = [kind for key, kind in seen if key.rpartition(":")[2] in names]
    return bool(kinds) and not any(map(_holds_none, kinds))


def _holds_none(kind: Kind) -> bool:
    return any(m == NONE or any(map(_holds_none, m.parts)) for m in members(kind))


def is_taped(node: ast.AST) -> bool:
    """Whether a statement runs others under a gradient tape."""
    return isinstance(node, ast.With) and any(
        "GradientTape" in ast.unparse(item.context_expr) for item in node.items
    )


def shown_behind(facts: FunctionFacts, node: ast.stmt) -> list[ast.stmt]:
    """A `with` of a tape, and behind it what it prints last; another statement as it is."""
    if not is_taped(node):
        return [node]
    shown: list[ast.stmt] = []
    for statement in reversed(node.body[1:]):  # type: ignore[attr-defined]
        if not only_prints(facts, statement):
            break
        shown.insert(0, statement)
    count = len(shown)
    return [rebuilt(node, lambda block: block[: len(block) - count]), *shown]


def check_tapes(facts: FunctionFacts) -> None:
    """Refuse a graph that uses a tape which it does not open.

    Raises:
        Refusal: such a tape knows none of the tensors that the graph has.
    """
    nodes = list(ast.walk(facts.definition.node))
    opened = {
        item.optional_vars.id
        for node in nodes
        if isinstance(node, ast.With)
        for item in node.items
        if isinstance(item.optional_vars, ast.Name)
    }
    for node in nodes:
        if not isinstance(node, ast.Name | ast.Attribute) or not is_tape(
            facts.kinds.get(node)
        ):
            continue
        if not isinstance(node, ast.Name) or node.id not in opened:
            raise Refusal(
                f"the tape `{ast.unparse(node)}` is opened outside of it, and sees nothing of what a graph computes",
                node,
                way_out="open the tape where its gradients are taken",
            )


def is_tape(kind: Kind | None) -> bool:
    """Whether this may be a gradient tape."""
    return kind is not None and any(
        isinstance(k, Object) and k.name.endswith(".GradientTape")
        for k in members(kind)
    )


def _asked(arm: ast.expr | Sequence[ast.stmt], facts: FunctionFacts) -> set[str]:
    """The names of the tapes that an arm asks for gradients."""
    nodes = [arm] if isinstance(arm, ast.expr) else arm
    found = set()
    for inner in (n for node in nodes for n in ast.walk(node)):
        match inner:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name) as tape, attr=attr)
            ):
                if attr in GRADIENTS and is_tape(facts.kind(tape)):
                    found.add(name)
    return found


def _has_choice(call: ast.Call) -> bool:
    """Whether a call says whether its tape is persistent."""
    return bool(call.args) or any(k.arg in ("persistent", None) for k in call.keywords)


def _persistent(call: ast.Call) -> ast.expr:
    option = ast.keyword("persistent", ast.Constant(True))
    return placed(ast.Call(call.func, call.args, [*call.keywords, option]), call)
