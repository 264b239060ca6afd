"""GL202 python-logging, GL204 outer-mutation: what Python does in a loop of the graph, it does after it.

The first step only. The loop keeps the values in lists, one for each; a loop behind it takes them out in order and does
what there was to do. Where that is one thing here and another there, a list says which it was, in order. All this is
the business of others: the lists become arrays of the graph, the loop waits behind it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby

from .facts.environment import FunctionFacts
from .facts.kinds import UNKNOWN, Kind, Python, Shape, Tensor
from .facts.liveness import all_reads
from .facts.profile import FunctionNode
from .facts.staging import is_numpy, stage
from .facts.syntax import all_bound_names, blocks, is_named, names_in
from .making import assigned, called, expression, name
from .printing import is_print
from .promotion import Promotion
from .python_effects import (
    are_seen,
    is_effect,
    is_shown_in_graph,
    lasts,
    taken,
    with_name,
    writes,
)
from .rebuilding import rebuilt, with_body, with_origin
from .source import Names
from .stand_ins import NOTHING

ENDING = (ast.Return, ast.Raise, ast.Assert, ast.Try)
LEAVING = (ast.Break, ast.Continue)


def is_replay(node: ast.stmt) -> bool:
    """Whether a loop was made to come after another one, of the graph."""
    return hasattr(node, "replays")


def with_replays(facts: FunctionFacts, names: Names, tf: str) -> FunctionNode | None:
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
            later = node.body[i + 1 :]
            waits = any(_shows(facts, s) for s in node.body[:i] if is_replay(s))
            made = _OneBlock(facts, names, loop, later, waits).made()
            made = made or _Events(facts, names, loop, later, tf).made()
            if made is not None:
                return with_body(node, [*node.body[:i], *made, *node.body[i + 1 :]])
    return None


class _Replay:
    """What one loop does that only Python can, before what comes `later`.

    `totals` are the names that it sets, with the statements that do.
    """

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
        self.totals: dict[str, list[ast.stmt]] = {}

    def _taken(
        self, effect: ast.stmt
    ) -> tuple[ast.stmt, dict[str, ast.expr], list[str]] | None:
        """An effect with names for the tensors that it computes, these, and what else it takes from the loop.

        None where the rest of it does not last.
        """
        rest, values = taken(self.facts, self.names, effect)
        read = sorted(names_in(rest) & self.bound)
        if any(names_in(value) & self.totals.keys() for value in values.values()):
            return None
        own = {*values, *read, *self.totals}
        lasting = lasts(self.facts, rest, own, self.loop)
        return (rest, values, read) if lasting else None

    def _in_two(
        self,
        lists: dict[str, str],
        kept: dict[ast.stmt, list[ast.stmt]],
        done: list[ast.stmt],
    ) -> list[ast.stmt]:
        """The lists, the loop that fills them, and the loop that goes over them.

        `lists` are by what their items are called, `kept` is what stands in the place of each effect.
        """
        targets: list[ast.expr] = [ast.Name(n, ast.Store()) for n in lists]
        several = [name(s) for s in lists.values()]
        target = targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())
        over = several[0] if len(several) == 1 else called("zip", *several)
        replay = ast.For(target, over, done, [])
        replay.replays = True  # type: ignore[attr-defined]
        empty = [assigned(s, ast.List([], ast.Load())) for s in lists.values()]
        return [*empty, rebuilt(self.loop, lambda b: _keeping(b, kept)), replay]


class _OneBlock(_Replay):
    """What it does in one of its blocks; `waits` where something is shown before it that waits for the graph."""

    def __init__(
        self,
        facts: FunctionFacts,
        names: Names,
        loop: ast.For | ast.While,
        later: list[ast.stmt],
        waits: bool,
    ) -> None:
        super().__init__(facts, names, loop, later)
        self.waits = waits
        self.totals = _totals(facts, loop)
        self.bound -= self.totals.keys()
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
            parts = self._taken(effect)
            if parts is None:
                return None
            rest, values, read = parts
            for n in read:
                others = self._name(n, block, effect)
                rest, values[others] = with_name(rest, n, others), name(n)
            new = {n: v for n, v in values.items() if n not in lists}
            lists |= {n: self.names.fresh(_several(v)) for n, v in new.items()}
            kept[effect] = [
                with_origin(ast.Expr(called(f"{lists[n]}.append", v)), effect)
                for n, v in new.items()
            ]
            done.append(rest)
        return self._in_two(lists, kept, done) if lists else None

    def _found(self) -> Iterator[list[ast.stmt]]:
        """The one block in which Python does what no graph can, and the statements that do it."""
        totals = {s for nodes in self.totals.values() for s in nodes}
        found = [
            (b, [s for s in b if is_effect(self.facts, s) or s in totals])
            for b in _blocks(self.loop)
        ]
        found = [(block, effects) for block, effects in found if effects]
        if len(found) == 1 and (
            self.waits or not all(is_shown_in_graph(self.facts, s) for s in found[0][1])
        ):
            yield from found[0]

    def _hinders(self, block: list[ast.stmt], effects: list[ast.stmt]) -> bool:
        """Whether the loop may leave some of it out, or sees what is done."""
        first, last = block.index(effects[0]), block.index(effects[-1])
        between = (n for s in block[first:last] for n in ast.walk(s))
        seen = [s for s in effects if isinstance(s, ast.Expr)]
        return (
            any(isinstance(n, LEAVING) for n in between)
            or any(isinstance(n, ENDING) for n in ast.walk(self.loop))
            or are_seen(self.facts, seen, self.loop)
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


@dataclass
class _Event:
    """Effects that follow each other in a block, and what they take from the loop, by slots."""

    effects: list[ast.stmt]
    done: list[ast.stmt] = field(default_factory=list)
    given: dict[int, ast.expr] = field(default_factory=dict)


@dataclass
class _Slot:
    """A value that several events may have: what it is called, its list, and its kind."""

    name: str
    several: str
    kind: Tensor


class _Events(_Replay):
    """What it does in several of its blocks: one event or another."""

    def __init__(
        self,
        facts: FunctionFacts,
        names: Names,
        loop: ast.For | ast.While,
        later: list[ast.stmt],
        tf: str,
    ) -> None:
        super().__init__(facts, names, loop, later)
        self.promotion = Promotion(tf)
        self.slots: list[_Slot] = []

    @cached_property
    def kept(self) -> set[str]:
        """The names that are read after the loop."""
        return {n for s in self.later for n in all_reads(s)}

    def made(self) -> list[ast.stmt] | None:
        """The lists, the loop that fills them, and the loop that goes over them; None where there is nothing for it."""
        events = [
            _Event(run) for block in _blocks(self.loop) for run in self._runs(block)
        ]
        effects = [effect for event in events for effect in event.effects]
        if (
            len(events) < 2
            or all(is_shown_in_graph(self.facts, s) for s in effects)
            or any(isinstance(n, ENDING) for n in ast.walk(self.loop))
            or are_seen(self.facts, effects, self.loop)
            or not all(map(self._take, events))
            or not all(map(self._is_whole, events))
        ):
            return None
        told = self.names.fresh("events")
        kept: dict[ast.stmt, list[ast.stmt]] = {effect: [] for effect in effects}
        for i, event in enumerate(events):
            kept[event.effects[0]] = self._told(i, event, told)
        number = self.names.fresh("event")
        lists = {number: told, **{slot.name: slot.several for slot in self.slots}}
        return self._in_two(lists, kept, _by_number(number, events))

    def _runs(self, block: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
        """The effects of a block that follow each other."""
        for effects, run in groupby(block, lambda s: is_effect(self.facts, s)):
            if effects:
                yield [*run]

    def _take(self, event: _Event) -> bool:
        """Note what an event takes from the loop; whether tensors hold it, and the rest lasts."""
        places: dict[str, int] = {}
        for effect in event.effects:
            parts = self._taken(effect)
            if parts is None:
                return False
            rest, values, read = parts
            values |= {n: name(n) for n in read}
            for word, value in values.items():
                if word not in places:
                    place = self._slot(word, self._kind(value, effect), event)
                    if place is None:
                        return False
                    places[word] = place
                    event.given[place] = value
                rest = with_name(rest, word, self.slots[places[word]].name)
            event.done.append(rest)
        return True

    def _kind(self, value: ast.expr, effect: ast.stmt) -> Kind:
        if not isinstance(value, ast.Name):
            return self.facts.kind(value)
        before = self.facts.before.get(effect)
        return before.kinds.get(value.id, UNKNOWN) if before else UNKNOWN

    def _slot(self, word: str, kind: Kind, event: _Event) -> int | None:
        """The place of a value of an event: one that others have, where it fits; None where no tensor holds it."""
        kind = stage(kind)
        if not isinstance(kind, Tensor) or kind.mixed or is_numpy(kind):
            return None
        fitting = [
            i
            for i, slot in enumerate(self.slots)
            if i not in event.given
            and (slot.kind.dtype, slot.kind.weak, slot.kind.shape)
            == (kind.dtype, kind.weak, kind.shape)
        ]
        for i in fitting:
            if self.slots[i].several == several_of(word):
                return i
        if fitting:
            return fitting[0]
        fresh = self.names.fresh(word) if word in self.kept else word
        self.slots.append(_Slot(fresh, self.names.fresh(several_of(word)), kind))
        return len(self.slots) - 1

    def _is_whole(self, event: _Event) -> bool:
        """Whether something stands for every value that an event has not: a number, or zeros of a known size."""
        missing = [s.kind for i, s in enumerate(self.slots) if i not in event.given]
        return all(k.weak or _is_static(k.shape) for k in missing)

    def _told(self, number: int, event: _Event, told: str) -> list[ast.stmt]:
        """The statements that keep an event and its values."""
        made = [called(f"{told}.append", ast.Constant(number))]
        for i, slot in enumerate(self.slots):
            value = event.given.get(i) or self._nothing(slot.kind)
            made.append(called(f"{slot.several}.append", value))
        return [with_origin(ast.Expr(call), event.effects[0]) for call in made]

    def _nothing(self, kind: Tensor) -> ast.expr:
        """What stands for a value of a kind that an event has not."""
        if kind.weak:
            return ast.Constant(NOTHING[kind.weak])
        return expression(self.promotion.zero(kind))


def _by_number(number: str, events: list[_Event]) -> list[ast.stmt]:
    """What is done for the event of a number."""
    *first, last = events
    body = last.done
    for i, event in reversed([*enumerate(first)]):
        test = ast.Compare(name(number), [ast.Eq()], [ast.Constant(i)])
        body = [ast.If(test, event.done, body)]
    return body


def _keeping(
    body: list[ast.stmt], kept: dict[ast.stmt, list[ast.stmt]]
) -> list[ast.stmt]:
    """A block of a loop with what keeps the values of effects in their place."""
    made: list[ast.stmt] = []
    for node in body:
        if node in kept:
            made += kept[node]
        else:
            made.append(rebuilt(node, lambda b: _keeping(b, kept)))
    return made


def _shows(facts: FunctionFacts, node: ast.stmt) -> bool:
    """Whether something prints, or writes to one of Python's streams."""
    inner = (n for n in ast.walk(node) if isinstance(n, ast.stmt))
    return any(is_print(facts, n) or writes(n) for n in inner)


