"""For programs: the findings of every file, as JSON of version 1."""

import json
from collections.abc import Sequence
from typing import Any

from ..project import Outcome
from . import counts

MEMBERS = (
    "code",
    "name",
    "message",
    "applicability",
    "line",
    "column",
    "end_line",
    "end_column",
    "function",
)


def render(outcomes: Sequence[Outcome]) -> str:
    """One object: version, files (each with its findings, its functions without a recording, its error), summary."""
    report = {
        "version": 1,
        "files": [_file(outcome) for outcome in outcomes],
        "summary": counts(outcomes),
    }
    return json.dumps(report, indent=1) + "\n"


def _file(outcome: Outcome) -> dict[str, Any]:
    return {
        "path": outcome.name,
        "findings": [
            {member: getattr(finding, member) for member in MEMBERS}
            for finding in outcome.findings
        ],
        "unrecorded": list(outcome.unrecorded),
        "error": _error(outcome),
    }


def _error(outcome: Outcome) -> str | None:
    problem = outcome.problem
    if problem is None:
        return None
    place = f"line {problem.line}, column {problem.column}: " if problem.line else ""
    return place + problem.message
