"""`graphlift record`: runs a program in the user's interpreter and keeps what its functions did.

`command` finds what to run, `running` runs it, `recorder/` is what watches inside the program's
process, and `merging` brings what was seen into the profile.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from .command import resolve
from .errors import RecordError
from .merging import Profile, Seen
from .running import run

__all__ = ["RecordError", "record"]


def record(
    command: Sequence[str],
    root: Path,
    output: Path | None = None,
    python: str | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> int:
    """Run `command` in `root` and merge what its functions did into the profile at `output`.

    `output` is root/.graphlift/profile.json unless given; paths in it start from the folder above the
    one that holds it. `python` is the interpreter to use in place of the command's own. `tell` is given a
    line that says what was recorded.

    Returns the command's exit code, 128 + n for a command that signal n ended.

    Raises:
        RecordError: the command can't be run, the profile can't be read or written, or nothing could be
            recorded since TensorFlow is missing or the recorder doesn't run in that interpreter.
    """
    root = root.absolute()
    output = root / (output or Path(".graphlift", "profile.json"))
    argv = resolve(command, root, python)
    profile = Profile.read(output)
    with tempfile.TemporaryDirectory(prefix="graphlift-") as folder:
        code = run(argv, root, profile.base, Path(folder))
        seen = Seen.read(Path(folder))
        if seen.functions:
            profile.merge(seen)
            profile.write()
            tell(f"recorded {_functions(seen)} in {os.path.relpath(output)}")
        elif seen.problem:
            raise RecordError(f"nothing was recorded: {seen.problem}")
        elif seen.without_tensorflow:
            raise RecordError(
                f"nothing was recorded: {seen.without_tensorflow} has no TensorFlow; "
                "name another interpreter with --python"
            )
        else:
            tell(f"nothing was recorded: no function under {root} was called")
    return code


def _functions(seen: Seen) -> str:
    count = len(seen.functions)
    return f"{count} function" if count == 1 else f"{count} functions"
