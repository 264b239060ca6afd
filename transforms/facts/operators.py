"""What Python's operators give: on tensors, NumPy arrays, Python values and containers.

Each function gives None where it does not know; an Outcome with an error where eager mode raises.
Values that depend on tensors but are Python values in eager mode come out weak.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from enum import Enum
from typing import Any

from . import tensorflow_numpy
from . import tensorflow_values as values
from .kinds import (
    BOOL,
    FLOAT,
    INT,
    NONE,
    SIZE,
    STR,
    UNKNOWN,
    Array,
    Dataset,
    Dict,
    Elements,
    Function,
    Iterator,
    Kind,
    Mapping,
    Module,
    Object,
    Python,
    Ragged,
    Scalar,
    Sequence,
    Shape,
    Shaped,
    Tensor,
    TensorArray,
    Type,
    Union,
    Variable,
    forget,
    join_all,
    members,
    python,
    weak,
)
from .outcome import Outcome, Raises, Unsure, failure, outcome
from .tensorflow_values import as_python, constant_int, constant_str, inner, is_strong

TRUE, FALSE = Python("bool", True), Python("bool", False)
NUMBER_TYPES = ("bool", "int", "float", "complex")
LONGEST_TEXT = 200
WIDEST_INT = 2**63


class Truth(Enum):
    """What `if` makes of a value."""

    TRUE = "true"
    FALSE = "false"
    HOST = "host"  # known when Python runs, not here
    TENSOR = "tensor"  # depends on a tensor
    RAISES = "raises"  # a tensor of several elements
    UNKNOWN = "unknown"


# ---- the entry points


def binary(op: str, left: Kind, right: Kind) -> Outcome | None:
    """`left op right`, op being the lowered name of the ast class: add, sub, mult, div, ..."""
    return each(lambda pair: _binary(op, *pair), left, right)


def unary(op: str, operand: Kind) -> Outcome | None:
    """`op operand`: not, usub, uadd, invert."""
    return each(lambda one: _unary(op, *one), operand)


def compare(op: str, left: Kind, right: Kind) -> Outcome | None:
    """`left op right`: eq, noteq, lt, lte, gt, gte, is, isnot, in, notin."""
    rules = {"is": _identity, "isnot": _identity, "in": _contained, "notin": _contained}
    rule = rules.get(op) or (_equality if op in ("eq", "noteq") else _order)
    return each(lambda pair: rule(op, *pair), left, right)


def subscript(value: Kind, index: Kind) -> Outcome | None:
    """`value[index]`; slices and tuples of them are Sequences of type slice and tuple."""
    return each(lambda pair: _subscript(*pair), value, index)


def each(
    rule: Callable[[tuple[Kind, ...]], Kind | Outcome], *kinds: Kind
) -> Outcome | None:
    """The rule's outcome for every combination of the members of the kinds, joined.

    None where one isn't known, or where some raise and others don't.
    """
    found: list[Outcome] = []
    try:
        for combination in values.every_member(kinds):
            try:
                result = rule(combination)
                found.append(result if isinstance(result, Outcome) else Outcome(result))
            except Raises as reason:
                found.append(failure(str(reason)))
    except Unsure:
        return None
    failed = [one for one in found if one.error]
    if failed:
        return failed[0] if len(failed) == len(found) else None
    return Outcome(
        join_all(one.kind for one in found),
        frozenset().union(*(one.effects for one in found)),
    )


# ---- arithmetic


def _binary(op: str, left: Kind, right: Kind) -> Kind | Outcome:
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
    a, b = _array_operand(left), _array_operand(right)
    if op == "matmult":
        return array_or_scalar(
            tensorflow_numpy.promoted(a.dtype, b.dtype), _array_matmul(a.shape, b.shape)
        )
    dtype = tensorflow_numpy.arithmetic(op, _numpy_dtype(left), _numpy_dtype(right))
    return array_or_scalar(dtype, values.broadcast(a.shape, b.shape))


def _array_operand(kind: Kind) -> Array:
    """An operand of NumPy arithmetic as an array."""
    if isinstance(kind, Array):
        return kind
    if isinstance(kind, Scalar):
        return Array(kind.dtype, ())
    if isinstance(kind, Python) and kind.type in NUMBER_TYPES:
        return Array(None, ())
    raise Unsure(f"NumPy arithmetic on {kind}")


def _numpy_dtype(kind: Kind) -> str | None:
    """The dtype of an operand; "int", "float" and so on for Python numbers, which yield to others."""
    if isinstance(kind, Python):
        return kind.type
    assert isinstance(kind, Array | Scalar)
    return kind.dtype


def array_or_scalar(dtype: str | None, shape: Shape) -> Kind:
    """What NumPy gives for a result: a scalar where it has no dimensions."""
    if shape is None:
        return join_all((Array(dtype), Scalar(dtype)))
    return Array(dtype, shape) if shape else Scalar(dtype)


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


def _unary(op: str, operand: Kind) -> Kind | Outcome:
    if op == "not":
        return _negated(operand)
    if is_strong(operand):
        return _tensor_unary(op, operand)
    number = as_python(operand)
    if number:
        return _python_unary(op, operand, number)
    if isinstance(operand, Array | Scalar):
        one = _array_operand(operand)
        if op == "invert" and one.dtype in values.FLOATS | values.COMPLEXES:
            raise Raises(f"~ of {operand}")
        if op != "invert" and one.dtype == "bool":
            raise Raises(f"{op} of {operand}")
        return array_or_scalar(one.dtype, one.shape)
    if operand == NONE:
        raise Raises(f"{op} of None")
    raise Unsure(f"{op} of {operand}")


def _negated(operand: Kind) -> Kind:
    match truth(operand):
        case Truth.TRUE:
            return FALSE
        case Truth.FALSE:
            return TRUE
        case Truth.HOST:
            return BOOL
        case Truth.TENSOR:
            return weak("bool")
        case Truth.RAISES:
            raise Raises("the truth of a tensor of several elements")
    raise Unsure(f"not {operand}")


def _tensor_unary(op: str, operand: Kind) -> Kind:
    one = values.tensor(operand)
    if op == "uadd":
        raise Raises("+ of a tensor")
    values.accept(
        one.dtype, values.NUMBERS if op == "usub" else values.INTEGERS | values.BOOL
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


# ---- comparisons


def _identity(op: str, left: Kind, right: Kind) -> Kind:
    same = _is_same(left, right)
    if same is None:
        return _maybe_same(left, right)
    return TRUE if same == (op == "is") else FALSE


def _is_same(left: Kind, right: Kind) -> bool | None:
    if UNKNOWN in (left, right):
        return None
    if NONE in (left, right):
        return left == right
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Python) and one.type == "bool" and one.known:
            if isinstance(other, Python) and (other.type != "bool" or other.known):
                return one == other
            if as_python(other) is None:
                return False
    if isinstance(left, Type | Function) and isinstance(right, Type | Function):
        return left.name == right.name if type(left) is type(right) else False
    if type(left) is not type(right) and not as_python(left) and not as_python(right):
        return (
            False
            if not isinstance(left, Object) and not isinstance(right, Object)
            else None
        )
    return None


def _maybe_same(left: Kind, right: Kind) -> Kind:
    held = [side for side in (left, right) if as_python(side) not in (None, side)]
    if not held:
        return BOOL
    if TRUE in (left, right) and held == [weak("bool")]:
        return weak("bool")
    raise Unsure(f"{left} is {right}")


def _equality(op: str, left: Kind, right: Kind) -> Kind:
    if is_strong(left) or is_strong(right):
        return _tensor_equality(op, left, right)
    if as_python(left) and as_python(right):
        return _python_comparison(op, left, right)
    if isinstance(left, Array | Scalar) or isinstance(right, Array | Scalar):
        return _array_comparison(op, left, right)
    equal = _known_equal(left, right)
    if equal is not None:
        return TRUE if equal == (op == "eq") else FALSE
    if _only_python(left) and _only_python(right):
        return BOOL
    raise Unsure(f"{left} == {right}")


def _tensor_equality(op: str, left: Kind, right: Kind) -> Kind:
    if NONE in (left, right):
        if isinstance(left, Variable) or isinstance(right, Variable):
            raise Raises("a Variable compared with None")
        return FALSE if op == "eq" else TRUE
    a, b = values.common((left, right))
    values.accept(values.same_dtype(a.dtype, b.dtype), values.EVERY)
    try:
        return Tensor("bool", values.broadcast(a.shape, b.shape))
    except Raises:
        return Tensor("bool", ())


def _known_equal(left: Kind, right: Kind) -> bool | None:
    """Are they equal, where that is sure?"""
    if NONE in (left, right):
        return left == right
    if "dtype" in (getattr(left, "type", None), getattr(right, "type", None)):
        a, b = values.dtype_of(left), values.dtype_of(right)
        return a == b if a and b else None
    if isinstance(left, Type) and isinstance(right, Type):
        return left.name == right.name
    if isinstance(left, Sequence) and isinstance(right, Sequence):
        if left.type != right.type and "shape" not in (left.type, right.type):
            return False
        if len(left.items) != len(right.items):
            return False
        known = all(isinstance(k, Python) and k.known for k in left.items + right.items)
        return (
            tuple(_value(k) for k in left.items)
            == tuple(_value(k) for k in right.items)
            if known
            else None
        )
    return None


def _value(kind: Kind) -> object:
    assert isinstance(kind, Python)
    return kind.value


def _only_python(kind: Kind) -> bool:
    """Is it made of Python values alone, which Python compares to a bool?"""
    match kind:
        case Python():
            return True
        case Sequence(items=items):
            return all(map(_only_python, items))
        case Elements(element=element):
            return _only_python(element)
        case Dict(items=items):
            return all(_only_python(value) for _, value in items)
        case Mapping(key=key, value=value):
            return _only_python(key) and _only_python(value)
    return False


def _order(op: str, left: Kind, right: Kind) -> Kind:
    if is_strong(left) or is_strong(right):
        a, b = values.common((left, right))
        values.accept(values.same_dtype(a.dtype, b.dtype), values.REALS)
        return Tensor("bool", values.broadcast(a.shape, b.shape))
    if as_python(left) and as_python(right):
        return _python_comparison(op, left, right)
    if isinstance(left, Array | Scalar) or isinstance(right, Array | Scalar):
        return _array_comparison(op, left, right)
    if NONE in (left, right):
        raise Raises(f"{op} of {left} and {right}")
    if _only_python(left) and _only_python(right) and type(left) is type(right):
        return BOOL
    raise Unsure(f"{op} of {left} and {right}")


COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "noteq": operator.ne,
    "lt": operator.lt,
    "lte": operator.le,
    "gt": operator.gt,
    "gte": operator.ge,
}


def _python_comparison(op: str, left: Kind, right: Kind) -> Kind:
    a, b = as_python(left), as_python(right)
    assert a and b
    numbers = [side.type in NUMBER_TYPES for side in (a, b)]
    if numbers[0] != numbers[1] or (not numbers[0] and a.type != b.type):
        if op in ("eq", "noteq"):
            return TRUE if op == "noteq" else FALSE
        raise Raises(f"{op} of {a} and {b}")
    if "complex" in (a.type, b.type) and op not in ("eq", "noteq"):
        raise Raises(f"{op} of complex numbers")
    if left != a or right != b:
        return weak("bool")
    return (
        Python("bool", COMPARED[op](a.value, b.value)) if a.known and b.known else BOOL
    )


def _array_comparison(op: str, left: Kind, right: Kind) -> Kind:
    if NONE in (left, right) and op not in ("eq", "noteq"):
        raise Raises(f"{op} of {left} and {right}")
    if right == NONE and isinstance(left, Array):
        return array_or_scalar("bool", left.shape)
    a, b = _array_operand(left), _array_operand(right)
    return array_or_scalar("bool", values.broadcast(a.shape, b.shape))


def _contained(op: str, item: Kind, container: Kind) -> Kind | Outcome:
    found = _found(item, container)
    if found is None:
        return BOOL
    if isinstance(found, bool):
        return TRUE if found == (op == "in") else FALSE
    return found


def _found(item: Kind, container: Kind) -> bool | Kind | None:
    """Whether the item is in the container: known, weak, or (None) known only when Python runs."""
    match container:
        case Python(type="str" | "bytes" as text):
            if not isinstance(item, Python) or item.type not in ("str", "bytes", "int"):
                raise Unsure(f"{item} in {container}")
            if item.type == text == "str" and item.known and container.known:
                return str(item.value) in str(container.value)
            return None
        case Tensor() | Variable():
            return _found_in_tensor(item, container)
        case Sequence() | Elements(type="list" | "tuple" | "shape"):
            return _found_among(item, inner(container))
        case Elements(type="set") | Dict() | Mapping():
            return _found_by_hash(item, container)
        case Array(shape=shape) if shape and isinstance(item, Python | Scalar):
            return None
    raise Unsure(f"{item} in {container}")


def _found_in_tensor(item: Kind, container: Shaped) -> Kind:
    if container.shape == () and not (
        isinstance(container, Tensor) and container.weak == "str"
    ):
        raise Raises("in a scalar")
    if container.shape is None or len(container.shape) != 1:
        raise Unsure("in a tensor of several dimensions")
    _tensor_equality("eq", item, Tensor(container.dtype, ()))
    return weak("bool")


def _found_among(item: Kind, items: tuple[Kind, ...]) -> bool | Kind | None:
    if isinstance(item, Python) and all(isinstance(kind, Python) for kind in items):
        known = [
            kind.value for kind in items if isinstance(kind, Python) and kind.known
        ]
        return item.value in known if item.known and len(known) == len(items) else None
    results = [_equality("eq", item, kind) for kind in items]
    if all(
        (isinstance(r, Tensor) and r.shape in ((), (1,))) or r in (TRUE, FALSE, BOOL)
        for r in results
    ):
        return weak("bool") if any(isinstance(r, Tensor) for r in results) else None
    raise Unsure("in a list of tensors")


def _found_by_hash(item: Kind, container: Kind) -> bool | Kind | None:
    if is_strong(item) and not isinstance(item, Variable):
        raise Raises("a tensor is not hashable")
    if not isinstance(item, Python):
        number = as_python(item)
        if number and isinstance(container, Elements | Mapping):
            return weak("bool")
        raise Unsure(f"{item} in {container}")
    if isinstance(container, Dict):
        keys = [key for key, _ in container.items]
        return item.value in keys if item.known else None
    return None


# ---- subscripts


def _subscript(value: Kind, index: Kind) -> Kind | Outcome:
    match value:
        case Tensor() | Variable() if is_strong(value):
            return _tensor_subscript(values.tensor(value), index)
        case Array():
            return _array_subscript(value, index)
        case Sequence() | Elements():
            return _sequence_subscript(value, index)
        case Dict() | Mapping():
            return _dict_subscript(value, index)
        case Python(type="str" | "bytes"):
            return _text_subscript(value, index)
        case Python(type="int" | "float" | "bool" | "None"):
            raise Raises(f"a subscript of {value}")
    raise Unsure(f"{value}[{index}]")


def _tensor_subscript(value: Tensor, index: Kind) -> Kind:
    if (
        isinstance(index, Tensor | Array)
        and index.dtype == "bool"
        and not is_weak(index)
    ):
        return Tensor(value.dtype, masked_shape(value.shape, index.shape))
    parts = (
        index.items
        if isinstance(index, Sequence) and index.type in ("tuple", "list")
        else (index,)
    )
    for part in parts:
        _check_index(part)
    return Tensor(value.dtype, indexed_shape(value.shape, parts))


def is_weak(kind: Kind) -> bool:
    return isinstance(kind, Tensor) and kind.weak is not None


def masked_shape(shape: Shape, mask: Shape) -> Shape:
    """The shape of what a mask leaves of a tensor."""
    if mask == ():
        raise Raises("a mask without dimensions")
    if shape is None or mask is None:
        return None
    if len(mask) > len(shape):
        raise Raises("a mask of more dimensions")
    values.equal_shapes(shape[: len(mask)], mask)
    return (None, *shape[len(mask) :])


def _check_index(part: Kind) -> None:
    """Raise where TensorFlow does not take it in a subscript."""
    match part:
        case Sequence(type="slice", items=bounds):
            for bound in bounds:
                if bound != NONE:
                    _check_index(bound)
        case Python(type="int" | "ellipsis" | "None") | Tensor(weak="int"):
            pass
        case Python(type="bool") | Tensor(weak="bool"):
            raise Unsure("a bool as index")
        case Python() | Sequence() | Elements() | Dict() | Mapping():
            raise Raises(f"{part} as an index of a tensor")
        case Tensor(dtype=dtype, shape=shape) | Variable(dtype=dtype, shape=shape):
            if shape is None or dtype is None:
                raise Unsure("an index of unknown rank")
            if shape != () or dtype not in ("int16", "int32", "int64"):
                raise Raises(f"{part} as an index of a tensor")
        case Scalar(dtype=dtype) if dtype in values.INTEGERS:
            pass
        case _ if part != SIZE:
            raise Unsure(f"{part} as an index")


def indexed_shape(shape: Shape, parts: tuple[Kind, ...]) -> Shape:
    """The shape a basic subscript leaves: integers, slices, None and an ellipsis."""
    if shape is None:
        return None
    taken = sum(1 for part in parts if part != NONE and not _is_ellipsis(part))
    if taken > len(shape):
        raise Raises(f"{taken} indices of {len(shape)} dimensions")
    if sum(map(_is_ellipsis, parts)) > 1:
        raise Raises("two ellipses")
    result: list[int | None] = []
    rest = list(shape)
    for part in parts:
        if _is_ellipsis(part):
            keep = len(shape) - taken
            result += rest[:keep]
            rest = rest[keep:]
        elif part == NONE:
            result.append(1)
        elif isinstance(part, Sequence):
            result.append(sliced_size(rest.pop(0), part))
        else:
            _check_bounds(rest.pop(0), constant_int(part))
    return (*result, *rest)


def _is_ellipsis(part: Kind) -> bool:
    return isinstance(part, Python) and part.type == "ellipsis"


def _check_bounds(size: int | None, position: int | None) -> None:
    if size is not None and position is not None and not -size <= position < size:
        raise Raises(f"index {position} of {size}")


def sliced_size(size: int | None, part: Sequence) -> int | None:
    """How many of the size a slice takes; None where that isn't known."""
    bounds = [None if bound == NONE else constant_int(bound) for bound in part.items]
    lower, upper, step = part.items
    if bounds[2] == 0:
        raise Raises("a slice step of zero")
    if (lower, upper) == (NONE, NONE) and (step == NONE or bounds[2] in (1, -1)):
        return size
    unknown = any(
        b is None and bound != NONE for b, bound in zip(bounds, part.items, strict=True)
    )
    if size is None or unknown:
        return None
    return len(range(*slice(*bounds).indices(size)))


