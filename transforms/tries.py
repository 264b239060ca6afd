"""GL211 tensor-try: `try` stays Python's, around graphs of what stands in its blocks."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import signatures
from .apart import involves_tensors
from .changing_state import argument_kind
from .entries import check_parameters, core_name
from .facts.environment import FunctionFacts
from .facts.kinds import NONE, UNKNOWN, Kind, Sequence, Tensor, forget, join_shapes
from .facts.liveness import all_reads
from .facts.modules import all_bound_names, blocks, own_body
from .findings import Refusal
from .rule import Rule
from .split import Split, may_have_core, with_results
from .steps import Code, Compound, Core, Keep, Plan, Step

if TYPE_CHECKING:
    from .split_plans import SplitPlanner

TOO_MUCH = frozenset({"BaseException", "Exception", "TypeError"})
"""What a graph's call raises of arguments that its signature has no place for, and what includes that."""


class TensorTry(Rule):
    """A `try` around tensor work.

    What it finds:
        `try` with handlers in functions that work on tensors.

    Why it matters:
        The operations of a graph run when its `try` is long left, so no handler sees what they raise.

    Before:
        import tensorflow as tf

        def f(x: tf.Tensor):
            try:
                y = tf.linalg.inv(x)
            except tf.errors.InvalidArgumentError:
                y = tf.zeros_like(x) - 1.0
            return y

        ARGS = [(tf.eye(2),), (tf.zeros([2, 2]),), (2.0 * tf.eye(2),)]

    After:
        import tensorflow as tf

        @tf.function(autograph=False, input_signature=[tf.TensorSpec([2, 2], tf.float32)])
        def f_graph(x):
            y = tf.linalg.inv(x)
            return y


        @tf.function(autograph=False, input_signature=[tf.TensorSpec([2, 2], tf.float32)])
        def f_fallback_graph(x):
            y = tf.zeros_like(x) - 1.0
            return y


        def f(x: tf.Tensor):
            try:
                y = f_graph(x)
            except tf.errors.InvalidArgumentError:
                y = f_fallback_graph(x)
            return y

        ARGS = [(tf.eye(2),), (tf.zeros([2, 2]),), (2.0 * tf.eye(2),)]

    When it is left alone:
        A `try` in a loop or branch, one whose block changes state or prints before it fails, one whose results no one
        reads, handlers that look at the exception, and those that catch any.
    """

    code = "GL211"
    name = "tensor-try"


def around_try(
    splits: SplitPlanner, facts: FunctionFacts, cores: dict[str, str]
) -> Plan | None:
    """The plan of a function whose one `try` stays in its shell; None where it has no such.

    Raises:
        Refusal: its blocks are no graphs, or tell how far the `try` came.
    """
    definition = facts.definition
    body = own_body(definition.original)
    tries = [s for s in body if isinstance(s, ast.Try)]
    if (
        definition.parent is not None
        or not may_have_core(definition)
        or len(tries) != 1
        or not tries[0].handlers
        or any(map(_hinders, (n for s in body for n in _all_but(s, tries[0]))))
    ):
        return None
    written = copy.copy(definition)
    written.node = definition.original
    whole = splits.session.analyse_core(written, facts.parameters, definition.qualname)
    return _Parts(splits, whole, cores).plan(body, tries[0])


