"""Objects that a function makes and keeps to itself are dissolved: their attributes are names of the function."""

from __future__ import annotations

import ast
import copy

from . import setters
from .facts.definitions import ClassDefinition, FunctionDefinition
from .facts.environment import FunctionFacts
from .facts.profile import FunctionNode
from .facts.session import Session
from .facts.syntax import bound_names, is_named, names_in, own_body, own_nodes
from .inlining import Callee, Inliner, arguments, bare, local_names
from .object_names import class_name, with_names, with_one_name, without_itself
from .objects import STATE_CODES, is_stable
from .rebuilding import copied, rebuilt, with_origin
from .settling import NotInlined
from .source import Names

CHANGES = STATE_CODES | {"GL204"}
"""Rules of what a function does with objects."""
PLAIN_BASES = frozenset({"object"})
HOOKS = frozenset(
    [
        "__new__",
        "__del__",
        "__getattr__",
        "__getattribute__",
        "__setattr__",
        "__delattr__",
    ]
)


def without_objects(
    facts: FunctionFacts, session: Session, names: Names
) -> FunctionNode | None:
    """The function with the objects dissolved that it makes for itself and changes where a tensor says so."""
    node = facts.definition.node
    if facts.definition.parent is not None:
        return None
    named = with_names(facts, session, names)
    if named is not None:
        return named
    for name in [*_changed_objects(facts), *_remade_objects(facts, session)]:
        made = _dissolved(node, name, facts, session)
        if made is not None:
            return made
    return None


def _changed_objects(facts: FunctionFacts) -> list[str]:
    """The local names of objects that problems are about."""
    found: dict[str, None] = {}
    hindering = [p.node for p in facts.problems if p.code in CHANGES]
    for node in hindering:
        match node:
            case (
                ast.Attribute(value=ast.Name(id=name))
                | ast.Call(func=ast.Attribute(value=ast.Name(id=name)))
                | ast.Call(func=ast.Name(id=name))
            ):
                found.setdefault(name)
    for node in own_nodes(facts.definition.node):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if (
                call in hindering
            ):
                found.setdefault(name)
    return [name for name in found if name not in facts.parameters]


def _remade_objects(facts: FunctionFacts, session: Session) -> list[str]:
    """The local names that are given several objects, one of which the function makes, and that a tensor picks from."""
    if not facts.problems:
        return []
    classes = session.module.classes
    made: dict[str, int] = {}
    for node in own_nodes(facts.definition.node):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call()):
                made[name] = made.get(name, 0) + 1
    return [
        node.targets[0].id
        for node in own_nodes(facts.definition.node)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and class_name(node.value) in classes
        and made.get(node.targets[0].id, 0) > 1
    ]


def _dissolved(
    node: FunctionNode, name: str, facts: FunctionFacts, session: Session
) -> FunctionNode | None:
    """The function with the attributes of one of its objects in names; None where the object is more than those."""
    makers = _makers(node, name)
    texts = [class_name(m.value) for m in makers if isinstance(m, ast.Assign)]
    made = next((c for t in texts if (c := session.module.classes.get(t))), None)
    if (
        made is None
        or made.qualname in local_names(node)
        or not _is_plain(session, made)
    ):
        return None
    several = len(makers) > 1

    def stable(inner: ast.expr) -> bool:
        of_object = any(is_named(n, name) for n in ast.walk(inner))
        return not (several and of_object) and is_stable(inner, facts, session, True)

    result, definition = copy.copy(node), copy.copy(facts.definition)
    try:
        if several:
            methods = _ObjectCalls(session, made, name, [])
            inlined = Inliner(definition, methods, stable).block(result.body)
            result.body = without_itself(inlined, name)
            definition.node = copy.copy(result)
        calls = _constructions(_makers(result, name), made)
        if calls is None:
            return None
        initializer = session.module.method(made.qualname, "__init__")
        fields = _fields(initializer) if initializer else {}
        sets = any(session.module.setter(made.qualname, a) for a in fields)
        if initializer and fields and not sets:
            receiver = Callee(initializer, ast.Name(name, ast.Load()))
            result.body = _with_fields_set(result.body, receiver, calls, fields)
            calls = {}
        makes = _ObjectCalls(session, made, name, list(calls.values()))
        body = _with_calls_alone(result.body, calls, bool(initializer))
        inliner = Inliner(definition, makes, stable)
        result.body = with_one_name(inliner.block(body), name)
    except NotInlined:
        return None
    if inliner.globals:
        return None
    return _with_names(result, name, session, made)


