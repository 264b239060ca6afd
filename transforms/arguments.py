"""What TensorFlow's functions are given: Python numbers and arrays, which are tensors here, in the dtypes of eager mode."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .facts.kinds import (
    Function,
    Kind,
    Record,
    Sequence,
    Tensor,
    TensorArray,
    Variable,
)
from .facts.staging import (
    holds_tensor,
    is_list,
    is_numpy,
    is_strong,
    is_tensor,
    is_weak,
)
from .facts.syntax import given_to
from .findings import Refusal, Unseen
from .list_arguments import DEFAULTS, displays, holds_weak, leaves_of, short_name

if TYPE_CHECKING:
    from .expressions import Writer

TAKES_WEAK = frozenset(
    [
        "cast",
        "print",
        "zeros",
        "ones",
        "fill",
        "reshape",
        "range",
        "data.Dataset.range",
        "one_hot",
        "shape",
        "size",
        "rank",
        "stack",
        "expand_dims",
        "identity",
        "gather",
        "repeat",
        "tile",
        "slice",
        "strings.as_string",
        "equal",
        "not_equal",
        "eye",
        "roll",
        "sequence_mask",
    ]
)
"""TensorFlow functions that take an int64 or float64 tensor where they take a Python number, to the same result."""
COUNTED = frozenset(["TensorArray", "math.top_k", "nn.top_k"])
"""Functions that take how many items there are, beside their first argument, in int32 alone."""
LIKE_FIRST = frozenset(["clip_by_value", "clip_by_norm"])
"""Functions that make the numbers they are given tensors of the dtype of the first argument."""
OF_DTYPE = {
    "image.adjust_brightness": "float64",
    "image.adjust_contrast": "float32",
    "image.adjust_hue": "float32",
    "image.adjust_saturation": "float32",
    "image.rot90": "int32",
}
"""Functions that make the numbers they are given beside their first argument tensors of a dtype, and take others of it."""
TAKES_SHAPE = frozenset(
    ["zeros", "ones", "fill", "reshape", "tile", "broadcast_to", "slice", "roll", "pad"]
)
"""Functions that take lists of sizes, or of lists of them."""
SEEDED = ("random.stateless_", "image.stateless_", "nn.experimental.stateless_")
"""Functions that take two numbers as their seed, and give the same for those of int64 as for those of int32."""
BROADCASTING = frozenset(
    [
        "add",
        "subtract",
        "multiply",
        "divide",
        "maximum",
        "minimum",
        "pow",
        "math.maximum",
        "math.minimum",
        "math.add",
        "math.subtract",
        "math.multiply",
        "math.divide",
        "squared_difference",
        "greater",
        "greater_equal",
        "less",
        "less_equal",
        "equal",
        "not_equal",
        "math.floormod",
        "math.floordiv",
    ]
)
ASSIGNING = frozenset({"assign", "assign_add", "assign_sub"})
OF_ANY_DTYPES = frozenset(
    f"tensorflow.{name}" for name in ("cast", "gather", "gather_nd", "boolean_mask")
)
"""Functions whose arguments need no dtype in common."""
OF_VALUES = frozenset(
    ["stack", "identity", "fill", "equal", "not_equal", "repeat", "tile"]
)
"""Functions that are refused where what they make a tensor of is a Python number that a tensor decides."""


def text_of(writer: Writer, node: ast.Call) -> str | None:
    """A call with its arguments as the graph needs them; None where it stays as it stands.

    Raises:
        Refusal: it would not take them for what eager mode does.
    """
    function, arguments = writer.kind(node.func), given_to(node)
    short = short_name(function).removeprefix("math.")
    kinds = [*map(writer.kind, arguments)]
    if any(is_weak(k) and not is_numpy(k) for k in kinds):
        return _weak_arguments(writer, node, function)
    if short in TAKES_SHAPE or short.startswith(SEEDED):
        return _integer_arguments(writer, node)
    if any(map(_holds_numpy, kinds)):
        return _array_arguments(writer, node, function)
    outside = isinstance(function, Function) and node not in writer.facts.calls
    if short == "gather" and node.args and arguments[1:] == node.args[1:]:
        outside = holds_weak(kinds[0])
    if outside and any(map(holds_weak, kinds)):
        text = displays(writer, node, short)
        if text is not None:
            return text
        raise Refusal(
            "a list of Python numbers that a tensor decides is passed here", node
        )
    return None


def _weak_arguments(writer: Writer, node: ast.Call, function: Kind) -> str | None:
    name = function.name if isinstance(function, Function) else ""
    if not name.startswith("tensorflow."):
        return _of_other_calls(writer, node, function, name)
    short = name.removeprefix("tensorflow.")
    if short in BROADCASTING and len(node.args) == 2 and not node.keywords:
        first, second = map(writer.operand, node.args)
        a, b = writer.promotion.operands(first, second)
        if not (is_strong(first[1]) or is_strong(second[1])):
            raise Refusal(
                f"`{ast.unparse(node.func)}` of Python numbers that a tensor decides is not lifted",
                node,
            )
        return f"{writer.source.segment(node.func)}({a}, {b})"
    if short in LIKE_FIRST and node.args and is_strong(writer.kind(node.args[0])):
        return _of_dtype(
            writer, node, getattr(writer.kind(node.args[0]), "dtype", None)
        )
    if short in COUNTED:
        return _with_count(writer, node)
    if short in OF_DTYPE:
        return _of_dtype(writer, node, OF_DTYPE[short])
    if short not in TAKES_WEAK and len(node.args) == 1 and not node.keywords:
        return _converted_argument(writer, node)
    if short not in TAKES_WEAK or (
        short == "one_hot" and not _is_only_counted(writer, node)
    ):
        raise _number_is_passed(node)
    if short == "range":
        return _range(writer, node)
    if short == "one_hot":
        return _with_count(writer, node)
    if short in ("repeat", "tile") and not is_weak(writer.kind(node.args[0])):
        return None
    if short in OF_VALUES:
        raise _number_is_passed(node)
    return None


def _number_is_passed(node: ast.Call) -> Refusal:
    return Refusal(
        f"`{ast.unparse(node.func)}` takes a Python number here",
        node,
        way_out="pass a tensor of the dtype that is meant",
    )


def _of_other_calls(
    writer: Writer, node: ast.Call, function: Kind, name: str
) -> str | None:
    """A call of something else than TensorFlow's functions, which is given Python numbers."""
    receiver = getattr(function, "receiver", None)
    if isinstance(receiver, TensorArray) and not node.keywords:
        return _array_call(writer, node, receiver)
    if name == "method.append" and _is_of_own_list(writer, node.func):
        return None
    if isinstance(receiver, Record):
        return None
    if (variable := _assigned_to(writer, node)) is not None:
        return _assigned(writer, node, variable)
    if name.startswith("method.") and writer.facts.calls.get(node) is None:
        raise Refusal("a Python number that a tensor decides is passed here", node)
    return None


