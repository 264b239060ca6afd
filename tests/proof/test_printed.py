"""Printed text: what counts as the same."""

from math import inf

import pytest

from graphlift.codemods.proof.worker.printed import excess, is_part, tokens

SAME = [
    ("a tensor and its value", "loss tf.Tensor(0.5, shape=(), dtype=float32)\n", "loss 0.5\n"),
    ("a long repr", "<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>", "[1 2]"),
    ("a variable", "<tf.Variable 'v:0' shape=() dtype=float32, numpy=3.0>", "3"),
    ("rows", "tf.Tensor(\n[[1. 2.]\n [3. 4.]], shape=(2, 2), dtype=float32)", "[[1 2]\n [3 4]]"),
    ("commas", "(1, 2.0)", "[1 2]"),
    ("quotes", "b'abc'", "abc"),
    ("durations", "epoch 1 in 0.31s, 120.5 it/s", "epoch 1 in 12s, 3 it/s"),
    ("addresses", "<A object at 0x7f0011223344>", "<A object at 0x7fffffffff00>"),
    ("digits", "0.3333333432674408", "0.333333343"),
    ("not a number", "nan inf", "nan inf"),
]  # fmt: skip
UNLIKE = [
    ("another number", "loss 0.5", "loss 0.51"),
    ("another integer", "step 1000000", "step 1000001"),
    ("another word", "positive", "negative"),
    ("a truth value", "True", "1"),
    ("infinity", "inf", "1.0"),
    ("a number in a word", "x=0.5", "x=0.6"),
    ("a version is no number", "1.0.2", "1.0.3"),
]


def worst(one: str, other: str) -> float:
    return max(map(excess, tokens(one), tokens(other)))


@pytest.mark.parametrize(
    ("one", "other"), [p[1:] for p in SAME], ids=[p[0] for p in SAME]
)
def test_same(one: str, other: str) -> None:
    assert len(tokens(one)) == len(tokens(other))
    assert worst(one, other) <= 1


@pytest.mark.parametrize(
    ("one", "other"), [p[1:] for p in UNLIKE], ids=[p[0] for p in UNLIKE]
)
def test_unlike(one: str, other: str) -> None:
    assert worst(one, other) > 1


def test_a_last_digit_rounded_the_other_way_is_a_matter_of_rounding() -> None:
    assert 1 < excess("0.1235", "0.1234") < inf
    assert excess("0.1235", "0.1233") > 100


def test_integers_are_no_matter_of_rounding() -> None:
    assert excess("3", "4") == inf


def test_a_line_lost_is_a_part() -> None:
    assert is_part(tokens("a 1\nc 3"), tokens("a 1\nb 2\nc 3"))
    assert not is_part(tokens("c 3\na 1"), tokens("a 1\nb 2\nc 3"))
