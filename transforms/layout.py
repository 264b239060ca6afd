"""Breaks long statements over lines, at their last pair of brackets, as Black does."""

from __future__ import annotations

import ast
import io
import itertools
import re
import tokenize
from keyword import kwlist

KEYWORDS = frozenset(kwlist)

OPENING, CLOSING = "([{", ")]}"
COMPARING = frozenset(
    [
        "<",
        ">",
        "<=",
        ">=",
        "==",
        "!=",
        "|",
        "&",
        "^",
        "<<",
        ">>",
        "not",
        "and",
        "or",
        "in",
        "is",
    ]
)
"""Operators that bind less than those of a sum."""


def layout(text: str, indent: int, width: int, step: str = "    ") -> str:
    """A statement on as many lines as it needs.

    Args:
        text: a simple statement; one that already has several lines stays, if these are no longer than wanted.
        indent: the columns before its first character.
        width: the longest line wanted.
        step: one level of indentation.
    """
    if "\n" in text:
        joined = None if _fits(text, indent, width) else _joined(text)
        return text if joined is None else layout(joined, indent, width, step)
    if indent + len(text) <= width:
        return text
    parts = _split(_grouped(text))
    if parts is None:
        return text
    head, items, tail, trailing = parts
    inner = indent + len(step)
    start = re.match(r"return |\w+ = ", text)
    if start and indent + len(head) > width and (terms := _terms(text, start.end())):
        lines = [
            line for t in terms for line in layout(t, inner, width, step).split("\n")
        ]
        return "\n".join([f"{start[0]}(", *(step + line for line in lines), ")"])
    clauses = _clauses(items)
    joined = ", ".join(items)
    together = len(items) == 1 or clauses or _follows_name(head)
    if together and inner + len(joined) <= width and not trailing:
        return f"{head}\n{step}{joined}\n{tail}"
    if clauses:
        items, trailing = clauses, False
    alone = clauses or (len(items) == 1 and re.search(r"\bfor\b", items[0]))
    comma = "" if alone else "," if trailing or len(items) > 1 or _calls(head) else ""
    lines = []
    for item in items:
        fits = inner + len(item + comma) <= width
        *terms, last = (None if fits else _terms(item, 0)) or [item]
        for part in (*terms, last + comma):
            lines += layout(part, inner, width, step).split("\n")
    return "\n".join([head, *(step + line for line in lines), tail])


def outdented(text: str, columns: int) -> str:
    """A statement of several lines, those after the first with so many columns less before them; texts stay."""
    lines = text.split("\n")
    inside = _inside_texts(text)
    for i, line in enumerate(lines[1:], 1):
        if i + 1 not in inside:
            lines[i] = line[min(columns, len(line) - len(line.lstrip(" "))) :]
    return "\n".join(lines)


def _inside_texts(text: str) -> set[int]:
    """The lines, from 1, that begin inside a text."""
    starts = ("STRING", "FSTRING_MIDDLE", "TSTRING_MIDDLE")
    return {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if tokenize.tok_name[token.type] in starts
        for line in range(token.start[0] + 1, token.end[0] + 1)
    }


def _fits(text: str, indent: int, width: int) -> bool:
    return all(indent + len(line) <= width for line in text.split("\n"))


def _joined(text: str) -> str | None:
    """A statement of several lines on one; None where comments or texts stand in the way."""
    if _inside_texts(text):
        return None
    result = ""
    for line in map(str.strip, text.split("\n")):
        tight = not result or result[-1] in OPENING or line[:1] in CLOSING
        if line[:1] in CLOSING and re.search(r"\w\([^()]*,$", result):
            result = result[:-1]
        result += line if tight else f" {line}"
    try:
        same = ast.dump(ast.parse(result)) == ast.dump(ast.parse(text))
    except SyntaxError:
        return None
    return result if same and "#" not in text else None


