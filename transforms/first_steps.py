"""The first steps of lifting: each makes of a function's body another one, which still does in eager mode what it did.

After every step the function is analysed anew. When no step is left, all that a tensor decides has a value, and the
planner can write the body as graph code.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from . import (
    assertions,
    boolean_forms,
    builtin_calls,
    callback_results,
    choices,
    companions,
    comprehensions,
    constant_layers,
    containers,
    deques,
    dict_names,
    dissolving,
    domains,
    draws,
    exits,
    fields,
    generators,
    grids,
    iterators,
    keyed,
    late_binding,
    list_names,
    listed_loops,
    lookups,
    matching,
    none_tests,
    objects,
    partials,
    popping,
    python_branches,
    raising,
    ranges,
    recursion,
    replaying,
    returning_breaks,
    sets,
    sinking,
    sizing,
    stateful,
    static_shapes,
    structures,
    taking,
    tapes,
    tensor_arrays,
    tuple_lists,
    unrolled,
    variables,
)
from .facts.definitions import FunctionDefinition, Tag
from .facts.environment import FunctionFacts
from .facts.kinds import Kind, Python, weak
from .facts.profile import FunctionNode
from .facts.session import Session
from .facts.staging import holds_tensor, stage
from .findings import Refusal
from .options import Options
from .source import Names, Source

MOST_STEPS = 24

Write = Callable[[FunctionFacts], object]
"""Writes a body as graph code. Refusal where it cannot."""
ORDERED = frozenset(
    {"GL201", "GL202", "GL204", "GL207", "GL208", "GL210", "GL301", "GL302"}
)
"""Rules of what Python has to do in its order, before a function raises or after."""


class FirstSteps:
    """Takes the first steps with the functions of one module.

    Attributes:
        statements: what the module has to make before a function, by its qualified name.
        with_calls: the bodies of functions before calls in them were inlined.
        unchecked: the bodies of functions before errors of Python's numbers were checked in them.

    Args:
        refusals: filled with the functions that a step refuses.
    """

    def __init__(
        self,
        session: Session,
        source: Source,
        options: Options,
        tf: str,
        refusals: dict[str, Refusal],
        write: Write,
    ) -> None:
        self.session = session
        self.source = source
        self.options = options
        self.tf = tf
        self._module_names = Names(source.names)
        self.refusals = refusals
        self.write = write
        self.statements: dict[str, list[str]] = {}
        self.with_calls: dict[str, FunctionNode] = {}
        self.unchecked: dict[str, FunctionNode] = {}

    def take(self, facts: FunctionFacts) -> bool:
        """Take the next step with a function; whether there was one."""
        return self._hoist(facts) or self._step(facts, self._next)

    def finish(self, facts: FunctionFacts) -> bool:
        """Take a step that changes what a function gives its callers, when no other is left; whether there was one."""
        return self._step(facts, self._last)

    def _step(
        self, facts: FunctionFacts, step: Callable[[FunctionFacts], FunctionNode | None]
    ) -> bool:
        definition = facts.definition
        if definition.qualname in self.refusals or not _has_work(facts):
            return False
        try:
            made = step(facts)
        except Refusal as refusal:
            self.refusals[definition.qualname] = refusal
            return False
        if made is None:
            return False
        self.session.replace_body(definition.qualname, made)
        return True

    def core(
        self, definition: FunctionDefinition, parameters: dict[str, Kind], of: str
    ) -> FunctionFacts:
        """The facts of a core of the function `of`, its body changed by the steps that what it is given asks for.

        Raises:
            Refusal: it cannot be told what eager mode gives.
        """
        for _ in range(MOST_STEPS):
            facts = self.session.analyse_core(definition, parameters, of)
            made = self._simpler(facts, of)
            if made is None and not facts.problems:
                accompanied = companions.with_companions(facts, self.names(facts))
                made, tags = accompanied or (None, [])
                if tags and not _is_told(tags, definition.beside):
                    raise Refusal("it returns a Python value or a tensor")
                definition.tags += tags
                same = self._gives_the_same(facts, of)
                made = made or unrolled.with_graph_loops(facts, None, same)
            if made is None:
                break
            definition.node = made
        return facts

    def _hoist(self, facts: FunctionFacts) -> bool:
        """Have Variables, optimizers and the like made by the module."""
        module = self.session.module
        hoisted = variables.hoist(
            facts, module, self.source, self.tf
        ) or stateful.hoist_object(
            facts, module, self.source, self.tf, self._module_names
        )
        if hoisted is None:
            return False
        qualname = facts.definition.qualname
        self.session.replace_body(qualname, hoisted.node, hoisted.bound)
        self.statements.setdefault(qualname, []).extend(hoisted.statements)
        return True

    def _next(self, facts: FunctionFacts) -> FunctionNode | None:
        if any(map(replaying.is_replay, facts.definition.node.body)):
            return self._effects_apart(facts)
        return (
            dict_names.without_dicts(facts, self.names(facts))
            or self._checked(facts)
            or self._failing(facts)
            or self._without_objects(facts)
            or self._simpler(facts, facts.definition.qualname)
            or self._effects_apart(facts)
        )

    def _effects_apart(self, facts: FunctionFacts) -> FunctionNode | None:
        replayed = replaying.with_replays(facts, self.names(facts), self.tf)
        return replayed or python_branches.with_effects_apart(facts, self.names(facts))

    def _last(self, facts: FunctionFacts) -> FunctionNode | None:
        if facts.problems:
            return None
        return (
            self._structured(facts) or self._accompanied(facts) or self._looped(facts)
        )

    def _checked(self, facts: FunctionFacts) -> FunctionNode | None:
        definition = facts.definition
        raised = self._raised(definition.qualname)
        checked = domains.with_checks(facts, self.names(facts), raised)
        if checked is not None:
            self.unchecked.setdefault(definition.qualname, definition.node)
        return checked

    def _failing(self, facts: FunctionFacts) -> FunctionNode | None:
        if any(map(self._raises, facts.calls.values())):
            return None  # until the statements of those stand here
        raised = [p.node for p in facts.problems if p.code == "GL108" and p.node]
        said = {id(n) for node in raised for n in ast.walk(node)}
        ordered = any(
            p.code in ORDERED and id(p.node) not in said for p in facts.problems
        )
        try:
            failing = None if ordered else assertions.with_failure(facts, self.source)
        except Refusal:
            flagged = raising.with_flags(facts, self.names(facts))
            return flagged or self._failing_variously(facts)
        if failing is None:
            if not ordered:
                return None
            return raising.with_flags(facts, self.names(facts), branches=True)
        made, facts.definition.failure = failing
        return made

    def _raises(self, qualname: str) -> bool:
        """Whether a function raises where a tensor says so."""
        called = self.session.facts_of(qualname)
        told = called.definition.failure is not None or called.definition.failures
        return bool(told) or any(p.code == "GL108" for p in called.problems)

    def _failing_variously(self, facts: FunctionFacts) -> FunctionNode | None:
        failing = assertions.with_failures(facts, self.source)
        if failing is None:
            return None
        made, facts.definition.failures = failing
        return made

    def _without_objects(self, facts: FunctionFacts) -> FunctionNode | None:
        dissolved = dissolving.without_objects(facts, self.session, self.names(facts))
        if dissolved is not None:
            return dissolved
        inlined = objects.with_calls_inlined(facts, self.session)
        if inlined is not None:
            definition = facts.definition
            self.with_calls.setdefault(definition.qualname, definition.node)
        return inlined

    def _simpler(self, facts: FunctionFacts, of: str) -> FunctionNode | None:
        """The body after one step that makes values of what Python does; None after the last. `of`: whose work it does.

        Raises:
            Refusal: what Python does has no values to be made of.
        """
        names, tf = self.names(facts), self.tf
        most = self.options.unroll_threshold
        steps: list[Callable[[], FunctionNode | None]] = [
            lambda: static_shapes.with_sizes(facts, names, tf),
            lambda: static_shapes.with_rows(facts, names),
            lambda: tensor_arrays.with_writes_kept(facts),
            lambda: tensor_arrays.with_element_shape(facts),
            lambda: ranges.with_python_ranges(facts, most, tf),
            lambda: ranges.with_bounds_checked(facts, self._raised(of), names, tf),
            lambda: draws.with_draws_apart(facts, self.session, names, tf),
            lambda: variables.with_names_kept(facts),
            lambda: static_shapes.with_static_tests(facts, names),
            lambda: constant_layers.without_layers(facts, self.session, names, tf),
            lambda: partials.without_partials(facts, self.session.module, names),
            lambda: late_binding.without_late_binding(
                facts, self.session.module, names
            ),
            lambda: fields.with_fields_written_out(facts, self.session, names),
            lambda: self._with_tensors_returned(facts, of),
            lambda: self._without_recursion(facts),
            lambda: generators.without_generators(facts, self.session),
            lambda: iterators.with_loops(facts, names, tf),
            lambda: taking.without_iterators(facts, names, self._raised(of)),
            lambda: returning_breaks.with_breaks(facts),
            lambda: matching.without_match(facts, names),
            lambda: grids.with_grids(facts, names, tf),
            lambda: self._without_lookups(facts, of),
            lambda: containers.with_parts(facts, names),
            lambda: list_names.with_names_apart(facts, names),
            lambda: popping.with_pops_first(facts, names),
            lambda: deques.without_deques(facts, self.session.module),
            lambda: sets.without_sets(facts, names),
            lambda: keyed.without_keys(facts, names, self._raised(of)),
            lambda: tuple_lists.without_tuples(facts, names),
            lambda: boolean_forms.plainer_tests(facts, names, tf),
            lambda: listed_loops.without_lists(facts, names),
            lambda: builtin_calls.without_builtins(facts, names, tf),
            lambda: comprehensions.without_comprehensions(facts, names, tf),
            lambda: containers.with_tensor_arrays(
                facts, names, tf, self._makes_no_trip(of)
            ),
            lambda: sizing.with_sizes(facts, names, tf),
            lambda: none_tests.with_none_tests_first(facts, names),
            lambda: choices.with_uses_in_arms(facts, names),
            lambda: exits.without_exits(facts, names),
            lambda: tapes.with_tapes_kept(facts),
            lambda: sinking.with_values_in_arms(facts, self.source),
        ]
        made = (step() for step in steps)
        return next((node for node in made if node is not None), None)

    def _with_tensors_returned(
        self, facts: FunctionFacts, of: str
    ) -> FunctionNode | None:
        recorded = self.session.recorded(of)
        return callback_results.with_tensors_returned(
            facts, self.session, recorded, self.names(facts), self.tf
        )

    def _without_lookups(self, facts: FunctionFacts, of: str) -> FunctionNode | None:
        return lookups.without_lookups(
            facts, self.names(facts), self.tf, self._raised(of)
        )

    def names(self, facts: FunctionFacts) -> Names:
        """Gives names to what a step makes in a function."""
        return Names.local_to(facts.definition, self.session.module)

    def _raised(self, of: str) -> tuple[str, ...]:
        """What recorded calls of a function raised."""
        recorded = self.session.recorded(of)
        return recorded.raises if recorded else ()

    def _makes_no_trip(self, of: str) -> bool:
        """Whether a loop was seen to be left before its first trip."""
        recorded = self.session.recorded(of)
        return recorded is not None and any(
            least == 0 for least, _ in recorded.trips.values()
        )

    def _without_recursion(self, facts: FunctionFacts) -> FunctionNode | None:
        if self._is_overridden(facts.definition):
            return None
        return recursion.without_recursion(facts, self.names(facts))

    def _is_overridden(self, definition: FunctionDefinition) -> bool:
        """Whether a class of the module has a method of its own in the place of this one."""
        owner, module = definition.owner, self.session.module
        return owner is not None and any(
            definition.node.name in made.methods
            and owner.qualname in module.bases(name)
            for name, made in module.classes.items()
        )

    def _structured(self, facts: FunctionFacts) -> FunctionNode | None:
        structured = structures.with_one_structure(facts, self.names(facts), self.tf)
        if structured is None:
            return None
        made, facts.definition.tags, facts.definition.forms = structured
        return made

    def _accompanied(self, facts: FunctionFacts) -> FunctionNode | None:
        accompanied = companions.with_companions(facts, self.names(facts))
        if accompanied is None:
            return None
        made, tags = accompanied
        facts.definition.tags += tags
        return made

    def _looped(self, facts: FunctionFacts) -> FunctionNode | None:
        unrolls = not self.options.enabled("GL112") or number_parameters(facts)
        most = None if unrolls else self.options.unroll_threshold
        same = self._gives_the_same(facts, facts.definition.qualname)
        return unrolled.with_graph_loops(facts, most, same)

    def _gives_the_same(
        self, facts: FunctionFacts, of: str
    ) -> Callable[[FunctionDefinition], bool]:
        """Tells whether another body of a function can be lifted, to a result of the same kind."""

        def tried(definition: FunctionDefinition) -> bool:
            found = self.session.analyse_core(definition, facts.parameters, of)
            if found.problems or stage(found.result) != stage(facts.result):
                return False
            try:
                self.write(found)
            except Refusal:
                return False
            return True

        return tried


def _has_work(facts: FunctionFacts) -> bool:
    """Whether a function does, or is steered by, anything that a graph would do."""
    found = facts.operations or facts.staged or facts.exits
    given = any(map(holds_tensor, facts.parameters.values()))
    return bool(found) or given or any(p.code != "GL401" for p in facts.problems)


def number_parameters(facts: FunctionFacts) -> dict[str, Kind]:
    """The parameters that are Python numbers, and what holds them in a graph where nothing in it is a graph's loop."""
    return {
        name: weak(kind.type)
        for name, kind in facts.parameters.items()
        if isinstance(kind, Python) and kind.type in ("int", "float")
    }


def _is_told(tags: list[Tag], beside: int | None) -> bool:
    """Whether a core may tell this of what it gives back: no None of what goes `beside` its result."""
    if beside is None:
        return False
    return not beside or not any(tag.type == "none" and tag.path[0] for tag in tags)
