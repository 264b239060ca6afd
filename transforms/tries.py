"""GL211 tensor-try: `try` and `with` stay Python's, around graphs of what stands in their blocks."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .apart import involves_tensors
from .facts.environment import FunctionFacts
from .facts.kinds import Object
from .facts.liveness import all_reads
from .facts.modules import ModuleFacts
from .facts.safety import is_safe
from .facts.syntax import all_bound_names, blocks, own_nodes
from .findings import Refusal
from .ordering import only_raises
from .rule import Rule
from .source import made_text
from .steps import Code, Keep, Step

if TYPE_CHECKING:
    from .split_plans import SplitPlanner

ANY = frozenset({"BaseException", "Exception"})
TOO_MUCH = ANY | {"TypeError"}
"""What a graph's call raises of arguments that its signature has no place for, and what includes that."""
QUIET = (
    ast.Assign | ast.AugAssign | ast.Break | ast.Continue | ast.Pass | ast.Return
    | ast.Name | ast.Constant | ast.Tuple | ast.BinOp | ast.Add | ast.Sub | ast.expr_context
)  # fmt: skip
"""What statements consist of that raise nothing."""
STRATEGIES = ("tensorflow.distribute.", "tensorflow.python.distribute.")
"""Where the classes of distribution strategies are."""


class TensorTry(Rule):
    """A `try` around tensor work.

    What it finds:
        `try` with handlers in functions that work on tensors.

    Why it matters:
        The operations of a graph run when its `try` is long left, so no handler sees what they raise.

    Before:
        import tensorflow as tf

        def f(x: tf.Tensor):
            try:
                y = tf.linalg.inv(x)
            except tf.errors.InvalidArgumentError:
                y = tf.zeros_like(x) - 1.0
            return y

        ARGS = [(tf.eye(2),), (tf.zeros([2, 2]),), (2.0 * tf.eye(2),)]

    After:
        import tensorflow as tf

        @tf.function(autograph=False, input_signature=[tf.TensorSpec([2, 2], tf.float32)])
        def f_graph(x):
            return tf.linalg.inv(x)


        @tf.function(autograph=False, input_signature=[tf.TensorSpec([2, 2], tf.float32)])
        def f_fallback_graph(x):
            return tf.zeros_like(x) - 1.0


        def f(x: tf.Tensor):
            try:
                y = f_graph(x)
            except tf.errors.InvalidArgumentError:
                y = f_fallback_graph(x)
            return y

        ARGS = [(tf.eye(2),), (tf.zeros([2, 2]),), (2.0 * tf.eye(2),)]

    When it is left alone:
        A `try` whose block changes state or prints before it fails, or works out in its middle what no one reads,
        handlers that look at the exception, and those that catch any where the graph is not the block as it is.
    """

    code = "GL211"
    name = "tensor-try"


def keeps(splits: SplitPlanner, facts: FunctionFacts, node: ast.stmt) -> bool:
    """Whether a `with` does what only Python can before and after its block, and lets exceptions pass or hides them."""
    if suppressed(splits.module, node):
        return True
    return isinstance(node, ast.With) and all(
        item.optional_vars is None and _lets_pass(splits, facts, item.context_expr)
        for item in node.items
    )


def _lets_pass(splits: SplitPlanner, facts: FunctionFacts, manager: ast.expr) -> bool:
    """Whether a context manager is of the file's own or the scope of a strategy, and hides no exception."""
    module = splits.module
    kind = facts.kind(manager)
    of_class = isinstance(kind, Object)
    owner = splits.session.class_of(kind.name) if of_class else None  # type: ignore[attr-defined]
    leaving = module.method(owner.qualname, "__exit__") if owner else None
    if leaving is not None:
        returned = [
            n.value for n in own_nodes(leaving.original) if isinstance(n, ast.Return)
        ]
        return all(
            v is None or (isinstance(v, ast.Constant) and not v.value) for v in returned
        )
    match manager:
        case ast.Call(func=ast.Attribute(value=strategy, attr="scope"), args=[]):
            name = str(getattr(facts.kind(strategy), "name", ""))
            return name.startswith(STRATEGIES)
        case ast.Call(func=ast.Name(id=name)) if name in module.functions:
            made = module.functions[name].original
            inner = list(ast.walk(made))
            named = [ast.unparse(d).rpartition(".")[2] for d in made.decorator_list]
            return named == ["contextmanager"] and not any(
                isinstance(n, ast.ExceptHandler | ast.With) for n in inner
            )
    return False


def check_end(facts: FunctionFacts, node: ast.Try) -> None:
    """Refuse a `finally` that works on tensors, or sees how far the blocks came."""
    earlier = [
        *node.body,
        *node.orelse,
        *(s for h in node.handlers for s in h.body),
    ]
    bound = {n for s in earlier for n in all_bound_names(s)}
    works = any(involves_tensors(facts, s) for s in node.finalbody)
    read = {n for s in node.finalbody for n in all_reads(s)}
    if bound & read or works or leaves(node.finalbody):
        raise Refusal(
            "its `finally` does more than what Python does always",
            node.finalbody[0],
            "GL211",
        )


def catches_any(node: ast.Try) -> bool:
    """Whether a `try` has one handler, which takes whatever is raised and neither looks at it nor raises it again."""
    if len(node.handlers) != 1:
        return False
    (handler,) = node.handlers
    caught = handler.type is None or (
        isinstance(handler.type, ast.Name) and handler.type.id in ANY
    )
    again = [
        n
        for n in ast.walk(handler)
        if isinstance(n, ast.Raise) and not isinstance(n.exc, ast.Call)
    ]
    return caught and not again


