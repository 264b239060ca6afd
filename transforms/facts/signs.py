"""Signs of values: what is never negative, whatever the tensors hold (NaN apart)."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

from .environment import FunctionFacts
from .kinds import Function, Type
from .syntax import all_bound_names, is_named, own_nodes

NEVER_NEGATIVE = frozenset(
    [
        "tensorflow.square",
        "tensorflow.abs",
        "tensorflow.norm",
        "tensorflow.exp",
        "tensorflow.sqrt",
        "tensorflow.sigmoid",
        "tensorflow.nn.relu",
        "tensorflow.nn.softmax",
        "tensorflow.nn.softplus",
        "tensorflow.nn.sigmoid",
        "tensorflow.math.square",
        "tensorflow.math.abs",
        "tensorflow.math.exp",
        "tensorflow.math.sqrt",
        "tensorflow.math.squared_difference",
        "tensorflow.math.reduce_std",
        "tensorflow.math.reduce_variance",
        "tensorflow.linalg.norm",
        "tensorflow.size",
        "tensorflow.shape",
        "tensorflow.nn.l2_loss",
        "numpy.square",
        "numpy.abs",
        "numpy.exp",
        "numpy.sqrt",
        "numpy.std",
        "numpy.var",
        "numpy.linalg.norm",
        "tensorflow.argmax",
        "tensorflow.argmin",
        "tensorflow.math.argmax",
        "tensorflow.math.argmin",
        "numpy.argmax",
        "numpy.argmin",
        "method.argmax",
        "method.argmin",
        "method.index",
        "method.count",
        "builtins.abs",
        "builtins.len",
        "math.fabs",
        "math.exp",
        "math.sqrt",
        "method.std",
        "method.var",
    ]
)
KEEPING = frozenset(
    [
        "tensorflow.reduce_sum",
        "tensorflow.reduce_mean",
        "tensorflow.reduce_max",
        "tensorflow.reduce_min",
        "tensorflow.math.reduce_sum",
        "tensorflow.math.reduce_mean",
        "tensorflow.math.reduce_max",
        "tensorflow.cast",
        "tensorflow.identity",
        "tensorflow.reshape",
        "tensorflow.squeeze",
        "tensorflow.constant",
        "numpy.sum",
        "numpy.mean",
        "numpy.max",
        "numpy.min",
        "numpy.float32",
        "numpy.float64",
        "builtins.float",
        "builtins.int",
    ]
)
"""Functions that never make a negative of what is none."""
COMPARISONS: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
KEEPING_METHODS = frozenset({"numpy", "item", "sum", "mean", "max", "min", "astype"})


def is_never_negative(node: ast.expr, facts: FunctionFacts) -> bool:
    """Whether a value cannot be below 0."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return value >= 0
        case ast.Name():
            return _of_name(node, facts, is_never_negative)
        case ast.BinOp(left=left, op=ast.Mult(), right=right) if _same(left, right):
            return True
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult() | ast.Div(), right=right):
            return is_never_negative(left, facts) and is_never_negative(right, facts)
        case ast.BinOp(op=ast.Mod(), right=right):
            return is_never_negative(right, facts)
        case ast.IfExp(body=body, orelse=orelse):
            return is_never_negative(body, facts) and is_never_negative(orelse, facts)
        case ast.BinOp(op=ast.Pow(), right=ast.Constant(value=int() as exponent)):
            return exponent % 2 == 0
        case ast.Subscript(value=value):
            return is_never_negative(value, facts)
        case ast.Call(func=function):
            return _of_call(node, function, facts)
    return False


def is_nonzero(node: ast.expr, facts: FunctionFacts) -> bool:
    """Whether a number cannot be 0."""
    if isinstance(node, ast.IfExp):
        return is_nonzero(node.body, facts) and is_nonzero(node.orelse, facts)
    return node in facts.nonzero or is_positive(node, facts)


def is_size(node: ast.expr, facts: FunctionFacts) -> bool:
    """Whether a number is a size of a tensor, or how many it holds."""
    match node:
        case ast.Name():
            return _of_name(node, facts, is_size)
        case ast.Subscript(value=ast.Attribute(attr="shape")):
            return True
        case ast.Subscript(value=ast.Call(func=function)):
            return facts.kind(function) == Function("tensorflow.shape")
        case ast.Call(func=function, args=[inner, *_]):
            kind = facts.kind(function)
            name = kind.name if isinstance(kind, Function | Type) else ""
            if name in ("builtins.int", "builtins.float", "tensorflow.cast"):
                return is_size(inner, facts)
            return name in ("builtins.len", "tensorflow.size")
    return False


def tells_nonzero(test: ast.expr, holds: bool) -> str | None:
    """The name of the number that is not 0 where a test came out so."""
    match test:
        case ast.Name(id=name) if holds:
            return name
        case ast.Compare(
            left=ast.Name(id=name),
            ops=[op],
            comparators=[ast.Constant(value=int() | float() as value)],
        ):
            apply = COMPARISONS.get(type(op))
            return name if apply and apply(0, value) is not holds else None
        case ast.Compare(
            left=ast.Constant(value=int() | float() as value),
            ops=[op],
            comparators=[ast.Name(id=name)],
        ):
            apply = COMPARISONS.get(type(op))
            return name if apply and apply(value, 0) is not holds else None
    return None


