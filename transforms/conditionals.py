"""GL101 tensor-if and GL102 tensor-ternary: a Python branch on a tensor becomes `tf.cond`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import negations
from .booleans import is_unsized
from .endings import as_expression
from .facts.environment import Environment
from .facts.kinds import NONE, UNKNOWN, Kind, Tensor
from .facts.staging import fits_graph
from .facts.syntax import bound_names
from .findings import Refusal
from .rule import ARMS, TRUTH, Rule
from .source import is_placed
from .steps import Code, Define, Step, read_first, with_origin

if TYPE_CHECKING:
    from .expressions import Writer
    from .planner import Planner


class TensorIf(Rule):
    """An `if` whose test is a tensor.

    What it finds:
        `if`, `elif` and early returns that a tensor decides.

    Why it matters:
        Eager mode waits for the tensor and takes one way in Python. A graph is traced before the value is known:
        Keras and plain Python callers stop with an error, and dtypes or names that differ between the arms break it.

    Before:
        import tensorflow as tf

        def f(x: tf.Tensor):
            if tf.reduce_sum(x) > 0.0:
                y = x * 2.0
            else:
                y = -x
            return y

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([-1.0, 0.5]),), (tf.constant([0.0, 0.0]),)]

    After:
        import tensorflow as tf

        @tf.function(autograph=False, input_signature=[tf.TensorSpec([2], tf.float32)])
        def f(x: tf.Tensor):
            y = tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * 2.0, lambda: -x)
            return y

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([-1.0, 0.5]),), (tf.constant([0.0, 0.0]),)]

    When it is left alone:
        Arms that leave values of other structure or of dtypes that no tensor holds both of, and arms that raise,
        change a caller's objects, or call what is not known. What can be done: give a name the same kind of value in
        both arms and before them (`tf.constant(0.0)`, not `None` or `0`; `tf.cast` where dtypes differ), and
        return what changed instead of changing it.
    """

    code = "GL101"
    name = "tensor-if"
    errors = (
        TRUTH,
        ARMS,
        r"has dtype \w+ in the main branch, but dtype \w+ in the else branch",
        r"is None at the end of the (else|main) branch",
    )


class TensorTernary(Rule):
    """A conditional expression whose test is a tensor.

    What it finds:
        `a if test else b` where a tensor decides the test.

    Why it matters:
        It asks the tensor for its truth while Python runs, which a graph refuses; and AutoGraph wants both sides of
        one dtype.

    Before:
        import tensorflow as tf

        def f(x: tf.Tensor):
            sign = 1 if tf.reduce_sum(x) > 0.0 else -0.5
            return x * sign

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([-1.0, 0.5]),), (tf.constant([0.0, 0.0]),)]

    After:
        import tensorflow as tf

        @tf.function(autograph=False, input_signature=[tf.TensorSpec([2], tf.float32)])
        def f(x: tf.Tensor):
            sign = tf.where(
                tf.reduce_sum(x) > 0.0,
                tf.constant(1, tf.float64),
                tf.constant(-0.5, tf.float64),
            )
            return x * tf.cast(sign, x.dtype)

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([-1.0, 0.5]),), (tf.constant([0.0, 0.0]),)]

    When it is left alone:
        Sides that no one tensor can hold, such as a function and a tensor, or None and a tensor. What can be done:
        a tensor that says "nothing" (zeros, NaN) in the place of None, or the call in both sides.
    """

    code = "GL102"
    name = "tensor-ternary"
    errors = (TRUTH, ARMS)


def ternary(writer: Writer, node: ast.IfExp) -> str:
    """The text of a conditional expression that a tensor decides."""
    want = writer.kind(node)
    arms = [
        writer.promotion.coerced(writer.text(e), writer.kind(e), want, e)
        for e in (node.body, node.orelse)
    ]
    return _chosen(writer, node.test, arms, want)


def _chosen(writer: Writer, test: ast.expr, arms: list[str], kind: Kind) -> str:
    """The text of one of two values of a kind. Scalars that are there already need no arms.

    Only a cond holds a test of unknown shape to be one that Python could decide.
    """
    tf = writer.tf
    test, holds, swapped = _predicate(writer, test)
    first, second = arms = arms[::-1] if swapped else arms
    scalar = isinstance(kind, Tensor) and kind.shape == ()
    ready = scalar and not is_unsized(writer, test)
    if ready and is_ready(first, tf) and is_ready(second, tf):
        negated = negations.of_text(writer, test, holds)
        return (
            _flag(holds, negated, arms, tf) or f"{tf}.where({holds}, {first}, {second})"
        )
    return f"{tf}.cond({holds}, lambda: {first}, lambda: {second})"


def _predicate(writer: Writer, test: ast.expr) -> tuple[ast.expr, str, bool]:
    """A test without its `not`, the text of that, and whether the arms change places for it.

    Only where the file asks whether a number is zero, its `not` stays.
    """
    swapped = False
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            answers = getattr(writer.kind(operand), "dtype", None) == "bool"
            if answers or not is_placed(test):
                test, swapped = operand, True
    text = writer.predicate(test)
    match ast.parse(text, mode="eval").body:
        case ast.Call(func=function, args=[negated], keywords=[]):
            if ast.unparse(function) == f"{writer.tf}.logical_not":
                text, swapped = ast.get_source_segment(text, negated) or "", not swapped
    return test, text, swapped


def _flag(holds: str, negated: str, arms: list[str], tf: str) -> str | None:
    """The text of one of two bools, of which one is a constant, in logic; None where none is."""
    yes, no = f"{tf}.constant(True)", f"{tf}.constant(False)"
    match arms:
        case [first, second] if {first, second} == {yes, no}:
            return holds if first == yes else negated
        case [first, other] if first == yes:
            return f"{tf}.logical_or({holds}, {other})"
        case [first, other] if first == no:
            return f"{tf}.logical_and({negated}, {other})"
        case [other, second] if second == yes:
            return f"{tf}.logical_or({negated}, {other})"
        case [other, second] if second == no:
            return f"{tf}.logical_and({holds}, {other})"
    return None


def is_ready(text: str, tf: str) -> bool:
    """Whether a text is a name or a constant tensor, so that nothing is worked out in an arm of its own."""
    match ast.parse(text, mode="eval").body:
        case ast.Name():
            return True
        case ast.Call(func=function, args=[ast.Constant() | ast.UnaryOp(), *_]):
            return ast.unparse(function) == f"{tf}.constant"
    return False


def lower_if(planner: Planner, node: ast.If) -> list[Step]:
    """The steps in the place of an `if` that a tensor decides."""
    if planner.always_returns([node]):
        if not fits_graph(planner.facts.result):
            raise Refusal(
                f"it returns one of several: {planner.facts.result}", node, "GL101"
            )
        if planner.facts.result == NONE and not planner.has_effects(node):
            return []
        text, steps = _call(planner, node, None)
        return with_origin([*steps, Code(f"return {text}")], node)
    after = planner.facts.after.get(node)
    outs = planner.outs(node)
    nones = [n for n in outs if after and after.kinds[n] == NONE]
    outs = [n for n in outs if n not in nones]
    set_none: list[Step] = [
        Code(f"{n} = None")
        for n in nones
        if planner.facts.before[node].kinds.get(n) != NONE
    ]
    if not outs and not planner.has_effects(node):
        return set_none
    text, steps = _call(planner, node, outs)
    target = ", ".join(outs)
    made = Code(f"{target} = {text}" if outs else text)
    return [*with_origin([*steps, made], node), *set_none]


def _call(
    planner: Planner, node: ast.If, outs: list[str] | None
) -> tuple[str, list[Step]]:
    """The `tf.cond` of an `if`, and the steps that define its arms; `outs` None: the arms return from the function."""
    after = planner.facts.after.get(node)
    steps: list[Step] = []
    texts = []
    arms = _expressions(planner, node, outs)
    if arms is not None:
        return _chosen(
            planner.writer, node.test, arms, _given(planner, outs, after)
        ), []
    _, predicate, swapped = _predicate(planner.writer, node.test)
    ways = [node.orelse, node.body] if swapped else [node.body, node.orelse]
    for arm, name in zip(ways, ("true_fn", "false_fn"), strict=True):
        expression = arm_expression(planner, node, arm, outs, after)
        if expression is not None:
            texts.append(f"lambda: {expression}")
            continue
        definition, call = _defined(planner, node, arm, name, outs, after)
        steps += definition
        texts.append(call)
    return f"{planner.tf}.cond({predicate}, {texts[0]}, {texts[1]})", steps


def _defined(
    planner: Planner,
    node: ast.If,
    arm: list[ast.stmt],
    name: str,
    outs: list[str] | None,
    after: Environment | None,
) -> tuple[list[Step], str]:
    """An arm of statements: a nested function, unless they come to one expression after all, and what calls it.

    What the arm reassigns and reads is passed in, not captured.
    """
    name = planner.names.fresh(name)
    body = planner.block(arm)
    if outs is not None:
        body += _result(planner, node, arm, outs, after)
    read = read_first(body)
    named = planner.read_and_assigned(arm, outs or [])
    parameters = tuple(parameter for parameter in named if parameter in read)
    body = [*planner.copies(arm, parameters), *body]
    expression = as_expression(body, planner.source)
    if expression is not None and not planner.source.has_comment(arm):
        planner.names.free(name)
        return [], f"lambda: {expression}"
    call = f"lambda: {name}({', '.join(parameters)})" if parameters else name
    return [Define(name, parameters, body)], call


def _result(
    planner: Planner,
    node: ast.If,
    arm: list[ast.stmt],
    outs: list[str],
    after: Environment | None,
) -> list[Step]:
    if not outs:
        return []
    end = planner.end_of(node, arm)
    values = [_out(planner, node, end, name, after) for name in outs]
    return [Code("return " + ", ".join(values))]


def _out(
    planner: Planner,
    node: ast.If,
    end: Environment,
    name: str,
    after: Environment | None,
) -> str:
    """The value of a name at the end of an arm, as both arms give it."""
    want = after.kinds[name] if after else UNKNOWN
    have = end.kinds.get(name)
    if have is None:
        return planner.zero(name, want, node)
    planner.check_bound(name, end, node)
    return _coerced(planner, node, name, have, want)


def _coerced(planner: Planner, node: ast.If, name: str, have: Kind, want: Kind) -> str:
    if want == UNKNOWN:
        raise Refusal(
            f"after this `if`, `{name}` may be {have} or something else", node, "GL101"
        )
    return planner.promotion.coerced(
        planner.constant_text(name, have), have, want, node
    )


def arm_expression(
    planner: Planner,
    node: ast.If,
    arm: list[ast.stmt],
    outs: list[str] | None,
    after: Environment | None,
) -> str | None:
    """An arm as one expression; None where it needs statements."""
    if planner.source.has_comment(arm) or planner.has_effects_in(arm):
        return None
    end = planner.end_of(node, arm)
    arm = [s for s in arm if not isinstance(s, ast.Pass)]
    if outs is None:
        return _returned(planner, arm)
    if not outs:
        return "None" if not arm else None
    if len(arm) == 1 and isinstance(arm[0], ast.If) and len(planner.outs(arm[0])) > 1:
        return _nested_alike(planner, arm[0], outs, after)
    values: dict[str, str] = {}
    unread: set[str] = set()
    for statement in arm:
        if planner.reads(statement) & (values.keys() | unread):
            return None
        if _is_constant_for(statement, outs):
            unread |= set(bound_names(statement))
            continue
        found = _value_of(planner, statement, outs, after, values)
        if found is None:
            return None
        values |= found
    parts = [
        values[n] if n in values else _out(planner, node, end, n, after) for n in outs
    ]
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def _returned(planner: Planner, arm: list[ast.stmt]) -> str | None:
    match arm:
        case [ast.Return(value=value) as node]:
            if value and planner.returns.taken_apart(value) is not None:
                return None
            return _grouped(planner.returned(node))
        case [ast.If() as node] if (
            node in planner.facts.staged and planner.always_returns([node])
        ):
            return _nested(planner, node, None)
    return None


def _grouped(text: str) -> str:
    """A text that may be a tuple without parentheses, as one that stands among others."""
    call = ast.parse(f"f({text})", mode="eval").body
    return f"({text})" if isinstance(call, ast.Call) and len(call.args) > 1 else text


def _nested(planner: Planner, node: ast.If, outs: list[str] | None) -> str | None:
    arms = _expressions(planner, node, outs)
    if arms is None:
        return None
    kind = _given(planner, outs, planner.facts.after.get(node))
    return _chosen(planner.writer, node.test, arms, kind)


def _nested_alike(
    planner: Planner, node: ast.If, outs: list[str], after: Environment | None
) -> str | None:
    """An `if` that is all of an arm, as a value of the arm's own; None where its values would have to be cast."""
    end = planner.facts.after.get(node)
    if node not in planner.facts.staged or after is None or end is None:
        return None
    alike = all(end.kinds.get(n, UNKNOWN) == after.kinds[n] != UNKNOWN for n in outs)
    return _nested(planner, node, outs) if alike else None


