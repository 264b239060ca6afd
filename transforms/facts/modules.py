"""What a module defines: imports, functions, classes, globals, and what is written more than once."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from . import records
from .kinds import Kind
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


INITIALIZERS = ("__init__", "build")
SETTERS = ("setattr", "delattr", "patch")
FUNCTION_PARTS = ("__code__", "__defaults__", "__kwdefaults__")
ELSEWHERE = "<elsewhere>"
"""Where other modules of the project write, among the names of functions."""
ANY = "<any>"
"""Stands for the name of an attribute that is worked out as the program runs."""


@dataclass(frozen=True)
class Uses:
    """Attribute names in modules' texts: given a value, or changed in place (an item set, `append`).

    `rebound` are names that modules are given new values for.
    """

    rebound: frozenset[str] = frozenset()
    stored: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Tag:
    """A bool that a lifted function gives back beside its result: whether the part at `path` is None or a Python `type`."""

    path: tuple[int, ...]
    type: str
    name: str


@dataclass(frozen=True)
class Form:
    """A structure of a result that may be of several, and where in what the graph gives back its tensors stand."""

    kind: Kind
    places: tuple[int, ...]
    failure: str | None = None
    """The `raise` that it stands for; its tensors are what that shows."""
    shown: tuple[str, ...] = ()


@dataclass
class FunctionDefinition:
    """A `def` and where it stands: `owner` is the class it is a method of, `parent` the function around it.

    `node` is its body as lifting has it so far, `original` as the file has it.
    """

    node: FunctionNode
    qualname: str
    owner: ClassDefinition | None = None
    parent: FunctionDefinition | None = None
    original: FunctionNode = field(init=False)
    tags: list[Tag] = field(default_factory=list)
    forms: list[Form] = field(default_factory=list)
    """What its shell returns: the first of which the tag says so, or the last."""
    failure: str | None = None
    """The `raise` that its shell runs where the graph says so."""
    failures: dict[str, list[str]] = field(default_factory=dict)
    """Several of them, which it returns as texts; and the names bound on the way that each shows."""
    outlasts: bool = False
    """Whether a nested function was seen to be called by others than what made it, and more often than made."""
    settled: dict[str, Kind] = field(default_factory=dict)
    """Globals and attributes that hold this for good, once its shell has run."""

    def __post_init__(self) -> None:
        self.original = self.node

    @property
    def decorators(self) -> list[str]:
        return [ast.unparse(d) for d in self.node.decorator_list]

    @property
    def is_static(self) -> bool:
        return "staticmethod" in self.decorators

    @property
    def is_class_method(self) -> bool:
        return "classmethod" in self.decorators

    @property
    def is_property(self) -> bool:
        return "property" in self.decorators

    @property
    def has_gradient(self) -> bool:
        """Whether it gives a gradient of its own beside its value, to `tf.custom_gradient`."""
        return any(d.rpartition(".")[2] == "custom_gradient" for d in self.decorators)

    @property
    def is_descriptor(self) -> bool:
        """Whether it is a property, or a static or class method."""
        return self.is_property or self.is_static or self.is_class_method

    @property
    def is_operator(self) -> bool:
        """Whether Python calls it for more than a call: `__init__`, `__add__` and their like."""
        return self.node.name.startswith("__") and self.node.name != "__call__"

    @property
    def is_inner(self) -> bool:
        """Whether it is nested, and does a part of what the function around it does."""
        return self.parent is not None and not self.outlasts

    def escapes(self, calls_back: Callable[[ast.Call], bool]) -> bool:
        """Whether the function around does more with this one than call it, or have it called."""
        inner = list(ast.walk(self.parent.original)) if self.parent else []
        calls = [n for n in inner if isinstance(n, ast.Call)]
        called = {n.func for n in calls}
        called |= {
            a
            for n in filter(calls_back, calls)
            for a in (*n.args, *(k.value for k in n.keywords))
        }
        return self.owner is not None or any(
            isinstance(n, ast.Name)
            and n.id == self.node.name
            and isinstance(n.ctx, ast.Load)
            and n not in called
            for n in inner
        )

    @property
    def is_coroutine(self) -> bool:
        return isinstance(self.node, ast.AsyncFunctionDef)

    @property
    def is_setter(self) -> bool:
        """Whether it sets or deletes a property, and leaves what the property gives to the function of the same name."""
        names = (f"{self.node.name}.setter", f"{self.node.name}.deleter")
        return any(decorator in names for decorator in self.decorators)

    def sibling(
        self, name: str, parameters: Collection[str], body: list[ast.stmt]
    ) -> FunctionDefinition:
        """A function beside this one that does a part of what it does, with these parameters and statements.

        It is static where this one is a method, and it does not take what that is called on.
        """
        node = copy.copy(self.node)
        node.name, node.body, node.decorator_list = name, body, []
        node.args = ast.arguments(
            [], [*map(ast.arg, parameters)], None, [], [], None, []
        )
        if self.owner is not None and self.receiver not in parameters:
            node.decorator_list = [ast.Name("staticmethod", ast.Load())]
        made = FunctionDefinition(node, beside(self.qualname, name), self.owner)
        made.original = self.original
        return made

    @property
    def receiver(self) -> str | None:
        """The parameter that a method is given what it is called on as; None for what is no such method."""
        bound = self.owner is not None and not self.is_static
        return self.parameters[0].arg if bound and self.parameters else None

    @property
    def called_as(self) -> str:
        """How the function beside which it stands calls it."""
        args = self.original.args
        first = [a.arg for a in (*args.posonlyargs, *args.args)][:1]
        return ".".join([*(first if self.owner else ()), self.node.name])

    @cached_property
    def keeps_state(self) -> bool:
        """Whether it writes variables of the function around it."""
        return any(isinstance(n, ast.Nonlocal) for n in own_nodes(self.original))

    @cached_property
    def reset_around(self) -> frozenset[str]:
        """The variables of the functions around that are set more than once, or in a loop."""
        if self.parent is None:
            return frozenset()
        inner = list(ast.walk(self.parent.original))
        again = {name for n in inner if isinstance(n, ast.Nonlocal) for name in n.names}
        nodes = list(own_nodes(self.parent.original))
        loops = [n for n in nodes if isinstance(n, ast.For | ast.While)]
        again |= {name for loop in loops for name in all_bound_names(loop)}
        stores = [*_stored(nodes), *(a.arg for a in self.parent.parameters)]
        again |= {name for name in stores if stores.count(name) > 1}
        return frozenset(again | self.parent.reset_around)

    def is_shared(self, name: str) -> bool:
        """Whether a variable of the functions around may hold what more than this function uses, once it is made."""
        around = self.parent
        while around is not None and name not in (
            *_stored(own_nodes(around.original)),
            *(a.arg for a in around.parameters),
        ):
            around = around.parent
        if around is None:
            return False
        own = {n for n in ast.walk(self.original) if isinstance(n, ast.Name)}
        nodes = list(ast.walk(around.original))
        places = [
            n
            for n in nodes
            if isinstance(n, ast.Name) and n.id == name and n not in own
        ]
        new = any(
            isinstance(s, ast.Assign) and name in bound_names(s) and _is_new(s.value)
            for s in nodes
        )
        return len(places) != 1 or not new

    @property
    def parameters(self) -> list[ast.arg]:
        args = self.node.args
        return [*args.posonlyargs, *args.args, *args.kwonlyargs]

    @property
    def defaults(self) -> dict[str, ast.expr]:
        """The default values of parameters, by name."""
        args = self.node.args
        positional = [*args.posonlyargs, *args.args]
        last = positional[len(positional) - len(args.defaults) :]
        pairs = [*zip(last, args.defaults, strict=True)]
        pairs += [
            (parameter, value)
            for parameter, value in zip(args.kwonlyargs, args.kw_defaults, strict=True)
            if value is not None
        ]
        return {parameter.arg: value for parameter, value in pairs}

    @cached_property
    def is_generator(self) -> bool:
        return any(
            isinstance(n, ast.Yield | ast.YieldFrom) for n in own_nodes(self.node)
        )

    @property
    def declared_global(self) -> frozenset[str]:
        return frozenset(
            name
            for node in own_nodes(self.node)
            if isinstance(node, ast.Global | ast.Nonlocal)
            for name in node.names
        )


def _stored(nodes: Iterable[ast.AST]) -> list[str]:
    return [
        n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    ]


def _is_new(value: ast.expr) -> bool:
    """Whether an expression makes a list or dict that nobody else has."""
    match value:
        case ast.Call(func=ast.Name(id="list" | "dict" | "set")):
            return True
    return isinstance(
        value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp
    )


@dataclass
class ClassDefinition:
    node: ast.ClassDef
    qualname: str
    methods: dict[str, FunctionDefinition] = field(default_factory=dict)

    @property
    def assigned(self) -> set[str]:
        """The names that the class body gives a value."""
        found: set[str] = set()
        for statement in self.node.body:
            match statement:
                case ast.Assign(targets=targets):
                    found |= {n for target in targets for n in target_names(target)}
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
                    found.add(name)
        return found

    @property
    def properties(self) -> set[str]:
        """The names that the class body gives a property made by a call."""
        return {
            name
            for statement in self.node.body
            if isinstance(statement, ast.Assign)
            and ast.unparse(statement.value).startswith("property(")
            for target in statement.targets
            for name in target_names(target)
        }

    @property
    def fields(self) -> set[str]:
        """The attributes that the `__init__` of a dataclass sets; none for another class."""
        decorators = [ast.unparse(d) for d in self.node.decorator_list]
        if "__init__" in self.methods or not any(
            d.split("(")[0] in ("dataclass", "dataclasses.dataclass")
            for d in decorators
        ):
            return set()
        return {
            s.target.id
            for s in self.node.body
            if isinstance(s, ast.AnnAssign)
            and isinstance(s.target, ast.Name)
            and not any(
                text in ast.unparse(s)
                for text in ("ClassVar", "InitVar", "init=False", "KW_ONLY")
            )
        }


class ModuleFacts:
    """The definitions of one module.

    Args:
        tree: its parse.
        name: its dotted name, or its file's stem.
        elsewhere: how other modules of the project use its words.
    """

    def __init__(
        self,
        tree: ast.Module,
        name: str,
        elsewhere: Uses = Uses(),
    ) -> None:
        self.tree = tree
        self.name = name
        self.elsewhere = elsewhere
        self.functions: dict[str, FunctionDefinition] = {}
        self.classes: dict[str, ClassDefinition] = {}
        self._collect(tree.body, "", None, None)

    def _collect(
        self,
        body: list[ast.stmt],
        prefix: str,
        owner: ClassDefinition | None,
        parent: FunctionDefinition | None,
    ) -> None:
        for node in _nested_statements(body):
            if isinstance(node, FunctionNode):
                definition = FunctionDefinition(node, prefix + node.name, owner, parent)
                if definition.is_setter:
                    continue
                self.functions[definition.qualname] = definition
                if owner is not None:
                    owner.methods[node.name] = definition
                self._collect(
                    node.body, f"{definition.qualname}.<locals>.", None, definition
                )
            elif isinstance(node, ast.ClassDef):
                made = ClassDefinition(node, prefix + node.name)
                self.classes[made.qualname] = made
                self._collect(node.body, f"{made.qualname}.", made, parent)

    @cached_property
    def imports(self) -> dict[str, str]:
        """What a name that an import binds stands for, as a dotted name; one that starts with dots is relative."""
        bound: dict[str, str] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    name = alias.asname or alias.name.partition(".")[0]
                    bound[name] = alias.name if alias.asname else name
            elif isinstance(node, ast.ImportFrom):
                module = "." * node.level + (node.module or "")
                for alias in node.names:
                    dotted = f"{module}{'.' * (not module.endswith('.'))}{alias.name}"
                    bound[alias.asname or alias.name] = dotted
        return bound

    @cached_property
    def assignments(self) -> dict[str, list[ast.expr | None]]:
        """The values each global is given at module level; None for one that is not a plain assignment's."""
        found: dict[str, list[ast.expr | None]] = {}
        for node in _nested_statements(self.tree.body):
            if isinstance(node, ast.Assign):
                for target, value in one_by_one(node):
                    plain = isinstance(target, ast.Name)
                    for name in target_names(target):
                        found.setdefault(name, []).append(value if plain else None)
            elif (
                isinstance(node, ast.AnnAssign)
                and isinstance(node.target, ast.Name)
                and node.value
            ):
                found.setdefault(node.target.id, []).append(node.value)
            elif isinstance(node, ast.AugAssign | ast.For | ast.With):
                for name in bound_names(node):
                    found.setdefault(name, []).extend([None, None])
        return found

    @cached_property
    def namedtuples(self) -> dict[str, records.Fields]:
        """The fields of the module's namedtuples."""
        return records.namedtuples(self)

    @cached_property
    def dataclasses(self) -> dict[str, records.Fields]:
        """The fields of the module's dataclasses of which an instance is no more than these."""
        return records.dataclasses(self)

    @cached_property
    def rebound(self) -> frozenset[str]:
        """Globals that are given another value after they are made."""
        names = {name for name, values in self.assignments.items() if len(values) > 1}
        for definition in self.functions.values():
            names |= definition.declared_global
        for node in ast.walk(self.tree):
            match node:
                case ast.Attribute(value=ast.Name(id=name), attr=attr, ctx=ast.Store()):
                    names |= {name} if attr in FUNCTION_PARTS else set()
        return frozenset(names | self.assignments.keys() & self.elsewhere.rebound)

    @cached_property
    def changed(self) -> frozenset[str]:
        """Names of which some item is set or removed, somewhere."""
        targets = map(changed_object, ast.walk(self.tree))
        names = {target.id for target in targets if isinstance(target, ast.Name)}
        return frozenset(names | self.assignments.keys() & self.elsewhere.changed)

    @cached_property
    def rebound_attributes(self) -> dict[str, set[str]]:
        """The functions (by qualified name; "" for module level) that give an attribute of this name a value."""
        found = {name: {ELSEWHERE} for name in self.elsewhere.stored}
        for node, where in self._nodes_with_function():
            for name in stored_attributes(node):
                found.setdefault(name, set()).add(where)
        return found

    @cached_property
    def changed_attributes(self) -> dict[str, set[str]]:
        """The functions that set or remove an item of an attribute of this name."""
        found = {name: {ELSEWHERE} for name in self.elsewhere.changed}
        for node, where in self._nodes_with_function():
            target = changed_object(node)
            if isinstance(target, ast.Attribute):
                found.setdefault(target.attr, set()).add(where)
        return found

    def _nodes_with_function(self) -> Iterator[tuple[ast.AST, str]]:
        inside: dict[ast.AST, str] = {}
        for definition in self.functions.values():
            for node in ast.walk(definition.node):
                inside[node] = definition.qualname
        for node in ast.walk(self.tree):
            yield node, inside.get(node, "")

    def defines(self, name: str) -> bool:
        """Whether a name is a function, a class or a global of the module."""
        return (
            name in self.functions or name in self.classes or name in self.assignments
        )

    @cached_property
    def globals(self) -> frozenset[str]:
        """The names that the module binds."""
        return frozenset(
            {*self.imports, *self.functions, *self.classes, *self.assignments}
        )

    def method(self, class_name: str, name: str) -> FunctionDefinition | None:
        """The method of a class of this module that `name` finds, through bases of this module."""
        seen: set[str] = set()
        queue = [class_name]
        while queue:
            current = queue.pop(0)
            made = self.classes.get(current)
            if made is None or current in seen:
                continue
            seen.add(current)
            if name in made.methods:
                return made.methods[name]
            queue += [ast.unparse(base) for base in made.node.bases]
        return None

    def bases(self, class_name: str) -> list[str]:
        """The dotted names of a class's bases, and of their bases where they are of this module."""
        found: list[str] = []
        queue = [class_name]
        while queue:
            made = self.classes.get(queue.pop(0))
            for base in made.node.bases if made else ():
                text = ast.unparse(base)
                root, _, rest = text.partition(".")
                dotted = self.imports.get(root, root) + (f".{rest}" if rest else "")
                if dotted not in found:
                    found.append(dotted)
                    queue.append(text)
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


