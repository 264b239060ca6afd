"""GL104 tensor-while and GL105 tensor-for: a loop that a tensor decides becomes `tf.while_loop`."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from . import iterated, static_shapes
from .facts.kinds import (
    NONE,
    UNKNOWN,
    Dict,
    Kind,
    Maybe,
    Rows,
    Sequence,
    Tensor,
    TensorArray,
    Variable,
)
from .facts.liveness import all_reads
from .facts.staging import fits_graph, stage
from .facts.syntax import bound_names
from .findings import Refusal
from .rule import ITERATION, Rule
from .steps import Code, Define, Step, with_origin

if TYPE_CHECKING:
    from .planner import Planner


class TensorWhile(Rule):
    """A `while` whose test is a tensor.

    What it finds:
        `while` loops that a tensor ends.

    Why it matters:
        Every iteration runs op by op from Python and waits for the test. In a graph the loop variables need one
        dtype and shape from the start, which AutoGraph does not infer.

    Before:
        import tensorflow as tf

        def f(x: tf.Tensor):
            steps = 0
            while x > 1.0:
                x = x / 2.0
                steps += 1
            return x, steps

        ARGS = [(tf.constant(37.0),), (tf.constant(2.0),), (tf.constant(0.5),)]

    After:
        import tensorflow as tf

        @tf.function(autograph=False, input_signature=[tf.TensorSpec([], tf.float32)])
        def f_graph(x: tf.Tensor):
            def body(x, steps):
                x = x / 2.0
                steps += 1
                return x, steps

            x, steps = tf.while_loop(
                lambda x, steps: x > 1.0, body, (x, tf.constant(0, tf.int64))
            )
            return x, steps


        def f(x: tf.Tensor):
            x, steps = f_graph(x)
            return x, int(steps)

        ARGS = [(tf.constant(37.0),), (tf.constant(2.0),), (tf.constant(0.5),)]

    When it is left alone:
        Loop variables that no tensor can hold, and bodies that raise, change a caller's objects, or call what is
        not known. What can be done: set a variable before the loop to a tensor of the dtype and rank that it has
        in it, and return what changed instead of changing it.
    """

    code = "GL104"
    name = "tensor-while"
    errors = (
        r"has dtype \w+ before the loop, but dtype \w+ after one iteration",
        r"has shape .* before the loop, but shape .* after one iteration",
        r"is not allowed to be None before the loop",
    )


class TensorFor(Rule):
    """A `for` over a tensor, or over a range that a tensor bounds.

    What it finds:
        `for` over tensors, `tf.range(...)`, and `range(...)`, `enumerate(...)` of tensors.

    Why it matters:
        Every iteration runs op by op from Python. Iterating over a symbolic tensor is refused outside AutoGraph, and
        a range of a traced tensor cannot be counted by Python.

    Before:
        import tensorflow as tf

        def f(values: tf.Tensor):
            total = tf.constant(0.0)
            for v in values:
                total = total * 0.5 + v
            return total

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([4.0]),), (tf.zeros([0]),)]

    After:
        import tensorflow as tf

        @tf.function(autograph=False, input_signature=[tf.TensorSpec([None], tf.float32)])
        def f(values: tf.Tensor):
            total = tf.constant(0.0)

            def body(i, total):
                v = values[i]
                total = total * 0.5 + v
                return i + 1, total

            _, total = tf.while_loop(
                lambda i, total: i < tf.shape(values)[0], body, (tf.constant(0), total)
            )
            return total

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([4.0]),), (tf.zeros([0]),)]

    When it is left alone:
        Python containers whose items are of different kinds. What can be done: `tf.stack` the items to one tensor
        and go over that; go over `tf.range(tf.shape(x)[0])` and index where a `zip` or `enumerate` is not taken.
    """

    code = "GL105"
    name = "tensor-for"
    errors = (ITERATION,)


def lower_while(planner: Planner, node: ast.While) -> list[Step]:
    """The steps in the place of a `while` that a tensor ends."""
    if any(isinstance(n, ast.NamedExpr) for n in ast.walk(node.test)):
        raise Refusal("this `:=` in the test of a loop is not lifted", node, "GL104")
    carried = _carried(planner, node)
    if not carried:
        raise Refusal("nothing changes in this loop", node, "GL104")
    test = planner.writer.predicate(node.test)
    body = _body(planner, node, list(carried), [])
    values = [_next(planner, node, name) for name in carried]
    starts = [_start(planner, node, name) for name in carried]
    steps = _loop(planner, node, test, body, values, starts, None)
    return with_origin([*_nones_before(planner, node), *steps], node)


def lower_for(planner: Planner, node: ast.For) -> list[Step]:
    """The steps in the place of a `for` that a tensor bounds or ends."""
    carried = _carried(planner, node)
    index, counter = iterated.of(planner, node, carried)
    test = counter.test
    for flag in getattr(node, "stops", ()):
        test = f"{planner.tf}.logical_and({test}, {planner.tf}.logical_not({flag}))"
    begin = [step for step in counter.begin if _is_used(planner, node, carried, step)]
    body = _body(planner, node, [index, *carried], begin)
    values = [counter.next, *(_next(planner, node, name) for name in carried)]
    starts = [counter.start, *(_start(planner, node, name) for name in carried)]
    steps = _loop(
        planner,
        node,
        test,
        body,
        values,
        starts,
        (index, counter.spec),
        counter.most,
    )
    return with_origin([*counter.before, *_nones_before(planner, node), *steps], node)


def _body(
    planner: Planner, node: ast.While | ast.For, names: list[str], begin: list[Step]
) -> Define:
    """The function of a loop's body, without its return."""
    name, steps = planner.loop_body(node)
    return Define(name, tuple(names), [*begin, *_nones(planner, node), *steps])


