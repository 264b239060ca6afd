"""Values held still, saved and read again. No TensorFlow is needed here."""

import enum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from graphlift.codemods.proof.worker.values import Holder, load, save


class Point(NamedTuple):
    x: int


class Colour(enum.Enum):
    RED = 1


class Model:
    def __init__(self) -> None:
        self.step = 1
        self.act = len
        self.me = self


class Angry:
    @property
    def variables(self) -> Any:
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "held"),
    [
        (None, {"value": None}),
        (True, {"value": True}),
        ("a", {"value": "a"}),
        (b"\xff", {"bytes": "\xff"}),
        (1 + 2j, {"complex": [1.0, 2.0]}),
        ([1, (2,)], {"list": [{"value": 1}, {"tuple": [{"value": 2}]}]}),
        (Point(1), {"tuple": [{"value": 1}], "type": "Point"}),
        ({"a": 1, 2: 3}, {"dict": {"'a'": {"value": 1}, "2": {"value": 3}}}),
        ({"b", "a"}, {"set": ["'a'", "'b'"]}),
        (range(3), {"opaque": "range", "text": "range(0, 3)"}),
        (Colour.RED, {"opaque": "Colour", "text": "<Colour.RED: 1>"}),
        (len, {"opaque": "builtin_function_or_method", "text": "len"}),
        (iter([]), {"opaque": "list_iterator", "text": ""}),
        (Model(), {"opaque": "Model", "text": ""}),
        (Angry(), {"opaque": "Angry", "text": "RuntimeError when looked at"}),
    ],
)
def test_held(value: Any, held: dict[str, Any]) -> None:
    assert Holder().hold(value) == held


def test_a_held_value_does_not_follow_changes() -> None:
    array, items = np.zeros(2), [1]
    held = Holder().hold([array, items])["list"]
    array[0] = 1
    items.append(2)
    assert held[0]["array"].tolist() == [0, 0]
    assert held[1] == {"list": [{"value": 1}]}


def test_a_graph_function_is_held_as_the_function_it_was_made_of() -> None:
    class Graph:
        def __init__(self, python_function: Any) -> None:
            self.python_function = python_function

    def scaled(x: float) -> float:
        return x * 2.0

    hold = Holder().hold
    assert hold({"a": Graph(scaled)}) == hold({"a": scaled})
    assert hold(Graph(scaled)) != hold(Graph(len))


def test_attributes_of_the_users_own_objects() -> None:
    held = Holder(lambda cls: cls is Model).hold(Model())
    me = {"opaque": "Model", "text": ""}
    assert held == {"object": "Model", "attributes": {"step": {"value": 1}, "me": me}}


def test_a_value_that_holds_itself() -> None:
    items: list[Any] = [1]
    items.append(items)
    assert Holder().hold(items)["list"][1] == {"opaque": "list", "text": ""}


def test_save_and_load(tmp_path: Path) -> None:
    held = Holder().hold(
        [
            np.arange(3.0),
            np.float32("nan"),
            "é",
            float("inf"),
            np.array(["a"]),
            {"x": 2**70},
        ]
    )
    save(tmp_path / "observed", {"calls": [held]})
    items = load(tmp_path / "observed")["calls"][0]["list"]
    assert items[0]["array"].tolist() == [0, 1, 2]
    assert np.isnan(items[1]["scalar"])
    assert items[2:4] == [{"value": "é"}, {"value": float("inf")}]
    assert items[4]["array"].tolist() == ["a"]
    assert items[5] == {"dict": {"'x'": {"value": 2**70}}}


def test_nothing_is_pickled(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="Model can't be saved"):
        save(tmp_path / "observed", Model())
