"""What assignments, augmented assignments and `del` do, as the interpreter walks a function."""

from __future__ import annotations

import ast

from ..findings import Refusal
from . import arrays, buffers, ownership
from .environment import Environment, Flow
from .evaluation_calls import KEYED_BY_TENSOR
from .execution import Execution
from .kind_parts import is_mutable
from .kinds import (
    NUMPY,
    SIZE,
    UNKNOWN,
    Array,
    Dict,
    Elements,
    Kind,
    Mapping,
    Object,
    Sequence,
    Tensor,
    Union,
)
from .mutations import with_cell, with_item, with_some_item, without_item
from .operators import iterate
from .staging import hold, is_list, is_numpy, is_strong, is_tensor
from .syntax import names_in


class AssignmentExecution(Execution):
    """Binds names, and changes what they hold in place."""

    def _assign(self, node: ast.Assign, environment: Environment) -> Flow:
        kind = self.evaluate(node.value, environment)
        long = isinstance(kind, Elements) and kind.type == "list"
        if long and self.is_staged() and _grows(node):
            reason = "a list grows where a tensor says so"
            self.problem(reason, node.value, "GL203")
        for target in node.targets:
            given = self._of_layer(node.value, kind, target)
            self.assign(target, given, environment)
        return Flow(environment)

    def _of_layer(self, value: ast.expr, kind: Kind, target: ast.expr) -> Kind:
        """What calling a layer of Keras gives: several values where the recorded run took them apart."""
        if not isinstance(target, ast.Tuple) or kind != Tensor():
            return kind
        function = value.func if isinstance(value, ast.Call) else None
        if function is None or not isinstance(self.facts.kind(function), Object):
            return kind
        seen = [
            self.observed(e, UNKNOWN) if isinstance(e, ast.Name) else UNKNOWN
            for e in target.elts
        ]
        if UNKNOWN in seen:
            return kind
        self.facts.kinds[value] = Sequence("tuple", tuple(seen))
        return self.facts.kinds[value]

    def _annassign(self, node: ast.AnnAssign, environment: Environment) -> Flow:
        if node.value is not None:
            self.assign(
                node.target, self.evaluate(node.value, environment), environment
            )
        return Flow(environment)

    def assign(self, target: ast.expr, kind: Kind, environment: Environment) -> None:
        self.facts.kinds[target] = kind
        match target:
            case ast.Name(id=name):
                graph = self.session.is_graph_function(self.facts.definition)
                if kind == SIZE and not graph:
                    self.problem("a size that may vary is kept here", target, "GL406")
                environment.bind(name, self.observed(target, kind))
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                self._unpack(target, elts, kind, environment)
            case ast.Subscript(value=value, slice=index):
                self._assign_item(target, value, index, kind, environment)
            case ast.Attribute(value=value, attr=name):
                self._assign_attribute(
                    target, self.evaluate(value, environment), name, kind
                )
            case _:
                self.problem("this assignment is not lifted", target)

    def _unpack(
        self,
        target: ast.expr,
        elts: list[ast.expr],
        kind: Kind,
        environment: Environment,
    ) -> None:
        kinds: list[Kind] | None = None
        if isinstance(kind, Sequence) and len(kind.items) == len(elts):
            kinds = list(kind.items)
        elif (
            isinstance(kind, Tensor)
            and kind.weak in (None, NUMPY)
            and kind.shape
            and kind.shape[0] in (None, len(elts))
        ):
            self.operation()
            kinds = [Tensor(kind.dtype, kind.shape[1:], kind.weak)] * len(elts)
        else:
            element = None if is_tensor(kind) else iterate(kind)
            kinds = [element] * len(elts) if element is not None else None
        starred = [i for i, e in enumerate(elts) if isinstance(e, ast.Starred)]
        if len(starred) == 1 and isinstance(kind, Sequence):
            kinds = _with_rest(kind.items, starred[0], len(elts))
        elif starred:
            kinds = None
        if kinds is None:
            self.problem(f"how {kind} unpacks here is not known", target)
            kinds = [UNKNOWN] * len(elts)
        for target, element in zip(elts, kinds, strict=True):
            inner = target.value if isinstance(target, ast.Starred) else target
            self.assign(inner, element, environment)

    def _assign_attribute(
        self, node: ast.expr, owner: Kind, name: str, kind: Kind
    ) -> None:
        if self.session.has_setter(owner, name):
            reason = f"setting `{name}` runs code of its class: call a method instead"
            self.problem(reason, node, "GL303")
        elif not (isinstance(owner, Object) and owner.fresh):
            self.problem(f"it writes the attribute `{name}`", node, "GL303")
        elif self.is_staged():
            self.problem(
                f"the attribute `{name}` is written where a tensor says so",
                node,
                "GL303",
            )
        self.effect("mutates", node)
        if isinstance(owner, Object):
            self.session.instances.write_attribute(owner.name, name, kind)

    # ---- in place

    def _augassign(self, node: ast.AugAssign, environment: Environment) -> Flow:
        loaded = _as_load(node.target)
        left = self.evaluate(loaded, environment)
        right = self.evaluate(node.value, environment)
        kind = self.binary(node.op, left, right, node)
        if isinstance(left, Array) or (
            is_numpy(left) and getattr(left, "shape", None) != ()
        ):
            self._check_growth(node, left, right, kind)
        if is_list(left):
            self._changes_list(node, environment)
        self.assign(node.target, kind, environment)
        return Flow(environment)

    def _changes_list(self, node: ast.AugAssign, environment: Environment) -> None:
        name = node.target.id if isinstance(node.target, ast.Name) else None
        if name is None or (name in self.facts.parameters and not self.is_fresh(name)):
            self.problem("the caller's list is changed in place", node, "GL204")
            return
        if self.has_one_name(name, node, environment) and self.is_staged():
            self.problem(
                "a list or dict is changed where a tensor says so", node, "GL203"
            )

    def _check_growth(
        self, node: ast.AugAssign, left: Kind, right: Kind, kind: Kind
    ) -> None:
        """An array changes in place and keeps its dtype: refuse where it has another name, or would not."""
        name = node.target.id if isinstance(node.target, ast.Name) else ""
        own = ownership.is_own(name, self.facts, self.session)
        same = hold(kind) == hold(left)
        if name and not (own and same and not is_strong(right)):
            self.problem(
                f"`{name}` is changed in place in a way that is not lifted",
                node,
                "GL206",
            )

    def _assign_item(
        self,
        target: ast.Subscript,
        value: ast.expr,
        index: ast.expr,
        kind: Kind,
        environment: Environment,
    ) -> None:
        container = self.evaluate(value, environment)
        key = self.evaluate(index, environment)
        if self._assign_cell(target, value, key, kind, environment):
            return
        name = self.changed_name(value, target, environment)
        if name is None:
            return
        if isinstance(container, Array) or is_numpy(container):
            self._fill(target, name, container, kind)
            environment.bind(name, hold(container))
            return
        if is_mutable(container) and not self.has_one_name(name, target, environment):
            return
        changed = with_item(container, key, kind)
        if changed is not None:
            environment.bind(name, changed)
            return
        if isinstance(container, Dict | Mapping) and is_tensor(key):
            self.problem(KEYED_BY_TENSOR, target, "GL111")
            environment.bind(name, UNKNOWN)
            return
        staged = self.is_staged() or is_tensor(key)
        if staged or not isinstance(container, Sequence | Elements | Dict | Mapping):
            self.problem("which item is changed here is not known", target, "GL203")
        environment.bind(name, with_some_item(container, key, kind, staged))

    def _assign_cell(
        self,
        target: ast.Subscript,
        row: ast.expr,
        key: Kind,
        kind: Kind,
        environment: Environment,
    ) -> bool:
        """Set an item of one of the lists in a list; whether this is one."""
        if not (isinstance(row, ast.Subscript) and isinstance(row.value, ast.Name)):
            return False
        lists, place = self.facts.kind(row.value), self.facts.kind(row.slice)
        rows = lists.parts or (getattr(lists, "element", UNKNOWN),)
        if not (is_list(lists) and all(map(is_list, rows))):
            return False
        name = self.changed_name(row.value, target, environment)
        if name is None:
            return True
        if not ownership.owns_lists_in(name, self.facts, self.session):
            reason = f"the lists in `{name}` may go by other names, too"
            way_out = (
                "make each of them anew, and change it under the name of the whole only"
            )
            self.problem(reason, target, "GL204", way_out)
            return True
        staged = self.is_staged() or is_tensor(place) or is_tensor(key)
        changed = with_cell(lists, place, key, kind, staged)
        if not staged and _mixes_items(changed):
            staged = True
            changed = with_cell(lists, place, key, kind, staged)
        if staged:
            self.problem("which item is changed here is not known", target, "GL203")
        environment.bind(name, changed)
        return True

    def _fill(
        self, target: ast.Subscript, name: str, container: Kind, kind: Kind
    ) -> None:
        """An item of an array of this function's own is set: the graph makes a new tensor of it."""
        key = self.facts.kind(target.slice)
        fits = buffers.fits(container, target.slice, key, kind, self.facts)
        known = arrays.may_hold(container)
        if not (fits and known and ownership.is_own(name, self.facts, self.session)):
            self.problem(
                f"`{name}` is changed in place in a way that is not lifted",
                target,
                "GL206",
            )
        self.operation()

    def _delete(self, node: ast.Delete, environment: Environment) -> Flow:
        for target in node.targets:
            match target:
                case ast.Name(id=name):
                    environment.unbind(name)
                    continue
                case ast.Subscript(value=ast.Name(id=name) as owner, slice=index):
                    container = self.evaluate(owner, environment)
                    key = self.evaluate(index, environment)
                    if self.has_one_name(name, node, environment):
                        environment.bind(name, without_item(container, key))
            self.problem("`del` of an item or attribute is not lifted", node, "GL204")
        return Flow(environment)


