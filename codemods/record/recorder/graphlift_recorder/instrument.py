"""Instruments the functions of a module.

    def f(x):                    def f(x):
        if x > 0:                    F.calls += 1
            x = x - 1                if F.on and F.enter((x,)):
        return x                         try:
                                             if (T.true() if T.see(x > 0) else T.false()):
                                                 x = x - 1
                                                 N.see(x)
                                             return F.back(x)
                                         except:
                                             F.raised()
                                             raise
                                         finally:
                                             F.leave()
                                     else:
                                         if x > 0:
                                             x = x - 1
                                         return x

F, T and N are objects of `watching`, held as constants: the tree has a text in the place of each, which
`Constants.fill` exchanges in the compiled code. Every expression is evaluated once, where and when it
was; a test is decided by Python itself, in the user's frame; new nodes have the position of the node
they belong to, so that tracebacks and line numbers stay. A loop's body has a plain copy as well, for
when enough has been seen. Trees are never changed in place: unchanged nodes are shared.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable, Sequence
from typing import Any

from .scopes import Names, Scopes, imported_modules
from .source import FUNCTIONS, SCOPES, FunctionNode, declared, digest, functions
from .watching import Chain, Function, Loop, Module, Outer, Place, Test, Watched, own

_COMPILERS = {"numba"}
"""Packages that compile a module's functions from their bytecode: such modules are left alone."""


class Uninstrumentable(Exception):
    """The module has to run as it is."""


class Constants:
    """The objects that the code of one module holds."""

    _MARK = "\0graphlift:"

    def __init__(self) -> None:
        self._objects: dict[str, Watched] = {}

    def name(self, watched: Watched) -> str:
        """The text that stands for an object until `fill`."""
        text = f"{self._MARK}{len(self._objects)}"
        self._objects[text] = watched
        return text

    def fill(
        self, code: types.CodeType, module: Module | None = None
    ) -> types.CodeType:
        """The code with the objects in place; `watching` is told whose code it is."""
        if module is not None:
            own(code, module)
        return self._filled(code)

    def _filled(self, code: types.CodeType) -> types.CodeType:
        constants = []
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                constant = self._filled(constant)
            elif isinstance(constant, str) and constant in self._objects:
                constant = self._objects[constant]
                if isinstance(constant, Function):
                    own(code, constant)
            constants.append(constant)
        return code.replace(co_consts=tuple(constants))


def instrument(
    tree: ast.Module, text: str, path: str, constants: Constants, asserts: bool = True
) -> tuple[ast.Module, list[Function]]:
    """The instrumented tree of a module and its functions.

    `path` names the module in keys. Without `asserts`, assert statements stay as they are. Raises
    Uninstrumentable.
    """
    modules = imported_modules(tree)
    if modules & _COMPILERS or "import numba" in text or "from numba" in text:
        raise Uninstrumentable(path)
    functions_of = _Functions(tree, text, path, constants, modules, asserts)
    return functions_of.visit(tree), functions_of.made


class _Copier:
    """Rebuilds a tree where something in it changes; a statement may become several."""

    def visit(self, node: Any) -> Any:
        visitor = getattr(self, f"visit_{type(node).__name__}", self.copy)
        return visitor(node)

    def copy(self, node: Any) -> Any:
        """The node with its children visited."""
        changes = {}
        for name in node._fields:
            old = getattr(node, name, None)
            if isinstance(old, list):
                new: Any = self.block(old)
            elif isinstance(old, ast.AST):
                new = self.visit(old)
            else:
                continue
            if new is not old:
                changes[name] = new
        return replaced(node, **changes) if changes else node

    def block(self, nodes: list[Any]) -> list[Any]:
        result: list[Any] = []
        for node in nodes:
            new = self.visit(node) if isinstance(node, ast.AST) else node
            result.extend(new if isinstance(new, list) else [new])
        same = len(result) == len(nodes) and all(
            map(lambda a, b: a is b, result, nodes)
        )
        return nodes if same else result


def replaced(node: Any, **changes: Any) -> Any:
    new = type(node).__new__(type(node))
    new.__dict__.update(node.__dict__, **changes)
    return new


