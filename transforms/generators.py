"""GL105 tensor-for: what a loop takes from a generator of the module is made in the loop itself.

A graph has no generators. The statements of one stand in the place of the loop over it, and the body of the loop stands
where they yield; that runs in the same order.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from .facts.environment import FunctionFacts
from .facts.kinds import Function
from .facts.profile import FunctionNode
from .facts.session import Session
from .facts.syntax import blocks, bound_names, is_named
from .inlining import Callee, Inliner, bare
from .making import assigned, name, placed
from .objects import callee_of, without_unused
from .rebuilding import duplicated, rebuilt, replaced, with_body, with_origin
from .settling import NotInlined, settled

MOST_COPIES = 24
"""How many statements the copies of a loop's body may come to, where a generator yields in several places."""
TAKERS = frozenset(
    f"builtins.{n}"
    for n in ["all", "any", "list", "max", "min", "set", "sorted", "sum", "tuple"]
)
"""What takes all that a generator gives, at once."""
Block = list[ast.stmt]


def without_generators(facts: FunctionFacts, session: Session) -> FunctionNode | None:
    """The function without the loops over generators that can stand in it; None where there are none."""
    callees: dict[ast.expr, Callee] = {}
    for call, qualname in facts.generators.items():
        definition = session.module.functions[qualname]
        callee = callee_of(call, definition, facts, session)
        if callee is not None:
            callees[call] = callee
    if not callees:
        return None
    node = facts.definition.node
    body = _Consumers(facts, callees).block(node.body)
    if body == node.body:
        return None
    return with_body(node, without_unused(body, callees))


class _Consumers:
    """Puts the generators that loops of one function are over in the place of these."""

    def __init__(self, facts: FunctionFacts, callees: dict[ast.expr, Callee]) -> None:
        self.facts = facts
        self.callees = callees

    def block(self, body: Block) -> Block:
        return [made for node in body for made in self.statement(node)]

    def statement(self, node: ast.stmt) -> Block:
        made: Block | None = None
        node = self._with_expressions(node)
        match node:
            case ast.For() if hasattr(node, "stops"):
                pass
            case ast.For(iter=call, orelse=[]) if call in self.callees:
                made = self._loop(node, call, node.target, None)
            case ast.For(
                iter=ast.Call(func=function, args=[call], keywords=[]),
                target=ast.Tuple(elts=[ast.Name(id=count), target]),
                orelse=[],
            ) if call in self.callees and self.facts.kind(function) == Function(
                "builtins.enumerate"
            ):
                made = self._loop(node, call, target, count)
        return made or [rebuilt(node, self.block)]

    def _with_expressions(self, node: ast.stmt) -> ast.stmt:
        """A statement with generator expressions in the place of generators that a function or comprehension takes."""
        table: dict[ast.AST, ast.AST] = {}
        for expression in (
            e for e in ast.iter_child_nodes(node) if isinstance(e, ast.expr)
        ):
            for taken in self._taken(expression):
                made = self._as_expression(taken)
                if made is not None:
                    table[taken] = placed(made, taken)
        made_node = replaced(node, table)
        assert isinstance(made_node, ast.stmt)
        return made_node

    def _taken(self, node: ast.expr) -> Iterator[ast.expr]:
        for inner in ast.walk(node):
            match inner:
                case ast.Call(func=function, args=[call], keywords=[]) if (
                    call in self.callees
                    and getattr(self.facts.kind(function), "name", "") in TAKERS
                ):
                    yield call
                case ast.comprehension(iter=call) if call in self.callees:
                    yield call

    def _as_expression(self, call: ast.expr) -> ast.expr | None:
        """A generator that is one loop, as an expression; None for another."""
        inliner = Inliner(
            self.facts.definition,
            self.callees.get,
            lambda e: isinstance(e, ast.Name),
        )
        try:
            before, body = inliner.parts(call, self.callees[call])
        except NotInlined:
            return None
        match body:
            case [ast.For(target=target, iter=iterable, body=inner, orelse=[])] if (
                not before
            ):
                tests: list[ast.expr] = []
                while isinstance(inner[0], ast.If) and not (
                    inner[1:] or inner[0].orelse
                ):
                    tests.append(inner[0].test)
                    inner = inner[0].body
                match inner:
                    case [ast.Expr(value=ast.Yield(value=ast.expr() as value))]:
                        over = ast.comprehension(target, iterable, tests, 0)
                        return ast.GeneratorExp(value, [over])
        return None

    def _loop(
        self, node: ast.For, call: ast.expr, target: ast.expr, count: str | None
    ) -> Block | None:
        """The statements that a loop over a generator does, in their order; None where that cannot be told."""
        changed = {
            n for s in ast.walk(node) if isinstance(s, ast.stmt) for n in bound_names(s)
        }
        inliner = Inliner(
            self.facts.definition,
            self.callees.get,
            lambda e: isinstance(e, ast.Name) and e.id not in changed,
        )
        try:
            before, body = inliner.parts(call, self.callees[call])
            if inliner.globals:
                return None
            consumed = list(node.body)
            if count is not None:
                counter = inliner.names.fresh(f"next_{count}")
                before.append(assigned(counter, ast.Constant(0)))
                one_more = ast.BinOp(name(counter), ast.Add(), ast.Constant(1))
                consumed = [
                    assigned(count, name(counter)),
                    assigned(counter, one_more),
                    *consumed,
                ]
            item = inliner.names.fresh("item")
            made = _Yields(target, consumed, item).consumed(body)
        except NotInlined:
            return None
        first, *rest = [*before, *made]
        return [with_origin(first, node), *rest]


