"""Plain names: numbers at their ends go where nothing else has the plain name."""

from __future__ import annotations

import ast

import pytest

from graphlift.transforms.plain_names import with_plain_names
from graphlift.transforms.source import Source
from graphlift.transforms.steps import Code, Define, Plan, Step, texts

FILE = """
TABLE = [1.0]
def f(x, total, own_2):
    for i in x:
        total += own_2
    return total
"""


def plain(steps: list[Step]) -> list[str]:
    """The texts of a shell with these steps."""
    source = Source(FILE, ast.parse(FILE))
    node = source.tree.body[1]
    assert isinstance(node, ast.FunctionDef)
    made = with_plain_names(Plan(node, "f", [], shell=steps), source)
    return [*texts(made.shell)]


def loop(index: str, body: list[Step], name: str = "body") -> list[Step]:
    """The steps of a loop whose body does this first."""
    call = f"_, s = tf.while_loop(lambda {index}, s: {index} < 3, {name}, (0, s))"
    return [
        Define(name, (index, "s"), [*body, Code(f"return {index} + 1, s")]),
        Code(call),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("y, failed_3 = f_graph(x)", "y, failed = f_graph(x)"),
        ("failed, failed_3 = f_graph(x)", "failed, failed_2 = f_graph(x)"),
        ("result_1, result_2 = f_graph(x)", "result_1, result_2 = f_graph(x)"),
        ("result_1, y = f_graph(x)", "result, y = f_graph(x)"),
        ("result_1, y, result_3 = f_graph(x)", "result_1, y, result_3 = f_graph(x)"),
        ("own_2 = f_graph(x)", "own_2 = f_graph(x)"),
        ("x_2 = f_graph(1.0)", "x_2 = f_graph(1.0)"),
        ("TABLE_2, max_2 = f_graph(x)", "TABLE_2, max_2 = f_graph(x)"),
        ("y_2 = g('y_2')", "y_2 = g('y_2')"),
        ("y_2 = g(y_2=1)", "y_2 = g(y_2=1)"),
        ("y_2 = h.y_2", "y = h.y_2"),
    ],
)
def test_in_a_shell(text: str, expected: str) -> None:
    assert plain([Code(text)]) == [expected]


def test_a_read_of_what_is_set_elsewhere_stays() -> None:
    assert plain([Code("y = w_2 * x")]) == ["y = w_2 * x"]


def test_loops_behind_each_other_have_one_index() -> None:
    steps = [*loop("i", []), *loop("i_2", [Code("v_2 = t[i_2]")], "body_2")]
    assert plain(steps)[2:] == [
        "v = t[i]",
        "return i + 1, s",
        "_, s = tf.while_loop(lambda i, s: i < 3, body_2, (0, s))",
    ]


def test_loops_in_each_other_have_indexes_of_their_own() -> None:
    steps = loop("i_2", loop("i_3", [], "inner_body"))
    assert plain(steps) == [
        "return j + 1, s",
        "_, s = tf.while_loop(lambda j, s: j < 3, inner_body, (0, s))",
        "return i + 1, s",
        "_, s = tf.while_loop(lambda i, s: i < 3, body, (0, s))",
    ]


def test_what_is_set_around_a_function_is_not_hidden_by_it() -> None:
    steps = [Code("limit = n + 1"), *loop("i", [Code("limit_2 = m + 1")])]
    assert plain(steps)[1] == "limit_2 = m + 1"
