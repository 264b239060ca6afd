"""GL107 loop-exit: break, continue and return that a tensor decides become values and other arms.

The first step of lifting: from a function's body to one that does the same without those exits. An arm that always
exits takes the rest of its block into the other arm; only where an exit stands deeper is a flag needed.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from dataclasses import dataclass, field

from .facts.environment import FunctionFacts
from .facts.modules import blocks
from .facts.profile import FunctionNode
from .findings import Refusal
from .rebuilding import duplicated, rebuilt, with_origin
from .rule import Rule
from .source import Names


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
        Exits inside `try`, and returns of values that no one tensor can hold.
    """

    code = "GL107"
    name = "loop-exit"
    errors = (
        r"a return statement cannot be placed inside this TensorFlow loop",
        r"break|continue.*TensorFlow loop",
    )


@dataclass
class _Loop:
    """The loop that is left: its flags' names, made when first needed."""

    node: ast.While | ast.For
    names: Names
    ended: str | None = None
    skipped: str | None = None

    def end(self) -> str:
        self.ended = self.ended or self.names.fresh("ended")
        return self.ended

    def skip(self) -> str:
        self.skipped = self.skipped or self.names.fresh("skipped")
        return self.skipped


@dataclass
class _Exits:
    facts: FunctionFacts
    names: Names
    returned: str | None = None
    result: str | None = None
    loops: list[_Loop] = field(default_factory=list)

    def leave(self) -> tuple[str, str]:
        self.returned = self.returned or self.names.fresh("returned")
        self.result = self.result or self.names.fresh("result")
        return self.returned, self.result


def without_exits(facts: FunctionFacts, names: Names) -> FunctionNode:
    """The function with no exit left that a tensor decides, other than returns that end both arms of an `if`.

    Raises:
        Refusal: an exit stands where it cannot be moved.
    """
    node = facts.definition.node
    exits = _Exits(facts, names)
    body = _tail(node.body, exits)
    made = copy.copy(node)
    if exits.returned is not None:
        body = [*_docstring(body), _set(exits.returned, False), *_after_docstring(body)]
    made.body = body
    return made


def needed(facts: FunctionFacts) -> bool:
    """Whether a function holds an exit that a tensor decides, other than returns that end both arms of an `if`."""
    return any(
        _unsettled(node, facts, ends=i == len(facts.definition.node.body) - 1)
        for i, node in enumerate(facts.definition.node.body)
    )


def _unsettled(node: ast.stmt, facts: FunctionFacts, ends: bool) -> bool:
    """Whether a statement has to be changed; `ends`: the function ends after it."""
    if isinstance(node, FunctionNode | ast.ClassDef):
        return False
    staged = node in facts.staged
    if staged and isinstance(node, ast.If):
        if _has_own(node, ast.Break | ast.Continue):
            return True
        if _may_return(node) and not (
            ends and _always(node.body) and _always(node.orelse)
        ):
            return True
    if isinstance(node, ast.For | ast.While):
        if node in facts.exits or (staged and (node.orelse or _exits_block(node.body))):
            return True
        ends = False
    for block in blocks(node):
        if any(
            _unsettled(s, facts, ends and i == len(block) - 1)
            for i, s in enumerate(block)
        ):
            return True
    return False


def _docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    match body:
        case [ast.Expr(value=ast.Constant(value=str())) as first, *_]:
            return [first]
    return []


def _after_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    return body[len(_docstring(body)) :]


# ---- the function's own level: returns may stay where they end the function


def _tail(body: list[ast.stmt], exits: _Exits) -> list[ast.stmt]:
    """A block at whose end the function ends."""
    result: list[ast.stmt] = []
    for i, node in enumerate(body):
        rest = body[i + 1 :]
        if not _touched(node, exits):
            result.append(node)
            if isinstance(node, ast.Return):
                return result
            continue
        if (
            isinstance(node, ast.If)
            and node in exits.facts.staged
            and _may_return(node)
        ):
            return [*result, *_split_if(node, rest, exits)]
        if isinstance(node, ast.For | ast.While):
            result += _loop(node, exits)
            if node in exits.facts.staged and _may_return(node):
                flag, value = exits.leave()
                leave: list[ast.stmt] = [ast.Return(_name(value))]
                return [*result, _if(_name(flag), leave, _closed(_tail(rest, exits)))]
            continue
        goes_on = rest and any(_falls_through(block) for block in blocks(node))
        if goes_on and isinstance(node, ast.If):
            then = _tail([*node.body, *rest], exits)
            other = _tail([*node.orelse, *duplicated(rest)], exits)
            return [*result, _like(node, _closed(then), _closed(other))]
        if goes_on:
            raise Refusal(
                "a return that a tensor decides, in a Python block after which the function goes on, is not lifted",
                node,
                "GL107",
            )
        result.append(rebuilt(node, lambda block: _tail(block, exits)))
    return result


