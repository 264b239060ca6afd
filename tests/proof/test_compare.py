"""Two observations: results, what is kept, exceptions, output. No TensorFlow is needed here."""

from math import inf
from typing import Any

import numpy as np
import pytest

from graphlift.codemods.proof.worker.compare import Comparison
from graphlift.codemods.proof.worker.values import Held, Holder

hold = Holder().hold


def tensor(value: Any, dtype: str = "float32", kind: str = "tensor") -> Held:
    return {kind: np.asarray(value, dtype), "dtype": dtype}


def variable(value: Any, dtype: str = "float32") -> Held:
    return tensor(value, dtype, "variable")


def compared(reference: Held, candidate: Held, kept: bool = False) -> Comparison:
    comparison = Comparison()
    comparison.value("result", reference, candidate, kept)
    return comparison


def raised(
    name: str, message: str = "", own: bool = True, op: bool = False
) -> dict[str, Any]:
    error = {"class": name, "message": message, "own": own, "op": op}
    return {"raised": error, "printed": ""}


def called(reference: dict[str, Any], candidate: dict[str, Any]) -> Comparison:
    comparison = Comparison()
    comparison.call("call 1", reference, candidate)
    return comparison


SAME = [
    (tensor([1.0, 2.0]), tensor([1.0, 2.0 + 1e-6])),
    (tensor(3, "int32"), tensor(3, "int32")),
    (variable(1.0), tensor(1.0)),
    (hold([1, "a", None, (True, 2.5)]), hold([1, "a", None, (True, 2.5)])),
    (hold({"b": 1, "a": 2}), hold({"a": 2, "b": 1})),
    (hold({1, 2}), hold({2, 1})),
    (hold(1j), hold(1j + 1e-9)),
    (hold(0.1), hold(0.1 + 1e-8)),
    (hold(np.float32(2)), hold(np.float32(2))),
    (hold(np.array(["a", "b"])), hold(np.array(["a", "b"]))),
    (hold(np.array([1, "a"], object)), hold(np.array([1, "a"], object))),
]
UNLIKE = [
    (hold(3), tensor(3, "int32"), "result: eager int 3, lifted tensor(int32) 3"),
    (hold(3), hold(3.0), "result: eager int 3, lifted float 3.0"),
    (hold(True), hold(1), "result: eager bool True, lifted int 1"),
    (hold("a"), hold(b"a"), "result: eager str 'a', lifted bytes a"),
    (hold(None), tensor(0.0), "result: eager None, lifted tensor(float32) 0.0"),
    (hold([1, 2]), hold((1, 2)), "result: eager list of 2, lifted tuple of 2"),
    (hold([1, 2]), hold([1]), "result: eager list of 2, lifted list of 1"),
    (tensor(1.0), tensor(1.0, "float64"), "result: eager tensor(float32) 1.0, lifted tensor(float64) 1.0"),
    (tensor(1.0), variable(1.0), "result: eager tensor(float32) 1.0, lifted variable(float32) 1.0"),
    (hold({"a": 1}), hold({"b": 1}), "result['a']: eager int 1, lifted nothing"),
    (hold(np.float32(1)), hold(1.0), "result: eager scalar(float32) 1.0, lifted float 1.0"),
    (tensor(1.0), {"leak": "x:0"}, "result: eager tensor(float32) 1.0, lifted a symbolic tensor, leaked: x:0"),
]  # fmt: skip
OTHER_VALUES = [
    (tensor([1.0, 2.0]), tensor([1.0, 2.1]), "result[1]: eager 2.0, lifted 2.1"),
    (tensor([1.0]), tensor(1.0), "result: eager tensor(float32, 1) [1.], lifted tensor(float32) 1.0"),
    (hold([1, "a"]), hold([1, "b"]), "result[1]: eager 'a', lifted 'b'"),
    (hold(2), hold(3), "result: eager 2, lifted 3"),
    (tensor(2**31 - 1, "int64"), tensor(2**31, "int64"), "result: eager 2147483647, lifted 2147483648"),
]  # fmt: skip


@pytest.mark.parametrize(("reference", "candidate"), SAME)
def test_the_same(reference: Held, candidate: Held) -> None:
    assert compared(reference, candidate).differences == []


@pytest.mark.parametrize(("reference", "candidate", "message"), UNLIKE)
def test_another_type_or_structure(
    reference: Held, candidate: Held, message: str
) -> None:
    comparison = compared(reference, candidate)
    assert comparison.differences[0] == message
    assert comparison.structural
    assert comparison.excess == inf


