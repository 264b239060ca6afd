"""Decides, for each function of a module, what lifting it will do: a plan, or a refusal with its reason."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace

from . import overriding, printing, signatures, watched
from .add_chains import adding_functions
from .building import guard, unbuilt
from .changing_state import STATE_CODES
from .codes import NAMES
from .control_dependencies import PrintOrder
from .entries import Entries, check_parameters
from .facts.agreement import agrees
from .facts.definitions import FunctionDefinition
from .facts.environment import FunctionFacts
from .facts.evaluation_operators import MADE_ANEW
from .facts.kinds import NONE, UNKNOWN, Kind, Tensor
from .facts.modules import ModuleFacts
from .facts.records import nest_methods
from .facts.session import Session
from .facts.staging import holds_tensor, is_weak
from .facts.syntax import own_body, own_nodes
from .findings import Refusal
from .first_steps import MOST_STEPS, FirstSteps
from .neighbours import Neighbours
from .nesting import taken_apart
from .options import Options
from .own_graphs import OwnGraphs
from .places import places
from .planner import Planner
from .python_results import check_result, makes_arrays, with_worked_out
from .replicas import check_replicas
from .shell import Shell
from .source import Names, Source, head_lines
from .split_plans import SplitPlanner
from .stateful import builds
from .steps import Code, Plan, Step, changes, mentioned
from .tapes import check_none_tests
from .told_refusals import Told

OPTIONAL = frozenset({"GL112", "GL407", "GL504"})
"""Rules without which code can be lifted, too."""
UNFORESEEN = frozenset({"UnboundLocalError", "NameError"})
"""Errors of Python that no graph raises."""


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
        self.tf = module.tensorflow
        self.adding = adding_functions(module)
        self.refusals: dict[str, Refusal] = {}
        self.session.refused = self.refusals
        self.first_steps = FirstSteps(
            self.session, source, options, self.tf, self.refusals, self.body
        )
        self.entries = Entries(self.session)
        self.outside: frozenset[str] = frozenset()
        self.needs: set[str] = set()
        self.first: Mapping[str, FunctionFacts] = {}
        self.left_out: Mapping[str, Refusal] = {}
        self.helpers: dict[str, Refusal] = {}
        """Functions that are no graphs of their own, but may be called in one, and why."""
        self.small: dict[str, Refusal] = {}
        """Functions for which a graph does not pay, though a tensor decides what they do."""
        self.print_order = PrintOrder(self.session, graphs=())
        self.graphs: OwnGraphs
        """Which functions are graphs of their own, as it was last found."""
        self.showing: set[str] = set()
        """Functions that print behind their graphs."""

    def plan(self) -> ModulePlan:
        with self.neighbours.planning(self.path):
            return self._planned()

    def _planned(self) -> ModulePlan:
        self.first = dict(self.session.analyse())
        self.left_out = self._left_out()
        self.refusals |= self.left_out
        while True:
            facts, lifted = self._candidates()
            refused = len(self.refusals)
            plans = self._plans(lifted)
            if len(self.refusals) == refused:
                break
        plans = [p for p in plans if self._does_something(p)]
        splits = SplitPlanner(self).plans(facts, plans)
        replaced = {p.qualname for p in splits}
        plans = [*(p for p in plans if p.qualname not in replaced), *splits]
        plans = [self._as_called(p, plans) for p in plans]
        plans = [p for p in plans if p.loop or self._does_something(p)]
        for plan in plans:
            plan.methods = self._nest_methods(plan)
        planned = {plan.qualname for plan in plans}
        plans = [p for p in plans if not self._is_inside(p, planned)]
        told = Told(self.session, self.entries, planned)
        refusals = told.of(self.refusals, self.helpers, self.small)
        return ModulePlan(plans, refusals, self.first, frozenset(self.needs))

    def _as_called(self, plan: Plan, plans: list[Plan]) -> Plan:
        """A plan as its function was seen to be called: no graph of its own where only graphs do that."""
        graphs = {p.qualname: p for p in plans}
        callers = self.session.recorded_callers(plan.qualname)
        name = plan.node.name
        alone = bool(callers) and all(
            c in graphs and name not in mentioned(graphs[c].shell) for c in callers
        )
        own = plan.decorator and plan.core is None and alone
        return replace(plan, decorator=None) if own else plan

    def _is_inside(self, plan: Plan, planned: set[str]) -> bool:
        """Whether a function stands in one of those planned, which write what is in them."""
        around = self.module.functions[plan.qualname].parent
        while around is not None and around.qualname not in planned:
            around = around.parent
        return around is not None

    def _nest_methods(self, plan: Plan) -> dict[ast.ClassDef, str]:
        """The methods that dataclasses need for a graph to take their instances apart, where they have none."""
        facts, found = self.session.known(plan.qualname), {}
        if facts is None:
            return {}
        for name in sorted(taken_apart(facts, plan)):
            made = self.session.class_of(name)
            fields = self.session.dataclasses.get(self.session.qualname(name))
            if made and fields and "__tf_flatten__" not in made.methods:
                found[made.node] = nest_methods(fields)
        return found

    def _left_out(self) -> dict[str, Refusal]:
        """The functions of which a rule that is not to be applied would change something, or whose tapes know more than a graph's."""
        found = {
            qualname: refusal
            for qualname, facts in self.first.items()
            if (
                refusal := _asked_identity(facts)
                or watched.obstacle(facts, self.session)
            )
        }
        if not (self.options.select or self.options.ignore or self.source.exempted):
            return found
        for qualname, facts in self.first.items():
            definition = facts.definition.original
            if self.source.exempts("GL401", *head_lines(definition)):
                reason = "a comment says that it is to be no graph"
                found[qualname] = Refusal(reason, definition)
            for code, node, _ in places(facts):
                if code not in OPTIONAL and not self._applies(code, node):
                    reason = (
                        f"{code} {NAMES[code]} is not to be applied, and it needs that"
                    )
                    found.setdefault(qualname, Refusal(reason, node, code))
        return found

    def _applies(self, code: str, node: ast.expr | ast.stmt) -> bool:
        exempt = self.source.exempts(code, *head_lines(node))
        return self.options.enabled(code) and not exempt

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
            if outside <= self.outside and len(self.refusals) == refused:
                return facts, lifted
            self.outside |= outside

    # ---- bodies without what hinders

    def _without_obstacles(self) -> Mapping[str, FunctionFacts]:
        """The facts after Variables are hoisted and exits are values, to a fixpoint over the functions."""
        for _ in range(MOST_STEPS):
            facts = dict(self.session.analyse(self.outside))
            refused = len(self.refusals)
            steps = self.first_steps
            changed = [q for q, found in facts.items() if steps.take(found)]
            if not changed and len(self.refusals) == refused:
                changed = [q for q, found in facts.items() if steps.finish(found)]
            if not changed and len(self.refusals) == refused:
                return facts
        for qualname in changed:
            self.refusals[qualname] = Refusal(
                "it takes too many steps to lift",
                self.module.functions[qualname].original,
            )
        return self.session.analyse(self.outside)

    # ---- which functions

    def _may_lift(self, facts: FunctionFacts) -> bool:
        definition = facts.definition
        if (
            definition.qualname in self.refusals
            or self.entries.core_of(definition.qualname) in self.module.functions
        ):
            return False
        if self.session.is_graph_function(definition) and (
            not facts.staged or "autograph=False" in "".join(definition.decorators)
        ):
            return False
        works = facts.operations or facts.staged
        if facts.problems:
            hindered = works or _is_steered(facts) or self._was_seen_to_work(facts)
            hindered = hindered and not self.entries.is_graphs_own(definition.qualname)
            if hindered and definition.node.name != "__init__":
                self.refusals[definition.qualname] = facts.problems[0]
            return False
        works = works or "stdout" in facts.effects
        works = works or _reads_tensors(facts)
        if not works:
            return False
        obstacle = self.call_obstacle(facts) or self.unexpected(
            definition, facts.result
        )
        if obstacle is not None:
            self.refusals[definition.qualname] = obstacle
        return obstacle is None

    def _was_seen_to_work(self, facts: FunctionFacts) -> bool:
        """Whether a function was seen to return tensors that operators make of what is not known."""
        recorded = self.session.recorded(facts.definition.qualname)
        return (
            recorded is not None
            and holds_tensor(recorded.returns)
            and any(
                isinstance(node, ast.Return)
                and isinstance(node.value, ast.BinOp | ast.UnaryOp)
                and facts.kind(node.value) == UNKNOWN
                for node in own_nodes(facts.definition.node)
            )
        )

    def unexpected(
        self, definition: FunctionDefinition, result: Kind
    ) -> Refusal | None:
        """What the recorded run saw a function return or raise though nothing here says so, if it did."""
        recorded = self.session.recorded(definition.qualname)
        if recorded is None:
            return None
        raised = UNFORESEEN & set(recorded.raises)
        if raised:
            reason = f"it was seen to raise {min(raised)}"
        elif recorded.returns == UNKNOWN and recorded.raises:
            reason = f"each recorded call of it raised {recorded.raises[0]}"
        elif definition.tags or agrees(result, recorded.returns):
            return None
        else:
            reason = f"it was seen to return {recorded.returns}, where {result} was to be expected"
        return Refusal(reason, definition.original)

    def call_obstacle(self, facts: FunctionFacts) -> Refusal | None:
        """Why what it calls keeps it from being a graph, if it does: other modules', methods of other classes, graphs already."""
        for made, qualname in facts.calls.items():
            reason = self._signature_obstacle(qualname)
            if reason is not None:
                return Refusal(f"it calls `{qualname}`: {reason}", made)
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
        return overriding.obstacle(facts, self.session)

    def _signature_obstacle(self, qualname: str) -> str | None:
        """Why a graph may not call a function that is one already, if it may not."""
        definition, facts = (
            self.module.functions[qualname],
            self.session.known(qualname),
        )
        if facts is None or not self.session.is_graph_function(definition):
            return None
        return signatures.too_tight(definition.decorators, facts)

    def _plans(self, lifted: Mapping[str, FunctionFacts]) -> list[Plan]:
        graphs = OwnGraphs(self.session, self.entries, self.first_steps, lifted)
        self.graphs = graphs
        self.print_order = PrintOrder(self.session, graphs.own)
        self.small |= graphs.seldom
        shells = self._shells(graphs)
        sunk = {
            q: printing.sinks(graphs.facts[q])
            for q in shells
            if q in graphs.own and q not in graphs.called
        }
        self.showing = {qualname for qualname, prints in sunk.items() if prints}
        cores = self._core_names(graphs, shells)
        plans = []
        for qualname, shell in shells.items():
            if qualname not in self.refusals:
                plan = self._plan_or_refuse(
                    graphs.facts[qualname], shell, sunk.get(qualname, []), cores
                )
                plans += [plan] if plan is not None else []
        return plans

    def _shells(self, graphs: OwnGraphs) -> dict[str, Shell]:
        """The shells of the functions that will be graphs, or be called by them."""
        shells: dict[str, Shell] = {}
        for qualname, facts in graphs.facts.items():
            works = facts.operations or facts.staged or qualname in graphs.called
            if facts.definition.is_inner or not works:
                continue
            shell = Shell.of(facts, self.tf)
            if graphs.is_idle(facts):
                self._leave_idle(facts)
            elif qualname in graphs.called and (
                shell.tags or (qualname in graphs.own and makes_arrays(shell.result))
            ):
                self.refusals[qualname] = _uncallable(shell, facts.definition)
            else:
                shells[qualname] = shell
        return shells

    def _leave_idle(self, facts: FunctionFacts) -> None:
        """Note why a function stays as it is which no graph runs."""
        qualname = facts.definition.qualname
        if facts.definition.has_gradient and facts.staged:
            self.refusals[qualname] = Refusal(
                "with a gradient of its own it is no graph by itself: call it in one",
                facts.definition.original,
            )
        elif facts.staged and not self.entries.is_worth_it(facts):
            self.small[qualname] = _too_small(facts)

    def _core_names(
        self, graphs: OwnGraphs, shells: Mapping[str, Shell]
    ) -> dict[str, str]:
        """The names of cores, of the functions around which Python has something left to do."""
        cores: dict[str, str] = {}
        for qualname, shell in shells.items():
            facts = graphs.facts[qualname]
            outside = (
                shell.converts
                or qualname in self.showing
                or unbuilt(self.session, facts)
                or qualname in graphs.given
            )
            if not outside or qualname not in graphs.own:
                continue
            if self.entries.clashes(qualname):
                self.refusals[qualname] = Refusal(
                    "another method would get the name of its core",
                    facts.definition.original,
                )
            else:
                cores[qualname] = self.entries.core_name(qualname)
        return cores

    def _plan_or_refuse(
        self,
        facts: FunctionFacts,
        shell: Shell,
        sunk: list[ast.stmt],
        cores: dict[str, str],
    ) -> Plan | None:
        """The plan of a function, if there is one; else it is noted why not."""
        qualname = facts.definition.qualname
        try:
            return self._plan(facts, shell, sunk, cores, qualname in self.graphs.own)
        except Refusal as refusal:
            alone = qualname not in cores and qualname in self.graphs.called
            plan = self._for_graphs(facts, refusal) if alone else None
            (self.refusals if plan is None else self.helpers)[qualname] = refusal
            return plan

    def _for_graphs(self, facts: FunctionFacts, refusal: Refusal) -> Plan | None:
        """The plan of a function that can be no graph of its own for what it is given, and still be called in one."""
        if refusal.code not in ("GL305", "GL404"):
            return None
        shell = Shell.of(facts, self.tf)
        try:
            plan = self._plan(facts, shell, [], {}, False)
        except Refusal:
            return None
        eager = facts.definition.qualname in self.outside | self.graphs.by_eager
        return None if eager and self._changes(plan) else plan

    def _plan(
        self,
        facts: FunctionFacts,
        shell: Shell,
        sunk: list[ast.stmt],
        cores: dict[str, str],
        decorated: bool,
    ) -> Plan:
        definition = facts.definition
        qualname = definition.qualname
        core = cores.get(qualname)
        if decorated or core:
            shell.result = with_worked_out(shell.result)
            check_result(shell.result, definition.node)
            check_parameters(facts)
            if builds(facts):
                reason = "the optimizer that it is given needs its variables before"
                raise Refusal(reason, definition.node, "GL305")
            self.entries.check(facts)
            recorded = self.session.recorded(qualname)
            check_none_tests(facts, definition.original, recorded)
            check_replicas(facts, definition, self.session, is_whole=core is None)
        elif shell.converts and (
            definition.is_operator or qualname in self.outside | self.graphs.by_eager
        ):
            raise Refusal(
                "eager code calls it, and it returns Python values", definition.original
            )
        else:
            shell.keeps = True
        decorator = self._decorator(facts) if decorated else None
        planner = self.body_planner(facts, cores, shell, sunk, decorator)
        steps = planner.body()
        plan = Plan(definition.original, qualname, steps, imports=planner.imports)
        plan.statements = self.first_steps.statements.get(qualname, [])
        if not self.source.imports(self.tf) and (decorated or self._changes(plan)):
            plan.imports.add(f"tensorflow as {self.tf}")
        plan.decorator = decorator
        if core is not None:
            plan.core = core
            call = self._core_call(facts, core, "input_signature" in (decorator or ""))
            if qualname in self.graphs.given:
                plan.parameters, plan.is_static = list(facts.parameters), True
            chosen, call = self.guarded(facts, call, ())
            plain = not shell.converts and not sunk and shell.result != NONE
            texts = [f"return {call}"] if plain else shell.statements(call)
            plan.shell = [Code(text) for text in (*chosen, *texts)]
            plan.tensors = frozenset(shell.extra)
        return plan

    def guarded(
        self,
        facts: FunctionFacts,
        call: str,
        given: Iterable[str],
        built: Container[str] = (),
    ) -> tuple[list[str], str]:
        """What stands before the call of a core, and the call, where Python runs what has no variables yet.

        The core is `given` these texts, for its parameters in their order but for its receiver.
        """
        core, _, arguments = call.partition("(")
        names = [n for n in facts.parameters if n != facts.definition.receiver]
        texts = dict(zip(names, given, strict=False))
        chosen = guard(self.session, facts, core, texts, built)
        if chosen is None:
            return [], call
        name = Names.local_to(facts.definition, self.module).fresh("run")
        indent = 8 if facts.definition.owner else 4
        if indent + len(f"{name} = {chosen}") > self.options.line_length:
            chosen = f"({chosen})"
        return [f"{name} = {chosen}"], f"{name}({arguments}"

    def _decorator(self, facts: FunctionFacts) -> str:
        recorded = self.session.recorded(facts.definition.qualname)
        seen = recorded.parameters if recorded else None
        numbers = any(map(is_weak, facts.parameters.values()))
        if facts.definition.qualname in self.graphs.given:
            seen = facts.parameters
        return signatures.decorator(facts, None if numbers else seen, self.tf)

    def body_planner(
        self,
        facts: FunctionFacts,
        cores: dict[str, str],
        shell: Shell,
        sunk: list[ast.stmt],
        decorator: str | None = None,
    ) -> Planner:
        original = facts.definition.original
        if self.tf in _set_names(original):
            raise Refusal(f"`{self.tf}` is something else in it", original)
        return Planner(
            self.source,
            facts,
            self.tf,
            cores,
            Names.local_to(facts.definition, self.module),
            self.options,
            shell,
            sunk,
            self.adding,
            "input_signature" in (decorator or ""),
            self.print_order,
        )

    def _core_call(self, facts: FunctionFacts, core: str, signed: bool) -> str:
        definition = facts.definition
        args = definition.node.args
        owner = (
            definition.called_as.rpartition(".")[0] + "." if definition.owner else ""
        )
        names = [a.arg for a in (*args.posonlyargs, *args.args)]
        names = [n for n in names if n != definition.receiver]
        texts = self.graphs.given.get(definition.qualname, names)
        if not signed:
            given = facts.parameters
            pairs = zip(texts, names, strict=True)
            texts = [signatures.argument(t, given.get(n), self.tf) for t, n in pairs]
        names = list(texts)
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
        return self.body_planner(facts, {}, shell, []).body()

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


