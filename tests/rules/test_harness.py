"""The ground the other tests stand on: faults of a lift are seen, and calls make a profile."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from harness import Program, differences, prove, run
from literate import read

from graphlift.transforms.facts.kind_notation import parse

CALLS = "[(tf.constant(1.0),), (tf.constant(-2.0),), (tf.constant(3.0),)]"

ORIGINAL = """\
import tensorflow as tf

COUNT = 0


def f(x):
    global COUNT
    COUNT += 1
    print("called", COUNT, float(x))
    if x > 2.0:
        raise ValueError(f"{x} is too much")
    return {"y": x * 2.0, "count": COUNT}
"""

SAME = """\
import sys

import tensorflow as tf

COUNT = tf.Variable(0)


@tf.function(autograph=False, input_signature=[tf.TensorSpec([], tf.float32)])
def core(x):
    COUNT.assign_add(1)
    tf.print("called", COUNT, x, output_stream=sys.stdout)
    return x * 2.0


def f(x):
    y = core(x)
    if x > 2.0:
        raise ValueError(f"{x} is too much")
    return {"y": y, "count": int(COUNT)}
"""

FAULTS = {
    "value": ("x * 2.0", "x * 2.001"),
    "dtype": ("return x * 2.0", "return tf.cast(x * 2.0, tf.float64)"),
    "shape": ("return x * 2.0", "return tf.stack([x * 2.0])"),
    "type": ("int(COUNT)", "COUNT.read_value()"),
    "structure": ('"y": y, ', ""),
    "output": ("    tf.print(", "    str("),
    "exception": ("    if x > 2.0:\n", "    if x > 9.0:\n"),
    "message": ("is too much", "is a bit much"),
    "error class": ("raise ValueError", "raise TypeError"),
    "state": ("COUNT.assign_add(1)", "COUNT.assign_add(1 + int(x < 0.0))"),
}

MODEL = """\
import tensorflow as tf


class Model:
    def __init__(self, scale):
        self.scale = scale
        self.steps = 0

    def step(self, x):
        self.steps += 1
        return self.scaled(x)

    def scaled(self, x):
        return self.scale * x


model = Model(2.0)
f = model.step
"""

PAGE = """\
# A page

## First: plain

```python before
a = 1
```

```python after
b = 2
```

```python calls gradients entry=g
[()]
```

## Second

Words, and ```code``` in them.

```python before
def f():
    pass
```

```
no name
```

```text left alone GL101
Nothing here.
```
"""


def program(text: str) -> Program:
    return Program(text, CALLS, observe="int(COUNT)")


def test_a_right_lift_is_proved(tmp_path: Path) -> None:
    original = run(program(ORIGINAL), tmp_path)
    assert original.printed.splitlines()[0] == "called 1 1.0"
    assert [outcome.error for outcome in original.outcomes][:2] == [None, None]
    prove(original, program(SAME), tmp_path)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_seen(fault: str, tmp_path: Path) -> None:
    old, new = FAULTS[fault]
    assert old in SAME
    original = run(program(ORIGINAL), tmp_path)
    with pytest.raises(AssertionError, match="it differs"):
        prove(original, program(SAME.replace(old, new)), tmp_path)


def test_a_wrong_gradient_is_seen(tmp_path: Path) -> None:
    text = "import tensorflow as tf\n\n\ndef f(x):\n    return x * 2.0\n"
    stopped = text.replace("x * 2.0", "tf.stop_gradient(x) * 2.0")
    original = Program(text, CALLS, gradients=True)
    lifted = replace(original, text=stopped)
    found = differences(run(original, tmp_path), run(lifted, tmp_path))
    assert [line.split(":")[1].strip() for line in found] == ["gradients[0]"] * 3


def test_a_changed_argument_is_seen(tmp_path: Path) -> None:
    calls = "[([1],), ([2],), ([3],)]"
    original = Program("def f(x):\n    x.append(1)\n", calls)
    lifted = Program("def f(x):\n    pass\n", calls)
    found = differences(run(original, tmp_path), run(lifted, tmp_path))
    assert all("arguments" in line for line in found)
    assert len(found) == 3


def test_three_calls_are_wanted(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="at least 3"):
        run(Program("def f():\n    pass\n", "[(), ()]"), tmp_path)


def test_between_and_entry(tmp_path: Path) -> None:
    text = "N = 0\n\n\ndef g():\n    return N\n"
    seen = run(Program(text, "[()] * 3", entry="g", between="N = 10 * i"), tmp_path)
    assert [outcome.result.value for outcome in seen.outcomes if outcome.result] == [
        0,
        10,
        20,
    ]


def test_profile_of_a_function(tmp_path: Path) -> None:
    text = "import tensorflow as tf\nB = 1.0\n\n\ndef f(x, n):\n    return tf.reduce_sum(x) * n + B\n"
    calls = "[(tf.zeros([i, 3]), 2) for i in (1, 2, 2)]"
    entry = run(Program(text, calls), tmp_path).profile.functions["case.py::f"]
    assert entry.calls == 3
    assert entry.parameters == {
        "x": parse("tensor(float32, None, 3)"),
        "n": parse("int"),
    }
    assert entry.globals == {"B": parse("float")}
    assert entry.returns == parse("tensor(float32)")
    assert not entry.changed


def test_profile_of_methods(tmp_path: Path) -> None:
    functions = run(Program(MODEL, CALLS), tmp_path).profile.functions
    step, scaled = functions["case.py::Model.step"], functions["case.py::Model.scaled"]
    assert step.parameters["self"] == parse("object(case.Model)")
    assert step.attributes["self.steps"] == parse("int")
    assert step.changed == {"self.steps"}
    assert scaled.attributes == {"self.scale": parse("float")}
    assert scaled.calls == 3


def test_profile_of_random_draws(tmp_path: Path) -> None:
    text = "import random\n\n\ndef f():\n    return random.random()\n"
    entry = run(Program(text, "[()] * 3"), tmp_path).profile.functions["case.py::f"]
    assert entry.random == {"random"}


def test_a_page_is_read(tmp_path: Path) -> None:
    path = tmp_path / "some-rule.md"
    path.write_text(PAGE)
    first, second = read(path)
    assert first.name == "some-rule/first-plain"
    assert (first.before, first.after) == ("a = 1\n", "b = 2\n")
    assert first.program == Program("a = 1\n", "[()]", entry="g", gradients=True)
    assert first.with_after("c = 3\nd = 4\n") == PAGE.replace(
        "b = 2\n", "c = 3\nd = 4\n"
    )
    assert second.left_alone
    assert second.code == "GL101"
    assert second.program is None


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("## A\n```python befor\n```\n", "unknown block"),
        ("```python before\n```\n", "above the first heading"),
        ("## A\n```python before\n```\n```python before\n```\n", "two blocks"),
        ("## A\n```python before\n", "not closed"),
        (
            "## A\n```python before\n```\n## B\n## A\n```python before\n```\n",
            "two blocks",
        ),
    ],
)
def test_a_faulty_page_is_refused(text: str, fault: str, tmp_path: Path) -> None:
    path = tmp_path / "some-rule.md"
    path.write_text(text)
    with pytest.raises(ValueError, match=fault):
        read(path)
