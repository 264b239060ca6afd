"""What the recorder and its parent process agree on."""

from __future__ import annotations

import hashlib
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

ROOT = "GRAPHLIFT_RECORD_ROOT"
"""Environment variable: the folder whose files are the project's."""
BASE = "GRAPHLIFT_RECORD_BASE"
"""Environment variable: the folder that paths in the profile start from."""
OUTPUT = "GRAPHLIFT_RECORD_OUTPUT"
"""Environment variable: a folder in which every process makes one of its own, for what it has seen."""

SEEN = "seen.json"
"""The file, in a process's folder, of what it has seen; see `writing`."""
PROBLEM = "problem"
"""The file, in the output folder, that says why a recorder failed."""


def leave_word(folder: str, error: Exception) -> None:
    """Say in the output folder why a recorder failed."""
    with open(os.path.join(folder, PROBLEM), "w", encoding="utf-8") as file:
        file.write(f"{type(error).__name__}: {error}")


@contextmanager
def uninterrupted() -> Iterator[None]:
    """While a program ends after Ctrl-C, another one is not heard: what was seen would be lost."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    earlier = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        if earlier is not None:
            signal.signal(signal.SIGINT, earlier)


def sample_name(key: str) -> str:
    """The name of the file of a function's samples."""
    return hashlib.sha1(key.encode()).hexdigest()[:12] + ".npz"
