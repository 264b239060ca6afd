"""What `if`, loops, `with` and `try` do, as the interpreter walks a function: loops to a fixpoint."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from .environment import Environment, Flow, merge
from .execution_assignments import AssignmentExecution
from .kind_joins import join
from .kind_parts import has_unknown
from .kinds import UNKNOWN, Dataset, Dict, Iterator, Kind, Python, Sequence, Tensor
from .last_sizes import kept
from .signs import nonzero_inside
from .staging import choose, host_join, stage
from .syntax import assigned_in, bound_names, names_in, returns

MOST_ROUNDS = 12
TAPE = "tensorflow.GradientTape"
HARMLESS_CONTEXTS = frozenset({TAPE, "tensorflow.name_scope", "tensorflow.device"})


class ControlExecution(AssignmentExecution):
    """Takes the ways that control may go, and merges what they leave."""

    # ---- if

    def _if(self, node: ast.If, environment: Environment) -> Flow:
        truth = self.test(node.test, environment)
        staged = truth == "tensor"
        if truth is True or truth is False:
            flow = self.block(node.body if truth else node.orelse, environment)
            self.facts.arms[node] = (flow.end, None) if truth else (None, flow.end)
            return flow
        if staged:
            self.facts.staged.add(node)
        with self.control(node, staged):
            then = self.block(node.body, self.narrowed(node.test, True, environment))
            other = self.block(
                node.orelse, self.narrowed(node.test, False, environment)
            )
        self.facts.arms[node] = (then.end, other.end)
        end = merge([then.end, other.end], choose if staged else host_join)
        if staged and end is not None:
            self._restore(assigned_in(node), environment, end)
            self._check_keys(node, then.end, other.end)
            _stage_partly_bound(then.end, other.end, end)
        if not staged and then.end and other.end and end:
            end.missing |= then.end.kinds.keys() ^ other.end.kinds.keys()
        return Flow(end, then.breaks + other.breaks, then.continues + other.continues)

    def _check_keys(
        self, node: ast.If, then: Environment | None, other: Environment | None
    ) -> None:
        """Refuse dicts that a tensor gives a key, or takes one: the arms of a graph give dicts of the same keys."""
        if then is None or other is None:
            return
        for name, kind in then.kinds.items():
            found = other.kinds.get(name)
            if isinstance(kind, Dict) and isinstance(found, Dict):
                differing = dict(kind.items).keys() ^ dict(found.items).keys()
                if differing:
                    reason = f"`{name}` has the key {min(differing)!r} after one arm only: give it that key before"
                    self.problem(reason, node, "GL204")

    def _match(self, node: ast.Match, environment: Environment) -> Flow:
        kind = self.evaluate(node.subject, environment)
        self.problem(f"`match` on {kind}", node, "GL110")
        self.operation()
        return Flow(environment)

    # ---- loops

    def _while(self, node: ast.While, environment: Environment) -> Flow:
        def enter(head: Environment) -> tuple[bool, bool]:
            truth = self.test(node.test, head)
            staged = truth == "tensor" or hasattr(node, "stops")
            return staged, truth is not True

        marks = self.marks()
        self._note_run(node, self.test(node.test, environment.copy()) is True)
        self.rewind(marks)
        return self._loop(node, environment, enter)

    def _note_run(self, node: ast.While | ast.For, surely: bool) -> None:
        """Note whether a loop surely runs its body once."""
        if surely:
            self.facts.runs.add(node)
        else:
            self.facts.runs.discard(node)

    def _for(self, node: ast.For, environment: Environment) -> Flow:
        iterable = self.evaluate(node.iter, environment)
        ended = hasattr(node, "stops")
        staged = ended or self.iterates_in_graph(node.iter, iterable)
        element = self.observed_element(iterable)
        if element is None:
            self.problem(f"what a loop over {iterable} gives is not known", node.iter)
            element = UNKNOWN
        if isinstance(iterable, Dataset | Iterator) and has_unknown(element):
            self.problem(
                f"what the elements of {iterable} are is not known", node.iter, "GL106"
            )
        items = iterable.items if isinstance(iterable, Sequence) else ()
        if items and (ended or not staged):
            element = items[0]
            for item in items[1:]:
                element = choose(element, item) if ended else join(element, item)
        if staged:
            held = stage(element)
            whole = isinstance(element, Sequence) and held == UNKNOWN
            element = element if whole else held
        self._note_run(node, self.runs_at_least_once(node.iter, iterable))

        def enter(head: Environment) -> tuple[bool, bool]:
            return staged, True

        def start(head: Environment) -> None:
            self.assign(node.target, element, head)
            if nonzero := nonzero_inside(node):
                head.nonzero |= {nonzero}

        return self._loop(node, environment, enter, start)

    def _loop(
        self,
        node: ast.While | ast.For,
        environment: Environment,
        enter: Callable[[Environment], tuple[bool, bool]],
        start: Callable[[Environment], None] = lambda head: None,
    ) -> Flow:
        """To a fixpoint. `enter` evaluates the test (staged?, may it fail?), `start` binds a for loop's target."""
        head = environment.copy()
        marks = self.marks()
        before, settled = self.session.state(), False
        in_graph = False
        for _ in range(MOST_ROUNDS):
            self.rewind(marks)
            tested = head.copy()
            staged, may_end = enter(tested)
            staged = staged or in_graph or node in self.facts.exits
            both = choose if staged else host_join
            if staged:
                self.rewind(marks)
                self.facts.staged.add(node)
                # what Python's rounds would leave is not what the graph's do
                head = self._carried(node, head if in_graph else environment)
                in_graph = True
                tested = head.copy()
                _, may_end = enter(tested)
            inside = tested.copy()
            with self.control(node, staged):
                start(inside)
                body = self.block(node.body, inside)
            if not staged and node in self.facts.exits:
                continue
            entry = _staged(environment, head) if staged else environment
            grown = merge([entry, body.end, *body.continues], both)
            if staged and grown is not None:
                self._restore(self._set_in_rounds(node), environment, grown)
                grown = _widened(self._carried(node, grown), head)
                self._keep_last_sizes(node, environment, grown)
            elif grown is not None:
                grown.missing |= grown.kinds.keys() - environment.kinds.keys()
            if grown is None or _same(grown, head):
                if settled or not self.session.tells_less(before):
                    break
                self.session.restore(before)
                settled = True
                continue
            head = grown
        else:
            self.problem(
                "what the loop's variables hold does not settle", node, "GL104"
            )
        self.facts.heads[node] = head
        self.facts.ends[node] = (
            merge([body.end, *body.continues], both) or Environment()
        )
        exhausted = tested if may_end else None
        if node in self.facts.runs:
            exhausted = merge([body.end, *body.continues], both)
            if exhausted is not None:
                enter(exhausted)
                enter(head.copy())  # what is known of the test holds at every round
        other = Flow(exhausted)
        if node.orelse and other.end is not None:
            with self.control(node, staged and bool(body.breaks), loop=False):
                other = self.block(node.orelse, other.end)
        end = merge([other.end, *body.breaks], both)
        if staged and end is not None:
            self._restore(assigned_in(node), environment, end)
        return Flow(end, other.breaks, other.continues)

    def _keep_last_sizes(
        self, node: ast.While | ast.For, entry: Environment, head: Environment
    ) -> None:
        """Give what a loop hands to layers a last size where it is known."""
        if self.recorded is None:
            return
        is_layer = self.session.instances.is_layer
        calls = [n for s in node.body for n in ast.walk(s) if isinstance(n, ast.Call)]
        if self.facts.unsized_calls.intersection(calls):
            return
        layers = [c for c in calls if is_layer(self.facts.kind(c.func))]
        given = {n for c in layers for a in c.args for n in names_in(a)}
        for name in given & head.kinds.keys():
            seen = self.recorded.carried(self.facts.definition.node, node, name)
            head.kinds[name] = kept(seen, entry.kinds.get(name), head.kinds[name])

    def _restore(
        self, assigned: set[str], before: Environment, after: Environment
    ) -> None:
        """Python values that a staged statement does not set stay Python's, alone or in a structure."""
        for name in before.kinds.keys() & after.kinds.keys() - assigned:
            kind = before.kinds[name]
            if isinstance(kind, Python) or after.kinds[name] == stage(kind) != UNKNOWN:
                after.kinds[name] = kind

    def _carried(self, node: ast.While | ast.For, head: Environment) -> Environment:
        """The head of a staged loop: what its body sets lives in the graph."""
        staged = head.copy()
        for name in self._set_in_rounds(node):
            if name in staged.kinds:
                staged.kinds[name] = stage(staged.kinds[name])
        return staged

    def _set_in_rounds(self, node: ast.While | ast.For) -> set[str]:
        """The names that the rounds of a loop set, its `else` apart."""
        return set(bound_names(node)).union(*map(assigned_in, node.body))

    # ---- with, try

    def _with(self, node: ast.With, environment: Environment) -> Flow:
        for item in node.items:
            kind = self.evaluate(item.context_expr, environment)
            name = str(getattr(kind, "name", ""))
            if name not in HARMLESS_CONTEXTS or (item.optional_vars and name != TAPE):
                self.problem("this context manager is not known", item.context_expr)
            if item.optional_vars:
                self.assign(item.optional_vars, kind, environment)
        return self.block(node.body, environment)

    def _try(self, node: ast.Try, environment: Environment) -> Flow:
        entry = environment.copy()
        if node.handlers:
            self.problem("`try` around tensor work is not lifted", node, "GL211")
        flow = self.block(node.body, environment)
        if flow.end is None or flow.breaks or flow.continues or returns(node.body):
            self.problem("`finally` after an exit is not lifted", node, "GL211")
        if node.orelse and flow.end is not None:
            flow = self.block(node.orelse, flow.end)
        ends = [flow.end]
        for handler in node.handlers:
            caught = entry.copy()
            if handler.name:
                caught.bind(handler.name, UNKNOWN)
            ends.append(self.block(handler.body, caught).end)
        end = merge(ends, host_join)
        if node.finalbody and end is not None:
            return self.block(node.finalbody, end)
        return Flow(end, flow.breaks, flow.continues)


