"""Functions and classes as their text defines them."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Collection, Iterable, Set
from dataclasses import dataclass, field
from functools import cached_property

from .initializers import Field
from .kinds import Kind, Python, Sequence
from .profile import FunctionNode
from .syntax import (
    all_bound_names,
    beside,
    bound_names,
    declarations,
    given_to,
    is_named,
    own_body,
    own_nodes,
    set_in,
    target_names,
)

Fields = dict[str, ast.expr | None]
"""The default of each field, None where it has none."""
INITIALIZERS = ("__init__", "build")
NO_FIELDS = ("ClassVar", "InitVar", "init=False", "KW_ONLY")
"""Words of annotations, and of values, in a dataclass that declare no field which its `__init__` sets."""


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
    beside: int | None = None
    """How many values a core gives back beside its result, where its shell takes what it tells of these, too."""
    settled: dict[str, Kind] = field(default_factory=dict)
    """Globals and attributes that hold this for good, once its shell has run."""
    nonzero: frozenset[str] = frozenset()
    """Parameters that its shell has found not to be 0."""
    _declared: tuple[FunctionNode, frozenset[str]] | None = field(
        default=None, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        self.original = self.node

    def raised(self, result: Kind) -> str | None:
        """The one of `failures` that a result stands for."""
        match result:
            case Sequence(items=(Python(value=str() as text), *_)) if (
                text in self.failures
            ):
                return text
        return None

    @property
    def decorators(self) -> list[str]:
        return [ast.unparse(d) for d in self.node.decorator_list]

    @property
    def makes_defaults(self) -> bool:
        """Whether each call gets default values of its own, as those of the `__init__` of a dataclass do."""
        made = self.owner is not None and self.owner.fields is not None
        return made and self.node.name == "__init__"

    @property
    def only_keeps(self) -> bool:
        """Whether it does no more than keep what it is given, as many an `__init__` does."""
        body = own_body(self.original)
        kept = [s.value for s in body if isinstance(s, ast.Assign)]
        plain = all(isinstance(value, ast.Name | ast.Constant) for value in kept)
        return self.node.name == "__init__" and plain and len(kept) == len(body)

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
        called |= {a for n in filter(calls_back, calls) for a in given_to(n)}
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

    @property
    def sets(self) -> bool:
        """Whether it sets a property."""
        return f"{self.node.name}.setter" in self.decorators

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

    def with_receiver(self, read: Set[str]) -> frozenset[str]:
        """Names that its statements read, and its object, where they call `super()`."""
        needed = {self.receiver} if "super" in read and self.receiver else set()
        return frozenset({*read, *needed})

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
        places = [n for n in nodes if is_named(n, name) and n not in own]
        new = any(
            isinstance(s, ast.Assign) and name in bound_names(s) and is_new(s.value)
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
        """The names that it declares to be the module's, or those of a function around it, and sets."""
        if self._declared is None or self._declared[0] is not self.node:
            names = {n for d in declarations(self.node) for n in d.names}
            if names:
                names &= set_in(self.node)
            self._declared = self.node, frozenset(names)
        return self._declared[1]


def _stored(nodes: Iterable[ast.AST]) -> list[str]:
    return [
        n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    ]


def is_new(value: ast.expr) -> bool:
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
    setters: dict[str, FunctionDefinition] = field(default_factory=dict)
    fields: dict[str, Field] | None = None
    """Of a dataclass: what the `__init__` that is written for it sets."""

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
    def declared(self) -> Fields:
        """The fields that the class body declares, as a dataclass or a namedtuple takes them."""
        return {
            s.target.id: s.value
            for s in self.node.body
            if isinstance(s, ast.AnnAssign)
            and isinstance(s.target, ast.Name)
            and not any(text in ast.unparse(s) for text in NO_FIELDS)
        }
