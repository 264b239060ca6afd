"""The text without exits runs as the one with them did: random programs over plain numbers."""

from __future__ import annotations

import ast
import contextlib
import copy
import functools
import random
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest

from graphlift.transforms.exits import without_exits
from graphlift.transforms.facts.definitions import FunctionDefinition
from graphlift.transforms.facts.environment import FunctionFacts
from graphlift.transforms.facts.kinds import Tensor
from graphlift.transforms.findings import Refusal
from graphlift.transforms.source import Names

Loop = ast.For | ast.While
Control = ast.If | ast.For | ast.While
INPUTS = [(a, b) for a in (-2, 0, 3) for b in (-1, 2)]


def function(text: str) -> ast.FunctionDef:
    (node,) = ast.parse(textwrap.dedent(text)).body
    assert isinstance(node, ast.FunctionDef)
    return node


def facts_of(node: ast.FunctionDef, staged: set[ast.AST]) -> FunctionFacts:
    """Facts by which tensors decide these controls, and so the loops that are left by their word."""
    facts = FunctionFacts(FunctionDefinition(node, node.name), {}, staged=set(staged))
    for inner in ast.walk(node):
        if isinstance(inner, ast.If | ast.While):
            facts.kinds[inner.test] = Tensor("bool", ())
    while True:
        facts.exits = set(left(node.body, [], facts.staged, node))
        grown = facts.staged | {n for n in facts.exits if isinstance(n, Loop)}
        if grown == facts.staged:
            return facts
        facts.staged = grown


def left(
    body: list[ast.stmt],
    controls: list[ast.stmt],
    staged: set[ast.AST],
    function: ast.AST,
) -> Iterator[ast.AST]:
    """The loops, and perhaps the function, that an exit under a staged control leaves."""
    for node in body:
        if isinstance(node, ast.Break | ast.Continue | ast.Return):
            decided = False
            for control in reversed(controls):
                decided = decided or control in staged
                last = isinstance(control, Loop) and not isinstance(node, ast.Return)
                repeats = last and isinstance(node, ast.Continue)
                if decided and isinstance(control, Loop) and not repeats:
                    yield control
                if last:
                    break
            else:
                if decided:
                    yield function
        elif isinstance(node, ast.With | ast.Try):
            yield from left(node.body, controls, staged, function)
        elif isinstance(node, Control):
            yield from left(node.body, [*controls, node], staged, function)
            around = controls if isinstance(node, Loop) else [*controls, node]
            yield from left(node.orelse, around, staged, function)


class _Stopped(ast.NodeTransformer):
    """Ends `for` loops by their flags, as the lowered loop will."""

    def visit_For(self, node: ast.For) -> ast.For:
        self.generic_visit(node)
        if stops := getattr(node, "stops", ()):
            leave = ast.parse(f"if {' or '.join(stops)}: break").body
            node.body = [*node.body, *leave]
        return node


def desugared(node: ast.FunctionDef, facts: FunctionFacts) -> ast.FunctionDef:
    """The function without exits, as Python."""
    taken = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    made = copy.deepcopy(without_exits(facts, Names(taken)) or node)
    assert isinstance(made, ast.FunctionDef)
    return ast.fix_missing_locations(made)


@contextlib.contextmanager
def noting(log: list[int], step: int) -> Iterator[None]:
    """Logs a step when a block is entered, and its negative when it is left."""
    log.append(step)
    yield
    log.append(-step)


def outcomes(node: ast.FunctionDef) -> list[tuple[Any, list[int]]]:
    """What a function gives for the inputs, and what it logs on the way."""
    tree = ast.Module([_Stopped().visit(copy.deepcopy(node))], [])
    scope: dict[str, Any] = {}
    exec(compile(ast.fix_missing_locations(tree), "case.py", "exec"), scope)
    found = []
    for a, b in INPUTS:
        log: list[int] = []
        scope["log"] = log.append
        scope["noting"] = functools.partial(noting, log)
        found.append((scope["f"](a, b), log))
    return found


# ---- random programs


