"""GL205 host-read: Python values read from tensors."""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING

from . import numpy_calls, static_shapes
from .facts import ranks
from .facts.kinds import Function, Python, Rows, Tensor, Variable
from .facts.staging import is_numpy, is_tensor, is_weak
from .findings import Refusal
from .rule import Rule

if TYPE_CHECKING:
    from .expressions import Writer

MATH = {
    "sqrt": "sqrt", "exp": "exp", "log": "math.log", "log1p": "math.log1p", "expm1": "math.expm1", "sin": "sin",
    "cos": "cos", "tan": "tan", "atan": "atan", "tanh": "tanh", "fabs": "abs", "erf": "math.erf",
    "floor": "floor", "ceil": "math.ceil", "isnan": "math.is_nan", "isinf": "math.is_inf",
    "isfinite": "math.is_finite", "asinh": "asinh", "erfc": "math.erfc", "atan2": "atan2", "fmod": "truncatemod",
    "pow": "pow",
}  # fmt: skip
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
    if name == "list" and node.args and isinstance(writer.kind(node), Rows):
        return writer.text(node.args[0])
    if name == "len":
        return static_shapes.length(writer, node)
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
    text = writer.read(argument) if name == "float" else writer.text(argument)
    if kind.dtype == DTYPES[name]:
        return text
    return writer.promotion.cast(text, f"{writer.tf}.{DTYPES[name]}")


def method(writer: Writer, node: ast.Call, owner: ast.expr, name: str) -> str | None:
    """The text of `.numpy()` of a tensor, or of a method of the array that it gave; None for other methods."""
    kind = writer.kind(owner)
    if is_numpy(kind):
        return numpy_calls.method_text(writer, node, owner, name)
    if name == "numpy" and is_numpy(writer.kind(node)):
        read = writer.read(owner)
        if isinstance(kind, Variable) and read == writer.text(owner):
            return f"{writer.atom(owner)}.read_value()"
        return read
    return None


def attribute(writer: Writer, node: ast.Attribute) -> str | None:
    """The text of an attribute that arrays have and tensors do not, or of a rank that no trace knows."""
    if node.attr in ranks.NAMES and is_weak(writer.kind(node)):
        return static_shapes.rank(writer, node.value)
    if not is_numpy(writer.kind(node.value)) or node.attr not in ("T", "size"):
        return None
    text, kind = writer.text(node.value), writer.kind(node)
    if node.attr == "T":
        return f"{writer.tf}.transpose({text})"
    if isinstance(kind, Python) and kind.known:
        return repr(kind.value)
    return f"{writer.tf}.size({text}, {writer.tf}.int64)"


def of_math(writer: Writer, node: ast.Call, name: str) -> str | None:
    """The text of `math.name(t)` of a tensor: TensorFlow's function of the float64 that Python takes it for."""
    if not any(is_tensor(writer.kind(a)) for a in node.args):
        return None
    tf = writer.tf
    text = ", ".join(_as_float(writer, argument) for argument in node.args)
    match name:
        case "degrees":
            return f"{text} * {180.0 / math.pi!r}"
        case "radians":
            return f"{text} * {math.pi / 180.0!r}"
        case "floor" | "ceil":
            return f"{tf}.cast({tf}.{MATH[name]}({text}), {tf}.int64)"
    return f"{tf}.{MATH[name]}({text})"


def _as_float(writer: Writer, node: ast.expr) -> str:
    """The text of a number as the float64 that Python's floats are."""
    text = writer.read(node) if is_tensor(writer.kind(node)) else writer.text(node)
    if getattr(writer.kind(node), "dtype", None) == "float64":
        return text
    return writer.promotion.cast(text, f"{writer.tf}.float64")


def known_answer(writer: Writer, node: ast.Call) -> str | None:
    """What eager mode answers, where a graph would answer otherwise."""
    kind, told = writer.kind(node), writer.kind(node.args[0])
    if not (isinstance(kind, Python) and kind.known and is_tensor(told)):
        return None
    asks_type = writer.kind(node.func) == Function("builtins.isinstance")
    return None if asks_type and not is_weak(told) else str(kind.value)