def _fields(initializer: FunctionDefinition) -> dict[str, ast.expr]:
    """What an initializer gives attributes: its parameters, and constants; nothing where it does more than that."""
    found: dict[str, ast.expr] = {}
    for statement in own_body(initializer.node):
        match statement:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id=owner), attr=attribute)],
                value=value,
            ) if (
                attribute not in found
                and owner == initializer.receiver
                and (isinstance(value, ast.Name) or _is_constant(value))
            ):
                found[attribute] = value
            case _:
                return {}
    used = [value.id for value in found.values() if isinstance(value, ast.Name)]
    names = [a.arg for a in initializer.parameters[1:]]
    return found if used == names else {}


def _is_constant(node: ast.expr) -> bool:
    """Whether this is a constant, or an empty list or dict."""
    match node:
        case ast.List(elts=[]) | ast.Dict(keys=[]) | ast.Constant():
            return True
    return False


def _with_fields_set(
    body: list[ast.stmt],
    initializer: Callee,
    makers: dict[ast.stmt, ast.Call],
    fields: dict[str, ast.expr],
) -> list[ast.stmt]:
    """A block that gives an object's attributes new values in the place of making another one.

    Raises:
        NotInlined: what the other is made of cannot be told.
    """
    result: list[ast.stmt] = []
    for node in body:
        call = makers.get(node)
        if call is None:
            inner = rebuilt(
                node, lambda b: _with_fields_set(b, initializer, makers, fields)
            )
            result.append(inner)
            continue
        owner = initializer.receiver
        assert isinstance(owner, ast.Name)
        of = {v.id: a for a, v in fields.items() if isinstance(v, ast.Name)}
        given = arguments(call, initializer)
        values = {of[name]: value for name, value in given.items() if name in of}
        values |= {a: bare(v) for a, v in fields.items() if a not in values}
        values = {a: v for a, v in values.items() if not _is_of(v, owner, a)}
        result += [with_origin(s, node) for s in _setting(owner, values)]
    return result


def _is_of(node: ast.expr, owner: ast.Name, attribute: str) -> bool:
    """Whether this is an attribute of an object."""
    match node:
        case ast.Attribute(value=ast.Name(id=text), attr=attr):
            return (text, attr) == (owner.id, attribute)
    return False


def _setting(owner: ast.Name, values: dict[str, ast.expr]) -> list[ast.stmt]:
    """The statements that give the attributes of an object values, which may be made of those that it has."""
    targets = [ast.Attribute(bare(owner), a, ast.Store()) for a in values]
    if len(values) > 1 and any(owner.id in names_in(v) for v in values.values()):
        parts = ast.Tuple(list(values.values()), ast.Load())
        return [ast.Assign([ast.Tuple(list(targets), ast.Store())], parts)]
    pairs = zip(targets, values.values(), strict=True)
    return [ast.Assign([target], value) for target, value in pairs]


def _makers(node: FunctionNode, name: str) -> list[ast.stmt]:
    """The statements that bind a name."""
    return [
        s for s in own_nodes(node) if isinstance(s, ast.stmt) and name in bound_names(s)
    ]


def _constructions(
    makers: list[ast.stmt], made: ClassDefinition
) -> dict[ast.stmt, ast.Call] | None:
    """The calls of a class with which statements bind a name; None where one binds anything else."""
    found: dict[ast.stmt, ast.Call] = {}
    for maker in makers:
        match maker:
            case ast.Assign(
                targets=[ast.Name()], value=ast.Call(func=ast.Name(id=text)) as call
            ) if text == made.qualname:
                found[maker] = call
            case _:
                return None
    return found


