"""How findings are told: one module a format, each with `render(outcomes) -> str`."""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..project import Outcome


class Format(StrEnum):
    """The formats of findings."""

    text = "text"
    json = "json"
    sarif = "sarif"
    github = "github"
    junit = "junit"


def render(format: Format, outcomes: "Sequence[Outcome]") -> str:
    """The report in that format, with a newline at the end of each line."""
    text: str = import_module(f".{format.value}", __name__).render(outcomes)
    return text


def counts(outcomes: "Sequence[Outcome]") -> dict[str, int]:
    """How many files, findings, errors, and findings of each applicability there are."""
    kinds = Counter(f.applicability for outcome in outcomes for f in outcome.findings)
    return {
        "files": len(outcomes),
        "findings": kinds.total(),
        "errors": sum(outcome.problem is not None for outcome in outcomes),
        "safe": kinds["safe"],
        "unsafe": kinds["unsafe"],
        "manual": kinds["manual"],
    }
