"""What only some traces of a graph run: Python chooses it anew for each, by what the graph is given."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from .facts.environment import FunctionFacts
from .facts.kinds import Python
from .facts.syntax import all_bound_names, blocks

LEAVING = ast.Return | ast.Raise | ast.Break | ast.Continue


def chosen_calls(facts: FunctionFacts) -> Iterator[ast.Call]:
    """The calls of a function that some traces of it make and others may not."""
    return _Choices(facts).calls(facts.definition.node.body, False)


def is_given(node: ast.AST, facts: FunctionFacts) -> bool:
    """Whether an expression depends on what is not the same in all traces: on arguments, say."""
    return _Choices(facts).varies(node)


class _Choices:
    def __init__(self, facts: FunctionFacts) -> None:
        self.facts = facts
        definition = facts.definition
        self.varying = {
            *(n for n in facts.parameters if n != definition.receiver),
            *(n for s in definition.node.body for n in all_bound_names(s)),
        }

    def varies(self, node: ast.AST) -> bool:
        kind = self.facts.kind(node) if isinstance(node, ast.expr) else None
        if isinstance(kind, Python) and kind.known:
            return False
        names = (n for n in ast.walk(node) if isinstance(n, ast.Name))
        return any(n.id in self.varying for n in names)

    def calls(self, body: Sequence[ast.stmt], chosen: bool) -> Iterator[ast.Call]:
        for node in body:
            inner = blocks(node)
            tested = isinstance(node, ast.If) and node not in self.facts.staged
            here = chosen or (tested and self.varies(node.test))  # type: ignore[attr-defined]
            within = {n for block in inner for s in block for n in ast.walk(s)}
            for part in ast.walk(node):
                if part not in within:
                    yield from self._calls_in(part, chosen)
            for block in inner:
                yield from self.calls(block, here)
            chosen = chosen or (
                here and any(isinstance(n, LEAVING) for n in ast.walk(node))
            )

    def _calls_in(self, node: ast.AST, chosen: bool) -> Iterator[ast.Call]:
        """A call, where it is chosen; and those that an expression chooses."""
        if isinstance(node, ast.Call) and chosen:
            yield node
        elif self._is_choice(node):
            yield from (n for n in ast.walk(node) if isinstance(n, ast.Call))

    def _is_choice(self, node: ast.AST) -> bool:
        staged = node in self.facts.staged
        return isinstance(node, ast.IfExp) and not staged and self.varies(node.test)
