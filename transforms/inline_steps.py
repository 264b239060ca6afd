"""GL407 inline-step: the tensor work inside a loop that Python runs becomes a `tf.function` of its own.

The loop stays, and so does what a graph cannot do in it, before and after the step. The graph is made once, right before
the outermost loop around it: what does not change in the loop it finds in the names around it, the rest it is given.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from collections.abc import Sequence as Sequenced
from dataclasses import dataclass
from typing import TypeGuard

from .changing_state import argument_kind
from .core_trials import Analyse, Split, Trials
from .extraction import CONVERSIONS, extracted
from .facts.definitions import FunctionDefinition
from .facts.environment import FunctionFacts
from .facts.kinds import (
    UNKNOWN,
    Elements,
    Function,
    Kind,
    Object,
    Python,
    Sequence,
    Tensor,
    Type,
)
from .facts.liveness import liveness
from .facts.profile import FunctionNode, place_in
from .facts.session import Session
from .facts.staging import holds_tensor, is_numpy, is_strong
from .facts.syntax import (
    all_bound_names,
    blocks,
    changed_object,
    is_none,
    names_in,
    own_body,
)
from .findings import Refusal
from .leaving import has_own
from .making import assigned, name, placed
from .objects import with_calls_inlined
from .ordering import WAITS
from .paying import runs_needed
from .planner import read_before, surely_assigned
from .rebuilding import replaced
from .rule import Rule
from .short_lived import is_made_anew
from .source import Source
from .split import Search
from .steps import Compound, Keep, Step
from .tapes import is_taped

MOST_STEPS = 8
EFFECTS = ("assign", "random", "variable")
WORKING = ast.Call | ast.BinOp | ast.UnaryOp | ast.Compare | ast.Subscript
PASSED_BY = FunctionNode | ast.ClassDef | ast.Try
EXITS = ast.Return | ast.Raise | ast.Assert | ast.Yield | ast.YieldFrom | ast.Await
OF_NUMPY = re.compile(r"(array|scalar|numpy)\(")
"""What the kinds of NumPy's values have in their texts: code of the graph takes them for tensors."""
READERS = ("tensorflow.", "builtins.", "numpy.")
"""Packages whose functions change none of the containers they are given."""


class InlineStep(Rule):
    """The work of a step stands inside a loop of Python, op by op.

    What it finds:
        Loops over batches, epochs and the like, in functions that stay Python, with tensor work in their bodies.

    Why it matters:
        The loop is where a program spends its time, and each operation in it costs a trip through Python.

    Before:
        import tensorflow as tf

        w = tf.Variable([0.0, 0.0])

        def f(rows, rate):
            losses = []
            for x, y in rows:
                with tf.GradientTape() as tape:
                    error = tf.reduce_sum(w * tf.constant(x)) - y
                    loss = error * error + 0.1 * tf.reduce_sum(w * w)
                w.assign_sub(rate * tape.gradient(loss, w))
                losses.append(float(loss))
                if losses[-1] > 50.0:
                    raise ValueError("it diverges")
            return losses

        ARGS = [([([1.0, 2.0], 3.0), ([0.0, 1.0], 1.0)], 0.1), ([([2.0, 2.0], 1.0)], 0.2), ([], 0.3)]

    After:
        import tensorflow as tf

        w = tf.Variable([0.0, 0.0])

        @tf.function(
            autograph=False,
            input_signature=[
                tf.TensorSpec([], tf.float64),
                tf.TensorSpec([], tf.float64),
                tf.TensorSpec([None], tf.float32),
            ],
        )
        def f_step(rate, y, x_tensor):
            with tf.GradientTape() as tape:
                error = tf.reduce_sum(w * x_tensor) - tf.cast(y, tf.float32)
                loss = error * error + 0.1 * tf.reduce_sum(w * w)
            w.assign_sub(tf.cast(rate, tf.float32) * tape.gradient(loss, w))
            return loss


        def f(rows, rate):
            losses = []
            for x, y in rows:
                x_tensor = tf.constant(x)
                loss = f_step(rate, y, x_tensor)
                losses.append(float(loss))
                if losses[-1] > 50.0:
                    raise ValueError("it diverges")
            return losses

        ARGS = [([([1.0, 2.0], 3.0), ([0.0, 1.0], 1.0)], 0.1), ([([2.0, 2.0], 1.0)], 0.2), ([], 0.3)]

    When it is left alone:
        Steps with few operations, or in loops that ran only a few times, and those whose values no graph takes.
    """

    code = "GL407"
    name = "inline-step"


