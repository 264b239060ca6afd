"""GL105 tensor-for: how a `for` of the graph counts, by what it goes over: rows, ranges, several at once, datasets."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from . import datasets, range_counters
from .counter import Counter, bind_row
from .facts.kinds import (
    Dataset,
    Iterator,
    Kind,
    Python,
    Ragged,
    Sequence,
    Tensor,
    Variable,
)
from .facts.staging import is_numpy, is_strong, stage
from .findings import Refusal
from .steps import Code, Step

if TYPE_CHECKING:
    from .planner import Planner


def of(planner: Planner, node: ast.For, carried: list[str]) -> tuple[str, Counter]:
    """How a for loop counts, by what it goes over."""
    kind = planner.facts.kind(node.iter)
    if isinstance(kind, Dataset):
        return datasets.elements(planner, node, node.iter)
    found = _by_builtin(planner, node, carried)
    if found is not None:
        return found
    if isinstance(kind, Iterator):
        return datasets.remaining(planner, node)
    if _has_rows(kind):
        return _rows(planner, node, planner.writer.text(node.iter), kind)
    if isinstance(kind, Sequence) and kind.items:
        return _listed(planner, node, kind)
    raise Refusal(
        f"a loop over {kind} that a tensor ends is not lifted yet", node, "GL105"
    )


def _by_builtin(
    planner: Planner, node: ast.For, carried: list[str]
) -> tuple[str, Counter] | None:
    """How a loop counts that goes over a range, or over others by one of Python's functions."""
    match node.iter:
        case ast.Call(func=function, args=args, keywords=[]) if _is_range(
            planner, function
        ):
            return range_counters.counter(planner, node, args, carried)
        case ast.Call(func=function, args=[_, *_] as parts, keywords=[]) if _is(
            planner, function, "zip"
        ):
            rows = all(_has_rows(planner.facts.kind(p)) for p in parts)
            return _zip(planner, node, parts) if rows else _nested(planner, node)
        case ast.Call(func=function, args=[inner], keywords=[]) if _is(
            planner, function, "reversed"
        ):
            return _reversed(planner, node, inner)
        case ast.Call(func=function, args=[inner], keywords=[]) if _is(
            planner, function, "enumerate"
        ):
            kind = planner.facts.kind(inner)
            if isinstance(kind, Dataset):
                return datasets.elements(planner, node, inner, ".enumerate()")
            if _has_rows(kind):
                return _enumerate(planner, node, inner, carried)
            return _nested(planner, node)
        case ast.Call(func=function, args=[_, *_]) if _is(
            planner, function, "enumerate"
        ):
            return _nested(planner, node)
    return None


def _is(planner: Planner, function: ast.expr, name: str) -> bool:
    return getattr(planner.facts.kind(function), "name", "") == f"builtins.{name}"


def _is_range(planner: Planner, function: ast.expr) -> bool:
    name = getattr(planner.facts.kind(function), "name", "")
    return name in ("builtins.range", "tensorflow.range")


def _listed(planner: Planner, node: ast.For, kind: Sequence) -> tuple[str, Counter]:
    """A Python list whose loop a tensor ends: its items as the rows of one tensor."""
    items = {stage(item) for item in kind.items}
    if len(items) != 1 or not all(
        isinstance(i, Tensor) and not i.mixed and i.dtype for i in items
    ):
        raise Refusal(
            f"a loop over {kind} that a tensor ends is not lifted yet", node, "GL105"
        )
    (item,) = items
    assert isinstance(item, Tensor)
    text = planner.writer.text(node.iter)
    if all(isinstance(i, Python) for i in kind.items):
        rows = f"{planner.tf}.constant({text}, {planner.tf}.{item.dtype})"
    else:
        rows = f"{planner.tf}.stack({text})"
    rest = planner.facts.definition.node.args.vararg
    varies = rest is not None and rest.arg == text
    count = None if varies else len(kind.items)
    return _rows(planner, node, rows, Tensor(item.dtype, (count, *(item.shape or ()))))