def _terms(text: str, start: int) -> list[str] | None:
    """The terms of a sum that a text is from a column on, with the signs before them."""
    try:
        found = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return None
    depth = 0
    cuts = []
    for before, token in itertools.pairwise(found):
        depth += (token.string in OPENING) - (token.string in CLOSING)
        if depth == 0 and token.string in ("lambda", "if", ",", ":=", "yield", "await"):
            return None
        if depth == 0 and token.string in COMPARING:
            return None
        ends = before.type in (tokenize.NAME, tokenize.NUMBER, tokenize.STRING)
        ends = (ends and before.string not in KEYWORDS) or before.string in CLOSING
        if depth == 0 and token.string in ("+", "-") and ends:
            cuts.append(token.start[1])
    if not cuts:
        return None
    edges = [start, *cuts, len(text)]
    return [text[a:b].strip() for a, b in itertools.pairwise(edges)]


def _grouped(text: str) -> str:
    """A statement with the tuple that it returns in parentheses, for these to be broken at."""
    try:
        tokens = _punctuation(text)
    except (tokenize.TokenError, SyntaxError):
        return text
    plain = text.startswith("return ") and any(
        t.string == "," and _depth(tokens, t.start[1], 0) == 0 for t in tokens
    )
    return f"return ({text.removeprefix('return ')})" if plain else text


def _split(text: str) -> tuple[str, list[str], str, bool] | None:
    """The text up to its last outer bracket that opens something, the items in it, the rest, and whether it is a one-tuple."""
    try:
        tokens = _punctuation(text)
    except (tokenize.TokenError, SyntaxError):
        return None
    depth = 0
    span: tuple[int, int] | None = None
    start = 0
    for token in tokens:
        if token.string in OPENING:
            if depth == 0:
                start = token.end[1]
            depth += 1
        elif token.string in CLOSING:
            depth -= 1
            if depth == 0 and start < token.start[1]:
                span = (start, token.start[1])
    if span is None:
        return None
    commas = [
        t.start[1]
        for t in tokens
        if t.string == "," and span[0] <= t.start[1] < span[1]
    ]
    cuts = [c for c in commas if _depth(tokens, c, span[0]) == 0]
    edges = [span[0] - 1, *cuts, span[1]]
    items = [text[a + 1 : b].strip() for a, b in itertools.pairwise(edges)]
    trailing = items[-1] == ""
    items = [item for item in items if item]
    return text[: span[0]], items, text[span[1] :], trailing and len(items) == 1


def _clauses(items: list[str]) -> list[str] | None:
    """The element and the clauses of a comprehension that stands in brackets; None where none does."""
    text = ", ".join(items)
    try:
        found = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return None
    depth = 0
    cuts: list[int] = []
    for token in found:
        depth += (token.string in OPENING) - (token.string in CLOSING)
        begins = token.string == "for" or (cuts and token.string == "if")
        if depth == 0 and token.type == tokenize.NAME and begins:
            cuts.append(token.start[1])
    if not cuts:
        return None
    edges = [0, *cuts, len(text)]
    return [text[a:b].strip() for a, b in itertools.pairwise(edges)]


def _calls(head: str) -> bool:
    """Whether the bracket at the end of a text opens what may end with a comma, rather than groups."""
    return head[-1] in "[{" or _follows_name(head)


def _follows_name(head: str) -> bool:
    """Whether the bracket at the end of a text opens arguments or an index, which may share a line."""
    last = re.search(r"[\w\])]+$", head[:-1].rstrip())
    return last is not None and last[0] not in KEYWORDS


def _punctuation(text: str) -> list[tokenize.TokenInfo]:
    """The brackets and commas of a text, without the commas between the parameters of a lambda."""
    found = []
    parameters = False
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME and token.string == "lambda":
            parameters = True
        elif token.string == ":":
            parameters = False
        elif (
            token.type == tokenize.OP
            and token.string in (*"()[]{}", ",")
            and not (parameters and token.string == ",")
        ):
            found.append(token)
    return found


def _depth(tokens: list[tokenize.TokenInfo], column: int, start: int) -> int:
    inside = [t for t in tokens if start <= t.start[1] < column]
    return sum((t.string in OPENING) - (t.string in CLOSING) for t in inside)
