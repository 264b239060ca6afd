"""Expressions of TensorFlow, evaluated twice: by Python for values, and by graphlift's facts for kinds."""

from __future__ import annotations

import ast
import itertools
import random
import re
from collections.abc import Iterator as Iterating
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import tensorflow as tf

from graphlift.transforms.facts import methods, operators, tensorflow_api
from graphlift.transforms.facts.kind_notation import parse
from graphlift.transforms.facts.kinds import (
    NONE,
    SIZE,
    UNKNOWN,
    Array,
    Dataset,
    Dict,
    Elements,
    Iterator,
    Kind,
    Mapping,
    Object,
    Python,
    Ragged,
    Scalar,
    Sequence,
    Shape,
    Shaped,
    Sparse,
    Tensor,
    TensorArray,
    Type,
    Union,
    Variable,
    python,
    weak,
)
from graphlift.transforms.facts.outcome import Outcome, outcome

SHAPES = ((), (2,), (3,), (1, 3), (2, 3), (2, 1, 3))
DTYPES = ("float16", "float32", "float64", "int32", "int64", "bool", "string")


ODD_KINDS = [
    parse(text)
    for text in (
        "unknown",
        "None",
        "int",
        "weak(float)",
        "tensor(float32, 2, 3)",
        "tensor(int32)",
        "tensor(unknown, ...)",
        "tensor(string, None)",
        "variable(float32, ...)",
        "array(int64, 3)",
        "list(int, tensor(float32, 3))",
        "tuple[tensor(float32, None)]",
        "list()",
        "dict(a=int)",
        "ragged(float32, 2, None)",
        "dataset(tensor(int64))",
        "object(m.C)",
        "function(f)",
        "size",
        "int | tensor(float32)",
    )
]
"""Kinds that a rule must take without failing of itself."""


# ---- values


def filled(dtype: str, shape: tuple[int, ...]) -> tf.Tensor:
    """A tensor of small positive numbers (or of texts)."""
    if dtype == "string":
        return tf.fill(shape, "7")
    count = int(np.prod(shape, dtype=int))
    return tf.cast(tf.reshape(tf.range(1, count + 1), shape), dtype)


TENSORS = [filled(dtype, shape) for dtype in DTYPES for shape in SHAPES]
FLOATS = [filled(dtype, shape) for dtype in ("float32", "float64") for shape in SHAPES]
NUMBERS = [2, 0, 1.5, True, "a"]
ARRAYS = [
    np.ones(shape, dtype)
    for dtype in ("float32", "float64", "int32", "int64", "bool")
    for shape in ((3,), (2, 3), (2, 1))
] + [np.float32(1.5), np.float64(2.5), np.int64(1), np.bool_(True)]
POOLS: dict[str, list[Any]] = {
    "x": TENSORS,
    "y": TENSORS,
    "f": FLOATS,
    "g": FLOATS,
    "c": [filled("bool", shape) for shape in SHAPES],
    "s": [filled("string", shape) for shape in SHAPES],
    "i": [filled(dtype, ()) for dtype in ("int32", "int64")] + [1],
    "j": [filled(dtype, shape) for dtype in ("int32", "int64") for shape in SHAPES],
    "n": NUMBERS,
    "m": NUMBERS,
    "k": [0, 1, -1],
    "a": ARRAYS,
    "b": ARRAYS,
    "l": [
        [1, 2, 3],
        [1.0, 2],
        [True, False],
        ["a"],
        [filled("float32", ())] * 2,
        [[1], [2]],
    ],
}
VARIABLES = [
    (dtype, shape)
    for dtype in ("float32", "float64", "int32", "bool")
    for shape in ((), (3,), (2, 3))
]


def pool(name: str) -> list[Any]:
    """The values that a name of an expression takes."""
    if name == "v":
        return [tf.Variable(filled(dtype, shape)) for dtype, shape in VARIABLES]
    if name == "w":
        return pool("x") + pool("v") + pool("n") + pool("a")
    return POOLS[name]


