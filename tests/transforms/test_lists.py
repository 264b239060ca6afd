"""Lists that a recording, which tells of loops, showed to stay empty."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from harness import Program, lift, prove

from graphlift.codemods import pipeline
from graphlift.codemods.pipeline import Rewritten
from graphlift.transforms.facts.profile import Profile
from graphlift.transforms.options import Options

ROWS = Program(
    text="""\
import tensorflow as tf


def f(x):
    rows, halves = [], []
    for row in x:
        rows.append(row * 2.0)
        if tf.reduce_sum(row) > 2.5:
            halves.append(row / 2.0)
    return tf.stack(rows), tf.stack(halves)
""",
    calls="[(tf.ones([3, 2]),), (tf.ones([2, 4]),), (tf.zeros([0, 2]),), (tf.ones([2, 3]),)]",
    name="rows",
)


def without_trips(
    text: str, path: str, options: Options, profile: Profile | None
) -> Rewritten:
    """The rewriting by a profile in which the loop over `x` made none to three trips."""
    assert profile
    seen = profile.functions["rows.py::f"]
    known = replace(seen, loops={"2:4": {"trips": [0, 3]}})
    functions = {**profile.functions, "rows.py::f": known}
    return pipeline.rewrite(text, path, options, replace(profile, functions=functions))


def test_a_list_of_rows_that_stays_empty_is_stacked_as_in_eager_mode(
    tmp_path: Path,
) -> None:
    original, rewritten = lift(ROWS, tmp_path, without_trips)
    assert "tf.cond(rows.size() > 0" in rewritten.text
    prove(original, replace(ROWS, text=rewritten.text), tmp_path)
