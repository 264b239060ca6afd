"""For people: `path:line:column: CODE [name] message (applicability)`."""

from collections.abc import Iterator, Sequence

from ..project import Outcome
from . import counts

SHOWN = 3  # names of functions in a note


def render(outcomes: Sequence[Outcome]) -> str:
    """One line a finding or problem."""
    return "".join(f"{line}\n" for outcome in outcomes for line in _lines(outcome))


def _lines(outcome: Outcome) -> Iterator[str]:
    if outcome.problem:
        place = outcome.name
        if outcome.problem.line:
            place += f":{outcome.problem.line}:{outcome.problem.column}"
        yield f"{place}: error: {outcome.problem.message}"
    for finding in outcome.findings:
        yield (
            f"{outcome.name}:{finding.line}:{finding.column}: {finding.code} "
            f"[{finding.name}] {finding.message} ({finding.applicability})"
        )


def summary(outcomes: Sequence[Outcome]) -> str:
    """One line that says how much there is of what."""
    count = counts(outcomes)
    text = (
        f"{_number(count['findings'], 'finding')} in {_number(count['files'], 'file')}"
    )
    kinds = [
        f"{count[kind]} {kind}" for kind in ("safe", "unsafe", "manual") if count[kind]
    ]
    if kinds:
        text += f" ({', '.join(kinds)})"
    if count["errors"]:
        text += f"; {_number(count['errors'], 'file')} could not be processed"
    return text


def notes(outcomes: Sequence[Outcome]) -> str:
    """What can be done about manual findings, and about functions of which nothing is known; rules that are none."""
    return _by_hand(outcomes) + _unrecorded(outcomes) + _misnamed(outcomes)


def _by_hand(outcomes: Sequence[Outcome]) -> str:
    findings = (f for outcome in outcomes for f in outcome.findings)
    codes = sorted({f.code for f in findings if f.applicability == "manual"})
    if not codes:
        return ""
    return f"note: what can be done by hand: graphlift explain {' '.join(codes)}\n"


def _unrecorded(outcomes: Sequence[Outcome]) -> str:
    names = [f"{o.name}::{name}" for o in outcomes for name in o.unrecorded]
    if not names:
        return ""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return (
        f"note: never recorded, so nothing is found in {', '.join(names[:SHOWN])}{more}; "
        "run them once: graphlift record -- python PROGRAM\n"
    )


def _misnamed(outcomes: Sequence[Outcome]) -> str:
    """One line a `noqa` comment that names no rule."""
    from ...transforms.source import misnamed

    return "".join(
        f"note: {outcome.name}:{line}: `noqa` names {code}, which is no rule\n"
        for outcome in outcomes
        if outcome.source and not outcome.problem
        for line, code in misnamed(outcome.source.text)
    )


def rewritten(outcomes: Sequence[Outcome]) -> str:
    """One line a file that has a new text: what was lifted in it."""
    return "".join(
        f"{_deed(outcome)} {outcome.name}\n"
        for outcome in outcomes
        if outcome.text is not None
    )


def _deed(outcome: Outcome) -> str:
    return f"lifted {', '.join(outcome.lifted)} in" if outcome.lifted else "changed"


def unproved(outcomes: Sequence[Outcome]) -> str:
    """One line a file that was left as it was because its lift could not be proved."""
    return "".join(
        f"{outcome.name}: not proved, left as it was: {outcome.unproved}\n"
        for outcome in outcomes
        if outcome.unproved
    )


def rewritten_summary(outcomes: Sequence[Outcome]) -> str:
    """One line that says how much was rewritten, and how much remains."""
    lifted = sum(len(outcome.lifted) for outcome in outcomes)
    changed = sum(outcome.text is not None for outcome in outcomes)
    return (
        f"{_number(lifted, 'function')} lifted, {_number(changed, 'file')} rewritten; "
        f"left: {summary(outcomes)}"
    )


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
