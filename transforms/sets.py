"""GL203 list-append: a set that a function makes, and only adds to and asks, is a list without duplicates.

The first step only: `seen.add(v)` becomes `if v not in seen: seen.append(v)`.
"""

from __future__ import annotations

import ast

from .facts.environment import FunctionFacts
from .facts.profile import FunctionNode
from .facts.staging import is_strong
from .facts.syntax import is_named, own_nodes
from .making import assigned, called, compared, is_atom, name, placed
from .rebuilding import each_made, rebuilt, replaced, with_body
from .source import Names


def without_sets(facts: FunctionFacts, names: Names) -> FunctionNode | None:
    """The function with a list in the place of a set that keeps it from being a graph; None where it has none that can be."""
    node = facts.definition.node
    hindering = {p.node for p in facts.problems}
    for made in own_nodes(node):
        match made:
            case ast.Assign(
                targets=[ast.Name(id=text)],
                value=ast.Call(func=ast.Name(id="set"), args=[], keywords=[]) as empty,
            ):
                adding = _additions(node, text)
                hinders = hindering & {empty, *adding}
                values = _hashed(node, text, adding)
                fails = any(is_strong(facts.kind(value)) for value in values)
                if hinders and not fails and _is_only_asked(node, text, adding):
                    table: dict[ast.AST, ast.AST] = {
                        empty: placed(ast.List([], ast.Load()), empty)
                    }
                    body = _block(node.body, adding, table, names)
                    return with_body(node, body)
    return None


def _additions(node: FunctionNode, text: str) -> dict[ast.AST, ast.expr]:
    """The calls that add to a set, each with what it adds."""
    found: dict[ast.AST, ast.expr] = {}
    for statement in ast.walk(node):
        match statement:
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name(id=owner), attr="add"),
                    args=[value],
                ) as call
            ) if owner == text:
                found[call] = value
    return found


def _hashed(
    node: FunctionNode, text: str, adding: dict[ast.AST, ast.expr]
) -> list[ast.expr]:
    """What a set finds by its hash: a tensor has none."""
    asked = [
        n.left
        for n in ast.walk(node)
        if isinstance(n, ast.Compare)
        and isinstance(n.comparators[0], ast.Name)
        and n.comparators[0].id == text
    ]
    return [*adding.values(), *asked]


def _is_only_asked(
    node: FunctionNode, text: str, adding: dict[ast.AST, ast.expr]
) -> bool:
    """Whether all other uses of a set ask what is in it, in whatever order, or how much."""
    served = {call.func.value for call in adding}  # type: ignore[attr-defined]
    for inner in ast.walk(node):
        match inner:
            case (
                ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[use])
                | ast.Call(func=ast.Name(id="len" | "sorted"), args=[use])
            ):
                served.add(use)
    if any(
        isinstance(n, ast.Global | ast.Nonlocal) and text in n.names
        for n in ast.walk(node)
    ):
        return False
    uses = [n for n in ast.walk(node) if is_named(n, text)]
    return sum(use not in served for use in uses) == 1


def _block(
    body: list[ast.stmt],
    adding: dict[ast.AST, ast.expr],
    table: dict[ast.AST, ast.AST],
    names: Names,
) -> list[ast.stmt]:
    def change(node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, ast.Expr) and node.value in adding:
            call, value = node.value, adding[node.value]
            assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
            assert isinstance(call.func.value, ast.Name)
            held = call.func.value.id
            before: list[ast.stmt] = []
            if not is_atom(value):
                item = names.fresh("item")
                before, value = [assigned(item, value)], name(item)
            new = compared(value, ast.NotIn(), name(held))
            added = ast.Expr(called(f"{held}.append", value))
            return [*before, ast.If(new, [added], [])]
        made = replaced(rebuilt(node, lambda b: _block(b, adding, table, names)), table)
        assert isinstance(made, ast.stmt)
        return [made]

    return each_made(body, change)
