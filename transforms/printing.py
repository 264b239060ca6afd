"""GL201 python-print: `print` of tensors becomes `tf.print`, or stays Python's after the graph."""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING

from . import texts
from .facts.environment import FunctionFacts
from .facts.kinds import Function, Kind, Python, Tensor
from .facts.staging import is_strong, is_tensor
from .facts.syntax import given_to, own_nodes
from .facts.texts import REALS, is_exact
from .findings import Refusal, Unseen
from .python_results import CONVERSIONS
from .rule import Rule
from .steps import Code, Step

if TYPE_CHECKING:
    from .planner import Planner


MOST_PRINTED = 1000
"""NumPy, and so eager mode, shortens arrays of more elements."""


class PythonPrint(Rule):
    """A Python `print` in a function that runs as a graph.

    What it finds:
        `print` calls in functions that work on tensors.

    Why it matters:
        In a graph Python's `print` runs once, while tracing, and shows a symbolic tensor; the later calls print
        nothing.

    Before:
        import tensorflow as tf

        def f(values: tf.Tensor):
            total = tf.constant(0.0)
            for v in values:
                total = total + v
                print("partial", total)
            print("total", total)
            return total * 2.0

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([4.0]),), (tf.zeros([0]),)]

    After:
        import sys

        import tensorflow as tf

        @tf.function(autograph=False, input_signature=[tf.TensorSpec([None], tf.float32)])
        def f(values: tf.Tensor):
            total = tf.constant(0.0)

            def body(i, total):
                v = values[i]
                total = total + v
                tf.print("partial", total, output_stream=sys.stdout)
                return i + 1, total

            _, total = tf.while_loop(
                lambda i, total: i < tf.shape(values)[0], body, (tf.constant(0), total)
            )
            tf.print("total", total, output_stream=sys.stdout)
            return total * 2.0

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([4.0]),), (tf.zeros([0]),)]

    When it is left alone:
        `print` to a file other than `sys.stderr`. In a loop of the graph, and where a tensor decides what is returned, floats show the digits
        that `tf.print` gives them, unless a format tells how many. TensorFlow leaves open whether a print comes before a
        branch, loop or call that prints and uses a Variable: there a `tf.control_dependencies` keeps the order, and
        where nothing tells that what prints is done, the function stays as it is.
    """

    code = "GL201"
    name = "python-print"


class PythonLogging(Rule):
    """A log message in a function that runs as a graph.

    What it finds:
        Calls of `logging`, of its loggers, and of `warnings`.

    Why it matters:
        In a graph the message is written once, while tracing, with symbolic tensors in it.

    Before:
        import logging

        import tensorflow as tf

        logger = logging.getLogger("train")

        def f(x: tf.Tensor):
            loss = tf.reduce_mean(x * x)
            logger.info("loss %.4f", float(loss))
            return loss * 2.0

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([3.0, 4.0]),), (tf.constant([0.0, 1.0]),)]

    After:
        import logging

        import tensorflow as tf

        logger = logging.getLogger("train")

        @tf.function(autograph=False, input_signature=[tf.TensorSpec([2], tf.float32)])
        def f_graph(x):
            loss = tf.reduce_mean(x * x)
            return loss * 2.0, loss


        def f(x: tf.Tensor):
            result, loss = f_graph(x)
            logger.info("loss %.4f", float(loss))
            return result

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([3.0, 4.0]),), (tf.constant([0.0, 1.0]),)]

    When it is left alone:
        Messages of what a loop or branch changes besides, and those in several places of a loop.
    """

    code = "GL202"
    name = "python-logging"


def sinks(facts: FunctionFacts) -> list[ast.stmt]:
    """The prints that can wait until after the graph: those on the function's own level, if none stands deeper."""
    body = facts.definition.node.body
    if any(
        isinstance(n, ast.Return) and n is not body[-1]
        for n in own_nodes(facts.definition.node)
    ):
        return []
    own = [s for s in body if is_print(facts, s)]
    calls = {id(s.value) for s in own if isinstance(s, ast.Expr)}
    return own if all(id(n) in calls for n in facts.effects.get("stdout", ())) else []


