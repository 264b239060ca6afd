"""Texts as operands: the signs of operators, how tightly they bind, what needs parentheses."""

from __future__ import annotations

import ast

SIGNS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
LEVELS: dict[type[ast.operator], int] = {
    ast.BitOr: 1, ast.BitXor: 2, ast.BitAnd: 3, ast.LShift: 4, ast.RShift: 4, ast.Add: 5, ast.Sub: 5,
    ast.Mult: 6, ast.Div: 6, ast.FloorDiv: 6, ast.Mod: 6, ast.MatMult: 6, ast.Pow: 7,
}  # fmt: skip
"""How tightly operators bind."""


def is_atom(text: str) -> bool:
    """Whether a text stands as an operand without parentheses."""
    try:
        node = ast.parse(f"({text})", mode="eval").body
    except SyntaxError:
        return False
    return isinstance(
        node,
        ast.Name
        | ast.Constant
        | ast.Call
        | ast.Attribute
        | ast.Subscript
        | ast.List
        | ast.Dict,
    )


def as_operand(text: str, operator: ast.operator, is_right: bool = False) -> str:
    """A text as an operand, in parentheses where it needs them."""
    if is_atom(text) or (text.startswith("(") and _closes_at_end(text)):
        return text
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return f"({text})"
    level = LEVELS[type(node.op)] if isinstance(node, ast.BinOp) else 0
    least = LEVELS[type(operator)] + is_right
    return text if level >= least and not isinstance(operator, ast.Pow) else f"({text})"


def _closes_at_end(text: str) -> bool:
    depth = 0
    for i, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth == 0:
            return i == len(text) - 1
    return False
