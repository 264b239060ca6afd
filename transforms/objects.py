"""Objects whose attributes a function changes: what their methods do is done in the function itself.

Of an object of which the class is known for sure, the methods that change or read what changes are inlined.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping

from . import setters
from .classes import class_at, class_made_here, has_subclass
from .companions import is_unclear
from .containers import changed_list
from .facts.definitions import ClassDefinition, FunctionDefinition
from .facts.environment import FunctionFacts
from .facts.kind_parts import is_mutable
from .facts.kinds import (
    UNKNOWN,
    Function,
    Module,
    Object,
    Python,
    Tensor,
    Type,
    Variable,
)
from .facts.profile import FunctionNode
from .facts.session import Session
from .facts.staging import fits_graph, holds_variable, stage
from .facts.syntax import declarations, given_to, own_body, own_start
from .first_use import made_on_first_use
from .inlining import (
    Callee,
    Inliner,
    bound_in,
    is_inlinable,
    is_nested_in,
    local_names,
)
from .keras_calls import calls_as_is
from .settling import NotInlined

STATE_CODES = frozenset({"GL301", "GL302", "GL303"})
MAKING_CODES = frozenset({"GL304", "GL305"})


# ---- calls of what changes state


def with_calls_inlined(
    facts: FunctionFacts, session: Session, *, working: bool = False
) -> FunctionNode | None:
    """The function with the calls inlined that keep it from being a graph for the state that they change or read.

    Only those that do tensor work where `working`. None where there are none, or one of them cannot be inlined.
    """
    definition = facts.definition
    if definition.parent is not None or session.is_graph_function(definition):
        return None
    wanted = {
        node: callee
        for node, callee in _stateful_calls(facts, session).items()
        if not working or _works(callee, session)
    }
    if not wanted:
        return None
    assigns = any(_assigns(callee, session) for callee in wanted.values())
    inliner = Inliner(
        definition,
        lambda node: wanted.get(found) if (found := setters.calling(node)) else None,
        lambda node: is_stable(node, facts, session, assigns),
    )
    try:
        body = inliner.block(definition.node.body)
    except NotInlined:
        return None
    made = copy.copy(definition.node)
    own = {n for d in declarations(definition.node) for n in d.names}
    declared = [n for n in inliner.globals if n not in own]
    start = own_start(made)
    made.body = [
        *body[:start],
        *([ast.Global(declared)] if declared else []),
        *without_unused(body[start:], wanted),
    ]
    return made


def _works(callee: Callee, session: Session) -> bool:
    return not callee.definition.is_setter and bool(
        session.facts_of(callee.definition.qualname).operations
    )


def _assigns(callee: Callee, session: Session) -> bool:
    """Whether a function may assign Variables."""
    return callee.definition.is_setter or (
        "assign" in session.facts_of(callee.definition.qualname).effects
    )


def without_unused(
    body: list[ast.stmt], inlined: Mapping[ast.expr, Callee]
) -> list[ast.stmt]:
    """A block without the nested functions that were called there, and are no more."""
    names = {c.definition.node.name for c in inlined.values() if c.definition.parent}
    read = {
        n.id
        for s in body
        for n in ast.walk(s)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    }
    return [
        s
        for s in body
        if not (isinstance(s, ast.FunctionDef) and s.name in names - read)
    ]


def _stateful_calls(facts: FunctionFacts, session: Session) -> dict[ast.expr, Callee]:
    found: dict[ast.expr, Callee] = {}
    nodes = {p.node: None for p in facts.problems if p.code in STATE_CODES}
    nodes |= {
        p.node: None
        for p in facts.problems
        if p.code in MAKING_CODES and _makes_on_first_use(p.node, facts, session)
    }
    nodes |= dict.fromkeys(_calls_of_swapped(facts))
    nodes |= dict.fromkeys(_calls_for_variables(facts))
    nodes |= dict.fromkeys(_calls_for_several(facts, session))
    nodes |= dict.fromkeys(_calls_of_hindering(facts, session))
    nodes |= dict.fromkeys(_calls_with_lists(facts, session))
    nodes |= {
        p.node: None
        for p in facts.problems
        if p.node in facts.calls
        and is_nested_in(
            session.module.functions[facts.calls[p.node]], facts.definition
        )
    }
    written = {*ast.walk(facts.definition.node)}
    for node in nodes:
        setter = _setter(node, facts, session)
        if setter is not None:
            found[setter[0]] = setter[1]
        if node not in facts.calls:
            continue
        assert isinstance(node, ast.expr)
        definition = session.module.functions[facts.calls[node]]
        callee = callee_of(node, definition, facts, session)
        if (
            callee is None
            or node not in written
            or definition.is_generator
            or session.is_graph_function(definition)
            or session.is_shell(definition)
        ):
            return {}
        found[node] = callee
    return found


def _setter(
    node: ast.AST | None, facts: FunctionFacts, session: Session
) -> tuple[ast.expr, Callee] | None:
    """The property that is set here, and the call of what sets it; None where none is, or more may run."""
    match node:
        case ast.Attribute(value=ast.Name() as owner, attr=name, ctx=ast.Store()):
            made = class_at(session, owner, facts) or class_made_here(
                session, facts.kind(owner), facts
            )
            found = session.module.setter(made.qualname, name) if made else None
            return (node, Callee(found, owner)) if found else None
    return None


def _calls_of_swapped(facts: FunctionFacts) -> list[ast.Call]:
    """The calls of objects, and of their methods, that are others at the next call."""
    swapped = {
        p.node
        for p in facts.problems
        if p.code in STATE_CODES
        and isinstance(p.node, ast.Name | ast.Attribute)
        and isinstance(facts.kind(p.node), Object)
    }
    return [
        n
        for n in facts.calls
        if isinstance(n, ast.Call)
        and (n.func in swapped or getattr(n.func, "value", None) in swapped)
    ]


def _makes_on_first_use(
    node: ast.AST | None, facts: FunctionFacts, session: Session
) -> bool:
    """Whether a call is of a function that makes Variables on its first use alone."""
    called = facts.calls.get(node)  # type: ignore[call-overload]
    if called is None:
        return False
    inner = session.facts_of(called)
    return bool(made_on_first_use(session, inner, own_body(inner.definition.node)))


def _calls_for_variables(facts: FunctionFacts) -> list[ast.expr]:
    """The calls whose result a function returns, and that give Variables themselves."""
    returned = [node.value for node, _ in facts.returns if node is not None]
    return [v for v in returned if v is not None and holds_variable(facts.kind(v))]


def _calls_for_several(facts: FunctionFacts, session: Session) -> list[ast.expr]:
    """The calls that give what one tensor does not tell, as a tensor decides."""
    called = ((node, session.facts_of(name)) for node, name in facts.calls.items())
    return [node for node, of in called if _is_unheld(of) and not of.problems]


def _calls_of_hindering(facts: FunctionFacts, session: Session) -> list[ast.expr]:
    """The calls of nested functions that read what a tensor decides."""
    hindering = {p.node for p in facts.problems if isinstance(p.node, FunctionNode)}
    functions = session.module.functions
    return [
        node
        for node, name in facts.calls.items()
        if {functions[name].node, functions[name].original} & hindering
    ]


def _calls_with_lists(facts: FunctionFacts, session: Session) -> list[ast.expr]:
    """The calls that change what the function keeps in a list or dict of its own, or read a list that a tensor changes."""
    changing = {p.node for p in facts.problems if p.code == "GL204"}
    grown = {changed_list(p.node, facts) for p in facts.problems if p.code == "GL203"}
    found: list[ast.expr] = []
    for node, called in facts.calls.items():
        arguments = given_to(node) if isinstance(node, ast.Call) else []
        own = [
            n
            for n in arguments
            if isinstance(n, ast.Name) and n.id not in facts.parameters
        ]
        kinds = [facts.kind(n) for n in own]
        changes = node in changing and any(k == UNKNOWN or is_mutable(k) for k in kinds)
        reads = any(n.id in grown for n in own)
        definition = session.module.functions[called]
        if (changes or reads) and callee_of(node, definition, facts, session):
            found.append(node)
    return found


def _is_unheld(facts: FunctionFacts) -> bool:
    """Whether no one tensor tells what a function gave in eager mode."""
    chosen = facts.chooses and not fits_graph(stage(facts.result))
    return chosen or is_unclear(facts.result)


def callee_of(
    node: ast.expr,
    definition: FunctionDefinition,
    facts: FunctionFacts,
    session: Session,
) -> Callee | None:
    """How a function can be inlined at a call of it; None where it cannot."""
    replaced = definition.qualname in session.module.rebound
    if replaced or not is_inlinable(definition, facts.definition):
        return None
    if definition.owner is None:
        return Callee(definition, None) if isinstance(node, ast.Call) else None
    function = node.func if isinstance(node, ast.Call) else node
    name = definition.node.name
    if is_super(function) and _has_one_line(session):
        first = facts.definition.parameters[0].arg
        return Callee(definition, ast.Name(first, ast.Load()))
    if isinstance(function, ast.BinOp) and not isinstance(
        facts.kind(function.left), Object
    ):
        receiver = function.right
    elif isinstance(function, ast.BinOp | ast.Compare):
        receiver = function.left
    elif isinstance(function, ast.UnaryOp):
        receiver = function.operand
    elif isinstance(function, ast.Attribute) and function.attr == name:
        receiver = function.value
    elif name in ("__call__", "call"):
        receiver = function
    else:
        return None
    made = (
        class_at(session, receiver, facts)
        or class_made_here(session, facts.kind(receiver), facts)
        or _only_class(session, receiver, facts, name)
    )
    if made is None or session.module.method(made.qualname, name) is not definition:
        return None
    through_keras = receiver is function and name == "call"
    if through_keras and not (
        isinstance(node, ast.Call)
        and calls_as_is(node, definition, made, facts, session)
    ):
        return None
    return Callee(definition, None if definition.is_static else receiver)


def is_super(function: ast.expr) -> bool:
    """Whether this is a method of the class that the one around extends."""
    match function:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super"), args=[])):
            return True
    return False


def _has_one_line(session: Session) -> bool:
    """Whether no class may have two bases of the program's, so that `super()` is what the text says."""
    return all(len(c.node.bases) < 2 for c in session.module.classes.values())


