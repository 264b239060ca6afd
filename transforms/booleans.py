"""GL103 tensor-bool: `and`, `or`, `not`, chained comparisons and identity tests that a tensor decides."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from . import negations, static_shapes
from .facts.kinds import BOOL, Kind, Python, Tensor
from .facts.safety import broadcasts, is_safe
from .facts.staging import is_bool, is_tensor
from .findings import Refusal
from .rule import TRUTH, Rule

if TYPE_CHECKING:
    from .expressions import Writer


class TensorBool(Rule):
    """Python's `and`, `or`, `not`, a chained comparison or `is True` meets a tensor.

    What it finds:
        Boolean operators, chained comparisons and identity tests whose value depends on a tensor.

    Why it matters:
        They ask a tensor for its truth while Python runs. In a graph a tensor has none, so tracing stops with
        `Using a symbolic tf.Tensor as a Python bool is not allowed`; an identity test silently takes the wrong way.

    Before:
        import tensorflow as tf

        def f(x: tf.Tensor):
            if 0.0 < x < 10.0 and not x == 5.0:
                return x * 2.0
            return x

        ARGS = [(tf.constant(3.0),), (tf.constant(5.0),), (tf.constant(30.0),)]

    After:
        import tensorflow as tf

        @tf.function(autograph=False, input_signature=[tf.TensorSpec([], tf.float32)])
        def f(x: tf.Tensor):
            return tf.cond(
                tf.logical_and(tf.logical_and(0.0 < x, x < 10.0), x != 5.0),
                lambda: x * 2.0,
                lambda: x,
            )

        ARGS = [(tf.constant(3.0),), (tf.constant(5.0),), (tf.constant(30.0),)]

    When it is left alone:
        The truth of a tensor of more than one element, `in` a tensor, and `and`/`or` used for the value of an
        operand that is no bool. What can be done: say what is meant, with `tf.reduce_any`, `tf.reduce_all`,
        `tf.reduce_any(x == y)` for `y in x`, `x if x != 0 else y` for `x or y`.
    """

    code = "GL103"
    name = "tensor-bool"
    errors = (
        TRUTH,
        r"LogicalNot.*does not match expected type",
    )


def negation(writer: Writer, node: ast.UnaryOp) -> str:
    """The text of `not operand`."""
    kind = writer.kind(node.operand)
    dtype = getattr(kind, "dtype", None)
    if is_tensor(kind) and dtype not in (None, "bool", "string"):
        text = f"{writer.tf}.equal({writer.text(node.operand)}, 0)"
    elif unequal := _unequal(writer, node.operand):
        text = unequal
    else:
        text = negations.negated(writer, node.operand)
    return _scalar(writer, node, text)


def _unequal(writer: Writer, node: ast.expr) -> str | None:
    """The text of `not a == b`, which is `a != b` of tensors, and the other way round; None of anything else."""
    match node:
        case ast.Compare(
            left=left, ops=[ast.Eq() | ast.NotEq() as op], comparators=[right]
        ):
            other = ast.NotEq() if isinstance(op, ast.Eq) else ast.Eq()
            if is_tensor(writer.kind(left)) or is_tensor(writer.kind(right)):
                return _pair(writer, left, other, right)
    return None


def junction(writer: Writer, node: ast.BoolOp) -> str:
    """The text of `a and b` or `a or b`; a side that must not run where Python would not run it goes into a cond."""
    is_and = isinstance(node.op, ast.And)
    operands = [
        v
        for v in node.values
        if v in writer.facts.kinds and not _passes(writer.kind(v), is_and)
    ]
    for operand in operands:
        if node not in writer.facts.tests and not is_bool(writer.kind(operand)):
            raise Refusal(
                "`and`/`or` for the value of an operand is not lifted", node, "GL103"
            )
    result = _operand(writer, operands[-1])
    for operand in reversed(operands[:-1]):
        result = _joined(writer, is_and, operand, result, _safe(writer, node, operand))
    return _scalar(writer, node, result)


def _scalar(writer: Writer, node: ast.expr, text: str) -> str:
    """A Python bool as a scalar: a test may have dimensions of size 1, what stands for its value has none."""
    if node in writer.facts.tests or getattr(writer.kind(node), "shape", None) != ():
        return text
    return f"{writer.tf}.reshape({text}, [])" if is_unsized(writer, node) else text


def is_unsized(writer: Writer, node: ast.expr) -> bool:
    """Whether the shape of what a bool is worked out from is not known."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return is_unsized(writer, operand)
        case ast.BoolOp(values=values):
            return any(is_unsized(writer, value) for value in values)
    return getattr(writer.kind(node), "shape", ()) is None


