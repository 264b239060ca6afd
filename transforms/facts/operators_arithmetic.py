"""Arithmetic on tensors, NumPy arrays, Python values and sequences."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from . import tensorflow_numpy
from . import tensorflow_values as values
from .kind_joins import forget, join_all
from .kinds import (
    BOOL,
    FLOAT,
    INT,
    NONE,
    SIZE,
    Array,
    Elements,
    Kind,
    Python,
    Scalar,
    Sequence,
    Shape,
    Tensor,
    Union,
    Variable,
    python,
    weak,
)
from .outcome import Outcome, Raises, Unsure, outcome
from .tensorflow_values import as_python, constant_int, inner, is_strong

NUMBER_TYPES = ("bool", "int", "float", "complex")
LONGEST_TEXT = 200
WIDEST_INT = 2**63


def arithmetic(op: str, left: Kind, right: Kind) -> Kind | Outcome:
    """`left op right` for kinds that are no unions."""
    text = as_python(left)
    if op == "mod" and text and text.type in ("str", "bytes"):
        return _formatted(left, right)
    if is_strong(left) or is_strong(right):
        return tensor_binary(op, left, right)
    if as_python(left) and as_python(right):
        return _python_binary(op, left, right)
    if isinstance(left, Array | Scalar) or isinstance(right, Array | Scalar):
        return _array_binary(op, left, right)
    if isinstance(left, Sequence | Elements) or isinstance(right, Sequence | Elements):
        return _sequence_binary(op, left, right)
    if NONE in (left, right) and (as_python(left) or as_python(right) or left == right):
        raise Raises(f"{op} of {left} and {right}")
    raise Unsure(f"{op} of {left} and {right}")


BITWISE = ("bitand", "bitor", "bitxor")
TENSOR_OPERANDS = {
    "add": values.NUMBERS | values.STRING,
    "sub": values.NUMBERS,
    "mult": values.NUMBERS,
    "div": values.NUMBERS,
    "floordiv": values.REALS,
    "mod": values.REALS,
    "pow": values.FLOATS | values.COMPLEXES | values.SIGNED,
    "matmult": values.FLOATS | values.COMPLEXES | {"int32", "int64"},
    **dict.fromkeys(BITWISE, values.INTEGERS | values.BOOL),
}
QUOTIENTS = {
    "int8": "float32",
    "uint8": "float32",
    "int16": "float32",
    "uint16": "float32",
}
QUOTIENTS |= dict.fromkeys(("int32", "int64", "uint32", "uint64"), "float64")


def tensor_binary(op: str, left: Kind, right: Kind) -> Tensor:
    """The operator on operands one of which at least is a tensor."""
    if op == "mult" and "bool" in (_strong_dtype(left), _strong_dtype(right)):
        return _bool_product(left, right)
    with_array = isinstance(left, Array | Scalar) or isinstance(right, Array | Scalar)
    try:
        result = _tensor_arithmetic(op, left, right)
    except Raises as reason:
        if with_array:
            raise Unsure("NumPy's own operator") from reason
        raise
    if with_array and result.dtype is None:
        raise Unsure("NumPy's own operator, perhaps")
    return result


def _tensor_arithmetic(op: str, left: Kind, right: Kind) -> Tensor:
    accepted = TENSOR_OPERANDS.get(op)
    if accepted is None:
        raise Raises(f"{op} of tensors")
    a, b = values.common((left, right))
    dtype = values.same_dtype(a.dtype, b.dtype)
    values.accept(dtype, accepted)
    if op == "matmult":
        return Tensor(dtype, matmul_shape(a.shape, b.shape))
    exponent = constant_int(right)
    if (
        op == "pow"
        and dtype in values.INTEGERS
        and exponent is not None
        and exponent < 0
    ):
        raise Raises(f"{dtype} to the power of {exponent}")
    if op == "div":
        dtype = quotient(dtype)
    if op == "mult" and None in (_strong_dtype(left, ""), _strong_dtype(right, "")):
        dtype = None
    return Tensor(dtype, values.broadcast(a.shape, b.shape))


def _strong_dtype(kind: Kind, otherwise: str | None = None) -> str | None:
    return kind.dtype if is_strong(kind) else otherwise


def _bool_product(left: Kind, right: Kind) -> Tensor:
    """TensorFlow multiplies bools with numbers of any dtype, as ints, and gives a bool."""
    if not is_strong(left):
        left = values.tensor(left, "bool")
    elif _strong_dtype(left) != "bool" and isinstance(right, Variable):
        raise Raises("* of a tensor and a bool Variable")
    a, b = values.tensor(left), values.tensor(right)
    for side in (a, b):
        values.accept(side.dtype, values.NUMBERS | values.BOOL)
    return Tensor("bool", values.broadcast(a.shape, b.shape))


def quotient(dtype: str | None) -> str | None:
    """The dtype of tensors divided by `/`."""
    return QUOTIENTS.get(dtype, dtype) if dtype else None


def matmul_shape(a: Shape, b: Shape) -> Shape:
    """The shape of the product of two matrices, or of two stacks of them."""
    for shape in (a, b):
        if shape is not None and len(shape) < 2:
            raise Raises(f"a matrix product with {len(shape)} dimensions")
    if a is None or b is None:
        return None
    values.equal_sizes(a[-1], b[-2])
    return (*values.broadcast(a[:-2], b[:-2]), a[-2], b[-1])  # type: ignore[misc]


def _python_binary(op: str, left: Kind, right: Kind) -> Kind | Outcome:
    """Numbers and texts of Python, some of which may be held in tensors."""
    a, b = as_python(left), as_python(right)
    assert a and b
    if left == a and right == b and a.known and b.known:
        return _folded(op, a.value, b.value)
    result = _python_type(op, a, b)
    held = left != a or right != b
    if not held:
        return result
    if op == "pow" and isinstance(result, Union):
        result = INT
    if not isinstance(result, Python) or result.type not in (
        "int",
        "float",
        "bool",
        "str",
    ):
        raise Unsure(f"{op} of {left} and {right}")
    may_raise = op in ("div", "floordiv", "mod") and not b.known
    return outcome(weak(result.type), *(["assert"] if may_raise else []))


def _python_type(op: str, a: Python, b: Python) -> Kind:
    """The type of an operation on Python values, one of which at least isn't known."""
    if (
        b.known
        and b.type in NUMBER_TYPES
        and not b.value
        and op in ("div", "floordiv", "mod")
    ) and a.type in NUMBER_TYPES:
        raise Raises("division by zero")
    texts = [side.type for side in (a, b) if side.type in ("str", "bytes")]
    if texts:
        return _text_type(op, a, b)
    if op in BITWISE or op in ("lshift", "rshift"):
        if "float" in (a.type, b.type) or "complex" in (a.type, b.type):
            raise Raises(f"{op} of {a} and {b}")
        return BOOL if op in BITWISE and a.type == b.type == "bool" else INT
    if op == "matmult":
        raise Raises(f"{op} of {a} and {b}")
    wider = max(a.type, b.type, key=NUMBER_TYPES.index)
    if wider == "complex":
        if op in ("floordiv", "mod"):
            raise Raises(f"{op} of complex numbers")
        return Python("complex")
    if op == "div":
        return FLOAT
    if op == "pow" and wider != "float":
        if b.type == "bool" or (isinstance(b.value, int) and b.value >= 0):
            return INT
        return FLOAT if b.known else Union((FLOAT, INT))
    return FLOAT if wider == "float" else INT


