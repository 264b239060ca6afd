"""Tries statements of a function as a graph core: what it takes from Python, what it gives back, what no graph does.

State that Python changes (globals, attributes) goes into the core as arguments and comes back as results.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
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
    is_only_tested,
    left_to_python,
    lost_where_it_raises,
    outgrown,
    reading,
    sets_first,
    unfit_result,
)
from .core_results import with_results
from .early_ends import ends_core, with_nothing
from .facts.definitions import FunctionDefinition
from .facts.environment import FunctionFacts
from .facts.kind_parts import holds_mutable
from .facts.kinds import (
    NONE,
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
from .facts.session import Session
from .facts.signs import found_nonzero
from .facts.staging import is_of_library, is_optimizer
from .facts.syntax import all_bound_names, own_body
from .findings import Refusal
from .first_use import given_first, made_on_first_use
from .lookups import as_python
from .ordering import Ordering, may_return
from .planner import read_before, surely_assigned
from .promotion import Promotion
from .reached_state import ReachedState
from .replaying import is_replay
from .source import Names
from .stateful import builds
from .tapes import shown_behind
from .variables import made_here, swaps


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
        tested: those of `given` that are only asked whether they are true.
    """

    core: FunctionDefinition
    before: list[ast.stmt]
    after: list[ast.stmt]
    state: list[StateVariable] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    arguments: list[tuple[str, Kind]] = field(default_factory=list)
    kinds: dict[str, Kind] = field(default_factory=dict)
    new: frozenset[str] = frozenset()
    tested: frozenset[str] = frozenset()


Analyse = Callable[[FunctionDefinition, dict[str, Kind], str], FunctionFacts]
"""Gives the facts of a core, by its parameters' kinds and the function that it is of; may change its body."""


