"""Casts: how Python numbers held in tensors, and the two sides of a choice, come to one dtype and shape."""

from __future__ import annotations

import ast
import json
import math
from dataclasses import replace

from . import static_shapes
from .facts.kinds import (
    NONE,
    Array,
    Dict,
    Kind,
    Maybe,
    Python,
    Ragged,
    Record,
    Rows,
    Scalar,
    Sequence,
    Shape,
    Tensor,
    TensorArray,
    Union,
    Variable,
    members,
)
from .facts.numpy_arguments import common_dtype
from .facts.outcome import Unsure
from .facts.staging import holds_tensor, is_numpy, is_strong, is_weak, released
from .findings import Refusal, Unseen

ZEROS = {"int": "0", "float": "0.0", "bool": "False", "str": '""'}
WORDS = {"int": "int64", "float": "float64"}


class Promotion:
    """Writes casts; `tf` is how the file calls TensorFlow."""

    def __init__(self, tf: str) -> None:
        self.tf = tf

    def dtype(self, name: str) -> str:
        return f"{self.tf}.{name}"

    # ---- operands

    def operands(
        self,
        left: tuple[str, Kind, ast.expr],
        right: tuple[str, Kind, ast.expr],
        divides: bool = False,
    ) -> tuple[str, str]:
        """The texts of two operands, so cast that the operator takes them as eager mode takes Python numbers."""
        (a, a_kind, a_node), (b, b_kind, b_node) = left, right
        if is_numpy(a_kind) or is_numpy(b_kind):
            return self._array_operands(left, right, divides)
        if _is_text(a_kind) and _is_text(b_kind):
            return a, b
        if is_weak(a_kind) and is_strong(b_kind):
            return self.cast(a, self.dtype_of(b, b_kind, b_node)), b
        if is_weak(b_kind) and is_strong(a_kind):
            return a, self.cast(b, self.dtype_of(a, a_kind, a_node))
        types = {_number(a_kind), _number(b_kind)}
        if not (is_weak(a_kind) or is_weak(b_kind)) or None in types:
            return a, b
        if "float" in types:
            return self._widened(a, a_kind, "float"), self._widened(b, b_kind, "float")
        if "int" in types:
            return self._widened(a, a_kind, "int"), self._widened(b, b_kind, "int")
        if types == {"bool"} and not divides:
            return self._widened(a, a_kind, "int"), self._widened(b, b_kind, "int")
        return a, b

    def _array_operands(
        self,
        left: tuple[str, Kind, ast.expr],
        right: tuple[str, Kind, ast.expr],
        divides: bool,
    ) -> tuple[str, str]:
        """Operands of NumPy arrays held in tensors: a tensor's dtype, else the one that NumPy gives both."""
        (a, a_kind, _), (b, b_kind, _) = left, right
        strong = next((side for side in (left, right) if is_strong(side[1])), None)
        if strong is not None:
            dtype = getattr(strong[1], "dtype", None)
            if dtype is None:
                raise Unseen(
                    "the dtype that an array takes here is not known", strong[2]
                )
        else:
            dtype = array_dtype((a_kind, b_kind), divides)
        return self.array(a, a_kind, dtype), self.array(b, b_kind, dtype)

    def array(self, text: str, kind: Kind, dtype: str) -> str:
        """An operand of NumPy's as one of a dtype; Python's numbers take it by themselves."""
        if isinstance(kind, Python) and kind.type != "bool":
            return text
        if getattr(kind, "dtype", None) == dtype:
            return text
        return self.cast(text, self.dtype(dtype))

    def _widened(self, text: str, kind: Kind, to: str) -> str:
        if isinstance(kind, Tensor) and kind.weak and kind.weak != to:
            return self.cast(text, self.dtype(WORDS[to]))
        return text

    def dtype_of(self, text: str, kind: Kind, node: ast.expr) -> str:
        """The text that gives a tensor's dtype."""
        if isinstance(node, ast.Name) and not (isinstance(kind, Tensor) and kind.mixed):
            return f"{text}.dtype"
        dtype = getattr(kind, "dtype", None)
        if dtype:
            return self.dtype(dtype)
        if isinstance(node, ast.Name | ast.Attribute):
            return f"{text}.dtype"
        raise Unseen("the dtype that a Python number takes here is not known", node)

    def cast(self, text: str, dtype: str) -> str:
        """The text cast to a dtype; a cast of a cast to float64, or of a size to int64, is one."""
        for wide in ("float64",):
            inner = text.removeprefix(f"{self.tf}.cast(").removesuffix(
                f", {self.tf}.{wide})"
            )
            if len(inner) == len(text) - len(
                f"{self.tf}.cast(, {self.tf}.{wide})"
            ) and _is_one_argument(inner):
                text = inner
        if dtype == f"{self.tf}.int32" and (
            size := static_shapes.as_given(text, self.tf)
        ):
            return size
        return f"{self.tf}.cast({static_shapes.counted(text, self.tf)}, {dtype})"

    # ---- one value for several

    def coerced(
        self, text: str, have: Kind, want: Kind, node: ast.AST | None = None
    ) -> str:
        """The text of a value as one of kind `want`.

        Raises:
            Refusal: no cast makes the one into the other.
        """
        if isinstance(want, Sequence) and isinstance(have, Sequence):
            return self._members(text, have, want, node)
        if isinstance(want, Dict) and isinstance(have, Dict):
            return self._entries(text, have, want, node)
        if isinstance(want, Maybe):
            if have == NONE:
                return self.zero(want.kind, node)
            return self.coerced(
                text, have.kind if isinstance(have, Maybe) else have, want.kind, node
            )
        if want == NONE or any(
            isinstance(want, held) and isinstance(have, held)
            for held in (TensorArray, Rows, Ragged)
        ):
            return text
        if not isinstance(want, Tensor):
            if (
                isinstance(have, Python)
                and isinstance(want, Python)
                and have.type == want.type
            ):
                return text
            if isinstance(want, Union) and any(map(holds_tensor, members(want))):
                reason = f"`{text}` may be Python's, or what a tensor decides"
                way_out = f"start with `{self.tf}.constant(...)` in its place"
                raise Refusal(reason, node, way_out=way_out)
            raise Refusal(f"{have} does not fit where {want} is needed", node)
        if isinstance(have, Python):
            return self._constant(text, have, want, node)
        if isinstance(have, Union | Array | Scalar):
            if want.dtype is None:
                raise Unseen(
                    "the dtype of what becomes one value here is not known", node
                )
            return f"{self.tf}.convert_to_tensor({text}, {self.dtype(want.dtype)})"
        if isinstance(have, Variable):
            return f"{self.tf}.identity({text})"
        if not isinstance(have, Tensor):
            raise Refusal(f"{have} does not fit where {want} is needed", node)
        if have.dtype == want.dtype or want.dtype is None or have == want:
            return text
        if have.weak or have.dtype is None:
            return self.cast(text, self.dtype(want.dtype)) if have.weak else text
        raise Refusal(f"{have} does not fit where {want} is needed", node)

    def _constant(
        self, text: str, have: Python, want: Tensor, node: ast.AST | None
    ) -> str:
        if want.dtype is None:
            raise Unseen("the dtype that a Python number takes here is not known", node)
        if have.type not in ("int", "float", "bool", "str"):
            raise Refusal(f"{have} does not fit where {want} is needed", node)
        if isinstance(have.value, int) and not -(2**63) <= have.value < 2**63:
            raise Refusal("an int of 2**63 or more does not fit in a tensor", node)
        if (have.type, want.dtype) in (("bool", "bool"), ("str", "string")):
            return f"{self.tf}.constant({text})"
        return f"{self.tf}.constant({text}, {self.dtype(want.dtype)})"

    def _members(
        self, text: str, have: Sequence, want: Sequence, node: ast.AST | None
    ) -> str:
        if all(map(self._fits, have.items, want.items)):
            return text
        owner = as_owner(text)
        texts = _parts(text, have) or [f"{owner}{m}" for m in member_texts(have)]
        parts = [
            self.coerced(part, h, w, node)
            for part, h, w in zip(texts, have.items, want.items, strict=True)
        ]
        return display(want.type, parts)

    def _entries(self, text: str, have: Dict, want: Dict, node: ast.AST | None) -> str:
        pairs = [
            (key, h, w) for (key, h), (_, w) in zip(have.items, want.items, strict=True)
        ]
        if all(self._fits(h, w) for _, h, w in pairs):
            return text
        owner = as_owner(text)
        texts = _values(text, have) or {k: f"{owner}[{quoted(k)}]" for k, _, _ in pairs}
        parts = [
            f"{quoted(key)}: {self.coerced(texts[key], h, w, node)}"
            for key, h, w in pairs
        ]
        return "{" + ", ".join(parts) + "}"

    @staticmethod
    def _fits(have: Kind, want: Kind) -> bool:
        if isinstance(have, Tensor) and isinstance(want, Tensor):
            return have.dtype == want.dtype
        return have == want

    # ---- specs

    def shape(self, shape: Shape) -> str:
        inner = "None" if shape is None else "[" + ", ".join(map(str, shape)) + "]"
        return f"{self.tf}.TensorShape({inner})"

    def invariant(self, kind: Kind) -> str:
        """The shape invariant of a loop variable, in its structure."""
        if isinstance(kind, Maybe):
            return self.invariant(kind.kind)
        if isinstance(kind, Sequence):
            return display(kind.type, [self.invariant(item) for item in kind.items])
        if isinstance(kind, Dict):
            return (
                "{"
                + ", ".join(f"{quoted(k)}: {self.invariant(v)}" for k, v in kind.items)
                + "}"
            )
        if isinstance(kind, Rows):
            kind = kind.whole
        return (
            self.shape(getattr(kind, "shape", ()))
            if not isinstance(kind, TensorArray)
            else self.shape(None)
        )

    def zero(self, kind: Kind, node: ast.AST | None = None) -> str:
        """A stand-in of the kind, for a name that one way leaves unbound.

        Raises:
            Refusal: its dtype is not known.
        """
        if isinstance(kind, Maybe):
            return self.zero(kind.kind, node)
        if isinstance(kind, Sequence):
            return display(kind.type, [self.zero(item, node) for item in kind.items])
        if isinstance(kind, Dict):
            zeros = (f"{quoted(k)}: {self.zero(v, node)}" for k, v in kind.items)
            return f"{{{', '.join(zeros)}}}"
        if isinstance(kind, Python) and kind.type in ZEROS:
            return ZEROS[kind.type]
        if isinstance(kind, Rows):
            kind = kind.whole
        if isinstance(kind, Variable):
            kind = Tensor(kind.dtype, kind.shape)
        if isinstance(kind, Tensor) and kind.shape is None:
            kind = replace(kind, shape=())
        if not isinstance(kind, Tensor) or kind.dtype is None or kind.shape is None:
            raise Unseen(
                "a name is set on one way only, and what it holds there is not known",
                node,
            )
        if kind.dtype == "string":
            return (
                f'{self.tf}.fill({[d or 0 for d in kind.shape]}, "")'
                if kind.shape
                else f'{self.tf}.constant("")'
            )
        if kind.dtype == "bool" and kind.shape == ():
            return f"{self.tf}.constant(False)"
        dims = "[" + ", ".join(str(d or 0) for d in kind.shape) + "]"
        return f"{self.tf}.zeros({dims}, {self.dtype(kind.dtype)})"


