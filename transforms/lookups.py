"""GL111 tensor-lookup: a list, tuple or dict indexed by a tensor.

The first step only: a table of numbers becomes a tensor, items that no tensor can hold a choice between them.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeGuard

from .facts import arrays
from .facts.environment import FunctionFacts
from .facts.kinds import (
    NONE,
    NUMPY,
    STR,
    WEAK_DTYPES,
    Dict,
    Elements,
    Kind,
    Mapping,
    Object,
    Python,
    Sequence,
    Tensor,
)
from .facts.profile import FunctionNode
from .facts.staging import is_strong, is_tensor
from .findings import Refusal
from .making import called, compared, is_atom
from .rebuilding import rebuilt, replaced
from .rewriting import Rewriter
from .rule import Rule
from .singularities import is_singular, singular_names
from .source import Names

if TYPE_CHECKING:
    from .expressions import Writer

MOST_ITEMS = 8
KEYS: dict[str | None, str] = {"int32": "int", "int64": "int", "string": "str"}
"""What keys a tensor of a dtype can be."""
ERRORS = ("IndexError", "KeyError")


class TensorLookup(Rule):
    """A Python container indexed by a tensor.

    What it finds:
        Lists, tuples, NumPy arrays and dicts whose index or key a tensor decides, and `get` of dicts.

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
        Containers of unknown or mixed items, words that only Python needs, and functions in which a lookup has failed with `IndexError` or `KeyError`:
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


def as_python(node: ast.stmt) -> ast.stmt:
    """A statement that Python runs: it looks up as the file does, in lists and dicts."""
    before = _before_lookups(node)
    if isinstance(before, ast.stmt):
        return as_python(before)
    table = _looked_up_in(node)
    made = replaced(node, table) if table else node
    assert isinstance(made, ast.stmt)
    return rebuilt(made, lambda block: [*map(as_python, block)])


def _before_lookups(node: ast.AST) -> ast.AST | None:
    """What the file has in the place of a lookup that nothing was changed in since."""
    before, made = getattr(node, "looked_up", (None, ""))
    return before if before is not None and ast.dump(node) == made else None


def _looked_up_in(node: ast.AST) -> dict[ast.AST, ast.AST]:
    """The expressions of a statement that look up in the forms of a graph, with what the file has there."""
    table: dict[ast.AST, ast.AST] = {}
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            continue
        before = _before_lookups(child)
        if before is None:
            table |= _looked_up_in(child)
        else:
            table[child] = replaced(before, _looked_up_in(before))
    return table


