"""Profiles: which recorded entry a function has, when it is out of date, and files that are none."""

from __future__ import annotations

import ast
import hashlib
import json
from pathlib import Path

import pytest

from graphlift.transforms.facts.kind_notation import parse
from graphlift.transforms.facts.kinds import INT, UNKNOWN
from graphlift.transforms.facts.profile import FunctionNode, Profile, fingerprint

TEXT = '''\
import tensorflow as tf


@tf.function
@other(
    1,
)
def f(x):
    """ä"""
    return x


class C:
    def f(self, x):
        if x:
            return 1

    @property
    def g(self):
        def inner():
            return 2

        return inner
'''


def function(text: str, name: str) -> tuple[list[str], FunctionNode]:
    """The lines of a text, and the last of its functions of a name."""
    nodes = ast.walk(ast.parse(text))
    found = [n for n in nodes if isinstance(n, FunctionNode) and n.name == name]
    return text.split("\n"), found[-1]


def profile_file(folder: Path, data: object) -> Path:
    path = folder / ".graphlift" / "profile.json"
    path.parent.mkdir()
    text = data if isinstance(data, str) else json.dumps(data)
    path.write_text(text, encoding="utf-8")
    return path


# ---- fingerprints


def test_fingerprint_is_of_the_dedented_code_with_its_decorators() -> None:
    wanted = (
        "@property\ndef g(self):\n    def inner():\n        return 2\n    return inner"
    )
    digest = hashlib.sha256(wanted.encode()).hexdigest()
    assert fingerprint(*function(TEXT, "g")) == digest[:16]


def test_fingerprint_does_not_depend_on_the_place() -> None:
    text = "def f(x):\n    return x\n"
    moved = "\n\nclass C:\n    def f(x):\n        return x\n"
    assert fingerprint(*function(text, "f")) == fingerprint(*function(moved, "f"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return x", "return +x"),
        ("@tf.function", "@tf.function()"),
        ("    1,", "    2,"),
        ('"""ä"""', '"""ö"""'),
        ("def f(x)", "def f( x)"),
    ],
)
def test_any_change_shows(old: str, new: str) -> None:
    lines, node = function(TEXT.partition("class")[0], "f")
    changed = TEXT.partition("class")[0].replace(old, new)
    assert fingerprint(lines, node) != fingerprint(*function(changed, "f"))


def test_comments_and_blank_lines_do_not_show(tmp_path: Path) -> None:
    """The places of what was recorded move with the lines."""
    text = 'def f(x):\n    y = """\n\n# 1"""\n    return y\n'
    changed = text.replace("x):\n", "x):  # why\n\n    # so\n").replace(
        "    return", "\n    return"
    )
    other = text.replace("# 1", "# 2")
    same, new = function(text, "f"), function(changed, "f")
    assert fingerprint(*same) == fingerprint(*new) != fingerprint(*function(other, "f"))
    entry = {"source": fingerprint(*same), "names": {"1:4:y": "str"}}
    data = {"version": 1, "functions": {"m.py::f": entry}}
    found = Profile.load(profile_file(tmp_path, data)).get("m.py", "f", *new)
    assert found is not None and [*found.names] == ["3:4:y"]


def test_a_change_elsewhere_does_not_show() -> None:
    changed = TEXT.replace("return 1", "return 3\n").replace(
        "import", "import x; import"
    )
    assert fingerprint(*function(TEXT, "g")) == fingerprint(*function(changed, "g"))


def test_characters_that_are_no_text() -> None:
    text = "def f():\n    return '\\ud800'\n"
    lines = [line.replace("\\ud800", "\ud800") for line in text.split("\n")]
    assert len(fingerprint(lines, function(text, "f")[1])) == 16


# ---- entries