def array_dtype(kinds: tuple[Kind, ...], divides: bool = False) -> str:
    """The dtype to which NumPy promotes operands.

    Raises:
        Refusal: it is not known.
    """
    try:
        dtype = common_dtype(tuple(map(released, kinds)))
    except Unsure as reason:
        raise Unseen(f"what NumPy makes of this is not known: {reason}") from reason
    return "float64" if divides and dtype in ("int32", "int64", "bool") else dtype


def display(brackets: str, parts: list[str]) -> str:
    """A tuple or list display of texts; a call where `brackets` is the class of a namedtuple."""
    inner = ", ".join(parts)
    if brackets == "list":
        return f"[{inner}]"
    if brackets != "tuple":
        return f"{brackets.rpartition('.')[2]}({inner})"
    return f"({inner},)" if len(parts) == 1 else f"({inner})"


def member_nodes(value: ast.expr | None, kind: Sequence) -> list[ast.expr | None]:
    """What a tuple, list or record is made of, member by member; None for what does not stand there."""
    match value:
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            return list(elts)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords) if (
            isinstance(kind, Record) and name == kind.type.rpartition(".")[2]
        ):
            given = dict(zip(kind.fields, args, strict=False))
            given |= {k.arg: k.value for k in keywords if k.arg}
            return [given.get(field) for field in kind.fields]
    return [None] * len(kind.items)