def is_print(facts: FunctionFacts, node: ast.stmt) -> bool:
    """Whether a statement is a call of Python's own `print`."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Name() as function)):
            return facts.kind(function) == Function("builtins.print")
    return False


def only_prints(facts: FunctionFacts, node: ast.stmt) -> bool:
    """Whether a statement prints, or decides whether to print, and does nothing else."""
    if isinstance(node, ast.If):
        return all(only_prints(facts, s) for s in (*node.body, *node.orelse))
    return is_print(facts, node)


def shows_otherwise(facts: FunctionFacts, node: ast.stmt) -> bool:
    """Whether `tf.print` would give the floats of a `print` other digits than Python does."""
    calls = (n for n in ast.walk(node) if isinstance(n, ast.Call))
    shown = (n for n in calls if not isinstance(facts.kind(n), Tensor))
    kinds = (facts.kind(a) for n in shown for a in n.args)
    return is_print(facts, node) and any(
        isinstance(kind, Tensor) and kind.dtype in REALS for kind in kinds
    )


def lower_print(planner: Planner, node: ast.Expr) -> list[Step]:
    """The steps in the place of a print."""
    if node in planner.sunk:
        return _sunk(planner, node)
    return [Code(_graph_print(planner, node), node)]


def _graph_print(planner: Planner, node: ast.Expr) -> str:
    call = node.value
    assert isinstance(call, ast.Call)
    options = {str(k.arg): k.value for k in call.keywords}
    stream = _stream(planner, options.pop("file", ast.Constant(None)))
    if isinstance(options.get("flush"), ast.Constant):
        del options["flush"]  # as `tf.print` always does
    if not options.keys() <= {"sep", "end"} or not all(
        isinstance(planner.facts.kind(value), Python) for value in options.values()
    ):
        raise Refusal("this `print` is not lifted", node, "GL201")
    if planner.facts.redirected:
        raise Refusal(
            "a graph prints past what takes the place of `sys.stdout`", node, "GL201"
        )
    if any(_is_text(planner.facts.kind(a)) for a in call.args):
        separator = options.pop("sep", ast.Constant(" "))
        parts = [_joined(planner, call.args, separator)]
    else:
        parts = [_printed(planner, argument) for argument in call.args]
    parts += [f"{name}={planner.writer.text(v)}" for name, v in options.items()]
    if any(getattr(planner.facts.kind(a), "shape", ()) for a in call.args):
        parts.append("summarize=-1")
    return f"{planner.tf}.print({', '.join([*parts, f'output_stream={stream}'])})"


STREAMS = frozenset({Function("sys.stdout"), Function("sys.stderr")})


def _stream(planner: Planner, file: ast.expr) -> str:
    """The text of the stream that a `print` writes to.

    Raises:
        Refusal: it is neither the process's standard output nor its standard error.
    """
    if isinstance(file, ast.Constant) and file.value is None:
        planner.imports.add("sys")
        return "sys.stdout"
    if planner.facts.kind(file) not in STREAMS:
        raise Refusal("this `print` is not lifted", file, "GL201")
    return planner.writer.text(file)


def _is_text(kind: Kind) -> bool:
    """Whether what is printed is made as a text: `tf.print` puts texts between others in quotes."""
    exact = isinstance(kind, Tensor) and is_exact(kind, "")
    return exact and getattr(kind, "dtype", None) in ("bool", "string")


def _joined(planner: Planner, arguments: list[ast.expr], separator: ast.expr) -> str:
    """What is printed, as one text."""
    pieces: list[texts.Piece] = []
    for i, argument in enumerate(arguments):
        pieces += [texts.plain(separator)] if i else []
        kind = planner.facts.kind(argument)
        if isinstance(kind, Python):
            pieces.append(texts.plain(argument))
        elif _is_text(kind):
            text = planner.writer.text(argument)
            made = texts.pieces_of(planner.writer, argument)
            pieces += made or [texts.value(planner.writer, text, kind)]
        else:
            text = _printed(planner, argument)
            pieces.append(texts.value(planner.writer, text, kind))
    return texts.joined(planner.writer, pieces)


def _printed(planner: Planner, node: ast.expr) -> str:
    kind = planner.facts.kind(node)
    if isinstance(kind, Python):
        return planner.writer.text(node)
    if isinstance(node, ast.Starred) or not is_tensor(kind):
        raise Refusal("what this `print` shows is not known", node, "GL201")
    shape = getattr(kind, "shape", None)
    if not _is_printed_alike(planner.facts, node):
        raise Refusal(
            "a graph prints this value otherwise than Python does", node, "GL201"
        )
    if (
        shape is None
        or None in shape
        or math.prod(d or 0 for d in shape) > MOST_PRINTED
    ):
        raise Unseen(
            "how much of this tensor Python would print is not known", node, "GL201"
        )
    return planner.writer.text(node)


def prints_alike(facts: FunctionFacts, node: ast.stmt) -> bool:
    """Whether a graph can print what a `print` shows of tensors."""
    call = node.value if isinstance(node, ast.Expr) else None
    arguments = call.args if isinstance(call, ast.Call) else []
    return all(
        _is_printed_alike(facts, a) for a in arguments if is_tensor(facts.kind(a))
    )


def _is_printed_alike(facts: FunctionFacts, node: ast.expr) -> bool:
    """Whether `tf.print` shows a tensor as Python does, but for the digits of what is printed where a tensor says so."""
    kind = facts.kind(node)
    if not isinstance(kind, Tensor) or kind.mixed:
        return False
    if kind.dtype in (None, "string", "bool"):
        return _is_text(kind)
    return kind.dtype not in REALS or not kind.weak or _is_steered(facts, node)


def _is_steered(facts: FunctionFacts, node: ast.expr) -> bool:
    """Whether a tensor decides whether, or how often, something is printed: then it is printed there."""
    around = [n for n in facts.staged if isinstance(n, ast.stmt)]
    return any(node in ast.walk(n) for n in around)


def _sunk(planner: Planner, node: ast.Expr) -> list[Step]:
    """The print stays Python's, in the shell; what it shows is given back by the core, as it is at this place."""
    call = node.value
    assert isinstance(call, ast.Call)
    steps: list[Step] = []
    edits: dict[ast.expr, str] = {}
    for argument in given_to(call):
        text = _shown(planner, argument, steps)
        if text is not None:
            edits[argument] = text
    planner.shell.epilogue.append(planner.source.spliced(node, edits))
    return steps


