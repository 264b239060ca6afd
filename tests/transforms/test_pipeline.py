"""From text to text and findings: whatever goes in, nothing but lifted functions changes."""

from __future__ import annotations

import ast
import random
import textwrap
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_writer import Writer
from timeouts import TooLong, within
from tricky_files import TRICKY

from graphlift.codemods.pipeline import Unreadable, check, parse, rewrite
from graphlift.transforms.facts.kind_notation import parse as kind
from graphlift.transforms.facts.profile import Profile, Recorded, fingerprint
from graphlift.transforms.options import Options

LIFTABLE = '''\
"""A module."""
import tensorflow as tf


def f(x: tf.Tensor):
    # why
    if tf.reduce_sum(x) > 0.0:  # a test
        y = x * 2.0
    else:
        y = -x
    return y  # end
'''

REFUSED = """\
import tensorflow as tf


def f(x: tf.Tensor):
    if tf.reduce_sum(x) > 0.0:
        x = unknown_function(x)
    return x + tf.random.uniform([])
"""

OPTIONS = Options()


def rewritten(text: str, options: Options = OPTIONS) -> str:
    return rewrite(text, "m.py", options).text


# ---- what stays


def test_what_is_selected_is_found_where_it_needs_more_than_that() -> None:
    text = """
import tensorflow as tf

def f(x: tf.Tensor):
    if tf.reduce_sum(x) > 0.0:
        print("positive")
    return tf.sin(x)
"""
    (found,) = check(text, "m.py", Options(select=frozenset({"GL101"}))).findings
    assert (found.line, found.code, found.applicability) == (5, "GL101", "manual")
    assert found.message == (
        "this `if` is decided by a tensor; `f` stays eager: "
        "GL201 python-print is not to be applied, and it needs that"
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "# tensorflow\n",
        "import os\n\n\ndef f(x):\n    if x: return 1\n",
        "import tensorflow as tf\n",
        "import tensorflow as tf\n\n\ndef f(x):\n    return x + 1\n",
        "import tensorflow as tf; x = tf.constant(1)",
        '"""tensorflow"""\r\nimport os\r\n',
        "class C:\n\tdef keras(self): pass\n",
        "\x0cimport keras\n",
    ],
)
def test_files_without_tensor_work_stay(text: str) -> None:
    found = rewrite(text, "m.py", OPTIONS)
    assert found.text == text
    assert found.lifted == ()
    assert check(text, "m.py", OPTIONS).findings == found.findings == ()


@pytest.mark.parametrize("name", TRICKY)
def test_tricky_functions_without_tensors_stay(name: str) -> None:
    text = "import tensorflow as tf\n" + textwrap.dedent(TRICKY[name])
    assert rewritten(text) == text


def test_what_is_refused_stays() -> None:
    found = rewrite(REFUSED, "m.py", OPTIONS)
    assert found.text == REFUSED
    assert [f.function for f in found.findings] == ["f"]
    assert found.findings == check(REFUSED, "m.py", OPTIONS).findings


# ---- what changes


def test_a_function_is_lifted() -> None:
    found = rewrite(LIFTABLE, "m.py", OPTIONS)
    assert found.lifted == ("f",)
    assert found.findings == ()
    assert "tf.cond" in found.text and "@tf.function" in found.text
    assert found.text.count("#") == LIFTABLE.count("#")
    head = LIFTABLE.partition("def f")[0]
    assert found.text.startswith(head)


def test_findings_have_places() -> None:
    findings = check(LIFTABLE, "m.py", OPTIONS).findings
    assert findings
    lines = LIFTABLE.splitlines()
    for finding in findings:
        assert finding.function == "f"
        assert (finding.line, finding.column) < (finding.end_line, finding.end_column)
        assert finding.end_column <= len(lines[finding.end_line - 1]) + 1
    assert list(findings) == sorted(findings)


