"""GL305 local-stateful: an optimizer, metric or generator made in a function is made once, outside."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable
from dataclasses import dataclass

from .facts.environment import Environment, FunctionFacts
from .facts.kinds import Function, Object, Variable, members
from .facts.modules import ModuleFacts
from .facts.staging import is_optimizer
from .facts.syntax import bound_names, given_to, is_named, own_nodes
from .findings import Refusal
from .inlining import bare
from .rebuilding import with_origin
from .rule import Rule
from .source import Names, Source
from .variables import Hoisted

KERAS = "tensorflow.keras."
RATE = frozenset({"learning_rate", "name", "clipnorm", "clipvalue", "global_clipnorm"})
OPTIMIZERS = {
    "SGD": RATE | {"momentum", "nesterov"},
    "Adam": RATE | {"beta_1", "beta_2", "epsilon", "amsgrad"},
    "AdamW": RATE | {"beta_1", "beta_2", "epsilon", "amsgrad", "weight_decay"},
    "Adamax": RATE | {"beta_1", "beta_2", "epsilon"},
    "RMSprop": RATE | {"rho", "momentum", "epsilon", "centered"},
    "Adadelta": RATE | {"rho", "epsilon"},
}
"""Optimizers whose variables start as zeros, and the options that change nothing about that."""
USES = {
    "optimizers": frozenset({"apply_gradients"}),
    "metrics": frozenset({"update_state", "result", "reset_state"}),
    "random": frozenset(
        {"normal", "uniform", "uniform_full_int", "truncated_normal", "binomial"}
    ),
}


class LocalStateful(Rule):
    """An optimizer, a metric or a generator of random numbers made in the body of a function.

    What it finds:
        `name = tf.keras.optimizers.Adam(...)`, `name = tf.keras.metrics.Mean()` and
        `name = tf.random.Generator.from_seed(1)` in a function that works on tensors.

    Why it matters:
        Each of them makes variables. A `tf.function` may make variables on its first call only, and raises
        `tf.function only supports singleton tf.Variables created on the first call`; where it does not, all calls
        share what eager mode made anew.

    Before:
        import tensorflow as tf

        w = tf.Variable(1.0)

        def f(x: tf.Tensor):
            opt = tf.keras.optimizers.SGD(0.1)
            with tf.GradientTape() as tape:
                loss = (w - x) ** 2
            opt.apply_gradients([(tape.gradient(loss, w), w)])
            return loss

        ARGS = [(tf.constant(3.0),), (tf.constant(2.0),), (tf.constant(0.0),)]

    After:
        import tensorflow as tf

        w = tf.Variable(1.0)

        opt = tf.keras.optimizers.SGD(0.1)


        @tf.function(autograph=False, input_signature=[tf.TensorSpec([], tf.float32)])
        def f(x: tf.Tensor):
            with tf.GradientTape() as tape:
                loss = (w - x) ** 2
            opt.apply_gradients([(tape.gradient(loss, w), w)])
            return loss

        ARGS = [(tf.constant(3.0),), (tf.constant(2.0),), (tf.constant(0.0),)]

    When it is left alone:
        One that is returned, stored or passed on, whose options are not constants, or whose variables do not start as
        zeros; models, and layers that have variables, but for a `Dense` of constant weights, which becomes a product.
    """

    code = "GL305"
    name = "local-stateful"
    errors = (r"singleton tf\.Variables created on the first call",)


@dataclass
class _Start:
    """What makes an object as new as it was when it was made: statements, and before which statement they stand."""

    node: ast.stmt
    statements: list[str]


def hoist_object(
    facts: FunctionFacts, module: ModuleFacts, source: Source, tf: str, names: Names
) -> Hoisted | None:
    """The function with one of its stateful objects made outside; None where that cannot keep what eager mode does."""
    definition = facts.definition
    if definition.parent is not None or definition.node.name == "__init__":
        return None
    for node in definition.node.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                start = _start(facts, node, call, name, tf)
                if start is not None and _is_own(facts, node, name, call):
                    return _hoisted(facts, module, source, names, node, start)
    return None


def _start(
    facts: FunctionFacts, node: ast.Assign, call: ast.Call, name: str, tf: str
) -> _Start | None:
    """How a hoisted object starts anew at each call; None where it cannot."""
    function = facts.kind(call.func)
    dotted = function.name if isinstance(function, Function) else ""
    arguments = given_to(call)
    if not all(map(_is_constant, arguments)):
        return None
    if dotted == "tensorflow.random.Generator.from_seed" and len(arguments) == 1:
        return _Start(node, [f"{name}.reset_from_seed({ast.unparse(arguments[0])})"])
    if dotted.startswith(f"{KERAS}metrics."):
        return _Start(node, [f"{name}.reset_state()"])
    new = any(p.code == "GL304" for p in facts.problems)
    if dotted.startswith(f"{KERAS}optimizers.") and not new:
        options = {k.arg for k in call.keywords}
        kind = dotted.rpartition(".")[2]
        if kind not in OPTIMIZERS or len(call.args) > 1 or options - OPTIMIZERS[kind]:
            return None
        if kind == "SGD" and "momentum" not in options:
            return _Start(node, [])
        return _optimizer_start(facts, node, name, tf)
    return None


def _optimizer_start(
    facts: FunctionFacts, node: ast.Assign, name: str, tf: str
) -> _Start | None:
    """The zeroing of an optimizer's variables: right before the one step that it takes, else where it was made."""
    calls = [
        n
        for n in ast.walk(facts.definition.node)
        if isinstance(n, ast.Call)
        and isinstance(n.func, ast.Attribute)
        and isinstance(n.func.value, ast.Name)
        and n.func.value.id == name
    ]
    match calls:
        case [ast.Call(args=[pairs], keywords=[]) as call]:
            variables = variables_given(pairs)
        case _:
            return None
    if variables is None:
        return None
    step = next(
        (
            s
            for s in facts.definition.node.body
            if isinstance(s, ast.Expr) and s.value is call
        ),
        None,
    )
    if step is None:
        read = {n.id for n in ast.walk(ast.parse(variables)) if isinstance(n, ast.Name)}
        bound = {
            n.id
            for n in own_nodes(facts.definition.node)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        if read & bound:
            return None
    return _Start(
        step or node,
        [
            f"{name}.build({variables})",
            f"for slot in [{name}.iterations, *{name}.variables[2:]]:\n"
            f"    slot.assign({tf}.zeros_like(slot))",
        ],
    )


def variables_given(pairs: ast.expr) -> str | None:
    """The text of the Variables that `apply_gradients` is given."""
    match pairs:
        case ast.Call(
            func=ast.Name(id="zip"), args=[_, ast.Name() | ast.Attribute() as second]
        ):
            return ast.unparse(second)
        case ast.Call(func=ast.Name(id="zip"), args=[_, ast.List(elts=elts) as second]):
            plain = all(isinstance(e, ast.Name | ast.Attribute) for e in elts)
            return ast.unparse(second) if plain else None
        case ast.List(elts=elts):
            names = []
            for element in elts:
                match element:
                    case ast.Tuple(elts=[_, ast.Name() | ast.Attribute() as variable]):
                        names.append(ast.unparse(variable))
                    case _:
                        return None
            return f"[{', '.join(names)}]"
    return None


def optimizer_parameters(facts: FunctionFacts) -> list[str]:
    """The parameters that are Keras optimizers."""
    return [
        name
        for name, kind in facts.parameters.items()
        if all(map(is_optimizer, members(kind)))
    ]


def built(statements: Iterable[ast.stmt]) -> set[str]:
    """The texts of the optimizers of which such statements make the variables."""
    return {
        ast.unparse(s.value.func.value)
        for s in statements
        if isinstance(s, ast.Expr)
        and isinstance(s.value, ast.Call)
        and isinstance(s.value.func, ast.Attribute)
        and s.value.func.attr == "build"
    }


def builds(facts: FunctionFacts, swapped: Iterable[str] = ()) -> list[ast.stmt]:
    """Statements that make the variables of the optimizers that a graph is given, before it uses them.

    These are a function's parameters of which the Variables are known at its start, and those that are `swapped` for
    others between calls, by their text.

    Raises:
        Refusal: of which Variables they are is not known at the start.
    """
    made: list[ast.stmt] = []
    body = facts.definition.node.body
    bound = {n for s in body for i in ast.walk(s) for n in bound_names(i)}
    for name in (*optimizer_parameters(facts), *swapped):
        texts = set()
        for node in (n for s in body for n in ast.walk(s)):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=owner, attr="apply_gradients"),
                    args=[pairs],
                ) if ast.unparse(owner) == name:
                    texts.add(_lasting(facts, pairs, bound))
        if len(texts) != 1 or None in texts:
            if name in facts.parameters:
                continue
            raise Refusal(f"of which Variables `{name}` is, is not known", code="GL305")
        made += [bare(s) for s in ast.parse(f"{name}.build({texts.pop()})").body]
    return made


