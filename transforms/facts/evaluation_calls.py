"""What calls give, and what they do besides, as the interpreter walks a function."""

from __future__ import annotations

import ast
from dataclasses import replace

from . import (
    arrays,
    callbacks,
    draws,
    math_functions,
    methods,
    ownership,
    ranks,
    tensorflow_api,
    texts,
)
from .calls import (
    Arguments,
    call_builtin,
    class_names,
    host_read,
    is_instance,
    is_member,
)
from .environment import Environment
from .evaluation import Evaluation
from .kind_joins import forget, join_all
from .kind_parts import has_unknown, holds_mutable, is_mutable
from .kinds import (
    BOOL,
    NONE,
    UNKNOWN,
    Dataset,
    Dict,
    Elements,
    Function,
    Kind,
    Mapping,
    Object,
    Python,
    Rows,
    Sequence,
    Tensor,
    Type,
    Union,
    Variable,
    members,
    python,
    weak,
)
from .library_settings import OPTIMIZER
from .mixing import asks_for_number, unmixed
from .mutations import mutated
from .outcome import Outcome
from .staging import (
    hold,
    holds_size,
    holds_tensor,
    is_numpy,
    is_of_library,
    is_optimizer,
    is_strong,
    is_tensor,
    is_weak,
    list_of,
)
from .syntax import names_in

OVER_TENSORS = frozenset(
    f"builtins.{name}"
    for name in [
        "max",
        "min",
        "sum",
        "any",
        "all",
        "sorted",
        "map",
        "filter",
        "divmod",
        "pow",
    ]
)
ADDING = frozenset({"builtins.sum"})
"""Builtins that start operations of TensorFlow's."""
KEEP_SIZES = frozenset(
    [
        "len",
        "list",
        "tuple",
        "enumerate",
        "zip",
        "reversed",
        "iter",
        "isinstance",
        "type",
        "print",
    ]
)
"""Builtins that need no value of the sizes in a shape, or give them on."""
KEYED = frozenset({"get", "pop", "setdefault"})
KEYED_BY_TENSOR = (
    "a dict finds its items by hash, and a tensor in a graph has none: "
    "count with `tf.unique_with_counts` or `tf.math.bincount`, or keep one tensor with a place for each key"
)
UNCOUNTED = "`tf.unstack` has to know in a graph how many tensors it gives"
SLICE_WRITES = frozenset({"assign", "assign_add", "assign_sub"})

TRAINING = frozenset({"gradient", "jacobian", "apply_gradients", "minimize"})
MANY = 4
"""How many operations, at least, a gradient, an update of variables or a layer stands for."""


