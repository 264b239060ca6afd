"""What to run of a file: its own calls, its main(), or recorded calls."""

import ast
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .interpreter import ProofError

NOTHING = (
    "nothing to call: no ARGS with f, no main() without parameters, no recorded calls"
)


@dataclass(frozen=True)
class Target:
    """A function to run, the file it is in (relative to the project), and its inputs.

    `inputs`: "ARGS", "" for none, or the path of a file of samples.
    """

    file: str
    function: str
    inputs: str


def targets(path: Path, file: str, profile: Path | None) -> list[Target]:
    """The functions of the file at `path` that can be run; none where there is nothing to call them with.

    Raises SyntaxError or ValueError for what is not Python.
    """
    functions, names = _top_level(ast.parse(path.read_bytes()))
    if "f" in names and "ARGS" in names:
        return [Target(file, "f", "ARGS")]
    if "main" in functions and not _required(functions["main"]):
        return [Target(file, "main", "")]
    return [
        Target(file, name, str(samples))
        for name, samples in _recorded(path, profile)
        if name in functions
    ]


def check_profile(profile: Path) -> None:
    """Raise ProofError where the file is not a profile."""
    try:
        _functions(profile)
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ProofError(f"{profile} is not a profile: {error}") from None


def _functions(profile: Path) -> dict[str, object]:
    """The functions that a profile knows, by path::name."""
    functions: dict[str, object] = json.loads(profile.read_text("utf-8"))["functions"]
    return functions


def _top_level(
    tree: ast.Module,
) -> tuple[dict[str, ast.FunctionDef], set[str]]:
    """The functions that a module defines, and all names that it binds, outside functions and classes."""
    functions: dict[str, ast.FunctionDef] = {}
    names: set[str] = set()
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            if isinstance(node, ast.FunctionDef):
                functions[node.name] = node
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        if isinstance(node, ast.alias):
            names.add(node.asname or node.name)
        left += ast.iter_child_nodes(node)
    return functions, names


def _required(function: ast.FunctionDef) -> bool:
    """Whether a function needs arguments."""
    arguments = function.args
    positional = len(arguments.posonlyargs) + len(arguments.args)
    return positional > len(arguments.defaults) or None in arguments.kw_defaults


def _recorded(path: Path, profile: Path | None) -> Iterator[tuple[str, Path]]:
    """The module-level functions of a file with samples beside the profile."""
    if profile is None:
        return
    root = profile.resolve().parent.parent
    for key in sorted(_functions(profile)):
        file, _, name = key.partition("::")
        digest = hashlib.sha1(key.encode(), usedforsecurity=False).hexdigest()
        samples = profile.resolve().parent / "samples" / f"{digest[:12]}.npz"
        if (
            (root / file).resolve() == path.resolve()
            and name.isidentifier()
            and samples.exists()
        ):
            yield name, samples
