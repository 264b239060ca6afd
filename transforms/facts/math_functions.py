"""The functions of `math`: each takes a tensor as a Python float."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .calls import Arguments
from .kinds import UNKNOWN, Kind, weak
from .signs import is_never_negative, is_never_positive, is_positive

if TYPE_CHECKING:
    from .evaluation import Evaluation

MATH = {
    "sqrt": "float", "exp": "float", "log": "float", "log1p": "float", "expm1": "float", "sin": "float",
    "cos": "float", "tan": "float", "atan": "float", "tanh": "float", "fabs": "float", "erf": "float",
    "degrees": "float", "radians": "float", "floor": "int", "ceil": "int", "isnan": "bool",
    "isinf": "bool", "isfinite": "bool",
}  # fmt: skip
"""The Python type that functions of `math` give."""
RAISING = {
    "sqrt": is_never_negative,
    "log": is_positive,
    "log1p": is_never_negative,
    "exp": is_never_positive,
    "expm1": is_never_positive,
}
"""Functions of `math` that raise, and for which arguments they surely do not."""


def call(
    evaluation: Evaluation, node: ast.Call, name: str, arguments: Arguments
) -> Kind:
    """What a function of `math` gives."""
    type = MATH.get(name)
    only = arguments.all[0] if len(arguments.all) == 1 else None
    if type is None or getattr(only, "shape", 0) not in ((), None, (1,)):
        evaluation.problem(
            f"what `math.{name}` does in a graph is not known", node, "GL205"
        )
        return UNKNOWN
    if name in RAISING and not hasattr(node, "checked"):
        question = RAISING[name]
        if not question(node.args[0], evaluation.facts):
            evaluation.problem(
                f"`math.{name}` raises for some numbers, where TensorFlow does not",
                node,
                "GL205",
            )
    return weak(type)
