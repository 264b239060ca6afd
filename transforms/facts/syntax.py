"""What a piece of code binds, changes and consists of, by its text alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from .profile import FunctionNode

MUTATORS = frozenset(
    [
        "append",
        "extend",
        "insert",
        "pop",
        "remove",
        "clear",
        "sort",
        "reverse",
        "update",
        "setdefault",
        "popitem",
        "add",
        "discard",
        "appendleft",
        "popleft",
    ]
)
HELD = (ast.Name, ast.Attribute, ast.Subscript)
"""What state is read from and written to."""
SETTERS = ("setattr", "delattr", "patch")
CALLED_IN_ANY_CASE = frozenset({"__call__", "call"})
"""Names of what an object's own call runs, which no text of a call shows."""
ANY = "<any>"
"""Stands for the name of an attribute that is worked out as the program runs."""


def own_nodes(function: FunctionNode | ast.Lambda | ast.Module) -> Iterator[ast.AST]:
    """The nodes of a function's or module's body, without those of functions and classes inside it."""
    body = function.body if isinstance(function.body, list) else [function.body]
    queue: list[ast.AST] = list(body)
    while queue:
        node = queue.pop()
        yield node
        if isinstance(node, FunctionNode | ast.Lambda | ast.ClassDef):
            continue
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, ast.AST):
                queue.append(value)
            elif isinstance(value, list):
                queue += [item for item in value if isinstance(item, ast.AST)]


def own_expressions(node: ast.AST) -> list[ast.expr]:
    """The expressions that belong to a statement itself, not to statements inside it."""
    found: list[ast.expr] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            found.append(child)
        elif isinstance(child, ast.withitem):
            found += [e for e in (child.context_expr, child.optional_vars) if e]
    return found


def names_in(node: ast.AST) -> set[str]:
    """The names that a piece of code mentions, to read or to write."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def is_named(node: ast.AST, name: str | None) -> TypeGuard[ast.Name]:
    """Whether a piece of code is this name, to read or to write."""
    return isinstance(node, ast.Name) and node.id == name


def root_name(node: ast.expr) -> str | None:
    """The name that a chain of attributes starts from."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def given_to(call: ast.Call) -> list[ast.expr]:
    """The arguments of a call, by place and then by name."""
    return [*call.args, *(k.value for k in call.keywords)]


def is_none(node: ast.AST | None) -> bool:
    """Whether a piece of code is the word None."""
    return isinstance(node, ast.Constant) and node.value is None