def test_columns_count_characters() -> None:
    draw = "tf.random.uniform([])"
    text = LIFTABLE.replace("    if tf", f"    'ä😀'; x = x + {draw}\n    if tf")
    columns = {f.line: f.column for f in check(text, "m.py", OPTIONS).findings}
    assert columns == {7: text.splitlines()[6].index(draw) + 1}


def test_a_coding_comment_is_of_the_file_and_not_of_its_text() -> None:
    comment, cafe = (
        "# -*- coding: latin-1 -*-\n",
        "    print('café'); print(x)\n    if tf",
    )
    text = LIFTABLE.replace("    if tf", cafe)
    assert rewritten(comment + text) == comment + rewritten(text)


@pytest.mark.parametrize("text", [LIFTABLE, REFUSED])
def test_twice_is_once(text: str) -> None:
    once = rewrite(text, "m.py", OPTIONS)
    twice = rewrite(once.text, "m.py", OPTIONS)
    assert twice.text == once.text
    assert twice.lifted == ()


def test_twice_is_once_for_random_programs() -> None:
    for number in range(15):
        text = Writer(random.Random(f"twice {number}")).program().text
        once = rewritten(text)
        assert rewritten(once) == once, text


def test_narrow_texts_are_python() -> None:
    for number in range(15):
        text = Writer(random.Random(f"width {number}")).program().text
        ast.parse(rewritten(text, Options(line_length=40)))


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_newlines_stay(newline: str) -> None:
    made = rewritten(LIFTABLE.replace("\n", newline))
    assert made.replace(newline, "\n") == rewritten(LIFTABLE)


def test_no_newline_at_the_end_stays_so() -> None:
    assert rewritten(LIFTABLE.rstrip("\n")) == rewritten(LIFTABLE).rstrip("\n")


def test_what_stands_around_stays() -> None:
    before = "import os  \n\x0c\n# -- é --\nif os: x = 1; y = 2\n\n"
    after = "\n\n\nclass C :\n\n  pass\n\n\x0c\n\n# end"
    text = before + LIFTABLE.partition('"""\n')[2] + after
    made = rewritten(text)
    assert made.startswith(before)
    assert made.endswith(after)
    assert "tf.cond" in made


def test_nothing_is_found_where_no_tensor_was_seen() -> None:
    text = """
import argparse
import tensorflow as tf

def parsed():
    parser = argparse.ArgumentParser()
    return counted([vars(parser.parse_args([]))])

def counted(words):
    found = {}
    for word in words:
        found[word] = found.get(word, 0) + 1
    return parsed() if None in found else sorted(found)
"""
    functions = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            source = fingerprint(text.splitlines(), node)
            words = {"words": kind("list(str)")} if node.args.args else {}
            seen = Recorded(source, 3, words, kind("list(str)"))
            functions[f"m.py::{node.name}"] = seen
    profile = Profile(Path(), functions)
    assert check(text, "m.py", OPTIONS, profile).findings == ()


def test_nothing_is_found_where_python_only_keeps_tensors() -> None:
    """No graph would do anything in it, whatever state it keeps; one that state of Python's steers could be one."""
    text = """
        import tensorflow as tf

        LOG = []
        CALLS = 0

        def kept(x: tf.Tensor):
            global CALLS
            CALLS += 1
            LOG.append(x)
            print("at", CALLS)
            return {"x": x}

        def steered(x: tf.Tensor):
            global CALLS
            CALLS += 1
            return LOG[CALLS](x)
    """
    found = check(textwrap.dedent(text), "m.py", OPTIONS).findings
    assert {finding.function for finding in found} == {"steered"}


def told_of_vectors(text: str, code: str) -> str:
    """The one message of a rule about an `f(x)` that was recorded with vectors of any length."""
    node = ast.parse(text).body[1]
    source = fingerprint(text.splitlines(), node)  # type: ignore[arg-type]
    seen = Recorded(source, 3, {"x": kind("tensor(float32, None)")})
    found = check(text, "m.py", OPTIONS, Profile(Path(), {"m.py::f": seen})).findings
    (message,) = (f.message for f in found if f.code == code)
    return message


