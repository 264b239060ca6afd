"""GL304 local-variable: a `tf.Variable` made in a function is made once, outside."""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from .facts.environment import Environment, FunctionFacts
from .facts.kinds import Function, Kind, Variable
from .facts.modules import ModuleFacts
from .facts.profile import FunctionNode
from .facts.staging import is_optimizer
from .facts.syntax import blocks, bound_names, is_named, names_in, own_nodes
from .inlining import place
from .promotion import Promotion
from .rebuilding import rebuilt, with_origin
from .rule import Rule
from .source import Source

KEPT = frozenset({"trainable", "name"})
LEAVING = (ast.Return, ast.Raise, ast.Assert)
TELLING = frozenset(
    {"ref", "name", "device", "handle", "trainable", "experimental_ref"}
)
"""Attributes by which one Variable differs from another of its dtype and shape."""


class LocalVariable(Rule):
    """A `tf.Variable` made in the body of a function.

    What it finds:
        `name = tf.Variable(...)` in a function.

    Why it matters:
        Each call makes a new Variable; a `tf.function` may make them on its first call only, and raises
        `tf.function only supports singleton tf.Variables created on the first call`.

    Before:
        import tensorflow as tf

        def f(x: tf.Tensor):
            w = tf.Variable(tf.ones([2]) * 0.5)
            w.assign_add(x)
            return w.read_value()

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([3.0, 4.0]),), (tf.constant([0.0, 0.0]),)]

    After:
        import tensorflow as tf

        w = tf.Variable(tf.zeros([2], tf.float32))


        @tf.function(autograph=False, input_signature=[tf.TensorSpec([2], tf.float32)])
        def f(x: tf.Tensor):
            w.assign(tf.ones([2]) * 0.5)
            w.assign_add(x)
            return w.read_value()

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([3.0, 4.0]),), (tf.constant([0.0, 0.0]),)]

    When it is left alone:
        A Variable that is stored, or passed to what is not known. One that is returned, whose first value is random or
        of another size at each call, is made by Python, and given to the graph.
    """

    code = "GL304"
    name = "local-variable"
    errors = (
        r"tf\.function only supports singleton tf\.Variables created on the first call",
        r"tried to create variables on non-first call",
    )


@dataclass
class Hoisted:
    """A function without its own Variables: the new body, and what its module has to make, as texts."""

    node: FunctionNode
    bound: Environment
    statements: list[str] = field(default_factory=list)


def local_variables(
    facts: FunctionFacts,
) -> list[tuple[ast.Assign, ast.Call, Variable]]:
    """The statements `name = tf.Variable(...)` of a function, with the kinds they make."""
    found = []
    for node in own_nodes(facts.definition.node):
        match node:
            case ast.Assign(targets=[ast.Name()], value=ast.Call() as call):
                function, kind = facts.kind(call.func), facts.kind(call)
                if (
                    isinstance(function, Function)
                    and function.name == "tensorflow.Variable"
                    and isinstance(kind, Variable)
                ):
                    found.append((node, call, kind))
    return sorted(found, key=lambda item: place(item[0]))


def made_here(facts: FunctionFacts, name: str, body: Sequence[ast.stmt]) -> Kind | None:
    """What statements make of new Variables under a name, and do no more with; None where they make none."""
    match [s for s in body if name in names_in(s)]:
        case [ast.Assign(targets=[ast.Name(id=target)], value=value)]:
            made = target == name and _is_new(facts, value)
            return facts.kind(value) if made else None
    return None


def _is_new(facts: FunctionFacts, value: ast.expr) -> bool:
    """Whether an expression makes Variables, and holds none that was there before."""
    match value:
        case ast.List(elts=values) | ast.Tuple(elts=values):
            return bool(values) and all(_is_new(facts, v) for v in values)
        case ast.IfExp(body=first, orelse=second):
            return _is_new(facts, first) and _is_new(facts, second)
        case ast.Call(func=function):
            kind = facts.kind(function)
            return isinstance(kind, Function) and kind.name == "tensorflow.Variable"
    return False


