"""Kinds: what a name or an expression holds, as far as it is known.

A kind has a notation that is a Python expression, used in profiles, messages and tests:

    int  float  bool  str  bytes  complex  None      Python values
    tensor(float32, 2, None)                         a tensor: dtype, then dimensions (None: varies or unknown)
    tensor(float32)   tensor(float32, ...)           a scalar; a tensor of unknown rank
    variable(...)  array(...)  ragged(...)  sparse(...)  tensorarray(...)   likewise
    scalar(float32)                                  a NumPy scalar
    weak(int)                                        a Python number (or bool, str) held in a tensor
    numpy(float32, 2)                                a NumPy array or scalar held in a tensor
    tuple(K, K)  list(K, K)  dict(a=K)               fixed members
    tuple[K]  list[K]  set[K]  dict[K, K]            members of one joined kind
    dataset(K)  iterator(K)                          a tf.data pipeline and its elements
    function(m.f)  type(m.C)  object(m.C)  module(m)  generator  size
    shape(int, size)  slice(K, K, K)  dtype  ellipsis  parts of an index; x.shape; x.dtype
    maybe(K)                                         None or such a value, as a tensor decides
    rows(K)                                          a list that is held as one tensor
    A | B                                            seen as both
    unknown
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

Shape = tuple[int | None, ...] | None
"""Dimensions of a tensor: None inside for one that varies, None for an unknown rank."""

MOST_MEMBERS = 6
MOST_NUMBERS = 4
NUMPY = "numpy"


class _Unset:
    def __repr__(self) -> str:
        return "UNSET"


UNSET = _Unset()


@dataclass(frozen=True)
class Kind:
    """What is known about a value. Equal kinds are interchangeable."""


@dataclass(frozen=True)
class Python(Kind):
    """A Python number, text or None: `type` is its type's name, `value` the value where it is known."""

    type: str
    value: object = UNSET

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Python)
            and self.type == other.type
            and type(self.value) is type(other.value)
            and repr(self.value) == repr(other.value)
        )

    def __hash__(self) -> int:
        return hash((self.type, repr(self.value)))

    def __str__(self) -> str:
        return self.type

    @property
    def known(self) -> bool:
        return self.value is not UNSET


@dataclass(frozen=True)
class Shaped(Kind):
    """Something with a dtype (None: unknown) and a shape."""

    dtype: str | None = None
    shape: Shape = None
    notation: ClassVar[str] = ""

    def __str__(self) -> str:
        dims = ["..."] if self.shape is None else [str(d) for d in self.shape]
        return f"{self.notation}({', '.join([self.dtype or 'unknown', *dims])})"


@dataclass(frozen=True)
class Tensor(Shaped):
    """A tf.Tensor.

    `weak` names the Python type (int, float, bool, str) of a Python value that is held in one, or is NUMPY for an array
    or scalar of NumPy. `mixed`: what is a tensor in the graph may be a Python value in eager mode, of this or of
    another type, depending on the run; `numbers` are those it may be, where that is known.
    """

    weak: str | None = None
    mixed: bool = False
    numbers: tuple[int | float, ...] | None = field(
        default=None, compare=False, repr=False
    )
    notation: ClassVar[str] = "tensor"

    def __str__(self) -> str:
        if self.weak == NUMPY:
            return "numpy" + super().__str__().removeprefix(self.notation)
        return f"weak({self.weak})" if self.weak else super().__str__()


@dataclass(frozen=True)
class Variable(Shaped):
    notation: ClassVar[str] = "variable"


@dataclass(frozen=True)
class Array(Shaped):
    notation: ClassVar[str] = "array"


@dataclass(frozen=True)
class Ragged(Shaped):
    notation: ClassVar[str] = "ragged"


@dataclass(frozen=True)
class Sparse(Shaped):
    notation: ClassVar[str] = "sparse"


@dataclass(frozen=True)
class TensorArray(Shaped):
    """A tf.TensorArray; `shape` is that of its elements."""

    notation: ClassVar[str] = "tensorarray"


@dataclass(frozen=True)
class Scalar(Kind):
    """A NumPy scalar, such as np.float32(1)."""

    dtype: str | None = None

    def __str__(self) -> str:
        return f"scalar({self.dtype or 'unknown'})"


@dataclass(frozen=True)
class Sequence(Kind):
    """A tuple, list, TensorShape ("shape") or slice whose members are known one by one."""

    type: str
    items: tuple[Kind, ...]

    def __str__(self) -> str:
        return f"{self.type}({', '.join(map(str, self.items))})"

    @property
    def nests(self) -> bool:
        """Whether TensorFlow takes it as a structure of its members."""
        return self.type in ("tuple", "list")


