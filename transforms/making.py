"""Makes the nodes of new code: names, calls, assignments, expressions with others in the place of names."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

Node = TypeVar("Node", bound=ast.AST)

SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
"""Expressions with names of their own."""
PLACE = frozenset(["lineno", "col_offset", "end_lineno", "end_col_offset"])
"""What notes on a node where it stands in the file."""


def unplaced(node: Node) -> Node:
    """The node, now standing nowhere in the file, and nor does what is inside it."""
    for inner in ast.walk(node):
        for attribute in PLACE & vars(inner).keys():
            delattr(inner, attribute)
    return node


def expression(text: str) -> ast.expr:
    """The expression that a text is."""
    return unplaced(ast.parse(text, mode="eval").body)


def name(text: str) -> ast.Name:
    return ast.Name(text, ast.Load())


def assigned(name: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def negated(test: ast.expr) -> ast.expr:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    return ast.UnaryOp(ast.Not(), test)


def any_of(flags: Sequence[str]) -> ast.expr:
    """Whether one of some flags is set."""
    tests: list[ast.expr] = [name(flag) for flag in flags]
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), tests)


def none_of(flags: Sequence[str]) -> ast.expr:
    """Whether none of some flags is set."""
    tests = [negated(name(flag)) for flag in flags]
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)


def called(
    function: str | ast.expr, *arguments: ast.expr, **keywords: ast.expr
) -> ast.Call:
    """A call of a function, by its name, dotted name, or expression."""
    if isinstance(function, str):
        first, *rest = function.split(".")
        made: ast.expr = name(first)
        for part in rest:
            made = ast.Attribute(made, part, ast.Load())
        function = made
    return ast.Call(
        function, list(arguments), [ast.keyword(k, v) for k, v in keywords.items()]
    )


def compared(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> ast.Compare:
    return ast.Compare(left, [operator], [right])


def applied(function: ast.expr, *arguments: ast.expr) -> ast.expr:
    """What calling a function gives; a lambda is written out where its arguments may be written several times."""
    match function:
        case ast.Lambda(args=ast.arguments() as parameters, body=body) if (
            len(parameters.args) == len(arguments)
            and not (parameters.vararg or parameters.kwarg or parameters.kwonlyargs)
            and not _binds(body)
            and all(map(is_atom, arguments))
        ):
            names = [p.arg for p in parameters.args]
            return filled(body, dict(zip(names, arguments, strict=True)))
        case ast.Constant(value=None):
            return arguments[0]
    return called(function, *arguments)


def filled(node: ast.expr, values: dict[str, ast.expr]) -> ast.expr:
    """An expression with values in the place of names."""
    made = _Filled(values).visit(node)
    assert isinstance(made, ast.expr)
    return made


def visited_fields(
    node: ast.AST, visit: Callable[[ast.AST], ast.AST]
) -> dict[str, Any]:
    """The fields of a node, with what `visit` makes of the nodes in them."""

    def made(value: Any) -> Any:
        if isinstance(value, list):
            return [made(item) for item in value]
        return visit(value) if isinstance(value, ast.AST) else value

    return {field: made(value) for field, value in ast.iter_fields(node)}


def _binds(body: ast.expr) -> bool:
    """Whether an expression has names of its own."""
    return any(isinstance(n, (*SCOPES, ast.NamedExpr)) for n in ast.walk(body))


class _Filled(ast.NodeTransformer):
    """An expression with names replaced, made anew."""

    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.Name) and node.id in self.values:
            return copy.copy(self.values[node.id])
        fields = visited_fields(node, self.visit)
        made = copy.copy(node)
        for position in PLACE & vars(made).keys():
            delattr(made, position)
        for field, value in fields.items():
            setattr(made, field, value)
        return made


def is_atom(node: ast.expr) -> bool:
    """Whether working an expression out again costs and does nothing."""
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.Attribute(value=value) | ast.Starred(value=value):
            return is_atom(value)
        case ast.Subscript(value=ast.Name(), slice=ast.Constant()):
            return True
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=ast.Constant()):
            return True
    return False


def placed(made: Node, node: ast.expr) -> Node:
    """A made expression that stands in the file where another one stood."""
    made = ast.copy_location(copy.copy(made), node)
    made.made = True  # type: ignore[attr-defined]
    return made
