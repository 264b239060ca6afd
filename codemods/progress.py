"""What is being done, on standard error while it is done, where that is a terminal."""

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator

from .project import FEW, Outcome


def bar(outcomes: Iterable[Outcome], total: int) -> Iterable[Outcome]:
    """The same outcomes, with a bar while they come."""
    if total <= FEW or not sys.stderr.isatty():
        return outcomes
    from rich.console import Console
    from rich.progress import track

    return track(
        outcomes,
        "graphlift",
        total,
        auto_refresh=False,  # no thread: processes are forked meanwhile
        console=Console(stderr=True),
        transient=True,
    )


@contextlib.contextmanager
def status(quiet: bool) -> Iterator[Callable[[str], None] | None]:
    """A function that is told what is being run; None where nobody looks."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status("graphlift") as shown:
        yield lambda name: shown.update(f"running {name}")
