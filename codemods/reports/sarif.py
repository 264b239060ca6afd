"""For code scanning services: SARIF 2.1.0."""

import json
import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from ...transforms.findings import Finding
from ...transforms.rules import find_rule
from .. import version
from ..project import Outcome

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(outcomes: Sequence[Outcome]) -> str:
    """One run with the rules that were met, a result a finding, a notification a problem."""
    findings = [finding for outcome in outcomes for finding in outcome.findings]
    names = dict(sorted((finding.code, finding.name) for finding in findings))
    problems = [outcome for outcome in outcomes if outcome.problem]
    run = {
        "tool": {
            "driver": {
                "name": "graphlift",
                "version": version(),
                "rules": [_rule(code, name) for code, name in names.items()],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not problems,
                "toolExecutionNotifications": [_notification(o) for o in problems],
            }
        ],
        "results": [
            _result(outcome, finding, list(names).index(finding.code))
            for outcome in outcomes
            for finding in outcome.findings
        ],
    }
    report = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(report, indent=1) + "\n"


def _rule(code: str, name: str) -> dict[str, Any]:
    rule = find_rule(code)
    return {
        "id": code,
        "name": name,
        "shortDescription": {"text": name},
        "help": {"text": rule.documentation() if rule else name},
    }


def _result(outcome: Outcome, finding: Finding, rule: int) -> dict[str, Any]:
    region = {
        "startLine": finding.line,
        "startColumn": finding.column,
        "endLine": finding.end_line,
        "endColumn": finding.end_column,
    }
    return {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": "warning",
        "message": {"text": finding.message},
        "locations": [_location(outcome, region)],
        "properties": {"applicability": finding.applicability},
    }


def _notification(outcome: Outcome) -> dict[str, Any]:
    problem = outcome.problem
    assert problem
    region = {"startLine": problem.line, "startColumn": max(problem.column, 1)}
    return {
        "level": "error",
        "message": {"text": problem.message},
        "locations": [_location(outcome, region if problem.line else None)],
    }


def _location(outcome: Outcome, region: dict[str, int] | None) -> dict[str, Any]:
    place: dict[str, Any] = {
        "artifactLocation": {"uri": quote(os.fsencode(outcome.name))}
    }
    if region:
        place["region"] = region
    return {"physicalLocation": place}
