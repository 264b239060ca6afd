"""GL107 loop-exit: a `return` in a loop that gives what is returned after the loop anyway is a `break`."""

from __future__ import annotations

import ast
import copy

from .facts.environment import FunctionFacts
from .facts.profile import FunctionNode
from .facts.syntax import is_none
from .rebuilding import rebuilt, with_body, with_origin

PLAIN = (ast.Name, ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.expr_context)
"""What may be worked out after the loop as well as in it."""


def with_breaks(facts: FunctionFacts) -> FunctionNode | None:
    """The function with such returns, where a tensor decides about them, as breaks; None where it has none."""
    node = facts.definition.node
    return with_body(node, _block(node.body, facts, True))


def _block(body: list[ast.stmt], facts: FunctionFacts, last: bool) -> list[ast.stmt]:
    """A block; `last`: the function ends with it."""
    result: list[ast.stmt] = []
    for i, node in enumerate(body):
        ends = last and i == len(body) - 1
        follows = body[i + 1] if i + 1 < len(body) else None
        made = node
        if isinstance(node, ast.If):
            made = rebuilt(node, lambda b: _block(b, facts, ends))  # noqa: B023
        elif isinstance(node, ast.For | ast.While) and not node.orelse:
            graph = node in facts.staged or node in facts.exits
            if graph and isinstance(follows, ast.Return):
                made = _ending(node, follows.value)
            elif graph and ends:
                made = _ending(node, None)
        result.append(made)
    return result


def _ending(loop: ast.For | ast.While, value: ast.expr | None) -> ast.stmt:
    """A loop that breaks where it returned this value."""
    if not _is_plain(value):
        return loop
    body = [_breaking(node, value) for node in loop.body]
    if body == loop.body:
        return loop
    made = copy.copy(loop)
    made.body = body
    return with_origin(made, loop)


def _breaking(node: ast.stmt, value: ast.expr | None) -> ast.stmt:
    match node:
        case ast.Return(value=given) if _is_same(given, value):
            return with_origin(ast.Break(), node)
        case ast.If() | ast.With():
            return rebuilt(node, lambda b: [_breaking(n, value) for n in b])
    return node


def _is_plain(value: ast.expr | None) -> bool:
    return value is None or all(isinstance(n, PLAIN) for n in ast.walk(value))


def _is_same(given: ast.expr | None, value: ast.expr | None) -> bool:
    if given is None or value is None or is_none(given):
        return (given is None or is_none(given)) and (value is None or is_none(value))
    return ast.dump(given) == ast.dump(value)
