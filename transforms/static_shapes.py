"""GL406 static-shape: sizes that Python reads from a tensor."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .facts.kinds import Tensor, Variable
from .rule import Rule

if TYPE_CHECKING:
    from .expressions import Writer


class StaticShape(Rule):
    """`len(x)` of a tensor.

    What it finds:
        `len()` of tensors.

    Why it matters:
        A traced tensor has no `len()`: tracing stops with `len is not well defined for a symbolic Tensor`.

    Before:
        import tensorflow as tf

        def f(x: tf.Tensor):
            return tf.reduce_sum(x) / len(x)

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([3.0]),), (tf.constant([1.0, 2.0, 6.0]),)]

    After:
        import tensorflow as tf

        @tf.function(autograph=False, input_signature=[tf.TensorSpec([None], tf.float32)])
        def f(x: tf.Tensor):
            return tf.reduce_sum(x) / tf.cast(tf.shape(x, tf.int64)[0], tf.float32)

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([3.0]),), (tf.constant([1.0, 2.0, 6.0]),)]

    When it is left alone:
        Containers of Python.
    """

    code = "GL406"
    name = "static-shape"
    errors = (r"len is not well defined for a symbolic Tensor",)


def length(writer: Writer, node: ast.expr) -> str:
    """The text of `len(node)` of a tensor: Python's int where the size is static."""
    kind = writer.kind(node)
    assert isinstance(kind, Tensor | Variable)
    text = writer.text(node)
    if kind.shape and kind.shape[0] is not None:
        return (
            f"{text}.shape[0]"
            if isinstance(node, ast.Name | ast.Attribute)
            else repr(kind.shape[0])
        )
    return f"{writer.tf}.shape({text}, {writer.tf}.int64)[0]"


def sizes(writer: Writer, node: ast.expr) -> str | None:
    """The text of a tensor of the sizes that `x.shape`, or a part of it, names; None for another expression."""
    match node:
        case ast.Attribute(value=owner, attr="shape"):
            return f"{writer.tf}.shape({writer.text(owner)}, {writer.tf}.int64)"
        case ast.Call(func=ast.Attribute(value=owner, attr="get_shape"), args=[]):
            return f"{writer.tf}.shape({writer.text(owner)}, {writer.tf}.int64)"
        case ast.Call(func=ast.Attribute(value=inner, attr="as_list"), args=[]):
            return sizes(writer, inner)
        case ast.Call(func=ast.Name(id="list" | "tuple"), args=[inner]):
            return sizes(writer, inner)
        case ast.Subscript(value=inner, slice=ast.Slice() as part):
            whole = sizes(writer, inner)
            return whole and f"{whole}[{writer.text(part)}]"
    return None
