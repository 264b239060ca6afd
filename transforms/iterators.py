"""GL106 dataset-for: loops that take from an iterator until it is exhausted become `for` loops over it."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator as Iteration

from .facts.environment import FunctionFacts
from .facts.kinds import Function, Iterator
from .facts.profile import FunctionNode
from .making import placed
from .rebuilding import rebuilt, with_body, with_origin
from .source import Names

EXHAUSTED = frozenset({"StopIteration", "OutOfRangeError"})


def with_loops(facts: FunctionFacts, names: Names) -> FunctionNode | None:
    """The function with `for` loops in the place of its loops around `next`; None where it has none.

    `while True: try: x = next(items); except StopIteration: break; ...`, and with the `try` around the loop.
    """
    node = facts.definition.node
    return with_body(node, _Loops(facts, names).block(node.body))


class _Loops:
    """Makes the loops of one function."""

    def __init__(self, facts: FunctionFacts, names: Names) -> None:
        self.facts = facts
        self.names = names

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        for node in body:
            result += self._tried(node) or [rebuilt(node, self.block)]
        return result

    def _tried(self, node: ast.stmt) -> list[ast.stmt] | None:
        match node:
            case ast.Try(
                body=[*first, ast.While(orelse=[]) as loop],
                handlers=[ast.ExceptHandler(name=None, type=error, body=handler)],
                orelse=[],
                finalbody=[],
            ) if _endless(loop) and _is_exhausted(error):
                start, *rest = loop.body
                made = self._loop(start, rest, handler, loop)
                if made and not any(self._takes(s) for s in first):
                    return [*first, made]
            case ast.While(
                body=[
                    ast.Try(
                        body=[start, *inner],
                        handlers=[
                            ast.ExceptHandler(
                                name=None, type=error, body=[*handler, ast.Break()]
                            )
                        ],
                        orelse=orelse,
                        finalbody=[],
                    ),
                    *rest,
                ],
                orelse=[],
            ) if _endless(node) and _is_exhausted(error):
                made = self._loop(start, [*inner, *orelse, *rest], handler, node)
                return [made] if made else None
        return None

    def _loop(
        self,
        start: ast.stmt,
        rest: list[ast.stmt],
        handler: list[ast.stmt],
        origin: ast.stmt,
    ) -> ast.For | None:
        """A loop over the iterator that a statement takes from before it does anything else."""
        calls = list(self._calls(start))
        if len(calls) != 1 or any(self._takes(s) for s in rest):
            return None
        (taken,) = calls
        others = [
            n
            for n in ast.walk(start)
            if isinstance(n, ast.Call) and n is not taken and taken not in ast.walk(n)
        ]
        if others:
            return None
        iterator = taken.args[0] if taken.args else taken.func.value  # type: ignore[attr-defined]
        match start:
            case ast.Assign(targets=[ast.Name() | ast.Tuple() as target]) if (
                start.value is taken
            ):
                body = rest
            case ast.Assign() | ast.AugAssign() | ast.Expr():
                name = self.names.fresh("element")
                target = ast.Name(name, ast.Store())
                body = [_with(start, taken, name), *rest]
            case _:
                return None
        otherwise = [s for s in handler if not isinstance(s, ast.Pass)]
        made = ast.For(target, iterator, body or [ast.Pass()], otherwise)
        with_origin(made, origin)
        return made

    def _takes(self, node: ast.stmt) -> bool:
        return any(True for _ in self._calls(node))

    def _calls(self, node: ast.stmt) -> Iteration[ast.Call]:
        """The calls in a statement that take from an iterator, which has a name."""
        for inner in ast.walk(node):
            match inner:
                case ast.Call(args=[ast.Name() as items], keywords=[]) if (
                    self.facts.kind(inner.func) == Function("builtins.next")
                    and isinstance(self.facts.kind(items), Iterator)
                ):
                    yield inner
                case ast.Call(
                    func=ast.Attribute(value=ast.Name() as items, attr="get_next"),
                    args=[],
                    keywords=[],
                ) if isinstance(self.facts.kind(items), Iterator):
                    yield inner


def _endless(node: ast.While) -> bool:
    return isinstance(node.test, ast.Constant) and bool(node.test.value)


def _is_exhausted(error: ast.expr | None) -> bool:
    parts = error.elts if isinstance(error, ast.Tuple) else [error]
    names = {getattr(p, "id", getattr(p, "attr", "")) for p in parts}
    return names <= EXHAUSTED


def _with(node: ast.stmt, taken: ast.Call, name: str) -> ast.stmt:
    """The statement with a name in the place of a call."""

    class Named(ast.NodeTransformer):
        def visit_Call(self, inner: ast.Call) -> ast.AST:
            if ast.dump(inner) == ast.dump(taken):
                return placed(ast.Name(name, ast.Load()), inner)
            return self.generic_visit(inner)

    made: ast.stmt = Named().visit(copy.deepcopy(node))
    return with_origin(made, node)