def _rows(
    planner: Planner, node: ast.For, text: str, kind: Kind
) -> tuple[str, Counter]:
    before: list[Step] = []
    rows = _once(planner, node, node.iter, text, before)
    index = planner.names.index()
    begin = [bind_row(planner, node.target, f"{rows}[{index}]")]
    return index, Counter(
        f"{planner.tf}.constant(0)",
        f"{index} < {_length(planner, rows, kind)}",
        f"{index} + 1",
        begin,
        before,
    )


def _zip(planner: Planner, node: ast.For, parts: list[ast.expr]) -> tuple[str, Counter]:
    target = node.target
    kinds = [planner.facts.kind(p) for p in parts]
    if (
        not isinstance(target, ast.Tuple)
        or len(target.elts) != len(parts)
        or not all(map(_has_rows, kinds))
    ):
        raise Refusal("this zip is not lifted", node, "GL105")
    before: list[Step] = []
    rows = [_once(planner, node, p, planner.writer.text(p), before) for p in parts]
    index = planner.names.index()
    begin = [
        bind_row(planner, t, f"{r}[{index}]")
        for t, r in zip(target.elts, rows, strict=True)
    ]
    lengths = [_length(planner, r, k) for r, k in zip(rows, kinds, strict=True)]
    limit = _least(planner, lengths, before)
    return index, Counter(
        f"{planner.tf}.constant(0)", f"{index} < {limit}", f"{index} + 1", begin, before
    )


def _least(planner: Planner, lengths: list[str], before: list[Step]) -> str:
    """The text of the least of several lengths, worked out before the loop where it is not known."""
    several = list(dict.fromkeys(lengths))
    if all(length.isdigit() for length in several):
        return str(min(map(int, several)))
    if len(several) == 1:
        return several[0]
    limit = planner.names.fresh("limit")
    before.append(Code(f"{limit} = {planner.tf}.reduce_min([{', '.join(several)}])"))
    return limit


def _reversed(planner: Planner, node: ast.For, inner: ast.expr) -> tuple[str, Counter]:
    if not _has_rows(planner.facts.kind(inner)):
        raise Refusal("this reversed is not lifted", node, "GL105")
    before: list[Step] = []
    rows = _once(planner, node, inner, planner.writer.text(inner), before)
    index = planner.names.index()
    last = _length(planner, rows, planner.facts.kind(inner))
    last = str(int(last) - 1) if last.isdigit() else f"{last} - 1"
    start = f"{planner.tf}.constant({last})" if last.lstrip("-").isdigit() else last
    begin = [bind_row(planner, node.target, f"{rows}[{index}]")]
    return index, Counter(start, f"{index} >= 0", f"{index} - 1", begin, before)


def _enumerate(
    planner: Planner, node: ast.For, inner: ast.expr, carried: list[str]
) -> tuple[str, Counter]:
    target = node.target
    kind = planner.facts.kind(inner)
    if (
        not isinstance(target, ast.Tuple)
        or len(target.elts) != 2
        or not isinstance(target.elts[0], ast.Name)
        or not _has_rows(kind)
    ):
        raise Refusal("this enumerate is not lifted", node, "GL105")
    before: list[Step] = []
    rows = _once(planner, node, inner, planner.writer.text(inner), before)
    counted = target.elts[0].id
    own = counted in carried or counted in planner.assigned(node.body)
    index = planner.names.fresh("index") if own else counted
    begin: list[Step] = [Code(f"{counted} = {index}")] if own else []
    begin.append(bind_row(planner, target.elts[1], f"{rows}[{index}]"))
    limit = _length(planner, rows, kind, "int64")
    return index, Counter(
        f"{planner.tf}.constant(0, {planner.tf}.int64)",
        f"{index} < {limit}",
        f"{index} + 1",
        begin,
        before,
    )


def _nested(planner: Planner, node: ast.For) -> tuple[str, Counter]:
    """`zip` and `enumerate` of each other, of rows and of ranges, by one index."""
    index = planner.names.index()
    before: list[Step] = []
    binds, lengths = _sources(planner, node, node.target, node.iter, index, before)
    limit = _least(planner, lengths, before)
    start = f"{planner.tf}.constant(0, {planner.tf}.int64)"
    return index, Counter(start, f"{index} < {limit}", f"{index} + 1", binds, before)