@dataclass(frozen=True)
class LoopStep:
    """A block inside loops, split.

    Attributes:
        home: the outermost loop around it; the graph is made right before that.
        parent, index: the statement that runs the block, and which of its blocks it is.
        parts: what becomes of it.
        passed: the parameters of the graph.
        arguments: what they are given, as texts.
        nested: whether the graph is made in the function, right before the outermost loop, or beside the function.
    """

    home: ast.stmt
    parent: ast.stmt
    index: int
    parts: Split
    passed: list[str]
    arguments: list[str]
    nested: bool


def loop_steps(
    session: Session, facts: FunctionFacts, name: str, analyse: Analyse
) -> Iterator[LoopStep]:
    """The steps of a function's loops that a graph can do, of outer loops first."""
    definition = facts.definition
    if definition.is_generator or definition.parent is not None:
        return
    lasting = liveness(definition.node).after
    for place in _places(facts):
        for nested, apart in _ways(session, facts, place):
            try:
                found = _Stepper(
                    session, facts, name, analyse, place, lasting, nested, apart
                ).step()
            except Refusal:
                continue
            if found is not None:
                yield found


@dataclass(frozen=True)
class _Place:
    home: ast.stmt
    parent: ast.stmt
    index: int

    @property
    def block(self) -> list[ast.stmt]:
        return blocks(self.parent)[self.index]


def _places(facts: FunctionFacts) -> Iterator[_Place]:
    """The blocks inside loops of Python, outer ones first."""

    def inner(body: list[ast.stmt], home: ast.stmt | None) -> Iterator[_Place]:
        for node in body:
            if node in facts.staged or isinstance(node, PASSED_BY):
                continue
            loop = isinstance(node, ast.For | ast.While)
            if loop and node.orelse:  # type: ignore[attr-defined]
                continue
            if is_taped(node):
                continue
            around = home or (node if loop else None)
            for i, block in enumerate(blocks(node)):
                if around is not None and block[0] in facts.before:
                    yield _Place(around, node, i)
                yield from inner(block, around)

    return inner(own_body(facts.definition.node), None)


def around(
    source: Source,
    definition: FunctionDefinition,
    step: LoopStep,
    new: Sequenced[Step],
    graph: Step | None,
) -> list[Step]:
    """The body of the function with the steps `new` in the place of the block, and the graph, if any, before the loop."""
    home, parent = _origin(step.home), _origin(step.parent)

    def rewritten(body: list[ast.stmt]) -> list[Step]:
        found: list[Step] = []
        for node in body:
            if node is home and graph is not None:
                found.append(graph)
            if not any(n is parent for n in ast.walk(node)):
                found.append(Keep(node))
                continue
            inner = [
                list(new) if node is parent and i == step.index else rewritten(block)
                for i, block in enumerate(blocks(node))
            ]
            found.append(Compound(headers(source, node), tuple(inner), node))
        return found

    return rewritten(own_body(definition.original))


def _origin(node: ast.stmt) -> ast.stmt:
    return getattr(node, "origin", node)


def headers(source: Source, node: ast.stmt) -> tuple[str, ...]:
    """The headers of a compound statement as the file has them.

    Raises:
        Refusal: it has others than those of loops, `if` and `with`.
    """
    text = source.segment
    match node:
        case ast.If(test=test, orelse=orelse):
            return (f"if {text(test)}:", *(("else:",) if orelse else ()))
        case ast.While(test=test, orelse=[]):
            return (f"while {text(test)}:",)
        case ast.For(target=target, iter=iterable, orelse=[]):
            return (f"for {text(target)} in {text(iterable)}:",)
        case ast.With(items=items):
            return (f"with {', '.join(ast.unparse(i) for i in items)}:",)
    raise Refusal("the loop stands in what is not lifted", node)


