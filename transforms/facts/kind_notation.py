"""Kinds as text, read."""

from __future__ import annotations

import ast
from typing import Any

from .kind_joins import join
from .kinds import (
    GENERATOR,
    NONE,
    NUMPY,
    SIZE,
    UNKNOWN,
    Array,
    Dataset,
    Dict,
    Elements,
    Function,
    Iterator,
    Kind,
    Mapping,
    Module,
    Object,
    Python,
    Ragged,
    Record,
    Scalar,
    Sequence,
    Shape,
    Sparse,
    Tensor,
    TensorArray,
    Type,
    Variable,
    weak,
)

PYTHON_TYPES = ("int", "float", "bool", "str", "bytes", "complex", "dtype", "ellipsis")


def parse(text: str) -> Kind:
    """The kind a notation stands for; ValueError for text that is none."""
    try:
        return _read(ast.parse(text, mode="eval").body)
    except (LookupError, SyntaxError, TypeError, AttributeError) as error:
        raise ValueError(f"not a kind: {text!r}") from error


_SHAPED = {
    c.notation: c for c in (Tensor, Variable, Array, Ragged, Sparse, TensorArray)
}
_DOTTED = {"function": Function, "type": Type, "object": Object, "module": Module}


def _read(node: ast.expr) -> Kind:
    match node:
        case ast.Constant(value=None):
            return NONE
        case ast.Name(id="unknown"):
            return UNKNOWN
        case ast.Name(id="generator"):
            return GENERATOR
        case ast.Name(id="size"):
            return SIZE
        case ast.Name(id=name) if name in PYTHON_TYPES:
            return Python(name)
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return join(_read(left), _read(right))
        case ast.Subscript(
            value=ast.Name(id="dict"), slice=ast.Tuple(elts=[key, value])
        ):
            return Mapping(_read(key), _read(value))
        case ast.Subscript(
            value=ast.Name(id="tuple" | "list" | "set" | "shape" as name), slice=inner
        ):
            return Elements(name, _read(inner))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            return _read_call(name, args, keywords)
    raise ValueError(f"not a kind: {ast.unparse(node)!r}")


def _read_call(name: str, args: list[ast.expr], keywords: list[ast.keyword]) -> Kind:
    if name in _SHAPED:
        dtype = None if ast.unparse(args[0]) == "unknown" else ast.unparse(args[0])
        return _SHAPED[name](dtype, _read_dims(args[1:]))
    if name in _DOTTED:
        dotted: Kind = _DOTTED[name](ast.unparse(args[0]))
        return dotted
    if name == NUMPY:
        return Tensor(ast.unparse(args[0]), _read_dims(args[1:]), NUMPY)
    if name == "scalar":
        return Scalar(ast.unparse(args[0]))
    if name == "weak":
        return weak(ast.unparse(args[0]))
    if name in ("tuple", "list", "shape", "slice"):
        return Sequence(name, tuple(map(_read, args)))
    if name == "record":
        fields = tuple(str(k.arg) for k in keywords)
        items = tuple(_read(k.value) for k in keywords)
        return Record(ast.unparse(args[0]), items, fields)
    if name == "dict":
        return Dict(tuple((str(k.arg), _read(k.value)) for k in keywords))
    if name == "dataset":
        return Dataset(_read(args[0]))
    if name == "iterator":
        return Iterator(_read(args[0]))
    raise ValueError(f"not a kind: {name}")


def _read_dims(nodes: list[ast.expr]) -> Shape:
    values: list[Any] = [getattr(node, "value", node) for node in nodes]
    if not all(v is None or v is ... or isinstance(v, int) for v in values):
        raise TypeError("a dimension is a number or None")
    return None if values == [...] else tuple(values)
