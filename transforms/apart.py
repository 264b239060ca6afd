"""Takes a value that Python makes out of a statement among tensor work, as a statement of its own before it."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

from .extraction import note_names
from .facts.arrays import may_hold
from .facts.environment import FunctionFacts
from .facts.kinds import (
    Array,
    Dict,
    Elements,
    Kind,
    Mapping,
    Python,
    Scalar,
    Sequence,
    Tensor,
)
from .facts.staging import INTS, holds_tensor, is_weak
from .facts.syntax import HELD, all_bound_names, blocks, changed_object
from .making import assigned, called, expression, placed
from .rebuilding import rebuilt, replaced, with_origin
from .source import Names
from .tapes import is_taped

CONTAINERS = frozenset({"tuple", "list", "set"})
ZEROS = {"int": "0", "float": "0.0"}
DTYPES = {"int": "int64", "float": "float64"}
LEAVING = ast.Break | ast.Continue | ast.Return | ast.Raise | ast.Assert | ast.Try
PLAIN_TESTS = (
    ast.Compare,
    ast.BoolOp,
    ast.UnaryOp,
    ast.Constant,
    ast.Name,
    ast.Attribute,
    ast.cmpop,
    ast.boolop,
    ast.unaryop,
    ast.expr_context,
)
"""What a test is made of that may be asked twice."""
Parted = tuple[ast.stmt, ast.stmt]
"""The statement that makes a value, and the one that it was taken out of."""


def is_apart(node: ast.stmt) -> bool:
    """Whether a statement was made to come before another one."""
    return hasattr(node, "apart")


def involves_tensors(facts: FunctionFacts, node: ast.AST) -> bool:
    """Whether tensors have a part in this."""
    return any(
        holds_tensor(facts.kind(n)) for n in ast.walk(node) if isinstance(n, ast.expr)
    )


def changed_in(statement: ast.stmt) -> set[str]:
    """The texts of the names, attributes and items that a statement sets, or whose objects it changes in place."""
    inner = list(ast.walk(statement))
    stores = [
        n for n in inner if isinstance(n, HELD) and not isinstance(n.ctx, ast.Load)
    ]
    return {
        ast.unparse(n) for n in (*stores, *filter(None, map(changed_object, inner)))
    }


def read_in(node: ast.expr) -> set[str]:
    """The texts of the names, attributes and items that an expression reads."""
    return {ast.unparse(n) for n in ast.walk(node) if isinstance(n, HELD)}


def is_container(kind: Kind) -> bool:
    """Whether this is one of Python's own tuples, lists, sets and dicts."""
    if isinstance(kind, Sequence | Elements):
        return kind.type in CONTAINERS
    return isinstance(kind, Dict | Mapping)


