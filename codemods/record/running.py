"""Runs the command with the recorder in its Python processes."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from .errors import RecordError
from .recorder.graphlift_recorder.exchange import BASE, OUTPUT, ROOT

_RECORDER = Path(__file__).parent / "recorder"


def run(argv: list[str], root: Path, base: Path, output: Path) -> int:
    """Run `argv` in `root` and give its exit code, 128 + n where signal n ended it.

    What every process has seen is in a folder of its own in `output` then, with paths relative to `base`.
    Raises RecordError for a command that doesn't start.
    """
    try:
        process = subprocess.Popen(argv, cwd=root, env=_environment(root, base, output))
    except OSError as error:
        raise RecordError(f"{argv[0]} can't be run: {error.strerror}") from error
    with _passing_on_signals(process):
        code = process.wait()
    return code if code >= 0 else 128 - code


def _environment(root: Path, base: Path, output: Path) -> dict[str, str]:
    path = [str(_RECORDER), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path),
        ROOT: str(root),
        BASE: str(base),
        OUTPUT: str(output),
    }


@contextmanager
def _passing_on_signals(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Hand the signals that ask us to end on to the process, and outlive it."""

    def pass_on(number: int, frame: FrameType | None) -> None:
        if not (number == signal.SIGINT and _terminal_interrupts()):
            process.send_signal(number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    earlier = {n: signal.signal(n, pass_on) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def _terminal_interrupts() -> bool:
    """Whether a terminal's Ctrl-C reaches the process by itself, being in the group in front."""
    for descriptor in range(3):
        if os.isatty(descriptor) and hasattr(os, "tcgetpgrp"):
            return os.tcgetpgrp(descriptor) == os.getpgrp()
    return False