def _array_subscript(value: Array, index: Kind) -> Kind | Outcome:
    parts = (
        index.items
        if isinstance(index, Sequence) and index.type == "tuple"
        else (index,)
    )
    effects = (
        ["host"] if any(isinstance(part, Tensor | Variable) for part in parts) else []
    )
    if len(parts) == 1 and isinstance(parts[0], Array):
        return _fancy(value, parts[0])
    if (
        len(parts) == 1
        and isinstance(parts[0], Tensor | Variable)
        and parts[0].shape != ()
    ):
        return outcome(_fancy(value, Array(parts[0].dtype, parts[0].shape)), "host")
    if (
        len(parts) == 1
        and isinstance(parts[0], Sequence | Elements)
        and parts[0].type == "list"
    ):
        chosen = values.tensor(parts[0])
        return _fancy(
            value,
            Array("int64" if chosen.dtype == "int32" else chosen.dtype, chosen.shape),
        )
    if any(
        isinstance(part, Array | Elements)
        or getattr(part, "type", "") in ("list", "bool")
        for part in parts
    ):
        raise Unsure("fancy indexing")
    for part in parts:
        _check_index(part)
    return outcome(
        array_or_scalar(value.dtype, indexed_shape(value.shape, parts)), *effects
    )


def _fancy(value: Array, index: Array) -> Kind:
    if index.dtype == "bool":
        return Array(value.dtype, masked_shape(value.shape, index.shape))
    if index.dtype not in values.INTEGERS or value.shape is None or index.shape is None:
        raise Unsure("fancy indexing")
    if not value.shape:
        raise Raises("an index of a scalar")
    return array_or_scalar(value.dtype, (*index.shape, *value.shape[1:]))


