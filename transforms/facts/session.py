"""The facts of a module's functions, found by interpreting each with what its callers pass."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from ..findings import Refusal
from ..source import Source
from . import arrays, draws, kinds, methods, numpy_functions, tensorflow_api
from .calls import GRAPH_BASES, KERAS_CALLS, Arguments, bind
from .changes import SeenChanges, may_be_of
from .environment import Environment, ForeignCall, FunctionFacts
from .evaluation import KERAS_ATTRIBUTES, Evaluation
from .interpreter import Interpreter
from .kinds import (
    FLOAT,
    INT,
    NONE,
    UNKNOWN,
    Array,
    Dataset,
    Dict,
    Elements,
    Function,
    Kind,
    Module,
    Object,
    Python,
    Ragged,
    Record,
    Scalar,
    Sequence,
    Tensor,
    Type,
    Union,
    Variable,
    forget,
    has_unknown,
    join,
    join_all,
    members,
    of_any_size,
    python,
)
from .modules import (
    ANY,
    ELSEWHERE,
    INITIALIZERS,
    ClassDefinition,
    FunctionDefinition,
    ModuleFacts,
    bound_names,
    unmangled,
)
from .profile import FunctionNode, Profile, Recorded
from .project import NEST, TAPE, ProjectModules
from .records import Fields, records_in
from .staging import hold, holds_tensor, is_strong, is_tensor, is_weak

MOST_ROUNDS = 6
IMPROBABLE_DTYPE = "float16"
COMMON_DTYPES = ("float32", "float64", "int32", "int64", "bool", "string")
CONTAINERS = (Sequence, Elements, Dict, kinds.Mapping)
DATASET_METHODS = frozenset(
    ["apply", "filter", "flat_map", "interleave", "map", "reduce", "scan", "take_while"]
)
"""Methods of a `tf.data.Dataset` that take functions."""
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
}
EXTERNAL_ROOTS = {"keras": "tensorflow.keras"}
INTEGERS_OF_MATH = frozenset(
    {"floor", "ceil", "trunc", "comb", "perm", "gcd", "lcm", "factorial", "isqrt"}
)


def _converted(arguments: Arguments) -> Arguments:
    """What a layer's `call` gets: Keras makes tensors of arrays."""

    def converted(kind: Kind) -> Kind:
        held = isinstance(kind, Tensor) and kind.weak == kinds.NUMPY
        if not (held or isinstance(kind, Array)) or kind.dtype is None:  # type: ignore[attr-defined]
            return kind
        assert isinstance(kind, Tensor | Array)
        floating = str(kind.dtype).startswith("float")
        return Tensor("float32" if floating else kind.dtype, kind.shape)

    return Arguments(
        list(map(converted, arguments.positional)),
        {name: converted(kind) for name, kind in arguments.keywords.items()},
        arguments.spread,
    )


_State = tuple[dict[str, FunctionFacts], dict[str, dict[str, Kind]], bool]


@dataclass(frozen=True)
class _Local:
    """A lambda, and what was bound around it where it was made."""

    node: ast.Lambda
    environment: Environment
    defaults: dict[str, Kind]


