"""The Python state of a function that changes between calls: globals, attributes and items of dicts and lists.

A core holds each in a local name, takes it as an argument, and gives it back where it writes it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from collections.abc import Sequence as Sequenced
from dataclasses import dataclass
from functools import cached_property

from .apart import involves_tensors
from .classes import class_at, class_of, kept_value
from .facts.arrays import may_hold
from .facts.environment import FunctionFacts
from .facts.evaluation import way_out_of_change
from .facts.kind_joins import forget, join, join_all
from .facts.kind_parts import is_mutable
from .facts.kinds import (
    BOOL,
    NONE,
    STR,
    UNKNOWN,
    Array,
    Dict,
    Function,
    Kind,
    Maybe,
    Object,
    Python,
    Record,
    Scalar,
    Sequence,
    Tensor,
    Union,
    Variable,
    members,
    weak,
)
from .facts.session import Session
from .facts.staging import fits_graph, hold, is_metric, is_optimizer, stage
from .facts.syntax import (
    HELD,
    all_bound_names,
    bound_names,
    declarations,
    names_in,
    own_nodes,
    root_name,
    unmangled,
)
from .findings import Refusal
from .plain_attributes import UNSET, PlainAttributes
from .rebuilding import copied
from .source import Names
from .variables import escapes

STATE_CODES = frozenset({"GL301", "GL302", "GL303"})
INDIFFERENT = frozenset(
    f"tensorflow.{name}" for name in ("print", "cond", "function", "Variable")
)
"""Functions of TensorFlow that take None."""


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


def changing_state(
    session: Session,
    facts: FunctionFacts,
    names: Names,
    started: frozenset[str] = frozenset(),
    swaps: Sequenced[ast.stmt] = (),
    apart: bool = False,
) -> dict[str, StateVariable]:
    """The globals, attributes and items that change between calls, by their text; `names` gives new local names.

    Those `started` have got a value after their object was made. What `swaps` write, which the core does to names of its
    own, the core does not give back. A core `apart` from the object takes all that it reads of its receiver.

    Raises:
        Refusal: two texts may name the same, or it is more than a place for a value.
    """
    return _Finder(session, facts, names, started, swaps, apart).found()


class _Finder:
    def __init__(
        self,
        session: Session,
        facts: FunctionFacts,
        names: Names,
        started: frozenset[str],
        swaps: Sequenced[ast.stmt],
        apart: bool,
    ) -> None:
        self.started = started
        self.apart = apart
        self.session = session
        self.facts = facts
        self.names = names
        self.definition = facts.definition
        self.parameters = [a.arg for a in self.definition.parameters]
        self.swaps = {n for s in swaps for n in ast.walk(s)}

    def found(self) -> dict[str, StateVariable]:
        changing = [
            p.node
            for p in self.facts.problems
            if p.code in STATE_CODES
            and isinstance(p.node, ast.Name | ast.Attribute)
            and p.node not in self.facts.calls
            and self._is_outside(p.node)
        ]
        swapped = {ast.unparse(n) for n in changing if self._is_object(n)}
        chains = {t: None for t in map(ast.unparse, changing) if t not in swapped}
        chains = self._with_picked(chains)
        chains |= dict.fromkeys(self._attributes_of(swapped))
        chains |= dict.fromkeys(self._of_receiver() if self.apart else ())
        for node in declarations(self.definition.node):
            names = (n for n in node.names if n in self.definition.declared_global)
            chains |= dict.fromkeys(names)
        read = names_in(self.definition.node)
        chains |= dict.fromkeys(sorted(self.definition.reset_around & read))
        written = {
            ast.unparse(n)
            for n in own_nodes(self.definition.node)
            if isinstance(n, HELD)
            and isinstance(n.ctx, ast.Store)
            and n not in self.swaps
        }
        items = self._items(written)
        owners = {text.rpartition("[")[0] for text in items}
        chains = {c: None for c in (*chains, *items) if c not in owners}
        found: dict[str, StateVariable] = {}
        for chain in chains:
            kind = self._state_kind(chain, chain in written)
            if kind is not None:
                last = _word(chain)
                name = chain if chain == last else self.names.fresh(last or "state")
                found[chain] = StateVariable(chain, name, kind, chain in written)
        self._check_state(found)
        self._check_containers(found)
        return found

    def _is_object(self, node: ast.expr) -> bool:
        kind = self.facts.kind(node)
        if isinstance(kind, Record):
            kept = ast.unparse(node) not in self.definition.declared_global
            return kept and argument_kind(kind) is None
        return isinstance(kind, Object) and not self._is_given_whole(kind)

    def _is_given_whole(self, kind: Kind) -> bool:
        """Whether a graph is given such an object as it is, with a trace for each."""
        return is_optimizer(kind) or is_metric(kind) or self.session.is_enum(kind)

    def _with_picked(self, chains: dict[str, None]) -> dict[str, None]:
        """Pieces of state, with the items that these pick out of a list or dict in their place, where a graph is given such whole."""
        inner = [n for s in self.definition.node.body for n in ast.walk(s)]
        picked = {
            n: ast.unparse(n.slice)
            for n in inner
            if isinstance(n, ast.Subscript)
            and isinstance(n.slice, ast.Name | ast.Attribute)
            and isinstance(n.value, ast.Name | ast.Attribute)
            and ast.unparse(n.slice) in chains
            and ast.unparse(n.value) not in chains
            and self._is_outside(n.value)
            and all(map(self._is_given_whole, members(self.facts.kind(n))))
        }
        texts = [ast.unparse(n) for n in inner if isinstance(n, HELD)]
        others = {
            index
            for index in picked.values()
            if texts.count(index) != [*picked.values()].count(index)
        }
        items = {n: i for n, i in picked.items() if i not in others}
        rest = {c: None for c in chains if c not in items.values()}
        return {**rest, **dict.fromkeys(map(ast.unparse, items))}

    def _attributes_of(self, swapped: set[str]) -> list[str]:
        """What the function uses of objects that are others at the next call."""
        found: dict[str, None] = {}
        for node in own_nodes(self.definition.node):
            holder = node.value if isinstance(node, ast.Attribute) else None
            if holder is None or self._is_object(node):  # type: ignore[arg-type]
                continue
            while holder is not None:
                if ast.unparse(holder) in swapped:
                    found[ast.unparse(node)] = None
                holder = holder.value if isinstance(holder, ast.Attribute) else None
        return list(found)

    def _of_receiver(self) -> list[str]:
        """What the function reads of its receiver, and of the objects that this holds, and a core can take."""
        chains = dict.fromkeys(
            ast.unparse(n)
            for n in own_nodes(self.definition.node)
            if isinstance(n, ast.Attribute) and root_name(n) == self.definition.receiver
        )
        return [c for c in chains if self._state_kind(c, False) is not None]

    def _items(self, written: set[str]) -> list[str]:
        """The items of one dict or list that change between calls, where the function only names them one by one."""
        inner = [n for s in self.definition.node.body for n in ast.walk(s)]
        items = [
            n
            for n in inner
            if isinstance(n, ast.Subscript)
            and isinstance(n.value, ast.Name | ast.Attribute)
            and isinstance(n.slice, ast.Constant)
            and self._has_item(n.value, n.slice.value)
        ]
        owners: dict[str, set[object]] = {}
        for n in items:
            assert isinstance(n.slice, ast.Constant)
            owners.setdefault(ast.unparse(n.value), set()).add(n.slice.value)
        texts = list(dict.fromkeys(map(ast.unparse, items)))
        one_by_one = len(items) == sum(
            isinstance(n, ast.Name | ast.Attribute) and ast.unparse(n) in owners
            for n in inner
        )
        apart = all(map(_are_apart, owners.values()))
        alone = len(owners) == 1 or not written & set(texts)
        alone = alone or all(map(self._is_of_its_own, owners))
        return texts if one_by_one and apart and alone else []

    def _is_of_its_own(self, owner: str) -> bool:
        """Whether a piece of code only ever stands for one list or dict, which was made for it."""
        around = self.definition.parent
        bound = set(all_bound_names(around.original)) if around else set()
        bound |= {a.arg for a in around.parameters} if around else set()
        holder, _, name = owner.rpartition(".")
        if holder:
            node = ast.parse(holder, mode="eval").body
            made = class_of(self.session, node, self.facts)
            values = [kept_value(self.session, made, name)] if made else []
        elif around is not None and name in bound:
            body = around.original.body
            sets = (s for s in body if isinstance(s, ast.Assign))
            values = [s.value for s in sets if name in bound_names(s)]
            values = [] if name in self.definition.reset_around else values
        else:
            module = self.session.module
            values = module.assignments.get(name, [])
            values = [] if name in module.rebound else values
        return len(values) == 1 and isinstance(values[0], ast.Dict | ast.List)

    def _has_item(self, node: ast.Name | ast.Attribute, key: object) -> bool:
        """Whether this is a dict or list that outlives the call, whose items change, and that always has this one."""
        module = self.session.module
        kind = self.facts.kind(node)
        if isinstance(node, ast.Name):
            last = node.id
            changes = (
                last in module.changed
                or last in self.parameters
                or self.definition.is_shared(last)
            )
        else:
            last = unmangled(node.attr, self.definition.qualname.rpartition(".")[0])
            holder = ast.unparse(node.value)
            changes = last in module.changed_attributes
            changes = changes and self._hindrance(holder, last, False) is None
        if not changes or not self._is_outside(node) or self._shrinks(last):
            return False
        if isinstance(kind, Dict):
            return isinstance(key, str) and kind.get(key) is not None
        count = len(kind.items) if isinstance(kind, Sequence) else 0
        listed = isinstance(kind, Sequence) and kind.type == "list"
        return listed and isinstance(key, int) and -count <= key < count

    def _shrinks(self, name: str) -> bool:
        """Whether something in the module takes items out of what has this name."""
        for node in self.session.module.nodes:
            match node:
                case ast.Call(func=ast.Attribute(value=owner, attr=attr)):
                    shrinks = attr in ("pop", "popitem", "clear", "remove")
                case ast.Subscript(value=owner, ctx=ast.Del()):
                    shrinks = True
                case _:
                    continue
            if shrinks and name in (
                getattr(owner, "id", ""),
                getattr(owner, "attr", ""),
            ):
                return True
        return False

    def _check_containers(self, found: dict[str, StateVariable]) -> None:
        """Refuse lists and dicts of the function around that may change, and are no places of single values.

        Raises:
            Refusal: with the first of them.
        """
        held = {chain.partition("[")[0] for chain in found if "[" in chain}
        for node in (n for s in self.definition.node.body for n in ast.walk(s)):
            if (
                isinstance(node, ast.Name)
                and node.id not in held
                and self._is_outside(node)
                and self.definition.is_shared(node.id)
                and is_mutable(self.facts.kind(node))
            ):
                reason = f"what `{node.id}` holds may change between calls"
                way_out = way_out_of_change(self.facts.kind(node))
                raise Refusal(reason, node, "GL302", way_out)

    def _check_state(self, found: dict[str, StateVariable]) -> None:
        """Refuse state that two texts may name, or that is more than a place for a value.

        Raises:
            Refusal: with what is not known.
        """
        bound = {n for s in self.definition.node.body for n in all_bound_names(s)}
        for chain in found:
            holder, _, name = chain.rpartition(".")
            if not holder or "[" in chain:
                continue
            others = [found[c] for c in found if c.rpartition(".")[2] == name]
            alone = not any(o.written for o in others) or self._is_one(holder)
            alone = alone or len(others) == 1
            if holder.partition(".")[0] in bound or not alone:
                raise Refusal(f"what `{chain}` names may change on the way")
            hindrance = self._hindrance(holder, name, found[chain].written)
            if hindrance is not None:
                start = f"give `{name}` a value, or `None`, in `__init__`"
                missing = hindrance.startswith(UNSET)
                raise Refusal(hindrance, way_out=start if missing else "")
        for node in own_nodes(self.definition.node):
            if not isinstance(node, ast.Try):
                continue
            if found or involves_tensors(self.facts, node):
                raise Refusal("state is changed in a `try`")

    def _is_one(self, holder: str) -> bool:
        """Whether no other text stands for the same object."""
        node = ast.parse(holder, mode="eval").body
        return class_of(self.session, node, self.facts) is not None

    def _hindrance(self, holder: str, name: str, written: bool) -> str | None:
        """Why an attribute is no plain place for a value, if so."""
        kinds = members(self._holder_kind(holder))
        attributes = PlainAttributes(self.session, self.definition)
        found = (attributes.hindrance(k, holder, name, written) for k in kinds)
        return next((reason for reason in found if reason), None)

    def _holder_kind(self, holder: str) -> Kind:
        """What has the attribute: a parameter, a variable of the function around, a global, or an attribute of one."""
        seen = self._seen(holder)
        if isinstance(seen, Record):
            return seen
        recorded = self.session.recorded(self.definition.qualname)
        around = recorded is not None and holder in recorded.closure
        if isinstance(seen, Object) and (seen.is_namespace or around):
            return seen
        if "." in holder:
            made = class_at(
                self.session, ast.parse(holder, mode="eval").body, self.facts
            )
            if made is not None:
                return Object(self.session.dotted(made.qualname))
            return seen if isinstance(seen, Object) else UNKNOWN
        return (
            self.facts.parameters.get(holder)
            or self.session.globals.kind(holder, None)
            or UNKNOWN
        )

    def _is_outside(self, node: ast.expr) -> bool:
        """Whether a chain of attributes starts at a parameter or a global, so that it outlives the call."""
        root = root_name(node)
        if root is None:
            return False
        return root in self.parameters or root not in self._local

    @cached_property
    def _local(self) -> set[str]:
        body = self.definition.node.body
        bound = {n for s in body for n in all_bound_names(s)}
        return bound - self.definition.declared_global

    def _state_kind(self, chain: str, written: bool) -> Kind | None:
        """How the core takes a piece of state; None where it cannot.

        A flag or a member of an enumeration that it only reads stays Python's, so that a trace holds one of its ways.
        """
        seen = self._seen(chain)
        if seen == UNKNOWN:
            read = [
                self.facts.kind(n)
                for s in self.definition.node.body
                for n in _with_loads(s)
                if ast.unparse(n) == chain and n in self.facts.kinds
            ]
            seen = join_all(map(forget, read))
        if seen != NONE and self._may_be_none(chain):
            seen = join(seen, NONE)
        if all(map(self._is_given_whole, members(seen))):
            return None if written else seen
        if written and seen in (BOOL, STR):
            return weak(str(seen))
        if isinstance(seen, Variable) and not written:
            return None if escapes(self.facts, chain, self.swaps) else seen
        return argument_kind(seen)

    def _seen(self, chain: str) -> Kind:
        """What a piece of state, or what has it, was recorded to be."""
        recorded = self.session.recorded(self.definition.qualname)
        if recorded is None:
            return UNKNOWN
        places = (
            recorded.attributes,
            recorded.globals,
            recorded.closure,
            recorded.parameters,
        )
        return next((p[chain] for p in places if chain in p), UNKNOWN)

    def _may_be_none(self, chain: str) -> bool:
        """Whether the function may be called, and do without an error, when the state is None."""
        return self._may_become_none(chain) and not self._raises_without(chain)

    def _raises_without(self, chain: str) -> bool:
        """Whether the function computes with a piece of state wherever it reads it, so that None raises."""
        reads = computes = 0
        for node in own_nodes(self.definition.node):
            for child in ast.iter_child_nodes(node):
                is_read = isinstance(child, HELD) and isinstance(child.ctx, ast.Load)
                if is_read and ast.unparse(child) == chain:
                    reads += 1
                    computes += self._computes(node, child)
        return 0 < reads == computes

    def _computes(self, node: ast.AST, operand: ast.AST) -> bool:
        """Whether an expression does tensor work with an operand, and has none for None."""
        if not isinstance(node, ast.Call):
            return isinstance(node, ast.BinOp | ast.Subscript | ast.Attribute)
        function = self.facts.kind(node.func)
        name = function.name if isinstance(function, Function) else ""
        first = node.args[:1] == [operand]
        return (
            first
            and name.startswith("tensorflow.")
            and name.count(".") == 1
            and name not in INDIFFERENT
        )

    def _may_become_none(self, chain: str) -> bool:
        """Whether something in the module sets such a global or attribute to None."""
        last = chain.rpartition(".")[2]
        module = self.session.module
        early = {
            s
            for definition in module.functions.values()
            if chain in self.started and definition.node.name == "__init__"
            for s in ast.walk(definition.original)
        }
        return any(
            isinstance(s, ast.Assign)
            and s not in early
            and isinstance(s.value, ast.Constant)
            and s.value.value is None
            and any(
                last in (getattr(t, "attr", ""), getattr(t, "id", ""))
                for t in s.targets
            )
            for s in module.nodes
        )


def argument_kind(kind: Kind) -> Kind | None:
    """How a core takes a Python value: numbers as tensors, so that a new value is no new trace."""
    if isinstance(kind, Python):
        if kind.type in ("int", "float"):
            return weak(kind.type)
        return Python(kind.type) if kind.type in ("bool", "str", "None") else None
    if isinstance(kind, Variable):
        return None
    if isinstance(kind, Array | Scalar):
        return hold(kind) if may_hold(kind) else None
    if isinstance(kind, Union):
        if NONE in kind.members:
            rest = [m for m in kind.members if m != NONE]
            return kind if all(map(_is_tensors, rest)) else None
        staged = stage(kind)
        return staged if fits_graph(staged) and not isinstance(staged, Maybe) else None
    return kind if fits_graph(kind) else None


def _is_tensors(kind: Kind) -> bool:
    """Whether a value is a tensor, or a tuple or list of some."""
    if isinstance(kind, Sequence) and kind.type in ("tuple", "list"):
        return all(map(_is_tensors, kind.items))
    return isinstance(kind, Tensor)


def _are_apart(keys: set[object]) -> bool:
    """Whether keys of one dict, or indices of one list, are of different items."""
    indices = [k for k in keys if isinstance(k, int)]
    named = all(isinstance(k, str) for k in keys)
    counted = len(indices) == len(keys) and (min(indices) >= 0 or max(indices) < 0)
    return named or counted or len(keys) == 1


def _word(chain: str) -> str:
    """What the core may call a piece of state: the last name in its text, in small letters."""
    words = re.findall(r"[^\W\d]\w*", chain)
    picked = re.search(r"(\w+)\[[^\W\d]", chain)
    if picked:
        return re.sub(r"(?<=ss)es$|s$", "", picked[1].strip("_").lower())
    last = str(words[-1]).rpartition("__")[2].strip("_").lower()
    return f"{last}_value" if re.search(r"\[-?\d+\]$", chain) else last


def _with_loads(node: ast.stmt) -> Iterator[ast.Name | ast.Attribute | ast.Subscript]:
    """The names, attributes and items that a statement reads, those that `+=` reads among them."""
    for inner in ast.walk(node):
        if not isinstance(inner, HELD):
            continue
        if isinstance(inner.ctx, ast.Load):
            yield inner
        elif hasattr(inner, "as_load"):
            yield inner.as_load


def with_state_names(node: ast.stmt, state: dict[str, StateVariable]) -> ast.stmt:
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
