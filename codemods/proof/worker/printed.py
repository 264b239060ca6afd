"""Printed text as tokens, in which tf.print may show the numbers of a tensor alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from math import isfinite

SHAPE = r"(?P<shape>\([^)]*\))"
SHOWN_TENSOR = re.compile(
    rf"""tf\.Tensor\((?P<bare>.*?),?\s+shape={SHAPE},\s+dtype=(?P<dtype>\w+)\)
      | <tf\.(?:Tensor:|Variable\s'[^']*')\s+shape={SHAPE.replace("shape", "shape_2")},?
        \s+dtype=(?P<dtype_2>\w+),\s+numpy=(?P<long>.*?)>""",
    re.S | re.X,
)
SHOWN_ARRAY = re.compile(
    r"\barray\((?P<values>.*?)(?:,\s+dtype=(?P<dtype>\w+))?\)", re.S
)
SHOWN = re.compile(r"<(?:tensor|array) [^>]*>")
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
DURATION = re.compile(
    r"(?<![\w.])\d+(?:\.\d+)?\s?(?:s|ms|us|µs|sec|secs|seconds)(?:/\w+)?(?!\w)"
    r"|(?<![\w.])\d+(?:\.\d+)?\s?\w+/s(?:ec)?(?!\w)"
)
ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
TOKEN = re.compile(
    rf"{SHOWN.pattern}|(?<![\w.]){NUMBER}(?![\w.])|[\[\](){{}}=:;]|[^\s\[\](){{}},=:;]+"
)
WHOLE = re.compile(r"[-+]?\d+")
QUOTED = re.compile(r"(b?)(['\"])(.*)\2")


def tokens(text: str) -> list[str]:
    """The words, numbers and brackets of `text`: commas, spaces, and what shows how long it took, left out.

    A token of its own, before the values of a tensor or an array, says that it is shown as one.
    """
    text = SHOWN_ARRAY.sub(_array, SHOWN_TENSOR.sub(_tensor, text))
    text = DURATION.sub("<duration>", ADDRESS.sub("<address>", text))
    return TOKEN.findall(text)


def unlike(
    reference: list[str], candidate: list[str]
) -> tuple[list[str], list[str], float] | None:
    """Where two texts differ most: the rest of each from there, and how far the tokens are apart; None for the same.

    tf.print shows the values of what the reference shows as a tensor; never the other way round.
    """
    reference = _aligned(reference, candidate)
    pairs = zip_longest(reference, candidate, fillvalue="")
    apart = [excess(one, other) for one, other in pairs]
    worst = max(apart, default=0.0)
    if worst <= 1:
        return None
    place = apart.index(worst)
    return reference[place:], candidate[place:], worst


def excess(reference: str, candidate: str) -> float:
    """How far two tokens are apart: 0 for the same, up to 1 for the same within tolerance, inf for unlike."""
    if reference == candidate or _requoted(reference, candidate):
        return 0.0
    try:
        a, b = float(reference), float(candidate)
    except ValueError:
        return float("inf")
    if WHOLE.fullmatch(reference):
        return float("inf")
    if a == b or (a != a and b != b):
        return 0.0
    if not (isfinite(a) and isfinite(b)):
        return float("inf")
    apart = abs(a - b) / (1e-5 * max(abs(a), abs(b)) + 1e-7)
    if abs(a - b) <= 1.01 * max(_last_digit(reference), _last_digit(candidate)):
        return min(apart, 10.0)  # rounded to the other neighbour
    return apart


def is_part(part: list[str], whole: list[str]) -> bool:
    """Whether all tokens of `part` are in `whole`, in the same order."""
    left: Iterator[str] = iter(whole)
    return all(any(excess(other, token) <= 1 for other in left) for token in part)


def _tensor(match: re.Match[str]) -> str:
    values = SHOWN_ARRAY.sub(r"\g<values>", match["long"] or match["bare"] or "")
    shape, dtype = (
        match["shape"] or match["shape_2"],
        match["dtype"] or match["dtype_2"],
    )
    return f" <tensor {dtype}{shape}> {values}"


def _array(match: re.Match[str]) -> str:
    return f" <array {match['dtype']}> {match['values']}"


def _aligned(reference: list[str], candidate: list[str]) -> list[str]:
    """The reference without what says that a tensor is shown, where the candidate doesn't say so."""
    kept: list[str] = []
    for token in reference:
        said = candidate[len(kept)] if len(kept) < len(candidate) else ""
        if said == token or not SHOWN.fullmatch(token):
            kept.append(token)
    return kept


def _requoted(reference: str, candidate: str) -> bool:
    """Whether a text that is shown in quotes is shown in others, or in none; bytes are not shown where none were."""
    quoted, other = QUOTED.fullmatch(reference), QUOTED.fullmatch(candidate)
    if not quoted or (other and other[1] > quoted[1]):
        return False
    return quoted[3] == (other[3] if other else candidate)


def _last_digit(number: str) -> float:
    """The weight of the last digit shown; 0 where that says nothing about rounding."""
    _, point, decimals = number.partition(".")
    return 10.0 ** -len(decimals) if point and decimals.isdigit() else 0.0