def _operand(writer: Writer, node: ast.expr) -> str:
    return writer.predicate(node)


def _joined(
    writer: Writer, is_and: bool, left: ast.expr, right: str, safe: bool
) -> str:
    tf = writer.tf
    kind = writer.kind(left)
    if isinstance(kind, Python):
        return f"{tf}.convert_to_tensor({writer.atom(left)} {'and' if is_and else 'or'} {right})"
    first = _operand(writer, left)
    if safe:
        return f"{tf}.logical_{'and' if is_and else 'or'}({first}, {right})"
    if is_and:
        return f"{tf}.cond({first}, lambda: {right}, lambda: {tf}.constant(False))"
    return f"{tf}.cond({first}, lambda: {tf}.constant(True), lambda: {right})"


def _safe(writer: Writer, node: ast.BoolOp, left: ast.expr) -> bool:
    """Whether everything right of an operand may run where Python would have stopped at it."""
    after = node.values[node.values.index(left) + 1 :]
    return all(is_safe(writer.facts, value) for value in after)


def _passes(kind: Kind, is_and: bool) -> bool:
    """Whether an operand is known to let the next one decide."""
    return isinstance(kind, Python) and kind.known and bool(kind.value) is is_and


def comparison(writer: Writer, node: ast.Compare) -> str | None:
    """The text of a comparison, chained ones as a logical_and; None where it stays."""
    if node not in writer.facts.kinds:
        return None
    identity = _identity(writer, node)
    if identity is not None:
        return identity
    contained = isinstance(node.ops[0], ast.In | ast.NotIn)
    if contained and is_tensor(writer.kind(node)):
        raise Refusal(f"`{ast.unparse(node)}` is not lifted", node, "GL103")
    operands = [node.left, *node.comparators]
    pairs = list(zip(operands, node.ops, operands[1:], strict=False))
    texts = [_pair(writer, left, op, right) for left, op, right in pairs]
    if node not in writer.facts.staged:
        return (
            texts[0]
            if len(texts) == 1
            and texts[0] != writer.source.segment(node)
            and _changed(writer, pairs[0])
            else None
        )
    if any(
        not isinstance(n, ast.Name | ast.Constant | ast.Attribute)
        for n in node.comparators[:-1]
    ):
        raise Refusal("a chained comparison evaluates its middle once", node, "GL103")
    result = texts[-1]
    for i in range(len(texts) - 2, -1, -1):
        later = pairs[i + 1 :]
        if all(
            is_safe(writer.facts, right) and broadcasts(writer.facts, left, right)
            for left, _, right in later
        ):
            result = f"{writer.tf}.logical_and({texts[i]}, {result})"
        else:
            result = f"{writer.tf}.cond({texts[i]}, lambda: {result}, lambda: {writer.tf}.constant(False))"
    return result


def _changed(writer: Writer, pair: tuple[ast.expr, ast.cmpop, ast.expr]) -> bool:
    left, _, right = pair
    a, b = _promoted(writer, left, right)
    return (a, b) != (writer.source.segment(left), writer.source.segment(right))


def _promoted(writer: Writer, left: ast.expr, right: ast.expr) -> tuple[str, str]:
    return writer.promotion.operands(
        (writer.text(left), writer.kind(left), left),
        (writer.text(right), writer.kind(right), right),
    )


def _pair(writer: Writer, left: ast.expr, op: ast.cmpop, right: ast.expr) -> str:
    a, b = (writer.text(left), writer.text(right))
    rank = static_shapes.compared_rank(writer, left, right)
    if rank is not None:
        a = rank
    elif not isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn):
        a, b = _promoted(writer, left, right)
    return f"{_operand_text(left, a)} {_SIGNS[type(op)]} {_operand_text(right, b)}"


def _operand_text(node: ast.expr, text: str) -> str:
    return text if _binds_tighter(node) else f"({text})"


def _binds_tighter(node: ast.expr) -> bool:
    return isinstance(
        node,
        ast.BinOp | ast.Name | ast.Constant | ast.Call | ast.Attribute | ast.Subscript,
    ) or (isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not))


def _identity(writer: Writer, node: ast.Compare) -> str | None:
    """`flag is True` of a Python bool held in a tensor is the flag itself."""
    if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Is | ast.IsNot):
        return None
    left, right = writer.kind(node.left), writer.kind(node.comparators[0])
    if not (
        isinstance(left, Tensor)
        and left.weak == "bool"
        and isinstance(right, Python)
        and right.type == BOOL.type
    ):
        return None
    text = writer.text(node.left)
    keeps = bool(right.value) == isinstance(node.ops[0], ast.Is)
    return text if keeps else negations.of_text(writer, node.left, text)


_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
