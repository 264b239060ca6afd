"""Which functions become graphs of their own, and what their cores are called."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property

from .building import WITH_VARIABLES, check_given
from .facts.definitions import ClassDefinition, FunctionDefinition
from .facts.environment import FunctionFacts
from .facts.kinds import (
    NONE,
    UNKNOWN,
    Kind,
    Object,
    Python,
    Variable,
    members,
)
from .facts.profile import Recorded
from .facts.session import Session
from .facts.staging import is_numbers, is_numpy, is_strong
from .facts.syntax import beside, called_names, names_in
from .findings import Refusal
from .first_steps import number_parameters
from .source import in_small_letters
from .tapes import check_tapes, is_taped

FEWEST_CALLS, FEWEST_OPERATIONS = 4, 8
"""From how many calls and operations on a helper that eager code of its module calls becomes a graph; without a
profile, a function from that many operations on."""
PLACES = (ast.Name, ast.Attribute, ast.Subscript)
"""Expressions that name what is there already."""
TENSORFLOW = re.compile("tensor|variable|dataset|keras|ragged|sparse")
"""What the kinds of TensorFlow's values have in their texts."""
LIBRARIES = ("object", "tensorflow.", "keras.", "abc.", "typing.")
"""Bases of classes that have no method of the program's names."""
GIVEN = (
    *WITH_VARIABLES,
    *(f"keras.src.{p}." for p in ("optimizers", "losses", "metrics")),
)
"""Where what of Keras a graph may be given is."""
NEVER_DECORATED = frozenset(
    [
        "call",
        "build",
        "compute_output_shape",
        "get_config",
        "from_config",
        "train_step",
        "test_step",
        "predict_step",
    ]
)