def as_owner(text: str) -> str:
    """The text of a value of which a member is read."""
    node = ast.parse(f"({text})", mode="eval").body
    alone = isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
    return text if alone else f"({text})"


def member_texts(kind: Sequence) -> list[str]:
    """What stands behind a value for each of its members."""
    if isinstance(kind, Record):
        return [f".{name}" for name in kind.fields]
    return [f"[{i}]" for i in range(len(kind.items))]


def _parts(text: str, kind: Sequence) -> list[str] | None:
    """The texts of the members of a tuple or list display, or of a namedtuple made; None for what is none."""
    whole = f"({text})"
    try:
        node = ast.parse(whole, mode="eval").body
    except SyntaxError:
        return None
    nodes = member_nodes(node, kind)
    if len(nodes) != len(kind.items) or any(isinstance(n, ast.Starred) for n in nodes):
        return None
    found: list[str] = []
    for inner, item in zip(nodes, kind.items, strict=True):
        if inner is not None:
            found.append(ast.get_source_segment(whole, inner) or ast.unparse(inner))
        elif isinstance(item, Python) and item.known and isinstance(node, ast.Call):
            found.append(literal(item.value))
        else:
            return None
    return found


def literal(value: object) -> str:
    """The text of a Python value."""
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return quoted(value) if isinstance(value, str) else repr(value)


def _values(text: str, kind: Dict) -> dict[str, str] | None:
    """The texts of the values in a dict display, by its keys; None for what is none."""
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(node, ast.Dict):
        return None
    keys = [k.value if isinstance(k, ast.Constant) else None for k in node.keys]
    if keys != [key for key, _ in kind.items]:
        return None
    values = [ast.get_source_segment(text, v) or ast.unparse(v) for v in node.values]
    return dict(zip(map(str, keys), values, strict=True))


def _is_one_argument(text: str) -> bool:
    try:
        call = ast.parse(f"f({text})", mode="eval").body
    except SyntaxError:
        return False
    return isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords


def quoted(text: str) -> str:
    """A string literal with double quotes."""
    return json.dumps(text, ensure_ascii=False)


def _is_text(kind: Kind) -> bool:
    return isinstance(kind, Tensor) and kind.dtype == "string"


def _number(kind: Kind) -> str | None:
    if isinstance(kind, Tensor):
        return kind.weak
    if isinstance(kind, Python) and kind.type in ("int", "float", "bool"):
        return kind.type
    return None