class _Functions(_Copier):
    """Instruments every function, inner ones first."""

    def __init__(
        self,
        tree: ast.Module,
        text: str,
        path: str,
        constants: Constants,
        modules: frozenset[str],
        asserts: bool,
    ) -> None:
        self.made: list[Function] = []
        self._lines = text.split("\n")
        self._path = path
        self._constants = constants
        self._modules = modules
        self._asserts = asserts
        self._scopes = Scopes(text, path)
        self._qualnames = {node: name for name, node in functions(tree)}

    def copy(self, node: Any) -> Any:
        return node if isinstance(node, ast.expr) else super().copy(node)

    def visit_FunctionDef(self, node: FunctionNode) -> FunctionNode:
        key = f"{self._path}::{self._qualnames[node]}"
        function = Function(key, digest(self._lines, node), _parameters(node.args))
        names = self._scopes.names(node)
        body = _Body(
            node, function, names, self._modules, self._constants, self._asserts
        )
        self.made.append(function)
        result: FunctionNode = body.function(self.copy(node))
        return result

    visit_AsyncFunctionDef = visit_FunctionDef


def _parameters(args: ast.arguments) -> dict[str, str]:
    """How each parameter is passed."""
    result = {arg.arg: "positional" for arg in (*args.posonlyargs, *args.args)}
    if args.vararg:
        result[args.vararg.arg] = "star"
    result.update({arg.arg: "keyword" for arg in args.kwonlyargs})
    if args.kwarg:
        result[args.kwarg.arg] = "double star"
    return result


class _Undeclared(_Copier):
    """Takes global and nonlocal statements out of a function's body."""

    def visit_Global(self, node: ast.stmt) -> ast.stmt:
        return ast.copy_location(ast.Pass(), node)

    visit_Nonlocal = visit_Global

    def copy(self, node: Any) -> Any:
        return node if isinstance(node, (ast.expr, *SCOPES)) else super().copy(node)


