"""Objects that a function makes and keeps to itself are dissolved: their attributes are names of the function."""

from __future__ import annotations

import ast
import copy

from .facts.definitions import ClassDefinition, FunctionDefinition
from .facts.environment import FunctionFacts
from .facts.profile import FunctionNode
from .facts.session import Session
from .facts.syntax import bound_names, own_nodes
from .inlining import Callee, Inliner, NotInlined, arguments, bare, local_names
from .objects import STATE_CODES, is_stable
from .rebuilding import copied, rebuilt, with_origin
from .source import Names

PLAIN_BASES = frozenset({"object"})
HOOKS = frozenset(
    [
        "__new__",
        "__del__",
        "__getattr__",
        "__getattribute__",
        "__setattr__",
        "__delattr__",
        "__post_init__",
    ]
)


def without_objects(facts: FunctionFacts, session: Session) -> FunctionNode | None:
    """The function with the objects dissolved that it makes for itself and changes where a tensor says so."""
    node = facts.definition.node
    if facts.definition.parent is not None:
        return None
    for name in [*_changed_objects(facts), *_remade_objects(facts, session)]:
        made = _dissolved(node, name, facts, session)
        if made is not None:
            return made
    return None


def _changed_objects(facts: FunctionFacts) -> list[str]:
    """The local names of objects that problems are about."""
    found: dict[str, None] = {}
    for problem in facts.problems:
        if problem.code not in STATE_CODES:
            continue
        match problem.node:
            case (
                ast.Attribute(value=ast.Name(id=name))
                | ast.Call(func=ast.Attribute(value=ast.Name(id=name)))
                | ast.Call(func=ast.Name(id=name))
            ):
                if name not in facts.parameters:
                    found.setdefault(name)
    return list(found)


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
        and _class_name(node.value) in classes
        and made.get(node.targets[0].id, 0) > 1
    ]


def _class_name(node: ast.expr) -> str:
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name
    return ""


def _dissolved(
    node: FunctionNode, name: str, facts: FunctionFacts, session: Session
) -> FunctionNode | None:
    """The function with the attributes of one of its objects in names; None where the object is more than those."""
    makers = _makers(node, name)
    texts = [_class_name(m.value) for m in makers if isinstance(m, ast.Assign)]
    made = next((c for t in texts if (c := session.module.classes.get(t))), None)
    if (
        made is None
        or made.qualname in local_names(node)
        or not _is_plain(session, made)
    ):
        return None
    several = len(makers) > 1

    def stable(inner: ast.expr) -> bool:
        of_object = any(
            isinstance(n, ast.Name) and n.id == name for n in ast.walk(inner)
        )
        return not (several and of_object) and is_stable(inner, facts, session, True)

    result, definition = copy.copy(node), copy.copy(facts.definition)
    try:
        if several:
            methods = _ObjectCalls(session, made, name, [])
            inlined = Inliner(definition, methods, stable).block(result.body)
            result.body = _without_itself(inlined, name)
            definition.node = copy.copy(result)
        calls = _constructions(_makers(result, name), made)
        if calls is None:
            return None
        initializer = _initializer(session, made)
        if several and initializer and (fields := _fields(initializer)):
            receiver = Callee(initializer, ast.Name(name, ast.Load()))
            result.body = _with_fields_set(result.body, receiver, calls, fields)
            calls = {}
        makes = _ObjectCalls(session, made, name, list(calls.values()))
        body = _with_calls_alone(result.body, calls, bool(initializer))
        inliner = Inliner(definition, makes, stable)
        result.body = inliner.block(body)
    except NotInlined:
        return None
    if inliner.globals:
        return None
    return _with_names(result, name, session, made)


def _fields(initializer: FunctionDefinition) -> dict[str, str]:
    """The attributes that an initializer sets to its parameters, by these, if that is all it does; else nothing."""
    found: dict[str, str] = {}
    for statement in initializer.node.body:
        match statement:
            case ast.Assign(
                targets=[ast.Attribute(attr=attribute)], value=ast.Name(id=name)
            ) if name not in found:
                found[name] = attribute
            case _:
                return {}
    names = [a.arg for a in initializer.parameters[1:]]
    return found if list(found) == names else {}