@dataclass
class _Parts:
    """The parts of a function around its `try`, each a graph or Python's.

    Attributes:
        kinds: what names hold between the parts.
        cores: the graphs, in order.
    """

    splits: SplitPlanner
    facts: FunctionFacts
    called: dict[str, str]
    kinds: dict[str, Kind] = field(default_factory=dict)
    cores: list[Core] = field(default_factory=list)
    imports: set[str] = field(default_factory=set)

    def plan(self, body: list[ast.stmt], node: ast.Try) -> Plan:
        given = self.facts.parameters
        names = [p.arg for p in self.facts.definition.parameters]
        self.kinds = {name: given[name] for name in names if name in given}
        place = body.index(node)
        before, after = body[:place], body[place + 1 :]
        inner = [*node.body, *(s for handler in node.handlers for s in handler.body)]
        steps = self._run(before, "before", _reads([*inner, *after]))
        steps.append(self._attempt(node, _reads(after)))
        steps += self._run(after, "after", frozenset())
        if not self.cores:
            raise Refusal(
                "there is no work for a graph around its `try`", node, "GL211"
            )
        first, *more = self.cores
        plan = self.splits.new_plan(self.facts.definition, first, self.imports)
        plan.more = more
        plan.shell = steps
        return plan

    def _attempt(self, node: ast.Try, needed: frozenset[str]) -> Step:
        if node.orelse or node.finalbody:
            raise Refusal(
                "`else` and `finally` of a `try` are not lifted", node, "GL211"
            )
        entry, graphs = dict(self.kinds), len(self.cores)
        inside = [self._run(node.body, "", needed, is_attempt=True)]
        if len(self.cores) > graphs:
            _check_caught(node)
        ends = [] if _leaves(node.body) else [self.kinds]
        bound = {n for s in node.body for n in all_bound_names(s)}
        headers = ["try:"]
        for handler in node.handlers:
            _check_handler(handler, bound)
            _check_rest(node, handler, bound & needed)
            self.kinds = dict(entry)
            inside.append(self._run(handler.body, "fallback", needed))
            if not _leaves(handler.body):
                ends.append(self.kinds)
            caught = f" {ast.unparse(handler.type)}" if handler.type else ""
            named = f" as {handler.name}" if handler.name else ""
            headers.append(f"except{caught}{named}:")
        self.kinds = _joined(ends)
        return Compound(tuple(headers), tuple(inside), node)

    def _run(
        self,
        body: list[ast.stmt],
        word: str,
        needed: frozenset[str],
        is_attempt: bool = False,
    ) -> list[Step]:
        """A block as the call of a graph, or as it stands where there is no work for one."""
        if not body:
            return []
        outs = [
            n
            for n in dict.fromkeys(n for s in body for n in all_bound_names(s))
            if n in needed
        ]
        try:
            graph = self._graph(body, outs, word, is_attempt)
        except Refusal:
            first, *rest = body
            if is_attempt or involves_tensors(self.facts, first) or not rest:
                raise
            return [*self._kept([first]), *self._run(rest, word, needed)]
        return graph or self._kept(body)

    def _kept(self, body: list[ast.stmt]) -> list[Step]:
        """Statements as they stand."""
        after = self.facts.after.get(body[-1])
        if after is not None:
            names = {n for s in body for n in all_bound_names(s)}
            self.kinds |= {n: after.kinds.get(n, UNKNOWN) for n in names}
        return list(map(Keep, body))

    def _graph(
        self, body: list[ast.stmt], outs: list[str], word: str, is_attempt: bool
    ) -> list[Step] | None:
        parts = self._part(body, outs, word)
        found = self.splits.first_steps.core(
            parts.core, parts.kinds, self.facts.definition.qualname
        )
        given = found.result.items[1:] if isinstance(found.result, Sequence) else ()
        if not found.operations and not found.problems:
            self.kinds |= dict(zip(outs, given, strict=False))
            return None
        if UNKNOWN in parts.kinds.values():
            raise Refusal(
                "what a block of its `try` takes is not known", body[0], "GL211"
            )
        if found.problems:
            raise found.problems[0]
        if is_attempt:
            _check_attempt(found, body, outs)
        _, shell, planner = self.splits.core(self.facts, parts, self.called)
        check_parameters(found)
        self.splits.entries.check_objects(found)
        name = parts.core.node.name
        if any(name == c.name for c in self.cores):
            raise Refusal("several handlers work on tensors", body[0], "GL211")
        decorator = signatures.decorator(found, None, self.splits.planner.tf)
        if is_attempt and "input_signature" not in decorator:
            raise Refusal("a new shape would fail while it is traced", body[0], "GL211")
        steps = planner.body()
        self.cores.append(Core(name, list(parts.kinds), steps, decorator))
        self.imports |= planner.imports
        self.kinds |= dict(zip(outs, given, strict=False))
        call = self.splits.call(parts, decorator)
        if outs:
            return [*map(Code, shell.calls(call))]
        if not shell.converts and shell.result != NONE:
            return [Code(f"return {call}")]
        return [*map(Code, shell.statements(call))]

    def _part(self, body: list[ast.stmt], outs: list[str], word: str) -> Split:
        """A block as the body of a function that takes what it reads, and gives back the names in `outs`."""
        definition = self.facts.definition
        returns = any(isinstance(n, ast.Return) for s in body for n in ast.walk(s))
        if returns and (outs or not isinstance(body[-1], ast.Return)):
            raise Refusal("it returns on the way through a `try`", body[-1], "GL211")
        read = _reads(body)
        own = definition.parameters[0].arg if definition.owner else None
        kinds: dict[str, Kind] = {}
        for name, kind in self.kinds.items():
            if name == own:
                kinds[name] = kind
            elif name in read:
                kinds[name] = argument_kind(kind) or UNKNOWN
        core = definition.sibling(self._name(word), kinds, with_results(body, [], outs))
        arguments = [(n, kind) for n, kind in kinds.items() if n != own]
        return Split(core, [], [], given=outs, arguments=arguments, kinds=kinds)

    def _name(self, word: str) -> str:
        name = core_name(self.facts.definition.qualname)
        made = f"{name.removesuffix('_graph')}_{word}_graph" if word else name
        if made in self.splits.planner.source.names:
            raise Refusal(f"`{made}` is something else already", code="GL211")
        return made