@pytest.mark.parametrize(("reference", "candidate", "message"), OTHER_VALUES)
def test_another_value(reference: Held, candidate: Held, message: str) -> None:
    comparison = compared(reference, candidate)
    assert comparison.differences == [message]
    assert not comparison.structural


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        (hold(3), variable(3, "int64")),
        (hold(0.1), variable(0.1)),
        (hold(True), variable(True, "bool")),
        (tensor([1.0]), variable([1.0])),
        (hold("up"), {"variable": [{"bytes": "up"}], "dtype": "string", "shape": []}),
    ],
)
def test_what_is_kept_may_become_a_variable(reference: Held, candidate: Held) -> None:
    assert compared(reference, candidate, kept=True).differences == []
    assert compared(reference, candidate).structural


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        (hold(3), variable(4, "int64")),
        (hold(3), variable(3.0)),
        (hold(3), variable([3], "int32")),
        (hold(3), tensor(3, "int32")),
        (hold(None), variable(0.0)),
        (variable(1.0), tensor(1.0)),
    ],
)
def test_what_is_kept_may_become_nothing_else(reference: Held, candidate: Held) -> None:
    assert compared(reference, candidate, kept=True).differences


def test_what_a_lift_keeps_besides_is_its_own() -> None:
    one = {"object": "Model", "attributes": {"step": hold(1)}}
    other = {
        "object": "Model",
        "attributes": {"step": variable(1, "int64"), "core": hold(2)},
    }
    assert compared(one, other).differences == []
    assert compared(other, one).differences


def test_state() -> None:
    comparison = Comparison()
    comparison.state(
        {"": {"A": hold(1), "B": hold(2)}, "other.py": {"C": hold(3)}},
        {"": {"A": hold(1), "new": hold(0)}, "other.py": {"C": hold(4)}},
    )
    assert comparison.differences == [
        "B: eager int 2, lifted nothing",
        "C of other.py: eager 3, lifted 4",
    ]


def test_a_leak_counts_wherever_it_is() -> None:
    comparison = Comparison()
    comparison.state({"": {}}, {"": {"CACHE": {"list": [{"leak": "x:0"}]}}})
    assert comparison.differences == [
        "CACHE: eager nothing, lifted a symbolic tensor, leaked: x:0"
    ]


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        (
            raised("ValueError", "negative: -1.0"),
            raised("ValueError", "negative: -1.0"),
        ),
        (raised("ValueError", "is 0.1"), raised("ValueError", "is 0.10000000149")),
        (
            raised("ValueError", "no"),
            raised("InvalidArgumentError", "assertion: no", op=True),
        ),
        (
            raised("AssertionError"),
            raised("InvalidArgumentError", "assertion", op=True),
        ),
        (
            raised("ValueError", "shapes", own=False),
            raised("ValueError", "other words"),
        ),
        (raised("NotFoundError", "a", op=True), raised("NotFoundError", "b", op=True)),
    ],
)
def test_the_same_exception(
    reference: dict[str, Any], candidate: dict[str, Any]
) -> None:
    assert called(reference, candidate).differences == []


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        (raised("ValueError", "negative"), raised("ValueError", "something else")),
        (raised("ValueError", "no"), raised("InvalidArgumentError", "yes", op=True)),
        (raised("ValueError"), raised("InvalidArgumentError", op=False)),
        (raised("KeyError", "k"), raised("InvalidArgumentError", "k", op=True)),
        (raised("NotFoundError", op=True), raised("InternalError", op=True)),
        (raised("ValueError"), {"returned": hold(1), "printed": ""}),
    ],
)
def test_another_exception(
    reference: dict[str, Any], candidate: dict[str, Any]
) -> None:
    comparison = called(reference, candidate)
    assert comparison.differences
    assert not comparison.raised


def test_only_the_lift_raises() -> None:
    comparison = called({"returned": hold(1), "printed": ""}, raised("TypeError", "no"))
    assert comparison.raised
    assert comparison.differences == [
        "call 1: eager returns int 1, lifted raises TypeError: no"
    ]


def test_output_is_compared_call_by_call() -> None:
    one = {"returned": hold(None), "printed": "step 1\n"}
    assert called(one, {**one, "printed": ""}).differences == [
        "call 1: eager prints 'step 1\\n', lifted prints nothing"
    ]


def test_an_op_that_raises_may_drop_what_was_printed() -> None:
    one = {**raised("InvalidArgumentError", op=True), "printed": "step 1\nstep 2\n"}
    assert called(one, {**one, "printed": "step 1\n"}).differences == []
    assert called(one, {**one, "printed": "step 3\n"}).differences
    own = {**raised("ValueError"), "printed": "step 1\n"}
    assert called(own, {**own, "printed": ""}).differences


def test_the_figures_are_the_largest_of_all() -> None:
    comparison = compared(
        {"list": [tensor([1.0, 4.0]), hold(2.0)]},
        {"list": [tensor([1.0, 4.00001]), hold(2.000001)]},
    )
    assert comparison.differences == []
    assert comparison.max_abs == pytest.approx(1e-5, rel=0.1)
    assert comparison.max_rel == pytest.approx(2.5e-6, rel=0.1)


def test_the_line_that_says_most() -> None:
    message = """in user code:

    File "model.py", line 3, in f  *
        return x + y

    TypeError: unlike dtypes
    See the documentation for more."""
    comparison = called(
        {"returned": hold(1), "printed": ""}, raised("TypeError", message)
    )
    assert comparison.differences[0].endswith("lifted raises TypeError: unlike dtypes")
