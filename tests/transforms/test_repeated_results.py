"""Results of a core that would be given back twice."""

from __future__ import annotations

import ast

import pytest

from graphlift.transforms.repeated_results import given_once
from graphlift.transforms.steps import Code, Keep, Plan, Step, texts


def made(core: str, shell: list[str], kept: str = "") -> list[str]:
    """The texts of a core and a shell, which ends with statements of the file's own; `b` and `c` are for tensors."""
    (node,) = ast.parse("def f(x): pass").body
    assert isinstance(node, ast.FunctionDef)
    steps: list[Step] = [Code(core)]
    rest = [Keep(s) for s in ast.parse(kept).body]
    tensors = frozenset({"b", "c"}) & {n for text in shell for n in text}
    plan = Plan(node, "f", steps, shell=[*map(Code, shell), *rest], tensors=tensors)
    found = given_once(plan)
    return [*texts(found.steps), *texts(found.shell)]


@pytest.mark.parametrize(
    ("core", "shell", "kept", "expected"),
    [
        (
            "return y, y",
            ["a, b = g(x)", "p(b)", "return a"],
            "",
            ["return y", "a = g(x)", "p(a)", "return a"],
        ),
        (
            "return y, z, y",
            ["result, b, c = g(x)", "p(b, c)", "return result"],
            "",
            ["return y, z", "c, b = g(x)", "p(b, c)", "return c"],
        ),
        (
            "return y, y",
            ["a, b = g(x)", "return a"],
            "p(b)",
            ["return y", "b = g(x)", "return b"],
        ),
    ],
)
def test_given_once(
    core: str, shell: list[str], kept: str, expected: list[str]
) -> None:
    assert made(core, shell, kept) == expected


@pytest.mark.parametrize(
    ("core", "shell", "kept"),
    [
        ("return y, z", ["a, b = g(x)", "return a"], ""),
        ("return y + 1, y + 1", ["a, b = g(x)", "return a"], ""),
        ("return y, y", ["a, b = g(x)", "b = int(b)", "return a"], ""),
        ("return y, y", ["a, b = g(x)"], "p(a, b)"),
        ("return y, y", ["a, b = g(a)"], "p(b)"),
        ("return y, y", ["a, d = g(x)", "p(d)"], ""),
        ("return y, y", ["a, b = g(x)", "p('b', b)"], ""),
    ],
)
def test_given_twice(core: str, shell: list[str], kept: str) -> None:
    assert made(core, shell, kept) == [core, *shell]