def _of_dtype(writer: Writer, node: ast.Call, dtype: str | None) -> str:
    """Python numbers beside the first argument become tensors of a dtype."""
    first, *rest = given_to(node)
    want = Tensor(dtype, ())
    edits = {first: writer.text(first)}
    for argument in rest:
        text = writer.text(argument)
        if is_weak(writer.kind(argument)):
            text = writer.promotion.coerced(text, writer.kind(argument), want, argument)
        edits[argument] = text
    return writer.source.spliced(node, edits)


def _converted_argument(writer: Writer, node: ast.Call) -> str:
    """A Python number alone becomes a tensor of TensorFlow's default dtype."""
    (argument,) = node.args
    kind = writer.kind(argument)
    dtype = DEFAULTS.get(getattr(kind, "weak", "") or "")
    if dtype is None:
        raise Refusal(f"`{ast.unparse(node.func)}` takes a Python value here", node)
    text = writer.promotion.cast(writer.text(argument), f"{writer.tf}.{dtype}")
    return f"{writer.source.segment(node.func)}({text})"


def _range(writer: Writer, node: ast.Call) -> str | None:
    """`tf.range` of Python numbers counts in the dtype that it gives these."""
    dtype = getattr(writer.kind(node), "dtype", None)
    if any(k.arg == "dtype" for k in node.keywords):
        return None
    if dtype is None or node.keywords:
        raise Unseen("the dtype of this range is not known", node)
    texts = [
        writer.promotion.cast(writer.text(a), f"{writer.tf}.{dtype}")
        if is_weak(writer.kind(a))
        else writer.text(a)
        for a in node.args
    ]
    return f"{writer.source.segment(node.func)}({', '.join(texts)})"


def _is_only_counted(writer: Writer, node: ast.Call) -> bool:
    """Whether `tf.one_hot` gets Python numbers that a tensor decides as its places or depth, not as its values."""
    values = [*node.args[2:], *(k.value for k in node.keywords if k.arg != "depth")]
    return not any(is_weak(writer.kind(value)) for value in values)


