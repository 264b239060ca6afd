"""Profiles: what a recorded run saw of a project's functions."""

from __future__ import annotations

import ast
import hashlib
import json
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from .kind_notation import parse
from .kinds import UNKNOWN, Kind

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Recorded:
    """What the profile says of one function; kinds by name, positions relative to the def."""

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
        """What was recorded of a function, None where nothing was or its source has changed since."""
        entry = self.functions.get(f"{path}::{qualname}")
        return entry if entry and entry.source == fingerprint(lines, node) else None


def fingerprint(lines: list[str], node: FunctionNode) -> str:
    """The first 16 hex digits of the SHA-256 of a function's dedented text, decorators included."""
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    text = textwrap.dedent("\n".join(lines[first - 1 : node.end_lineno]))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


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
    )
