"""The text of a file by its syntax nodes."""

from __future__ import annotations

import ast
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphlift.transforms.source import Names, Source, is_placed, split_lines


def source(text: str) -> Source:
    return Source(text, ast.parse(text))


def expression(found: Source, text: str) -> ast.expr:
    """The node of a source that stands for an expression."""
    wanted = ast.unparse(ast.parse(text, mode="eval"))
    nodes = [n for n in ast.walk(found.tree) if isinstance(n, ast.expr)]
    return next(n for n in nodes if ast.unparse(n) == wanted)


def spliced(text: str, edits: dict[str, str]) -> str:
    """The first statement of a text with expressions replaced."""
    found = source(text)
    return found.spliced(
        found.tree.body[0],
        {expression(found, old): new for old, new in edits.items()},
    )


# ---- segments


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x = f(a)\n", "f(a)"),
        ("ä = f('é', b)\n", "b"),
        ("x = '😀' + f(a)\n", "f(a)"),
        ("x = f(\n    a,  # why\n    b,\n)\n", "f(a, b)"),
        ("x = (  a +\n    b)\n", "a + b"),
        ("x = '''a\nb''' + c\n", "c"),
        ("x = 1; y = f(a)\r\n", "f(a)"),
        ("x = 1\x0c\ny = f(a)\n", "f(a)"),
        ("x = '\x0b'; y = f(a)\n", "f(a)"),
        ("if a:\n\tx = f(b)\n", "f(b)"),
    ],
)
def test_segment(text: str, wanted: str) -> None:
    found = source(text)
    segment = found.segment(expression(found, wanted))
    assert ast.unparse(ast.parse(f"({segment})")) == wanted
    assert segment in text.replace("\r\n", "\n")


def test_segment_of_a_statement() -> None:
    found = source("if a:\n    b = 1  # one\n    c = '''\n  d'''\ne\n")
    assert (
        found.segment(found.tree.body[0])
        == "if a:\n    b = 1  # one\n    c = '''\n  d'''"
    )


def test_segment_of_what_stands_nowhere() -> None:
    found = source("x = 1\n")
    assert found.segment(ast.Name("y", ast.Load())) == "y"
    made = ast.parse("a + 1", mode="eval").body
    made.made = True  # type: ignore[attr-defined]
    assert not is_placed(made)
    assert found.segment(made) == "a + 1"


def test_surrogates() -> None:
    tree = ast.parse("x = f(a)\n")
    found = Source("x = f(a)\n# \ud800\n", tree)
    assert found.segment(expression(found, "f(a)")) == "f(a)"


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20))
def test_segments_after_any_text(text: str) -> None:
    found = source(f"x = ({text!r}, name); y = name\n")
    assert found.segment(expression(found, "name")) == "name"
    assert found.segment(found.tree.body[1]) == "y = name"


# ---- edits