def _sequence_subscript(value: Sequence | Elements, index: Kind) -> Kind | Outcome:
    if isinstance(value, Elements) and value.type == "set":
        raise Raises("a subscript of a set")
    if isinstance(index, Sequence) and index.type == "slice":
        return _sliced_sequence(value, index)
    number = as_python(index)
    if (number is not None and number.type not in ("int", "bool")) or index == NONE:
        raise Raises(f"{index} as an index of a {value.type}")
    position = constant_int(index)
    if isinstance(value, Sequence) and position is not None:
        if not -len(value.items) <= position < len(value.items):
            raise Raises(f"index {position} of {len(value.items)}")
        return value.items[position]
    if isinstance(value, Sequence) and not value.items:
        raise Raises("an index of an empty sequence")
    found = join_all(map(forget, inner(value)))
    if number == index or isinstance(index, Scalar):
        return found
    return _looked_up(found, index)


def _looked_up(found: Kind, index: Kind) -> Kind | Outcome:
    """What a tensor picks from Python's values: numbers become weak, tensors stay what they are."""
    if is_strong(index) and not (index.shape == () and index.dtype in values.INTEGERS):
        if index.shape is None or index.dtype is None:
            raise Unsure("an index of unknown kind")
        raise Raises(f"{index} as an index")
    if as_python(index) is None and not is_strong(index):
        raise Unsure(f"{index} as an index")
    picked = [_held(kind) for kind in members(found)]
    if all(kind is not None for kind in picked):
        return join_all(kind for kind in picked if kind)
    return outcome(found, "host")


