"""Plans for functions that stay Python around a graph: a shell under the function's name, and its core."""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from . import signatures, stateful, watched
from .codes import WAYS_OUT
from .core_trials import Split
from .draws import CODES
from .entries import (
    FEWEST_CALLS,
    FEWEST_OPERATIONS,
    check_parameters,
    work,
)
from .extraction import operations
from .facts.definitions import FunctionDefinition
from .facts.environment import FunctionFacts
from .facts.kinds import NONE, UNKNOWN, Tensor, Variable
from .facts.modules import FUNCTION_PARTS
from .facts.profile import FunctionNode
from .facts.staging import holds_variable, is_tensor, may_hold_tensor
from .facts.syntax import called_names, names_in, own_body
from .findings import Refusal
from .first_steps import number_parameters
from .inline_steps import headers
from .keras_calls import is_called_by_python
from .late_binding import check_read_later
from .ordering import WAITS
from .parts import has_try, in_parts
from .paying import FEWEST_RUNS, DoesNotPay, made_inside, too_seldom
from .python_results import check_result, with_worked_out
from .replaying import is_replay
from .replicas import check_replicas
from .shell import Shell
from .short_lived import is_made_anew
from .source import double_quoted, is_placed, made_text
from .split import split
from .step_plans import StepPlanner
from .steps import Code, Compound, Core, Keep, Plan, Step, mentioned
from .tapes import check_none_tests

if TYPE_CHECKING:
    from .plan import ModulePlanner
    from .planner import Planner

MOST_OUTSIDE = 1 / 3
"""Of the tensor work of a function, for its split to pay."""
NUMBERS = frozenset({"int", "float", "bool"})
"""Python's numbers, where a graph holds them in tensors."""
CURED = WAITS | CODES | {"GL108", "GL301", "GL302", "GL303", "GL304"}
"""Rules of what Python does in its order, before a graph or after it."""


