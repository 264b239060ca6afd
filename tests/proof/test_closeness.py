"""The tolerance of each dtype."""

from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from graphlift.codemods.proof.worker.closeness import distance

RELATIVE = {"float64": 1e-12, "float32": 1e-5, "float16": 2e-3, "bfloat16": 2e-2}


@pytest.mark.parametrize(("dtype", "relative"), RELATIVE.items())
def test_what_a_dtype_allows(dtype: str, relative: float) -> None:
    one = np.array([1.0, 100.0])
    assert distance(one, one * (1 + 0.9 * relative), dtype).excess <= 1
    assert distance(one, one * (1 + 3 * relative), dtype).excess > 1


def test_small_numbers_are_measured_by_the_largest() -> None:
    one = np.array([1.0, 1e-9], np.float32)
    assert distance(one, np.array([1.0, 5e-7], np.float32), "float32").excess <= 1
    assert distance(one[1:], np.array([5e-7], np.float32), "float32").excess > 1


def test_zero_allows_nothing() -> None:
    assert distance(np.zeros(2), np.array([0.0, 1e-30]), "float64").excess == inf


@pytest.mark.parametrize(
    ("one", "other"), [(nan, 1.0), (1.0, nan), (inf, 1.0), (inf, -inf), (nan, inf)]
)
def test_what_is_not_finite_is_exact(one: float, other: float) -> None:
    found = distance(np.array([0.0, one]), np.array([0.0, other]), "float64")
    assert (found.excess, found.place) == (inf, (1,))


def test_nan_is_nan_and_infinity_infinity() -> None:
    one = np.array([nan, inf, -inf])
    assert distance(one, one.copy(), "float64").excess == 0


@pytest.mark.parametrize("dtype", ["int32", "uint64", "bool"])
def test_integers_are_exact(dtype: str) -> None:
    one = np.array([0, 1], dtype)
    assert distance(one, one.copy(), dtype).excess == 0
    assert distance(one, np.array([1, 1], dtype), dtype).excess == inf


def test_the_figures() -> None:
    found = distance(
        np.array([[1.0, 0.0], [2.0, 4.0]]),
        np.array([[1.0, 0.5], [3.0, 4.0]]),
        "float64",
    )
    assert found.max_abs == 1.0
    assert found.max_rel == 0.25
    assert found.place == (0, 1)


def test_complex_numbers_by_their_size() -> None:
    one = np.array([3 + 4j])
    assert distance(one, one + 1e-13, "complex128").excess <= 1
    assert distance(one, one + 1e-10j, "complex128").excess > 1


def test_nothing_at_all() -> None:
    assert distance(np.zeros((0, 3)), np.zeros((0, 3)), "float64").excess == 0


@given(
    arrays(np.float64, array_shapes(min_dims=0), elements=st.floats(-1e6, 1e6)),
    st.floats(0, 0.9),
)
def test_any_noise_within_the_tolerance_is_none(one: np.ndarray, part: float) -> None:
    assert distance(one, one * (1 + part * 1e-5), "float32").excess <= 1.0001