class Trials:
    """Tries cores of one function.

    Attributes:
        lasting: the names that are read after all of its statements.
        taken: names that it does not know of, and that mean something else where the core is called.
        started: state that has got a value after its object was made, by its text.
        swaps: statements that swap Variables: in the core, where names of its own stand for them, and behind it.
        replaced: the statements as a core has them.
        computed: what names hold that Python computes before the core.
        tells: whether the shell takes what the core tells of its values: which Python values they are.
    """

    tells = True

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
        apart: bool = False,
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
            session, facts, self.names, self.started, self.swaps, apart
        )
        reached = ReachedState(session, facts)
        self.order = Ordering(facts, self.state, module.borrowed, reached)
        self.body = [
            made
            for s in own_body(node)
            if not isinstance(s, ast.Global | ast.Nonlocal)
            for made in shown_behind(facts, s)
        ]
        self.declarations = [
            s for s in node.body if isinstance(s, ast.Global | ast.Nonlocal)
        ]
        self.replaced: dict[ast.stmt, ast.stmt] = {}
        self.note(self.body)
        self.computed: dict[str, Kind] = {}
        self.first = made_on_first_use(session, facts, self.body)
        self.first |= {s: {} for s in given_first(facts, self.body)}
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

    def note(self, statements: Iterable[ast.stmt]) -> None:
        """Note statements that a core may have: there, names of its own stand for the state in them."""
        for statement in statements:
            if statement not in self.replaced:
                made = with_state_names(statement, self.state)
                self.replaced[statement] = made

    def of(
        self, before: list[ast.stmt], core: list[ast.stmt], after: list[ast.stmt]
    ) -> Split | Refusal | None:
        """The split with these statements in the core, or the first problem inside it."""
        made = [self.replaced[s] for s in core]
        unfit = self._lost_write(made) or outgrown(self.state, made)
        if unfit is not None:
            return unfit
        named = {n for s in made for n in all_reads(s)} | self._kept(after, made)
        read = self.definition.with_receiver(named)
        state = [
            s
            for s in self.state.values()
            if s.name in read or self._written_in(s, made)
        ]
        parameters, arguments = self._taken(read, state, before, made)
        unknown = [n for n, k in parameters.items() if k == UNKNOWN]
        if unknown:
            return reading(made, unknown)
        outs = [s.name for s in state if self._written_in(s, made)]
        own = {*outs, *(s.name for s in state if isinstance(s.kind, Variable))}
        given = [n for n in self._given(after, made) if n not in own]
        try:
            body = with_results(self._ended(made, before, core, given), outs, given)
            definition = self._core(parameters, body, before)
            definition.beside = len(outs) + len(given) if self.tells else None
            found = self.analyse(definition, parameters, self.definition.qualname)
        except Refusal as refusal:
            return refusal
        several = bool(outs or given or definition.tags)
        unfit = self._unfit(found, made, state, several)
        if unfit is not None:
            return unfit
        if not (found.operations or found.staged) or is_of_arrays(found):
            return None
        whole = found.result
        result = whole.items[0] if several and isinstance(whole, Sequence) else whole
        lost = lost_where_it_raises(found, made, {*outs})
        left = self._left_to_python(whole, result, made, after, len(outs), given)
        if lost is not None or left is not None:
            return lost or left
        for variable in state:
            variable.written = variable.name in outs
        return Split(
            definition,
            [*self.declarations, *map(as_python, before)],
            [*map(as_python, after)],
            state,
            given,
            arguments,
            parameters,
            frozenset(n for n in parameters if made_here(self.facts, n, before)),
            frozenset(n for n in given if is_only_tested(n, after)) - self.lasting,
        )

    def _taken(
        self,
        read: frozenset[str],
        state: list[StateVariable],
        before: list[ast.stmt],
        made: list[ast.stmt],
    ) -> tuple[dict[str, Kind], list[tuple[str, Kind]]]:
        """The parameters of a core that has these reads and state, and what the shell calls it with."""
        parameters: dict[str, Kind] = {}
        arguments: list[tuple[str, Kind]] = []
        bound = (n for s in before for n in all_bound_names(s))
        for name in dict.fromkeys([*self.parameters, *bound]):
            if name in self.definition.declared_global or name not in read:
                continue
            parameters[name] = self.kind_before(name, before)
            if name != self.definition.receiver:
                arguments.append((name, parameters[name]))
        for variable in state:
            if sets_first(variable.name, made) and not any(map(ends_core, made)):
                continue
            parameters[variable.name] = variable.kind
            arguments.append((variable.text, variable.kind))
        return parameters, arguments

    def _core(
        self,
        parameters: dict[str, Kind],
        body: list[ast.stmt],
        before: list[ast.stmt],
    ) -> FunctionDefinition:
        """The function that a core is."""
        definition = self.definition.sibling(self.name, parameters, body)
        definition.settled = {k: v for s in self.first.values() for k, v in s.items()}
        definition.nonzero = found_nonzero(before)
        return definition

    def _unfit(
        self,
        found: FunctionFacts,
        made: list[ast.stmt],
        state: list[StateVariable],
        several: bool,
    ) -> Refusal | None:
        """The first place in a core, of which these facts were found, that no graph can have."""
        if found.problems:
            return found.problems[0]
        alias = self._alias(found, made) or self._aliased(state, made)
        if alias is not None:
            return alias
        unfit = unfit_result(found, several)
        if unfit is None or not isinstance(made[-1], ast.Return):
            return None
        return Refusal(unfit.reason, made[-1], way_out=unfit.way_out)

    def _ended(
        self,
        made: list[ast.stmt],
        before: list[ast.stmt],
        core: list[ast.stmt],
        given: list[str],
    ) -> list[ast.stmt]:
        """A core that gives nothing where it ends because its function raises.

        Raises:
            Refusal: nothing stands for what it gives elsewhere.
        """
        if not any(map(ends_core, made)):
            return made
        ends = filter(None, map(self.facts.after.get, reversed(core)))
        end = next(ends, None)
        kinds = dict(end.kinds) if end is not None else {}
        for statement in core:
            match statement:
                case ast.Assign(targets=[ast.Name(id=computed)], value=value):
                    kinds.setdefault(computed, self.facts.kind(value))
        bound = {n for s in before for n in all_bound_names(s)} | {*self.parameters}
        result = self.facts.result if any(map(may_return, made)) else NONE

        def kind(name: str) -> Kind:
            return kinds.get(name, UNKNOWN)

        promotion = Promotion(self.session.module.tensorflow)
        return with_nothing(made, result, given, bound, kind, promotion)

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

    def _aliased(
        self, state: list[StateVariable], made: list[ast.stmt]
    ) -> Refusal | None:
        """Why a core cannot be given a list or dict that may be one, by another name, which the function changes in place."""
        for variable in state if self.order.objects else ():
            chain = variable.chain
            changed = chain in self.order.objects
            if (
                holds_values(variable.kind)
                and not changed
                and self.order.is_borrowed(chain)
            ):
                reason = f"`{chain}` may be what is changed in place under another name: change a copy"
                return Refusal(reason, made[0], "GL204")
        return None

    def _left_to_python(
        self,
        whole: Kind,
        result: Kind,
        made: list[ast.stmt],
        after: list[ast.stmt],
        outs: int,
        given: list[str],
    ) -> Refusal | None:
        """The first statement of a core that computes what only Python gives back: a text, an object, a constant."""
        items = whole.items if given and isinstance(whole, Sequence) else ()
        for name, kind in zip(given, items[1 + outs :], strict=False):
            unfit = left_to_python(name, kind, made, self.facts, self.session)
            if unfit is not None:
                return unfit
            if isinstance(kind, Rows) and kind.ragged and any(map(is_replay, after)):
                return Refusal(f"the items of `{name}` may differ in shape", made[-1])
        if isinstance(made[-1], ast.Return) and computes_python(result):
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
            s
            for s in before
            if s not in makes
            and not self._is_computed(s)
            and name in self.order.changed(s)
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

    def _is_computed(self, statement: ast.stmt) -> bool:
        """Whether Python computes a number here, and changes nothing of objects but state that the core takes anyway."""
        bound = {*all_bound_names(statement)}
        return is_apart(statement) and bound <= self.computed.keys()

    def _kept(self, after: list[ast.stmt], made: list[ast.stmt]) -> set[str]:
        """The names that the core gives back and that hold, on some way through it, what they held before."""
        end = next((i for i, s in enumerate(made) if ends_core(s)), len(made))
        return set(self._given(after, made)) - surely_assigned(made[:end])

    def _given(self, after: list[ast.stmt], made: list[ast.stmt]) -> list[str]:
        """The names set in the core that Python needs after it."""
        bound = {n for s in made for n in all_bound_names(s)}
        names = dict.fromkeys(
            n.id for s in after for n in ast.walk(s) if isinstance(n, ast.Name)
        )
        read = {*read_before(after), *self.lasting}
        names |= dict.fromkeys(sorted(self.lasting))
        return [n for n in names if n in bound & read]
