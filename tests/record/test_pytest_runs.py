"""Recording a test run: pytest compiles test modules itself."""

import re
import sys

TESTS = """
import pytest
from code_under_test import double


def expected(x):
    if x > 1:
        return x * 2
    return x + x


@pytest.fixture
def one():
    value = 1
    return value


def test_passes(one):
    assert double(one) == expected(one) and one


@pytest.mark.parametrize("x", [2, 3])
def test_fails(x):
    result = double(x)
    assert result == expected(x) + 1, "message"
"""


def summary(text):
    return re.sub(r"in [\d.]+s", "in TIME", text)


def test_a_test_run(project):
    project.write("code_under_test.py", "def double(x):\n    return 2 * x\n")
    project.write("tests/test_double.py", TESTS)
    project.write("tests/conftest.py", "def pytest_configure(config):\n    pass\n")
    project.write("pyproject.toml", '[tool.pytest.ini_options]\npythonpath = ["."]\n')
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    plain = project.plain(*command)
    before = {path: path.read_bytes() for path in project.folder.rglob("*.pyc")}
    assert any("pytest" in path.name for path in before)
    recorded = project.record(*command)
    assert plain.returncode == recorded.returncode == 1
    assert summary(recorded.stdout) == summary(plain.stdout)
    assert "where 4 = expected(2)" in plain.stdout
    assert {path: path.read_bytes() for path in project.folder.rglob("*.pyc")} == before
    functions = project.functions
    assert functions["code_under_test.py::double"]["callers"] == [
        "tests/test_double.py::test_fails",
        "tests/test_double.py::test_passes",
    ]
    assert functions["tests/test_double.py::expected"]["tests"] == {
        "1:7": {"kind": "bool", "true": 2, "false": 1}
    }
    assert functions["tests/test_double.py::test_fails"]["names"] == {
        "1:4:result": "int"
    }
    assert functions["tests/test_double.py::test_fails"]["raises"] == ["AssertionError"]
    assert "tests/conftest.py::pytest_configure" in functions


def test_pytest_by_its_name(project):
    project.write("test_one.py", "def test_one():\n    pass\n")
    done = project.record("pytest", "-q", PATH="")
    assert done.returncode == 0, done.stderr
    assert [*project.functions] == ["test_one.py::test_one"]
