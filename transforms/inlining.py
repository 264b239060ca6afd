"""Calls that change Python state, replaced by the statements of the functions they call.

A graph carries what changes in names of one function. A method that changes `self` hides it; with its statements in
the place of the call, the caller shows what changes, and can carry it.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from typing import TypeVar

from . import setters
from .facts.definitions import FunctionDefinition
from .facts.profile import FunctionNode
from .facts.syntax import mangled, names_in, own_body, own_nodes, returns
from .making import PLACE, is_atom
from .rebuilding import rebuilt, with_origin
from .settling import Block, NotInlined, always_returns, settled
from .source import Names, in_small_letters

MOST_STATEMENTS = 48
"""Longer functions stay calls."""
MOST_DEPTH = 8
PLACES = PLACE | {"origin", "made", "as_load", "replaced_by"}
"""What notes on a node where it stands, and what goes with that."""
Node = TypeVar("Node", bound=ast.AST)


Resolve = Callable[[ast.expr], "Callee | None"]


class Callee:
    """A function to be inlined at one call, and what its first parameter is there."""

    def __init__(
        self, definition: FunctionDefinition, receiver: ast.expr | None
    ) -> None:
        self.definition = definition
        self.receiver = receiver


class Inliner:
    """Replaces calls in one function.

    Args:
        definition: of the function with the calls.
        resolve: what to inline at an expression, if anything.
        stable: whether an expression gives the same value before and after any of the inlined functions has run.
    """

    def __init__(
        self,
        definition: FunctionDefinition,
        resolve: Resolve,
        stable: Callable[[ast.expr], bool],
    ) -> None:
        self.definition = definition
        function = definition.node
        self.owner = definition.owner.qualname if definition.owner else ""
        self.resolve = resolve
        self.stable = stable
        self.globals: dict[str, None] = {}
        self.locals = local_names(function)
        self.names = Names.clear_of(function, self.locals)
        self.depth = 0

    def block(self, body: Block) -> Block:
        return [made for node in body for made in self.statement(node)]

    def statement(self, node: ast.stmt) -> Block:
        """A statement with the first call in it inlined, and those of its blocks.

        Raises:
            NotInlined: a call stands where it cannot be.
        """
        if isinstance(node, FunctionNode | ast.ClassDef):
            return [node]
        node = setters.in_full(node, self._is_wanted)
        found = self._first_call(node)
        if found is None:
            node = setters.as_call(node, self._is_wanted)
            found = self._first_call(node)
        if found is None:
            return [rebuilt(node, self.block)]
        call, callee = found
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise NotInlined
        try:
            made = self._inlined(node, call, callee)
            _note_written(made)
            origin = getattr(node, "origin", node)
            for inner in made:
                if getattr(inner, "origin", None) is origin:
                    del inner.origin  # type: ignore[attr-defined]
            if made:
                with_origin(made[0], node)
            return self.block(made)
        finally:
            self.depth -= 1

    def _is_wanted(self, call: ast.Call) -> bool:
        return self.resolve(call) is not None

    # ---- where a call stands

    def _first_call(self, node: ast.stmt) -> tuple[ast.expr, Callee] | None:
        """The call that is evaluated first, and nothing that it may change before it."""
        root = _evaluated_first(node)
        calls = [n for e in _own_expressions(node) for n in ast.walk(e)]
        wanted = [n for n in calls if isinstance(n, ast.expr) and self.resolve(n)]
        if not wanted:
            return None
        if root is None:
            raise NotInlined
        earlier: list[ast.expr] = []
        for inner, always in _in_order(root):
            callee = self.resolve(inner)
            if callee is None:
                earlier.append(inner)
                continue
            own = set(ast.walk(inner))
            if not always or not all(e in own or self.stable(e) for e in earlier):
                raise NotInlined
            return inner, callee
        raise NotInlined

    # ---- what takes its place

    def _inlined(self, node: ast.stmt, call: ast.expr, callee: Callee) -> Block:
        before, body = self.parts(call, callee)
        match node:
            case ast.Return(value=value) if value is call:
                return [*before, *_returning(body)]
            case ast.Expr(value=value) if value is call:
                return [*before, *settled(body, _dropped, self._fresh)]
            case ast.Assign(targets=targets, value=value) if value is call:
                return [*before, *settled(body, _assigned(targets), self._fresh)]
        calls = [n for e in _own_expressions(node) for n in ast.walk(e)]
        others = any(
            n is not call and isinstance(n, ast.expr) and self.resolve(n) for n in calls
        )
        match body:
            case [*first, ast.Return(value=ast.expr() as result)] if not (
                others or returns(first)
            ):
                if isinstance(node, ast.While) and (before or first):
                    raise NotInlined
                if not is_atom(result):
                    result.inlined = callee.definition.node.name.strip("_")  # type: ignore[attr-defined]
                return [*before, *first, _with(node, call, result)]
        if isinstance(node, ast.While):
            raise NotInlined
        name = self._fresh(callee.definition.node.name.strip("_"))
        target = ast.Name(name, ast.Store())
        made = _with(node, call, ast.Name(name, ast.Load()))
        return [*before, *settled(body, _assigned([target]), self._fresh), made]

    def parts(self, call: ast.expr, callee: Callee) -> tuple[Block, Block]:
        """What binds the callee's parameters, and its statements, in names of this function."""
        definition = callee.definition
        node = definition.original
        if not is_inlinable(definition, self.definition):
            raise NotInlined
        values: dict[str, ast.expr] = {}
        before: Block = []
        bound = bound_in(node)
        given = arguments(call, callee)
        for name, value in given.items():
            is_receiver = value is callee.receiver and is_atom(value)
            if name not in bound and (is_receiver or self._is_constant(value)):
                values[name] = value
            else:
                wanted = _object_name(callee) if value is callee.receiver else name
                local = ast.Name(self._fresh(wanted), ast.Load())
                values[name] = local
                before.append(ast.Assign([ast.Name(local.id, ast.Store())], value))
        if callee.receiver is not None and definition.parameters[0].arg in bound:
            raise NotInlined
        declared = {
            name
            for n in own_nodes(node)
            if isinstance(n, ast.Global)
            for name in n.names
        }
        if not is_nested_in(definition, self.definition):
            free = {name for s in node.body for name in names_in(s)}
            free -= bound | given.keys() | _parameters(definition)
            if (free | declared) & (self.locals - self.globals.keys()):
                raise NotInlined
        self.globals |= dict.fromkeys(sorted(declared))
        for name in sorted(bound - given.keys()):
            values[name] = ast.Name(self._fresh(name), ast.Load())
        owner = definition.owner.qualname if definition.owner else ""
        renamed = _Renamed(values, "" if owner == self.owner else owner)
        body = [renamed.visit(bare(s)) for s in own_body(node)]
        return [bare(s) for s in before], _folded(body)

    def _is_constant(self, value: ast.expr) -> bool:
        """Whether an argument's text may stand wherever the parameter stands."""
        return isinstance(value, ast.Constant) or (
            isinstance(value, ast.Name | ast.Attribute) and self.stable(value)
        )

    def _fresh(self, name: str) -> str:
        made = self.names.fresh(name)
        self.locals.add(made)
        return made