class Writer:
    """Writes a function of two numbers that logs every step it takes."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.steps = 0
        self.loops = 0

    def function(self) -> ast.FunctionDef:
        body = [*self.block(3, False), "return a * 100 + b"]
        return function("\n".join(["def f(a, b):", *(f"    {s}" for s in body)]))

    def block(self, depth: int, in_loop: bool) -> list[str]:
        lines: list[str] = []
        for _ in range(self.rng.randint(1, 3)):
            lines += self.statement(depth, in_loop)
        return lines

    def statement(self, depth: int, in_loop: bool) -> list[str]:
        chance = self.rng.random()
        if depth and chance < 0.45:
            return self.branch(depth - 1, in_loop)
        if depth and chance < 0.65:
            return self.loop(depth - 1)
        if depth and chance < 0.75:
            return self.around(depth - 1, in_loop)
        self.steps += 1
        change = self.rng.choice(["a += 1", "b -= a", "a, b = b, a", "b = b * 2 - 1"])
        return [change, f"log({self.steps})"]

    def branch(self, depth: int, in_loop: bool) -> list[str]:
        lines = [f"if {self.test()}:", *self.arm(depth, in_loop)]
        if self.rng.random() < 0.3:
            lines += [f"elif {self.test()}:", *self.arm(depth, in_loop)]
        if self.rng.random() < 0.5:
            lines += ["else:", *self.arm(depth, in_loop)]
        return lines

    def around(self, depth: int, in_loop: bool) -> list[str]:
        self.steps += 1
        if self.rng.random() < 0.5:
            return [f"with noting({self.steps}):", *self.arm(depth, in_loop)]
        end = [f"    log({self.steps})", "    b += 1"]
        return ["try:", *self.arm(depth, in_loop), "finally:", *end]

    def arm(self, depth: int, in_loop: bool) -> list[str]:
        lines = self.block(depth, in_loop) if self.rng.random() < 0.7 else []
        exits = ["return a", "return -b"] + ["break", "continue"] * 3 * in_loop
        if not lines or self.rng.random() < 0.4:
            lines = [*lines, self.rng.choice(exits)]
        return [f"    {line}" for line in lines]

    def loop(self, depth: int) -> list[str]:
        self.loops += 1
        name = f"i{self.loops}"
        head = [f"for {name} in range({self.rng.randint(0, 3)}):"]
        first: list[str] = []
        if self.rng.random() < 0.5:
            test = self.rng.choice(["True", self.test()])
            head = [f"{name} = 0", f"while {name} < 3 and {test}:"]
            first = [f"    {name} += 1"]
        lines = [*head, *first, *(f"    {line}" for line in self.block(depth, True))]
        if self.rng.random() < 0.2:
            lines += ["else:", *(f"    {line}" for line in self.block(depth, False))]
        return lines

    def test(self) -> str:
        name, other = self.rng.choice(["a", "b"]), self.rng.choice("ab")
        return f"{name} {self.rng.choice(['<', '>', '=='])} {other} % {self.rng.randint(2, 5)}"


def controls(node: ast.FunctionDef) -> list[ast.AST]:
    return [n for n in ast.walk(node) if isinstance(n, Control)]


def check(node: ast.FunctionDef, staged: set[ast.AST]) -> bool:
    """Hold a function against itself without exits; False where it is refused."""
    facts = facts_of(node, staged)
    wanted = outcomes(node)
    before = ast.dump(node)
    try:
        made = desugared(node, facts)
    except Refusal:
        return False
    assert outcomes(made) == wanted, f"{ast.unparse(node)}\n\n{ast.unparse(made)}"
    assert ast.dump(node) == before
    return True


def test_random_programs_that_tensors_decide_throughout() -> None:
    nodes = [Writer(seed).function() for seed in range(300)]
    refused = [not check(node, set(controls(node))) for node in nodes]
    assert not any(refused)


def test_random_programs_that_tensors_decide_in_part() -> None:
    rng = random.Random(0)
    nodes = [Writer(seed).function() for seed in range(300, 600)]
    refused = []
    for node in nodes:
        found = controls(node)
        staged = set(rng.sample(found, len(found) // 2))
        refused.append(not check(node, staged))
    assert not any(refused)


# ---- forms


def lines_without_exits(text: str) -> str:
    node = function(text)
    made = desugared(node, facts_of(node, set(controls(node))))
    return ast.unparse(made).partition("\n")[2]


@pytest.mark.parametrize(
    ("text", "made"),
    [
        (
            """
            def f(a, b):
                if a > b:
                    return a
                return b
            """,
            """
            if a > b:
                return a
            else:
                return b
            """,
        ),
        (
            """
            def f(a, b):
                if a > b:
                    return a
                b += 1
            """,
            """
            if a > b:
                return a
            else:
                b += 1
                return None
            """,
        ),
        (
            """
            def f(a, b):
                while a < b:
                    a += 1
                    if a == 2:
                        break
                return a
            """,
            """
            ended = False
            while not ended and a < b:
                a += 1
                ended = a == 2
            return a
            """,
        ),
        (
            """
            def f(a, b):
                while True:
                    if a > b:
                        break
                    a += 1
                return a
            """,
            """
            while not a > b:
                a += 1
            return a
            """,
        ),
        (
            """
            def f(a, b):
                for i in range(b):
                    if i == a:
                        continue
                    a += i
                return a
            """,
            """
            for i in range(b):
                if i == a:
                    pass
                else:
                    a += i
            return a
            """,
        ),
    ],
)
def test_forms(text: str, made: str) -> None:
    assert textwrap.dedent(lines_without_exits(text)) == textwrap.dedent(made).strip()


def test_names_do_not_clash() -> None:
    text = """
    def f(ended, b):
        while ended < b:
            ended += 1
            if ended == 2:
                break
        return ended
    """
    assert "ended_2" in lines_without_exits(text)


def test_what_python_decides_stays() -> None:
    node = function(
        """
        def f(a, b):
            for i in range(3):
                if a > b:
                    break
            return a
        """
    )
    facts = facts_of(node, set())
    assert without_exits(facts, Names([])) is None


def test_docstring_stays_first() -> None:
    text = '''
    def f(a, b):
        """Doc."""
        for i in range(3):
            for j in range(3):
                if i + j == a:
                    return b
        return a
    '''
    node = function(text)
    made = desugared(node, facts_of(node, set(controls(node))))
    assert ast.get_docstring(made) == "Doc."
    assert outcomes(made) == outcomes(node)


def test_exits_out_of_handlers_are_refused() -> None:
    node = function(
        """
        def f(a, b):
            for i in range(3):
                try:
                    if a > b:
                        break
                except ValueError:
                    a += 1
            return a
        """
    )
    with pytest.raises(Refusal):
        desugared(node, facts_of(node, set(controls(node))))
