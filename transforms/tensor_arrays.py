"""GL209 lost-write: the TensorArray that `write`, `scatter` or `unstack` gives is kept."""

from __future__ import annotations

import ast

from .facts.environment import FunctionFacts
from .facts.profile import FunctionNode
from .rebuilding import rebuilt, with_body, with_origin
from .rule import Rule


class LostWrite(Rule):
    """The result of a TensorArray's `write`, `scatter`, `unstack` or `split` is dropped.

    What it finds:
        `array.write(...)` as a statement of its own.

    Why it matters:
        Eager mode changes the array in place; a graph gives a new one, and the old stays as it was, without a word.

    Before:
        import tensorflow as tf

        def f(n: tf.Tensor):
            squares = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
            for i in tf.range(n):
                squares.write(i, i * i)
            return squares.stack()

        ARGS = [(tf.constant(3),), (tf.constant(1),), (tf.constant(5),)]

    After:
        import tensorflow as tf

        @tf.function(autograph=False, input_signature=[tf.TensorSpec([], tf.int32)])
        def f(n: tf.Tensor):
            squares = tf.TensorArray(tf.int32, size=0, dynamic_size=True)

            def body(i, squares):
                squares = squares.write(i, i * i)
                return i + 1, squares

            _, squares = tf.while_loop(
                lambda i, squares: i < n, body, (tf.constant(0), squares)
            )
            return squares.stack()

        ARGS = [(tf.constant(3),), (tf.constant(1),), (tf.constant(5),)]

    When it is left alone:
        Arrays that are no local name of the function.
    """

    code = "GL209"
    name = "lost-write"


def with_writes_kept(facts: FunctionFacts) -> FunctionNode | None:
    """The function with its dropped writes assigned; None where there are none."""
    writes = {id(node) for node in facts.effects.get("write", ())}
    node = facts.definition.node
    return with_body(node, _kept(node.body, writes))


def _kept(body: list[ast.stmt], writes: set[int]) -> list[ast.stmt]:
    result: list[ast.stmt] = []
    for node in body:
        match node:
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=ast.Name(id=name))) as call
            ) if id(call) in writes:
                made = ast.Assign([ast.Name(name, ast.Store())], call)
                result.append(with_origin(made, node))
            case _:
                result.append(rebuilt(node, lambda block: _kept(block, writes)))
    return result
