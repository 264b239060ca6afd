"""Unified diffs that `git apply` takes, byte for byte; coloured on a terminal."""

import difflib
import os
import re
import sys
from typing import TYPE_CHECKING

from .files import Source

if TYPE_CHECKING:
    from rich.text import Text

STYLES = {b"---": "bold", b"+++": "bold", b"@@": "cyan", b"+": "green", b"-": "red"}
ESCAPES = {"\n": r"\n", "\t": r"\t", "\r": r"\r", '"': r"\"", "\\": r"\\"}


def unified(name: str, source: Source, text: str) -> bytes:
    """The diff from `source` to `text`, in the encoding of the file; `name` is its path from here."""
    lines = difflib.diff_bytes(
        difflib.unified_diff,
        _lines(source.data),
        _lines(source.encode(text)),
        _label("a", name),
        _label("b", name),
        lineterm=b"\n",
    )
    return b"".join(
        line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"
        for line in lines
    )


def _lines(data: bytes) -> list[bytes]:
    """Lines with their ends, as git counts them: LF alone ends one."""
    return re.findall(rb"[^\n]*\n|[^\n]+", data)


def _label(side: str, name: str) -> bytes:
    path = f"{side}/{name.lstrip('/')}"
    if any(character in ESCAPES for character in path):
        path = '"' + "".join(ESCAPES.get(c, c) for c in path) + '"'
    elif " " in path:
        path += "\t"
    return path.encode(errors="surrogateescape")


def _coloured(diff: bytes, encoding: str) -> "Text":
    """A diff for people's eyes: what was added green, what was removed red."""
    from rich.text import Text

    text = Text()
    for line in _lines(diff):
        style = next((STYLES[start] for start in STYLES if line.startswith(start)), "")
        text.append(line.decode(encoding, "replace"), style)
    return text


def show(name: str, source: Source, text: str) -> None:
    """Write the diff to standard output: its bytes, or in colour where that is a terminal."""
    diff = unified(name, source, text)
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
        from rich.console import Console

        Console().print(_coloured(diff, source.encoding), end="", soft_wrap=True)
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(diff)