def _grows(node: ast.Assign) -> bool:
    """Whether a name is given what it holds and something more."""
    match node:
        case ast.Assign(
            targets=[ast.Name(id=name)], value=ast.BinOp(op=ast.Add()) as value
        ):
            return name in names_in(value)
    return False


def _mixes_items(lists: Kind) -> bool:
    """Whether which item of a list of lists is a number and which a tensor is not known."""
    row = lists.element if isinstance(lists, Elements) else None
    return isinstance(row, Elements) and isinstance(row.element, Union)


def _with_rest(items: tuple[Kind, ...], position: int, count: int) -> list[Kind] | None:
    """What each of `count` targets gets, one of which takes a list of all that the others leave."""
    after = count - position - 1
    if len(items) < count - 1:
        return None
    rest = items[position : len(items) - after]
    return [*items[:position], Sequence("list", rest), *items[len(items) - after :]]


def _as_load(target: ast.expr) -> ast.expr:
    """The expression that reads what an augmented assignment writes; one node per target, so facts keep to it."""
    loaded: ast.expr | None = getattr(target, "as_load", None)
    if loaded is None:
        match target:
            case ast.Name(id=name):
                loaded = ast.Name(name, ast.Load())
            case ast.Attribute(value=value, attr=attr):
                loaded = ast.Attribute(value, attr, ast.Load())
            case ast.Subscript(value=value, slice=index):
                loaded = ast.Subscript(value, index, ast.Load())
            case _:
                raise Refusal("this assignment is not lifted", target)
        ast.copy_location(loaded, target)
        target.as_load = loaded  # type: ignore[union-attr]
    return loaded
