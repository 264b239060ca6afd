"""GL211 tensor-try: `try` and `with` stay Python's, around graphs of what stands in their blocks."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable
from collections.abc import Sequence as Sequenced
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import signatures
from .apart import involves_tensors
from .changing_state import argument_kind
from .entries import check_parameters, core_name
from .extraction import computes
from .facts.environment import FunctionFacts
from .facts.kinds import (
    NONE,
    UNKNOWN,
    Kind,
    Object,
    Sequence,
    Tensor,
    forget,
    join_shapes,
)
from .facts.liveness import all_reads
from .facts.modules import all_bound_names, blocks, own_body, own_nodes
from .findings import Refusal
from .rule import Rule
from .split import Split, may_have_core, with_results
from .steps import Code, Compound, Core, Keep, Plan, Step

if TYPE_CHECKING:
    from .split_plans import SplitPlanner

ANY = frozenset({"BaseException", "Exception"})
TOO_MUCH = ANY | {"TypeError"}
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
        reads, handlers that look at the exception, and those that catch any where the graph is not the block as it is.
    """

    code = "GL211"
    name = "tensor-try"


def around_try(
    splits: SplitPlanner, facts: FunctionFacts, cores: dict[str, str]
) -> Plan | None:
    """The plan of a function whose one `try`, or whose `with`, stays in its shell; None where it has no such.

    Raises:
        Refusal: its blocks are no graphs, or tell how far the `try` came.
    """
    definition = facts.definition
    body = [s for s in own_body(definition.original) if not isinstance(s, ast.Global)]
    tries = [s for s in body if isinstance(s, ast.Try)]
    if definition.parent is not None or not may_have_core(definition) or len(tries) > 1:
        return None
    written = copy.copy(definition)
    written.node = definition.original
    whole = splits.session.analyse_core(written, facts.parameters, definition.qualname)
    parts = _Parts(splits, whole, cores)
    around = [s for s in body if isinstance(s, ast.Try) or parts.keeps(s)]
    others = (n for s in body for n in _all_but(s, tries))
    if not around or any(map(_hinders, others)):
        return None
    return parts.plan(body, around)