def _falls_through(body: list[ast.stmt]) -> bool:
    """Whether a block may return, and may end without."""
    return any(map(_may_return, body)) and not _always(body)


def _closed(body: list[ast.stmt]) -> list[ast.stmt]:
    return body if body and _always(body) else [*body, ast.Return(ast.Constant(None))]


def _split_if(node: ast.If, rest: list[ast.stmt], exits: _Exits) -> list[ast.stmt]:
    """An `if` of which an arm may return: what follows goes into the arm that falls through."""
    then_always, other_always = _always(node.body), _always(node.orelse)
    if then_always or other_always or not rest:
        then = node.body if then_always else [*node.body, *rest]
        other = node.orelse if other_always else [*node.orelse, *rest]
        return [_like(node, _closed(_tail(then, exits)), _closed(_tail(other, exits)))]
    made = _like(node, _flag_exits(node.body, exits), _flag_exits(node.orelse, exits))
    flag, value = exits.leave()
    leave: list[ast.stmt] = [ast.Return(_name(value))]
    return [made, _if(_name(flag), leave, _closed(_tail(rest, exits)))]


# ---- inside loops


def _loop(node: ast.For | ast.While, exits: _Exits) -> list[ast.stmt]:
    """A loop whose exits are flags of its own; a Python loop that Python leaves stays as it is."""
    if node not in exits.facts.staged:
        return [rebuilt(node, lambda block: _inner_python(block, exits))]
    loop = _Loop(node, exits.names)
    simple = _ends_first(node)
    if simple is not None:
        return (
            [simple]
            if not _touched_inside(simple, exits)
            else _general(simple, loop, exits)
        )
    return _general(node, loop, exits)


def _general(node: ast.For | ast.While, loop: _Loop, exits: _Exits) -> list[ast.stmt]:
    exits.loops.append(loop)
    body = _block(node.body, exits)
    exits.loops.pop()
    made = copy.copy(node)
    with_origin(made, node)
    made.body = body or [ast.Pass()]
    made.orelse = []
    before: list[ast.stmt] = []
    stops = []
    if loop.ended is not None:
        before.append(_set(loop.ended, False))
        stops.append(loop.ended)
    if _may_return_own(node):
        stops.append(exits.leave()[0])
    if loop.skipped is not None:
        made.body = [_set(loop.skipped, False), *made.body]
    if isinstance(made, ast.While):
        made.test = _running(made.test, stops)
    elif stops or node in exits.facts.exits:
        made.stops = tuple(stops)  # type: ignore[attr-defined]
    result = [*before, made]
    if node.orelse:
        if _may_return_block(node.orelse):
            raise Refusal(
                "a return in the `else` of a loop is not lifted", node, "GL107"
            )
        other = _block(node.orelse, exits) if exits.loops else list(node.orelse)
        result += [_if(_all_not(stops), other, [])] if stops else other
    return result


def _ends_first(node: ast.For | ast.While) -> ast.While | None:
    """`while True: if c: break; ...` is `while not c: ...`, where nothing else breaks."""
    if not isinstance(node, ast.While) or node.orelse:
        return None
    match node:
        case ast.While(
            test=ast.Constant(value=True),
            body=[ast.If(test=test, body=[ast.Break()], orelse=[]), *rest],
        ):
            if rest and not any(
                isinstance(n, ast.Break | ast.Return | ast.Continue)
                for s in rest
                for n in ast.walk(s)
            ):
                made = copy.copy(node)
                made.test = _not(test)
                made.body = rest
                return made
    return None


def _running(test: ast.expr, stops: list[str]) -> ast.expr:
    going: list[ast.expr] = [_not(_name(flag)) for flag in stops]
    if not (isinstance(test, ast.Constant) and test.value is True):
        going.append(test)
    return (
        going[0] if len(going) == 1 else ast.BoolOp(ast.And(), going) if going else test
    )


