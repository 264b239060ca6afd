"""The lift of a project's files put to the proof, and which of them may be written."""

import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from . import CallError
from .config import load_profile, project_root, shared_folder
from .project import Outcome
from .proof import UNPROVED, Proof, ProofError, Row, verify

PROGRAMS = ("f", "main")  # rows of these names ran the calls that a file itself makes
NEVER_RUN = (
    "nothing ran it: no call was recorded whose arguments could be kept (tensors, arrays, Python values), "
    "and no main() that was recorded to call it is in the files named"
)
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
    proof, calls = _proof(outcomes, run)
    rows = [calls.explained(row) for row in proof.rows if not calls.is_general(row)]
    return replace(proof, rows=[*rows, *calls.missing(proof.rows)])


def _proof(outcomes: Iterable[Outcome], run: Run) -> "tuple[Proof, _Calls]":
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
    return proof, _Calls(files.values(), root, run.profile)


class _Calls:
    """Which functions of some files a row of a proof has run: those that were recorded to be called from its own.

    A program is taken to run all that is lifted in its file.
    """

    def __init__(
        self, outcomes: Iterable[Outcome], root: Path, profile: Path | None
    ) -> None:
        real = os.path.realpath(root)
        self._files = {
            os.path.relpath(os.path.realpath(outcome.path), real): outcome
            for outcome in outcomes
        }
        self._callees: dict[str, set[str]] = defaultdict(set)
        seen = load_profile(profile).functions if profile else {}
        for key, recorded in seen.items():
            for caller in recorded.callers:
                self._callees[caller].add(key)

    def of(self, outcome: Outcome, rows: Iterable[Row]) -> list[Row]:
        """The rows of a file, and those that ran a function lifted in it."""
        lifted = {f"{outcome.key}::{name}" for name in outcome.lifted}
        return [
            row
            for row in rows
            if self._place(row)[0] is outcome or lifted & self.run_by(row)
        ]

    def is_general(self, row: Row) -> bool:
        """Whether a row is about a file of which `missing` tells more."""
        outcome = self._files.get(row.function)
        return bool(outcome and outcome.lifted)

    def missing(self, rows: Iterable[Row]) -> Iterator[Row]:
        """A row for each function that was lifted and that none of `rows` has run."""
        ran = set().union(*map(self.run_by, rows))
        for file, outcome in self._files.items():
            for name in outcome.lifted:
                if f"{outcome.key}::{name}" not in ran:
                    yield Row(f"{file}::{name}", "skipped", NEVER_RUN)

    def explained(self, row: Row) -> Row:
        """An eager row with the finding that says why: that of its function, of any for a program."""
        outcome, function = self._place(row)
        if row.status != "eager" or outcome is None:
            return row
        messages = [
            f.message
            for f in outcome.findings
            if f.applicability == "manual"
            and (function in PROGRAMS or f.function == function)
        ]
        return replace(row, reason=messages[0]) if messages else row

    def run_by(self, row: Row) -> set[str]:
        """The functions, as the profile names them, that a row has run."""
        outcome, function = self._place(row)
        if outcome is None or not function:
            return set()
        found: set[str] = set()
        queue = [f"{outcome.key}::{function}"]
        if function in PROGRAMS:
            queue += (f"{outcome.key}::{name}" for name in outcome.lifted)
        while queue:
            key = queue.pop()
            if key not in found:
                found.add(key)
                queue += self._callees.get(key, ())
        return found

    def _place(self, row: Row) -> tuple[Outcome | None, str]:
        file, _, function = row.function.partition("::")
        return self._files.get(file), function


def _root(files: Iterable[Path]) -> Path:
    shared = shared_folder(files)
    return project_root(shared) or shared


def proved(outcomes: Iterable[Outcome], run: Run) -> list[Outcome]:
    """The same outcomes, without the new text of the files whose lift can't be proved.

    A file is proved where all that ran of it is the same, and each function that was lifted
    did run. CallError where nothing can be run.
    """
    outcomes = list(outcomes)
    if not any(outcome.text is not None for outcome in outcomes):
        return outcomes
    proof, calls = _proof([o for o in outcomes if not o.problem], run)
    return [
        outcome if outcome.text is None else _held(outcome, proof.rows, calls)
        for outcome in outcomes
    ]


def _held(outcome: Outcome, rows: Sequence[Row], calls: _Calls) -> Outcome:
    doubt = _doubt(outcome, calls.of(outcome, rows), calls)
    return replace(outcome, text=None, lifted=(), unproved=doubt) if doubt else outcome


def _doubt(outcome: Outcome, rows: Sequence[Row], calls: _Calls) -> str:
    """Why a lift is not taken for proved, of which some rows tell."""
    for row in rows:
        if row.status in ("different", "raised"):
            return f"{row.function} {row.status}: {row.reason}"
    good = [row for row in rows if row.status not in UNPROVED]
    ran = set().union(*map(calls.run_by, good))
    missing = [n for n in outcome.lifted if f"{outcome.key}::{n}" not in ran]
    for row in rows:
        if row.status == "skipped" and missing and not calls.is_general(row):
            return f"{row.function} skipped: {row.reason}"
    return f"{', '.join(missing)}: {NEVER_RUN}" if missing else ""


def show(proof: Proof) -> None:
    """Write a proof to standard output as a table, and under it what needs words."""
    from rich.console import Console

    from .proof.table import reasons, table

    console = Console(width=None if sys.stdout.isatty() else UNFOLDED)
    console.print(table(proof))
    for reason in reasons(proof):
        console.print(reason, soft_wrap=True)
