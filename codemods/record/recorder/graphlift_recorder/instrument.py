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

F, T and N are objects of `watching`, held as constants. Every expression is evaluated once, where and
when it was; a test is decided by Python itself, in the user's frame; new nodes have the position of the
node they belong to, so that tracebacks and line numbers stay. A loop's body has a plain copy as well,
for when enough has been seen.
"""

from __future__ import annotations

import ast
from typing import Any

from .body import Body
from .constants import Constants
from .copying import Copier
from .scopes import Scopes, imported_modules
from .source import FunctionNode, code_lines, digest, functions
from .watching import Function


class Uninstrumentable(Exception):
    """The module has to run as it is."""


def instrument(
    tree: ast.Module, text: str, path: str, constants: Constants, asserts: bool = True
) -> tuple[ast.Module, list[Function]]:
    """The instrumented tree of a module and its functions.

    `path` names the module in keys. Without `asserts`, assert statements stay as they are. Raises
    Uninstrumentable for a module with functions that Numba compiles from their bytecode.
    """
    if "import numba" in text or "from numba" in text:
        raise Uninstrumentable(path)
    copier = _Functions(tree, text, path, constants, asserts)
    new: ast.Module = copier.visit(tree)
    return new, copier.made


class _Functions(Copier):
    """Instruments every function, inner ones first."""

    def __init__(
        self,
        tree: ast.Module,
        text: str,
        path: str,
        constants: Constants,
        asserts: bool,
    ) -> None:
        self.made: list[Function] = []
        self._lines = text.split("\n")
        self._path = path
        self._constants = constants
        self._asserts = asserts
        self._modules = imported_modules(tree)
        self._scopes = Scopes(text, path)
        self._qualnames = {node: name for name, node in functions(tree)}

    def copy(self, node: Any) -> Any:
        return node if isinstance(node, ast.expr) else super().copy(node)

    def visit_FunctionDef(self, node: FunctionNode) -> FunctionNode:
        key = f"{self._path}::{self._qualnames[node]}"
        function = Function(key, digest(self._lines, node), _parameters(node.args))
        self.made.append(function)
        outer = self._scopes.names(node).without(self._modules)
        rows = list(code_lines(self._lines, node))
        body = Body(node, function, outer, rows, self._constants, self._asserts)
        return body.function(self.copy(node))

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
