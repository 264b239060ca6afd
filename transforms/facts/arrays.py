"""NumPy's arrays that are held in tensors: what is done with them, and NumPy's functions of them and of tensors."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from . import methods, numpy_functions, operators
from .calls import Arguments
from .kinds import (
    UNKNOWN,
    Array,
    Elements,
    Function,
    Kind,
    Python,
    Rows,
    Sequence,
    Tensor,
    weak,
)
from .numbers import is_known_nonzero
from .staging import hold, holds_size, holds_tensor, is_numpy, is_tensor, released

if TYPE_CHECKING:
    from .evaluation import Evaluation

ARRAY_DTYPES = frozenset({"float32", "float64", "int32", "int64", "bool"})
"""Of the arrays that a tensor may hold: NumPy and TensorFlow compute alike with them."""


def may_hold(kind: Kind) -> bool:
    """Whether a tensor may hold an array or scalar of this dtype."""
    return getattr(kind, "dtype", None) in ARRAY_DTYPES


def attribute(evaluation: Evaluation, node: ast.Attribute, value: Kind) -> Kind:
    """An attribute of an array that is held in a tensor."""
    if node.attr == "shape":
        sizes = methods.attribute(replace(value, weak=None), "shape")  # type: ignore[call-arg]
        if sizes is not None and isinstance(sizes.kind, Sequence):
            return Sequence("tuple", sizes.kind.items)
    if node.attr == "size" and None in (getattr(value, "shape", None) or (None,)):
        return weak("int")
    if node.attr in ("ndim", "size", "T"):
        found = methods.attribute(released(value), node.attr)
        kind = evaluation.settle(found, f"`.{node.attr}`", node)
        return hold(kind) if node.attr == "T" else kind
    return Function(f"method.{node.attr}", value)


def item(evaluation: Evaluation, node: ast.Subscript, value: Kind, index: Kind) -> Kind:
    """An item or a slice of an array that is held in a tensor; fancy indices mean something else there."""
    parts = index.items if isinstance(index, Sequence) else (index,)
    if isinstance(index, Sequence) and index.type not in ("tuple", "slice"):
        parts = (UNKNOWN,)
    evaluation.operation()
    if any(not _is_basic_index(part) for part in parts):
        evaluation.problem(
            f"the index `{ast.unparse(node.slice)}` of an array is not lifted",
            node,
            "GL206",
        )
        return UNKNOWN
    found = operators.subscript(released(value), all_released(index))
    return hold(evaluation.settle(found, f"`{ast.unparse(node)}`", node))


def may_be_indexed(value: Kind, index: Kind) -> bool:
    """Whether a tensor may hold an array of NumPy that tensors index."""
    parts = index.items if isinstance(index, Sequence) else (index,)
    tuples = not isinstance(index, Sequence) or index.type in ("tuple", "slice")
    return (
        isinstance(value, Array)
        and may_hold(value)
        and tuples
        and any(map(holds_tensor, parts))
        and all(map(_is_basic_index, parts))
    )


def binary(
    evaluation: Evaluation, name: str, left: Kind, right: Kind, node: ast.AST
) -> Kind:
    """NumPy's arithmetic on what is held in tensors; tensors take arrays as they take numbers."""
    found = operators.binary(name, released(left), released(right))
    what = f"{operators.SIGNS.get(name, name)} of {left} and {right}"
    kind = hold(evaluation.settle(found, what, node))
    if any(isinstance(k, Tensor) and k.mixed for k in (left, right)):
        evaluation.problem(f"{what} may be an array or a tensor", node, "GL206")
    dtype = getattr(kind, "dtype", None)
    whole = dtype is not None and not dtype.startswith("float")
    differs = is_numpy(kind) and (
        (name == "floordiv" and not whole)
        or (name in ("floordiv", "mod") and whole and not is_known_nonzero(right))
        or (name in ("add", "mult", "pow") and dtype == "bool")
        or (name == "pow" and whole and not _nonnegative(right))
        or name in ("lshift", "rshift")
        or not may_hold(kind)
    )
    if differs:
        evaluation.problem(
            f"{what} differs between NumPy and TensorFlow", node, "GL206"
        )
    return kind


def call(
    evaluation: Evaluation, node: ast.Call, name: str, arguments: Arguments
) -> Kind:
    """A NumPy function: of tensors, and of arrays that are held in tensors, an operation of the graph."""
    short = name.removeprefix("numpy.")
    found = (
        None
        if arguments.spread
        else numpy_functions.call(short, arguments.positional, arguments.keywords)
    )
    if found is None:
        return evaluation.session.calls.call_external(evaluation, node, name, arguments)
    kind = evaluation.settle(found, f"`{ast.unparse(node.func)}`", node)
    if not any(holds_tensor(k) or holds_size(k) for k in arguments.all):
        return kind
    if short in numpy_functions.REPEATING and not all(map(_is_name, node.args)):
        text = ast.unparse(node.func)
        reason = f"`{text}` is lifted of names alone: give names to what it is given"
        evaluation.problem(reason, node, "GL206")
    held = kind.mapped(hold) if isinstance(kind, Sequence) else hold(kind)
    if is_numpy(held) and not may_hold(held):
        evaluation.problem(f"`{ast.unparse(node.func)}` is not lifted", node, "GL206")
    return held


def _is_name(node: ast.expr) -> bool:
    """Whether an argument may be written more than once."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr="numpy"), args=[]):
            return _is_name(value)
        case ast.Attribute(value=value) | ast.Subscript(value=value):
            return _is_name(value)
    return isinstance(node, ast.Name | ast.Constant)


def method(
    evaluation: Evaluation,
    node: ast.Call,
    receiver: Kind,
    name: str,
    arguments: Arguments,
) -> Kind:
    """A method of an array that is held in a tensor."""
    what = f"`.{name}()` of {receiver}"
    args, kwargs = arguments.positional, arguments.keywords
    found = None
    if numpy_functions.is_method(name):
        found = numpy_functions.call(name, [receiver, *args], kwargs)
    elif name in numpy_functions.OWN_METHODS and not any(
        holds_tensor(k) for k in arguments.all
    ):
        found = methods.method(released(receiver), name, args, kwargs)
    if found is None or found.effects:
        evaluation.problem(f"what {what} gives is not known", node, "GL206")
        return UNKNOWN
    kind = hold(evaluation.settle(found, what, node))
    if is_numpy(kind) and not may_hold(kind):
        evaluation.problem(f"{what} is not lifted", node, "GL206")
    if isinstance(kind, Elements) and isinstance(kind.element, Python):
        return Rows(weak(kind.element.type))
    return kind


def all_released(kind: Kind) -> Kind:
    """A kind with the arrays in it as eager mode has them."""
    return released(kind) if is_numpy(kind) else kind.mapped(all_released)


def _is_basic_index(part: Kind) -> bool:
    """Whether an index means the same for an array and a tensor: ints, slices, None and `...`."""
    if isinstance(part, Sequence) and part.type == "slice":
        return all(map(_is_basic_index, part.items))
    if isinstance(part, Python):
        return part.type in ("int", "None", "ellipsis")
    whole = getattr(part, "dtype", None) in ("int32", "int64")
    return is_tensor(part) and whole and getattr(part, "shape", None) == ()


def _nonnegative(kind: Kind) -> bool:
    return isinstance(kind, Python) and isinstance(kind.value, int) and kind.value >= 0