def cases(text: str, most: int = 30) -> Iterating[dict[str, Any]]:
    """Values for the names of an expression: all combinations, or a repeatable choice of them."""
    found = {
        node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)
    }
    names = sorted(name for name in found if name in POOLS or name in "vw")
    pools = [pool(name) for name in names]
    rows = list(itertools.islice(itertools.product(*pools), 100_000))
    for row in random.Random(text).sample(rows, min(most, len(rows))):
        yield {
            n: copy(v) if isinstance(v, list) else v
            for n, v in zip(names, row, strict=True)
        }


def run(text: str, env: dict[str, Any]) -> Any:
    return eval(text, {"tf": tf, "np": np}, env)


# ---- kinds of values


def kind_of(value: Any) -> Kind:
    """The kind of a value, as exactly as it can be told."""
    match value:
        case tf.Variable():
            return Variable(value.dtype.name, dims(value.shape))
        case tf.Tensor():
            return Tensor(value.dtype.name, dims(value.shape))
        case tf.RaggedTensor():
            return Ragged(value.dtype.name, dims(value.shape))
        case tf.SparseTensor():
            return Sparse(value.dtype.name, dims(value.shape))
        case np.ndarray():
            return Array(value.dtype.name, value.shape)
        case np.generic():
            return Scalar(value.dtype.name)
        case tf.DType():
            return Python("dtype", value.name)
        case tf.TensorShape():
            return Sequence("shape", tuple(python(n) for n in value))
        case list() | tuple():
            return Sequence(
                "list" if isinstance(value, list) else "tuple",
                tuple(map(kind_of, value)),
            )
        case dict():
            return Dict(tuple((key, kind_of(inner)) for key, inner in value.items()))
        case None | bool() | int() | float() | str() | bytes() | complex():
            return python(value)
    return UNKNOWN


def dims(shape: Any) -> Shape:
    return None if shape.rank is None else tuple(shape.as_list())


def widened(kind: Kind, how: int) -> Kind:
    """A vaguer kind: 0 loses sizes and values, 1 ranks too, 2 dtypes too."""
    if isinstance(kind, Python) and kind.type in ("int", "float", "bool", "str"):
        return Python(kind.type)
    if isinstance(kind, Shaped):
        shape = None if how or kind.shape is None else (None,) * len(kind.shape)
        return replace(kind, shape=shape, dtype=None if how == 2 else kind.dtype)
    return kind


# ---- evaluation for kinds


class Missing(Exception):
    """The facts do not know what a part of the expression gives."""


class Fails(Exception):
    """The facts say that eager mode raises."""