def _with_fields_set(
    body: list[ast.stmt],
    initializer: Callee,
    makers: dict[ast.stmt, ast.Call],
    fields: dict[str, str],
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
        given = arguments(call, initializer)
        owner = initializer.receiver
        assert owner is not None
        targets = [ast.Attribute(bare(owner), a, ast.Store()) for a in fields.values()]
        values = [given[parameter] for parameter in fields]
        if len(fields) == 1:
            made = ast.Assign([targets[0]], values[0])
        else:
            made = ast.Assign(
                [ast.Tuple(list(targets), ast.Store())], ast.Tuple(values, ast.Load())
            )
        result.append(with_origin(made, node))
    return result


def _makers(node: FunctionNode, name: str) -> list[ast.stmt]:
    """The statements that bind a name."""
    return [
        s for s in own_nodes(node) if isinstance(s, ast.stmt) and name in bound_names(s)
    ]


def _without_itself(body: list[ast.stmt], name: str) -> list[ast.stmt]:
    """A block without assignments of a name to itself, as a method that gives back its object makes them."""
    result: list[ast.stmt] = []
    for node in body:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=target)], value=ast.Name(id=given)
            ) if target == given == name:
                continue
        result.append(rebuilt(node, lambda b: _without_itself(b, name)))
    return result


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


def _initializer(session: Session, made: ClassDefinition) -> FunctionDefinition | None:
    """The `__init__` of a class; that which `dataclass` would write."""
    if not made.node.decorator_list:
        return session.module.method(made.qualname, "__init__")
    fields = [s for s in made.node.body if isinstance(s, ast.AnnAssign)]
    names = [f.target.id for f in fields if isinstance(f.target, ast.Name)]
    text = "".join(f"    self.{name} = {name}\n" for name in names)
    (node,) = ast.parse(f"def __init__(self):\n{text or '    pass'}").body
    assert isinstance(node, ast.FunctionDef)
    node.args.args += [ast.arg(name) for name in names]
    node.args.defaults = [f.value for f in fields if f.value is not None]
    return FunctionDefinition(node, f"{made.qualname}.__init__", made)


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
        if node in self.makers:
            found = _initializer(self.session, self.made)
            return Callee(found, ast.Name(self.name, ast.Load())) if found else None
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=n), attr=attr)) if (
                n == self.name
            ):
                return self._method(attr)
            case ast.Call(func=ast.Name(id=n)) if n == self.name:
                return self._method("__call__")
            case ast.Attribute(value=ast.Name(id=n), attr=attr) if n == self.name:
                callee = self._method(attr)
                return callee if callee and callee.definition.is_property else None
        return None

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
    decorators = [ast.unparse(d) for d in made.node.decorator_list]
    if decorators not in ([], ["dataclass"], ["dataclasses.dataclass"]):
        return False
    if decorators and (len(classes) > 1 or "__init__" in made.methods):
        return False
    return all(
        c is not None
        and (c is made or not c.node.decorator_list)
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
    """The function with `name.attribute` held in a name; None where the object itself is used."""
    inner = [n for s in node.body for n in ast.walk(s)]
    attributes = [
        n
        for n in inner
        if isinstance(n, ast.Attribute)
        and isinstance(n.value, ast.Name)
        and n.value.id == name
    ]
    uses = sum(isinstance(n, ast.Name) and n.id == name for n in inner)
    set_first = _set_by_initializer(session, made) | _set_at_once(node.body, name)
    if uses != len(attributes) or any(
        session.module.method(made.qualname, a.attr) or a.attr not in set_first
        for a in attributes
    ):
        return None
    names = Names.clear_of(node, local_names(node))
    renamed = {
        attribute: names.fresh(attribute.lstrip("_") or name)
        for attribute in dict.fromkeys(a.attr for a in attributes)
    }
    result = copy.copy(node)
    result.body = [_renamed(s, name, renamed) for s in node.body]
    return result


def _set_by_initializer(session: Session, made: ClassDefinition) -> set[str]:
    """The attributes that every new instance has."""
    found: set[str] = set()
    queue = ["__init__"]
    seen: set[str] = set()
    while queue:
        current = queue.pop()
        method = (
            _initializer(session, made)
            if current == "__init__"
            else session.module.method(made.qualname, current)
        )
        if method is None or current in seen or not method.parameters:
            continue
        seen.add(current)
        me = method.parameters[0].arg
        for statement in method.original.body:
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
                case ast.Expr(
                    value=ast.Call(func=ast.Attribute(value=ast.Name(id=n), attr=attr))
                ) if n == me:
                    queue.append(attr)
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


def _renamed(node: ast.stmt, name: str, attributes: dict[str, str]) -> ast.stmt:
    mentions = any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))
    if not mentions or isinstance(node, FunctionNode):
        return node
    made: ast.stmt = _AttributeNames(name, attributes).visit(copied(node))
    return made


class _AttributeNames(ast.NodeTransformer):
    def __init__(self, name: str, attributes: dict[str, str]) -> None:
        self.name = name
        self.attributes = attributes

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        match node:
            case ast.Attribute(value=ast.Name(id=n), attr=attr) if n == self.name:
                made = ast.Name(self.attributes[attr], node.ctx)
                if hasattr(node, "lineno"):
                    ast.copy_location(made, node)
                    made.made = True  # type: ignore[attr-defined]
                return made
        return self.generic_visit(node)
