"""What pieces of code bind and consist of."""

from __future__ import annotations

import ast

import pytest

from graphlift.transforms.facts.syntax import (
    blocks,
    bound_names,
    own_expressions,
    own_nodes,
    target_names,
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a = b.c = d[0] = 1", ["a"]),
        ("a, [b, *c] = x", ["a", "b", "c"]),
        ("a += 1", ["a"]),
        ("a: int = 1", ["a"]),
        ("a: int", []),
        ("for a, b in x: c = 1", ["a", "b"]),
        ("with x as a, y as (b, c), z: d = 1", ["a", "b", "c"]),
        ("def f(a): b = 1", ["f"]),
        ("async def f(a): b = 1", ["f"]),
        ("class C: b = 1", ["C"]),
        ("import a.b, c as d", ["a", "d"]),
        ("from m import a, b as c", ["a", "c"]),
        ("if (a := x): b = 1", ["a"]),
        ("while (a := f()): b = 1", ["a"]),
        ("x = (a := 1) + (b := 2)", ["x", "a", "b"]),
        ("f(a := 1)", ["a"]),
        ("return a", []),
    ],
)
def test_names_that_a_statement_binds(text: str, names: list[str]) -> None:
    assert bound_names(ast.parse(text).body[0]) == names


def test_names_that_asynchronous_statements_bind() -> None:
    (function,) = ast.parse(
        "async def f():\n async for a, b in x: c = 1\n async with x as d: e = 1"
    ).body
    assert isinstance(function, ast.AsyncFunctionDef)
    assert [bound_names(node) for node in function.body] == [["a", "b"], ["d"]]


def test_names_of_targets() -> None:
    target = ast.parse("(a, [b, *c], d.e, f[0]) = x").body[0]
    assert isinstance(target, ast.Assign)
    assert target_names(target.targets[0]) == ["a", "b", "c"]


def test_blocks() -> None:
    (node,) = ast.parse("try: a\nexcept E: b\nexcept F: c\nelse: d\nfinally: e\n").body
    texts = [ast.unparse(block[0]) for block in blocks(node)]
    assert sorted(texts) == list("abcde")
    (node,) = ast.parse("match x:\n case 1: a\n case _: b\n").body
    assert [ast.unparse(block[0]) for block in blocks(node)] == ["a", "b"]
    assert blocks(ast.parse("x = 1").body[0]) == []


def test_own_parts() -> None:
    (function,) = ast.parse(
        "def f():\n a = lambda: b\n def g(): c\n if d: e\n class C: h\n"
    ).body
    assert isinstance(function, ast.FunctionDef)
    names = {n.id for n in own_nodes(function) if isinstance(n, ast.Name)}
    assert names == {"a", "d", "e"}
    (node,) = ast.parse("with a as b, c: d").body
    assert [ast.unparse(e) for e in own_expressions(node)] == ["a", "b", "c"]
