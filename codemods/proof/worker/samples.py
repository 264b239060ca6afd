"""Recorded calls of a function: an .npz file of arrays and one JSON text that says how they go together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf


def read(path: Path) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """The calls recorded in `path`, as positional and keyword arguments.

    Raises ValueError where the file is not of that form.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            calls = json.loads(str(arrays["calls"]))
            return [
                (
                    tuple(_value(item, arrays) for item in call["args"]),
                    {
                        name: _value(item, arrays)
                        for name, item in call["kwargs"].items()
                    },
                )
                for call in calls
            ]
    except (OSError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path.name} holds no samples: {error}") from None


def _value(item: dict[str, Any], arrays: Any) -> Any:
    (kind, value), *_ = item.items()
    if kind == "tensor":
        return tf.constant(arrays[value])
    if kind == "array":
        return arrays[value]
    if kind == "value":
        return value
    if kind in ("list", "tuple"):
        items = [_value(each, arrays) for each in value]
        return items if kind == "list" else tuple(items)
    if kind == "dict":
        return {name: _value(each, arrays) for name, each in value.items()}
    raise ValueError(f"a sample of an unknown kind, {kind}")