class Evaluation:
    """Evaluates an expression's syntax tree over kinds; collects the effects."""

    def __init__(self, names: dict[str, Kind]):
        self.names = names
        self.effects: set[str] = set()

    def __call__(self, text: str) -> Kind:
        return self.visit(ast.parse(text, mode="eval").body)

    def settle(self, found: Outcome | None, node: ast.AST) -> Kind:
        if found is None:
            raise Missing(ast.unparse(node))
        if found.error:
            raise Fails(found.error)
        self.effects |= found.effects
        return found.kind

    def visit(self, node: ast.expr) -> Kind:
        match node:
            case ast.Constant(value=value):
                return Python("ellipsis") if value is ... else python(value)
            case ast.Name(id=name):
                return self.names[name]
            case ast.Tuple(elts=items) | ast.List(elts=items):
                type_name = "tuple" if isinstance(node, ast.Tuple) else "list"
                return Sequence(type_name, tuple(map(self.visit, items)))
            case ast.Set(elts=items):
                return Elements("set", self.visit(items[0]))
            case ast.Dict(keys=keys, values=inner):
                pairs = zip(keys, inner, strict=True)
                return Dict(tuple((k.value, self.visit(v)) for k, v in pairs))
            case ast.Slice(lower=lower, upper=upper, step=step):
                return Sequence(
                    "slice",
                    tuple(self.visit(e) if e else NONE for e in (lower, upper, step)),
                )
            case ast.BinOp(left=left, op=op, right=right):
                found = operators.binary(
                    type(op).__name__.lower(), self.visit(left), self.visit(right)
                )
                return self.settle(found, node)
            case ast.UnaryOp(op=op, operand=operand):
                return self.settle(
                    operators.unary(type(op).__name__.lower(), self.visit(operand)),
                    node,
                )
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                found = operators.compare(
                    type(op).__name__.lower(), self.visit(left), self.visit(right)
                )
                return self.settle(found, node)
            case ast.Subscript(value=value, slice=index):
                return self.settle(
                    operators.subscript(self.visit(value), self.visit(index)), node
                )
            case ast.Attribute():
                return self.attribute(node)
            case ast.Call():
                return self.call(node)
        raise Missing(ast.unparse(node))

    def attribute(self, node: ast.Attribute) -> Kind:
        dotted = public_name(node)
        if dotted and dotted.startswith("tensorflow."):
            kind = tensorflow_api.constant(dotted)
            if kind is None:
                raise Missing(dotted)
            return kind
        if dotted:
            return Type(dotted)
        return self.settle(methods.attribute(self.visit(node.value), node.attr), node)

    def call(self, node: ast.Call) -> Kind:
        args = [self.visit(arg) for arg in node.args]
        kwargs = {str(k.arg): self.visit(k.value) for k in node.keywords}
        dotted = public_name(node.func)
        if dotted:
            return self.settle(tensorflow_api.call(dotted, args, kwargs), node)
        if isinstance(node.func, ast.Attribute):
            receiver = self.visit(node.func.value)
            return self.settle(
                methods.method(receiver, node.func.attr, args, kwargs), node
            )
        if isinstance(node.func, ast.Call):
            receiver = self.visit(node.func)
            return self.settle(methods.method(receiver, "__call__", args, kwargs), node)
        if isinstance(node.func, ast.Name) and node.func.id == "len":
            return self.settle(outcome(operators.length(args[0])), node)
        raise Missing(ast.unparse(node))