def _totals(
    facts: FunctionFacts, loop: ast.For | ast.While
) -> dict[str, list[ast.stmt]]:
    """The names that start as Python numbers and to which a loop adds NumPy's, with the statements that do.

    Nothing else in the loop reads them, but for what it shows.
    """
    before = facts.before.get(loop)
    if before is None:
        return {}
    found: dict[str, list[ast.stmt]] = {}
    shown: list[ast.stmt] = []
    for node in (n for block in _blocks(loop) for n in block):
        match node:
            case (
                ast.AugAssign(target=ast.Name(id=word), value=added)
                | ast.Assign(
                    targets=[ast.Name(id=word)],
                    value=ast.BinOp(left=ast.Name(), right=added),
                )
            ) if isinstance(before.kinds.get(word), Python) and is_numpy(
                facts.kind(added)
            ):
                found.setdefault(word, []).append(node)
            case _ if is_effect(facts, node):
                shown.append(node)
    for word in list(found):
        own = {n for s in (*found[word], *shown) for n in ast.walk(s)}
        named = (n for n in ast.walk(loop) if is_named(n, word))
        if not all(n in own for n in named):
            del found[word]
    return found


def _is_static(shape: Shape) -> bool:
    return shape is not None and None not in shape


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    for block in blocks(node):
        yield block
        for inner in block:
            yield from _blocks(inner)


def _several(value: ast.expr) -> str:
    """What to call a list of such values."""
    return several_of(value.id if isinstance(value, ast.Name) else "value")


def several_of(word: str) -> str:
    """What to call a list of what goes by a name."""
    if len(word) == 1:
        return f"{word}_values"
    return f"{word}es" if word.endswith("s") else f"{word}s"
