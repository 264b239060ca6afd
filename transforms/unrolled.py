"""GL112 unrolled-loop: a long loop of Python over tensor work becomes one of the graph."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

from .facts.definitions import FunctionDefinition
from .facts.environment import FunctionFacts
from .facts.kinds import Function, Kind, Python, Tensor
from .facts.profile import FunctionNode
from .facts.syntax import blocks
from .findings import Refusal
from .rebuilding import rebuilt, with_origin
from .rule import Rule

Tried = Callable[[FunctionDefinition], bool]
"""Whether a function with another body can be lifted to the same result."""


class UnrolledLoop(Rule):
    """A long `for` over a range that Python counts, with tensor work in it.

    What it finds:
        Loops over a constant `range` of more iterations than `unroll-threshold`; shorter ones, too, that fill a list from
        nothing and read its items where a tensor says so, as their first round could not be traced.

    Why it matters:
        While a graph is traced, Python runs the loop: the graph holds its operations once for each iteration, and
        tracing it takes as long.

    Before:
        import tensorflow as tf

        def f(x: tf.Tensor):
            for _ in range(100):
                x = x * 0.5 + tf.sin(x)
            return x

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([4.0]),), (tf.zeros([0]),)]

    After:
        import tensorflow as tf

        @tf.function(autograph=False, input_signature=[tf.TensorSpec([None], tf.float32)])
        def f(x: tf.Tensor):
            def body(i, x):
                x = x * 0.5 + tf.sin(x)
                return i + 1, x

            _, x = tf.while_loop(
                lambda i, x: i < 100, body, (tf.constant(0), x), maximum_iterations=100
            )
            return x

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([4.0]),), (tf.zeros([0]),)]

    When it is left alone:
        Loops that need Python's number in each iteration, as an index of layers or a static size. They are traced
        round by round, which is right, if slow to start.
    """

    code = "GL112"
    name = "unrolled-loop"


def with_graph_loops(
    facts: FunctionFacts, threshold: int | None, tried: Tried
) -> FunctionNode | None:
    """The function with a loop as one of the graph: the first long one, or one that Python could not run.

    None where none can be.

    Raises:
        Refusal: a loop that Python could not run cannot be one of the graph.
    """
    for loop in _loops(facts.definition.node.body):
        empty = _read_while_empty(loop, facts)
        long = threshold is not None and _is_long(loop, facts, threshold)
        if not long and empty is None:
            continue
        node = copy.copy(facts.definition.node)
        node.body = _staged(node.body, loop)
        definition = copy.copy(facts.definition)
        definition.node = node
        if tried(definition):
            return node
        if empty is not None:
            reason = f"`{empty}` is empty at first in a loop that Python runs"
            way_out = "loop over a tensor or `tf.range`, or let it begin with an item"
            raise Refusal(reason, loop, "GL203", way_out)
    return None


def _read_while_empty(loop: ast.For | ast.While, facts: FunctionFacts) -> str | None:
    """What is a tensor of no rows in a loop's first round, and has a row read or set where a tensor says so.

    TensorFlow traces that round, and there is no such row.
    """
    if loop in facts.staged or loop not in facts.before:
        return None
    before, head = facts.before[loop].kinds, facts.heads[loop].kinds
    empty = {
        name
        for name, kind in before.items()
        if _rows(kind) == 0 and _rows(head.get(name, kind)) is None
    }
    for inner in ast.walk(loop) if empty else ():
        if inner in facts.staged and isinstance(inner, ast.If | ast.While | ast.expr):
            for name in filter(None, map(_row_of, ast.walk(inner))):
                if name in empty:
                    return name
    return None


def _rows(kind: Kind) -> int | None:
    """How many rows a tensor has; None where that is not known, -1 for what is none."""
    if not isinstance(kind, Tensor):
        return -1
    return kind.shape[0] if kind.shape else None


def _row_of(node: ast.AST) -> str | None:
    """The tensor of which a node reads or sets one row."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=index) if not isinstance(
            index, ast.Slice
        ):
            return name
        case ast.Call(
            func=ast.Attribute(attr="tensor_scatter_nd_update"),
            args=[ast.Name(id=name), *_],
        ):
            return name
    return None


def _loops(body: list[ast.stmt]) -> Iterator[ast.For | ast.While]:
    """The loops in a block, outer ones first; not those in functions."""
    for node in body:
        if isinstance(node, ast.For | ast.While):
            yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for inner in blocks(node):
                yield from _loops(inner)


def _is_long(node: ast.stmt, facts: FunctionFacts, threshold: int) -> bool:
    """Whether Python runs a loop more often than that, with tensor work in it."""
    if node in facts.staged or node not in facts.before:
        return False
    match node:
        case ast.For(
            iter=ast.Call(func=function, args=args, keywords=[]), orelse=[]
        ) if facts.kind(function) == Function("builtins.range"):
            bounds = [_constant(facts.kind(a)) for a in args]
        case _:
            return False
    if any(b is None for b in bounds) or 0 in bounds[2:]:
        return False
    long = len(range(*(b for b in bounds if b is not None))) > threshold
    return long and any(_computes(inner, facts) for inner in ast.walk(node))


def _constant(kind: Kind) -> int | None:
    if isinstance(kind, Python) and kind.type == "int" and isinstance(kind.value, int):
        return kind.value
    return None


def _computes(node: ast.AST, facts: FunctionFacts) -> bool:
    """Whether a node is a call into TensorFlow, or arithmetic of tensors."""
    if not isinstance(node, ast.Call | ast.BinOp):
        return False
    kind = facts.kind(node)
    return getattr(kind, "weak", "none") is None


def _staged(body: list[ast.stmt], loop: ast.For | ast.While) -> list[ast.stmt]:
    return [
        _marked(loop) if node is loop else rebuilt(node, lambda b: _staged(b, loop))
        for node in body
    ]


def _marked(loop: ast.For | ast.While) -> ast.stmt:
    """The loop as one that the graph is to run."""
    made: ast.stmt = copy.copy(loop)
    made.stops = ()  # type: ignore[attr-defined]
    return with_origin(made, loop)
