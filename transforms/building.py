"""GL305 local-stateful: models and optimizers that a function may be given before they have their variables.

Keras makes these in the first call. A graph can only while it is traced for the first time: later it would draw them
anew in each run, or raise. So a call with one that has none yet runs op by op, and the next is the graph's.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Mapping

from .facts.environment import FunctionFacts
from .facts.kinds import Kind, Object, members
from .facts.session import Session
from .facts.staging import is_optimizer
from .facts.syntax import bound_names, own_nodes, root_name
from .findings import Refusal
from .rebuilding import replaced
from .trace_choices import chosen_calls, is_given

APPLIES = frozenset({"apply_gradients", "apply", "minimize"})
WITH_VARIABLES = (
    "keras.src.models.",
    "keras.src.layers.",
    "tensorflow.keras.layers.",
    "tensorflow.keras.models.",
    "tensorflow.keras.Model",
    "tensorflow.keras.Sequential",
)
"""Where Keras's models and layers are, by the names of their modules and by those that programs use."""


def guard(
    session: Session,
    facts: FunctionFacts,
    core: str,
    given: Mapping[str, str],
    built: Container[str],
) -> str | None:
    """The text of what a shell calls for a core: it, or Python, where what it is given has no variables yet.

    None where all that it is given has its own; `built` has. What the shell gives under other names is in `given`.
    """
    texts = []
    for text in unbuilt(session, facts):
        texts.append(_in_terms_of(text, given))
    texts = [text for text in texts if text not in built]
    test = " and ".join(f"{text}.built" for text in texts)
    return f"{core} if {test} else {core}.python_function" if test else None


def unbuilt(session: Session, facts: FunctionFacts) -> list[str]:
    """The texts of what may have no variables yet: what a function is given, and what not all of its traces use.

    For example `model`, `agent.optimizer`, and `OPTIMIZERS[name]`, of which a later trace may use another one.
    """
    definition = facts.definition
    given = [n for n in facts.parameters if n != definition.receiver]
    used = [*dict.fromkeys(_used(session, facts, {n: n for n in given}, set()))]
    rest = set(given) - {text.partition(".")[0] for text in used}
    return [
        *(
            n
            for n in given
            if n in rest and makes_variables(session, facts.parameters[n])
        ),
        *used,
        *dict.fromkeys(t for _, t in _chosen(session, facts) if t and t not in used),
    ]


def check_given(session: Session, facts: FunctionFacts) -> None:
    """Refuse a graph in which Python chooses what may have no variables yet, where that is not known outside of it.

    Raises:
        Refusal: each one that is chosen later would make its variables anew.
    """
    for node, text in _chosen(session, facts):
        if text is None:
            reason = f"which `{ast.unparse(node)}` this is may change: each later one would make its variables anew"
            raise Refusal(reason, node, "GL305", "call each of them once before")
    own = {n for s in own_nodes(facts.definition.node) for n in bound_names(s)}
    for node, qualname in facts.calls.items():
        called = session.known(qualname)
        if called is None or not isinstance(node, ast.Call):
            continue
        roots = {text.partition(".")[0] for text in unbuilt(session, called)}
        for name, value in _pairs(node, called):
            root = root_name(value)
            if name in roots and (root is None or root in own):
                reason = f"which `{name}` this is may change: each later one would make its variables anew"
                raise Refusal(reason, value, "GL305")


def makes_variables(session: Session, kind: Kind) -> bool:
    """Whether this may be a model, a layer or an optimizer, which makes its variables when it is called."""
    return may_be_optimizer(kind) or may_be_model(session, kind)


def may_be_optimizer(kind: Kind) -> bool:
    return any(map(is_optimizer, members(kind)))


def may_be_model(session: Session, kind: Kind) -> bool:
    """Whether this may be one of Keras's models or layers, or of a class of the project's made of these."""
    return any(_is_model(session, k) for k in members(kind))


def _is_model(session: Session, kind: Kind) -> bool:
    if not isinstance(kind, Object):
        return False
    made = session.class_of(kind.name)
    if made is not None:
        return session.module.is_of_keras(made.qualname)
    return kind.name.startswith(WITH_VARIABLES)


def _used(
    session: Session,
    facts: FunctionFacts,
    named: Mapping[str, str],
    seen: set[tuple[str, tuple[str, ...]]],
) -> Iterator[str]:
    """The texts, in what a function is given, of the models and optimizers that it and those it calls use."""
    key = (facts.definition.qualname, tuple(named.values()))
    if key in seen:
        return
    seen.add(key)
    bound = {n for s in own_nodes(facts.definition.node) for n in bound_names(s)}
    known = {name: text for name, text in named.items() if name not in bound}
    for node in ast.walk(facts.definition.node):
        if not isinstance(node, ast.Call):
            continue
        owner = _stateful(session, facts, node)
        text = owner and _chain(owner, known)
        if text:
            yield text
        called = session.known(facts.calls.get(node, ""))
        if called is not None and owner is None:
            yield from _used(session, called, _passed(node, called, known), seen)


