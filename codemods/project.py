"""Many files: each checked or rewritten by itself, in processes where there are enough of them."""

import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..transforms.findings import Checked
from . import files, surroundings, workers
from .config import Settings, load_profile, project_root
from .files import FileError, Source

if TYPE_CHECKING:
    from ..transforms.facts.profile import Profile
    from ..transforms.facts.project import ProjectModules
    from ..transforms.findings import Finding
    from ..transforms.neighbours import Neighbours
    from ..transforms.options import Options
    from .baseline import Baseline
    from .cache import Cache

STDIN = Path("-")
FEW = 4  # so many files are done sooner here than by new processes


@dataclass(frozen=True)
class Problem:
    """Why a file could not be processed, and where in it (from 1; 0 where that isn't known)."""

    message: str
    line: int = 0
    column: int = 0


@dataclass(frozen=True)
class Outcome:
    """What came of one file.

    `text` is its new text, None where that is the old one; `unproved` says why a new
    text was not taken, where a proof was asked for. `key` is the name it goes by in the
    profile, and `needs` those of the files that its new text needs the new texts of.
    `unrecorded` are the functions of which nothing is known.
    """

    path: Path
    name: str
    findings: "tuple[Finding, ...]" = ()
    problem: Problem | None = None
    lifted: tuple[str, ...] = ()
    source: Source | None = None
    text: str | None = None
    unproved: str = ""
    key: str = ""
    needs: frozenset[str] = frozenset()
    unrecorded: tuple[str, ...] = ()

    @property
    def target(self) -> str:
        """The name of the file that is written, which a link leads to."""
        is_link = os.path.realpath(self.path) != os.path.abspath(self.path)
        return shown(Path(os.path.realpath(self.path))) if is_link else self.name

    @property
    def new_text(self) -> str:
        """The text of a file that could be read, after what was done to it."""
        assert self.source
        return self.source.text if self.text is None else self.text

    def having(self, found: Checked) -> "Outcome":
        """The same file, and what was found in it."""
        return replace(self, findings=found.findings, unrecorded=found.unrecorded)

    def failed(self, problem: Problem) -> "Outcome":
        """The same file, not processed and not changed, because of `problem`."""
        return replace(self, problem=problem, findings=(), lifted=(), text=None)


@dataclass(frozen=True)
class _Task:
    """One source to look at."""

    outcome: Outcome
    source: Source
    options: "Options"

    @property
    def key(self) -> str:
        return self.outcome.key


Action = Callable[["Profile | None", "Neighbours", _Task], Outcome]
Progress = Callable[[Iterable[Outcome], int], Iterable[Outcome]]


def silent(outcomes: Iterable[Outcome], total: int) -> Iterable[Outcome]:
    """The progress that shows nothing."""
    return outcomes