def hoist(
    facts: FunctionFacts, module: ModuleFacts, source: Source, tf: str
) -> Hoisted | None:
    """The function with its Variables made outside; None where that cannot keep what eager mode does."""
    found = local_variables(facts)
    definition = facts.definition
    if not found or definition.parent is not None or definition.node.name == "__init__":
        return None
    result = Hoisted(definition.node, Environment())
    replaced: dict[ast.stmt, ast.stmt] = {}
    for node, call, kind in found:
        (target,) = node.targets
        assert isinstance(target, ast.Name)
        initial = _initial(call)
        if initial is None or not _hoistable(facts, module, target.id, call, kind):
            return None
        if _is_constant(facts, target.id):
            replaced[node] = _as_tensor(node, initial, call, kind, tf)
            continue
        result.bound.bind(target.id, kind)
        options = [source.segment(k.value) for k in call.keywords if k.arg in KEPT]
        names = [k.arg for k in call.keywords if k.arg in KEPT]
        kept = "".join(f", {n}={o}" for n, o in zip(names, options, strict=True))
        result.statements.append(
            f"{target.id} = {tf}.Variable({Promotion(tf).zero(kind, node)}{kept})"
        )
        replaced[node] = _as_assign(target.id, initial)
    for old, new in replaced.items():
        new.origin = old  # type: ignore[attr-defined]
    result.node = copy.copy(definition.node)
    result.node.body = _replaced(definition.node.body, replaced)
    return result


def with_names_kept(facts: FunctionFacts) -> FunctionNode | None:
    """The function with `v = v.assign(...)` as `v.assign(...)` where a tensor decides: v is the Variable it was.

    None where it has none.
    """
    node = facts.definition.node
    replaced: dict[ast.stmt, ast.stmt] = {
        inner: _as_call(inner)
        for staged in facts.staged
        if isinstance(staged, ast.If | ast.For | ast.While)
        for inner in ast.walk(staged)
        if isinstance(inner, ast.Assign) and _keeps_name(facts, inner)
    }
    if not replaced:
        return None
    made = copy.copy(node)
    made.body = _replaced(node.body, replaced)
    return made


def _keeps_name(facts: FunctionFacts, node: ast.Assign) -> bool:
    match node:
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Call(
                func=ast.Attribute(
                    value=ast.Name(id=owner) as read,
                    attr="assign" | "assign_add" | "assign_sub",
                ),
                keywords=[],
            ),
        ):
            return name == owner and isinstance(facts.kind(read), Variable)
    return False


def _as_call(node: ast.Assign) -> ast.stmt:
    return with_origin(ast.Expr(node.value), node)


def _initial(call: ast.Call) -> ast.expr | None:
    if len(call.args) == 1 and all(
        k.arg in ("dtype", "trainable", "name") for k in call.keywords
    ):
        return call.args[0]
    return None


def _hoistable(
    facts: FunctionFacts, module: ModuleFacts, name: str, call: ast.Call, kind: Kind
) -> bool:
    assert isinstance(kind, Variable)
    if kind.dtype is None or kind.shape is None or None in kind.shape:
        return False
    if any(
        call in nodes or any(n in nodes for n in ast.walk(call))
        for nodes in (facts.effects.get("random", []),)
    ):
        return False
    taken = (
        name in module.assignments
        or name in module.functions
        or name in module.classes
        or name in module.imports
    )
    if taken or name in facts.parameters:
        return False
    others = [d for d in module.functions.values() if d is not facts.definition]
    if any(is_named(n, name) for d in others for n in ast.walk(d.node)):
        return False
    setters = [
        s for s in _statements(facts.definition.node.body) if name in bound_names(s)
    ]
    return len(setters) == 1 and not escapes(facts, name)


def _statements(body: list[ast.stmt]) -> list[ast.stmt]:
    return [
        s
        for node in body
        for s in (node, *(i for b in blocks(node) for i in _statements(b)))
    ]


def swaps(facts: FunctionFacts) -> list[ast.stmt]:
    """The statements `a, b = b, a` of Variables that a function always runs, where it has been left by nothing before."""
    found: list[ast.stmt] = []
    for node in facts.definition.node.body:
        match node:
            case ast.Assign(
                targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)
            ):
                texts = sorted(map(ast.unparse, values))
                if texts == sorted(set(map(ast.unparse, targets))) and all(
                    isinstance(v, ast.Name | ast.Attribute)
                    and isinstance(facts.kind(v), Variable)
                    for v in values
                ):
                    found.append(node)
        if any(isinstance(n, LEAVING) for n in ast.walk(node)):
            break
    return found


