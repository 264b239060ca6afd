"""Comparisons of tensors, NumPy arrays, Python values and containers."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from . import tensorflow_numpy
from . import tensorflow_values as values
from .kinds import (
    BOOL,
    NONE,
    UNKNOWN,
    Array,
    Dict,
    Elements,
    Function,
    Kind,
    Mapping,
    Object,
    Python,
    Scalar,
    Sequence,
    Shaped,
    Tensor,
    Type,
    Variable,
    weak,
)
from .operators_arithmetic import NUMBER_TYPES
from .outcome import Outcome, Raises, Unsure
from .tensorflow_values import FALSE, TRUE, as_python, inner, is_strong


def identity(op: str, left: Kind, right: Kind) -> Kind:
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


def equality(op: str, left: Kind, right: Kind) -> Kind:
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
        case Sequence() | Dict():
            return all(map(_only_python, kind.parts))
        case Elements(element=element):
            return _only_python(element)
        case Mapping(key=key, value=value):
            return _only_python(key) and _only_python(value)
    return False


def order(op: str, left: Kind, right: Kind) -> Kind:
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
        return tensorflow_numpy.array_or_scalar("bool", left.shape)
    a, b = tensorflow_numpy.operand(left), tensorflow_numpy.operand(right)
    return tensorflow_numpy.array_or_scalar("bool", values.broadcast(a.shape, b.shape))


def contained(op: str, item: Kind, container: Kind) -> Kind | Outcome:
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
    results = [equality("eq", item, kind) for kind in items]
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