def test_entry_of_a_function(tmp_path: Path) -> None:
    lines, node = function(TEXT, "g")
    entry = {
        "source": fingerprint(lines, node),
        "calls": 3,
        "parameters": {"self": "object(m.C)", "x": "tensor(float32, None)"},
        "returns": "int | tensor(float32)",
        "globals": {"RATE": "float"},
        "closure": {"n": "int"},
        "attributes": {"self.w": "variable(float32, 3)"},
        "names": {"1:4:y": "int"},
        "tests": {"2:7": {"kind": "bool", "true": 1, "false": 2}},
        "loops": {"2:4": {"trips": [0, 3]}},
        "changed": ["self.step"],
        "random": ["tf"],
        "callers": ["m.py::<module>"],
        "raises": ["ValueError"],
    }
    path = profile_file(tmp_path, {"version": 1, "functions": {"m.py::C.g": entry}})
    profile = Profile.load(path)
    assert profile.root == tmp_path
    found = profile.get("m.py", "C.g", lines, node)
    assert found
    assert found.calls == 3
    assert str(found.parameters["x"]) == "tensor(float32, None)"
    assert found.returns == parse("int | tensor(float32)")
    assert found.globals == {"RATE": parse("float")}
    assert found.closure == {"n": INT}
    assert found.names == {"1:4:y": INT}
    assert found.changed == {"self.step"}
    assert found.random == {"tf"}
    assert found.callers == ("m.py::<module>",)
    assert found.raises == ("ValueError",)
    assert found.tests["2:7"]["true"] == 1
    assert found.loops["2:4"]["trips"] == [0, 3]


def test_members_may_be_left_out(tmp_path: Path) -> None:
    entry = {"source": "0" * 16}
    path = profile_file(tmp_path, {"version": 1, "functions": {"m.py::f": entry}})
    found = Profile.load(path).functions["m.py::f"]
    assert found.calls == 0
    assert found.returns == UNKNOWN
    assert not found.parameters and not found.changed


def test_stale_or_absent_entries_are_none(tmp_path: Path) -> None:
    lines, node = function(TEXT, "g")
    entry = {"source": fingerprint(lines, node)}
    path = profile_file(tmp_path, {"version": 1, "functions": {"m.py::C.g": entry}})
    profile = Profile.load(path)
    assert profile.get("m.py", "C.g", lines, node)
    assert profile.get("other.py", "C.g", lines, node) is None
    assert profile.get("m.py", "g", lines, node) is None
    changed = TEXT.replace("return 2", "return 3")
    assert profile.get("m.py", "C.g", *function(changed, "g")) is None


@pytest.mark.parametrize(
    "data",
    [
        "",
        "{",
        "[]",
        "null",
        "1",
        {},
        {"version": 2, "functions": {}},
        {"version": 1},
        {"version": 1, "functions": []},
        {"version": 1, "functions": {"m.py::f": {}}},
        {"version": 1, "functions": {"m.py::f": None}},
        {"version": 1, "functions": {"m.py::f": {"source": "0", "returns": "in t"}}},
        {
            "version": 1,
            "functions": {"m.py::f": {"source": "0", "returns": "tensor()"}},
        },
        {"version": 1, "functions": {"m.py::f": {"source": "0", "calls": "many"}}},
        {
            "version": 1,
            "functions": {"m.py::f": {"source": "0", "parameters": ["int"]}},
        },
        {"version": 1, "functions": {"m.py::f": {"source": "0", "calls": []}}},
        {"version": 1, "functions": {"m.py::f": {"source": "0", "changed": 1}}},
    ],
)
def test_files_that_are_no_profile(tmp_path: Path, data: object) -> None:
    path = profile_file(tmp_path, data)
    with pytest.raises(ValueError) as raised:
        Profile.load(path)
    assert "profile" in str(raised.value) or "kind" in str(raised.value)


def test_file_that_is_not_utf8(tmp_path: Path) -> None:
    path = profile_file(tmp_path, "{}")
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError):
        Profile.load(path)


def test_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        Profile.load(tmp_path / "profile.json")