def escapes(facts: FunctionFacts, text: str, apart: Collection[ast.AST] = ()) -> bool:
    """Whether the Variable that a text names itself gets to where it may be kept, or told from another.

    What is `apart` does not count.
    """
    parents = {
        child: node
        for node in ast.walk(facts.definition.node)
        for child in ast.iter_child_nodes(node)
    }
    for node in ast.walk(facts.definition.node):
        if not (
            isinstance(node, ast.Name | ast.Attribute)
            and isinstance(node.ctx, ast.Load)
            and ast.unparse(node) == text
            and node not in apart
        ):
            continue
        parent = parents[node]
        if _is_fitted(facts, node, parents):
            continue
        if isinstance(parent, ast.Attribute):
            if parent.attr in TELLING:
                return True
            continue
        if isinstance(
            parent,
            ast.BinOp | ast.Compare | ast.UnaryOp | ast.Subscript | ast.AugAssign,
        ):
            continue
        if isinstance(parent, ast.Call) and node in parent.args:
            function = facts.kind(parent.func)
            if isinstance(function, Function) and function.name.startswith(
                ("tensorflow.", "method.gradient")
            ):
                continue
        return True
    return False


def _is_fitted(
    facts: FunctionFacts, node: ast.AST, parents: Mapping[ast.AST, ast.AST]
) -> bool:
    """Whether a Variable stands in a list or tuple that only a tape, or an optimizer made in the function, is given."""
    displays = (ast.List, ast.Tuple)
    if not isinstance(parents[node], displays):
        return False
    while isinstance(parents[node], displays) or _is_zip(parents[node]):
        node = parents[node]
    match parents[node]:
        case ast.Call(func=ast.Attribute(attr="gradient") as function):
            kind = facts.kind(function)
            return isinstance(kind, Function) and kind.name == "method.gradient"
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=owner) as made, attr="apply_gradients")
        ):
            own = owner in {
                n for s in facts.definition.node.body for n in bound_names(s)
            }
            return own and is_optimizer(facts.kind(made))
    return False


def _is_zip(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "zip"


def _is_constant(facts: FunctionFacts, name: str) -> bool:
    """Whether nothing writes the Variable or asks for its gradient."""
    for node in ast.walk(facts.definition.node):
        match node:
            case ast.Attribute(value=ast.Name(id=n), attr=attr) if n == name:
                if attr not in ("read_value", "value", "shape", "dtype"):
                    return False
            case ast.Attribute(value=ast.Subscript(value=ast.Name(id=n))) if n == name:
                return False
            case ast.Attribute(attr="GradientTape" | "gradient"):
                return False
    return not any(
        isinstance(n, ast.Attribute)
        and isinstance(n.value, ast.Name)
        and n.value.id == name
        and n.attr in ("read_value", "value")
        for n in ast.walk(facts.definition.node)
    )


def _as_tensor(
    node: ast.Assign, initial: ast.expr, call: ast.Call, kind: Variable, tf: str
) -> ast.stmt:
    literal = isinstance(initial, ast.Constant | ast.List | ast.Tuple | ast.UnaryOp)
    function = ast.Attribute(
        ast.Name(tf, ast.Load()), "constant" if literal else "stop_gradient", ast.Load()
    )
    if not literal and _has_dtype(call):
        cast = ast.Attribute(ast.Name(tf, ast.Load()), "cast", ast.Load())
        dtype_node = ast.Attribute(
            ast.Name(tf, ast.Load()), str(kind.dtype), ast.Load()
        )
        return ast.Assign(
            node.targets,
            ast.Call(function, [ast.Call(cast, [initial, dtype_node], [])], []),
        )
    dtype = (
        [ast.Attribute(ast.Name(tf, ast.Load()), str(kind.dtype), ast.Load())]
        if _has_dtype(call)
        else []
    )
    return ast.Assign(node.targets, ast.Call(function, [initial, *dtype], []))


def _has_dtype(call: ast.Call) -> bool:
    return any(k.arg == "dtype" for k in call.keywords)


def _as_assign(name: str, initial: ast.expr) -> ast.stmt:
    function = ast.Attribute(ast.Name(name, ast.Load()), "assign", ast.Load())
    return ast.Expr(ast.Call(function, [initial], []))


def _replaced(
    body: list[ast.stmt], replaced: dict[ast.stmt, ast.stmt]
) -> list[ast.stmt]:
    return [
        replaced[node]
        if node in replaced
        else rebuilt(node, lambda block: _replaced(block, replaced))
        for node in body
    ]
