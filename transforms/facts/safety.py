"""Expressions that cannot raise, whatever their tensors hold, and so may run where eager mode would not have come."""

from __future__ import annotations

import ast

from .environment import FunctionFacts
from .kinds import Function, Sequence

CHEAP = (
    ast.Name,
    ast.Constant,
    ast.Compare,
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Attribute,
)
CANNOT_RAISE = frozenset(
    [
        "abs",
        "reduce_sum",
        "reduce_mean",
        "reduce_max",
        "reduce_min",
        "reduce_prod",
        "reduce_any",
        "reduce_all",
        "math.reduce_std",
        "math.reduce_variance",
        "reduce_logsumexp",
        "norm",
        "size",
        "rank",
        "shape",
        "cast",
        "math.is_nan",
        "math.is_inf",
        "math.is_finite",
        "logical_not",
        "square",
        "sqrt",
        "sin",
        "cos",
        "tanh",
        "sigmoid",
        "exp",
        "math.log",
        "math.log1p",
        "sign",
        "round",
        "floor",
        "nn.relu",
        "nn.softmax",
        "constant",
        "zeros_like",
        "ones_like",
        "identity",
        "builtins.float",
        "builtins.int",
        "builtins.bool",
        "method.numpy",
        "method.item",
    ]
)


def is_safe(facts: FunctionFacts, node: ast.expr) -> bool:
    """Whether evaluating an expression cannot raise, and does nothing else."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call):
            function = facts.kind(inner.func)
            name = function.name if isinstance(function, Function) else ""
            if name.removeprefix("tensorflow.") not in CANNOT_RAISE:
                return False
        elif isinstance(inner, ast.Subscript):
            if not isinstance(facts.kind(inner.value), Sequence) or not isinstance(
                inner.slice, ast.Constant
            ):
                return False
        elif isinstance(inner, ast.BinOp):
            if not isinstance(
                inner.op, ast.Add | ast.Sub | ast.Mult | ast.Div
            ) or not broadcasts(facts, inner.left, inner.right):
                return False
        elif (
            isinstance(inner, ast.Compare)
            and not all(
                broadcasts(facts, a, b)
                for a, b in zip(
                    [inner.left, *inner.comparators], inner.comparators, strict=False
                )
            )
        ) or (isinstance(inner, ast.expr) and not isinstance(inner, CHEAP)):
            return False
    return True


def broadcasts(facts: FunctionFacts, left: ast.expr, right: ast.expr) -> bool:
    """Whether the shapes of two operands surely fit."""
    if ast.dump(left) == ast.dump(right):
        return True
    shapes = [getattr(facts.kind(n), "shape", ()) for n in (left, right)]
    if () in shapes:
        return True
    return shapes[0] == shapes[1] and shapes[0] is not None and None not in shapes[0]
