"""GL206 numpy-call: NumPy's functions and methods on tensors become TensorFlow's."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from . import numpy_shapes
from .facts import numpy_functions
from .facts.kinds import Kind, Python, Tensor
from .facts.numpy_arguments import as_array
from .facts.staging import holds_size, holds_tensor, is_strong, released
from .findings import Refusal
from .numpy_operands import Call
from .promotion import array_dtype
from .rule import Rule

if TYPE_CHECKING:
    from .expressions import Writer


class NumpyCall(Rule):
    """A function or method of NumPy works on a tensor.

    What it finds:
        `np.mean(x)`, `x.numpy().sum()` and their like, of tensors and of what is computed from them.

    Why it matters:
        While a graph is traced a tensor has no value for NumPy: tracing stops with `NotImplementedError: Cannot
        convert a symbolic tf.Tensor to a numpy array`, or the array of the first call is kept for good.

    Before:
        import numpy as np
        import tensorflow as tf

        def f(x: tf.Tensor):
            y = tf.square(x)
            return np.sum(y) / np.sqrt(2.0 * np.max(y) + 1.0)

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([3.0, 0.0]),), (tf.constant([0.0, 0.0]),)]

    After:
        import numpy as np
        import tensorflow as tf

        @tf.function(autograph=False, input_signature=[tf.TensorSpec([2], tf.float32)])
        def f_graph(x: tf.Tensor):
            y = tf.square(x)
            return tf.reduce_sum(y) / tf.sqrt(2.0 * tf.reduce_max(y) + 1.0)


        def f(x: tf.Tensor):
            return f_graph(x).numpy()

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([3.0, 0.0]),), (tf.constant([0.0, 0.0]),)]

    When it is left alone:
        Functions without an equivalent of the same result and dtype, such as `np.median`, or `np.max` of what may be
        empty; `np.log10` of float64, which a quotient of logarithms is not; float16; indexing by arrays. `np.flip` of a tensor gives a tensor, `np.sort` puts NaN last: use
        `tf.reverse` and `tf.sort`. (`np.argmax` takes a NaN for the largest, `tf.argmax` passes it over.)
    """

    code = "GL206"
    name = "numpy-call"
    errors = (r"Cannot convert a symbolic tf.Tensor .* to a numpy array",)


SAME = {
    "exp": "exp", "log": "math.log", "sqrt": "sqrt", "sin": "sin", "cos": "cos", "tan": "tan", "tanh": "tanh",
    "sinh": "sinh", "cosh": "cosh", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh",
    "arccosh": "acosh", "arctanh": "atanh", "fabs": "abs", "reciprocal": "math.reciprocal",
    "log1p": "math.log1p", "expm1": "math.expm1", "abs": "abs", "absolute": "abs", "negative": "negative",
    "square": "square", "sign": "sign", "floor": "floor", "ceil": "math.ceil", "rint": "round",
    "isnan": "math.is_nan", "isinf": "math.is_inf", "isfinite": "math.is_finite", "logical_not": "logical_not",
}  # fmt: skip
"""Functions of one array, and TensorFlow's."""
PAIRS = {
    "add": "add", "subtract": "subtract", "multiply": "multiply", "divide": "divide", "true_divide": "divide",
    "maximum": "maximum", "minimum": "minimum", "power": "pow", "mod": "math.floormod",
    "remainder": "math.floormod", "arctan2": "atan2", "fmod": "truncatemod", "equal": "equal", "not_equal": "not_equal", "less": "less",
    "less_equal": "less_equal", "greater": "greater", "greater_equal": "greater_equal",
    "logical_and": "logical_and", "logical_or": "logical_or", "logical_xor": "math.logical_xor",
}  # fmt: skip
"""Functions of two arrays."""
FACTORS = {
    "degrees": 180.0 / math.pi, "rad2deg": 180.0 / math.pi, "radians": math.pi / 180.0, "deg2rad": math.pi / 180.0,
}  # fmt: skip
"""Functions that multiply one array."""
REDUCTIONS = {
    "sum": "reduce_sum", "prod": "reduce_prod", "mean": "reduce_mean", "std": "math.reduce_std",
    "var": "math.reduce_variance", "average": "reduce_mean", "max": "reduce_max", "amax": "reduce_max", "min": "reduce_min",
    "amin": "reduce_min", "any": "reduce_any", "all": "reduce_all",
}  # fmt: skip


