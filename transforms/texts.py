"""GL210 tensor-string: texts with tensors in them, made in the graph."""

from __future__ import annotations

import ast
import itertools
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .facts import texts
from .facts.kinds import Kind, Tensor
from .facts.staging import INTS, is_tensor
from .findings import Refusal
from .promotion import quoted
from .rule import Rule

if TYPE_CHECKING:
    from .expressions import Writer


class TensorString(Rule):
    """A text that shows a tensor's value.

    What it finds:
        f-strings, `format`, `%` and `str` of tensors where a tensor decides whether or how often: in a branch or loop.

    Why it matters:
        While a graph is traced a tensor has no value: the text shows `Tensor("add:0", shape=(), dtype=float32)`, or
        formatting it raises.

    Before:
        import tensorflow as tf

        def f(x: tf.Tensor):
            total = tf.reduce_sum(x)
            if total > 0.0:
                return f"gain {total:.2f}"
            return f"loss {-total:.2f}"

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([-4.0, 1.5]),), (tf.constant([0.0, 0.0]),)]

    After:
        import tensorflow as tf

        @tf.function(autograph=False, input_signature=[tf.TensorSpec([2], tf.float32)])
        def f_graph(x: tf.Tensor):
            total = tf.reduce_sum(x)
            return tf.cond(
                total > 0.0,
                lambda: tf.strings.join(["gain ", tf.strings.as_string(total, precision=2)]),
                lambda: tf.strings.join(["loss ", tf.strings.as_string(-total, precision=2)]),
            )


        def f(x: tf.Tensor):
            return f_graph(x).numpy().decode()

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([-4.0, 1.5]),), (tf.constant([0.0, 0.0]),)]

    When it is left alone:
        Elsewhere the text stays Python's, after the graph. Floats whose digits no format tells, as `:.3f` does: a
        graph shows others than Python. (A NaN may show its sign.)
    """

    code = "GL210"
    name = "tensor-string"


@dataclass(frozen=True)
class Piece:
    """A part of a text in the graph; `words`: where it is known while tracing, as the parts of an f-string."""

    text: str = ""
    words: tuple[ast.expr, ...] = ()


def text_of(writer: Writer, node: ast.expr) -> str | None:
    """The text of a string tensor in the place of a text with tensors in it; None for another expression."""
    kind = writer.kind(node)
    if not (isinstance(kind, Tensor) and kind.weak == "str"):
        return None
    pieces = pieces_of(writer, node)
    return None if pieces is None else joined(writer, pieces)


def pieces_of(writer: Writer, node: ast.expr) -> list[Piece] | None:
    """The words and values of a text with tensors in it; None for another expression."""
    found = texts.parts(node)
    if found is None:
        return None
    return [
        Piece(words=(ast.Constant(part),))
        if isinstance(part, str)
        else _value(writer, node, part)
        for part in found
    ]


def plain(value: ast.expr, spec: str = "") -> Piece:
    """The piece of a value of Python."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return Piece(words=(value,))
    formatted = ast.JoinedStr([ast.Constant(spec)]) if spec not in ("", "s") else None
    return Piece(words=(ast.FormattedValue(value, -1, formatted),))


def joined(writer: Writer, pieces: list[Piece]) -> str:
    """The text of one string tensor, words that stand side by side in one piece."""
    made: list[str] = []
    for known, group in itertools.groupby(pieces, lambda piece: bool(piece.words)):
        if known:
            literal = _literal([w for piece in group for w in piece.words])
            made += [literal] if literal != '""' else []
        else:
            made += [piece.text for piece in group]
    if len(made) == 1:
        return made[0]
    return f"{writer.tf}.strings.join([{', '.join(made)}])"


def _literal(words: list[ast.expr]) -> str:
    if all(isinstance(w, ast.Constant) for w in words):
        return quoted(
            "".join(str(w.value) for w in words if isinstance(w, ast.Constant))
        )
    made = ast.unparse(ast.JoinedStr(words))
    inner = made[2:-1]
    return made if {'"', "'", "\\"} & {*inner} else f'f"{inner}"'


def _value(writer: Writer, text: ast.expr, part: texts.Value) -> Piece:
    node, kind = part.node, writer.kind(part.node)
    if not is_tensor(kind):
        return plain(node, part.spec)
    if isinstance(text, ast.JoinedStr) and not _stands_there(writer, node):
        raise Refusal("where this text names its values is not known", text, "GL210")
    return value(writer, writer.text(node), kind, part.spec)


def value(writer: Writer, text: str, kind: Kind, spec: str = "") -> Piece:
    """The piece of a value of the graph."""
    return Piece(_formatted(writer, text, kind, spec))


def _formatted(writer: Writer, text: str, kind: Kind, spec: str) -> str:
    """The text of a string tensor that shows a value."""
    tf = writer.tf
    assert isinstance(kind, Tensor)
    if kind.weak == "str":
        return text
    if kind.dtype == "bool":
        return f'{tf}.where({text}, "True", "False")'
    if kind.shape != ():
        return f'{tf}.strings.format("{{}}", {text}, summarize=-1)'
    if not texts.is_exact(kind, spec):
        return f'{tf}.strings.format("{{}}", {text})'
    match = texts.SPEC.fullmatch(spec)
    assert match is not None
    align, sign, zero, width, precision, letter = match.groups()
    options: dict[str, str] = {}
    end = ""
    if letter in ("f", "F", "e", "%"):
        if kind.dtype in INTS or letter == "%":
            text = writer.promotion.cast(text, f"{tf}.float64")
        if letter == "%":
            text, end = f"{text} * 100.0", ' + "%"'
        options["precision"] = precision or "6"
        if letter == "e":
            options["scientific"] = "True"
    if width:
        options["width"] = width
    if fill := ("-" if align == "<" and width else sign or zero):
        options["fill"] = quoted(fill)
    arguments = ", ".join([text, *(f"{k}={v}" for k, v in options.items())])
    return f"{tf}.strings.as_string({arguments}){end}"


def _stands_there(writer: Writer, node: ast.expr) -> bool:
    """Whether the file has an expression where its node says so, which older Pythons do not tell well in f-strings."""
    if sys.version_info >= (3, 12):
        return True
    try:
        found = ast.parse(writer.source.segment(node).strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return False
    return ast.dump(found) == ast.dump(node)
