"""Decides, for each function of a module, what lifting it will do: a plan, or a refusal with its reason."""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from . import printing, signatures, stateful
from .add_chains import adding_functions
from .facts.agreement import agrees
from .facts.calls import KERAS_CALLS
from .facts.environment import FunctionFacts
from .facts.kinds import NONE, UNKNOWN, Kind, Object, Python, Tensor, members
from .facts.modules import (
    FunctionDefinition,
    ModuleFacts,
    begins_beside_docstring,
    own_body,
)
from .facts.profile import FunctionNode, Recorded
from .facts.session import Session
from .facts.staging import (
    holds_variable,
    is_numpy,
    is_strong,
    is_weak,
)
from .findings import Refusal
from .first_steps import MOST_STEPS, FirstSteps, number_parameters
from .neighbours import Neighbours
from .options import Options
from .planner import Planner
from .shell import Shell, check_result
from .source import Names, Source
from .split import Split, split
from .steps import Code, Keep, Step, changes

FEWEST_CALLS, FEWEST_OPERATIONS = 4, 8
"""From how many calls and operations on a helper that eager code of its module calls becomes a graph; without a
profile, a function from that many operations on."""
UNFORESEEN = frozenset({"UnboundLocalError", "NameError"})
"""Errors of Python that no graph raises."""
NEVER_DECORATED = frozenset(
    [
        "call",
        "build",
        "compute_output_shape",
        "get_config",
        "from_config",
        "train_step",
        "test_step",
        "predict_step",
    ]
)


@dataclass
class Plan:
    """What becomes of one function.

    Attributes:
        node: the function, as the file has it.
        steps: its new body.
        decorator: what it is decorated with, if anything.
        core: the name of its core, where it gets a Python shell around it.
        shell: the statements of that shell.
        parameters: of the core, where they are not the function's own.
        statements: what its module has to make before it.
        imports: the modules that it needs.
    """

    node: FunctionNode
    qualname: str
    steps: list[Step]
    decorator: str | None = None
    core: str | None = None
    shell: list[Step] = field(default_factory=list)
    parameters: list[str] | None = None
    statements: list[str] = field(default_factory=list)
    imports: set[str] = field(default_factory=set)


@dataclass
class ModulePlan:
    """The plans of a module's functions that will be lifted, and why others will not.

    `needs` are the paths of the modules whose functions they call, as those are lifted in this run.
    """

    plans: list[Plan]
    refusals: dict[str, Refusal]
    facts: Mapping[str, FunctionFacts]
    needs: frozenset[str]


