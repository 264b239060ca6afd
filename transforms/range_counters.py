"""GL105 tensor-for: how a `for` of the graph counts that goes over a `range` or a `tf.range`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from . import static_shapes
from .counter import Counter, bind_row
from .facts.kinds import Elements, Python, Tensor
from .facts.staging import is_strong, is_tensor
from .facts.syntax import index_parts, is_named, is_negative
from .findings import Refusal, Unseen
from .steps import Code, Step

if TYPE_CHECKING:
    from .planner import Planner

MOST = 2**31 - 1
"""The largest int32."""


def counter(
    planner: Planner, node: ast.For, args: list[ast.expr], carried: list[str]
) -> tuple[str, Counter]:
    if not isinstance(node.target, ast.Name) or not 1 <= len(args) <= 3:
        raise Refusal("this range is not lifted", node, "GL105")
    dtype = _range_dtype(planner, node)
    before: list[Step] = []
    step = 1
    if len(args) == 3:
        kind = planner.facts.kind(args[2])
        if not (
            isinstance(kind, Python) and isinstance(kind.value, int) and kind.value
        ):
            python = isinstance(planner.facts.kind(node.iter), Elements)
            return (_counted if python else _stepped)(planner, node, args, dtype)
        step = kind.value
    if dtype == "int64" and _is_small(planner, node, args, step, carried):
        dtype = "int32"
    first = None if len(args) == 1 else args[0]
    limit = bound(
        planner, node, args[0] if len(args) == 1 else args[1], dtype, "limit", before
    )
    start = _first(planner, first, dtype)
    target = node.target.id
    own = target == "_" or target in carried or target in planner.assigned(node.body)
    index = target
    if own:
        unnamed = target == "_"
        index = planner.names.index() if unnamed else planner.names.fresh("index")
    begin: list[Step] = (
        [] if not own or target == "_" else [Code(f"{target} = {index}")]
    )
    sign = "<" if step > 0 else ">"
    move = f"{index} + {step}" if step > 0 else f"{index} - {-step}"
    most = _count(planner, args)
    test = f"{index} {sign} {limit}"
    return index, Counter(start, test, move, begin, before, most=most)


def _counted(
    planner: Planner, node: ast.For, args: list[ast.expr], dtype: str
) -> tuple[str, Counter]:
    """A Python range whose step a tensor gives, by its length: where it is empty, `tf.range` raises."""
    before: list[Step] = []
    names = ("start", "limit", "step")
    start, limit, step = (
        bound(planner, node, a, dtype, n, before)
        for a, n in zip(args, names, strict=True)
    )
    length = planner.names.fresh("length")
    before.append(Code(f"{length} = -(({start} - {limit}) // {step})"))
    index = planner.names.index()
    return index, Counter(
        _first(planner, None, dtype),
        f"{index} < {length}",
        f"{index} + 1",
        [bind_row(planner, node.target, f"{start} + {index} * {step}")],
        before,
    )


def _stepped(
    planner: Planner, node: ast.For, args: list[ast.expr], dtype: str
) -> tuple[str, Counter]:
    """A `tf.range` whose step a tensor gives: its numbers as the rows of one tensor."""
    if not dtype:
        raise Unseen("the dtype of this range is not known", node, "GL105")
    parts = []
    for argument in args:
        kind, text = planner.facts.kind(argument), planner.writer.text(argument)
        if is_tensor(kind) and getattr(kind, "dtype", None) != dtype:
            text = planner.promotion.cast(text, f"{planner.tf}.{dtype}")
        parts.append(text)
    given = f", dtype={planner.tf}.{dtype}" if dtype != "int32" else ""
    rows = planner.names.fresh("numbers")
    index = planner.names.index()
    return index, Counter(
        f"{planner.tf}.constant(0)",
        f"{index} < {planner.tf}.shape({rows})[0]",
        f"{index} + 1",
        [bind_row(planner, node.target, f"{rows}[{index}]")],
        [Code(f"{rows} = {planner.tf}.range({', '.join(parts)}{given})")],
    )


def _count(planner: Planner, args: list[ast.expr]) -> int | None:
    """How long a range of Python numbers is; None where that is not known."""
    bounds = [getattr(planner.facts.kind(a), "value", None) for a in args]
    known = [b for b in bounds if isinstance(b, int)]
    return len(range(*known)) if len(known) == len(bounds) else None


def _range_dtype(planner: Planner, node: ast.For) -> str:
    kind = planner.facts.kind(node.iter)
    if isinstance(kind, Elements):
        return "int64"
    dtype = getattr(kind, "dtype", None)
    if dtype is None:
        bound = [planner.facts.kind(a) for a in getattr(node.iter, "args", [])]
        if all(
            isinstance(k, Python) or getattr(k, "dtype", None) is None for k in bound
        ):
            return ""
        raise Unseen("the dtype of this range is not known", node, "GL105")
    if dtype not in ("int32", "int64"):
        raise Refusal(f"a range of {dtype} is not lifted", node, "GL105")
    return str(dtype)


def _first(planner: Planner, node: ast.expr | None, dtype: str) -> str:
    if node is None:
        text, kind = "0", None
    else:
        text, kind = planner.writer.text(node), planner.facts.kind(node)
    if kind is not None and is_tensor(kind):
        return (
            text
            if getattr(kind, "dtype", None) == dtype
            else planner.promotion.cast(text, f"{planner.tf}.{dtype}")
        )
    if dtype in ("int32", ""):
        return f"{planner.tf}.constant({text})"
    return f"{planner.tf}.constant({text}, {planner.tf}.{dtype})"


def bound(
    planner: Planner,
    node: ast.For,
    bound: ast.expr,
    dtype: str,
    name: str,
    before: list[Step],
) -> str:
    """The text of a range's limit: evaluated once, as Python does."""
    kind = planner.facts.kind(bound)
    text = planner.writer.text(bound)
    size = static_shapes.as_given(text, planner.tf) if dtype == "int32" else None
    if size is not None:
        text = size
    elif is_tensor(kind) and dtype and getattr(kind, "dtype", None) != dtype:
        text = planner.promotion.cast(text, f"{planner.tf}.{dtype}")
    if isinstance(kind, Python) and _is_static(planner, node, text):
        return text
    if _is_left(planner, node, bound, text):
        return text
    if (
        (
            isinstance(kind, Python)
            or (
                text == getattr(bound, "id", None)
                and text not in planner.assigned(node.body)
            )
        )
        and isinstance(bound, ast.Constant | ast.Name)
        and text not in planner.assigned(node.body)
    ):
        return text
    if not isinstance(bound, ast.Constant) and not is_negative(bound):
        fresh = planner.names.fresh(name)
        before.append(Code(f"{fresh} = {text}"))
        return fresh
    return text


