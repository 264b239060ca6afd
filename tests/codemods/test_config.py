"""Configuration: where it is found, what it means, what is refused."""

import json
from pathlib import Path

import pytest

from graphlift.codemods import config
from graphlift.codemods.config import ConfigError


def settings(put, body, name="pyproject.toml"):
    put(name, f"[tool.graphlift]\n{body}\n")
    return config.load([Path(".")])


def test_without_configuration(folder):
    got = config.load([Path(".")])
    assert got == config.Settings(folder)
    options = got.options(Path("a.py"))
    assert (options.line_length, options.unroll_threshold) == (88, 16)
    assert (options.randomness, options.unsafe) == ("exact", False)


def test_all_settings(put, folder):
    got = settings(
        put,
        """
        select = ["GL101", "python-print"]
        ignore = ["GL205"]
        unsafe = true
        exclude = ["gen/"]
        line-length = 100
        unroll-threshold = 8
        profile = "p.json"
        randomness = "exact"
        baseline = "sub/b.json"
        per-file-ignores = { "tests/*" = ["tensor-if"] }
        """,
    )
    assert got == config.Settings(
        root=folder,
        select=frozenset({"GL101", "GL201"}),
        ignore=frozenset({"GL205"}),
        unsafe=True,
        per_file_ignores=(("tests/*", frozenset({"GL101"})),),
        exclude=("gen/",),
        line_length=100,
        unroll_threshold=8,
        profile=folder / "p.json",
        randomness="exact",
        baseline=folder / "sub/b.json",
    )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('selct = ["GL101"]', "selct: no such setting; did you mean 'select'"),
        ('select = "GL101"', "select: a list of strings is wanted, not 'GL101'"),
        ('select = ["GL999"]', "select: no rule is called 'GL999'$"),
        ("select = [1]", "select: a list of strings"),
        ('line-length = "88"', "line-length: a whole number above 0"),
        ("line-length = true", "line-length: a whole number above 0"),
        ("line-length = 0", "line-length: a whole number above 0"),
        ("unsafe = 1", "unsafe: true or false is wanted, not 1"),
        ('randomness = "graph"', "randomness: only 'exact' is built, not 'graph'"),
        ('select = ["GL0"]', "select: no rule is called 'GL0'$"),
        ("profile = 1", "profile: a string is wanted"),
        ("per-file-ignores = []", "per-file-ignores: a table"),
        ("x = ", "not TOML"),
    ],
)
def test_what_is_refused(put, body, message):
    with pytest.raises(ConfigError, match=message) as error:
        settings(put, body)
    assert "pyproject.toml" in str(error.value)


def test_the_nearest_file_with_a_table_counts(put, folder):
    put("pyproject.toml", "[tool.graphlift]\nline-length = 70\n")
    put("sub/pyproject.toml", "[tool.other]\n")
    put("sub/deep/pyproject.toml", "[tool.graphlift]\nline-length = 60\n")
    put("sub/deep/a.py", "")
    put("sub/b.py", "")

    def length(*paths):
        return config.load([Path(path) for path in paths]).line_length

    assert length("sub/deep/a.py") == 60
    assert length("sub/deep") == 60
    assert length("sub/b.py") == 70
    assert length("sub/deep/a.py", "sub/b.py") == 70
    assert length("-") == 70


def test_a_named_file_counts(put, folder):
    put("pyproject.toml", "[tool.graphlift]\nline-length = 70\n")
    other = put("other.toml", "[tool.graphlift]\nline-length = 60\n")
    assert config.load([Path(".")], other).line_length == 60
    with pytest.raises(ConfigError, match=r"no \[tool.graphlift\]"):
        config.load([], put("none.toml", ""))
    with pytest.raises(ConfigError, match="No such file"):
        config.load([], Path("nowhere.toml"))


def test_a_call_chooses_over_the_file(put):
    got = settings(put, 'select = ["GL101"]\nignore = ["GL205"]')
    chosen = got.chosen(["GL201,GL205"], ["tensor-if"], True)
    assert chosen.select == {"GL201", "GL205"}
    assert chosen.ignore == {"GL205", "GL101"}
    assert chosen.unsafe
    assert got.chosen([], [], False) == got


def test_ignores_of_one_file(put):
    got = settings(
        put, 'per-file-ignores = { "tests/" = ["GL101"], "*_x.py" = ["GL201"] }'
    )
    assert got.options(Path("a.py")).ignore == set()
    assert got.options(Path("tests/a.py")).ignore == {"GL101"}
    assert got.options(Path("sub/tests/a_x.py").absolute()).ignore == {"GL101", "GL201"}


PROFILE = json.dumps({"version": 1, "functions": {}})


def test_the_profile_is_looked_for_up_to_the_project_root(put, folder, monkeypatch):
    put("../.graphlift/profile.json", PROFILE)
    put("sub/deep/a.py", "")
    monkeypatch.chdir(folder / "sub/deep")
    none = config.Settings(folder)
    assert config.profile_path(none) is None
    profile = put(".graphlift/profile.json", PROFILE)
    assert config.profile_path(none) == profile
    near = put("sub/.graphlift/profile.json", PROFILE)
    assert config.profile_path(none) == near
    assert config.profile_path(config.Settings(folder, profile=profile)) == profile
    assert config.profile_path(none, Path("given.json")) == Path("given.json")


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{", b"\xff", b'{"version": 2, "functions": {}}']
)
def test_a_broken_profile_is_refused(put, content):
    with pytest.raises(ConfigError, match=r"profile\.json"):
        config.load_profile(put(".graphlift/profile.json", content))


def test_a_missing_profile_is_refused(folder):
    with pytest.raises(ConfigError, match="No such file"):
        config.load_profile(Path("nowhere.json"))
