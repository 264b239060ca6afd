"""GL108 tensor-assert: a `raise` in a loop or a branch of the graph leaves that with a flag, and comes after it.

The first step only. What its message shows still holds then what it held when that was left.
"""

from __future__ import annotations

import ast

from .facts.environment import FunctionFacts
from .facts.profile import FunctionNode
from .facts.syntax import all_bound_names, is_none
from .leaving import always_leaves, may_return
from .making import assigned, called, name, negated, none_of
from .ordering import only_raises
from .rebuilding import rebuilt, with_body, with_origin
from .source import Names

Flag = tuple[str, ast.stmt]
"""The name of a flag, and the `raise` or `return` that it tells of."""


def with_flags(
    facts: FunctionFacts, names: Names, *, branches: bool = False
) -> FunctionNode | None:
    """The function with each `raise` that a tensor decides behind its outermost loop; None where there is none.

    `branches`: those in an `if` that does more than raise and return come behind that, too, and with them the returns.
    """
    wanted = {id(p.node) for p in facts.problems if p.code == "GL108"}
    node = facts.definition.node
    return with_body(node, _Exits(wanted, names, branches).block(node.body))


class _Exits:
    """Takes the exceptions that a tensor decides, and the returns beside them, out of what stands around them."""

    def __init__(self, wanted: set[int], names: Names, branches: bool) -> None:
        self.wanted = wanted
        self.names = names
        self.branches = branches
        self.flags: list[Flag] = []
        self.result: str | None = None

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """A block around loops."""
        return [made for node in body for made in self._statement(node)]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        branch = self.branches and isinstance(node, ast.If) and not _only_leaves(node)
        if not (branch or isinstance(node, ast.For | ast.While)):
            return [rebuilt(node, self.block)]
        if not self._holds(node):
            return [node]
        flags: list[Flag] = []
        self.flags = flags
        made = self._branch(node) if isinstance(node, ast.If) else self._loop(node)
        unset = [assigned(flag, ast.Constant(False)) for flag, _ in flags]
        flags.sort(key=lambda flag: isinstance(flag[1], ast.Return))
        following = [_told(*flag) for flag in flags]
        if always_leaves([node]):
            following[-1] = flags[-1][1]
        return [*unset, made, *following]

    def _loop(self, node: ast.stmt) -> ast.stmt:
        otherwise = self._arm if self.branches else self.block
        return rebuilt(
            node,
            lambda b: self._inside(b) if b is node.body else otherwise(b),  # type: ignore[attr-defined]
        )

    def _branch(self, node: ast.If) -> ast.stmt:
        return rebuilt(node, self._arm)

    def _arm(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """A block in an `if`, whose rest is left out where it was left."""
        place = next((i for i, s in enumerate(body) if self._leaves(s)), None)
        if place is None:
            return body
        node = body[place]
        made, rest = body[:place], body[place + 1 :]
        match node:
            case ast.Raise() | ast.Return():
                return [*made, *self._left(node)]
            case ast.Assert(test=test):
                failing = ast.If(negated(test), self._left(node), self._arm(rest))
                return [*made, with_origin(failing, node)]
            case ast.If(test=test, body=then, orelse=other) if always_leaves(then):
                branch = ast.If(test, self._arm(then), self._arm([*other, *rest]))
                return [*made, with_origin(branch, node)]
            case ast.If():
                whole = rebuilt(node, self._arm)
            case _:
                whole = rebuilt(
                    node,
                    lambda b: self._inside(b) if b is node.body else self._arm(b),  # type: ignore[attr-defined]
                )
        following = self._arm(rest)
        if not following:
            return [*made, whole]
        passed = ast.If(none_of(self._flags_of(whole)), following, [])
        return [*made, whole, passed]

    def _inside(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """A block in a loop, which ends where that is left."""
        made: list[ast.stmt] = []
        for node in body:
            match node:
                case ast.Raise() | ast.Return() if self._leaves(node):
                    return [*made, *self._left(node), ast.Break()]
                case ast.Assert(test=test) if self._leaves(node):
                    ended = [*self._left(node), ast.Break()]
                    failing = ast.If(negated(test), ended, [])
                    made.append(with_origin(failing, node))
                case ast.For() | ast.While() if self._leaves(node):
                    loop = rebuilt(node, self._inside)
                    flags = self._flags_of(loop)
                    made += [loop, *(ast.If(name(f), [ast.Break()], []) for f in flags)]
                case _:
                    made.append(rebuilt(node, self._inside))
        return made

    def _left(self, node: ast.Raise | ast.Return | ast.Assert) -> list[ast.stmt]:
        """What is set where an exception is raised, or a result returned."""
        made: list[ast.stmt] = []
        leaving: ast.stmt = node
        if isinstance(node, ast.Assert):
            error = called("AssertionError", *([node.msg] if node.msg else []))
            leaving = with_origin(ast.Raise(error), node)
        elif isinstance(node, ast.Return) and node.value and not is_none(node.value):
            self.result = self.result or self.names.fresh("result")
            made = [with_origin(assigned(self.result, node.value), node)]
            leaving = ast.Return(name(self.result))
        same = (f for f, other in self.flags if ast.dump(other) == ast.dump(leaving))
        flag = next(same, None)
        if flag is None:
            returns = isinstance(leaving, ast.Return)
            flag = self.names.fresh("returned" if returns else "failed")
            self.flags.append((flag, leaving))
        return [*made, assigned(flag, ast.Constant(True))]

    def _flags_of(self, node: ast.stmt) -> list[str]:
        """The flags that are set in a statement."""
        bound = {*all_bound_names(node)}
        return [flag for flag, _ in self.flags if flag in bound]

    def _leaves(self, node: ast.stmt) -> bool:
        """Whether one of the exceptions is raised in a statement, or a result returned beside them."""
        return self._holds(node) or (self.branches and may_return(node))

    def _holds(self, node: ast.stmt) -> bool:
        """Whether one of the exceptions is raised in a statement, and none is caught there."""
        inner = list(ast.walk(node))
        caught = any(isinstance(n, ast.Try | ast.With | FunctionNode) for n in inner)
        return not caught and any(id(n) in self.wanted for n in inner)


def _only_leaves(node: ast.If) -> bool:
    """Whether a branch does nothing but raise, return and ask whether to."""
    leaving = ast.If | ast.Raise | ast.Return
    inner = (n for n in ast.walk(node) if isinstance(n, ast.stmt))
    return only_raises(node) or all(isinstance(n, leaving) for n in inner)


def _told(flag: str, leaving: ast.stmt) -> ast.stmt:
    made = with_origin(ast.If(name(flag), [leaving], []), leaving)
    if isinstance(leaving, ast.Raise):
        made.apart = True  # type: ignore[attr-defined]
    return made