def _is_left(planner: Planner, node: ast.For, bound: ast.expr, text: str) -> bool:
    """Whether a text is the name of a tensor that stands in the bound, and that the loop leaves as it is."""
    named = [n for n in ast.walk(bound) if is_named(n, text)]
    return (
        all(isinstance(planner.facts.kind(n), Tensor) for n in named)
        and bool(named)
        and text not in planner.assigned([node])
    )


def _is_static(planner: Planner, node: ast.For, text: str) -> bool:
    """Whether a text is of static sizes alone, of tensors that the loop leaves as they are."""
    changed = planner.assigned([node])
    sizes = False
    for inner in ast.walk(ast.parse(text, mode="eval").body):
        match inner:
            case ast.Attribute(value=ast.Name(id=name), attr="shape"):
                sizes = True
                if name in changed:
                    return False
            case ast.Name() | ast.Subscript() | ast.Constant() | ast.BinOp():
                pass
            case ast.operator() | ast.expr_context():
                pass
            case _:
                return False
    return sizes


def _is_small(
    planner: Planner,
    node: ast.For,
    args: list[ast.expr],
    step: int,
    carried: list[str],
) -> bool:
    """Whether an int32 can count a range of Python's: its bounds are none that need more, and its number only picks."""
    bounds = args[:2]
    values = [getattr(planner.facts.kind(b), "value", None) for b in bounds]
    numbers = [v for v in values if isinstance(v, int)]
    if any(abs(v) + abs(step) > MOST for v in numbers):
        return False
    if len(numbers) < len(bounds) and abs(step) > 1:
        return False
    others = [b for b, v in zip(bounds, values, strict=True) if not isinstance(v, int)]
    return all(_is_int32(planner, b) for b in others) and _only_picks(
        planner, node, carried
    )


def _is_int32(planner: Planner, node: ast.expr) -> bool:
    """Whether a bound is a tensor of int32, or a size, which TensorFlow gives as one."""
    kind = planner.facts.kind(node)
    if static_shapes.as_given(planner.writer.text(node), planner.tf) is not None:
        return True
    return is_tensor(kind) and getattr(kind, "dtype", None) == "int32"


def _only_picks(planner: Planner, node: ast.For, carried: list[str]) -> bool:
    """Whether the number of a loop is read in it as an index of tensors alone, if at all."""
    assert isinstance(node.target, ast.Name)
    target = node.target.id
    if target == "_":
        return True
    if target in {*carried, *planner.assigned(node.body), *planner.live.captured}:
        return False
    inner = [n for statement in node.body for n in ast.walk(statement)]
    picks = {id(part) for n in inner for part in _picks(planner, n)}
    return all(id(n) in picks for n in inner if is_named(n, target))


def _picks(planner: Planner, node: ast.AST) -> list[ast.expr]:
    """The index in the brackets of a tensor that is read, where no other tensor stands there: they need one dtype."""
    match node:
        case ast.Subscript(value=owner, slice=index, ctx=ast.Load()) if is_strong(
            planner.facts.kind(owner)
        ):
            parts = index_parts(index)
            tensors = [
                p for p in parts if not isinstance(planner.facts.kind(p), Python)
            ]
            return tensors if len(tensors) == 1 else []
    return []
