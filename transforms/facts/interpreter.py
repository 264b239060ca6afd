"""The abstract interpreter: walks a function with the kinds of its parameters and finds the facts.

Statements are taken in order, loops to a fixpoint (Cousot and Cousot, 1977). A tensor that decides an `if` or a loop
*stages* it: both ways are taken, and Python values set there become values held in tensors (see `staging`).
"""

from __future__ import annotations

import ast

from .environment import Environment, FunctionFacts
from .execution_control import ControlExecution
from .kinds import NONE
from .profile import FunctionNode
from .staging import result_of
from .syntax import assigned_in, named_functions, names_in


class Interpreter(ControlExecution):
    """Interprets one function's statements; see `Evaluation` for its expressions."""

    def function(self, facts: FunctionFacts, outer: Environment | None) -> None:
        """Interpret a function body from the kinds of its parameters; the results go into `facts`."""
        self.enter(facts, outer)
        nonzero = facts.definition.nonzero
        environment = Environment(dict(facts.parameters), nonzero=nonzero)
        function = facts.definition.node
        flow = self.block(function.body, environment)
        if flow.end is not None:
            facts.returns.append((None, NONE))
        facts.result = result_of((k for _, k in facts.returns), facts.chooses)
        self._check_captures(function)

    def _check_captures(self, function: FunctionNode) -> None:
        """Refuse nested functions that read a name which an arm or loop body of the graph holds in its own scope.

        One that is called after that statement finds there what the statement gave back, as it does in eager mode.
        """
        deciding = [
            n for n in self.facts.staged if isinstance(n, ast.If | ast.For | ast.While)
        ]
        inner = named_functions(function) if deciding else {}
        for staged in deciding if inner else ():
            inside = {id(n) for n in ast.walk(staged)}
            assigned = assigned_in(staged)
            used = names_in(staged)
            for node, name in inner.items():
                read = {
                    n.id for n in ast.walk(node) if isinstance(n, ast.Name)
                } - _parameters(node)
                if id(node) in inside or not read & assigned:
                    continue
                if name is None or name in used:
                    self.problem(
                        f"a nested function reads `{min(read & assigned)}`, which a tensor decides",
                        node,
                    )
        for qualname, calls in self.facts.captures.items():
            first, *others = calls.values()
            if any(other != first for other in others):
                self.problem(
                    f"`{qualname}` finds other kinds of values in the names around it from call to call",
                    function,
                )


def _parameters(node: ast.Lambda | FunctionNode) -> set[str]:
    args = node.args
    found = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    return {a.arg for a in found if a is not None}
