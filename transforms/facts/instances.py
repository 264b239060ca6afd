"""What making, calling and reading objects gives, for the classes of the project."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from . import kinds
from .calls import Arguments
from .changes import may_be_of
from .definitions import ClassDefinition, FunctionDefinition
from .environment import Environment, FunctionFacts
from .evaluation import Evaluation
from .evaluation_names import KERAS_ATTRIBUTES
from .kind_joins import forget, join
from .kind_parts import has_unknown, of_any_shape, settled
from .kinds import (
    NONE,
    UNKNOWN,
    Array,
    Dict,
    Elements,
    Function,
    Kind,
    Object,
    Record,
    Sequence,
    Tensor,
    Type,
    Union,
)
from .last_sizes import takes_unsized
from .library_settings import COMPILED, LAYER
from .modules import ELSEWHERE, KERAS_CLASSES
from .staging import is_bool, is_tensor
from .syntax import ANY, unmangled

if TYPE_CHECKING:
    from .session import Session

GRAPH_BASES = KERAS_CLASSES | {"object", "tensorflow.Module"}
"""Classes whose own `__init__` and `build` do nothing that a graph has to do."""
DESCRIBING = ("__get__", "__set__")
"""Methods of what answers for an attribute of the objects of a class that has it."""
KERAS_FLAG = "training"
"""What any layer may be called with: those in it see it, too."""
CONTAINERS = (Sequence, Elements, Dict, kinds.Mapping)
KERAS_CONTAINERS = frozenset(
    [
        "Sequential",
        "Functional",
        "Model",
        "RNN",
        "Bidirectional",
        "TimeDistributed",
        "Wrapper",
        "Lambda",
        "StackedRNNCells",
    ]
)
DUNDERS = {
    "add": "add",
    "sub": "sub",
    "mult": "mul",
    "div": "truediv",
    "matmult": "matmul",
    "floordiv": "floordiv",
    "mod": "mod",
    "pow": "pow",
    "usub": "neg",
    "lt": "lt",
    "lte": "le",
    "gt": "gt",
    "gte": "ge",
    "eq": "eq",
    "noteq": "ne",
}
"""The methods of the operators, by the names of their nodes."""


class Instances:
    """What making, calling and reading objects gives, for the classes of the project."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.module = session.module
        self._attributes: dict[str, dict[str, Kind]] = {}

    def call_object(
        self,
        evaluation: Evaluation,
        node: ast.Call,
        function: Object | Type,
        arguments: Arguments,
    ) -> Kind:
        home, _ = self.session.home(function.name)
        if home is not self.session:
            return home.instances.call_object(evaluation, node, function, arguments)
        if self.is_layer(function) and takes_unsized(evaluation.facts, node):
            reason = "a layer has to know the last size of what it is given, which a loop of the graph loses"
            way_out = "give the loop's step a function of its own, or keep the size with `tf.ensure_shape`"
            evaluation.problem(reason, node, "GL305", way_out)
        qualname = self.session.qualname(function.name)
        made = self.session.class_of(function.name)
        environment = Environment()
        fields = self.session.records.get(qualname)
        if isinstance(function, Type) and fields is not None:
            return self._record(evaluation, node, qualname, arguments)
        if isinstance(function, Type) and made is not None:
            return self._construct(evaluation, node, made, arguments)
        if isinstance(function, Object):
            method = self.module.method(qualname, "__call__")
            if method is None and self.module.is_of_keras(qualname):
                method = self.module.method(qualname, "call")
                arguments = _as_passed(method, arguments)
            if method is not None:
                return self.session.calls.call_definition(
                    evaluation, node, method, function, arguments, environment
                )
            if function.name.startswith(("keras.", "tensorflow.keras.")):
                if (
                    function.name.rpartition(".")[2] in KERAS_CONTAINERS
                    and self.session.has_keras_classes
                    and self._has_mixed_containers
                ):
                    reason = f"`{ast.unparse(node.func)}` may hold layers of this module, which Keras calls as they are"
                    way_out = "have the layer's `call` lifted, then put `@tf.function` on this function"
                    evaluation.problem(reason, node, "GL401", way_out)
                flags = [*arguments.positional[1:], *arguments.keywords.values()]
                if any(is_bool(k) and getattr(k, "shape", None) == () for k in flags):
                    reason = "Keras asks whether `training` is true, which a graph does not know while it is traced"
                    evaluation.problem(reason, node, "GL404", "pass a bool of Python's")
                evaluation.keeps_settings(LAYER, node)
                evaluation.operation()
                return Tensor()
        evaluation.problem(f"what calling {function} does is not known", node)
        return UNKNOWN

    def is_layer(self, kind: Kind) -> bool:
        """Whether this is a layer or model of Keras, or of a class of this module that is one."""
        if not isinstance(kind, Object):
            return False
        own = self.module.is_of_keras(self.session.qualname(kind.name))
        known = kind.name.startswith(("keras.", "tensorflow.keras."))
        return known or own

    @cached_property
    def _has_mixed_containers(self) -> bool:
        """Whether something in the module may put layers that are not Keras's own into containers of Keras."""
        given: list[ast.expr] = []
        for node in self.module.nodes:
            match node:
                case ast.Call(func=ast.Attribute(attr="add"), args=args):
                    given += [a for a in args if isinstance(a, ast.Call)]
                case ast.Call(func=function, args=args, keywords=keywords) if (
                    ast.unparse(function).rpartition(".")[2] in KERAS_CONTAINERS
                ):
                    given += [*args, *(k.value for k in keywords if k.arg != "name")]
        return not all(map(self._is_of_keras, given))

    def _is_of_keras(self, node: ast.expr) -> bool:
        """Whether an expression makes layers of Keras's own."""
        if isinstance(node, ast.List | ast.Tuple):
            return all(map(self._is_of_keras, node.elts))
        if isinstance(node, ast.ListComp):
            return self._is_of_keras(node.elt)
        if not isinstance(node, ast.Call):
            return isinstance(node, ast.Constant)
        dotted = self.module.imported(ast.unparse(node.func)) or ""
        return dotted.startswith(("tensorflow.keras.", "keras."))

    def _construct(
        self,
        evaluation: Evaluation,
        node: ast.Call,
        made: ClassDefinition,
        arguments: Arguments,
    ) -> Kind:
        bases = set(self.module.bases(made.qualname)) - set(self.module.classes)
        decorated = made.node.decorator_list and made.fields is None
        if bases - {"object"} or decorated or made.node.keywords:
            evaluation.problem(f"it makes a `{made.qualname}`", node, "GL305")
            return Object(self.session.dotted(made.qualname))
        kind = Object(self.session.dotted(made.qualname), fresh=True)
        initializer = self.module.method(made.qualname, "__init__")
        if initializer is not None:
            self.session.calls.call_definition(
                evaluation, node, initializer, kind, arguments, Environment()
            )
        elif arguments.all:
            evaluation.problem(f"`{made.qualname}` takes no arguments", node)
        return kind

    def _record(
        self, evaluation: Evaluation, node: ast.Call, name: str, arguments: Arguments
    ) -> Kind:
        """The namedtuple that a call of its class makes."""
        fields = self.session.records[name]
        given = dict(zip(fields, arguments.positional, strict=False))
        given |= arguments.keywords
        for field, default in fields.items():
            if field not in given and default is not None:
                given[field] = self.session.globals.value(default)
        fits = given.keys() == fields.keys() and evaluation.session is self.session
        many = len(arguments.positional) > len(fields)
        if arguments.spread or many or not fits:
            evaluation.problem(f"what this `{name}` holds is not known", node)
            return UNKNOWN
        items = tuple(given[f] for f in fields)
        return Record(self.session.dotted(name), items, tuple(fields))

    def call_super(
        self, evaluation: Evaluation, node: ast.Call, name: str, arguments: Arguments
    ) -> Kind:
        """What `super().name(...)` gives."""
        owner = evaluation.facts.definition.owner
        bases = self.module.bases(owner.qualname) if owner else []
        for base in bases:
            method = self.module.method(base, name)
            if method is not None and owner is not None:
                receiver = evaluation.facts.parameters.get(
                    evaluation.facts.definition.parameters[0].arg, UNKNOWN
                )
                return self.session.calls.call_definition(
                    evaluation, node, method, receiver, arguments, Environment()
                )
        if name in ("__init__", "build") and set(bases) <= GRAPH_BASES:
            return NONE
        evaluation.problem(f"what `super().{name}` does is not known", node)
        return UNKNOWN

    def operator(
        self, evaluation: Evaluation, name: str, node: ast.AST, left: Kind, *right: Kind
    ) -> Kind | None:
        """What a class's own operator gives; None where the operands have none."""
        if name not in DUNDERS:
            return None
        own = self.special(evaluation, f"__{DUNDERS[name]}__", left, [*right], node)
        if own is None and right and isinstance(node, ast.BinOp):
            reflected = f"__r{DUNDERS[name]}__"
            return self.special(evaluation, reflected, right[0], [left], node)
        return own

    def special(
        self,
        evaluation: Evaluation,
        name: str,
        owner: Kind,
        given: list[Kind],
        node: ast.AST,
    ) -> Kind | None:
        """What a special method of a class, `__getitem__` say, gives where Python calls it; None where there is none."""
        if not isinstance(owner, Object | Record) or not isinstance(node, ast.expr):
            return None
        home, qualname = self.session.home(_class_name(owner))
        if home is not self.session:
            return home.instances.special(evaluation, name, owner, given, node)
        method = self.module.method(qualname, name)
        if method is None:
            return None
        return self.session.calls.call_definition(
            evaluation, node, method, owner, Arguments(given, {}), Environment()
        )

    def attribute(
        self, evaluation: Evaluation, node: ast.Attribute, value: Object | Type | Record
    ) -> Kind | None:
        """What an attribute of an instance, or of a class, of the project holds; None where it has none."""
        home, _ = self.session.home(_class_name(value))
        if home is not self.session:
            return home.instances.attribute(evaluation, node, value)
        made = self.session.class_of(_class_name(value))
        if made is None and isinstance(value, Object) and value.is_namespace:
            return self._of_namespace(evaluation, node, value)
        if made is None:
            return None
        if self.module.method(made.qualname, "__getattr__") or self.module.method(
            made.qualname, "__getattribute__"
        ):
            evaluation.problem(
                f"`{ast.unparse(node)}` may be served by `__getattr__`", node
            )
        if self.is_descriptor(made, node.attr):
            evaluation.problem(f"`{ast.unparse(node)}` is served by a descriptor", node)
        method = self.module.method(made.qualname, unmangled(node.attr, made.qualname))
        if method is not None:
            if method.is_property and not isinstance(value, Type):
                return self.session.calls.call_definition(
                    evaluation, node, method, value, Arguments([], {}), Environment()
                )
            name = unmangled(node.attr, made.qualname)
            if not method.is_property and self._may_be_replaced(name, made):
                reason = f"`{ast.unparse(node)}` may be replaced"
                way_out = "choose between two functions by an argument"
                evaluation.problem(reason, node, "GL302", way_out)
            bound = not isinstance(value, Type) or method.is_class_method
            return Function(
                self.session.dotted(method.qualname), value if bound else None
            )
        if isinstance(value, Record):
            return None
        if isinstance(value, Type) and self.session.is_enum(value):
            return Object(value.name) if node.attr in made.assigned else None
        kind = self._attribute_kind(evaluation, node, made)
        fresh = isinstance(value, Object) and value.fresh
        if not fresh and self._changes(node, kind or UNKNOWN, made):
            evaluation.may_change(f"`{ast.unparse(node)}`", node, kind or UNKNOWN)
            return forget(kind or UNKNOWN)
        return kind

    def _of_namespace(
        self, evaluation: Evaluation, node: ast.Attribute, value: Object
    ) -> Kind:
        """What an attribute was seen to hold, of an object that is a place for attributes."""
        text = ast.unparse(node)
        recorded = evaluation.recorded
        kind = recorded.attributes.get(text, UNKNOWN) if recorded else UNKNOWN
        stored = self.module.rebound_attributes
        if (
            self.session.changes.has_attribute_of(node.attr, value.name)
            or node.attr in stored
            or ANY in stored
        ):
            evaluation.may_change(f"`{text}`", node, kind)
        return kind

    def _attribute_kind(
        self, evaluation: Evaluation, node: ast.Attribute, made: ClassDefinition
    ) -> Kind | None:
        recorded = evaluation.recorded
        seen = recorded.attributes.get(ast.unparse(node)) if recorded else None
        name = unmangled(node.attr, made.qualname)
        known = self.class_attributes(made).get(name)
        if isinstance(known, CONTAINERS) and name in self.module.changed_attributes:
            known = None
        open_parts = known is not None and has_unknown(known)
        if known is not None and not open_parts and not isinstance(known, Union):
            vague = is_tensor(known) and getattr(known, "dtype", None) is None
            if seen is None or not vague:
                return known
        if seen is not None:
            return seen
        if known is not None:
            return self.seen_attributes(made).get(name, known) if open_parts else known
        if name in self.module.changed_attributes:
            return self.seen_attributes(made).get(name, UNKNOWN)
        if self.module.is_of_keras(made.qualname):
            evaluation.keeps_settings(COMPILED, node)
            return KERAS_ATTRIBUTES.get(name) or self.seen_attributes(made).get(name)
        if "tensorflow.Module" in self.module.bases(made.qualname):
            return KERAS_ATTRIBUTES.get(name) if name.endswith("variables") else None
        return None

    def _changes(self, node: ast.Attribute, kind: Kind, made: ClassDefinition) -> bool:
        """Whether an attribute of a class's objects may get another value, or another content, after they are made."""
        name = unmangled(node.attr, made.qualname)
        if self.session.changes.has_attribute(node.attr, made):
            return True
        stored = self.module.rebound_attributes
        writers = {*stored.get(name, ()), *stored.get(ANY, ())}
        if isinstance(kind, CONTAINERS):
            writers |= self.module.changed_attributes.get(name, set())
        first = self.session.initializers
        return any(writer.rpartition(".")[2] not in first for writer in writers)

    def _may_be_replaced(self, name: str, made: ClassDefinition) -> bool:
        """Whether something gives a class or an instance of it another method of this name."""
        writers = self.module.rebound_attributes.get(name, set())
        owners = {w: self.module.functions[w].owner for w in writers - {"", ELSEWHERE}}
        return any(
            owner is None
            or may_be_of(self.session, self.session.dotted(owner.qualname), made)
            for owner in (*owners.values(), *(None for w in writers if w not in owners))
        )

    def class_attributes(self, made: ClassDefinition) -> Mapping[str, Kind]:
        """The attributes of a class's instances: what the profile saw, what `__init__` and the class body set."""
        if made.qualname not in self._attributes:
            found = self._shared(made)
            self._attributes[made.qualname] = found
            self._initialize(made)
            for name, kind in self.seen_attributes(made).items():
                if found.get(name, UNKNOWN) == UNKNOWN or kind == found.get(name):
                    found[name] = kind
        return self._attributes[made.qualname]

    def is_descriptor(self, made: ClassDefinition, name: str) -> bool:
        """Whether a class has under a name what answers for that attribute of its objects."""
        kind = self._shared(made).get(name)
        if not isinstance(kind, Object):
            return False
        home, qualname = self.session.home(kind.name)
        return any(home.module.method(qualname, m) for m in DESCRIBING)

    def _shared(self, made: ClassDefinition) -> dict[str, Kind]:
        """What the bodies of a class, and of those that it extends, give all its instances."""
        nodes = [s for c in reversed(self._family(made)) for s in c.node.body]
        return {
            node.targets[0].id: self.session.globals.value(node.value)
            for node in nodes
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }

    def fields(self, kind: Kind) -> dict[str, Kind] | None:
        """What the fields of an instance of a dataclass of the module hold; None for anything else."""
        if isinstance(kind, Record):
            return dict(zip(kind.fields, kind.items, strict=True))
        made = self.session.class_of(kind.name) if isinstance(kind, Object) else None
        if made is None or made.fields is None:
            return None
        held = self.class_attributes(made)
        return {name: held.get(name, UNKNOWN) for name in made.fields}

    def _family(self, made: ClassDefinition) -> list[ClassDefinition]:
        """A class, and those of its module that it extends."""
        bases = map(self.module.classes.get, self.module.bases(made.qualname))
        return [made, *filter(None, bases)]

    def seen_attributes(self, made: ClassDefinition) -> dict[str, Kind]:
        """What the attributes of a class's instances were seen to hold."""
        seen: dict[str, Kind] = {}
        methods = [m for c in self._family(made) for m in c.methods.values()]
        for method in methods:
            recorded = self.session.recorded(method.qualname)
            for chain, kind in (recorded.attributes if recorded else {}).items():
                root, _, name = chain.partition(".")
                if (
                    "." not in name
                    and method.parameters
                    and root == method.parameters[0].arg
                ):
                    seen[name] = join(seen[name], kind) if name in seen else kind
        return seen

    def _initialize(self, made: ClassDefinition) -> None:
        initializer = self.module.method(made.qualname, "__init__")
        if initializer is None or initializer.qualname in self.session.active:
            return
        recorded = self.session.recorded(initializer.qualname)
        known: Mapping[str, Kind] = (
            {n: of_any_shape(k) for n, k in recorded.parameters.items()}
            if recorded
            else self.session.contexts.get(initializer.qualname, {})
        )
        parameters = {a.arg: known.get(a.arg, UNKNOWN) for a in initializer.parameters}
        if not parameters:
            return
        defaults = self.session.globals.defaults(initializer)
        for name, kind in parameters.items():
            if kind == UNKNOWN and name in defaults:
                parameters[name] = forget(defaults[name])
        parameters[initializer.parameters[0].arg] = Object(
            self.session.dotted(made.qualname), fresh=True
        )
        self.session.interpret(FunctionFacts(initializer, parameters), recorded)

    def write_attribute(self, class_name: str, name: str, kind: Kind) -> None:
        home, _ = self.session.home(class_name)
        if home is not self.session:
            home.instances.write_attribute(class_name, name, kind)
            return
        made = self.session.class_of(class_name)
        if made is None:
            return
        name = unmangled(name, made.qualname)
        found = self._attributes.setdefault(made.qualname, self._shared(made))
        old = found.get(name)
        new = (
            settled(forget(kind)) if old is not None and old != kind else settled(kind)
        )
        joined = new if old is None else join(forget(old) if old != new else old, new)
        if joined != old:
            found[name] = joined
            self.session.dirty = True


def _as_passed(method: FunctionDefinition | None, arguments: Arguments) -> Arguments:
    """What a layer's `call` gets: Keras makes tensors of arrays, and keeps a flag for itself that `call` does not take."""
    names = {a.arg for a in method.parameters} if method else set()
    keywords = {
        name: kind
        for name, kind in arguments.keywords.items()
        if name != KERAS_FLAG or name in names
    }

    def converted(kind: Kind) -> Kind:
        held = isinstance(kind, Tensor) and kind.weak == kinds.NUMPY
        if not (held or isinstance(kind, Array)) or kind.dtype is None:  # type: ignore[attr-defined]
            return kind
        assert isinstance(kind, Tensor | Array)
        floating = str(kind.dtype).startswith("float")
        return Tensor("float32" if floating else kind.dtype, kind.shape)

    return Arguments(
        list(map(converted, arguments.positional)),
        {name: converted(kind) for name, kind in keywords.items()},
        arguments.spread,
    )


def _class_name(kind: Object | Type | Record) -> str:
    return kind.type if isinstance(kind, Record) else kind.name
