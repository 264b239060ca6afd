"""[tool.graphlift] of the nearest pyproject.toml, and what it means for one file."""

import os
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import CallError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

    from ..transforms.facts.profile import Profile
    from ..transforms.options import Options

MEANT = 0.7
"""How much alike a word and what it may stand for are, at least."""
Ignores = tuple[tuple[str, frozenset[str]], ...]


class ConfigError(CallError):
    """A setting, an option, a profile or a baseline that can't be taken, where it stands and why."""


@dataclass(frozen=True)
class Settings:
    """What the user chose: rules as codes, paths relative to `root` made whole."""

    root: Path
    select: frozenset[str] = frozenset()
    ignore: frozenset[str] = frozenset()
    unsafe: bool = False
    per_file_ignores: Ignores = ()
    exclude: tuple[str, ...] = ()
    line_length: int = 88
    unroll_threshold: int = 16
    profile: Path | None = None
    randomness: str = "exact"
    baseline: Path | None = None

    def options(self, path: Path) -> "Options":
        """The options of the file at `path`: those of all files, and its own ignores."""
        from ..transforms.options import Options

        return Options(
            line_length=self.line_length,
            unroll_threshold=self.unroll_threshold,
            randomness=self.randomness,
            unsafe=self.unsafe,
            select=self.select,
            ignore=self.ignore | self._ignored_in(path),
        )

    def _ignored_in(self, path: Path) -> frozenset[str]:
        inside = os.path.relpath(path, self.root)
        return frozenset().union(
            *(codes for spec, codes in self._patterns if spec.match_file(inside))
        )

    @cached_property
    def _patterns(self) -> "list[tuple[GitIgnoreSpec, frozenset[str]]]":
        if not self.per_file_ignores:
            return []
        from pathspec import GitIgnoreSpec

        return [
            (GitIgnoreSpec.from_lines([pattern]), codes)
            for pattern, codes in self.per_file_ignores
        ]

    def chosen(
        self, select: Sequence[str], ignore: Sequence[str], unsafe: bool
    ) -> "Settings":
        """These settings under the options of a call: --select takes the place of select, the rest adds."""
        return replace(
            self,
            select=codes(select) if select else self.select,
            ignore=self.ignore | codes(ignore),
            unsafe=self.unsafe or unsafe,
        )


def codes(words: Iterable[str]) -> frozenset[str]:
    """The codes of rules given as codes or names, also several to a word with commas between; ConfigError."""
    return frozenset(
        _code(name.strip())
        for word in words
        for name in word.split(",")
        if name.strip()
    )


def _code(word: str) -> str:
    from ..transforms.rules import find_rule

    if rule := find_rule(word):
        return rule.code
    raise ConfigError(f"no rule is called {word!r}{meant(word)}")


def meant(word: str, words: Iterable[str] | None = None) -> str:
    """Which of some words, or else of the names of rules, a misspelt one may stand for; "" where none is near.

    A code has no near ones: each digit counts.
    """
    if words is None:
        from ..transforms.rules import RULES

        words = [rule.name for rule in RULES]
    close = get_close_matches(word.lower(), list(words), 1, MEANT)
    return f"; did you mean {close[0]!r}?" if close else ""


def load(paths: Iterable[Path], config: Path | None = None) -> Settings:
    """The settings for a call on `paths`: of `config`, else of the nearest pyproject.toml that has some.

    Nearest to the folder that all of `paths` share. ConfigError for a file that can't
    be read or holds something unknown.
    """
    if config is not None:
        table = _table(config)
        if table is None:
            raise ConfigError(f"{config}: no [tool.graphlift] in it")
        return _settings(config, table)
    start = shared_folder(paths)
    for folder in (start, *start.parents):
        file = folder / "pyproject.toml"
        if os.path.isfile(file) and (table := _table(file)) is not None:
            return _settings(file, table)
    return Settings(Path.cwd())


def shared_folder(paths: Iterable[Path]) -> Path:
    """The deepest folder that holds all of `paths`; the current one for none, or standard input."""
    folders = [
        os.path.abspath(path if os.path.isdir(path) else path.parent)
        for path in paths
        if str(path) != "-"
    ]
    return Path(os.path.commonpath(folders)) if folders else Path.cwd()


def _table(file: Path) -> dict[str, Any] | None:
    try:
        with open(file, "rb") as stream:
            document = tomllib.load(stream)
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: not TOML: {error}") from None
    tool = document.get("tool")
    table = tool.get("graphlift") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{file}: tool.graphlift is not a table")
    return table


def _settings(file: Path, table: dict[str, Any]) -> Settings:
    root = file.absolute().parent
    values: dict[str, Any] = {}
    for key, value in table.items():
        try:
            if key not in KEYS:
                raise ConfigError(f"no such setting{meant(key, KEYS)}")
            values[key.replace("-", "_")] = KEYS[key](value)
        except ConfigError as error:
            raise ConfigError(f"{file}: [tool.graphlift] {key}: {error}") from None
    for key in ("profile", "baseline"):
        if key in values:
            values[key] = root / values[key]
    return Settings(root, **values)


def _of(kind: type, wanted: str) -> Callable[[Any], Any]:
    def take(value: Any) -> Any:
        if type(value) is not kind:
            raise ConfigError(f"{wanted} is wanted, not {value!r}")
        return value

    return take


_flag = _of(bool, "true or false")
_text = _of(str, "a string")


def _count(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise ConfigError(f"a whole number above 0 is wanted, not {value!r}")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f"a list of strings is wanted, not {value!r}")
    return tuple(value)


def _rules(value: Any) -> frozenset[str]:
    return codes(_texts(value))


def _ignores(value: Any) -> Ignores:
    if not isinstance(value, dict):
        raise ConfigError(f"a table of patterns and rules is wanted, not {value!r}")
    return tuple((pattern, _rules(words)) for pattern, words in value.items())


def _randomness(value: Any) -> str:
    if value != "exact":
        raise ConfigError(f"only 'exact' is built, not {value!r}")
    return str(value)


KEYS: dict[str, Callable[[Any], Any]] = {
    "select": _rules,
    "ignore": _rules,
    "unsafe": _flag,
    "per-file-ignores": _ignores,
    "exclude": _texts,
    "line-length": _count,
    "unroll-threshold": _count,
    "profile": _text,
    "randomness": _randomness,
    "baseline": _text,
}


def project_root(start: Path) -> Path | None:
    """The nearest folder from `start` up that holds .git or pyproject.toml."""
    for folder in (start, *start.parents):
        if any(os.path.exists(folder / name) for name in (".git", "pyproject.toml")):
            return folder
    return None


def profile_path(settings: Settings, given: Path | None = None) -> Path | None:
    """The profile to use: the one `given`, else the configured one, else the nearest recorded one.

    That is looked for in the current folder, then in its parents up to the project root.
    """
    return given or settings.profile or _recorded()


def load_profile(path: Path) -> "Profile":
    """The profile at `path`; ConfigError for one that can't be read."""
    from ..transforms.facts.profile import Profile

    try:
        return Profile.load(path)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from None


def _recorded() -> Path | None:
    here = Path.cwd()
    root = project_root(here) or here
    for folder in (here, *here.parents):
        path = folder / ".graphlift" / "profile.json"
        if os.path.isfile(path):
            return path
        if folder == root:
            break
    return None
