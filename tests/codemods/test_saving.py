"""Files that need each other's new texts are written together, or not at all."""

from pathlib import Path

import pytest

from graphlift.codemods import files
from graphlift.codemods.project import Outcome, Problem
from graphlift.codemods.saving import saved


@pytest.fixture
def outcome(tmp_path):
    def make(name: str, *needs: str, **values) -> Outcome:
        path = tmp_path / name
        path.write_text("old\n")
        source = files.read(path)
        values = {"text": "new\n", "lifted": ("f",), **values}
        return Outcome(
            path, name, source=source, key=name, needs=frozenset(needs), **values
        )

    return make


def texts(outcomes: list[Outcome]) -> dict[str, str]:
    return {o.name: Path(o.path).read_text().strip() for o in outcomes}


def test_what_is_needed_comes_first(outcome):
    done = saved(
        [outcome("a", "b"), outcome("b", "c"), outcome("c"), outcome("d", text=None)]
    )
    order = list(done)
    assert [o.name for o in order] == ["c", "b", "a", "d"]
    assert texts(order) == {"a": "new", "b": "new", "c": "new", "d": "old"}


def test_nothing_is_written_that_needs_a_file_which_cannot_be(outcome):
    needed = outcome("b")
    needed.path.write_text("changed meanwhile\n")
    done = list(saved([outcome("a", "b"), needed, outcome("c", "a")]))
    assert texts(done) == {"a": "old", "b": "changed meanwhile", "c": "old"}
    assert {o.name: o.problem.message for o in done} == {
        "b": "has changed since it was read",
        "a": "it needs b, which stays as it is",
        "c": "it needs a, which stays as it is",
    }
    assert not any(o.lifted for o in done if o.problem)


def test_nothing_is_written_that_needs_what_is_not_proved(outcome):
    done = list(
        saved([outcome("b", text=None, unproved="it differs"), outcome("a", "b")])
    )
    assert texts(done) == {"a": "old", "b": "old"}
    assert done[1].unproved == "it needs b, which stays as it is"


def test_a_file_without_a_new_text_does_not_stop_others(outcome):
    done = list(saved([outcome("a", "b"), outcome("b", text=None)]))
    assert texts(done) == {"a": "new", "b": "old"}


def test_a_circle_is_written_whole_or_not_at_all(outcome):
    assert texts(list(saved([outcome("a", "b"), outcome("b", "a")]))) == {
        "a": "new",
        "b": "new",
    }
    broken = outcome("d", "c", text=None, problem=Problem("broken"))
    done = list(saved([outcome("c", "d"), broken]))
    assert texts(done) == {"c": "old", "d": "old"}
    assert done[0].problem.message == "it needs d, which stays as it is"
