"""What names, displays, attributes and items stand for, as the interpreter walks a function."""

from __future__ import annotations

import ast
import builtins
from dataclasses import replace

from . import arrays, draws, methods, operators, ranks, texts
from .environment import Environment
from .evaluation import Evaluation
from .kind_joins import forget, join_all
from .kind_parts import is_mutable
from .kinds import (
    NONE,
    NUMPY,
    SIZE,
    STR,
    UNKNOWN,
    Dict,
    Elements,
    Function,
    Kind,
    Mapping,
    Module,
    Object,
    Python,
    Record,
    Sequence,
    Tensor,
    Type,
    Union,
    Variable,
    members,
    python,
    weak,
)
from .library_settings import LAYER
from .staging import (
    holds_size,
    holds_tensor,
    is_numpy,
    is_strong,
    is_tensor,
    is_weak,
)

KERAS_ATTRIBUTES: dict[str, Kind] = {
    "trainable_variables": Elements("list", Variable()),
    "trainable_weights": Elements("list", Variable()),
    "non_trainable_variables": Elements("list", Variable()),
    "variables": Elements("list", Variable()),
    "weights": Elements("list", Variable()),
    "losses": Elements("list", Tensor()),
}
TRAINED = frozenset(
    {"trainable_variables", "trainable_weights", "non_trainable_variables"}
)
OF_LAYERS = frozenset({"layers", "losses", "variables", "weights"})
"""What models and layers list, beside other things of those names."""
PACKAGES = ("tensorflow.", "numpy.")