class _Body(_Copier):
    """The watching copy of one function's body. Inner functions are left as they come."""

    def __init__(
        self,
        node: FunctionNode,
        function: Function,
        names: Names,
        modules: frozenset[str],
        constants: Constants,
        asserts: bool,
    ) -> None:
        self._node = node
        self._watched = function
        self._constants = constants
        self._asserts = asserts
        self._function = constants.name(function)
        self._yields = isinstance(node, ast.AsyncFunctionDef) or _yields(node)
        self._roots = {*function.parameters, *names.closure, *(names.globals - modules)}
        self._shadows: list[set[str]] = []
        self._texts: dict[Watched, str] = {}
        self._add_outer(names)

    def _add_outer(self, names: Names) -> None:
        function = self._watched
        self._chains_of: dict[str, list[Chain]] = {name: [] for name in self._roots}
        for name in sorted(names.globals):
            outer = Outer(name, self._chains_of.get(name, []))
            function.globals.append(outer)
            if name in names.written:
                function.written.append(outer)
        for name in sorted(names.closure):
            function.closure.append(Outer(name, self._chains_of[name]))

    # ---- the function as a whole

    def function(self, node: FunctionNode) -> FunctionNode:
        """The function with both bodies; `node` has its inner functions instrumented."""
        docstring, body = _split_docstring(node.body)
        declarations: list[ast.stmt] = []
        for kind in (ast.Global, ast.Nonlocal):
            names = sorted(declared(node, kind))
            if names:
                declarations.append(_at(kind(names=names), node))
        if declarations:
            body = _Undeclared().block(body)
        body = body or [_at(ast.Pass(), node)]
        watching = self._watching(node, self.block(body))
        self._bind_chains()
        return replaced(
            node, body=[*docstring, *declarations, *self._switch(watching, body)]
        )

    def _watching(self, node: FunctionNode, body: list[ast.stmt]) -> list[ast.stmt]:
        first = body[0]
        body = [*self._closure_reads(first), *body]
        if self._yields:
            if not isinstance(node, ast.AsyncFunctionDef):
                self._watched.returns.kinds.add("generator")
            return body
        handler = ast.ExceptHandler(
            type=None,
            name=None,
            body=[
                self._tell(self._function, "raised", at=first),
                _at(ast.Raise(), first),
            ],
        )
        watched = ast.Try(
            body=body,
            handlers=[_at(handler, first)],
            orelse=[],
            finalbody=[self._tell(self._function, "leave", at=first)],
        )
        return [_at(watched, first)]

    def _switch(
        self, watching: list[ast.stmt], plain: list[ast.stmt]
    ) -> list[ast.stmt]:
        at = plain[0]
        count = ast.AugAssign(
            target=_at(
                ast.Attribute(self._constant(self._function, at), "calls", ast.Store()),
                at,
            ),
            op=ast.Add(),
            value=_at(ast.Constant(1), at),
        )
        names = [
            _at(ast.Name(name, ast.Load()), at) for name in self._watched.parameters
        ]
        values = _at(ast.Tuple(names, ast.Load()), at)
        enter = "enter_generator" if self._yields else "enter"
        test = ast.BoolOp(
            ast.And(), [self._on(at), self._call(self._function, enter, values, at=at)]
        )
        return [_at(count, at), _at(ast.If(_at(test, at), watching, plain), at)]

    def _closure_reads(self, at: ast.stmt) -> list[ast.stmt]:
        return [
            self._if_bound(self._text(outer), "enter", outer.name, at=at)
            for outer in self._watched.closure
        ]

    def _bind_chains(self) -> None:
        """Have chains looked at on entry by whoever knows their root."""
        parameters = [*self._watched.parameters]
        for dotted, chain in self._watched.chains.items():
            root = dotted.partition(".")[0]
            if root in self._watched.parameters:
                self._watched.parameter_chains.append((parameters.index(root), chain))
            else:
                self._chains_of[root].append(chain)

    # ---- new nodes

    def _text(self, watched: Watched) -> str:
        if watched not in self._texts:
            self._texts[watched] = self._constants.name(watched)
        return self._texts[watched]

    def _constant(self, text: str, at: ast.AST) -> ast.expr:
        return _at(ast.Constant(text), at)

    def _on(self, at: ast.AST) -> ast.expr:
        return _at(
            ast.Attribute(self._constant(self._function, at), "on", ast.Load()), at
        )

    def _call(self, text: str, method: str, *args: ast.expr, at: ast.AST) -> ast.expr:
        bound = _at(ast.Attribute(self._constant(text, at), method, ast.Load()), at)
        return _at(ast.Call(bound, [*args], []), at)

    def _tell(self, text: str, method: str, *args: ast.expr, at: ast.AST) -> ast.stmt:
        return _at(ast.Expr(self._call(text, method, *args, at=at)), at)

    def _if_bound(
        self, text: str, method: str, name: str, *args: ast.expr, at: ast.AST
    ) -> ast.stmt:
        """Tell of a name's value, unless it has none yet."""
        value = _at(ast.Name(name, ast.Load()), at)
        unbound = _at(
            ast.Attribute(self._constant(self._function, at), "unbound", ast.Load()), at
        )
        handler = ast.ExceptHandler(type=unbound, name=None, body=[_at(ast.Pass(), at)])
        return _at(
            ast.Try(
                body=[self._tell(text, method, *args, value, at=at)],
                handlers=[_at(handler, at)],
                orelse=[],
                finalbody=[],
            ),
            at,
        )

    def _either(self, watching: ast.expr, plain: ast.expr) -> ast.expr:
        """The watching expression as long as the function is watched."""
        if watching is plain:
            return plain
        return _at(ast.IfExp(self._on(plain), watching, plain), plain)

    def _position(self, node: ast.expr | ast.stmt | ast.pattern) -> str:
        line = node.lineno - self._node.lineno
        return f"{line}:{node.col_offset - self._node.col_offset}"

    # ---- names

    def _name_place(self, position: str, name: str) -> str:
        return self._text(self._watched.names.setdefault(f"{position}:{name}", Place()))

    def _assigned(self, target: ast.expr, at: ast.AST) -> list[ast.stmt]:
        """Tell of what a target holds now."""
        if isinstance(target, (ast.Tuple, ast.List)):
            return [told for item in target.elts for told in self._assigned(item, at)]
        if isinstance(target, ast.Starred):
            return self._assigned(target.value, at)
        if isinstance(target, ast.Name):
            place = self._name_place(self._position(target), target.id)
            return [
                self._tell(
                    place, "see", _at(ast.Name(target.id, ast.Load()), at), at=at
                )
            ]
        chain = self._chain(target)
        if chain is None:
            return []
        root = _at(ast.Name(_dotted(target).partition(".")[0], ast.Load()), at)
        return [self._tell(chain, "peek", root, at=at)]

    def _chain(self, node: ast.expr) -> str | None:
        """The text of the chain that an expression is, if it is one to watch."""
        dotted = _dotted(node)
        root, _, rest = dotted.partition(".")
        if (
            not rest
            or root not in self._roots
            or any(root in names for names in self._shadows)
        ):
            return None
        chains = self._watched.chains
        if dotted not in chains:
            chains[dotted] = Chain(tuple(rest.split(".")))
        return self._text(chains[dotted])

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        new: ast.expr = self.copy(node)
        chain = self._chain(node) if isinstance(node.ctx, ast.Load) else None
        return new if chain is None else self._call(chain, "see", new, at=node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        new: ast.Call = self.copy(node)
        if (
            isinstance(node.func, ast.Attribute)
            and node.func.lineno != node.func.end_lineno
        ):
            # the line of such a call, in tracebacks, is that of the attribute only where it is called directly
            return replaced(
                new, func=replaced(node.func, value=self.visit(node.func.value))
            )
        return new

    # ---- statements

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        told = [
            told for target in node.targets for told in self._assigned(target, node)
        ]
        return [self.copy(node), *told]

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        return [self.copy(node), *self._assigned(node.target, node)]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> list[ast.stmt]:
        if node.value is None:
            return [node]
        new = replaced(
            node, target=self.visit(node.target), value=self.visit(node.value)
        )
        return [new, *self._assigned(node.target, node)]

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        place = self._name_place(self._position(node.target), node.target.id)
        value = self._call(place, "see", self.visit(node.value), at=node.value)
        return replaced(node, value=value)  # type: ignore[no-any-return]

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        if self._yields:
            return self.copy(node)  # type: ignore[no-any-return]
        value = (
            _at(ast.Constant(None), node)
            if node.value is None
            else self.visit(node.value)
        )
        back = self._call(self._function, "back", value, at=node.value or node)
        return replaced(node, value=back)  # type: ignore[no-any-return]

    def visit_With(self, node: ast.With) -> ast.stmt:
        told = [
            told
            for item in node.items
            if item.optional_vars is not None
            for told in self._assigned(item.optional_vars, node.body[0])
        ]
        return replaced(  # type: ignore[no-any-return]
            node, items=self.block(node.items), body=[*told, *self.block(node.body)]
        )

    visit_AsyncWith = visit_With

    def visit_Match(self, node: ast.Match) -> ast.stmt:
        cases = [self._case(case) for case in node.cases]
        return replaced(node, subject=self.visit(node.subject), cases=cases)  # type: ignore[no-any-return]

    def _case(self, case: ast.match_case) -> ast.match_case:
        told = []
        for node in ast.walk(case.pattern):
            name = getattr(
                node, "rest" if isinstance(node, ast.MatchMapping) else "name", None
            )
            if name is not None and isinstance(node, ast.pattern):
                place = self._name_place(self._position(node), name)
                value = _at(ast.Name(name, ast.Load()), case.body[0])
                told.append(self._tell(place, "see", value, at=case.body[0]))
        guard = None if case.guard is None else self.visit(case.guard)
        return replaced(case, guard=guard, body=[*told, *self.block(case.body)])  # type: ignore[no-any-return]

    def _as_it_is(self, node: Any) -> Any:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = (
        _as_it_is
    )

    # ---- tests

    def _condition(self, node: ast.expr) -> ast.expr:
        """A test with its leaves watched."""
        if isinstance(node, ast.BoolOp):
            return replaced(node, values=[*map(self._condition, node.values)])  # type: ignore[no-any-return]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return replaced(node, operand=self._condition(node.operand))  # type: ignore[no-any-return]
        if isinstance(node, ast.Constant):
            return node
        test = self._watched.tests.setdefault(self._position(node), Test())
        text = self._text(test)
        return _at(
            ast.IfExp(
                self._call(text, "see", self.visit(node), at=node),
                self._call(text, "true", at=node),
                self._call(text, "false", at=node),
            ),
            node,
        )

    def visit_If(self, node: ast.If) -> ast.stmt:
        test = self._condition(node.test)
        return replaced(  # type: ignore[no-any-return]
            node, test=test, body=self.block(node.body), orelse=self.block(node.orelse)
        )

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        return replaced(  # type: ignore[no-any-return]
            node,
            test=self._condition(node.test),
            body=self.visit(node.body),
            orelse=self.visit(node.orelse),
        )

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        if not self._asserts:
            return node
        message = None if node.msg is None else self.visit(node.msg)
        return replaced(node, test=self._condition(node.test), msg=message)  # type: ignore[no-any-return]

    # ---- loops

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        loop = self._loop(node)
        loop.iterable = Place()
        iterable = self._call(
            self._text(loop.iterable), "see", self.visit(node.iter), at=node.iter
        )
        told = self._assigned(node.target, node.body[0])
        body = self._loop_body(node, loop, told)
        new = replaced(
            node,
            target=self.visit(node.target),
            iter=iterable,
            body=body,
            orelse=self.block(node.orelse),
        )
        return self._around(node, loop, new)

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        loop = self._loop(node)
        test = self._either(self._condition(node.test), node.test)
        body = self._loop_body(node, loop, [])
        new = replaced(node, test=test, body=body, orelse=self.block(node.orelse))
        return self._around(node, loop, new)

    def _loop(self, node: ast.For | ast.While) -> Loop:
        carried = _bound_names(node.body)
        if isinstance(node, ast.For):
            carried -= _bound_names([node.target])
        loop = Loop(self._watched, sorted(carried))
        self._watched.loops[self._position(node)] = loop
        return loop

    def _loop_body(
        self, node: ast.For | ast.While, loop: Loop, told: list[ast.stmt]
    ) -> list[ast.stmt]:
        """The body twice: watching, and as it is."""
        at = node.body[0]
        if self._yields:
            turn = [self._tell(self._function, "tick", at=at)]
        else:
            turn = [
                self._tell(self._text(loop), "turn", at=at),
                *self._carried(loop, at),
            ]
        watching = [*turn, *told, *self.block(node.body)]
        return [_at(ast.If(self._on(at), watching, node.body), at)]

    def _around(self, node: ast.stmt, loop: Loop, new: ast.stmt) -> list[ast.stmt]:
        if self._yields:
            return [new]
        text = self._text(loop)
        start, done = (
            self._tell(text, method, at=node) for method in ("start", "done")
        )
        return [start, new, done, *self._carried(loop, node)]

    def _carried(self, loop: Loop, at: ast.AST) -> list[ast.stmt]:
        text = self._text(loop)
        return [
            self._if_bound(text, "carry", name, _at(ast.Constant(name), at), at=at)
            for name in loop.entry
        ]

    # ---- comprehensions

    def visit_ListComp(self, node: Any) -> Any:
        if any(generator.is_async for generator in node.generators):
            return node
        self._shadows.append(
            {n for g in node.generators for n in _bound_names([g.target])}
        )
        generators = [self._generator(generator) for generator in node.generators]
        parts = {
            name: self._either(self.visit(getattr(node, name)), getattr(node, name))
            for name in ("elt", "key", "value")
            if hasattr(node, name)
        }
        self._shadows.pop()
        return replaced(node, generators=generators, **parts)

    visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_ListComp

    def _generator(self, node: ast.comprehension) -> ast.comprehension:
        tests = [self._either(self._condition(test), test) for test in node.ifs]
        at = node.target
        told = [
            self._call(
                self._name_place(self._position(name), name.id),
                "note",
                _at(ast.Name(name.id, ast.Load()), at),
                at=at,
            )
            for name in ast.walk(node.target)
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        ]
        tick = self._call(self._function, "tick", at=at)
        watched = _at(ast.BoolOp(ast.And(), [tick, *told]), at)
        off = _at(ast.UnaryOp(ast.Not(), self._on(at)), at)
        first = _at(ast.BoolOp(ast.Or(), [off, watched]), at)
        iterable = self._either(self.visit(node.iter), node.iter)
        return replaced(node, iter=iterable, ifs=[first, *tests])  # type: ignore[no-any-return]


def _at(node: Any, at: Any) -> Any:
    """The new node at the position of another."""
    if isinstance(at, (ast.expr, ast.stmt, ast.ExceptHandler, ast.pattern)):
        ast.copy_location(node, at)
    return node


def _split_docstring(body: list[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    first = body[0]
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        return body[:1], body[1:]
    return [], body


def _dotted(node: ast.expr) -> str:
    """A chain of attributes of a name, "" for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _inside(nodes: Iterable[ast.AST], *, but: Sequence[type]) -> Iterable[ast.AST]:
    """All nodes, but for what is inside nodes of some types."""
    pending = [*nodes]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (*but,)):
            pending.extend(ast.iter_child_nodes(node))


def _yields(node: FunctionNode) -> bool:
    scopes = (*FUNCTIONS, ast.ClassDef, ast.Lambda, ast.GeneratorExp)
    return any(
        isinstance(inner, (ast.Yield, ast.YieldFrom))
        for inner in _inside(node.body, but=scopes)
    )


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _bound_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Names assigned in statements or targets, in the same scope."""
    scopes = (*SCOPES, ast.Lambda, *_COMPREHENSIONS)
    return {
        node.id
        for node in _inside(nodes, but=scopes)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
