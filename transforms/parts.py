"""A function as graphs of its parts, in their order, and between them what only Python can do.

Where one graph with Python before and after it would leave much of the work outside, each stretch of statements that a
graph can do becomes one: up to a `raise`, a `try`, a draw, a change of Python's state, and from there on.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable
from collections.abc import Sequence as Sequenced
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import signatures, tries
from .apart import involves_tensors
from .changing_state import (
    argument_kind,
    changing_state,
    with_state_names,
)
from .core_checks import left_to_python, outgrown
from .core_results import with_results
from .core_trials import Split
from .draws import with_draws_apart
from .entries import FEWEST_OPERATIONS, check_parameters
from .extraction import extracted, operations
from .facts.environment import Environment, FunctionFacts
from .facts.kind_joins import forget, join_shapes
from .facts.kind_parts import holds_mutable
from .facts.kinds import NONE, UNKNOWN, Kind, Sequence, Tensor
from .facts.liveness import all_reads
from .facts.profile import FunctionNode
from .facts.syntax import all_bound_names, blocks, own_body
from .findings import Refusal
from .late_binding import check_read_later
from .leaving import has_own
from .ordering import may_return, only_raises
from .paying import DoesNotPay
from .planner import read_before, surely_assigned
from .source import Names
from .split import may_have_core, place_of
from .steps import Code, Compound, Core, Keep, Plan, Step

if TYPE_CHECKING:
    from .split_plans import SplitPlanner

FEWEST, LEAST = 2, 3
"""Operations for a graph between statements of Python's to be worth its call; for one of them at least."""
MOST_STEPS = 8
LEAVING = ast.Break | ast.Continue


def in_parts(
    splits: SplitPlanner, facts: FunctionFacts, cores: dict[str, str], apart: bool
) -> Plan | None:
    """The plan of a function in parts, `apart` from the object of a method; None where it is none that can be cut.

    Raises:
        Refusal: its parts are no graphs.
    """
    definition = facts.definition
    nested = any(
        isinstance(n, FunctionNode | ast.Nonlocal)
        for s in definition.original.body
        for n in ast.walk(s)
    )
    if nested or definition.parent is not None or not may_have_core(definition):
        return None
    whole = _with_draws_apart(splits, facts)
    before = splits.session.state()
    parts = Parts(splits, whole, cores, apart)
    plan = parts.plan()
    if not parts.tries:
        splits.session.restore(before)
        work = parts.work
        if max(work) < LEAST:
            raise Refusal("there is too little work for graphs", definition.original)
        plan = Parts(splits, whole, cores, apart, work.index(max(work))).plan()
    return plan


def has_try(splits: SplitPlanner, facts: FunctionFacts) -> bool:
    """Whether a function has a `try` of its own, or a `with` that stays Python's, in which a graph may stand."""
    parts = Parts(splits, facts, {})
    return any(map(parts.stays, own_body(facts.definition.original)))


def _with_draws_apart(splits: SplitPlanner, facts: FunctionFacts) -> FunctionFacts:
    """The facts of the function as the file has it, but for draws, which are statements of their own."""
    steps, session = splits.first_steps, splits.session
    definition = copy.copy(facts.definition)
    definition.node = definition.original
    for _ in range(MOST_STEPS):
        found = session.analyse_core(definition, facts.parameters, definition.qualname)
        made = with_draws_apart(found, session, steps.names(found), steps.tf)
        if made is None or any(
            blocks(s) and s not in definition.node.body for s in made.body
        ):
            break
        definition.node = made
    return found


