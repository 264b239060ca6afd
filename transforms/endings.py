"""The ends of blocks: what is set last, only to be given back, is given back as it is worked out.

`ended = x < 1.0` and `return x, n, ended` are `return x, n, x < 1.0`. A source's own names stay, unless nothing but
the one is given back: a graph that would end with `loss = f(x)` and `return loss` returns `f(x)`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from .facts.syntax import is_named, names_in
from .operands import SIGNS, as_operand
from .source import Source
from .steps import Code, Compound, Define, Keep, Plan, Step, mentioned

INLINE = (
    ast.Attribute,
    ast.BinOp,
    ast.BoolOp,
    ast.Call,
    ast.Compare,
    ast.Constant,
    ast.Name,
    ast.Subscript,
    ast.UnaryOp,
)
"""What reads well among the items of a return."""
PURE = (".cast", ".shape", ".logical_and", ".logical_not", ".logical_or")
"""Functions of TensorFlow that ends of loops and of graphs call, and that change nothing."""
DEFINES = re.compile(r"^(async )?def ", re.MULTILINE)
LATER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.GeneratorExp)
"""Code that may run when the function is over, and read its names then."""


def with_values_given_back(plan: Plan, source: Source, room: int) -> Plan:
    """The plan without names that are only given back.

    Args:
        room: the columns that a line of its function has.
    """
    return replace(
        plan,
        steps=_given_back(plan.steps, source, room),
        shell=_passed_on(plan.shell, source),
        more=[
            replace(core, steps=_given_back(core.steps, source, room))
            for core in plan.more
        ],
    )


def _given_back(steps: Sequence[Step], source: Source, room: int) -> list[Step]:
    """The steps of a function, and of those in it."""
    result: list[Step] = []
    for step in steps:
        match step:
            case Define(body=body):
                step = replace(step, body=_given_back(body, source, room - 4))
            case Compound(headers=[head], blocks=[body]) if DEFINES.search(head):
                step = replace(step, blocks=(_given_back(body, source, room - 4),))
        result.append(step)
    while len(result) > 1 and (last := _joined(result, source, room)):
        result[-2:] = [last]
    return result


def _passed_on(steps: Sequence[Step], source: Source) -> list[Step]:
    """The steps of a shell, which returns what its graph gives where it does nothing else with it."""
    match steps:
        case [*before, Code(origin=None) as call, Keep(node=ast.Return() as leave)] if (
            not source.has_comment([leave])
        ):
            closing = Code(source.segment(leave), leave)
            joined = _joined([*before, call, closing], source, 0)
            return [*before, replace(joined, origin=leave)] if joined else [*steps]
    return [*steps]


def as_expression(steps: Sequence[Step], source: Source) -> str | None:
    """The value of a function that does nothing but return one; None where it does more."""
    match _given_back(steps, source, 0):
        case [Code(text=text)] if text.startswith("return "):
            value = text.removeprefix("return ")
            fits = isinstance(ast.parse(value, mode="eval").body, INLINE)
            return value if fits and "\n" not in value else None
        case [Code(text=copy), *changes, Code(text=closing)]:
            return _changed_dict(copy, changes, closing, source)
    return None


# ---- values that are only given back


def _joined(steps: Sequence[Step], source: Source, room: int) -> Code | None:
    """A return with the value of the name that the statement before it sets; None where that is read elsewhere, too."""
    *before, step, closing = steps
    found = _set(step, source)
    if found is None or not isinstance(closing, Code):
        return None
    name, value = found
    (leave,) = ast.parse(closing.text).body
    if not isinstance(leave, ast.Return) or name in _outlasting(before):
        return None
    origin = step.node if isinstance(step, Keep) else getattr(step, "origin", None)
    origin = closing.origin if origin is None else origin
    match leave.value:
        case ast.Name(id=returned):
            return Code(f"return {value}", origin) if returned == name else None
        case ast.Tuple(elts=items) as whole if name not in source.names:
            place = _place(items, name)
            held = ast.parse(value, mode="eval").body
            pure = _is_pure(held)
            if place is None or name in names_in(held):
                return None
            if not all(_is_plain(item, pure) for item in items[:place]):
                return None
            text = _with_item(closing.text, whole.elts[place], value)
            return Code(text, origin) if len(text) <= room else None
    return None


def _set(step: Step, source: Source) -> tuple[str, str] | None:
    """The one name that a statement sets, and the text of its value; None where it does more, or is commented."""
    text = _line(step, source)
    match ast.parse(text).body:
        case [ast.Assign(targets=[ast.Name(id=name)], value=value)]:
            names_more = any(isinstance(n, ast.NamedExpr) for n in ast.walk(value))
            if isinstance(value, INLINE) and not names_more:
                return name, _part(text, value)
    return None


def _line(step: Step, source: Source) -> str:
    """The text of a simple statement on one line; nothing where it is another one, or commented."""
    match step:
        case Code(text=text, origin=origin):
            pass
        case Keep(node=ast.Assign() | ast.AugAssign() as origin):
            text = source.segment(origin)
        case _:
            return ""
    commented = origin is not None and source.has_comment([origin])
    return "" if commented or "\n" in text else text


def _part(text: str, node: ast.expr) -> str:
    """The text of a part of a line; one in parentheses is told without them."""
    return text.encode()[node.col_offset : node.end_col_offset].decode()


def _outlasting(steps: Iterable[Step]) -> frozenset[str]:
    """The names that code of the source's may read after the function is over, or that are not the function's own."""
    found: set[str] = set()
    for step in steps:
        match step:
            case Keep(node=node):
                found |= _outlasting_in(node)
            case Code(text=text):
                found |= _outlasting_in(ast.parse(text))
            case Define(body=body):
                found |= _outlasting(body)
            case Compound(headers=headers, blocks=blocks):
                defines = any(map(DEFINES.search, headers))
                for block in blocks:
                    found |= mentioned(block) if defines else _outlasting(block)
    return frozenset(found)


def _outlasting_in(node: ast.AST) -> set[str]:
    found: set[str] = set()
    now: set[ast.expr] = set()
    for inner in ast.walk(node):
        match inner:
            case ast.Call(func=ast.Attribute(attr="cond" | "while_loop"), args=args):
                now.update(args)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                found.update(names)
        if isinstance(inner, LATER) and inner not in now:
            found |= names_in(inner)
    return found


def _place(items: Sequence[ast.expr], name: str) -> int | None:
    """Which item of a return a name is, where it is no part of another one."""
    places = [i for i, item in enumerate(items) if is_named(item, name)]
    read = [n for item in items for n in ast.walk(item) if isinstance(n, ast.Name)]
    count = sum(n.id == name for n in read)
    return places[0] if len(places) == count == 1 else None


def _with_item(text: str, item: ast.expr, value: str) -> str:
    """The text of a return with another value for one of its items."""
    line = text.encode()
    end = item.end_col_offset or 0
    return (line[: item.col_offset] + value.encode() + line[end:]).decode()


def _is_plain(node: ast.expr, pure: bool) -> bool:
    """Whether an item of a return may be worked out before another one, which has no effects where it is pure."""
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.BinOp(left=left, right=right):
            return pure and _is_plain(left, pure) and _is_plain(right, pure)
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr="constant"), args=args):
            return all(isinstance(a, ast.Constant | ast.Attribute) for a in args)
    return False


def _is_pure(node: ast.expr) -> bool:
    """Whether an expression has no effects for sure."""
    calls = (n for n in ast.walk(node) if isinstance(n, ast.Call))
    return all(ast.unparse(call.func).endswith(PURE) for call in calls)


# ---- dicts


def _changed_dict(
    copy: str, changes: Sequence[Step], closing: str, source: Source
) -> str | None:
    """A copied dict of which items are set, as a display: `{**counts, "hits": counts["hits"] + 1}`."""
    name = closing.removeprefix("return ")
    if copy != f"{name} = dict({name})":
        return None
    items: dict[str, str] = {}
    for step in changes:
        item = _set_item(step, name, source)
        if item is None or (items and name in names_in(ast.parse(item[1]))):
            return None
        items[item[0]] = item[1]
    return f"{{**{name}{''.join(f', {key}: {items[key]}' for key in items)}}}"


def _set_item(step: Step, owner: str, source: Source) -> tuple[str, str] | None:
    """The key of the item of a dict that a statement sets, and its value, as texts; None where it does anything else."""
    text = _line(step, source)
    match ast.parse(text).body:
        case [ast.Assign(targets=[target], value=value)]:
            operator = None
        case [ast.AugAssign(target=target, op=operator, value=value)]:
            pass
        case _:
            return None
    match target:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant() as key) if (
            name == owner and isinstance(value, INLINE)
        ):
            given = _part(text, value)
            if operator is not None:
                held = as_operand(given, operator, is_right=True)
                given = f"{_part(text, target)} {SIGNS[type(operator)]} {held}"
            return _part(text, key), given
    return None