def _with_calls_alone(
    body: list[ast.stmt], makers: dict[ast.stmt, ast.Call], kept: bool
) -> list[ast.stmt]:
    """A block with what makes objects bound to nothing; not `kept`: left out, where nothing is passed."""
    result: list[ast.stmt] = []
    for node in body:
        call = makers.get(node)
        if call is None:
            inner = rebuilt(node, lambda b: _with_calls_alone(b, makers, kept))
            result.append(inner)
        elif call.args or call.keywords or kept:
            result.append(with_origin(ast.Expr(call), node))
    return result


class _ObjectCalls:
    """Finds what makes an object, and the calls of its methods."""

    def __init__(
        self,
        session: Session,
        made: ClassDefinition,
        name: str,
        makers: list[ast.Call],
    ) -> None:
        self.session = session
        self.made = made
        self.name = name
        self.makers = makers

    def __call__(self, node: ast.expr) -> Callee | None:
        target = setters.assigned(node)
        if target is not None:
            return self._setter(target)
        if node in self.makers:
            found = self.session.module.method(self.made.qualname, "__init__")
            return Callee(found, ast.Name(self.name, ast.Load())) if found else None
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=n), attr=attr)) if (
                n == self.name
            ):
                return self._method(attr)
            case ast.Call(func=ast.Name(id=n)) if n == self.name:
                return self._method("__call__")
            case ast.Attribute(value=ast.Name(id=n), attr=attr, ctx=ast.Load()) if (
                n == self.name
            ):
                callee = self._method(attr)
                return callee if callee and callee.definition.is_property else None
        return None

    def _setter(self, target: ast.Attribute) -> Callee | None:
        found = self.session.module.setter(self.made.qualname, target.attr)
        if found is None or getattr(target.value, "id", "") != self.name:
            return None
        return Callee(found, ast.Name(self.name, ast.Load()))

    def _method(self, name: str) -> Callee | None:
        found = self.session.module.method(self.made.qualname, name)
        if found is None:
            return None
        receiver = None if found.is_static else ast.Name(self.name, ast.Load())
        return Callee(found, receiver)


def _is_plain(session: Session, made: ClassDefinition) -> bool:
    """Whether instances are no more than their attributes and the methods of this module's classes."""
    family = [made.qualname, *session.module.bases(made.qualname)]
    classes = [session.module.classes.get(q) for q in family if q not in PLAIN_BASES]
    return all(
        c is not None
        and (c.fields is not None or not c.node.decorator_list)
        and not c.node.keywords
        and not c.methods.keys() & HOOKS
        for c in classes
    )


def _with_names(
    node: FunctionNode,
    name: str,
    session: Session,
    made: ClassDefinition,
) -> FunctionNode | None:
    """The function with `name.attribute` held in a name; None where the object itself is used, but to return it."""
    inner = [n for s in node.body for n in ast.walk(s)]
    attributes = [
        n
        for n in inner
        if isinstance(n, ast.Attribute)
        and isinstance(n.value, ast.Name)
        and n.value.id == name
    ]
    uses = sum(is_named(n, name) for n in inner)
    returns = [n for n in inner if _returns(n, name)]
    whole = _whole(session, made) if returns else []
    set_first = _set_by_initializer(session, made) | _set_at_once(node.body, name)
    shared = made.assigned - session.module.rebound_attributes.keys() - set_first
    used = dict.fromkeys([*(a.attr for a in attributes), *whole])
    used = {a: None for a in used if a not in shared}
    if (
        uses != len(attributes) + len(returns)
        or (returns and used.keys() != {*whole})
        or any(session.module.method(made.qualname, a) for a in used)
        or not used.keys() <= set_first
    ):
        return None
    names = Names.clear_of(node, local_names(node))
    renamed = {a: names.fresh(a.lstrip("_") or name) for a in used}
    parts: list[ast.expr] = [ast.Name(renamed[a], ast.Load()) for a in whole]
    again = ast.Call(ast.Name(made.qualname, ast.Load()), parts, [])
    result = copy.copy(node)
    makes = _AttributeNames(name, renamed, again)
    result.body = [_renamed(s, name, makes) for s in node.body]
    return result