@pytest.mark.parametrize(
    ("text", "edits", "wanted"),
    [
        ("x = a + b\n", {"a": "c"}, "x = c + b"),
        ("x = a + b\n", {"b": "f(c)", "a": "d"}, "x = d + f(c)"),
        ("x = 'ä' + b\n", {"b": "é"}, "x = 'ä' + é"),
        ("x = f(a, b)  # why\n", {"a": "c"}, "x = f(c, b)"),
        ("x = f(a,\n      b)\n", {"b": "c"}, "x = f(a,\n      c)"),
        ("x = '''é\n'''; y = a\n", {}, "x = '''é\n'''"),
        ("f(a)[b].c = d\n", {"b": "0", "d": "e"}, "f(a)[0].c = e"),
        ("x = (a + b) * c\n", {"a + b": "f(a, b)"}, "x = f(a, b) * c"),
        ("x = c * (a + b)\n", {"a + b": "f(a, b)"}, "x = c * f(a, b)"),
        ("x = f((a + b), c)\n", {"a + b": "g(a)"}, "x = f(g(a), c)"),
        ("x = f(a + b)\n", {"a + b": "g(a)"}, "x = f(g(a))"),
        ("x = f (a + b)\n", {"a + b": "g(a)"}, "x = f (g(a))"),
        ("x = (a + b)\n", {"a + b": "g(a)"}, "x = g(a)"),
        ("x = (a + b) * c\n", {"a + b": "a - b"}, "x = (a - b) * c"),
        ("x = (a if b else c) + 1\n", {"a if b else c": "f(b)"}, "x = f(b) + 1"),
        ("x = [(a + b), c]\n", {"a + b": "g(a)"}, "x = [g(a), c]"),
        ("x = (a + b).c\n", {"a + b": "g(a)"}, "x = g(a).c"),
        ("return (a + b)\n", {"a + b": "g(a)"}, "return g(a)"),
        ("x = ('ä'), (a + b)\n", {"a + b": "g(ö)"}, "x = ('ä'), g(ö)"),
    ],
)
def test_spliced(text: str, edits: dict[str, str], wanted: str) -> None:
    assert spliced(text, edits) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "x = ((a + b))\n",
        "x = ((a + b) * c)\n",
        "x = f((a + b))\n",
        "x = (a + b, c)\n",
        "x = ((a + b), c)\n",
        "x = (a + b)(c)\n",
        "x = -(a + b)\n",
        "x = not (a + b)\n",
        "x = (a + b) if c else d\n",
        "x = c if (a + b) else d\n",
        "x = lambda: (a + b)\n",
        "x = {(a + b): (c)}\n",
        "x = c[(a + b)]\n",
        "x = (a + b)[c]\n",
        "x = f(*(a + b))\n",
        "x = c and (a + b)\n",
        "x = c if(a + b)else d\n",
        "x = c in(a + b)\n",
        "x = (\n    a + b\n)\n",
        "x = ( a + b ) * c\n",
        "x = (yield (a + b))\n",
        "x = c<(a + b)\n",
        "x = f(c=(a + b))\n",
        "x = c or(a + b)or d\n",
    ],
)
@pytest.mark.parametrize("new", ["g(a, b)", "name", "g(a)(b)"])
def test_spliced_means_what_it_should(text: str, new: str) -> None:
    """Whatever becomes of the parentheses, the tree is the old one with that node replaced."""
    marked = ast.parse(text.replace("a + b", "PLACE")).body[0]
    wanted = ast.dump(marked).replace(
        ast.dump(ast.Name("PLACE", ast.Load())),
        ast.dump(ast.parse(new, mode="eval").body),
    )
    assert ast.dump(ast.parse(spliced(text, {"a + b": new})).body[0]) == wanted


def test_spliced_into_what_stands_nowhere() -> None:
    made = ast.parse("x = a + b").body[0]
    assert isinstance(made, ast.Assign)
    assert isinstance(made.value, ast.BinOp)
    made.made = True  # type: ignore[attr-defined]
    assert source("").spliced(made, {made.value.left: "f(c)"}) == "x = f(c) + b"


# ---- comments, names, lines


def test_comments() -> None:
    text = "a = '# no'  # yes\nb = 1\n# yes\n"
    assert source(text).comments.keys() == {1, 3}


def test_has_comment() -> None:
    text = textwrap.dedent(
        """
        a = 1
        # before b
        b = 1

        # far from c

        c = 1
        if d:
            e = 1  # inside
        """
    )
    found = source(text)
    a, b, c, d = found.tree.body
    assert [found.has_comment([node]) for node in (a, b, c, d)] == [
        False,
        True,
        False,
        True,
    ]
    assert found.has_comment([a, b])
    assert not found.has_comment([])
    assert not found.has_comment([ast.Pass()])


def test_names() -> None:
    text = """
import a.b, c as d
from m import e as g, h
def i(j, *k, l=m, **n): o.p = q
class r: s
t = lambda u: v
"""
    assert source(text).names == set("adghijklmnopqrstuv")


def test_names_of_handlers_patterns_and_declarations() -> None:
    text = """
try: a
except E as handled: b
def f():
    global declared
match x:
    case [one, *rest] | {"k": one, **rest}: c
    case whole: d
"""
    assert {"handled", "declared", "one", "rest", "whole"} <= source(text).names


def test_fresh_names() -> None:
    names = Names({"a", "a_2", "b"})
    assert [names.fresh("a") for _ in range(3)] == ["a_3", "a_4", "a_5"]
    assert [names.fresh("c"), names.fresh("c")] == ["c", "c_2"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("a\nb", ["a", "b"]),
        ("a\r\nb\rc\n", ["a", "b", "c", ""]),
        ("a\x0cb\x0b\x1c\x85\u2028c\n", ["a\x0cb\x0b\x1c\x85\u2028c", ""]),
    ],
)
def test_lines(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines
