"""A baseline: findings that were there before, which a project has chosen to live with."""

import json
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from ..transforms.findings import Finding
from .config import ConfigError

Known = tuple[str, str, str]  # code, function and message


class Baseline:
    """The findings of an earlier `graphlift check --format json`.

    They are known by rule, function and message, so that they may move in their file.
    """

    def __init__(self, file: Path) -> None:
        """Read `file`, whose paths are relative to its folder; ConfigError where it isn't a report."""
        try:
            report = json.loads(file.read_bytes())
            self._known = {
                os.path.normpath(file.parent / entry["path"]): Counter(
                    (finding["code"], finding["function"], finding["message"])
                    for finding in entry["findings"]
                )
                for entry in report["files"]
            }
        except OSError as error:
            raise ConfigError(f"{file}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError):
            raise ConfigError(
                f"{file}: not a report of `graphlift check --format json`"
            ) from None

    def new(self, path: Path, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """Those of the findings in the file at `path` that the baseline doesn't have."""
        left = Counter(self._known.get(os.path.abspath(path)))
        return tuple(finding for finding in findings if not _taken(left, finding))


def _taken(left: Counter[Known], finding: Finding) -> bool:
    known = (finding.code, finding.function, finding.message)
    left[known] -= 1
    return left[known] >= 0
