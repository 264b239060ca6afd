"""Arrays that a function makes and fills item by item: whether a graph can hold them in a tensor."""

from __future__ import annotations

import ast

from .environment import FunctionFacts
from .kinds import Array, Kind, Python, Sequence, Tensor
from .signs import is_never_negative
from .staging import is_numpy, is_tensor


def fits(
    container: Kind, index: ast.expr, key: Kind, value: Kind, facts: FunctionFacts
) -> bool:
    """Whether one item or row is set, whose place counts from the front, to a value of its shape."""
    if not (isinstance(container, Array) or is_numpy(container)):
        return False
    shape = getattr(container, "shape", None)
    nodes = index.elts if isinstance(index, ast.Tuple) else [index]
    kinds = key.items if isinstance(key, Sequence) else (key,)
    if shape is None or len(kinds) != len(nodes) or len(nodes) > len(shape):
        return False
    if not all(map(_is_place, kinds)):
        return False
    if not all(is_never_negative(n, facts) for n in nodes):
        return False
    dtypes = {getattr(k, "dtype", None) for k in kinds if is_tensor(k)}
    row = shape[len(nodes) :]
    if not row and isinstance(value, Python):
        return len(dtypes) <= 1 and value.type in ("int", "float", "bool")
    known = getattr(value, "shape", None) == row and None not in row
    return len(dtypes) <= 1 and known


def _is_place(kind: Kind) -> bool:
    if isinstance(kind, Python):
        return kind.type == "int"
    whole = getattr(kind, "dtype", None) in ("int32", "int64")
    return isinstance(kind, Tensor) and whole and kind.shape == ()
