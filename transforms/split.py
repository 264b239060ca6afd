"""Splits a function into Python before, one graph core, and Python after.

What a graph cannot do stays Python's, in the shell that keeps the function's name: the statements before the first
tensor work, those after the last, and in between what can wait or can come first. State that Python changes (globals,
attributes) goes into the core as arguments and comes back as results.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection
from collections.abc import Sequence as Sequenced
from dataclasses import dataclass, field

from .apart import is_apart
from .changing_state import (
    StateVariable,
    argument_kind,
    changing_state,
    with_state_names,
)
from .core_checks import (
    computes_python,
    holds_values,
    is_of_arrays,
    lost_where_it_raises,
    outgrown,
    reading,
    sets_first,
    unfit_result,
)
from .core_results import with_results
from .extraction import computes, extracted, operations
from .facts.definitions import FunctionDefinition
from .facts.environment import FunctionFacts
from .facts.kind_parts import holds_mutable, is_mutable
from .facts.kinds import (
    UNKNOWN,
    Array,
    Kind,
    Python,
    Rows,
    Scalar,
    Sequence,
    Tensor,
    Variable,
    members,
)
from .facts.liveness import all_reads
from .facts.ownership import is_own
from .facts.session import Session
from .facts.staging import (
    is_numbers,
    is_of_library,
    is_optimizer,
)
from .facts.syntax import all_bound_names, names_in, own_body
from .findings import Refusal
from .first_use import made_on_first_use
from .inlining import is_written
from .ordering import WAITS, Ordering, is_plain_return, may_return
from .planner import read_before
from .printing import is_print
from .python_parts import PythonFirst, PythonParts
from .replaying import is_replay
from .source import Names
from .stateful import builds
from .variables import made_here, swaps

MOST_ROUNDS = 24
MUCH = 6


@dataclass
class Split:
    """A function as shell and core.

    Attributes:
        core: the function of the graph.
        before, after: the statements that stay Python's, as the file has them.
        state: what the core takes from Python's state, and gives back where it is written.
        given: names that the statements after the core need from it.
        arguments: what the shell calls the core with, as texts, and the kinds that the core takes.
        kinds: of the core's parameters.
        new: those of them that are Variables which the shell has just made.
    """

    core: FunctionDefinition
    before: list[ast.stmt]
    after: list[ast.stmt]
    state: list[StateVariable] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    arguments: list[tuple[str, Kind]] = field(default_factory=list)
    kinds: dict[str, Kind] = field(default_factory=dict)
    new: frozenset[str] = frozenset()


Analyse = Callable[[FunctionDefinition, dict[str, Kind], str], FunctionFacts]
"""Gives the facts of a core, by its parameters' kinds and the function that it is of; may change its body."""


def split(
    session: Session,
    facts: FunctionFacts,
    name: str,
    analyse: Analyse,
    numbers: Collection[str] = (),
) -> Split | None:
    """The function as shell and core; None where it has no core to be split off.

    The core takes the parameters `numbers` as tensors.

    Raises:
        Refusal: no split keeps what eager mode does.
    """
    definition = facts.definition
    if definition.is_inner or not may_have_core(definition):
        return None
    return Splitter(session, facts, name, analyse, frozenset(numbers)).split()


def may_have_core(definition: FunctionDefinition) -> bool:
    """Whether a function can stand beside this one that is called as it is."""
    args = definition.node.args
    return not (
        args.vararg or args.kwarg or definition.is_generator or definition.is_descriptor
    )


