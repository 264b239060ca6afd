"""Splits a function into Python before, one graph core, and Python after.

What a graph cannot do stays Python's, in the shell that keeps the function's name: the statements before the first
tensor work, those after the last, and in between what can wait or can come first. State that Python changes (globals,
attributes) goes into the core as arguments and comes back as results.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator
from collections.abc import Sequence as Sequenced
from dataclasses import dataclass, field

from .extraction import computes, extracted
from .facts.environment import FunctionFacts
from .facts.kinds import (
    BOOL,
    NONE,
    STR,
    UNKNOWN,
    Dict,
    Function,
    Kind,
    Maybe,
    Module,
    Object,
    Python,
    Sequence,
    Tensor,
    Type,
    Union,
    Variable,
    forget,
    join,
    join_all,
    weak,
)
from .facts.liveness import reads
from .facts.modules import (
    FunctionDefinition,
    blocks,
    bound_names,
    own_body,
    own_nodes,
    unmangled,
)
from .facts.profile import FunctionNode
from .facts.session import Session
from .facts.staging import fits_graph, stage
from .findings import Refusal
from .first_use import made_on_first_use
from .inlining import is_written
from .objects import class_of
from .rebuilding import copied, rebuilt, with_origin
from .shell import check_result
from .source import Names
from .stateful import builds

DRAWS = frozenset({"GL207", "GL208"})
WAITS = frozenset({"GL201", "GL202", "GL203", "GL204", "GL205", "GL210"})
STATE_CODES = frozenset({"GL301", "GL302", "GL303"})
MOST_ROUNDS = 12
GROWING = (ast.Mult, ast.LShift, ast.Pow)
HELD = (ast.Name, ast.Attribute, ast.Subscript)
"""What state is read from and written to."""


@dataclass
class StateVariable:
    """A global, an attribute or an item that the core holds in a local name."""

    chain: str
    name: str
    kind: Kind
    written: bool = False

    @property
    def text(self) -> str:
        """What Python reads and writes."""
        return self.chain if '"' in self.chain else self.chain.replace("'", '"')


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
    """

    core: FunctionDefinition
    before: list[ast.stmt]
    after: list[ast.stmt]
    state: list[StateVariable] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    arguments: list[tuple[str, Kind]] = field(default_factory=list)
    kinds: dict[str, Kind] = field(default_factory=dict)


Analyse = Callable[[FunctionDefinition, dict[str, Kind], str], FunctionFacts]
"""Gives the facts of a core, by its parameters' kinds and the function that it is of; may change its body."""


def split(
    session: Session, facts: FunctionFacts, name: str, analyse: Analyse
) -> Split | None:
    """The function as shell and core; None where no such split keeps what eager mode does."""
    definition = facts.definition
    args = definition.node.args
    if (
        args.vararg
        or args.kwarg
        or definition.is_generator
        or (definition.parent is not None and not definition.keeps_state)
    ):
        return None
    if definition.is_property or definition.is_static or definition.is_class_method:
        return None
    try:
        return _Splitter(session, facts, name, analyse).split()
    except Refusal:
        return None


