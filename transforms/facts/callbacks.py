"""What TensorFlow's functions that call a Python function give: `tf.map_fn`, `tf.foldl`, `tf.scan`, `dataset.map`, ...

The function is interpreted with the kinds that it will be called with, as at any other call.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from . import operators
from .calls import Arguments
from .environment import Environment
from .kind_joins import join, join_all
from .kinds import (
    NONE,
    UNKNOWN,
    Dataset,
    Dict,
    Function,
    Kind,
    Python,
    Sequence,
    Tensor,
    members,
)
from .staging import holds_tensor, is_strong
from .tensorflow_values import dtype_of

if TYPE_CHECKING:
    from .evaluation_calls import CallEvaluation

FUNCTIONS = {
    "tensorflow.map_fn": ("fn", "elems"),
    "tensorflow.vectorized_map": ("fn", "elems"),
    "tensorflow.foldl": ("fn", "elems", "initializer"),
    "tensorflow.foldr": ("fn", "elems", "initializer"),
    "tensorflow.scan": ("fn", "elems", "initializer"),
}
METHODS = ("map", "filter", "take_while")
MOST_ROUNDS = 3
DEFAULTS = {"int": "int32", "float": "float32"}


def call(
    evaluation: CallEvaluation,
    node: ast.Call,
    name: str,
    arguments: Arguments,
    environment: Environment,
) -> Kind | None:
    """What a call of such a function gives; None where it is none of them, or is called in another way."""
    names = FUNCTIONS.get(name)
    if names is None or arguments.spread or len(arguments.positional) > len(names):
        return None
    given = {
        **dict(zip(names, arguments.positional, strict=False)),
        **arguments.keywords,
    }
    called = _Callback(evaluation, node, given.get("fn", UNKNOWN), environment)
    element = _row(given.get("elems", UNKNOWN))
    if element is None or not isinstance(called.function, Function):
        return None
    size = _size(given["elems"])
    if name == "tensorflow.map_fn":
        return _mapped(called, element, given, size)
    if name == "tensorflow.vectorized_map":
        result = called(element)
        if called.branches():
            evaluation.problem("`tf.vectorized_map` cannot branch on a tensor", node)
        return _stacked(result, size) if _all_strong(result) else None
    first = given.get("initializer", NONE)
    folded = _folded(called, element, element if first == NONE else first)
    if folded is None or name != "tensorflow.scan":
        return folded
    return _stacked(folded, size)


def compares_tensors(
    evaluation: CallEvaluation,
    node: ast.Call,
    arguments: Arguments,
    environment: Environment,
) -> bool:
    """Whether the `key` of a builtin, which is called with each item of Python's, gives tensors to compare."""
    key, items = arguments.keywords.get("key"), arguments.positional
    written = next((k.value for k in node.keywords if k.arg == "key"), None)
    if written is None or not isinstance(key, Function):
        return False
    if key.name.startswith("method."):
        return key.receiver is not None and holds_tensor(key.receiver)
    if not _is_own(evaluation, key):
        return False
    element = operators.iterate(items[0]) if len(items) == 1 else join_all(items)
    called = _Callback(evaluation, node, key, environment, written)
    return element is not None and holds_tensor(called(element))


def _is_own(evaluation: CallEvaluation, function: Function) -> bool:
    """Whether this is a function of the project."""
    home, qualname = evaluation.session.home(function.name)
    return qualname in home.module.functions or function.name.startswith("<lambda>")


def method(
    evaluation: CallEvaluation,
    node: ast.Call,
    receiver: Dataset,
    name: str,
    arguments: Arguments,
    environment: Environment,
) -> Kind | None:
    """What a dataset's method that calls a function gives; None where that is not known."""
    if name == "reduce" and len(arguments.positional) == 2:
        first, function = arguments.positional
        called = _Callback(evaluation, node, function, environment, node.args[1])
        return _folded(called, receiver.element, first)
    if name not in METHODS or len(arguments.positional) != 1:
        return None
    called = _Callback(evaluation, node, arguments.positional[0], environment)
    element = receiver.element
    parts = (
        element.items
        if isinstance(element, Sequence) and element.type == "tuple"
        else (element,)
    )
    result = called(*parts)
    if not _all_strong(result, mixed=False):
        return None
    return Dataset(result) if name == "map" else receiver