def _stage_partly_bound(
    then: Environment | None, other: Environment | None, end: Environment
) -> None:
    """What only one arm of the graph binds is held in the graph after it."""
    if then is not None and other is not None:
        for name in then.kinds.keys() ^ other.kinds.keys():
            staged = stage(end.kinds[name])
            if staged != UNKNOWN:
                end.kinds[name] = staged


def _staged(entry: Environment, head: Environment) -> Environment:
    """The entry of a staged loop, with what the loop carries held in the graph."""
    result = entry.copy()
    for name, kind in entry.kinds.items():
        if name in head.kinds and kind != head.kinds[name]:
            result.kinds[name] = stage(kind)
    return result


def _same(a: Environment, b: Environment) -> bool:
    alike = (a.kinds, a.unsure, a.missing, a.nonzero) == (
        b.kinds,
        b.unsure,
        b.missing,
        b.nonzero,
    )
    return alike and all(
        _numbers(kind) == _numbers(b.kinds[name]) for name, kind in a.kinds.items()
    )


def _widened(grown: Environment, head: Environment) -> Environment:
    """What the next round of a loop begins with: numbers that change from round to round are any."""
    for name, kind in grown.kinds.items():
        if isinstance(kind, Tensor) and _numbers(kind) != _numbers(
            head.kinds.get(name)
        ):
            grown.kinds[name] = replace(kind, numbers=None)
    return grown


def _numbers(kind: Kind | None) -> tuple[int | float, ...] | None:
    return kind.numbers if isinstance(kind, Tensor) else None
