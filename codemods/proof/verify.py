"""Lift into a scratch copy, run original and lift on the same calls, compare and time."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from .interpreter import ProofError, find_python
from .judging import judge
from .processes import Lost, Template, Worker
from .results import Proof, Row, Status
from .runs import Bench, NotLoaded, Seen
from .scratch import Trees
from .targets import NOTHING, Target, check_profile, targets
from .timing import time_pair

TIMEOUT = 60.0
REFEREE_SECONDS = 24 * 3600.0
DEVICES = (None, "cpu", "gpu")


def verify(
    files: Sequence[Path],
    root: Path,
    lift: Callable[[Path], str],
    *,
    against: Path | None = None,
    profile: Path | None = None,
    python: str | None = None,
    device: str | None = None,
    timing: bool = True,
    timeout: float = TIMEOUT,
    progress: Callable[[str], None] | None = None,
) -> Proof:
    """Prove the lift of `files`, which lie in the project folder `root`, by running it.

    `lift` gives the lifted text of a file; SyntaxError or ValueError from it mean that the file
    can't be read. With `against`, a file or a folder laid out like `root`, the hand-made lift
    there takes its place. `profile` is the profile.json beside whose samples functions are
    called that bring no inputs of their own, and whose interpreter is used unless `python` names one. `device`: "cpu" or "gpu", else a GPU where there is
    one. A program may take `timeout` seconds, original and lift each. `progress` is told each
    file before it is run.

    Nothing is written outside a scratch folder. Raises ProofError where nothing can be run.
    """
    if device not in DEVICES:
        raise ProofError(f"no device {device!r}: cpu or gpu")
    if profile:
        check_profile(profile)
    interpreter = find_python(python, profile)
    with tempfile.TemporaryDirectory(prefix="graphlift-verify-") as name:
        folder = Path(name).resolve()
        trees = Trees(root.resolve(), folder)
        refused = _lift_all(trees, files, lift, against)
        with (
            Template(interpreter, folder, gpu=device != "cpu") as template,
            template.worker(REFEREE_SECONDS) as referee,
        ):
            found = referee.ask("device")["device"]
            if device == "gpu" and found == "cpu":
                raise ProofError("TensorFlow sees no GPU here")
            bench = Bench(template, referee, trees, timeout)
            rows: list[Row] = []
            for file in files:
                relative = trees.relative(file)
                if progress:
                    progress(relative)
                if relative in refused:
                    rows.append(Row(relative, "skipped", refused[relative]))
                else:
                    rows += _prove_file(bench, trees, file, profile, timing)
    return Proof(found, rows, tuple(refused), gpu_wanted=device != "cpu")


def _lift_all(
    trees: Trees,
    files: Sequence[Path],
    lift: Callable[[Path], str],
    against: Path | None,
) -> dict[str, str]:
    """Fill the lifted tree; the files that can't be lifted, and why."""
    if against:
        try:
            trees.overlay(against, files)
        except OSError as error:
            raise ProofError(f"{error.filename}: {error.strerror}") from None
        return {}
    refused = {}
    for file in files:
        try:
            trees.lift(file, lift)
        except (SyntaxError, ValueError) as error:
            refused[trees.relative(file)] = f"can't be read: {error}"
    return refused


def _prove_file(
    bench: Bench, trees: Trees, file: Path, profile: Path | None, timing: bool
) -> Iterator[Row]:
    relative = trees.relative(file)
    try:
        found = targets(file, relative, profile)
    except (SyntaxError, ValueError) as error:
        yield Row(relative, "skipped", f"can't be read: {error}")
        return
    if not found and relative in trees.changed:
        yield Row(relative, "skipped", NOTHING)
    for target in found:
        with bench.worker() as original, bench.worker() as lifted:
            yield _prove(bench, trees.changed, target, original, lifted, timing)


def _prove(
    bench: Bench,
    changed: set[str],
    target: Target,
    original: Worker,
    lifted: Worker,
    timing: bool,
) -> Row:
    def row(status: Status, reason: str, **figures: Any) -> Row:
        name = f"{target.file}::{target.function}"
        return Row(name, status, " ".join(reason.split()), **figures)

    try:
        reference = bench.observe(original, "original", target)
    except (Lost, NotLoaded) as error:
        return row("skipped", f"the original {error}")
    if target.inputs != "ARGS" and all(reference.raised):
        return row("skipped", f"the original raises {_first(reference.raised)}")
    if not changed.intersection(reference.imported):
        return row("eager", "nothing was lifted")
    try:
        calls = len(reference.raised)
        candidate = bench.observe(lifted, "lifted", target, calls=calls)
    except (Lost, NotLoaded) as error:
        return row("raised", f"the lift {error}")
    found = bench.compare(reference, candidate)
    status, reason = judge(bench, target, reference, candidate, found)
    figures: dict[str, Any] = {
        "max_abs_error": found.max_abs,
        "max_rel_error": found.max_rel,
        "traces": candidate.traces,
        "graph_nodes": candidate.nodes,
    }
    if status == "same" and timing and reference.seconds and candidate.seconds:
        figures |= _times(original, lifted, reference, candidate)
    return row(status, reason, **figures)


def _times(
    original: Worker, lifted: Worker, reference: Seen, candidate: Seen
) -> dict[str, float | int | None]:
    try:
        timed = time_pair(
            original, lifted, (reference.seconds, candidate.seconds), reference.inputs
        )
        peak = lifted.ask("device")["peak_bytes"]
    except Lost:
        return {}
    first = 1e3 * candidate.seconds[0]
    return {
        "eager_ms": timed.eager_ms,
        "graph_ms": timed.graph_ms,
        "speedup": timed.speedup,
        "spread": timed.spread,
        "trace_ms": max(0.0, first - timed.graph_ms) if candidate.traces else None,
        "peak_bytes": peak,
    }


def _first(raised: Sequence[dict[str, Any] | None]) -> str:
    error = next(filter(None, raised))
    return f"{error['class']}: {error['message']}"