# ---- what can be inlined


def is_inlinable(definition: FunctionDefinition, caller: FunctionDefinition) -> bool:
    """Whether a function's statements may stand in another function of its module."""
    node = definition.original
    if not isinstance(node, ast.FunctionDef):
        return False
    plain = {"staticmethod", "property", f"{node.name}.setter"}
    if set(definition.decorators) - plain:
        return False
    nested = is_nested_in(definition, caller)
    if "<locals>" in definition.qualname and not nested:
        return False
    inner = list(own_nodes(node))
    scopes = (
        *(ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
        *(ast.Import, ast.ImportFrom, ast.Await, ast.Delete),
        *(() if nested else (ast.Nonlocal,)),
    )
    if any(isinstance(n, scopes) or _names_itself(n, definition) for n in inner):
        return False
    if any(
        isinstance(n, ast.Name) and n.id in ("super", "__class__", "locals")
        for n in inner
    ):
        return False
    return sum(isinstance(n, ast.stmt) for n in inner) <= MOST_STATEMENTS


def _names_itself(node: ast.AST, definition: FunctionDefinition) -> bool:
    """Whether a node of a function is the function itself, so that inlining it would not end."""
    own = definition.node.name
    match node:
        case ast.Name(id=name):
            return definition.owner is None and name == own
        case ast.Attribute(value=ast.Name(id=owner), attr=name, ctx=context):
            if definition.sets and not isinstance(context, ast.Store):
                return False
            first = definition.parameters[:1]
            return bool(definition.owner and first) and (owner, name) == (
                first[0].arg,
                own,
            )
    return False


def is_nested_in(definition: FunctionDefinition, caller: FunctionDefinition) -> bool:
    """Whether a function is defined in another one's own body."""
    parent = definition.parent
    return parent is not None and parent.original is caller.original


def local_names(function: FunctionNode) -> set[str]:
    """The names that are a function's own: parameters, and what it binds."""
    args = function.args
    found = {a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
    found |= {a.arg for a in (args.vararg, args.kwarg) if a is not None}
    return found | bound_in(function)


def bound_in(function: FunctionNode) -> set[str]:
    nodes = list(own_nodes(function))
    declared = {
        name
        for n in nodes
        if isinstance(n, ast.Global | ast.Nonlocal)
        for name in n.names
    }
    bound = {
        n.id
        for n in nodes
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store | ast.Del)
    }
    return bound - declared


def _object_name(callee: Callee) -> str:
    """What an object may be called outside its methods: as its class, in small letters."""
    owner = callee.definition.owner
    name = owner.qualname.rpartition(".")[2] if owner else "owner"
    return in_small_letters(name)


def _parameters(definition: FunctionDefinition) -> set[str]:
    return {a.arg for a in definition.parameters}


def arguments(call: ast.expr, callee: Callee) -> dict[str, ast.expr]:
    """What each parameter is bound to, in the order of evaluation.

    Raises:
        NotInlined: it cannot be told.
    """
    definition = callee.definition
    args = definition.original.args
    names = [a.arg for a in (*args.posonlyargs, *args.args)]
    known = dict.fromkeys([*names, *(a.arg for a in args.kwonlyargs)])
    bound: dict[str, ast.expr] = {}
    if callee.receiver is not None:
        bound[names.pop(0)] = callee.receiver
    given = call.args if isinstance(call, ast.Call) else []
    if isinstance(call, ast.BinOp):
        given = [call.left if callee.receiver is call.right else call.right]
    if isinstance(call, ast.Compare):
        given = [*call.comparators]
    keywords = call.keywords if isinstance(call, ast.Call) else []
    if any(isinstance(a, ast.Starred) for a in given):
        raise NotInlined
    if args.vararg:
        bound[args.vararg.arg] = ast.Tuple(given[len(names) :], ast.Load())
    elif len(given) > len(names):
        raise NotInlined
    bound |= dict(zip(names, given, strict=False))
    more: dict[str, ast.expr] = {}
    for keyword in keywords:
        if keyword.arg is None or keyword.arg in bound:
            raise NotInlined
        (bound if keyword.arg in known else more)[keyword.arg] = keyword.value
    if args.kwarg:
        keys: list[ast.expr | None] = [ast.Constant(key) for key in more]
        bound[args.kwarg.arg] = ast.Dict(keys, [*more.values()])
    elif more:
        raise NotInlined
    for name in known:
        if name not in bound:
            bound[name] = _default(definition, name)
    return bound


def _default(definition: FunctionDefinition, name: str) -> ast.expr:
    """What a parameter is where nothing is passed for it.

    Raises:
        NotInlined: that is made once, for all calls.
    """
    default = definition.defaults.get(name)
    if default is None or not (
        isinstance(default, ast.Constant) or definition.makes_defaults
    ):
        raise NotInlined
    return default


# ---- order of evaluation


def _own_expressions(node: ast.stmt) -> list[ast.expr]:
    return [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)] + [
        i.context_expr for i in getattr(node, "items", ())
    ]


