"""Tests for None that Python answers, before what a tensor decides.

`if best is None or loss < best:` asks Python first: while a graph is traced `best` is None, or it is a tensor. The two
questions become two `if`s, or two conditional expressions, so that each trace holds one of them.
"""

from __future__ import annotations

import ast

from .facts.environment import FunctionFacts
from .facts.kinds import NONE, Union
from .facts.profile import FunctionNode
from .inlining import bare
from .rebuilding import with_origin
from .rewriting import Rewriter
from .source import Names

MOST_REPEATED = 4
"""Statements of an arm that may stand twice."""


def with_none_tests_first(facts: FunctionFacts, names: Names) -> FunctionNode | None:
    """The function with its tests for None apart from what a tensor decides; None where there are none."""
    return _NoneTests(facts, names).function()


class _NoneTests(Rewriter):
    def expression(self, node: ast.expr) -> ast.expr | None:
        """`a if x is None or t else b` is `a if x is None else a if t else b`."""
        if not isinstance(node, ast.IfExp):
            return None
        parts = self._parts_of(node.test)
        if parts is None:
            return None
        first, either, remaining = parts
        inner = ast.IfExp(remaining, node.body, node.orelse)
        if either:
            return ast.IfExp(first, bare(node.body), inner)
        return ast.IfExp(first, inner, bare(node.orelse))

    def instead(self, node: ast.stmt) -> list[ast.stmt] | None:
        parts = self._parts_of(node.test) if isinstance(node, ast.If) else None
        if not isinstance(node, ast.If) or parts is None:
            return None
        first, either, remaining = parts
        repeated = node.body if either else node.orelse
        if sum(isinstance(n, ast.stmt) for s in repeated for n in ast.walk(s)) > (
            MOST_REPEATED
        ):
            return None
        inner = ast.If(remaining, node.body, node.orelse)
        again = [bare(s) for s in repeated]
        made = (
            ast.If(first, again or [ast.Pass()], [inner])
            if either
            else ast.If(first, [inner], again)
        )
        return [with_origin(made, node)]

    def _parts_of(self, test: ast.expr) -> tuple[ast.expr, bool, ast.expr] | None:
        """A test for None that comes first, whether it is joined by `or`, and what a tensor decides after it."""
        match test:
            case ast.BoolOp(op=op, values=[first, *rest]) if (
                test in self.facts.staged and _asks_python(first, self.facts)
            ):
                remaining = rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
                return first, isinstance(op, ast.Or), remaining
        return None


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
