"""A profile from calls made in this process: what the functions of one module were called with.

It holds what the rewriting can use and a profile hook can see: parameters, results, globals,
closures, attributes, what changed between calls, who makes objects, and whether Python's or
NumPy's random numbers were drawn.
"""

from __future__ import annotations

import ast
import dataclasses
import dis
import inspect
import random
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from graphlift.codemods.record.recorder.graphlift_recorder.sameness import (
    shared_tensors,
)
from graphlift.transforms.facts import kinds
from graphlift.transforms.facts.kind_joins import join, join_all
from graphlift.transforms.facts.kinds import Kind
from graphlift.transforms.facts.profile import Profile, Recorded, fingerprint

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


def kind_of(value: Any) -> Kind:
    """The kind of a value, without its value."""
    if value is None:
        return kinds.NONE
    if isinstance(value, np.generic):
        return kinds.Scalar(value.dtype.name)
    if isinstance(value, bool | int | float | complex | str | bytes):
        return kinds.Python(type(value).__name__)
    return _shaped(value) or _container(value) or _named(value)


def _shaped(value: Any) -> Kind | None:
    if isinstance(value, np.ndarray):
        return kinds.Array(value.dtype.name, value.shape)
    if isinstance(value, tf.RaggedTensor):
        return kinds.Ragged(value.dtype.name, _dims(value.shape))
    if isinstance(value, tf.SparseTensor):
        return kinds.Sparse(value.dtype.name, _dims(value.shape))
    if isinstance(value, tf.TensorArray):
        return kinds.TensorArray(value.dtype.name, _dims(value.element_shape))
    if isinstance(value, tf.Variable):
        return kinds.Variable(value.dtype.name, _dims(value.shape))
    if isinstance(value, tf.keras.Variable):
        return kinds.Variable(value.dtype, tuple(value.shape))
    if isinstance(value, tf.Tensor):
        return kinds.Tensor(value.dtype.name, _dims(value.shape))
    return None


def _dims(shape: tf.TensorShape) -> kinds.Shape:
    return None if shape.rank is None else tuple(shape.as_list())


def _container(value: Any) -> Kind | None:
    if isinstance(value, tf.data.Dataset):
        return kinds.Dataset(_of_spec(value.element_spec))
    if isinstance(value, tf.data.Iterator):
        return kinds.Iterator(_of_spec(value.element_spec))
    if isinstance(value, list):
        return kinds.Sequence("list", tuple(map(kind_of, value)))
    if type(value) is tuple:
        return kinds.Sequence("tuple", tuple(map(kind_of, value)))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        items = tuple(map(kind_of, value))
        return kinds.Record(_name(type(value)), items, value._fields)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = tuple(field.name for field in dataclasses.fields(value))
        items = tuple(kind_of(getattr(value, name)) for name in fields)
        return kinds.Record(_name(type(value)), items, fields)
    if isinstance(value, set):
        return kinds.Elements("set", join_all(map(kind_of, value)))
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return kinds.Dict(tuple((key, kind_of(item)) for key, item in value.items()))
    if isinstance(value, dict):
        keys, items = map(kind_of, value), map(kind_of, value.values())
        return kinds.Mapping(join_all(keys), join_all(items))
    return None


def _of_spec(spec: Any) -> Kind:
    if isinstance(spec, tuple):
        return kinds.Sequence("tuple", tuple(map(_of_spec, spec)))
    if isinstance(spec, dict):
        return kinds.Dict(tuple((key, _of_spec(item)) for key, item in spec.items()))
    if isinstance(spec, tf.RaggedTensorSpec):
        return kinds.Ragged(spec.dtype.name, _dims(spec.shape))
    if isinstance(spec, tf.TensorSpec):
        return kinds.Tensor(spec.dtype.name, _dims(spec.shape))
    return kinds.UNKNOWN


def _named(value: Any) -> Kind:
    if isinstance(value, types.ModuleType):
        return kinds.Module(value.__name__)
    if isinstance(value, type):
        return kinds.Type(_name(value))
    function = getattr(value, "python_function", value)
    if isinstance(
        function, types.FunctionType | types.MethodType | types.BuiltinFunctionType
    ):
        return kinds.Function(_name(function))
    if isinstance(value, types.GeneratorType):
        return kinds.GENERATOR
    return kinds.Object(_name(type(value)))


