"""GL108 tensor-assert: `assert` and `raise` that a tensor decides are told by the graph and raised by the shell."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from .facts.environment import FunctionFacts
from .facts.kinds import NONE, UNKNOWN, Kind, Maybe, members
from .facts.profile import FunctionNode
from .facts.syntax import all_bound_names
from .findings import Refusal
from .making import name, negated
from .rebuilding import rebuilt, with_body, with_origin
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
        Exceptions that are caught in the same loop, and those of long functions that graphs call. What can be done:
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
    node = facts.definition.node
    found: dict[str, ast.stmt] = {}

    def leave(text: str, raised: ast.stmt) -> ast.expr:
        found.setdefault(text, raised)
        return ast.Constant(None)

    made = _with_returns(facts, source, leave)
    if made is None:
        return None
    if len(found) != 1:
        raise Refusal(
            "it raises different exceptions as a tensor decides", node, "GL108"
        )
    ((text, raised),) = found.items()
    if _made_on_the_way(facts, raised):
        raise Refusal("the message of its exception is made on the way", node, "GL108")
    if any(_may_be_none(kind) for _, kind in facts.returns):
        raise Refusal("it raises or returns None as a tensor decides", node, "GL108")
    return made, text


def with_failures(
    facts: FunctionFacts, source: Source
) -> tuple[FunctionNode, dict[str, list[str]]] | None:
    """The function that returns, where it raised, the text of the `raise` and what that names; None where it raises by no tensor.

    Beside it, the names that each `raise` asks for and that are bound on the way.
    """
    failures: dict[str, list[str]] = {}

    def leave(text: str, raised: ast.stmt) -> ast.expr:
        shown = failures.setdefault(text, _made_on_the_way(facts, raised))
        return ast.Tuple([ast.Constant(text), *map(name, shown)], ast.Load())

    made = _with_returns(facts, source, leave)
    return None if made is None else (made, failures)


def _may_be_none(kind: Kind) -> bool:
    """Whether a result may be None, as far as is known before the exceptions are values."""
    return isinstance(kind, Maybe) or not {NONE, UNKNOWN}.isdisjoint(members(kind))


def _made_on_the_way(facts: FunctionFacts, raised: ast.stmt) -> list[str]:
    """The names in a `raise` that its function binds."""
    bound = {n for s in facts.definition.node.body for n in all_bound_names(s)}
    read = [n.id for n in ast.walk(raised) if isinstance(n, ast.Name)]
    return [n for n in dict.fromkeys(read) if n in bound]


def _with_returns(
    facts: FunctionFacts, source: Source, leave: Callable[[str, ast.stmt], ast.expr]
) -> FunctionNode | None:
    """The function with returns for what it raises as a tensor decides; None where there is none."""
    wanted = {id(p.node) for p in facts.problems if p.code == "GL108"}
    definition = facts.definition
    told = definition.failure is not None or definition.failures
    if not wanted or told or wanted & _tried(definition.node):
        return None
    return with_body(
        definition.node, _Raises(wanted, source, leave).block(definition.node.body)
    )


def _tried(node: FunctionNode) -> set[int]:
    """What stands in the blocks of `try` statements, where a handler may take what it raises."""
    tries = (n for n in ast.walk(node) if isinstance(n, ast.Try) and n.handlers)
    return {id(n) for t in tries for s in t.body for n in ast.walk(s)}


@dataclass
class _Raises:
    """Puts a `return` in the place of each `raise`; `leave` makes its value, from the text of the `raise`."""

    wanted: set[int]
    source: Source
    leave: Callable[[str, ast.stmt], ast.expr]

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return [self._statement(node) for node in body]

    def _statement(self, node: ast.stmt) -> ast.stmt:
        match node:
            case ast.Raise(exc=ast.expr() as exception, cause=cause) if (
                id(node) in self.wanted
            ):
                text = f"raise {self.source.segment(exception)}"
                if cause is not None:
                    text += f" from {self.source.segment(cause)}"
                return ast.Return(self.leave(text, node))
            case ast.Assert(test=test, msg=message) if id(node) in self.wanted:
                said = self.source.segment(message) if message else ""
                raised = ast.Raise(message) if message else ast.Raise()
                value = self.leave(f"raise AssertionError({said})", raised)
                return with_origin(ast.If(negated(test), [ast.Return(value)], []), node)
        return rebuilt(node, self.block)
