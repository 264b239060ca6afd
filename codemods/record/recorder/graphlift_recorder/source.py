"""Source text as profiles refer to it: which functions a module has, and the digest of each."""

from __future__ import annotations

import ast
import hashlib
import io
import textwrap
import tokenize
from collections.abc import Iterator
from importlib.util import decode_source

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (*FUNCTIONS, ast.ClassDef)
LAYOUT = frozenset(
    [
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    ]
)
"""Tokens that a line may have and hold no code."""


def read(data: bytes) -> str:
    """The text of a module's bytes, with every line end a newline."""
    return decode_source(data)


def digest(lines: list[str], node: FunctionNode) -> str:
    """What tells a function's present code from an earlier one; `lines` are its module's.

    It is the `fingerprint` that lifting looks a function's record up by, in this Python once more.
    """
    text = "\n".join(code_lines(lines, node).values())
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:16]


def code_lines(lines: list[str], node: FunctionNode) -> dict[int, str]:
    """The lines of a function that hold code, decorators included: dedented, without comments, by their numbers."""
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    text = textwrap.dedent("\n".join(lines[first - 1 : node.end_lineno]))
    rows, kept = text.split("\n"), set[int]()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            row, column = token.start
            if token.type == tokenize.COMMENT:
                rows[row - 1] = rows[row - 1][:column].rstrip()
            elif token.type not in LAYOUT:
                kept.update(range(row, token.end[0] + 1))
    except (tokenize.TokenError, SyntaxError, UnicodeError):
        kept.update(range(1, len(rows) + 1))
    return {first - 1 + row: rows[row - 1] for row in sorted(kept)}


def functions(tree: ast.Module) -> Iterator[tuple[str, FunctionNode]]:
    """All functions of a module, with their qualified names."""
    yield from _functions(tree, "", frozenset())


def _functions(
    node: ast.AST, prefix: str, outside: frozenset[str]
) -> Iterator[tuple[str, FunctionNode]]:
    for child in statements(node):
        if not isinstance(child, SCOPES):
            yield from _functions(child, prefix, outside)
            continue
        name = child.name if child.name in outside else prefix + child.name
        if isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{name}.", declared(child, ast.Global))
        else:
            yield name, child
            inside = declared(child, ast.Global)
            yield from _functions(child, f"{name}.<locals>.", inside)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements, handlers and cases right inside a node."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield child


def declared(
    scope: ast.AST, kind: type[ast.Global] | type[ast.Nonlocal]
) -> frozenset[str]:
    """Names that a function's or class's own body declares global or nonlocal."""
    names: set[str] = set()
    pending = [*statements(scope)]
    while pending:
        node = pending.pop()
        if isinstance(node, kind):
            names.update(node.names)
        elif not isinstance(node, SCOPES):
            pending.extend(statements(node))
    return frozenset(names)
