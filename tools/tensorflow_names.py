"""Writes transforms/facts/tensorflow_names.json from the installed TensorFlow.

    python tools/tensorflow_names.py [--check]

The file lists TensorFlow's public names: which of them are one object, what kind of thing each is, the values of
constants, and the parameters of what can be called. `--check` exits 1 where the file differs from what would be written.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from enum import Enum
from math import isfinite
from pathlib import Path
from types import ModuleType
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf

DATA = Path(__file__).parent.parent / "transforms" / "facts" / "tensorflow_names.json"
LEFT_OUT = (
    "compat",
    "raw_ops",
    "experimental.numpy",
    "keras.applications",
    "keras.backend",
    "keras.datasets",
    "keras.export",
    "keras.legacy",
    "keras.ops",
    "keras.wrappers",
    "lite",
    "mlir",
    "test",
    "tpu",
    "types",
)
CLASSES_WITH_METHODS = (
    "GradientTape",
    "IndexedSlices",
    "RaggedTensor",
    "SparseTensor",
    "Tensor",
    "TensorArray",
    "TensorShape",
    "TensorSpec",
    "Variable",
    "data.Dataset",
    "data.Iterator",
    "keras.Layer",
    "keras.Loss",
    "keras.Metric",
    "keras.Model",
    "keras.Optimizer",
    "random.Generator",
)


def public_names() -> Iterator[tuple[str, Any]]:
    """Every public name under tf with its object, modules before what is in them."""
    yield from _walk("tensorflow", tf, set())


def _walk(prefix: str, module: Any, above: set[int]) -> Iterator[tuple[str, Any]]:
    for name in sorted(set(dir(module))):
        dotted = f"{prefix}.{name}"
        short = dotted.removeprefix("tensorflow.")
        if name.startswith("_") or short in LEFT_OUT:
            continue
        try:
            value = getattr(module, name)
        except (AttributeError, ImportError):
            continue
        if _is_module(value):
            if id(value) not in above and _is_public(value):
                yield dotted, value
                yield from _walk(dotted, value, above | {id(value)})
        else:
            yield dotted, value


def _is_module(value: Any) -> bool:
    return isinstance(value, ModuleType) or "LazyLoader" in type(value).__name__


def _is_public(module: Any) -> bool:
    name = str(getattr(module, "__name__", ""))
    return name.startswith(("tensorflow._api", "keras")) and ".src" not in name


def canonical(names: list[str]) -> str:
    """The name that stands for all of one object: Keras's own, else fewest dots, else first by letters."""
    return min(
        names, key=lambda n: (not n.startswith("tensorflow.keras."), n.count("."), n)
    )


def signature(value: Any) -> str | None:
    """Its parameters as in a def, without self; None where Python doesn't know them."""
    try:
        target = value.__init__ if inspect.isclass(value) else value
        parameters = list(inspect.signature(target).parameters.values())
    except (TypeError, ValueError):
        return None
    if parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    return ", ".join(_written(parameters))


def _written(parameters: list[inspect.Parameter]) -> Iterator[str]:
    starred = False
    for p in parameters:
        if p.kind is p.VAR_POSITIONAL:
            starred = True
            yield f"*{p.name}"
        elif p.kind is p.VAR_KEYWORD:
            yield f"**{p.name}"
        else:
            if p.kind is p.KEYWORD_ONLY and not starred:
                starred = True
                yield "*"
            yield p.name if p.default is p.empty else f"{p.name}={_default(p.default)}"


def _default(value: Any) -> str:
    if isinstance(value, tf.DType):
        return str(value.name)
    plain = value is None or isinstance(value, bool | int | str)
    return (
        repr(value)
        if plain or (isinstance(value, float) and isfinite(value))
        else "..."
    )


def collect() -> dict[str, Any]:
    """The content of the data file."""
    objects: dict[int, Any] = {}
    names: dict[int, list[str]] = defaultdict(list)
    data: dict[str, Any] = {
        "aliases": {},
        "dtypes": {},
        "modules": [],
        "classes": [],
        "constants": {},
        "members": {},
        "parameters": {},
    }
    for name, value in public_names():
        if _is_module(value):
            data["modules"].append(name)
        elif isinstance(value, tf.DType):
            data["dtypes"][name] = value.name
        elif isinstance(value, int | float | str):
            data["constants"][name] = value
        elif inspect.isclass(value) or callable(value):
            objects[id(value)] = value
            names[id(value)].append(name)
    for key, value in objects.items():
        if inspect.isclass(value):
            _add_constants(data, names[key], value)
        _add(data, canonical(names[key]), names[key], value)
    _add_implementations(
        data, {canonical(names[key]): value for key, value in objects.items()}
    )
    for name in CLASSES_WITH_METHODS:
        _add_methods(data, f"tensorflow.{name}", _resolve(name))
    return data


def _resolve(name: str) -> Any:
    value: Any = tf
    for part in name.split("."):
        value = getattr(value, part)
    return value


def _add(data: dict[str, Any], name: str, names: list[str], value: Any) -> None:
    data["aliases"].update({other: name for other in names if other != name})
    if inspect.isclass(value):
        data["classes"].append(name)
    parameters = signature(value)
    if parameters is not None:
        data["parameters"][name] = parameters


def _add_constants(data: dict[str, Any], names: list[str], value: type) -> None:
    """Add the class's members that are plain values or, of an enumeration, its instances."""
    for attribute, member in vars(value).items():
        if attribute.startswith("_"):
            continue
        for name in names:
            if isinstance(member, value) and issubclass(value, Enum):
                data["members"][f"{name}.{attribute}"] = canonical(names)
            elif isinstance(member, int | float | str):
                data["constants"][f"{name}.{attribute}"] = member


def _add_implementations(data: dict[str, Any], objects: dict[str, Any]) -> None:
    """Add the names that Python itself gives to classes and functions, where they are one object's only."""
    found: dict[str, set[str]] = defaultdict(set)
    for name, value in objects.items():
        own = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
        if own.startswith(("tensorflow.", "keras.")) and "<locals>" not in own:
            found[own].add(name)
    data["aliases"].update(
        {
            own: next(iter(names))
            for own, names in found.items()
            if len(names) == 1 and own not in names
        }
    )


def _add_methods(data: dict[str, Any], owner: str, value: Any) -> None:
    for name in dir(value):
        member = inspect.getattr_static(value, name)
        if name.startswith("_") or isinstance(member, property):
            continue
        method = getattr(value, name)
        parameters = signature(method) if callable(method) else None
        if parameters is not None:
            data["parameters"][f"{owner}.{name}"] = parameters


def written() -> str:
    """The text of the data file: one entry a line, sorted."""
    return json.dumps(collect(), indent=0, sort_keys=True) + "\n"


def main() -> int:
    text = written()
    if "--check" in sys.argv[1:]:
        return int(DATA.read_text() != text)
    DATA.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