def _is_constant_for(node: ast.stmt, outs: Sequence[str]) -> bool:
    """Whether a statement sets a name to a constant, and the name does not leave the arm."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant()):
            return name not in outs
    return False


def _expressions(
    planner: Planner, node: ast.If, outs: list[str] | None
) -> list[str] | None:
    """Both arms as expressions; None where one needs statements."""
    after = planner.facts.after.get(node)
    arms = [
        arm_expression(planner, node, arm, outs, after)
        for arm in (node.body, node.orelse)
    ]
    return [arm for arm in arms if arm is not None] if None not in arms else None


def _given(planner: Planner, outs: list[str] | None, after: Environment | None) -> Kind:
    """The kind of the one value that both arms give; unknown where it is not one."""
    if outs is None:
        return planner.facts.result
    return after.kinds[outs[0]] if after and len(outs) == 1 else UNKNOWN


def _value_of(
    planner: Planner,
    node: ast.stmt,
    outs: Sequence[str],
    after: Environment | None,
    earlier: dict[str, str],
) -> dict[str, str] | None:
    """The values a statement gives to names that leave the arm, as texts; None where that takes more."""
    writer = planner.writer
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if (
            name in outs and name not in earlier
        ):
            text = _grouped(writer.text(value))
            pairs = [(name, text, planner.stored_kind(node, name))]
        case ast.AugAssign(target=ast.Name(id=name)) if (
            name in outs and name not in earlier
        ):
            pairs = [
                (name, planner.augmented(node)[1], planner.stored_kind(node, name))
            ]
        case ast.Assign(
            targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)
        ) if len(names) == len(values) and all(
            isinstance(n, ast.Name) and n.id in outs and n.id not in earlier
            for n in names
        ):
            pairs = [
                (n.id, writer.text(v), planner.stored_kind(node, n.id))
                for n, v in zip(names, values, strict=True)
                if isinstance(n, ast.Name)
            ]
        case ast.If() if node in planner.facts.staged and not earlier:
            inner = planner.outs(node)
            if len(inner) != 1 or inner[0] not in outs:
                return None
            nested = _nested(planner, node, inner)
            end = planner.facts.after.get(node)
            if nested is None or end is None:
                return None
            pairs = [(inner[0], nested, end.kinds.get(inner[0], UNKNOWN))]
        case _:
            return None
    if any("\n" in text and "#" in text for _, text, _ in pairs):
        return None
    result = {}
    for name, text, have in pairs:
        want = after.kinds[name] if after else UNKNOWN
        if want == UNKNOWN:
            raise Refusal(
                f"after this `if`, `{name}` may be {have} or something else",
                node,
                "GL101",
            )
        result[name] = planner.promotion.coerced(text, have, want, node)
    return result