PLAIN = re.compile(r"[A-Za-z_][\w.]*(\[[\w., :-]*\])?")
"""Names and items, which may be written more than once."""


def with_item(
    writer: Writer, target: ast.Subscript, value: tuple[str, Kind], dtype: str
) -> str:
    """The text of an array after `target = value`."""
    index = target.slice
    places = index.elts if isinstance(index, ast.Tuple) else [index]
    text, kind = value
    if getattr(kind, "dtype", None) != dtype and not isinstance(kind, Python):
        text = writer.promotion.cast(text, f"{writer.tf}.{dtype}")
    elif isinstance(kind, Python):
        text = f"{writer.tf}.constant({text}, {writer.tf}.{dtype})"
    where = ", ".join(map(writer.text, places))
    return f"{writer.tf}.tensor_scatter_nd_update({writer.text(target.value)}, [[{where}]], [{text}])"


def text_of(writer: Writer, node: ast.Call, name: str) -> str | None:
    """The text of a call of `numpy.name`; None where no tensor is in it."""
    given = [*node.args, *(k.value for k in node.keywords)]
    kinds = [writer.kind(a) for a in given]
    if not any(holds_tensor(k) or holds_size(k) for k in kinds):
        return None
    return _written(writer, node, name, node.args)


def method_text(writer: Writer, node: ast.Call, owner: ast.expr, name: str) -> str:
    """The text of a method of an array that is held in a tensor."""
    if numpy_functions.is_method(name):
        return _written(writer, node, name, [owner, *node.args])
    call = Call(writer, node, {"a": owner})
    match name:
        case "item" | "tolist" if isinstance(writer.kind(node), Tensor):
            return call.array("a", call.dtype)
        case "tolist" | "copy":
            return call.array("a")
        case "astype":
            return call.array("a", call.dtype)
        case "flatten":
            return call.call("reshape", call.array("a"), "[-1]")
        case "transpose":
            return call.call("transpose", call.array("a"))
        case "reshape":
            sizes = ", ".join(map(writer.text, node.args))
            if len(node.args) != 1 or isinstance(writer.kind(node.args[0]), Python):
                sizes = f"[{sizes}]"
            return call.call("reshape", call.array("a"), sizes)
    raise Refusal(f"`.{name}()` of an array is not lifted", node, "GL206")


def _written(writer: Writer, node: ast.Call, name: str, args: list[ast.expr]) -> str:
    keywords = {str(k.arg): k.value for k in node.keywords}
    names = numpy_functions.bound_names(name, len(args), keywords)
    template = TEMPLATES.get(name)
    if names is None or template is None:
        raise Refusal(f"`numpy.{name}` is not lifted", node, "GL206")
    values = [*args, *keywords.values()]
    return template(Call(writer, node, dict(zip(names, values, strict=True))), name)


# ---- one template for each family


def _of_one(call: Call, name: str) -> str:
    own = getattr(call.kind("x"), "dtype", None)
    dtype = own if call.dtype == "bool" else call.dtype
    return call.call(SAME[name], call.array("x", dtype))


def _scaled(call: Call, name: str) -> str:
    return call.call("multiply", call.array("x", call.dtype), repr(FACTORS[name]))


def _of_logs(call: Call, name: str) -> str:
    wide = call.call("cast", call.array("x"), f"{call.tf}.float64")
    base = repr(math.log(float(name.removeprefix("log"))))
    return call.call(
        "cast", f"{call.call('math.log', wide)} / {base}", f"{call.tf}.float32"
    )


def _finite(call: Call, name: str) -> str:
    """np.nan_to_num: zero for NaN, the largest numbers for infinities."""
    x = _plain_text(call, "x")
    bounded = call.call("clip_by_value", x, f"{x}.dtype.min", f"{x}.dtype.max")
    return call.call(
        "where", call.call("math.is_nan", x), call.call("zeros_like", x), bounded
    )


