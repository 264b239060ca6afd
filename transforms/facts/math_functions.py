"""The functions of `math`: each takes tensors as Python floats."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .calls import Arguments
from .kinds import UNKNOWN, Kind, Python, weak
from .signs import is_never_negative, is_never_positive, is_positive

if TYPE_CHECKING:
    from .evaluation import Evaluation

MATH = {
    "sqrt": "float", "exp": "float", "log": "float", "log1p": "float", "expm1": "float", "sin": "float",
    "cos": "float", "tan": "float", "atan": "float", "tanh": "float", "asinh": "float", "fabs": "float",
    "erf": "float", "erfc": "float", "degrees": "float", "radians": "float", "floor": "int", "ceil": "int",
    "isnan": "bool", "isinf": "bool", "isfinite": "bool",
}  # fmt: skip
"""The Python type that functions of `math` of one number give."""
LARGEST_POWER = 8
"""Up to it powers of numbers of less than 64 bits stay far from the largest float64."""
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
    if len(arguments.positional) == 2 and not arguments.keywords:
        type = "float" if _is_of_two(name, *arguments.positional) else None
    else:
        type = MATH.get(name) if len(arguments.all) == 1 else None
    if type is None or not all(map(_is_number, arguments.all)):
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


def _is_number(kind: Kind) -> bool:
    """Whether Python takes this for one float."""
    if isinstance(kind, Python):
        return kind.type in ("int", "float")
    return getattr(kind, "shape", 0) in ((), None, (1,))


def _is_of_two(name: str, first: Kind, second: Kind) -> bool:
    """Whether TensorFlow has a function of two numbers that never raises for these, or raises where it gives NaN."""
    number = second.value if isinstance(second, Python) and second.known else None
    match name:
        case "atan2":
            return True
        case "fmod":
            return isinstance(number, int | float) and number != 0
        case "pow":
            small = getattr(first, "dtype", None) in ("float16", "bfloat16", "float32")
            return small and number in range(1, LARGEST_POWER + 1)
    return False