class _Stepper(Trials):
    """Splits a block as if it were the body of a function that is given the names around it."""

    tells = False

    def __init__(
        self,
        session: Session,
        facts: FunctionFacts,
        name: str,
        analyse: Analyse,
        place: _Place,
        lasting: Mapping[ast.stmt, frozenset[str]],
        nested: bool,
        apart: bool,
    ) -> None:
        self.place = place
        block = place.block
        self.lasting = lasting.get(block[-1], frozenset())
        self.taken = frozenset(names_in(facts.definition.node))
        self.started = frozenset(_set_before(place.home, facts.definition.node))
        inside = facts.before[block[0]]
        bound = {n for s in block for n in all_bound_names(s)}
        read = read_before(block) | (self.lasting & bound) - surely_assigned(block)
        read = facts.definition.with_receiver(read)
        kinds = {n: k for n, k in inside.kinds.items() if n in read}
        if (inside.unsure | inside.missing) & kinds.keys():
            raise Refusal("a name is set on one way only", block[0])
        if bound & facts.definition.declared_global:
            raise Refusal("it writes a module's global", block[0])
        fixed = kinds.keys() & _fixed(facts, place)
        self.nested = nested
        self.fixed = fixed if nested else set()
        self.made: dict[str, Kind] = {}
        definition = _function_of(facts.definition, block, list(kinds))
        parameters = {
            a.arg: inside.kinds.get(a.arg, UNKNOWN) for a in definition.parameters
        }
        found = _with_calls_inlined(session, definition, parameters)
        body = definition.node.body
        new = {n for s in body for n in all_bound_names(s)} - bound
        if new & self.lasting or any(isinstance(s, ast.Global) for s in body):
            raise Refusal("what it calls has a name of its own", block[0])
        super().__init__(session, found, name, analyse, apart=apart)
        self.apart = apart
        self.first = {}

    def swapped(self) -> list[ast.stmt]:
        return []

    def built_before(self) -> list[ast.stmt]:
        return []

    def step(self) -> LoopStep | None:
        before, core, after = self._cut()
        parts = Search(self, before, core, after).split() if core else None
        if parts is None or (self.apart and not parts.core.is_static):
            return None
        texts = [text for text, _ in parts.arguments]
        given = zip(
            [n for n in parts.kinds if n != self.definition.receiver],
            texts,
            strict=True,
        )
        passed = {n: text for n, text in given if n not in self.fixed}
        if self.nested:
            parts.core.node.args.args = [ast.arg(n) for n in passed]
        place = self.place
        return LoopStep(
            place.home,
            place.parent,
            place.index,
            parts,
            list(passed),
            list(passed.values()),
            self.nested,
        )

    # ---- what stays Python's from the start

    def _cut(self) -> tuple[list[ast.stmt], list[ast.stmt], list[ast.stmt]]:
        """Python's statements at both ends, and between them those from the first tensor work to the last."""
        before, core, after = self._between_exits()
        while core and not self._does_work(core[0]):
            before.append(core.pop(0))
        while core and self._is_pythons(core[-1]):
            late = {n for s in after for n in all_bound_names(s)}
            assigns, waiting = extracted(
                core.pop(), self.facts, self.names, late, set()
            )
            core += assigns
            self.note(assigns)
            after.insert(0, waiting)
            if assigns:
                break
        return before, self._with_constants_first(before, core), after

    def _between_exits(
        self,
    ) -> tuple[list[ast.stmt], list[ast.stmt], list[ast.stmt]]:
        """The statements between two that may leave the loop, where most work is; those before; those after."""
        cuts = [i for i, s in enumerate(self.body) if _leaves(s)]
        spans = list(zip([-1, *cuts], [*cuts, len(self.body)], strict=True))
        start, end = max(
            spans, key=lambda span: self._work(self.body[span[0] + 1 : span[1]])
        )
        return self.body[: start + 1], self.body[start + 1 : end], self.body[end:]

    def _with_constants_first(
        self, before: list[ast.stmt], core: list[ast.stmt]
    ) -> list[ast.stmt]:
        """The core without the tensors that it makes of Python values it is given: Python makes them before it."""
        changed: set[str] = set()
        result: list[ast.stmt] = []
        for statement in core:
            changed |= {*all_bound_names(statement), *_changed(statement, self.facts)}
            table: dict[ast.AST, ast.AST] = {}
            for node in ast.walk(statement):
                if not self._is_conversion(node) or changed & names_in(node):
                    continue
                fresh = self.names.fresh(_name_for(node.args[0]))
                self.made[fresh] = self.facts.kind(node)
                before.append(assigned(fresh, node))
                table[node] = placed(name(fresh), node)
            made = replaced(statement, table)
            assert isinstance(made, ast.stmt)
            result.append(made)
        self.note(result)
        return result

    def _is_conversion(self, node: ast.AST) -> TypeGuard[ast.Call]:
        """Whether an expression makes a tensor of a value of Python or NumPy that is not known before."""
        if not isinstance(node, ast.Call) or len(node.args) < 1:
            return False
        function, value = self.facts.kind(node.func), self.facts.kind(node.args[0])
        if not isinstance(function, Function) or function.name not in CONVERSIONS:
            return False
        known = isinstance(value, Python) and value.known
        return (is_numpy(value) or not holds_tensor(value)) and not known

    def _is_pythons(self, statement: ast.stmt) -> bool:
        """Whether Python has something of its own to do in a statement, or all of it."""
        return (
            _leaves(statement)
            or not WAITS.isdisjoint(self.facts.codes_inside(statement))
            or self.order.has_effects(statement, ("stdout", "io"))
            or not self._does_work(statement)
        )

    def _does_work(self, statement: ast.stmt) -> bool:
        return self._work([statement]) > 0

    def _work(self, statements: list[ast.stmt]) -> int:
        """How many expressions of statements start operations, roughly."""
        inner = [n for s in statements for n in ast.walk(s)]
        converted = {id(n) for n in inner if self._is_conversion(n)}
        return sum(
            isinstance(n, WORKING)
            and id(n) not in converted
            and (_holds_strong(self.facts.kind(n)) or self._acts(n))
            for n in inner
        )

    def _acts(self, node: ast.AST) -> bool:
        return any(
            node is n for name in EFFECTS for n in self.facts.effects.get(name, ())
        )

    # ---- what the graph is given

    def kind_before(self, name: str, before: list[ast.stmt]) -> Kind:
        if name in self.made:
            return self.made[name]
        if name in self.fixed:
            kind = self.facts.parameters[name]
            return UNKNOWN if OF_NUMPY.search(str(kind)) else kind
        if any(name in all_bound_names(s) for s in before):
            known = [s for s in before if s in self.facts.after]
            after = self.facts.after[known[-1]] if known else None
            kind = after.kinds.get(name, UNKNOWN) if after is not None else UNKNOWN
        else:
            kind = self.facts.parameters.get(name, UNKNOWN)
        if isinstance(kind, Object):
            return kind
        return argument_kind(kind) or UNKNOWN


