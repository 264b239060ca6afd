"""Settings of Keras's own objects that a program changes once it has them: `base.trainable = False`, `opt.momentum = 0.5`.

Keras reads them, where nothing in the program does, and a graph keeps what it read while it was traced.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping

from .definitions import INITIALIZERS, ClassDefinition, FunctionDefinition
from .modules import ModuleFacts
from .syntax import one_by_one, own_nodes, target_names

LAYER, OPTIMIZER, COMPILED = "layer", "optimizer", "compiled"
"""What a setting is of, and the use of which depends on it; those that `compile` sets are read by the program."""
TELLTALES = {
    "trainable": LAYER,
    "negative_slope": LAYER,
    "recurrent_dropout": LAYER,
    "stateful": LAYER,
    "weight_decay": OPTIMIZER,
    "clipnorm": OPTIMIZER,
    "clipvalue": OPTIMIZER,
    "global_clipnorm": OPTIMIZER,
    "beta_1": OPTIMIZER,
    "beta_2": OPTIMIZER,
}
"""Settings that are known by their names, whatever has them."""
IN_VARIABLES = frozenset({"learning_rate", "iterations"})
"""Settings of optimizers that a graph reads anew in each run."""
CHANGING = frozenset({"add", "pop", "adapt"})
"""Methods of models and layers that change what these do."""
COMPILES = "compile"
LIBRARIES = frozenset({"tensorflow", "keras", "numpy", *sys.stdlib_module_names})
"""What runs no graphs of the program."""
RUN_BY_KERAS = frozenset({"fit", "train_on_batch", "evaluate", "predict"})


def changed_settings(module: ModuleFacts) -> dict[str, str]:
    """The first setting that a module changes of a layer or model, and of an optimizer, by its text."""
    found: dict[str, str] = {}
    for scope in _scopes(module):
        for owner, name, value, node in scope.settings():
            of = scope.affected(owner, name, value)
            if of is not None and not scope.is_set_up(owner, node):
                found.setdefault(of, f"{ast.unparse(owner)}.{name}")
    return found


def _scopes(module: ModuleFacts) -> Iterator[_Scope]:
    attributes = _given(module.nodes, ast.Attribute)
    yield _Scope(module, attributes, None)
    for definition in module.functions.values():
        yield _Scope(module, attributes, definition)


class _Scope:
    """The code of a function, or that of a module outside functions; `attributes` is what the module gives those."""

    def __init__(
        self,
        module: ModuleFacts,
        attributes: Mapping[str, list[ast.expr | None]],
        definition: FunctionDefinition | None,
    ) -> None:
        self.module = module
        self.attributes = attributes
        self.definition = definition
        self.nodes = list(own_nodes(definition.original if definition else module.tree))
        self.parameters = [a.arg for a in definition.parameters] if definition else []

    def settings(self) -> Iterator[tuple[ast.expr, str, ast.expr | None, ast.AST]]:
        """What gets an attribute set, the attribute's name, and what it is set to."""
        for node in self.nodes:
            match node:
                case ast.Assign():
                    for target, value in one_by_one(node):
                        if isinstance(target, ast.Attribute):
                            yield target.value, target.attr, value, node
                case ast.AugAssign(target=ast.Attribute(value=owner, attr=name)):
                    yield owner, name, None, node
                case ast.Call(
                    func=ast.Name(id="setattr"),
                    args=[owner, ast.Constant(value=str() as name), value],
                ):
                    yield owner, name, value, node
                case ast.Call(func=ast.Attribute(value=owner, attr=name)) if (
                    name == COMPILES or name in CHANGING
                ):
                    yield owner, name, None, node

    def affected(
        self, owner: ast.expr, name: str, value: ast.expr | None
    ) -> str | None:
        """The use of what depends on a setting: of layers, or of optimizers; None where no graph has to know."""
        if name == COMPILES:
            return COMPILED
        of = self._class(owner)
        if of is None:
            return TELLTALES.get(name)
        if isinstance(of, ClassDefinition):
            keras = self.module.is_of_keras(of.qualname)
            return LAYER if keras and name == "trainable" else None
        if ".optimizers." not in of:
            return LAYER
        schedule = isinstance(value, ast.Call) and "schedules." in self._dotted(value)
        return None if name in IN_VARIABLES and not schedule else OPTIMIZER

    def is_set_up(self, owner: ast.expr, node: ast.AST) -> bool:
        """Whether a setting is made where its object is, before anything may have run with it."""
        root = _root(owner)
        loops = [n for n in self.nodes if isinstance(n, ast.For | ast.While)]
        around = [loop for loop in loops if node in ast.walk(loop)]
        for loop in list(around):
            if isinstance(loop, ast.For) and root in target_names(loop.target):
                around.remove(loop)
                root = _root(loop.iter)
        if self.definition is not None and root in (self.definition.receiver, "super"):
            return self.definition.node.name in (*INITIALIZERS, COMPILES)
        made = [
            s
            for s in self.nodes
            if isinstance(s, ast.Assign)
            and any(root in target_names(t) for t in s.targets)
            and s.lineno < node.lineno  # type: ignore[attr-defined]
            and self._makes(s.value)
            and all(s in ast.walk(loop) for loop in around)
        ]
        start = max((s.end_lineno or s.lineno for s in made), default=None)
        return start is not None and not any(
            start < n.lineno < node.lineno and self._may_run(n)  # type: ignore[attr-defined]
            for n in self.nodes
            if isinstance(n, ast.Call)
        )

    def _class(self, owner: ast.expr) -> ClassDefinition | str | None:
        """The class of the module that an object is of, or the dotted name of what made it in Keras; None if not known."""
        match owner:
            case ast.Name(id=name):
                if self.definition is not None and name == self.definition.receiver:
                    return self.definition.owner
                if name in self.parameters:
                    return None
                values = _given(self.nodes, ast.Name).get(name, [])
                values = values or self.module.assignments.get(name, [])
            case ast.Attribute(attr=name):
                values = self.attributes.get(name, [])
            case _:
                return None
        found = [self._class_made(value) for value in values]
        return found[0] if found and found.count(found[0]) == len(found) else None

    def _class_made(self, value: ast.expr | None) -> ClassDefinition | str | None:
        if not isinstance(value, ast.Call):
            return None
        made = self.module.classes.get(ast.unparse(value.func))
        dotted = self._dotted(value)
        is_keras = dotted.removeprefix("tensorflow.").startswith("keras.")
        return made or (dotted if is_keras else None)

    def _dotted(self, call: ast.Call) -> str:
        root, _, rest = ast.unparse(call.func).partition(".")
        return ".".join(filter(None, (self.module.imports.get(root, ""), rest)))

    def _makes(self, value: ast.expr) -> bool:
        """Whether an expression makes something new: a call of a class or function of this module, or of another."""
        if not isinstance(value, ast.Call):
            return False
        root = _root(value.func)
        own = root in self.module.classes or root in self.module.functions
        return own or root in self.module.imports

    def _may_run(self, call: ast.Call) -> bool:
        """Whether a call may come to graphs of the program."""
        if self._is_of_project(_root(call.func)):
            return True
        match call.func:
            case ast.Name(id=name):
                return name in self.module.functions
            case ast.Attribute(attr=name):
                methods = (c.methods for c in self.module.classes.values())
                return name in RUN_BY_KERAS or any(name in m for m in methods)
        return False

    def _is_of_project(self, root: str) -> bool:
        """Whether a name may be of another module of the program, or something made by what is."""
        given = [
            s.value
            for s in self.nodes
            if isinstance(s, ast.Assign)
            and any(root in target_names(t) for t in s.targets)
        ]
        made = [_root(v.func) for v in given if isinstance(v, ast.Call)]
        names = (self.module.imports.get(n, "") for n in (root, *made))
        return any(n and n.partition(".")[0] not in LIBRARIES for n in names)


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _given(
    nodes: Iterable[ast.AST], form: type[ast.Name | ast.Attribute]
) -> dict[str, list[ast.expr | None]]:
    """What assignments give each name, or the attributes of each name; None for what loops give."""
    found: dict[str, list[ast.expr | None]] = {}
    for node in nodes:
        pairs: Iterable[tuple[ast.expr, ast.expr | None]] = ()
        if isinstance(node, ast.Assign):
            pairs = one_by_one(node)
        elif isinstance(node, ast.For):
            pairs = [(node.target, None)]
        for target, value in pairs:
            if isinstance(target, form):
                name = target.id if isinstance(target, ast.Name) else target.attr
                found.setdefault(name, []).append(value)
    return found
