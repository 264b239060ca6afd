"""Kinds: their notation, and joins that admit both sides."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphlift.transforms.facts.kind_joins import (
    MOST_MEMBERS,
    forget,
    join,
    join_all,
    join_shapes,
)
from graphlift.transforms.facts.kind_notation import PYTHON_TYPES, parse
from graphlift.transforms.facts.kinds import (
    BOOL,
    FLOAT,
    GENERATOR,
    INT,
    NONE,
    SIZE,
    STR,
    UNKNOWN,
    WEAK_DTYPES,
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
    Rows,
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
    members,
    python,
    weak,
)

DTYPES = ("float32", "float64", "int32", "bool", "string")
NAMES = ("m.f", "m.C", "pkg.mod.Outer.inner")

shapes = st.none() | st.lists(st.none() | st.integers(0, 3), max_size=3).map(tuple)
dtypes = st.none() | st.sampled_from(DTYPES)
shaped = st.builds(
    lambda make, dtype, shape: make(dtype, shape),
    st.sampled_from([Tensor, Variable, Array, Ragged, Sparse, TensorArray]),
    dtypes,
    shapes,
)
leaves = st.one_of(
    st.sampled_from([UNKNOWN, SIZE, GENERATOR, NONE]),
    st.sampled_from(PYTHON_TYPES).map(Python),
    st.sampled_from(sorted(WEAK_DTYPES)).map(weak),
    shaped,
    st.sampled_from(DTYPES).map(Scalar),
    st.builds(
        lambda make, name: make(name),
        st.sampled_from([Function, Type, Object, Module]),
        st.sampled_from(NAMES),
    ),
)


def containers(inner: st.SearchStrategy[Kind]) -> st.SearchStrategy[Kind]:
    items = st.lists(inner, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Sequence, st.sampled_from(["tuple", "list"]), items),
        st.builds(Elements, st.sampled_from(["tuple", "list", "set"]), inner),
        st.dictionaries(st.sampled_from("abc"), inner, min_size=1, max_size=3).map(
            lambda found: Dict(tuple(found.items()))
        ),
        st.builds(Mapping, inner, inner),
        st.builds(Dataset, inner),
        st.builds(Iterator, inner),
        st.lists(inner, min_size=2, max_size=3).map(join_all),
    )


kinds = st.recursive(leaves, containers, max_leaves=6)


def admits(kind: Kind, other: Kind) -> bool:
    """Whether every value of the other kind is one of the kind, too."""
    if UNKNOWN in (kind, other):
        return kind == UNKNOWN
    if isinstance(other, Union):
        return all(admits(kind, member) for member in other.members)
    if isinstance(kind, Union):
        return any(admits(member, other) for member in kind.members)
    if isinstance(kind, Elements) and isinstance(other, Elements | Sequence):
        items = other.items if isinstance(other, Sequence) else (other.element,)
        return kind.type == other.type and all(admits(kind.element, i) for i in items)
    if isinstance(kind, Mapping) and isinstance(other, Dict):
        return admits(kind.key, STR) and all(
            admits(kind.value, value) for _, value in other.items
        )
    if type(kind) is not type(other):
        return False
    match kind, other:
        case Python(), Python():
            return kind.type == other.type and (not kind.known or kind == other)
        case Shaped(), Shaped():
            weaks = [getattr(k, "weak", None) for k in (kind, other)]
            same = kind.dtype in (None, other.dtype) and weaks[0] == weaks[1]
            return same and admits_shape(kind.shape, other.shape)
        case Sequence(), Sequence():
            return (
                kind.type == other.type
                and len(kind.items) == len(other.items)
                and all(map(admits, kind.items, other.items))
            )
        case Dict(), Dict():
            return [k for k, _ in kind.items] == [k for k, _ in other.items] and all(
                admits(a, b)
                for (_, a), (_, b) in zip(kind.items, other.items, strict=True)
            )
        case Mapping(), Mapping():
            return admits(kind.key, other.key) and admits(kind.value, other.value)
        case Dataset(), Dataset():
            return admits(kind.element, other.element)
    return kind == other


def admits_shape(shape: Shape, other: Shape) -> bool:
    if shape is None or other is None:
        return shape is None
    return len(shape) == len(other) and all(
        a is None or a == b for a, b in zip(shape, other, strict=True)
    )


# ---- notation


@given(kinds)
def test_notation_reads_back(kind: Kind) -> None:
    assert parse(str(kind)) == kind


@given(kinds)
def test_notation_is_steady(kind: Kind) -> None:
    assert str(parse(str(kind))) == str(kind)


@pytest.mark.parametrize(
    "text",
    [
        "int",
        "None",
        "tensor(float32)",
        "tensor(float32, 2, None)",
        "tensor(float32, ...)",
        "tensor(unknown, ...)",
        "variable(float32, 3)",
        "array(int64, 3)",
        "scalar(float32)",
        "ragged(float32, 3, None)",
        "sparse(float32, 3, 4)",
        "tensorarray(float32, ...)",
        "weak(int)",
        "tuple()",
        "tuple(int, list[tensor(float32)])",
        "list(int, str)",
        "set[str]",
        "dict(a=int, b=tensor(bool))",
        "dict[int, str]",
        "dataset(tuple(tensor(float32, 2), tensor(int64)))",
        "iterator(tensor(int64))",
        "function(m.C.f)",
        "type(m.C)",
        "object(m.C)",
        "module(m.sub)",
        "generator",
        "size",
        "shape(int, size)",
        "None | tensor(float32)",
        "unknown",
    ],
)
def test_notations(text: str) -> None:
    assert str(parse(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "in t",
        "integer",
        "tensor",
        "tensor()",
        "tensor(float32, x)",
        "dict[int]",
        "list[int](2)",
        "int + str",
        "1",
        "frob(int)",
        "scalar()",
        "dataset()",
    ],
)
def test_what_is_no_notation(text: str) -> None:
    with pytest.raises(ValueError, match="kind"):
        parse(text)


def test_keys_that_are_no_identifiers() -> None:
    assert str(Dict((("a b", INT), ("c", STR)))) == "dict[str, int | str]"


def test_values_do_not_show() -> None:
    assert str(python(3)) == str(INT) == "int"
    assert python(3) != INT
    assert python(1) != python(True) != python(1.0)
    assert python(0.0) != python(-0.0)
    assert forget(Sequence("tuple", (python(3), python("a")))) == Sequence(
        "tuple", (INT, STR)
    )
    assert forget(NONE) == NONE


# ---- joins


@given(kinds, kinds)
def test_join_admits_both(a: Kind, b: Kind) -> None:
    joined = join(a, b)
    assert admits(joined, a), (str(joined), str(a))
    assert admits(joined, b), (str(joined), str(b))


@given(kinds)
def test_join_with_itself(a: Kind) -> None:
    assert join(a, a) == a


@given(kinds, kinds)
def test_join_is_commutative(a: Kind, b: Kind) -> None:
    assert join(a, b) == join(b, a)


@given(kinds, kinds, kinds)
def test_join_is_associative(a: Kind, b: Kind, c: Kind) -> None:
    assert join(join(a, b), c) == join(a, join(b, c))


@given(kinds, kinds)
def test_join_changes_nothing_that_it_admits(a: Kind, b: Kind) -> None:
    joined = join(a, b)
    assert join(joined, a) == joined
    assert join(b, joined) == joined


@given(st.lists(kinds, max_size=5))
def test_join_of_many(found: list[Kind]) -> None:
    joined = join_all(found)
    assert all(admits(joined, kind) for kind in found)
    assert len(members(joined)) <= MOST_MEMBERS


def test_join_of_none() -> None:
    assert join_all([]) == UNKNOWN


@pytest.mark.parametrize(
    ("a", "b", "joined"),
    [
        ("tensor(float32, 2, 3)", "tensor(float32, 2, 4)", "tensor(float32, 2, None)"),
        ("tensor(float32, 2)", "tensor(float32, 2, 2)", "tensor(float32, ...)"),
        (
            "tensor(float32)",
            "tensor(float64)",
            "tensor(float32) | tensor(float64)",
        ),
        ("tensor(int64)", "weak(int)", "tensor(int64) | weak(int)"),
        ("int", "float", "float | int"),
        ("None", "tensor(float32, 2)", "None | tensor(float32, 2)"),
        ("list(int)", "list(int, int)", "list[int]"),
        ("list(int)", "list[str]", "list[int | str]"),
        ("list()", "list()", "list()"),
        ("tuple(int, str)", "tuple(float, str)", "tuple(float | int, str)"),
        ("list(int)", "tuple(int)", "list(int) | tuple(int)"),
        ("dict(a=int)", "dict(a=float)", "dict(a=float | int)"),
        ("dict(a=int)", "dict(b=str)", "dict[str, int | str]"),
        ("dataset(int)", "dataset(float)", "dataset(float | int)"),
        ("object(m.C)", "object(m.D)", "object(m.C) | object(m.D)"),
        ("unknown", "int", "unknown"),
        ("None | int", "None | str", "None | int | str"),
    ],
)
def test_joins(a: str, b: str, joined: str) -> None:
    assert str(join(parse(a), parse(b))) == joined


def test_join_of_values_forgets_them() -> None:
    assert join(python(1), python(2)) == INT
    assert join(python(1), python(1)) == python(1)
    assert join(python(True), BOOL) == BOOL
    assert join(python(0.5), python(1)) == Union((python(0.5), python(1)))
    assert join(FLOAT, python(0.5)) == FLOAT


def test_too_many_members_are_unknown() -> None:
    many = [Object(f"m.C{i}") for i in range(MOST_MEMBERS)]
    assert len(members(join_all(many))) == MOST_MEMBERS
    assert join_all([*many, INT]) == UNKNOWN


@given(shapes, shapes)
def test_joined_shapes_admit_both(a: Shape, b: Shape) -> None:
    joined = join_shapes(a, b)
    assert admits_shape(joined, a)
    assert admits_shape(joined, b)


def test_rows_and_maybes_are_shown() -> None:
    assert str(Rows(Tensor("float32", ()))) == "rows(tensor(float32))"
