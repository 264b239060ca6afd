"""Profiles: what a recorded run saw of a project's functions."""

from __future__ import annotations

import ast
import hashlib
import io
import json
import textwrap
import tokenize
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from .kind_notation import parse
from .kinds import UNKNOWN, Kind

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
T = TypeVar("T")
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


@dataclass(frozen=True)
class Recorded:
    """What the profile says of one function; kinds by name, positions relative to the def.

    Of the lines in positions, a profile counts those with code, `get` all.
    """

    source: str
    calls: int = 0
    parameters: Mapping[str, Kind] = field(default_factory=dict)
    returns: Kind = UNKNOWN
    globals: Mapping[str, Kind] = field(default_factory=dict)
    closure: Mapping[str, Kind] = field(default_factory=dict)
    attributes: Mapping[str, Kind] = field(default_factory=dict)
    names: Mapping[str, Kind] = field(default_factory=dict)
    tests: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    loops: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()
    random: frozenset[str] = frozenset()
    callers: tuple[str, ...] = ()
    raises: tuple[str, ...] = ()
    shared: frozenset[str] = frozenset()
    """What had one and the same tensor in some call: `a is b`, for names and chains of attributes, in order."""

    @property
    def trips(self) -> dict[str, tuple[int, int]]:
        """The fewest and the most iterations of each loop, by its place."""
        found = {place: loop.get("trips") for place, loop in self.loops.items()}
        return {
            place: (trips[0], trips[1])
            for place, trips in found.items()
            if isinstance(trips, list) and len(trips) == 2
        }

    def carried(self, function: FunctionNode, loop: ast.stmt, name: str) -> list[Kind]:
        """What a name held where a loop began, and then at the ends of its iterations; none where that is not known."""
        written: ast.stmt = getattr(loop, "origin", loop)
        if not hasattr(written, "lineno"):
            return []
        names = self.loops.get(place_in(function, written), {}).get("names")
        found = names.get(name, ()) if isinstance(names, dict) else ()
        return [parse(str(text)) for text in found]

    def mapped(self, change: Callable[[Kind], Kind]) -> Recorded:
        """The same with other kinds in their places."""

        def changed(kinds: Mapping[str, Kind]) -> dict[str, Kind]:
            return {name: change(kind) for name, kind in kinds.items()}

        return replace(
            self,
            parameters=changed(self.parameters),
            returns=change(self.returns),
            globals=changed(self.globals),
            closure=changed(self.closure),
            attributes=changed(self.attributes),
            names=changed(self.names),
        )


@dataclass(frozen=True)
class Profile:
    """The recorded functions of a project, by `path::qualname`; `root` is the folder the paths start from.

    `modules` has the dotted name of each module, as kinds have it, by the path of its file.
    """

    root: Path
    functions: Mapping[str, Recorded]
    modules: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path) -> Profile:
        """Read a profile.

        Raises:
            OSError: the file cannot be read.
            ValueError: it is not a profile.
        """
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data["version"] != 1:
                raise ValueError(f"version {data['version']} is not known")
            functions = {
                key: _recorded(entry) for key, entry in data["functions"].items()
            }
            modules = {key: str(name) for key, name in data.get("modules", {}).items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a profile: {error}") from error
        return cls(path.absolute().parent.parent, functions, modules)

    def get(
        self, path: str, qualname: str, lines: list[str], node: FunctionNode
    ) -> Recorded | None:
        """What was recorded of a function, None where nothing was or its code has changed since."""
        entry = self.functions.get(f"{path}::{qualname}")
        if entry is None or entry.source != fingerprint(lines, node):
            return None
        return _placed(entry, list(code_lines(lines, node)), node.lineno)


def place_in(function: FunctionNode, loop: ast.stmt) -> str:
    """The place of a loop in a function, as a profile has it."""
    return f"{loop.lineno - function.lineno}:{loop.col_offset - function.col_offset}"


def fingerprint(lines: list[str], node: FunctionNode) -> str:
    """The first 16 hex digits of the SHA-256 of a function's dedented code, decorators included, comments not.

    The recorder works out the same in the Python of the program, where it has nothing of graphlift's but itself.
    """
    text = "\n".join(code_lines(lines, node).values())
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


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


def _placed(entry: Recorded, rows: list[int], first: int) -> Recorded:
    """An entry with the positions of a function as it stands: its lines with code are `rows`, its `def` is in `first`."""
    start = rows.index(first)

    def moved(places: Mapping[str, T]) -> dict[str, T]:
        found = {}
        for place, value in places.items():
            line, _, rest = place.partition(":")
            row = start + int(line)
            if 0 <= row < len(rows):
                found[f"{rows[row] - first}:{rest}"] = value
        return found

    return replace(
        entry,
        names=moved(entry.names),
        tests=moved(entry.tests),
        loops=moved(entry.loops),
    )


def _recorded(entry: Mapping[str, object]) -> Recorded:
    calls = entry.get("calls", 0)
    if not isinstance(calls, int):
        raise TypeError(f"calls is {calls!r}")

    def kinds(member: str) -> dict[str, Kind]:
        value = entry.get(member, {})
        return {name: parse(text) for name, text in value.items()}  # type: ignore[attr-defined]

    return Recorded(
        source=str(entry["source"]),
        calls=calls,
        parameters=kinds("parameters"),
        returns=parse(str(entry.get("returns", "unknown"))),
        globals=kinds("globals"),
        closure=kinds("closure"),
        attributes=kinds("attributes"),
        names=kinds("names"),
        tests=entry.get("tests", {}),  # type: ignore[arg-type]
        loops=entry.get("loops", {}),  # type: ignore[arg-type]
        changed=frozenset(entry.get("changed", ())),  # type: ignore[call-overload]
        random=frozenset(entry.get("random", ())),  # type: ignore[call-overload]
        callers=tuple(entry.get("callers", ())),  # type: ignore[arg-type]
        raises=tuple(entry.get("raises", ())),  # type: ignore[arg-type]
        shared=frozenset(entry.get("shared", ())),  # type: ignore[call-overload]
    )
