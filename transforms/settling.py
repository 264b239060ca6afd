"""What a function returns, used where its statements stand in the place of a call; nothing of it runs after a return."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable

from .facts.syntax import returns
from .making import assigned, name, negated

Block = list[ast.stmt]


class NotInlined(Exception):
    """A call that cannot be replaced by what it calls."""


def settled(
    body: Block,
    use: Callable[[ast.expr], Block],
    fresh: Callable[[str], str] | None = None,
) -> Block:
    """The statements of a function with what it returns used instead; nothing of it runs after a return.

    `fresh` gives a name to a flag, where it takes one to tell that the function has returned.

    Raises:
        NotInlined: there is no such name, or it returns from within a `with` or `try`.
    """
    settling = _Settling(use, fresh)
    made = settling.block(body)
    flag = settling.flag
    return [assigned(flag, ast.Constant(False)), *made] if flag else made


def always_returns(body: Block) -> bool:
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.Return | ast.Raise):
        return True
    return (
        isinstance(last, ast.If)
        and always_returns(last.body)
        and always_returns(last.orelse)
    )


class _Settling:
    def __init__(
        self, use: Callable[[ast.expr], Block], fresh: Callable[[str], str] | None
    ) -> None:
        self.use = use
        self.fresh = fresh
        self.flag: str | None = None

    def block(self, body: Block) -> Block:
        """A block that nothing of the function follows."""
        result: Block = []
        for i, node in enumerate(body):
            rest = body[i + 1 :]
            if isinstance(node, ast.Return):
                return [*result, *self.use(node.value or ast.Constant(None))]
            if not returns([node]):
                result.append(node)
                continue
            if isinstance(node, ast.If):
                then, other = always_returns(node.body), always_returns(node.orelse)
                short = all(isinstance(s, ast.Return) for s in rest)
                if then or other or short:
                    again = rest if then or other else copy.deepcopy(rest)
                    made = ast.If(
                        node.test,
                        self.block(node.body if then else [*node.body, *rest])
                        or [ast.Pass()],
                        self.block(node.orelse if other else [*node.orelse, *again]),
                    )
                    return [*result, made]
            result += self._flagged(node, in_loop=False)
            following = self.block(rest)
            left = [ast.If(self._not_left(), following, [])] if following else []
            return [*result, *left]
        return [*result, *self.use(ast.Constant(None))]

    def _inside(self, body: Block, in_loop: bool) -> Block:
        """A block that more of the function follows."""
        result: Block = []
        for i, node in enumerate(body):
            if isinstance(node, ast.Return):
                used = self.use(node.value or ast.Constant(None))
                told = assigned(self._flag(), ast.Constant(True))
                return [*result, *used, told, *([ast.Break()] if in_loop else [])]
            if not returns([node]):
                result.append(node)
                continue
            result += self._flagged(node, in_loop)
            if not in_loop:
                following = self._inside(body[i + 1 :], in_loop)
                left = [ast.If(self._not_left(), following, [])] if following else []
                return [*result, *left]
        return result

    def _flagged(self, node: ast.stmt, in_loop: bool) -> Block:
        """A statement that tells by the flag whether the function has returned in it."""
        loop = isinstance(node, ast.For | ast.While)
        if not isinstance(node, ast.If | ast.For | ast.While):
            raise NotInlined
        made = copy.copy(node)
        made.body = self._inside(node.body, in_loop or loop) or [ast.Pass()]
        made.orelse = self._inside(node.orelse, in_loop)
        if loop and in_loop:
            return [made, ast.If(name(self._flag()), [ast.Break()], [])]
        return [made]

    def _not_left(self) -> ast.expr:
        return negated(name(self._flag()))

    def _flag(self) -> str:
        if self.flag is None:
            if self.fresh is None:
                raise NotInlined
            self.flag = self.fresh("returned")
        return self.flag
