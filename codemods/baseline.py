"""A baseline: findings that were there before, which a project has chosen to live with.

It holds no lines, so that it changes with the findings only.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..transforms.findings import Finding
from .config import ConfigError
from .files import put
from .project import Outcome

MEMBERS = ("code", "name", "message", "function")

Known = tuple[str, str, str]  # code, function and message


class Baseline:
    """The findings that `write` has kept, or an earlier `graphlift check --format json` has told.

    They are known by rule, function and message, so that they may move in their file.
    """

    def __init__(self, file: Path) -> None:
        """Read `file`, whose paths are relative to its folder; ConfigError where it isn't a report."""
        try:
            self._known = {
                os.path.normpath(file.parent / entry["path"]): Counter(
                    (finding["code"], finding["function"], finding["message"])
                    for finding in entry["findings"]
                )
                for entry in _entries(file)
            }
        except (OSError, ValueError, KeyError, TypeError) as error:
            reason = getattr(error, "strerror", None) or "not a baseline"
            raise ConfigError(
                f"{file}: {reason}; write it with `graphlift check --write-baseline`"
            ) from None

    def new(self, path: Path, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """Those of the findings in the file at `path` that the baseline doesn't have."""
        left = Counter(self._known.get(os.path.abspath(path)))
        return tuple(finding for finding in findings if not _taken(left, finding))


def _taken(left: Counter[Known], finding: Finding) -> bool:
    known = (finding.code, finding.function, finding.message)
    left[known] -= 1
    return left[known] >= 0


def write(file: Path, outcomes: Sequence[Outcome]) -> None:
    """Keep the findings of all files looked at; what `file` has of others that are still there stays.

    ConfigError where it can't be written.
    """
    looked_at = {
        _inside(outcome.path, file): outcome
        for outcome in outcomes
        if not outcome.problem
    }
    entries = {
        entry["path"]: entry
        for entry in _earlier(file)
        if entry["path"] not in looked_at and (file.parent / entry["path"]).exists()
    }
    for path, outcome in looked_at.items():
        findings = [{m: getattr(f, m) for m in MEMBERS} for f in outcome.findings]
        if findings:
            entries[path] = {"path": path, "findings": findings}
    report = {"version": 1, "files": [entries[path] for path in sorted(entries)]}
    try:
        put(file, f"{json.dumps(report, indent=1)}\n".encode())
    except OSError as error:
        raise ConfigError(f"{file} can't be written: {error.strerror}") from None


def _inside(path: Path, file: Path) -> str:
    return Path(os.path.relpath(path, file.parent)).as_posix()


def _entries(file: Path) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(file.read_bytes())["files"]
    return entries


def _earlier(file: Path) -> list[dict[str, Any]]:
    try:
        return [entry for entry in _entries(file) if entry["path"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []
