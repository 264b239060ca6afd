"""Printed text as tokens, in which a tensor counts as the numbers it shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isfinite

SHOWN_TENSOR = re.compile(
    r"""tf\.Tensor\((?P<bare>.*?),?\s+shape=\([^)]*\),\s+dtype=\w+\)
      | <tf\.(?:Tensor:|Variable\s'[^']*')\s+shape=\([^)]*\),?\s+dtype=\w+,\s+numpy=(?P<long>.*?)>
      | \barray\((?P<array>.*?)(?:,\s+dtype=\w+)?\)""",
    re.S | re.X,
)
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
DURATION = re.compile(
    r"(?<![\w.])\d+(?:\.\d+)?\s?(?:s|ms|us|µs|sec|secs|seconds)(?:/\w+)?(?!\w)"
    r"|(?<![\w.])\d+(?:\.\d+)?\s?\w+/s(?:ec)?(?!\w)"
)
ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
TOKEN = re.compile(rf"(?<![\w.]){NUMBER}(?![\w.])|[=:;]|[^\s\[\](),=:;]+")
WHOLE = re.compile(r"[-+]?\d+")


def tokens(text: str) -> list[str]:
    """The words and numbers of `text`: brackets, commas, spaces, and what shows how long it took, left out."""
    while (plain := SHOWN_TENSOR.sub(_shown, text)) != text:
        text = plain
    text = DURATION.sub("<duration>", ADDRESS.sub("<address>", text))
    return [_unquoted(token) for token in TOKEN.findall(text)]


def excess(reference: str, candidate: str) -> float:
    """How far two tokens are apart: 0 for the same, up to 1 for the same within tolerance, inf for unlike."""
    if reference == candidate:
        return 0.0
    try:
        a, b = float(reference), float(candidate)
    except ValueError:
        return float("inf")
    if a == b or (a != a and b != b):
        return 0.0
    if not (isfinite(a) and isfinite(b)) or (
        WHOLE.fullmatch(reference) and WHOLE.fullmatch(candidate)
    ):
        return float("inf")
    apart = abs(a - b) / (1e-5 * max(abs(a), abs(b)) + 1e-7)
    if abs(a - b) <= 1.01 * max(_last_digit(reference), _last_digit(candidate)):
        return min(apart, 10.0)  # rounded to the other neighbour
    return apart


def is_part(part: list[str], whole: list[str]) -> bool:
    """Whether all tokens of `part` are in `whole`, in the same order."""
    left: Iterator[str] = iter(whole)
    return all(any(excess(other, token) <= 1 for other in left) for token in part)


def _shown(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group is not None)


def _unquoted(token: str) -> str:
    return re.sub(r"^b?(['\"])(.*)\1$", r"\2", token)


def _last_digit(number: str) -> float:
    """The weight of the last digit shown; 0 where that says nothing about rounding."""
    _, point, decimals = number.partition(".")
    return 10.0 ** -len(decimals) if point and decimals.isdigit() else 0.0