def _evaluated_first(node: ast.stmt) -> ast.expr | None:
    """The expression that a statement evaluates once, before all else it does; None where there is none."""
    match node:
        case (
            ast.Expr(value=value)
            | ast.Return(value=ast.expr() as value)
            | ast.Assign(value=value)
            | ast.AnnAssign(value=ast.expr() as value)
        ):
            return value
        case ast.AugAssign(target=ast.Name(), value=value):
            return value
        case ast.If(test=test) | ast.While(test=test):
            return test
        case ast.For(iter=iterable):
            return iterable
    return None


def _in_order(node: ast.expr, always: bool = True) -> Iterator[tuple[ast.expr, bool]]:
    """The expressions inside one in the order in which they are done, and whether they always are."""
    match node:
        case ast.BoolOp(values=[first, *rest]):
            yield from _in_order(first, always)
            for value in rest:
                yield from _in_order(value, False)
        case ast.Compare(left=left, comparators=[first, *rest]):
            yield from _in_order(left, always)
            yield from _in_order(first, always)
            for value in rest:
                yield from _in_order(value, False)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield from _in_order(test, always)
            yield from _in_order(body, False)
            yield from _in_order(orelse, False)
        case (
            ast.Lambda()
            | ast.ListComp()
            | ast.SetComp()
            | ast.DictComp()
            | ast.GeneratorExp()
        ):
            inside = [n for n in ast.walk(node) if isinstance(n, ast.expr)]
            yield from ((n, False) for n in inside if n is not node)
        case ast.Call(func=function, args=args, keywords=keywords):
            target = setters.assigned(node)
            function = target.value if target else function
            for inner in (function, *args, *(k.value for k in keywords)):
                yield from _in_order(inner, always)
        case _:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    yield from _in_order(child, always)
    yield node, always


