"""Which functions of a module become graphs of their own: those called from outside graphs, where a graph pays."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping

from . import signatures
from .entries import Entries
from .facts.environment import FunctionFacts
from .facts.session import Session
from .findings import Refusal
from .first_steps import FirstSteps, number_parameters
from .paying import too_seldom
from .short_lived import apart


class OwnGraphs:
    """Of functions that can be lifted, the graphs that stand by themselves.

    `own` are those, `called` are the functions that graphs call. `facts` are of all functions, as their graphs take
    them. `seldom` are those for which a graph does not pay, and why; `by_eager` is what functions call that stay eager
    for that.
    """

    def __init__(
        self,
        session: Session,
        entries: Entries,
        first_steps: FirstSteps,
        lifted: Mapping[str, FunctionFacts],
    ) -> None:
        self.session = session
        self.entries = entries
        self.first_steps = first_steps
        self.facts = dict(lifted)
        self.own: set[str] = set()
        self.called: set[str] = set()
        self.seldom: dict[str, Refusal] = {}
        self.idle: set[str] = set()
        """Functions that nothing runs which shows."""
        self._choose()
        self.frozen = {q for q in self.own - self.called if self._takes_numbers(q)}
        """Functions that are traced anew for each number that they are given, where they stay whole."""
        self.given: dict[str, list[str]] = {}
        """What the cores of methods are given that do not take the object."""
        self._part_from_objects()
        self.by_eager = self._called_by_eager()

    def _choose(self) -> None:
        """Find the graphs, to a fixpoint: what one called that does not pay may be a graph of its own."""
        numbered: dict[str, FunctionFacts] = {}
        while True:
            graphs = self._without({*self.seldom, *self.idle})
            self.called = self._called_by(graphs)
            self.own = {
                q
                for q, f in graphs.items()
                if self.entries.is_decorated(f, q in self.called, graphs)
            }
            for qualname in sorted(self.own - numbered.keys()):
                graph = self._with_number_arguments(self.facts[qualname])
                numbered[qualname] = graph
                helper = self.entries.is_helper(graph.definition)
                refusal = too_seldom(
                    self.session, graph, graph.definition, helps=helper
                )
                if refusal is not None:
                    self.seldom[qualname] = refusal
            idle = {q for q, f in graphs.items() if self.is_idle(f)}
            self.idle |= idle
            if not idle and self.seldom.keys().isdisjoint(self.own):
                break
        self.facts |= numbered

    def _part_from_objects(self) -> None:
        """Give methods that would be traced for each object cores that do not take it, where they can do without."""
        for qualname in sorted({*self.own, *self.seldom} - self.called):
            found = apart(self.session, self.facts[qualname], self.first_steps.core)
            if found is not None:
                self.facts[qualname], self.given[qualname] = found
                self.own.add(qualname)
                self.seldom.pop(qualname, None)

    def _called_by_eager(self) -> set[str]:
        """What functions call that could be lifted and stay eager; those that graphs call do not."""
        eager = {*self.seldom, *self.idle}
        while True:
            self.called = self._called_by(self._without(eager))
            if eager.isdisjoint(self.called):
                break
            eager -= self.called
        return {c for q in eager for c in self.facts[q].calls.values()}

    def _without(self, left_out: Iterable[str]) -> dict[str, FunctionFacts]:
        return {q: f for q, f in self.facts.items() if q not in left_out}

    def _called_by(self, graphs: Mapping[str, FunctionFacts]) -> set[str]:
        """The functions that graphs call: these, and what is a graph already."""
        found = {name for f in graphs.values() for name in f.calls.values()}
        return found | self.entries.called_by_graphs

    def is_idle(self, facts: FunctionFacts) -> bool:
        """Whether a function is run by none of the graphs, nor by anything that does not show."""
        definition = facts.definition
        around = definition.parent
        if around is not None and definition.is_inner:
            outer = self.session.known(around.qualname)
            return outer is not None and self.is_idle(outer)
        in_graphs = definition.qualname in self.own | self.called
        return not in_graphs and not self.entries.is_reached(facts)

    def _takes_numbers(self, qualname: str) -> bool:
        return bool(number_parameters(self.facts[qualname]))

    def _with_number_arguments(self, facts: FunctionFacts) -> FunctionFacts:
        """The facts with Python numbers taken as tensors, so that a new value is no new trace; else the same."""
        args = facts.definition.node.args
        numbers = number_parameters(facts)
        frozen = facts.definition.defaults.keys() - numbers.keys()
        if not numbers or frozen or args.kwonlyargs:
            return facts
        definition = copy.copy(facts.definition)
        parameters = {**facts.parameters, **numbers}
        before = self.session.state()
        try:
            again = self.first_steps.core(definition, parameters, definition.qualname)
            decorator = signatures.decorator(
                again, None, self.session.module.tensorflow
            )
            if "input_signature" in decorator and not again.problems:
                return again
        except Refusal:
            pass
        self.session.restore(before)
        return facts