class NameEvaluation(Evaluation):
    """What names, displays, attributes and items stand for."""

    def imported(self, name: str) -> Kind:
        dotted = self.session.module.imports.get(name)
        return UNKNOWN if dotted is None else self.session.globals.external(dotted)

    def _name(self, node: ast.Name, environment: Environment) -> Kind:
        told = environment.kinds.get(getattr(node, "tells_none", ""), UNKNOWN)
        if told == NONE or is_tensor(told):
            return python(told == NONE)
        self.facts.nonzero.discard(node)
        if node.id in environment.nonzero:
            self.facts.nonzero.add(node)
        if node.id in environment.kinds:
            kind = environment.kinds[node.id]
            parts = members(kind)
            if any(map(is_weak, parts)) and any(map(is_strong, parts)):
                reason = (
                    f"`{node.id}` may be a Python number held in a tensor, or a tensor"
                )
                self.problem(reason, node)
            return kind
        if self.outer is not None and node.id in self.outer.kinds:
            kind = self.outer.kinds[node.id]
            if self._may_change_around(node.id, kind):
                self.may_change(f"what `{node.id}` holds", node, kind)
            return kind
        found = self._global_name(node)
        if found is not None:
            return found
        if hasattr(builtins, node.id):
            return Function(f"builtins.{node.id}")
        self.problem(f"what `{node.id}` is here is not known", node)
        return UNKNOWN

    def _global_name(self, node: ast.Name) -> Kind | None:
        settled = self.facts.definition.settled
        if node.id in settled:
            return settled[node.id]
        kind = self.session.globals.kind(node.id, self.recorded)
        if kind is None:
            return None
        if self._may_change(node.id, kind):
            self.may_change(f"the global `{node.id}`", node, kind)
            seen = self.recorded.globals.get(node.id) if self.recorded else None
            grown = kind == Sequence("list", ()) and seen is not None
            return seen if grown else forget(kind)
        return kind

    def _may_change(self, name: str, kind: Kind) -> bool:
        """Whether a global may hold something else at the next call."""
        if name in self.session.changes.globals:
            return True
        module = self.session.module
        if isinstance(kind, Function | Type):
            return name in module.rebound or name in module.elsewhere.rebound
        if isinstance(kind, Module):
            return False
        fixed = isinstance(kind, Object | Variable | Python | Tensor)
        return name in module.rebound or (
            self.session.globals.is_changed(name) and not fixed
        )

    def _may_change_around(self, name: str, kind: Kind) -> bool:
        """Whether a variable of the function that made this one may hold something else at the next call."""
        definition = self.facts.definition
        if not definition.outlasts:
            return False
        return name in definition.reset_around or (
            is_mutable(kind)
            and (definition.is_shared(name) or name in self.session.module.changed)
        )

    def _constant(self, node: ast.Constant, environment: Environment) -> Kind:
        return python(node.value)

    def _namedexpr(self, node: ast.NamedExpr, environment: Environment) -> Kind:
        kind = self.evaluate(node.value, environment)
        environment.bind(node.target.id, kind)
        self.facts.kinds[node.target] = kind
        return kind

    def _tuple(self, node: ast.Tuple, environment: Environment) -> Kind:
        return self._display("tuple", node.elts, environment)

    def _list(self, node: ast.List, environment: Environment) -> Kind:
        return self._display("list", node.elts, environment)

    def _display(
        self, name: str, elts: list[ast.expr], environment: Environment
    ) -> Kind:
        items: list[Kind] = []
        several: list[Kind] = []
        for element in elts:
            if isinstance(element, ast.Starred):
                inner = self.evaluate(element.value, environment)
                if isinstance(inner, Elements):
                    several.append(inner.element)
                    continue
                if not isinstance(inner, Sequence):
                    self.problem("how many items `*` gives is not known", element)
                    return UNKNOWN
                items += inner.items
            else:
                items.append(self.evaluate(element, environment))
        if several:
            return Elements(name, join_all([*several, *map(forget, items)]))
        return Sequence(name, tuple(items))

    def _dict(self, node: ast.Dict, environment: Environment) -> Kind:
        values = [self.evaluate(v, environment) for v in node.values]
        keys = [self.evaluate(k, environment) if k else None for k in node.keys]
        entries = _entries(keys, values)
        if entries is not None:
            return Dict(tuple(entries.items()))
        if None in keys:
            return Mapping(UNKNOWN, UNKNOWN)
        known = [forget(key) for key in keys if key is not None]
        return Mapping(join_all(known), join_all(map(forget, values)))

    def _joinedstr(self, node: ast.JoinedStr, environment: Environment) -> Kind:
        formatted = [v for v in node.values if isinstance(v, ast.FormattedValue)]
        kinds = [self.evaluate(v.value, environment) for v in formatted]
        made = texts.kind_of(self, node)
        if made is not None:
            return made
        if any(holds_tensor(k) or holds_size(k) for k in kinds):
            return texts.made_by_python(self, node)
        return STR

    def _attribute(self, node: ast.Attribute, environment: Environment) -> Kind:
        settled = self.facts.definition.settled
        if settled and (text := ast.unparse(node)) in settled:
            self.evaluate(node.value, environment)
            return settled[text]
        value = self.evaluate(node.value, environment)
        if node.attr in TRAINED or (
            node.attr in OF_LAYERS and self.session.instances.is_layer(value)
        ):
            self.keeps_settings(LAYER, node)
        if is_numpy(value):
            return arrays.attribute(self, node, value)
        rank = ranks.attribute(self, node, value)
        if rank is not None:
            return rank
        if isinstance(value, Module):
            return self._of_module(node, f"{value.name}.{node.attr}")
        if isinstance(value, Object | Type | Record):
            found = self.session.instances.attribute(self, node, value)
            if found is not None:
                return found
        if isinstance(value, Object | Type):
            if value.name.startswith(("keras.", "tensorflow.keras.")):
                found = KERAS_ATTRIBUTES.get(node.attr)
            if found is not None:
                return found
        objects = [m for m in members(value) if isinstance(m, Object)]
        if len(objects) == len(members(value)) > 1:
            parts = [self.session.instances.attribute(self, node, m) for m in objects]
            if not any(p is None or isinstance(p, Function) for p in parts):
                return join_all(forget(p) for p in parts if p is not None)
        if isinstance(value, Union) and NONE not in value.members:
            known = [methods.attribute(m, node.attr) for m in value.members]
            if all(o is not None and not o.error for o in known):
                return join_all(o.kind for o in known if o)
        found_outcome = methods.attribute(value, node.attr)
        if found_outcome is not None:
            return self.settle(found_outcome, f"`.{node.attr}`", node)
        if isinstance(value, Function) and (
            value.name.startswith(PACKAGES) or draws.code(value.name)
        ):
            return self.session.globals.external(f"{value.name}.{node.attr}")
        return Function(f"method.{node.attr}", value)

    def _of_module(self, node: ast.Attribute, dotted: str) -> Kind:
        kind = self.session.globals.external(dotted)
        home, name = self.session.home(dotted)
        changes = name in home.module.rebound or name in home.module.changed
        if home is self.session or not changes:
            return kind
        self.may_change(f"`{ast.unparse(node)}`", node, kind)
        return forget(kind)

    def _subscript(self, node: ast.Subscript, environment: Environment) -> Kind:
        value = self.evaluate(node.value, environment)
        index = self.evaluate(node.slice, environment)
        if is_numpy(value):
            return arrays.item(self, node, value, index)
        own = self.session.instances.special(self, "__getitem__", value, [index], node)
        if own is not None:
            return own
        index = arrays.all_released(index)
        if hasattr(node, "switched") and isinstance(value, Elements):
            return value.element
        parts = [operators.subscript(member, index) for member in members(value)]
        kind = join_all(
            self.settle(found, f"`{ast.unparse(node)}`", node) for found in parts
        )
        if is_tensor(value) or is_tensor(index):
            self.operation()
        if is_tensor(value) and hasattr(node, "holds"):
            if node.holds != NUMPY:
                return weak(node.holds)
            return replace(kind, weak=NUMPY) if isinstance(kind, Tensor) else kind
        if kind == SIZE and not self.session.is_graph_function(self.facts.definition):
            return weak("int")
        if is_tensor(index) and not is_tensor(value):
            self.problem("a Python container is indexed by a tensor", node, "GL111")
        return kind

    def _slice(self, node: ast.Slice, environment: Environment) -> Kind:
        bounds = [
            self.evaluate(e, environment) if e else NONE
            for e in (node.lower, node.upper, node.step)
        ]
        return Sequence("slice", tuple(bounds))

    def _starred(self, node: ast.Starred, environment: Environment) -> Kind:
        return self.evaluate(node.value, environment)


def _entries(keys: list[Kind | None], values: list[Kind]) -> dict[str, Kind] | None:
    """The items of a display of a dict; None where not all its keys are known."""
    found: dict[str, Kind] = {}
    for key, value in zip(keys, values, strict=True):
        match key, value:
            case Python(type="str", value=str(text)), _:
                found[text] = value
            case None, Dict(items=items):
                found |= items
            case _:
                return None
    return found
