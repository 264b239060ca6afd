"""Writes what was seen, for the parent to merge into the profile."""

from __future__ import annotations

import json
import os
import sys
from importlib import util
from typing import Any

from .exchange import SEEN, sample_name
from .kinds import dotted
from .loading import Project
from .watching import Function, Loop, Place


def write(project: Project, folder: str) -> None:
    """Write `seen.json` and the samples' files into a new folder inside `folder`.

    `seen.json` holds "python", "tensorflow" (whether anything was seen, or could have been: TensorFlow can
    be imported), "modules": the names that files are imported by, as kinds have them, and "functions": pairs of
    a key and an entry as in a profile, with a list of kinds, unjoined, for each kind. A module that was loaded
    twice has its functions there twice.
    """
    functions = [function for function in project.functions if function.calls > 0]
    own = os.path.join(folder, f"{os.getpid()}-{os.urandom(4).hex()}")
    os.makedirs(own)
    for function in reversed(functions):
        if function.samples.calls and "numpy" in sys.modules:
            function.samples.save(os.path.join(own, sample_name(function.key)))
    seen = {
        "python": sys.executable,
        "tensorflow": bool(functions) or util.find_spec("tensorflow") is not None,
        "modules": _modules(project),
        "functions": [(function.key, entry(function)) for function in functions],
    }
    path = os.path.join(own, SEEN)
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(seen, file)
    os.replace(path + ".new", path)


def _modules(project: Project) -> dict[str, str]:
    names = {}
    for name, module in [*sys.modules.items()]:
        file = getattr(module, "__dict__", {}).get("__file__")
        key = project.key(file) if isinstance(file, str) else None
        if key is not None:
            names[key] = dotted(name, "")
    return names


def entry(function: Function) -> dict[str, Any]:
    """All that was seen of a function."""
    outer = [*function.globals, *function.closure]
    changed = [place.name for place in outer if place.changed]
    changed += [name for name, chain in function.chains.items() if chain.changed]
    return {
        "source": function.source,
        "calls": function.calls,
        "parameters": _places(function.parameters),
        "returns": sorted(function.returns.kinds),
        "raises": sorted(function.raises),
        "globals": _places({place.name: place for place in function.globals}),
        "closure": _places({place.name: place for place in function.closure}),
        "attributes": _places(function.chains),
        "names": _places(function.names),
        "tests": {
            position: {
                "kind": sorted(test.kinds),
                "true": test.trues,
                "false": test.falses,
            }
            for position, test in function.tests.items()
            if test.kinds
        },
        "loops": {position: _loop(loop) for position, loop in function.loops.items()},
        "changed": changed,
        "random": [*function.random],
        "callers": [*function.callers],
        "shared": [" is ".join(pair) for pair in function.shared],
    }


def _places(places: Any) -> dict[str, list[str]]:
    return {name: sorted(place.kinds) for name, place in places.items() if place.kinds}


def _loop(loop: Loop) -> dict[str, Any]:
    iterable: Place | None = loop.iterable
    return {
        "trips": loop.trips,
        "iterable": sorted(iterable.kinds) if iterable else [],
        "names": {
            name: [sorted(place.kinds), sorted(loop.ends[name].kinds)]
            for name, place in loop.entry.items()
        },
    }