def _held(kind: Kind) -> Kind | None:
    """The value as one that lives in a graph; None for a value that can't."""
    if isinstance(kind, Tensor):
        return kind
    if isinstance(kind, Variable):
        return Tensor(kind.dtype, kind.shape)
    number = as_python(kind)
    return (
        weak(number.type)
        if number and number.type in ("int", "float", "bool", "str")
        else None
    )


def _sliced_sequence(value: Sequence | Elements, index: Sequence) -> Kind:
    if any(bound != NONE and not isinstance(bound, Python) for bound in index.items):
        raise Unsure("a slice by tensors")
    if isinstance(value, Elements):
        return value
    bounds = [None if bound == NONE else constant_int(bound) for bound in index.items]
    if any(
        b is None and bound != NONE
        for b, bound in zip(bounds, index.items, strict=True)
    ):
        return Elements(value.type, join_all(map(forget, value.items)))
    return Sequence(value.type, value.items[slice(*bounds)])


def _dict_subscript(value: Dict | Mapping, index: Kind) -> Kind | Outcome:
    if is_strong(index) and isinstance(index, Tensor):
        raise Raises("a tensor is not hashable")
    number = as_python(index)
    if number is None:
        raise Unsure(f"{index} as a key")
    if isinstance(value, Mapping):
        return value.value if number == index else _looked_up(value.value, index)
    key = constant_str(index)
    if key is not None:
        found = value.get(key)
        if found is None:
            raise Raises(f"no key {key!r}")
        return found
    if number != index:
        raise Unsure("a dict looked up by a tensor")
    return join_all(forget(kind) for _, kind in value.items)


