"""Errors that `math` raises: outside a function's domain, Python raises where TensorFlow gives NaN or infinity.

A check before the statement, `if value < 0.0: raise ValueError(...)`, keeps the error; `assertions` does the rest.
"""

from __future__ import annotations

import ast
import copy

from .facts.environment import FunctionFacts
from .facts.kinds import Function
from .facts.modules import blocks
from .facts.profile import FunctionNode
from .findings import Refusal
from .making import unplaced
from .rebuilding import rebuilt, replaced, with_body
from .source import Names

CHECKS = {
    "sqrt": ("{0} < 0.0", 'ValueError("math domain error")'),
    "log": ("{0} <= 0.0", 'ValueError("math domain error")'),
    "exp": (
        '709.782712893384 < {0} < float("inf")',
        'OverflowError("math range error")',
    ),
}
SIMPLE = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return | ast.Expr | ast.If
BRANCHING = (
    ast.IfExp | ast.BoolOp | ast.Lambda | ast.ListComp | ast.GeneratorExp | ast.SetComp
)


def with_checks(facts: FunctionFacts, names: Names) -> FunctionNode | None:
    """The function with the checks that its calls of `math` need; None where it needs none.

    Raises:
        Refusal: a call stands where no check can stand before it.
    """
    wanted = {p.node: _function(facts, p) for p in facts.problems}
    wanted = {node: name for node, name in wanted.items() if name in CHECKS}
    if not wanted:
        return None
    node = facts.definition.node
    return with_body(node, _Checks(facts, names, wanted).block(node.body))


def _function(facts: FunctionFacts, problem: Refusal) -> str:
    """The function of `math` that a problem is about."""
    node = problem.node
    kind = None
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        kind = facts.kind(node.func)
    name = kind.name if isinstance(kind, Function) else ""
    return name.removeprefix("math.") if problem.code == "GL205" else ""


class _Checks:
    def __init__(
        self, facts: FunctionFacts, names: Names, wanted: dict[ast.AST | None, str]
    ) -> None:
        self.facts = facts
        self.names = names
        self.wanted = wanted

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return [made for node in body for made in self._statement(node)]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        inner = {n for block in blocks(node) for s in block for n in ast.walk(s)}
        calls = [n for n in ast.walk(node) if n in self.wanted and n not in inner]
        checks: list[ast.stmt] = []
        table: dict[ast.AST, ast.AST] = {}
        for call in calls:
            assert isinstance(call, ast.Call)
            self._check_place(node, call)
            (argument,) = call.args
            name = argument
            if not isinstance(argument, ast.Name):
                text = self.names.fresh("value")
                checks.append(ast.Assign([ast.Name(text, ast.Store())], argument))
                name = ast.copy_location(ast.Name(text, ast.Load()), argument)
                name.made = True  # type: ignore[attr-defined]
            checked = copy.copy(call)
            checked.args = [name]
            checked.checked = True  # type: ignore[attr-defined]
            table[call] = checked
            checks += _check(self.wanted[call], ast.unparse(name))
        made = replaced(node, table)
        assert isinstance(made, ast.stmt)
        return [*checks, rebuilt(made, self.block)]

    def _check_place(self, node: ast.stmt, call: ast.Call) -> None:
        """Refuse calls that a statement may pass by, or that come after something else it does."""
        passed = any(
            isinstance(n, BRANCHING) and any(i is call for i in ast.walk(n))
            for n in ast.walk(node)
        )
        effects = {id(n) for found in self.facts.effects.values() for n in found}
        if (
            passed
            or not isinstance(node, SIMPLE)
            or any(id(n) in effects for n in ast.walk(node))
        ):
            raise Refusal(
                f"what `{ast.unparse(call)}` raises cannot be checked before it",
                call,
                "GL205",
            )


def _check(function: str, name: str) -> list[ast.stmt]:
    test, error = CHECKS[function]
    made = ast.parse(f"if {test.format(name)}:\n    raise {error}").body
    return [unplaced(node) for node in made]
