"""Rewrites what puts items of a list that lives in the graph elsewhere: items put in, taken out, and put in order."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .facts.profile import FunctionNode
from .facts.signs import is_never_negative
from .facts.syntax import own_nodes
from .findings import Refusal
from .making import applied, assigned, called, compared, expression, is_atom, name

if TYPE_CHECKING:
    from .list_forms import List
    from .lists import Lists

Block = list[ast.stmt]


def inserted(lists: Lists, made: List, index: ast.expr, value: ast.expr) -> Block:
    """A list with one more item before a place, which counts from either end as slices do."""
    before, place = _named(lists, index)
    parts: list[str | ast.expr] = [lists.row(made, value), made.name]
    if place != "0":
        parts = [f"{made.name}[:{place}]", parts[0], f"{made.name}[{place}:]"]
    return [*before, lists.concatenated(made, parts)]


def at_place(
    lists: Lists, made: List, index: ast.expr
) -> tuple[Block, ast.expr, ast.expr]:
    """What comes before an item is taken out of a list, its index, and its place, counted from the start.

    Each is a name or a number; a number that is negative is a place, too.
    """
    if _number(index) is not None:
        return [], index, index
    before, text = _named(lists, index)
    if is_never_negative(index, lists.facts):
        return before, name(text), name(text)
    more, counted = lists.from_the_start(made, name(text))
    return [*before, *more], name(text), counted


def is_beyond(made: List, index: ast.expr, place: ast.expr) -> ast.expr:
    """Whether there is no item at a place."""
    number = _number(place)
    if number is not None and number < 0:
        length = called("len", name(made.name))
        return compared(length, ast.Lt(), ast.Constant(-number))
    after = compared(place, ast.GtE(), called("len", name(made.name)))
    if ast.dump(index) == ast.dump(place):
        return after
    return ast.BoolOp(ast.Or(), [compared(place, ast.Lt(), ast.Constant(0)), after])


def without(lists: Lists, made: List, place: ast.expr) -> ast.stmt:
    """A list without the item at a place, as `at_place` gives it."""
    text = ast.unparse(place)
    number = _number(place)
    rest = {0: f"{made.name}[1:]", -1: f"{made.name}[:-1]"}.get(number or 0)
    if number is None or rest is None or (number == 0 and text != "0"):
        after = f"{text} + 1" if number is None else str(number + 1)
        kept: list[str | ast.expr] = [f"{made.name}[:{text}]", f"{made.name}[{after}:]"]
        return lists.concatenated(made, kept)
    return assigned(made.name, expression(rest))


def in_order(
    lists: Lists, made: List, node: ast.AST, keywords: list[ast.keyword]
) -> ast.expr:
    """The tensor of a list's items in order, as `sort` and `sorted` put them.

    Raises:
        Refusal: what they are ordered by is not lifted.
    """
    given = {k.arg: k.value for k in keywords}
    key = given.pop("key", ast.Constant(None))
    order: dict[str, ast.expr] = {}
    match given.pop("reverse", ast.Constant(False)):
        case ast.Constant(value=reverse):
            if reverse:
                order = {"direction": ast.Constant("DESCENDING")}
        case _:
            given["reverse"] = key
    whole = expression(lists.reads.whole(made))
    numbers = made.element.shape == () and made.element.dtype not in ("bool", "string")
    if not given and isinstance(key, ast.Constant) and key.value is None and numbers:
        return called(f"{lists.tf}.sort", whole, **order)
    if given or made.element.weak or not isinstance(key, ast.Lambda | ast.Name):
        raise Refusal(f"how `{made.name}` is sorted is not lifted", node, "GL109")
    item = key.args.args[0].arg if isinstance(key, ast.Lambda) else "item"
    item = lists.names.fresh(item)
    each = ast.comprehension(ast.Name(item, ast.Store()), whole, [], 0)
    keys = called(f"{lists.tf}.stack", ast.ListComp(applied(key, name(item)), [each]))
    stable = ast.Constant(True)
    places = called(f"{lists.tf}.argsort", keys, stable=stable, **order)
    return called(f"{lists.tf}.gather", expression(lists.reads.whole(made)), places)


def ranked(lists: Lists, order: str, places: ast.Call) -> ast.stmt:
    """Where the items of a list stand that come first, second and so on, or only where the first one does.

    As `sorted(range(len(keys)), key=keys.__getitem__)` and the like have it.
    """
    keys = lists.lists[places.ranks]  # type: ignore[attr-defined]
    function = ast.unparse(places.func)
    down = function == "max" or len(places.keywords) > 1
    argsort: ast.expr = called(
        f"{lists.tf}.argsort",
        expression(lists.reads.whole(keys)),
        stable=ast.Constant(True),
        **({"direction": ast.Constant("DESCENDING")} if down else {}),
    )
    if function != "sorted":
        argsort = ast.Subscript(argsort, ast.Constant(0), ast.Load())
    return assigned(order, argsort)


def just_read(function: FunctionNode) -> frozenset[ast.stmt]:
    """The statements that delete an item which was read in the test of their branch."""
    found: set[ast.stmt] = set()
    for node in own_nodes(function):
        match node:
            case ast.If(test=test, body=[ast.Delete(targets=[target]) as taken, *_]):
                if _reads(test, target):
                    found.add(taken)
    return frozenset(found)


def _reads(node: ast.AST, target: ast.expr) -> bool:
    """Whether an expression always reads the item that a target is."""
    if not isinstance(target, ast.Subscript):
        return False
    whole = ast.unparse(target)
    sides = node.values[:1] if isinstance(node, ast.BoolOp) else [node]
    return any(
        isinstance(n, ast.Subscript) and ast.unparse(n) == whole
        for side in sides
        for n in ast.walk(side)
    )


def _named(lists: Lists, index: ast.expr) -> tuple[Block, str]:
    """What names an index, and its text: it is written several times."""
    if is_atom(index) and not isinstance(index, ast.Attribute | ast.Subscript):
        return [], ast.unparse(index)
    fresh = lists.names.fresh("index")
    return [assigned(fresh, lists.reads.used(index))], fresh


def _number(index: ast.expr) -> int | None:
    match index:
        case ast.Constant(value=int() as number):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number)):
            return -number
    return None