def _text_subscript(value: Python, index: Kind) -> Kind:
    if isinstance(index, Python) and index.type == "int":
        return Python("int") if value.type == "bytes" else STR
    if isinstance(index, Sequence) and index.type == "slice":
        return Python(value.type)
    raise Unsure(f"{value}[{index}]")


# ---- iteration, length, truth


def iterate(kind: Kind) -> Kind | None:
    """What `for v in kind` gives v, where it is known."""
    match kind:
        case Tensor(weak=None, shape=shape) | Variable(shape=shape):
            if shape == ():
                return None
            return Tensor(kind.dtype, shape[1:] if shape else None)
        case Array(dtype=dtype, shape=shape):
            return array_or_scalar(dtype, shape[1:]) if shape else None
        case Ragged(dtype=dtype, shape=shape) if shape and len(shape) > 1:
            return (
                Tensor(dtype, (None,)) if len(shape) == 2 else Ragged(dtype, shape[1:])
            )
        case Sequence(items=items) if kind.type != "slice":
            return join_all(map(forget, items)) if items else None
        case (
            Elements(element=element)
            | Dataset(element=element)
            | Iterator(element=element)
        ):
            return element
        case Dict():
            return STR
        case Mapping(key=key):
            return key
        case Python(type="str"):
            return STR
        case Python(type="bytes"):
            return INT
        case Union(members=parts):
            found = [iterate(part) for part in parts]
            return None if None in found else join_all(one for one in found if one)
    return None