class Project:
    """The files of one call and how to process them; outcomes come in the order of the files."""

    def __init__(
        self,
        settings: Settings,
        profile: Path | None = None,
        jobs: int | None = None,
        cached: bool = True,
        progress: Progress = silent,
        stdin: Path = STDIN,
    ) -> None:
        """ConfigError for a profile or a baseline that can't be read.

        `stdin` is the file that the text on standard input is of, which STDIN stands for.
        """
        self.settings = settings
        self.profile = load_profile(profile) if profile else None
        self.profile_path = profile
        self._baseline = _baseline(settings)
        self._jobs = jobs or workers.available()
        self._cached = cached
        self._progress = progress
        self._stdin = stdin

    def read(self, paths: Iterable[Path]) -> Iterator[Outcome]:
        """Each file that `paths` name, read and no more."""
        named = (self._stdin if path == STDIN else path for path in paths)
        found = files.find(named, self.settings.exclude, self.settings.root)
        return map(self._open, found)

    def _open(self, path: Path) -> Outcome:
        outcome = Outcome(path, shown(path))
        try:
            if path == self._stdin:
                source = files.decode(path, sys.stdin.buffer.read())
            else:
                source = files.read(path)
        except FileError as error:
            return outcome.failed(Problem(error.message))
        return replace(outcome, source=source)

    def check(self, paths: Iterable[Path]) -> Iterator[Outcome]:
        """The findings in each file that `paths` name."""
        cache = self._cache() if self._cached else None
        try:
            yield from self._outcomes(paths, _check, cache)
        finally:
            if cache:
                cache.save()

    def rewrite(self, paths: Iterable[Path]) -> Iterator[Outcome]:
        """The new text of each file that `paths` name and what remains in it; nothing is written."""
        return self._outcomes(paths, _rewrite, None)

    def _cache(self) -> "Cache":
        from .cache import Cache

        here = Path.cwd()
        folder = (project_root(here) or here) / ".graphlift" / "cache"
        return Cache(folder, self.profile_path, self.settings.per_file_ignores)

    def _outcomes(
        self, paths: Iterable[Path], action: Action, cache: "Cache | None"
    ) -> Iterator[Outcome]:
        paths = list(paths)
        known: dict[int, Outcome] = {}
        tasks: dict[int, _Task] = {}
        for place, outcome in enumerate(self.read(paths)):
            task = self._task(outcome)
            if task is None:
                known[place] = outcome
            else:
                tasks[place] = task
        neighbours = self._neighbours(paths, tasks, cache)
        if cache:
            known |= _kept(tasks, cache, neighbours.modules)
            tasks = {place: t for place, t in tasks.items() if place not in known}
        work = partial(action, self.profile, neighbours)
        done = self._done(work, tasks, neighbours.modules, cache)
        total = len(known) + len(tasks)
        for outcome in self._progress(_in_order(known, done, total), total):
            yield self._without_known(outcome)

    def _task(self, outcome: Outcome) -> _Task | None:
        """What there is to do for a file; None where it can't be read or can't have findings."""
        source = outcome.source
        if source is None or not _imports_tensorflow(source.data):
            return None
        options = self.settings.options(outcome.path)
        outcome = replace(outcome, key=self._key(outcome.path))
        return _Task(outcome, source, options)

    def _key(self, path: Path) -> str:
        """The path of a file from the root of the profile, else the name it is shown by."""
        if self.profile:
            root, real = self.profile.root.resolve(), path.resolve()
            if real.is_relative_to(root):
                return real.relative_to(root).as_posix()
        return shown(path)

    def _neighbours(
        self, paths: list[Path], tasks: dict[int, _Task], cache: "Cache | None"
    ) -> "Neighbours":
        """The project around the files; what they all need of it is found here, once for all processes."""
        from ..transforms.facts.project import attribute_uses
        from ..transforms.neighbours import Neighbours

        named = [self._stdin if path == STDIN else path for path in paths]
        found = surroundings.project_files(named, self._key, self.profile)
        found |= {task.key: task.outcome.path for task in tasks.values()}
        texts = {task.key: task.source.text for task in tasks.values()}
        uses = cache.uses if cache else attribute_uses
        modules = surroundings.modules(found, texts, self.profile, uses)
        for key in texts:
            modules.elsewhere(key)
        return Neighbours(modules, lambda key: self.settings.options(found[key]))

    def _done(
        self,
        action: Callable[[_Task], Outcome],
        tasks: dict[int, _Task],
        modules: "ProjectModules",
        cache: "Cache | None",
    ) -> Iterator[tuple[int, Outcome]]:
        for place, outcome in self._worked(partial(_attempt, action), tasks):
            if cache and not outcome.problem:
                found = Checked(outcome.findings, outcome.unrecorded)
                cache.put(*_cached_as(tasks[place], modules), found)
            yield place, outcome

    def _worked(
        self, work: Callable[[_Task], Outcome], tasks: dict[int, _Task]
    ) -> Iterator[tuple[int, Outcome]]:
        if self._jobs == 1 or len(tasks) <= FEW:
            yield from ((place, work(task)) for place, task in tasks.items())
            return
        from . import pipeline  # noqa: F401  loaded once, for all processes that are forked

        places = list(tasks)
        for index, result in workers.run(work, list(tasks.values()), self._jobs):
            place = places[index]
            if isinstance(result, workers.Died):
                problem = Problem(f"graphlift failed on it: {result}")
                result = tasks[place].outcome.failed(problem)
            yield place, result

    def _without_known(self, outcome: Outcome) -> Outcome:
        if self._baseline is None or not outcome.findings:
            return outcome
        new = self._baseline.new(outcome.path, outcome.findings)
        return replace(outcome, findings=new)


def _baseline(settings: Settings) -> "Baseline | None":
    if settings.baseline is None:
        return None
    from .baseline import Baseline

    return Baseline(settings.baseline)


def _kept(
    tasks: dict[int, _Task], cache: "Cache", modules: "ProjectModules"
) -> dict[int, Outcome]:
    """What the cache knows of tasks."""
    kept = {p: cache.get(*_cached_as(t, modules)) for p, t in tasks.items()}
    return {
        place: tasks[place].outcome.having(found)
        for place, found in kept.items()
        if found is not None
    }


def _cached_as(
    task: _Task, modules: "ProjectModules"
) -> "tuple[Source, str, Options, str]":
    return task.source, task.key, task.options, modules.digest(task.key)


def _in_order(
    known: dict[int, Outcome], done: Iterator[tuple[int, Outcome]], total: int
) -> Iterator[Outcome]:
    for place in range(total):
        while place not in known:
            index, outcome = next(done)
            known[index] = outcome
        yield known.pop(place)


def shown(path: Path) -> str:
    """The name of a file in messages: from the current folder where it is below it, with slashes."""
    whole, here = Path(os.path.abspath(path)), Path.cwd()
    inside = path != STDIN and whole.is_relative_to(here)
    return (whole.relative_to(here) if inside else path).as_posix()


def _imports_tensorflow(data: bytes) -> bool:
    return b"tensorflow" in data or b"keras" in data


def _attempt(action: Callable[[_Task], Outcome], task: _Task) -> Outcome:
    """What `action` makes of a task; whatever it raises is the problem of that one file."""
    from .pipeline import Unreadable

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return action(task)
    except SyntaxError as error:
        problem = Problem(error.msg, error.lineno or 0, error.offset or 0)
    except Unreadable as error:
        problem = Problem(str(error))
    except FileError as error:
        problem = Problem(error.message)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        problem = Problem(f"graphlift failed on it: {error!r} at {where}")
    return task.outcome.failed(problem)


def _check(profile: "Profile | None", neighbours: "Neighbours", task: _Task) -> Outcome:
    from . import pipeline

    found = pipeline.check(
        task.source.text, task.key, task.options, profile, neighbours
    )
    return task.outcome.having(found)


def _rewrite(
    profile: "Profile | None", neighbours: "Neighbours", task: _Task
) -> Outcome:
    from . import pipeline

    new = pipeline.rewrite(
        task.source.text, task.key, task.options, profile, neighbours
    )
    task.source.encode(new.text)
    return replace(
        task.outcome,
        findings=new.findings,
        lifted=new.lifted,
        needs=new.needs,
        unrecorded=new.unrecorded,
        text=None if new.text == task.source.text else new.text,
    )