class Entries:
    """Tells, of the functions of one module, where graphs start: from outside a graph, and where that is worth it."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.module = session.module
        self._called: dict[str, set[str]] = {}

    def is_decorated(
        self, facts: FunctionFacts, called: bool, lifted: Mapping[str, FunctionFacts]
    ) -> bool:
        """Whether the function is called from outside the graph, so that a graph starts here."""
        definition = facts.definition
        kinds = facts.kinds.values()
        if any(map(is_numpy, kinds)) and not any(map(is_strong, kinds)):
            return False
        if self.session.is_graph_function(definition) or definition.is_descriptor:
            return False
        if definition.is_inner or definition.is_operator:
            return False
        if definition.has_gradient:
            return False
        if not self.can_be_method(definition) or self.is_called_by_keras(definition):
            return False
        if self.is_pythons(facts):
            return False
        recorded = self.session.recorded(definition.qualname)
        small = not facts.staged and facts.operations < FEWEST_OPERATIONS
        if recorded is None and small:
            return False
        if recorded is not None and recorded.callers:
            if not self.is_worth_it(facts):
                return False
            callers = self.session.recorded_callers(definition.qualname)
            return not all(c in lifted or self._is_in_graph(c) for c in callers)
        return not called

    def is_pythons(
        self, facts: FunctionFacts, known: frozenset[str] = frozenset()
    ) -> bool:
        """Whether a recorded run saw no tensor in a function, nor in those that it calls: it is no work for a graph.

        Those that are `known` are not asked again.
        """
        definition = facts.definition
        seen = self.session.recorded(definition.qualname)
        if seen is None or seen.calls == 0:
            return False
        names = names_in(definition.original)
        imported = {self.module.imports.get(n, "").partition(".")[0] for n in names}
        if imported & {"tensorflow", "keras"} or saw_tensors(seen):
            return False
        known |= {definition.qualname}
        return all(
            found is not None and self.is_pythons(found, known)
            for found in map(self.session.known, {*facts.calls.values()} - known)
        )

    def check(self, facts: FunctionFacts, new: Collection[str] = ()) -> None:
        """Refuse parameters that a graph would not take as eager mode does: objects, Variables but `new` ones.

        Raises:
            Refusal: with the first of them.
        """
        check_given(self.session, facts)
        self._check_objects(facts)
        self._check_variables(facts, new)

    def _check_objects(self, facts: FunctionFacts) -> None:
        """Refuse objects as parameters that a `tf.function` cannot tell from others: it holds them weakly, by hash."""
        for name, kind in facts.parameters.items():
            made = (
                self.session.class_of(kind.name) if isinstance(kind, Object) else None
            )
            if made is not None and not _is_held(made):
                raise Refusal(
                    f"`{name}` is a `{made.qualname}`, which has no hash: a graph takes its values one by one",
                    facts.definition.node,
                    "GL401",
                )

    def _check_variables(self, facts: FunctionFacts, new: Collection[str]) -> None:
        """Refuse Variables as parameters that may be one with another that the graph has: it would not see that.

        Of one Variable that is given under two names it does; where none is assigned, all is the same anyway.
        """
        given = {
            n: k
            for n, k in facts.parameters.items()
            if isinstance(k, Variable) and n not in new
        }
        if not given or "assign" not in facts.effects:
            return
        for node, kind in self._other_variables(facts, {*given, *new}, set()):
            name = next((n for n, k in given.items() if _may_be_one(k, kind)), None)
            if name is not None:
                text = ast.unparse(node)
                raise Refusal(
                    f"`{name}` and `{text}` may be one Variable, which a graph would take for two",
                    facts.definition.node,
                    "GL302",
                )

    def _other_variables(
        self, facts: FunctionFacts, given: set[str], seen: set[str]
    ) -> Iterator[tuple[ast.expr, Variable]]:
        """The Variables, of a function and of those it calls, that they are not given by name."""
        seen.add(facts.definition.qualname)
        for node, kind in facts.kinds.items():
            own = isinstance(node, ast.Name) and node.id in given
            if isinstance(kind, Variable) and isinstance(node, PLACES) and not own:
                yield node, kind
        for called in map(self.session.known, set(facts.calls.values()) - seen):
            if called is not None:
                yield from self._other_variables(called, set(called.parameters), seen)

    def is_worth_it(self, facts: FunctionFacts) -> bool:
        """Whether a graph saves a helper of this module more than calling and tracing it costs, or no other can call it."""
        definition = facts.definition
        recorded = self.session.recorded(definition.qualname)
        if recorded is None:
            return True
        helps = self.helps(definition)
        loops = any(isinstance(node, ast.For | ast.While) for node in facts.staged)
        return (
            loops
            or not helps
            or bool(definition.tags)
            or (recorded.calls >= FEWEST_CALLS and work(facts) >= FEWEST_OPERATIONS)
        )

    def helps(self, definition: FunctionDefinition) -> bool:
        """Whether a function was seen to be called by others of this module alone."""
        return definition.parent is None and all(
            c in self.module.functions
            and "<locals>" not in c
            and definition.node.name in self._called_in(c)
            for c in self.session.recorded_callers(definition.qualname)
        )

    def is_helper(self, definition: FunctionDefinition) -> bool:
        """Whether a function was seen to be called, and by others of its module alone."""
        called = bool(self.session.recorded_callers(definition.qualname))
        return called and self.helps(definition)

    def _called_in(self, qualname: str) -> set[str]:
        """The names of what a function of the module may call."""
        if qualname not in self._called:
            original = self.module.functions[qualname].original
            self._called[qualname] = called_names(original)
        return self._called[qualname]

    def is_reached(self, facts: FunctionFacts) -> bool:
        """Whether what is no graph of its own is reached from graphs that do not show: by Keras, or as an operator."""
        definition = facts.definition
        return (
            (self._is_hidden(definition.qualname) and not self._is_eagers(facts))
            or "<locals>" in definition.qualname
            or self.session.is_graph_function(definition)
            or self.is_called_by_keras(definition)
        )

    def _is_hidden(self, qualname: str) -> bool:
        """Whether a function is called in ways that its callers do not show."""
        found = self.module.functions.get(qualname)
        if found is None or found.node.name == "__init__":
            return False
        return found.is_descriptor or found.is_operator

    def _is_eagers(self, facts: FunctionFacts) -> bool:
        """Whether all that was seen to call a function stays eager."""
        seen: set[str] = set()
        queue = [facts.definition.qualname]
        while queue:
            current = queue.pop()
            seen.add(current)
            callers = self.session.recorded_callers(current)
            shown = {c for c in callers if not self._is_hidden(c)}
            if not callers or not shown <= self.session.refused.keys():
                return False
            queue += {*callers} - shown - seen
        return True

    def can_be_method(self, definition: FunctionDefinition) -> bool:
        """Whether a `tf.function` can be a method of the class: its instances have to last, be hashable, weakly held."""
        owner = definition.owner
        if owner is None:
            return True
        if owner.node.name in called_names(definition.original):
            return (
                False  # each result is an instance, for which it would be traced anew
            )
        if owner.node.decorator_list:
            return False
        return _is_held(owner)

    def is_called_by_keras(self, definition: FunctionDefinition) -> bool:
        """Whether a method of a layer or model is one that Keras calls, in graphs of its own."""
        owner = definition.owner
        if owner is None or definition.node.name not in NEVER_DECORATED:
            return False
        return self.module.is_of_keras(owner.qualname)

    def is_graphs_own(self, qualname: str) -> bool:
        """Whether what is a graph already is all that calls a function, as far as is known."""
        callers = set(self.session.recorded_callers(qualname))
        if not callers:
            return qualname in self.called_by_graphs
        return all(map(self._is_in_graph, callers))

    def _is_in_graph(self, caller: str) -> bool:
        """Whether a function is a graph already, or is made in one."""
        return caller.partition(".<locals>.")[0] in self.graph_functions

    @cached_property
    def graph_functions(self) -> frozenset[str]:
        """The functions that are graphs already, and the shells of such."""
        functions = self.module.functions
        return frozenset(
            q
            for q, d in functions.items()
            if self.session.is_graph_function(d) or self.core_of(q) in functions
        )

    @cached_property
    def called_by_graphs(self) -> frozenset[str]:
        """The functions that what is a graph already may run, by the names that it calls."""
        functions = self.module.functions
        found: set[str] = set()
        queue = [d for d in functions.values() if self.session.is_graph_function(d)]
        while queue:
            names = self._called_in(queue.pop().qualname)
            for qualname, definition in functions.items():
                if qualname not in found and definition.node.name in names:
                    found.add(qualname)
                    queue.append(definition)
        return frozenset(found)

    def clashes(self, qualname: str) -> bool:
        """Whether a core of the function would take another's name, or be found where another is looked for."""
        functions = self.module.functions
        mine = self.core_of(qualname)
        if any(q != qualname and self.core_of(q) == mine for q in functions):
            return True
        owner = functions[qualname].owner
        name = self.core_name(qualname)
        others = [m for c in self._relatives(owner) for m in c.methods.values()]
        return any(name in (m.node.name, self.core_name(m.qualname)) for m in others)

    def core_of(self, qualname: str) -> str:
        """The qualified name that a core of the function has."""
        return beside(qualname, self.core_name(qualname))

    def core_name(self, qualname: str) -> str:
        """What a core of the function is called: after its class, too, where it takes the place of a base's method."""
        base = qualname.rpartition(".")[2].strip("_")
        definition = self.module.functions.get(qualname)
        owner = definition.owner if definition else None
        if owner is not None and self._may_override(owner, qualname):
            base = f"{in_small_letters(owner.qualname.rpartition('.')[2])}_{base}"
        return f"{base}_graph"

    def _may_override(self, owner: ClassDefinition, qualname: str) -> bool:
        """Whether a base of a class has a method of this name, or may have one."""
        name, classes = qualname.rpartition(".")[2], self.module.classes
        bases = self.module.bases(owner.qualname)
        own = any(name in classes[b].methods for b in bases if b in classes)
        elsewhere = (b for b in bases if b not in classes)
        return own or any(not b.startswith(LIBRARIES) for b in elsewhere)

    def _relatives(self, owner: ClassDefinition | None) -> list[ClassDefinition]:
        """The bases of a class, and what extends it, in its module."""
        if owner is None:
            return []
        bases = self.module.bases
        return [
            c
            for name, c in self.module.classes.items()
            if owner.qualname in bases(name) or name in bases(owner.qualname)
        ]


