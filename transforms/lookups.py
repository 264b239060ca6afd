"""GL111 tensor-lookup: a list, tuple or dict indexed by a tensor.

The first step only: a table of numbers becomes a tensor, items that no tensor can hold a choice between them.
"""

from __future__ import annotations

import ast

from .facts.environment import FunctionFacts
from .facts.kinds import WEAK_DTYPES, Dict, Kind, Python, Sequence, Tensor
from .facts.profile import FunctionNode
from .facts.staging import is_strong, is_tensor
from .findings import Refusal
from .making import called, compared, is_atom
from .rewriting import Rewriter
from .rule import Rule
from .source import Names

MOST_ITEMS = 8
ERRORS = ("IndexError", "KeyError")


class TensorLookup(Rule):
    """A Python container indexed by a tensor.

    What it finds:
        Lists, tuples and dicts whose index or key a tensor decides.

    Why it matters:
        Python needs the index while the graph is traced, when it has no value: tracing stops, or one item is frozen
        into the graph.

    Before:
        import tensorflow as tf

        RATES = [0.1, 0.2, 0.4]

        def f(i: tf.Tensor, x: tf.Tensor):
            return x * RATES[int(i)]

        ARGS = [(tf.constant(2), tf.constant(3.0)), (tf.constant(0), tf.constant(3.0)), (tf.constant(-1), tf.constant(3.0))]

    After:
        import tensorflow as tf

        RATES = [0.1, 0.2, 0.4]

        @tf.function(
            autograph=False,
            input_signature=[tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.float32)],
        )
        def f(i: tf.Tensor, x: tf.Tensor):
            return x * tf.cast(tf.constant(RATES, tf.float64)[i], x.dtype)

        ARGS = [(tf.constant(2), tf.constant(3.0)), (tf.constant(0), tf.constant(3.0)), (tf.constant(-1), tf.constant(3.0))]

    When it is left alone:
        Containers of unknown or mixed items, and functions in which a lookup has failed with `IndexError` or `KeyError`:
        a graph raises `tf.errors.InvalidArgumentError` there.
    """

    code = "GL111"
    name = "tensor-lookup"
    errors = (
        r"list indices must be integers or slices, not \w*Tensor",
        r"Tensor is unhashable",
    )


def without_lookups(
    facts: FunctionFacts, names: Names, tf: str, raises: tuple[str, ...]
) -> FunctionNode | None:
    """The function with such lookups in forms that a graph has; None where it has none. `raises`: what a run saw raised.

    Raises:
        Refusal: an item that is not there would be another error.
    """
    made = _Lookups(facts, names, tf).function()
    if made is not None and any(error.rpartition(".")[2] in ERRORS for error in raises):
        raise Refusal(
            "an item that is not there is another error in a graph",
            facts.definition.original,
            "GL111",
        )
    return made


class _Lookups(Rewriter):
    def __init__(self, facts: FunctionFacts, names: Names, tf: str) -> None:
        super().__init__(facts, names)
        self.tf = tf

    def expression(self, node: ast.expr) -> ast.expr | None:
        match node:
            case ast.Subscript(value=value, slice=index, ctx=ast.Load()) if _is_scalar(
                self.kind(index)
            ):
                held = self.kind(value)
                if isinstance(held, Sequence) and held.type in ("list", "tuple"):
                    return self._item(value, list(held.items), index)
                if isinstance(held, Dict):
                    return self._entry(value, held, index)
        return None

    def _item(
        self, value: ast.expr, items: list[Kind], index: ast.expr
    ) -> ast.expr | None:
        """The item at a place that is counted from either end."""
        if getattr(self.kind(index), "dtype", None) not in ("int32", "int64"):
            return None
        table = self._table(value, items)
        place = _without_conversion(index, self.kind)
        if table is not None:
            return _held(ast.Subscript(table, place, ast.Load()), items[0])
        if (
            not items
            or len(items) > MOST_ITEMS
            or any(map(is_tensor, items))
            or not is_atom(value)
        ):
            return None
        inside = ast.Subscript(
            called(f"{self.tf}.range", ast.Constant(len(items))), place, ast.Load()
        )
        return self._choice(
            [
                ast.Subscript(value, ast.Constant(i), ast.Load())
                for i in range(len(items))
            ],
            inside,
        )

    def _entry(self, value: ast.expr, held: Dict, key: ast.expr) -> ast.expr | None:
        """The value of a key that is one of those known."""
        if (
            getattr(self.kind(key), "dtype", None) != "string"
            or not held.items
            or not is_atom(value)
        ):
            return None
        keys = [ast.Constant(name) for name, _ in held.items]
        entries: list[ast.expr] = [ast.Subscript(value, k, ast.Load()) for k in keys]
        same = compared(
            called(f"{self.tf}.constant", ast.List([*keys], ast.Load())), ast.Eq(), key
        )
        first = ast.Tuple([ast.Constant(0), ast.Constant(0)], ast.Load())
        place = ast.Subscript(called(f"{self.tf}.where", same), first, ast.Load())
        kinds = [kind for _, kind in held.items]
        table = self._table(ast.List(entries, ast.Load()), kinds)
        if table is not None:
            return _held(ast.Subscript(table, place, ast.Load()), kinds[0])
        return self._choice(entries, place) if len(entries) <= MOST_ITEMS else None

    def _table(self, value: ast.expr, items: list[Kind]) -> ast.expr | None:
        """The items as one tensor; None where they are of several types, dtypes or shapes."""
        types = {k.type for k in items if isinstance(k, Python)}
        if (
            len(types) == 1
            and types <= WEAK_DTYPES.keys()
            and all(isinstance(k, Python) for k in items)
        ):
            dtype = WEAK_DTYPES[types.pop()]
            of = [] if dtype in ("bool", "string") else [_attribute(self.tf, dtype)]
            return called(f"{self.tf}.constant", value, *of)
        strong = [
            k for k in items if isinstance(k, Tensor) and is_strong(k) and not k.mixed
        ]
        shapes = {(k.dtype, k.shape) for k in strong}
        known = all(
            k.dtype and k.shape is not None and None not in k.shape for k in strong
        )
        if items and len(strong) == len(items) and len(shapes) == 1 and known:
            return called(f"{self.tf}.stack", value)
        return None

    def _choice(self, entries: list[ast.expr], place: ast.expr) -> ast.expr:
        at = self.atom(place, "place")
        chosen = entries[-1]
        for i in range(len(entries) - 2, -1, -1):
            chosen = ast.IfExp(
                compared(at, ast.Eq(), ast.Constant(i)), entries[i], chosen
            )
        return chosen


def _held(node: ast.Subscript, kind: Kind) -> ast.Subscript:
    """A lookup in a tensor of what Python numbers hold is such a number."""
    if isinstance(kind, Python):
        node.holds = kind.type  # type: ignore[attr-defined]
    return node


def _without_conversion(index: ast.expr, kind_of: object) -> ast.expr:
    match index:
        case ast.Call(func=ast.Name(id="int"), args=[inner], keywords=[]) if (
            getattr(kind_of(inner), "dtype", None) in ("int32", "int64")  # type: ignore[operator]
        ):
            return inner
    return index


def _is_scalar(kind: Kind) -> bool:
    return is_tensor(kind) and getattr(kind, "shape", None) == ()


def _attribute(tf: str, name: str) -> ast.expr:
    return ast.Attribute(ast.Name(tf, ast.Load()), name, ast.Load())
