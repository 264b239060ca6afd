"""Brings what was seen into the profile.

Kinds are joined, counts added. An entry whose function now reads otherwise, or is gone, is dropped with
its samples.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...transforms.facts.kind_joins import join_all
from ...transforms.facts.kind_notation import parse
from ...transforms.facts.kinds import UNKNOWN, Kind
from ..files import put
from ..proof.interpreter import INTERPRETER
from .errors import RecordError
from .recorder.graphlift_recorder import source
from .recorder.graphlift_recorder.exchange import PROBLEM, SEEN, sample_name

Entry = dict[str, Any]

_TABLES = ("parameters", "globals", "closure", "attributes", "names")
_LISTS = ("raises", "changed", "random", "callers", "shared")


@dataclass(frozen=True)
class Seen:
    """What the processes of one run have seen."""

    functions: dict[str, Entry]
    modules: dict[str, str]
    """The name of each module, by the path of its file."""
    samples: dict[str, Path]
    python: str
    """The interpreter."""
    without_tensorflow: str
    """An interpreter that has no TensorFlow, "" where all have it."""
    problem: str
    """Why a recorder failed, "" where none did."""

    @classmethod
    def read(cls, folder: Path) -> Seen:
        """Read the folders that the recorder has written."""
        functions: dict[str, Entry] = {}
        modules: dict[str, str] = {}
        samples: dict[str, Path] = {}
        python = without = ""
        for path in sorted(folder.glob(f"*/{SEEN}")):
            seen = json.loads(path.read_text(encoding="utf-8"))
            for key, raw in seen["functions"]:
                entry = _joined_entry(raw)
                first = functions.get(key, entry)
                if first is not entry:  # of two functions of one name the first is kept
                    same = first["source"] == entry["source"]
                    entry = _merged(first, entry) if same else first
                functions[key] = entry
            modules |= seen["modules"]
            if seen["tensorflow"]:
                python = seen["python"]
            else:
                without = seen["python"]
            for file in sorted(path.parent.glob("*.npz")):
                samples.setdefault(file.name, file)
        word = folder / PROBLEM
        problem = word.read_text(encoding="utf-8") if word.exists() else ""
        return cls(functions, modules, samples, python, without, problem)


class Profile:
    """A profile on disk. `base` is the folder that its paths start from."""

    def __init__(
        self, path: Path, functions: dict[str, Entry], modules: dict[str, str]
    ) -> None:
        self.path = path
        self.base = path.parent.parent
        self.functions = functions
        self.modules = modules
        self._samples: dict[str, Path] = {}
        self._python = ""

    @classmethod
    def read(cls, path: Path) -> Profile:
        """The profile at `path`, an empty one where there is none; RecordError for one that can't be read."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data["version"] != 1:
                raise RecordError(
                    f"{path}: profile version {data['version']} is not known"
                )
            functions = {key: dict(entry) for key, entry in data["functions"].items()}
            return cls(path, functions, dict(data.get("modules", {})))
        except FileNotFoundError:
            return cls(path, {}, {})
        except OSError as error:
            raise RecordError(f"{path} can't be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise RecordError(f"{path} is not a graphlift profile") from error

    def merge(self, seen: Seen) -> None:
        """Add what was seen; drop what is stale."""
        for key, entry in seen.functions.items():
            earlier = self.functions.get(key)
            same = earlier is not None and earlier.get("source") == entry["source"]
            self.functions[key] = _merged(earlier, entry) if earlier and same else entry
        current = _Digests(self.base)
        self.functions = {
            key: entry
            for key, entry in self.functions.items()
            if current.has(key, entry["source"])
        }
        recorded = {key.partition("::")[0] for key in self.functions}
        modules = self.modules | seen.modules
        self.modules = {path: modules[path] for path in modules.keys() & recorded}
        self._samples, self._python = seen.samples, seen.python

    def write(self) -> None:
        """Write the profile and its samples; RecordError where that fails."""
        functions = {key: _tidy(entry) for key, entry in self.functions.items()}
        data = {"version": 1, "functions": functions, "modules": self.modules}
        text = json.dumps(data, indent=1, sort_keys=True)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._write_samples()
            put(self.path, f"{text}\n".encode())
        except OSError as error:
            raise RecordError(
                f"{self.path} can't be written: {error.strerror}"
            ) from error

    def _write_samples(self) -> None:
        folder = self.path.parent / "samples"
        wanted = {sample_name(key) for key in self.functions}
        for file in folder.glob("*.npz"):
            if file.name not in wanted:
                file.unlink()
        folder.mkdir(exist_ok=True)
        (folder / ".gitignore").write_text("*\n")
        (folder / INTERPRETER).write_text(f"{self._python}\n", "utf-8")
        for name, file in self._samples.items():
            if name in wanted:
                put(folder / name, file.read_bytes())


class _Digests:
    """The functions of the files of a folder, as they read now."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self._files: dict[str, dict[str, set[str]] | None] = {}

    def has(self, key: str, digest: str) -> bool:
        """Whether a function still reads as its digest says; so it is taken to do in a broken file."""
        path, _, qualname = key.partition("::")
        if path not in self._files:
            self._files[path] = self._read(path)
        functions = self._files[path]
        return functions is None or digest in functions.get(qualname, ())

    def _read(self, path: str) -> dict[str, set[str]] | None:
        result: dict[str, set[str]] = {}
        try:
            data = (self._base / path).read_bytes()
            tree, lines = ast.parse(data), source.read(data).split("\n")
        except OSError:
            return result
        except (SyntaxError, ValueError, RecursionError):
            return None
        for qualname, node in source.functions(tree):
            result.setdefault(qualname, set()).add(source.digest(lines, node))
        return result


def _joined(kinds: Iterable[str]) -> str:
    """The notation of the kind that admits all of these."""
    return str(join_all(_parsed(text) for text in kinds))


def _parsed(text: str) -> Kind:
    try:
        return parse(text)
    except ValueError:
        return UNKNOWN


def _joined_entry(raw: Entry) -> Entry:
    """An entry as in a profile, of one whose kinds are lists of kinds. What belongs to modules goes."""
    entry = {
        **raw,
        **{
            name: {key: _joined(kinds) for key, kinds in raw[name].items()}
            for name in _TABLES
        },
        "tests": {
            at: {**test, "kind": _joined(test["kind"])}
            for at, test in raw["tests"].items()
        },
        "loops": {
            at: _joined_loop(loop) for at, loop in raw["loops"].items() if loop["trips"]
        },
    }
    entry["returns"] = _joined(raw["returns"]) if raw["returns"] else ""
    modules = {
        name for name, kind in entry["globals"].items() if kind.startswith("module(")
    }
    _drop(entry["globals"], modules.__contains__)
    _drop(entry["attributes"], lambda chain: chain.partition(".")[0] in modules)
    entry["changed"] = [
        name for name in raw["changed"] if name.partition(".")[0] not in modules
    ]
    return entry


def _joined_loop(raw: Entry) -> Entry:
    """A loop of a profile; names that had no value before it are not carried."""
    loop: Entry = {
        "trips": raw["trips"],
        "names": {
            name: [_joined(entry), _joined(ends or entry)]
            for name, (entry, ends) in raw["names"].items()
            if entry
        },
    }
    if raw["iterable"]:
        loop["iterable"] = _joined(raw["iterable"])
    return loop


def _drop(table: dict[str, Any], unwanted: Callable[[str], bool]) -> None:
    for name in [*filter(unwanted, table)]:
        del table[name]


def _merged(a: Entry, b: Entry) -> Entry:
    """An entry that admits what two entries of the same source admit."""
    return {
        "source": b["source"],
        "calls": a.get("calls", 0) + b.get("calls", 0),
        "returns": _merged_kinds(a.get("returns", ""), b.get("returns", "")),
        **{name: _merged_tables(a, b, name, _merged_kinds) for name in _TABLES},
        **{name: [*{*a.get(name, ()), *b.get(name, ())}] for name in _LISTS},
        "tests": _merged_tables(a, b, "tests", _merged_test),
        "loops": _merged_tables(a, b, "loops", _merged_loop),
    }


def _merged_kinds(a: str, b: str) -> str:
    return _joined([a, b]) if a and b else a or b


def _merged_tables(
    a: Entry, b: Entry, name: str, merge: Callable[[Any, Any], Any]
) -> Entry:
    a, b = a.get(name, {}), b.get(name, {})
    both = {key: merge(a[key], b[key]) for key in a if key in b}
    return {**a, **b, **both}


def _merged_test(a: Entry, b: Entry) -> Entry:
    return {
        "kind": _joined([a["kind"], b["kind"]]),
        "true": a["true"] + b["true"],
        "false": a["false"] + b["false"],
    }


def _merged_loop(a: Entry, b: Entry) -> Entry:
    trips = [*a["trips"], *b["trips"]]
    return {
        "trips": [min(trips), max(trips)],
        "iterable": _merged_kinds(a.get("iterable", ""), b.get("iterable", "")),
        "names": _merged_tables(
            a, b, "names", lambda x, y: [*map(_merged_kinds, x, y)]
        ),
    }


def _tidy(entry: Entry) -> Entry:
    """An entry in the profile's form: lists in order, empty members left out."""
    for name in _LISTS:
        entry[name] = sorted(set(entry.get(name, ())))
    loops = entry.get("loops", {})
    entry["loops"] = {at: _without_empty(loop) for at, loop in loops.items()}
    return _without_empty(entry)


def _without_empty(table: Entry) -> Entry:
    return {name: value for name, value in table.items() if value not in ("", [], {})}
