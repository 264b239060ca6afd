"""GL207 frozen-random and GL208 frozen-clock: what Python draws or reads anew on each call comes before the graph.

The rules, and the first step that makes a draw a statement of its own; `split` moves that before the core.
"""

from __future__ import annotations

import ast

from .apart import Taker, in_order, involves_tensors, is_apart
from .facts.draws import GENERATORS
from .facts.environment import FunctionFacts
from .facts.kinds import (
    UNKNOWN,
    Function,
    Kind,
    Object,
    Variable,
)
from .facts.profile import FunctionNode
from .facts.session import Session
from .facts.staging import is_strong
from .rebuilding import with_body
from .rule import Rule
from .source import Names

CODES = frozenset({"GL207", "GL208"})
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
        without tensor work around them. A `tf.random.Generator` draws the same in a graph as in eager mode.
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

    What is read of an object that the function changes counts as drawn. None where no draw is left, or where it cannot
    be told whether, how often or of what it is drawn.
    """
    node = facts.definition.node
    places = _Places(facts, session)
    taker = Taker(facts, names, tf)
    works = False
    for i, statement in enumerate(node.body):
        works = works or (
            involves_tensors(facts, statement)
            and not asks_for_size(facts, statement)
            and not _leaves_at_once(facts, statement)
        )
        found = places.inside(statement)
        if not works or is_apart(statement) or not found:
            continue
        if isinstance(statement, ast.Assign) and (
            found == [statement.value] or not involves_tensors(facts, statement.value)
        ):
            continue
        if not places.alone(statement, found):
            return None
        parted = taker.taken(statement, found, places.word(found[0]))
        if parted is None:
            return None
        return with_body(node, [*node.body[:i], *parted, *node.body[i + 1 :]])
    return None


def asks_for_size(facts: FunctionFacts, node: ast.stmt) -> bool:
    """Whether all that is done with tensors here is to ask how large they are."""
    return isinstance(node, ast.Assign) and not any(
        is_strong(facts.kind(n)) and not isinstance(n, ast.Name)
        for n in ast.walk(node.value)
        if isinstance(n, ast.expr)
    )


def _leaves_at_once(facts: FunctionFacts, node: ast.stmt) -> bool:
    """Whether Python alone decides here whether the function gives back what it has already."""
    match node:
        case ast.If(test=test, body=[ast.Return(value=given)], orelse=[]):
            plain = given is None or isinstance(given, ast.Name | ast.Constant)
            return plain and not involves_tensors(facts, test)
    return False


def measures(facts: FunctionFacts) -> bool:
    """Whether the function reads the clock more than once, to tell how long what stands between takes."""
    return sum(p.code == "GL208" for p in facts.problems) > 1


def may_draw(facts: FunctionFacts, node: ast.AST) -> bool:
    """Whether running this may draw, or read what changes."""
    codes = {id(p.node): p.code for p in facts.problems}
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
    unclear = [n for n in calls if id(n) in codes or n not in facts.kinds]
    return any(
        codes.get(id(n)) in CODES or not _is_plain(facts.kind(n.func)) for n in unclear
    )


def _is_plain(function: Kind) -> bool:
    if not isinstance(function, Function):
        return False
    receiver = function.receiver
    known = receiver != UNKNOWN and not (
        isinstance(receiver, Object) and receiver.name in GENERATORS
    )
    return known and function.name.startswith(PLAIN_CALLS)


class _Places:
    """Where a function draws, and reads what it changes outside itself."""

    def __init__(self, facts: FunctionFacts, session: Session) -> None:
        self.facts = facts
        self.session = session
        wanted = {"GL207"} if measures(facts) else CODES
        self.codes = {id(p.node): p.code for p in facts.problems if p.code in wanted}
        self.changed = changed_objects(facts)

    def inside(self, statement: ast.stmt) -> list[ast.expr]:
        """The places in a statement, in the order of their evaluation."""
        changes = "GL204" in self.facts.codes_inside(statement)
        only_reads = involves_tensors(self.facts, statement) and not changes
        return [
            n
            for n in in_order(statement)
            if isinstance(n, ast.expr)
            and (id(n) in self.codes or (only_reads and self._is_changed(n)))
        ]

    def _is_changed(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name | ast.Attribute) and (
            ast.unparse(node) in self.changed
        )

    def word(self, place: ast.expr) -> str:
        """What to call what is made at a place."""
        return "drawn" if self.codes.get(id(place)) == "GL207" else "read"

    def alone(self, statement: ast.stmt, found: list[ast.expr]) -> bool:
        """Whether a statement does nothing besides that may draw, and its draws do nothing else."""
        others = [n for n in _problem_calls(self.facts, statement) if n not in found]
        plain = all(_is_plain(self.facts.kind(n.func)) for n in others)
        return plain and all(map(self._only_draws, found))

    def _only_draws(self, call: ast.expr) -> bool:
        """Whether a call does nothing besides, and needs no state that the function around may change."""
        parts = [self.facts.kind(n) for n in ast.walk(call) if isinstance(n, ast.expr)]
        if any(isinstance(kind, Variable) for kind in parts):
            return False
        if call in self.facts.foreign:
            other = self.facts.foreign[call]
            inner = other.session.known(other.qualname)
        elif call in self.facts.calls:
            inner = self.session.facts_of(self.facts.calls[call])
        else:
            return True
        return inner is not None and not (
            inner.operations
            or inner.effects
            or any(p.code not in CODES for p in inner.problems)
        )


def changed_objects(facts: FunctionFacts) -> set[str]:
    """The texts of the objects that a function changes in place outside itself."""
    owners = [_owner(p.node) for p in facts.problems if p.code == "GL204"]
    return {ast.unparse(owner) for owner in owners if owner is not None}


def _owner(node: ast.AST | None) -> ast.expr | None:
    """The object that a piece of code changes in place."""
    match node:
        case ast.Subscript(slice=ast.Constant()):
            return None  # a place for a value, which the graph may take and give back
        case ast.Call(func=ast.Attribute(value=owner)):
            return owner
        case ast.Subscript(value=owner) | ast.AugAssign(target=owner):
            return owner
    return None


def _problem_calls(facts: FunctionFacts, node: ast.AST) -> list[ast.Call]:
    found = {id(p.node) for p in facts.problems}
    return [n for n in ast.walk(node) if isinstance(n, ast.Call) and id(n) in found]