class _Lookups(Rewriter):
    def __init__(self, facts: FunctionFacts, names: Names, tf: str) -> None:
        super().__init__(facts, names)
        self.tf = tf
        body = facts.definition.node.body
        self._for_python = {v for s in body for v in _given(s)}
        self._inner = {
            n.value for s in body for n in ast.walk(s) if isinstance(n, ast.Subscript)
        }

    def expression(self, node: ast.expr) -> ast.expr | None:
        match node:
            case ast.Subscript(
                value=ast.Subscript(value=value, slice=row), slice=index
            ) if (rows := self._rows(self.kind(value))) and self._counts(row):
                return self._in_rows(value, rows, row, index)
            case ast.Call(func=ast.Subscript(value=value, slice=index)) if (
                self._holds_callables(value) and self._counts(index)
            ):
                return self._switched(node)
            case ast.Subscript(value=value, slice=index, ctx=ast.Load()):
                held = self.kind(value)
                if node in self._inner and self._rows(held):
                    return None
                if node in self._for_python and _type(_items(held)) == "str":
                    return None
                if arrays.may_be_indexed(held, self.kind(index)):
                    return self._of_array(value, index)
                if isinstance(held, Sequence | Elements) and self._counts(index):
                    return self._item(value, held, index)
                if isinstance(held, Dict | Mapping) and self._is_key(held, index):
                    return self._entry(value, held, index)
            case ast.Call(
                func=ast.Attribute(value=value, attr="get"), args=[key, default]
            ):
                held = self.kind(value)
                if isinstance(held, Dict | Mapping) and self._is_key(held, key):
                    return self._entry_or(value, held, key, default)
        return None

    def _with_expressions(self, node: ast.stmt) -> ast.stmt:
        made = super()._with_expressions(node)
        if made is not node:
            made.looked_up = node, ast.dump(made)  # type: ignore[attr-defined]
        return made

    def visit(self, node: ast.expr) -> ast.expr:
        made = super().visit(node)
        if made is not node:
            made.looked_up = node, ast.dump(made)  # type: ignore[attr-defined]
        return made

    # ---- lists and tuples

    def _counts(self, index: ast.expr) -> bool:
        kind = self.kind(index)
        return _is_scalar(kind) and getattr(kind, "dtype", None) in ("int32", "int64")

    def _item(
        self, value: ast.expr, held: Sequence | Elements, index: ast.expr
    ) -> ast.expr | None:
        """The item at a place that is counted from either end."""
        if held.type not in ("list", "tuple"):
            return None
        items = _items(held)
        if self._may_spoil(value):
            return self._displayed(value, index, items)
        table, place = self._table(value, items), self._without_conversion(index)
        if table is not None:
            return _held(ast.Subscript(table, place, ast.Load()), items[0])
        if not isinstance(held, Sequence) or not is_atom(value):
            return None
        entries: list[ast.expr] = [
            ast.Subscript(value, ast.Constant(i), ast.Load()) for i in range(len(items))
        ]
        return self._choice(entries, self._counted(place, len(items)), items)

    def _of_array(self, value: ast.expr, index: ast.expr) -> ast.expr:
        """An item or a slice of an array of NumPy, which a tensor takes in the graph."""
        table = called(f"{self.tf}.constant", value)
        taken = ast.Subscript(table, self._without_conversion(index), ast.Load())
        taken.holds = NUMPY  # type: ignore[attr-defined]
        return taken

    def _counted(self, place: ast.expr, size: int) -> ast.expr:
        """A place that may be counted from the end, from the start."""
        places = called(f"{self.tf}.range", ast.Constant(size))
        return ast.Subscript(places, place, ast.Load())

    def _may_spoil(self, value: ast.expr) -> bool:
        """Whether the items that are not chosen may make NaN of the gradients that they get nothing of."""
        facts = self.facts
        return facts.taped and is_singular(value, facts, singular_names(facts))

    def _displayed(
        self, value: ast.expr, index: ast.expr, items: list[Kind]
    ) -> ast.expr | None:
        """The item of a display that is worked out for it.

        Raises:
            Refusal: all are there already.
        """
        if not isinstance(value, ast.Tuple | ast.List):
            raise Refusal(
                "an item that is not chosen may turn a gradient into NaN",
                value,
                "GL111",
            )
        place = self._without_conversion(index)
        return self._choice(value.elts, self._counted(place, len(items)), items)

    def _holds_callables(self, value: ast.expr) -> bool:
        """Whether this is a list of any length, of objects of one class."""
        held = self.kind(value)
        if not isinstance(held, Elements) or held.type not in ("list", "tuple"):
            return False
        return isinstance(held.element, Object) and is_atom(value)

    def _switched(self, node: ast.Call) -> ast.expr | None:
        """The call of an item that a tensor picks, which each item has an arm for."""
        picked = node.func
        assert isinstance(picked, ast.Subscript)
        if hasattr(picked, "switched"):
            return None
        if any(isinstance(a, ast.Starred) for a in node.args):
            return None
        function = ast.Subscript(
            picked.value, self._without_conversion(picked.slice), ast.Load()
        )
        function.switched = True  # type: ignore[attr-defined]
        given = [self.atom(argument, "given") for argument in node.args]
        named = [
            ast.keyword(k.arg, self.atom(k.value, k.arg or "given"))
            for k in node.keywords
        ]
        return ast.Call(function, given, named)

    def _rows(self, kind: Kind) -> list[Kind]:
        """The numbers of a list of lists that are equally long."""
        if not isinstance(kind, Sequence):
            return []
        rows = [k.items for k in kind.items if isinstance(k, Sequence)]
        even = len(rows) == len(kind.items) and len({len(r) for r in rows}) == 1
        numbers = [k for row in rows for k in row] if even else []
        return numbers if _type(numbers) else []

    def _in_rows(
        self, value: ast.expr, numbers: list[Kind], row: ast.expr, index: ast.expr
    ) -> ast.expr | None:
        """A number of such a list."""
        table = self._table(value, numbers)
        known = isinstance(self.kind(index), Python) and self.kind(index) != NONE
        if table is None or not (known or self._counts(index)):
            return None
        parts = [self._without_conversion(e) for e in (row, index)]
        place = ast.Tuple(self._of_one_dtype(parts), ast.Load())
        return _held(ast.Subscript(table, place, ast.Load()), numbers[0])

    def _of_one_dtype(self, parts: list[ast.expr]) -> list[ast.expr]:
        """Indices that one tensor holds."""
        dtypes = [getattr(self.kind(part), "dtype", None) for part in parts]
        if len({*dtypes} - {None}) < 2:
            return parts
        int64 = _attribute(self.tf, "int64")
        return [
            part if dtype in (None, "int64") else called(f"{self.tf}.cast", part, int64)
            for part, dtype in zip(parts, dtypes, strict=True)
        ]

    # ---- dicts

    def _is_key(self, held: Dict | Mapping, key: ast.expr) -> bool:
        kind = self.kind(key)
        of = held.key if isinstance(held, Mapping) else STR
        type_ = KEYS.get(getattr(kind, "dtype", None))
        return _is_scalar(kind) and isinstance(of, Python) and of.type == type_

    def _entry(
        self, value: ast.expr, held: Dict | Mapping, key: ast.expr
    ) -> ast.expr | None:
        """The value of a key."""
        if not is_atom(value):
            return None
        first = ast.Tuple([ast.Constant(0), ast.Constant(0)], ast.Load())
        found = called(f"{self.tf}.where", self._same(value, key))
        place = ast.Subscript(found, first, ast.Load())
        kinds = _items(held)
        table = self._values(value, kinds)
        if table is not None:
            return _held(ast.Subscript(table, place, ast.Load()), kinds[0])
        if not isinstance(held, Dict):
            return None
        entries: list[ast.expr] = [
            ast.Subscript(value, ast.Constant(name), ast.Load())
            for name, _ in held.items
        ]
        return self._choice(entries, place, kinds)

    def _entry_or(
        self, value: ast.expr, held: Dict | Mapping, key: ast.expr, default: ast.expr
    ) -> ast.expr | None:
        """The value of a key, or another one where there is no such key."""
        kinds = _items(held)
        table = self._values(value, kinds) if is_atom(value) else None
        if table is None or _type([*kinds, self.kind(default)]) is None:
            return None
        found = called(f"{self.tf}.boolean_mask", table, self._same(value, key))
        several = ast.List([found, ast.List([default], ast.Load())], ast.Load())
        joined = called(f"{self.tf}.concat", several, ast.Constant(0))
        return _held(ast.Subscript(joined, ast.Constant(0), ast.Load()), kinds[0])

    def _same(self, value: ast.expr, key: ast.expr) -> ast.expr:
        """Which of the keys of a dict is this one."""
        key = self._without_conversion(key)
        dtype = getattr(self.kind(key), "dtype", None)
        of = [] if dtype == "string" else [_attribute(self.tf, str(dtype))]
        keys = called(f"{self.tf}.constant", called("list", value), *of)
        return compared(keys, ast.Eq(), key)

    def _values(self, value: ast.expr, kinds: list[Kind]) -> ast.expr | None:
        values = called(ast.Attribute(value, "values", ast.Load()))
        return self._table(called("list", values), kinds)

    # ---- forms

    def _table(self, value: ast.expr, items: list[Kind]) -> ast.expr | None:
        """The items as one tensor; None where they are of several types, dtypes or shapes."""
        number = _type(items)
        if number is not None:
            dtype = WEAK_DTYPES[number]
            of = [] if dtype in ("bool", "string") else [_attribute(self.tf, dtype)]
            return called(f"{self.tf}.constant", value, *of)
        shapes = {(k.dtype, k.shape) for k in items if _is_known(k)}
        if items and all(map(_is_known, items)) and len(shapes) == 1:
            return called(f"{self.tf}.stack", value)
        return None

    def _choice(
        self, entries: list[ast.expr], place: ast.expr, kinds: list[Kind]
    ) -> ast.expr | None:
        """Items that no one tensor holds, chosen one by one."""
        numbers = any(isinstance(k, Python) for k in kinds)
        if not 0 < len(entries) <= MOST_ITEMS or numbers:
            return None
        at = self.atom(place, "place")
        chosen = entries[-1]
        for i in range(len(entries) - 2, -1, -1):
            chosen = ast.IfExp(
                compared(at, ast.Eq(), ast.Constant(i)), entries[i], chosen
            )
        return chosen

    def _without_conversion(self, index: ast.expr) -> ast.expr:
        match index:
            case (
                ast.Call(func=ast.Name(id="int"), args=[inner], keywords=[])
                | ast.Call(
                    func=ast.Attribute(value=inner, attr="numpy" | "item"), args=[]
                )
            ) if getattr(self.kind(inner), "dtype", None) in KEYS:
                return inner
        return index


