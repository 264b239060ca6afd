"""The facts of a module's functions, found by interpreting each with what its callers pass."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property

from ..findings import Refusal
from ..source import Source
from .changes import SeenChanges
from .definitions import INITIALIZERS, ClassDefinition, Fields, FunctionDefinition
from .environment import Environment, FunctionFacts
from .function_calls import FunctionCalls
from .globals import Globals
from .instances import Instances
from .interpreter import Interpreter
from .kind_joins import join, join_all
from .kind_parts import of_any_shape
from .kinds import UNKNOWN, Elements, Kind, Object, Record, Type, Union, members
from .library_settings import COMPILED, COMPILES, changed_settings
from .modules import ModuleFacts
from .parameters import Parameters
from .passed import Frame
from .profile import FunctionNode, Profile, Recorded
from .project import NEST, REDIRECTION, TAPE, ProjectModules
from .replicas import AGGREGATION
from .staging import is_weak
from .syntax import beside, called_names, root_name, stored_attributes

MOST_ROUNDS = 6
DATASET_METHODS = frozenset(
    ["apply", "filter", "flat_map", "interleave", "map", "reduce", "scan", "take_while"]
)
"""Methods of a `tf.data.Dataset` that take functions."""
_State = tuple[dict[str, FunctionFacts], dict[str, dict[str, Kind]], bool]


class Session:
    """All that is known of one module.

    Attributes:
        refused: the functions that stay eager, so that no graph can call them, and why.
        calls: what its functions give where they are called.
        instances: what objects of its classes hold and do.
        globals: what its globals hold.
        contexts: the kinds that the parameters of each function were seen with, by qualified name.
        active: the functions that are being analysed, innermost last.
        dirty: whether something became known that needs another round of analysis.

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
        self.contexts: dict[str, dict[str, Kind]] = {}
        self._outer: dict[str, Environment] = {}
        self._homes: dict[str, tuple[Session, str]] = {}
        self.calls = FunctionCalls(self)
        self.instances = Instances(self)
        self.globals = Globals(self)
        self._parameters = Parameters(self)
        self.active: list[str] = []
        self.frames: list[Frame] = []
        self.dirty = False
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
                session.dirty = False
                session._found.clear()
            for qualname in [
                q for q in self.module.functions if q in entries or not self._callers(q)
            ]:
                self._analyse_root(qualname)
            for qualname in self.module.functions:
                if qualname not in self._found:
                    self._analyse_root(qualname)
            if not any(session.dirty for session in self.others.values()):
                break
        return self._found

    def _analyse_root(self, qualname: str) -> None:
        definition = self.module.functions[qualname]
        parameters = self._parameters.from_outside(definition)
        if parameters is not None:
            nested = definition.parent is not None
            outer = self.closure(definition) if nested else None
            self.analyse_function(definition, parameters, outer)

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
        imported = self.module.imports.get(root_name(call.func) or "", "")
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        return imported.startswith("tensorflow") or method in DATASET_METHODS

    def state(self) -> dict[str, _State]:
        """What an analysis changes, of the sessions of all modules, by their paths."""
        return {
            path: (dict(s._found), dict(s.contexts), s.dirty)
            for path, s in self.others.items()
        }

    def tells_less(self, state: Mapping[str, _State]) -> bool:
        """Whether a function was since given Python values here and tensors there: as long, maybe, as a loop did not settle."""
        return any(
            _is_both(kind)
            for path, session in self.others.items()
            for qualname, kinds in session.contexts.items()
            for name, kind in kinds.items()
            if kind != state.get(path, ({}, {}, False))[1].get(qualname, {}).get(name)
        )

    def restore(self, state: Mapping[str, _State]) -> None:
        """Forget what was analysed since the state was this."""
        for path, session in self.others.items():
            session._found, session.contexts, session.dirty = state.get(
                path, ({}, {}, False)
            )

    def analyse_function(
        self,
        definition: FunctionDefinition,
        parameters: dict[str, Kind],
        outer: Environment | None = None,
    ) -> FunctionFacts:
        qualname = definition.qualname
        known = self.contexts.get(qualname)
        joined = (
            parameters
            if known is None
            else {
                name: join(kind, parameters.get(name, UNKNOWN))
                for name, kind in known.items()
            }
        )
        if known is not None and joined != known:
            self.dirty = True
        found = self._found.get(qualname)
        reusable = outer is None and not (found and found.borrows)
        if found is not None and found.parameters == joined and reusable:
            return found
        self.contexts[qualname] = joined
        facts = FunctionFacts(
            definition, joined, taped=self._taped, redirected=self._redirected
        )
        if qualname in self.module.rebound:
            reason = "it, or its defaults, may be replaced between calls"
            facts.problems.append(Refusal(reason, definition.original, "GL302"))
        for name, kind in joined.items():
            if _is_both(kind) and not definition.only_keeps:
                facts.problems.append(
                    Refusal(
                        f"some calls of it give Python's own value for `{name}`, others one that a tensor decides",
                        definition.original,
                        way_out="give a tensor of the same dtype in all of them",
                    )
                )
        outer = outer or self._outer.get(qualname)
        self.interpret(facts, self.recorded(qualname), outer)
        self._found[qualname] = facts
        return facts

    def interpret(
        self,
        facts: FunctionFacts,
        recorded: Recorded | None,
        outer: Environment | None = None,
        of: str | None = None,
    ) -> None:
        """Find the facts of a function with the kinds of its parameters; `of` is the one that it was made from."""
        self.active.append(of or facts.definition.qualname)
        try:
            Interpreter(self, recorded).function(facts, outer)
        finally:
            self.active.pop()

    @contextmanager
    def calling(self, frame: Frame) -> Iterator[None]:
        """While a function of this module, here in the midst of a call, has another one interpreted."""
        self.frames.append(frame)
        try:
            yield
        finally:
            self.frames.pop()

    def analyse_core(
        self,
        definition: FunctionDefinition,
        parameters: dict[str, Kind],
        of: str,
        eager: bool = False,
    ) -> FunctionFacts:
        """The facts of a function that lifting makes from another one, `of`; `eager` where it stays Python."""
        facts = FunctionFacts(
            definition,
            parameters,
            taped=self._taped,
            redirected=self._redirected,
            eager=eager,
        )
        self.interpret(facts, self.recorded(of), self._bound_around(of), of)
        return facts

    def _bound_around(self, qualname: str) -> Environment | None:
        definition = self.module.functions[qualname]
        if definition.parent is None:
            return self._outer.get(qualname)
        return self.closure(definition)

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

    def is_shell(self, definition: FunctionDefinition) -> bool:
        """Whether the function is Python around a graph that stands beside it, as lifting leaves one."""
        names = {n for n in called_names(definition.original) if n.endswith("_graph")}
        beside_it = (beside(definition.qualname, name) for name in names)
        cores = (self.module.functions.get(qualname) for qualname in beside_it)
        return any(core and self.is_graph_function(core) for core in cores)

    @cached_property
    def is_eager(self) -> bool:
        """Whether nothing in the module is a graph as it is."""
        functions = self.module.functions.values()
        graphs = self.has_keras_classes or any(map(self.is_graph_function, functions))
        return not (graphs or any("Dataset" in line for line in self.lines))

    @cached_property
    def has_keras_classes(self) -> bool:
        """Whether some class of the module is a layer or model, which Keras calls."""
        return any(map(self.module.is_of_keras, self.module.classes))

    @cached_property
    def settings(self) -> Mapping[str, str]:
        """The first setting of Keras's layers, and of its optimizers, that the program changes, by its text."""
        elsewhere = (s.split(" ", 1) for s in sorted(self.module.elsewhere.settings))
        return dict(elsewhere) | changed_settings(self.module)

    @cached_property
    def initializers(self) -> Collection[str]:
        """The methods that run before all calls of others: `compile` too, where the program compiles what it just made."""
        return INITIALIZERS if COMPILED in self.settings else (*INITIALIZERS, COMPILES)

    @cached_property
    def changes(self) -> SeenChanges:
        """What a recorded run saw changed between calls."""
        return SeenChanges(self)

    @cached_property
    def _taped(self) -> bool:
        """Whether something in the program takes gradients."""
        return self.has_keras_classes or self._is_mentioned(TAPE)

    @cached_property
    def has_aggregates(self) -> bool:
        """Whether replicas of the program may have Variables that they update together."""
        return self._is_mentioned(AGGREGATION)

    @cached_property
    def _redirected(self) -> bool:
        """Whether the program puts something in the place of `sys.stdout`."""
        own = (name for n in self.module.nodes for name in stored_attributes(n))
        stored = self.module.elsewhere.stored.union(own)
        return "stdout" in stored or self._is_mentioned(REDIRECTION)

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
        for node in self.module.nodes:
            match node:
                case ast.Call(
                    func=ast.Attribute(attr="function"), args=[ast.Name(id=name), *_]
                ):
                    found.add(name)
        return frozenset(found)

    @cached_property
    def given_to_datasets(self) -> frozenset[str]:
        """The names with which the module does no more than give what they stand for to datasets."""
        nodes = self.module.nodes
        given = {
            argument
            for n in nodes
            if isinstance(n, ast.Call)
            and isinstance(n.func, ast.Attribute)
            and n.func.attr in DATASET_METHODS
            for argument in n.args
            if isinstance(argument, ast.Name)
        }
        names = [n for n in nodes if isinstance(n, ast.Name)]
        return frozenset(
            {n.id for n in given} - {n.id for n in names if n not in given}
        )

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

    def has_setter(self, owner: Kind, name: str) -> bool:
        """Whether setting an attribute of an object of the project does more than that."""
        if not isinstance(owner, Object):
            return False
        home, qualname = self.home(owner.name)
        method = home.module.method
        found = method(qualname, name) or method(qualname, "__setattr__")
        bases = [qualname, *home.module.bases(qualname)]
        made = [home.module.classes[b] for b in bases if b in home.module.classes]
        return found is not None or any(name in c.properties for c in made)

    def line(self, name: str) -> frozenset[str]:
        """The dotted names of a class of the project and of those that it extends; nothing of any other class."""
        home, qualname = self.home(name)
        if qualname not in home.module.classes:
            return frozenset()
        bases = home.module.bases(qualname)
        own = home.module.classes
        return frozenset([name, *(home.dotted(b) if b in own else b for b in bases)])

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

    def closure(self, definition: FunctionDefinition) -> Environment:
        """What the profile saw in the variables around a nested function."""
        recorded = self.recorded(definition.qualname)
        return Environment(dict(recorded.closure) if recorded else {})

    def _own(self, kind: Kind) -> Kind:
        """What was seen, but that tuples of fields that this module does not know as such are objects."""
        match kind:
            case Record(type=name):
                known = self.records.get(self.qualname(name))
                if name == self.dotted(self.qualname(name)) and known is not None:
                    return kind.mapped(self._own)
                return Object(name)
            case Elements(element=element):
                return replace(kind, element=self._own(element))
            case Union(members=several):
                return join_all(map(self._own, several))
        return kind.mapped(self._own)

    def _seen(self, definition: FunctionDefinition) -> Recorded | None:
        """What was recorded of a function; but for what a signature may hold callers to, of any size."""
        profile = self.profile
        if profile is None:
            return None
        found = profile.get(self.path, definition.qualname, self.lines, definition.node)
        if found is None:
            return None
        seen = found.mapped(self._own)
        loose = seen.mapped(of_any_shape)
        return replace(loose, parameters=seen.parameters, returns=seen.returns)


def _is_both(kind: Kind) -> bool:
    """Whether a value is Python's here, though held in a tensor, and something else there."""
    return any(map(is_weak, members(kind))) and len(members(kind)) > 1