def _with_count(writer: Writer, node: ast.Call) -> str | None:
    """`tf.one_hot` takes its depth, a TensorArray its size, in int32 alone."""
    edits = writer.edits(node)
    for argument in [*node.args[1:2], *(k.value for k in node.keywords)]:
        if is_weak(writer.kind(argument)):
            text = writer.text(argument)
            edits[argument] = writer.promotion.cast(text, f"{writer.tf}.int32")
    return writer.source.spliced(node, edits) if edits else None


def _is_of_own_list(writer: Writer, function: ast.expr) -> bool:
    """Whether what a method is called of is a list of this function."""
    owner = getattr(function, "value", None)
    return (
        isinstance(owner, ast.Name)
        and owner.id not in writer.facts.parameters
        and is_list(writer.kind(owner))
    )


def _array_call(writer: Writer, node: ast.Call, array: TensorArray) -> str:
    """A TensorArray takes its own dtype, at an index of int32."""
    texts = []
    for argument, dtype in zip(node.args, ("int32", array.dtype), strict=False):
        kind, text = writer.kind(argument), writer.text(argument)
        if is_weak(kind) and getattr(kind, "dtype", None) != dtype:
            text = writer.promotion.cast(text, f"{writer.tf}.{dtype}")
        texts.append(text)
    return f"{writer.text(node.func)}({', '.join(texts)})"


def _assigned_to(writer: Writer, node: ast.Call) -> Variable | None:
    """The Variable that a call assigns, or assigns a part of."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=[_, *_]) if (
            name in ASSIGNING
        ):
            part = isinstance(owner, ast.Subscript)
            kind = writer.kind(owner.value if part else owner)  # type: ignore[attr-defined]
            return kind if isinstance(kind, Variable) else None
    return None


def _assigned(writer: Writer, node: ast.Call, variable: Variable) -> str:
    """A Python number that a Variable takes, in its dtype."""
    value, want = node.args[0], Tensor(variable.dtype, ())
    text = writer.promotion.coerced(writer.text(value), writer.kind(value), want, value)
    edits = {value: text}
    if new := writer.changed(node.func):
        edits[node.func] = new
    return writer.source.spliced(node, edits)


def _integer_arguments(writer: Writer, node: ast.Call) -> str | None:
    """Sizes or seeds in a list are of one dtype in a graph: that of the tensors among them, or int64."""
    edits = writer.edits(node)
    for argument in given_to(node):
        kind = writer.kind(argument)
        if not isinstance(argument, ast.List | ast.Tuple) or not holds_tensor(kind):
            continue
        leaves = [*leaves_of(argument)]
        kinds = [writer.kind(e) for e in leaves]
        if any(getattr(k, "weak", None) == "float" for k in kinds):
            raise Refusal("a list of floats that a tensor decides", argument)
        own = {getattr(k, "dtype", None) for k in kinds if is_strong(k)}
        (want,) = own if len(own) == 1 else ("int64",)
        inner = writer.edits(argument)
        for element, held in zip(leaves, kinds, strict=True):
            if is_weak(held) and getattr(held, "dtype", None) != want:
                text = writer.text(element)
                inner[element] = writer.promotion.cast(text, f"{writer.tf}.{want}")
        if inner:
            edits[argument] = writer.source.spliced(argument, inner)
    return writer.source.spliced(node, edits) if edits else None


def _array_arguments(writer: Writer, node: ast.Call, function: Kind) -> str | None:
    """Arrays that are held in tensors, where TensorFlow would take arrays: they have to be of one dtype there."""
    name = function.name if isinstance(function, Function) else ""
    if not name.startswith("tensorflow."):
        return None
    if (
        name.removeprefix("tensorflow.") in BROADCASTING
        and len(node.args) == 2
        and not node.keywords
    ):
        first, second = map(writer.operand, node.args)
        a, b = writer.promotion.operands(first, second)
        if (a, b) == (first[0], second[0]) and not writer.edits(node):
            return None
        return f"{writer.source.segment(node.func)}({a}, {b})"
    arguments = given_to(node)
    dtypes = {d for a in arguments for d in _dtypes(writer.kind(a))}
    if name == "tensorflow.where":
        dtypes -= {"bool"}
    if len(dtypes) > 1 and name not in OF_ANY_DTYPES:
        raise Refusal(
            f"`{ast.unparse(node.func)}` takes arrays of several dtypes", node
        )
    return None


def _holds_numpy(kind: Kind) -> bool:
    if isinstance(kind, Sequence):
        return any(map(_holds_numpy, kind.items))
    return is_numpy(kind)


def _dtypes(kind: Kind) -> set[str | None]:
    """The dtypes of the tensors in a value."""
    if isinstance(kind, Sequence):
        return set[str | None]().union(*map(_dtypes, kind.items))
    return {getattr(kind, "dtype", None)} if is_tensor(kind) else set()