# ---- returns


def _returning(body: Block) -> Block:
    """The statements of a function at the end of another one: its returns are the other's."""
    return body if always_returns(body) else [*body, ast.Return(ast.Constant(None))]


def _dropped(value: ast.expr) -> Block:
    idle = isinstance(value, ast.Constant | ast.Name | ast.Attribute)
    return [] if idle else [ast.Expr(value)]


def _assigned(targets: list[ast.expr]) -> Callable[[ast.expr], Block]:
    def assign(value: ast.expr) -> Block:
        match targets, value:
            case [ast.Name(id=target)], ast.Name(id=given) if target == given:
                return []
        return [ast.Assign([bare(t) for t in targets], value)]

    return assign


def _folded(body: Block) -> Block:
    """A block without what an argument's value decides, and what does nothing."""
    result: Block = []
    for node in body:
        match node:
            case ast.If(test=ast.Constant(value=value)):
                result += _folded(node.body if value else node.orelse)
            case ast.Global() | ast.Nonlocal() | ast.Pass():
                pass
            case _:
                for name in ("body", "orelse", "finalbody"):
                    inner = getattr(node, name, None)
                    if inner:
                        folded = _folded(inner)
                        needed = name == "body" and not folded
                        setattr(node, name, [ast.Pass()] if needed else folded)
                result.append(node)
    return result


# ---- made nodes


def bare(node: Node) -> Node:
    """A copy that stands nowhere in the file."""
    made: Node = copy.deepcopy(node)
    for inner in ast.walk(made):
        if isinstance(inner, ast.expr | ast.stmt):
            inner.written_at = place(inner)  # type: ignore[union-attr]
        _unplace(inner)
    return made


def _note_written(body: Block) -> None:
    """Note that statements are plain Python, which may stand in the file as they are."""
    for inner in (n for s in body for n in ast.walk(s)):
        if isinstance(inner, ast.expr | ast.stmt) and not hasattr(inner, "lineno"):
            inner.written_at = place(inner)  # type: ignore[union-attr]


def is_written(node: ast.stmt) -> bool:
    """Whether a statement may stand in the file: it does, or it was copied from there."""
    inner = [n for n in ast.walk(node) if isinstance(n, ast.expr | ast.stmt)]
    return hasattr(node, "lineno") or all(
        hasattr(n, "written_at") and not hasattr(n, "stops") for n in inner
    )


def place(node: ast.AST) -> tuple[int, int]:
    """Where a node stands, or where the one stands that it was copied from."""
    here = getattr(node, "lineno", -1), getattr(node, "col_offset", -1)
    found: tuple[int, int] = getattr(node, "written_at", here)
    return found


def _unplace(node: ast.AST) -> None:
    for name in PLACES & vars(node).keys():
        delattr(node, name)


class _Renamed(ast.NodeTransformer):
    """Names replaced by expressions, or by other names where they are set; private ones of a class as others see them."""

    def __init__(self, values: dict[str, ast.expr], owner: str) -> None:
        self.values = values
        self.owner = owner

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if self.owner:
            node.attr = mangled(node.attr, self.owner)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        value = self.values.get(node.id)
        if value is None:
            return node
        if isinstance(node.ctx, ast.Load):
            return bare(value)
        assert isinstance(value, ast.Name)
        return ast.Name(value.id, node.ctx)


def _with(node: ast.stmt, old: ast.expr, new: ast.expr) -> ast.stmt:
    """A statement with one of its own expressions replaced, made anew but for its blocks."""
    made = copy.copy(node)
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.expr):
            marked = _marked(value, old, new)
            setattr(made, name, marked)
        elif isinstance(value, list) and value and isinstance(value[0], ast.expr):
            setattr(made, name, [_marked(v, old, new) for v in value])
    _unplace(made)
    return with_origin(made, node)


def _marked(value: ast.expr, old: ast.expr, new: ast.expr) -> ast.expr:
    old.replaced_by = new  # type: ignore[attr-defined]
    try:
        made = copy.deepcopy(value)
    finally:
        del old.replaced_by  # type: ignore[attr-defined]
    visited = _Marked().visit(made)
    assert isinstance(visited, ast.expr)
    return bare(visited)


class _Marked(ast.NodeTransformer):
    def visit(self, node: ast.AST) -> ast.AST:
        new = getattr(node, "replaced_by", None)
        made: ast.AST = new if new is not None else self.generic_visit(node)
        return made
