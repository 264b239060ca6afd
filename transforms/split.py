"""Splits a function into Python before, one graph core, and Python after.

What a graph cannot do stays Python's, in the shell that keeps the function's name: the statements before the first
tensor work, those after the last, and in between what can wait or can come first.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

from .apart import is_apart
from .better_splits import better_split
from .core_trials import Analyse, Split, Trials
from .cuts import Cut
from .draws import asks_for_size
from .early_ends import with_end
from .extraction import computes
from .facts.definitions import FunctionDefinition
from .facts.environment import FunctionFacts
from .facts.kinds import Variable
from .facts.session import Session
from .facts.syntax import all_bound_names
from .findings import Refusal
from .inlining import is_written
from .ordering import WAITS, may_return, only_raises
from .printing import only_prints
from .python_parts import PythonParts
from .replaying import is_replay

MOST_ROUNDS = 24


def split(
    session: Session,
    facts: FunctionFacts,
    name: str,
    analyse: Analyse,
    numbers: Collection[str] = (),
    apart: bool = False,
) -> Split | None:
    """The function as shell and core; None where it has no core to be split off.

    The core takes the parameters `numbers` as tensors. One `apart` from the object of a method takes what it reads of
    that, and not the object.

    Raises:
        Refusal: no split keeps what eager mode does.
    """
    definition = facts.definition
    if definition.is_inner or not may_have_core(definition):
        return None
    trials = Trials(session, facts, name, analyse, frozenset(numbers), apart)
    before = [*trials.builds, *trials.first]
    core = [s for s in trials.body if s not in trials.first]
    changed = trials.order.changed
    after = [s for s in trials.swaps if changed(s) <= trials.state.keys()]
    found = Search(trials, before, core, after).split()
    return found if found and (found.core.is_static or not apart) else None


def may_have_core(definition: FunctionDefinition) -> bool:
    """Whether a function can stand beside this one that is called as it is."""
    args = definition.node.args
    return not (
        args.vararg or args.kwarg or definition.is_generator or definition.is_descriptor
    )


class Search(Cut):
    """Finds the split that leaves the core all that a graph can do, by moving what it cannot.

    Attributes:
        causes: why names hold what Python makes before the core.
        waits_for_little: whether what was last held back from waiting would have left the core too little.
    """

    def __init__(
        self,
        trials: Trials,
        before: list[ast.stmt],
        core: list[ast.stmt],
        after: list[ast.stmt],
    ) -> None:
        super().__init__(trials, before, core, after)
        self.causes: dict[str, Refusal] = {}
        self.waits_for_little = False

    def split(self) -> Split | None:
        """The split; None where no core is left.

        Raises:
            Refusal: something that no graph can do stands fast among what one should.
        """
        core = self.core
        if (
            core
            and self._returns_variable(core[-1])
            and not any(map(may_return, core[:-1]))
        ):
            self.after.append(core.pop())
        for statement in filter(is_replay, reversed(core[:])):
            place = core.index(statement)
            core.remove(statement)
            if not self._waits(statement, place, "GL202"):
                reason = "what Python does in a loop or branch cannot wait for the end of the graph"
                raise Refusal(reason, self.trials.body[0])
        for _ in range(MOST_ROUNDS):
            found = self.trials.of(self.before, core, self.after)
            if isinstance(found, Refusal):
                if not self._cures(found):
                    return None
            elif found is None or not self._shows_after():
                return better_split(self, found) if found is not None else None
        return None

    def _cures(self, problem: Refusal) -> bool:
        """Move what has a problem out of the core; whether that leaves one.

        Raises:
            Refusal: it can come neither before the core nor after it.
        """
        before, core = self.before, self.core
        index = place_of(problem, core, [self.trials.replaced[s] for s in core])
        if index is None:
            return self._decided_first()
        statement = core.pop(index)
        unwritten = not is_written(statement) and not is_apart(statement)
        if unwritten or statement in self.trials.swaps:
            return False
        code = self._code(problem, statement, core[index:])
        works = computes(statement, self.facts)
        checks = works and index == 0 and only_raises(statement)
        if (checks and self._waits(statement, index, code)) or (
            works and self._computed_first(statement, index)
        ):
            pass
        elif self.order.may_go_first(statement, core[:index], self.after, code):
            before.append(statement)
            self._note_cause(problem, [statement])
        elif self._computed_first(statement, index) or self._waits(
            statement, index, code
        ):
            pass
        elif (
            not self.after
            and not isinstance(statement, ast.Return)
            and not self.works(core[:index], core[index:])
            and not any(map(self.order.loops, [*core[:index], statement]))
            and all(is_written(s) or asks_for_size(self.facts, s) for s in core[:index])
        ):
            self._note_cause(problem, [*core[:index], statement])
            before += [*core[:index], statement]
            del core[:index]
        elif only_raises(statement) and self._ends_there(statement, index):
            pass
        elif (cause := self._cause(problem)) is not problem:
            raise cause
        else:
            stands = (
                "what has to wait for it would leave a graph too little of the tensor work"
                if self.waits_for_little
                else "it can come neither before nor after the tensor work around it"
            )
            reason = f"{problem.reason}, and {stands}"
            raise Refusal(reason, problem.node, code, problem.way_out)
        return bool(core)

    def _note_cause(self, problem: Refusal, moved: list[ast.stmt]) -> None:
        names = [n for s in moved for n in all_bound_names(s)]
        self.causes |= dict.fromkeys(names, self._cause(problem))

    def _cause(self, problem: Refusal) -> Refusal:
        """A problem, or that for which Python makes what it is about."""
        return self.causes.get(getattr(problem.node, "id", ""), problem)

    # ---- Python before the core

    def _computed_first(self, statement: ast.stmt, index: int) -> bool:
        """Have Python compute before the core what of a statement is its own; the core keeps the rest."""
        earlier = self.core[:index]
        parts = self.python_first.parts(statement, earlier, self.after)
        return self._goes_first(parts, index)

    def _decided_first(self) -> bool:
        """Have Python decide before the core what asks about its state alone, so that each trace has one of the ways."""
        for index, statement in enumerate(self.core):
            earlier = self.core[:index]
            parts = self.python_first.test(statement, earlier, self.after)
            if parts is not None:
                self.core.pop(index)
                return self._goes_first(parts, index)
        return False

    def _goes_first(self, parts: PythonParts | None, index: int) -> bool:
        if parts is None:
            return False
        rest = [s for s in (parts.rest,) if s is not None]
        self.trials.note(rest)
        self.trials.computed |= parts.kinds
        self.before += [*parts.moved, *parts.apart]
        staying = [s for s in self.core[:index] if s not in parts.moved]
        self.core[:index] = [*staying, *rest]
        return True

    # ---- Python behind the core

    def _shows_after(self) -> bool:
        """Have Python print after the core, as exactly as in eager mode, where that keeps the order; whether it now does."""
        for index, statement in enumerate([*self.core]):
            if not only_prints(self.facts, statement) or not is_written(statement):
                continue
            del self.core[index]
            if self._waits(statement, index, "GL201"):
                return True
            self.core.insert(index, statement)
        return False

    def _waits(self, statement: ast.stmt, index: int, code: str) -> bool:
        """Move a statement behind the core, and what needs it; the core keeps the tensor work in them."""
        self.waits_for_little = False
        core = self.core
        kept: list[ast.stmt] = []
        late: list[tuple[ast.stmt, int]] = []
        for place, other in enumerate([statement, *core[index:]], index):
            named = {n for s, _ in late for n in self.order.changed(s)}
            left = any(may_return(s) for s, _ in late)
            if late and not (
                left or named & self.order.reads(other) or self._shows(other)
            ):
                kept.append(other)
                continue
            again = {n for s in core[place:] for n in all_bound_names(s)}
            own, waiting = self.extracted(other, [s for s, _ in late], again)
            if left:
                own, waiting = [], other
            kept += own
            late.append((waiting, len(kept)))
        early = core[:index]
        if any(isinstance(s, ast.Return) for s, _ in late):
            early = [*early, *kept]
        if any(map(may_return, early)) or not all(
            self.order.may_wait(s, kept[place:], code) for s, place in late
        ):
            return False
        outside = [s for s, _ in late]
        inside = [*core[:index], *kept]
        works = any(computes(s, self.facts) for s in outside)
        self.waits_for_little = works and not self.works(
            inside, [*self.before, *outside]
        )
        if self.waits_for_little:
            return False
        core[index:] = kept
        self.trials.note(kept)
        self.after = self.in_order([*outside, *self.after])
        return True

    def _ends_there(self, statement: ast.stmt, index: int) -> bool:
        """Have a statement raise behind the core, which ends where it stands."""
        early, later = self.core[:index], self.core[index:]
        again = {n for s in later for n in all_bound_names(s)}
        computed, waiting = self.extracted(statement, [], again)
        ended = with_end([*early, *computed], waiting)
        if ended is None:
            return False
        self.core[:] = [*ended, *later]
        self.trials.note(ended)
        self.after = self.in_order([waiting, *self.after])
        return True

    def _shows(self, statement: ast.stmt) -> bool:
        """Whether a statement of its own prints or logs, so that it can stay behind what was shown before."""
        return isinstance(statement, ast.Expr) and (
            self.order.has_effects(statement, ("stdout",))
            or any(
                p.code == "GL202" and p.node is statement.value
                for p in self.facts.problems
            )
        )

    # ---- questions

    def _returns_variable(self, node: ast.stmt) -> bool:
        """Whether a statement returns Variables themselves, which a graph would give back as values."""
        if not isinstance(node, ast.Return) or node.value is None:
            return False
        value = node.value
        parts = value.elts if isinstance(value, ast.Tuple | ast.List) else [value]
        plain = all(isinstance(p, ast.Name | ast.Attribute) for p in parts)
        return plain and any(isinstance(self.facts.kind(p), Variable) for p in parts)

    def _code(
        self, problem: Refusal, statement: ast.stmt, later: list[ast.stmt]
    ) -> str:
        """The code of a problem; of those of its statement, one that lets it wait."""
        indifferent = all(map(self.order.is_indifferent, later))
        if indifferent and self.python_first.only_keeps(statement):
            return "GL204"
        codes = self.facts.codes_inside(statement)
        return next((c for c in codes if c in WAITS), problem.code)


def place_of(
    problem: Refusal, body: list[ast.stmt], made: list[ast.stmt] | None = None
) -> int | None:
    """Which of some statements has a problem that was found in those made of them; None where that cannot be told."""
    for i, statement in enumerate(body if made is None else made):
        if problem.node is not None and any(
            n is problem.node for n in ast.walk(statement)
        ):
            return i
    line = getattr(problem.node, "lineno", None)
    for i, statement in enumerate(body):
        start, end = (getattr(statement, a, None) for a in ("lineno", "end_lineno"))
        if line is not None and start and end and start <= line <= end:
            return i
    return None