def _number(facts: FunctionFacts, node: ast.expr) -> ast.expr:
    """The tensor of which the shell makes the number that `int(t)` or `float(t)` shows, else the expression itself."""
    match node:
        case ast.Call(func=ast.Name(id="int" | "float" as word), args=[inner]):
            kind, shown = facts.kind(inner), facts.kind(node)
            if isinstance(kind, Tensor) and is_strong(kind) and not kind.mixed:
                numbers = str(kind.dtype).startswith(("int", "float"))
                if numbers and getattr(shown, "weak", None) == word:
                    return inner
    return node


def _shown(planner: Planner, node: ast.expr, steps: list[Step]) -> str | None:
    kind: Kind = planner.facts.kind(node)
    if isinstance(node, ast.Constant):
        return None
    if isinstance(kind, Python) and kind.known:
        return repr(kind.value)
    if (
        isinstance(kind, Python)
        and isinstance(node, ast.Name)
        and node.id in planner.facts.parameters
    ) and node.id not in planner.assigned(planner.facts.definition.node.body):
        return None
    if not isinstance(kind, Tensor) or kind.mixed:
        raise Refusal("what this `print` shows is not known", node, "GL201")
    name = planner.names.fresh(node.id if isinstance(node, ast.Name) else "printed")
    source = _number(planner.facts, node)
    steps.append(Code(f"{name} = {planner.writer.text(source)}"))
    planner.shell.extra.append(name)
    return CONVERSIONS[kind.weak].format(name) if kind.weak else name