def test_advice_fits_the_reason() -> None:
    """Not what is said of the rule whose place it is: no TensorArray makes a list longer."""
    text = """
import tensorflow as tf

def f(x):
    return tf.expand_dims([1] * x.shape[0], 1)
"""
    message = told_of_vectors(text, "GL203")
    assert "a list is as long as a tensor says" in message
    assert message.endswith("; make a tensor of it with `tf.fill`")


def test_what_may_be_none_is_named() -> None:
    text = """
import tensorflow as tf

def f(x):
    least = None
    kept = []
    for v in x:
        if least is None or v < least:
            least = v
    for v in x:
        if v > 0.0:
            kept.append(least * 2.0)
    return tf.stack(kept)
"""
    message = told_of_vectors(text, "GL401")
    assert "`least` may be None in `least * 2.0`" in message
    assert message.endswith(
        "; say `assert least is not None` before, or let it start as a tensor"
    )


def test_ignored_rules_are_not_reported() -> None:
    codes = {f.code for f in check(REFUSED, "m.py", OPTIONS).findings}
    assert codes
    assert check(REFUSED, "m.py", Options(ignore=frozenset(codes))).findings == ()
    assert check(REFUSED, "m.py", Options(select=frozenset({"GL999"}))).findings == ()


@pytest.mark.parametrize(
    ("comment", "exempt"),
    [
        ("noqa", True),
        ("NOQA: GL102, GL101 the arms differ", True),
        ("a test  # noqa:tensor-if", True),
        ("noqa: E501", False),
        ("noqa:", False),
        ("what noqablah is", False),
    ],
)
def test_a_comment_exempts_a_line_from_rules(comment: str, exempt: bool) -> None:
    text = LIFTABLE.replace("a test", comment)
    assert (rewritten(text) == text) == exempt
    assert (check(text, "m.py", OPTIONS).findings == ()) == exempt


def test_a_comment_keeps_a_function_eager() -> None:
    text = LIFTABLE.replace("):\n", "):  # noqa: GL401\n", 1)
    assert rewritten(text) == text
    other = "\n\ndef g(x: tf.Tensor):\n    return f(x) if tf.reduce_all(x > 1) else x\n"
    [finding] = check(text + other, "m.py", OPTIONS).findings
    assert "it calls `f`: a comment says that it is to be no graph" in finding.message


@given(st.sampled_from(["x", "é", "名"]), st.integers(0, 3))
def test_names_of_all_letters(name: str, blank: int) -> None:
    text = LIFTABLE.replace("x", name).replace(
        "    return", "\n" * blank + "    return"
    )
    made = rewritten(text)
    assert "tf.cond" in made
    ast.parse(made)


# ---- profiles


def profile(text: str, path: str = "m.py", *raises: str) -> Profile:
    (node,) = [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)]
    source = fingerprint(text.splitlines(), node)
    parameters = {"x": kind("tensor(float32, None, 3)")}
    recorded = Recorded(source, calls=3, parameters=parameters, raises=raises)
    return Profile(Path(), {f"{path}::f": recorded})


def test_the_profile_tells_kinds() -> None:
    text = LIFTABLE.replace("x: tf.Tensor", "x")
    assert rewritten(text) == text
    made = rewrite(text, "m.py", OPTIONS, profile(text)).text
    assert "tf.TensorSpec([None, 3], tf.float32)" in made


COROUTINES = {
    "a try": """
        async def f(x):
            try:
                y = tf.linalg.inv(x) * 2.0 + tf.sin(x) - tf.cos(x) * 3.0 + tf.exp(x)
            except tf.errors.InvalidArgumentError:
                y = tf.zeros_like(x)
            return y
        """,
    "a loop": """
        async def f(x):
            total = tf.zeros([])
            for row in [0.5] * 20:
                y = tf.sin(x) * row + tf.cos(x) * tf.exp(x) - tf.tanh(x) * 3.0
                total = total + tf.reduce_sum(y * tf.sqrt(tf.abs(x)) - tf.sin(y))
                OUT.append(float(total))
            return total
        """,
    "a write outside": """
        async def f(x):
            y = tf.sin(x) * 2.0 + tf.cos(x) * tf.exp(x) - tf.tanh(x) * 3.0
            OUT.append(float(tf.reduce_sum(y)))
            return y
        """,
}