def _is_used(planner: Planner, node: ast.For, carried: list[str], step: Step) -> bool:
    """Whether anything reads a name that an iteration begins with."""
    if not isinstance(step, Code):
        return True
    read = {n for statement in node.body for n in all_reads(statement)}
    bound = bound_names(ast.parse(step.text).body[0])
    return not bound or bool({*read, *carried, *planner.live.captured} & set(bound))


def _loop(
    planner: Planner,
    node: ast.While | ast.For,
    test: str,
    body: Define,
    values: list[str],
    starts: list[str],
    index: tuple[str, str | None] | None,
    most: int | None = None,
) -> list[Step]:
    counter = index[0] if index else None
    names = list(body.parameters)
    closing = (
        f"return {', '.join(values)}" if len(values) > 1 else f"return ({values[0]},)"
    )
    define = replace(body, body=[*body.body, Code(closing)])
    initial = f"({', '.join(starts)})" if len(starts) > 1 else f"({starts[0]},)"
    arguments = [f"lambda {', '.join(names)}: {test}", body.name, initial]
    invariants = _invariants(planner, node, names, index)
    if invariants:
        arguments.append(f"shape_invariants={invariants}")
    if most is not None:
        arguments.append(f"maximum_iterations={most}")
    live = planner.live.after.get(node, frozenset())
    targets = [n if n != counter and n in live else "_" for n in names]
    if all(t == "_" for t in targets):
        target = ""
    else:
        target = (
            ", ".join(targets) if len(targets) > 1 else f"({targets[0]},)"
        ) + " = "
    return [define, Code(f"{target}{planner.tf}.while_loop({', '.join(arguments)})")]


def _carried(planner: Planner, node: ast.While | ast.For) -> list[str]:
    """The loop variables: what the body sets and a later iteration or the code after it reads."""
    head = planner.live.head.get(node, frozenset())
    after = planner.live.after.get(node, frozenset())
    names = planner.assigned(node.body)
    if isinstance(node, ast.For):
        names = [
            *[n for n in planner.assigned([_target_only(node)]) if n not in names],
            *names,
        ]
    known = (
        planner.facts.heads[node].kinds.keys() | planner.facts.ends[node].kinds.keys()
    )
    return [
        n
        for n in names
        if n in (head | after) and n in known and not _is_none(planner, node, n)
    ]


def _is_none(planner: Planner, node: ast.While | ast.For, name: str) -> bool:
    """Whether a name is None whenever an iteration begins or ends: no tensor is needed for it."""
    return _head_kind(planner, node, name) == NONE


def _nones(planner: Planner, node: ast.While | ast.For) -> list[Step]:
    """What binds in the body the names that are None whenever an iteration begins."""
    read = planner.live.head.get(node, frozenset())
    return [
        Code(f"{name} = None")
        for name in planner.assigned(node.body)
        if name in read and planner.facts.heads[node].kinds.get(name) == NONE
    ]