def length(kind: Kind) -> Kind:
    """The kind of `len(kind)`: an int, a size that isn't static, or unknown."""
    match kind:
        case Tensor(weak=None, shape=(first, *_)):
            return SIZE if first is None else Python("int", first)
        case Array(shape=(first, *_)):
            return INT if first is None else Python("int", first)
        case Tensor(weak=None, shape=None):
            return SIZE
        case Sequence(type="tuple" | "list" | "shape", items=items) | Dict(items=items):
            return Python("int", len(items))
        case Elements() | Mapping() | Array(shape=None):
            return INT
        case Python(type="str" | "bytes", value=value):
            return Python("int", len(value)) if isinstance(value, str | bytes) else INT
    return UNKNOWN


def truth(kind: Kind) -> Truth:
    """What `if kind` makes of it."""
    match kind:
        case Python(type=name, value=value):
            if name in ("dtype", "ellipsis"):
                return Truth.TRUE
            if not kind.known:
                return Truth.HOST
            return Truth.TRUE if value else Truth.FALSE
        case Tensor(weak=None, shape=shape) | Variable(shape=shape):
            many = shape is not None and values.product(shape) not in (1, None)
            return Truth.RAISES if many else Truth.TENSOR
        case Tensor():
            return Truth.TENSOR
        case Array(shape=shape):
            many = shape is not None and values.product(shape) not in (1, None)
            return Truth.RAISES if many else Truth.HOST
        case Scalar():
            return Truth.HOST
        case Sequence(type="shape" | "slice"):
            return Truth.TRUE
        case Sequence(items=items) | Dict(items=items):
            return Truth.TRUE if items else Truth.FALSE
        case Elements() | Mapping():
            return Truth.HOST
        case Function() | Type() | Module() | Dataset() | TensorArray():
            return Truth.TRUE
        case Union(members=parts):
            return _joined_truth({truth(part) for part in parts})
    return Truth.TENSOR if kind == SIZE else Truth.UNKNOWN


def _joined_truth(found: set[Truth]) -> Truth:
    if len(found) == 1:
        return found.pop()
    return (
        Truth.HOST if found <= {Truth.TRUE, Truth.FALSE, Truth.HOST} else Truth.UNKNOWN
    )