class Session:
    """All that is known of one module.

    Attributes:
        refused: the functions that stay eager, so that no graph can call them, and why.

    Args:
        module: its definitions.
        lines: its text, without newline characters.
        path: as the profile names it.
        profile: what a recorded run saw, if any.
        modules: of the project.
        others: the sessions of other modules that this one has asked, by path; they share it.
    """

    def __init__(
        self,
        module: ModuleFacts,
        lines: list[str],
        path: str,
        profile: Profile | None = None,
        modules: ProjectModules | None = None,
        others: dict[str, Session] | None = None,
    ) -> None:
        self.modules = modules
        self.others = {} if others is None else others
        self.others[path] = self
        self.module = module
        self.lines = lines
        self.path = path
        self.profile = profile
        self.refused: Mapping[str, Refusal] = {}
        self._found: dict[str, FunctionFacts] = {}
        self._contexts: dict[str, dict[str, Kind]] = {}
        self._outer: dict[str, Environment] = {}
        self._attributes: dict[str, dict[str, Kind]] = {}
        self._globals: dict[str, Kind] = {}
        self._homes: dict[str, tuple[Session, str]] = {}
        self._lambdas: dict[str, _Local] = {}
        self._active: list[str] = []
        self._inferred: dict[str, dict[str, Kind]] = {}
        self._dirty = False
        self._by_node = {d.node: d for d in module.functions.values()}
        self._recorded = {q: self._seen(d) for q, d in module.functions.items()}
        for definition in module.functions.values():
            definition.outlasts = self._outlasts(definition)

    # ---- functions

    def analyse(
        self, entries: frozenset[str] = frozenset()
    ) -> Mapping[str, FunctionFacts]:
        """The facts of every function whose parameters' kinds are known, by qualified name.

        `entries` are functions called from outside the graph, beside those that nothing in this module calls.
        """
        for _ in range(MOST_ROUNDS):
            for session in self.others.values():
                session._dirty = False
                session._found.clear()
            for qualname in [
                q for q in self.module.functions if q in entries or not self._callers(q)
            ]:
                self._analyse_root(qualname)
            for qualname in self.module.functions:
                if qualname not in self._found:
                    self._analyse_root(qualname)
            if not any(session._dirty for session in self.others.values()):
                break
        return self._found

    def _analyse_root(self, qualname: str) -> None:
        definition = self.module.functions[qualname]
        parameters = self.root_parameters(definition)
        if parameters is not None:
            nested = definition.parent is not None
            outer = self._closure(definition) if nested else None
            self._analyse(definition, parameters, outer)

    def _callers(self, qualname: str) -> list[str]:
        """The recorded callers of a function, where all of them are functions of this module."""
        known = self.recorded_callers(qualname)
        return (
            known
            if all(c in self.module.functions and c != qualname for c in known)
            else []
        )

    def recorded_callers(self, qualname: str) -> list[str]:
        """Who was seen to call a function: functions of this module by qualified name, others with their paths."""
        recorded = self.recorded(qualname)
        callers = recorded.callers if recorded else ()
        return [c.removeprefix(f"{self.path}::") for c in callers]

    def facts_of(self, qualname: str) -> FunctionFacts:
        """The facts of a function that was reached."""
        return self._found[qualname]

    def recorded(self, qualname: str) -> Recorded | None:
        return self._recorded.get(qualname)

    def _outlasts(self, definition: FunctionDefinition) -> bool:
        """Whether a nested function is seen to be called oftener than it is made, and not by what made it."""
        around, recorded = definition.parent, self.recorded(definition.qualname)
        if (
            around is None
            or recorded is None
            or self.is_graph_function(around)
            or not definition.escapes(self._calls_back)
        ):
            return False
        made = self.recorded(around.qualname)
        callers = self.recorded_callers(definition.qualname)
        inside = f"{around.qualname}.<locals>."
        own = callers and all(
            caller == around.qualname or caller.startswith(inside) for caller in callers
        )
        return not own and recorded.calls >= 2 * (made.calls if made else 1)

    def _calls_back(self, call: ast.Call) -> bool:
        """Whether a call is of TensorFlow, which runs the functions that it is given before it comes back."""
        root = call.func
        while isinstance(root, ast.Attribute):
            root = root.value
        imported = self.module.imports.get(getattr(root, "id", ""), "")
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        return imported.startswith("tensorflow") or method in DATASET_METHODS

    def root_parameters(self, definition: FunctionDefinition) -> dict[str, Kind] | None:
        """What a function is called with from outside: recorded, or annotated; None where nothing tells."""
        recorded = self.recorded(definition.qualname)
        if definition.is_inner and not definition.keeps_state:
            return None
        if recorded is not None and recorded.calls:
            held = {n: _held(k) for n, k in recorded.parameters.items()}
            if not _may_be_signed(definition, held):
                held = {n: of_any_size(k) for n, k in held.items()}
            return self._with_fresh_self(definition, held)
        annotated = {
            a.arg: self.annotation(a.annotation) for a in definition.parameters
        }
        if definition.owner and definition.receiver:
            annotated[definition.receiver] = Object(
                self.dotted(definition.owner.qualname)
            )
        if definition.node.args.vararg or definition.node.args.kwarg:
            return None
        if UNKNOWN in annotated.values() or not any(
            map(holds_tensor, annotated.values())
        ):
            return None
        if definition.qualname not in self._inferred:
            self._inferred[definition.qualname] = annotated
            self._inferred[definition.qualname] = self._with_dtypes(
                definition, annotated
            )
        return dict(self._inferred[definition.qualname])

    def _with_fresh_self(
        self, definition: FunctionDefinition, parameters: dict[str, Kind]
    ) -> dict[str, Kind]:
        """Parameters, among them what an `__init__` is given: an object that nobody else has yet."""
        if definition.node.name == "__init__" and definition.parameters:
            name = definition.parameters[0].arg
            kind = parameters.get(name)
            if isinstance(kind, Object):
                parameters[name] = replace(kind, fresh=True)
        return parameters

    def _with_dtypes(
        self, definition: FunctionDefinition, parameters: dict[str, Kind]
    ) -> dict[str, Kind]:
        """Dtypes that annotations leave open, where only one lets the function run.

        A graph traces every arm, so each operation has to take its operands; a parameter of another dtype raises.
        """
        result = dict(parameters)
        unknown = [
            n
            for n, k in parameters.items()
            if isinstance(k, Tensor | Variable) and k.dtype is None
        ]
        for name in unknown:
            obstacles = {
                d: self._obstacles(definition, result, name, d) for d in COMMON_DTYPES
            }
            least = min(obstacles.values())
            possible = [d for d, count in obstacles.items() if count == least]
            if (
                len(possible) == 1
                and self._obstacles(definition, result, name, IMPROBABLE_DTYPE) > least
            ):
                result[name] = _with_dtype(result[name], possible[0])
        return result

    def _obstacles(
        self,
        definition: FunctionDefinition,
        parameters: dict[str, Kind],
        name: str,
        dtype: str,
    ) -> int:
        """How often the function would raise, or do what is not known, with a parameter of this dtype."""
        saved = self.state()
        facts = FunctionFacts(
            definition, {**parameters, name: _with_dtype(parameters[name], dtype)}
        )
        self._active.append(definition.qualname)
        try:
            Interpreter(self, None).function(definition, facts, None)
        finally:
            self._active.pop()
            self.restore(saved)
        return len(facts.problems)

    def state(self) -> dict[str, _State]:
        """What an analysis changes, of the sessions of all modules, by their paths."""
        return {
            path: (dict(s._found), dict(s._contexts), s._dirty)
            for path, s in self.others.items()
        }

    def restore(self, state: Mapping[str, _State]) -> None:
        """Forget what was analysed since the state was this."""
        for path, session in self.others.items():
            session._found, session._contexts, session._dirty = state.get(
                path, ({}, {}, False)
            )

    def annotation(self, node: ast.expr | None) -> Kind:
        """The kind that an annotation promises; unknown where there is none."""
        match node:
            case ast.Constant(value=None):
                return NONE
            case ast.Constant(value=str() as text):
                try:
                    return self.annotation(ast.parse(text, mode="eval").body)
                except SyntaxError:
                    return UNKNOWN
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return join(self.annotation(left), self.annotation(right))
            case ast.Subscript(
                value=ast.Name(id="Optional") | ast.Attribute(attr="Optional"),
                slice=inner,
            ):
                return join(self.annotation(inner), NONE)
            case ast.Name(id="int" | "float" | "bool" | "str" as name):
                return Python(name)
            case ast.Name() | ast.Attribute():
                return self._annotated_class(ast.unparse(node))
        return UNKNOWN

    def _annotated_class(self, text: str) -> Kind:
        if text in self.module.classes:
            return Object(self.dotted(text))
        root, _, rest = text.partition(".")
        dotted = self.module.imports.get(root, "") + (f".{rest}" if rest else "")
        if dotted == "tensorflow.Tensor":
            return Tensor()
        if dotted == "tensorflow.Variable":
            return Variable()
        return UNKNOWN

    def _analyse(
        self,
        definition: FunctionDefinition,
        parameters: dict[str, Kind],
        outer: Environment | None = None,
    ) -> FunctionFacts:
        qualname = definition.qualname
        known = self._contexts.get(qualname)
        joined = (
            parameters
            if known is None
            else {
                name: join(kind, parameters.get(name, UNKNOWN))
                for name, kind in known.items()
            }
        )
        if known is not None and joined != known:
            self._dirty = True
        found = self._found.get(qualname)
        if found is not None and found.parameters == joined and outer is None:
            return found
        self._contexts[qualname] = joined
        facts = FunctionFacts(definition, joined, taped=self._taped)
        if qualname in self.module.rebound:
            reason = "it, or its defaults, may be replaced between calls"
            facts.problems.append(Refusal(reason, definition.original, "GL302"))
        for name, kind in joined.items():
            if any(map(is_weak, members(kind))) and len(members(kind)) > 1:
                facts.problems.append(
                    Refusal(
                        f"`{name}` is a Python value here and decided by a tensor there",
                        definition.original,
                    )
                )
        self._active.append(qualname)
        try:
            Interpreter(self, self.recorded(qualname)).function(
                definition, facts, outer or self._outer.get(qualname)
            )
        finally:
            self._active.pop()
        self._found[qualname] = facts
        return facts

    def analyse_core(
        self,
        definition: FunctionDefinition,
        parameters: dict[str, Kind],
        of: str,
        eager: bool = False,
    ) -> FunctionFacts:
        """The facts of a function that lifting makes from another one, `of`; `eager` where it stays Python."""
        facts = FunctionFacts(definition, parameters, taped=self._taped, eager=eager)
        self._active.append(of)
        try:
            Interpreter(self, self.recorded(of)).function(
                definition, facts, self._bound_around(of)
            )
        finally:
            self._active.pop()
        return facts

    def _bound_around(self, qualname: str) -> Environment | None:
        definition = self.module.functions[qualname]
        if definition.parent is None:
            return self._outer.get(qualname)
        return self._closure(definition)

    def replace_body(
        self, qualname: str, node: FunctionNode, bound: Environment | None = None
    ) -> None:
        """Go on with another body of a function; `bound` are names that its module will have."""
        self.module.functions[qualname].node = node
        if bound is not None:
            self._outer.setdefault(qualname, Environment()).kinds |= bound.kinds

    def is_graph_function(self, definition: FunctionDefinition) -> bool:
        """Whether the function already is a `tf.function`, by its decorators or by a call."""
        made = any(
            text.removesuffix(")")
            .partition("(")[0]
            .endswith(("tf.function", "tensorflow.function"))
            for text in definition.decorators
        )
        return made or definition.qualname in self._wrapped

    @cached_property
    def is_eager(self) -> bool:
        """Whether nothing in the module is a graph as it is."""
        functions, classes = self.module.functions.values(), self.module.classes
        graphs = any(map(self.is_graph_function, functions))
        keras = any(KERAS_CALLS & set(self.module.bases(name)) for name in classes)
        return not (graphs or keras or any("Dataset" in line for line in self.lines))

    @cached_property
    def changes(self) -> SeenChanges:
        """What a recorded run saw changed between calls."""
        return SeenChanges(self)

    @cached_property
    def _taped(self) -> bool:
        """Whether something in the program takes gradients."""
        keras = any(
            KERAS_CALLS & set(self.module.bases(name)) for name in self.module.classes
        )
        return keras or self._is_mentioned(TAPE)

    def _is_mentioned(self, word: str) -> bool:
        """Whether the module, or one that may share a program with it, has a word."""
        own = any(word in line for line in self.lines)
        return own or bool(self.modules and word in self.modules.mentioned(self.path))

    @cached_property
    def dataclasses(self) -> dict[str, Fields]:
        """The module's dataclasses that a graph may take apart: nothing else that takes values apart comes upon them."""
        return {} if self._is_mentioned(NEST) else self.module.dataclasses

    @cached_property
    def records(self) -> dict[str, Fields]:
        """The namedtuples of the module, and its dataclasses that are as good as such."""
        return self.module.namedtuples | self.dataclasses

    @cached_property
    def _wrapped(self) -> frozenset[str]:
        """The functions given to `tf.function(...)` somewhere."""
        found: set[str] = set()
        for node in ast.walk(self.module.tree):
            match node:
                case ast.Call(
                    func=ast.Attribute(attr="function"), args=[ast.Name(id=name), *_]
                ):
                    found.add(name)
        return frozenset(found)

    def nested(self, node: FunctionNode) -> FunctionDefinition | None:
        return self._by_node.get(node)

    # ---- other modules

    def home(self, dotted: str) -> tuple[Session, str]:
        """The session of the module that a dotted name is of, and the name there; this one where no other has it."""
        if dotted not in self._homes:
            self._homes[dotted] = self._home(dotted)
        return self._homes[dotted]

    def _home(self, dotted: str) -> tuple[Session, str]:
        own = self.qualname(dotted)
        if own != dotted and self.module.defines(own.partition(".")[0]):
            return self, own
        found = self.modules.resolve(self.path, dotted) if self.modules else None
        if found is None or self.modules is None:
            return self, own
        path, rest = found
        if path not in self.others:
            source = Source(self.modules.text(path), self.modules.tree(path))
            module = ModuleFacts(
                source.tree, self.modules.name(path), self.modules.elsewhere(path)
            )
            Session(module, source.lines, path, self.profile, self.modules, self.others)
        return self.others[path], rest

    def is_global(self, dotted: str) -> bool:
        """Whether a dotted name is a global of another module of the project, and nothing else serves it."""
        home, name = self.home(dotted)
        own = home.module.functions.keys() | home.module.classes
        return (
            home is not self
            and name in home.module.assignments
            and not (own & {name, "__getattr__"})
        )

    def known(self, qualname: str) -> FunctionFacts | None:
        """The facts of a function as this round of analysis has them."""
        return self._found.get(qualname)

    # ---- names

    def dotted(self, qualname: str) -> str:
        return f"{self.module.name}.{qualname}"

    def qualname(self, dotted: str) -> str:
        return dotted.removeprefix(f"{self.module.name}.")

    def class_of(self, name: str) -> ClassDefinition | None:
        """The module's class of a dotted name."""
        return self.module.classes.get(self.qualname(name))

    def is_enum(self, kind: Kind) -> bool:
        """Whether this is an enumeration of the project, or a member of one that compares by identity."""
        if not isinstance(kind, Object | Type):
            return False
        home, qualname = self.home(kind.name)
        made = home.module.classes.get(qualname)
        return (
            made is not None
            and "__eq__" not in made.methods
            and any(base.startswith("enum.") for base in home.module.bases(qualname))
        )

    def external(self, dotted: str) -> Kind:
        """What a dotted name of another package stands for."""
        home, name = self.home(dotted)
        if home is not self:
            kind = home.global_kind(name, None) if name else Module(home.module.name)
            if kind is not None:
                return kind
        root, _, rest = dotted.partition(".")
        if root in EXTERNAL_ROOTS:
            dotted = EXTERNAL_ROOTS[root] + (f".{rest}" if rest else "")
        if dotted == "tensorflow":
            return Module(dotted)
        if dotted.startswith("tensorflow."):
            return tensorflow_api.constant(dotted) or Function(dotted)
        if root == "math" and rest and not callable(getattr(math, rest, None)):
            return python(getattr(math, rest, None))
        if root == "numpy" and rest in numpy_functions.CONSTANTS:
            return numpy_functions.CONSTANTS[rest]
        if root == "numpy" and rest in numpy_functions.TYPES:
            return Type(dotted)
        if not rest:
            return Module(dotted)
        return Function(dotted)

    def global_kind(self, name: str, recorded: Recorded | None) -> Kind | None:
        """What a module's global holds; None where it has none of this name."""
        if name in self.module.functions:
            return Function(self.dotted(name))
        if name in self.module.classes or name in self.records:
            return Type(self.dotted(name))
        seen = recorded.globals.get(name) if recorded else None
        if name in self.module.imports:
            kind = self.external(self.module.imports[name])
            own = isinstance(kind, Function) and kind.name.count(".") > 0
            constant = isinstance(seen, Python | Tensor | Variable)
            return seen if seen and ((own and constant) or kind == UNKNOWN) else kind
        if name not in self.module.assignments:
            return None
        if name not in self._globals:
            self._globals[name] = UNKNOWN
            self._globals[name] = self._evaluate_global(name)
        kind = self._globals[name]
        if name in self.module.rebound and seen is not None:
            return seen
        if kind == UNKNOWN or (
            isinstance(kind, Tensor | Variable) and kind.shape is None
        ):
            return seen or kind
        return kind

    def _evaluate_global(self, name: str) -> Kind:
        kinds = []
        for value in self.module.assignments[name]:
            kinds.append(UNKNOWN if value is None else self._evaluate_module(value))
        return join_all(kinds) if len(kinds) == 1 else join_all(map(forget, kinds))

    def _evaluate_module(self, value: ast.expr) -> Kind:
        """The kind of an expression of the module itself; what it does besides does not matter here."""
        stub = ast.parse("def module(): pass").body[0]
        assert isinstance(stub, ast.FunctionDef)
        evaluation = Evaluation(self, None)
        evaluation.enter(FunctionFacts(FunctionDefinition(stub, "<module>"), {}), None)
        return _settled(evaluation.evaluate(value, Environment()))

    # ---- calls

    def local_function(
        self, node: ast.Lambda, environment: Environment, defaults: Mapping[str, Kind]
    ) -> str:
        """The name of a lambda as it is made here, with these defaults."""
        name = f"<lambda>:{getattr(node, 'lineno', 0)}:{getattr(node, 'col_offset', id(node))}"
        name += "".join(f":{key}={kind!r}" for key, kind in defaults.items())
        self._lambdas[name] = _Local(node, environment, dict(defaults))
        return name

    def call_function(
        self,
        evaluation: Evaluation,
        node: ast.Call,
        function: Function,
        arguments: Arguments,
        environment: Environment,
    ) -> Kind:
        """What calling a function of this module, a lambda, or another package's function gives."""
        if function.name in self._lambdas:
            return self._call_lambda(
                evaluation, node, function.name, arguments, environment
            )
        home, qualname = self.home(function.name)
        definition = home.module.functions.get(qualname)
        if definition is not None:
            return home._call_definition(
                evaluation, node, definition, function.receiver, arguments, environment
            )
        return self.call_external(evaluation, node, function.name, arguments)

    def call_external(
        self, evaluation: Evaluation, node: ast.Call, name: str, arguments: Arguments
    ) -> Kind:
        if name.startswith("math.") and all(
            isinstance(k, Python) for k in arguments.all
        ):
            return INT if name.removeprefix("math.") in INTEGERS_OF_MATH else FLOAT
        code = "GL206" if name.startswith("numpy.") else "GL401"
        if name.startswith("math."):
            code = "GL205"
        copied = arguments.positional[0] if arguments.positional else None
        if name == "dataclasses.replace" and isinstance(copied, Record):
            made = methods.method(copied, "_replace", [], arguments.keywords)
            return evaluation.settle(made, "`replace`", node)
        drawing = draws.code(name)
        if drawing is not None:
            evaluation.problem(
                f"a graph runs `{name}` once, while it is traced", node, drawing
            )
            return draws.drawn(name, arguments.positional, arguments.keywords)
        evaluation.problem(f"what `{name}` does in a graph is not known", node, code)
        return UNKNOWN

    def _call_lambda(
        self,
        evaluation: Evaluation,
        node: ast.Call,
        made: str,
        arguments: Arguments,
        environment: Environment,
    ) -> Kind:
        local = self._lambdas[made]
        names = [a.arg for a in local.node.args.args]
        simple = not (
            local.node.args.vararg
            or local.node.args.kwarg
            or local.node.args.kwonlyargs
        )
        given = dict(zip(names, arguments.positional, strict=False))
        bound = {**local.defaults, **given, **arguments.keywords}
        many = len(arguments.positional) > len(names)
        if not simple or arguments.spread or many or bound.keys() != set(names):
            evaluation.problem("what this lambda is called with is not known", node)
            evaluation.operation()
            return UNKNOWN
        inner = local.environment.copy()
        inner.kinds |= environment.kinds
        inner.kinds |= bound
        kind = evaluation.called_lambda(local.node, node, made, inner)
        own = any(n is local.node for n in ast.walk(evaluation.facts.definition.node))
        if not own and any(n in evaluation.facts.staged for n in ast.walk(local.node)):
            evaluation.problem(
                "it calls a lambda of the module that branches on a tensor: make that a `def`",
                node,
            )
        return kind

    def _call_definition(
        self,
        evaluation: Evaluation,
        node: ast.expr,
        definition: FunctionDefinition,
        receiver: Kind | None,
        arguments: Arguments,
        environment: Environment,
    ) -> Kind:
        qualname = definition.qualname
        if definition.is_generator and evaluation.session is self:
            evaluation.facts.generators[node] = qualname
        obstacle = self._obstacle(definition)
        if obstacle is not None:
            evaluation.problem(
                f"`{definition.node.name}` {obstacle[0]}", node, obstacle[1]
            )
            return UNKNOWN
        bound = bind(definition, arguments, receiver, self._defaults(definition))
        if bound is None:
            evaluation.problem(
                f"what `{definition.node.name}` is called with is not known", node
            )
            return UNKNOWN
        if definition.has_gradient and (
            arguments.keywords or not all(map(is_strong, bound.values()))
        ):
            reason = f"a graph makes tensors of all that `{definition.node.name}` is given: pass tensors, by position"
            evaluation.problem(reason, node)
            return UNKNOWN
        outer = self._around(definition, evaluation, environment)
        facts = self._analyse(definition, self._with_recorded(definition, bound), outer)
        if evaluation.session is self:
            evaluation.facts.calls[node] = qualname  # type: ignore[index]
        else:
            call = ForeignCall(self, qualname, facts)
            evaluation.facts.foreign[node] = call
        if outer is not None and self._is_around(definition, evaluation):
            _note_captures(evaluation, definition, outer, node)
            evaluation.facts.nested[definition.original] = facts
        elif outer is not None:
            evaluation.facts.enclosed[node] = facts
        for name in facts.effects:
            if name != "mutates":
                evaluation.effect(name, node)
        if "mutates" in facts.effects and definition.node.name != "__init__":
            evaluation.effect("mutates", node)
            if evaluation.is_staged():
                evaluation.problem(
                    f"`{qualname}` changes an object where a tensor says so",
                    node,
                    "GL303",
                )
        first = facts.problems[0] if facts.problems else self.refused.get(qualname)
        if first is not None:
            name = qualname if evaluation.session is self else self.dotted(qualname)
            evaluation.problem(f"it calls `{name}`: {first.reason}", node, first.code)
        if not self.is_graph_function(definition):
            evaluation.facts.operations += facts.operations
        unready = (
            self._unready(facts.result) if evaluation.session is not self else None
        )
        if unready is not None:
            reason = (
                f"it is given a `{unready}` of another module: define that in this one"
            )
            evaluation.problem(reason, node)
            return UNKNOWN
        if definition.has_gradient and isinstance(facts.result, Sequence):
            return facts.result.items[0]
        return facts.result

    def _unready(self, kind: Kind) -> str | None:
        """A dataclass in a value that no graph can take apart, as it is."""
        for record in records_in(kind):
            home, name = self.home(record.type)
            if name in home.dataclasses and not home.module.method(
                name, "__tf_flatten__"
            ):
                return name
        return None

    def _around(
        self,
        definition: FunctionDefinition,
        evaluation: Evaluation,
        environment: Environment,
    ) -> Environment | None:
        """What is bound around a nested function where it is called; None for one that is not nested."""
        parent = definition.parent
        if parent is None:
            return None
        if not self._is_around(definition, evaluation):
            return self._closure(definition)
        around = evaluation.outer or Environment()
        if parent.original is evaluation.facts.definition.original:
            return Environment({**around.kinds, **environment.kinds})
        return around

    def _is_around(
        self, definition: FunctionDefinition, evaluation: Evaluation
    ) -> bool:
        """Whether the function that runs, or the one around it, made the nested one."""
        parent, caller = definition.parent, evaluation.facts.definition
        return parent is not None and (
            parent.original is caller.original
            or (parent is caller.parent and evaluation.outer is not None)
        )

    def _closure(self, definition: FunctionDefinition) -> Environment:
        """What the profile saw in the variables around a nested function."""
        recorded = self.recorded(definition.qualname)
        return Environment(dict(recorded.closure) if recorded else {})

    def _obstacle(self, definition: FunctionDefinition) -> tuple[str, str] | None:
        if definition.qualname in self._active:
            return "calls itself", "GL113"
        if definition.is_generator:
            return "is a generator", "GL401"
        if isinstance(definition.node, ast.AsyncFunctionDef):
            return "is a coroutine", "GL401"
        plain = {"staticmethod", "classmethod", "property"}
        for text in definition.decorators:
            if (
                text not in plain
                and text.rpartition(".")[2] != "custom_gradient"
                and not text.endswith("tf.function")
                and "tf.function(" not in text
            ):
                return f"has the decorator `@{text}`", "GL401"
        return None

    def _defaults(self, definition: FunctionDefinition) -> dict[str, Kind]:
        return {n: self._evaluate_module(d) for n, d in definition.defaults.items()}

    def _with_recorded(
        self, definition: FunctionDefinition, bound: dict[str, Kind]
    ) -> dict[str, Kind]:
        """Argument kinds; what is not known of a tensor is taken from the profile."""
        recorded = self.recorded(definition.qualname)
        if recorded is None:
            return bound
        result = {}
        for name, kind in bound.items():
            seen = recorded.parameters.get(name, UNKNOWN)
            result[name] = _completed(kind, seen)
        return result

    # ---- classes and objects

    def call_object(
        self,
        evaluation: Evaluation,
        node: ast.Call,
        function: Object | Type,
        arguments: Arguments,
    ) -> Kind:
        home, _ = self.home(function.name)
        if home is not self:
            return home.call_object(evaluation, node, function, arguments)
        made = self.class_of(function.name)
        environment = Environment()
        fields = self.records.get(self.qualname(function.name))
        if isinstance(function, Type) and fields is not None:
            return self._record(
                evaluation, node, self.qualname(function.name), arguments
            )
        if isinstance(function, Type) and made is not None:
            return self._construct(evaluation, node, made, arguments)
        if isinstance(function, Object):
            name = "__call__"
            method = self.module.method(self.qualname(function.name), name)
            if method is None and KERAS_CALLS & set(
                self.module.bases(self.qualname(function.name))
            ):
                method = self.module.method(self.qualname(function.name), "call")
                arguments = _converted(arguments)
            if method is not None:
                return self._call_definition(
                    evaluation, node, method, function, arguments, environment
                )
            if function.name.startswith(("keras.", "tensorflow.keras.")):
                if (
                    function.name.rpartition(".")[2] in KERAS_CONTAINERS
                    and self._own_keras_classes()
                    and self._has_mixed_containers
                ):
                    evaluation.problem(
                        f"{function} may hold layers of this module", node
                    )
                evaluation.operation()
                return Tensor()
        evaluation.problem(f"what calling {function} does is not known", node)
        return UNKNOWN

    def _own_keras_classes(self) -> bool:
        return any(
            KERAS_CALLS & set(self.module.bases(name)) for name in self.module.classes
        )

    @cached_property
    def _has_mixed_containers(self) -> bool:
        """Whether something in the module may put layers that are not Keras's own into containers of Keras."""
        given: list[ast.expr] = []
        for node in ast.walk(self.module.tree):
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
        root, _, rest = ast.unparse(node.func).partition(".")
        dotted = self.module.imports.get(root, "") + (f".{rest}" if rest else "")
        return dotted.startswith(("tensorflow.keras.", "keras."))

    def _construct(
        self,
        evaluation: Evaluation,
        node: ast.Call,
        made: ClassDefinition,
        arguments: Arguments,
    ) -> Kind:
        bases = set(self.module.bases(made.qualname)) - set(self.module.classes)
        if bases - {"object"} or made.node.decorator_list or made.node.keywords:
            evaluation.problem(f"it makes a `{made.qualname}`", node, "GL305")
            return Object(self.dotted(made.qualname))
        kind = Object(self.dotted(made.qualname), fresh=True)
        initializer = self.module.method(made.qualname, "__init__")
        if initializer is not None:
            self._call_definition(
                evaluation, node, initializer, kind, arguments, Environment()
            )
        elif arguments.all:
            evaluation.problem(f"`{made.qualname}` takes no arguments", node)
        return kind

    def _record(
        self, evaluation: Evaluation, node: ast.Call, name: str, arguments: Arguments
    ) -> Kind:
        """The namedtuple that a call of its class makes."""
        fields = self.records[name]
        given = dict(zip(fields, arguments.positional, strict=False))
        given |= arguments.keywords
        for field, default in fields.items():
            if field not in given and default is not None:
                given[field] = self._evaluate_module(default)
        fits = given.keys() == fields.keys() and evaluation.session is self
        many = len(arguments.positional) > len(fields)
        if arguments.spread or many or not fits:
            evaluation.problem(f"what this `{name}` holds is not known", node)
            return UNKNOWN
        items = tuple(given[f] for f in fields)
        return Record(self.dotted(name), items, tuple(fields))

    def _own(self, kind: Kind) -> Kind:
        """What was seen, but that tuples of fields that this module does not know as such are objects."""
        match kind:
            case Record(type=name, items=items):
                known = self.records.get(self.qualname(name))
                if name == self.dotted(self.qualname(name)) and known is not None:
                    return replace(kind, items=tuple(map(self._own, items)))
                return Object(name)
            case Sequence(items=items):
                return replace(kind, items=tuple(map(self._own, items)))
            case Elements(element=element):
                return replace(kind, element=self._own(element))
            case Dict(items=entries):
                return Dict(tuple((key, self._own(value)) for key, value in entries))
            case Union(members=several):
                return join_all(map(self._own, several))
        return kind

    def _seen(self, definition: FunctionDefinition) -> Recorded | None:
        """What was recorded of a function."""
        profile = self.profile
        if profile is None:
            return None
        found = profile.get(self.path, definition.qualname, self.lines, definition.node)
        return None if found is None else found.mapped(self._own)

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
                return self._call_definition(
                    evaluation, node, method, receiver, arguments, Environment()
                )
        if name in ("__init__", "build") and set(bases) <= GRAPH_BASES:
            return NONE
        evaluation.problem(f"what `super().{name}` does is not known", node)
        return UNKNOWN

    def operator(
        self, evaluation: Evaluation, name: str, left: Kind, right: Kind, node: ast.AST
    ) -> Kind | None:
        """What a class's own operator gives; None where the operands have none."""
        if (
            not isinstance(left, Object | Record)
            or name not in DUNDERS
            or not isinstance(node, ast.expr)
        ):
            return None
        home, qualname = self.home(_class_name(left))
        if home is not self:
            return home.operator(evaluation, name, left, right, node)
        method = self.module.method(qualname, f"__{DUNDERS[name]}__")
        if method is None:
            return None
        return self._call_definition(
            evaluation, node, method, left, Arguments([right], {}), Environment()
        )

    def attribute(
        self, evaluation: Evaluation, node: ast.Attribute, value: Object | Type | Record
    ) -> Kind | None:
        """What an attribute of an instance, or of a class, of the project holds; None where it has none."""
        home, _ = self.home(_class_name(value))
        if home is not self:
            return home.attribute(evaluation, node, value)
        made = self.class_of(_class_name(value))
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
        method = self.module.method(made.qualname, unmangled(node.attr, made.qualname))
        if method is not None:
            if method.is_property and not isinstance(value, Type):
                return self._call_definition(
                    evaluation, node, method, value, Arguments([], {}), Environment()
                )
            name = unmangled(node.attr, made.qualname)
            if not method.is_property and self._may_be_replaced(name, made):
                evaluation.problem(
                    f"`{ast.unparse(node)}` may be replaced", node, "GL302"
                )
            bound = not isinstance(value, Type) or method.is_class_method
            return Function(self.dotted(method.qualname), value if bound else None)
        if isinstance(value, Record):
            return None
        if isinstance(value, Type) and self.is_enum(value):
            return Object(value.name) if node.attr in made.assigned else None
        kind = self._attribute_kind(evaluation, node, made)
        if kind is None:
            return None
        if not (isinstance(value, Object) and value.fresh) and self._changes(
            evaluation, node, kind, made
        ):
            evaluation.problem(
                f"`{ast.unparse(node)}` may change between calls", node, "GL302"
            )
            return forget(kind)
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
            self.changes.has_attribute_of(node.attr, value.name)
            or node.attr in stored
            or ANY in stored
        ):
            evaluation.problem(f"`{text}` may change between calls", node, "GL302")
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
            return self._seen_attributes(made).get(name, known) if open_parts else known
        if name in self.module.changed_attributes:
            return self._seen_attributes(made).get(name, UNKNOWN)
        if KERAS_CALLS & set(self.module.bases(made.qualname)):
            return KERAS_ATTRIBUTES.get(name)
        if "tensorflow.Module" in self.module.bases(made.qualname):
            return KERAS_ATTRIBUTES.get(name) if name.endswith("variables") else None
        return None

    def _changes(
        self,
        evaluation: Evaluation,
        node: ast.Attribute,
        kind: Kind,
        made: ClassDefinition,
    ) -> bool:
        name = unmangled(node.attr, made.qualname)
        if self.changes.has_attribute(node.attr, made):
            return True
        stored = self.module.rebound_attributes
        writers = {*stored.get(name, ()), *stored.get(ANY, ())}
        if isinstance(kind, CONTAINERS):
            writers |= self.module.changed_attributes.get(name, set())
        return any(writer.rpartition(".")[2] not in INITIALIZERS for writer in writers)

    def _may_be_replaced(self, name: str, made: ClassDefinition) -> bool:
        """Whether something gives a class or an instance of it another method of this name."""
        writers = self.module.rebound_attributes.get(name, set())
        owners = {w: self.module.functions[w].owner for w in writers - {"", ELSEWHERE}}
        return any(
            owner is None or may_be_of(self, self.dotted(owner.qualname), made)
            for owner in (*owners.values(), *(None for w in writers if w not in owners))
        )

    def class_attributes(self, made: ClassDefinition) -> Mapping[str, Kind]:
        """The attributes of a class's instances: what the profile saw, what `__init__` and the class body set."""
        if made.qualname not in self._attributes:
            found: dict[str, Kind] = {}
            self._attributes[made.qualname] = found
            for node in made.node.body:
                if isinstance(node, ast.Assign) and isinstance(
                    node.targets[0], ast.Name
                ):
                    found[node.targets[0].id] = self._evaluate_module(node.value)
            self._initialize(made)
            for name, kind in self._seen_attributes(made).items():
                if found.get(name, UNKNOWN) == UNKNOWN or kind == found.get(name):
                    found[name] = kind
        return self._attributes[made.qualname]

    def _seen_attributes(self, made: ClassDefinition) -> dict[str, Kind]:
        seen: dict[str, Kind] = {}
        for method in made.methods.values():
            recorded = self.recorded(method.qualname)
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
        if initializer is None or initializer.qualname in self._active:
            return
        recorded = self.recorded(initializer.qualname)
        known: Mapping[str, Kind] = (
            recorded.parameters
            if recorded
            else self._contexts.get(initializer.qualname, {})
        )
        parameters = {a.arg: known.get(a.arg, UNKNOWN) for a in initializer.parameters}
        if not parameters:
            return
        defaults = self._defaults(initializer)
        for name, kind in parameters.items():
            if kind == UNKNOWN and name in defaults:
                parameters[name] = forget(defaults[name])
        parameters[initializer.parameters[0].arg] = Object(
            self.dotted(made.qualname), fresh=True
        )
        facts = FunctionFacts(initializer, parameters)
        self._active.append(initializer.qualname)
        try:
            Interpreter(self, recorded).function(initializer, facts, None)
        finally:
            self._active.pop()

    def write_attribute(self, class_name: str, name: str, kind: Kind) -> None:
        home, _ = self.home(class_name)
        if home is not self:
            home.write_attribute(class_name, name, kind)
            return
        made = self.class_of(class_name)
        if made is None:
            return
        name = unmangled(name, made.qualname)
        found = self._attributes.setdefault(made.qualname, {})
        old = found.get(name)
        new = (
            _settled(forget(kind))
            if old is not None and old != kind
            else _settled(kind)
        )
        joined = new if old is None else join(forget(old) if old != new else old, new)
        if joined != old:
            found[name] = joined
            self._dirty = True


