"""What a module defines: imports, functions, classes, globals, and what is written more than once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from . import initializers, records, replicas
from .definitions import ClassDefinition, Fields, FunctionDefinition, is_new
from .profile import FunctionNode
from .syntax import (
    bound_names,
    changed_object,
    nested_statements,
    one_by_one,
    stored_attributes,
    target_names,
)

FUNCTION_PARTS = ("__code__", "__defaults__", "__kwdefaults__")
KERAS_CLASSES = frozenset(
    {
        "tensorflow.keras.Model",
        "tensorflow.keras.layers.Layer",
        "keras.Model",
        "keras.layers.Layer",
    }
)
"""What classes of layers and models extend: Keras calls their `call`."""
TRACKING = ("tensorflow.", "keras.")
"""Whose classes look at what an attribute holds where it is set."""
ELSEWHERE = "<elsewhere>"
"""Where other modules of the project write, among the names of functions."""


@dataclass(frozen=True)
class Uses:
    """Attribute names in modules' texts: given a value, or changed in place (an item set, `append`).

    `rebound` are names that modules are given new values for, `settings` those of Keras's own objects that change, as
    `layer base.trainable`. `methods` are those of classes, `overrides` those of classes that may extend another module's.
    `replicated` are functions that a strategy is given to run, `inside_replicated` those that such ones call.
    """

    rebound: frozenset[str] = frozenset()
    stored: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    settings: frozenset[str] = frozenset()
    methods: frozenset[str] = frozenset()
    overrides: frozenset[str] = frozenset()
    replicated: frozenset[str] = frozenset()
    inside_replicated: frozenset[str] = frozenset()


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
        for node in nested_statements(body):
            if isinstance(node, FunctionNode):
                definition = FunctionDefinition(node, prefix + node.name, owner, parent)
                if definition.is_setter:
                    if owner is not None and definition.sets:
                        owner.setters[node.name] = definition
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
                made.methods |= _aliases(made)
                self._initialize(made)

    def _initialize(self, made: ClassDefinition) -> None:
        """Give a dataclass the `__init__` that is written for it."""
        if not initializers.is_dataclass(made.node, self.imported):
            return
        bases = [self.classes.get(ast.unparse(base)) for base in made.node.bases]
        own = initializers.fields(made.node, self.imported)
        if own is None or "__init__" in made.methods:
            return
        if any(base is None or base.fields is None for base in bases[:1]) or bases[1:]:
            return
        inherited = bases[0].fields if bases and bases[0] else None
        made.fields = (inherited or {}) | own
        node = initializers.written(made.node, made.fields)
        definition = FunctionDefinition(node, f"{made.qualname}.__init__", made)
        self.functions[definition.qualname] = definition
        made.methods["__init__"] = definition

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the module as it is written."""
        return list(ast.walk(self.tree))

    @cached_property
    def imports(self) -> dict[str, str]:
        """What a name that an import binds stands for, as a dotted name; one that starts with dots is relative."""
        bound: dict[str, str] = {}
        for node in self.nodes:
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

    def imported(self, text: str) -> str | None:
        """The dotted name of what a chain of names, such as `np.zeros`, has from an import; None where it has not."""
        root, _, rest = text.partition(".")
        dotted = self.imports.get(root)
        return f"{dotted}.{rest}" if dotted is not None and rest else dotted

    @cached_property
    def assignments(self) -> dict[str, list[ast.expr | None]]:
        """The values each global is given at module level; None for one that is not a plain assignment's."""
        found: dict[str, list[ast.expr | None]] = {}
        for node in nested_statements(self.tree.body):
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
    def namedtuples(self) -> dict[str, Fields]:
        """The fields of the module's namedtuples."""
        return records.namedtuples(self)

    @cached_property
    def dataclasses(self) -> dict[str, Fields]:
        """The fields of the module's dataclasses of which an instance is no more than these."""
        return records.dataclasses(self)

    @cached_property
    def replicated(self) -> tuple[frozenset[str], frozenset[str]]:
        """The names of functions that strategies run on replicas as they are, and of those that run inside of one."""
        return replicas.replicated(self.tree)

    @cached_property
    def rebound(self) -> frozenset[str]:
        """Globals that are given another value after they are made."""
        names = {name for name, values in self.assignments.items() if len(values) > 1}
        for definition in self.functions.values():
            names |= definition.declared_global
        for node in self.nodes:
            match node:
                case ast.Attribute(value=ast.Name(id=name), attr=attr, ctx=ast.Store()):
                    names |= {name} if attr in FUNCTION_PARTS else set()
        return frozenset(names | self.assignments.keys() & self.elsewhere.rebound)

    @cached_property
    def changed(self) -> frozenset[str]:
        """Names of which some item is set or removed, somewhere."""
        targets = map(changed_object, self.nodes)
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

    @cached_property
    def borrowed(self) -> frozenset[str]:
        """Names and attributes (by their last name) that are given what may have another name, too."""
        found: set[str] = set()
        for node in self.nodes:
            if isinstance(node, ast.Assign):
                for target, value in one_by_one(node):
                    if not is_new(value) or len(node.targets) > 1:
                        found.add(ast.unparse(target).rpartition(".")[2])
        return frozenset(found)

    def _nodes_with_function(self) -> Iterator[tuple[ast.AST, str]]:
        inside: dict[ast.AST, str] = {}
        for definition in self.functions.values():
            for node in ast.walk(definition.node):
                inside[node] = definition.qualname
        for node in self.nodes:
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

    @property
    def tensorflow(self) -> str:
        """What the module calls TensorFlow."""
        named = (n for n, dotted in self.imports.items() if dotted == "tensorflow")
        return next(named, "tf")

    def method(self, class_name: str, name: str) -> FunctionDefinition | None:
        """The method of a class of this module that `name` finds, through bases of this module."""
        return next(
            (c.methods[name] for c in self.line(class_name) if name in c.methods), None
        )

    def setter(self, class_name: str, name: str) -> FunctionDefinition | None:
        """What alone runs where an attribute of an object of a class of this module is set, if it is a property.

        Modules of TensorFlow and layers of Keras ask for the property's value, too.
        """
        first = next((c for c in self.line(class_name) if name in c.methods), None)
        if first is None:
            return None
        tracked = any(b.startswith(TRACKING) for b in self.bases(class_name))
        if tracked and _sets_items(first.methods[name].node):
            return None
        return first.setters.get(name)

    def line(self, class_name: str) -> Iterator[ClassDefinition]:
        """A class of this module and those that it extends, as far as they are of this module."""
        seen: set[str] = set()
        queue = [class_name]
        while queue:
            current = queue.pop(0)
            made = self.classes.get(current)
            if made is None or current in seen:
                continue
            seen.add(current)
            yield made
            queue += [ast.unparse(base) for base in made.node.bases]

    def is_of_keras(self, class_name: str) -> bool:
        """Whether a class is of layers or models, whose `call` Keras calls."""
        return not KERAS_CLASSES.isdisjoint(self.bases(class_name))

    def bases(self, class_name: str) -> list[str]:
        """The dotted names of a class's bases, and of their bases where they are of this module."""
        found: list[str] = []
        queue = [class_name]
        while queue:
            made = self.classes.get(queue.pop(0))
            for base in made.node.bases if made else ():
                text = ast.unparse(base)
                dotted = self.imported(text) or text
                if dotted not in found:
                    found.append(dotted)
                    queue.append(text)
        return found


def _sets_items(function: FunctionNode) -> bool:
    """Whether a function sets attributes or items."""
    return any(
        isinstance(n, ast.Attribute | ast.Subscript) and isinstance(n.ctx, ast.Store)
        for n in ast.walk(function)
    )


def _aliases(made: ClassDefinition) -> dict[str, FunctionDefinition]:
    """The methods that a class body gives another name: `__rmul__ = __mul__`."""
    found: dict[str, FunctionDefinition] = {}
    for statement in made.node.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=of)) if (
                of in made.methods and name not in made.methods
            ):
                found[name] = made.methods[of]
    return found