def _returns(node: ast.AST, name: str) -> bool:
    """Whether this returns what has a name."""
    match node:
        case ast.Return(value=ast.Name(id=text)):
            return text == name
    return False


def _whole(session: Session, made: ClassDefinition) -> list[str]:
    """The attributes of which an object can be made again, in the order in which its class takes them; else nothing."""
    initializer = session.module.method(made.qualname, "__init__")
    fields = _fields(initializer) if initializer else {}
    passed = all(isinstance(value, ast.Name) for value in fields.values())
    return list(fields) if passed else []


def _set_by_initializer(session: Session, made: ClassDefinition) -> set[str]:
    """The attributes that every new instance has."""
    module = session.module
    found: set[str] = set()
    queue = ["__init__"]
    seen: set[str] = set()
    while queue:
        current = queue.pop()
        name, _, sets = current.partition(".")
        method = (module.setter if sets else module.method)(made.qualname, name)
        if method is None or current in seen or not method.parameters:
            continue
        seen.add(current)
        me = method.parameters[0].arg
        for statement in method.original.body:
            found |= _surely_set([statement])
            match statement:
                case ast.Expr(
                    value=ast.Call(func=ast.Attribute(value=ast.Name(id=n), attr=attr))
                ) if n == me:
                    queue.append(attr)
        queue += [f"{n}.setter" for n in found if module.setter(made.qualname, n)]
    return found


def _surely_set(body: list[ast.stmt]) -> set[str]:
    """The attributes that a block sets whatever its tests say."""
    found: set[str] = set()
    for statement in body:
        match statement:
            case ast.Assign(targets=targets):
                found |= {
                    n.attr
                    for t in targets
                    for n in ast.walk(t)
                    if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)
                }
            case ast.AnnAssign(target=ast.Attribute(attr=attr), value=ast.expr()):
                found.add(attr)
            case ast.If(body=then, orelse=other):
                found |= _surely_set(then) & _surely_set(other)
    return found


def _set_at_once(body: list[ast.stmt], name: str) -> set[str]:
    """The attributes that a block sets itself before anything else is done with them."""
    found: set[str] = set()
    used: set[str] = set()
    for statement in body:
        mentioned = [
            n
            for n in ast.walk(statement)
            if isinstance(n, ast.Attribute)
            and isinstance(n.value, ast.Name)
            and n.value.id == name
        ]
        read = {n.attr for n in mentioned if isinstance(n.ctx, ast.Load)}
        if isinstance(statement, ast.Assign):
            found |= {n.attr for n in mentioned} - read - used
        used |= {n.attr for n in mentioned}
    return found


def _renamed(node: ast.stmt, name: str, makes: _AttributeNames) -> ast.stmt:
    mentions = any(is_named(n, name) for n in ast.walk(node))
    if not mentions or isinstance(node, FunctionNode):
        return node
    made: ast.stmt = makes.visit(copied(node))
    return made


class _AttributeNames(ast.NodeTransformer):
    """Puts names in the place of an object's attributes; those that its class has stay the class's.

    Args:
        name: of the object.
        attributes: the names of its attributes.
        whole: the call that would make it again.
    """

    def __init__(self, name: str, attributes: dict[str, str], whole: ast.Call) -> None:
        self.name = name
        self.attributes = attributes
        self.whole = whole

    def visit_Return(self, node: ast.Return) -> ast.AST:
        if _returns(node, self.name):
            return with_origin(bare(ast.Return(self.whole)), node)
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        match node:
            case ast.Attribute(value=ast.Name(id=n), attr=attr) if n == self.name:
                made: ast.expr = ast.Attribute(bare(self.whole.func), attr, node.ctx)
                if attr in self.attributes:
                    made = ast.Name(self.attributes[attr], node.ctx)
                if hasattr(node, "lineno"):
                    ast.copy_location(made, node)
                    made.made = True  # type: ignore[attr-defined]
                return made
        return self.generic_visit(node)