def public_name(node: ast.expr) -> str | None:
    """tensorflow.nn.relu of tf.nn.relu; None for what does not start at tf or np."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name) and node.id in ("tf", "np"):
        return ".".join(
            ["tensorflow" if node.id == "tf" else "numpy", *reversed(parts)]
        )
    return None


# ---- does a kind admit a value


def admits(kind: Kind, value: Any) -> bool:
    """May a value of the kind be this one?"""
    match kind:
        case Union(members=parts):
            return any(admits(part, value) for part in parts)
        case Variable():
            dtype = getattr(value.dtype, "name", value.dtype)
            fits = isinstance(value, tf.Variable | tf.keras.Variable)
            return fits and admits_shaped(kind, dtype, value.shape)
        case Tensor(weak=str() as name):
            return type(value).__name__ == name
        case Tensor():
            is_tensor = isinstance(value, tf.Tensor) and not isinstance(
                value, tf.Variable
            )
            return is_tensor and admits_shaped(kind, value.dtype.name, value.shape)
        case Array():
            return isinstance(value, np.ndarray) and admits_shaped(
                kind, value.dtype.name, value.shape
            )
        case Scalar(dtype=dtype):
            return isinstance(value, np.generic) and dtype in (None, value.dtype.name)
        case Ragged():
            return isinstance(value, tf.RaggedTensor) and admits_shaped(
                kind, value.dtype.name, value.shape
            )
        case Sparse():
            return isinstance(value, tf.SparseTensor) and admits_shaped(
                kind, value.dtype.name, value.shape
            )
        case TensorArray(dtype=dtype):
            return hasattr(value, "stack") and dtype in (None, value.dtype.name)
        case Python(type="dtype"):
            name = getattr(value, "name", str(value))
            return isinstance(value, tf.DType | np.dtype) and (
                not kind.known or name == kind.value
            )
        case Python(type=name):
            return type(value).__name__.removesuffix("Type") == name and (
                not kind.known or kind.value == value
            )
        case Sequence(type="shape", items=items):
            return isinstance(value, tf.TensorShape) and admits_all(items, list(value))
        case Sequence(type=name, items=items):
            same = type(value).__name__ == name or (
                name == "tuple" and isinstance(value, tuple)
            )
            return same and admits_all(items, list(value))
        case Elements(type="shape"):
            return isinstance(value, tf.TensorShape)
        case Elements(type=name, element=element):
            return type(value).__name__ == name and all(
                admits(element, one) for one in value
            )
        case Dict(items=items):
            return (
                isinstance(value, dict)
                and list(value) == [k for k, _ in items]
                and admits_all(tuple(v for _, v in items), list(value.values()))
            )
        case Mapping(value=inner):
            return all(admits(inner, one) for one in value.values())
        case Dataset(element=element):
            return isinstance(value, tf.data.Dataset) and admits_spec(
                element, value.element_spec
            )
        case Iterator(element=element):
            return hasattr(value, "__next__")
        case Object(name=name):
            return name.split(".")[-1] in {
                c.__name__ for c in type(value).__mro__
            } or name.startswith("tensorflow")
    return kind == UNKNOWN or (kind == SIZE and isinstance(value, int))


def admits_all(kinds: tuple[Kind, ...], values: list[Any]) -> bool:
    return len(kinds) == len(values) and all(map(admits, kinds, values))


def admits_shaped(kind: Shaped, dtype: str, shape: Any) -> bool:
    return kind.dtype in (None, dtype) and admits_shape(
        kind.shape, tuple(shape) if shape != tf.TensorShape(None) else None
    )


def admits_shape(shape: Shape, actual: Shape) -> bool:
    """Is the actual shape one of those; unknown parts of the actual one count as fitting."""
    if shape is None or actual is None:
        return True
    return len(shape) == len(actual) and all(
        a is None or b is None or a == b for a, b in zip(shape, actual, strict=True)
    )


def admits_spec(kind: Kind, spec: Any) -> bool:
    """Does the kind of a dataset's elements admit its element_spec?"""
    if kind == UNKNOWN:
        return True
    if isinstance(kind, Tensor):
        fits = isinstance(spec, tf.TensorSpec) and kind.dtype in (None, spec.dtype.name)
        return fits and admits_shape(kind.shape, dims(spec.shape))
    if isinstance(kind, Sequence):
        return (
            isinstance(spec, tuple)
            and len(spec) == len(kind.items)
            and all(map(admits_spec, kind.items, spec))
        )
    if isinstance(kind, Dict):
        return isinstance(spec, dict) and all(
            admits_spec(v, spec[k]) for k, v in kind.items
        )
    return False


# ---- holding the facts against eager mode

MODES = ("exact", "no sizes", "no ranks", "no dtypes", "held")


def seen(value: Any, mode: str) -> Kind:
    """The kind of a value as one of the modes knows it; held: Python values live in tensors."""
    kind = kind_of(value)
    if mode == "exact":
        return kind
    if mode == "held":
        if isinstance(kind, Python) and kind.type in ("int", "float", "bool", "str"):
            return weak(kind.type)
        return kind
    return widened(kind, MODES.index(mode) - 1)


def problems(text: str, by_value: bool = False, most: int = 30) -> list[str]:
    """Where the facts about an expression differ from what running it does.

    `by_value`: it may raise for reasons that no kind shows. An expression of which nothing is known is a problem too.
    """
    found, known = [], 0
    for env in cases(text, most):
        views = {
            mode: {name: seen(one, mode) for name, one in env.items()} for mode in MODES
        }
        value, error = attempt(text, env)
        for mode, names in views.items():
            verdict = judge(text, names, value, error, by_value or mode != "exact")
            known += verdict != "unknown"
            if verdict not in ("", "unknown"):
                shown = {name: str(kind) for name, kind in names.items()}
                found.append(f"{text} with {shown} ({mode}): {verdict}")
    return found if known else [f"{text}: nothing is known"]


