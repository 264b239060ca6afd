"""Functions with Python left in them: what stands before, in and after the graph, and that nothing changes."""

from __future__ import annotations

import ast
import textwrap
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from harness import Program, lift, prove

pytestmark = pytest.mark.filterwarnings("ignore")

THREE = "[(tf.constant(1.0),), (tf.constant(-2.0),), (tf.constant(3.0),)]"


@dataclass(frozen=True)
class Case:
    """A function in a few lines, and pieces of text that stand in its shell and in its core."""

    text: str
    shell: tuple[str, ...] = ()
    core: tuple[str, ...] = ()
    calls: str = THREE
    entry: str = "f"
    observe: str = ""
    between: str = ""


SPLIT = {
    "a global counter": Case(
        """
        CALLS = 0

        def f(x):
            global CALLS
            CALLS += 1
            y = x * 2.0
            return tf.abs(y) + 1.0
        """,
        shell=("global CALLS", "CALLS"),
        core=("x * 2.0", "tf.abs"),
        observe="CALLS",
    ),
    "a global that the tensors use": Case(
        """
        RATE = 0.5

        def f(x):
            global RATE
            y = tf.abs(x) * RATE
            RATE = RATE * 0.5
            return y + 1.0
        """,
        shell=("RATE",),
        core=("tf.abs",),
        observe="RATE",
    ),
    "an attribute that counts": Case(
        """
        class Model:
            def __init__(self):
                self.step = 0
                self.scale = tf.constant(2.0)

            def run(self, x):
                self.step += 1
                y = x * self.scale
                return tf.abs(y) * 0.5

        model = Model()
        """,
        entry="model.run",
        shell=("self.step",),
        core=("tf.abs",),
        observe="model.step",
    ),
    "a log after": Case(
        """
        LOG = []

        def f(x):
            y = tf.abs(x) * 2.0
            z = y + 1.0
            LOG.append(float(z))
            return z
        """,
        shell=("LOG.append",),
        core=("tf.abs",),
        observe="LOG",
    ),
    "a log in between": Case(
        """
        LOG = []

        def f(x):
            y = tf.abs(x) * 2.0
            LOG.append(float(y))
            z = tf.sqrt(y) + 1.0
            return z * z
        """,
        shell=("LOG.append",),
        core=("tf.sqrt",),
        observe="LOG",
    ),
    "prints before and after": Case(
        """
        def f(x):
            print("start")
            y = tf.abs(x) * 2.0
            print("end")
            return y + 1.0
        """,
    ),
    "a docstring and comments": Case(
        '''
        CALLS = 0

        def f(x):
            """Doc."""
            global CALLS
            # count
            CALLS += 1
            # work
            y = tf.abs(x) * 2.0  # double
            return y + 1.0  # done
        ''',
        shell=('"""Doc."""',),
        observe="CALLS",
    ),
    "the state changes from outside": Case(
        """
        RATE = 1.0

        def f(x):
            return tf.abs(x) * RATE + 1.0
        """,
        between="RATE = RATE * 2.0",
        core=("tf.abs",),
    ),
}

LEFT = {
    "an attribute that tensors decide": Case(
        """
        class Model:
            def __init__(self):
                self.best = -10.0

            def run(self, x):
                y = tf.abs(x) * 2.0
                if y > self.best:
                    self.best = y
                return y - 1.0

        model = Model()
        """,
        entry="model.run",
        observe="model.best",
    ),
    "Python before": Case(
        """
        import random

        def f(x):
            factor = random.random()
            y = tf.abs(x) * factor
            return y + 1.0
        """,
    ),
    "a text made of tensors": Case(
        """
        def f(x):
            y = tf.abs(x) * 2.0
            z = y + tf.sqrt(y)
            return z, f"{float(y):.2f}"
        """,
    ),
    "a value is needed while Python runs": Case(
        """
        def f(x):
            total = 0.0
            for name in sorted({"a": 1, "b": 2}, key=lambda n: float(x)):
                total += float(tf.abs(x)) + len(name)
            return total
        """,
    ),
    "the order of two logs": Case(
        """
        LOG = []

        def g(x):
            LOG.append("g")
            return x * 2.0

        def f(x):
            LOG.append("f")
            y = g(tf.abs(x))
            LOG.append("end")
            return y
        """,
        observe="LOG",
    ),
    "a list that is read after it changed": Case(
        """
        LOG = []

        def f(x):
            y = tf.abs(x)
            LOG.append(1.0)
            z = y * len(LOG)
            return z + 1.0
        """,
        observe="LOG",
    ),
    "state that a callee writes": Case(
        """
        COUNT = 0

        def tick():
            global COUNT
            COUNT += 1

        def f(x):
            y = tf.abs(x)
            tick()
            z = y * COUNT
            tick()
            return z + 1.0
        """,
        observe="COUNT",
    ),
    "an error in the middle": Case(
        """
        LOG = []

        def f(x):
            LOG.append("in")
            y = tf.abs(x) * 2.0
            if len(LOG) > 2:
                raise ValueError("enough")
            LOG.append("out")
            return y + 1.0
        """,
        observe="LOG",
    ),
    "an argument that changes": Case(
        """
        def f(x):
            parts = {"a": x}
            y = tf.abs(parts["a"])
            parts["a"] = y * 2.0
            parts.update(b=y)
            return parts
        """,
    ),
    "aliases of the state": Case(
        """
        class Box:
            def __init__(self):
                self.value = 1.0

        box = Box()
        other = box

        def f(x):
            box.value = box.value * 2.0
            y = tf.abs(x) * other.value
            return y + box.value
        """,
        observe="box.value",
    ),
    "a random draw after another": Case(
        """
        import random

        def f(x):
            a = random.random()
            y = tf.abs(x) * a
            if random.random() > 0.5:
                y = y + 1.0
            b = random.random()
            return y * b
        """,
    ),
}
"""Programs that may be left alone or lifted, as long as they do the same."""


def program(case: Case) -> Program:
    text = "import tensorflow as tf\n" + textwrap.dedent(case.text)
    return Program(
        text, case.calls, case.entry, observe=case.observe, between=case.between
    )


def definitions(text: str) -> dict[str, str]:
    """The text of each function by its name."""
    nodes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef)]
    return {n.name: str(ast.get_source_segment(text, n)) for n in nodes}


@pytest.mark.parametrize("name", SPLIT)
def test_split(name: str, tmp_path: Path) -> None:
    case = SPLIT[name]
    original, rewritten = lift(program(case), tmp_path)
    assert rewritten.lifted, rewritten.findings
    prove(original, replace(program(case), text=rewritten.text), tmp_path)
    found = definitions(rewritten.text)
    shell = found[case.entry.rpartition(".")[2]]
    (core,) = [t for n, t in found.items() if n.endswith("_graph")] or [shell]
    assert [part for part in case.shell if part not in shell] == []
    assert [part for part in case.core if part not in core] == []
    assert rewritten.text.count("#") == program(case).text.count("#")


@pytest.mark.parametrize("name", LEFT)
def test_same_whether_split_or_not(name: str, tmp_path: Path) -> None:
    case = LEFT[name]
    original, rewritten = lift(program(case), tmp_path)
    prove(original, replace(program(case), text=rewritten.text), tmp_path)


@pytest.mark.parametrize("name", SPLIT)
def test_splitting_again_changes_nothing(name: str, tmp_path: Path) -> None:
    _, rewritten = lift(program(SPLIT[name]), tmp_path)
    again = replace(program(SPLIT[name]), text=rewritten.text)
    _, twice = lift(again, tmp_path / "again")
    assert twice.text == rewritten.text
