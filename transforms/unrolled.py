"""GL112 unrolled-loop: a long loop of Python over tensor work becomes one of the graph."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

from .facts.definitions import FunctionDefinition
from .facts.environment import FunctionFacts
from .facts.kinds import Function, Kind, Python
from .facts.profile import FunctionNode
from .facts.syntax import blocks
from .rebuilding import rebuilt, with_origin
from .rule import Rule

Tried = Callable[[FunctionDefinition], bool]
"""Whether a function with another body can be lifted to the same result."""


class UnrolledLoop(Rule):
    """A long `for` over a range that Python counts, with tensor work in it.

    What it finds:
        Loops over a constant `range` of more iterations than `unroll-threshold`.

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
    facts: FunctionFacts, threshold: int, tried: Tried
) -> FunctionNode | None:
    """The function with its first long loop as one of the graph; None where none can be."""
    for loop in _loops(facts.definition.node.body):
        if not _is_long(loop, facts, threshold):
            continue
        node = copy.copy(facts.definition.node)
        node.body = _staged(node.body, loop)
        definition = copy.copy(facts.definition)
        definition.node = node
        if tried(definition):
            return node
    return None


def _loops(body: list[ast.stmt]) -> Iterator[ast.For]:
    """The loops in a block, outer ones first; not those in functions."""
    for node in body:
        if isinstance(node, ast.For):
            yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for inner in blocks(node):
                yield from _loops(inner)


def _is_long(node: ast.For, facts: FunctionFacts, threshold: int) -> bool:
    """Whether Python runs a loop more often than that, with tensor work in it."""
    if node in facts.staged or node not in facts.before or node.orelse:
        return False
    match node.iter:
        case ast.Call(func=function, args=args, keywords=[]) if facts.kind(
            function
        ) == Function("builtins.range"):
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


def _staged(body: list[ast.stmt], loop: ast.For) -> list[ast.stmt]:
    return [
        _marked(loop) if node is loop else rebuilt(node, lambda b: _staged(b, loop))
        for node in body
    ]


def _marked(loop: ast.For) -> ast.stmt:
    """The loop as one that the graph is to run."""
    made = copy.copy(loop)
    made.stops = ()  # type: ignore[attr-defined]
    return with_origin(made, loop)
