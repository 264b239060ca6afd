"""Dicts that a function makes, changes under the keys it made them with, and returns: each value goes by a name.

The first step only, where a value may be None, or a Python number instead of a tensor, or is a list that grows where a
tensor decides: a name can be followed.
"""

from __future__ import annotations

import ast
import builtins
from keyword import kwlist

from .companions import is_unclear
from .facts.environment import FunctionFacts
from .facts.profile import FunctionNode
from .facts.syntax import is_named, own_nodes
from .making import filled, placed
from .rebuilding import rebuilt, replaced, with_body, with_origin
from .source import Names


def without_dicts(facts: FunctionFacts, names: Names) -> FunctionNode | None:
    """The function with names in the place of a dict's items; None where it has no such dict that needs it."""
    node = facts.definition.node
    for made in own_nodes(node):
        match made:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict() as value):
                table = _table(facts, name, value, names)
                if table:
                    return with_body(node, _block(node.body, made, table))
    return None


def _table(
    facts: FunctionFacts, name: str, made: ast.Dict, names: Names
) -> dict[ast.AST, ast.AST]:
    """What stands in the place of each use of a dict, and its first values by its keys; nothing where it is more."""
    function = facts.definition.node
    uses = [n for n in ast.walk(function) if is_named(n, name)]
    reads = [n for n in uses if isinstance(n.ctx, ast.Load)]
    constants = [k.value for k in made.keys if isinstance(k, ast.Constant)]
    keys = [k for k in constants if isinstance(k, str)]
    unclear = any(is_unclear(facts.kind(n)) for n in reads)
    if (
        not (unclear or _holds_changed_lists(facts, name, made))
        or name in facts.parameters
        or len(uses) - len(reads) != 1
        or len({*keys}) != len(made.keys)
    ):
        return {}
    held = {key: _text(name, key, names) for key in keys}
    table: dict[ast.AST, ast.AST] = {}
    for inner in own_nodes(function):
        match inner:
            case ast.Subscript(
                value=ast.Name(id=n) as owner, slice=ast.Constant(value=key)
            ) if n == name and key in held and not isinstance(inner.ctx, ast.Del):
                table[inner] = _named(held[key], inner.ctx, inner)
                reads.remove(owner)
            case ast.DictComp(
                key=ast.Name(id=first),
                generators=[
                    ast.comprehension(
                        target=ast.Tuple(elts=[ast.Name(id=key), ast.Name(id=item)]),
                        iter=ast.Call(
                            func=ast.Attribute(
                                value=ast.Name(id=n) as owner, attr="items"
                            ),
                            args=[],
                        ),
                        ifs=[],
                    )
                ],
            ) if n == name and first == key:
                table[inner] = placed(_mapped(inner, key, item, held), inner)
                reads.remove(owner)
            case ast.Return(value=ast.expr() as value):
                parts = value.elts if isinstance(value, ast.Tuple) else [value]
                for part in parts:
                    if is_named(part, name):
                        values = [_named(t, ast.Load(), part) for t in held.values()]
                        whole = ast.Dict([*map(ast.Constant, held)], [*values])
                        table[part] = placed(whole, part)
                        reads.remove(part)
    for node, text in zip(made.keys, held.values(), strict=True):
        assert node is not None
        table[node] = _named(text, ast.Store(), made)
    return {} if reads else table


def _holds_changed_lists(facts: FunctionFacts, name: str, made: ast.Dict) -> bool:
    """Whether a dict is made with lists, and a tensor decides what becomes of them."""
    if not any(isinstance(value, ast.List) for value in made.values):
        return False
    for problem in facts.problems:
        match problem.node:
            case (
                ast.Call(
                    func=ast.Attribute(
                        value=ast.Subscript(value=ast.Name(id=owner), slice=key)
                    )
                )
                | ast.Subscript(
                    value=ast.Subscript(value=ast.Name(id=owner), slice=key)
                )
                | ast.AugAssign(
                    target=ast.Subscript(value=ast.Name(id=owner), slice=key)
                )
            ) if owner == name and isinstance(key, ast.Constant):
                return True
    return False


def _mapped(node: ast.DictComp, key: str, item: str, held: dict[str, str]) -> ast.Dict:
    """A comprehension over a dict's items, written out."""
    values: list[ast.expr] = [
        filled(node.value, {key: ast.Constant(k), item: ast.Name(text, ast.Load())})
        for k, text in held.items()
    ]
    return ast.Dict([*map(ast.Constant, held)], [*values])


def _text(name: str, key: str, names: Names) -> str:
    """A name for an item: its key alone, where that is free."""
    if not key.isidentifier():
        return names.fresh(name)
    if key not in {*dir(builtins), *kwlist} and names.fresh(key) == key:
        return key
    return names.fresh(f"{name}_{key}")


def _named(text: str, context: ast.expr_context, node: ast.expr) -> ast.Name:
    return placed(ast.Name(text, context), node)


def _block(
    body: list[ast.stmt], maker: ast.Assign, table: dict[ast.AST, ast.AST]
) -> list[ast.stmt]:
    result: list[ast.stmt] = []
    for node in body:
        if node is maker and isinstance(maker.value, ast.Dict):
            pairs = zip(maker.value.keys, maker.value.values, strict=True)
            result += [
                with_origin(ast.Assign([table[key]], value), node)  # type: ignore[index, list-item]
                for key, value in pairs
            ]
        else:
            made = rebuilt(node, lambda b: _block(b, maker, table))
            changed = replaced(made, table)
            assert isinstance(changed, ast.stmt)
            result.append(changed)
    return result
