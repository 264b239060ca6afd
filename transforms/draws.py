"""GL207 frozen-random and GL208 frozen-clock: what Python draws or reads anew on each call comes before the graph.

The rules, and the first step that makes a draw a statement of its own; `split` moves that before the core.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

from .extraction import note_names
from .facts.arrays import may_hold
from .facts.draws import GENERATORS
from .facts.environment import FunctionFacts
from .facts.kinds import (
    UNKNOWN,
    Array,
    Elements,
    Function,
    Kind,
    Object,
    Python,
    Sequence,
    Tensor,
    Variable,
)
from .facts.modules import blocks
from .facts.profile import FunctionNode
from .facts.session import Session
from .facts.staging import INTS, holds_tensor, is_weak
from .making import assigned, expression, name, placed
from .rebuilding import replaced, with_body, with_origin
from .rule import Rule
from .source import Names

CODES = frozenset({"GL207", "GL208"})
ZEROS = {"int": "0", "float": "0.0"}
DTYPES = {"int": "int64", "float": "float64"}
LEAVING = ast.Break | ast.Continue | ast.Return | ast.Raise | ast.Assert | ast.Try
PLAIN_TESTS = (
    ast.Compare,
    ast.BoolOp,
    ast.UnaryOp,
    ast.Constant,
    ast.Name,
    ast.Attribute,
    ast.cmpop,
    ast.boolop,
    ast.unaryop,
    ast.expr_context,
)
"""What a test is made of that may be asked twice."""
PLAIN_CALLS = (
    "builtins.",
    "method.",
    "list.",
    "dict.",
    "set.",
    "tensorflow.",
    "numpy.",
    "math.",
    "logging.",
)
"""Functions that draw nothing, but for those that are known to."""


class FrozenRandom(Rule):
    """Random numbers of Python, NumPy or TensorFlow's global stream.

    What it finds:
        Calls of `random`, `numpy.random`, their generators, `secrets`, and `tf.random` without a seed of its own.

    Why it matters:
        A graph keeps the number that Python or NumPy drew while it was traced; TensorFlow's own draws follow another
        stream in a graph than in eager mode, so that a seed no longer gives the same run.

    Before:
        import random

        import tensorflow as tf

        random.seed(1)

        def f(x: tf.Tensor):
            y = tf.sin(x)
            return y * random.random()

        ARGS = [(tf.constant(1.0),), (tf.constant(1.0),), (tf.constant(1.0),)]

    After:
        import random

        import tensorflow as tf

        random.seed(1)

        @tf.function(
            autograph=False,
            input_signature=[tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.float64)],
        )
        def f_graph(x, drawn):
            y = tf.sin(x)
            return y * tf.cast(drawn, y.dtype)


        def f(x: tf.Tensor):
            drawn = random.random()
            return f_graph(x, drawn)

        ARGS = [(tf.constant(1.0),), (tf.constant(1.0),), (tf.constant(1.0),)]

    When it is left alone:
        Draws that a tensor decides about, or whose number or arguments are known in the graph only, and those
        without tensor work around them.
    """

    code = "GL207"
    name = "frozen-random"


class FrozenClock(Rule):
    """The clock, files and the environment.

    What it finds:
        `time`, `datetime`, `os` and `open` in functions that work on tensors.

    Why it matters:
        A graph keeps what Python read while it was traced.

    Before:
        import time

        import tensorflow as tf

        START = time.time()

        def f(x: tf.Tensor):
            y = tf.sin(x)
            return y + float(time.time() >= START)

        ARGS = [(tf.constant(1.0),), (tf.constant(2.0),), (tf.constant(3.0),)]

    After:
        import time

        import tensorflow as tf

        START = time.time()

        @tf.function(
            autograph=False,
            input_signature=[tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.float64)],
        )
        def f_graph(x, read):
            y = tf.sin(x)
            return y + tf.cast(read, y.dtype)


        def f(x: tf.Tensor):
            read = float(time.time() >= START)
            return f_graph(x, read)

        ARGS = [(tf.constant(1.0),), (tf.constant(2.0),), (tf.constant(3.0),)]

    When it is left alone:
        Reads that a tensor decides about, and those that stand between tensor work which they measure.
    """

    code = "GL208"
    name = "frozen-clock"


def with_draws_apart(
    facts: FunctionFacts, session: Session, names: Names, tf: str
) -> FunctionNode | None:
    """The function with the first draw that stands among tensor work as a statement of its own, before that of it.

    None where no draw is left, or where it cannot be told whether, how often or of what it is drawn.
    """
    node = facts.definition.node
    taker = _Taker(facts, session, names, tf)
    works = False
    for i, statement in enumerate(node.body):
        works = works or computes(facts, statement)
        if not works or is_apart(statement) or not taker.draws(statement):
            continue
        if isinstance(statement, ast.Assign) and (
            taker.draws(statement) == [statement.value]
            or not computes(facts, statement.value)
        ):
            continue
        taken = taker.taken(statement)
        if taken is None:
            return None
        return with_body(node, [*node.body[:i], *taken, *node.body[i + 1 :]])
    return None


def is_apart(node: ast.stmt) -> bool:
    """Whether a statement was made to draw before another one."""
    return hasattr(node, "apart")


def computes(facts: FunctionFacts, node: ast.AST) -> bool:
    """Whether tensors have a part in this."""
    return any(
        holds_tensor(facts.kind(n)) for n in ast.walk(node) if isinstance(n, ast.expr)
    )


def measures(facts: FunctionFacts) -> bool:
    """Whether the function reads the clock more than once, to tell how long what stands between takes."""
    return sum(p.code == "GL208" for p in facts.problems) > 1


def may_draw(facts: FunctionFacts, node: ast.AST) -> bool:
    """Whether running this may draw, or read what changes."""
    codes = {id(p.node): p.code for p in facts.problems}
    return any(
        codes[id(n)] in CODES or not _is_plain(facts.kind(n.func))
        for n in _problem_calls(facts, node)
    )


def _is_plain(function: Kind) -> bool:
    if not isinstance(function, Function):
        return False
    receiver = function.receiver
    known = receiver != UNKNOWN and not (
        isinstance(receiver, Object) and receiver.name in GENERATORS
    )
    return known and function.name.startswith(PLAIN_CALLS)


@dataclass
class _Taker:
    """Takes draws out of the statements of a function: each gives the statement that draws, and the rest."""

    facts: FunctionFacts
    session: Session
    names: Names
    tf: str

    def draws(self, node: ast.AST) -> list[ast.Call]:
        """The draws in a piece of code, in the order of their evaluation."""
        codes = {id(p.node): p.code for p in self.facts.problems}
        wanted = {"GL207"} if measures(self.facts) else CODES
        return [
            n
            for n in _in_order(node)
            if isinstance(n, ast.Call) and codes.get(id(n)) in wanted
        ]

    def taken(self, statement: ast.stmt) -> tuple[ast.stmt, ast.stmt] | None:
        draws = self.draws(statement)
        others = [n for n in _problem_calls(self.facts, statement) if n not in draws]
        if not all(_is_plain(self.facts.kind(n.func)) for n in others):
            return None
        if not all(map(self._only_draws, draws)):
            return None
        call = draws[0]
        if _is_sure(statement, call):
            return self._out_of_expression(statement, call)
        if isinstance(statement, ast.If):
            return self._out_of_arms(statement, draws)
        if isinstance(statement, ast.For):
            return self._out_of_loop(statement, draws)
        return None

    def _only_draws(self, call: ast.expr) -> bool:
        """Whether a call does nothing besides, and needs no state that the function around may change."""
        parts = [self.facts.kind(n) for n in ast.walk(call) if isinstance(n, ast.expr)]
        if any(isinstance(kind, Variable) for kind in parts):
            return False
        called = self.facts.calls.get(call)  # type: ignore[call-overload]
        if called is None:
            return True
        inner = self.session.facts_of(called)
        only = all(p.code in CODES for p in inner.problems)
        return only and not inner.operations and not inner.effects

    def _out_of_expression(
        self, statement: ast.stmt, call: ast.expr
    ) -> tuple[ast.stmt, ast.stmt] | None:
        for node in [*self._around(statement, call), call]:
            if self._fits(node):
                drawn = self._fresh(call)
                return _apart(drawn, node), _rest(statement, {node: drawn})
        return None

    def _around(self, statement: ast.stmt, call: ast.expr) -> list[ast.expr]:
        """The expressions around a draw that are Python's alone, the largest first."""
        return [
            n
            for n in ast.walk(statement)
            if isinstance(n, ast.Call | ast.BinOp | ast.UnaryOp)
            and n is not call
            and _is_sure(n, call)
            and _is_sure(statement, n)
            and not computes(self.facts, n)
        ]

    def _fits(self, node: ast.expr) -> bool:
        """Whether a graph takes what a draw gives."""
        kind = self.facts.kind(node)
        number = isinstance(kind, Python) and kind.type in DTYPES
        return number or (isinstance(kind, Array | Tensor) and may_hold(kind))

    def _fresh(self, call: ast.expr) -> str:
        codes = {id(p.node): p.code for p in self.facts.problems}
        return self.names.fresh("read" if codes[id(call)] == "GL208" else "drawn")

    def _out_of_arms(
        self, node: ast.If, draws: list[ast.Call]
    ) -> tuple[ast.stmt, ast.stmt] | None:
        """A draw in an arm of an `if`, made where that arm is taken; one that stands in both arms is made anyway."""
        call = draws[0]
        twin = next((d for d in draws[1:] if ast.dump(d) == ast.dump(call)), None)
        if (
            twin is not None
            and _is_made_in(node.body, call)
            and _is_made_in(node.orelse, twin)
            and self._fits(call)
        ):
            drawn = self._fresh(call)
            return _apart(drawn, call), _rest(node, {call: drawn, twin: drawn})
        plain = all(isinstance(n, PLAIN_TESTS) for n in ast.walk(node.test))
        zero = ZEROS.get(getattr(self.facts.kind(call), "type", ""))
        arm = next((a for a in (node.body, node.orelse) if _is_made_in(a, call)), None)
        if not plain or computes(self.facts, node.test) or zero is None or arm is None:
            return None
        made, other = call, expression(zero)
        if arm is node.orelse:
            made, other = other, made
        drawn = self._fresh(call)
        choice = ast.IfExp(copy.deepcopy(node.test), made, other)
        return _apart(drawn, choice), _rest(node, {call: drawn})

    def _out_of_loop(
        self, loop: ast.For, draws: list[ast.Call]
    ) -> tuple[ast.stmt, ast.stmt] | None:
        """What each iteration of a loop draws, drawn before it, where the number of iterations is known then."""
        kinds = {self.facts.kind(d) for d in draws}
        leaves = hasattr(loop, "stops") or any(
            isinstance(n, LEAVING) for s in loop.body for n in ast.walk(s)
        )
        every = all(any(_is_sure(s, d) for s in loop.body) for d in draws)
        counted = self._counted(loop)
        if loop.orelse or leaves or not every or len(kinds) > 1 or counted is None:
            return None
        element = _element(kinds.pop())
        if element is None:
            return None
        dtype, dims, template = element
        index, count, made = counted
        drawn = self._fresh(draws[0])
        several = len(draws) > 1
        table = {
            d: template.format(f"{drawn}[{index}{f', {i}' if several else ''}]")
            for i, d in enumerate(draws)
        }
        texts = [ast.unparse(d) for d in draws]
        one = f"({', '.join(texts)})" if several else texts[0]
        text = (
            f"{self.tf}.convert_to_tensor([{one} for _ in {count}], {self.tf}.{dtype})"
        )
        sizes = [len(draws)] * several + dims
        if sizes:
            text = f"{self.tf}.reshape({text}, {[-1, *sizes]})"
        array = expression(text)
        array.drawn = Tensor(dtype, (None, *sizes))  # type: ignore[attr-defined]
        return _apart(drawn, array), _rest(made, table)

    def _counted(self, loop: ast.For) -> tuple[str, str, ast.For] | None:
        """How often a loop runs: the text of its index, of the range that it goes over, and the loop with that index."""
        stored = {
            n.id
            for s in loop.body
            for n in ast.walk(s)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        match loop:
            case ast.For(
                target=ast.Name(id=index),
                iter=ast.Call(
                    func=ast.Name(id="range") | ast.Attribute(attr="range"),
                    args=[*first, stop],
                    keywords=[],
                ),
            ) if index not in stored and len(first) < 2:
                start = [getattr(a, "value", None) for a in first]
                end = self._number(stop)
                if end is None or not all(isinstance(s, int) for s in start):
                    return None
                made = loop
                if index.startswith("_"):
                    index = self.names.fresh("i")
                    made = _with_target(loop, ast.Name(index, ast.Store()))
                place = f"{index} - {start[0]}" if start and start[0] else index
                return place, f"range({', '.join([*map(str, start), end])})", made
            case ast.For(
                target=ast.Tuple(elts=[ast.Name(id=index), _]),
                iter=ast.Call(
                    func=ast.Name(id="enumerate"),
                    args=[ast.Name(id=iterable) as over],
                    keywords=[],
                ),
            ) if index not in stored and self._has_length(over):
                return index, f"range(len({iterable}))", loop
            case ast.For(target=target, iter=ast.Name(id=iterable) as over) if (
                self._has_length(over)
            ):
                index = self.names.fresh("i")
                both = ast.Tuple([ast.Name(index, ast.Store()), target], ast.Store())
                made = _with_target(loop, both)
                made.iter = ast.Call(name("enumerate"), [loop.iter], [])
                return index, f"range(len({iterable}))", made
        return None

    def _number(self, node: ast.expr) -> str | None:
        """The text of a whole number of Python's."""
        kind = self.facts.kind(node)
        if isinstance(kind, Python) and kind.type == "int":
            return ast.unparse(node)
        whole = isinstance(kind, Tensor) and kind.dtype in INTS and kind.shape == ()
        return f"int({ast.unparse(node)})" if whole else None

    def _has_length(self, node: ast.expr) -> bool:
        kind = self.facts.kind(node)
        listed = isinstance(kind, Elements | Sequence)
        return (listed and kind.type in ("list", "tuple")) or isinstance(kind, Tensor)


def _element(kind: Kind) -> tuple[str, list[int], str] | None:
    """How a tensor holds what an iteration draws: dtype, dimensions, and the text that gives it back."""
    if isinstance(kind, Python) and kind.type in DTYPES:
        return DTYPES[kind.type], [], f"{kind.type}({{}})"
    if isinstance(kind, Tensor | Array) and may_hold(kind):
        dims = kind.shape
        if dims is not None and None not in dims and not is_weak(kind):
            text = "{}.numpy()" if isinstance(kind, Array) else "{}"
            return str(kind.dtype), [d for d in dims if d is not None], text
    return None


def _with_target(loop: ast.For, target: ast.expr) -> ast.For:
    made = copy.copy(loop)
    made.target = target
    with_origin(made, loop)
    return made


def _apart(drawn: str, value: ast.expr) -> ast.stmt:
    made = assigned(drawn, value)
    made.apart = True  # type: ignore[attr-defined]
    return made


def _rest(statement: ast.stmt, table: dict[ast.expr, str]) -> ast.stmt:
    """A statement with the names of what was drawn in the place of the draws."""
    made = replaced(
        statement, {old: placed(expression(text), old) for old, text in table.items()}
    )
    assert isinstance(made, ast.stmt)
    if not blocks(made):
        note_names(made, statement, table)
    return made


def _problem_calls(facts: FunctionFacts, node: ast.AST) -> list[ast.Call]:
    found = {id(p.node) for p in facts.problems}
    return [n for n in ast.walk(node) if isinstance(n, ast.Call) and id(n) in found]


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a piece of code, each behind those that are evaluated before it."""
    match node:
        case ast.Assign(targets=targets, value=value):
            parts: list[ast.AST] = [value, *targets]
        case _:
            parts = list(ast.iter_child_nodes(node))
    for part in parts:
        yield from _in_order(part)
    yield node


def _is_made_in(arm: list[ast.stmt], call: ast.expr) -> bool:
    """Whether a block makes a call whatever happens in it."""
    for statement in arm:
        if _is_sure(statement, call):
            return True
        if any(isinstance(n, LEAVING) for n in ast.walk(statement)):
            return False
    return False


def _is_sure(root: ast.AST, call: ast.expr) -> bool:
    """Whether running this evaluates a part of it exactly once."""
    return root is call or any(_is_sure(part, call) for part in _sure_parts(root))


def _sure_parts(node: ast.AST) -> list[ast.AST]:
    """The parts of a node that are evaluated exactly once whenever it is."""
    match node:
        case ast.If(test=test) | ast.IfExp(test=test):
            return [test]
        case ast.For(iter=iterable):
            return [iterable]
        case ast.BoolOp(values=values):
            return [values[0]]
        case ast.Compare(left=left, comparators=comparators):
            return [left, comparators[0]]
        case ast.With(items=items):
            return [i.context_expr for i in items[:1]]
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            return [value]
        case (
            ast.While()
            | ast.Try()
            | ast.Match()
            | ast.Assert()
            | ast.Lambda()
            | ast.FunctionDef()
            | ast.AsyncFunctionDef()
            | ast.ClassDef()
            | ast.ListComp()
            | ast.SetComp()
            | ast.DictComp()
            | ast.GeneratorExp()
        ):
            return []
    return list(ast.iter_child_nodes(node))