@dataclass
class Taker:
    """Takes values out of the statements of one function."""

    facts: FunctionFacts
    names: Names
    tf: str

    def taken(
        self, statement: ast.stmt, places: list[ast.expr], word: str
    ) -> Parted | None:
        """The first of some places of a statement, in the order of their evaluation, made before it.

        None where it is not made exactly once, or as often as Python can tell before.
        """
        first = places[0]
        lengths = [n for n in ast.walk(statement) if _is_length_of(n, first)]
        if lengths and is_container(self.facts.kind(first)):
            name = self.names.fresh("length")
            return apart(name, lengths[0]), rest(statement, {lengths[0]: name})
        if is_sure(statement, first):
            under_tape = isinstance(statement, ast.With)
            if under_tape and changed_in(statement) & read_in(first):
                return None
            return self._out_of_expression(statement, first, word)
        if any(changed_in(statement) & read_in(place) for place in places):
            return None
        if isinstance(statement, ast.If):
            return self._out_of_arms(statement, places, word)
        if isinstance(statement, ast.For):
            return self._out_of_loop(statement, places, word)
        return None

    def _out_of_expression(
        self, statement: ast.stmt, place: ast.expr, word: str
    ) -> Parted | None:
        for node in [*self._around(statement, place), place]:
            if self._fits(node):
                name = name_in_block(self.facts, statement, node)
                name = name or self.names.fresh(word)
                return apart(name, node), rest(statement, {node: name})
        return None

    def _around(self, statement: ast.stmt, place: ast.expr) -> list[ast.expr]:
        """The expressions around a place that are Python's alone, the largest first."""
        return [
            n
            for n in ast.walk(statement)
            if isinstance(n, ast.Call | ast.Subscript | ast.BinOp | ast.UnaryOp)
            and n is not place
            and is_sure(n, place)
            and is_sure(statement, n)
            and not involves_tensors(self.facts, n)
        ]

    def _fits(self, node: ast.expr) -> bool:
        """Whether a graph takes a value."""
        kind = self.facts.kind(node)
        number = isinstance(kind, Python) and kind.type in DTYPES
        return number or (isinstance(kind, Array | Scalar | Tensor) and may_hold(kind))

    def _out_of_arms(
        self, node: ast.If, places: list[ast.expr], word: str
    ) -> Parted | None:
        """What an arm of an `if` makes, made where that arm is taken; what both arms make is made anyway."""
        call = places[0]
        twin = next((d for d in places[1:] if ast.dump(d) == ast.dump(call)), None)
        if (
            twin is not None
            and _is_made_in(node.body, call)
            and _is_made_in(node.orelse, twin)
            and self._fits(call)
        ):
            name = self.names.fresh(word)
            return apart(name, call), rest(node, {call: name, twin: name})
        plain = all(isinstance(n, PLAIN_TESTS) for n in ast.walk(node.test))
        zero = ZEROS.get(getattr(self.facts.kind(call), "type", ""))
        arm = next((a for a in (node.body, node.orelse) if _is_made_in(a, call)), None)
        if (
            not plain
            or involves_tensors(self.facts, node.test)
            or zero is None
            or arm is None
        ):
            return None
        made, other = call, expression(zero)
        if arm is node.orelse:
            made, other = other, made
        name = self.names.fresh(word)
        choice = ast.IfExp(copy.deepcopy(node.test), made, other)
        return apart(name, choice), rest(node, {call: name})

    def _out_of_loop(
        self, loop: ast.For, places: list[ast.expr], word: str
    ) -> Parted | None:
        """What each iteration of a loop makes, made before it, where the number of iterations is known then."""
        kinds = {self.facts.kind(d) for d in places}
        leaves = hasattr(loop, "stops") or any(
            isinstance(n, LEAVING) for s in loop.body for n in ast.walk(s)
        )
        every = all(any(is_sure(s, d) for s in loop.body) for d in places)
        counted = self._counted(loop)
        if loop.orelse or leaves or not every or len(kinds) > 1 or counted is None:
            return None
        element = _element(kinds.pop())
        if element is None:
            return None
        dtype, dims, template = element
        index, count, made = counted
        name = self.names.fresh(word)
        several = len(places) > 1
        table = {
            d: template.format(f"{name}[{index}{f', {i}' if several else ''}]")
            for i, d in enumerate(places)
        }
        texts = [ast.unparse(d) for d in places]
        one = f"({', '.join(texts)})" if several else texts[0]
        text = (
            f"{self.tf}.convert_to_tensor([{one} for _ in {count}], {self.tf}.{dtype})"
        )
        sizes = [len(places)] * several + dims
        if sizes:
            text = f"{self.tf}.reshape({text}, {[-1, *sizes]})"
        array = expression(text)
        array.drawn = Tensor(dtype, (None, *sizes))  # type: ignore[attr-defined]
        return apart(name, array), rest(made, table)

    def _counted(self, loop: ast.For) -> tuple[str, str, ast.For] | None:
        """How often a loop runs: the text of its index, of the range that it goes over, and the loop with that index."""
        stored = {
            n.id
            for s in loop.body
            for n in ast.walk(s)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        match loop:
            case ast.For(
                target=ast.Name(id=index),
                iter=ast.Call(
                    func=ast.Name(id="range") | ast.Attribute(attr="range"),
                    args=[*first, stop],
                    keywords=[],
                ),
            ) if index not in stored and len(first) < 2:
                start = [getattr(a, "value", None) for a in first]
                end = self._number(stop)
                if end is None or not all(isinstance(s, int) for s in start):
                    return None
                made = loop
                if index.startswith("_"):
                    index = self.names.fresh("i")
                    made = _with_target(loop, ast.Name(index, ast.Store()))
                place = f"{index} - {start[0]}" if start and start[0] else index
                return place, f"range({', '.join([*map(str, start), end])})", made
            case ast.For(
                target=ast.Tuple(elts=[ast.Name(id=index), _]),
                iter=ast.Call(
                    func=ast.Name(id="enumerate"),
                    args=[ast.Name(id=iterable) as over],
                    keywords=[],
                ),
            ) if index not in stored and self._has_length(over):
                return index, f"range(len({iterable}))", loop
            case ast.For(target=target, iter=ast.Name(id=iterable) as over) if (
                self._has_length(over)
            ):
                index = self.names.fresh("i")
                both = ast.Tuple([ast.Name(index, ast.Store()), target], ast.Store())
                made = _with_target(loop, both)
                made.iter = called("enumerate", loop.iter)
                return index, f"range(len({iterable}))", made
        return None

    def _number(self, node: ast.expr) -> str | None:
        """The text of a whole number of Python's."""
        kind = self.facts.kind(node)
        if isinstance(kind, Python) and kind.type == "int":
            return ast.unparse(node)
        whole = isinstance(kind, Tensor) and kind.dtype in INTS and kind.shape == ()
        return f"int({ast.unparse(node)})" if whole else None

    def _has_length(self, node: ast.expr) -> bool:
        kind = self.facts.kind(node)
        if isinstance(kind, Elements | Sequence):
            return kind.type in ("list", "tuple")
        return isinstance(kind, Tensor)


def _element(kind: Kind) -> tuple[str, list[int], str] | None:
    """How a tensor holds what each iteration makes: dtype, dimensions, and the text that gives it back."""
    if isinstance(kind, Python) and kind.type in DTYPES:
        return DTYPES[kind.type], [], f"{kind.type}({{}})"
    if isinstance(kind, Tensor | Array) and may_hold(kind):
        dims = kind.shape
        if dims is not None and None not in dims and not is_weak(kind):
            text = "{}.numpy()" if isinstance(kind, Array) else "{}"
            return str(kind.dtype), [d for d in dims if d is not None], text
    return None


def _with_target(loop: ast.For, target: ast.expr) -> ast.For:
    made = copy.copy(loop)
    made.target = target
    with_origin(made, loop)
    return made


def _is_length_of(node: ast.AST, place: ast.expr) -> TypeGuard[ast.Call]:
    """Whether this asks how long what stands at a place is, which can be asked in vain."""
    return (
        isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "len"
        and node.args == [place]
    )


def apart(name: str, value: ast.expr) -> ast.stmt:
    made = assigned(name, value)
    made.apart = True  # type: ignore[attr-defined]
    return made


def rest(statement: ast.stmt, table: dict[ast.expr, str]) -> ast.stmt:
    """A statement with the texts of what was made in the place of its values."""
    made = replaced(
        statement, {old: placed(expression(text), old) for old, text in table.items()}
    )
    assert isinstance(made, ast.stmt)
    if isinstance(made, ast.With):
        made = rebuilt(made, _without_names_alone)
    if not blocks(made):
        note_names(made, statement, table)
    return made


def name_in_block(
    facts: FunctionFacts, statement: ast.stmt, value: ast.expr
) -> str | None:
    """The name that the block of a tape gives a value, where it has no other in the function."""
    definition = facts.definition
    bound = [n for s in definition.node.body for n in all_bound_names(s)]
    bound += [*facts.parameters, *definition.declared_global]
    for inner in statement.body if isinstance(statement, ast.With) else ():
        match inner:
            case ast.Assign(targets=[ast.Name(id=name)], value=given) if given is value:
                return name if bound.count(name) == 1 else None
    return None


def _without_names_alone(body: list[ast.stmt]) -> list[ast.stmt]:
    """A block without what gives names what they have."""
    return [s for s in body if not _gives_itself(s)] or body


def _gives_itself(node: ast.stmt) -> bool:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=value)):
            return name == value
    return False