def check_as_it_is(steps: list[Step], body: list[ast.stmt], outs: list[str]) -> None:
    """Refuse a graph that is not the block as it stands: of other shapes and types it might do something else."""
    *whole, last = steps if outs else [*steps, Keep(body[-1])]
    made = [made_text(s) for s in body]
    kept = all(
        isinstance(step, Keep) or (isinstance(step, Code) and step.text in made)
        for step in whole
    )
    plain = isinstance(last, Keep) or (
        isinstance(last, Code) and last.text == f"return {', '.join(outs)}"
    )
    if not (kept and plain):
        raise Refusal(
            "its handler would hide that a graph does not take a new shape",
            body[0],
            "GL211",
        )


def check_caught(caught: list[ast.expr], where: ast.AST) -> None:
    """Refuse a handler of these that would also catch what a graph raises of a shape that it does not take."""
    named = [n for kind in caught for n in ast.walk(kind)]
    if not caught or any(isinstance(n, ast.Name) and n.id in TOO_MUCH for n in named):
        raise Refusal(
            "its handler would hide that a graph does not take a new shape",
            where,
            "GL211",
        )


def suppressed(module: ModuleFacts, node: ast.stmt) -> list[ast.expr]:
    """The exceptions that a `with` hides, where it does nothing else."""
    match node:
        case ast.With(
            items=[
                ast.withitem(
                    context_expr=ast.Call(func=function, args=[_, *_] as caught),
                    optional_vars=None,
                )
            ]
        ):
            name = module.imported(ast.unparse(function))
            return caught if name == "contextlib.suppress" else []
    return []


def names_any(caught: list[ast.expr]) -> bool:
    """Whether any exception is among these."""
    return any(isinstance(c, ast.Name) and c.id in ANY for c in caught)


def check_suppressed(node: ast.With, needed: frozenset[str]) -> None:
    """Refuse where what follows sees how far the block came."""
    bound = {n for s in node.body for n in all_bound_names(s)} & needed
    if bound and (len(node.body) > 1 or blocks(node.body[0])):
        raise Refusal(f"how far the `with` came tells `{min(bound)}`", node, "GL211")


def check_handler(
    facts: FunctionFacts, tried: ast.Try, handler: ast.ExceptHandler, bound: set[str]
) -> None:
    """Refuse handlers that see how far the block came, or what the exception of a graph says."""
    own = all(_raises_only_itself(facts, s) for s in tried.body)
    causes = {id(n.cause) for n in ast.walk(handler) if isinstance(n, ast.Raise)}
    causes |= {id(a) for n in ast.walk(handler) for a in _asked_type(n)}
    for node in ast.walk(handler):
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            continue
        if node.id == handler.name and id(node) not in causes and not own:
            raise Refusal("a graph words its exceptions otherwise", node, "GL211")
        if node.id in bound:
            raise Refusal(f"how far the `try` came tells `{node.id}`", node, "GL211")


def _raises_only_itself(facts: FunctionFacts, node: ast.stmt) -> bool:
    """Whether only a `raise` or `assert` of the statement raises, whatever its tensors hold."""
    match node:
        case ast.If(test=test) | ast.Assert(test=test) if only_raises(node):
            return is_safe(facts, test)
        case ast.Assign(targets=[ast.Name()], value=value) | ast.Return(value=value):
            return value is None or is_safe(facts, value)
    return False


def _asked_type(node: ast.AST) -> list[ast.expr]:
    """What this asks the type of."""
    match node:
        case ast.Call(func=ast.Name(id="type"), args=[asked]):
            return [asked]
    return []


def check_rest(
    facts: FunctionFacts, node: ast.Try, handler: ast.ExceptHandler, read: set[str]
) -> None:
    """Refuse where what follows sees how far the block came: it reads what the handler does not set."""
    first, *rest = node.body
    inner = [n for s in rest for n in ast.walk(s)]
    quiet = all(isinstance(n, QUIET) for n in inner) and not any(
        involves_tensors(facts, s) for s in rest
    )
    if quiet and not blocks(first):
        return
    left = read - {n for s in handler.body for n in all_bound_names(s)}
    if left:
        raise Refusal(f"how far the `try` came tells `{min(left)}`", handler, "GL211")


def check_attempt(found: FunctionFacts, body: list[ast.stmt], outs: list[str]) -> None:
    """Refuse blocks that do more than compute before they fail, or whose failing operations a graph would leave out."""
    if found.effects.keys() - {"assert"}:
        raise Refusal("the `try` changes something before it fails", body[0], "GL211")
    asserts = {id(n) for n in found.effects.get("assert", ())}
    needed = set(outs)
    for node in reversed(body):
        checks = isinstance(node, ast.Expr) and id(node.value) in asserts
        bound = needed & set(all_bound_names(node))
        if not (checks or bound or isinstance(node, ast.Return)):
            raise Refusal("a graph leaves out what no one reads", node, "GL211")
        needed |= all_reads(node)


def leaves(body: list[ast.stmt]) -> bool:
    """Whether a block never comes to what follows it."""
    return isinstance(body[-1], ast.Return | ast.Raise | ast.Break | ast.Continue)