def _function_of(
    around: FunctionDefinition, block: list[ast.stmt], names: list[str]
) -> FunctionDefinition:
    """A block as the body of a function, which has these parameters."""
    owner = [around.receiver] if around.receiver else []
    parameters = [*owner, *(n for n in names if n not in owner)]
    made = around.sibling(around.node.name, parameters, block)
    made.original = made.node
    return made


def _ways(
    session: Session, facts: FunctionFacts, place: _Place
) -> Iterator[tuple[bool, bool]]:
    """Whether to make the graph inside the function, and whether apart from a method's object: what is best first.

    One beside it is made once for all calls, but takes what it needs as tensors.
    """
    serves_long = _serves_long(session, facts, place)
    outside = facts.before[place.home].kinds
    read = {n for s in place.block for n in names_in(s)} & _fixed(facts, place)
    if not serves_long or all(
        is_strong(outside[n]) for n in read - {facts.definition.receiver}
    ):
        if is_made_anew(session, facts.definition.owner):
            yield False, True
        yield False, False
    if serves_long:
        yield True, False


def _fixed(facts: FunctionFacts, place: _Place) -> set[str]:
    """The names that have one value for as long as the outermost loop around a block runs."""
    changing = {*all_bound_names(place.home), *_changed(place.home, facts)}
    return facts.before[place.home].kinds.keys() - changing


