"""Breaking long statements over lines never changes what they mean."""

from __future__ import annotations

import ast
import functools
import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphlift.transforms.layout import layout

names = st.sampled_from(["x", "tf", "weights", "long_name_of_a_value", "lambda_1"])
texts = st.sampled_from(
    ["'a, b'", '"(["', '"""]}"""', "b'x:'", "'\\n'", "f'{x}, {y}'", "'lambda x, y:'"]
)
numbers = st.sampled_from(["0", "1.5", "2e3", "0x1f", "1j"])
leaves = names | texts | numbers
parameters = st.sampled_from(
    ["", "x", "x, y", "x=(1, 2), *rest", "*, key=f(1, 2), **others", "x, /, y"]
)


def composed(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Expressions made of others, as text."""
    items = st.lists(inner, max_size=4)
    keywords = st.lists(inner.map(lambda value: f"key={value}"), max_size=2)
    arguments = st.tuples(items, keywords).map(
        lambda pair: ", ".join(functools.reduce(operator.iadd, pair, []))
    )
    return st.one_of(
        st.builds("{}({})".format, names, arguments),
        st.builds("{}.method({}, *rest, **others)".format, names, inner),
        items.map(lambda found: f"[{', '.join(found)}]"),
        items.map(lambda found: f"({', '.join(found)}{',' * (len(found) == 1)})"),
        st.builds("{{'key': {}, **others, {}: 1}}".format, inner, inner),
        st.builds("{}[{}, {}:, ..., None]".format, names, inner, inner),
        st.builds("(lambda {}: {})".format, parameters, inner),
        st.builds("f(lambda {}: {}, {})".format, parameters, inner, inner),
        st.builds("[{} for x, y in {} if {}]".format, inner, inner, inner),
        st.builds("({} for x in {})".format, inner, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("({} + {} * {})".format, inner, inner, inner),
        st.builds("(not {} and -{})".format, inner, inner),
        st.builds("f((y := {}), {})".format, inner, inner),
    )


expressions = st.recursive(leaves, composed, max_leaves=12)
statements = st.one_of(
    expressions,
    st.builds("{} = {}".format, names, expressions),
    st.builds("x, (y, z) = {}".format, expressions),
    st.builds("x[{}].y = {}".format, expressions, expressions),
    st.builds("x += {}".format, expressions),
    st.builds("x: list[int] = {}".format, expressions),
    st.builds("return {}, {}".format, expressions, expressions),
    st.builds("assert {}, {}".format, expressions, expressions),
    st.builds("raise Error({}) from {}".format, expressions, expressions),
)


def meaning(text: str) -> str:
    return ast.dump(ast.parse(text))


@given(statements, st.integers(0, 24), st.integers(10, 88))
def test_the_meaning_stays(text: str, indent: int, width: int) -> None:
    laid = layout(text, indent, width)
    assert meaning(laid) == meaning(text)


@given(statements, st.integers(0, 24), st.integers(10, 88))
def test_what_fits_stays(text: str, indent: int, width: int) -> None:
    laid = layout(text, indent, width)
    if indent + len(text) <= width:
        assert laid == text
    assert layout(laid, indent, width) == laid or "\n" not in laid


@given(statements, st.integers(40, 88))
def test_no_line_grows(text: str, width: int) -> None:
    longest = max(len(line) for line in layout(text, 0, width).split("\n"))
    assert longest <= max(width, len(text))


@given(statements)
def test_no_trailing_blanks(text: str) -> None:
    assert all(line == line.rstrip() for line in layout(text, 0, 20).split("\n"))


@pytest.mark.parametrize(
    ("text", "laid"),
    [
        ("f(first_1, second)", "f(first_1, second)"),
        ("f(first__, second_)", "f(\n    first__,\n    second_,\n)"),
        ("xyz = f(first, xxx)", "xyz = f(\n    first, xxx\n)"),
        (
            "f(first_one, second_one)",
            "f(\n    first_one,\n    second_one,\n)",
        ),
        ("x = f(a)(first, second)", "x = f(a)(\n    first, second\n)"),
        ("return (first_part,)", "return (\n    first_part,\n)"),
        (
            "x = (first + second + third,)",
            "x = (\n    first\n    + second\n    + third,\n)",
        ),
        ("x = (first + second)", "x = (\n    first + second\n)"),
        ("x = f(*a, **others)", "x = f(\n    *a, **others\n)"),
        ("f(lambda a, b: a + b, c)", "f(\n    lambda a, b: a + b,\n    c,\n)"),
        ("x[first_index, second]", "x[\n    first_index,\n    second,\n]"),
        (
            "f([first_one, second])",
            "f(\n    [\n        first_one,\n        second,\n    ],\n)",
        ),
        ("x = [first, second]", "x = [\n    first,\n    second,\n]"),
        ("x = {a: b, c: d, e: f}", "x = {\n    a: b,\n    c: d,\n    e: f,\n}"),
        (
            "f(g(first) + h(other), y)",
            "f(\n    g(first)\n    + h(other),\n    y,\n)",
        ),
        ("x = first_name + second_name", "x = first_name + second_name"),
        ("x = f() + second_name_long", "x = f() + second_name_long"),
        (
            "x = [first for first in xs]",
            "x = [\n    first\n    for first in xs\n]",
        ),
        (
            "f(a, ')', b, '(', c, d, e)",
            "f(\n    a,\n    ')',\n    b,\n    '(',\n    c,\n    d,\n    e,\n)",
        ),
        (
            "return f(a) + g(b, c) - h(d)",
            "return (\n    f(a)\n    + g(b, c)\n    - h(d)\n)",
        ),
        (
            "return first(x, y), second(x, y), third(x)",
            "return (\n    first(x, y),\n    second(x, y),\n    third(x),\n)",
        ),
    ],
)
def test_forms(text: str, laid: str) -> None:
    assert layout(text, 0, 18) == laid
    assert meaning(laid) == meaning(text)


def test_indent_counts() -> None:
    assert layout("f(first, second)", 0, 16) == "f(first, second)"
    assert layout("f(first, second)", 4, 19) == "f(\n    first,\n    second,\n)"
    assert layout("f(first, second)", 4, 20) == "f(first, second)"


def test_step_of_indentation() -> None:
    assert layout("f(first, second)", 0, 12, step="\t") == "f(\n\tfirst,\n\tsecond,\n)"


def test_several_lines_stay() -> None:
    text = "f(a,\n  b)"
    assert layout(text, 0, 4) == text