def _close(call: Call, name: str) -> str:
    a, b = (_plain_text(call, n) for n in ("a", "b"))
    rtol, atol = (
        call.writer.text(call.arguments[n]) if n in call else default
        for n, default in (("rtol", "1e-05"), ("atol", "1e-08"))
    )
    near = (
        f"{call.call('abs', f'{a} - {b}')} <= {atol} + {rtol} * {call.call('abs', b)}"
    )
    text = f"(({near}) & {call.call('math.is_finite', b)}) | ({a} == {b})"
    return call.call("reduce_all", text) if name == "allclose" else f"({text})"


def _plain_text(call: Call, name: str) -> str:
    """The text of an argument that is written more than once.

    Raises:
        Refusal: it is more than a name.
    """
    text = call.array(name)
    if not PLAIN.fullmatch(text):
        raise Refusal(
            f"`{text}` would be worked out more than once",
            call.node,
            "GL206",
            "give it a name before it is passed to NumPy",
        )
    return text


def _without_nan(call: Call, name: str) -> str:
    return call.call(
        f"experimental.numpy.{name}", call.array("a") + call.option("axis")
    )


def _rounded(call: Call, name: str) -> str:
    decimals = getattr(call.kind("decimals"), "value", 0) if "decimals" in call else 0
    text = call.array("a", call.dtype)
    if not decimals:
        return call.call("round", text)
    factor = f"{10.0**decimals!r}"
    text = text if text.isidentifier() else f"({text})"
    rounded = call.call("round", f"{text} * {factor}")
    # In a plain division by a constant, grappler multiplies by the inverse, which is not exact.
    return call.call("math.divide_no_nan", rounded, factor)


def _counted(call: Call, name: str) -> str:
    return call.call("math.count_nonzero", call.array("a") + call.option("axis"))


def _differences(call: Call, name: str) -> str:
    return call.call("experimental.numpy.diff", call.array("a"))


def _of_two(call: Call, name: str) -> str:
    kinds = (call.kind("x1"), call.kind("x2"))
    dtype = array_dtype(tuple(_plain(k) for k in kinds), name.endswith("divide"))
    second = call.kind("x2")
    number = isinstance(second, Python) and second.type != "bool"
    other = call.writer.text(call.arguments["x2"]) if number else None
    return call.call(
        PAIRS[name], call.array("x1", dtype), other or call.array("x2", dtype)
    )


def _plain(kind: Kind) -> Kind:
    """An operand as NumPy sees it."""
    return as_array(kind) if is_strong(kind) else released(kind)


def _reduction(call: Call, name: str) -> str:
    own = getattr(call.kind("a"), "dtype", None)
    dtype = "bool" if name in ("any", "all") else call.dtype
    if name in ("max", "amax", "min", "amin"):
        dtype = own or dtype
    options = call.option("axis") + call.option("keepdims")
    return call.call(REDUCTIONS[name], call.array("a", dtype) + options)


def _position(call: Call, name: str) -> str:
    """np.argmax and np.argmin, of all elements where no axis is named."""
    text = call.array("a")
    if "keepdims" in call:
        raise Refusal(f"`{name}` with keepdims is not lifted", call.node, "GL206")
    if "axis" not in call and len(getattr(call.kind("a"), "shape", None) or ()) != 1:
        text = call.call("reshape", text, "[-1]")
    return call.call(name, text + call.option("axis"))


def _accumulated(call: Call, name: str) -> str:
    text = call.array("a", call.dtype)
    if "axis" not in call and len(getattr(call.kind("a"), "shape", None) or ()) != 1:
        text = call.call("reshape", text, "[-1]")
    function = "cumsum" if name == "cumsum" else "math.cumprod"
    return call.call(function, text + call.option("axis"))


def _norm(call: Call, name: str) -> str:
    order = getattr(call.kind("ord"), "value", None) if "ord" in call else None
    options = "" if order in (None, 2) else call.option("ord")
    options += call.option("axis") + call.option("keepdims")
    return call.call("norm", call.array("x") + options)


