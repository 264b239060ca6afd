"""What Python values become in a graph: one kind that holds either of two, or none."""

from __future__ import annotations

import itertools

import pytest
import tensorflow as tf
from facts.watched import admits
from observing import kind_of

from graphlift.transforms.facts.kind_notation import parse
from graphlift.transforms.facts.kinds import (
    NONE,
    UNKNOWN,
    Kind,
    Maybe,
    Rows,
    Tensor,
    python,
    weak,
)
from graphlift.transforms.facts.staging import (
    choose,
    fits_graph,
    holds_tensor,
    host_join,
    is_strong,
    is_tensor,
    is_weak,
    stage,
    takes,
)

NOTATIONS = (
    "int",
    "float",
    "bool",
    "str",
    "None",
    "weak(int)",
    "weak(float)",
    "weak(bool)",
    "tensor(float32)",
    "tensor(float32, 2)",
    "tensor(float32, ...)",
    "tensor(int32)",
    "tensor(bool)",
    "tensor(unknown, ...)",
    "variable(float32, 2)",
    "tensorarray(float32, 2)",
    "tuple(int, tensor(float32))",
    "tuple(float, float)",
    "tuple()",
    "dict(a=int)",
    "dict(a=tensor(int32))",
    "list(int)",
    "object(m.C)",
    "unknown",
)
KINDS = [
    *map(parse, NOTATIONS),
    python(1),
    python(True),
    Maybe(Tensor("float32", ())),
    Maybe(weak("int")),
    Tensor("float32", (), None, mixed=True),
    Tensor("float64", (), "float", mixed=True),
    Rows(Tensor("float32", (2,))),
]
PAIRS = list(itertools.product(KINDS, KINDS))


def example(kind: str) -> object:
    """A value of a notation's kind."""
    return {
        "int": 1,
        "float": 0.5,
        "bool": True,
        "str": "a",
        "None": None,
        "weak(int)": 1,
        "weak(float)": 0.5,
        "weak(bool)": True,
        "tensor(float32)": tf.constant(1.0),
        "tensor(float32, 2)": tf.ones([2]),
        "tensor(float32, ...)": tf.ones([2, 2]),
        "tensor(int32)": tf.constant(1),
        "tensor(bool)": tf.constant(True),
        "tensor(unknown, ...)": tf.constant(1),
        "tuple(int, tensor(float32))": (1, tf.constant(1.0)),
        "tuple(float, float)": (0.5, 0.5),
        "tuple()": (),
        "dict(a=int)": {"a": 1},
        "dict(a=tensor(int32))": {"a": tf.constant(1)},
        "list(int)": [1],
    }[kind]


SHOWN = [n for n in NOTATIONS if not n.startswith(("var", "tensorarray", "obj", "unk"))]


# ---- stage


@pytest.mark.parametrize(
    ("kind", "staged"),
    [
        ("int", "weak(int)"),
        ("float", "weak(float)"),
        ("bool", "weak(bool)"),
        ("str", "weak(str)"),
        ("bytes", "unknown"),
        ("None", "None"),
        ("tensor(float32, 2)", "tensor(float32, 2)"),
        ("variable(float32, 2)", "tensor(float32, 2)"),
        ("array(int64, 3)", "numpy(int64, 3)"),
        ("tuple(int, tensor(float32))", "tuple(weak(int), tensor(float32))"),
        ("list(int, object(m.C))", "unknown"),
        ("dict(a=float)", "dict(a=weak(float))"),
        ("dict(a=object(m.C))", "unknown"),
        ("float | int", "weak(float)"),
        ("int | tensor(float32)", "tensor(float32)"),
        ("int | str", "unknown"),
        ("None | tensor(float32)", "maybe(tensor(float32))"),
        ("list[int]", "list[weak(int)]"),
        ("function(m.f)", "unknown"),
        ("size", "unknown"),
        ("unknown", "unknown"),
    ],
)
def test_stage(kind: str, staged: str) -> None:
    assert str(stage(parse(kind))) == staged


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_stage_twice(kind: Kind) -> None:
    assert stage(stage(kind)) == stage(kind)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_what_is_staged_fits_a_graph(kind: Kind) -> None:
    staged = stage(kind)
    assert staged == UNKNOWN or fits_graph(staged)


# ---- choose