def _is_held(made: ClassDefinition) -> bool:
    """Whether a `tf.function` can keep instances of a class apart: by hash, and weakly."""
    decorators = [ast.unparse(d) for d in made.node.decorator_list]
    writes_eq = any(
        d.split("(")[0].endswith("dataclass") and not _keeps_hash(d) for d in decorators
    )
    equal = "__eq__" in made.methods or writes_eq
    slots = "__slots__" in made.assigned or any("slots=True" in d for d in decorators)
    return not slots and (not equal or "__hash__" in made.methods)


def _keeps_hash(dataclass: str) -> bool:
    """Whether the decorator leaves a class with a hash."""
    return any(o in dataclass for o in ("frozen=True", "eq=False", "unsafe_hash=True"))


def _may_be_one(one: Variable, other: Variable) -> bool:
    """Whether two Variables have the same dtype and may have the same shape."""
    if one.dtype != other.dtype:
        return False
    if one.shape is None or other.shape is None:
        return True
    return len(one.shape) == len(other.shape) and all(
        a == b or None in (a, b) for a, b in zip(one.shape, other.shape, strict=True)
    )


def saw_tensors(seen: Recorded) -> bool:
    """Whether a value that was seen in a function is, or may hold, something of TensorFlow's."""
    tables = (seen.parameters, seen.names, seen.attributes, seen.globals, seen.closure)
    kinds = [seen.returns, *(kind for table in tables for kind in table.values())]
    return any(map(_has_tensors, kinds)) or any(
        map(_is_closed, seen.parameters.values())
    )