def mangled(name: str, class_name: str) -> str:
    """The name that `__name` has outside its class."""
    private = name.startswith("__") and not name.endswith("__")
    return f"_{class_name.rpartition('.')[2].lstrip('_')}{name}" if private else name


def unmangled(name: str, class_name: str) -> str:
    """A name as the class has it."""
    prefix = f"_{class_name.rpartition('.')[2].lstrip('_')}"
    return name.removeprefix(prefix) if name.startswith(f"{prefix}__") else name


def own_nodes(function: FunctionNode | ast.Lambda) -> Iterator[ast.AST]:
    """The nodes of a function's body, without those of functions and classes inside it."""
    body = function.body if isinstance(function.body, list) else [function.body]
    queue: list[ast.AST] = list(body)
    while queue:
        node = queue.pop()
        yield node
        if not isinstance(node, FunctionNode | ast.Lambda | ast.ClassDef):
            queue.extend(ast.iter_child_nodes(node))


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


def beside(qualname: str, name: str) -> str:
    """The qualified name of what has a name where a function, by its qualified name, is defined."""
    prefix = qualname.rpartition(".")[0]
    return f"{prefix}.{name}" if prefix else name


def is_none(node: ast.AST | None) -> bool:
    """Whether a piece of code is the word None."""
    return isinstance(node, ast.Constant) and node.value is None