class _Splitter:
    def __init__(
        self, session: Session, facts: FunctionFacts, name: str, analyse: Analyse
    ) -> None:
        self.session = session
        self.analyse = analyse
        self.facts = facts
        self.definition = facts.definition
        self.name = name
        node = self.definition.node
        self.parameters = [a.arg for a in self.definition.parameters]
        module = session.module
        self.names = Names.clear_of(
            node, {*self.parameters, *module.imports, *module.functions}
        )
        self.state = self._state()
        self.body = [
            s for s in own_body(node) if not isinstance(s, ast.Global | ast.Nonlocal)
        ]
        self.declarations = [
            s for s in node.body if isinstance(s, ast.Global | ast.Nonlocal)
        ]
        self.replaced = {id(s): _replaced(s, self.state) for s in self.body}
        self.first = made_on_first_use(session, facts, self.body)
        self.builds = builds(facts)

    # ---- state

    def _state(self) -> dict[str, StateVariable]:
        """The globals and attributes that change between calls, by their text."""
        chains = {
            ast.unparse(p.node): None
            for p in self.facts.problems
            if p.code in STATE_CODES
            and isinstance(p.node, ast.Name | ast.Attribute)
            and self._is_outside(p.node)
        }
        for node in own_nodes(self.definition.node):
            if isinstance(node, ast.Global | ast.Nonlocal):
                chains |= dict.fromkeys(node.names)
        chains |= dict.fromkeys(self._changing_closure())
        written = {
            ast.unparse(n)
            for n in own_nodes(self.definition.node)
            if isinstance(n, HELD) and isinstance(n.ctx, ast.Store)
        }
        chains |= dict.fromkeys(self._items(written))
        found: dict[str, StateVariable] = {}
        for chain in chains:
            kind = self._state_kind(chain, chain in written)
            if kind is not None:
                last = _last_word(chain)
                name = chain if chain == last else self.names.fresh(last or "state")
                found[chain] = StateVariable(chain, name, kind, chain in written)
        self._check_state(found)
        return found

    def _items(self, written: set[str]) -> list[str]:
        """The items of one dict or list that change between calls, where the function only names them one by one."""
        inner = [n for s in self.definition.node.body for n in ast.walk(s)]
        items = [
            n
            for n in inner
            if isinstance(n, ast.Subscript)
            and isinstance(n.value, ast.Name)
            and isinstance(n.slice, ast.Constant)
            and self._has_item(n.value, n.slice.value)
        ]
        owners = {n.value.id for n in items if isinstance(n.value, ast.Name)}
        texts = list(dict.fromkeys(map(ast.unparse, items)))
        keys = {n.slice.value for n in items if isinstance(n.slice, ast.Constant)}
        one_by_one = len(items) == sum(
            isinstance(n, ast.Name) and n.id in owners for n in inner
        )
        apart = len(keys) == 1 or all(isinstance(k, str) for k in keys)
        alone = len(owners) == 1 or not written & set(texts)
        return texts if one_by_one and apart and alone else []

    def _has_item(self, node: ast.Name, key: object) -> bool:
        """Whether a name is a dict or list that outlives the call, whose items change, and that always has this one."""
        module = self.session.module
        kind = self.facts.kind(node)
        changes = node.id in module.changed or node.id in self.parameters
        if not changes or not self._is_outside(node) or self._shrinks(node.id):
            return False
        if isinstance(kind, Dict):
            return isinstance(key, str) and kind.get(key) is not None
        count = len(kind.items) if isinstance(kind, Sequence) else 0
        listed = isinstance(kind, Sequence) and kind.type == "list"
        return listed and isinstance(key, int) and -count <= key < count

    def _shrinks(self, name: str) -> bool:
        """Whether something in the module takes items out of what has this name."""
        for node in ast.walk(self.session.module.tree):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=n), attr=attr)):
                    shrinks = attr in ("pop", "popitem", "clear", "remove")
                case ast.Subscript(value=ast.Name(id=n), ctx=ast.Del()):
                    shrinks = True
                case _:
                    continue
            if shrinks and n == name:
                return True
        return False

    def _changing_closure(self) -> list[str]:
        """The variables of the function around that it reads, and that are set more than once."""
        parent = self.definition.parent
        if parent is None:
            return []
        inner = list(ast.walk(parent.original))
        again = {name for n in inner if isinstance(n, ast.Nonlocal) for name in n.names}
        stores = [
            n.id
            for n in own_nodes(parent.original)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        ]
        stores += [a.arg for a in parent.parameters]
        again |= {name for name in stores if stores.count(name) > 1}
        read = {n.id for n in ast.walk(self.definition.node) if isinstance(n, ast.Name)}
        return sorted(again & read)

    def _check_state(self, found: dict[str, StateVariable]) -> None:
        """Refuse state that two texts may name, or that is more than a place for a value.

        Raises:
            Refusal: with what is not known.
        """
        bound = {n for s in self.definition.node.body for n in _bound(s)}
        last = [chain.rpartition(".")[2] for chain in found]
        for chain in found:
            holder, _, name = chain.rpartition(".")
            if not holder or "[" in chain:
                continue
            alone = last.count(name) == 1 or self._is_one(holder)
            if holder.partition(".")[0] in bound or not alone:
                raise Refusal(f"what `{chain}` names may change on the way")
            if not self._is_plain_attribute(holder, name, found[chain].written):
                raise Refusal(f"`{chain}` is no plain attribute")
        for node in own_nodes(self.definition.node):
            if isinstance(node, ast.Try):
                raise Refusal("state is changed in a `try`")

    def _is_one(self, holder: str) -> bool:
        """Whether no other text stands for the same object."""
        node = ast.parse(holder, mode="eval").body
        return class_of(self.session, node, self.facts) is not None

    def _is_plain_attribute(self, holder: str, name: str, written: bool) -> bool:
        """Whether an attribute is set where its object is made, and nothing else serves it."""
        kind = self._holder_kind(holder)
        if isinstance(kind, Module):
            return self.session.is_global(f"{kind.name}.{name}")
        made = (
            self.session.class_of(kind.name)
            if isinstance(kind, Object | Type)
            else None
        )
        if made is None:
            return False
        name = unmangled(name, made.qualname)
        module = self.session.module
        if any(
            module.method(made.qualname, n)
            for n in (name, "__getattr__", "__setattr__", "__getattribute__")
        ):
            return False
        if name in made.assigned:
            if isinstance(kind, Type) or not written:
                return True
            return self._is_always_written(f"{holder}.{name}")
        family = [made.qualname, *module.bases(made.qualname)]
        initializers = [
            module.classes[c].methods.get("__init__")
            for c in family
            if c in module.classes
        ]
        return any(
            isinstance(n, ast.Attribute)
            and n.attr == name
            and isinstance(n.ctx, ast.Store)
            for initializer in initializers
            if initializer is not None
            for n in ast.walk(initializer.original)
        )

    def _holder_kind(self, holder: str) -> Kind:
        """What has the attribute: a parameter, a global, or what `class_of` tells of the attribute of one."""
        if "." in holder:
            made = class_of(
                self.session, ast.parse(holder, mode="eval").body, self.facts
            )
            return Object(self.session.dotted(made.qualname)) if made else UNKNOWN
        return (
            self.facts.parameters.get(holder)
            or self.session.global_kind(holder, None)
            or UNKNOWN
        )

    def _is_always_written(self, chain: str) -> bool:
        return any(
            isinstance(s, ast.Assign | ast.AugAssign)
            and chain
            in {
                ast.unparse(n)
                for n in ast.walk(s)
                if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)
            }
            for s in self.definition.node.body
        )

    def _is_outside(self, node: ast.expr) -> bool:
        """Whether a chain of attributes starts at a parameter or a global, so that it outlives the call."""
        while isinstance(node, ast.Attribute):
            node = node.value
        if not isinstance(node, ast.Name):
            return False
        local = {
            n for s in self.definition.node.body for n in _bound(s)
        } - self.definition.declared_global
        return node.id in self.parameters or node.id not in local

    def _state_kind(self, chain: str, written: bool) -> Kind | None:
        """How the core takes a piece of state; None where it cannot.

        A flag that it only reads stays Python's, so that a trace holds one of its ways.
        """
        recorded = self.session.recorded(self.definition.qualname)
        seen: Kind = UNKNOWN
        if recorded is not None:
            places = (recorded.attributes, recorded.globals, recorded.closure)
            seen = next((p[chain] for p in places if chain in p), UNKNOWN)
        if seen == UNKNOWN:
            read = [
                self.facts.kind(n)
                for s in self.definition.node.body
                for n in _with_loads(s)
                if ast.unparse(n) == chain and n in self.facts.kinds
            ]
            seen = join_all(map(forget, read))
        if seen != NONE and self._may_become_none(chain):
            seen = join(seen, NONE)
        if written and seen in (BOOL, STR):
            return weak(str(seen))
        return _argument_kind(seen)

    def _may_become_none(self, chain: str) -> bool:
        """Whether something in the module sets such a global or attribute to None."""
        last = chain.rpartition(".")[2]
        return any(
            isinstance(s, ast.Assign)
            and isinstance(s.value, ast.Constant)
            and s.value.value is None
            and any(
                last in (getattr(t, "attr", ""), getattr(t, "id", ""))
                for t in s.targets
            )
            for s in ast.walk(self.session.module.tree)
        )

    # ---- the search

    def split(self) -> Split | None:
        before = [*self.builds, *self.first]
        core = [s for s in self.body if s not in self.first]
        after: list[ast.stmt] = []
        if (
            core
            and self._returns_variable(core[-1])
            and not any(map(_may_return, core[:-1]))
        ):
            after.append(core.pop())
        for _ in range(MOST_ROUNDS):
            found = self._try(before, core, after)
            problem = found if isinstance(found, Refusal) else None
            if problem is None:
                return self._with_plain_return(found, before, core, after)  # type: ignore[arg-type]
            index = self._index_of(problem, core)
            if index is None:
                return None
            statement = core.pop(index)
            if not is_written(statement):
                return None
            code = self._code(problem, statement)
            if self._may_go_first(statement, core[:index], after, code):
                before.append(statement)
            elif self._waits(statement, core, index, after, code):
                pass
            elif (
                not after
                and not isinstance(statement, ast.Return)
                and not self._works(core[:index])
                and all(map(is_written, core[:index]))
            ):
                before += [*core[:index], statement]
                del core[:index]
            else:
                return None
            if not core:
                return None
        return None

    def _waits(
        self,
        statement: ast.stmt,
        core: list[ast.stmt],
        index: int,
        after: list[ast.stmt],
        code: str,
    ) -> bool:
        """Move a statement behind the core, and the return that names it; the core keeps the tensor work in it."""
        assigns, waiting = self._extracted(statement, after)
        own: list[ast.stmt] = []
        returns: ast.stmt | None = None
        rest = core[index:]
        named = {
            n for s in rest[-1:] if isinstance(s, ast.Return) for n in _all_reads(s)
        }
        if named & set(_bound(statement)):
            own, returns = self._extracted(rest.pop(), [*after, waiting])
        returning = isinstance(waiting, ast.Return) or returns is not None
        early = [*core[:index], *(rest if returning else ())]
        if any(map(_may_return, early)) or not self._may_wait(waiting, rest, code):
            return False
        outside = [s for s in (waiting, returns) if s is not None]
        if any(computes(s, self.facts) for s in outside) and not self._works(
            [*core[:index], *rest]
        ):
            return False
        core[index:] = [*assigns, *rest, *own]
        self.replaced |= {id(s): _replaced(s, self.state) for s in (*assigns, *own)}
        for late in (waiting, returns):
            if late is not None:
                self._insert(after, late)
        return True

    def _extracted(
        self, statement: ast.stmt, after: list[ast.stmt]
    ) -> tuple[list[ast.stmt], ast.stmt]:
        effects = ("assign", "random", "variable", "io")
        if self._has_effects(statement, effects):
            return [], statement
        late = {n for s in after for n in _bound(s)}
        return extracted(statement, self.facts, self.names, late)

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
        inside = {id(n) for n in ast.walk(statement)}
        codes = [p.code for p in self.facts.problems if id(p.node) in inside]
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
            or not _is_plain_return(core[-1])
            or any(map(_may_return, core[:-1]))
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

    def _works(self, statements: Sequenced[ast.stmt]) -> bool:
        """Whether tensor work is among statements, so that they are worth a core."""
        return (
            sum(
                self.facts.kinds.get(n) is not None
                for s in statements
                for n in ast.walk(s)
                if isinstance(n, ast.Call | ast.BinOp)
            )
            > 6
        )

    def _index_of(self, problem: Refusal, core: list[ast.stmt]) -> int | None:
        for i, statement in enumerate(core):
            made = self.replaced[id(statement)]
            if problem.node is not None and any(
                n is problem.node for n in ast.walk(made)
            ):
                return i
        return None

    def _may_go_first(
        self,
        statement: ast.stmt,
        earlier: list[ast.stmt],
        after: list[ast.stmt],
        code: str,
    ) -> bool:
        """Whether a statement can run before the tensor work that stands before it."""
        if isinstance(statement, ast.Return):
            return False
        if not earlier:
            return True
        if (
            any(_exits(statement))
            or any(map(_may_return, earlier))
            or after
            or code not in DRAWS
            or not _only_draws(statement)
        ):
            return False
        bound = {n for s in earlier for n in self._changed(s)}
        if bound & (_all_reads(statement) | set(_bound(statement))):
            return False
        if any(self._touches_state(s) for s in earlier) and self._touches_state(
            statement
        ):
            return False
        return not {n for s in earlier for n in _all_reads(s)} & set(_bound(statement))

    def _changed(self, statement: ast.stmt) -> set[str]:
        """The names that a statement sets, or whose objects it may change in place."""
        names = set(_bound(statement))
        for node in ast.walk(statement):
            match node:
                case ast.Subscript(
                    value=ast.Name(id=name), ctx=ast.Store() | ast.Del()
                ):
                    names.add(name)
                case ast.Call(func=function, args=args):
                    owners = (
                        [function.value] if isinstance(function, ast.Attribute) else []
                    )
                    names |= {
                        n.id
                        for n in [*owners, *args]
                        if isinstance(n, ast.Name) and self._is_object(n)
                    }
        return names

    def _is_object(self, node: ast.Name) -> bool:
        kind = self.facts.kinds.get(node, UNKNOWN)
        return not isinstance(kind, Tensor | Python | Module | Function | Type)

    def _may_wait(self, statement: ast.stmt, later: list[ast.stmt], code: str) -> bool:
        """Whether a statement can run after the tensor work that stands after it."""
        if any(_exits(statement)) and (later or not isinstance(statement, ast.Return)):
            return False
        later = [s for s in later if not _is_plain_return(s)]
        if later and (
            (
                not (self._codes(statement, code) & WAITS)
                and not self._is_harmless(statement, later)
            )
            or self._has_effects(statement, ("assign", "random", "variable", "io"))
        ):
            return False
        bound = self._changed(statement)
        read = _all_reads(statement)
        for other in later:
            if bound & (
                _all_reads(other) | self._changed(other)
            ) or read & self._changed(other):
                return False
            if self._has_effects(other, ("stdout", "io")) or self._writes_state(
                other, statement
            ):
                return False
        returned = [
            n for s in later if isinstance(s, ast.Return) for n in _all_reads(s)
        ]
        return not bound & set(returned)

    def _codes(self, statement: ast.stmt, code: str) -> set[str]:
        """The codes of all that hinders a statement."""
        origin = getattr(statement, "origin", statement)
        inside = {id(n) for n in ast.walk(origin)}
        return {code} | {p.code for p in self.facts.problems if id(p.node) in inside}

    def _is_harmless(self, statement: ast.stmt, later: list[ast.stmt]) -> bool:
        """Whether a statement only computes a Python value, and nothing later is seen where it raises."""
        pure = (
            ast.Subscript | ast.Name | ast.Constant | ast.Tuple | ast.List | ast.BinOp
            | ast.operator | ast.expr_context | ast.Attribute
        )  # fmt: skip
        seen = any(self._has_effects(s, ("assign", "random", "stdout")) for s in later)
        return (
            isinstance(statement, ast.Assign)
            and hasattr(statement, "named")
            and all(isinstance(t, ast.Name) for t in statement.targets)
            and all(isinstance(n, pure) for n in ast.walk(statement.value))
            and not seen
        )

    def _has_effects(self, statement: ast.stmt, names: tuple[str, ...]) -> bool:
        nodes = {id(n) for name in names for n in self.facts.effects.get(name, ())}
        return any(id(n) in nodes for n in ast.walk(statement))

    def _touches_state(self, statement: ast.stmt) -> bool:
        return any(
            ast.unparse(n) in self.state
            for n in ast.walk(statement)
            if isinstance(n, HELD)
        )

    def _writes_state(self, other: ast.stmt, statement: ast.stmt) -> bool:
        """Whether a later statement writes state that this one mentions."""
        mentioned = {ast.unparse(n) for n in ast.walk(statement) if isinstance(n, HELD)}
        written = {
            ast.unparse(n)
            for n in ast.walk(other)
            if isinstance(n, HELD) and isinstance(n.ctx, ast.Store)
        }
        return bool(mentioned & written & self.state.keys())

    # ---- one try

    def _try(
        self, before: list[ast.stmt], core: list[ast.stmt], after: list[ast.stmt]
    ) -> Split | Refusal | None:
        """The split with these statements in the core, or the first problem inside it."""
        made = [self.replaced[id(s)] for s in core]
        unfit = self._lost_write(made) or self._outgrown(made)
        if unfit is not None:
            return unfit
        read = {n for s in made for n in _all_reads(s)}
        state = [
            s
            for s in self.state.values()
            if s.name in read or self._written_in(s, made)
        ]
        parameters: dict[str, Kind] = {}
        arguments: list[tuple[str, Kind]] = []
        for name in [
            *self.parameters,
            *dict.fromkeys(n for s in before for n in _bound(s)),
        ]:
            if name in self.definition.declared_global:
                continue
            is_self = bool(self.definition.owner) and name == self.parameters[0]
            if (name in read or is_self) and name not in parameters:
                parameters[name] = self._kind_before(name, before)
                if not is_self:
                    arguments.append((name, parameters[name]))
        for variable in state:
            parameters[variable.name] = variable.kind
            arguments.append((variable.text, variable.kind))
        unknown = [n for n, k in parameters.items() if k == UNKNOWN]
        if unknown:
            return None
        outs = [s.name for s in state if self._written_in(s, made)]
        given = [n for n in self._given(after, made) if n not in outs]
        body = _with_results(made, outs, given)
        definition = FunctionDefinition(
            self._function(parameters, body), self._qualname(), self.definition.owner
        )
        definition.original = self.definition.original
        definition.settled = {k: v for s in self.first.values() for k, v in s.items()}
        try:
            found = self.analyse(definition, parameters, self.definition.qualname)
        except Refusal as refusal:
            return refusal
        if found.problems:
            return found.problems[0]
        unfit = _unfit_result(found, bool(outs or given))
        if unfit is not None and isinstance(made[-1], ast.Return):
            return Refusal(unfit.reason, made[-1])
        if not found.operations:
            return None
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
        )

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

    def _outgrown(self, made: list[ast.stmt]) -> Refusal | None:
        """The first statement that makes an int of Python's so much larger that no tensor holds it for long."""
        ints = {
            s.name
            for s in self.state.values()
            if isinstance(s.kind, Tensor) and s.kind.weak == "int"
        }
        for node in (n for s in made for n in ast.walk(s)):
            match node:
                case ast.AugAssign(target=ast.Name(id=name), op=op) if name in ints:
                    grows = isinstance(op, GROWING)
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if (
                    name in ints
                ):
                    grows = any(
                        isinstance(n, ast.BinOp)
                        and isinstance(n.op, GROWING)
                        and _reads(n, name)
                        for n in ast.walk(value)
                    )
                case _:
                    continue
            if grows:
                return Refusal(f"`{name}` may outgrow a tensor", code="GL303")
        return None

    def _written_in(self, variable: StateVariable, made: list[ast.stmt]) -> bool:
        return any(
            isinstance(n, ast.Name)
            and n.id == variable.name
            and isinstance(n.ctx, ast.Store)
            for s in made
            for n in ast.walk(s)
        )

    def _kind_before(self, name: str, before: list[ast.stmt]) -> Kind:
        before = [s for s in before if s not in self.builds]
        if not any(name in self._changed(s) for s in before):
            return self.facts.parameters.get(name, UNKNOWN)
        after = self.facts.after.get(before[-1])
        kind = after.kinds.get(name, UNKNOWN) if after is not None else UNKNOWN
        if not isinstance(kind, Tensor | Python):
            return UNKNOWN
        return _argument_kind(kind) or UNKNOWN

    def _given(self, after: list[ast.stmt], made: list[ast.stmt]) -> list[str]:
        """The names set in the core that Python needs after it."""
        bound = {n for s in made for n in _bound(s)}
        names = dict.fromkeys(
            n.id for s in after for n in ast.walk(s) if isinstance(n, ast.Name)
        )
        return [n for n in names if n in bound]

    def _function(
        self, parameters: dict[str, Kind], body: list[ast.stmt]
    ) -> FunctionNode:
        made = copy.copy(self.definition.node)
        made.name = self.name
        made.body = body
        made.decorator_list = []
        made.args = ast.arguments(
            [], [ast.arg(n) for n in parameters], None, [], [], None, []
        )
        return made

    def _qualname(self) -> str:
        prefix = self.definition.qualname.rpartition(".")[0]
        return f"{prefix}.{self.name}" if prefix else self.name


