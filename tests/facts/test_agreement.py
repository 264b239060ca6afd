"""What a run saw, held against what is expected of it."""

import pytest

from graphlift.transforms.facts.agreement import agrees
from graphlift.transforms.facts.kind_notation import parse
from graphlift.transforms.facts.kinds import UNKNOWN, Maybe, Tensor, weak

SCALAR = Tensor("float32", ())


@pytest.mark.parametrize(
    ("expected", "seen"),
    [
        ("tensor(float32)", "tensor(float32)"),
        ("tensor(float32, ...)", "tensor(float32, 2, 3)"),
        ("tensor(unknown, ...)", "tensor(int32)"),
        ("tensor(float32, None)", "tensor(float32, 3)"),
        ("int", "int"),
        ("None", "None"),
        ("int | None", "None"),
        ("tuple(tensor(float32), int)", "tuple(tensor(float32), int)"),
        ("list[tensor(float32)]", "list(tensor(float32))"),
        ("dict(a=tensor(float32))", "dict(a=tensor(float32))"),
        ("tensor(float32)", "array(float32)"),
        ("unknown", "int"),
    ],
)
def test_agrees(expected: str, seen: str) -> None:
    assert agrees(parse(expected), parse(seen))


@pytest.mark.parametrize(
    ("expected", "seen"),
    [
        ("tensor(float32)", "tensor(int32)"),
        ("tensor(float32, 2)", "tensor(float32)"),
        ("tensor(float32)", "float"),
        ("tensor(float32)", "None"),
        ("tensor(float32)", "None | tensor(float32)"),
        ("int", "float"),
        ("int", "tensor(int32)"),
        ("tuple(int, int)", "tuple(int, float)"),
        ("tuple(int, int)", "tuple(int, int, int)"),
        ("tuple(int, int)", "list(int, int)"),
        ("dict(a=int)", "dict(a=tensor(int32))"),
        ("tuple(int, int)", "None"),
    ],
)
def test_disagrees(expected: str, seen: str) -> None:
    assert not agrees(parse(expected), parse(seen))


def test_numbers_in_tensors_are_python_numbers() -> None:
    assert agrees(weak("int"), parse("int"))
    assert not agrees(weak("int"), parse("float"))
    assert not agrees(weak("float"), SCALAR)


def test_none_or_a_value() -> None:
    assert agrees(Maybe(SCALAR), parse("None | tensor(float32)"))
    assert not agrees(Maybe(SCALAR), parse("int"))
    assert agrees(UNKNOWN, parse("None"))
