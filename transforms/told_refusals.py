"""Which refusals are told: not those of functions whose work is done in others that are lifted."""

from __future__ import annotations

from collections.abc import Mapping

from .changing_state import STATE_CODES
from .entries import Entries
from .facts.session import Session
from .findings import Refusal

CALLERS = STATE_CODES | {"GL404"}
"""Rules of which there is nothing to tell where a function does no more than call lifted ones."""


class Told:
    """Chooses the refusals that are told where the functions `planned` are lifted."""

    def __init__(self, session: Session, entries: Entries, planned: set[str]) -> None:
        self.session = session
        self.entries = entries
        self.planned = planned

    def of(
        self,
        refusals: Mapping[str, Refusal],
        helpers: Mapping[str, Refusal],
        small: Mapping[str, Refusal],
    ) -> dict[str, Refusal]:
        """Of these refusals those to tell.

        `helpers` may be called in a graph and are none of their own; for those that are `small` a graph does not pay.
        """
        stay = {q: r for q, r in helpers.items() if q not in self.planned}
        stay |= {q: r for q, r in small.items() if not self._serves(q)}
        return {
            q: r
            for q, r in {**stay, **refusals}.items()
            if not self._is_inlined(q)
            and not self._is_pythons(q)
            and (r.code not in CALLERS or not self._only_calls(q))
        }

    def _serves(self, qualname: str) -> bool:
        """Whether a function is lifted, or all that was seen to call it is."""
        return {*self.session.recorded_callers(qualname)} <= self.planned or (
            qualname in self.planned
        )

    def _is_inlined(self, qualname: str) -> bool:
        """Whether what it does is done in the functions, all of them lifted, that were seen to call it."""
        callers = {*self.session.recorded_callers(qualname)}
        return bool(callers) and all(
            caller in self.planned and qualname not in self._called(caller)
            for caller in callers
        )

    def _is_pythons(self, qualname: str) -> bool:
        """Whether a function was seen to do nothing with tensors, so that there is nothing to find in it."""
        facts = self.session.known(qualname)
        return facts is not None and self.entries.is_pythons(facts)

    def _called(self, qualname: str) -> set[str]:
        """What a function calls once the first steps have been taken with it."""
        facts = self.session.known(qualname)
        return set(facts.calls.values()) if facts else set()

    def _only_calls(self, qualname: str) -> bool:
        """Whether all the tensor work of a function is done by functions that are lifted, now or before."""
        facts = self.session.known(qualname)
        called = set(facts.calls.values()) if facts else set()
        shells = {
            q for q in called if self.session.is_shell(self.session.module.functions[q])
        }
        if facts is None or not called or not called <= self.planned | shells:
            return False
        theirs = sum(self.session.facts_of(q).operations for q in facts.calls.values())
        return not facts.staged and facts.operations <= theirs