def _unfit_result(facts: FunctionFacts, has_more: bool) -> Refusal | None:
    """Why no graph can give back what a core returns, if so."""
    result = facts.result
    if has_more and isinstance(result, Sequence):
        result = result.items[0]
    try:
        check_result(result, facts.definition.node)
    except Refusal as refusal:
        return refusal
    return None


def _reads(node: ast.AST, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))


def _argument_kind(kind: Kind) -> Kind | None:
    """How a core takes a Python value: numbers as tensors, so that a new value is no new trace."""
    if isinstance(kind, Python):
        if kind.type in ("int", "float"):
            return weak(kind.type)
        return Python(kind.type) if kind.type in ("bool", "str", "None") else None
    if isinstance(kind, Variable):
        return None
    if isinstance(kind, Union):
        if NONE in kind.members:
            rest = [m for m in kind.members if m != NONE]
            return kind if all(isinstance(m, Tensor) for m in rest) else None
        staged = stage(kind)
        return staged if fits_graph(staged) and not isinstance(staged, Maybe) else None
    return kind if fits_graph(kind) else None


def _last_word(chain: str) -> str:
    """What the core may call a piece of state: the last name in its text, in small letters."""
    words = re.findall(r"[^\W\d]\w*", chain)
    return str(words[-1]).rpartition("__")[2].strip("_").lower()