class SplitPlanner:
    """Plans the splits of one module's functions."""

    def __init__(self, planner: ModulePlanner) -> None:
        self.planner = planner
        self.session = planner.session
        self.module = planner.module
        self.entries = planner.entries
        self.refusals = planner.refusals
        self._split_version: dict[str, FunctionFacts] = {}
        self.first_steps = planner.first_steps
        self.whole: set[str] = set()
        """The functions that are lifted whole."""

    def plans(
        self, facts: Mapping[str, FunctionFacts], lifted: list[Plan]
    ) -> list[Plan]:
        """Plans for functions that stay Python around a graph, beside those that are lifted whole."""
        plans: list[Plan] = []
        absorbed: list[str] = []
        cores = {p.qualname: p.core for p in lifted if p.core}
        whole = self.whole = {p.qualname for p in lifted} - self.planner.graphs.frozen
        callers_first = sorted(facts, key=lambda q: not self._absorbed(facts[q]))
        for qualname in callers_first:
            found = facts[qualname]
            planned = whole | {p.qualname for p in plans}
            if (
                (qualname in whole and not self._shows(found, facts))
                or not self._may_split(found)
                or self.entries.clashes(qualname)
            ):
                continue
            if self._is_absorbed(qualname, facts, planned):
                absorbed.append(qualname)
                continue
            plan = self._plan(found, cores)
            if plan is not None:
                plans.append(plan)
            elif qualname in whole:
                self.refusals.pop(qualname, None)
        done = {*absorbed, *(p.qualname for p in plans)}
        graphs = whole | self._of_one_graph(plans)
        plans += StepPlanner(self, graphs).plans(facts, {*whole, *done}, cores)
        rest = {q: f for q, f in facts.items() if q not in absorbed}
        plans = self._cut(rest, plans, cores)
        for qualname in (*absorbed, *(p.qualname for p in plans)):
            self.refusals.pop(qualname, None)
        return plans

    def _of_one_graph(self, plans: list[Plan]) -> set[str]:
        """The functions around a graph whose Python calls no other function of the module."""
        names = {q.rpartition(".")[2] for q in self.module.functions}
        return {p.qualname for p in plans if not names & mentioned(p.shell)}

    def _shows(self, found: FunctionFacts, facts: Mapping[str, FunctionFacts]) -> bool:
        """Whether a function that no other calls prints something that would wait for its graph, to show it as Python does."""
        qualname = found.definition.qualname
        called = any(qualname in f.calls.values() for f in facts.values())
        return not called and any(map(is_replay, found.definition.node.body))

    def versions(self, facts: FunctionFacts) -> list[FunctionFacts]:
        """The function with calls inlined and without, in the order in which they are worth a try.

        What is Python's alone stays a call where it can. The last one leaves the errors of Python's numbers to Python.
        """
        qualname = facts.definition.qualname
        unchecked = self.first_steps.unchecked.get(qualname)
        last = [] if unchecked is None else [self._version(facts, unchecked)]
        earlier = self.first_steps.with_calls.get(qualname)
        if earlier is None:
            return [facts, *last]
        other = self._version(facts, earlier)
        absorbed = self._absorbed(facts)
        known = filter(None, map(self.session.known, absorbed))
        works = any(inner.operations for inner in known)
        inside = [n for s in other.staged for n in ast.walk(s)]
        works = works or any(
            q in absorbed and n in inside for n, q in other.calls.items()
        )
        return [facts, other, *last] if works else [other, facts, *last]

    def _version(self, facts: FunctionFacts, body: FunctionNode) -> FunctionFacts:
        """The function with another body."""
        definition = copy.copy(facts.definition)
        definition.node = body
        return self.session.analyse_core(
            definition, facts.parameters, definition.qualname
        )

    def _first_split(self, found: FunctionFacts, cores: dict[str, str]) -> Plan | None:
        """The plan of the first version that can be split; notes why the last one cannot."""
        qualname = found.definition.qualname
        name = self.entries.core_name(qualname)
        ways = self._ways(found)
        for facts in self.versions(found):
            choices = self._number_choices(facts)
            for apart, numbers in product(ways, choices):
                core = self.first_steps.core
                before = self.session.state()
                try:
                    parts = split(self.session, facts, name, core, numbers, apart)
                    if parts is not None:
                        plan = self._split_plan(facts, parts, name, cores)
                        self._split_version[qualname] = facts
                        return plan
                except Refusal as refusal:
                    if refusal.code != "GL404" or numbers == choices[0]:
                        self._note(qualname, refusal)
                self.session.restore(before)
        return None

    def _ways(self, facts: FunctionFacts) -> tuple[bool, ...]:
        """Whether graphs of a method are to be apart from its object: what is best first."""
        anew = is_made_anew(self.session, facts.definition.owner)
        return (True, False) if anew else (False,)

    def _note(self, qualname: str, refusal: Refusal) -> None:
        """Have a function tell why it is not split, where a split is what cures it."""
        first = self.refusals.get(qualname)
        if qualname in self.planner.helpers or qualname in self.planner.graphs.frozen:
            return
        if isinstance(refusal, DoesNotPay):
            if refusal.way_out:
                self.refusals[qualname] = refusal
            return
        if first is None:
            self.refusals[qualname] = refusal
        elif first.code in CURED:
            vague = refusal.code == "GL401" and first.code != "GL304"
            code = first.code if vague else refusal.code
            node = refusal.node or first.node
            way_out = refusal.way_out or WAYS_OUT.get(refusal.code, "")
            self.refusals[qualname] = Refusal(refusal.reason, node, code, way_out)

    def _number_choices(self, facts: FunctionFacts) -> list[Collection[str]]:
        """The parameters that are numbers of Python's, to be taken as tensors if that can be; else as they are."""
        numbers = number_parameters(facts)
        if facts.definition.qualname in self.planner.graphs.frozen:
            return [numbers]
        return [numbers, ()] if numbers else [()]

    def _plan(self, facts: FunctionFacts, cores: dict[str, str]) -> Plan | None:
        around = self._in_parts(facts, cores) if has_try(self, facts) else None
        if around is not None or facts.definition.failures:
            return around
        return self._first_split(facts, cores)

    def _cut(
        self,
        facts: Mapping[str, FunctionFacts],
        plans: list[Plan],
        cores: dict[str, str],
    ) -> list[Plan]:
        """The plans, with functions in parts where else much of their work would stay outside a graph."""
        found = {p.qualname: p for p in plans}
        for qualname, known in facts.items():
            plan = found.get(qualname)
            if plan is None and (qualname in self.whole or not self._may_split(known)):
                continue
            if plan is not None and plan.outside <= MOST_OUTSIDE:
                continue
            before, refusal = self.session.state(), self.refusals.get(qualname)
            parts = self._in_parts(known, cores)
            if parts is not None:
                found[qualname] = parts
                continue
            self.session.restore(before)
            if refusal is not None:
                self.refusals[qualname] = refusal
        return list(found.values())

    def _in_parts(self, facts: FunctionFacts, cores: dict[str, str]) -> Plan | None:
        plans = (self._parts(facts, cores, apart) for apart in self._ways(facts))
        return next(filter(None, plans), None)

    def _parts(
        self, facts: FunctionFacts, cores: dict[str, str], apart: bool
    ) -> Plan | None:
        before = self.session.state()
        try:
            unexpected = self.planner.unexpected(facts.definition, facts.result)
            if unexpected is not None:
                raise unexpected
            plan = in_parts(self, facts, cores, apart)
            if plan is not None and plan.outside > MOST_OUTSIDE:
                raise Refusal(
                    "most of its tensor work stands where no graph can do it",
                    facts.definition.original,
                )
            return plan
        except Refusal as refusal:
            self.session.restore(before)
            self.refusals[facts.definition.qualname] = refusal
            return None

    def _absorbed(self, facts: FunctionFacts) -> set[str]:
        """The functions that this one called, and now does the work of itself."""
        definition = facts.definition
        first = self.planner.first.get(definition.qualname)
        if first is None or definition.node is definition.original:
            return set()
        before = {*first.calls.values(), *first.generators.values()}
        return before - {*facts.calls.values(), *facts.generators.values()}

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
        if self.entries.core_of(caller) in self.module.functions:
            names = (caller, self.entries.core_of(caller))
            return all(
                called not in facts[n].calls.values() for n in names if n in facts
            )
        definition = self.module.functions.get(caller)
        if definition and self.session.is_graph_function(definition):
            name = called.rpartition(".")[2]
            return name not in called_names(definition.original)
        version = self._split_version.get(caller) or facts.get(caller)
        return (
            caller in planned
            and version is not None
            and called in self._absorbed(version)
        )

    def may_surround(self, facts: FunctionFacts) -> bool:
        """Whether a function may stay Python around a graph, by what it is."""
        definition = facts.definition
        qualname = definition.qualname
        return not (
            qualname in self.planner.left_out
            or definition.is_coroutine
            or self.session.recorded(qualname) is None
            or self.session.is_graph_function(definition)
            or self.entries.core_of(qualname) in self.module.functions
            or (
                self.entries.is_called_by_keras(definition)
                and not is_called_by_python(definition, self.session)
            )
            or self.entries.is_pythons(facts)
        )

    def _may_split(self, facts: FunctionFacts) -> bool:
        definition = facts.definition
        hindered = (
            facts.problems
            or definition.qualname in {**self.refusals, **self.planner.helpers}
            or definition.qualname in self.planner.graphs.frozen
            or definition.qualname in self.planner.graphs.seldom
            or holds_variable(facts.result)
            or stateful.optimizer_parameters(facts)
            or any(map(is_replay, definition.node.body))
        )
        if not hindered or not (facts.operations or facts.staged):
            return False
        told = definition.tags or definition.failure is not None
        if told or definition.is_operator:
            return False
        if definition.is_inner:
            return False
        return (
            self.may_surround(facts)
            and self.entries.can_be_method(definition)
            and not self.entries.is_graphs_own(definition.qualname)
        )

    def core(
        self, facts: FunctionFacts, parts: Split, cores: dict[str, str]
    ) -> tuple[FunctionFacts, Shell, Planner]:
        """The facts of a core, what its results become in Python, and what plans its body.

        Raises:
            Refusal: it cannot be graph code.
        """
        core = self.session.analyse_core(
            parts.core, parts.kinds, facts.definition.qualname
        )
        self._check_pays(core, facts)
        check_replicas(core, facts.definition, self.session)
        obstacle = self.planner.call_obstacle(core)
        if obstacle is not None:
            raise obstacle
        for called in core.calls.values():
            if self.module.functions[called].tags:
                raise Refusal(
                    f"it calls `{called}`, which gives a Python value or a tensor",
                    facts.definition.original,
                )
            if called in self.planner.showing:
                raise Refusal(
                    f"it calls `{called}`, which prints behind its graph",
                    facts.definition.original,
                    way_out="print in the functions around, or return what is to be printed",
                )
            if not self._may_be_called(called):
                raise Refusal(
                    f"it calls `{called}`, which stays Python's",
                    facts.definition.original,
                )
        shell = Shell.of_split(core.result, parts, self.planner.tf)
        shell.result = with_worked_out(shell.result)
        if "exhausts" in core.effects:
            raise Refusal(
                "`next` at the end raises another error in a graph",
                core.effects["exhausts"][0],
                "GL106",
            )
        check_result(shell.result, parts.core.node)
        recorded = self.session.recorded(facts.definition.qualname)
        check_none_tests(core, facts.definition.original, recorded)
        decorator = signatures.decorator(core, None, self.planner.tf)
        planner = self.planner.body_planner(core, cores, shell, [], decorator)
        return core, shell, planner

    def _check_pays(self, core: FunctionFacts, facts: FunctionFacts) -> None:
        """Refuse a graph of Python's numbers alone, and a small one in a function that makes its tensors and seldom runs.

        Raises:
            DoesNotPay: it is one of these.
        """
        original = facts.definition.original
        made = (
            k
            for n, k in core.kinds.items()
            if not isinstance(n, ast.Name | ast.Attribute)
        )
        if all(getattr(k, "weak", None) in NUMBERS for k in filter(is_tensor, made)):
            raise DoesNotPay("it computes with Python's numbers", original)
        recorded = self.session.recorded(facts.definition.qualname)
        seldom = recorded is not None and recorded.calls < FEWEST_CALLS
        if seldom and _is_small(core) and not self._is_given_tensors(core, facts):
            raise DoesNotPay("its tensor work is too little to pay", original)

    def check_traces(
        self, core: FunctionFacts, facts: FunctionFacts, trips: int = 1
    ) -> None:
        """Refuse a graph that is traced for each of many objects or numbers, and runs too seldom for each.

        Raises:
            DoesNotPay: it is one.
        """
        inside = made_inside(self.session, core, facts)
        helper = self.entries.is_helper(facts.definition)
        refusal = too_seldom(
            self.session, core, facts.definition, trips, helper, inside
        )
        if refusal is not None:
            raise refusal

    def _is_given_tensors(self, core: FunctionFacts, facts: FunctionFacts) -> bool:
        """Whether tensors or Variables come to a function from outside, as its arguments, in globals or in attributes."""
        return any(map(may_hold_tensor, facts.parameters.values())) or any(
            is_tensor(kind)
            and (
                isinstance(kind, Variable)
                or isinstance(node, ast.Attribute)
                or (isinstance(node, ast.Name) and node.id in self.module.globals)
            )
            for node, kind in core.kinds.items()
        )

    def _may_be_called(self, qualname: str) -> bool:
        """Whether a function reads as a graph needs it, lifted or as it is."""
        definition = self.module.functions[qualname]
        if qualname in self.whole or "<locals>" in qualname:
            return True
        facts = self.session.known(qualname)
        return (
            facts is None
            or self.session.is_graph_function(definition)
            or not self.planner.changes(facts)
        )

    def _split_plan(
        self, facts: FunctionFacts, parts: Split, name: str, cores: dict[str, str]
    ) -> Plan:
        core, shell, planner = self.core(facts, parts, cores)
        outside = operations(facts, [*parts.before, *parts.after])
        self._check_worth(core, facts, outside)
        self._check_split(core, facts, parts, shell)
        steps = planner.body()
        definition = facts.definition
        decorator = signatures.decorator(core, dict(parts.kinds), self.planner.tf)
        static = parts.core.is_static
        graph = Core(name, list(parts.kinds), steps, decorator, static)
        plan = self.new_plan(definition, graph, planner.imports)
        plan.outside = outside / max(1, operations(facts, own_body(definition.node)))
        if plan.outside > MOST_OUTSIDE and core.operations < 2 and not core.staged:
            raise DoesNotPay("a graph of one operation costs more than it saves")
        return self._with_shell(plan, core, parts, shell)

    def _check_worth(
        self, core: FunctionFacts, facts: FunctionFacts, outside: int
    ) -> None:
        """Refuse a core that does too little of the work of its function, or too little for each of its calls.

        Raises:
            Refusal: it is one.
        """
        self.check_traces(core, facts)
        original = facts.definition.original
        recorded = self.session.recorded(facts.definition.qualname)
        often = recorded is not None and recorded.calls >= FEWEST_RUNS
        if often and _is_small(core) and self.entries.is_helper(facts.definition):
            reason = "each call of a graph would cost more than its few operations"
            raise DoesNotPay(reason, original)
        if outside and not self._is_worth_it(core, facts):
            reason = "most of its tensor work stands where no graph can do it"
            raise Refusal(reason, original)

    def _check_split(
        self, core: FunctionFacts, facts: FunctionFacts, parts: Split, shell: Shell
    ) -> None:
        """Refuse a split that would not give what eager mode gives.

        Raises:
            Refusal: it is one.
        """
        returns_here = any(isinstance(s, ast.Return) for s in parts.after)
        result = UNKNOWN if returns_here or shell.told else shell.result
        unexpected = self.planner.unexpected(facts.definition, result)
        if unexpected is not None:
            raise unexpected
        check_parameters(core)
        self.entries.check(core, parts.new)
        one = watched.crossing(core, facts, self.session)
        if one is not None:
            raise one
        check_read_later([*parts.before, *parts.after], parts.core.node, parts.given)

    def _with_shell(
        self, plan: Plan, core: FunctionFacts, parts: Split, shell: Shell
    ) -> Plan:
        """The plan with the statements of its shell; without one where that would only pass on what it is given."""
        call = self.call(parts, plan.decorator or "")
        given = [text for text, _ in parts.arguments]
        built = stateful.built(parts.before)
        guard, call = self.planner.guarded(core, call, given, built)
        simple = not shell.kinds and not parts.after
        plain = simple and not shell.converts and shell.result != NONE
        if plain and not guard and self._only_passes_on(plan, parts):
            return replace(plan, core=None, parameters=None)
        if plain:
            texts = [f"return {call}"]
        else:
            texts = shell.statements(call) if simple else shell.calls(call)
        plan.shell = [*map(Keep, parts.before), *map(Code, (*guard, *texts))]
        if not simple:
            plan.shell += [
                *map(self.outside, parts.after),
                *map(Code, shell.closing()),
            ]
            tensors = (n for n, k in shell.kinds.items() if isinstance(k, Tensor))
            plan.tensors = frozenset(tensors)
        return plan

    def new_plan(
        self, definition: FunctionDefinition, core: Core, imports: set[str]
    ) -> Plan:
        """The plan of a function around a core, its shell not written yet."""
        plan = Plan(
            definition.original,
            definition.qualname,
            core.steps,
            core.decorator,
            core.name,
            parameters=core.parameters,
            is_static=core.is_static,
            statements=self.first_steps.statements.get(definition.qualname, []),
            imports=set(imports),
        )
        if not self.planner.source.imports(self.planner.tf):
            plan.imports.add(f"tensorflow as {self.planner.tf}")
        return plan

    def call(self, parts: Split, decorator: str) -> str:
        """The text of the call of a core; without a signature, a number is made a tensor for it."""
        signed = "input_signature" in decorator
        tf = self.planner.tf
        given = [
            text if signed else signatures.argument(text, kind, tf)
            for text, kind in parts.arguments
        ]
        return f"{parts.core.called_as}({', '.join(given)})"

    def _is_worth_it(self, core: FunctionFacts, facts: FunctionFacts) -> bool:
        """Whether a core does enough of the work of a function that is called often to be worth a call."""
        recorded = self.session.recorded(facts.definition.qualname)
        loops = any(isinstance(n, ast.For | ast.While) for n in core.staged)
        return (
            loops
            or core.operations >= FEWEST_OPERATIONS
            or 2 * core.operations >= facts.operations + facts.in_graphs
            or (recorded is not None and recorded.calls <= FEWEST_CALLS)
        )

    def _only_passes_on(self, plan: Plan, parts: Split) -> bool:
        """Whether a shell would pass on what it is given, and nothing else: the function can be the graph itself."""
        definition = self.module.functions[plan.qualname]
        own = [a.arg for a in definition.parameters if a.arg != definition.receiver]
        return (
            not parts.before
            and not plan.is_static
            and plan.qualname not in self.module.rebound
            and not definition.node.args.kwonlyargs
            and self.module.elsewhere.stored.isdisjoint(FUNCTION_PARTS)
            and "input_signature" in (plan.decorator or "")
            and [text for text, _ in parts.arguments] == own
        )

    def outside(self, node: ast.stmt) -> Step:
        """A statement of the shell, which may name what the core computes for it."""
        named = getattr(node, "named", None)
        written: ast.stmt = getattr(node, "origin", node)
        same = written is node or ast.dump(written) == ast.dump(node)
        if named is None and hasattr(node, "lineno") and same:
            return Keep(node)
        if named is None:
            return Code(double_quoted(made_text(node)))
        origin: ast.stmt = getattr(node, "origin", node)
        if isinstance(node, ast.If):
            return self._branching(node, named)
        inside = any(isinstance(n, ast.JoinedStr) for n in ast.walk(origin))
        made = not all(map(is_placed, named))
        if made or (inside and sys.version_info < (3, 12)):
            return Code(double_quoted(made_text(node)), origin)
        return Code(self.planner.source.spliced(origin, named), origin)

    def _branching(self, node: ast.If, named: dict[ast.expr, str]) -> Step:
        """An `if` of the shell, whose test may name what the core computes for it."""
        headers: list[str] = []
        blocks: list[list[Step]] = []
        rest: list[ast.stmt] = [node]
        while len(rest) == 1 and isinstance(rest[0], ast.If):
            word = "elif" if headers else "if"
            headers.append(f"{word} {self._test(rest[0], named)}:")
            blocks.append([*map(self.outside, rest[0].body)])
            rest = rest[0].orelse
        if rest:
            headers.append("else:")
            blocks.append([*map(self.outside, rest)])
        return Compound(tuple(headers), tuple(blocks), getattr(node, "origin", node))

    def headers(self, node: ast.stmt) -> tuple[str, ...]:
        """The headers of a compound statement of the shell, which may name what the core computes for it."""
        named = getattr(node, "named", None)
        if isinstance(node, ast.If) and named is not None:
            rest = ("else:",) if node.orelse else ()
            return (f"if {self._test(node, named)}:", *rest)
        return headers(self.planner.source, node)

    def _test(self, node: ast.If, named: dict[ast.expr, str]) -> str:
        """The text of a test, as the file has it where it does."""
        test = getattr(getattr(node, "origin", node), "test", None)
        inner = set(ast.walk(test)) if test is not None else set()
        names = {name for old, name in named.items() if old in inner}
        needed = set(named.values()) & names_in(node.test)
        if test is None or names != needed or not is_placed(test):
            return made_text(node.test)
        inside = {old: name for old, name in named.items() if old in inner}
        return self.planner.source.spliced(test, inside)


def _is_small(core: FunctionFacts) -> bool:
    """Whether a graph has few operations and no control flow."""
    return not core.staged and work(core) < FEWEST_OPERATIONS
