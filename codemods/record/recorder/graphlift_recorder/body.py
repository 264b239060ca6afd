"""The watching copy of a function's body."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any

from .constants import Constants
from .copying import Copier, at, replaced
from .nodes import Nodes, load
from .scopes import Names
from .source import SCOPES, FunctionNode, declared
from .watching import Chain, Function, Loop, Outer, Place, Test, Watched


class Body(Copier):
    """Instruments one function; functions inside it are left as they come.

    `names` are the outer names that matter. Without `asserts`, assert statements stay as they are.
    """

    def __init__(
        self,
        node: FunctionNode,
        function: Function,
        names: Names,
        rows: list[int],
        constants: Constants,
        asserts: bool,
    ) -> None:
        self._node = node
        self._rows = rows
        self._watched = function
        self._asserts = asserts
        self._nodes = Nodes(constants, function)
        self._enter = _how_entered(node)
        self._suspends = self._enter != "enter"
        self._shadows: list[set[str]] = []
        self._outer = {name: Outer(name) for name in names.globals | names.closure}
        function.globals = [self._outer[name] for name in sorted(names.globals)]
        function.written = [self._outer[name] for name in sorted(names.written)]
        function.closure = [self._outer[name] for name in sorted(names.closure)]

    # ---- the function as a whole

    def function(self, node: FunctionNode) -> FunctionNode:
        """The function with both bodies; `node` has its inner functions instrumented."""
        docstring, plain = _split_docstring(node.body)
        declarations = [
            at(kind(names=sorted(names)), node)
            for kind in (ast.Global, ast.Nonlocal)
            if (names := declared(node, kind))
        ]
        if declarations:
            plain = _Undeclared().block(plain)
        plain = plain or [at(ast.Pass(), node)]
        watching = self._watching(self.block(plain))
        self._bind_chains()
        body = [*docstring, *declarations, *self._switch(watching, plain)]
        return replaced(node, body=body)

    def _watching(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The body with its end watched as well."""
        first = body[0]
        body = [*self._closure_reads(first), *body]
        if self._suspends:
            return body
        raised = self._nodes.tell(self._watched, "raised", position=first)
        handler = ast.ExceptHandler(
            type=None, name=None, body=[raised, at(ast.Raise(), first)]
        )
        watched = ast.Try(
            body=body,
            handlers=[at(handler, first)],
            orelse=[],
            finalbody=[self._nodes.tell(self._watched, "leave", position=first)],
        )
        return [at(watched, first)]

    def _switch(
        self, watching: list[ast.stmt], plain: list[ast.stmt]
    ) -> list[ast.stmt]:
        """Counts the call and chooses a body."""
        first = plain[0]
        names = [load(name, first) for name in self._watched.parameters]
        values = at(ast.Tuple([*names], ast.Load()), first)
        enter = self._nodes.call(self._watched, self._enter, values, position=first)
        test = at(ast.BoolOp(ast.And(), [self._nodes.on(first), enter]), first)
        return [self._nodes.count(first), at(ast.If(test, watching, plain), first)]

    def _closure_reads(self, position: ast.stmt) -> list[ast.stmt]:
        return [
            self._nodes.tell_if_bound(
                outer, "enter", name=outer.name, position=position
            )
            for outer in self._watched.closure
        ]

    def _bind_chains(self) -> None:
        """Have chains looked at on entry by whoever knows their root."""
        parameters = [*self._watched.parameters]
        for dotted, chain in self._watched.chains.items():
            root = dotted.partition(".")[0]
            if root in parameters:
                pair = parameters.index(root), chain
                self._watched.parameter_chains.append(pair)
            else:
                self._outer[root].chains.append(chain)

    def _position(self, node: ast.expr | ast.stmt | ast.pattern) -> str:
        """The place of a node in the function, of whose lines those with code count."""
        first = bisect_left(self._rows, self._node.lineno)
        line = bisect_left(self._rows, node.lineno) - first
        return f"{line}:{node.col_offset - self._node.col_offset}"

    # ---- names and attributes

    def _name(self, name: str, node: ast.expr | ast.pattern) -> Place:
        position = f"{self._position(node)}:{name}"
        return self._watched.names.setdefault(position, Place())

    def _assigned(self, target: ast.expr, position: ast.AST) -> list[ast.stmt]:
        """Tell of what a target holds now."""
        if isinstance(target, ast.Tuple | ast.List):
            items = [self._assigned(item, position) for item in target.elts]
            return [told for item in items for told in item]
        if isinstance(target, ast.Starred):
            return self._assigned(target.value, position)
        if isinstance(target, ast.Name):
            place: Watched = self._name(target.id, target)
            value = load(target.id, position)
            return [self._nodes.tell(place, "see", value, position=position)]
        chain = self._chain(target)
        if chain is None:
            return []
        root = load(_dotted(target).partition(".")[0], position)
        return [self._nodes.tell(chain, "peek", root, position=position)]

    def _chain(self, node: ast.expr) -> Chain | None:
        """The chain of attributes that an expression is, if it is one to watch."""
        dotted = _dotted(node)
        root, _, rest = dotted.partition(".")
        known = root in self._watched.parameters or root in self._outer
        if not rest or not known or any(root in names for names in self._shadows):
            return None
        chain = Chain(tuple(rest.split(".")))
        return self._watched.chains.setdefault(dotted, chain)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        new = self.copy(node)
        chain = self._chain(node) if isinstance(node.ctx, ast.Load) else None
        if chain is None:
            return new
        return self._nodes.call(chain, "see", new, position=node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        new = self.copy(node)
        func = node.func
        if isinstance(func, ast.Attribute) and func.lineno != func.end_lineno:
            # the line of such a call, in tracebacks, is that of the attribute only where it is called directly
            return replaced(new, func=replaced(func, value=self.visit(func.value)))
        return new

    # ---- statements

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        told = [self._assigned(target, node) for target in node.targets]
        return [self.copy(node), *(one for several in told for one in several)]

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        return [self.copy(node), *self._assigned(node.target, node)]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> list[ast.stmt]:
        if node.value is None:
            return [node]
        target, value = self.visit(node.target), self.visit(node.value)
        new = replaced(node, target=target, value=value)
        return [new, *self._assigned(node.target, node)]

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        place = self._name(node.target.id, node.target)
        value = self.visit(node.value)
        told = self._nodes.call(place, "see", value, position=node.value)
        return replaced(node, value=told)

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        if self._suspends:
            return self.copy(node)
        value: ast.expr = at(ast.Constant(None), node)
        if node.value is not None:
            value = self.visit(node.value)
        position = node.value or node
        back = self._nodes.call(self._watched, "back", value, position=position)
        return replaced(node, value=back)

    def visit_With(self, node: ast.With) -> ast.stmt:
        told = [
            told
            for item in node.items
            if item.optional_vars is not None
            for told in self._assigned(item.optional_vars, node.body[0])
        ]
        body = [*told, *self.block(node.body)]
        return replaced(node, items=self.block(node.items), body=body)

    visit_AsyncWith = visit_With

    def visit_Match(self, node: ast.Match) -> ast.stmt:
        cases = [self._case(case) for case in node.cases]
        return replaced(node, subject=self.visit(node.subject), cases=cases)

    def _case(self, case: ast.match_case) -> ast.match_case:
        position = case.body[0]
        told = [
            self._nodes.tell(
                self._name(name, node), "see", load(name, position), position=position
            )
            for node, name in _captured(case.pattern)
        ]
        guard = None if case.guard is None else self.visit(case.guard)
        return replaced(case, guard=guard, body=[*told, *self.block(case.body)])

    def _as_it_is(self, node: Any) -> Any:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = _as_it_is
    visit_ClassDef = visit_Lambda = _as_it_is

    # ---- tests

    def _condition(self, node: ast.expr) -> ast.expr:
        """A test with its leaves watched."""
        if isinstance(node, ast.BoolOp):
            return replaced(node, values=[*map(self._condition, node.values)])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return replaced(node, operand=self._condition(node.operand))
        if isinstance(node, ast.Constant):
            return node
        test = self._watched.tests.setdefault(self._position(node), Test())
        value = self.visit(node)
        return at(
            ast.IfExp(
                self._nodes.call(test, "see", value, position=node),
                self._nodes.call(test, "true", position=node),
                self._nodes.call(test, "false", position=node),
            ),
            node,
        )

    def visit_If(self, node: ast.If) -> ast.stmt:
        return replaced(
            node,
            test=self._condition(node.test),
            body=self.block(node.body),
            orelse=self.block(node.orelse),
        )

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        return replaced(
            node,
            test=self._condition(node.test),
            body=self.visit(node.body),
            orelse=self.visit(node.orelse),
        )

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        if not self._asserts:
            return node
        message = None if node.msg is None else self.visit(node.msg)
        return replaced(node, test=self._condition(node.test), msg=message)

    # ---- loops

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        loop = self._loop(node, _bound(node.body) - _bound([node.target]))
        loop.iterable = Place()
        iterable = self.visit(node.iter)
        new = replaced(
            node,
            target=self.visit(node.target),
            iter=self._nodes.call(loop.iterable, "see", iterable, position=node.iter),
            body=self._turns(
                node.body, loop, self._assigned(node.target, node.body[0])
            ),
            orelse=self.block(node.orelse),
        )
        return self._around(loop, new)

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        loop = self._loop(node, _bound(node.body))
        new = replaced(
            node,
            test=self._nodes.either(self._condition(node.test), node.test),
            body=self._turns(node.body, loop, []),
            orelse=self.block(node.orelse),
        )
        return self._around(loop, new)

    def _loop(self, node: ast.stmt, carried: set[str]) -> Loop:
        loop = Loop(self._watched, sorted(carried))
        self._watched.loops[self._position(node)] = loop
        return loop

    def _turns(
        self, body: list[ast.stmt], loop: Loop, told: list[ast.stmt]
    ) -> list[ast.stmt]:
        """A loop's body twice: watching, and as it is."""
        first = body[0]
        if self._suspends:
            turn = [self._nodes.tell(self._watched, "tick", position=first)]
        else:
            told = [*self._carried(loop, first), *told]
            turn = [self._nodes.tell(loop, "turn", position=first)]
        watching = [*turn, *told, *self.block(body)]
        return [at(ast.If(self._nodes.on(first), watching, body), first)]

    def _around(self, loop: Loop, new: ast.stmt) -> list[ast.stmt]:
        """The loop with its beginning and end watched; those of a generator's are not."""
        if self._suspends:
            return [new]
        start = self._nodes.tell(loop, "start", position=new)
        done = self._nodes.tell(loop, "done", position=new)
        return [start, new, done, *self._carried(loop, new)]

    def _carried(self, loop: Loop, position: ast.AST) -> list[ast.stmt]:
        return [
            self._nodes.tell_if_bound(
                loop,
                "carry",
                at(ast.Constant(name), position),
                name=name,
                position=position,
            )
            for name in loop.entry
        ]

    # ---- comprehensions

    def visit_ListComp(self, node: Any) -> Any:
        if any(generator.is_async for generator in node.generators):
            return node
        self._shadows.append(_bound(generator.target for generator in node.generators))
        generators = [self._generator(generator) for generator in node.generators]
        results = {
            name: self._nodes.either(self.visit(result), result)
            for name in ("elt", "key", "value")
            if (result := getattr(node, name, None)) is not None
        }
        self._shadows.pop()
        return replaced(node, generators=generators, **results)

    visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_ListComp

    def _generator(self, node: ast.comprehension) -> ast.comprehension:
        """A for of a comprehension: its names are watched by a first test that holds."""
        target = node.target
        told: list[ast.expr] = [
            self._nodes.call(
                self._name(name.id, name),
                "note",
                load(name.id, target),
                position=target,
            )
            for name in _stored([target])
        ]
        tick = self._nodes.call(self._watched, "tick", position=target)
        watched = at(ast.BoolOp(ast.And(), [tick, *told]), target)
        off = at(ast.UnaryOp(ast.Not(), self._nodes.on(target)), target)
        first = at(ast.BoolOp(ast.Or(), [off, watched]), target)
        tests = [self._nodes.either(self._condition(test), test) for test in node.ifs]
        iterable = self._nodes.either(self.visit(node.iter), node.iter)
        return replaced(node, iter=iterable, ifs=[first, *tests])


class _Undeclared(Copier):
    """Takes global and nonlocal statements out of a function's body."""

    def visit_Global(self, node: ast.stmt) -> ast.stmt:
        return at(ast.Pass(), node)

    visit_Nonlocal = visit_Global

    def copy(self, node: Any) -> Any:
        return node if isinstance(node, (ast.expr, *SCOPES)) else super().copy(node)


def _split_docstring(body: list[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    match body[0]:
        case ast.Expr(value=ast.Constant(value=str())):
            return body[:1], body[1:]
    return [], body


def _dotted(node: ast.expr) -> str:
    """A chain of attributes of a name, "" for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _captured(pattern: ast.pattern) -> Iterator[tuple[ast.pattern, str]]:
    """The names that a pattern binds."""
    for node in ast.walk(pattern):
        name = None
        if isinstance(node, ast.MatchAs | ast.MatchStar):
            name = node.name
        elif isinstance(node, ast.MatchMapping):
            name = node.rest
        if name is not None and isinstance(node, ast.pattern):
            yield node, name


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _same_scope(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All nodes but those of inner scopes."""
    pending = [*nodes]
    while pending:
        node = pending.pop()
        if not isinstance(node, (*SCOPES, ast.Lambda, *_COMPREHENSIONS)):
            yield node
            pending.extend(ast.iter_child_nodes(node))


def _how_entered(node: FunctionNode) -> str:
    """The method that tells of a call."""
    if isinstance(node, ast.AsyncFunctionDef):
        return "enter_coroutine"
    for inner in _same_scope(node.body):
        if isinstance(inner, ast.Yield | ast.YieldFrom):
            return "enter_generator"
    return "enter"


def _stored(nodes: Iterable[ast.AST]) -> Iterator[ast.Name]:
    """Names as they are assigned."""
    for node in _same_scope(nodes):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node


def _bound(nodes: Iterable[ast.AST]) -> set[str]:
    return {node.id for node in _stored(nodes)}