def _with_loads(node: ast.stmt) -> Iterator[ast.Name | ast.Attribute | ast.Subscript]:
    """The names, attributes and items that a statement reads, those that `+=` reads among them."""
    for inner in ast.walk(node):
        if not isinstance(inner, HELD):
            continue
        if isinstance(inner.ctx, ast.Load):
            yield inner
        elif hasattr(inner, "as_load"):
            yield inner.as_load


def _replaced(node: ast.stmt, state: dict[str, StateVariable]) -> ast.stmt:
    """A statement with state read and written through local names; the same one where it has none."""
    mentions = any(
        isinstance(n, HELD) and ast.unparse(n) in state for n in ast.walk(node)
    )
    if not mentions:
        return node
    made = copied(node)
    result: ast.stmt = _StateNames(state).visit(made)  # type: ignore[assignment]
    return result


class _StateNames(ast.NodeTransformer):
    def __init__(self, state: dict[str, StateVariable]) -> None:
        self.state = state

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, HELD) and (chain := ast.unparse(node)) in self.state:
            name = ast.copy_location(ast.Name(self.state[chain].name, node.ctx), node)
            name.made = True  # type: ignore[attr-defined]
            return name
        return self.generic_visit(node)


def _with_results(
    body: list[ast.stmt], outs: list[str], given: list[str]
) -> list[ast.stmt]:
    """The core's body, its returns giving back state and names too."""
    extra = [*outs, *given]
    if not extra:
        return body
    made = [_with_result(s, extra) for s in body]
    if not made or not _returns(made[-1]):
        made.append(_result(None, extra))
    return made


