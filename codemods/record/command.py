"""From the words after `--` to a command line: whose interpreter runs them."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from .errors import RecordError

_PYTHON = re.compile(r"(python|pypy)[\d.]*(\.exe)?", re.IGNORECASE)


def resolve(command: Sequence[str], root: Path, python: str | None = None) -> list[str]:
    """The command line to run in `root`.

    A bare script runs in `python`, else in the active environment's interpreter, else in our own; so does
    a command that is not on the PATH but lies beside that interpreter. `python` also takes the place of
    an interpreter that is named. Raises RecordError where there is no such command.
    """
    if not command:
        raise RecordError("no command to run: graphlift record -- python script.py")
    first, *rest = command
    interpreter = _interpreter(python)
    if _PYTHON.fullmatch(os.path.basename(first)):
        return [interpreter if python else _find(first, root) or interpreter, *rest]
    if first.endswith((".py", ".pyw")) and (root / first).is_file():
        return [interpreter, *command]
    beside = shutil.which(first, path=os.path.dirname(interpreter))
    if python and beside:
        return [interpreter, beside, *rest]
    found = _find(first, root) or beside
    if found is None:
        raise RecordError(f"no such command: {first}")
    return [found, *rest]


def _interpreter(wanted: str | None) -> str:
    if wanted:
        found = shutil.which(wanted)
        if found is None:
            raise RecordError(f"no such interpreter: {wanted}")
        return os.path.abspath(found)
    active = os.environ.get("VIRTUAL_ENV")
    if active:
        for name in ("bin/python", "Scripts/python.exe"):
            if Path(active, name).exists():
                return str(Path(active, name))
    return sys.executable


def _find(name: str, root: Path) -> str | None:
    """A command by name on the PATH, or by its path from `root`."""
    return shutil.which(str(root / name) if os.path.dirname(name) else name)