def _clipped(call: Call, name: str) -> str:
    bounds = [
        call.writer.text(call.arguments[n])
        if isinstance(call.kind(n), Python)
        else call.array(n, call.dtype)
        for n in ("a_min", "a_max")
    ]
    return call.call("clip_by_value", call.array("a", call.dtype), *bounds)


def _places(call: Call, name: str) -> str:
    """Where an array is not zero: for each dimension, but for np.argwhere."""
    text = call.array("condition" if name == "where" else "a")
    if name == "flatnonzero":
        return call.call("where", call.call("reshape", text, "[-1]")) + "[:, 0]"
    found = call.call("where", text)
    if name == "argwhere":
        return found
    return f"tuple({call.call('unstack', found, 'axis=1')})"


def _chosen(call: Call, name: str) -> str:
    if "x" not in call:
        return _places(call, name)
    sides = [call.array(n, call.dtype) for n in ("x", "y")]
    return call.call("where", call.array("condition", "bool"), *sides)


def _converted(call: Call, name: str) -> str:
    """np.array(x), np.float32(x): the tensor itself, or a cast."""
    return call.array("value" if name in numpy_functions.TYPES else "a", call.dtype)


def _like(call: Call, name: str) -> str:
    own = getattr(call.kind("a"), "dtype", None)
    if name == "full_like":
        value = call.array("fill_value", call.dtype)
        return call.call("fill", call.call("shape", call.array("a")), value)
    dtype = "" if own == call.dtype else f", {call.tf}.{call.dtype}"
    return call.call(name, call.array("a") + dtype)


def _filled(call: Call, name: str) -> str:
    shape = call.shape("shape")
    if name == "full":
        return call.call("fill", shape, call.array("fill_value", call.dtype))
    made = "zeros" if name == "empty" else name
    return call.call(made, shape, f"{call.tf}.{call.dtype}")


def _spaced(call: Call, name: str) -> str:
    bounds = [call.array(n, "float64") for n in ("start", "stop")]
    count = call.writer.text(call.arguments["num"]) if "num" in call else "50"
    return call.call("linspace", *bounds, count)


def _counting(call: Call, name: str) -> str:
    return call.call("range", *(call.array(n, "int64") for n in call.arguments))


def _identity(call: Call, name: str) -> str:
    size = call.writer.text(call.arguments["n"])
    return call.call("eye", size, f"dtype={call.tf}.float64")


TEMPLATES: dict[str, Callable[[Call, str], str]] = {
    **numpy_shapes.TEMPLATES,
    **dict.fromkeys(SAME, _of_one),
    **dict.fromkeys(PAIRS, _of_two),
    **dict.fromkeys(REDUCTIONS, _reduction),
    **dict.fromkeys(("argmax", "argmin"), _position),
    **dict.fromkeys(("cumsum", "cumprod"), _accumulated),
    **dict.fromkeys(("round", "around"), _rounded),
    **dict.fromkeys(("zeros", "ones", "full", "empty"), _filled),
    **dict.fromkeys(("zeros_like", "ones_like", "full_like"), _like),
    **dict.fromkeys(
        ("array", "asarray", "asanyarray", "copy", "ascontiguousarray"), _converted
    ),
    **dict.fromkeys(numpy_functions.TYPES & numpy_functions.RULES.keys(), _converted),
    **dict.fromkeys(("eye", "identity"), _identity),
    **dict.fromkeys(FACTORS, _scaled),
    **dict.fromkeys(("nansum", "nanmean"), _without_nan),
    "count_nonzero": _counted,
    "diff": _differences,
    "linalg.norm": _norm,
    "nan_to_num": _finite,
    **dict.fromkeys(("log2", "log10"), _of_logs),
    **dict.fromkeys(("isclose", "allclose"), _close),
    "clip": _clipped,
    **dict.fromkeys(("nonzero", "flatnonzero", "argwhere"), _places),
    "where": _chosen,
    "linspace": _spaced,
    "arange": _counting,
}