def _with_result(node: ast.stmt, extra: list[str]) -> ast.stmt:
    if isinstance(node, ast.Return):
        return _result(node, extra)
    return rebuilt(node, lambda block: [_with_result(s, extra) for s in block])


def _result(node: ast.Return | None, extra: list[str]) -> ast.stmt:
    value = node.value if node and node.value else ast.Constant(None)
    names = [ast.Name(name, ast.Load()) for name in extra]
    made = ast.Return(ast.Tuple([value, *names], ast.Load()))
    return made if node is None else with_origin(made, node)


def _returns(node: ast.stmt) -> bool:
    if isinstance(node, ast.Return):
        return True
    if isinstance(node, ast.If):
        return (
            bool(node.orelse) and _returns(node.body[-1]) and _returns(node.orelse[-1])
        )
    return isinstance(node, ast.With) and _returns(node.body[-1])


def _is_plain_return(node: ast.stmt) -> bool:
    return isinstance(node, ast.Return) and (
        node.value is None or isinstance(node.value, ast.Name | ast.Constant)
    )


def _may_return(node: ast.stmt) -> bool:
    return any(isinstance(n, ast.Return) for n in ast.walk(node))


def _exits(node: ast.stmt) -> list[bool]:
    return [
        True
        for n in ast.walk(node)
        if isinstance(n, ast.Return | ast.Break | ast.Continue | ast.Raise)
    ]


def _bound(node: ast.stmt) -> list[str]:
    found = list(bound_names(node))
    for block in blocks(node):
        for statement in block:
            found += _bound(statement)
    return found


def _all_reads(node: ast.stmt) -> frozenset[str]:
    found = reads(node)
    for block in blocks(node):
        for statement in block:
            found |= _all_reads(statement)
    return found


def _only_draws(node: ast.stmt) -> bool:
    """Whether a statement only sets plain names, so that it can change places with tensor work."""
    return isinstance(node, ast.Assign) and all(
        isinstance(t, ast.Name | ast.Tuple) for t in node.targets
    )