def attempt(text: str, env: dict[str, Any]) -> tuple[Any, Exception | None]:
    try:
        return run(text, env), None
    except Exception as error:
        return None, error


def judge(
    text: str,
    names: dict[str, Kind],
    value: Any,
    error: Exception | None,
    by_value: bool,
) -> str:
    """ "" where the facts fit, "unknown" where there are none, else what is wrong."""
    try:
        kind = Evaluation(names)(text)
    except Missing:
        return "unknown"
    except Fails as reason:
        return "" if error else f"said to raise ({reason}), gives {value!r}"
    except Exception as crash:
        return f"the facts raise {crash!r}"
    if error:
        return (
            ""
            if by_value or kind == UNKNOWN
            else f"said to give {kind}, raises {type(error).__name__}: {str(error)[:150]}"
        )
    if unequal_shapes(text, kind, value):
        return ""
    return (
        ""
        if admits(kind, value)
        else f"said to give {kind}, gives {kind_of(value)}: {value!r}"
    )


def unequal_shapes(text: str, kind: Kind, value: Any) -> bool:
    """Is it a comparison of tensors whose shapes do not broadcast? That gives one bool; sizes unknown do not show it."""
    comparison = any(sign in text for sign in ("==", "!="))
    return (
        comparison
        and isinstance(kind, Tensor)
        and isinstance(value, tf.Tensor)
        and value.shape.rank == 0
    )


# ---- tracing and effects


def traces(text: str, most: int = 2) -> list[str]:
    """Where the facts with unknown sizes contradict the static shapes and dtypes of a traced function."""
    found = []
    for env in cases(text, most):
        tensors = {n: v for n, v in env.items() if isinstance(v, tf.Tensor)}
        views = {
            n: widened(kind_of(v), 0) if n in tensors else kind_of(v)
            for n, v in env.items()
        }
        try:
            kind = Evaluation(views)(text)
            value = traced(text, env, tensors)
        except Exception:
            continue
        if not admits_traced(kind, value):
            found.append(f"{text} with {views}: said to give {kind}, traced {value}")
    return found


def traced(text: str, env: dict[str, Any], tensors: dict[str, tf.Tensor]) -> Any:
    """What the expression gives in a function whose tensor arguments have unknown sizes."""
    specs = [tf.TensorSpec([None] * v.shape.rank, v.dtype) for v in tensors.values()]

    def function(*args: Any) -> Any:
        return run(text, env | dict(zip(tensors, args, strict=True)))

    return (
        tf.function(function, autograph=False)
        .get_concrete_function(*specs)
        .structured_outputs
    )


def admits_traced(kind: Kind, value: Any) -> bool:
    """Does the kind fit what tracing knows? Python values have become tensors there."""
    match kind:
        case Tensor() | Ragged() | Sparse():
            return admits_shaped(kind, value.dtype.name, value.shape)
        case Sequence(type="tuple" | "list", items=items):
            return len(items) == len(value) and all(map(admits_traced, items, value))
    return True


def shown(value: Any) -> str:
    """The text of a value, without addresses in memory."""
    return re.sub("0x[0-9a-f]+", "", repr(value))


def impure(text: str) -> list[str]:
    """Signs of effects that the facts don't name: other results when run again, Variables changed."""
    for env in cases(text, 8):
        evaluation = Evaluation({name: kind_of(value) for name, value in env.items()})
        variables = {n: v.numpy() for n, v in env.items() if isinstance(v, tf.Variable)}
        try:
            evaluation(text)
            first, second = run(text, env), run(text, env)
        except Exception:
            continue
        stateful = evaluation.effects & {"random", "variable", "io"}
        if not stateful and shown(first) != shown(second):
            return [f"{text}: {first!r}, then {second!r}"]
        changed = any((env[n].numpy() != old).any() for n, old in variables.items())
        if changed and "assign" not in evaluation.effects:
            return [f"{text} writes a Variable"]
        break
    return []
