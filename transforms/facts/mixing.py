"""Values that may be a Python number or a tensor, as the way that a function took decides: what operators make of them."""

from __future__ import annotations

import ast
from dataclasses import replace

from .kinds import Kind, Python, Tensor
from .staging import is_strong


def may_be_number(left: Kind, right: Kind) -> bool:
    """Whether the operands may both be Python numbers, and may not."""
    pair = (left, right)
    unsure = [k for k in pair if isinstance(k, Tensor) and k.mixed and not k.weak]
    sure = [k for k in pair if is_strong(k) and not getattr(k, "mixed", False)]
    return bool(unsure) and not sure


def asks_for_number(kind: Kind, node: ast.expr, classes: list[str]) -> bool:
    """Whether `isinstance` asks of a name whether it holds a Python number, and not a tensor."""
    mixed = isinstance(kind, Tensor) and kind.mixed and not kind.weak
    return mixed and isinstance(node, ast.Name) and {*classes} <= {"int", "float"}


def unmixed(kind: Kind) -> Kind:
    return (
        replace(kind, mixed=False) if isinstance(kind, Tensor) and kind.mixed else kind
    )


def remixed(kind: Kind, operator: str, left: Kind, right: Kind) -> Kind:
    """Whether the result may be a Python number: where no operand surely is a tensor, and one may be a number."""
    if not isinstance(kind, Tensor):
        return kind
    pair = (left, right)
    if kind.weak:
        mixed = any(isinstance(k, Tensor) and k.mixed for k in pair)
        sure = operator == "div" or any(_surely_float(k) for k in pair)
        return replace(kind, mixed=mixed and kind.weak == "float" and not sure)
    mixed = any(isinstance(k, Tensor) and k.mixed and not k.weak for k in pair)
    return replace(
        kind,
        mixed=mixed
        and not any(is_strong(k) and not getattr(k, "mixed", False) for k in pair),
    )


def _surely_float(kind: Kind) -> bool:
    if isinstance(kind, Tensor):
        return kind.weak == "float" and not kind.mixed
    return isinstance(kind, Python) and kind.type == "float"
