"""Tapes that several arms ask for gradients are kept until the last: a graph traces all the arms, eager mode runs one."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from .facts.environment import FunctionFacts
from .facts.kinds import Object
from .facts.profile import FunctionNode
from .making import placed
from .rebuilding import replaced, with_body

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


def _asked(arm: ast.expr | Sequence[ast.stmt], facts: FunctionFacts) -> set[str]:
    """The names of the tapes that an arm asks for gradients."""
    nodes = [arm] if isinstance(arm, ast.expr) else arm
    found = set()
    for inner in (n for node in nodes for n in ast.walk(node)):
        match inner:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name) as tape, attr=attr)
            ):
                kind = facts.kind(tape)
                is_tape = isinstance(kind, Object) and kind.name.endswith(
                    ".GradientTape"
                )
                if attr in GRADIENTS and is_tape:
                    found.add(name)
    return found


def _has_choice(call: ast.Call) -> bool:
    """Whether a call says whether its tape is persistent."""
    return bool(call.args) or any(k.arg in ("persistent", None) for k in call.keywords)


def _persistent(call: ast.Call) -> ast.expr:
    option = ast.keyword("persistent", ast.Constant(True))
    return placed(ast.Call(call.func, call.args, [*call.keywords, option]), call)