def _chosen(
    session: Session, facts: FunctionFacts
) -> Iterator[tuple[ast.expr, str | None]]:
    """The models and optimizers that some traces of a graph use, and others not: the place, and their text outside of it."""
    given = {n: n for n in facts.parameters}
    return _chosen_in(session, facts, given, False, frozenset())


def _chosen_in(
    session: Session,
    facts: FunctionFacts,
    known: Mapping[str, str],
    all_of_it: bool,
    seen: frozenset[str],
) -> Iterator[tuple[ast.expr, str | None]]:
    """The same of what a function uses that was given what is `known`; `all_of_it` where only some traces call it."""
    if facts.definition.qualname in seen:
        return
    seen |= {facts.definition.qualname}
    node = facts.definition.node
    bound = {n for s in own_nodes(node) for n in bound_names(s)}
    texts = {name: text for name, text in known.items() if name not in bound}
    texts |= {n: n for n in session.module.globals if n not in {*bound, *known}}
    chosen = {*chosen_calls(facts)}
    for call in ast.walk(node):
        if not isinstance(call, ast.Call):
            continue
        here = all_of_it or call in chosen
        owner = _stateful(session, facts, call)
        if owner is not None and (here or _is_picked(owner, facts)):
            yield owner, _text(owner, texts)
        called = session.known(facts.calls.get(call, ""))
        if called is not None:
            passed = {n: t for n, v in _pairs(call, called) if (t := _text(v, texts))}
            yield from _chosen_in(session, called, passed, here, seen)


def _is_picked(owner: ast.expr, facts: FunctionFacts) -> bool:
    """Whether what the graph is given picks this from others."""
    return any(
        isinstance(n, ast.Subscript) and is_given(n.slice, facts)
        for n in ast.walk(owner)
    )


def _text(node: ast.expr, known: Mapping[str, str]) -> str | None:
    """The text of an expression that names what is there already, in terms of what is known; None for another one."""
    parts = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.expr_context)
    inner = list(ast.walk(node))
    names = {n.id for n in inner if isinstance(n, ast.Name)}
    if not names <= known.keys() or not all(isinstance(n, parts) for n in inner):
        return None
    return _in_terms_of(ast.unparse(node), known)


def _in_terms_of(text: str, given: Mapping[str, str]) -> str:
    """The text of an expression with each name as what it is given as."""
    tree = ast.parse(text, mode="eval")
    made: dict[ast.AST, ast.AST] = {
        n: ast.parse(given[n.id], mode="eval").body
        for n in ast.walk(tree)
        if isinstance(n, ast.Name) and n.id in given
    }
    return ast.unparse(replaced(tree.body, made))


def _stateful(
    session: Session, facts: FunctionFacts, node: ast.Call
) -> ast.expr | None:
    """The model that a call calls, or the optimizer that it has apply gradients."""
    function = node.func
    if may_be_model(session, facts.kind(function)):
        return function
    if isinstance(function, ast.Attribute) and function.attr in APPLIES:
        return function.value if may_be_optimizer(facts.kind(function.value)) else None
    return None


def _passed(
    node: ast.Call, called: FunctionFacts, known: Mapping[str, str]
) -> dict[str, str]:
    """What a function is given by a call, of what its caller was given, by its parameters."""
    chains = {name: _chain(value, known) for name, value in _pairs(node, called)}
    return {name: text for name, text in chains.items() if text}


def _pairs(node: ast.Call, called: FunctionFacts) -> list[tuple[str, ast.expr]]:
    """The parameters of a function that a call gives something, and what."""
    definition = called.definition
    given: list[ast.expr] = list(node.args)
    if definition.receiver:
        function = node.func
        owner = function.value if isinstance(function, ast.Attribute) else function
        given.insert(0, owner)
    names = [a.arg for a in definition.parameters]
    named = [(k.arg, k.value) for k in node.keywords if k.arg]
    return [*zip(names, given, strict=False), *named]


def _chain(node: ast.expr, known: Mapping[str, str]) -> str | None:
    """The text of a name, or of an attribute of one, in terms of what was given."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _chain(node.value, known)
        return owner and f"{owner}.{node.attr}"
    return None