def _block(body: list[ast.stmt], exits: _Exits) -> list[ast.stmt]:
    """A block inside a staged loop, its exits made flags."""
    result: list[ast.stmt] = []
    for i, node in enumerate(body):
        rest = body[i + 1 :]
        match node:
            case ast.Break():
                return [*result, _set(exits.loops[-1].end(), True)]
            case ast.Continue():
                return result
            case ast.Return():
                flag, value = exits.leave()
                given = node.value or ast.Constant(None)
                return [
                    *result,
                    ast.Assign([ast.Name(value, ast.Store())], given),
                    _set(flag, True),
                ]
            case ast.If() if _exits_block([node]):
                return [*result, *_exit_if(node, rest, exits)]
            case ast.For() | ast.While() if _touched(node, exits):
                result += _loop(node, exits)
                if node in exits.facts.staged and _may_return(node):
                    flag, _ = exits.leave()
                    return [*result, *_guarded(flag, rest, exits)]
            case ast.With() if _exits_block(node.body):
                raise Refusal("an exit inside `with` is not lifted", node, "GL107")
            case _:
                result.append(rebuilt(node, lambda block: _block(block, exits)))
    return result


def _exit_if(node: ast.If, rest: list[ast.stmt], exits: _Exits) -> list[ast.stmt]:
    then_always, other_always = _always(node.body), _always(node.orelse)
    if (
        then_always
        and isinstance(node.body[0], ast.Break)
        and _is_bool_test(node.test, exits)
    ):
        ended = exits.loops[-1].end()
        found = ast.Assign([ast.Name(ended, ast.Store())], node.test)
        ast.copy_location(found, node)
        _unplace(found)
        other = _block([*node.orelse, *rest], exits)
        return [found, _if(_name(ended), [ast.Pass()], other)] if other else [found]
    if then_always or other_always:
        then = node.body if then_always else [*node.body, *rest]
        other = node.orelse if other_always else [*node.orelse, *rest]
        return [_like(node, _block(then, exits) or [ast.Pass()], _block(other, exits))]
    made = _like(node, _flag_exits(node.body, exits), _flag_exits(node.orelse, exits))
    flags = [f for f in (_leaving(node, exits)) if f]
    guard: ast.expr = (
        _not(_name(flags[0]))
        if len(flags) == 1
        else ast.BoolOp(ast.And(), [_not(_name(f)) for f in flags])
    )
    following = _block(rest, exits)
    return [made, _if(guard, following, [])] if following else [made]


def _flag_exits(body: list[ast.stmt], exits: _Exits) -> list[ast.stmt]:
    """A block after which more follows: a `continue` in it has to be told apart."""
    result = _block(_with_skips(body, exits), exits)
    return result or ([ast.Pass()] if body else [])


class _Skips(ast.NodeTransformer):
    def __init__(self, flag: Callable[[], str]) -> None:
        self.flag = flag

    def visit_For(self, node: ast.For) -> ast.AST:
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_Continue(self, node: ast.Continue) -> list[ast.stmt]:
        return [_set(self.flag(), True), node]


def _with_skips(body: list[ast.stmt], exits: _Exits) -> list[ast.stmt]:
    if not any(_has_own(node, ast.Continue) for node in body):
        return body
    return _skipping(body, exits.loops[-1].skip)


def _skipping(body: list[ast.stmt], flag: Callable[[], str]) -> list[ast.stmt]:
    """The block with a flag set before each of its own `continue`s."""
    result: list[ast.stmt] = []
    for node in body:
        if isinstance(node, ast.Continue):
            result.append(_set(flag(), True))
        if isinstance(node, ast.If) and _has_own(node, ast.Continue):
            node = _like(node, _skipping(node.body, flag), _skipping(node.orelse, flag))
        result.append(node)
    return result


def _leaving(node: ast.If, exits: _Exits) -> list[str | None]:
    loop = exits.loops[-1] if exits.loops else None
    return [
        loop.ended if loop and _has_own(node, ast.Break) else None,
        loop.skipped if loop and _has_own(node, ast.Continue) else None,
        exits.returned if _may_return(node) else None,
    ]


def _guarded(flag: str, rest: list[ast.stmt], exits: _Exits) -> list[ast.stmt]:
    following = _block(rest, exits)
    return [_if(_not(_name(flag)), following, [])] if following else []