def _asked_identity(facts: FunctionFacts) -> Refusal | None:
    """Why a function stays eager that asks, here or in what it calls, whether two tensors are one: none out of a graph is."""
    asked = facts.effects.get("identity")
    return Refusal(MADE_ANEW, asked[0], "GL103") if asked else None


def _reads_tensors(facts: FunctionFacts) -> bool:
    """Whether a function makes Python's values of tensors, as `float(t)` and `t.numpy()` do."""
    return any(
        isinstance(node, ast.Call)
        and node not in facts.calls
        and isinstance(kind, Tensor)
        and kind.weak is not None
        for node, kind in facts.kinds.items()
    )


def _is_steered(facts: FunctionFacts) -> bool:
    """Whether a function passes tensors on to what state of Python's chooses."""
    passed = (
        argument
        for call in own_nodes(facts.definition.node)
        if isinstance(call, ast.Call) and facts.kind(call) == UNKNOWN
        for argument in (*call.args, *(k.value for k in call.keywords))
    )
    return facts.problems[0].code in STATE_CODES and any(
        holds_tensor(facts.kind(argument)) for argument in passed
    )


def _set_names(node: ast.AST) -> set[str]:
    """The names of variables and parameters that a function sets anywhere inside."""
    found = {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
    return found | {
        n.id
        for n in ast.walk(node)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }


def _too_small(facts: FunctionFacts) -> Refusal:
    return Refusal(
        "its callers stay eager, and it is called too seldom and does too little for a graph to pay",
        facts.definition.original,
        way_out="put `@tf.function` on it to have it lifted all the same",
    )


def _uncallable(shell: Shell, definition: FunctionDefinition) -> Refusal:
    """Why graphs cannot call what its shell tells of."""
    node = definition.original
    if shell.failure or any(form.failure for form in shell.forms):
        reason = "it raises where a tensor says so, and graphs call it"
        return Refusal(reason, node, "GL108")
    if not shell.tags:
        reason = "it returns a TensorArray to eager code, which no graph can give it, and graphs call it"
        return Refusal(reason, node, way_out="return what `stack` gives of it")
    reason = "it returns a Python number or a tensor, and graphs call it"
    return Refusal(reason, node)
