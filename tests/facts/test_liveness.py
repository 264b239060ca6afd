"""Liveness: what is read later, and that nothing else is."""

from __future__ import annotations

import ast
import random
import textwrap
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from random_writer import Writer

from graphlift.transforms.facts.liveness import Liveness, liveness, reads
from graphlift.transforms.facts.syntax import bound_names

EXITS = ast.Return | ast.Break | ast.Continue | ast.Raise


def function(text: str) -> ast.FunctionDef:
    (node,) = ast.parse(textwrap.dedent(text)).body
    assert isinstance(node, ast.FunctionDef)
    return node


def after(text: str, statement: str) -> set[str]:
    """The names of one letter that are read after a statement of a function, given by its first line."""
    node = function(text)
    live = liveness(node)
    found = [s for s in live.after if ast.unparse(s).partition("\n")[0] == statement]
    assert len(found) == 1, [ast.unparse(s) for s in live.after]
    return {name for name in live.after[found[0]] if len(name) == 1}


def heads(text: str) -> list[set[str]]:
    """The names of one letter that are read at the heads of a function's loops."""
    live: Liveness = liveness(function(text))
    return [{n for n in names if len(n) == 1} for names in live.head.values()]


@pytest.mark.parametrize(
    ("text", "statement", "names"),
    [
        ("def f(a):\n b = a\n c = b\n return c", "b = a", "b"),
        ("def f(a):\n b = a\n b = 1\n return b", "b = a", ""),
        ("def f(a):\n b = a\n b += 1\n return b", "b = a", "b"),
        ("def f(a):\n b = a\n c[b] = 1\n return a", "b = a", "abc"),
        ("def f(a):\n b = a\n a.x = b\n", "b = a", "ab"),
        ("def f(a):\n b = a\n return (c := 1) + b", "b = a", "b"),
        ("def f(a):\n b = a\n del b\n return a", "b = a", "ab"),
        ("def f(a):\n b = a\n if c: b = 1\n return b", "b = a", "bc"),
        ("def f(a):\n b = a\n if c: b = 1\n else: b = 2\n return b", "b = a", "c"),
        ("def f(a):\n b = a\n if (b := c): d\n return b", "b = a", "cd"),
        ("def f(a):\n b = a\n if c: return b\n return 1", "b = a", "bc"),
        ("def f(a):\n b = a\n if c: raise b\n b = 1", "b = a", "bc"),
        ("def f(a):\n b = a\n assert c, b\n", "b = a", "bc"),
        ("def f(a):\n b = a\n c = lambda: d\n", "b = a", "d"),
        ("def f(a):\n b = a\n b = 1\n def g(): return b\n", "b = a", "b"),
        ("def f(a):\n b = a\n with c as b: d\n return b", "b = a", "cd"),
        ("def f(a):\n b = a\n with c as e: b = d\n return b", "b = a", "cd"),
        (
            "def f(a):\n b = a\n try: b = c()\n finally: d\n return b",
            "b = a",
            "bcd",
        ),
        (
            "def f(a):\n b = a\n try: b = c()\n except e: return b\n return b",
            "b = a",
            "bce",
        ),
        ("def f(a):\n b = a\n match c:\n  case 1: return b\n", "b = a", "bc"),
        ("def f(a):\n b = a\n b: int\n return b", "b = a", "b"),
        ("def f(a):\n b = a\n return [b for c in d]", "b = a", "bd"),
    ],
)
def test_after_a_statement(text: str, statement: str, names: str) -> None:
    assert after(text, statement) == set(names)


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("while a:\n  b = 1\n return c", "ac"),
        ("while a:\n  b = b + 1\n return c", "abc"),
        ("while a:\n  b = 1\n return b", "ab"),
        ("while (a := c):\n  b = a\n return c", "c"),
        ("while a:\n  b = 1\n  if c: break\n  d = b\n return d", "acd"),
        ("while a:\n  if c: continue\n  b = d\n return 1", "acd"),
        ("while a:\n  b = 1\n else:\n  return d\n", "ad"),
        ("while a:\n  if c: return b\n return 1", "abc"),
        ("for a in c:\n  b = a\n return d", "d"),
        ("for a in c:\n  d = b\n  b = a\n return 1", "b"),
        ("for a in c:\n  pass\n return a", "a"),
        ("for a in c:\n  b = 1\n  if d: break\n else:\n  b = 2\n return b", "d"),
    ],
)
def test_at_the_head_of_a_loop(body: str, names: str) -> None:
    assert heads(f"def f(x):\n {body}") == [set(names)]


