"""A function cut in three: the statements before its core, those of the core, and those after."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from .core_trials import Trials
from .extraction import extracted, operations
from .facts.syntax import all_bound_names
from .python_parts import PythonFirst

MUCH = 6
"""More calls and operators than these are worth a core, whatever stands outside it."""


class Cut:
    """The statements of a function as they are cut so far.

    Attributes:
        before, core, after: the statements, in their order.
    """

    def __init__(
        self,
        trials: Trials,
        before: list[ast.stmt],
        core: list[ast.stmt],
        after: list[ast.stmt],
    ) -> None:
        self.trials = trials
        self.facts = trials.facts
        self.order = trials.order
        self.before = before
        self.core = core
        self.after = after
        self.python_first = PythonFirst(
            trials.session, trials.facts, trials.order, trials.names, trials.numbers
        )

    def extracted(
        self, statement: ast.stmt, late: list[ast.stmt], again: set[str]
    ) -> tuple[list[ast.stmt], ast.stmt]:
        """The tensor work of a statement, and the rest.

        `late` are statements that come behind the core, too, `again` names that are set anew behind it.
        """
        effects = ("assign", "random", "variable", "io")
        if self.order.has_effects(statement, effects):
            return [], statement
        bound = {n for s in (*self.after, *late) for n in all_bound_names(s)}
        return extracted(statement, self.facts, self.trials.names, bound, again)

    def in_order(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Statements in the order of the body, by those of it that they were made of."""
        body = self.trials.body
        origins = [getattr(s, "origin", None) for s in body]

        def place(statement: ast.stmt) -> int:
            origin = getattr(statement, "origin", statement)
            places = [i for i, s in enumerate(body) if s in (statement, origin)]
            places += [i for i, o in enumerate(origins) if o is origin]
            return places[0] if places else len(body)

        return sorted(statements, key=place)

    def works(self, statements: Sequence[ast.stmt], others: Sequence[ast.stmt]) -> bool:
        """Whether tensor work is among statements, so that they are worth a core, whatever others do."""
        here = [n for s in statements for n in ast.walk(s)]
        calls = [n for n in here if isinstance(n, ast.Call | ast.BinOp)]
        if sum(n in self.facts.kinds for n in calls) > MUCH:
            return True
        return operations(self.facts, statements) >= 2 * max(
            1, operations(self.facts, others)
        )
