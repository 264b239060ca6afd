"""Lifts random programs and holds them against what they did.

Each program runs eagerly, is rewritten (by the profile of that run, or by its annotations alone, where the
findings do not ask for a recording), and the lift runs as a graph and eagerly on the same calls. A difference
in a graph that goes away without TensorFlow's own graph optimizers, up to rounding, is not a fault.

As a script: many programs, within a time; exits 1 where one differs.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import tensorflow as tf
from harness import Program, differences, lift, prove, run
from random_effects import EffectWriter
from random_writer import Writer
from rich.progress import track
from shrinking import shrunk
from timeouts import TooLong, Worker

from graphlift.codemods import pipeline
from graphlift.codemods.pipeline import Rewritten
from graphlift.transforms.codes import RECORD
from graphlift.transforms.facts.profile import Profile
from graphlift.transforms.options import Options

tf.get_logger().setLevel("CRITICAL")

LONGEST = 180
"""Seconds for one program."""

SAME, DIFFERENT, LEFT, BAD = "same", "different", "left alone", "bad program"
IDLE = "nothing to lift"


@dataclass(frozen=True)
class Verdict:
    """What came of a program: SAME, DIFFERENT, LEFT (refused), IDLE or BAD, the reason, and the lifted text."""

    word: str
    reason: str = ""
    lifted: str = ""


Told = tuple[Verdict, str]
"""What came of a program, and what is to be told of it."""


def written(seed: object, number: int, effects: bool = False) -> Program:
    """The random program of this seed and number, one that does more than compute where `effects`."""
    writer = EffectWriter if effects else Writer
    return writer(random.Random(f"{seed} {number}")).program(f"p{number}")


def judged(program: Program, folder: Path, recorded: bool = True) -> Verdict:
    """Run a program, lift it and run the lift; `recorded`: with the profile of the first run."""
    try:
        original, rewritten = lift(
            program, folder, pipeline.rewrite if recorded else _unrecorded
        )
    except Exception:
        text = traceback.format_exc()
        return Verdict(DIFFERENT if "pipeline.py" in text else BAD, text)
    if not rewritten.lifted:
        reasons = [f.message.partition(": ")[2] for f in rewritten.findings]
        return Verdict(LEFT, reasons[0]) if reasons else Verdict(IDLE)
    lifted = replace(program, text=rewritten.text)
    try:
        prove(original, lifted, folder)
    except AssertionError as error:
        with _without_optimizers():
            found = differences(
                original, run(lifted, folder / "unoptimized", watched=False)
            )
        if found or "run eagerly" in str(error):
            return Verdict(DIFFERENT, str(error).partition("\n\n")[0], rewritten.text)
    return Verdict(SAME, lifted=rewritten.text)


def _unrecorded(
    text: str, path: str, options: Options, profile: Profile | None
) -> Rewritten:
    return pipeline.rewrite(text, path, options)


@contextmanager
def _without_optimizers() -> Iterator[None]:
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    try:
        yield
    finally:
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n", type=int, default=100, help="how many programs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--shrink", action="store_true", help="cut down what differs")
    parser.add_argument("--left", action="store_true", help="show what is left alone")
    parser.add_argument("--effects", action="store_true", help="with effects")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    options = parser.parse_args()
    options.end = time.monotonic() + options.seconds
    words: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    numbers = range(options.first, options.first + options.n)
    with _workers(options.jobs) as idle, ThreadPoolExecutor(options.jobs) as threads:
        found = threads.map(partial(_tried, options, idle), numbers)
        for told in _shown(found, options.n):
            if told is None:
                break
            verdict, text = told
            words[verdict.word] += 1
            if verdict.word == LEFT:
                reasons[verdict.reason] += 1
            if text:
                print(text, flush=True)
    print(", ".join(f"{count} {word}" for word, count in words.most_common()))
    for reason, count in reasons.most_common():
        print(f"{count:6} left alone: {reason}")
    return 1 if words[DIFFERENT] or words[BAD] or not words[SAME] else 0


@contextmanager
def _workers(count: int) -> Iterator[SimpleQueue[Worker]]:
    """The processes that have nothing to do."""
    workers = [Worker() for _ in range(count)]
    idle: SimpleQueue[Worker] = SimpleQueue()
    for worker in workers:
        idle.put(worker)
    try:
        yield idle
    finally:
        for worker in workers:
            worker.end()


def _shown(found: Iterator[Told | None], total: int) -> Iterator[Told | None]:
    """The same, with a bar while they come, where that is seen."""
    shown = track(found, "lifting", total, transient=True)
    return iter(shown) if sys.stdout.isatty() else found


def _tried(
    options: argparse.Namespace, idle: SimpleQueue[Worker], number: int
) -> Told | None:
    """What came of one program; None when the time is over."""
    if time.monotonic() > options.end:
        return None
    worker = idle.get()
    program = written(options.seed, number, options.effects)
    try:
        verdict, recorded = worker.run(
            LONGEST, _verdict, program, options.effects or number % 3 > 0
        )
        if verdict.word == DIFFERENT and options.shrink:
            program, verdict = worker.run(
                None, _shrunk, program, recorded, verdict.reason
            )
    except TooLong:
        verdict = Verdict(DIFFERENT, f"it took more than {LONGEST} s")
    finally:
        idle.put(worker)
    if verdict.word not in (DIFFERENT, BAD, *([LEFT] if options.left else [])):
        return verdict, ""
    title = f"---- program {number} of seed {options.seed}: {verdict.word}"
    return verdict, "\n".join(
        [title, program.text, program.calls, verdict.lifted, verdict.reason]
    )


def _verdict(program: Program, recorded: bool) -> tuple[Verdict, bool]:
    """What came of a program, and whether with a recording: one that is asked for is made."""
    with tempfile.TemporaryDirectory() as folder:
        verdict = judged(program, Path(folder), recorded)
        if verdict.word == LEFT and verdict.reason.endswith(RECORD):
            return judged(program, Path(folder), True), True
    return verdict, recorded


def _shrunk(program: Program, recorded: bool, reason: str) -> tuple[Program, Verdict]:
    """The program cut down, as long as it differs in the same manner."""
    with tempfile.TemporaryDirectory() as folder:

        def verdict(text: str) -> Verdict:
            return judged(replace(program, text=text), Path(folder), recorded)

        def differs(text: str) -> bool:
            found = verdict(text)
            return found.word == DIFFERENT and _manner(found.reason) == _manner(reason)

        text = shrunk(program.text, differs)
        return replace(program, text=text), verdict(text)


def _manner(reason: str) -> str:
    """A reason without what names and numbers stand in it."""
    _, found, rest = reason.partition("it differs:")
    lines = (rest if found else reason).strip().splitlines()
    line = lines[0] if found else lines[-1]
    return re.sub(r"-?\d+(\.\d+)?|'\w+'", "", line)[:90]


if __name__ == "__main__":
    sys.exit(main())
