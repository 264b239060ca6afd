"""What a core gives back beside its own result."""

from __future__ import annotations

import ast

from .rebuilding import rebuilt, with_origin


def with_results(
    body: list[ast.stmt], outs: list[str], given: list[str]
) -> list[ast.stmt]:
    """The core's body, its returns giving back state and names too, or what they have `instead` of a name."""
    extra = [*outs, *given]
    if not extra:
        return body
    made = [_with_result(s, extra) for s in body]
    if not made or not _returns(made[-1]):
        made.append(_result(None, extra))
    return made


def _with_result(node: ast.stmt, extra: list[str]) -> ast.stmt:
    if isinstance(node, ast.Return):
        return _result(node, extra)
    return rebuilt(node, lambda block: [_with_result(s, extra) for s in block])


def _result(node: ast.Return | None, extra: list[str]) -> ast.stmt:
    value = node.value if node and node.value else ast.Constant(None)
    instead: dict[str, ast.expr] = getattr(node, "instead", {})
    names = [instead.get(name) or ast.Name(name, ast.Load()) for name in extra]
    made = ast.Return(ast.Tuple([value, *names], ast.Load()))
    return made if node is None else with_origin(made, node)


def _returns(node: ast.stmt) -> bool:
    if isinstance(node, ast.Return):
        return True
    if isinstance(node, ast.If):
        return (
            bool(node.orelse) and _returns(node.body[-1]) and _returns(node.orelse[-1])
        )
    return isinstance(node, ast.With) and _returns(node.body[-1])
