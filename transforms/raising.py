"""GL108 tensor-assert: a `raise` in a loop of the graph ends the loop with a flag, and comes after it.

The first step only. What its message shows still holds then what it held when the loop ended.
"""

from __future__ import annotations

import ast

from .facts.environment import FunctionFacts
from .facts.profile import FunctionNode
from .making import assigned, name, negated
from .rebuilding import rebuilt, with_body, with_origin
from .source import Names

Flag = tuple[str, ast.stmt]
"""The name of a flag, and the `raise` that it tells of."""


def with_flags(facts: FunctionFacts, names: Names) -> FunctionNode | None:
    """The function with each `raise` that a tensor decides behind its outermost loop; None where there is none."""
    wanted = {id(p.node) for p in facts.problems if p.code == "GL108"}
    node = facts.definition.node
    return with_body(node, _Raises(wanted, names).block(node.body))


class _Raises:
    def __init__(self, wanted: set[int], names: Names) -> None:
        self.wanted = wanted
        self.names = names
        self.flags: list[Flag] = []

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """A block around loops."""
        return [made for node in body for made in self._statement(node)]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        if not isinstance(node, ast.For | ast.While):
            return [rebuilt(node, self.block)]
        if not self._holds(node):
            return [node]
        flags: list[Flag] = []
        self.flags = flags
        loop = rebuilt(
            node, lambda b: self._inside(b) if b is node.body else self.block(b)
        )
        unset = [assigned(flag, ast.Constant(False)) for flag, _ in flags]
        return [*unset, loop, *(_raised(*flag) for flag in flags)]

    def _inside(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """A block in a loop, which is left where it raised."""
        made: list[ast.stmt] = []
        for node in body:
            match node:
                case ast.Raise() if id(node) in self.wanted:
                    return [*made, *self._ended(node)]
                case ast.Assert(test=test, msg=message) if id(node) in self.wanted:
                    error = ast.Call(
                        ast.Name("AssertionError", ast.Load()),
                        [message] if message else [],
                        [],
                    )
                    raised = with_origin(ast.Raise(error), node)
                    failing = ast.If(negated(test), self._ended(raised), [])
                    made.append(with_origin(failing, node))
                case ast.For() | ast.While() if self._holds(node):
                    before = len(self.flags)
                    made.append(rebuilt(node, self._inside))
                    made += [
                        ast.If(name(flag), [ast.Break()], [])
                        for flag, _ in self.flags[before:]
                    ]
                case _:
                    made.append(rebuilt(node, self._inside))
        return made

    def _ended(self, raised: ast.stmt) -> list[ast.stmt]:
        flag = self.names.fresh("failed")
        self.flags.append((flag, raised))
        return [assigned(flag, ast.Constant(True)), ast.Break()]

    def _holds(self, node: ast.stmt) -> bool:
        """Whether one of the exceptions is raised in a statement, and none is caught there."""
        inner = list(ast.walk(node))
        caught = any(isinstance(n, ast.Try | ast.With | FunctionNode) for n in inner)
        return not caught and any(id(n) in self.wanted for n in inner)


def _raised(flag: str, raised: ast.stmt) -> ast.stmt:
    made = with_origin(ast.If(name(flag), [raised], []), raised)
    made.apart = True  # type: ignore[attr-defined]
    return made
