"""Texts with values in them: f-strings, `"...".format(...)`, `"..." % ...` and `str(...)`, taken apart."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

from .kinds import STR, Function, Kind, Python, Tensor, weak
from .staging import INTS, holds_tensor

if TYPE_CHECKING:
    from .environment import FunctionFacts
    from .evaluation import Evaluation

SPEC = re.compile(r"([<>]?)([+ ]?)(0?)(\d*)(?:\.(\d+))?([dfeFs%]?)")
"""What of Python's format specifications a graph has: align, sign, zero, width, precision, type."""
OLD_SPEC = re.compile(r"%(?:%|([-+ 0]?)(\d*)((?:\.\d+)?)([dfesiF]))")
REALS = ("float32", "float64")
APART = (" ", "\n", "\t", "(", ")", "[", "]", ",")


@dataclass(frozen=True)
class Value:
    """A value in a text, and how `format` is told to show it; "s" is `str` of any value."""

    node: ast.expr
    spec: str = ""


Part = str | Value


def parts(node: ast.expr) -> list[Part] | None:
    """The words and values of a text, in order; None for another expression, and what is formatted in other ways."""
    try:
        match node:
            case ast.JoinedStr(values=values):
                return [_of_f_string(v) for v in values]
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Constant(value=str() as text), attr="format"
                )
            ):
                return list(_formatted(text, node))
            case ast.BinOp(
                left=ast.Constant(value=str() as text), op=ast.Mod(), right=right
            ):
                values = right.elts if isinstance(right, ast.Tuple) else [right]
                return list(_interpolated(text, values))
            case ast.Call(func=ast.Name(id="str"), args=[value], keywords=[]):
                return [Value(value, "s")]
    except ValueError:
        pass
    return None


def values(found: list[Part]) -> list[Value]:
    return [part for part in found if isinstance(part, Value)]


def _of_f_string(part: ast.expr) -> Part:
    match part:
        case ast.Constant(value=str() as text):
            return text
        case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
            return Value(value)
        case ast.FormattedValue(
            value=value,
            conversion=-1,
            format_spec=ast.JoinedStr(values=[ast.Constant(value=str() as spec)]),
        ) if "s" not in spec:
            return Value(value, spec)
    raise ValueError


def _formatted(template: str, call: ast.Call) -> Iterator[Part]:
    keywords = {k.arg: k.value for k in call.keywords}
    if None in keywords or any(isinstance(a, ast.Starred) for a in call.args):
        raise ValueError
    used = 0
    for text, field, spec, conversion in string.Formatter().parse(template):
        yield text
        if field is None:
            continue
        if conversion or "{" in (spec or "") or "s" in (spec or ""):
            raise ValueError
        if field == "" or field.isdecimal():
            place = int(field) if field else used
            used += 1
            if place >= len(call.args):
                raise ValueError
            yield Value(call.args[place], spec or "")
        elif field in keywords:
            yield Value(keywords[field], spec or "")
        else:
            raise ValueError


def _interpolated(template: str, given: list[ast.expr]) -> Iterator[Part]:
    remaining = iter(given)
    end = 0
    for match in OLD_SPEC.finditer(template):
        between = template[end : match.start()]
        if "%" in between:
            raise ValueError
        yield between
        end = match.end()
        flag, width, precision, letter = match.groups()
        if letter is None:
            yield "%"
            continue
        value = next(remaining, None)
        if value is None or (letter == "s" and (flag or width or precision)):
            raise ValueError
        align = "<" if flag == "-" else flag
        yield Value(value, f"{align}{width}{precision}{letter.replace('i', 'd')}")
    if "%" in template[end:] or next(remaining, None) is not None:
        raise ValueError
    yield template[end:]


def kind_of(evaluation: Evaluation, node: ast.expr) -> Kind | None:
    """The kind of a text with tensors in it that the graph makes, since a tensor decides whether; None for others."""
    facts = evaluation.facts
    steered = evaluation.is_staged() or facts.definition.node in facts.exits
    found = parts(node) if steered and not _is_other_call(node, facts) else None
    given = values(found or [])
    if not any(holds_tensor(facts.kind(v.node)) for v in given):
        return None
    shown = _set_apart(found or []) if node in evaluation.shown else []
    fits = [is_exact(facts.kind(v.node), v.spec) for v in given]
    if all(
        f or (v in shown and _is_real(v, facts))
        for v, f in zip(given, fits, strict=True)
    ):
        return weak("str")
    if any(_is_real(v, facts) for v in given):
        reason = "a graph formats floats where their digits are told, as in `:.3f`"
        evaluation.problem(reason, node, "GL210")
    return None


def made_by_python(evaluation: Evaluation, node: ast.expr) -> Kind:
    """The kind of a text with values in it that only Python has."""
    evaluation.problem("it formats a tensor as text", node, "GL210")
    return STR


def _is_other_call(node: ast.expr, facts: FunctionFacts) -> bool:
    """Whether this calls a function of a name that Python's `str` has elsewhere."""
    named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    return named and facts.kind(node.func) != Function("builtins.str")  # type: ignore[attr-defined]


def _set_apart(found: list[Part]) -> list[Value]:
    """The values in a text that stand by themselves, so that `tf.print` shows the same words, but for digits."""
    ends = [" ", *found, " "]
    return [
        part
        for before, part, after in zip(ends, found, ends[2:], strict=False)
        if isinstance(part, Value)
        and isinstance(before, str)
        and isinstance(after, str)
        and before[-1:] in APART
        and after[:1] in APART
    ]


def _is_real(value: Value, facts: FunctionFacts) -> bool:
    """Whether a value is a float that is shown with all its digits."""
    kind = facts.kind(value.node)
    return value.spec in ("", "s") and _is_scalar(kind) and kind.dtype in REALS


def is_exact(kind: Kind, spec: str) -> bool:
    """Whether a graph formats a value as Python does; values of Python are formatted while tracing."""
    if isinstance(kind, Python):
        return True
    match = SPEC.fullmatch(spec)
    if match is None or not _is_scalar(kind):
        return False
    align, sign, zero, width, precision, letter = match.groups()
    held = kind.weak is not None
    if letter == "s" and (spec != "s" or not held):
        return False
    if kind.weak == "str" or kind.dtype == "bool":
        return spec in ("", "s")
    if kind.dtype in INTS and letter in ("", "d", "s"):
        return not precision and sum(map(bool, (align == "<", sign, zero))) < 2
    flags = [align == "<", bool(sign), bool(width) and letter == "%"]
    numbers = kind.dtype in INTS or kind.dtype in REALS
    return numbers and letter in ("f", "e", "F", "%") and not zero and sum(flags) < 2


def _is_scalar(kind: Kind) -> TypeGuard[Tensor]:
    return isinstance(kind, Tensor) and kind.shape == () and not kind.mixed
