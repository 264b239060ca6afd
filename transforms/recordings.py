"""Functions of which nothing is known: what was recorded of them is of an earlier text, or nothing was."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping

from .entries import Entries, saw_tensors
from .facts.definitions import FunctionDefinition
from .facts.environment import FunctionFacts
from .facts.kinds import Tensor
from .facts.profile import Recorded
from .facts.session import Session
from .facts.syntax import CALLED_IN_ANY_CASE, own_body, root_name
from .findings import Refusal, Unseen
from .source import identifiers

PACKAGES = frozenset({"tensorflow", "keras"})


class Recordings:
    """Tells, of the functions of one module that no recording tells of, what there was of them in the profile.

    Functions that are graphs already, that graphs call, or that call some, are left out: they were lifted before, and
    their texts are others since.
    """

    def __init__(self, session: Session, facts: Mapping[str, FunctionFacts]) -> None:
        self._session = session
        self._module = session.module
        self._entries = Entries(session)
        self._facts = facts

    def stale(self, lifted: Collection[str]) -> Iterator[FunctionDefinition]:
        """The functions with tensors that read otherwise than when they were recorded.

        Not those that are `lifted`, from what their callers or annotations tell, nor what these run.
        """
        done = self._run_by(lifted)
        for definition in self._strangers():
            entry = self._entry(definition)
            if definition.qualname not in done and entry and saw_tensors(entry):
                yield definition

    def missing(self) -> Iterator[FunctionDefinition]:
        """The functions that use TensorFlow, of which nothing is known, and which were never recorded."""
        for definition in self._strangers():
            if (
                definition.qualname not in self._facts
                and self._entry(definition) is None
                and self._uses_tensorflow(definition)
            ):
                yield definition

    def would_help(self, function: str, refusal: Refusal) -> bool:
        """Whether nothing tells the dtypes of a function's tensors, or the shapes that it is about, as a recorded run would."""
        facts = self._facts.get(function)
        kinds = facts.parameters.values() if facts is not None else ()
        unknown = any(isinstance(k, Tensor) and k.dtype is None for k in kinds)
        asked = unknown or isinstance(refusal, Unseen)
        return asked and self._session.recorded(function) is None

    def _run_by(self, functions: Collection[str]) -> set[str]:
        """Some functions, and all that they run."""
        found, queue = set(functions), [*functions]
        while queue:
            facts = self._facts.get(queue.pop())
            more = set(facts.calls.values()) - found if facts is not None else set()
            found |= more
            queue += more
        return found

    def _strangers(self) -> Iterator[FunctionDefinition]:
        """The functions of which no recording tells."""
        functions, graphs = self._module.functions, self._entries.graph_functions
        names = {functions[q].node.name for q in graphs} - CALLED_IN_ANY_CASE
        lifted = graphs | self._entries.called_by_graphs
        for qualname, definition in functions.items():
            if (
                self._session.recorded(qualname) is None
                and qualname not in lifted
                and not (definition.is_operator or definition.parent)
                and not names & identifiers(definition.original)
            ):
                yield definition

    def _entry(self, definition: FunctionDefinition) -> Recorded | None:
        profile = self._session.profile
        key = f"{self._session.path}::{definition.qualname}"
        return profile.functions.get(key) if profile else None

    def _uses_tensorflow(self, definition: FunctionDefinition) -> bool:
        """Whether it calls something of TensorFlow's."""
        return any(
            isinstance(node, ast.Call) and self._package(node.func) in PACKAGES
            for statement in own_body(definition.original)
            for node in ast.walk(statement)
        )

    def _package(self, node: ast.expr) -> str:
        imported = self._module.imports.get(root_name(node) or "", "")
        return imported.partition(".")[0]