def _only_class(
    session: Session, receiver: ast.expr, facts: FunctionFacts, method: str
) -> ClassDefinition | None:
    """The class of a parameter that was seen to have a method, where no other class of the project has one of this name."""
    if not isinstance(receiver, ast.Name) or receiver.id not in facts.parameters:
        return None
    kind, bound = facts.kind(receiver), bound_in(facts.definition.node)
    made = session.class_of(kind.name) if isinstance(kind, Object) else None
    if made is None or receiver.id in bound or has_subclass(session, made):
        return None
    module = session.module
    having = [c for c in module.classes.values() if method in c.methods]
    alone = having == [made] and method not in module.elsewhere.methods
    return made if alone else None


def is_stable(
    node: ast.expr, facts: FunctionFacts, session: Session, assigns: bool
) -> bool:
    """Whether an expression, its parts aside, gives the same before and after a call that changes state.

    `assigns`: the call may assign Variables.
    """
    values = (Tensor, Python) if assigns else (Tensor, Python, Variable)
    kind = facts.kind(node)
    match node:
        case ast.Constant():
            return True
        case ast.Name(id=name):
            if name in local_names(facts.definition.node):
                return True
            return isinstance(kind, Function | Type | Module) or (
                name not in session.module.rebound
                and name not in session.module.changed
            )
        case ast.Attribute(value=value, attr=name):
            if isinstance(facts.kind(value), Module | Tensor):
                return True
            if isinstance(kind, Function) and kind.name.startswith("method."):
                return True
            writers = session.module.rebound_attributes.get(name, set())
            return isinstance(facts.kind(value), Object) and all(
                w.rpartition(".")[2] in session.initializers for w in writers
            )
        case (
            ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.Tuple() | ast.Subscript()
        ):
            parts = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
            return all(isinstance(facts.kind(n), values) for n in parts)
        case ast.Call(func=function, args=args, keywords=keywords):
            called = facts.kind(function)
            pure = isinstance(called, Function) and called.name.startswith(
                "tensorflow."
            )
            affected = any(node in nodes for nodes in facts.effects.values())
            parts = [*args, *(k.value for k in keywords)]
            return (
                pure
                and not affected
                and all(isinstance(facts.kind(n), values) for n in parts)
            )
    return False
