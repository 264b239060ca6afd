"""TensorFlow's public names: aliases, kinds of names, parameters. The data beside this file is generated."""

from __future__ import annotations

import ast
import json
from functools import cache
from pathlib import Path
from typing import Any

from .kinds import NONE, UNKNOWN, Kind, Object, Python, python

DATA = Path(__file__).with_suffix(".json")


@cache
def data() -> dict[str, Any]:
    """The generated data: aliases, dtypes, modules, classes, constants, enumerations' members, parameters."""
    loaded: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
    return loaded


@cache
def _plain() -> dict[str, frozenset[str]]:
    return {section: frozenset(data()[section]) for section in ("modules", "classes")}


def canonical(name: str) -> str | None:
    """The one name that stands for all aliases of a public TensorFlow or Keras object; None for any other."""
    names = data()
    if name in names["aliases"]:
        return str(names["aliases"][name])
    if (
        name in names["parameters"]
        or name in names["dtypes"]
        or is_class(name)
        or is_module(name)
    ):
        return name
    if name.startswith("keras.") and not name.startswith("keras.src."):
        return canonical(f"tensorflow.{name}")
    return None


def is_class(name: str) -> bool:
    return name in _plain()["classes"]


def is_module(name: str) -> bool:
    return name in _plain()["modules"]


def dtype(name: str) -> str | None:
    """The dtype a name such as tensorflow.double stands for."""
    found = data()["dtypes"].get(name)
    return None if found is None else str(found)


def constant(name: str) -> Kind | None:
    """The kind of a public constant: a plain value, or a member of an enumeration."""
    names = data()
    if name in names["constants"]:
        return python(names["constants"][name])
    return Object(names["members"][name]) if name in names["members"] else None


@cache
def signature(name: str) -> ast.arguments | None:
    """The parameters of a canonical name, without self; None where they are not known."""
    text = data()["parameters"].get(name)
    if text is None:
        return None
    function = ast.parse(f"def f({text}): ...").body[0]
    assert isinstance(function, ast.FunctionDef)
    return function.args


def default(node: ast.expr | None) -> Kind:
    """The kind of a parameter's default: a constant, a dtype, or unknown."""
    if node is None:
        return NONE
    if isinstance(node, ast.Name):
        return Python("dtype", node.id)
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return UNKNOWN
    return UNKNOWN if value is ... else python(value)
