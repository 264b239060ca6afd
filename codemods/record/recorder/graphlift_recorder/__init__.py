"""Records what a Python program's functions see, from inside its process.

This package runs in the user's interpreter (Python 3.10 or later): it needs the standard library only,
and NumPy and TensorFlow where the program itself has imported them.
"""

from __future__ import annotations

import atexit
import os

from .loading import Project, install
from .watching import retire
from .writing import write

ROOT = "GRAPHLIFT_RECORD_ROOT"
BASE = "GRAPHLIFT_RECORD_BASE"
OUTPUT = "GRAPHLIFT_RECORD_OUTPUT"
"""Environment variables: the project's folder, the one that paths in the profile start from, and one
for what every process has seen."""


def start() -> None:
    """Record from now on until the process ends."""
    root, base, output = (os.environ.get(name) for name in (ROOT, BASE, OUTPUT))
    if root is None or base is None or output is None:
        return
    project = Project(root, base)
    process = os.getpid()

    def finish() -> None:
        retire(project.functions)
        if os.getpid() == process and os.path.isdir(output):
            write(project, output)

    install(project)
    atexit.register(finish)