def in_order(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a piece of code, each behind those that are evaluated before it."""
    match node:
        case ast.Assign(targets=targets, value=value):
            parts: list[ast.AST] = [value, *targets]
        case _:
            parts = list(ast.iter_child_nodes(node))
    for part in parts:
        yield from in_order(part)
    yield node


def _is_made_in(arm: list[ast.stmt], call: ast.expr) -> bool:
    """Whether a block makes a call whatever happens in it."""
    for statement in arm:
        if is_sure(statement, call):
            return True
        if any(isinstance(n, LEAVING) for n in ast.walk(statement)):
            return False
    return False


def _run_once(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a block that run whenever it does: up to the first that may leave it."""
    for i, statement in enumerate(body):
        if any(isinstance(n, LEAVING) for n in ast.walk(statement)):
            return body[: i + 1]
    return body


def is_sure(root: ast.AST, call: ast.expr) -> bool:
    """Whether running this evaluates a part of it exactly once."""
    return root is call or any(is_sure(part, call) for part in _sure_parts(root))


def _sure_parts(node: ast.AST) -> list[ast.AST]:
    """The parts of a node that are evaluated exactly once whenever it is, if nothing leaves it."""
    match node:
        case ast.If(test=test) | ast.IfExp(test=test):
            return [test]
        case ast.For(iter=iterable):
            return [iterable]
        case ast.BoolOp(values=values):
            return [values[0]]
        case ast.Compare(left=left, comparators=comparators):
            return [left, comparators[0]]
        case ast.With(items=items, body=body):
            first: list[ast.AST] = [i.context_expr for i in items[:1]]
            return [*first, *_run_once(body)] if is_taped(node) else first
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            return [value]
        case (
            ast.While()
            | ast.Try()
            | ast.Match()
            | ast.Assert()
            | ast.Lambda()
            | ast.FunctionDef()
            | ast.AsyncFunctionDef()
            | ast.ClassDef()
            | ast.ListComp()
            | ast.SetComp()
            | ast.DictComp()
            | ast.GeneratorExp()
        ):
            return []
    return list(ast.iter_child_nodes(node))