def _is_closed(kind: Kind) -> bool:
    """Whether this is a container of which a recording does not say what it holds."""
    return any(
        isinstance(k, Object) and k.name.startswith("collections.")
        for k in members(kind)
    )


def _has_tensors(kind: Kind) -> bool:
    return kind == UNKNOWN or bool(TENSORFLOW.search(str(kind)))


def check_parameters(facts: FunctionFacts) -> None:
    """Refuse parameters that a `tf.function` takes otherwise than Python does, and tapes of its callers."""
    check_tapes(facts)
    for name, kind in facts.parameters.items():
        text = str(kind)
        if any(
            isinstance(k, Object)
            and k.name.startswith("keras.")
            and not k.name.startswith(GIVEN)
            for k in members(kind)
        ):
            raise Refusal(
                f"`{name}` is {kind}, of which what it does in a graph is not known",
                facts.definition.node,
                "GL305",
            )
        if (
            text.startswith(("array(", "scalar("))
            or "array(" in text
            or "scalar(" in text
        ):
            raise Refusal(
                f"`{name}` is a NumPy array, which a graph takes as a tensor",
                facts.definition.node,
                "GL206",
            )
        types = {
            k.type
            for k in getattr(kind, "members", ())
            if isinstance(k, Python) and k != NONE
        }
        if len(types) > 1:
            raise Refusal(
                f"`{name}` is {kind}: a graph takes 1, 1.0 and True for the same",
                facts.definition.node,
                "GL404",
            )
    if not facts.staged and number_parameters(facts):
        raise Refusal(
            "it takes a Python number, so that each value would be traced anew",
            facts.definition.node,
            "GL404",
        )
    if not facts.staged and any(map(is_numbers, facts.parameters.values())):
        raise Refusal(
            "it takes a list of Python numbers, so that each list would be traced anew",
            facts.definition.node,
            "GL404",
        )


def work(facts: FunctionFacts) -> int:
    """How many operations a function does, roughly; under a tape each is done back again."""
    taped = any(map(is_taped, ast.walk(facts.definition.node)))
    return 2 * facts.operations if taped else facts.operations
