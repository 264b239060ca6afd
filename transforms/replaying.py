"""GL202 python-logging, GL204 outer-mutation: what Python does in a loop of the graph, it does after it.

The first step only. The loop keeps the values in lists, one for each; a loop behind it takes them out in order and does
what there was to do. Both are the business of others: the lists become arrays of the graph, the loop waits behind it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .facts.environment import FunctionFacts
from .facts.liveness import all_reads
from .facts.modules import all_bound_names, blocks, names_in
from .facts.profile import FunctionNode
from .making import assigned, called, name
from .printing import is_print
from .python_effects import are_seen, is_effect, lasts, taken, with_name
from .rebuilding import rebuilt, with_body, with_origin
from .source import Names

ENDING = (ast.Return, ast.Raise, ast.Assert, ast.Try)
LEAVING = (ast.Break, ast.Continue)


def is_replay(node: ast.stmt) -> bool:
    """Whether a loop was made to come after another one, of the graph."""
    return hasattr(node, "replays")


def with_replays(facts: FunctionFacts, names: Names) -> FunctionNode | None:
    """The function with one more loop after the first that does what only Python can; None where none does.

    None too where it cannot be told what is done, or in which order.
    """
    node = facts.definition.node
    for i, loop in enumerate(node.body):
        if (
            isinstance(loop, ast.For | ast.While)
            and not loop.orelse
            and not is_replay(loop)
        ):
            made = _Replay(facts, names, loop, node.body[i + 1 :]).made()
            if made is not None:
                return with_body(node, [*node.body[:i], *made, *node.body[i + 1 :]])
    return None


class _Replay:
    """What one loop does that only Python can."""

    def __init__(
        self,
        facts: FunctionFacts,
        names: Names,
        loop: ast.For | ast.While,
        later: list[ast.stmt],
    ) -> None:
        self.facts = facts
        self.names = names
        self.loop = loop
        self.later = later
        self.bound = set(all_bound_names(loop))
        self.called: dict[tuple[str, int], str] = {}

    def made(self) -> list[ast.stmt] | None:
        """The lists, the loop that fills them, and the loop that goes over them; None where there is nothing for it."""
        found = list(self._found())
        if not found or self._hinders(*found):
            return None
        block, effects = found
        lists: dict[str, str] = {}
        kept: dict[ast.stmt, list[ast.stmt]] = {}
        done: list[ast.stmt] = []
        for effect in effects:
            rest, values = taken(self.facts, self.names, effect)
            read = names_in(rest) & self.bound
            if not lasts(self.facts, rest, {*values, *read}, self.loop):
                return None
            for n in sorted(read):
                others = self._name(n, block, effect)
                rest, values[others] = with_name(rest, n, others), name(n)
            new = {n: v for n, v in values.items() if n not in lists}
            lists |= {n: self.names.fresh(_several(v)) for n, v in new.items()}
            kept[effect] = [
                with_origin(ast.Expr(called(f"{lists[n]}.append", v)), effect)
                for n, v in new.items()
            ]
            done.append(rest)
        if not lists:
            return None
        return [
            *(
                assigned(several, ast.List([], ast.Load()))
                for several in lists.values()
            ),
            rebuilt(self.loop, lambda b: self._keeping(b, kept)),
            self._replay(lists, done),
        ]

    def _found(self) -> Iterator[list[ast.stmt]]:
        """The one block in which Python does what no graph can, and the statements that do it."""
        found = [
            (b, [s for s in b if is_effect(self.facts, s)])
            for b in self._blocks(self.loop)
        ]
        found = [(block, effects) for block, effects in found if effects]
        if len(found) == 1 and not all(is_print(self.facts, s) for s in found[0][1]):
            yield from found[0]

    def _blocks(self, node: ast.stmt) -> Iterator[list[ast.stmt]]:
        for block in blocks(node):
            yield block
            for inner in block:
                yield from self._blocks(inner)

    def _hinders(self, block: list[ast.stmt], effects: list[ast.stmt]) -> bool:
        """Whether the loop may leave some of it out, or sees what is done."""
        first, last = block.index(effects[0]), block.index(effects[-1])
        between = (n for s in block[first:last] for n in ast.walk(s))
        return (
            any(isinstance(n, LEAVING) for n in between)
            or any(isinstance(n, ENDING) for n in ast.walk(self.loop))
            or are_seen(self.facts, effects, self.loop)
        )

    def _name(self, word: str, block: list[ast.stmt], effect: ast.stmt) -> str:
        """What the loop behind calls what a name holds at a place: the same at all, where nothing between sets it."""
        between = block[: block.index(effect)]
        times = sum(word in all_bound_names(s) for s in between)
        if (word, times) not in self.called:
            later = any(word in all_reads(s) for s in self.later)
            first = all(other != word for other, _ in self.called)
            free = first and not later
            self.called[word, times] = word if free else self.names.fresh(word)
        return self.called[word, times]

    def _keeping(
        self, body: list[ast.stmt], kept: dict[ast.stmt, list[ast.stmt]]
    ) -> list[ast.stmt]:
        """A block of the loop that keeps the values of what waits."""
        return [
            made
            for node in body
            for made in (
                kept[node]
                if node in kept
                else [rebuilt(node, lambda b: self._keeping(b, kept))]
            )
        ]

    def _replay(self, lists: dict[str, str], done: list[ast.stmt]) -> ast.stmt:
        targets: list[ast.expr] = [ast.Name(n, ast.Store()) for n in lists]
        several = [name(s) for s in lists.values()]
        target = targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())
        over = several[0] if len(several) == 1 else called("zip", *several)
        loop = ast.For(target, over, done, [])
        loop.replays = True  # type: ignore[attr-defined]
        return loop


def _several(value: ast.expr) -> str:
    """What to call a list of such values."""
    word = value.id if isinstance(value, ast.Name) else "value"
    if len(word) == 1:
        return f"{word}_values"
    return f"{word}es" if word.endswith("s") else f"{word}s"
