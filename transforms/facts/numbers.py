"""What Python's arithmetic gives where a tensor's gives the same, for the few numbers that a value may be."""

from __future__ import annotations

import ast
import math
import operator
import struct
from collections.abc import Callable

from .kind_joins import MOST_NUMBERS, numbers_of
from .kinds import Kind, Python

Number = int | float
OPERATORS: dict[str, Callable[[Number, Number], Number]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mult": operator.mul,
    "div": operator.truediv,
}
ZERO_DIVISION = "Python would raise ZeroDivisionError where this divisor is 0"
FORMATS = {"float16": "e", "float32": "f", "float64": "d"}


def exact_numbers(
    name: str, left: Kind, right: Kind, dtype: str | None
) -> tuple[Number, ...] | None:
    """The Python numbers that an operator may give; None where tensors of the dtype would not give them, or unknown.

    The operator of a tensor rounds what it takes and what it gives; the Python number is rounded once, later.
    """
    firsts, seconds = numbers_of(left), numbers_of(right)
    apply = OPERATORS.get(name)
    if firsts is None or seconds is None or apply is None:
        zeros = (firsts,) if name == "div" else (firsts, seconds)
        stays = name in ("mult", "div") and any(map(_is_zero, zeros))
        return (0.0, -0.0) if stays and dtype != "float16" else None
    found: dict[str, Number] = {}
    for a in firsts:
        for b in seconds:
            try:
                wanted = apply(a, b)
                given = apply(rounded(a, dtype), rounded(b, dtype))
                same = repr(rounded(wanted, dtype)) == repr(rounded(given, dtype))
            except (ArithmeticError, ValueError, struct.error):
                return None
            if not same:
                return None
            found[repr(wanted)] = wanted
    return tuple(found.values()) if len(found) <= MOST_NUMBERS else None


def _is_zero(numbers: tuple[Number, ...] | None) -> bool:
    """Whether 0 is all that a value may be as a number: times any number, and over any, it is 0 again."""
    return bool(numbers) and not any(numbers or ())


def rounded(number: Number, dtype: str | None) -> Number:
    """A Python number as a tensor of the dtype holds it.

    Raises:
        ValueError: nothing is known of the dtype, or it holds no such number.
    """
    if dtype in FORMATS:
        if math.isinf(number) or math.isnan(number):
            return float(number)
        return float(
            struct.unpack(FORMATS[dtype], struct.pack(FORMATS[dtype], number))[0]
        )
    bits = {"int32": 31, "int64": 63}.get(dtype or "", 0)
    if isinstance(number, int) and abs(number) < 2**bits:
        return number
    raise ValueError(dtype)


def is_known_nonzero(kind: Kind) -> bool:
    """Whether this is a Python number that is known not to be 0."""
    return (
        isinstance(kind, Python)
        and isinstance(kind.value, int | float)
        and kind.value != 0
    )


def divisor(node: ast.AST) -> ast.expr | None:
    """What a statement or expression divides by."""
    match node:
        case ast.BinOp(op=ast.Div() | ast.FloorDiv() | ast.Mod(), right=right):
            return right
        case ast.AugAssign(op=ast.Div() | ast.FloorDiv() | ast.Mod(), value=value):
            return value
    return None
