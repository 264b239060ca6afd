"""For GitHub Actions: workflow commands that annotate the lines of a pull request."""

from collections.abc import Iterator, Sequence

from ..project import Outcome

IN_MESSAGE = "%\r\n"
IN_PROPERTY = IN_MESSAGE + ":,"


def render(outcomes: Sequence[Outcome]) -> str:
    """One command a finding or problem."""
    return "".join(f"{line}\n" for outcome in outcomes for line in _lines(outcome))


def _lines(outcome: Outcome) -> Iterator[str]:
    if problem := outcome.problem:
        place = {"line": problem.line, "col": problem.column} if problem.line else {}
        yield _command("error", problem.message, file=outcome.name, **place)
    for finding in outcome.findings:
        yield _command(
            "warning",
            finding.message,
            file=outcome.name,
            line=finding.line,
            col=finding.column,
            endLine=finding.end_line,
            endColumn=finding.end_column,
            title=f"{finding.code} {finding.name}",
        )


def _command(level: str, message: str, **properties: str | int) -> str:
    values = ",".join(
        f"{key}={_escaped(str(value), IN_PROPERTY)}"
        for key, value in properties.items()
    )
    return f"::{level} {values}::{_escaped(message, IN_MESSAGE)}"


def _escaped(text: str, characters: str) -> str:
    for character in characters:
        text = text.replace(character, f"%{ord(character):02X}")
    return text
