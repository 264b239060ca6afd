"""Errors of Python's numbers: outside the domain of `math`'s functions and of division, TensorFlow gives NaN or infinity.

A check before the statement, `if value < 0.0: raise ValueError(...)`, keeps the error; `assertions` does the rest.
"""

from __future__ import annotations

import ast
import copy

from . import containers
from .facts.environment import FunctionFacts
from .facts.kinds import Function, Kind, Python, Tensor
from .facts.numbers import ZERO_DIVISION
from .facts.profile import FunctionNode
from .facts.syntax import blocks, is_negative, own_nodes
from .findings import Refusal
from .making import assigned, name, placed, unplaced
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
ZERO_MESSAGES = {
    (ast.Div, False): "division by zero",
    (ast.Div, True): "float division by zero",
    (ast.FloorDiv, False): "integer division or modulo by zero",
    (ast.FloorDiv, True): "float floor division by zero",
    (ast.Mod, False): "integer modulo by zero",
    (ast.Mod, True): "float modulo",
}
"""What Python says of a division by zero, by the operator and whether there is a float in it."""
OUT_OF_RANGE = 'IndexError("list index out of range")'
SIMPLE = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return | ast.Expr | ast.If
BRANCHING = (
    ast.IfExp
    | ast.BoolOp
    | ast.Lambda
    | ast.ListComp
    | ast.GeneratorExp
    | ast.SetComp
    | ast.DictComp
)


def with_checks(
    facts: FunctionFacts, names: Names, raises: tuple[str, ...]
) -> FunctionNode | None:
    """The function with the checks that its numbers need, and its lists where a recorded call raised IndexError.

    None where it needs none.

    Raises:
        Refusal: a call, division or index stands where no check can stand before it.
    """
    wanted = {p.node for p in facts.problems if _is_wanted(facts, p)}
    if "IndexError" in raises:
        wanted |= _indexed(facts)
    if not wanted:
        return None
    node = facts.definition.node
    return with_body(node, _Checks(facts, names, wanted).block(node.body))


def _is_wanted(facts: FunctionFacts, problem: Refusal) -> bool:
    if problem.reason == ZERO_DIVISION:
        return True
    checked = hasattr(problem.node, "checked")
    named = _function(facts, problem.node)
    return problem.code == "GL205" and named in CHECKS and not checked


def _indexed(facts: FunctionFacts) -> set[ast.AST]:
    """Where items are read of lists that grow where a tensor says so."""
    growing = containers.growing(facts)
    return {
        node
        for node in own_nodes(facts.definition.node)
        if isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and isinstance(node.value, ast.Name)
        and node.value.id in growing
        and not isinstance(node.slice, ast.Slice)
        and not hasattr(node, "checked")
    }


def _function(facts: FunctionFacts, node: ast.AST | None) -> str:
    """The function of `math` that is called here."""
    kind = None
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        kind = facts.kind(node.func)
    name = kind.name if isinstance(kind, Function) else ""
    return name.removeprefix("math.")


class _Checks:
    def __init__(
        self, facts: FunctionFacts, names: Names, wanted: set[ast.AST | None]
    ) -> None:
        self.facts = facts
        self.names = names
        self.wanted = wanted

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return [made for node in body for made in self._statement(node)]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, ast.Try) and node.handlers:
            return [node]
        inner = {n for block in blocks(node) for s in block for n in ast.walk(s)}
        own = [n for n in ast.walk(node) if n not in inner]
        found = [n for n in own if n in self.wanted]
        before: list[ast.stmt] = []
        table: dict[ast.AST, ast.AST] = {}
        for raising in found:
            self._check_place(node, raising, own)
            checked = copy.copy(raising)
            checked.checked = True  # type: ignore[attr-defined]
            match checked:
                case ast.Call(args=[argument]):
                    value = self._named(argument, "value", before)
                    checked.args = [value]
                    test, error = CHECKS[_function(self.facts, raising)]
                    before.append(_check(test.format(ast.unparse(value)), error))
                case ast.BinOp(left=left, op=op, right=right):
                    checked.left = self._named(left, "value", before)
                    checked.right = self._named(right, "divisor", before)
                    test = self._divisor_test(left, checked.left, checked.right)
                    before.append(_check(test, self._zero_error(op, left, right)))
                case ast.Subscript(value=owner, slice=index):
                    checked.slice = self._named(index, "index", before)
                    test = _index_test(ast.unparse(owner), checked.slice)
                    before.append(_check(test, OUT_OF_RANGE))
                case ast.AugAssign(target=target, op=op, value=right):
                    left = target.as_load  # type: ignore[union-attr]
                    checked.value = self._named(right, "divisor", before)
                    test = self._divisor_test(left, left, checked.value)
                    before.append(_check(test, self._zero_error(op, left, right)))
            table[raising] = checked
        made = replaced(node, table)
        assert isinstance(made, ast.stmt)
        return [*before, rebuilt(made, self.block)]

    def _divisor_test(
        self, dividend: ast.expr, named: ast.expr, divisor: ast.expr
    ) -> str:
        """Whether Python divides by zero: a tensor does not raise."""
        test, kind = f"{ast.unparse(divisor)} == 0", self.facts.kind(dividend)
        if isinstance(kind, Tensor) and kind.mixed and not kind.weak:
            return f"{test} and isinstance({ast.unparse(named)}, (int, float))"
        return test

    def _zero_error(self, op: ast.operator, left: ast.expr, right: ast.expr) -> str:
        floats = any(_holds_float(self.facts.kind(side)) for side in (left, right))
        return f'ZeroDivisionError("{ZERO_MESSAGES[type(op), floats]}")'

    def _named(self, node: ast.expr, word: str, before: list[ast.stmt]) -> ast.expr:
        """The value of an expression under a name."""
        if isinstance(node, ast.Name | ast.Constant) or is_negative(node):
            return node
        text = self.names.fresh(word)
        before.append(assigned(text, node))
        return placed(name(text), node)

    def _check_place(
        self, node: ast.stmt, raising: ast.AST, own: list[ast.AST]
    ) -> None:
        """Refuse what a statement may pass by, or what comes after something else it does."""
        passed = any(
            isinstance(n, BRANCHING) and any(i is raising for i in ast.walk(n))
            for n in own
        )
        effects = {id(n) for found in self.facts.effects.values() for n in found}
        if (
            passed
            or not isinstance(node, SIMPLE)
            or not isinstance(getattr(raising, "target", None), ast.Name | None)
            or any(id(n) in effects for n in own if n is not raising)
        ):
            raise Refusal(
                f"what `{ast.unparse(raising)}` raises cannot be checked before it",
                raising,
                "GL205",
            )


def _holds_float(kind: Kind) -> bool:
    """Whether a number is a float, as far as is known."""
    if isinstance(kind, Tensor):
        numbers = kind.numbers or (0.0,)
        return kind.weak == "float" or (
            not kind.weak and any(isinstance(n, float) for n in numbers)
        )
    return isinstance(kind, Python) and kind.type == "float"


def _index_test(name: str, index: ast.expr) -> str:
    """Whether a list has no item at an index."""
    text = ast.unparse(index)
    if text.isdigit():
        return f"len({name}) <= {text}"
    if text.removeprefix("-").isdigit():
        return f"len({name}) < {text[1:]}"
    return f"{text} < -len({name}) or {text} >= len({name})"


def _check(test: str, error: str) -> ast.stmt:
    (made,) = ast.parse(f"if {test}:\n    raise {error}").body
    return unplaced(made)
