"""Emits functions from steps made by hand, without deciding anything about them."""

from __future__ import annotations

import ast
from collections.abc import Callable

from graphlift.transforms.emit import emit
from graphlift.transforms.facts.profile import FunctionNode
from graphlift.transforms.options import Options
from graphlift.transforms.source import Source
from graphlift.transforms.steps import Keep, Plan

Change = Callable[[FunctionNode, Plan], None]


def functions(source: Source) -> list[FunctionNode]:
    """The functions of a file that stand in no other one."""
    found: list[FunctionNode] = []

    def visit(node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, FunctionNode):
                found.append(child)
            else:
                visit(child)

    visit(source.tree)
    return found


def kept(node: FunctionNode) -> Plan:
    """The plan that keeps every statement of a function."""
    body = node.body[1:] if ast.get_docstring(node, clean=False) else node.body
    return Plan(node, node.name, list(map(Keep, body)))


def emitted(
    text: str, change: Change = lambda node, plan: None, width: int = 88
) -> str:
    """A file whose functions are kept, but for what `change` does to each one's plan."""
    source = Source(text, ast.parse(text))
    plans = []
    for node in functions(source):
        plans.append(kept(node))
        change(node, plans[-1])
    return emit(source, plans, Options(line_length=width))
