"""The user's Python: where the user's code runs."""

import os
import shutil
import sys
from pathlib import Path


class ProofError(Exception):
    """Why nothing can be proved here."""


def find_python(wanted: str | None = None) -> str:
    """The interpreter to run user code with: `wanted`, else the active environment's, else our own.

    Raises ProofError where it can't be found.
    """
    if wanted:
        found = shutil.which(wanted)
        if not found:
            raise ProofError(f"no Python at {wanted}")
        return os.path.abspath(found)
    active = os.environ.get("VIRTUAL_ENV")
    for name in ("bin/python", "Scripts/python.exe"):
        if active and (python := Path(active, name)).exists():
            return str(python)
    return sys.executable
