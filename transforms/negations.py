"""Comparisons that TensorFlow's arithmetic optimizer negates wrongly where a number is NaN.

It makes `a >= b` of `tf.logical_not(a < b)` where nothing else uses `a < b`, through names, calls and what gives a tensor as
it is: of NaN that is False, and `not a < b` is True. It does not look into `tf.equal(a < b, False)`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .facts.environment import FunctionFacts
from .facts.kinds import Array, Function, Tensor
from .facts.staging import FLOATS, INTS, is_tensor
from .facts.syntax import all_bound_names, blocks, own_expressions

if TYPE_CHECKING:
    from .expressions import Writer

ORDERS = ast.Lt | ast.LtE | ast.Gt | ast.GtE
ORDERING = frozenset({"less", "less_equal", "greater", "greater_equal"})
AS_IT_IS = frozenset(
    {
        "bool", "convert_to_tensor", "ensure_shape", "identity", "reduce_all", "reduce_any", "reshape", "squeeze",
        "stop_gradient",
    }
)  # fmt: skip
"""Functions, by their last names, that may give a tensor as it was given to them."""
DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def comparisons(facts: FunctionFacts, signed: bool) -> set[ast.expr]:
    """The expressions that are, or may be, such a comparison; `signed`: the function is a graph, given no results of others."""
    found = _Comparisons(facts, signed)
    found.block(facts.definition.node.body)
    return found.found


def negated(writer: Writer, node: ast.expr) -> str:
    """The text of the negation of a scalar test."""
    return of_text(writer, node, writer.predicate(node))


def of_text(writer: Writer, node: ast.expr, text: str) -> str:
    """The negation of a bool that a text stands for."""
    if node in writer.comparisons:
        return f"{writer.tf}.equal({text}, False)"
    return f"{writer.tf}.logical_not({text})"


def of_call(writer: Writer, node: ast.Call) -> str | None:
    """The text of `tf.logical_not(a < b)`, or NumPy's; None of other calls."""
    function = writer.kind(node.func)
    name = function.name.rpartition(".")[2] if isinstance(function, Function) else ""
    negating = name == "logical_not" and len(node.args) == 1
    if not negating or node.args[0] not in writer.comparisons:
        return None
    return of_text(writer, node.args[0], writer.text(node.args[0]))


class _Comparisons:
    """Goes through a function in its order; `held` are the names that may hold a comparison."""

    def __init__(self, facts: FunctionFacts, signed: bool) -> None:
        self.facts = facts
        self.found: set[ast.expr] = set()
        self.held: set[str] = set()
        node = facts.definition.node
        self.own = {name for s in node.body for name in all_bound_names(s)}
        if signed:
            self.own |= {a.arg for a in facts.definition.parameters}

    def block(self, body: list[ast.stmt]) -> None:
        for node in body:
            if not isinstance(node, DEFINITIONS):
                self._statement(node)

    def _statement(self, node: ast.stmt) -> None:
        loops = isinstance(node, ast.For | ast.While | ast.AsyncFor)
        if loops and node in self.facts.staged:
            self.held -= {*all_bound_names(node)}
        for expression in own_expressions(node):
            self._search(expression)
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._set(name, self.compares(value))
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
                values = value.elts if isinstance(value, ast.Tuple) else []
                told = [self.compares(v) for v in values] or [True] * len(targets)
                for target, compares in zip(targets, told, strict=False):
                    if isinstance(target, ast.Name):
                        self._set(target.id, compares)
        if blocks(node):
            self._compound(node, loops)

    def _set(self, name: str, compares: bool) -> None:
        self.held -= {name}
        self.held |= {name} if compares else set()

    def _compound(self, node: ast.stmt, loops: bool) -> None:
        """What blocks leave: a graph's branches and loops give values of their own, but a bool may be the test itself."""
        before = set(self.held)
        after = set(before)
        for block in blocks(node):
            for _ in range(2 if loops else 1):
                self.block(block)
            after |= self.held
            self.held = set(before)
        self.held = after
        if node in self.facts.staged:
            self.held -= {*all_bound_names(node)}
            if isinstance(node, ast.If) and self.compares(node.test):
                self.held |= {*all_bound_names(node)}

    def _search(self, expression: ast.expr) -> None:
        for node in ast.walk(expression):
            if isinstance(node, ast.NamedExpr):
                self._set(node.target.id, self.compares(node.value))
        self.found |= {
            n
            for n in ast.walk(expression)
            if isinstance(n, ast.expr) and self.compares(n)
        }

    def compares(self, node: ast.expr) -> bool:
        kind = self.facts.kind(node)
        if not isinstance(kind, Tensor | Array) or kind.dtype not in ("bool", None):
            return False
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return isinstance(op, ORDERS) and self._may_be_nan(left, right)
            case ast.Name(id=name):
                return name in self.held or name not in self.own
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return any(map(self.compares, (test, body, orelse)))
            case ast.NamedExpr(value=value):
                return self.compares(value)
            case ast.Attribute(value=owner) | ast.Subscript(value=owner):
                return not is_tensor(self.facts.kind(owner))
            case ast.Call(args=args):
                return self._call_compares(node, args)
        return False

    def _call_compares(self, node: ast.Call, args: list[ast.expr]) -> bool:
        function = self.facts.kind(node.func)
        name = (
            function.name.rpartition(".")[2] if isinstance(function, Function) else ""
        )
        if name in ORDERING:
            return self._may_be_nan(*args)
        return node in self.facts.calls or (
            name in AS_IT_IS and any(map(self.compares, args))
        )

    def _may_be_nan(self, *compared: ast.expr) -> bool:
        """Whether what is compared are not just whole numbers."""
        dtypes = {getattr(self.facts.kind(n), "dtype", None) for n in compared}
        return bool(dtypes & FLOATS) or not dtypes & INTS
