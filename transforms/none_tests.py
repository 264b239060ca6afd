"""Tests for None that Python answers, before what a tensor decides.

`if best is None or loss < best:` asks Python first: while a graph is traced `best` is None, or it is a tensor. The two
questions become two `if`s, so that each trace holds one of them.
"""

from __future__ import annotations

import ast

from .facts.environment import FunctionFacts
from .facts.kinds import NONE, Union
from .facts.profile import FunctionNode
from .inlining import bare
from .rebuilding import rebuilt, with_body, with_origin

MOST_REPEATED = 4
"""Statements of an arm that may stand twice."""


def with_none_tests_first(facts: FunctionFacts) -> FunctionNode | None:
    """The function with its tests for None as `if`s of their own; None where there are none to be told apart."""
    node = facts.definition.node
    return with_body(node, _block(node.body, facts))


def _block(body: list[ast.stmt], facts: FunctionFacts) -> list[ast.stmt]:
    return [_statement(node, facts) for node in body]


def _statement(node: ast.stmt, facts: FunctionFacts) -> ast.stmt:
    node = rebuilt(node, lambda block: _block(block, facts))
    match node:
        case ast.If(test=ast.BoolOp(op=op, values=[first, *rest]) as test) if (
            test in facts.staged and _asks_python(first, facts)
        ):
            remaining = rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
            either = isinstance(op, ast.Or)
            repeated = node.body if either else node.orelse
            if sum(isinstance(n, ast.stmt) for s in repeated for n in ast.walk(s)) > (
                MOST_REPEATED
            ):
                return node
            inner = ast.If(remaining, node.body, node.orelse)
            again = [bare(s) for s in repeated]
            made = (
                ast.If(first, again or [ast.Pass()], [inner])
                if either
                else ast.If(first, [inner], again)
            )
            return with_origin(made, node)
    return node


def _asks_python(node: ast.expr, facts: FunctionFacts) -> bool:
    """Whether this asks if a name is None that Python knows to be None or not while it traces."""
    match node:
        case ast.Compare(
            left=left,
            ops=[ast.Is() | ast.IsNot()],
            comparators=[ast.Constant(value=None)],
        ):
            kind = facts.kind(left)
            return isinstance(kind, Union) and NONE in kind.members
    return False