@dataclass(frozen=True)
class Record(Sequence):
    """A namedtuple; `type` is the dotted name of its class."""

    fields: tuple[str, ...] = ()

    def __str__(self) -> str:
        members = map("{}={}".format, self.fields, self.items)
        return f"record({', '.join([self.type, *members])})"

    @property
    def nests(self) -> bool:
        return True

    def get(self, name: str) -> Kind | None:
        members = dict(zip(self.fields, self.items, strict=True))
        return members.get(name)


@dataclass(frozen=True)
class Elements(Kind):
    """A tuple, list or set of any length, all members of one kind; `rows`: a loop over it goes over rows of tensors."""

    type: str
    element: Kind
    rows: bool = field(default=False, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.type}[{self.element}]"


@dataclass(frozen=True)
class Dict(Kind):
    """A dict whose keys are known strings."""

    items: tuple[tuple[str, Kind], ...]

    def __str__(self) -> str:
        if all(key.isidentifier() for key, _ in self.items):
            return f"dict({', '.join(f'{key}={kind}' for key, kind in self.items)})"
        return str(Mapping(Python("str"), join_all(kind for _, kind in self.items)))

    def get(self, key: str) -> Kind | None:
        return dict(self.items).get(key)


@dataclass(frozen=True)
class Mapping(Kind):
    """A dict of any keys."""

    key: Kind
    value: Kind

    def __str__(self) -> str:
        return f"dict[{self.key}, {self.value}]"


@dataclass(frozen=True)
class Dataset(Kind):
    element: Kind

    def __str__(self) -> str:
        return f"dataset({self.element})"


@dataclass(frozen=True)
class Iterator(Kind):
    element: Kind

    def __str__(self) -> str:
        return f"iterator({self.element})"


@dataclass(frozen=True)
class Function(Kind):
    """A function by its dotted name; `receiver` is what a bound method is bound to."""

    name: str
    receiver: Kind | None = None

    def __str__(self) -> str:
        return f"function({self.name})"


@dataclass(frozen=True)
class Type(Kind):
    name: str

    def __str__(self) -> str:
        return f"type({self.name})"


@dataclass(frozen=True)
class Object(Kind):
    """An instance of the named class; `fresh`: made in the function at hand, so nobody else sees its changes."""

    name: str
    fresh: bool = False

    def __str__(self) -> str:
        return f"object({self.name})"

    @property
    def is_namespace(self) -> bool:
        """Whether its class is no more than a place for attributes."""
        return self.name in ("types.SimpleNamespace", "argparse.Namespace")


@dataclass(frozen=True)
class Module(Kind):
    name: str

    def __str__(self) -> str:
        return f"module({self.name})"


@dataclass(frozen=True)
class Union(Kind):
    """Seen as each of its members, sorted by their notation."""

    members: tuple[Kind, ...]

    def __str__(self) -> str:
        return " | ".join(map(str, self.members))


@dataclass(frozen=True)
class Maybe(Kind):
    """A value of a kind, or None, as a tensor decides."""

    kind: Kind

    def __str__(self) -> str:
        return f"maybe({self.kind})"


@dataclass(frozen=True)
class Rows(Kind):
    """A Python list that the graph holds as one tensor, maybe a ragged one; its items, of the given kind, are the rows."""

    element: Tensor
    ragged: bool = False

    def __str__(self) -> str:
        return f"rows({self.element})"

    @property
    def whole(self) -> Tensor | Ragged:
        """The tensor that holds the list."""
        form, shape = Ragged if self.ragged else Tensor, self.element.shape
        return form(self.element.dtype, None if shape is None else (None, *shape))


@dataclass(frozen=True)
class _Named(Kind):
    name: str

    def __str__(self) -> str:
        return self.name


UNKNOWN = _Named("unknown")
SIZE = _Named("size")
"""A dimension that is not static: an int in eager mode, None while tracing."""
GENERATOR = _Named("generator")
NONE = Python("None", None)
INT, FLOAT, BOOL, STR = (Python(name) for name in ("int", "float", "bool", "str"))

PYTHON_TYPES = ("int", "float", "bool", "str", "bytes", "complex", "dtype", "ellipsis")
WEAK_DTYPES = {"int": "int64", "float": "float64", "bool": "bool", "str": "string"}
"""The dtype in which a Python value lives in a graph, without loss."""


def python(value: object) -> Kind:
    """The kind of a constant of the source text."""
    return NONE if value is None else Python(type(value).__name__, value)


def weak(name: str) -> Tensor:
    """A Python `name` (int, float, bool, str) held in a scalar tensor."""
    return Tensor(WEAK_DTYPES[name], (), name)


