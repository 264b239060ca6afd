"""New nodes that speak to the objects of `watching`; each is put at the position of a node of the user's."""

from __future__ import annotations

import ast

from .constants import Constants
from .copying import at
from .watching import Function, Watched


class Nodes:
    """Makes the nodes for one function."""

    def __init__(self, constants: Constants, function: Function) -> None:
        self._constants = constants
        self._function = function

    def call(
        self, watched: Watched, method: str, *args: ast.expr, position: ast.AST
    ) -> ast.Call:
        """watched.method(*args)"""
        bound = self.attribute(watched, method, position)
        return at(ast.Call(bound, [*args], []), position)

    def tell(
        self, watched: Watched, method: str, *args: ast.expr, position: ast.AST
    ) -> ast.stmt:
        """The call as a statement."""
        return at(
            ast.Expr(self.call(watched, method, *args, position=position)), position
        )

    def tell_if_bound(
        self,
        watched: Watched,
        method: str,
        *args: ast.expr,
        name: str,
        position: ast.AST,
    ) -> ast.stmt:
        """The call with a variable's value as its last argument, unless that has none."""
        value = load(name, position)
        told = self.tell(watched, method, *args, value, position=position)
        handler = ast.ExceptHandler(
            type=self.attribute(self._function, "unbound", position),
            name=None,
            body=[at(ast.Pass(), position)],
        )
        return at(
            ast.Try(
                body=[told], handlers=[at(handler, position)], orelse=[], finalbody=[]
            ),
            position,
        )

    def either(self, watching: ast.expr, plain: ast.expr) -> ast.expr:
        """The watching expression as long as the function is watched."""
        if watching is plain:
            return plain
        return at(ast.IfExp(self.on(plain), watching, plain), plain)

    def on(self, position: ast.AST) -> ast.expr:
        """Whether the function is watched."""
        return self.attribute(self._function, "on", position)

    def count(self, position: ast.AST) -> ast.stmt:
        """Counts a call."""
        calls = self.attribute(self._function, "calls", position)
        calls.ctx = ast.Store()
        one = at(ast.Constant(1), position)
        return at(ast.AugAssign(calls, ast.Add(), one), position)

    def attribute(
        self, watched: Watched, name: str, position: ast.AST
    ) -> ast.Attribute:
        text = at(ast.Constant(self._constants.text(watched)), position)
        return at(ast.Attribute(text, name, ast.Load()), position)


def load(name: str, position: ast.AST) -> ast.Name:
    """The value of a variable."""
    return at(ast.Name(name, ast.Load()), position)
