"""GL205 host-read: Python values read from tensors."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from . import static_shapes
from .facts.kinds import Function, Python, Tensor, Variable
from .facts.staging import is_tensor, is_weak
from .findings import Refusal
from .rule import Rule

if TYPE_CHECKING:
    from .expressions import Writer

DTYPES = {"int": "int64", "float": "float64"}


class HostRead(Rule):
    """`float(t)`, `int(t)` or `bool(t)` reads a tensor's value into Python.

    What it finds:
        Conversions of tensors to Python numbers.

    Why it matters:
        While a graph is traced a tensor has no value, so the conversion raises. In eager mode it makes Python wait
        for the device.

    Before:
        import tensorflow as tf

        def f(x: tf.Tensor):
            return tf.reduce_sum(x) * (float(x[0]) + 1.0)

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([3.0, 0.0]),), (tf.constant([0.0, 0.0]),)]

    After:
        import tensorflow as tf

        @tf.function(autograph=False, input_signature=[tf.TensorSpec([2], tf.float32)])
        def f(x: tf.Tensor):
            return tf.reduce_sum(x) * tf.cast(tf.cast(x[0], tf.float64) + 1.0, tf.float32)

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([3.0, 0.0]),), (tf.constant([0.0, 0.0]),)]

    When it is left alone:
        `.numpy()`, `.item()` and `str(t)`; a tensor that is not a scalar.
    """

    code = "GL205"
    name = "host-read"
    errors = (
        r"has no attribute 'numpy'",
        r"argument must be a string or a real number, not 'SymbolicTensor'",
    )


def conversion(writer: Writer, node: ast.Call, name: str) -> str | None:
    """The text of `int(t)`, `float(t)` or `bool(t)` of a tensor; None for other calls."""
    if name == "list" and node.args and is_tensor(writer.kind(node.args[0])):
        return writer.text(node.args[0])
    if name == "len" and is_tensor(writer.kind(node.args[0])):
        return static_shapes.length(writer, node.args[0])
    if (
        name not in ("int", "float", "bool")
        or len(node.args) != 1
        or not is_tensor(writer.kind(node.args[0]))
    ):
        return None
    (argument,) = node.args
    kind = writer.kind(argument)
    assert isinstance(kind, Tensor | Variable)
    if kind.shape not in ((), None):
        raise Refusal(f"`{name}()` of {kind} is not lifted", node, "GL205")
    if isinstance(kind, Tensor) and kind.weak == name and not kind.mixed:
        return writer.text(argument)
    if name == "bool":
        return writer.predicate(argument)
    return writer.promotion.cast(writer.text(argument), f"{writer.tf}.{DTYPES[name]}")


def known_answer(writer: Writer, node: ast.Call) -> str | None:
    """What eager mode answers, where a graph would answer otherwise."""
    kind, told = writer.kind(node), writer.kind(node.args[0])
    if not (isinstance(kind, Python) and kind.known and is_tensor(told)):
        return None
    asks_type = writer.kind(node.func) == Function("builtins.isinstance")
    return None if asks_type and not is_weak(told) else str(kind.value)