class Splitter:
    """Splits one function.

    Attributes:
        lasting: the names that are read after all of its statements.
        taken: names that it does not know of, and that mean something else where the core is called.
        swaps: statements that swap Variables: in the core, where names of its own stand for them, and behind it.
        started: state that has got a value after its object was made, by its text.
    """

    lasting: frozenset[str] = frozenset()
    taken: frozenset[str] = frozenset()
    started: frozenset[str] = frozenset()

    def __init__(
        self,
        session: Session,
        facts: FunctionFacts,
        name: str,
        analyse: Analyse,
        numbers: frozenset[str] = frozenset(),
    ) -> None:
        self.session = session
        self.numbers = numbers
        self.analyse = analyse
        self.facts = facts
        self.definition = facts.definition
        self.name = name
        node = self.definition.node
        self.parameters = [a.arg for a in self.definition.parameters]
        module = session.module
        self.names = Names.clear_of(
            node, {*self.parameters, *self.taken, *module.globals}
        )
        self.swaps = self.swapped()
        self.state = changing_state(
            session, facts, self.names, self.started, self.swaps
        )
        self.order = Ordering(facts, self.state)
        self.body = [
            s for s in own_body(node) if not isinstance(s, ast.Global | ast.Nonlocal)
        ]
        self.declarations = [
            s for s in node.body if isinstance(s, ast.Global | ast.Nonlocal)
        ]
        self.replaced = {id(s): with_state_names(s, self.state) for s in self.body}
        self.computed: dict[str, Kind] = {}
        self.first = made_on_first_use(session, facts, self.body)
        self.builds = self.built_before()

    def swapped(self) -> list[ast.stmt]:
        return swaps(self.facts)

    def built_before(self) -> list[ast.stmt]:
        """What the shell makes before anything else."""
        swapped = [
            v.chain
            for v in self.state.values()
            if all(map(is_optimizer, members(v.kind)))
        ]
        return builds(self.facts, swapped)

    # ---- the search

    def split(self) -> Split | None:
        before = [*self.builds, *self.first]
        core = [s for s in self.body if s not in self.first]
        after = [s for s in self.swaps if self.order.changed(s) <= self.state.keys()]
        return self.searched(before, core, after)

    def searched(
        self, before: list[ast.stmt], core: list[ast.stmt], after: list[ast.stmt]
    ) -> Split | None:
        """The split that leaves the core all that a graph can do, found by moving what it cannot.

        Raises:
            Refusal: something that no graph can do stands fast among what one should.
        """
        if (
            core
            and self._returns_variable(core[-1])
            and not any(map(may_return, core[:-1]))
        ):
            after.append(core.pop())
        while (statement := next(filter(is_replay, core), None)) is not None:
            place = core.index(statement)
            core.remove(statement)
            if not self._waits(statement, before, core, place, after, "GL202"):
                raise Refusal("what a loop does cannot wait for its end", self.body[0])
        for _ in range(MOST_ROUNDS):
            found = self._try(before, core, after)
            if isinstance(found, Split) and self._shows_after(before, core, after):
                continue
            problem = found if isinstance(found, Refusal) else None
            if problem is None:
                found = self._with_lists_first(found, before, core, after)  # type: ignore[arg-type]
                found = self._with_counts_left(found, before, core, after)
                found = self._with_counts_first(found, before, core, after)
                return self._with_plain_return(found, before, core, after)
            index = self._index_of(problem, core)
            if index is None:
                if self._decided_first(before, core, after):
                    continue
                return None
            statement = core.pop(index)
            unwritten = not is_written(statement) and not is_apart(statement)
            if unwritten or statement in self.swaps:
                return None
            code = self._code(problem, statement)
            if self.order.may_go_first(statement, core[:index], after, code):
                before.append(statement)
            elif self._computed_first(
                statement, before, core, index, after
            ) or self._waits(statement, before, core, index, after, code):
                pass
            elif (
                not after
                and not isinstance(statement, ast.Return)
                and not self._works(core[:index], core[index:])
                and not any(map(self.order.loops, [*core[:index], statement]))
                and all(map(is_written, core[:index]))
            ):
                before += [*core[:index], statement]
                del core[:index]
            else:
                raise Refusal(
                    f"{problem.reason}, and it can come neither before nor after the tensor work around it",
                    problem.node,
                    code,
                )
            if not core:
                return None
        return None

    def _shows_after(
        self, before: list[ast.stmt], core: list[ast.stmt], after: list[ast.stmt]
    ) -> bool:
        """Have Python print after the core, as exactly as in eager mode, where that keeps the order; whether it now does."""
        for index, statement in enumerate(core):
            if not is_print(self.facts, statement) or not is_written(statement):
                continue
            rest = core[:]
            del rest[index]
            if self._waits(statement, before, rest, index, after, "GL201"):
                core[:] = rest
                return True
        return False

    def _computed_first(
        self,
        statement: ast.stmt,
        before: list[ast.stmt],
        core: list[ast.stmt],
        index: int,
        after: list[ast.stmt],
    ) -> bool:
        """Have Python compute before the core what of a statement is its own; the core keeps the rest."""
        parts = self._python_first.parts(statement, core[:index], after)
        return self._goes_first(parts, before, core, index)

    def _decided_first(
        self, before: list[ast.stmt], core: list[ast.stmt], after: list[ast.stmt]
    ) -> bool:
        """Have Python decide before the core what asks about its state alone, so that each trace has one of the ways."""
        for index, statement in enumerate(core):
            parts = self._python_first.test(statement, core[:index], after)
            if parts is not None:
                core.pop(index)
                return self._goes_first(parts, before, core, index)
        return False

    @property
    def _python_first(self) -> PythonFirst:
        return PythonFirst(
            self.session, self.facts, self.order, self.names, self.numbers
        )

    def _goes_first(
        self,
        parts: PythonParts | None,
        before: list[ast.stmt],
        core: list[ast.stmt],
        index: int,
    ) -> bool:
        if parts is None:
            return False
        rest = [s for s in (parts.rest,) if s is not None]
        self.replaced |= {id(s): with_state_names(s, self.state) for s in rest}
        self.computed |= parts.kinds
        before += [*parts.moved, *parts.apart]
        core[:index] = [*(s for s in core[:index] if s not in parts.moved), *rest]
        return True

    def _with_lists_first(
        self,
        found: Split | None,
        before: list[ast.stmt],
        core: list[ast.stmt],
        after: list[ast.stmt],
    ) -> Split | None:
        """The split with what makes tensors of lists of numbers before the core, which each list would have traced anew."""
        lists = {n for n, k in (found.kinds if found else {}).items() if is_numbers(k)}
        rest: list[ast.stmt] = []
        first: list[ast.stmt] = []
        for statement in core if lists else ():
            reads = lists & self.order.reads(statement)
            goes = reads and self.order.may_go_first(statement, rest, after, "GL404")
            (first if goes else rest).append(statement)
        if not first or not self._works(rest, first):
            return found
        again = self._try([*before, *first], rest, after)
        if not isinstance(again, Split) or any(map(is_numbers, again.kinds.values())):
            return found
        before += first
        core[:] = rest
        return again

    def _with_counts_left(
        self,
        found: Split | None,
        before: list[ast.stmt],
        core: list[ast.stmt],
        after: list[ast.stmt],
    ) -> Split | None:
        """The split with what only keeps a number of Python's behind the core; the statements of `core` are left in it."""
        for statement in list(core) if found is not None else ():
            rest = [s for s in core if s is not statement]
            if not rest or not self._only_counts(statement, core, rest):
                continue
            later: list[ast.stmt] = list(after)
            self._insert(later, statement)
            again = self._try(before, rest, later)
            if isinstance(again, Split):
                found, core[:], after[:] = again, rest, later
        return found

    def _with_counts_first(
        self,
        found: Split | None,
        before: list[ast.stmt],
        core: list[ast.stmt],
        after: list[ast.stmt],
    ) -> Split | None:
        """The split with the numbers of Python's that it begins with counted before the core, which is given them."""
        while found is not None and len(core) > 1 and self._counts(core[0]):
            again = self._try([*before, core[0]], core[1:], after)
            if not isinstance(again, Split):
                break
            found = again
            before.append(core.pop(0))
        return found

    def _counts(self, statement: ast.stmt) -> bool:
        """Whether a statement of the file keeps a number in Python's state."""
        return (
            bool(self._state_set(statement))
            and is_written(statement)
            and self._python_first.counts(statement)
        )

    def _state_set(self, statement: ast.stmt) -> set[str]:
        """The names of the state that a statement sets."""
        states = {variable.name for variable in self.state.values()}
        return states & set(all_bound_names(self.replaced[id(statement)]))

    def _only_counts(
        self, statement: ast.stmt, core: list[ast.stmt], rest: list[ast.stmt]
    ) -> bool:
        """Whether a statement keeps a number in Python's state of which the rest of the core knows nothing."""
        made = self.replaced[id(statement)]
        written = self._state_set(statement)
        if not written or not self._python_first.is_pythons(statement):
            return False
        others = [self.replaced[id(s)] for s in rest]
        bound = {n for s in others for n in all_bound_names(s)}
        read = {n for s in others for n in names_in(s)}
        earlier = core[: core.index(statement)]
        return (
            not names_in(made) & bound
            and not written & read
            and not any(map(may_return, earlier))
            and not any(self.order.has_effects(s, ("assert",)) for s in rest)
        )

    def _waits(
        self,
        statement: ast.stmt,
        before: list[ast.stmt],
        core: list[ast.stmt],
        index: int,
        after: list[ast.stmt],
        code: str,
    ) -> bool:
        """Move a statement behind the core, and what needs it; the core keeps the tensor work in them."""
        kept: list[ast.stmt] = []
        late: list[tuple[ast.stmt, int]] = []
        for place, other in enumerate([statement, *core[index:]], index):
            named = {n for s, _ in late for n in self.order.changed(s)}
            if late and not (named & self.order.reads(other) or self._shows(other)):
                kept.append(other)
                continue
            again = {n for s in core[place:] for n in all_bound_names(s)}
            own, waiting = self._extracted(
                other, [*after, *(s for s, _ in late)], again
            )
            kept += own
            late.append((waiting, len(kept)))
        early = core[:index]
        if any(isinstance(s, ast.Return) for s, _ in late):
            early = [*early, *kept]
        if any(map(may_return, early)) or not all(
            self.order.may_wait(s, kept[place:], code) for s, place in late
        ):
            return False
        outside = any(computes(s, self.facts) for s, _ in late)
        inside = [*core[:index], *kept]
        if outside and not self._works(inside, [*before, *(s for s, _ in late)]):
            return False
        core[index:] = kept
        self.replaced |= {
            id(s): with_state_names(s, self.state)
            for s in kept
            if id(s) not in self.replaced
        }
        for waiting, _ in late:
            self._insert(after, waiting)
        return True

    def _shows(self, statement: ast.stmt) -> bool:
        """Whether a statement of its own prints or logs, so that it can stay behind what was shown before."""
        return isinstance(statement, ast.Expr) and (
            self.order.has_effects(statement, ("stdout",))
            or any(
                p.code == "GL202" and p.node is statement.value
                for p in self.facts.problems
            )
        )

    def _extracted(
        self,
        statement: ast.stmt,
        after: list[ast.stmt],
        again: Collection[str] = (),
    ) -> tuple[list[ast.stmt], ast.stmt]:
        """The tensor work of a statement, and the rest; `again` are names that are set anew behind it."""
        effects = ("assign", "random", "variable", "io")
        if self.order.has_effects(statement, effects):
            return [], statement
        late = {n for s in after for n in all_bound_names(s)}
        return extracted(statement, self.facts, self.names, late, set(again))

    def _returns_variable(self, node: ast.stmt) -> bool:
        """Whether a statement returns Variables themselves, which a graph would give back as values."""
        if not isinstance(node, ast.Return) or node.value is None:
            return False
        value = node.value
        parts = value.elts if isinstance(value, ast.Tuple | ast.List) else [value]
        plain = all(isinstance(p, ast.Name | ast.Attribute) for p in parts)
        return plain and any(isinstance(self.facts.kind(p), Variable) for p in parts)

    def _code(self, problem: Refusal, statement: ast.stmt) -> str:
        """The code of a problem; of those of its statement, one that lets it wait."""
        codes = self.facts.codes_inside(statement)
        return next((c for c in codes if c in WAITS), problem.code)

    def _with_plain_return(
        self,
        found: Split | None,
        before: list[ast.stmt],
        core: list[ast.stmt],
        after: list[ast.stmt],
    ) -> Split | None:
        """The split with the return in the shell, where it only names what the core gives back anyway."""
        if (
            found is None
            or not core
            or not is_plain_return(core[-1])
            or any(map(may_return, core[:-1]))
            or not (after or found.state)
        ):
            return found
        again = self._try(before, core[:-1], [*after, core[-1]])
        return again if isinstance(again, Split) else found

    def _insert(self, after: list[ast.stmt], statement: ast.stmt) -> None:
        after.append(statement)
        after.sort(key=self._place)

    def _place(self, statement: ast.stmt) -> int:
        """Where a statement, or the one that it was made of, stands in the body."""
        origin = getattr(statement, "origin", statement)
        places = [i for i, s in enumerate(self.body) if s in (statement, origin)]
        places += [
            i for i, s in enumerate(self.body) if getattr(s, "origin", None) is origin
        ]
        return places[0] if places else len(self.body)

    def _works(
        self, statements: Sequenced[ast.stmt], others: Sequenced[ast.stmt]
    ) -> bool:
        """Whether tensor work is among statements, so that they are worth a core, whatever others do."""
        here = [n for s in statements for n in ast.walk(s)]
        calls = [n for n in here if isinstance(n, ast.Call | ast.BinOp)]
        if sum(n in self.facts.kinds for n in calls) > MUCH:
            return True
        return operations(self.facts, statements) >= 2 * max(
            1, operations(self.facts, others)
        )

    def _index_of(self, problem: Refusal, core: list[ast.stmt]) -> int | None:
        return place_of(problem, core, [self.replaced[id(s)] for s in core])

    # ---- one try

    def _try(
        self, before: list[ast.stmt], core: list[ast.stmt], after: list[ast.stmt]
    ) -> Split | Refusal | None:
        """The split with these statements in the core, or the first problem inside it."""
        made = [self.replaced[id(s)] for s in core]
        unfit = self._lost_write(made) or outgrown(self.state, made)
        if unfit is not None:
            return unfit
        read = {n for s in made for n in all_reads(s)}
        state = [
            s
            for s in self.state.values()
            if s.name in read or self._written_in(s, made)
        ]
        parameters: dict[str, Kind] = {}
        arguments: list[tuple[str, Kind]] = []
        for name in [
            *self.parameters,
            *dict.fromkeys(n for s in before for n in all_bound_names(s)),
        ]:
            if name in self.definition.declared_global:
                continue
            if name in read and name not in parameters:
                parameters[name] = self.kind_before(name, before)
                if name != self.definition.receiver:
                    arguments.append((name, parameters[name]))
        for variable in state:
            if sets_first(variable.name, made):
                continue
            parameters[variable.name] = variable.kind
            arguments.append((variable.text, variable.kind))
        unknown = [n for n, k in parameters.items() if k == UNKNOWN]
        if unknown:
            return reading(made, unknown)
        outs = [s.name for s in state if self._written_in(s, made)]
        own = {*outs, *(s.name for s in state if isinstance(s.kind, Variable))}
        given = [n for n in self._given(after, made) if n not in own]
        body = with_results(made, outs, given)
        definition = self.definition.sibling(self.name, parameters, body)
        definition.settled = {k: v for s in self.first.values() for k, v in s.items()}
        try:
            found = self.analyse(definition, parameters, self.definition.qualname)
        except Refusal as refusal:
            return refusal
        if found.problems:
            return found.problems[0]
        alias = self._alias(found, made)
        if alias is not None:
            return alias
        unfit = unfit_result(found, bool(outs or given))
        if unfit is not None and isinstance(made[-1], ast.Return):
            return Refusal(unfit.reason, made[-1])
        if not (found.operations or found.staged) or is_of_arrays(found):
            return None
        lost = lost_where_it_raises(found, made, {*outs})
        if lost is not None:
            return lost
        left = self._left_to_python(found.result, made, after, len(outs), given)
        if left is not None:
            return left
        for variable in state:
            variable.written = variable.name in outs
        return Split(
            definition,
            [*self.declarations, *before],
            after,
            state,
            given,
            arguments,
            parameters,
            frozenset(n for n in parameters if made_here(self.facts, n, before)),
        )

    def _alias(self, found: FunctionFacts, made: list[ast.stmt]) -> Refusal | None:
        """The first place in the core that reads what may be a list or dict which the function changes in place."""
        names = [n for s in made for n in ast.walk(s) if isinstance(n, ast.Name)]
        if self.facts.shared and any(holds_mutable(found.kind(n)) for n in names):
            return self.facts.shared[0]
        if not self.order.objects:
            return None
        return next(
            (
                Refusal("this may be what the function changes in place", n, "GL204")
                for s in made
                for n in ast.walk(s)
                if isinstance(n, ast.Attribute)
                and holds_values(found.kind(n))
                and not is_of_library(found.kind(n.value))
            ),
            None,
        )

    def _left_to_python(
        self,
        result: Kind,
        made: list[ast.stmt],
        after: list[ast.stmt],
        outs: int,
        given: list[str],
    ) -> Refusal | None:
        """The first statement of a core that computes what only Python gives back: a text, an object, a constant."""
        several = bool(outs or given) and isinstance(result, Sequence)
        items = result.items if several else (result,)  # type: ignore[attr-defined]
        for name, kind in zip(given, items[1 + outs :], strict=False):
            if is_mutable(kind) and not is_own(name, self.facts, self.session):
                return Refusal(f"`{name}` has another name, too")
            if isinstance(kind, Rows) and kind.ragged and any(map(is_replay, after)):
                return Refusal(f"the items of `{name}` may differ in shape", made[-1])
            if isinstance(kind, Python):
                binding = [s for s in made if name in all_bound_names(s)]
                return Refusal(f"`{name}` is a Python value", binding[-1], "GL205")
        if isinstance(made[-1], ast.Return) and computes_python(items[0]):
            return Refusal("it returns a Python value", made[-1], "GL205")
        return None

    def _lost_write(self, made: list[ast.stmt]) -> Refusal | None:
        """The first write of a global in the core that the core does not give back."""
        declared = self.definition.declared_global - self.state.keys()
        return next(
            (
                Refusal("it writes a module's global", n, "GL301")
                for s in made
                for n in ast.walk(s)
                if isinstance(n, ast.Name)
                and n.id in declared
                and not isinstance(n.ctx, ast.Load)
            ),
            None,
        )

    def _written_in(self, variable: StateVariable, made: list[ast.stmt]) -> bool:
        """Whether statements of a core give a piece of state another value; a Variable only gets another name there."""
        return not isinstance(variable.kind, Variable) and any(
            isinstance(n, ast.Name)
            and n.id == variable.name
            and isinstance(n.ctx, ast.Store)
            for s in made
            for n in ast.walk(s)
        )

    def kind_before(self, name: str, before: list[ast.stmt]) -> Kind:
        """What the core is given under a name; unknown where it can be given nothing."""
        if name in self.order.objects:
            return UNKNOWN
        makes = [*self.builds, *self.first]
        changing = [
            s for s in before if s not in makes and name in self.order.changed(s)
        ]
        if name in self.computed:
            return argument_kind(self.computed[name]) or UNKNOWN
        if (variable := made_here(self.facts, name, before)) is not None:
            return variable
        if not changing:
            kind = self.facts.parameters.get(name, UNKNOWN)
            return (argument_kind(kind) or UNKNOWN) if name in self.numbers else kind
        after = self.facts.after.get(changing[-1])
        kind = after.kinds.get(name, UNKNOWN) if after is not None else UNKNOWN
        if not isinstance(kind, Tensor | Python | Array | Scalar):
            return UNKNOWN
        return argument_kind(kind) or UNKNOWN

    def _given(self, after: list[ast.stmt], made: list[ast.stmt]) -> list[str]:
        """The names set in the core that Python needs after it."""
        bound = {n for s in made for n in all_bound_names(s)}
        names = dict.fromkeys(
            n.id for s in after for n in ast.walk(s) if isinstance(n, ast.Name)
        )
        read = {*read_before(after), *self.lasting}
        names |= dict.fromkeys(sorted(self.lasting))
        return [n for n in names if n in bound & read]


def place_of(
    problem: Refusal, body: list[ast.stmt], made: list[ast.stmt] | None = None
) -> int | None:
    """Which of some statements has a problem that was found in those made of them; None where that cannot be told."""
    for i, statement in enumerate(body if made is None else made):
        if problem.node is not None and any(
            n is problem.node for n in ast.walk(statement)
        ):
            return i
    line = getattr(problem.node, "lineno", None)
    for i, statement in enumerate(body):
        start, end = (getattr(statement, a, None) for a in ("lineno", "end_lineno"))
        if line is not None and start and end and start <= line <= end:
            return i
    return None