@pytest.mark.parametrize("name", COROUTINES)
@pytest.mark.parametrize("asynchronous", [True, False])
def test_no_graph_beside_a_coroutine(name: str, asynchronous: bool) -> None:
    """The same statements are split where the function is none."""
    text = "import tensorflow as tf\nOUT = []\n" + textwrap.dedent(COROUTINES[name])
    text = text if asynchronous else text.replace("async ", "")
    known = {"x": kind("tensor(float32, 3, 3)")}
    node = ast.parse(text).body[-1]
    recorded = Recorded(fingerprint(text.splitlines(), node), 3, parameters=known)  # type: ignore[arg-type]
    made = rewrite(text, "m.py", OPTIONS, Profile(Path(), {"m.py::f": recorded})).text
    assert (made == text) == asynchronous


def test_a_profile_of_another_file_or_text_tells_nothing() -> None:
    text = LIFTABLE.replace("x: tf.Tensor", "x")
    assert rewrite(text, "n.py", OPTIONS, profile(text)).text == text
    changed = text.replace("2.0", "3.0")
    assert rewrite(changed, "m.py", OPTIONS, profile(text)).text == changed


def test_an_item_that_was_not_there_keeps_a_function_eager() -> None:
    text = """\
import tensorflow as tf

RATES = [1.0, 2.0]


def f(x):
    return x * RATES[int(tf.argmax(x[0]))]
"""
    assert "tf.function" in rewrite(text, "m.py", OPTIONS, profile(text)).text
    missed = profile(text, "m.py", "IndexError")
    assert rewrite(text, "m.py", OPTIONS, missed).text == text


@pytest.mark.parametrize("decorated", [False, True])
def test_a_helper_says_that_a_graph_would_not_pay(decorated: bool) -> None:
    """The way out that it names is one."""
    text = """\
import tensorflow as tf


def f(x):
    return x * 2.0 if tf.reduce_sum(x) > 0.0 else tf.sin(x)


def main():
    return [f(x) for x in open("rows")]
"""
    if decorated:
        text = text.replace("def f", "@tf.function\ndef f")
    node = ast.parse(text).body[1]
    seen = Recorded(
        fingerprint(text.splitlines(), node),  # type: ignore[arg-type]
        1,
        {"x": kind("tensor(float32, 3)")},
        callers=("m.py::main",),
    )
    known = Profile(Path(), {"m.py::f": seen})
    found = {f.message for f in check(text, "m.py", OPTIONS, known).findings}
    assert any("put `@tf.function` on it" in message for message in found) != decorated
    assert ("tf.cond" in rewrite(text, "m.py", OPTIONS, known).text) == decorated


def test_a_graph_is_given_what_python_makes_of_numbers_before_it() -> None:
    """A graph of the whole would be traced for each epoch."""
    text = """\
import tensorflow as tf

WEIGHTS = tf.Variable([1.0, 2.0])


def step(x, epoch, rate=0.1, anneal=True):
    if anneal:
        rate = rate / (1 + epoch // 2)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((WEIGHTS * x) ** 2)
    WEIGHTS.assign_sub(rate * tape.gradient(loss, WEIGHTS))
    return loss, rate


def f(x, epoch):
    return step(x, epoch)
"""
    kinds = {
        "x": kind("tensor(float32, 2)"),
        "epoch": kind("int"),
        "rate": kind("float"),
        "anneal": kind("bool"),
    }
    known = {
        f"m.py::{node.name}": Recorded(
            fingerprint(text.splitlines(), node),
            6,
            {a.arg: kinds[a.arg] for a in node.args.args},
            globals={"WEIGHTS": kind("variable(float32, 2)")},
            callers=("m.py::f",) if node.name == "step" else (),
        )
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef)
    }
    made = rewrite(text, "m.py", OPTIONS, Profile(Path(), known)).text
    assert "rate = rate / (1 + epoch // 2)\n    loss = step_graph(x, rate)" in made

    results = []
    for program in (text, made):
        scope: dict[str, Any] = {}
        exec(program, scope)
        tf = scope["tf"]
        calls = [scope["f"](tf.constant([0.5, 0.1]), n) for n in (0, 1, 2, 3, 3, 7)]
        results.append([float(n) for pair in calls for n in pair])
    assert results[0] == pytest.approx(results[1])