class CallEvaluation(Evaluation):
    """What calls give, and what they do besides."""

    def _lambda(self, node: ast.Lambda, environment: Environment) -> Kind:
        args = node.args
        given = [a.arg for a in (*args.posonlyargs, *args.args)]
        last = given[len(given) - len(args.defaults) :]
        defaults = {
            name: self.evaluate(value, environment)
            for name, value in zip(last, args.defaults, strict=True)
        }
        return Function(self.session.calls.local_function(node, environment, defaults))

    def arguments(self, node: ast.Call, environment: Environment) -> Arguments:
        positional: list[Kind] = []
        spread = False
        for argument in node.args:
            kind = self.evaluate(argument, environment)
            if isinstance(argument, ast.Starred):
                if isinstance(kind, Sequence):
                    positional += kind.items
                else:
                    spread = True
            else:
                positional.append(kind)
        keywords: dict[str, Kind] = {}
        for keyword in node.keywords:
            kind = self.evaluate(keyword.value, environment)
            if keyword.arg is not None:
                keywords[keyword.arg] = kind
            elif isinstance(kind, Dict):
                keywords |= dict(kind.items)
            else:
                spread = True
        return Arguments(positional, keywords, spread)

    def _call(self, node: ast.Call, environment: Environment) -> Kind:
        special = self._special_call(node, environment)
        if special is not None:
            return special
        function = self.evaluate(node.func, environment)
        arguments = self.arguments(node, environment)
        text = texts.kind_of(self, node)
        if text is not None:
            return text
        with self.control(node, staged=hasattr(node.func, "switched")):
            kind = self.called(node, function, arguments, environment)
        if isinstance(kind, Rows) and hasattr(node, "list_items"):
            levels = getattr(node, "list_levels", 1)
            kind = replace(kind, element=node.list_items, levels=levels)
        acts = kind == NONE and any(map(holds_tensor, arguments.all))
        if (
            (holds_tensor(kind) or (acts and _is_of_tensorflow(function)))
            and node not in self.facts.calls
            and _computes(function, arguments)
        ):
            self.operation(MANY if isinstance(function, Object) else 1)
        elif getattr(node.func, "attr", "") in TRAINING:
            self.operation(MANY)
        return kind

    def called(
        self,
        node: ast.Call,
        function: Kind,
        arguments: Arguments,
        environment: Environment,
    ) -> Kind:
        """What calling a value gives."""
        return join_all(
            self._called(node, member, arguments, environment)
            for member in members(function)
        )

    def _special_call(self, node: ast.Call, environment: Environment) -> Kind | None:
        """Calls whose arguments are not just values: slices of Variables, isinstance, print."""
        if (
            isinstance(node.func, ast.Name)
            and node.func.id
            in (
                "isinstance",
                "hasattr",
                "print",
                "super",
            )
            and self.evaluate(node.func, environment)
            != Function(f"builtins.{node.func.id}")
        ):
            return None
        match node.func:
            case ast.Attribute(value=ast.Subscript(value=owner) as part, attr=name) if (
                name in SLICE_WRITES
            ):
                if isinstance(self.evaluate(owner, environment), Variable):
                    self.evaluate(part, environment)
                    self.arguments(node, environment)
                    self.effect("assign", node)
                    self.operation()
                    return self.facts.kind(owner)
            case ast.Attribute(
                value=ast.Call(func=ast.Name(id="super"), args=[]), attr=name
            ):
                return self.session.instances.call_super(
                    self, node, name, self.arguments(node, environment)
                )
            case ast.Name(id="isinstance") if len(node.args) == 2:
                kind = self.evaluate(node.args[0], environment)
                self.evaluate(node.args[1], environment)
                names = class_names(node.args[1], self.facts.kind)
                answer = is_instance(kind, names, self.session.line)
                if answer is None and asks_for_number(kind, node.args[0], names):
                    return weak("bool")
                if answer is None and not self._tells_class(kind, names):
                    self.problem("the type of what a tensor chose is not known", node)
                return BOOL if answer is None else python(answer)
            case ast.Name(id="hasattr") if len(node.args) == 2:
                kind = self.evaluate(node.args[0], environment)
                name_kind = self.evaluate(node.args[1], environment)
                if (
                    isinstance(kind, Tensor)
                    and is_strong(kind)
                    and not kind.mixed
                    and name_kind == python("numpy")
                ):
                    return python(True)
                if holds_tensor(kind):
                    self.problem(
                        "what attributes a tensor has differs in a graph", node
                    )
                return BOOL
            case ast.Name(id="print"):
                self.shown.update(node.args)
                self.arguments(node, environment)
                self.effect("stdout", node)
                return NONE
        return None

    def _tells_class(self, kind: Kind, names: list[str]) -> bool:
        """Whether `isinstance` answers while a graph is traced as it does in eager mode."""
        if not holds_tensor(kind):
            return True
        return isinstance(kind, Union) and not any(
            is_member(k, names, self.session.line) is None
            or (isinstance(k, Tensor) and k.weak)
            for k in kind.members
        )

    def _called(
        self,
        node: ast.Call,
        function: Kind,
        arguments: Arguments,
        environment: Environment,
    ) -> Kind:
        if isinstance(function, Type) and function.name.startswith("numpy."):
            return arrays.call(self, node, function.name, arguments)
        if isinstance(function, Object | Type):
            return self.session.instances.call_object(self, node, function, arguments)
        if not isinstance(function, Function):
            self.problem(f"what `{ast.unparse(node.func)}` is here is not known", node)
            return UNKNOWN
        name = function.name
        if name.startswith("method."):
            return self._method(node, function, arguments, environment)
        if draws.code(name) is not None:
            return self.session.calls.call_function(
                self, node, function, arguments, environment
            )
        if name.startswith("builtins."):
            return self._builtin(node, name, arguments, environment)
        if name == "tensorflow.executing_eagerly" and self.session.is_eager:
            return python(True)
        if name.startswith("tensorflow."):
            kind = callbacks.call(self, node, name, arguments, environment)
            return self._tensorflow(node, name, arguments) if kind is None else kind
        if name.startswith("numpy."):
            return arrays.call(self, node, name, arguments)
        if name.startswith("math.") and any(map(is_tensor, arguments.all)):
            return math_functions.call(
                self, node, name.removeprefix("math."), arguments
            )
        return self.session.calls.call_function(
            self, node, function, arguments, environment
        )

    def _builtin(
        self, node: ast.Call, name: str, arguments: Arguments, environment: Environment
    ) -> Kind:
        text = ast.unparse(node.func)
        if name == "builtins.len" and len(arguments.positional) == 1:
            (whole,) = arguments.positional
            own = self.session.instances.special(self, "__len__", whole, [], node)
            if isinstance(own, Python):
                return own
            if own is not None:
                reason = "what `__len__` gives has to be an int, which a graph has not"
                self.problem(reason, node, "GL406")
                return UNKNOWN
            rank = ranks.length(self, node, whole)
            if rank is not None:
                return rank
        found = call_builtin(name.removeprefix("builtins."), arguments)
        if name.removeprefix("builtins.") not in KEEP_SIZES and any(
            map(holds_size, arguments.all)
        ):
            self.problem("a size that is not static is passed here", node, "GL406")
        if found is not None and callbacks.compares_tensors(
            self, node, arguments, environment
        ):
            found = None
        if name == "builtins.list" and self._counts_tensor(node, arguments):
            reason = "a list is as long as a tensor says"
            self.problem(reason, node, "GL203", "make a tensor of it with `tf.range`")
            return list_of(weak("int"))
        if name in ("builtins.list", "builtins.tuple") and any(
            isinstance(kind, Elements) and self.iterates_in_graph(argument, kind)
            for argument, kind in zip(node.args, arguments.positional, strict=False)
        ):
            self.problem(f"`{text}` goes over tensors", node, "GL109")
            return UNKNOWN
        if found is None and name in OVER_TENSORS:
            self.problem(f"`{text}` goes over tensors", node, "GL109")
            self.operation()
            if name == "builtins.sorted":
                return _in_order(arguments)
            return weak("int") if hasattr(node, "ranks") else UNKNOWN
        if found is None and any(map(is_weak, arguments.positional)):
            found = host_read(name.removeprefix("builtins."), arguments)
        return self.settle(found, f"`{text}(...)`", node)

    def _counts_tensor(self, node: ast.Call, arguments: Arguments) -> bool:
        """Whether a call is given a range that a tensor bounds."""
        match arguments.positional:
            case [Elements(type="range") as numbers] if node.args:
                return self.iterates_in_graph(node.args[0], numbers)
        return False

    def _tensorflow(self, node: ast.Call, name: str, arguments: Arguments) -> Kind:
        if arguments.spread:
            self.problem(
                f"what `{ast.unparse(node.func)}` is called with is not known", node
            )
            return UNKNOWN
        if any(map(holds_size, arguments.all)):
            self.problem("a size that is not static is passed here", node, "GL406")
        if name.startswith("tensorflow.image.") and any(
            is_tensor(k) and getattr(k, "shape", ()) is None for k in arguments.all
        ):
            reason = f"`{ast.unparse(node.func)}` needs a known rank in a graph"
            way_out = "decode with `expand_animations=False`, or tell the rank with `tf.ensure_shape(image, [None, None, 3])`"
            self.problem(reason, node, way_out=way_out)
        plain = Arguments(
            [arrays.all_released(unmixed(k)) for k in arguments.positional],
            {k: arrays.all_released(unmixed(v)) for k, v in arguments.keywords.items()},
        )
        found = tensorflow_api.call(name, plain.positional, plain.keywords)
        if name == "tensorflow.unstack" and found and isinstance(found.kind, Elements):
            way_out = "go over the tensor itself, or tell it `num`"
            self.problem(UNCOUNTED, node, "GL406", way_out)
        return self.settle(found, f"`{ast.unparse(node.func)}`", node)

    def _method(
        self,
        node: ast.Call,
        function: Function,
        arguments: Arguments,
        environment: Environment,
    ) -> Kind:
        receiver = function.receiver or UNKNOWN
        name = function.name.removeprefix("method.")
        if is_numpy(receiver):
            return arrays.method(self, node, receiver, name, arguments)
        if receiver == UNKNOWN and name == "append" and self.is_staged():
            self.problem("a list is changed where a tensor says so", node, "GL203")
        if is_optimizer(receiver):
            self.keeps_settings(OPTIMIZER, node)
        if isinstance(receiver, Object) and receiver.name in draws.LOGGERS:
            self.problem(f"`.{name}()` writes to a log", node, "GL202")
            return NONE
        if isinstance(receiver, Object) and receiver.name in draws.GENERATORS:
            self.problem(f"`.{name}()` draws another stream in a graph", node, "GL207")
            return draws.drawn(
                f"{receiver.name}.{name}", arguments.positional, arguments.keywords
            )
        if isinstance(receiver, Object) and any(map(holds_size, arguments.all)):
            self.problem("a size that is not static is passed here", node, "GL406")
        if isinstance(receiver, Dataset):
            kind = callbacks.method(self, node, receiver, name, arguments, environment)
            if kind is not None:
                return kind
        keyed = isinstance(receiver, Dict | Mapping) and name in KEYED
        if keyed and arguments.positional and is_tensor(arguments.positional[0]):
            self.problem(KEYED_BY_TENSOR, node, "GL111")
            return UNKNOWN
        found = methods.method(receiver, name, arguments.positional, arguments.keywords)
        if name == "numpy" and is_strong(receiver) and not arguments.all and found:
            held = hold(found.kind)
            if is_numpy(held) and arrays.may_hold(held):
                return held
        if name == "sort" and isinstance(receiver, Sequence | Elements):
            sorts = Arguments([receiver], arguments.keywords)
            if holds_tensor(receiver) or callbacks.compares_tensors(
                self, node, sorts, environment
            ):
                self.problem("`.sort()` compares tensors", node, "GL109")
                self.operation()
        if found is not None and "mutates" in found.effects:
            return self._mutation(node, receiver, name, arguments, found, environment)
        if found is None and self._may_hold_variables(receiver):
            self.effect("io", node)
        if found is None and name == "format" and _is_text(receiver):
            return texts.made_by_python(self, node)
        return self.settle(found, f"`.{name}()` of {receiver}", node)

    def _may_hold_variables(self, receiver: Kind) -> bool:
        """Whether a method that is not known may read Variables, and set them: of checkpoints, models and the like."""
        name = receiver.name if isinstance(receiver, Object) else ""
        return is_of_library(receiver) or self.session.class_of(name) is not None

    def _mutation(
        self,
        node: ast.Call,
        receiver: Kind,
        name: str,
        arguments: Arguments,
        found: Outcome,
        environment: Environment,
    ) -> Kind:
        """A list or dict of this function's own, changed while tracing; others are refused."""
        value = node.func.value if isinstance(node.func, ast.Attribute) else None
        owner = self.changed_name(value, node, environment)
        if owner is None:
            return found.kind
        if self.is_fresh(owner):
            self.effect("mutates", node)
        elif is_mutable(receiver) and not self.has_one_name(owner, node, environment):
            return found.kind
        if self.is_staged():
            self.problem(
                "a list or dict is changed where a tensor says so", node, "GL203"
            )
        changed = mutated(receiver, name, arguments, self.is_staged())
        environment.bind(owner, changed)
        return found.kind

    def changed_name(
        self, owner: ast.expr | None, node: ast.AST, environment: Environment
    ) -> str | None:
        """The name of what is changed in place; refuses what is not this function's own, None where it has no name."""
        if not (isinstance(owner, ast.Name) and owner.id in environment.kinds):
            reason = "something outside this function is changed in place"
            self.problem(reason, node, "GL204")
            self._forget_parts(owner, environment)
            return None
        if owner.id in self.facts.parameters and not self.is_fresh(owner.id):
            reason = f"the caller's `{owner.id}` is changed in place"
            self.problem(reason, node, "GL204")
        return owner.id

    def _forget_parts(self, owner: ast.expr | None, environment: Environment) -> None:
        """What is changed in place may be in any list or dict that stands there or that goes by another name, too."""
        named = names_in(owner) if owner is not None else set()
        kept = [n for n in named if holds_mutable(environment.kinds.get(n, UNKNOWN))]
        if not all(ownership.owns_lists_in(n, self.facts, self.session) for n in kept):
            self._forget_all(environment)
        for name, kind in environment.kinds.items():
            if holds_mutable(kind) and (
                name in kept
                or (
                    name not in self.facts.parameters
                    and not ownership.is_own(name, self.facts, self.session)
                )
            ):
                environment.bind(name, UNKNOWN)

    def _forget_all(self, environment: Environment) -> None:
        """What was just refused may change any list or dict."""
        self.facts.shared.append(self.facts.problems[-1])
        for name, kind in environment.kinds.items():
            if holds_mutable(kind):
                environment.bind(name, UNKNOWN)

    def has_one_name(self, name: str, node: ast.AST, environment: Environment) -> bool:
        """Refuse a change of a list or dict that may go by another name: what that holds is not known any more."""
        own = ownership.is_own(name, self.facts, self.session)
        if own or name in self.facts.parameters:
            return True
        reason = f"`{name}` is changed in place, and may go by another name, too: change a copy"
        self.problem(reason, node, "GL204")
        self._forget_all(environment)
        return False

    def is_fresh(self, name: str) -> bool:
        kind = self.facts.parameters.get(name)
        return isinstance(kind, Object) and kind.fresh


def _is_text(kind: Kind) -> bool:
    return isinstance(kind, Python) and kind.type == "str"


def _is_of_tensorflow(function: Kind) -> bool:
    return isinstance(function, Function) and function.name.startswith("tensorflow.")


def _computes(function: Kind, arguments: Arguments) -> bool:
    """Whether calling this starts a TensorFlow operation, in a graph."""
    name = function.name if isinstance(function, Function) else ""
    if name in ("tensorflow.constant", "tensorflow.convert_to_tensor"):
        made = [k for k in arguments.all if not is_numpy(k)]
        return any(map(holds_tensor, made))
    if name in ("numpy.array", "numpy.asarray", "numpy.asanyarray"):
        return len(arguments.all) > 1 or not any(map(holds_tensor, arguments.all))
    if name.startswith("builtins."):
        return name in ADDING
    return name != "method.numpy"


def _in_order(arguments: Arguments) -> Kind:
    """A list of what a list of any length holds, in order."""
    match arguments.positional:
        case [Elements(element=element)] if not has_unknown(element):
            return Elements("list", forget(element))
    return UNKNOWN
