"""GL105 tensor-for: what is taken one by one from `iter(tensor)` is read at the place that the iterator has come to.

The first step only. Where the places are known, `first = next(it)` becomes `first = t[0]` and a loop over the rest one
over `t[1:]`, and `zip(it, it)` becomes `zip(t[::2], t[1::2])`; else the place is counted.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from .facts.environment import FunctionFacts
from .facts.kinds import Tensor
from .facts.profile import FunctionNode
from .facts.staging import is_strong
from .facts.syntax import blocks, is_named, own_nodes
from .making import assigned, called, compared, expression, name, placed
from .rebuilding import each_made, rebuilt, replaced, with_body
from .source import Names

Block = list[ast.stmt]
TAKERS = frozenset({"list", "tuple", "sum", "max", "min", "sorted", "enumerate", "zip"})
"""Builtins that go over an iterator once."""


def tensor_iterators(facts: FunctionFacts) -> dict[str, ast.Assign]:
    """The names of iterators over tensors, each with the statement that makes it, the only one that binds it."""
    node = facts.definition.node
    made: dict[str, ast.Assign] = {}
    for inner in own_nodes(node):
        match inner:
            case ast.Assign(
                targets=[ast.Name(id=it)],
                value=ast.Call(func=ast.Name(id="iter"), args=[rows], keywords=[]),
            ) if (kind := facts.kind(rows)) and is_strong(kind):
                if isinstance(kind, Tensor) and kind.shape:
                    made[it] = inner
    stores = [
        n.id
        for n in ast.walk(node)
        if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
    ]
    return {it: s for it, s in made.items() if stores.count(it) == 1}


def without_iterators(
    facts: FunctionFacts, names: Names, raised: Collection[str]
) -> FunctionNode | None:
    """The function with reads of tensors in the place of iterators over them; None where it has none that can be.

    Where nothing is left, `StopIteration` is raised if recorded calls have `raised` it; else it is the graph's error.
    """
    node = facts.definition.node
    for it, start in tensor_iterators(facts).items():
        taken = _Taken(facts, names, it, start, "StopIteration" in raised)
        body = (
            taken.in_groups(node.body)
            or taken.at_known_places(node.body)
            or taken.counted(node.body)
        )
        if body is not None:
            return with_body(node, body)
    return None


class _Taken:
    """Rewrites what is taken from one iterator."""

    def __init__(
        self,
        facts: FunctionFacts,
        names: Names,
        it: str,
        start: ast.Assign,
        checks: bool,
    ) -> None:
        self.facts = facts
        self.names = names
        self.it = it
        self.start = start
        self.checks = checks
        assert isinstance(start.value, ast.Call)
        (self.source,) = start.value.args
        shape = getattr(facts.kind(self.source), "shape", None)
        self.size: int | None = shape[0] if shape else None
        self.place = 0
        self.uses = {
            n
            for n in ast.walk(facts.definition.node)
            if is_named(n, it) and isinstance(n.ctx, ast.Load)
        }

    def _held(self) -> tuple[Block, str]:
        """The statements that keep the tensor that is gone over, and its name."""
        kept = self.facts.definition.node
        stored = [
            n.id
            for n in ast.walk(kept)
            if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
        ]
        if isinstance(self.source, ast.Name):
            text = self.source.id
            if stored.count(text) == (text not in self.facts.parameters):
                return [], text
        rows = self.names.fresh("rows")
        return [assigned(rows, self.source)], rows

    # ---- several at once

    def in_groups(self, body: Block) -> Block | None:
        """The function's body, where all is taken by one `zip(it, it)`: of `t[::2]` and `t[1::2]`, side by side."""
        block = _block_with(body, self.start)
        later = block[block.index(self.start) + 1 :] if block else []
        for node in later:
            uses = {*self._header_uses(node)}
            zips = [n for n in ast.walk(node) if _is_zip_of(n, uses)]
            if not isinstance(node, ast.While) and len(zips) == 1 and uses == self.uses:
                return self._grouped(body, node, zips[0])
        return None

    def _grouped(self, body: Block, node: ast.stmt, call: ast.AST) -> Block:
        before, rows = self._held()
        count = len(self.uses)
        parts = [expression(f"{rows}[{i or ''}::{count}]") for i in range(count)]
        assert isinstance(call, ast.Call)
        grouped = replaced(node, {call: placed(called("zip", *parts), call)})
        assert isinstance(grouped, ast.stmt)

        def change(inner: ast.stmt) -> Block:
            if inner in (self.start, node):
                return before if inner is self.start else [grouped]
            return [rebuilt(inner, lambda b: each_made(b, change))]

        return each_made(body, change)

    # ---- at places that are known

    def at_known_places(self, body: Block) -> Block | None:
        """The function's body, where all is taken in the block that makes the iterator, one after the other."""
        block = _block_with(body, self.start)
        later = block[block.index(self.start) + 1 :] if block else []
        found = [use for node in later for use in self._header_uses(node)]
        if block is None or {*found} != self.uses or not self._in_turn(later):
            return None
        before, self.rows = self._held()

        def change(node: ast.stmt) -> Block:
            if node is self.start:
                return before
            if any(True for _ in self._header_uses(node)) and node in later:
                return self._read(node)
            return [rebuilt(node, lambda b: each_made(b, change))]

        return each_made(body, change)

    def _header_uses(self, node: ast.stmt) -> Iterator[ast.Name]:
        """The uses of the iterator in a statement, but not in its blocks."""
        inner = {n for block in blocks(node) for s in block for n in ast.walk(s)}
        for use in ast.walk(node):
            if use in self.uses and use not in inner:
                yield use

    def _in_turn(self, later: Block) -> bool:
        """Whether each statement takes one item, or several side by side, and only the last one goes over the rest."""
        using = [node for node in later if any(True for _ in self._header_uses(node))]
        for i, node in enumerate(using):
            rest = i == len(using) - 1 and self._takes_rest(node)
            if not rest and not (self._nexts(node) and not blocks(node)):
                return False
        return True

    def _takes_rest(self, node: ast.stmt) -> bool:
        """Whether a statement goes over all that is left, once."""
        (use, *more) = self._header_uses(node)
        if isinstance(node, ast.For) and use is node.iter:
            return True
        takers = (
            n.func.id
            for n in ast.walk(node)
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
            if use in n.args
        )
        return not more and set(takers) <= TAKERS and not isinstance(node, ast.While)

    def _nexts(self, node: ast.stmt) -> list[ast.Call]:
        """The calls of `next` in a statement, in their order; none where it uses the iterator otherwise."""
        calls = [n for n in ast.walk(node) if self._is_next(n)]
        match node:
            case ast.Assign(value=ast.Tuple(elts=elts)) if [*elts] == calls:
                return elts  # type: ignore[return-value]
        if len(calls) != 1 or len(list(self._header_uses(node))) != 1:
            return []
        conditional = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.comprehension)
        around = (n for n in ast.walk(node) if isinstance(n, conditional))
        return [] if any(calls[0] in ast.walk(n) for n in around) else calls  # type: ignore[return-value]

    def _is_next(self, node: ast.AST) -> bool:
        match node:
            case ast.Call(func=ast.Name(id="next"), args=[ast.Name(id=it), *default]):
                return it == self.it and not node.keywords and len(default) < 2
        return False

    def _read(self, node: ast.stmt) -> Block:
        """A statement that takes items, as one that reads them."""
        table: dict[ast.AST, ast.AST] = {}
        before: Block = []
        for call in self._nexts(node) if not isinstance(node, ast.For) else []:
            place = ast.Constant(self.place)
            there = self.size is not None and self.place < self.size
            before += self._checked(call, place, there)
            table[call] = placed(self._item(call, place, there), call)
            self.place += 1
        rest = f"{self.rows}[{self.place}:]" if self.place else self.rows
        table |= {
            use: placed(expression(rest), use)
            for use in self._header_uses(node)
            if not table
        }
        changed = replaced(node, table)
        assert isinstance(changed, ast.stmt)
        return [*before, changed]

    def _checked(self, call: ast.Call, place: ast.expr, there: bool) -> Block:
        """What raises where nothing is left, if that may be."""
        if there or len(call.args) == 2 or not self.checks:
            return []
        none = compared(called("len", name(self.rows)), ast.LtE(), place)
        return [ast.If(none, [ast.Raise(name("StopIteration"))], [])]

    def _item(self, call: ast.Call, place: ast.expr, there: bool) -> ast.expr:
        item = ast.Subscript(name(self.rows), place, ast.Load())
        if there or len(call.args) == 1:
            return item
        some = compared(called("len", name(self.rows)), ast.Gt(), place)
        return ast.IfExp(some, item, call.args[1])

    # ---- at places that are counted

    def counted(self, body: Block) -> Block | None:
        """The function's body with a count of what was taken; None where the iterator is used otherwise."""
        node = self.facts.definition.node
        served = {n.iter for n in own_nodes(node) if isinstance(n, ast.For)}
        for inner in own_nodes(node):
            if isinstance(inner, ast.stmt) and not blocks(inner):
                calls = self._nexts(inner)
                served |= {call.args[0] for call in calls if len(calls) == 1}
            if isinstance(inner, ast.Try) and any(
                use in self.uses for use in ast.walk(inner)
            ):
                return None
        if not self.uses <= served:
            return None
        before, self.rows = self._held()
        taken = self.names.fresh("taken")
        return each_made(body, lambda n: self._counted(n, before, taken))

    def _counted(self, node: ast.stmt, before: Block, taken: str) -> Block:
        one_more = ast.AugAssign(
            ast.Name(taken, ast.Store()), ast.Add(), ast.Constant(1)
        )
        if node is self.start:
            return [*before, assigned(taken, ast.Constant(0))]
        if blocks(node):
            made = rebuilt(
                node, lambda b: each_made(b, lambda n: self._counted(n, before, taken))
            )
            if isinstance(node, ast.For) and node.iter in self.uses:
                assert isinstance(made, ast.For)
                left = compared(name(taken), ast.Lt(), called("len", name(self.rows)))
                item = ast.Subscript(name(self.rows), name(taken), ast.Load())
                took: Block = [ast.Assign([made.target], item), one_more]
                return [ast.While(left, [*took, *made.body], made.orelse)]
            return [made]
        table: dict[ast.AST, ast.AST] = {}
        checks: Block = []
        for call in self._nexts(node):
            checks += self._checked(call, name(taken), False)
            table[call] = placed(self._item(call, name(taken), False), call)
        if not table:
            return [node]
        changed = replaced(node, table)
        assert isinstance(changed, ast.stmt)
        return [*checks, changed, *([] if isinstance(node, ast.Return) else [one_more])]


def _is_zip_of(node: ast.AST, uses: Collection[ast.Name]) -> bool:
    """Whether this takes one item for each use of an iterator, in turn."""
    match node:
        case ast.Call(func=ast.Name(id="zip"), args=[_, _, *_] as given, keywords=[]):
            return {*given} == {*uses}
    return False


def _block_with(body: Block, node: ast.stmt) -> Block | None:
    if node in body:
        return body
    for statement in body:
        for block in blocks(statement):
            found = _block_with(block, node)
            if found is not None:
                return found
    return None
