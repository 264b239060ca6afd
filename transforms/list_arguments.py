"""What TensorFlow's functions make of lists that hold Python numbers or arrays which are tensors here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .facts.kinds import Dict, Elements, Function, Kind, Python, Sequence, Tensor
from .facts.staging import holds_tensor, is_numpy, is_tensor, is_weak
from .facts.syntax import given_to
from .findings import Refusal

if TYPE_CHECKING:
    from .expressions import Writer

CONSTANTS = ("tensorflow.constant", "tensorflow.convert_to_tensor")
DEFAULTS = {"int": "int32", "float": "float32"}
OF_LISTS = frozenset({"constant", "convert_to_tensor", "stack"})
"""Functions that make one tensor of a list."""
INDEXED = {
    "gather_nd": (1,),
    **{
        f"tensor_scatter_nd_{change}": (1, 2)
        for change in ["update", "add", "sub", "max", "min"]
    },
}
"""Functions that take indices, of whichever dtype, and at which places these and what goes there are."""


def of_list(writer: Writer, node: ast.Call) -> str | None:
    """A call that makes a tensor of a list of Python numbers, or of what became tensors; None where it stays."""
    function, arguments = writer.kind(node.func), given_to(node)
    short = short_name(function).removeprefix("math.")
    text = None
    if (short in OF_LISTS or short.startswith("reduce_")) and arguments:
        text = _of_numbers(writer, node, arguments[0])
    if text is None and isinstance(function, Function) and function.name in CONSTANTS:
        text = _constant_of_tensors(writer, node)
    return text


def displays(writer: Writer, node: ast.Call, short: str) -> str | None:
    """A call whose lists of tensors and Python numbers, which are tensors here, are each of one dtype."""
    places = (0,) if short in OF_LISTS else INDEXED.get(short, ())
    edits: dict[ast.expr, str] = {}
    for place, argument in enumerate(given_to(node)):
        leaves = list(leaves_of(argument)) if place in places else [argument]
        kinds = [writer.kind(leaf) for leaf in leaves]
        dtype = _dtype_of_display(writer, node, short, place, kinds)
        for leaf, kind in zip(leaves, kinds, strict=True):
            text = writer.changed(leaf)
            if holds_weak(kind):
                if dtype is None or not isinstance(kind, Tensor):
                    return None
                if kind.dtype != dtype:
                    cast_to = f"{writer.tf}.{dtype}"
                    text = writer.promotion.cast(writer.text(leaf), cast_to)
            if text is not None:
                edits[leaf] = text
    return writer.source.spliced(node, edits)


def _of_numbers(writer: Writer, node: ast.Call, value: ast.expr) -> str | None:
    """A tensor of a list of Python numbers, which are tensors here, in the dtype that eager mode gives it."""
    held = writer.kind(value)
    if not (isinstance(held, Elements) and is_weak(held.element)):
        return None
    makes = short_name(writer.kind(node.func)) in OF_LISTS
    own = getattr(held.element, "dtype", None)
    wanted = DEFAULTS.get(str(getattr(held.element, "weak", None)))
    if makes:
        wanted = getattr(writer.kind(node), "dtype", None)
    others = [*node.args[1:], *(k.value for k in node.keywords)]
    stacked = makes and others and "stack" in short_name(writer.kind(node.func))
    if None in (own, wanted) or stacked:
        reason = "a list of Python numbers that a tensor decides is passed here"
        raise Refusal(reason, node)
    text = f"{writer.tf}.convert_to_tensor({writer.text(value)}, {writer.tf}.{own})"
    if own != wanted:
        text = writer.promotion.cast(text, f"{writer.tf}.{wanted}")
    return text if makes else writer.source.spliced(node, {value: text})


def _constant_of_tensors(writer: Writer, node: ast.Call) -> str | None:
    """`tf.constant` of what became tensors: a graph takes only Python values there."""
    value = next(
        (k.value for k in node.keywords if k.arg == "value"),
        node.args[0] if node.args else None,
    )
    if value is None or not holds_tensor(writer.kind(value)):
        return None
    if writer.kind(node.func) != Function("tensorflow.constant") and not is_numpy(
        writer.kind(value)
    ):
        return None
    dtype = getattr(writer.kind(node), "dtype", None)
    if (
        dtype is None
        or len(node.args) > 2
        or any(k.arg not in ("dtype", "value") for k in node.keywords)
    ):
        raise Refusal("`tf.constant` of tensors is not lifted here", node)
    want = Tensor(dtype, ())
    if isinstance(value, ast.List | ast.Tuple) and isinstance(
        kind := writer.kind(value), Sequence
    ):
        if not all(is_tensor(k) or isinstance(k, Python) for k in kind.items):
            raise Refusal("`tf.constant` of nested tensors is not lifted", node)
        parts = [
            writer.promotion.coerced(writer.text(e), k, want, e)
            for e, k in zip(value.elts, kind.items, strict=True)
        ]
        return f"{writer.tf}.stack([{', '.join(parts)}])"
    if not is_tensor(writer.kind(value)):
        raise Refusal("`tf.constant` of tensors is not lifted here", node)
    if is_weak(writer.kind(value)) and not is_numpy(writer.kind(value)):
        return writer.promotion.cast(writer.text(value), f"{writer.tf}.{dtype}")
    return writer.promotion.coerced(writer.text(value), writer.kind(value), want, value)


def _dtype_of_display(
    writer: Writer, node: ast.Call, short: str, place: int, kinds: list[Kind]
) -> str | None:
    """The dtype of what a list makes as an argument; None where that is not known."""
    tensors = [k for k in kinds if isinstance(k, Tensor)]
    if not all(isinstance(k, Python | Tensor) and not is_numpy(k) for k in kinds):
        return None
    wanted = {k.dtype for k in tensors if not k.weak}
    if short not in OF_LISTS and place == 2:
        wanted = {getattr(writer.kind(node.args[0]), "dtype", None)}
    elif short in OF_LISTS and not wanted:
        wanted = {getattr(writer.kind(node), "dtype", None)}
    elif not wanted:
        wanted = {k.dtype for k in tensors}
        wanted = wanted if len(wanted) == 1 else {"int64"}
    return wanted.pop() if len(wanted) == 1 else None


def short_name(function: Kind) -> str:
    """The name of one of TensorFlow's functions, within it."""
    name = function.name if isinstance(function, Function) else ""
    return name.removeprefix("tensorflow.") if name.startswith("tensorflow.") else ""


def leaves_of(node: ast.expr) -> Iterator[ast.expr]:
    """What a display, and those inside it, hold."""
    if isinstance(node, ast.List | ast.Tuple):
        for element in node.elts:
            yield from leaves_of(element)
    else:
        yield node


def holds_weak(kind: Kind) -> bool:
    if isinstance(kind, Sequence):
        return any(map(holds_weak, kind.items))
    if isinstance(kind, Dict):
        return any(holds_weak(value) for _, value in kind.items)
    if isinstance(kind, Elements) and kind.type in ("list", "tuple"):
        return holds_weak(kind.element)
    return is_weak(kind) and not is_numpy(kind)