def _inner_python(body: list[ast.stmt], exits: _Exits) -> list[ast.stmt]:
    """A block inside a loop that stays Python's: a staged `continue` takes the rest into the other arm."""
    result: list[ast.stmt] = []
    for i, node in enumerate(body):
        if (
            isinstance(node, ast.If)
            and node in exits.facts.staged
            and _has_own(node, ast.Continue)
        ):
            if not (_always(node.body) or _always(node.orelse)):
                raise Refusal("this `continue` is not lifted", node, "GL107")
            rest = body[i + 1 :]
            then = (
                _without_continue(node.body)
                if _always(node.body)
                else [*node.body, *rest]
            )
            other = (
                _without_continue(node.orelse)
                if _always(node.orelse)
                else [*node.orelse, *rest]
            )
            made = _like(
                node,
                _inner_python(then, exits) or [ast.Pass()],
                _inner_python(other, exits),
            )
            return [*result, made]
        if isinstance(node, ast.For | ast.While):
            result += _loop(node, exits) if _touched(node, exits) else [node]
        else:
            result.append(rebuilt(node, lambda block: _inner_python(block, exits)))
    return result


def _without_continue(body: list[ast.stmt]) -> list[ast.stmt]:
    if not isinstance(body[-1], ast.Continue):
        raise Refusal("this `continue` is not lifted", body[-1], "GL107")
    return body[:-1]


# ---- questions


def _touched(node: ast.stmt, exits: _Exits) -> bool:
    """Whether a statement holds an exit that a tensor decides, or a staged loop with exits."""
    for inner in ast.walk(node):
        if inner in exits.facts.staged and isinstance(
            inner, ast.If | ast.For | ast.While
        ):
            if any(
                isinstance(n, ast.Break | ast.Continue | ast.Return)
                for n in ast.walk(inner)
            ):
                return True
            if isinstance(inner, ast.For | ast.While) and inner.orelse:
                return True
    return False


def _touched_inside(node: ast.stmt, exits: _Exits) -> bool:
    return any(_touched(inner, exits) for block in blocks(node) for inner in block)


def _always(body: list[ast.stmt]) -> bool:
    """Whether a block never falls through."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.Return | ast.Break | ast.Continue | ast.Raise):
        return True
    if isinstance(last, ast.If):
        return _always(last.body) and _always(last.orelse)
    return isinstance(last, ast.With) and _always(last.body)


def _exits_block(body: list[ast.stmt]) -> bool:
    return any(
        _has_own(node, ast.Break | ast.Continue) or _may_return(node) for node in body
    )


def _has_own(node: ast.AST, kinds: type | object) -> bool:
    """Whether a break or continue of the loop around a node stands in it."""
    if isinstance(node, kinds):  # type: ignore[arg-type]
        return True
    if isinstance(node, ast.For | ast.While):
        return any(_has_own(inner, kinds) for inner in node.orelse)
    if isinstance(node, FunctionNode | ast.Lambda | ast.ClassDef):
        return False
    return (
        any(_has_own(inner, kinds) for block in blocks(node) for inner in block)
        if isinstance(node, ast.stmt)
        else False
    )


def _may_return(node: ast.stmt) -> bool:
    return any(isinstance(n, ast.Return) for n in _own_statements(node))


def _may_return_own(node: ast.For | ast.While) -> bool:
    return _may_return_block(node.body)


def _may_return_block(body: list[ast.stmt]) -> bool:
    return any(map(_may_return, body))


def _own_statements(node: ast.stmt) -> list[ast.stmt]:
    if isinstance(node, FunctionNode | ast.ClassDef):
        return []
    return [
        node,
        *(
            inner
            for block in blocks(node)
            for s in block
            for inner in _own_statements(s)
        ),
    ]


def _is_bool_test(node: ast.expr, exits: _Exits) -> bool:
    return getattr(exits.facts.kind(node), "dtype", None) == "bool"


# ---- making nodes


def _like(node: ast.If, body: list[ast.stmt], orelse: list[ast.stmt]) -> ast.If:
    made = copy.copy(node)
    made.body = body
    made.orelse = orelse
    with_origin(made, node)
    return made


def _if(test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt]) -> ast.If:
    return ast.If(test, body or [ast.Pass()], orelse)


def _set(name: str, value: bool) -> ast.Assign:
    return ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value))


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _all_not(flags: list[str]) -> ast.expr:
    negated = [_not(_name(flag)) for flag in flags]
    return negated[0] if len(negated) == 1 else ast.BoolOp(ast.And(), negated)


def _not(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return node.operand
    return ast.UnaryOp(ast.Not(), node)


def _unplace(node: ast.stmt) -> None:
    """A made statement stands nowhere in the file."""
    for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
        if hasattr(node, name):
            delattr(node, name)