def test_values_go_around_a_loop() -> None:
    text = """
    def f(n):
        a = b = c = d = 0
        while n:
            d = c
            c = b
            b = a
            n -= 1
        return d
    """
    assert after(text, "b = a") == set("abcdn")
    assert heads(text) == [set("abcdn")]


def test_an_inner_loop_sees_the_outer_one() -> None:
    text = """
    def f(n):
        a = b = 0
        for i in n:
            for j in n:
                if b:
                    break
                a = j
            b = a
        return i
    """
    assert {"a", "b", "n", "i"} <= after(text, "a = j")
    assert "j" not in after(text, "b = a")


def test_reads() -> None:
    def names(text: str) -> set[str]:
        return set(reads(ast.parse(text).body[0]))

    assert names("a = b + c.d[e]") == set("bce")
    assert names("a += b") == set("ab")
    assert names("a[b] = c") == set("abc")
    assert names("if a: b = c") == {"a"}
    assert names("for a in b: c") == {"b"}
    assert names("with a as b, c: d") == set("ac")
    assert names("return") == set()


# ---- dead names may hold anything


class Poison:
    """Fails wherever it is used."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError("a dead name is used")

    def _fail(self, *others: object) -> Any:
        raise AssertionError("a dead name is used")

    __bool__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _fail
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __mod__ = __neg__ = _fail  # type: ignore[assignment]
    __iter__ = __len__ = __getitem__ = __array__ = __call__ = _fail
    __hash__ = None  # type: ignore[assignment]


class _Poisoned(ast.NodeTransformer):
    """Puts poison into each dead name after each statement of a function."""

    def __init__(self, node: ast.FunctionDef) -> None:
        self.live = liveness(node)
        inner = list(ast.walk(node))
        declared = {n for s in inner if isinstance(s, ast.Global) for n in s.names}
        bound = {n for s in inner if s is not node for n in bound_names(s)}
        self.names = (bound | {a.arg for a in node.args.args}) - declared

    def generic_visit(self, node: ast.AST) -> Any:
        made = super().generic_visit(node)
        if not isinstance(node, ast.stmt) or isinstance(node, EXITS | ast.Global):
            return made
        dead = sorted(self.names - self.live.after.get(node, self.names))
        return [made, *ast.parse("\n".join(f"{name} = POISON" for name in dead)).body]


def poisoned(text: str) -> ast.Module:
    """A program of which every function loses each name when it dies."""
    tree = ast.parse(text)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            transformer = _Poisoned(node)
            body = [transformer.visit(statement) for statement in node.body]
            node.body = [
                s for made in body for s in (made if isinstance(made, list) else [made])
            ]
    return ast.fix_missing_locations(tree)


def results(tree: ast.Module, calls: str) -> list[Any]:
    """What a program's calls give, as arrays, or the class of what they raise."""
    scope: dict[str, Any] = {"POISON": Poison(), "tf": tf}
    exec(compile(tree, "program.py", "exec"), scope)
    found: list[Any] = []
    for arguments in eval(calls, scope):
        try:
            found.append(tf.nest.map_structure(np.asarray, scope["f"](*arguments)))
        except ValueError as error:
            found.append(str(error))
        except AssertionError as error:
            found.append(str(error))
    return found


@pytest.mark.parametrize("number", range(60))
def test_dead_names_are_not_used(number: int) -> None:
    program = Writer(random.Random(number)).program()
    wanted = results(ast.parse(program.text), program.calls)
    np.testing.assert_equal(results(poisoned(program.text), program.calls), wanted)
