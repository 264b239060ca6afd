"""Which values have a gradient that is infinite, or not a number, somewhere."""

from __future__ import annotations

import ast

from .facts.environment import FunctionFacts
from .facts.kinds import Function, Python
from .facts.syntax import own_nodes

SINGULAR = frozenset(
    [
        "acos",
        "acosh",
        "asin",
        "atan2",
        "atanh",
        "cholesky",
        "cosh",
        "det",
        "digamma",
        "divide",
        "exp",
        "expm1",
        "inv",
        "lgamma",
        "log",
        "log1p",
        "logdet",
        "norm",
        "pow",
        "reciprocal",
        "reduce_std",
        "rsqrt",
        "sinh",
        "solve",
        "sqrt",
        "tan",
        "truediv",
        "xlogy",
        "zeta",
    ]
)
"""Functions of TensorFlow with such a gradient."""


def singular_names(facts: FunctionFacts) -> set[str]:
    """The names of a function that may hold such values, or what was made of them."""
    assigns = [
        (node.targets[0].id, node.value)
        for node in own_nodes(facts.definition.node)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    ]
    found: set[str] = set()
    while True:
        more = {n for n, value in assigns if is_singular(value, facts, found)}
        if more <= found:
            return found
        found |= more


def is_singular(value: ast.expr, facts: FunctionFacts, names: set[str]) -> bool:
    """Whether an expression has such a gradient, or reads one of the names that have."""
    for node in ast.walk(value):
        match node:
            case ast.Name(id=name) if name in names:
                return True
            case ast.BinOp(op=ast.Div() | ast.Pow(), right=right):
                if not isinstance(facts.kind(right), Python):
                    return True
            case ast.Call(func=function):
                kind = facts.kind(function)
                name = kind.name if isinstance(kind, Function) else ""
                of_tensorflow = name.startswith("tensorflow.")
                if of_tensorflow and name.rpartition(".")[2] in SINGULAR:
                    return True
    return False
