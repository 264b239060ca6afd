"""GL107 loop-exit: break, continue and return that a tensor decides become values and other arms.

From a function's body to one that does the same without those exits. An arm that always exits takes the rest of its
block into the other arm; only where an exit stands deeper is a flag needed.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable
from dataclasses import dataclass, replace

from .exit_places import ExitPlaces, Loop, Place
from .facts.environment import FunctionFacts
from .facts.kinds import Python
from .facts.profile import FunctionNode
from .facts.staging import is_numpy
from .facts.syntax import is_none, own_nodes, own_start
from .findings import Refusal
from .leaving import always_leaves, has_own, is_endless, set_before_breaks
from .loop_tests import ended_first, naming_inside, running
from .making import any_of, assigned, called, name, negated, none_of
from .rebuilding import duplicated, rebuilt, with_origin
from .rule import Rule
from .source import Names

MOST_REPEATED = 6
"""How many expressions a returned one may be of, to be written in several arms."""


class LoopExit(Rule):
    """A `break`, `continue`, `return` or `else` of a loop that a tensor decides.

    What it finds:
        Exits from a loop under a test on a tensor, in tensor loops and in Python loops.

    Why it matters:
        A graph's loop ends by its condition alone. AutoGraph refuses `return` in a tensor loop and `break` in a
        Python loop.

    Before:
        import tensorflow as tf

        def f(values: tf.Tensor):
            total = tf.constant(0.0)
            for v in values:
                if v < 0.0:
                    break
                total = total + v
            return total

        ARGS = [(tf.constant([1.0, 2.0, -1.0]),), (tf.constant([-4.0]),), (tf.zeros([0]),)]

    After:
        import tensorflow as tf

        @tf.function(autograph=False, input_signature=[tf.TensorSpec([None], tf.float32)])
        def f(values: tf.Tensor):
            total = tf.constant(0.0)

            def body(i, ended, total):
                v = values[i]
                ended = v < 0.0
                total = tf.cond(ended, lambda: total, lambda: total + v)
                return i + 1, ended, total

            _, _, total = tf.while_loop(
                lambda i, ended, total: tf.logical_and(
                    i < tf.shape(values)[0], tf.logical_not(ended)
                ),
                body,
                (tf.constant(0), tf.constant(False), total),
            )
            return total

        ARGS = [(tf.constant([1.0, 2.0, -1.0]),), (tf.constant([-4.0]),), (tf.zeros([0]),)]

    When it is left alone:
        Exits inside `try` with `except`, and returns of values that no one tensor can hold.
    """

    code = "GL107"
    name = "loop-exit"
    errors = (
        r"a return statement cannot be placed inside this TensorFlow loop",
        r"(break|continue).*TensorFlow loop",
    )


@dataclass(frozen=True)
class _Made:
    """What a statement became: its own statements, the flags that tell how it was left, what is to follow it.

    `leaves`: the function is always left by it.
    """

    body: list[ast.stmt]
    flags: list[str]
    rest: list[ast.stmt]
    leaves: bool = False


def without_exits(facts: FunctionFacts, names: Names) -> FunctionNode | None:
    """The function with no exit left that a tensor decides, other than returns that end both arms of an `if`.

    None where it has no other.

    Raises:
        Refusal: an exit stands where it cannot be moved.
    """
    node = facts.definition.node
    lowering = _Lowering(facts, names)
    body = lowering.block(node.body, Place())
    if body == node.body:
        return None
    made = copy.copy(node)
    start = own_start(node)
    body[start:start] = [_set(flag, False) for flag in lowering.left]
    made.body = body
    return made


class _Lowering:
    """Takes the exits out of one function."""

    def __init__(self, facts: FunctionFacts, names: Names) -> None:
        self.facts = facts
        self.names = names
        self.places = ExitPlaces(facts, names)
        self.left: dict[str, ast.expr] = {}
        """The flags that tell of returns, with what is returned then; an exception has one of its own."""
        self.result: str | None = None
        self.gives = any(
            isinstance(n, ast.Return) and not _is_none(n.value)
            for n in own_nodes(facts.definition.node)
        )
        """Whether the function returns anything but None."""

    # ---- blocks

    def block(self, body: list[ast.stmt], place: Place) -> list[ast.stmt]:
        """A block without exits that cannot stay."""
        result: list[ast.stmt] = []
        if body and not self.places.is_reached(body[0]):
            loose = any(has_own(s, ast.Break | ast.Continue) for s in body)
            return body if place.in_python_loop or not loose else []
        for i, node in enumerate(body):
            if isinstance(node, ast.Break | ast.Continue | ast.Return):
                return [*result, *self._exit(node, place)]
            rest = body[i + 1 :]
            made = self._statement(node, rest, place)
            result += made.body
            if made.flags or made.rest is not rest:
                return [*result, *self._following(made, place)]
        return result

    def _statement(self, node: ast.stmt, rest: list[ast.stmt], place: Place) -> _Made:
        if isinstance(node, ast.For | ast.While):
            if self.places.is_graph(node):
                return self._graph_loop(node, rest)
            return self._python_loop(node, rest, place)
        if not any(self.places.moved(node, place)):
            inside = self.places.inside(node, place)
            return _Made(
                [rebuilt(node, lambda block: self.block(block, inside))], [], rest
            )
        if isinstance(node, ast.If):
            return self._if(node, rest, place)
        if isinstance(node, ast.With) or (
            isinstance(node, ast.Try) and not node.handlers and not node.orelse
        ):
            return self._within(node, rest, place)
        raise Refusal("an exit inside this statement is not lifted", node, "GL107")

    def _exit(
        self, node: ast.Break | ast.Continue | ast.Return, place: Place
    ) -> list[ast.stmt]:
        if isinstance(node, ast.Return):
            if place.free or place.ends:
                return [node]
            leave: list[ast.stmt] = [ast.Break()] if place.in_python_loop else []
            return [*self._leave(node), *leave]
        if place.in_python_loop:
            return [node]
        assert place.loop is not None
        if isinstance(node, ast.Break):
            if place.loop.flagged:
                return []
            return [with_origin(_set(place.loop.end(), True), node)]
        if place.guarded:
            return [with_origin(_set(place.loop.skip(), True), node)]
        return []

    def _leave(self, node: ast.Return) -> list[ast.stmt]:
        value = node.value or ast.Constant(None)
        if self._is_failure(value):
            return [with_origin(_set(self._flag("failed", value), True), node)]
        if not self.gives:
            return [with_origin(_set(self._flag("returned", value), True), node)]
        self.result = self.result or self.names.fresh("result")
        given = ast.Assign([ast.Name(self.result, ast.Store())], value)
        leave = _set(self._flag("returned", name(self.result)), True)
        return [with_origin(given, node), leave]

    def _is_failure(self, value: ast.expr) -> bool:
        """Whether what is returned stands for an exception."""
        definition = self.facts.definition
        match value:
            case ast.Tuple(elts=[ast.Constant(value=str() as text), *_]):
                return text in definition.failures
        return definition.failure is not None and is_none(value)

    def _flag(self, base: str, value: ast.expr) -> str:
        """The flag that tells of the returns of this value."""
        same = (f for f, v in self.left.items() if ast.dump(v) == ast.dump(value))
        flag = next(same, None) or self.names.fresh(base)
        self.left[flag] = value
        return flag

    def _return(self, flag: str) -> ast.Return:
        return ast.Return(copy.deepcopy(self.left[flag]))

    def _following(self, made: _Made, place: Place) -> list[ast.stmt]:
        """What follows a statement that may have been left by its flags."""
        if not made.flags:
            return self.block(made.rest, place)
        left = [flag for flag in made.flags if flag in self.left]
        inside = replace(place, staged=True, free=False)
        if left and place.ends:
            last = left.pop() if made.leaves else None
            following: list[ast.stmt] = (
                [self._return(last)] if last else _closed(self.block(made.rest, inside))
            )
            for flag in reversed(left):
                following = [_if(name(flag), [self._return(flag)], following)]
            return following
        if left and place.in_python_loop:
            out = _if(any_of(left), [ast.Break()], [])
            return [out, *self.block(made.rest, place)]
        following = self.block(made.rest, inside)
        return [_if(none_of(made.flags), following, [])] if following else []

    # ---- branches

    def _if(self, node: ast.If, rest: list[ast.stmt], place: Place) -> _Made:
        then_always, other_always = always_leaves(node.body), always_leaves(node.orelse)
        inside = self.places.inside(node, place)
        repeats = place.ends and _is_short(rest)
        if not (then_always or other_always or not rest or repeats):
            made = _like(
                node, self.block(node.body, inside), self.block(node.orelse, inside)
            )
            return _Made([made], self._flags(made, place), rest)
        inside = replace(inside, ends=place.ends, guarded=place.guarded)
        again = rest if then_always or not repeats else duplicated(rest)
        other = self.block(
            node.orelse if other_always else [*node.orelse, *again], inside
        )
        if self._is_end(node, place):
            assert place.loop is not None
            test = node.test
            if is_numpy(self.facts.kind(test)):
                test = called("bool", test)
            found = with_origin(assigned(place.loop.end(), test), node)
            arms = [_if(name(place.loop.end()), [], other)] if other else []
            return _Made([found, *arms], [], [])
        then = self.block(node.body if then_always else [*node.body, *rest], inside)
        if place.ends and not inside.free:
            then, other = _closed(then), _closed(other)
        return _Made([_like(node, then, other)], [], [])

    def _is_end(self, node: ast.If, place: Place) -> bool:
        """Whether all that a branch does first is to end a loop of the graph, by a bool."""
        return (
            isinstance(node.body[0], ast.Break)
            and not place.in_python_loop
            and getattr(self.facts.kind(node.test), "dtype", None) == "bool"
        )

    def _within(
        self, node: ast.With | ast.Try, rest: list[ast.stmt], place: Place
    ) -> _Made:
        """A `with` or `try`: what is left inside is left after it."""
        always = always_leaves([node])
        rest = [] if always else rest
        inside = replace(
            self.places.inside(node, place), guarded=place.guarded or bool(rest)
        )
        if isinstance(node, ast.With):
            inside = replace(inside, ends=place.ends and not rest)
        elif any(any(self.places.moved(s, inside)) for s in node.finalbody):
            raise Refusal("an exit inside `finally` is not lifted", node, "GL107")
        made = rebuilt(node, lambda block: self.block(block, inside))
        flags = self._flags(made, place)
        leaves = always and all(flag in self.left for flag in flags)
        return _Made([made], flags, rest, leaves)

    # ---- loops

    def _graph_loop(self, node: ast.For | ast.While, rest: list[ast.stmt]) -> _Made:
        made, after = ended_first(naming_inside(node))
        flag = self._own_flag(node, made)
        loop = Loop(self.names, graph=True, ended=flag, flagged=flag is not None)
        inside = Place(loop, staged=True, free=False, ends=False)
        body = self.block(made.body, inside)
        found = _set_in(body)
        flags = [flag for flag in self.left if flag in found]
        stops = [f for f in (loop.ended, *flags) if f]
        changed = bool(stops) or made is not node or body != node.body or node.orelse
        if not changed and not self._lacks_stops(node):
            return _Made([node], [], rest)
        made = copy.copy(made)
        with_origin(made, node)
        if loop.skipped is not None:
            body = [_set(loop.skipped, False), *body]
        made.body = body or [ast.Pass()]
        made.orelse = []
        endless = is_endless(made) and loop.ended is None
        if isinstance(made, ast.While):
            made.test = running(made.test, stops)
        elif stops or node in self.facts.exits or self._lacks_stops(node):
            made.stops = (*getattr(node, "stops", ()), *stops)  # type: ignore[attr-defined]
        before = [_set(loop.ended, False)] if loop.ended and not flag else []
        following = [*after, *self._otherwise(node, loop), *rest]
        return _Made([*before, made], flags, [] if endless else following, endless)

    def _own_flag(
        self, node: ast.For | ast.While, made: ast.For | ast.While
    ) -> str | None:
        """A name that is False before a loop, and that only the statements right before its breaks set: to True."""
        flags = list(set_before_breaks(made.body))
        flag = flags[0] if flags else None
        before = self.facts.before.get(node)
        if flag is None or set(flags) != {flag} or before is None:
            return None
        stores = [
            n
            for n in ast.walk(made)
            if isinstance(n, ast.Name)
            and n.id == flag
            and not isinstance(n.ctx, ast.Load)
        ]
        is_false = before.kinds.get(flag) == Python("bool", False)
        return flag if is_false and len(stores) == len(flags) else None

    def _lacks_stops(self, node: ast.For | ast.While) -> bool:
        """Whether a `for` is to become a loop of the graph though nothing in it says so."""
        return (
            isinstance(node, ast.For)
            and node not in self.facts.staged
            and not hasattr(node, "stops")
        )

    def _otherwise(self, node: ast.For | ast.While, loop: Loop) -> list[ast.stmt]:
        """The `else` of a loop of the graph, as what follows it."""
        if loop.ended is None or not node.orelse:
            return node.orelse
        made = _if(negated(name(loop.ended)), node.orelse, [])
        self.places.branches.add(made)
        return [made]

    def _python_loop(
        self, node: ast.For | ast.While, rest: list[ast.stmt], place: Place
    ) -> _Made:
        loop = Loop(self.names, graph=False)
        inside = Place(loop, free=place.free, ends=False)
        around = replace(place, ends=False, guarded=True)
        body, orelse = self.block(node.body, inside), self.block(node.orelse, around)
        if loop.skipped is not None:
            body.insert(0, _set(loop.skipped, False))
        if body == node.body and orelse == node.orelse:
            return _Made([node], [], rest)
        made = copy.copy(node)
        with_origin(made, node)
        made.body, made.orelse = body or [ast.Pass()], orelse
        return _Made([made], self._flags(made, place), rest)

    # ---- questions

    def _flags(self, made: ast.stmt, place: Place) -> list[str]:
        """The flags by which what stands around a statement is left from inside it."""
        loop = place.loop
        names = [loop.ended, loop.skipped] if loop else []
        found = _set_in([made])
        return [n for n in (*names, *self.left) if n is not None and n in found]


def _set_in(body: Iterable[ast.stmt]) -> set[str]:
    """The names that statements set."""
    return {
        inner.id
        for node in body
        for inner in ast.walk(node)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
    }


def _is_short(rest: list[ast.stmt]) -> bool:
    """Whether what follows is one return that may as well stand in several arms."""
    match rest:
        case [ast.Return(value=value)]:
            return value is None or _size(value) <= MOST_REPEATED
    return False


def _size(node: ast.expr) -> int:
    """Of how many expressions one is made."""
    return sum(isinstance(n, ast.expr) for n in ast.walk(node))


def _is_none(node: ast.expr | None) -> bool:
    return node is None or is_none(node)


# ---- making nodes


def _closed(body: list[ast.stmt]) -> list[ast.stmt]:
    return body if always_leaves(body) else [*body, ast.Return(ast.Constant(None))]


def _like(node: ast.If, body: list[ast.stmt], orelse: list[ast.stmt]) -> ast.If:
    if body == node.body and orelse == node.orelse:
        return node
    made = copy.copy(node)
    made.body = body or [ast.Pass()]
    made.orelse = orelse
    with_origin(made, node)
    return made


def _if(test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt]) -> ast.If:
    return ast.If(test, body or [ast.Pass()], orelse)


def _set(name: str, value: bool) -> ast.Assign:
    return assigned(name, ast.Constant(value))