def test_what_no_graph_calls_stays_as_it_is() -> None:
    """Its caller could be a graph, but pays for none, and is called by what stays eager."""
    text = """\
import tensorflow as tf


def norm(y):
    total = tf.reduce_sum(y * y)
    if total == 0.0:
        return 0.0
    return float(tf.sqrt(total))


def evaluated(x):
    error = norm(x)
    return tf.reduce_mean(x).numpy(), error


def main():
    return [evaluated(x) for x in open("rows")]
"""
    lines = text.splitlines()
    parameters = {"norm": "y", "evaluated": "x"}
    callers = {"norm": "evaluated", "evaluated": "main"}
    known = {
        f"m.py::{node.name}": Recorded(
            fingerprint(lines, node),
            1,
            {parameters[node.name]: kind("tensor(float32, 3)")},
            callers=(f"m.py::{callers[node.name]}",),
        )
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name in callers
    }
    assert rewrite(text, "m.py", OPTIONS, Profile(Path(), known)).text == text


def test_no_graph_calls_what_gives_eager_code_a_tensor_array() -> None:
    """Its core gives a tensor, which has no `stack`."""
    text = """\
import tensorflow as tf


def halves(n):
    items = tf.TensorArray(tf.float32, size=n)
    for i in tf.range(n):
        items = items.write(i, tf.cast(i, tf.float32) * 0.5)
    return items


def total(n):
    return tf.reduce_sum(halves(n).stack())
"""
    lines, module = text.splitlines(), "m.py::<module>"
    known = {
        f"m.py::{node.name}": Recorded(
            fingerprint(lines, node), 3, {"n": kind("tensor(int32)")}, callers=callers
        )
        for node, callers in zip(
            ast.parse(text).body[1:], [("m.py::total", module), (module,)], strict=True
        )
        if isinstance(node, ast.FunctionDef)
    }
    profile = Profile(Path(), known)
    assert rewrite(text, "m.py", OPTIONS, profile).text == text
    assert "`stack`" in check(text, "m.py", OPTIONS, profile).findings[0].message


# ---- what cannot be read


@pytest.mark.parametrize(
    "text",
    [
        "if tensorflow",
        "def f(:\n  keras\n",
        "keras = 1\n  x = 2\n",
        "x = (\n",
        "print 1\n",
    ],
)
def test_text_that_is_no_python(text: str) -> None:
    for function in (check, rewrite):
        with pytest.raises(SyntaxError):
            function(text, "m.py", OPTIONS)


def lifted(value: str) -> str:
    """A file with a function that is lifted and returns the value."""
    return LIFTABLE.replace("return y", f"return {value}")


@pytest.mark.parametrize(
    "text",
    [
        "tensorflow = " + "(" * 5000 + ")" * 5000,
        lifted("-" * 3000 + "y"),
        lifted("+".join(["y"] * 20000)),
        lifted("y" + ".z" * 20000),
        "tensorflow = 1\nx = '\x00'\n",
        "tensorflow = '\ud800'\n",
    ],
    ids=range(6),
)
def test_text_that_cannot_be_processed(text: str) -> None:
    for function in (check, rewrite):
        with pytest.raises((Unreadable, SyntaxError)):
            function(text, "m.py", OPTIONS)