@dataclass
class _Parts:
    """The parts of a function around its `try`, each a graph or Python's.

    Attributes:
        kinds: what names hold between the parts.
        cores: the graphs, in order.
        catches_any: whether the `try` has one handler, for any exception.
    """

    splits: SplitPlanner
    facts: FunctionFacts
    called: dict[str, str]
    kinds: dict[str, Kind] = field(default_factory=dict)
    cores: list[Core] = field(default_factory=list)
    imports: set[str] = field(default_factory=set)
    catches_any: bool = False

    def plan(self, body: list[ast.stmt], around: list[ast.stmt]) -> Plan:
        given = self.facts.parameters
        names = [p.arg for p in self.facts.definition.parameters]
        self.kinds = {name: given[name] for name in names if name in given}
        declared = [
            n for n in self.facts.definition.node.body if isinstance(n, ast.Global)
        ]
        steps: list[Step] = [*map(Keep, declared)]
        rest = body
        for node in around:
            place = rest.index(node)
            before, after = rest[:place], rest[place + 1 :]
            steps += self._run(before, "before", _reads([node, *after]))
            if isinstance(node, ast.Try):
                steps.append(self._attempt(node, _reads(after)))
            elif isinstance(node, ast.With):
                steps.append(self._within(node, _reads(after)))
            rest = after
        steps += self._run(rest, "after", frozenset())
        if not self.cores:
            raise Refusal(
                "there is no work for a graph around its `try`", around[0], "GL211"
            )
        first, *more = self.cores
        plan = self.splits.new_plan(self.facts.definition, first, self.imports)
        plan.more = more
        plan.shell = steps
        return plan

    def _attempt(self, node: ast.Try, needed: frozenset[str]) -> Step:
        entry, graphs = dict(self.kinds), len(self.cores)
        self.catches_any = _catches_any(node)
        wanted = needed | _reads(node.orelse)
        inside = [self._run(node.body, "", wanted, is_attempt=True)]
        if len(self.cores) > graphs and not self.catches_any:
            _check_caught(node)
        bound = {n for s in node.body for n in all_bound_names(s)}
        headers = ["try:"]
        done = dict(self.kinds)
        ends = []
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
        self.kinds = done
        if node.orelse:
            headers.append("else:")
            inside.append(self._run(node.orelse, "else", needed))
        if not _leaves([*node.body, *node.orelse]):
            ends = [self.kinds, *ends]
        if node.finalbody:
            self._check_end(node)
            headers.append("finally:")
            inside.append([*map(Keep, node.finalbody)])
        self.kinds = _joined(ends)
        return Compound(tuple(headers), tuple(inside), node)

    def _check_end(self, node: ast.Try) -> None:
        """Refuse a `finally` that works on tensors, or sees how far the blocks came."""
        earlier = [
            *node.body,
            *node.orelse,
            *(s for h in node.handlers for s in h.body),
        ]
        bound = {n for s in earlier for n in all_bound_names(s)}
        works = any(involves_tensors(self.facts, s) for s in node.finalbody)
        if bound & _reads(node.finalbody) or works or _leaves(node.finalbody):
            raise Refusal(
                "its `finally` does more than what Python does always",
                node.finalbody[0],
                "GL211",
            )

    def keeps(self, node: ast.stmt) -> bool:
        """Whether a `with` does what only Python can before and after its block, and lets exceptions pass."""
        return isinstance(node, ast.With) and all(
            item.optional_vars is None and self._lets_pass(item.context_expr)
            for item in node.items
        )

    def _lets_pass(self, manager: ast.expr) -> bool:
        """Whether a context manager is of the file's own, and hides no exception."""
        module = self.splits.module
        kind = self.facts.kind(manager)
        of_class = isinstance(kind, Object)
        owner = self.splits.session.class_of(kind.name) if of_class else None  # type: ignore[attr-defined]
        leaving = module.method(owner.qualname, "__exit__") if owner else None
        if leaving is not None:
            returned = [
                n.value
                for n in own_nodes(leaving.original)
                if isinstance(n, ast.Return)
            ]
            return all(
                v is None or (isinstance(v, ast.Constant) and not v.value)
                for v in returned
            )
        match manager:
            case ast.Call(func=ast.Name(id=name)) if name in module.functions:
                made = module.functions[name].original
                inner = list(ast.walk(made))
                named = [ast.unparse(d).rpartition(".")[2] for d in made.decorator_list]
                return named == ["contextmanager"] and not any(
                    isinstance(n, ast.ExceptHandler | ast.With) for n in inner
                )
        return False

    def _within(self, node: ast.With, needed: frozenset[str]) -> Step:
        """A `with` around the graph of its block."""
        text = self.splits.planner.source.segment
        managers = ", ".join(text(i.context_expr) for i in node.items)
        inside = self._run(node.body, "", needed)
        return Compound((f"with {managers}:",), (inside,), node)

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
            shows = isinstance(first, ast.Expr) and not computes(first, self.facts)
            if is_attempt or not (shows or not involves_tensors(self.facts, first)):
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
        self.splits.entries.check(found)
        name = parts.core.node.name
        tf = self.splits.planner.tf
        decorator = signatures.decorator(found, None, tf)
        steps = planner.body()
        if is_attempt and self.catches_any:
            _check_as_it_is(steps, body, outs)
            decorator = f"{tf}.function(autograph=False)"
        elif is_attempt and "input_signature" not in decorator:
            raise Refusal("a new shape would fail while it is traced", body[0], "GL211")
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
        named = {*read, *(n for s in body for n in all_bound_names(s))}
        if named & definition.declared_global:
            raise Refusal("it names a global that it writes", body[0], "GL301")
        own = definition.parameters[0].arg if definition.owner else None
        kinds: dict[str, Kind] = {}
        for name, kind in self.kinds.items():
            if name == own:
                kinds[name] = kind
            elif name in read:
                kinds[name] = argument_kind(kind) or UNKNOWN
        core = definition.sibling(
            self._name(word, outs), kinds, with_results(body, [], outs)
        )
        arguments = [(n, kind) for n, kind in kinds.items() if n != own]
        return Split(core, [], [], given=outs, arguments=arguments, kinds=kinds)

    def _name(self, word: str, outs: list[str]) -> str:
        base = core_name(self.facts.definition.qualname).removesuffix("_graph")
        words = [word, *reversed(outs), *(f"{word}_{i}" for i in range(2, 9))]
        taken = {*self.splits.planner.source.names, *(c.name for c in self.cores)}
        made = [f"{base}_{w.strip('_')}_graph" if w else f"{base}_graph" for w in words]
        free = [name for name in made if name not in taken]
        if not free or made[0] in self.splits.planner.source.names:
            raise Refusal(f"`{made[0]}` is something else already", code="GL211")
        return free[0]


def _catches_any(node: ast.Try) -> bool:
    """Whether a `try` has one handler, which takes whatever is raised and neither looks at it nor raises it again."""
    if len(node.handlers) != 1:
        return False
    (handler,) = node.handlers
    caught = handler.type is None or (
        isinstance(handler.type, ast.Name) and handler.type.id in ANY
    )
    again = [
        n
        for n in ast.walk(handler)
        if isinstance(n, ast.Raise) and not isinstance(n.exc, ast.Call)
    ]
    return caught and not again


def _check_as_it_is(steps: list[Step], body: list[ast.stmt], outs: list[str]) -> None:
    """Refuse a graph that is not the block as it stands: of other shapes and types it might do something else."""
    *whole, last = steps if outs else [*steps, Keep(body[-1])]
    kept = all(isinstance(step, Keep) for step in whole)
    plain = isinstance(last, Keep) or (
        isinstance(last, Code) and last.text == f"return {', '.join(outs)}"
    )
    if not (kept and plain):
        raise Refusal(
            "its handler would hide that a graph does not take a new shape",
            body[0],
            "GL211",
        )


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
    causes |= {id(a) for n in ast.walk(handler) for a in _asked_type(n)}
    for node in ast.walk(handler):
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            continue
        if node.id == handler.name and id(node) not in causes:
            raise Refusal("a graph words its exceptions otherwise", node, "GL211")
        if node.id in bound:
            raise Refusal(f"how far the `try` came tells `{node.id}`", node, "GL211")


def _asked_type(node: ast.AST) -> list[ast.expr]:
    """What this asks the type of."""
    match node:
        case ast.Call(func=ast.Name(id="type"), args=[asked]):
            return [asked]
    return []


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


def _all_but(node: ast.AST, left_out: Sequenced[ast.AST]) -> Iterable[ast.AST]:
    return (n for n in ast.walk(node) if n not in left_out)


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
