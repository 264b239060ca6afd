"""Steps: the plan's own form of lifted code."""

from __future__ import annotations

import ast
import textwrap

import pytest

from graphlift.transforms.source import Source
from graphlift.transforms.steps import (
    Code,
    Compound,
    Define,
    Keep,
    Step,
    changes,
    texts,
    with_origin,
    without_dead_stores,
)


def kept(text: str) -> tuple[Source, list[Step]]:
    """A source, and steps that keep its statements."""
    text = textwrap.dedent(text)
    source = Source(text, ast.parse(text))
    return source, list(map(Keep, source.tree.body))


def told(steps: list[Step]) -> list[str]:
    """The first lines of steps."""
    found = []
    for step in steps:
        match step:
            case Keep(node=node):
                found.append(ast.unparse(node).partition("\n")[0])
            case Code(text=text):
                found.append(text)
            case Define(name=name, body=body):
                found.append(f"{name}: {told(body)}")
            case Compound(headers=headers, blocks=inner):
                found.append(f"{headers}: {[told(block) for block in inner]}")
    return found


def test_changes() -> None:
    source, steps = kept("a = 1\nb = 2\n")
    body = source.tree.body
    assert not changes([], [])
    assert not changes(steps, body)
    assert changes([*steps, Code("c = 3")], body)
    assert changes(steps[:1], body)


def test_a_del_that_is_left_out_is_no_change() -> None:
    source, steps = kept("a = 1\ndel a\n")
    assert not changes(steps[:1], source.tree.body)


def test_origin_goes_to_the_first() -> None:
    source, steps = kept("a = 1\n")
    node = source.tree.body[0]
    made = with_origin([Code("b"), Code("c")], node)
    assert made == [Code("b", node), Code("c")]
    assert with_origin(steps, node) == steps


def test_texts() -> None:
    steps: list[Step] = [
        Code("a"),
        Define("f", ("x",), [Code("b")]),
        Compound(("if c:", "else:"), ([Code("d")], [Define("g", (), [Code("e")])])),
    ]
    assert list(texts(steps)) == ["a", "b", "if c:", "else:", "d", "e"]


LIVE = Code("use(lambda: a)")


@pytest.mark.parametrize(
    "later",
    [
        [Code("use(a)")],
        [LIVE],
        [Code("a += 1")],
        [Code("b = a")],
        [Code("b[a] = 1")],
        [Define("f", ("x",), [Code("return x + a")])],
        [Define("f", ("x",), [Define("g", (), [Code("return a")])])],
        [Compound(("if a:",), ([Code("b")],))],
        [Compound(("while a:",), ([Code("b")],))],
        [Compound(("for x in a:",), ([Code("b")],))],
        [Compound(("with a:",), ([Code("b")],))],
        [Compound(("if b:", "else:"), ([Code("a = 2")], [Code("c")])), Code("use(a)")],
        [Compound(("try:", "finally:"), ([Code("b")], [Code("use(a)")]))],
        [Define("f", ("a",), [Code("return a")]), Code("use(a)")],
        [Code("b, a[0] = 1, 2")],
    ],
)
def test_constants_that_are_read_stay(later: list[Step]) -> None:
    source, (store,) = kept("a = 1\n")
    assert told(without_dead_stores([store, *later], source))[0] == "a = 1"


@pytest.mark.parametrize(
    "later",
    [
        [Code("b[0] = 1")],
        [Code("a = f(b)"), Code("use(a)")],
        [Code("a, b = f(b)"), Code("use(a)")],
        [Define("f", ("a",), [Code("return a")])],
        [Code("use(lambda a: a)")],
        [Code("use(b.a)")],
    ],
)
def test_constants_that_are_not_read_go(later: list[Step]) -> None:
    source, (store,) = kept("a = 1\n")
    assert told(without_dead_stores([store, *later], source)) == told(later)


def test_loops_that_read_around_keep_constants() -> None:
    source, (store,) = kept("a = 1\n")
    loop = Compound(("for x in y:",), ([Code("use(a)"), Code("a = 2")],))
    assert told(without_dead_stores([store, loop], source))[0] == "a = 1"


def test_kept_compound_statements_are_looked_into() -> None:
    source, steps = kept("a = 1\nif b:\n    use(a)\nchanged\n")
    assert told(without_dead_stores([*steps, Code("c")], source))[0] == "a = 1"


def test_only_constants_go() -> None:
    source, steps = kept("a = f()\nb = c\nd = [1]\n")
    assert told(without_dead_stores([*steps, Code("e")], source)) == [
        "a = f()",
        "b = c",
        "d = [1]",
        "e",
    ]


def test_stores_with_comments_stay() -> None:
    source, steps = kept("a = 1  # why\n# before\nb = 1\nc = 1\n")
    made = without_dead_stores([*steps, Code("d")], source)
    assert told(made) == ["a = 1", "b = 1", "d"]


def test_functions_inside_lose_theirs() -> None:
    source, _ = kept("")
    inner = Define("f", (), [Code("a = 1"), Code("a = b"), Code("return a")])
    assert told(without_dead_stores([inner], source)) == ["f: ['a = b', 'return a']"]


def test_what_does_not_change_keeps_its_stores() -> None:
    source, steps = kept("a = 1\nb\n")
    assert without_dead_stores(steps, source) == steps