def numbers_of(kind: Kind) -> tuple[int | float, ...] | None:
    """The Python numbers that a value may be; None where that is not known."""
    if isinstance(kind, Tensor):
        return kind.numbers if kind.weak or kind.mixed else ()
    if isinstance(kind, Python) and isinstance(kind.value, int | float):
        return (kind.value,)
    return () if isinstance(kind, Variable) else None


def all_numbers(*kinds: Kind) -> tuple[int | float, ...] | None:
    """The Python numbers that one of several values may be; None where that is not known, or where they are many."""
    found: dict[str, int | float] = {}
    for kind in kinds:
        numbers = numbers_of(kind)
        if numbers is None:
            return None
        found |= {repr(number): number for number in numbers}
    return tuple(found.values()) if len(found) <= MOST_NUMBERS else None


def forget(kind: Kind) -> Kind:
    """The kind without the value of a Python constant."""
    if isinstance(kind, Python) and kind != NONE:
        return Python(kind.type)
    if isinstance(kind, Sequence):
        return replace(kind, items=tuple(map(forget, kind.items)))
    if isinstance(kind, Dict):
        return Dict(tuple((key, forget(value)) for key, value in kind.items))
    return kind


def has_unknown(kind: Kind) -> bool:
    """Whether a kind, or one of its parts, is unknown."""
    if isinstance(kind, Sequence):
        return any(map(has_unknown, kind.items))
    return any(
        m == UNKNOWN or (m is not kind and has_unknown(m)) for m in members(kind)
    )


def unwrapped(kind: Kind) -> Kind:
    """The structure of what may be None instead; another kind as it is."""
    inside = kind.kind if isinstance(kind, Maybe) else kind
    return inside if isinstance(inside, Sequence | Dict) else kind


def tensor_leaves(kind: Kind) -> list[Kind]:
    """What a structure, or one that may be None, holds that is none of Python's values, in order."""
    kind = unwrapped(kind)
    if isinstance(kind, Sequence):
        return [leaf for item in kind.items for leaf in tensor_leaves(item)]
    if isinstance(kind, Dict):
        return [leaf for _, value in kind.items for leaf in tensor_leaves(value)]
    return [] if isinstance(kind, Python) else [kind]


def of_any_size(kind: Kind, any_length: bool = True) -> Kind:
    """The kind without the sizes of its tensors, and maybe without the lengths of lists and tuples of tensors."""
    if isinstance(kind, Shaped) and kind.shape:
        return replace(kind, shape=(None,) * len(kind.shape))
    if isinstance(kind, Sequence):
        items = tuple(of_any_size(k, any_length) for k in kind.items)
        element = join_all(map(forget, items))
        listed = _is_tensor(element) or (kind.type == "list" and len(set(items)) == 1)
        if any_length and listed and kind.type in ("list", "tuple"):
            return Elements(kind.type, element)
        return replace(kind, items=items)
    if isinstance(kind, Elements):
        return replace(kind, element=of_any_size(kind.element, any_length))
    if isinstance(kind, Dict):
        pairs = [(key, of_any_size(value, any_length)) for key, value in kind.items]
        return Dict(tuple(pairs))
    return kind


def of_any_shape(kind: Kind) -> Kind:
    """The kind without the sizes of its tensors."""
    return of_any_size(kind, any_length=False)


def _is_tensor(kind: Kind) -> bool:
    return isinstance(kind, Tensor) and kind.dtype is not None and not kind.mixed


def members(kind: Kind) -> tuple[Kind, ...]:
    return kind.members if isinstance(kind, Union) else (kind,)


