"""Which arrays, lists and dicts go by one name: what is changed in place under another is changed under this one, too."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .environment import FunctionFacts
from .kinds import Dict, Kind, Mapping, Python, Shaped
from .liveness import liveness
from .profile import FunctionNode
from .staging import is_list
from .syntax import is_named, makes_list, own_nodes

if TYPE_CHECKING:
    from .session import Session

MAKERS = frozenset(
    "zeros ones full empty array zeros_like ones_like full_like arange linspace eye".split()  # noqa: SIM905
)
"""Functions of NumPy that give an array of which nobody else knows."""
VIEWS = frozenset(
    [
        "reshape",
        "ravel",
        "transpose",
        "squeeze",
        "asarray",
        "asanyarray",
        "ascontiguousarray",
        "expand_dims",
        "T",
        "view",
        "flat",
        "swapaxes",
        "moveaxis",
        "split",
        "fliplr",
        "flipud",
        "diag",
    ]
)
"""What gives an array that shares its items with another."""
COPIES = frozenset("numpy copy astype tolist as_list split gradient _asdict".split())  # noqa: SIM905
"""Methods that give a new array, list or dict."""
KEEPERS = frozenset("append insert add setdefault appendleft".split())  # noqa: SIM905
"""Methods that put what they are given into something else."""
CONTAINERS = frozenset("list dict sorted set".split())  # noqa: SIM905
"""Builtins that give a new list, dict or set."""
CONVERSIONS = frozenset("len float int bool abs print".split())  # noqa: SIM905
READERS = (
    CONVERSIONS
    | CONTAINERS
    | frozenset(
        "sum min max any all tuple zip enumerate reversed map filter isinstance str".split()  # noqa: SIM905
    )
)
"""Builtins that keep nothing of what they are given."""


def is_own(name: str, facts: FunctionFacts, session: Session) -> bool:
    """Whether a name is the only one for what the function makes and keeps under it: changing that changes nothing else."""
    return _Owner(facts, session).owns(name)


def owns_lists_in(name: str, facts: FunctionFacts, session: Session) -> bool:
    """Whether each list in a list goes by no other name and stands at one place, so that to set its items changes it alone."""
    owner = _Owner(facts, session)
    return owner.owns(name) and owner.owns_lists_in(name)


class _Owner:
    """One function's names for arrays, lists and dicts."""

    def __init__(self, facts: FunctionFacts, session: Session) -> None:
        self.facts = facts
        self.session = session
        self.nodes = list(own_nodes(facts.definition.node))
        self.parents = {
            child: node for node in self.nodes for child in ast.iter_child_nodes(node)
        }
        self.seen: set[str] = set()
        self.moved: set[str] = set()

    def owns(self, name: str) -> bool:
        if name in self.facts.parameters:
            return False
        self.seen.add(name)
        uses = [n for n in self.nodes if is_named(n, name)]
        arrays = any(isinstance(self.facts.kind(n), Shaped) for n in uses)
        if arrays and self._is_captured(name):
            return False
        return all(
            self._is_made_at(n)
            if isinstance(n.ctx, ast.Store)
            else self._is_plain(n) or self._is_last(n)
            for n in uses
        )

    def _is_captured(self, name: str) -> bool:
        """Whether a nested function or a lambda knows it."""
        function = self.facts.definition.node
        inner = (
            node
            for node in ast.walk(function)
            if isinstance(node, ast.Lambda | FunctionNode) and node is not function
        )
        return any(is_named(n, name) for node in inner for n in ast.walk(node))

    # ---- the lists in a list

    def owns_lists_in(self, name: str) -> bool:
        uses = [n for n in self.nodes if is_named(n, name)]
        return all(
            self._holds_new_lists(n)
            if isinstance(n.ctx, ast.Store)
            else self._keeps_lists(n)
            for n in uses
        )

    def _holds_new_lists(self, node: ast.Name) -> bool:
        """Whether a name is set to a list of lists that are made for it."""
        match self.parents.get(node):
            case ast.Assign(targets=[ast.Name()], value=value):
                pass
            case ast.Tuple(elts=targets) as several:
                match self.parents.get(several):
                    case ast.Assign(value=ast.Tuple(elts=values)):
                        value = values[targets.index(node)]
                    case _:
                        return False
            case _:
                return False
        match value:
            case ast.List(elts=elts):
                return all(map(makes_list, elts))
            case ast.ListComp(elt=elt):
                return makes_list(elt)
            case ast.Name(id=moved):
                return moved in self.moved or self._moves(moved)
        return False

    def _moves(self, name: str) -> bool:
        self.moved.add(name)
        return self.owns_lists_in(name)

    def _keeps_lists(self, node: ast.Name) -> bool:
        """Whether a use of a list of lists gives none of these another name."""
        parent = self.parents.get(node)
        match parent:
            case ast.Subscript(slice=ast.Slice()):
                return False
            case ast.Subscript() if isinstance(parent.ctx, ast.Load):
                return self._reads_list(parent)
            case ast.Subscript():
                change = self.parents.get(parent)
                return isinstance(change, ast.Assign) and makes_list(change.value)
            case ast.Return():
                return True
            case ast.Tuple() | ast.List() | ast.Dict() if self._is_returned(parent):
                return True
            case ast.Call(func=function) if function is not node:
                name = self._dotted(function)
                return name == "len" or name.startswith(("tensorflow.", "numpy."))
            case ast.For(target=ast.Name(id=row), iter=source, body=body):
                inside = [n for s in body for n in ast.walk(s)]
                changed = any(is_named(n, node.id) for n in inside)
                rows = [n for n in self.nodes if is_named(n, row)]
                reads = [n for n in rows if isinstance(n.ctx, ast.Load)]
                alone = len(rows) == len(reads) + 1 and {*reads} <= {*inside}
                return (
                    source is node
                    and alone
                    and not changed
                    and all(map(self._is_read, reads))
                )
            case ast.Tuple() | ast.Assign():
                return self._is_last(node)
        return False

    def _is_read(self, node: ast.AST) -> bool:
        """Whether of a list in a list the items are read, and no more."""
        parent = self.parents.get(node)
        stored = isinstance(parent, ast.Subscript) and not isinstance(
            parent.ctx, ast.Load
        )
        return not stored and self._reads_list(node)

    def _reads_list(self, node: ast.AST) -> bool:
        """Whether of a list in a list the items are read, or set, and no more."""
        match self.parents.get(node):
            case ast.Subscript(value=value):
                return value is node
            case ast.Call(func=function) as call if function is not node:
                return self._is_read_by(call, False)
            case ast.For(iter=source) | ast.comprehension(iter=source):
                return source is node
            case ast.Return():
                return True
            case ast.Tuple() | ast.List() | ast.Dict() as parent:
                return self._is_returned(parent)
        return False

    # ---- what a name is set to

    def _is_made_at(self, node: ast.Name) -> bool:
        """Whether a name is set to something new, or to what has no other name from there on."""
        parent = self.parents.get(node)
        if isinstance(parent, ast.AugAssign):
            return True
        if isinstance(parent, ast.Tuple | ast.List):
            whole = self.parents.get(parent)
            if not (isinstance(whole, ast.Assign) and whole.targets == [parent]):
                return False
            values = whole.value
            if not isinstance(values, ast.Tuple) or len(values.elts) != len(
                parent.elts
            ):
                return self._is_new(values)
            return self._is_given(values.elts[parent.elts.index(node)], whole)
        if not isinstance(parent, ast.Assign) or parent.targets != [node]:
            return False
        return self._is_given(parent.value, parent)

    def _is_given(self, value: ast.expr, statement: ast.Assign) -> bool:
        if not isinstance(value, ast.Name):
            return self._is_new(value)
        return self._is_moved(value, statement) and (
            value.id in self.seen or self.owns(value.id)
        )

    def _is_moved(self, value: ast.Name, statement: ast.stmt) -> bool:
        """Whether a name that a statement reads is not read again before it is set anew."""
        names = [n for n in ast.walk(statement) if isinstance(n, ast.Name)]
        times = [n for n in names if n.id == value.id]
        rebound = any(isinstance(n.ctx, ast.Store) for n in times if n is not value)
        live = liveness(self.facts.definition.node).after.get(statement, {value.id})
        return len(times) == 1 + rebound and (rebound or value.id not in live)

    def _is_new(self, value: ast.expr) -> bool:
        if value not in self.facts.kinds:
            return True  # not made yet
        match value:
            case ast.IfExp(body=body, orelse=orelse):
                return self._is_new(body) and self._is_new(orelse)
            case ast.List() | ast.Dict() | ast.ListComp() | ast.DictComp() | ast.Set():
                return True
            case ast.BinOp() | ast.UnaryOp() | ast.Constant():
                return True
            case ast.Subscript(slice=ast.Slice()):
                return _is_container(self.facts.kind(value))
            case ast.Call(func=function):
                if isinstance(function, ast.Attribute) and function.attr in COPIES:
                    return True
                if value in self.facts.calls:
                    return self._gives_new(self.facts.calls[value])
                package, _, short = self._dotted(function).partition(".")
                if package == "tensorflow":
                    return is_list(self.facts.kind(value))
                return short in MAKERS if package == "numpy" else package in CONTAINERS
        return False

    def _gives_new(self, qualname: str) -> bool:
        """Whether a function of the module returns what it has made."""
        facts = self.session.known(qualname)
        if facts is None or facts is self.facts:
            return False
        owner = _Owner(facts, self.session)
        returned = [node.value for node, _ in facts.returns if node and node.value]
        return all(
            owner.owns(value.id)
            if isinstance(value, ast.Name)
            else owner._is_new(value)
            for value in returned
        )

    # ---- what is done with it

    def _is_plain(self, node: ast.Name) -> bool:
        """Whether a use of something leaves it, and the items of an array, without another name."""
        inner: ast.AST = node
        array = isinstance(self.facts.kind(node), Shaped)
        while True:
            parent = self.parents.get(inner)
            match parent:
                case ast.Subscript(value=value) if value is inner:
                    if not (isinstance(parent.ctx, ast.Load) and self._is_view(parent)):
                        return True
                    inner = parent
                case ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.AugAssign():
                    return True
                case ast.Return():
                    return True
                case ast.Tuple() | ast.List() if self._is_returned(parent):
                    return True
                case ast.Attribute(attr=name):
                    return name not in VIEWS
                case ast.keyword():
                    inner = parent
                case ast.Call(func=function) if function is not inner:
                    return self._is_read_by(parent, array)
                case _:
                    return not array and self._is_plain_in(parent, inner)

    def _is_plain_in(self, parent: ast.AST | None, inner: ast.AST) -> bool:
        """Whether a list or dict has no other name for its use in a piece of code."""
        match parent:
            case ast.If() | ast.While() | ast.Assert() | ast.Expr() | ast.Delete():
                return True
            case ast.Starred() | ast.FormattedValue():
                return True
            case ast.For(iter=source) | ast.comprehension(iter=source):
                return source is inner
            case ast.IfExp(test=test):
                return test is inner
            case ast.BoolOp():
                return parent in self.facts.tests
            case ast.Dict(keys=keys, values=values) if not self._is_returned(parent):
                return keys[values.index(inner)] is None  # type: ignore[arg-type]
            case ast.Dict():
                return True
            case ast.Assign(targets=[ast.Tuple() | ast.List()]):
                return True
        return False

    def _is_last(self, node: ast.Name) -> bool:
        """Whether what a name holds is not asked for again under this name, so that it may get another one."""
        statement: ast.AST | None = node
        while statement is not None and not isinstance(statement, ast.stmt):
            statement = self.parents.get(statement)
        return statement is not None and self._is_moved(node, statement)

    def _is_returned(self, display: ast.AST | None) -> bool:
        while isinstance(display, ast.Tuple | ast.List | ast.Dict):
            display = self.parents.get(display)
        return isinstance(display, ast.Return)

    def _is_read_by(self, call: ast.Call, array: bool) -> bool:
        """Whether a call keeps nothing of what it is given, and gives nothing of it back, or comes later."""
        if call not in self.facts.kinds:
            return True
        name = self._dotted(call.func)
        package, _, short = name.partition(".")
        if package in ("numpy", "tensorflow"):
            return short not in VIEWS
        if array or name in READERS:
            return name in (CONVERSIONS if array else READERS)
        kept = name.rpartition(".")[2] in KEEPERS
        return not kept and isinstance(self.facts.kind(call), Python | Shaped)

    def _dotted(self, node: ast.expr) -> str:
        """What a chain of names stands for, such as numpy.zeros."""
        match node:
            case ast.Name(id=name):
                return self.session.module.imports.get(name, name)
            case ast.Attribute(value=value, attr=name):
                return f"{self._dotted(value)}.{name}"
        return ""

    def _is_view(self, node: ast.Subscript) -> bool:
        """Whether this is a part of an array that shares its items with it."""
        whole, part = self.facts.kind(node.value), self.facts.kind(node)
        return isinstance(whole, Shaped) and getattr(part, "shape", ()) != ()


def _is_container(kind: Kind) -> bool:
    return is_list(kind) or isinstance(kind, Dict | Mapping)
