"""Whether two runs of a program did the same: values, types, exceptions and printed text.

Values are compared as `frozen` leaves them: what they were at the time, whatever becomes of
the objects afterwards.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

TOLERANCES = {
    "float64": (1e-12, 1e-14),
    "bfloat16": (2e-2, 1e-2),
    "float16": (2e-3, 1e-3),
}
"""Relative and absolute (times the largest value) tolerance by dtype; others are float32's."""

FLOAT32 = (1e-5, 1e-6)


@dataclass(frozen=True)
class Frozen:
    """An object as it was: the name of its type, and either an array or its members by name."""

    type: str
    value: Any


def frozen(value: Any) -> Any:
    """A copy of a result that later changes do not reach."""
    if value is None or isinstance(value, np.ndarray | np.generic):
        return Frozen(type(value).__name__, np.array(value))
    if isinstance(value, bool | int | float | complex | str | bytes):
        return Frozen(type(value).__name__, value)
    if isinstance(value, dict):
        return Frozen(
            type(value).__name__, {key: frozen(item) for key, item in value.items()}
        )
    if isinstance(value, list | tuple | set):
        return Frozen(type(value).__name__, dict(enumerate(map(frozen, value))))
    if isinstance(value, tf.RaggedTensor | tf.SparseTensor | tf.IndexedSlices):
        parts = tf.nest.flatten(value, expand_composites=True)
        return Frozen(type(value).__name__, dict(enumerate(map(frozen, parts))))
    if isinstance(value, tf.TensorArray):
        return Frozen("TensorArray", {"elements": frozen(value.stack())})
    if hasattr(value, "numpy"):
        return Frozen(
            "Variable" if isinstance(value, tf.Variable) else "Tensor", value.numpy()
        )
    if tf.is_tensor(value):
        return Frozen("symbolic tensor", {})
    if callable(value):
        return Frozen("function", {})
    members = {
        key: frozen(item)
        for key, item in sorted(getattr(value, "__dict__", {}).items())
    }
    return Frozen(type(value).__qualname__, members)


def difference(a: Any, b: Any, at: str = "result", slack: float = 1.0) -> str | None:
    """Where and how two frozen values differ, None where they do not; `slack` widens the tolerances."""
    if a.type != b.type:
        return f"{at}: {_shown(a)} became {_shown(b)}"
    if isinstance(a.value, dict) and isinstance(b.value, dict):
        if list(a.value) != list(b.value):
            return f"{at}: members {list(a.value)} became {list(b.value)}"
        parts = (
            difference(a.value[key], b.value[key], f"{at}[{key!r}]", slack)
            for key in a.value
        )
        return next((part for part in parts if part), None)
    if _same(np.asarray(a.value), np.asarray(b.value), slack):
        return None
    return f"{at}: {_shown(a)} became {_shown(b)}"


def _shown(a: Any) -> str:
    dtype = f"{a.value.dtype} " if isinstance(a.value, np.ndarray) else ""
    return f"{a.type} {dtype}{a.value!r}"


def _same(a: np.ndarray, b: np.ndarray, slack: float) -> bool:
    if a.dtype != b.dtype and not (a.dtype.kind in "US" and b.dtype.kind in "US"):
        return False
    if a.shape != b.shape:
        return False
    if a.dtype.kind not in "fcV":
        return bool(np.array_equal(a, b))
    relative, absolute = TOLERANCES.get(a.dtype.name, FLOAT32)
    wide = np.result_type(a.dtype, np.float64) if a.dtype.kind != "V" else np.float64
    a, b = a.astype(wide), b.astype(wide)
    finite = np.abs(a[np.isfinite(a)])
    largest = finite.max() if finite.size else 0.0
    relative, absolute = relative * slack, absolute * slack * largest
    return bool(np.allclose(b, a, rtol=relative, atol=absolute, equal_nan=True))


TENSOR = re.compile(
    r"<tf\.Tensor: shape=\([^)]*\), dtype=\w+, numpy=(.*?)>"
    r"|tf\.Tensor\((.*?),? shape=\([^)]*\), dtype=\w+\)",
    re.DOTALL,
)
TOKEN = re.compile(
    r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])|[^\s\[\](),]+", re.ASCII
)


def printed_difference(a: str, b: str) -> str | None:
    """Where two printed texts differ, token by token; a tensor counts as its value."""
    ours, theirs = _tokens(a), _tokens(b)
    if len(ours) != len(theirs) or not all(map(_same_token, ours, theirs)):
        return f"printed:\n{a}\nbecame:\n{b}"
    return None


def _tokens(text: str) -> list[str]:
    text = TENSOR.sub(
        lambda match: match[1] if match[1] is not None else match[2], text
    )
    text = re.sub(r"array\((.*?)(, dtype=\w+)?\)", r"\1", text, flags=re.DOTALL)
    return [token.strip("b'\"") for token in TOKEN.findall(text)]


def _same_token(a: str, b: str) -> bool:
    if a == b:
        return True
    try:
        x, y = float(a), float(b)
    except ValueError:
        return False
    return x == y or abs(x - y) <= 1e-5 * max(abs(x), abs(y)) or (x != x and y != y)
