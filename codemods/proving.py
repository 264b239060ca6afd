"""The lift of a project's files put to the proof, and which of them may be written."""

import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from . import CallError
from .config import project_root, shared_folder
from .project import Outcome
from .proof import Proof, ProofError, Row, verify

PROGRAMS = ("f", "main")  # rows of these names ran the calls that a file itself makes
UNFOLDED = 10_000  # columns: outside a terminal lines are as long as they are


@dataclass(frozen=True)
class Run:
    """How a proof is run: see `proof.verify`."""

    profile: Path | None = None
    against: Path | None = None
    python: str | None = None
    device: str | None = None
    timing: bool = True
    progress: Callable[[str], None] | None = None


def prove(outcomes: Iterable[Outcome], run: Run) -> Proof:
    """Run the files that could be read, as they are and lifted; CallError where nothing can be run."""
    files = {outcome.path: outcome for outcome in outcomes if outcome.source}

    def lift(path: Path) -> str:
        if problem := files[path].problem:
            raise ValueError(problem.message)
        return files[path].new_text

    root = _root(files)
    try:
        proof = verify(list(files), root, lift, **vars(run))
    except ProofError as error:
        raise CallError(str(error)) from None
    places = {
        os.path.relpath(os.path.realpath(path), os.path.realpath(root)): outcome
        for path, outcome in files.items()
    }
    rows = [_explained(row, places) for row in proof.rows]
    return replace(proof, rows=rows)


def _explained(row: Row, outcomes: dict[str, Outcome]) -> Row:
    """An eager row with the finding that says why: that of its function, of any for a program."""
    path, _, function = row.function.partition("::")
    if row.status != "eager" or path not in outcomes:
        return row
    messages = [
        f.message
        for f in outcomes[path].findings
        if f.applicability == "manual"
        and (function in PROGRAMS or f.function == function)
    ]
    return replace(row, reason=messages[0]) if messages else row


def _root(files: Iterable[Path]) -> Path:
    shared = shared_folder(files)
    return project_root(shared) or shared


def proved(outcomes: Iterable[Outcome], run: Run) -> list[Outcome]:
    """The same outcomes, without the new text of the files whose lift can't be proved.

    A file is proved where all that was run of it is the same, and that was either its
    own program or every function that was lifted. CallError where nothing can be run.
    """
    outcomes = list(outcomes)
    changed = {o.path: o for o in outcomes if o.text is not None}
    if not changed:
        return outcomes
    rows: dict[str, list[Row]] = defaultdict(list)
    for row in prove(changed.values(), run).rows:
        rows[row.function.partition("::")[0]].append(row)
    root = os.path.realpath(_root(changed))
    for path, outcome in changed.items():
        name = os.path.relpath(os.path.realpath(path), root)
        changed[path] = _held(outcome, rows[name])
    return [changed.get(outcome.path, outcome) for outcome in outcomes]


def _held(outcome: Outcome, rows: Sequence[Row]) -> Outcome:
    doubt = _doubt(outcome, rows)
    return replace(outcome, text=None, lifted=(), unproved=doubt) if doubt else outcome


def _doubt(outcome: Outcome, rows: Sequence[Row]) -> str:
    for row in rows:
        if row.status != "same":
            return f"{row.function} {row.status}: {row.reason}"
    ran = {row.function.partition("::")[2] for row in rows}
    missing = set(outcome.lifted) - ran
    if not ran or (missing and not ran.intersection(PROGRAMS)):
        return f"nothing ran {', '.join(sorted(missing)) or 'it'}"
    return ""


def show(proof: Proof) -> None:
    """Write a proof to standard output as a table, and under it what needs words."""
    from rich.console import Console

    from .proof.table import reasons, table

    console = Console(width=None if sys.stdout.isatty() else UNFOLDED)
    console.print(table(proof))
    for reason in reasons(proof):
        console.print(reason, soft_wrap=True)