def _text_type(op: str, a: Python, b: Python) -> Kind:
    if op == "add" and a.type == b.type:
        return Python(a.type)
    if op == "mult" and {a.type, b.type} & {"int", "bool"}:
        return Python(a.type if a.type in ("str", "bytes") else b.type)
    if op == "mod" and a.type in ("str", "bytes"):
        return Python(a.type)
    raise Raises(f"{op} of {a} and {b}")


FOLDED: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mult": operator.mul,
    "div": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
    "matmult": operator.matmul,
    "bitand": operator.and_,
    "bitor": operator.or_,
    "bitxor": operator.xor,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
}


def _folded(op: str, a: Any, b: Any) -> Kind:
    """The value of an operation on known values, or its type alone where the value would be large."""
    large_power = op == "pow" and not (abs_below(a, 2**31) and abs_below(b, 64))
    large_shift = op == "lshift" and not abs_below(b, 64)
    large_text = (
        op == "mult" and isinstance(a, str | bytes) and not abs_below(b, LONGEST_TEXT)
    )
    large_text |= (
        op == "mult" and isinstance(b, str | bytes) and not abs_below(a, LONGEST_TEXT)
    )
    if large_power or large_shift or large_text:
        return _python_type(op, Python(type(a).__name__), Python(type(b).__name__))
    try:
        return constant(FOLDED[op](a, b))
    except (ArithmeticError, TypeError, ValueError) as error:
        raise Raises(str(error)) from error


def abs_below(number: object, limit: int) -> bool:
    """Is it a number, and smaller than the limit whatever its sign?"""
    return isinstance(number, int | float) and abs(number) < limit


def constant(value: object) -> Kind:
    """The kind of a computed constant; without its value where that is large."""
    large = isinstance(value, int) and not -WIDEST_INT <= value < WIDEST_INT
    large |= isinstance(value, str | bytes) and len(value) > LONGEST_TEXT
    return forget(python(value)) if large else python(value)


def _formatted(text: Kind, arguments: Kind) -> Kind | Outcome:
    """`text % arguments`: Python text, of values that may be tensors'."""
    if not isinstance(text, Python):
        raise Unsure("% of a text that a tensor decides")
    if text.known and isinstance(arguments, Python) and arguments.known:
        return _folded("mod", text.value, arguments.value)
    inner = arguments.items if isinstance(arguments, Sequence) else (arguments,)
    held = any(isinstance(kind, Tensor | Variable) or kind == SIZE for kind in inner)
    return outcome(Python(text.type), *(["host"] if held else []))