def _name(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


@dataclass
class _Seen:
    """What was seen of one function so far."""

    node: FunctionNode
    calls: int = 0
    parameters: dict[str, Kind] = field(default_factory=dict)
    globals: dict[str, Kind] = field(default_factory=dict)
    closure: dict[str, Kind] = field(default_factory=dict)
    attributes: dict[str, Kind] = field(default_factory=dict)
    returns: Kind | None = None
    first: dict[str, Any] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    random: set[str] = field(default_factory=set)
    raises: set[str] = field(default_factory=set)
    makers: set[str] = field(default_factory=set)
    shared: set[str] = field(default_factory=set)


class Observer:
    """A profile hook that watches the functions of one file."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.file = str(path)
        self.lines = text.splitlines()
        self.nodes = {
            (node.name, _first_line(node)): node
            for node in ast.walk(ast.parse(text))
            if isinstance(node, FunctionNode)
        }
        self.seen: dict[str, _Seen] = {}
        self.draws: dict[types.FrameType, dict[str, Any]] = {}

    def __call__(self, frame: types.FrameType, event: str, arg: Any) -> None:
        code = frame.f_code
        if code.co_filename != self.file or event not in ("call", "return"):
            return
        node = self.nodes.get((code.co_name, code.co_firstlineno))
        if node is None or code.co_flags & (
            inspect.CO_GENERATOR | inspect.CO_COROUTINE
        ):
            return
        seen = self.seen.setdefault(code.co_qualname, _Seen(node))
        if event == "call":
            self.draws[frame] = _random_states()
            self._enter(seen, frame)
        else:
            self._leave(seen, frame, arg)

    def _enter(self, seen: _Seen, frame: types.FrameType) -> None:
        seen.calls += 1
        if seen.node.name == "__init__" and frame.f_back is not None:
            seen.makers.add(f"{self.path.name}::{frame.f_back.f_code.co_qualname}")
        parameters = {n: frame.f_locals[n] for n in _parameters(frame.f_code)}
        _join(seen.parameters, parameters)
        surroundings = self._surroundings(seen, frame)
        named = {**parameters, **surroundings}
        seen.shared.update(map(" is ".join, shared_tensors(named.items())))
        for name, value in surroundings.items():
            if seen.first.setdefault(name, _mark(value)) != _mark(value):
                seen.changed.add(name)

    def _leave(self, seen: _Seen, frame: types.FrameType, arg: Any) -> None:
        self._surroundings(seen, frame)
        before = self.draws.pop(frame, {})
        seen.random.update(
            name
            for name, state in _random_states().items()
            if before.get(name, state) != state
        )
        if dis.opname[frame.f_code.co_code[frame.f_lasti]].startswith("RETURN"):
            kind = kind_of(arg)
            seen.returns = kind if seen.returns is None else join(seen.returns, kind)

    def _surroundings(self, seen: _Seen, frame: types.FrameType) -> dict[str, Any]:
        """Globals, closure and attributes that the function uses, as they are now."""
        used = {node.id for node in ast.walk(seen.node) if isinstance(node, ast.Name)}
        free = set(frame.f_code.co_freevars)
        outer = (
            used - set(frame.f_code.co_varnames) - set(frame.f_code.co_cellvars) - free
        )
        module = {
            name: frame.f_globals[name]
            for name in sorted(outer & set(frame.f_globals))
            if not isinstance(frame.f_globals[name], types.ModuleType)
        }
        closure = {
            name: frame.f_locals[name] for name in sorted(free & set(frame.f_locals))
        }
        parameters = {
            n: frame.f_locals[n]
            for n in _parameters(frame.f_code)
            if n in frame.f_locals
        }
        attributes = _chains(seen.node, {**module, **closure, **parameters})
        _join(seen.globals, module)
        _join(seen.closure, closure)
        _join(seen.attributes, attributes)
        return {**module, **closure, **attributes}

    def raised(self, name: str, error: str) -> None:
        """A call of a function, by its qualified name, raised what a class of that name is of."""
        if name in self.seen:
            self.seen[name].raises.add(error)

    def profile(self) -> Profile:
        """What was seen, as a profile whose root is the folder of the file."""
        return Profile(
            self.path.parent,
            {
                f"{self.path.name}::{name}": Recorded(
                    source=fingerprint(self.lines, seen.node),
                    calls=seen.calls,
                    parameters=seen.parameters,
                    returns=seen.returns or kinds.UNKNOWN,
                    globals=seen.globals,
                    closure=seen.closure,
                    attributes=seen.attributes,
                    changed=frozenset(seen.changed),
                    random=frozenset(seen.random),
                    callers=tuple(sorted(seen.makers)),
                    raises=tuple(sorted(seen.raises)),
                    shared=frozenset(seen.shared),
                )
                for name, seen in self.seen.items()
            },
        )


@contextmanager
def watching(observer: Observer) -> Iterator[None]:
    """The observer sees the calls made inside."""
    before = sys.getprofile()
    sys.setprofile(observer)
    try:
        yield
    finally:
        sys.setprofile(before)


def _first_line(node: FunctionNode) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _parameters(code: types.CodeType) -> tuple[str, ...]:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(
        code.co_flags & inspect.CO_VARKEYWORDS
    )
    return code.co_varnames[:count]


def _join(into: dict[str, Kind], values: dict[str, Any]) -> None:
    for name, value in values.items():
        kind = kind_of(value)
        into[name] = join(into[name], kind) if name in into else kind


def _chains(node: FunctionNode, roots: dict[str, Any]) -> dict[str, Any]:
    """Values of the dotted names of a function that start from one of the roots."""
    found: dict[str, Any] = {}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute):
            path = ast.unparse(inner).split(".")
            value = _follow(roots.get(path[0]), path[1:])
            if path[0] in roots and value is not _NOTHING:
                found[".".join(path)] = value
    return found


_NOTHING = object()


def _follow(value: Any, attributes: list[str]) -> Any:
    for name in attributes:
        if _shaped(value) or isinstance(
            inspect.getattr_static(type(value), name, None), property
        ):
            return _NOTHING
        value = getattr(value, name, _NOTHING)
    return value


def _mark(value: Any) -> Any:
    """Something that is equal for a value that has not changed: tensors go by identity."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return type(value), value
    if isinstance(value, list | tuple):
        return type(value), tuple(map(_mark, value))
    if isinstance(value, dict):
        return type(value), tuple((key, _mark(item)) for key, item in value.items())
    if isinstance(value, types.MethodType):
        return _mark(value.__self__), value.__func__
    return _Same(value)


class _Same:
    """Equal to itself by the identity of what it holds, which it keeps alive."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def _random_states() -> dict[str, Any]:
    state: Any = np.random.get_state()
    return {"random": random.getstate(), "numpy": (state[1].tobytes(), state[2])}