def _serves_long(session: Session, facts: FunctionFacts, place: _Place) -> bool:
    """Whether a graph that each call of the function makes anew is used often enough."""
    recorded = session.recorded(facts.definition.qualname)
    if recorded is None or recorded.calls <= 1:
        return True
    needed = runs_needed(session, facts, place.block)
    return most_runs(session, facts, place.home, place.parent) >= needed


def most_runs(
    session: Session, facts: FunctionFacts, home: ast.stmt, parent: ast.stmt
) -> int:
    """How often a call of a function was seen to run a block, at most: as often as all the loops around it together."""
    recorded = session.recorded(facts.definition.qualname)
    seen = recorded.trips if recorded else {}
    runs = 1
    for node in ast.walk(home):
        if isinstance(node, ast.For | ast.While) and parent in ast.walk(node):
            place = place_in(facts.definition.original, node)
            runs *= seen.get(place, (0, 0))[1]
    return runs


def _set_before(loop: ast.stmt, function: FunctionNode) -> Iterator[str]:
    """The attributes that a function gives a value before a loop, by their text."""
    for node in function.body:
        if node is loop:
            return
        if isinstance(node, ast.Assign) and not is_none(node.value):
            yield from (
                ast.unparse(t) for t in node.targets if isinstance(t, ast.Attribute)
            )


def _with_calls_inlined(
    session: Session, definition: FunctionDefinition, parameters: dict[str, Kind]
) -> FunctionFacts:
    """The facts of a function in which the calls are inlined that change state; changes its body."""
    of = definition.qualname
    for _ in range(MOST_STEPS):
        found = session.analyse_core(definition, parameters, of)
        made = with_calls_inlined(found, session, working=True)
        if made is None:
            break
        definition.node = made
    return found


def _changed(node: ast.stmt, facts: FunctionFacts) -> Iterator[str]:
    """The names of containers and arrays that a statement may change in place."""
    for inner in ast.walk(node):
        changed = changed_object(inner)
        if isinstance(changed, ast.Name):
            yield changed.id
        if not isinstance(inner, ast.Call):
            continue
        function = facts.kind(inner.func)
        known = isinstance(function, Function) and function.name.startswith(READERS)
        for argument in inner.args:
            if isinstance(argument, ast.Name) and not known:
                kind = facts.kind(argument)
                if not isinstance(kind, Tensor | Python | Object | Function | Type):
                    yield argument.id


def _leaves(statement: ast.stmt) -> bool:
    """Whether a statement may leave the block that it stands in."""
    return has_own(statement, ast.Break | ast.Continue) or any(
        isinstance(n, EXITS) for n in ast.walk(statement)
    )


def _holds_strong(kind: Kind) -> bool:
    """Whether a value is, or holds, a tensor that eager mode has as one, too."""
    match kind:
        case Sequence(items=items):
            return any(map(_holds_strong, items))
        case Elements(element=element):
            return _holds_strong(element)
    return is_strong(kind)


def _name_for(node: ast.expr) -> str:
    """What to call the tensor that is made of a value."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return f"{node.id}_tensor" if isinstance(node, ast.Name) else "value"
