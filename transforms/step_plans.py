"""Plans for functions that stay Python around loops whose steps become graphs of their own."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from . import signatures
from .entries import (
    FEWEST_OPERATIONS,
    check_parameters,
    work,
)
from .facts.definitions import FunctionDefinition
from .facts.environment import FunctionFacts
from .facts.syntax import blocks
from .findings import Refusal
from .inline_steps import LoopStep, around, loop_steps, most_runs
from .source import Names, head_lines
from .steps import Code, Define, Plan
from .tapes import is_taped

if TYPE_CHECKING:
    from .split_plans import SplitPlanner


class StepPlanner:
    """Plans the steps of one module's loops; `graphs`: the functions that are, or have, graphs of their own."""

    def __init__(self, splits: SplitPlanner, graphs: set[str]) -> None:
        self.splits = splits
        self.graphs = graphs
        self.session = splits.session
        self.planner = splits.planner

    def plans(
        self,
        facts: Mapping[str, FunctionFacts],
        planned: set[str],
        cores: dict[str, str],
    ) -> list[Plan]:
        """Plans for functions beside those `planned`, each with a graph for a step of its loops."""
        if not self.planner.options.enabled("GL407"):
            return []
        found = []
        for qualname, known in facts.items():
            if qualname in planned or not self._may_have_step(known):
                continue
            found += [self._plan(self._as_python(known), planned, cores)]
        exempts = self.planner.source.exempts
        return [
            plan
            for plan in found
            if plan and plan.loop and not exempts("GL407", *head_lines(plan.loop))
        ]

    def _as_python(self, facts: FunctionFacts) -> FunctionFacts:
        """The facts of a function as the file has it, where Python runs it."""
        definition = copy.copy(facts.definition)
        definition.node = definition.original
        return self.session.analyse_core(
            definition, facts.parameters, definition.qualname, eager=True
        )

    def _may_have_step(self, facts: FunctionFacts) -> bool:
        return (
            facts.operations > 0
            and not facts.definition.node.name.startswith("__")
            and self.splits.may_surround(facts)
        )

    def _plan(
        self, facts: FunctionFacts, planned: set[str], cores: dict[str, str]
    ) -> Plan | None:
        definition = facts.definition
        name = self._name(definition)
        analyse = self.splits.first_steps.core
        for step in loop_steps(self.session, facts, name, analyse):
            try:
                plan = self._with_graph(facts, step, name, planned, cores)
            except Refusal:
                continue
            if plan is not None:
                return plan
        return None

    def _with_graph(
        self,
        facts: FunctionFacts,
        step: LoopStep,
        name: str,
        planned: set[str],
        cores: dict[str, str],
    ) -> Plan | None:
        core, shell, planner = self.splits.core(facts, step.parts, cores)
        if self._is_done_elsewhere(facts, step, core):
            return None
        if not self._is_worth_it(core, planned):
            return None
        trips = most_runs(self.session, facts, step.home, step.parent)
        self.splits.check_traces(core, facts, trips)
        given = {name: core.parameters[name] for name in step.passed}
        check_parameters(replace(core, parameters=given))
        if not step.nested:
            self.planner.entries.check(core, step.parts.new)
        outside = self.splits.outside
        decorator = signatures.decorator(core, None, self.planner.tf)
        called = name if step.nested else step.parts.core.called_as
        arguments = step.arguments
        if "input_signature" not in decorator:
            pairs = zip(arguments, step.passed, strict=True)
            given, tf = core.parameters, self.planner.tf
            arguments = [signatures.argument(text, given[n], tf) for text, n in pairs]
        call = f"{called}({', '.join(arguments)})"
        chosen: list[str] = []
        if not step.nested:
            chosen, call = self.planner.guarded(core, call, step.arguments)
        new = [
            *map(outside, step.parts.before),
            *map(Code, (*chosen, *shell.calls(call))),
            *map(outside, step.parts.after),
        ]
        steps = planner.body()
        graph = Define(name, tuple(step.passed), steps, decorator=decorator)
        definition, source = facts.definition, self.planner.source
        body = around(source, definition, step, new, graph if step.nested else None)
        plan = Plan(definition.original, definition.qualname, body, loop=step.home)
        plan.imports = planner.imports
        if not step.nested:
            plan.core, plan.decorator = name, decorator
            plan.parameters = list(step.parts.kinds)
            plan.steps, plan.shell = steps, body
            plan.is_static = step.parts.core.is_static
        return plan

    def _is_done_elsewhere(
        self, facts: FunctionFacts, step: LoopStep, core: FunctionFacts
    ) -> bool:
        """Whether more than half of what a step does is done by functions that it would inline, and that have graphs."""
        block = blocks(step.parent)[step.index]
        written = [n for s in block for n in ast.walk(s)]
        called = [facts.calls[n] for n in written if n in facts.calls]
        own = self.graphs - {*core.calls.values()}
        inlined = [q for q in called if q in own]
        if not inlined or any(map(is_taped, written)):
            return False
        theirs = sum(self.session.facts_of(q).operations for q in inlined)
        return core.operations < 2 * theirs

    def _is_worth_it(self, core: FunctionFacts, planned: set[str]) -> bool:
        """Whether a step does enough that is not done by graphs already."""
        if any(isinstance(n, ast.For | ast.While) for n in core.staged):
            return True
        if any(map(is_taped, ast.walk(core.definition.node))):
            return work(core) >= FEWEST_OPERATIONS  # gradients are taken in this graph
        called = {q for q in core.calls.values() if q in planned}
        elsewhere = sum(self.session.facts_of(q).operations for q in called)
        return core.operations - elsewhere >= FEWEST_OPERATIONS

    def _name(self, definition: FunctionDefinition) -> str:
        """What to call the step of a function's loop."""
        function = definition.node.name.strip("_")
        base = f"{function}_step"
        if function == "main":
            taped = any(map(is_taped, ast.walk(definition.node)))
            base = "train_step" if taped else "step"
        return Names(self.planner.source.names).fresh(base)