def _check_caught(node: ast.Try) -> None:
    """Refuse handlers that would also catch what a graph raises of a shape that it does not take."""
    for handler in node.handlers:
        named = ast.walk(handler.type) if handler.type else ()
        names = {n.id for n in named if isinstance(n, ast.Name)}
        if handler.type is None or names & TOO_MUCH:
            raise Refusal(
                "its handler would hide that a graph does not take a new shape",
                handler,
                "GL211",
            )


def _check_handler(handler: ast.ExceptHandler, bound: set[str]) -> None:
    """Refuse handlers that see how far the block came, or what the exception says."""
    causes = {id(n.cause) for n in ast.walk(handler) if isinstance(n, ast.Raise)}
    for node in ast.walk(handler):
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            continue
        if node.id == handler.name and id(node) not in causes:
            raise Refusal("a graph words its exceptions otherwise", node, "GL211")
        if node.id in bound:
            raise Refusal(f"how far the `try` came tells `{node.id}`", node, "GL211")


def _check_rest(node: ast.Try, handler: ast.ExceptHandler, read: set[str]) -> None:
    """Refuse where what follows sees how far the block came: it reads what the handler does not set."""
    if len(node.body) == 1 and not blocks(node.body[0]):
        return
    left = read - {n for s in handler.body for n in all_bound_names(s)}
    if left and not _leaves(handler.body):
        raise Refusal(f"how far the `try` came tells `{min(left)}`", handler, "GL211")


def _check_attempt(found: FunctionFacts, body: list[ast.stmt], outs: list[str]) -> None:
    """Refuse blocks that do more than compute before they fail, or whose failing operations a graph would leave out."""
    if found.effects.keys() - {"assert"}:
        raise Refusal("the `try` changes something before it fails", body[0], "GL211")
    asserts = {id(n) for n in found.effects.get("assert", ())}
    needed = set(outs)
    for node in reversed(body):
        checks = isinstance(node, ast.Expr) and id(node.value) in asserts
        bound = needed & set(all_bound_names(node))
        if not (checks or bound or isinstance(node, ast.Return)):
            raise Refusal("a graph leaves out what no one reads", node, "GL211")
        needed |= all_reads(node)


def _hinders(node: ast.AST) -> bool:
    return isinstance(node, ast.Try | ast.Global | ast.Nonlocal)


def _all_but(node: ast.AST, left_out: ast.AST) -> Iterable[ast.AST]:
    return (n for n in ast.walk(node) if n is not left_out)


def _joined(ends: list[dict[str, Kind]]) -> dict[str, Kind]:
    """What names hold behind a `try`, however it went."""
    first, *rest = ends or [{}]
    return {
        name: _either([kind, *(end.get(name, UNKNOWN) for end in rest)])
        for name, kind in first.items()
    }


def _either(kinds: list[Kind]) -> Kind:
    kind, *rest = map(forget, kinds)
    for other in rest:
        tensors = isinstance(kind, Tensor) and isinstance(other, Tensor)
        if kind == other:
            continue
        if not tensors or (kind.dtype, kind.weak) != (other.dtype, other.weak):  # type: ignore[attr-defined]
            return UNKNOWN
        shape = join_shapes(kind.shape, other.shape)  # type: ignore[attr-defined]
        kind = Tensor(kind.dtype, shape, kind.weak)  # type: ignore[attr-defined]
    return kind


def _reads(body: list[ast.stmt]) -> frozenset[str]:
    return frozenset[str]().union(*map(all_reads, body))


def _leaves(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], ast.Return | ast.Raise)