def _sources(
    planner: Planner,
    node: ast.For,
    target: ast.expr,
    source: ast.expr,
    index: str,
    before: list[Step],
) -> tuple[list[Step], list[str]]:
    """What each iteration binds of a source of the loop, and how long the source is.

    Raises:
        Refusal: the source is none of those, or does not unpack here.
    """
    kind = planner.facts.kind(source)
    if _has_rows(kind):
        rows = _once(planner, node, source, planner.writer.text(source), before)
        length = _length(planner, rows, kind, "int64")
        return [bind_row(planner, target, f"{rows}[{index}]")], [length]
    match source, target:
        case ast.Call(func=function, args=[inner], keywords=[]), _ if _is(
            planner, function, "reversed"
        ) and _has_rows(planner.facts.kind(inner)):
            rows = _once(planner, node, inner, planner.writer.text(inner), before)
            length = _length(planner, rows, planner.facts.kind(inner), "int64")
            row = f"{rows}[{length} - 1 - {index}]"
            return [bind_row(planner, target, row)], [length]
        case ast.Call(func=function, args=parts, keywords=[]), ast.Tuple(
            elts=targets
        ) if _is(planner, function, "zip") and len(parts) == len(targets):
            found = [
                _sources(planner, node, t, p, index, before)
                for t, p in zip(targets, parts, strict=True)
            ]
            return [b for bs, _ in found for b in bs], [
                n for _, ns in found for n in ns
            ]
        case ast.Call(func=function, args=[inner, *rest], keywords=keywords), ast.Tuple(
            elts=[ast.Name(id=counted), element]
        ) if _is(planner, function, "enumerate"):
            binds, lengths = _sources(planner, node, element, inner, index, before)
            starts = [*rest, *(k.value for k in keywords if k.arg == "start")]
            number = index if not starts else f"{index} + {_fixed(planner, starts[0])}"
            return [Code(f"{counted} = {number}"), *binds], lengths
        case ast.Call(func=function, args=[bound], keywords=[]), ast.Name(id=name) if (
            _is(planner, function, "range")
        ):
            limit = range_counters.bound(planner, node, bound, "int64", "limit", before)
            return [Code(f"{name} = {index}")], [limit]
    raise Refusal(
        f"a loop over {kind} that a tensor ends is not lifted yet", node, "GL105"
    )


def _fixed(planner: Planner, node: ast.expr) -> str:
    """The text of a number that Python knows while tracing."""
    kind = planner.facts.kind(node)
    if isinstance(kind, Python) and isinstance(kind.value, int):
        return str(kind.value)
    raise Refusal("where this count starts is not known", node, "GL105")


def _once(
    planner: Planner, node: ast.For, iterated: ast.expr, text: str, before: list[Step]
) -> str:
    """A name for what a loop goes over, which Python evaluates once."""
    plain = not isinstance(planner.facts.kind(iterated), Variable)
    if (
        plain
        and isinstance(iterated, ast.Name)
        and text == iterated.id
        and text not in planner.assigned([node])
    ):
        return text
    if isinstance(planner.facts.kind(iterated), Variable):
        text = f"{planner.tf}.identity({text})"
    name = planner.names.fresh("rows")
    before.append(Code(f"{name} = {text}"))
    return name


def _has_rows(kind: Kind) -> bool:
    """Whether a loop over a value goes over its rows."""
    return is_strong(kind) or is_numpy(kind) or isinstance(kind, Ragged)


def _length(planner: Planner, text: str, kind: Kind, dtype: str = "int32") -> str:
    shape = getattr(kind, "shape", None)
    if shape and shape[0] is not None:
        return str(shape[0])
    if isinstance(kind, Ragged):
        return f"{text}.nrows({planner.tf}.{dtype})"
    if dtype == "int32":
        return f"{planner.tf}.shape({text})[0]"
    return f"{planner.tf}.shape({text}, {planner.tf}.{dtype})[0]"