def _lasting(facts: FunctionFacts, pairs: ast.expr, bound: set[str]) -> str | None:
    """The text of the Variables that `apply_gradients` is given, where it stands for them from the start."""
    text = variables_given(pairs)
    if text is None:
        return None
    inner = [n for n in ast.walk(pairs) if isinstance(n, ast.Name | ast.Attribute)]
    names = {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}
    whole = [n for n in inner if ast.unparse(n) in text.strip("[]").split(", ")]
    known = bool(whole) and all(isinstance(facts.kind(n), Variable) for n in whole)
    return text if known and not names & bound else None


def _is_constant(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


def _family(kind: object) -> str:
    """The module of TensorFlow or Keras that a class is of."""
    name = kind.name if isinstance(kind, Object) else ""
    return name.removeprefix(KERAS).removeprefix("tensorflow.").partition(".")[0]


def _is_own(facts: FunctionFacts, node: ast.Assign, name: str, call: ast.Call) -> bool:
    """Whether a function only uses an object in ways that leave nothing of it behind."""
    allowed = USES.get(_family(facts.kind(call)), frozenset())
    inner = list(ast.walk(facts.definition.node))
    good = {
        id(n.func.value)
        for n in inner
        if isinstance(n, ast.Call)
        and isinstance(n.func, ast.Attribute)
        and n.func.attr in allowed
    }
    setters = [
        s
        for s in own_nodes(facts.definition.node)
        if isinstance(s, ast.stmt) and name in bound_names(s)
    ]
    return setters == [node] and all(
        id(n) in good
        for n in inner
        if is_named(n, name) and isinstance(n.ctx, ast.Load)
    )


def _hoisted(
    facts: FunctionFacts,
    module: ModuleFacts,
    source: Source,
    names: Names,
    node: ast.Assign,
    start: _Start,
) -> Hoisted:
    (target,) = node.targets
    assert isinstance(target, ast.Name)
    name = target.id
    chosen = name if _is_free(facts, module, name) else names.fresh(name)
    result = Hoisted(copy.copy(facts.definition.node), Environment())
    kind = facts.kind(node.value)
    assert isinstance(kind, Object)
    result.bound.bind(chosen, Object(kind.name))
    result.statements.append(f"{chosen} = {source.segment(node.value)}")
    made = [bare(s) for text in start.statements for s in ast.parse(text).body]
    if made:
        with_origin(made[0], start.node)
    rest: list[ast.stmt] = []
    for old in facts.definition.node.body:
        rest += made if old is start.node else []
        rest += [] if old is node else [old]
    result.node.body = rest
    if chosen != name:
        result.node.body = [_with_name(s, name, chosen) for s in result.node.body]
    return result


def _is_free(facts: FunctionFacts, module: ModuleFacts, name: str) -> bool:
    """Whether a name of a function can be one of its module too."""
    if module.defines(name) or name in module.imports:
        return False
    return not any(
        is_named(n, name)
        for d in module.functions.values()
        if d is not facts.definition
        for n in ast.walk(d.original)
    )


def _with_name(node: ast.stmt, old: str, new: str) -> ast.stmt:
    if not any(is_named(n, old) for n in ast.walk(node)):
        return node
    made = bare(node)
    for inner in ast.walk(made):
        if is_named(inner, old):
            inner.id = new
    return with_origin(made, node)
