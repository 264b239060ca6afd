"""Values held still: what a value was at one moment, as plain data that can be saved and compared.

A held value is a dict with one of these members:

    value      None, bool, int, float or str
    bytes      text in Latin-1          complex    [real, imaginary]
    tensor, variable, array, scalar     a numpy.ndarray; with `dtype`, the name of the dtype it had.
               Of strings and objects: a list of held values, with `shape`
    list, tuple                         held values; `type` where it is a named tuple
    dict       repr of the key -> held value        set    sorted reprs of the items
    parts      the tensors of a composite one (ragged, sparse, ...); with `type`
    object     the class name; with `attributes`: name -> held value
    opaque     the class name of anything else; with `text`, a short description or ""
    leak       a symbolic tensor, outside its graph
"""

from __future__ import annotations

import enum
import json
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Held = dict[str, Any]

DEEPEST = 30
PLAIN = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.ModuleType,
)


class Holder:
    """Holds values; `inside` says of a class whether it is the user's, so that its attributes count."""

    def __init__(self, inside: Callable[[type], bool] = lambda cls: False) -> None:
        self._inside = inside
        self._open: set[int] = set()

    def hold(self, value: Any) -> Held:
        """What `value` is now; never raises, whatever `value` does when it is looked at."""
        if id(value) in self._open or len(self._open) > DEEPEST:
            return opaque(value)
        self._open.add(id(value))
        try:
            return self._held(value)
        except Exception as error:
            return opaque(value, f"{type(error).__name__} when looked at")
        finally:
            self._open.discard(id(value))

    def _held(self, value: Any) -> Held:
        tf = sys.modules.get("tensorflow")
        if isinstance(value, np.generic):
            return self._array("scalar", np.asarray(value))
        if isinstance(value, np.ndarray):
            return self._array("array", value)
        if isinstance(value, (enum.Enum, range, slice, type, np.dtype)):
            return opaque(value, repr(value))
        if value is None or isinstance(value, (bool, int, float, str)):
            return {"value": value}
        if isinstance(value, complex):
            return {"complex": [value.real, value.imag]}
        if isinstance(value, bytes):
            return {"bytes": value.decode("latin-1")}
        function = getattr(value, "python_function", value)  # of a tf.function
        if isinstance(function, PLAIN):
            return opaque(function, getattr(function, "__name__", ""))
        if tf is not None and (held := self._of_tensorflow(tf, value)):
            return held
        return self._container(value) or self._object(value)

    def _of_tensorflow(self, tf: Any, value: Any) -> Held | None:
        if isinstance(value, tf.Variable) or _is_keras_variable(value):
            return self._array("variable", value.numpy(), value.dtype)
        if isinstance(value, tf.Tensor):
            if not hasattr(value, "numpy") or tf.is_symbolic_tensor(value):
                return {"leak": str(value)[:120]}
            if value.dtype in (tf.variant, tf.resource):
                return opaque(value, value.dtype.name)
            return self._array("tensor", value.numpy(), value.dtype)
        if isinstance(value, (tf.DType, tf.TensorShape, tf.TypeSpec)):
            return opaque(value, str(value))
        if isinstance(value, tf.data.Dataset):
            return {"opaque": "Dataset", "text": str(value.element_spec)}
        if isinstance(value, tf.__internal__.CompositeTensor) and not hasattr(
            value, "__next__"
        ):
            parts = tf.nest.flatten(value, expand_composites=True)
            return {
                "parts": [self.hold(part) for part in parts],
                "type": type(value).__name__,
            }
        return None

    def _array(self, kind: str, array: Any, dtype: Any = None) -> Held:
        array = np.asarray(array)
        name = getattr(dtype, "name", dtype) or array.dtype.name
        if array.dtype.kind == "O":
            items = [self.hold(item) for item in array.ravel().tolist()]
            return {kind: items, "dtype": name, "shape": list(array.shape)}
        if array.dtype.names:  # a quantized dtype is a structure of one field
            array = array[array.dtype.names[0]]
        if array.dtype.kind == "V":  # bfloat16 and smaller, which .npy can't name
            array = array.astype(np.float32)
        return {kind: np.array(array), "dtype": name}

    def _container(self, value: Any) -> Held | None:
        if isinstance(value, (list, tuple)):
            items = [self.hold(item) for item in value]
            if isinstance(value, list):
                return {"list": items}
            name = {"type": type(value).__name__} if hasattr(value, "_fields") else {}
            return {"tuple": items, **name}
        if isinstance(value, dict):
            return {"dict": {repr(key): self.hold(item) for key, item in value.items()}}
        if isinstance(value, (set, frozenset)):
            return {"set": sorted(repr(item) for item in value)}
        return None

    def _object(self, value: Any) -> Held:
        cls = type(value)
        variables = getattr(value, "variables", None)
        named = variables is not None and not callable(variables)
        found: dict[str, Any] = {}
        if self._inside(cls) and hasattr(value, "__dict__"):
            found = dict(vars(value))
        if named:  # of Keras or a tf.Module, which number their names
            found = {k: v for k, v in found.items() if k != "name" and k[:1] != "_"}
            found["variables"] = list(variables)  # type: ignore[arg-type]
        if not found and not self._inside(cls):
            return opaque(value)
        attributes = {k: self.hold(v) for k, v in found.items() if not callable(v)}
        return {"object": cls.__name__, "attributes": attributes}


def opaque(value: Any, text: str = "") -> Held:
    """A value of which nothing but its class (and `text`) is compared."""
    return {"opaque": type(value).__name__, "text": text}


def _is_keras_variable(value: Any) -> bool:
    return type(value).__module__.startswith("keras.") and hasattr(value, "assign_add")


def save(path: Path, data: Any) -> None:
    """Write held values, nested in lists and dicts as one likes, to `path`.json and `path`.npz."""
    arrays: dict[str, np.ndarray[Any, Any]] = {}

    def put(item: Any) -> dict[str, str]:
        if not isinstance(item, np.ndarray):
            raise TypeError(f"{type(item).__name__} can't be saved")
        name = f"a{len(arrays)}"
        arrays[name] = item
        return {"array in npz": name}

    path.with_suffix(".json").write_text(json.dumps(data, default=put), "utf-8")
    np.savez(path.with_suffix(".npz"), **arrays)  # type: ignore[arg-type]


def load(path: Path) -> Any:
    """What `save` wrote to `path`."""
    with np.load(path.with_suffix(".npz"), allow_pickle=False) as arrays:

        def get(item: dict[str, Any]) -> Any:
            return arrays[item["array in npz"]] if "array in npz" in item else item

        return json.loads(path.with_suffix(".json").read_text("utf-8"), object_hook=get)