def _class_name(kind: Object | Type | Record) -> str:
    return kind.type if isinstance(kind, Record) else kind.name


def _note_captures(
    evaluation: Evaluation,
    definition: FunctionDefinition,
    around: Environment,
    call: ast.AST,
) -> None:
    """Note what a call of a nested function finds in the names around it."""
    bound = {a.arg for a in definition.parameters}
    for node in ast.walk(definition.node):
        bound |= set(bound_names(node)) if isinstance(node, ast.stmt) else set()
    evaluation.facts.captures.setdefault(definition.qualname, {})[call] = {
        n.id: forget(around.kinds[n.id])
        for n in ast.walk(definition.node)
        if isinstance(n, ast.Name) and n.id in around.kinds and n.id not in bound
    }


def _completed(kind: Kind, seen: Kind) -> Kind:
    """A kind with what the profile knows better: all of an unknown one, a tensor's dtype and rank."""
    if kind == UNKNOWN:
        return seen
    if isinstance(kind, Dataset) and isinstance(seen, Dataset):
        return seen
    if isinstance(kind, Tensor) and isinstance(seen, Tensor) and not kind.weak:
        if kind.shape is None and seen.shape is not None:
            kind = replace(kind, shape=(None,) * len(seen.shape))
        return replace(kind, dtype=kind.dtype or seen.dtype)
    return kind


