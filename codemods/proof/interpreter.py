"""The user's Python: where the user's code runs."""

import os
import shutil
import sys
from pathlib import Path

INTERPRETER = "python"
"""The file beside the samples of a profile that holds the path of the interpreter they were recorded with."""


class ProofError(Exception):
    """Why nothing can be proved here."""


def find_python(wanted: str | None = None, profile: Path | None = None) -> str:
    """The interpreter to run user code with: `wanted`, else the one that a profile was recorded with where it is here.

    Else the active environment's, else our own. Raises ProofError where the wanted one can't be found.
    """
    if wanted:
        found = shutil.which(wanted)
        if not found:
            raise ProofError(f"no Python at {wanted}")
        return os.path.abspath(found)
    recorded = profile and _recorded(profile.parent / "samples" / INTERPRETER)
    if recorded and shutil.which(recorded):
        return recorded
    active = os.environ.get("VIRTUAL_ENV")
    for name in ("bin/python", "Scripts/python.exe"):
        if active and (python := Path(active, name)).exists():
            return str(python)
    return sys.executable


def _recorded(file: Path) -> str:
    return file.read_text("utf-8").strip() if file.is_file() else ""
