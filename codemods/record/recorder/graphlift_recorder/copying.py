"""Trees that are rebuilt where something in them changes, and shared where nothing does."""

from __future__ import annotations

import ast
from typing import Any, TypeVar

Node = TypeVar("Node", bound=ast.AST)


class Copier:
    """Visits a tree and gives the changed one; a statement may become several.

    A method `visit_X` takes a node of type X and gives a node, or a list of statements.
    """

    def visit(self, node: Any) -> Any:
        visitor = getattr(self, f"visit_{type(node).__name__}", self.copy)
        return visitor(node)

    def copy(self, node: Node) -> Node:
        """The node with its children visited."""
        changes = {}
        for name in node._fields:
            old = getattr(node, name, None)
            if isinstance(old, list):
                new: Any = self.block(old)
            elif isinstance(old, ast.AST):
                new = self.visit(old)
            else:
                continue
            if new is not old:
                changes[name] = new
        return replaced(node, **changes) if changes else node

    def block(self, nodes: list[Any]) -> list[Any]:
        """The list with its nodes visited."""
        result: list[Any] = []
        for node in nodes:
            new = self.visit(node) if isinstance(node, ast.AST) else node
            result.extend(new if isinstance(new, list) else [new])
        same = len(result) == len(nodes) and all(
            a is b for a, b in zip(result, nodes, strict=True)
        )
        return nodes if same else result


def replaced(node: Node, **changes: Any) -> Node:
    """The node with other values for some of its fields."""
    new = type(node)()
    new.__dict__.update(node.__dict__, **changes)
    return new


def at(node: Node, position: ast.AST) -> Node:
    """A new node, put at the position of another."""
    if "lineno" in position._attributes:
        ast.copy_location(node, position)
    return node