def _held(kind: Kind) -> Kind:
    """A parameter as a graph takes it: an array of NumPy becomes a tensor."""
    held = hold(kind) if all(map(_is_array, members(kind))) else kind
    return held if arrays.may_hold(held) else kind


def _may_be_signed(
    definition: FunctionDefinition, parameters: Mapping[str, Kind]
) -> bool:
    """Whether a signature can hold callers to the sizes that were seen."""
    args = definition.node.args
    own = [kind for name, kind in parameters.items() if name != definition.receiver]
    return not (args.vararg or args.kwarg or args.kwonlyargs or args.defaults) and all(
        isinstance(k, Tensor | Ragged) for k in own
    )


def _is_array(kind: Kind) -> bool:
    return isinstance(kind, Array | Scalar)


def _with_dtype(kind: Kind, dtype: str) -> Kind:
    return replace(kind, dtype=dtype) if isinstance(kind, Tensor | Variable) else kind


def _settled(kind: Kind) -> Kind:
    """What others see once it is stored: objects that anyone may change."""
    match kind:
        case Object(name=name):
            return Object(name)
        case Sequence(items=items):
            return replace(kind, items=tuple(map(_settled, items)))
        case Elements(element=element):
            return replace(kind, element=_settled(element))
        case Dict(items=entries):
            return Dict(tuple((key, _settled(value)) for key, value in entries))
        case kinds.Mapping(value=value):
            return replace(kind, value=_settled(value))
    return kind
