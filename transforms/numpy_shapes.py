"""NumPy's functions on the form of arrays, and its products of arrays, as TensorFlow's."""

from __future__ import annotations

import ast
from collections.abc import Callable

from .facts.kinds import Python, Sequence
from .facts.numpy_forms import moved_axes, padding, swapped_axes
from .findings import Refusal
from .numpy_operands import Call


def _reshaped(call: Call, name: str) -> str:
    return call.call("reshape", call.array("a"), call.shape("shape"))


def _raveled(call: Call, name: str) -> str:
    return call.call("reshape", call.array("a"), "[-1]")


def _transposed(call: Call, name: str) -> str:
    return call.call("transpose", call.array("a") + call.option("axes", "perm"))


def _along(call: Call, name: str) -> str:
    return call.call(name, call.array("a") + call.option("axis"))


def _turned(call: Call, name: str) -> str:
    axis = {"fliplr": "1", "flipud": "0"}.get(name)
    if axis is None:
        axis = call.writer.text(call.arguments["axis"]) if "axis" in call else "0"
    if name == "roll":
        shift = call.writer.text(call.arguments["shift"])
        return call.call("roll", call.array("a"), shift, axis)
    return call.call("reverse", call.array("m"), f"[{axis}]")


def _repeated(call: Call, name: str) -> str:
    times = call.writer.text(call.arguments["repeats"])
    return call.call("repeat", call.array("a") + f", {times}" + call.option("axis"))


def _swapped(call: Call, name: str) -> str:
    given = {n: call.kind(n) for n in call.arguments}
    order = swapped_axes(given, call.kind("a"))
    return call.call("transpose", call.array("a"), f"{order}")


def _parted(call: Call, name: str) -> str:
    count = call.writer.text(call.arguments["indices_or_sections"])
    return call.call("split", call.array("ary") + f", {count}" + call.option("axis"))


def _padded(call: Call, name: str) -> str:
    rank = len(getattr(call.kind("array"), "shape", None) or ())
    pairs = padding(call.kind("pad_width"), rank) or []
    return call.call("pad", call.array("array"), f"{[*map(list, pairs)]}")


def _diagonal(call: Call, name: str) -> str:
    if name == "trace":
        return call.call("linalg.trace", call.array("a"))
    rank = len(getattr(call.kind("v"), "shape", None) or ())
    return call.call(f"linalg.diag{'_part' if rank == 2 else ''}", call.array("v"))


def _triangular(call: Call, name: str) -> str:
    band = ("-1", "0") if name == "tril" else ("0", "-1")
    return call.call("linalg.band_part", call.array("m"), *band)


def _determinant(call: Call, name: str) -> str:
    return call.call("linalg.det", call.array("a"))


def _same_arrays(call: Call, name: str) -> str:
    equal = call.call("equal", call.array("a1"), call.array("a2"))
    return call.call("reduce_all", equal)


def _joined(call: Call, name: str) -> str:
    arrays = call.arguments["arrays"]
    if not isinstance(arrays, ast.List | ast.Tuple):
        raise Refusal("these arrays are not written out", call.node, "GL206")
    parts = ", ".join(call.tensor(e, call.dtype) for e in arrays.elts)
    if name == "stack":
        return call.call("stack", f"[{parts}]{call.option('axis')}")
    axis = call.writer.text(call.arguments["axis"]) if "axis" in call else "0"
    return call.call("concat", f"[{parts}]", axis)


def _tiled(call: Call, name: str) -> str:
    times = call.writer.text(call.arguments["reps"])
    if isinstance(call.kind("reps"), Python):
        times = f"[{times}]"
    return call.call("tile", call.array("a"), times)


def _product(call: Call, name: str) -> str:
    a, b = call.array("a"), call.array("b")
    ranks = [len(getattr(call.kind(n), "shape", None) or ()) for n in ("a", "b")]
    if name == "outer":
        return call.call("tensordot", a, b, "0")
    if ranks == [1, 1]:
        return call.call("tensordot", a, b, "1")
    return call.call("linalg.matvec" if ranks == [2, 1] else "matmul", a, b)


def _moved(call: Call, name: str) -> str:
    given = {n: call.kind(n) for n in call.arguments}
    order = moved_axes(given, call.kind("a"))
    return call.call("transpose", call.array("a"), f"{order}")


def _appended(call: Call, name: str) -> str:
    """np.append: flat, where no axis is named."""
    axis = call.writer.text(call.arguments["axis"]) if "axis" in call else "0"
    parts = [
        _flat(call, n) if "axis" not in call else call.array(n, call.dtype)
        for n in ("arr", "values")
    ]
    return call.call("concat", f"[{', '.join(parts)}]", axis)


def _flat(call: Call, name: str) -> str:
    """An argument as one row."""
    text, kind = call.array(name, call.dtype), call.kind(name)
    rank = 1 if isinstance(kind, Sequence) else len(getattr(kind, "shape", None) or ())
    if rank == 0:
        return f"[{text}]"
    return text if rank == 1 else call.call("reshape", text, "[-1]")


def _einsum(call: Call, name: str) -> str:
    subscripts = call.writer.text(call.arguments["subscripts"])
    operands = [call.array(n, call.dtype) for n in call.arguments if n != "subscripts"]
    return call.call("einsum", subscripts, *operands)


TEMPLATES: dict[str, Callable[[Call, str], str]] = {
    **dict.fromkeys(("concatenate", "stack", "vstack", "hstack"), _joined),
    **dict.fromkeys(("expand_dims", "squeeze"), _along),
    **dict.fromkeys(("dot", "matmul", "outer", "inner", "vdot"), _product),
    **dict.fromkeys(("fliplr", "flipud", "roll"), _turned),
    **dict.fromkeys(("diag", "trace"), _diagonal),
    **dict.fromkeys(("tril", "triu"), _triangular),
    "repeat": _repeated,
    "swapaxes": _swapped,
    "split": _parted,
    "pad": _padded,
    "array_equal": _same_arrays,
    "linalg.det": _determinant,
    "reshape": _reshaped,
    "ravel": _raveled,
    "transpose": _transposed,
    "tile": _tiled,
    "moveaxis": _moved,
    "append": _appended,
    "einsum": _einsum,
}