@dataclass
class Parts:
    """The parts of a function, each a graph or Python's.

    Attributes:
        apart: whether the graphs are given what they read of a method's object.
        main: the graph that has the function's name.
        kinds: what names hold between the parts.
        cores: the graphs, in order; `work` are the operations of each, `outside` those of Python's parts.
        tries: how many `try` and `with` have a graph inside.
        fewest: operations that are worth a graph.
        catches_any: whether the `try` has one handler, for any exception.
        reason: why there is more than one part.
    """

    splits: SplitPlanner
    facts: FunctionFacts
    called: dict[str, str]
    apart: bool = False
    main: int | None = None
    kinds: dict[str, Kind] = field(default_factory=dict)
    cores: list[Core] = field(default_factory=list)
    imports: set[str] = field(default_factory=set)
    work: list[int] = field(default_factory=list)
    outside: int = 0
    tries: int = 0
    fewest: int = FEWEST
    catches_any: bool = False
    reason: Refusal | None = None

    def __post_init__(self) -> None:
        node = self.facts.definition.node
        module = self.splits.module
        names = [p.arg for p in self.facts.definition.parameters]
        given = self.facts.parameters
        self.kinds = {name: given[name] for name in names if name in given}
        self.names = Names.clear_of(node, {*names, *module.globals, *self.kinds})
        try:
            self.state = changing_state(
                self.splits.session, self.facts, self.names, apart=self.apart
            )
        except Refusal:
            self.state = {}
        if outgrown(self.state, [with_state_names(s, self.state) for s in node.body]):
            self.state = {}

    def plan(self) -> Plan:
        definition = self.facts.definition
        body = [s for s in own_body(definition.node) if not isinstance(s, ast.Global)]
        declared = [n for n in definition.node.body if isinstance(n, ast.Global)]
        stays = [i for i, s in enumerate(body) if self.stays(s)]
        self.fewest = 1 if stays else FEWEST
        first = stays[0] if stays else len(body)
        last = stays[-1] + 1 if stays else len(body)
        steps: list[Step] = [*map(Keep, declared)]
        steps += self._run(body[:first], _reads(body[first:]), "before")
        steps += self._run(body[first:last], _reads(body[last:]))
        steps += self._run(body[last:], frozenset(), "after")
        if not self.cores:
            raise self.reason or Refusal(
                "there is no work for a graph in it", definition.original
            )
        one, *more = self.cores
        plan = self.splits.new_plan(definition, one, self.imports)
        plan.more = more
        plan.shell = steps
        plan.outside = self.outside / max(1, self._operations(body))
        return plan

    # ---- blocks

    def _run(
        self, body: list[ast.stmt], needed: frozenset[str], word: str = ""
    ) -> list[Step]:
        """A block: each `try` and `with` around graphs, the statements between them in graphs."""
        place = next((i for i, s in enumerate(body) if self.stays(s)), len(body))
        steps = self._graphs(body[:place], needed | _reads(body[place:]), word)
        if place == len(body):
            return steps
        node, rest = body[place], body[place + 1 :]
        wanted = needed | _reads(rest)
        if isinstance(node, ast.Try):
            steps.append(self._attempt(node, wanted, needed))
        elif isinstance(node, ast.With):
            steps.append(self._within(node, wanted))
        return [*steps, *self._run(rest, needed, word)]

    def _graphs(
        self, body: list[ast.stmt], needed: frozenset[str], word: str
    ) -> list[Step]:
        """Statements as the call of a graph, or as several with what no graph can do between them."""
        if not body:
            return []
        try:
            return self._graph(body, needed, word) or self._kept(body)
        except DoesNotPay:
            return self._kept(body)
        except Refusal as refusal:
            place = place_of(refusal, body)
            self.reason = self.reason or refusal
            if place is None:
                raise
        node, rest = body[place], body[place + 1 :]
        wanted = needed | _reads(rest)
        steps = self._computed(body[:place], node, wanted, word)
        if steps is None:
            steps = self._graphs(body[:place], wanted | _reads([node]), word)
            steps += self._pythons(node, wanted)
        return [*steps, *self._run(rest, needed, word)]

    def _computed(
        self,
        early: list[ast.stmt],
        node: ast.stmt,
        needed: frozenset[str],
        word: str,
    ) -> list[Step] | None:
        """A statement of Python's with a graph before it that also computes its tensors; None where none does."""
        if not hasattr(node, "lineno"):
            return None
        computed, kept = extracted(node, self.facts, self.names, set(), set())
        if not operations(self.facts, computed):
            return None
        try:
            graph = self._graph([*early, *computed], needed | _reads([kept]), word)
        except Refusal:
            return None
        return None if graph is None else [*graph, *self._pythons(kept, needed)]

    def _pythons(self, node: ast.stmt, needed: frozenset[str]) -> list[Step]:
        """A statement that stays Python's."""
        inner = blocks(node)
        outer = self._operations([node]) - sum(map(self._operations, inner))
        loop = isinstance(node, ast.For | ast.While)
        if (
            not isinstance(node, ast.If | ast.For | ast.While | ast.With)
            or (loop and getattr(node, "orelse", None))
            or outer == self._operations([node])
        ):
            return self._kept([node])
        entry, bound, fewest = dict(self.kinds), all_bound_names(node), self.fewest
        self.fewest = FEWEST_OPERATIONS if loop else fewest
        wanted = needed | (read_before([node]) if loop else frozenset())
        inside = []
        for block in inner:
            before = self.facts.before.get(block[0])
            if before is None:
                raise Refusal("nothing comes here", block[0])
            self.kinds = entry | _known(before, bound)
            inside.append(self._run(block, wanted))
        self.kinds, self.fewest = entry, fewest
        self._know(node)
        self.outside += outer
        origin: ast.stmt = getattr(node, "origin", node)
        headers = self.splits.headers(node)
        return [Compound(headers, tuple(inside), origin)]

    def _kept(self, body: list[ast.stmt]) -> list[Step]:
        """Statements as they stand."""
        for node in body:
            self._know(node)
        self.outside += self._operations(body)
        return list(map(self.splits.outside, body))

    def _know(self, node: ast.stmt) -> None:
        """Note what names hold behind a statement of Python's."""
        origin: ast.stmt = getattr(node, "origin", node)
        after = self.facts.after.get(node) or self.facts.after.get(origin)
        if after is not None:
            changed = [n for n, kind in self.kinds.items() if holds_mutable(kind)]
            self.kinds |= _known(after, [*changed, *all_bound_names(node)])

    def _operations(self, body: Sequenced[ast.stmt]) -> int:
        return operations(self.facts, body)

    # ---- what stays around graphs

    def stays(self, node: ast.stmt) -> bool:
        """Whether a statement stays Python's, around graphs of its blocks."""
        return isinstance(node, ast.Try) or tries.keeps(self.splits, self.facts, node)

    def _attempt(
        self, node: ast.Try, needed: frozenset[str], later: frozenset[str]
    ) -> Step:
        """A `try` around graphs; `later` are the names that are read behind the block that it stands in."""
        entry, graphs, fewest = dict(self.kinds), len(self.cores), self.fewest
        self.catches_any, self.fewest = tries.catches_any(node), 1
        wanted = needed | _reads(node.orelse)
        inside = [self._attempted(node.body, wanted)]
        if len(self.cores) > graphs and not self.catches_any:
            for handler in node.handlers:
                caught = [handler.type] if handler.type else []
                tries.check_caught(caught, handler)
        bound = {n for s in node.body for n in all_bound_names(s)}
        headers = ["try:"]
        done = dict(self.kinds)
        ends = []
        for handler in node.handlers:
            tries.check_handler(self.facts, node, handler, bound)
            leaves = tries.leaves(handler.body)
            passes_by = isinstance(handler.body[-1], LEAVING)
            beyond = later if passes_by else frozenset[str]()
            read = bound & (beyond if leaves else needed)
            tries.check_rest(self.facts, node, handler, read)
            self.kinds = dict(entry)
            inside.append(self._run(handler.body, needed, "fallback"))
            if not leaves:
                ends.append(self.kinds)
            text = f" {ast.unparse(handler.type)}" if handler.type else ""
            named = f" as {handler.name}" if handler.name else ""
            headers.append(f"except{text}{named}:")
        self.kinds = done
        if node.orelse:
            headers.append("else:")
            inside.append(self._run(node.orelse, needed, "else"))
        if not tries.leaves([*node.body, *node.orelse]):
            ends = [self.kinds, *ends]
        if node.finalbody:
            tries.check_end(self.facts, node)
            headers.append("finally:")
            inside.append([*map(Keep, node.finalbody)])
        self.kinds, self.fewest = _joined(ends), fewest
        return Compound(tuple(headers), tuple(inside), node)

    def _attempted(self, body: list[ast.stmt], needed: frozenset[str]) -> list[Step]:
        """The block of a `try` as one graph, but for what Python does before it, and last with its results."""
        place = next((i for i, s in enumerate(body) if only_raises(s)), None)
        if place is not None:
            return self._checked(body, place, needed)
        try:
            graph = self._graph(body, needed, "", is_attempt=True)
        except Refusal:
            first, *rest = body
            if rest and not involves_tensors(self.facts, first):
                return [*self._kept([first]), *self._attempted(rest, needed)]
            *early, last = body
            if early and not involves_tensors(self.facts, last):
                graph = self._attempted(early, needed | _reads([last]))
                return [*graph, *self._kept([last])]
            computed, kept = extracted(body[-1], self.facts, self.names, set(), set())
            if not computed:
                raise
            early += computed
            wanted = needed | _reads([kept])
            graph = self._graph(early, wanted, "", is_attempt=True) or []
            named = isinstance(kept, ast.Expr) and isinstance(kept.value, ast.Name)
            return graph if named else [*graph, *self._kept([kept])]
        return graph or self._kept(body)

    def _checked(
        self, body: list[ast.stmt], place: int, needed: frozenset[str]
    ) -> list[Step]:
        """The block of a `try` in which Python raises: one graph up to there, another one from there on."""
        early, node, rest = body[:place], body[place], body[place + 1 :]
        wanted = needed | _reads(rest)
        computed, kept = extracted(node, self.facts, self.names, set(), set())
        early = [*early, *computed]
        steps = self._attempted(early, wanted | _reads([kept])) if early else []
        steps += self._kept([kept])
        return [*steps, *(self._attempted(rest, needed) if rest else [])]

    def _within(self, node: ast.With, needed: frozenset[str]) -> Step:
        """A `with` around the graph of its block."""
        text = self.splits.planner.source.segment
        managers = ", ".join(text(i.context_expr) for i in node.items)
        suppressed = tries.suppressed(self.splits.module, node)
        if not suppressed:
            inside = self._run(node.body, needed)
        else:
            entry, graphs = dict(self.kinds), len(self.cores)
            self.catches_any = tries.names_any(suppressed)
            inside = self._attempted(node.body, needed)
            if len(self.cores) > graphs and not self.catches_any:
                tries.check_caught(suppressed, node)
            tries.check_suppressed(node, needed)
            self.kinds = _joined([self.kinds, entry])
        self.tries += 1
        return Compound((f"with {managers}:",), (inside,), node)

    # ---- one graph

    def _graph(
        self,
        body: list[ast.stmt],
        needed: frozenset[str],
        word: str,
        is_attempt: bool = False,
    ) -> list[Step] | None:
        """Statements as the call of a graph; None where there is no work for one."""
        _check_exits(body)
        bound = dict.fromkeys(n for s in body for n in all_bound_names(s))
        outs = [n for n in bound if n in needed]
        parts = self._part(body, outs, word)
        whole = self.facts.definition.node.body
        check_read_later([s for s in whole if s not in body], parts.core.node, outs)
        found = self.splits.first_steps.core(
            parts.core, parts.kinds, self.facts.definition.qualname
        )
        given = found.result.items[1:] if isinstance(found.result, Sequence) else ()
        few = not is_attempt and not found.staged and found.operations < self.fewest
        if not found.problems and not found.operations:
            steps = self._kept(body)
            self.kinds |= dict(zip(outs, given, strict=False))
            return steps
        if not found.problems and few:
            return None
        if UNKNOWN in parts.kinds.values():
            unknown = {n for n, k in parts.kinds.items() if k == UNKNOWN}
            first = next((s for s in body if unknown & all_reads(s)), body[0])
            raise Refusal("what a block of it takes is not known", first, "GL211")
        if found.problems:
            raise found.problems[0]
        if is_attempt:
            tries.check_attempt(found, body, outs)
        else:
            self._check_given(body, outs, given)
        core, shell, planner = self.splits.core(self.facts, parts, self.called)
        self.splits.check_traces(core, self.facts)
        check_parameters(found)
        self.splits.entries.check(found)
        name = parts.core.node.name
        tf = self.splits.planner.tf
        decorator = signatures.decorator(found, None, tf)
        steps = planner.body()
        if is_attempt and self.catches_any:
            tries.check_as_it_is(steps, body, outs)
            decorator = f"{tf}.function(autograph=False)"
        elif is_attempt and "input_signature" not in decorator:
            raise Refusal("a new shape would fail while it is traced", body[0], "GL211")
        self.tries += is_attempt
        static = parts.core.is_static
        self.cores.append(Core(name, list(parts.kinds), steps, decorator, static))
        self.work.append(found.operations)
        self.imports |= planner.imports
        self.kinds |= dict(zip(outs, given, strict=False))
        call = self.splits.call(parts, decorator)
        guard, call = self.splits.planner.guarded(
            found, call, [text for text, _ in parts.arguments]
        )
        if outs:
            return [*map(Code, (*guard, *shell.calls(call)))]
        if not shell.converts and shell.result != NONE:
            return [*map(Code, (*guard, f"return {call}"))]
        return [*map(Code, (*guard, *shell.statements(call)))]

    def _part(self, body: list[ast.stmt], outs: list[str], word: str) -> Split:
        """A block as the body of a function that takes what it reads, and gives back the names in `outs`."""
        definition = self.facts.definition
        returning = [s for s in body if may_return(s)]
        if returning and (outs or not isinstance(body[-1], ast.Return)):
            raise Refusal("it returns on the way", returning[0], "GL211")
        made = [with_state_names(s, self.state) for s in body]
        read = read_before(made) | set(outs) - surely_assigned(made)
        read = definition.with_receiver(read)
        declared = definition.declared_global - self.state.keys()
        for statement in body:
            named = {*all_reads(statement), *all_bound_names(statement)}
            if named & declared:
                raise Refusal("it names a global that it writes", statement, "GL301")
        self._check_state(body, made)
        own = definition.receiver
        kinds: dict[str, Kind] = {}
        for name, kind in self.kinds.items():
            if name not in read:
                continue
            mixed = isinstance(kind, Tensor) and kind.mixed
            taken = UNKNOWN if mixed else argument_kind(kind) or UNKNOWN
            kinds[name] = kind if name == own else taken
        unset = set(outs) - surely_assigned(made) - kinds.keys()
        for statement in body:
            if unset & set(all_bound_names(statement)):
                raise Refusal("some way leaves a name of it unset", statement)
        state = [s for s in self.state.values() if s.name in read]
        arguments = [(n, kind) for n, kind in kinds.items() if n != own]
        arguments += [(s.text, s.kind) for s in state]
        kinds |= {s.name: s.kind for s in state}
        core = definition.sibling(
            self._name(word, outs), kinds, with_results(made, [], outs)
        )
        return Split(core, [], [], given=outs, arguments=arguments, kinds=kinds)

    def _check_state(self, body: list[ast.stmt], made: list[ast.stmt]) -> None:
        """Refuse a graph that would have to give back Python's state."""
        names = {s.name for s in self.state.values()}
        for statement, new in zip(body, made, strict=True):
            if new is not statement and names & set(all_bound_names(new)):
                raise Refusal("it writes Python's state", statement, "GL303")

    def _check_given(
        self, body: list[ast.stmt], outs: list[str], given: Sequenced[Kind]
    ) -> None:
        """Refuse a graph that would have to give back what only Python has."""
        for name, kind in zip(outs, given, strict=False):
            session = self.splits.session
            unfit = left_to_python(name, kind, body, self.facts, session)
            if unfit is not None and kind != NONE:
                binding = [s for s in body if name in all_bound_names(s)][-1]
                raise Refusal(unfit.reason, binding, unfit.code, unfit.way_out)

    def _name(self, word: str, outs: list[str]) -> str:
        base = self.splits.entries.core_name(
            self.facts.definition.qualname
        ).removesuffix("_graph")
        if self.main is not None:
            word = "" if len(self.cores) == self.main else (outs or ["rest"])[-1]
        words = [word, *reversed(outs), *(f"{word}_{i}" for i in range(2, 9))]
        taken = {*self.splits.planner.source.names, *(c.name for c in self.cores)}
        made = [f"{base}_{w.strip('_')}_graph" if w else f"{base}_graph" for w in words]
        free = [name for name in made if name not in taken]
        if not free or made[0] in self.splits.planner.source.names:
            raise Refusal(f"`{made[0]}` is something else already", code="GL211")
        return free[0]


def _known(environment: Environment, names: Iterable[str]) -> dict[str, Kind]:
    """What names hold somewhere; unknown where some way there leaves them unbound."""
    unsure = environment.unsure | environment.missing
    kinds = environment.kinds
    return {n: UNKNOWN if n in unsure else kinds.get(n, UNKNOWN) for n in names}


def _check_exits(body: list[ast.stmt]) -> None:
    """Refuse statements that leave the loop around them."""
    for node in body:
        if isinstance(node, LEAVING) or has_own(node, LEAVING):
            raise Refusal("it leaves the loop around it", node)


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


def _reads(body: Sequenced[ast.stmt]) -> frozenset[str]:
    return frozenset[str]().union(*map(all_reads, body))
