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
    record(m.C, a=K)                                 a namedtuple
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

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

Shape = tuple[int | None, ...] | None
"""Dimensions of a tensor: None inside for one that varies, None for an unknown rank."""

NUMPY = "numpy"


class _Unset:
    def __repr__(self) -> str:
        return "UNSET"


UNSET = _Unset()


@dataclass(frozen=True)
class Kind:
    """What is known about a value. Equal kinds are interchangeable."""

    @property
    def parts(self) -> tuple[Kind, ...]:
        """The members of a structure that are known one by one; none of another kind."""
        return ()

    def mapped(self, change: Callable[[Kind], Kind]) -> Kind:
        """The structure with what `change` makes of each of its parts; another kind as it is."""
        return self


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
    def parts(self) -> tuple[Kind, ...]:
        return self.items

    def mapped(self, change: Callable[[Kind], Kind]) -> Kind:
        return replace(self, items=tuple(map(change, self.items)))

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
    """A tuple, list or set of any length, all members of one kind; `over_rows`: a loop over it goes over the rows of tensors."""

    type: str
    element: Kind
    over_rows: bool = field(default=False, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.type}[{self.element}]"


@dataclass(frozen=True)
class Dict(Kind):
    """A dict whose keys are known strings."""

    items: tuple[tuple[str, Kind], ...]

    def __str__(self) -> str:
        if all(key.isidentifier() for key, _ in self.items):
            return f"dict({', '.join(f'{key}={kind}' for key, kind in self.items)})"
        values = sorted({*map(str, self.parts)})
        return f"dict[str, {' | '.join(values)}]"

    @property
    def parts(self) -> tuple[Kind, ...]:
        return tuple(value for _, value in self.items)

    def mapped(self, change: Callable[[Kind], Kind]) -> Kind:
        return Dict(tuple((key, change(value)) for key, value in self.items))

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
    """A Python list that the graph holds as one tensor, maybe a ragged one; its items, of the given kind, are the rows.

    `levels`: of how many lists in each other, the innermost with such items.
    """

    element: Tensor
    ragged: bool = False
    levels: int = 1

    def __str__(self) -> str:
        return f"rows({self.item})"

    @property
    def item(self) -> Kind:
        """What the list holds."""
        if self.levels == 1:
            return self.element
        return replace(self, levels=self.levels - 1)

    @property
    def whole(self) -> Tensor | Ragged:
        """The tensor that holds the list."""
        form, shape = Ragged if self.ragged else Tensor, self.element.shape
        dims = (None,) * self.levels
        return form(self.element.dtype, None if shape is None else (*dims, *shape))


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

WEAK_DTYPES = {"int": "int64", "float": "float64", "bool": "bool", "str": "string"}
"""The dtype in which a Python value lives in a graph, without loss."""


def python(value: object) -> Kind:
    """The kind of a constant of the source text."""
    return NONE if value is None else Python(type(value).__name__, value)


def weak(name: str) -> Tensor:
    """A Python `name` (int, float, bool, str) held in a scalar tensor."""
    return Tensor(WEAK_DTYPES[name], (), name)


def members(kind: Kind) -> tuple[Kind, ...]:
    return kind.members if isinstance(kind, Union) else (kind,)


# ---- notation
