"""Held values, exceptions and printed text in a few words."""

from __future__ import annotations

from typing import Any

from .values import Held


def kind_of(held: Held) -> str:
    """Which of its members says what a held value is."""
    return next(iter(held))


def shape_of(held: Held) -> tuple[int, ...]:
    """The shape of a held tensor, variable, array or scalar."""
    return tuple(held["shape"] if "shape" in held else held[kind_of(held)].shape)


def in_words(held: Held) -> str:
    """A held value in a few words."""
    kind = kind_of(held)
    value = held[kind]
    if kind == "value":
        return "None" if value is None else f"{type(value).__name__} {cut(repr(value))}"
    if kind in ("tensor", "variable", "array", "scalar"):
        sizes = ", ".join(map(str, shape_of(held)))
        shown = "" if isinstance(value, list) or value.size > 6 else f" {value}"
        return f"{kind}({held['dtype']}{', ' * bool(sizes)}{sizes}){shown}"
    if kind in ("list", "tuple", "parts"):
        return f"{held.get('type', kind)} of {len(value)}"
    if kind in ("dict", "set"):
        return f"{kind} of {len(value)}"
    if kind in ("object", "opaque"):
        return f"{value} {cut(held.get('text', ''))}".strip()
    if kind == "leak":
        return f"a symbolic tensor, leaked: {value}"
    return f"{kind} {cut(str(value))}"


def error_in_words(raised: dict[str, Any]) -> str:
    """The class of a held exception, and the line of its message that says most.

    AutoGraph puts a traceback before the message proper, which begins with the class.
    """
    lines = [line.strip() for line in raised["message"].splitlines() if line.strip()]
    marked = [line for line in lines if line.startswith(f"{raised['class']}: ")]
    if marked:
        return cut(marked[-1], 250)
    return f"{raised['class']}: {cut(lines[-1], 200)}" if lines else raised["class"]


def text_in_words(printed: str) -> str:
    """The beginning of printed text."""
    return repr(cut(printed)) if printed else "nothing"


def tokens_in_words(tokens: list[str]) -> str:
    """The first tokens of what is left of printed text."""
    return cut(" ".join(tokens), 40) if tokens else "no more"


def cut(text: str, most: int = 80) -> str:
    """At most so many characters of a text."""
    return text if len(text) <= most else text[: most - 1] + "…"
