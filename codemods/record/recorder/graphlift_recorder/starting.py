"""Starts the recorder."""

from __future__ import annotations

import atexit
import os

from . import loading, script
from .exchange import BASE, OUTPUT, ROOT, leave_word, uninterrupted
from .loading import Project
from .watching import retire
from .writing import write


def start() -> None:
    """Record from now on until the process ends; nothing where no parent process asks for it."""
    root, base, output = (os.environ.get(name) for name in (ROOT, BASE, OUTPUT))
    if root is None or base is None or output is None:
        return
    project = Project(root, base)
    process = os.getpid()

    def finish() -> None:
        retire(project.functions)
        if os.getpid() == process and os.path.isdir(output):
            try:
                with uninterrupted():
                    write(project, output)
            except Exception as error:
                leave_word(output, error)

    loading.install(project)
    script.install(project)
    atexit.register(finish)