def blocks(node: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a compound statement, in order."""
    found = [getattr(node, name, None) for name in ("body", "orelse")]
    found += [handler.body for handler in getattr(node, "handlers", ())]
    found += [case.body for case in getattr(node, "cases", ())]
    found.append(getattr(node, "finalbody", None))
    return [block for block in found if isinstance(block, list) and block]


def assigned_in(node: ast.stmt) -> set[str]:
    """The names a statement and its blocks bind or change an item of."""
    inner = (assigned_in(s) for block in blocks(node) for s in block)
    return {*bound_names(node), *item_owners(node)}.union(*inner)


def item_owners(node: ast.stmt) -> list[str]:
    """The names of which a statement sets items, in order."""
    match node:
        case ast.Assign(targets=targets):
            return [n for t in targets for n in _owners(t)]
        case ast.AugAssign(target=target):
            return _owners(target)
    return []


def _owners(target: ast.expr) -> list[str]:
    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        return [target.value.id]
    if isinstance(target, ast.Tuple | ast.List):
        return [name for element in target.elts for name in _owners(element)]
    return []


def returns(body: list[ast.stmt]) -> bool:
    """Whether a `return` stands anywhere in a block."""
    return any(isinstance(n, ast.Return) for s in body for n in ast.walk(s))


def nested_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements and those in their blocks, not in functions or classes."""
    for node in body:
        yield node
        if not isinstance(node, FunctionNode | ast.ClassDef):
            for inner in blocks(node):
                yield from nested_statements(inner)


def own_body(node: FunctionNode) -> list[ast.stmt]:
    """The statements of a function, its docstring left out."""
    return node.body[own_start(node) :]


def own_start(node: FunctionNode) -> int:
    """Where the statements of a function begin in its body: behind the docstring."""
    return 0 if ast.get_docstring(node, False) is None else 1


def target_names(target: ast.expr) -> list[str]:
    """The names an assignment target binds."""
    if isinstance(target, ast.Name):
        return [target.id]
    if isinstance(target, ast.Tuple | ast.List):
        return [name for item in target.elts for name in target_names(item)]
    if isinstance(target, ast.Starred):
        return target_names(target.value)
    return []


def bound_names(node: ast.AST) -> list[str]:
    """The names one statement binds itself, in order; walrus targets in its expressions included."""
    names: list[str] = []
    match node:
        case ast.Assign(targets=targets):
            names = [n for t in targets for n in target_names(t)]
        case (
            ast.AugAssign(target=target)
            | ast.AnnAssign(target=target, value=ast.expr())
        ):
            names = target_names(target)
        case ast.For(target=target) | ast.AsyncFor(target=target):
            names = target_names(target)
        case ast.With(items=items) | ast.AsyncWith(items=items):
            names = [
                n
                for i in items
                if i.optional_vars
                for n in target_names(i.optional_vars)
            ]
        case (
            ast.FunctionDef(name=name)
            | ast.AsyncFunctionDef(name=name)
            | ast.ClassDef(name=name)
        ):
            return [name]
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return [a.asname or a.name.partition(".")[0] for a in aliases]
    for expression in own_expressions(node):
        for inner in ast.walk(expression):
            if isinstance(inner, ast.NamedExpr):
                names += target_names(inner.target)
    return list(dict.fromkeys(names))


def all_bound_names(node: ast.stmt) -> list[str]:
    """The names that a statement and those in it bind, in order."""
    found = list(bound_names(node))
    for block in blocks(node):
        for statement in block:
            found += all_bound_names(statement)
    return found


def declarations(function: FunctionNode) -> list[ast.Global | ast.Nonlocal]:
    """The `global` and `nonlocal` of a function's own."""
    return [n for n in own_nodes(function) if isinstance(n, ast.Global | ast.Nonlocal)]


def set_in(function: FunctionNode) -> set[str]:
    """The names that a function sets or deletes itself, in whatever way."""
    found: set[str] = set()
    for node in own_nodes(function):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case (
                ast.ExceptHandler(name=str() as name)
                | ast.MatchAs(name=str() as name)
                | ast.MatchStar(name=str() as name)
                | ast.MatchMapping(rest=str() as name)
            ):
                found.add(name)
            case ast.stmt():
                found.update(bound_names(node))
    return found


def one_by_one(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What an assignment gives its targets, those of `a, b = 1, 2` apart."""
    for target in node.targets:
        match target, node.value:
            case (
                ast.Tuple(elts=targets) | ast.List(elts=targets),
                ast.Tuple(elts=values) | ast.List(elts=values),
            ) if len(targets) == len(values) and not any(
                isinstance(n, ast.Starred) for n in (*targets, *values)
            ):
                yield from zip(targets, values, strict=True)
            case _:
                yield target, node.value


def stored_attributes(node: ast.AST) -> set[str]:
    """The names of attributes that a node gives a value or removes; ANY among them where it may be any.

    `setattr`, `monkeypatch.setattr`, `mock.patch`, `patch.object` and the like are such nodes, and so is `x.__dict__`.
    """
    match node:
        case ast.Attribute(attr="__dict__"):
            return {ANY}
        case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
            return {name}
        case ast.Call(func=ast.Name(id="vars"), args=[_]):
            return {ANY}
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args) if (
            name in SETTERS or (name == "object" and args)
        ):
            texts = [a.value for a in args if isinstance(a, ast.Constant)]
            names = {t.rpartition(".")[2] for t in texts if isinstance(t, str)}
            return names or ({ANY} if name == "setattr" else set())
    return set()


def changed_object(node: ast.AST) -> ast.expr | None:
    """What a node changes in place: x of `x[i] = v`, `x.append(v)`, `x += v`."""
    match node:
        case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()):
            return value
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in MUTATORS:
            return value
        case ast.AugAssign(target=target):
            return target
    return None


def beside(qualname: str, name: str) -> str:
    """The qualified name of what has a name where a function, by its qualified name, is defined."""
    prefix = qualname.rpartition(".")[0]
    return f"{prefix}.{name}" if prefix else name


def mangled(name: str, class_name: str) -> str:
    """The name that `__name` has outside its class."""
    private = name.startswith("__") and not name.endswith("__")
    return f"_{class_name.rpartition('.')[2].lstrip('_')}{name}" if private else name


def unmangled(name: str, class_name: str) -> str:
    """A name as the class has it."""
    prefix = f"_{class_name.rpartition('.')[2].lstrip('_')}"
    return name.removeprefix(prefix) if name.startswith(f"{prefix}__") else name


def named_functions(
    function: FunctionNode,
) -> dict[ast.Lambda | FunctionNode, str | None]:
    """The functions defined in one, each with the one name that it goes by; None where it may have others."""
    found: dict[ast.Lambda | FunctionNode, str | None] = {}
    nodes = list(own_nodes(function))
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as made):
                found[made] = name
            case ast.FunctionDef(name=name):
                found[node] = name
            case ast.Lambda():
                found.setdefault(node, None)
    names = set(filter(None, found.values()))
    loads = [
        n
        for n in nodes
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id in names
    ]
    called = {n.func for n in nodes if isinstance(n, ast.Call)}
    escaping = {n.id for n in loads if n not in called}
    return {n: None if name in escaping else name for n, name in found.items()}


def makes_list(node: ast.expr) -> bool:
    """Whether an expression gives a new list."""
    match node:
        case ast.List() | ast.ListComp():
            return True
        case ast.BinOp(left=left, op=ast.Mult() | ast.Add(), right=right):
            return makes_list(left) or makes_list(right)
        case ast.Call(func=ast.Name(id="list")):
            return True
    return False


def called_names(node: ast.AST) -> set[str]:
    """The names of what a piece of code may call; an object's call is its `__call__` or `call`."""
    found = set(CALLED_IN_ANY_CASE)
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call):
            found.add(getattr(inner.func, "id", getattr(inner.func, "attr", "")))
    return found


def index_parts(index: ast.expr) -> Iterator[ast.expr]:
    """The numbers in a subscript: indices, and the bounds and steps of slices."""
    match index:
        case ast.Tuple(elts=parts):
            for part in parts:
                yield from index_parts(part)
        case ast.Slice(lower=lower, upper=upper, step=step):
            yield from (bound for bound in (lower, upper, step) if bound is not None)
        case _:
            yield index


def is_negative(node: ast.expr) -> bool:
    """Whether this is a negative number as it is written."""
    return isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)
