"""Writes the new texts of files: one that needs others' new texts after those, and only if they were written."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from . import files
from .files import FileError
from .project import Outcome, Problem


def saved(outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """Write each new text as soon as what it needs is written; a failed outcome where that can't be done."""
    settled: dict[str, Outcome] = {}
    waiting: list[Outcome] = []
    for outcome in outcomes:
        waiting.append(outcome)
        yield from _ready(waiting, settled)
    yield from _circle(waiting)


def _ready(waiting: list[Outcome], settled: dict[str, Outcome]) -> Iterator[Outcome]:
    """Settle what waits for nothing any more."""
    progress = True
    while progress:
        progress = False
        for outcome in list(waiting):
            if outcome.needs <= settled.keys():
                waiting.remove(outcome)
                done = _save(_without_missing(outcome, settled))
                settled[outcome.key] = done
                progress = True
                yield done


def _without_missing(outcome: Outcome, settled: dict[str, Outcome]) -> Outcome:
    """The outcome, without its new text where another that it needs was not written."""
    for key in sorted(outcome.needs):
        if outcome.text is not None and _stays(settled[key]):
            return _left(outcome, settled[key])
    return outcome


def _circle(waiting: list[Outcome]) -> Iterator[Outcome]:
    """Write files that need each other: all of them, or none."""
    done = [_save(outcome) for outcome in waiting]
    failed = next(filter(_stays, done), None)
    for outcome in done:
        if failed and outcome.source is not None and outcome.text is not None:
            data = outcome.source.encode(outcome.text)
            files.write(replace(outcome.source, data=data), outcome.source.text)
            outcome = _left(outcome, failed)
        yield outcome


def _stays(outcome: Outcome) -> bool:
    return bool(outcome.problem or outcome.unproved)


def _left(outcome: Outcome, other: Outcome) -> Outcome:
    """A file left as it was, because of another one that is."""
    reason = f"it needs {other.name}, which stays as it is"
    if other.problem:
        return outcome.failed(Problem(reason))
    return replace(outcome, text=None, lifted=(), unproved=reason)


def _save(outcome: Outcome) -> Outcome:
    if outcome.source is None or outcome.text is None:
        return outcome
    try:
        files.write(outcome.source, outcome.text)
    except FileError as error:
        return outcome.failed(Problem(error.message))
    return outcome
