"""What attributes and methods of Python's containers, texts and numbers give, shapes and dtypes among them."""

from __future__ import annotations

from dataclasses import replace

from . import tensorflow_values as values
from .kind_joins import forget, join, join_all
from .kinds import (
    BOOL,
    INT,
    NONE,
    SIZE,
    STR,
    Array,
    Dict,
    Elements,
    Kind,
    Mapping,
    Python,
    Record,
    Scalar,
    Sequence,
    weak,
)
from .outcome import Outcome, Raises, Unsure, outcome
from .tensorflow_values import inner

Args = tuple[Kind, ...]
Kwargs = dict[str, Kind]
Result = Kind | Outcome


def shape_attribute(kind: Sequence | Elements, name: str) -> Result:
    if name in ("rank", "ndims"):
        return Python("int", len(kind.items)) if isinstance(kind, Sequence) else INT
    raise Unsure(name)


def dtype_attribute(kind: Python, name: str) -> Result:
    dtype = values.dtype_of(kind)
    match name:
        case "name":
            return STR if dtype is None else Python("str", dtype)
        case "is_floating":
            return BOOL if dtype is None else Python("bool", dtype in values.FLOATS)
        case "is_integer":
            return BOOL if dtype is None else Python("bool", dtype in values.INTEGERS)
        case "is_complex":
            return BOOL if dtype is None else Python("bool", dtype in values.COMPLEXES)
        case "is_bool":
            return BOOL if dtype is None else Python("bool", dtype == "bool")
        case "base_dtype":
            return kind
        case "size":
            return INT
    raise Unsure(name)


LIST_CHANGES = ("append", "extend", "insert", "remove", "clear", "sort", "reverse")


def record_method(kind: Record, name: str, args: Args, kwargs: Kwargs) -> Result:
    if name == "_replace" and not args and kwargs.keys() <= set(kind.fields):
        members = dict(zip(kind.fields, kind.items, strict=True)) | dict(kwargs)
        return replace(kind, items=tuple(members.values()))
    if name == "_asdict":
        return Dict(tuple(zip(kind.fields, kind.items, strict=True)))
    raise Unsure(name)


def sequence_method(
    kind: Sequence | Elements, name: str, args: Args, kwargs: Kwargs
) -> Result:
    if kind.type == "list":
        if name in LIST_CHANGES:
            return outcome(NONE, "mutates")
        if name == "pop":
            return _popped(kind, args)
        if name == "copy":
            return kind
    if kind.type == "set" and name in ("add", "discard", "remove", "update", "clear"):
        return outcome(NONE, "mutates")
    if kind.type == "shape":
        return _shape_method(kind, name, args)
    if kind.type in ("list", "tuple") and name in ("index", "count"):
        return _position(kind, args)
    raise Unsure(name)


def _position(kind: Sequence | Elements, args: Args) -> Kind:
    """An index or a count, which compares members with the argument."""
    kinds = (*inner(kind), *args)
    if all(isinstance(k, Python) for k in kinds):
        return INT
    if all(values.as_python(k) is not None for k in kinds):
        return weak("int")
    raise Unsure("a comparison of tensors")


def _popped(kind: Sequence | Elements, args: Args) -> Outcome:
    if args and not isinstance(args[0], Python):
        raise Unsure("pop at a tensor")
    position = values.constant_int(args[0]) if args else -1
    if isinstance(kind, Sequence) and position is not None:
        if not -len(kind.items) <= position < len(kind.items):
            raise Raises(f"pop at {position} of {len(kind.items)}")
        return outcome(kind.items[position], "mutates")
    return outcome(join_all(map(forget, inner(kind))), "mutates")


def _shape_method(kind: Sequence | Elements, name: str, args: Args) -> Result:
    match name:
        case "as_list":
            return (
                Sequence("list", kind.items)
                if isinstance(kind, Sequence)
                else Elements("list", SIZE)
            )
        case "num_elements" if isinstance(kind, Sequence):
            count = values.product(map(values.constant_int, kind.items))
            return SIZE if count is None else Python("int", count)
        case "concatenate" if (
            isinstance(kind, Sequence) and args and isinstance(args[0], Sequence)
        ):
            return Sequence("shape", kind.items + args[0].items)
    raise Unsure(name)


DICT_CHANGES = ("update", "clear")


def dict_method(kind: Dict | Mapping, name: str, args: Args, kwargs: Kwargs) -> Result:
    if name in DICT_CHANGES:
        return outcome(NONE, "mutates")
    match name:
        case "copy":
            return kind
        case "keys" | "values" | "items":
            return _view(kind, name)
        case "get" | "pop" | "setdefault" if args and isinstance(args[0], Python):
            found = _got(kind, name, args)
            return outcome(found, *([] if name == "get" else ["mutates"]))
        case "popitem":
            raise Unsure(name)
    raise Unsure(name)


def _view(kind: Dict | Mapping, name: str) -> Kind:
    if isinstance(kind, Mapping):
        members = {
            "keys": kind.key,
            "values": kind.value,
            "items": Sequence("tuple", (kind.key, kind.value)),
        }
        return Elements(f"dict_{name}", members[name])
    rows: dict[str, Args] = {
        "keys": tuple(Python("str", key) for key, _ in kind.items),
        "values": kind.parts,
        "items": tuple(
            Sequence("tuple", (Python("str", key), value)) for key, value in kind.items
        ),
    }
    return Sequence(f"dict_{name}", rows[name])


def _got(kind: Dict | Mapping, name: str, args: Args) -> Kind:
    default = args[1] if len(args) > 1 else NONE
    if isinstance(kind, Mapping):
        return (
            kind.value if name == "pop" and len(args) < 2 else join(kind.value, default)
        )
    key = values.constant_str(args[0])
    if key is None:
        return join_all([*map(forget, kind.parts), default])
    found = kind.get(key)
    if found is None and name == "pop" and len(args) < 2:
        raise Raises(f"no key {key!r}")
    return default if found is None else found


def _all(names: str, kind: Kind) -> dict[str, Kind]:
    return dict.fromkeys(names.split(), kind)


TEXT_RESULTS: dict[str, Kind] = {
    **_all(
        "capitalize casefold center expandtabs format join ljust lower lstrip removeprefix "
        "removesuffix replace rjust rstrip strip swapcase title translate upper zfill",
        STR,
    ),
    **_all("count find index rfind rindex", INT),
    **_all(
        "endswith isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric "
        "isspace istitle isupper startswith",
        BOOL,
    ),
    **_all("rsplit split splitlines", Elements("list", STR)),
    **_all("partition rpartition", Sequence("tuple", (STR, STR, STR))),
    "encode": Python("bytes"),
}


def python_method(kind: Python, name: str, args: Args, kwargs: Kwargs) -> Result:
    if not all(map(_is_host, (*args, *kwargs.values()))):
        raise Unsure(f"{name} of tensors")
    if kind.type == "str" and name in TEXT_RESULTS:
        return TEXT_RESULTS[name]
    if kind.type == "bytes" and name == "decode":
        return STR
    if kind.type == "float" and name == "is_integer":
        return BOOL
    if kind.type == "int" and name == "bit_length":
        return INT
    raise Unsure(f"{kind}.{name}()")


def _is_host(kind: Kind) -> bool:
    """Is it made of Python and NumPy values alone?"""
    if isinstance(kind, Sequence | Elements):
        return all(map(_is_host, inner(kind)))
    return isinstance(kind, Python | Scalar | Array)
