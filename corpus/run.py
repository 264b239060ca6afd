"""Runs every program of the corpus on its calls, so that `graphlift record` sees what they work on.

usage: python corpus/run.py
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent
FOLDERS = (HERE / "seeds", HERE / "modules")


def main() -> None:
    """Call `f` of each program with each of its ARGS; what it raises is part of what it does."""
    for folder in FOLDERS:
        sys.path.insert(0, str(folder))
        for path in sorted(folder.glob("*.py")):
            run(importlib.import_module(path.stem))


def run(module: ModuleType) -> None:
    if hasattr(module, "ARGS"):
        for i, arguments in enumerate(module.ARGS):
            if i and hasattr(module, "between"):
                module.between(i)
            with contextlib.suppress(Exception):
                module.f(*arguments)


if __name__ == "__main__":
    main()
