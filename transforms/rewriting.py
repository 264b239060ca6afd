"""Puts expressions of a function otherwise: the base of first steps that change expressions, not statements.

What an expression has to be worked out for once, before its statement, is given a name there.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from contextlib import contextmanager

from .facts.environment import FunctionFacts
from .facts.kinds import Kind
from .facts.profile import FunctionNode
from .facts.syntax import names_in
from .findings import Refusal
from .making import is_atom, placed
from .rebuilding import rebuilt, with_body, with_origin
from .source import Names

HARMLESS = frozenset({"host", "write", "assert", "variable"})
"""Effects of which it does not matter what else is worked out before them."""


class Rewriter:
    """Rewrites one function, innermost expressions first; an outer one waits until the facts of the inner are known.

    A subclass says in `expression` what becomes of one expression, and in `instead` what of a whole statement.
    """

    def __init__(self, facts: FunctionFacts, names: Names) -> None:
        self.facts = facts
        self.names = names
        self._before: list[ast.stmt] = []
        self._may_name = True
        self._statement: ast.stmt | None = None

    def expression(self, node: ast.expr) -> ast.expr | None:
        """What stands in the place of an expression; None where it stays."""
        return None

    def instead(self, node: ast.stmt) -> list[ast.stmt] | None:
        """What stands in the place of a statement; None where it stays."""
        return None

    def function(self) -> FunctionNode | None:
        """The function rewritten; None where it stays."""
        node = self.facts.definition.node
        return with_body(node, self.block(node.body))

    # ---- statements

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return [made for node in body for made in self._rewritten(node)]

    def _rewritten(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, FunctionNode | ast.ClassDef):
            return [node]
        if node not in self.facts.before:
            return [node]
        made = self.instead(node)
        if made is not None:
            return made
        outer = self._before, self._may_name, self._statement
        self._before, self._statement = [], node
        self._may_name = not isinstance(node, ast.While)
        changed = self._with_expressions(node)
        before = self._before
        self._before, self._may_name, self._statement = outer
        match changed:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=given)) if (
                name == given and before
            ):
                return [with_origin(before[0], node), *before[1:]]
        return [*before, rebuilt(changed, self.block)]

    def target(self, node: ast.expr, fallback: str) -> str:
        """The name that a statement gives an expression, as a name for what is worked out step by step; else a new one."""
        match self._statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if (
                value is node and name not in names_in(node)
            ):
                return name
        return self.names.fresh(fallback)

    def _with_expressions(self, node: ast.stmt) -> ast.stmt:
        fields: dict[str, object] = {}
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                fields[name] = self.visit(value)
            elif isinstance(value, list) and value and isinstance(value[0], ast.expr):
                fields[name] = [self.visit(item) for item in value]
        if all(getattr(node, name) == value for name, value in fields.items()):
            return node
        made = copy.copy(node)
        for name, value in fields.items():
            setattr(made, name, value)
        return with_origin(made, node)

    # ---- expressions

    def visit(self, node: ast.expr) -> ast.expr:
        """The expression rewritten, or the same one."""
        changed = self._with_parts(node)
        if changed is not node:
            return changed
        if node not in self.facts.kinds and not isinstance(node, ast.Starred):
            return node
        made = self.expression(node)
        return node if made is None else placed(made, node)

    def _with_parts(self, node: ast.expr) -> ast.expr:
        fields: dict[str, object] = {}
        for name, value in ast.iter_fields(node):
            if not isinstance(value, ast.expr | list):
                continue
            with self._parts_named(not _is_conditional(node, name)):
                if isinstance(value, ast.expr):
                    fields[name] = self.visit(value)
                else:
                    fields[name] = self._parts(node, value)
        if all(getattr(node, name) == value for name, value in fields.items()):
            return node
        made = copy.copy(node)
        for name, new in fields.items():
            setattr(made, name, new)
        return made

    def _parts(self, node: ast.expr, parts: list[ast.AST]) -> list[ast.AST]:
        result: list[ast.AST] = []
        for i, part in enumerate(parts):
            later = i > 0 and isinstance(node, ast.BoolOp | ast.Compare)
            with self._parts_named(not later):
                result.append(self._part(part))
        return result

    def _part(self, part: ast.AST) -> ast.AST:
        if isinstance(part, ast.expr):
            return self.visit(part)
        if isinstance(part, ast.keyword):
            value = self.visit(part.value)
            if value is not part.value:
                part = copy.copy(part)
                part.value = value
        if isinstance(part, ast.comprehension):
            source = self.visit(part.iter)
            if source is not part.iter:
                part = copy.copy(part)
                part.iter = source
        return part

    @contextmanager
    def _parts_named(self, allowed: bool) -> Iterator[None]:
        outer = self._may_name
        self._may_name = outer and allowed
        try:
            yield
        finally:
            self._may_name = outer

    # ---- what subclasses ask

    def kind(self, node: ast.expr) -> Kind:
        return self.facts.kind(node)

    def atom(self, node: ast.expr, name: str) -> ast.expr:
        """The expression where it may be written several times; else a name that it gets before the statement.

        Raises:
            Refusal: there is no place for the name.
        """
        if is_atom(node):
            return node
        if not self._may_name or self._has_effects(node):
            raise Refusal(
                f"`{ast.unparse(node)}` is needed twice here, and has to be worked out once",
                node,
            )
        fresh = self.names.fresh(name)
        self._before.append(ast.Assign([ast.Name(fresh, ast.Store())], node))
        return ast.Name(fresh, ast.Load())

    def _has_effects(self, node: ast.expr) -> bool:
        """Whether what stands beside an expression in its statement does more than compute."""
        inside = {id(n) for n in ast.walk(node)}
        statement = self._statement
        around = {id(n) for n in ast.walk(statement)} if statement else set()
        return any(
            id(n) in around and id(n) not in inside
            for effect, found in self.facts.effects.items()
            if effect not in HARMLESS
            for n in found
        )


def _is_conditional(node: ast.expr, field: str) -> bool:
    """Whether a part of an expression is worked out not exactly once, when the expression is."""
    match node:
        case ast.IfExp():
            return field != "test"
        case ast.Lambda():
            return True
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return True
    return False
