"""Functions whose recording is of an earlier text, and functions that were never recorded."""

import textwrap
from pathlib import Path

from graphlift.codemods.pipeline import check
from graphlift.transforms.facts.kind_notation import parse
from graphlift.transforms.facts.profile import Profile, Recorded
from graphlift.transforms.findings import Checked
from graphlift.transforms.options import Options

TEXT = """
import tensorflow as tf

def step(x):
    return tf.sin(x) if x > 0 else x

def positive(x):
    return x > 0

def average(x: tf.Tensor) -> tf.Tensor:
    return tf.reduce_mean(x)

class Model:
    def __init__(self):
        self.rate = tf.Variable(1.0)

    def apply(self, x):
        def inner(y):
            return tf.sin(y)
        return inner(x)

@tf.function
def graph(x):
    return helper(x)

def helper(x):
    return tf.cos(x)

def main():
    run = graph if x else graph.python_function
    print(run(tf.constant(1.0)))
"""


def checked(text: str = TEXT, recorded: tuple[str, ...] = ()) -> Checked:
    """What is found where some functions were recorded, with another text."""
    seen = Recorded("another text", 3, {"x": parse("tensor(float32)")})
    profile = Profile(Path(), {f"m.py::{name}": seen for name in recorded})
    return check(textwrap.dedent(text), "m.py", Options(), profile)


def test_functions_with_tensorflow_that_were_never_recorded() -> None:
    """Not those that annotations tell about, that are graphs, that graphs call, or that call graphs."""
    assert checked() == Checked((), ("step", "Model.apply"))


def test_functions_that_changed_since_they_were_recorded() -> None:
    everything = (
        "step",
        "positive",
        "average",
        "Model.apply",
        "graph",
        "helper",
        "main",
    )
    found = checked(recorded=everything)
    assert [(f.line, f.code, f.function, f.applicability) for f in found.findings] == [
        (4, "GL401", "step", "manual"),
        (7, "GL401", "positive", "manual"),
        (10, "GL401", "average", "manual"),
        (17, "GL401", "Model.apply", "manual"),
    ]
    assert found.findings[0].message == (
        "`step` has changed since it was recorded: record it again"
    )
    assert found.unrecorded == ()


def test_a_changed_function_that_its_caller_tells_of() -> None:
    """It is known what it is called with, and it is too small to be a graph: that it changed is told all the same."""
    text = """
        import tensorflow as tf

        def shifted(x):
            return x + 1.0

        def main():
            print(shifted(tf.constant(1.0)))
    """
    found = checked(text, ("shifted",))
    assert [f.function for f in found.findings] == ["shifted"]
    assert "has changed since it was recorded" in found.findings[0].message


def test_a_changed_function_that_would_stay_eager() -> None:
    """Why it does may be what the recording no longer tells."""
    text = """
        import tensorflow as tf

        def mixed(x: tf.Tensor):
            rows = []
            for v in x:
                rows.append(v if v > 0.0 else "low")
            return rows

        def main():
            print(mixed(tf.constant([1.0])))
    """
    assert "stays eager" in checked(text).findings[0].message
    found = [f for f in checked(text, ("mixed",)).findings if f.function == "mixed"]
    assert [f.message for f in found] == [
        "`mixed` has changed since it was recorded: record it again"
    ]


def test_what_a_lifted_function_runs_needs_no_recording() -> None:
    text = """
        import tensorflow as tf

        def shifted(x):
            return x + 1.0

        def chosen(x: tf.Tensor) -> tf.Tensor:
            y = tf.ones([3])
            return shifted(y) if y[0] > 0.0 else y
    """
    found = checked(text, ("shifted",))
    assert {f.function for f in found.findings} == {"chosen"}


def test_a_function_of_whose_shapes_nothing_tells() -> None:
    """Annotations tell no shapes: a recorded run would, where it is about that."""
    text = """
        import tensorflow as tf

        def collected(x: tf.Tensor):
            y = x + tf.constant(1.0)
            rows = [y]
            if tf.reduce_sum(y) > 1.0:
                rows.append(x)
            return rows

        def asked(x: tf.Tensor):
            y = x + tf.constant(1.0)
            return eval("tf.sin(y)") if tf.reduce_sum(y) > 0.0 else y
    """
    found = {f.function: f.message for f in checked(text).findings}
    assert found["collected"] == (
        "`collected` stays eager: the items of `rows` may differ in shape; "
        "record a run of it, which tells dtypes and shapes of its tensors"
    )
    assert "record" not in found["asked"]