@pytest.mark.parametrize(
    ("a", "b", "chosen"),
    [
        ("int", "int", "weak(int)"),
        ("int", "float", "weak(float)"),
        ("bool", "int", "unknown"),
        ("str", "str", "weak(str)"),
        ("str", "int", "unknown"),
        ("int", "tensor(float32)", "tensor(float32)"),
        ("float", "tensor(int32)", "unknown"),
        ("int", "tensor(int32, 2)", "tensor(int32, ...)"),
        ("bool", "tensor(bool)", "tensor(bool)"),
        ("bool", "tensor(float32)", "unknown"),
        ("tensor(float32)", "tensor(float64)", "unknown"),
        ("tensor(float32, 2, 3)", "tensor(float32, 2, 4)", "tensor(float32, 2, None)"),
        ("tensor(float32)", "tensor(unknown)", "tensor(unknown)"),
        ("tensor(float32)", "variable(float32)", "tensor(float32)"),
        ("None", "None", "None"),
        ("None", "tensor(float32)", "maybe(tensor(float32))"),
        ("None", "int", "maybe(weak(int))"),
        ("None", "object(m.C)", "unknown"),
        ("tuple(int, int)", "tuple(float, int)", "tuple(weak(float), weak(int))"),
        ("tuple(int)", "tuple(int, int)", "unknown"),
        ("tuple(int)", "list(int)", "unknown"),
        ("dict(a=int)", "dict(a=tensor(int32))", "dict(a=tensor(int32))"),
        ("dict(a=int)", "dict(b=int)", "unknown"),
        ("tensorarray(float32, 2)", "tensorarray(float32, 2)", None),
        ("tensorarray(float32, 2)", "tensorarray(float64, 2)", "unknown"),
        ("object(m.C)", "object(m.C)", None),
        ("object(m.C)", "int", "unknown"),
    ],
)
def test_choose(a: str, b: str, chosen: str | None) -> None:
    assert str(choose(parse(a), parse(b))) == (a if chosen is None else chosen)


def test_choice_of_number_or_tensor_is_mixed() -> None:
    assert choose(python(0), Tensor("float32", ())) == Tensor("float32", (), mixed=True)
    assert choose(python(0), python(0.5)) == Tensor("float64", (), "float", mixed=True)
    assert choose(python(1), python(2)) == weak("int")


@pytest.mark.parametrize("a", SHOWN)
def test_choice_admits_both(a: str) -> None:
    for b in SHOWN:
        chosen = choose(parse(a), parse(b))
        assert admits(chosen, example(a)), b
        assert admits(chosen, example(b)), b


def test_choose_is_commutative() -> None:
    assert [pair for pair in PAIRS if choose(*pair) != choose(*pair[::-1])] == []


def test_choosing_again_changes_nothing() -> None:
    for a, b in PAIRS:
        chosen = choose(a, b)
        if chosen != UNKNOWN:
            assert choose(chosen, a) == chosen, (a, b)
            assert choose(b, chosen) == chosen, (a, b)


def test_choice_fits_a_graph() -> None:
    for a, b in PAIRS:
        chosen = choose(a, b)
        assert chosen == UNKNOWN or fits_graph(chosen) or a == b, (a, b)


# ---- host_join


def test_host_join_is_commutative() -> None:
    assert [pair for pair in PAIRS if host_join(*pair) != host_join(*pair[::-1])] == []


@pytest.mark.parametrize("a", SHOWN)
def test_host_join_admits_both(a: str) -> None:
    for b in SHOWN:
        joined = host_join(parse(a), parse(b))
        assert admits(joined, example(a)), b
        assert admits(joined, example(b)), b


def test_number_that_elsewhere_is_held_in_a_tensor() -> None:
    assert host_join(python(0), weak("int")) == weak("int")
    assert host_join(weak("float"), python(0)).mixed  # type: ignore[attr-defined]
    assert host_join(python(0), python(1)) == parse("int")
    assert host_join(NONE, Maybe(weak("int"))) == Maybe(weak("int"))


# ---- words


@pytest.mark.parametrize(
    ("dtype", "number", "taken"),
    [
        ("float32", "int", True),
        ("float32", "float", True),
        ("float32", "bool", False),
        ("int32", "int", True),
        ("int32", "float", False),
        ("int32", "bool", False),
        ("bool", "bool", True),
        ("bool", "int", False),
        ("string", "str", True),
        ("string", "int", False),
        ("complex64", "float", True),
        ("uint8", "int", True),
    ],
)
def test_what_a_tensor_takes(dtype: str, number: str, taken: bool) -> None:
    assert takes(dtype, number) == taken


def test_words() -> None:
    assert is_tensor(parse("tensor(float32)")) and is_tensor(parse("variable(int32)"))
    assert is_weak(weak("int")) and not is_strong(weak("int"))
    assert is_strong(parse("variable(int32)"))
    assert not is_tensor(parse("array(float32, 2)"))
    assert holds_tensor(parse("tuple(int, dict(a=list(tensor(float32))))"))
    assert holds_tensor(parse("None | tensor(float32)"))
    assert not holds_tensor(parse("tuple(int, str)"))


@pytest.mark.parametrize("notation", SHOWN)
def test_examples_are_of_their_kinds(notation: str) -> None:
    kind = parse(notation)
    assert admits(kind, example(notation))
    assert is_weak(kind) or "..." in notation or kind_of(example(notation)) == kind
