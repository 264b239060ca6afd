"""GL202 python-logging, GL204 outer-mutation: what Python does where a tensor decides, it does in an `if` of its own.

The first step only. `if failing: log(loss); loss = 0.0` becomes two: one that the graph does, and behind it one that
waits for the graph, with the values that there were.
"""

from __future__ import annotations

import ast

from .facts.environment import FunctionFacts
from .facts.profile import FunctionNode
from .facts.syntax import all_bound_names, blocks, names_in
from .making import assigned, name, negated
from .printing import shows_otherwise
from .python_effects import (
    are_seen,
    is_effect,
    is_shown_in_graph,
    lasts,
    taken,
    with_name,
)
from .rebuilding import rebuilt, with_body, with_origin
from .replaying import is_replay
from .source import Names

ENDING = (ast.Return, ast.Raise, ast.Assert, ast.Try, ast.Break, ast.Continue)
Parted = tuple[list[ast.stmt], list[ast.stmt]]
"""What the graph does, and what Python does behind it."""


def with_effects_apart(facts: FunctionFacts, names: Names) -> FunctionNode | None:
    """The function with the first `if` in two; None where no tensor decides what only Python can do."""
    node = facts.definition.node
    for i, statement in enumerate(node.body):
        if (
            isinstance(statement, ast.If)
            and statement in facts.staged
            and not is_replay(statement)
        ):
            returning = statement is node.body[-1] and _always_returns([statement])
            result = names.fresh("result") if returning else ""
            one = _with_result([statement], result)[0] if returning else statement
            assert isinstance(one, ast.If)
            parted = _Parting(facts, names, one).parted()
            if parted is not None:
                last = [ast.Return(name(result))] if returning else node.body[i + 1 :]
                return with_body(node, [*node.body[:i], *parted, *last])
    return None


def _always_returns(body: list[ast.stmt]) -> bool:
    """Whether a block is left by a return at its end, on each of its ways, and nowhere else."""
    *rest, last = body
    if any(isinstance(n, ENDING) for s in rest for n in ast.walk(s)):
        return False
    if isinstance(last, ast.If):
        return bool(last.orelse) and all(map(_always_returns, blocks(last)))
    return isinstance(last, ast.Return) and last.value is not None


def _with_result(body: list[ast.stmt], result: str) -> list[ast.stmt]:
    """A block that sets a name where it returned."""
    *rest, last = body
    if isinstance(last, ast.Return) and last.value is not None:
        return [*rest, with_origin(assigned(result, last.value), last)]
    return [*rest, rebuilt(last, lambda b: _with_result(b, result))]


class _Parting:
    """What becomes of one `if`."""

    def __init__(self, facts: FunctionFacts, names: Names, node: ast.If) -> None:
        self.facts = facts
        self.names = names
        self.node = node
        self.bound = set(all_bound_names(node))

    def parted(self) -> list[ast.stmt] | None:
        inner = list(ast.walk(self.node))
        effects = [
            n for n in inner if isinstance(n, ast.stmt) and is_effect(self.facts, n)
        ]
        others = [s for s in inner if isinstance(s, ast.stmt) and s not in effects]
        alone = all(isinstance(s, ast.If) for s in others)
        wanted = self._is_shown_otherwise if alone else self._is_wanted
        if (
            not any(map(wanted, effects))
            or any(isinstance(n, ENDING) for n in inner)
            or are_seen(self.facts, effects, self.node)
        ):
            return None
        found = self._if(self.node, set())
        if found is None:
            return None
        done, waiting = found
        if sum(isinstance(n, ast.Expr) for s in waiting for n in ast.walk(s)) < len(
            effects
        ):
            return None
        for statement in waiting:
            statement.replays = True  # type: ignore[attr-defined]
        return [*done, *waiting]

    def _is_wanted(self, effect: ast.stmt) -> bool:
        """Whether a graph cannot do something, or does it otherwise."""
        shown = is_shown_in_graph(self.facts, effect)
        return not shown or self._is_shown_otherwise(effect)

    def _is_shown_otherwise(self, effect: ast.stmt) -> bool:
        return shows_otherwise(self.facts, effect)

    def _if(self, node: ast.If, later: set[str]) -> Parted | None:
        """An `if` in two; `later` are the names that are set behind it."""
        if not any(is_effect(self.facts, s) for s in ast.walk(node)):
            return [node], []
        chosen = self.names.fresh("chosen")
        then, other = self._block(node.body, later), self._block(node.orelse, later)
        if then is None or other is None:
            return None
        (body, late), (orelse, late_else) = then, other
        test = ast.If(name(chosen), body or [ast.Pass()], orelse)
        early = [with_origin(test, node)] if body or orelse else []
        asked: ast.expr = name(chosen)
        if not late:
            asked, late, late_else = negated(asked), late_else, []
        return [assigned(chosen, node.test), *early], [ast.If(asked, late, late_else)]

    def _block(self, body: list[ast.stmt], later: set[str]) -> Parted | None:
        done: list[ast.stmt] = []
        waiting: list[ast.stmt] = []
        for i, node in enumerate(body):
            again = later | {n for s in body[i + 1 :] for n in all_bound_names(s)}
            if is_effect(self.facts, node):
                rest, values = taken(self.facts, self.names, node)
                read = names_in(rest) & self.bound
                if not lasts(self.facts, rest, {*values, *read}, self.node):
                    return None
                for n in sorted(read & again):
                    other = self.names.fresh(n)
                    rest, values[other] = with_name(rest, n, other), name(n)
                done += [assigned(n, v) for n, v in values.items()]
                waiting.append(rest)
            elif isinstance(node, ast.If):
                found = self._if(node, again)
                if found is None:
                    return None
                done += found[0]
                waiting += found[1]
            else:
                done.append(node)
        return done, waiting
