"""GL108 tensor-assert: `assert` and `raise` that a tensor decides are told by the graph and raised by the shell."""

from __future__ import annotations

import ast
import copy

from .facts.environment import FunctionFacts
from .facts.kinds import NONE, UNKNOWN, Kind, Maybe, members
from .facts.profile import FunctionNode
from .findings import Refusal
from .making import negated
from .rebuilding import rebuilt, with_origin
from .rule import Rule
from .source import Source


class TensorAssert(Rule):
    """An `assert` or `raise` under a condition on a tensor.

    What it finds:
        `assert` on a tensor, and `raise` in an `if` or a loop that a tensor decides.

    Why it matters:
        While a graph is traced both ways are taken, so the exception comes at once, or never.

    Before:
        import tensorflow as tf

        def f(x: tf.Tensor):
            if tf.reduce_any(x < 0.0):
                raise ValueError("negative input")
            return tf.sqrt(x)

        ARGS = [(tf.constant([4.0, 9.0]),), (tf.constant([1.0, -1.0]),), (tf.constant([0.0, 1.0]),)]

    After:
        import tensorflow as tf

        @tf.function(autograph=False, input_signature=[tf.TensorSpec([2], tf.float32)])
        def f_graph(x: tf.Tensor):
            return tf.cond(
                tf.reduce_any(x < 0.0),
                lambda: (tf.zeros([2], tf.float32), tf.constant(True)),
                lambda: (tf.sqrt(x), tf.constant(False)),
            )


        def f(x: tf.Tensor):
            result, failed = f_graph(x)
            if failed:
                raise ValueError("negative input")
            return result

        ARGS = [(tf.constant([4.0, 9.0]),), (tf.constant([1.0, -1.0]),), (tf.constant([0.0, 1.0]),)]

    When it is left alone:
        Exceptions that are caught in the same loop, and functions that graphs call. What can be done:
        `tf.debugging.assert_greater` and its like, where its InvalidArgumentError will do; or return what the test
        needs, and raise in the caller.
    """

    code = "GL108"
    name = "tensor-assert"


def with_failure(
    facts: FunctionFacts, source: Source
) -> tuple[FunctionNode, str] | None:
    """The function that returns None where it raised, and the text of the `raise`; None where it raises by no tensor.

    Raises:
        Refusal: the exceptions differ, or their messages are made on the way.
    """
    wanted = {id(p.node) for p in facts.problems if p.code == "GL108"}
    node = facts.definition.node
    if not wanted or facts.definition.failure is not None:
        return None
    found: dict[str, ast.stmt] = {}
    body = _block(node.body, wanted, found, source)
    if len(found) != 1:
        raise Refusal(
            "it raises different exceptions as a tensor decides", node, "GL108"
        )
    (text,) = found
    _check_message(facts, found[text])
    if any(_may_be_none(kind) for _, kind in facts.returns):
        raise Refusal("it raises or returns None as a tensor decides", node, "GL108")
    made = copy.copy(node)
    made.body = body
    return made, text


def _may_be_none(kind: Kind) -> bool:
    """Whether a result may be None, as far as is known before the exceptions are values."""
    return isinstance(kind, Maybe) or not {NONE, UNKNOWN}.isdisjoint(members(kind))


def _check_message(facts: FunctionFacts, node: ast.stmt) -> None:
    bound = {
        n.id
        for s in ast.walk(facts.definition.node)
        for n in ast.walk(s)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and inner.id in bound:
            raise Refusal(
                "the message of its exception is made on the way", node, "GL108"
            )


def _block(
    body: list[ast.stmt], wanted: set[int], found: dict[str, ast.stmt], source: Source
) -> list[ast.stmt]:
    return [made for node in body for made in _statement(node, wanted, found, source)]


def _statement(
    node: ast.stmt, wanted: set[int], found: dict[str, ast.stmt], source: Source
) -> list[ast.stmt]:
    leave = ast.Return(ast.Constant(None))
    match node:
        case ast.Raise(exc=ast.expr() as exception, cause=None) if id(node) in wanted:
            found.setdefault(f"raise {source.segment(exception)}", node)
            return [leave]
        case ast.Assert(test=test, msg=message) if id(node) in wanted:
            said = source.segment(message) if message else ""
            raised = ast.Raise(message) if message else ast.Raise()
            found.setdefault(f"raise AssertionError({said})", raised)
            return [with_origin(ast.If(negated(test), [leave], []), node)]
    return [rebuilt(node, lambda block: _block(block, wanted, found, source))]