def _sequence_binary(op: str, left: Kind, right: Kind) -> Kind:
    if op == "add":
        return _concatenated(left, right)
    if op == "mult":
        times, sequence = (left, right) if as_python(left) else (right, left)
        if isinstance(sequence, Sequence | Elements) and sequence.type in (
            "list",
            "tuple",
        ):
            return _repeated(sequence, times)
    raise Unsure(f"{op} of {left} and {right}")


def _concatenated(left: Kind, right: Kind) -> Kind:
    if not isinstance(left, Sequence | Elements) or not isinstance(
        right, Sequence | Elements
    ):
        raise Unsure(f"{left} + {right}")
    types = {left.type, right.type}
    if not types <= {"list", "tuple", "shape"}:
        raise Unsure(f"{left} + {right}")
    if types == {"list", "tuple"}:
        raise Raises("a list and a tuple do not add")
    result = "shape" if "shape" in types else left.type
    if isinstance(left, Sequence) and isinstance(right, Sequence):
        return Sequence(result, left.items + right.items)
    return Elements(
        result,
        join_all(forget(item) for side in (left, right) for item in inner(side)),
    )


def _repeated(sequence: Sequence | Elements, times: Kind) -> Kind:
    count = constant_int(times)
    number = as_python(times)
    if number is None or number.type not in ("int", "bool"):
        raise Raises(f"a {sequence.type} times {times}")
    if number != times:
        raise Unsure("a list as long as a tensor says")
    if (
        isinstance(sequence, Sequence)
        and count is not None
        and len(sequence.items) * count <= 64
    ):
        return Sequence(sequence.type, sequence.items * count)
    return Elements(sequence.type, join_all(map(forget, inner(sequence))))


# ---- NumPy


def _array_binary(op: str, left: Kind, right: Kind) -> Kind:
    a, b = tensorflow_numpy.operand(left), tensorflow_numpy.operand(right)
    if op == "matmult":
        return tensorflow_numpy.array_or_scalar(
            tensorflow_numpy.promoted(a.dtype, b.dtype), _array_matmul(a.shape, b.shape)
        )
    dtype = tensorflow_numpy.arithmetic(op, _numpy_dtype(left), _numpy_dtype(right))
    return tensorflow_numpy.array_or_scalar(dtype, values.broadcast(a.shape, b.shape))


def _numpy_dtype(kind: Kind) -> str | None:
    """The dtype of an operand; "int", "float" and so on for Python numbers, which yield to others."""
    if isinstance(kind, Python):
        return kind.type
    assert isinstance(kind, Array | Scalar)
    return kind.dtype


def _array_matmul(a: Shape, b: Shape) -> Shape:
    """The shape of a matrix product, in which vectors count as a row and a column that then goes."""
    if a is None or b is None:
        return None
    if not a or not b:
        raise Raises("a matrix product with a scalar")
    stacked = matmul_shape((1, *a) if len(a) == 1 else a, (*b, 1) if len(b) == 1 else b)
    assert stacked is not None
    rows = () if len(a) == 1 else stacked[-2:-1]
    columns = () if len(b) == 1 else stacked[-1:]
    return (*stacked[:-2], *rows, *columns)


# ---- unary


def sign(op: str, operand: Kind) -> Kind | Outcome:
    """`op operand` (usub, uadd, invert) for a kind that is no union."""
    if is_strong(operand):
        return _tensor_unary(op, operand)
    number = as_python(operand)
    if number:
        return _python_unary(op, operand, number)
    if isinstance(operand, Array | Scalar):
        one = tensorflow_numpy.operand(operand)
        if op == "invert" and one.dtype in values.FLOATS | values.COMPLEXES:
            raise Raises(f"~ of {operand}")
        if op != "invert" and one.dtype == "bool":
            raise Raises(f"{op} of {operand}")
        return tensorflow_numpy.array_or_scalar(one.dtype, one.shape)
    if operand == NONE:
        raise Raises(f"{op} of None")
    raise Unsure(f"{op} of {operand}")


def _tensor_unary(op: str, operand: Kind) -> Kind:
    one = values.tensor(operand)
    if op == "uadd":
        raise Raises("+ of a tensor")
    values.accept(
        one.dtype,
        values.INEXACT | values.SIGNED
        if op == "usub"
        else values.INTEGERS | values.BOOL,
    )
    return one


NUMBER_SIGNS: dict[str, Callable[[Any], Any]] = {
    "usub": operator.neg,
    "uadd": operator.pos,
    "invert": lambda number: -number - 1,
}


def _python_unary(op: str, operand: Kind, number: Python) -> Kind:
    if number.type not in NUMBER_TYPES or (
        op == "invert" and number.type in ("float", "complex")
    ):
        raise Raises(f"{op} of {number}")
    if operand != number:
        return weak("int" if number.type == "bool" else number.type)
    if number.known:
        return constant(NUMBER_SIGNS[op](number.value))
    return INT if number.type == "bool" else number