class ModulePlanner:
    """Plans the functions of one module."""

    def __init__(
        self,
        source: Source,
        module: ModuleFacts,
        path: str,
        neighbours: Neighbours,
        options: Options,
    ) -> None:
        self.source = source
        self.module = module
        self.path = path
        self.neighbours = neighbours
        modules = neighbours.modules
        self.session = Session(module, source.lines, path, modules.profile, modules)
        self.options = options
        self.tf = tensorflow_name(module)
        self.adding = adding_functions(module)
        self.refusals: dict[str, Refusal] = {}
        self.session.refused = self.refusals
        self.first_steps = FirstSteps(
            self.session, source, options, self.tf, self.refusals, self.body
        )
        self.entries: frozenset[str] = frozenset()
        self.needs: set[str] = set()
        self.first: Mapping[str, FunctionFacts] = {}

    def plan(self) -> ModulePlan:
        with self.neighbours.planning(self.path):
            return self._planned()

    def _planned(self) -> ModulePlan:
        self.first = dict(self.session.analyse())
        while True:
            facts, lifted = self._candidates()
            refused = len(self.refusals)
            plans = self._plans(lifted)
            if len(self.refusals) == refused:
                break
        plans = [p for p in plans if self._does_something(p)]
        plans += self._splits(facts, plans)
        return ModulePlan(plans, self.refusals, self.first, frozenset(self.needs))

    # ---- functions that are split

    def _splits(
        self, facts: Mapping[str, FunctionFacts], lifted: list[Plan]
    ) -> list[Plan]:
        """Plans for functions that stay Python around a graph, beside those that are lifted whole."""
        plans: list[Plan] = []
        absorbed: list[str] = []
        cores = {p.qualname: p.core for p in lifted if p.core}
        whole = {p.qualname for p in lifted}
        callers_first = sorted(facts, key=lambda q: not self._absorbed(facts[q]))
        for qualname in callers_first:
            found = facts[qualname]
            planned = whole | {p.qualname for p in plans}
            if (
                qualname in whole
                or not self._may_split(found)
                or self._clashes(qualname)
            ):
                continue
            if self._is_absorbed(qualname, facts, planned):
                absorbed.append(qualname)
                continue
            plan = self._first_split(self._versions(found), cores)
            if plan is not None:
                plans.append(plan)
        for qualname in (*absorbed, *(p.qualname for p in plans)):
            self.refusals.pop(qualname, None)
        return plans

    def _versions(self, facts: FunctionFacts) -> list[FunctionFacts]:
        """The function with calls inlined and without, in the order in which they are worth a try.

        What is Python's alone stays a call where it can.
        """
        definition = facts.definition
        earlier = self.first_steps.with_calls.get(definition.qualname)
        if earlier is None:
            return [facts]
        called = copy.copy(definition)
        called.node = earlier
        other = self.session.analyse_core(called, facts.parameters, definition.qualname)
        absorbed = self._absorbed(facts)
        works = any(self.session.facts_of(q).operations for q in absorbed)
        inside = [n for s in other.staged for n in ast.walk(s)]
        works = works or any(
            q in absorbed and n in inside for n, q in other.calls.items()
        )
        return [facts, other] if works else [other, facts]

    def _first_split(
        self, versions: list[FunctionFacts], cores: dict[str, str]
    ) -> Plan | None:
        """The plan of the first version that can be split; notes why the last one cannot."""
        for facts in versions:
            qualname = facts.definition.qualname
            name = self._core_name(qualname)
            parts = split(self.session, facts, name, self.first_steps.core)
            if parts is None:
                continue
            try:
                return self._split_plan(facts, parts, name, cores)
            except Refusal as refusal:
                self.refusals.setdefault(qualname, refusal)
        return None

    def _absorbed(self, facts: FunctionFacts) -> set[str]:
        """The functions that this one called, and now does the work of itself."""
        definition = facts.definition
        first = self.first.get(definition.qualname)
        if first is None or definition.node is definition.original:
            return set()
        return set(first.calls.values()) - set(facts.calls.values())

    def _is_absorbed(
        self, qualname: str, facts: Mapping[str, FunctionFacts], planned: set[str]
    ) -> bool:
        """Whether all that called a function does the work itself, in a graph."""
        callers = self.session.recorded_callers(qualname)
        return bool(callers) and all(
            self._does_without(c, qualname, facts, planned) for c in callers
        )

    def _does_without(
        self,
        caller: str,
        called: str,
        facts: Mapping[str, FunctionFacts],
        planned: set[str],
    ) -> bool:
        """Whether a function that was seen to call another one is, or has, a graph that does not."""
        if self._core_of(caller) in self.module.functions:
            names = (caller, self._core_of(caller))
            return all(
                called not in facts[n].calls.values() for n in names if n in facts
            )
        definition = self.module.functions.get(caller)
        if definition and self.session.is_graph_function(definition):
            name = called.rpartition(".")[2]
            return name not in _called_names(definition.original)
        return caller in planned and called in self._absorbed(facts[caller])

    def _may_split(self, facts: FunctionFacts) -> bool:
        definition = facts.definition
        name = definition.node.name
        if (
            not (
                facts.problems
                or definition.qualname in self.refusals
                or holds_variable(facts.result)
                or stateful.optimizer_parameters(facts)
            )
            or not facts.operations
            or definition.failure is not None
            or self.session.is_graph_function(definition)
        ):
            return False
        if self._core_of(definition.qualname) in self.module.functions:
            return False
        if self.session.recorded(definition.qualname) is None:
            return False
        if begins_beside_docstring(definition.original):
            return False
        if name.startswith("__") and name != "__call__":
            return False
        if definition.parent is not None and not self._lasts(definition):
            return False
        if not self._can_be_method(definition):
            return False
        return not (
            definition.owner and name in NEVER_DECORATED and self._is_keras(definition)
        )

    def _lasts(self, definition: FunctionDefinition) -> bool:
        """Whether a nested function keeps state, and is called more often than it is made."""
        around = definition.parent
        recorded = self.session.recorded(definition.qualname)
        if (
            around is None
            or around.parent
            or not definition.keeps_state
            or not recorded
        ):
            return False
        made = self.session.recorded(around.qualname)
        return recorded.calls >= 2 * (made.calls if made else 1)

    def _is_keras(self, definition: FunctionDefinition) -> bool:
        owner = definition.owner
        return owner is not None and bool(
            KERAS_CALLS & set(self.module.bases(owner.qualname))
        )

    def _split_plan(
        self, facts: FunctionFacts, parts: Split, name: str, cores: dict[str, str]
    ) -> Plan:
        core = self.session.analyse_core(
            parts.core, parts.kinds, facts.definition.qualname
        )
        obstacle = self._foreign_obstacle(core)
        if obstacle is not None:
            raise obstacle
        for called in core.calls.values():
            if self.module.functions[called].tags:
                raise Refusal(
                    f"it calls `{called}`, which gives a Python value or a tensor",
                    facts.definition.original,
                )
        shell = Shell.of_split(core.result, parts)
        if "exhausts" in core.effects:
            raise Refusal(
                "`next` at the end raises another error in a graph",
                core.effects["exhausts"][0],
                "GL106",
            )
        check_result(shell.result, parts.core.node)
        returns_here = any(isinstance(s, ast.Return) for s in parts.after)
        result = UNKNOWN if returns_here else shell.result
        unexpected = self._unexpected(facts.definition, result)
        if unexpected is not None:
            raise unexpected
        self._check_parameters(core, stateful.optimizer_parameters(facts))
        planner = self._planner(core, cores, shell, [])
        steps = planner.body()
        definition = facts.definition
        plan = Plan(
            definition.original,
            definition.qualname,
            steps,
            core=name,
            imports=planner.imports,
        )
        if not self._has_tensorflow():
            plan.imports.add(f"tensorflow as {self.tf}")
        plan.decorator = signatures.decorator(core, None, self.tf)
        plan.parameters = list(parts.kinds)
        plan.statements = self.first_steps.statements.get(definition.qualname, [])
        owner = f"{plan.parameters[0]}." if definition.owner else ""
        signed = "input_signature" in plan.decorator
        arguments = [a if signed else self._as_tensor(a, k) for a, k in parts.arguments]
        call = f"{owner}{name}({', '.join(arguments)})"
        simple = not shell.kinds and not parts.after
        if simple and not shell.converts and shell.result != NONE:
            plan.shell = [*map(Keep, parts.before), Code(f"return {call}")]
            return plan
        texts = shell.statements(call) if simple else shell.calls(call)
        plan.shell = [*map(Keep, parts.before), *map(Code, texts)]
        if not simple:
            plan.shell += [
                *map(self._waiting, parts.after),
                *map(Code, shell.closing()),
            ]
        return plan

    def _waiting(self, node: ast.stmt) -> Step:
        """A statement of the shell, which may name what the core computes for it."""
        named = getattr(node, "named", None)
        if named is None:
            return Keep(node)
        origin: ast.stmt = getattr(node, "origin", node)
        inside = any(isinstance(n, ast.JoinedStr) for n in ast.walk(origin))
        if inside and sys.version_info < (3, 12):
            return Code(
                ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))), origin
            )
        return Code(self.source.spliced(origin, named), origin)

    def _as_tensor(self, text: str, kind: Kind) -> str:
        if isinstance(kind, Tensor) and kind.weak:
            return f"{self.tf}.constant({text}, {self.tf}.{kind.dtype})"
        return text

    def _candidates(
        self,
    ) -> tuple[Mapping[str, FunctionFacts], dict[str, FunctionFacts]]:
        """The facts, and those of the functions that may be lifted, each with all that its callers pass.

        What a function that stays eager calls is called from outside the graph, which changes its facts.
        """
        while True:
            refused = len(self.refusals)
            facts = self._without_obstacles()
            lifted = {q: f for q, f in facts.items() if self._may_lift(f)}
            outside = {
                name
                for q, f in facts.items()
                if q not in lifted
                for name in f.calls.values()
            }
            if outside <= self.entries and len(self.refusals) == refused:
                return facts, lifted
            self.entries |= outside

    # ---- bodies without what hinders

    def _without_obstacles(self) -> Mapping[str, FunctionFacts]:
        """The facts after Variables are hoisted and exits are values, to a fixpoint over the functions."""
        for _ in range(MOST_STEPS):
            facts = dict(self.session.analyse(self.entries))
            refused = len(self.refusals)
            changed = [q for q, found in facts.items() if self.first_steps.take(found)]
            if not changed and len(self.refusals) == refused:
                return facts
        for qualname in changed:
            self.refusals[qualname] = Refusal(
                "it takes too many steps to lift",
                self.module.functions[qualname].original,
            )
        return self.session.analyse(self.entries)

    # ---- which functions

    def _may_lift(self, facts: FunctionFacts) -> bool:
        definition = facts.definition
        if (
            definition.qualname in self.refusals
            or self._core_of(definition.qualname) in self.module.functions
        ):
            return False
        if self.session.is_graph_function(definition) and (
            not facts.staged or "autograph=False" in "".join(definition.decorators)
        ):
            return False
        works = facts.operations or facts.staged
        if facts.problems:
            if works and definition.node.name != "__init__":
                self.refusals[definition.qualname] = facts.problems[0]
            return False
        works = works or "stdout" in facts.effects
        if not works or definition.node.name == "__init__":
            return False
        obstacle = self._foreign_obstacle(facts) or self._unexpected(
            definition, facts.result
        )
        if obstacle is not None:
            self.refusals[definition.qualname] = obstacle
        return obstacle is None

    def _unexpected(
        self, definition: FunctionDefinition, result: Kind
    ) -> Refusal | None:
        """What the recorded run saw a function return or raise though nothing here says so, if it did."""
        recorded = self.session.recorded(definition.qualname)
        if recorded is None:
            return None
        raised = UNFORESEEN & set(recorded.raises)
        if raised:
            reason = f"it was seen to raise {min(raised)}"
        elif definition.tags or agrees(result, recorded.returns):
            return None
        else:
            reason = f"it was seen to return {recorded.returns}, where {result} was to be expected"
        return Refusal(reason, definition.original)

    def _foreign_obstacle(self, facts: FunctionFacts) -> Refusal | None:
        """Why the functions of other modules that it calls keep it from being a graph, if they do."""
        for node, call in facts.foreign.items():
            reason = self.neighbours.obstacle(call)
            if reason is not None:
                name = f"{call.session.module.name}.{call.qualname}"
                return Refusal(f"it calls `{name}`: {reason}", node)
            self.needs |= self.neighbours.needed(call)
        for node, inner in facts.enclosed.items():
            if self.changes(inner):
                name = inner.definition.node.name
                return Refusal(
                    f"`{name}`, which another function made, would have to read otherwise",
                    node,
                )
        return None

    def _plans(self, lifted: Mapping[str, FunctionFacts]) -> list[Plan]:
        callers = {
            name for f in lifted.values() for name in f.calls.values()
        } | self._called_by_graphs
        decorated = {
            q for q, f in lifted.items() if self._is_decorated(f, q in callers, lifted)
        }
        lifted = {
            q: self._with_number_arguments(f) if q in decorated else f
            for q, f in lifted.items()
        }
        shells: dict[str, Shell] = {}
        sunk: dict[str, list[ast.stmt]] = {}
        cores: dict[str, str] = {}
        for qualname, facts in lifted.items():
            if "<locals>" in qualname or not (
                facts.operations or facts.staged or qualname in callers
            ):
                continue
            shell = Shell.of(facts, self.tf)
            if (
                qualname not in decorated
                and qualname not in callers
                and not self._is_reached(facts)
            ):
                continue
            if shell.tags and qualname in callers:
                self.refusals[qualname] = Refusal(
                    "it returns a Python number or a tensor, and graphs call it",
                    facts.definition.original,
                )
                continue
            sunk[qualname] = (
                printing.sinks(facts)
                if qualname in decorated and qualname not in callers
                else []
            )
            shells[qualname] = shell
            if (shell.converts or sunk[qualname]) and qualname in decorated:
                if self._clashes(qualname):
                    self.refusals[qualname] = Refusal(
                        "another method would get the name of its core",
                        facts.definition.original,
                    )
                    continue
                cores[qualname] = self._core_name(qualname)
        plans = []
        for qualname, facts in lifted.items():
            if qualname not in shells or qualname in self.refusals:
                continue
            try:
                plans.append(
                    self._plan(
                        facts,
                        shells[qualname],
                        sunk[qualname],
                        cores,
                        qualname in decorated,
                    )
                )
            except Refusal as refusal:
                self.refusals[qualname] = refusal
        return plans

    def _is_reached(self, facts: FunctionFacts) -> bool:
        """Whether what is no graph of its own is reached from graphs that do not show: by Keras, or as an operator."""
        definition = facts.definition
        name = definition.node.name
        if (
            definition.is_property
            or definition.is_static
            or definition.is_class_method
            or "<locals>" in definition.qualname
        ):
            return True
        if self.session.is_graph_function(definition) or (
            name.startswith("__") and name != "__call__"
        ):
            return True
        return name in NEVER_DECORATED and self._is_keras(definition)

    def _can_be_method(self, definition: FunctionDefinition) -> bool:
        """Whether a `tf.function` can be a method of the class: its instances have to be hashable and weakly held."""
        owner = definition.owner
        if owner is None:
            return True
        if "__slots__" in owner.assigned or owner.node.decorator_list:
            return False
        return "__eq__" not in owner.methods or "__hash__" in owner.methods

    def _is_worth_it(self, facts: FunctionFacts, recorded: Recorded) -> bool:
        """Whether a graph saves a helper of this module more than calling and tracing it costs."""
        callers = self.session.recorded_callers(facts.definition.qualname)
        helps = all(c in self.module.functions and "<locals>" not in c for c in callers)
        loops = any(isinstance(node, ast.For | ast.While) for node in facts.staged)
        return (
            loops
            or not helps
            or (
                recorded.calls >= FEWEST_CALLS and facts.operations >= FEWEST_OPERATIONS
            )
        )

    def _graph_functions(self) -> list[str]:
        """The functions that are graphs already, and the shells of such."""
        functions = self.module.functions
        return [
            q
            for q, d in functions.items()
            if self.session.is_graph_function(d) or self._core_of(q) in functions
        ]

    def _clashes(self, qualname: str) -> bool:
        """Whether a core of the function would take another's name, or be another class's."""
        mine = self._core_of(qualname)
        if any(
            q != qualname and self._core_of(q) == mine for q in self.module.functions
        ):
            return True
        owner = self.module.functions[qualname].owner
        if owner is None:
            return False
        name = qualname.rpartition(".")[2]
        family = [
            c for c in self.module.classes if owner.qualname in self.module.bases(c)
        ]
        family += [
            b for b in self.module.bases(owner.qualname) if b in self.module.classes
        ]
        return any(name in self.module.classes[c].methods for c in family)

    @cached_property
    def _called_by_graphs(self) -> frozenset[str]:
        """The functions that what is a graph already may run, by the names that it calls."""
        functions = self.module.functions
        found: set[str] = set()
        queue = [d for d in functions.values() if self.session.is_graph_function(d)]
        while queue:
            names = _called_names(queue.pop().original)
            for qualname, definition in functions.items():
                if qualname not in found and definition.node.name in names:
                    found.add(qualname)
                    queue.append(definition)
        return frozenset(found)

    def _core_of(self, qualname: str) -> str:
        """The qualified name that a core of the function has."""
        prefix = qualname.rpartition(".")[0]
        return (
            f"{prefix}.{self._core_name(qualname)}"
            if prefix
            else self._core_name(qualname)
        )

    def _core_name(self, qualname: str) -> str:
        return qualname.rpartition(".")[2].strip("_") + "_graph"

    def _is_decorated(
        self, facts: FunctionFacts, called: bool, lifted: Mapping[str, FunctionFacts]
    ) -> bool:
        """Whether the function is called from outside the graph, so that a graph starts here."""
        definition = facts.definition
        name = definition.node.name
        kinds = facts.kinds.values()
        if any(map(is_numpy, kinds)) and not any(map(is_strong, kinds)):
            return False
        if (
            self.session.is_graph_function(definition)
            or definition.is_property
            or definition.is_static
            or definition.is_class_method
        ):
            return False
        if "<locals>" in definition.qualname or (
            name.startswith("__") and name != "__call__"
        ):
            return False
        if not self._can_be_method(definition):
            return False
        if name in NEVER_DECORATED and self._is_keras(definition):
            return False
        recorded = self.session.recorded(definition.qualname)
        small = not facts.staged and facts.operations < FEWEST_OPERATIONS
        if recorded is None and small:
            return False
        if recorded is not None and recorded.callers:
            if not self._is_worth_it(facts, recorded):
                return False
            callers = set(self.session.recorded_callers(definition.qualname))
            return not callers <= {*lifted, *self._graph_functions()}
        return not called

    def _plan(
        self,
        facts: FunctionFacts,
        shell: Shell,
        sunk: list[ast.stmt],
        cores: dict[str, str],
        decorated: bool,
    ) -> Plan:
        definition = facts.definition
        core = cores.get(definition.qualname)
        if decorated or core:
            check_result(shell.result, definition.node)
            self._check_parameters(facts)
        elif shell.converts and definition.qualname in self.entries:
            raise Refusal(
                "eager code calls it, and it returns Python values", definition.original
            )
        else:
            shell.keeps = True
        planner = self._planner(facts, cores, shell, sunk)
        steps = planner.body()
        plan = Plan(
            definition.original, definition.qualname, steps, imports=planner.imports
        )
        plan.statements = self.first_steps.statements.get(definition.qualname, [])
        if not self._has_tensorflow() and (decorated or self._changes(plan)):
            plan.imports.add(f"tensorflow as {self.tf}")
        if decorated:
            recorded = self.session.recorded(definition.qualname)
            seen = recorded.parameters if recorded else None
            numbers = any(map(is_weak, facts.parameters.values()))
            plan.decorator = signatures.decorator(
                facts, None if numbers else seen, self.tf
            )
        if core is not None:
            plan.core = core
            texts = shell.statements(self._core_call(definition, core))
            plan.shell = [Code(text) for text in texts]
        return plan

    def _planner(
        self,
        facts: FunctionFacts,
        cores: dict[str, str],
        shell: Shell,
        sunk: list[ast.stmt],
    ) -> Planner:
        return Planner(
            self.source,
            facts,
            self.tf,
            cores,
            Names(self.source.names),
            self.options,
            shell,
            sunk,
            self.adding,
        )

    def _check_parameters(
        self, facts: FunctionFacts, built: Iterable[str] = ()
    ) -> None:
        """Refuse parameters that a `tf.function` takes otherwise than Python does; `built` have their variables."""
        for name, kind in facts.parameters.items():
            text = str(kind)
            if name not in built and any(
                isinstance(k, Object)
                and k.name.startswith(("keras.", "tensorflow.keras.optimizers"))
                for k in members(kind)
            ):
                raise Refusal(
                    f"`{name}` is {kind}: each one would make its variables anew",
                    facts.definition.node,
                    "GL305",
                )
            if (
                text.startswith(("array(", "scalar("))
                or "array(" in text
                or "scalar(" in text
            ):
                raise Refusal(
                    f"`{name}` is a NumPy array, which a graph takes as a tensor",
                    facts.definition.node,
                    "GL206",
                )
            types = {
                k.type
                for k in getattr(kind, "members", ())
                if isinstance(k, Python) and k != NONE
            }
            if len(types) > 1:
                raise Refusal(
                    f"`{name}` is {kind}: a graph takes 1, 1.0 and True for the same",
                    facts.definition.node,
                    "GL404",
                )
        if not facts.staged and number_parameters(facts):
            raise Refusal(
                "it takes a Python number, so that each value would be traced anew",
                facts.definition.node,
                "GL404",
            )

    def _has_tensorflow(self) -> bool:
        """Whether the module itself imports TensorFlow under its name."""
        return any(
            (alias.asname or alias.name) == self.tf
            for node in self.source.tree.body
            if isinstance(node, ast.Import)
            for alias in node.names
        )

    def _with_number_arguments(self, facts: FunctionFacts) -> FunctionFacts:
        """The facts with Python numbers taken as tensors, so that a new value is no new trace; else the same."""
        args = facts.definition.node.args
        numbers = number_parameters(facts)
        if not numbers or facts.staged or args.defaults or args.kwonlyargs:
            return facts
        again = self.session.analyse_core(
            facts.definition,
            {**facts.parameters, **numbers},
            facts.definition.qualname,
        )
        signed = "input_signature" in signatures.decorator(again, None, self.tf)
        return facts if again.problems or not signed else again

    def _core_call(self, definition: FunctionDefinition, core: str) -> str:
        args = definition.node.args
        names = [a.arg for a in (*args.posonlyargs, *args.args)]
        owner = ""
        if definition.owner is not None:
            owner = f"{names.pop(0)}."
        if args.vararg:
            names.append(f"*{args.vararg.arg}")
        names += [f"{a.arg}={a.arg}" for a in args.kwonlyargs]
        if args.kwarg:
            names.append(f"**{args.kwarg.arg}")
        return f"{owner}{core}({', '.join(names)})"

    def body(self, facts: FunctionFacts) -> list[Step]:
        """The body of a function that only graphs call.

        Raises:
            Refusal: it cannot be graph code.
        """
        shell = Shell.of(facts, self.tf)
        shell.keeps = True
        return self._planner(facts, {}, shell, []).body()

    def changes(self, facts: FunctionFacts) -> bool:
        """Whether a function has to read otherwise, to be called in a graph with what these facts are of."""
        try:
            return changes(self.body(facts), own_body(facts.definition.original))
        except Refusal:
            return True

    def _does_something(self, plan: Plan) -> bool:
        return self._changes(plan) or plan.decorator is not None

    def _changes(self, plan: Plan) -> bool:
        return changes(plan.steps, own_body(plan.node))


def _called_names(node: ast.AST) -> set[str]:
    """The names of what a piece of code may call; an object's call is its `__call__` or `call`."""
    found = {"__call__", "call"}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call):
            found.add(getattr(inner.func, "id", getattr(inner.func, "attr", "")))
    return found


def tensorflow_name(module: ModuleFacts) -> str:
    """How the module calls TensorFlow."""
    return next(
        (name for name, dotted in module.imports.items() if dotted == "tensorflow"),
        "tf",
    )
