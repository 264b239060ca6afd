"""The functions that a distribution strategy runs on each of its replicas, told by the text of its calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .profile import FunctionNode
from .syntax import called_names

AGGREGATION = "aggregation"
"""The option of Variables that replicas do not update on their own."""
RUNS = frozenset({"run", "experimental_run_v2"})
"""The methods of a strategy that run a function on each replica."""


def replicated(tree: ast.Module) -> tuple[frozenset[str], frozenset[str]]:
    """The names of functions that strategies are given to run as they are, and of those that run inside of one."""
    whole: set[str] = set()
    inside: set[str] = set()
    for function in _given_to_strategies(tree):
        match function:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                whole.add(name)
            case ast.Lambda(body=body):
                inside |= called_names(body)
            case _:
                inside |= _named(function)
    definitions = [n for n in ast.walk(tree) if isinstance(n, FunctionNode)]
    queue = [*whole, *inside]
    reached: set[str] = set()
    while queue:
        name = queue.pop()
        for definition in definitions:
            if definition.name == name and name not in reached:
                new = called_names(definition) - inside
                inside |= new
                queue += new
        reached.add(name)
    return frozenset(whole), frozenset(inside)


def _given_to_strategies(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=given):
                options = {k.arg: k.value for k in node.keywords}
                shown = "strategy" in ast.unparse(owner).lower() or "args" in options
                tuples = any(isinstance(n, ast.Tuple) for n in given[1:2])
                function = given[0] if given else options.get("fn")
                if name in RUNS and function is not None and (shown or tuples):
                    yield function


def _named(function: ast.expr) -> set[str]:
    """What an expression names, `functools.partial(step, rate)` say."""
    return {
        getattr(n, "id", getattr(n, "attr", ""))
        for n in ast.walk(function)
        if isinstance(n, ast.Name | ast.Attribute)
    }