def switch(writer: Writer, node: ast.Call) -> str:
    """The text of the call of an item that a tensor picks, of a list of objects.

    Raises:
        Refusal: it gives something other than a tensor.
    """
    picked, tf = node.func, writer.tf
    if not is_strong(writer.kind(node)) or node in writer.facts.calls:
        reason = "what the item that a tensor picks gives is no tensor for sure"
        raise Refusal(reason, node, "GL111")
    assert isinstance(picked, ast.Subscript)
    items, place = writer.text(picked.value), writer.text(picked.slice)
    item = writer.names.fresh("item")
    given = [writer.text(argument) for argument in node.args]
    given += [f"{k.arg}={writer.text(k.value)}" for k in node.keywords if k.arg]
    arms = f"[lambda {item}={item}: {item}({', '.join(given)}) for {item} in {items}]"
    return f"{tf}.switch_case({tf}.range(len({items}))[{place}], {arms})"


def _given(node: ast.stmt) -> list[ast.expr]:
    """What a statement hands on as it is."""
    match node:
        case ast.Return(value=ast.Tuple(elts=values)):
            return values
        case ast.Return(value=ast.expr() as value) | ast.Assign(value=value):
            return [value]
    return []


def _items(held: Kind) -> list[Kind]:
    """What a list, tuple or dict holds."""
    match held:
        case Sequence(items=items):
            return list(items)
        case Dict(items=entries):
            return [kind for _, kind in entries]
        case Elements(element=kind) | Mapping(value=kind):
            return [kind]
    return []


def _type(items: list[Kind]) -> str | None:
    """The one type of Python numbers, or of text; None where they are something else, too."""
    types = {k.type if isinstance(k, Python) else "" for k in items}
    return types.pop() if len(types) == 1 and types <= WEAK_DTYPES.keys() else None


def _is_known(kind: Kind) -> TypeGuard[Tensor]:
    """Whether this surely is a tensor, of a known dtype and size."""
    if not isinstance(kind, Tensor) or kind.weak or kind.mixed or not kind.dtype:
        return False
    return kind.shape is not None and None not in kind.shape


def _held(node: ast.Subscript, kind: Kind) -> ast.Subscript:
    """A lookup in a tensor of what Python numbers hold is such a number."""
    if isinstance(kind, Python):
        node.holds = kind.type  # type: ignore[attr-defined]
    return node


def _is_scalar(kind: Kind) -> bool:
    return is_tensor(kind) and getattr(kind, "shape", None) == ()


def _attribute(tf: str, name: str) -> ast.expr:
    return ast.Attribute(ast.Name(tf, ast.Load()), name, ast.Load())