def found_nonzero(before: list[ast.stmt]) -> frozenset[str]:
    """The names that are not 0 behind these statements, for those raise where they are."""
    found: set[str] = set()
    for statement in before:
        found -= set(all_bound_names(statement))
        match statement:
            case ast.Assert(test=test):
                holds = True
            case ast.If(test=test, body=[ast.Raise()], orelse=[]):
                holds = False
            case _:
                continue
        tests = [test]
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) == holds:
            tests = test.values
        found |= set(filter(None, (tells_nonzero(t, holds) for t in tests)))
    return frozenset(found)


def nonzero_inside(loop: ast.For) -> str | None:
    """The name of the number that is not 0 in a loop, which counts from 0 or above up to it."""
    match loop.iter:
        case ast.Call(
            func=ast.Name(id="range") | ast.Attribute(attr="range"),
            args=[ast.Name(id=stop)] | [ast.Constant(value=int()), ast.Name(id=stop)],
            keywords=[],
        ):
            return None if stop in all_bound_names(loop) else stop
    return None


def is_positive(node: ast.expr, facts: FunctionFacts) -> bool:
    """Whether a value cannot be 0 or below."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return value > 0
        case ast.Name():
            return _of_name(node, facts, is_positive)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            sides = ((left, right), (right, left))
            return any(
                is_positive(a, facts) and is_never_negative(b, facts) for a, b in sides
            )
        case ast.BinOp(
            left=ast.Constant(value=int() as base), op=ast.Pow(), right=right
        ):
            return base > 0 and is_never_negative(right, facts)
        case ast.Call(func=ast.Name(id="max") as function, args=[_, _, *_] as values):
            builtin = facts.kind(function) == Function("builtins.max")
            return builtin and any(is_positive(v, facts) for v in values)
    return False


def is_never_positive(node: ast.expr, facts: FunctionFacts) -> bool:
    """Whether a value cannot be above 0."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return value <= 0
        case ast.Name():
            return _of_name(node, facts, is_never_positive)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return is_never_negative(operand, facts)
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div(), right=right):
            return is_never_positive(left, facts) and is_never_negative(right, facts)
    return False


def _of_call(node: ast.Call, function: ast.expr, facts: FunctionFacts) -> bool:
    kind = facts.kind(function)
    name = kind.name if isinstance(kind, Function | Type) else ""
    if name in NEVER_NEGATIVE:
        return True
    if name in KEEPING and node.args:
        return is_never_negative(node.args[0], facts)
    if isinstance(function, ast.Attribute) and function.attr in KEEPING_METHODS:
        return is_never_negative(function.value, facts)
    return False


def _of_name(
    node: ast.Name,
    facts: FunctionFacts,
    question: Callable[[ast.expr, FunctionFacts], bool],
) -> bool:
    """The answer for a name that is set at one place only, or starts so and grows."""
    name = node.id
    if name in facts.parameters:
        return False
    body = [*own_nodes(facts.definition.node)]
    stores = [
        n
        for n in body
        if isinstance(n, ast.Name)
        and n.id == name
        and isinstance(n.ctx, ast.Store | ast.Del)
    ]
    values = [
        s.value
        for s in body
        if isinstance(s, ast.Assign) and any(is_named(t, name) for t in s.targets)
    ]
    loops = _counting(name, facts) if question is is_never_negative else []
    if not all(loops) or not (values or loops):
        return False
    if len(stores) == len(values) == 1:
        return question(values[0], facts)
    added = [
        s.value
        for s in body
        if isinstance(s, ast.AugAssign)
        and isinstance(s.op, ast.Add)
        and isinstance(s.target, ast.Name)
        and s.target.id == name
    ]
    return (
        question in (is_positive, is_never_negative)
        and len(stores) == len(values) + len(added) + len(loops)
        and all(isinstance(v, ast.Constant) and question(v, facts) for v in values)
        and all(_is_count(v) for v in added)
    )


def _is_count(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=int() | float() as value):
            return value >= 0
    return False


def _counting(name: str, facts: FunctionFacts) -> list[bool]:
    """For each loop in which a name counts: whether it never does so below 0."""
    found: list[bool] = []
    for node in own_nodes(facts.definition.node):
        match node:
            case ast.For(target=ast.Name(id=target)) if target == name:
                found.append(_is_range_from_0(node.iter, facts))
            case ast.For(
                target=ast.Tuple(elts=[ast.Name(id=target), *_]),
                iter=ast.Call(func=function, args=[_]),
            ) if target == name:
                kind = facts.kind(function)
                found.append(kind == Function("builtins.enumerate"))
    return found


def _is_range_from_0(node: ast.expr, facts: FunctionFacts) -> bool:
    """Whether this is a range of which no number is below 0, in either order."""
    if not isinstance(node, ast.Call):
        return False
    kind = facts.kind(node.func)
    counter = kind.name if isinstance(kind, Function | Type) else ""
    if counter == "builtins.reversed" and len(node.args) == 1:
        return _is_range_from_0(node.args[0], facts)
    if counter not in ("builtins.range", "tensorflow.range"):
        return False
    match node.args:
        case [_]:
            return True
        case [start, _] | [start, _, ast.Constant()]:
            return is_never_negative(start, facts)
        case [_, stop, ast.UnaryOp(op=ast.USub(), operand=ast.Constant())]:
            return ast.unparse(stop) == "-1" or is_never_negative(stop, facts)
    return False


def _same(left: ast.expr, right: ast.expr) -> bool:
    plain = isinstance(left, ast.Name | ast.Attribute)
    return plain and ast.dump(left) == ast.dump(right)
