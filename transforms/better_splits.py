"""Better splits than the first one found: traced less often, or with state and return left to Python."""

from __future__ import annotations

import ast

from .core_trials import Split
from .cuts import Cut
from .extraction import computes
from .facts.staging import is_numbers
from .facts.syntax import all_bound_names, names_in
from .inlining import is_written
from .ordering import is_plain_return, may_return


def better_split(cut: Cut, found: Split) -> Split:
    """The split by this cut, which was found, or one that is traced less often, or leaves its state and its return to Python."""
    return _Recutting(cut).best(found)


class _Recutting:
    """Moves statements of a split that is good already; its cut is that of the best so far."""

    def __init__(self, cut: Cut) -> None:
        self.cut = cut
        self.trials = cut.trials
        self.facts = cut.facts
        self.order = cut.order
        self.python_first = cut.python_first

    def best(self, found: Split) -> Split:
        """The split, or one that is traced less often, or leaves its state and its return to Python."""
        found = self._with_lists_first(found)
        found = self._with_counts_left(found)
        found = self._with_counts_first(found)
        found = self._with_return_apart(found)
        return self._with_plain_return(found)

    def _recut(
        self,
        found: Split,
        before: list[ast.stmt],
        core: list[ast.stmt],
        after: list[ast.stmt],
        takes_lists: bool = True,
    ) -> Split:
        """The split by another cut, which it is from now on; the one found where that is none."""
        again = self.trials.of(before, core, after)
        if not isinstance(again, Split):
            return found
        if not takes_lists and any(map(is_numbers, again.kinds.values())):
            return found
        cut = self.cut
        cut.before, cut.core, cut.after = before, core, after
        return again

    def _with_lists_first(self, found: Split) -> Split:
        """The split with what makes tensors of lists of numbers before the core, which each list would have traced anew."""
        lists = {n for n, k in found.kinds.items() if is_numbers(k)}
        rest: list[ast.stmt] = []
        first: list[ast.stmt] = []
        for statement in self.cut.core if lists else ():
            goes = lists & self.order.reads(statement) and self.order.may_go_first(
                statement, rest, self.cut.after, "GL404"
            )
            (first if goes else rest).append(statement)
        if not first or not self.cut.works(rest, first):
            return found
        before = [*self.cut.before, *first]
        return self._recut(found, before, rest, self.cut.after, takes_lists=False)

    def _with_counts_left(self, found: Split) -> Split:
        """The split with what only keeps a number of Python's behind the core; the statements of `core` are left in it."""
        for statement in [*self.cut.core]:
            rest = [s for s in self.cut.core if s is not statement]
            if rest and self._only_counts(statement, rest):
                later = self.cut.in_order([*self.cut.after, statement])
                found = self._recut(found, self.cut.before, rest, later)
        return found

    def _with_counts_first(self, found: Split) -> Split:
        """The split with the numbers of Python's that it begins with counted before the core, which is given them."""
        while len(self.cut.core) > 1 and self._counts(self.cut.core[0]):
            first, *rest = self.cut.core
            again = self._recut(found, [*self.cut.before, first], rest, self.cut.after)
            if again is found:
                break
            found = again
        return found

    def _with_plain_return(self, found: Split) -> Split:
        """The split with the return in the shell, where it only names what the core gives back anyway."""
        *rest, last = self.cut.core
        if (
            not is_plain_return(last)
            or any(map(may_return, rest))
            or not (self.cut.after or found.state)
        ):
            return found
        return self._recut(found, self.cut.before, rest, [*self.cut.after, last])

    def _with_return_apart(self, found: Split) -> Split:
        """The split with the return in the shell, where it gives back what Python has beside what the core computes."""
        *rest, last = self.cut.core
        value = last.value if isinstance(last, ast.Return) else None
        bound = {n for s in rest for n in all_bound_names(s)}
        if (
            not isinstance(value, ast.Tuple)
            or not any(
                isinstance(n, ast.Name) and n.id not in bound for n in value.elts
            )
            or any(map(may_return, rest))
        ):
            return found
        computed, kept = self.cut.extracted(last, [], set())
        core = [*rest, *computed]
        if not core or computes(kept, self.facts):
            return found
        self.trials.note(core)
        return self._recut(found, self.cut.before, core, [*self.cut.after, kept])

    def _counts(self, statement: ast.stmt) -> bool:
        """Whether a statement of the file keeps a number in Python's state."""
        return (
            bool(self._state_set(statement))
            and is_written(statement)
            and self.python_first.counts(statement)
        )

    def _only_counts(self, statement: ast.stmt, rest: list[ast.stmt]) -> bool:
        """Whether a statement keeps a number in Python's state of which the rest of the core knows nothing."""
        replaced = self.trials.replaced
        written = self._state_set(statement)
        if not written or not self.python_first.is_pythons(statement):
            return False
        others = [replaced[s] for s in rest]
        bound = {n for s in others for n in all_bound_names(s)}
        read = {n for s in others for n in names_in(s)}
        earlier = self.cut.core[: self.cut.core.index(statement)]
        return (
            not names_in(replaced[statement]) & bound
            and not written & read
            and not any(map(may_return, earlier))
            and not any(self.order.has_effects(s, ("assert",)) for s in rest)
        )

    def _state_set(self, statement: ast.stmt) -> set[str]:
        """The names of the state that a statement sets."""
        states = {variable.name for variable in self.trials.state.values()}
        return states & set(all_bound_names(self.trials.replaced[statement]))