def join_shapes(a: Shape, b: Shape) -> Shape:
    """The tightest shape that admits both."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else None for x, y in zip(a, b, strict=True))


def is_mutable(kind: Kind) -> bool:
    """Whether this is a list, a set, a dict or an array."""
    listed = isinstance(kind, Sequence | Elements) and kind.type in ("list", "set")
    return listed or isinstance(kind, Dict | Mapping | Array)


def holds_mutable(kind: Kind) -> bool:
    """Whether this is a list, a set, a dict or an array, or holds one."""
    if isinstance(kind, Sequence):
        return is_mutable(kind) or any(map(holds_mutable, kind.items))
    return is_mutable(kind)


def join(a: Kind, b: Kind) -> Kind:
    """The tightest kind that admits both."""
    if a == b:
        return _both_numbers(a, b)
    if UNKNOWN in (a, b):
        return UNKNOWN
    merged = _merge(a, b)
    if merged is not None:
        return merged
    return _union((*members(a), *members(b)))


def _both_numbers(a: Kind, b: Kind) -> Kind:
    """One of two kinds that are equal but for the Python numbers they may be."""
    if isinstance(a, Tensor) and a.numbers is not None:
        return replace(a, numbers=all_numbers(a, b))
    return a


def join_all(kinds: Iterable[Kind]) -> Kind:
    """The join of any number of kinds; unknown for none."""
    result: Kind | None = None
    for kind in kinds:
        result = kind if result is None else join(result, kind)
    return UNKNOWN if result is None else result


def _merge(a: Kind, b: Kind) -> Kind | None:
    """One kind for two of a family, None where they are of different families."""
    if isinstance(a, Python) and isinstance(b, Python) and a.type == b.type:
        return Python(a.type)
    if isinstance(a, Shaped) and type(a) is type(b) and _same_dtype(a, b):
        if isinstance(a, Tensor) and isinstance(b, Tensor) and a.weak != b.weak:
            return None
        if isinstance(a, Tensor) and isinstance(b, Tensor):
            a = replace(a, mixed=a.mixed or b.mixed, numbers=all_numbers(a, b))
        dtype = a.dtype if a.dtype == b.dtype else None
        return replace(a, dtype=dtype, shape=join_shapes(a.shape, b.shape))
    if isinstance(a, Sequence | Elements) and isinstance(b, Sequence | Elements):
        return _merge_sequences(a, b)
    if isinstance(a, Dict | Mapping) and isinstance(b, Dict | Mapping):
        return _merge_dicts(a, b)
    if isinstance(a, Object) and isinstance(b, Object) and a.name == b.name:
        return Object(a.name)
    if isinstance(a, Object) and isinstance(b, Object) and _are_one_class(a, b):
        return Object(max(a.name, b.name, key=len))
    if isinstance(a, Dataset) and isinstance(b, Dataset):
        return Dataset(join(a.element, b.element))
    return None


def _are_one_class(a: Object, b: Object) -> bool:
    """Whether two names are of one class of Keras: where it is defined, and where it is to be imported from."""
    names = a.name, b.name
    own = any(n.startswith("keras.src.") for n in names)
    keras = all(n.startswith(("keras.", "tensorflow.keras.")) for n in names)
    return own and keras and len({n.rpartition(".")[2] for n in names}) == 1


def _merge_sequences(a: Sequence | Elements, b: Sequence | Elements) -> Kind | None:
    if a.type != b.type:
        return None
    if (
        isinstance(a, Sequence)
        and isinstance(b, Sequence)
        and len(a.items) == len(b.items)
    ):
        return replace(a, items=tuple(map(join, a.items, b.items)))
    inner = [
        k
        for s in (a, b)
        for k in (s.items if isinstance(s, Sequence) else (s.element,))
    ]
    return Elements(a.type, join_all(map(forget, inner)))


def _same_dtype(a: Shaped, b: Shaped) -> bool:
    return a.dtype == b.dtype or None in (a.dtype, b.dtype)


def _same_keys(a: Dict, b: Dict) -> bool:
    return [k for k, _ in a.items] == [k for k, _ in b.items]


def _merge_dicts(a: Dict | Mapping, b: Dict | Mapping) -> Kind:
    if isinstance(a, Dict) and isinstance(b, Dict) and _same_keys(a, b):
        return Dict(
            tuple(
                (k, join(x, y)) for (k, x), (_, y) in zip(a.items, b.items, strict=True)
            )
        )
    pairs = [
        pair
        for d in (a, b)
        for pair in (
            [(Python("str"), v) for _, v in d.items]
            if isinstance(d, Dict)
            else [(d.key, d.value)]
        )
    ]
    return Mapping(join_all(k for k, _ in pairs), join_all(forget(v) for _, v in pairs))


def _union(kinds: Iterable[Kind]) -> Kind:
    distinct: list[Kind] = []
    for kind in kinds:
        for i, other in enumerate(distinct):
            merged = kind if kind == other else _merge(kind, other)
            if merged is not None:
                distinct[i] = merged
                break
        else:
            distinct.append(kind)
    if len(distinct) > MOST_MEMBERS:
        return UNKNOWN
    if len(distinct) == 1:
        return distinct[0]
    return Union(tuple(sorted(distinct, key=str)))


# ---- notation


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


def settled(kind: Kind) -> Kind:
    """What others see once it is stored: objects that anyone may change."""
    match kind:
        case Object(name=name):
            return Object(name)
        case Sequence(items=items):
            return replace(kind, items=tuple(map(settled, items)))
        case Elements(element=element):
            return replace(kind, element=settled(element))
        case Dict(items=entries):
            return Dict(tuple((key, settled(value)) for key, value in entries))
        case Mapping(value=value):
            return replace(kind, value=settled(value))
    return kind