DEEP = {
    "parentheses": lifted("{opening}y{closing}"),
    "not": lifted("{nots}y"),
    "minus": lifted("{minuses}y"),
    "sums": lifted("y{sums}"),
    "lambdas": lifted("({lambdas}y)"),
    "elif": LIFTABLE + "\n\nif x: pass\n{elifs}",
    "blocks": LIFTABLE.replace("    return", "    {blocks}\n    return"),
}


@pytest.mark.parametrize("count", [8, 90, 180, 400])
@pytest.mark.parametrize("name", DEEP)
def test_nesting_is_read_or_refused(name: str, count: int) -> None:
    """Neither a crash nor anything but the two exceptions, however deep; and in good time."""
    ifs = [f"if x:\n{' ' * (5 + i)}" for i in range(min(count, 90))]
    deep = DEEP[name].format(
        opening="(" * count,
        closing=")" * count,
        nots="not " * count,
        minuses="-" * count,
        sums=" + y" * count,
        lambdas="lambda: " * count,
        elifs="elif x: pass\n" * count,
        blocks="".join(ifs) + "pass",
    )
    made = ""
    try:
        with within(10):
            made = rewritten(deep)
    except (Unreadable, SyntaxError):
        assert count > 8
        return
    except TooLong:
        pass
    assert made, "it takes too long"
    ast.parse(made)


def test_parse() -> None:
    assert isinstance(parse("x = 1\n"), ast.Module)
    with pytest.raises(Unreadable, match="deep"):
        parse("-" * 20000 + "1")


PARTLY = """
import tensorflow as tf


def early(x: tf.Tensor):
    if tf.reduce_sum(x) > 0.0:
        return -x
    return x


def loop(x: tf.Tensor):
    total = tf.constant(0.0)
    for v in x:
        if v > 3.0:
            break
        total = total + v
    return total


def plain(x: tf.Tensor, y: tf.Tensor):
    z = x * y + tf.sin(x) - tf.cos(y)
    return z * z + tf.exp(-z) / (1.0 + tf.exp(z))
"""


@pytest.mark.parametrize("code", ["GL101", "GL105", "GL107", "GL401"])
@pytest.mark.parametrize("field", ["select", "ignore"])
def test_a_function_is_lifted_whole_or_not_at_all(field: str, code: str) -> None:
    def functions(text: str) -> dict[str, str]:
        tree = ast.parse(text)
        found = (n for n in tree.body if isinstance(n, ast.FunctionDef))
        return {node.name: ast.unparse(node) for node in found}

    options = Options(**{field: frozenset({code})})
    before, whole = (
        functions(PARTLY),
        functions(rewrite(PARTLY, "m.py", Options()).text),
    )
    assert all(before[name] != whole[name] for name in before)
    for name, text in functions(rewrite(PARTLY, "m.py", options).text).items():
        assert text in (before[name], whole[name])


# ---- how much work


COUNTING = """
total_{0} = 0.0

def f_{0}(x):
    global total_{0}
    total_{0} = total_{0} + 1.0
    while x > total_{0}:
        x = x / 2.0
    print("halved", x)
    return x
"""


def nodes_visited(functions: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many nodes lifting a module of so many functions goes to the parts of."""
    text = "".join(
        ["import tensorflow as tf\n", *map(COUNTING.format, range(functions))]
    )
    lines, scalar = text.splitlines(), kind("tensor(float32)")
    seen = {
        f"m.py::{node.name}": Recorded(
            fingerprint(lines, node),
            3,
            {"x": scalar},
            scalar,
            callers=("run.py::main",),
        )
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef)
    }
    visited = 0
    children = ast.iter_child_nodes

    def counted(node: ast.AST) -> object:
        nonlocal visited
        visited += 1
        return children(node)

    with monkeypatch.context() as patch:
        patch.setattr(ast, "iter_child_nodes", counted)
        result = rewrite(text, "m.py", OPTIONS, Profile(Path(), seen))
    assert len(result.lifted) == functions
    return visited


def test_the_work_on_a_function_does_not_grow_with_its_module(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few, many = nodes_visited(8, monkeypatch), nodes_visited(32, monkeypatch)
    assert many < 5 * few
