"""NumPy's dtypes under arithmetic: promotion, and Python numbers that yield to arrays (NumPy 2)."""

from __future__ import annotations

from .kind_joins import join_all
from .kinds import Array, Kind, Python, Scalar, Shape
from .outcome import Raises, Unsure
from .tensorflow_values import BOOL, COMPLEXES, INTEGERS, NUMBERS, REALS

WEAK = {"bool": "bool", "int": "int64", "float": "float64", "complex": "complex128"}
INTEGERS_AND_BOOL = INTEGERS | BOOL


def arithmetic(op: str, a: str | None, b: str | None) -> str | None:
    """The dtype of `a op b` for dtypes or names of Python number types; None where it isn't known."""
    if op == "pow" and a == "bool" and b in WEAK:
        return None
    dtype = promoted(a, b)
    if dtype is None:
        return None
    if op in ("bitand", "bitor", "bitxor", "lshift", "rshift"):
        _take(op, dtype, INTEGERS_AND_BOOL)
        return "int8" if dtype == "bool" and "shift" in op else dtype
    if op in ("floordiv", "mod"):
        _take(op, dtype, REALS | BOOL)
    if op == "div":
        return "float64" if dtype in INTEGERS_AND_BOOL else dtype
    if dtype == "bool":
        if op == "sub":
            raise Raises("- of bool arrays")
        return "bool" if op in ("add", "mult") else "int8"
    return dtype


def promoted(a: str | None, b: str | None) -> str | None:
    """The dtype that both operands become; None where one isn't known."""
    if a is None or b is None:
        return None
    if a in WEAK and b not in WEAK:
        a, b = b, a
    if b in WEAK and b != "bool" and a not in WEAK:
        return _with_python(a, b)
    a, b = WEAK.get(a, a), WEAK.get(b, b)
    if not {a, b} <= NUMBERS | BOOL or "bfloat16" in (a, b):
        raise Unsure(f"{a} with {b}")
    return _wider(a, b)


def _take(op: str, dtype: str, accepted: frozenset[str]) -> None:
    if dtype not in accepted:
        raise Raises(f"{op} of arrays of {dtype}")


def _with_python(dtype: str, number: str) -> str:
    """The dtype of an array that meets a Python int, float or complex."""
    if dtype not in NUMBERS | BOOL or dtype == "bfloat16":
        raise Unsure(dtype)
    if dtype in COMPLEXES or (number == "int" and dtype != "bool"):
        return dtype
    if dtype in INTEGERS_AND_BOOL:
        return WEAK[number]
    if number == "complex":
        return "complex128" if dtype == "float64" else "complex64"
    return dtype


def _wider(a: str, b: str) -> str:
    if a == b or b == "bool":
        return a
    if a == "bool":
        return b
    (family, bits), (other, more) = _parts(a), _parts(b)
    if family == other:
        return a if bits >= more else b
    if {family, other} == {"int", "uint"}:
        unsigned = bits if family == "uint" else more
        signed = max(more if family == "uint" else bits, 2 * unsigned)
        return f"int{signed}" if signed <= 64 else "float64"
    floats = max(_float_bits(family, bits), _float_bits(other, more))
    if "complex" in (family, other):
        return "complex64" if floats <= 32 else "complex128"
    return f"float{floats}"


def _parts(dtype: str) -> tuple[str, int]:
    """("float", 32) of "float32"."""
    family = dtype.rstrip("0123456789")
    return family, int(dtype[len(family) :])


def _float_bits(family: str, bits: int) -> int:
    """The bits of the float that holds such a number."""
    if family == "float":
        return bits
    if family == "complex":
        return bits // 2
    return min(2 * bits, 64)


def operand(kind: Kind) -> Array:
    """An operand of NumPy arithmetic as an array."""
    if isinstance(kind, Array):
        return kind
    if isinstance(kind, Scalar):
        return Array(kind.dtype, ())
    if isinstance(kind, Python) and kind.type in WEAK:
        return Array(None, ())
    raise Unsure(f"NumPy arithmetic on {kind}")


def array_or_scalar(dtype: str | None, shape: Shape) -> Kind:
    """What NumPy gives for a result: a scalar where it has no dimensions."""
    if shape is None:
        return join_all((Array(dtype), Scalar(dtype)))
    return Array(dtype, shape) if shape else Scalar(dtype)