class _Callback:
    """The function that is called, at a place of its own: the call that its caller makes of it."""

    def __init__(
        self,
        evaluation: CallEvaluation,
        node: ast.Call,
        function: Kind,
        environment: Environment,
        written: ast.expr | None = None,
    ) -> None:
        self.evaluation = evaluation
        self.function = function
        self.environment = environment
        self.staged = len(evaluation.facts.staged)
        site: ast.Call | None = getattr(node, "callback", None)
        if site is None:
            given = written
            if given is None:
                given = node.args[0] if node.args else node.keywords[0].value
            site = ast.copy_location(ast.Call(given, [], []), node)
            node.callback = site  # type: ignore[attr-defined]
        self.site = site

    def __call__(self, *kinds: Kind) -> Kind:
        kind = self.evaluation.called(
            self.site, self.function, Arguments(list(kinds), {}), self.environment
        )
        if self.site in self.evaluation.facts.foreign:
            self.evaluation.problem(
                "a function of another module is passed here", self.site
            )
        return kind

    def branches(self) -> bool:
        """Whether the function branches on a tensor."""
        facts = self.evaluation.facts
        name = facts.calls.get(self.site)
        known = self.evaluation.session.known(name) if name else None
        inner = known is not None and bool(known.staged)
        return inner or len(facts.staged) > self.staged


def _mapped(
    called: _Callback, element: Kind, given: dict[str, Kind], size: int | None
) -> Kind | None:
    result = called(element)
    if not _all_strong(result):
        return None
    wanted = given.get("fn_output_signature", given.get("dtype", NONE))
    if wanted == NONE:
        return _stacked(result, size) if _dtypes(result) == _dtypes(element) else None
    dtype = dtype_of(wanted) if isinstance(wanted, Python) else None
    fits = isinstance(result, Tensor) and dtype is not None and result.dtype == dtype
    return _stacked(result, size) if fits else None


def _folded(called: _Callback, element: Kind, first: Kind) -> Kind | None:
    """What a fold ends with: its value keeps one dtype, and one shape where that settles."""
    value = first
    if isinstance(first, Python):
        dtype = DEFAULTS.get(first.type)
        value = Tensor(dtype, ()) if dtype else UNKNOWN
    for _ in range(MOST_ROUNDS):
        result = called(value, element)
        if not _all_strong(result) or _dtypes(result) != _dtypes(value):
            return None
        joined = join(value, _plain(result))
        if joined == value:
            return value
        value = joined
    return None


def _row(kind: Kind) -> Kind | None:
    """One of the rows of a tensor, or of each tensor of a structure."""
    if isinstance(kind, Sequence) and kind.type in ("tuple", "list"):
        rows = [_row(item) for item in kind.items]
        return (
            None if None in rows else Sequence(kind.type, tuple(r for r in rows if r))
        )
    return operators.iterate(kind) if is_strong(kind) else None


def _size(kind: Kind) -> int | None:
    if isinstance(kind, Sequence):
        return _size(kind.items[0]) if kind.items else None
    shape = getattr(kind, "shape", None)
    return shape[0] if shape else None


def _stacked(kind: Kind, size: int | None) -> Kind:
    if isinstance(kind, Sequence):
        return Sequence(kind.type, tuple(_stacked(item, size) for item in kind.items))
    assert isinstance(kind, Tensor)
    return Tensor(kind.dtype, None if kind.shape is None else (size, *kind.shape))


def _plain(kind: Kind) -> Kind:
    if isinstance(kind, Tensor):
        return replace(kind, mixed=False)
    return kind.mapped(_plain)


def _all_strong(kind: Kind, mixed: bool = True) -> bool:
    """Whether a function gives tensors with dtypes of their own; `mixed` allows Python numbers on some ways."""
    if isinstance(kind, Sequence | Dict):
        return all(_all_strong(part, mixed) for part in kind.parts)
    strong = isinstance(kind, Tensor) and kind.weak is None and kind.dtype is not None
    return strong and (mixed or not getattr(kind, "mixed", False))


def _dtypes(kind: Kind) -> object:
    if isinstance(kind, Sequence):
        return (kind.type, *map(_dtypes, kind.items))
    return {getattr(member, "dtype", None) for member in members(kind)}
