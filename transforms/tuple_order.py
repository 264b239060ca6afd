"""GL203 list-append: lists of tuples that are put in order by a key, or of which the best item is picked, as one list a place.

`pairs.sort(key=lambda p: p[0])` ranks the list of the first parts, and puts each of the lists in that order.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .facts.kinds import Python, Sequence
from .facts.syntax import is_named, own_expressions, own_nodes
from .making import assigned, called, name, placed
from .rebuilding import replaced
from .tuple_forms import Parts, Whole, given

if TYPE_CHECKING:
    from .tuple_lists import Apart

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def ranked_before(apart: Apart, node: ast.stmt) -> tuple[list[ast.stmt], ast.stmt]:
    """`sorted(pairs, ...)`, `max(pairs, ...)` in a statement get names before it.

    Where `sorted` is all that is assigned, it has one.
    """
    before: list[ast.stmt] = []
    table: dict[ast.AST, ast.AST] = {}
    for call in (n for e in own_expressions(node) for n in ast.walk(e)):
        match call:
            case ast.Call(func=ast.Name(id="sorted"), args=[ast.Name(id=source)]) if (
                source in apart.family and not _is_assigned(call, node)
            ):
                made = apart.names.fresh(f"sorted_{source}")
                apart.family |= {made}
                fresh = apart.names.fresh
                apart.parts[made] = [fresh(f"{made}_{p}") for p in apart.items]
                before += in_order(apart, made, source, call)
                table[call] = placed(name(made), call)
            case ast.Call(
                func=ast.Name(id="max" | "min"), args=[ast.Name(id=source)]
            ) if source in apart.family and not apart.form.changeable:
                if _is_conditional(call, node):
                    raise Whole
                before += _ranked(apart, source, call, "place")
                place = before[-1].targets[0].id  # type: ignore[attr-defined]
                parts: Parts = [
                    ast.Subscript(name(part), name(place), ast.Load())
                    for part in apart.parts[source]
                ]
                table[call] = placed(apart.form.made(parts, apart.maker), call)
    if before and isinstance(node, ast.While):
        raise Whole
    changed = replaced(node, table)
    assert isinstance(changed, ast.stmt)
    return before, changed


def in_order(apart: Apart, n: str, source: str, call: ast.Call) -> list[ast.stmt]:
    """Each of the lists in the order of the keys; equal ones keep theirs."""
    before = _ranked(apart, source, call, "order")
    order = before[-1].targets[0].id  # type: ignore[attr-defined]
    place = apart.names.fresh("place")
    for target, part in zip(apart.parts[n], apart.parts[source], strict=True):
        picked = ast.Subscript(name(part), name(place), ast.Load())
        over = ast.comprehension(ast.Name(place, ast.Store()), name(order), [], 0)
        put = ast.ListComp(picked, [over])
        put.picks = part  # type: ignore[attr-defined]
        before.append(assigned(target, put))
    return before


def _ranked(apart: Apart, source: str, call: ast.Call, what: str) -> list[ast.stmt]:
    """The statements that rank the items of a list by the keys that a call says; the last one names the places.

    Raises:
        Whole: it says otherwise than by a lambda.
    """
    said = {k.arg: k.value for k in call.keywords}
    match said.pop("key", None), said.pop("reverse", ast.Constant(False)):
        case (
            ast.Lambda(args=ast.arguments(args=[ast.arg(arg=item)]), body=body),
            ast.Constant(value=down),
        ) if not said:
            pass
        case _:
            raise Whole
    function = call.func.id if isinstance(call.func, ast.Name) else "sorted"
    match body:
        case ast.UnaryOp(op=ast.USub(), operand=operand) if _turns(
            apart, operand, item
        ):
            body, down = operand, not down
            function = {"max": "min", "min": "max"}.get(function, function)
    read = apart.form.key(body)
    before: list[ast.stmt] = []
    if read is not None and is_named(read[0], item):
        keys = apart.parts[source][read[1]]
    else:
        keys = apart.names.fresh("keys")
        loop = ast.comprehension(ast.Name(item, ast.Store()), name(source), [], 0)
        each = apart.comprehension(ast.ListComp(body, [loop]), loop)
        before.append(assigned(keys, each))
    places = called(function, called("range", called("len", name(keys))))
    by = ast.Attribute(name(keys), "__getitem__", ast.Load())
    places.keywords = [ast.keyword("key", by)]
    if down and function == "sorted":
        places.keywords.append(ast.keyword("reverse", ast.Constant(True)))
    places.ranks = keys  # type: ignore[attr-defined]
    return [*before, assigned(apart.names.fresh(what), places)]


def _turns(apart: Apart, part: ast.expr, item: str) -> bool:
    """Whether the negatives of a part of the items come in the other order: those of floats, and of Python's ints."""
    read = apart.form.key(part)
    if read is None or not is_named(read[0], item):
        return False
    kinds = [
        kind.items[read[1]]
        for node in own_nodes(apart.node)
        for value in given(node, apart.family)
        if isinstance(kind := apart.facts.kind(value), Sequence)
    ]
    return all(
        str(getattr(k, "dtype", "")).startswith("float")
        or isinstance(k, Python)
        or getattr(k, "weak", None) is not None
        for k in kinds
    )


def _is_assigned(call: ast.Call, node: ast.stmt) -> bool:
    match node:
        case ast.Assign(targets=[ast.Name()], value=value):
            return value is call
    return False


def _is_conditional(call: ast.expr, node: ast.stmt) -> bool:
    """Whether a statement does not always come to a call in it."""
    parts = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.comprehension, *COMPREHENSIONS)
    return any(
        isinstance(n, parts) and call in ast.walk(n)
        for e in own_expressions(node)
        for n in ast.walk(e)
    )
