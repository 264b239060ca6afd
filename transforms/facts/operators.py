"""What Python's operators give: on tensors, NumPy arrays, Python values and containers.

Each function gives None where it does not know; an Outcome with an error where eager mode raises.
Values that depend on tensors but are Python values in eager mode come out weak.
"""

from __future__ import annotations

from enum import Enum

from . import tensorflow_numpy
from . import tensorflow_values as values
from .kind_joins import forget, join_all
from .kinds import (
    BOOL,
    INT,
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
    Python,
    Ragged,
    Rows,
    Scalar,
    Sequence,
    Tensor,
    TensorArray,
    Type,
    Union,
    Variable,
    weak,
)
from .operators_arithmetic import arithmetic, sign
from .operators_comparison import contained, equality, identity, order
from .operators_subscript import subscripted
from .outcome import Outcome, Raises, Unsure, each
from .staging import hold, is_numpy, released
from .tensorflow_values import FALSE, TRUE

SIGNS = {
    "add": "+",
    "sub": "-",
    "mult": "*",
    "div": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmult": "@",
}
"""How operations are written."""


class Truth(Enum):
    """What `if` makes of a value."""

    TRUE = "true"
    FALSE = "false"
    HOST = "host"  # known when Python runs, not here
    TENSOR = "tensor"  # depends on a tensor
    RAISES = "raises"  # a tensor of several elements
    UNKNOWN = "unknown"


def binary(op: str, left: Kind, right: Kind) -> Outcome | None:
    """`left op right`, op being the lowered name of the ast class: add, sub, mult, div, ..."""
    return each(lambda pair: arithmetic(op, *pair), left, right)


def unary(op: str, operand: Kind) -> Outcome | None:
    """`op operand`: not, usub, uadd, invert."""
    return each(lambda one: _unary(op, *one), operand)


def compare(op: str, left: Kind, right: Kind) -> Outcome | None:
    """`left op right`: eq, noteq, lt, lte, gt, gte, is, isnot, in, notin."""
    rules = {"is": identity, "isnot": identity, "in": contained, "notin": contained}
    rule = rules.get(op) or (equality if op in ("eq", "noteq") else order)
    return each(lambda pair: rule(op, *pair), left, right)


def subscript(value: Kind, index: Kind) -> Outcome | None:
    """`value[index]`; slices and tuples of them are Sequences of type slice and tuple."""
    return each(lambda pair: subscripted(*pair), value, index)


def _unary(op: str, operand: Kind) -> Kind | Outcome:
    return _negated(operand) if op == "not" else sign(op, operand)


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


# ---- iteration, length, truth


def iterate(kind: Kind) -> Kind | None:
    """What `for v in kind` gives v, where it is known."""
    if is_numpy(kind):
        element = iterate(released(kind))
        return None if element is None else hold(element)
    match kind:
        case Tensor(weak=None, shape=shape) | Variable(shape=shape):
            if shape == ():
                return None
            return Tensor(kind.dtype, shape[1:] if shape else None)
        case Array(dtype=dtype, shape=shape):
            return tensorflow_numpy.array_or_scalar(dtype, shape[1:]) if shape else None
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
            | Rows(item=element)
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
        case Tensor(weak=None | "numpy", shape=(first, *_)):
            return SIZE if first is None else Python("int", first)
        case Array(shape=(first, *_)):
            return INT if first is None else Python("int", first)
        case Tensor(weak=None, shape=None):
            return SIZE
        case Sequence(items=items) | Dict(items=items):
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
