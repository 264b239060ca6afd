"""GL106 dataset-for: loops that take from an iterator until it is exhausted become `for` loops over it.

And loops over datasets side by side become loops over one dataset.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from collections.abc import Iterator as Iteration

from .facts.environment import FunctionFacts
from .facts.kinds import Dataset, Function, Iterator, Tensor
from .facts.profile import FunctionNode
from .facts.signs import is_never_negative
from .facts.staging import is_strong
from .facts.syntax import is_named
from .making import called, placed
from .rebuilding import rebuilt, replaced, with_body, with_origin
from .source import Names
from .taking import tensor_iterators

EXHAUSTED = frozenset({"StopIteration", "OutOfRangeError"})


def with_loops(facts: FunctionFacts, names: Names, tf: str) -> FunctionNode | None:
    """The function with `for` loops in the place of its loops around `next`; None where it has none.

    `while True: try: x = next(items); except StopIteration: break; ...`, with the `try` around the loop, and
    `while (x := next(items, None)) is not None: ...` and its like.
    """
    node = facts.definition.node
    return with_body(node, _Loops(facts, names, tf).block(node.body))


class _Loops:
    """Makes the loops of one function."""

    def __init__(self, facts: FunctionFacts, names: Names, tf: str) -> None:
        self.facts = facts
        self.names = names
        self.tf = tf
        self.over_tensors = tensor_iterators(facts)

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        for node in body:
            made = self._asked(node, result) or self._tried(node)
            result += made or [rebuilt(self._side_by_side(node), self.block)]
        return result

    # ---- datasets side by side

    def _side_by_side(self, node: ast.stmt) -> ast.stmt:
        """A loop over `zip(a, b)` of datasets, or of datasets and tensors, as one over a dataset."""
        table: dict[ast.AST, ast.AST] = {}
        match node:
            case ast.For(iter=ast.Call(args=[*_, ast.Call() as inner]) as outer):
                calls = [outer, inner]
            case ast.For(iter=ast.Call() as outer):
                calls = [outer]
            case _:
                return node
        for call in calls:
            one = self._as_one(call)
            if one is not None:
                table[call] = placed(one, call)
        made = replaced(node, table)
        assert isinstance(made, ast.stmt)
        return made

    def _as_one(self, call: ast.Call) -> ast.expr | None:
        """The dataset in the place of `zip(...)` of several; None where it is something else."""
        kinds = [self.facts.kind(a) for a in call.args]
        datasets = [isinstance(k, Dataset) for k in kinds]
        if (
            self.facts.kind(call.func) != Function("builtins.zip")
            or call.keywords
            or not any(datasets)
        ):
            return None
        match call.args:
            case [ast.Call(func=function, args=[limit], keywords=[]), source] if (
                self.facts.kind(function) == Function("builtins.range")
                and self._counts_up(limit)
            ):
                some = called(ast.Attribute(source, "take", ast.Load()), limit)
                return called("enumerate", some)
        dataset = f"{self.tf}.data.Dataset"
        parts: list[ast.expr] = []
        for part, kind in zip(call.args, kinds, strict=True):
            if isinstance(kind, Tensor) and is_strong(kind) and kind.shape:
                part = called(f"{dataset}.from_tensor_slices", part)
            elif not isinstance(kind, Dataset):
                return None
            parts.append(part)
        return called(f"{dataset}.zip", ast.Tuple(parts, ast.Load()))

    def _counts_up(self, limit: ast.expr) -> bool:
        """Whether a limit is not below 0: `take` would take all."""
        value = getattr(self.facts.kind(limit), "value", None)
        known = isinstance(value, int) and value >= 0
        return known or is_never_negative(limit, self.facts)

    # ---- loops that take one by one

    def _asked(self, node: ast.stmt, before: list[ast.stmt]) -> list[ast.stmt] | None:
        """The loop in the place of one that ends when `next(items, None)` gives None."""
        made: ast.For | None = None
        match node:
            case ast.While(
                test=ast.Compare(
                    left=ast.NamedExpr(target=ast.Name(id=item), value=taken),
                    ops=[ast.IsNot()],
                    comparators=[ast.Constant(value=None)],
                ),
                body=body,
                orelse=[],
            ):
                made = self._until_none(item, taken, body, [], node, [node])
            case ast.While(
                body=[
                    ast.Assign(targets=[ast.Name(id=item)], value=taken),
                    ast.If(test=test, body=[*ending, ast.Break()], orelse=[]),
                    *body,
                ],
                orelse=[],
            ) if _endless(node) and _asks(test, item, ast.Is):
                made = self._until_none(item, taken, body, ending, node, [node])
            case ast.While(
                test=test,
                body=[
                    *body,
                    ast.Assign(targets=[ast.Name(id=item)], value=taken),
                ],
                orelse=[],
            ) if before and _asks(test, item, ast.IsNot):
                first = before[-1]
                match first:
                    case ast.Assign(targets=[ast.Name(id=name)], value=value) if (
                        name == item and ast.dump(value) == ast.dump(taken)
                    ):
                        if any(isinstance(n, ast.Continue) for n in ast.walk(node)):
                            return None
                        made = self._until_none(
                            item, taken, body, [], node, [first, node]
                        )
                        if made is not None:
                            before.pop()
        return [made] if made is not None else None

    def _until_none(
        self,
        item: str,
        taken: ast.expr,
        body: list[ast.stmt],
        ending: list[ast.stmt],
        origin: ast.stmt,
        whole: list[ast.stmt],
    ) -> ast.For | None:
        """A loop over the iterator that a name is taken from, which is not read outside of the loop."""
        match taken:
            case ast.Call(
                func=ast.Name(id="next"),
                args=[ast.Name() as items, ast.Constant(value=None)],
                keywords=[],
            ) if self._is_iterator(items):
                pass
            case _:
                return None
        inside = sum(map(_count_of(item), whole))
        outside = _count_of(item)(self.facts.definition.node) - inside
        if outside or any(map(_count_of(item), ending)):
            return None
        otherwise = [s for s in ending if not isinstance(s, ast.Pass)]
        target = ast.Name(item, ast.Store())
        made = ast.For(target, items, self.block(body) or [ast.Pass()], otherwise)
        with_origin(made, origin)
        return made

    def _is_iterator(self, items: ast.Name) -> bool:
        kind = self.facts.kind(items)
        return isinstance(kind, Iterator) or items.id in self.over_tensors

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
                    and self._is_iterator(items)
                ):
                    yield inner
                case ast.Call(
                    func=ast.Attribute(value=ast.Name() as items, attr="get_next"),
                    args=[],
                    keywords=[],
                ) if isinstance(self.facts.kind(items), Iterator):
                    yield inner


def _asks(test: ast.expr, item: str, operator: type[ast.cmpop]) -> bool:
    """Whether a test asks whether a name is None, or is not."""
    match test:
        case ast.Compare(
            left=ast.Name(id=name), ops=[op], comparators=[ast.Constant(value=None)]
        ):
            return name == item and isinstance(op, operator)
    return False


def _count_of(text: str) -> Callable[[ast.AST], int]:
    """Counts the places that mention a name."""

    def count(node: ast.AST) -> int:
        return sum(is_named(n, text) for n in ast.walk(node))

    return count


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
