"""Printed text: what counts as the same."""

from math import inf

import pytest

from graphlift.codemods.proof.worker.printed import excess, is_part, tokens, unlike

SAME = [
    ("a tensor and its value", "loss tf.Tensor(0.5, shape=(), dtype=float32)\n", "loss 0.5\n"),
    ("a long repr", "<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>", "[1 2]"),
    ("a variable", "<tf.Variable 'v:0' shape=() dtype=float32, numpy=3.0>", "3"),
    ("rows", "tf.Tensor(\n[[1. 2.]\n [3. 4.]], shape=(2, 2), dtype=float32)", "[[1 2]\n [3 4]]"),
    ("commas", "[1, 2.0]", "[1 2]"),
    ("quotes", "b'abc'", "abc"),
    ("durations", "epoch 1 in 0.31s, 120.5 it/s", "epoch 1 in 12s, 3 it/s"),
    ("addresses", "<A object at 0x7f0011223344>", "<A object at 0x7fffffffff00>"),
    ("both tensors", "tf.Tensor(1, shape=(), dtype=int32)", "tf.Tensor(1, shape=(), dtype=int32)"),
    ("an empty tensor", "tf.Tensor([], shape=(0,), dtype=float32)", "[]"),
    ("an array", "{'a': array([1, 2], dtype=int32)}", "{'a': [1 2]}"),
    ("texts", "tf.Tensor([b'a' b'c'], shape=(2,), dtype=string)", '["a" "c"]'),
    ("a float without decimals", "2.0", "2"),
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
    (
        "a tensor that was a number",
        "{0: 1}",
        "{0: <tf.Tensor: shape=(), dtype=int32, numpy=1>}",
    ),
    ("a tensor that was a list", "[1, 2]", "tf.Tensor([1 2], shape=(2,), dtype=int32)"),
    (
        "a tensor that was an array",
        "array([1, 2])",
        "tf.Tensor([1 2], shape=(2,), dtype=int64)",
    ),
    ("an empty tensor", "[]", "tf.Tensor([], shape=(0,), dtype=float32)"),
    (
        "another dtype",
        "tf.Tensor(1, shape=(), dtype=int32)",
        "tf.Tensor(1, shape=(), dtype=int64)",
    ),
    ("a float that was an integer", "2", "2.0"),
    ("bytes that were a text", "abc", "b'abc'"),
    ("a tuple that was a list", "[1, 2]", "(1, 2)"),
    ("words after numbers that are close", "0.1235 up", "0.1234 down"),
    ("a line too many", "step 1", "step 1 step 2"),
    ("a line lost", "step 1 step 2", "step 1"),
    ("a version is no number", "1.0.2", "1.0.3"),
]


@pytest.mark.parametrize(
    ("one", "other"), [p[1:] for p in SAME], ids=[p[0] for p in SAME]
)
def test_same(one: str, other: str) -> None:
    assert unlike(tokens(one), tokens(other)) is None


@pytest.mark.parametrize(
    ("one", "other"), [p[1:] for p in UNLIKE], ids=[p[0] for p in UNLIKE]
)
def test_unlike(one: str, other: str) -> None:
    found = unlike(tokens(one), tokens(other))
    assert found is not None


def test_it_says_where_texts_differ_most() -> None:
    one, other = tokens("at 0.1235 it goes up"), tokens("at 0.1234 it goes down")
    assert unlike(one, other) == (["up"], ["down"], inf)


def test_a_last_digit_rounded_the_other_way_is_a_matter_of_rounding() -> None:
    assert 1 < excess("0.1235", "0.1234") < inf
    assert excess("0.1235", "0.1233") > 100


def test_integers_are_no_matter_of_rounding() -> None:
    assert excess("3", "4") == inf


def test_a_line_lost_is_a_part() -> None:
    assert is_part(tokens("a 1\nc 3"), tokens("a 1\nb 2\nc 3"))
    assert not is_part(tokens("c 3\na 1"), tokens("a 1\nb 2\nc 3"))
