"""What `check` found in files that haven't changed since: .graphlift/cache/check.json."""

import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..transforms.facts.modules import Uses
from ..transforms.facts.project import attribute_uses
from ..transforms.findings import Checked, Finding
from ..transforms.options import Options
from . import version
from .config import Ignores
from .files import Source, put


class Cache:
    """Findings by file, each good for one content, one set of options, one profile and one graphlift.

    A cache that can't be read counts as empty; one that can't be written is let go.
    `ignores` are those of all files: what one calls may lie in another.
    """

    def __init__(self, folder: Path, profile: Path | None, ignores: Ignores) -> None:
        self._file = folder / "check.json"
        self._salt = _digest(
            version(),
            *_own_sources(),
            profile.read_bytes() if profile else b"",
            json.dumps([(pattern, sorted(codes)) for pattern, codes in ignores]),
        )
        entries = _read(self._file)
        self._findings = entries.get("findings", {})
        self._uses = entries.get("uses", {})
        self._used: set[str] = set()
        self._changed = False

    def uses(self, text: str) -> Uses:
        """What `attribute_uses` finds in a text."""
        key = _digest(self._salt, text)
        self._used.add(key)
        if key not in self._uses:
            found = attribute_uses(text)
            self._changed = True
            self._uses[key] = [sorted(names) for names in vars(found).values()]
        return Uses(*map(frozenset, self._uses[key]))

    def get(
        self, source: Source, name: str, options: Options, surroundings: str
    ) -> Checked | None:
        """What was found in `source` under `options`; `name` is what its profile entries go by.

        `surroundings` is the digest of what other modules say of it.
        """
        entry = self._findings.get(os.path.abspath(source.path))
        key = self._key(source, name, options, surroundings)
        if entry is None or entry["key"] != key:
            return None
        findings = tuple(Finding(**finding) for finding in entry["findings"])
        return Checked(findings, tuple(entry["unrecorded"]))

    def put(
        self,
        source: Source,
        name: str,
        options: Options,
        surroundings: str,
        found: Checked,
    ) -> None:
        """Keep what was found in `source`."""
        self._changed = True
        key = self._key(source, name, options, surroundings)
        self._findings[os.path.abspath(source.path)] = {"key": key, **asdict(found)}

    def _key(
        self, source: Source, name: str, options: Options, surroundings: str
    ) -> str:
        values = {
            field: sorted(value) if isinstance(value, frozenset) else value
            for field, value in asdict(options).items()
        }
        return _digest(self._salt, name, json.dumps(values), source.data, surroundings)

    def save(self) -> None:
        """Write what is new, without the files that are gone."""
        if not self._changed:
            return
        findings = {
            path: entry
            for path, entry in self._findings.items()
            if os.path.exists(path)
        }
        uses = {key: names for key, names in self._uses.items() if key in self._used}
        body = json.dumps({"findings": findings, "uses": uses}, sort_keys=True)
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            (self._file.parent / ".gitignore").write_text("*\n")
            put(self._file, f"{_digest(body)}\n{body}".encode())
        except OSError:
            return


def _read(file: Path) -> dict[str, Any]:
    try:
        digest, body = file.read_text().split("\n", 1)
        entries: dict[str, Any] = json.loads(body) if digest == _digest(body) else {}
    except (OSError, ValueError):
        return {}
    return entries


def _digest(*parts: str | bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode(errors="replace")
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()


def _own_sources() -> list[str]:
    """Which state graphlift's own files are in, for those who work on them."""
    from .. import codemods, transforms

    folders = (Path(package.__path__[0]) for package in (codemods, transforms))
    files = sorted(file for folder in folders for file in folder.rglob("*.*"))
    return [
        f"{file} {file.stat().st_mtime_ns}"
        for file in files
        if file.suffix in (".py", ".json")
    ]
