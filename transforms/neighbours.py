"""The project's other modules, as the planner of one needs them: which of their functions its graphs may call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from . import signatures
from .facts.environment import ForeignCall
from .facts.modules import ModuleFacts
from .facts.project import ProjectModules
from .options import Options
from .source import Source

if TYPE_CHECKING:
    from .plan import ModulePlan, ModulePlanner


class Neighbours:
    """The modules of a project, each planned when another one's graphs would call it.

    Args:
        modules: of the project.
        options: those of a file.
    """

    def __init__(
        self, modules: ProjectModules, options: Callable[[str], Options]
    ) -> None:
        self.modules = modules
        self._options = options
        self._planners: dict[str, tuple[ModulePlanner, ModulePlan]] = {}
        self._busy: list[str] = []

    def planner(self, path: str, source: Source, options: Options) -> ModulePlanner:
        """The planner of one module."""
        from .plan import ModulePlanner

        module = ModuleFacts(
            source.tree, self.modules.name(path), self.modules.elsewhere(path)
        )
        return ModulePlanner(source, module, path, self, options)

    @contextmanager
    def planning(self, path: str) -> Iterator[None]:
        """While a module is planned, what it calls cannot ask for its plan."""
        self._busy.append(path)
        try:
            yield
        finally:
            self._busy.pop()

    def obstacle(self, call: ForeignCall) -> str | None:
        """Why a graph cannot call another module's function, as that will be lifted; None where it can."""
        path, qualname = call.session.path, call.qualname
        definition = call.session.module.functions[qualname]
        if call.session.is_graph_function(definition):
            return signatures.too_tight(definition.decorators, call.facts)
        if path in self._busy:
            return "its module calls this one, too"
        planner, planned = self._planned(path)
        plan = next((p for p in planned.plans if p.qualname == qualname), None)
        if plan is not None and path in self.modules.rewritten:
            if plan.core:
                return "it gives Python values"
            return signatures.too_tight([plan.decorator], call.facts)
        refusal = planned.refusals.get(qualname)
        if refusal is not None:
            return refusal.reason
        if planner.changes(call.facts):
            return "its module has to be lifted, too"
        return self._inner_obstacle(call)

    def needed(self, call: ForeignCall) -> set[str]:
        """The modules that have to be written, where they are lifted, for a call to work in a graph."""
        found = {call.session.path} & self.modules.rewritten
        for inner in _inner_calls(call):
            if inner.session is not call.session or inner.facts.foreign:
                found |= self.needed(inner)
        return found

    def _inner_obstacle(self, call: ForeignCall) -> str | None:
        return next(filter(None, map(self.obstacle, _inner_calls(call))), None)

    def _planned(self, path: str) -> tuple[ModulePlanner, ModulePlan]:
        if path not in self._planners:
            source = Source(self.modules.text(path), self.modules.tree(path))
            planner = self.planner(path, source, self._options(path))
            self._planners[path] = planner, planner.plan()
        return self._planners[path]


def _inner_calls(call: ForeignCall) -> list[ForeignCall]:
    """What a function calls in turn, of its own module and of others."""
    known = {q: call.session.known(q) for q in call.facts.calls.values()}
    own = [ForeignCall(call.session, q, facts) for q, facts in known.items() if facts]
    return [*own, *call.facts.foreign.values()]