def names_in(node: ast.AST) -> set[str]:
    """The names that a piece of code mentions, to read or to write."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def all_bound_names(node: ast.stmt) -> list[str]:
    """The names that a statement and those in it bind, in order."""
    found = list(bound_names(node))
    for block in blocks(node):
        for statement in block:
            found += all_bound_names(statement)
    return found


def own_expressions(node: ast.AST) -> list[ast.expr]:
    """The expressions that belong to a statement itself, not to statements inside it."""
    found: list[ast.expr] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            found.append(child)
        elif isinstance(child, ast.withitem):
            found += [e for e in (child.context_expr, child.optional_vars) if e]
    return found


def _nested_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements and those in their blocks, not in functions or classes."""
    for node in body:
        yield node
        if not isinstance(node, FunctionNode | ast.ClassDef):
            for inner in blocks(node):
                yield from _nested_statements(inner)


def own_body(node: FunctionNode) -> list[ast.stmt]:
    """The statements of a function, its docstring left out."""
    return node.body[own_start(node) :]


def own_start(node: FunctionNode) -> int:
    """Where the statements of a function begin in its body: behind the docstring."""
    return 0 if ast.get_docstring(node, False) is None else 1


def blocks(node: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a compound statement, in order."""
    found = [getattr(node, name, None) for name in ("body", "orelse")]
    found += [handler.body for handler in getattr(node, "handlers", ())]
    found += [case.body for case in getattr(node, "cases", ())]
    found.append(getattr(node, "finalbody", None))
    return [block for block in found if isinstance(block, list) and block]


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