def _nones_before(planner: Planner, node: ast.While | ast.For) -> list[Step]:
    """What binds names that the loop would have bound to None."""
    read = planner.live.after.get(node, frozenset())
    bound = planner.facts.before[node].kinds
    return [
        Code(f"{name} = None")
        for name in planner.assigned(node.body)
        if name in read - bound.keys()
        and planner.facts.heads[node].kinds.get(name) == NONE
    ]


def _target_only(node: ast.For) -> ast.stmt:
    return ast.Assign([node.target], ast.Constant(None))


def _head_kind(planner: Planner, node: ast.While | ast.For, name: str) -> Kind:
    head = planner.facts.heads[node].kinds.get(name)
    end = planner.facts.ends[node].kinds.get(name)
    kind = head if head is not None else stage(end) if end is not None else UNKNOWN
    if not fits_graph(kind):
        before = planner.facts.before[node].kinds.get(name)
        raise Refusal(
            f"`{name}`, {before or 'unbound'} before the loop, may be something else in it",
            node,
            "GL104",
        )
    return kind


def _next(planner: Planner, node: ast.While | ast.For, name: str) -> str:
    kind = _head_kind(planner, node, name)
    have = planner.facts.ends[node].kinds.get(name, UNKNOWN)
    return planner.promotion.coerced(
        planner.constant_text(name, have), have, kind, node
    )


def _start(planner: Planner, node: ast.While | ast.For, name: str) -> str:
    before = planner.facts.before[node]
    kind = _head_kind(planner, node, name)
    have = before.kinds.get(name)
    if have is None or name not in planner.live.entry[node]:
        return planner.zero(name, kind, node)
    planner.check_bound(name, before, node)
    return planner.promotion.coerced(
        planner.constant_text(name, have), have, kind, node
    )


def _invariants(
    planner: Planner,
    node: ast.While | ast.For,
    names: list[str],
    index: tuple[str, str | None] | None,
) -> str:
    """The shape invariants, where a loop variable's shape changes or may change; else nothing."""
    promotion = planner.promotion
    signed = planner.signed and static_shapes.are_given(planner.facts)
    texts = []
    needed = False
    for name in names:
        if index is not None and name == index[0]:
            texts.append(index[1] or promotion.shape(()))
            continue
        kind = _head_kind(planner, node, name)
        before = planner.facts.before[node].kinds.get(name)
        if name not in planner.live.entry[node] or before == NONE:
            before = None
        start = _stand_in(kind) if before is None else stage(before)
        end = planner.facts.ends[node].kinds.get(name, kind)
        needed = needed or _varies(start, kind, end, signed)
        texts.append(promotion.invariant(kind))
    if not needed:
        return ""
    return f"({', '.join(texts)})" if len(texts) > 1 else f"({texts[0]},)"


def _stand_in(kind: Kind) -> Kind:
    """What a loop variable that is not bound before the loop starts as; see `Promotion.zero`."""
    if isinstance(kind, Maybe):
        return _stand_in(kind.kind)
    if isinstance(kind, Rows):
        return _stand_in(kind.whole)
    if isinstance(kind, Sequence):
        return Sequence(kind.type, tuple(map(_stand_in, kind.items)))
    if isinstance(kind, Dict):
        return Dict(tuple((key, _stand_in(value)) for key, value in kind.items))
    if isinstance(kind, Tensor | Variable):
        return Tensor(kind.dtype, tuple(d or 0 for d in kind.shape or ()))
    return kind


def _varies(start: Kind, head: Kind, end: Kind, signed: bool) -> bool:
    start, head, end = (
        k.kind if isinstance(k, Maybe) else k for k in (start, head, end)
    )
    start, head, end = (
        k.whole if isinstance(k, Rows) else k for k in (start, head, end)
    )
    if end == NONE:
        end = _stand_in(head)
    if isinstance(head, Sequence | Dict):
        parts = zip(start.parts, head.parts, end.parts, strict=False)
        return any(_varies(*kinds, signed) for kinds in parts)
    if isinstance(head, TensorArray):
        return False
    if isinstance(head, Tensor | Variable):
        if head.shape is None or (None in head.shape and not signed):
            return True
        return getattr(start, "shape", None) != head.shape
    return False
