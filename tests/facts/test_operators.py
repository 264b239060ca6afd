"""Operators give what eager Python, NumPy and TensorFlow give."""

from __future__ import annotations

import pytest
from facts.expressions import ODD_KINDS, problems

from graphlift.transforms.facts.kinds import NONE, Kind, Python, Sequence
from graphlift.transforms.facts.operators import (
    binary,
    compare,
    iterate,
    length,
    subscript,
    truth,
    unary,
)

pytestmark = pytest.mark.filterwarnings("ignore")

ARITHMETIC = ("+", "-", "*", "/", "//", "%", "**")
BITS = ("&", "|", "^", "<<", ">>")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
PAIRS = (
    "x {} y",
    "x {} n",
    "n {} x",
    "x {} a",
    "a {} x",
    "v {} x",
    "x {} v",
    "v {} n",
    "a {} n",
    "n {} a",
)


@pytest.mark.parametrize("op", [*ARITHMETIC, *BITS, *COMPARISONS])
@pytest.mark.parametrize("pair", [*PAIRS, "a {} b", "n {} m", "x {} l", "l {} x"])
def test_of_two(pair: str, op: str) -> None:
    if op in ("<<", ">>") and set("xa") <= set(pair):
        pytest.skip("NumPy's operator, on what it makes of a tensor")
    assert problems(pair.format(op), by_value=op in ("//", "%")) == []


@pytest.mark.parametrize(
    "pair", ["x {} y", "f {} g", "f {} a", "a {} f", "a {} b", "v {} f", "f {} l"]
)
def test_matrix_product(pair: str) -> None:
    assert problems(pair.format("@"), most=80) == []


@pytest.mark.parametrize("op", ["-", "+", "~"])
@pytest.mark.parametrize("name", "xvan")
def test_of_one(op: str, name: str) -> None:
    assert problems(f"{op}{name}") == []


SUBSCRIPTS = [
    "x[0]",
    "x[-1]",
    "x[i]",
    "x[k]",
    "x[:]",
    "x[1:]",
    "x[:-1]",
    "x[::2]",
    "x[::-1]",
    "x[k:]",
    "x[i:]",
    "x[:i]",
    "x[0, 0]",
    "x[:, 0]",
    "x[0, :]",
    "x[..., 0]",
    "x[0, ..., 0]",
    "x[None]",
    "x[:, None]",
    "x[None, ..., None]",
    "x[1.5]",
    "x['a']",
    "x[j]",
    "x[x > x]",
    "x[c]",
    "x[[0, 1]]",
    "v[0]",
    "v[..., None]",
    "v[1:]",
    "a[0]",
    "a[-1]",
    "a[0, 0]",
    "a[:, 0]",
    "a[1:]",
    "a[None]",
    "a[...]",
    "a[[0, 1]]",
    "a[a > 0]",
    "a[i]",
    "l[0]",
    "l[-1]",
    "l[k]",
    "l[i]",
    "l[1:]",
    "l[::-1]",
    "(1, 2.5)[i]",
    "(1, 2.5)[0]",
    "(1, 2.5)[2]",
    "{'a': 1, 'b': x}['a']",
    "{'a': 1, 'b': x}['b']",
    "{'a': 1}['c']",
    "{'a': 1}[x]",
    "'abc'[0]",
    "'abc'[1:]",
    "x.shape[0]",
    "x.shape[-1]",
    "x.shape[1:]",
    "x.shape[:-1]",
]


@pytest.mark.parametrize("text", SUBSCRIPTS)
def test_subscripts(text: str) -> None:
    assert problems(text, by_value="i" in text or "j" in text or "k" in text) == []


OTHERS = [
    "x == None",
    "None != x",
    "v == None",
    "None < x",
    "n == None",
    "x is None",
    "None is None",
    "n is not None",
    "a is None",
    "a == None",
    "n in [1, 2]",
    "n in (1, 'a')",
    "x in [1, 2]",
    "n not in [1, 2]",
    "n in x",
    "n in {1, 2}",
    "x in {1, 2}",
    "'a' in {'a': 1}",
    "'b' not in {'a': 1}",
    "'a' in 'abc'",
    "[1, 2] + [3]",
    "(1, 2) + (3,)",
    "[1] + (2,)",
    "[1, x] * 2",
    "x.shape + [1]",
    "[1] + x.shape",
    "(1,) + x.shape[1:]",
    "x.shape == (2, 3)",
    "x.shape == y.shape",
    "x.dtype == tf.float32",
    "x.dtype == y.dtype",
    "x.dtype == 'float32'",
    "x.dtype != np.float32",
    "x.shape[0] + 1",
    "x.shape[0] / 2",
    "x.shape[0] * x.shape[-1]",
    "f * f.shape[-1]",
    "[1, 2] == [1, 2]",
    "(1, 2) < (1, 3)",
    "[n] == [m]",
    "not n",
    "not x",
    "not a",
    "not v",
    "not [n]",
    "not []",
    "not {}",
    "not None",
    "not x.shape",
    "'%s' % n",
    "'%s %s' % (n, m)",
    "n + 'a'",
    "3 * 'ab'",
    "2 ** 10",
    "2 ** -1",
    "7 // 2 - 7 % 4",
    "1 / 0",
    "1 % 0",
    "2 ** 200",
    "1 << 70",
    "-7 // 2",
    "True + True",
    "True & False",
    "1 | 6",
    "1.5 // 0.5",
    "len(v.shape)",
    "len(l)",
    "len('abc')",
    "len(x.shape)",
]


@pytest.mark.parametrize("text", OTHERS)
def test_others(text: str) -> None:
    assert problems(text) == []


OPERATORS = [
    "add",
    "sub",
    "mult",
    "div",
    "floordiv",
    "mod",
    "pow",
    "matmult",
    "bitand",
    "bitor",
    "bitxor",
    "lshift",
    "rshift",
]
COMPARED = ["eq", "noteq", "lt", "lte", "gt", "gte", "is", "isnot", "in", "notin"]


@pytest.mark.parametrize("left", ODD_KINDS, ids=str)
def test_operators_take_anything(left: Kind) -> None:
    for right in ODD_KINDS:
        for op in OPERATORS:
            binary(op, left, right)
        for op in COMPARED:
            compare(op, left, right)
        subscript(left, right)
        subscript(left, Sequence("slice", (right, NONE, right)))
        subscript(left, Sequence("tuple", (right, Python("ellipsis"), NONE)))
    for op in ("not", "usub", "uadd", "invert"):
        unary(op, left)
    iterate(left), length(left), truth(left)