@dataclass(frozen=True)
class _Place:
    """Where a generator yields.

    Attributes:
        depth: how many loops are around it.
        ends_loop: whether nothing follows it in the innermost of these.
        ends_all: whether nothing follows the outermost of these.
    """

    depth: int = 0
    ends_loop: bool = True
    ends_all: bool = True


class _Yields:
    """The statements of a generator with those of the loop over it where it yields.

    Raises:
        NotInlined: the loop is left, or the generator ends, in a way that would not be the same.
    """

    def __init__(self, target: ast.expr, loop_body: Block, item: str) -> None:
        self.target = target
        self.loop_body = loop_body
        self.item = item
        self.copies = 0
        self.body: Block = []

    def consumed(self, body: Block) -> Block:
        body = settled(self._ended(self._delegated(body), _Place()), lambda _: [])
        places = list(self._places(body, _Place()))
        yields = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Yield)]
        leaves = {type(n) for s in self.loop_body for n in _exits(s)}
        if not places or len(places) != len(yields):
            raise NotInlined
        if len(places) > 1 and (
            leaves or len(places) * len(self.loop_body) > MOST_COPIES
        ):
            raise NotInlined
        for place in places:
            breaks = ast.Break not in leaves or (place.depth == 1 and place.ends_all)
            continues = ast.Continue not in leaves or (place.depth and place.ends_loop)
            if not (breaks and continues):
                raise NotInlined
        self.body = body
        return self._filled(body)

    def _delegated(self, body: Block) -> Block:
        """The statements with a loop for `yield from`."""
        for node in body:
            for field in ("body", "orelse"):
                if isinstance(inner := getattr(node, field, None), list):
                    setattr(node, field, self._delegated(inner))
        return [self._as_loop(node) for node in body]

    def _as_loop(self, node: ast.stmt) -> ast.stmt:
        match node:
            case ast.Expr(value=ast.YieldFrom(value=value)):
                item = ast.Name(self.item, ast.Store())
                yields = ast.Expr(ast.Yield(name(self.item)))
                return ast.For(item, value, [yields], [])
        return node

    def _ended(self, body: Block, here: _Place) -> Block:
        """The statements with `break` where the generator ends in its loop."""
        result: Block = []
        for node, place in _inside(body, here):
            match node:
                case ast.Return() if here.depth:
                    if here.depth > 1 or not here.ends_all:
                        raise NotInlined
                    result.append(ast.Break())
                    continue
                case ast.For() | ast.While() | ast.If():
                    node.body = self._ended(node.body, place)
                    node.orelse = self._ended(node.orelse, place)
            result.append(node)
        return result

    def _places(self, body: Block, here: _Place) -> Iterator[_Place]:
        for node, place in _inside(body, here):
            match node:
                case ast.Expr(value=ast.Yield()):
                    yield place
                case ast.For() | ast.While() | ast.If():
                    yield from self._places(node.body, place)
                    if isinstance(node, ast.If):
                        yield from self._places(node.orelse, place)

    def _filled(self, body: Block) -> Block:
        result: Block = []
        for node in body:
            match node:
                case ast.Expr(value=ast.Yield(value=value)):
                    result += self._once(value or ast.Constant(None))
                    continue
                case ast.For(
                    target=ast.Name(id=old),
                    body=[*_, ast.Expr(value=ast.Yield(value=ast.Name(id=given)))],
                ) if old == given and self._may_rename(node, old):
                    for inner in ast.walk(node):
                        if is_named(inner, old):
                            inner.id = self.target.id  # type: ignore[attr-defined]
                    node.body = [*node.body[:-1], *self._copy()]
                case ast.For() | ast.While() | ast.If():
                    node.body = self._filled(node.body)
                    node.orelse = self._filled(node.orelse)
            result.append(node)
        return result

    def _once(self, value: ast.expr) -> Block:
        return [ast.Assign([bare(self.target)], value), *self._copy()]

    def _copy(self) -> Block:
        self.copies += 1
        return self.loop_body if self.copies == 1 else duplicated(self.loop_body)

    def _may_rename(self, loop: ast.For, old: str) -> bool:
        """Whether the variable of a loop may have the name of what it is yielded to."""
        inside = [n for s in loop.body for n in ast.walk(s)]
        everywhere = [n for s in self.body for n in ast.walk(s)]
        here, all_of_it = (
            sum(is_named(n, old) for n in nodes) for nodes in (inside, everywhere)
        )
        return isinstance(self.target, ast.Name) and here + 1 == all_of_it


def _inside(body: Block, here: _Place) -> Iterator[tuple[ast.stmt, _Place]]:
    """The statements of a block, and where what they hold stands.

    Raises:
        NotInlined: one of another kind yields, or ends the generator.
    """
    for i, node in enumerate(body):
        last = i == len(body) - 1
        match node:
            case ast.For() | ast.While():
                ends = here.ends_all and (
                    bool(here.depth) or (last and not node.orelse)
                )
                yield node, _Place(here.depth + 1, True, ends)
            case ast.If():
                ends = here.ends_all and (bool(here.depth) or last)
                yield node, _Place(here.depth, here.ends_loop and last, ends)
            case ast.Expr(value=ast.Yield()):
                yield node, _Place(here.depth, here.ends_loop and last, here.ends_all)
            case ast.Return():
                yield node, here
            case _ if any(
                isinstance(n, ast.Yield | ast.YieldFrom | ast.Return)
                for n in ast.walk(node)
            ):
                raise NotInlined
            case _:
                yield node, here


def _exits(node: ast.stmt) -> Iterator[ast.Break | ast.Continue]:
    """The exits of a loop that stand in a statement of its body."""
    match node:
        case ast.Break() | ast.Continue():
            yield node
        case ast.For() | ast.While():
            for inner in node.orelse:
                yield from _exits(inner)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return
        case _:
            for block in blocks(node):
                for inner in block:
                    yield from _exits(inner)
