"""Recording changes nothing that a program does, prints or raises."""

import os
import re
import signal
import sys
import time

import pytest

PYTHON = sys.executable

SCRIPT = '''
"""The script's docstring."""
from __future__ import annotations
import sys, os
import helper


class Odd:
    def __eq__(self, other):
        print("eq")
        return self

    def __bool__(self):
        print("bool")
        return True

    def __getattr__(self, name):
        print("getattr", name)
        raise AttributeError(name)

    def __hash__(self):
        print("hash")
        return 1

    @property
    def weight(self):
        print("weight")
        return 1

    def use(self):
        return self.weight if self == 1 else 2


def side(x):
    print("side", x)
    return x


def order(a):
    if side(a) < side(1) < side(2) and not side(0) or side(3):
        print("yes")
    x = y = side(4)
    z: int = side(5)
    while (w := side(x)) > 3:
        x -= 1
    else:
        print("else", w)
    for i in [side(1), side(2)]:
        if i == 2:
            break
    else:
        print("no break")
    del y
    print(sorted(locals()), [side(q) for q in (1, 2) if side(q) > 1])
    return side(lambda: x)()


def closing():
    try:
        yield 1
        yield 2
    finally:
        print("closed")


def main():
    odd = Odd()
    print(odd.use())
    order(0)
    for _ in closing():
        break
    print(helper.describe(), helper.Child().name())
    print(__name__, __doc__, __file__, __package__, __spec__, type(__loader__).__name__)
    print(sys.argv, sys.path[0], sorted(k for k in globals() if "graphlift" in k))
    print([name for name in sys.path if "record" in name])
    exec("q = 1\\nprint(q)")
    helper.fail(3)


if __name__ == "__main__":
    main()
'''

HELPER = '''
import inspect
import warnings


class Base:
    def name(self):
        return "base"


class Child(Base):
    def name(self):
        return super().name() + __class__.__name__


def describe():
    """Its own text."""
    return inspect.getsource(describe), describe.__doc__, inspect.signature(fail)


def fail(n: int, *, why="here"):
    if n:
        try:
            fail(n - 1)
        finally:
            n = 0
    warnings.warn("soon", stacklevel=2)
    raise (
        ValueError
        ("wrong")
    )
'''


def steady(text):
    return re.sub("0x[0-9a-f]+", "0x", text)


@pytest.fixture
def script(project):
    project.write("helper.py", HELPER)
    project.write("script.py", SCRIPT)
    return project


@pytest.mark.parametrize(
    "command",
    [
        [PYTHON, "script.py", "a", "--b"],
        [PYTHON, "-W", "error", "./script.py"],
        [PYTHON, "-m", "script", "a"],
        [PYTHON, "-c", "import script; script.main()"],
    ],
)
def test_output_exit_code_and_traceback_are_the_same(script, command):
    plain, recorded = script.plain(*command), script.record(*command)
    assert plain.returncode == 1 and "in fail" in plain.stderr
    assert steady(recorded.stdout) == steady(plain.stdout)
    assert recorded.stderr == plain.stderr
    assert recorded.returncode == plain.returncode
    assert script.functions["helper.py::fail"]["raises"]


def test_no_compiled_module_is_left(script):
    script.record(PYTHON, "script.py")
    assert [*script.folder.rglob("*.pyc")] == []


def test_compiled_modules_of_earlier_runs_are_not_taken(script):
    script.plain(PYTHON, "script.py")
    before = {path: path.read_bytes() for path in script.folder.rglob("*.pyc")}
    assert before
    script.record(PYTHON, "script.py")
    assert "helper.py::fail" in script.functions
    assert {path: path.read_bytes() for path in script.folder.rglob("*.pyc")} == before


def test_a_bare_script_runs_in_our_interpreter(script):
    recorded = script.record("script.py", "x", VIRTUAL_ENV="")
    plain = script.plain(PYTHON, "script.py", "x")
    assert steady(recorded.stdout) == steady(plain.stdout)


def test_a_script_in_a_folder_imports_its_neighbours(project):
    project.write("sub/neighbour.py", "def f():\n    return 1\n")
    project.write("sub/script.py", "import neighbour\nprint(neighbour.f())\n")
    assert project.record(PYTHON, "sub/script.py").stdout == "1\n"
    assert [*project.functions] == ["sub/neighbour.py::f"]


def test_exit_codes(project):
    project.write("leave.py", "import sys\ndef f(): sys.exit(int(sys.argv[1]))\nf()\n")
    assert project.record(PYTHON, "leave.py", "7").returncode == 7
    assert [*project.functions] == ["leave.py::f"]
    project.write("die.py", "import os\nos.kill(os.getpid(), 9)\n")
    assert project.record(PYTHON, "die.py").returncode == 128 + 9


def test_syntax_errors_are_as_ever(project):
    project.write("broken.py", "def f(:\n")
    project.write("imports.py", "import broken\n")
    for name in ("broken.py", "imports.py"):
        plain, recorded = project.plain(PYTHON, name), project.record(PYTHON, name)
        assert plain.returncode == recorded.returncode == 1
        assert recorded.stderr.startswith(plain.stderr)


def test_global_declared_too_late_is_still_an_error(project):
    project.write("late.py", "x = 1\ndef f():\n    x = 2\n    global x\nf()\n")
    assert "before global declaration" in project.record(PYTHON, "late.py").stderr


def test_warnings_of_the_compiler_come_once(project):
    project.write("odd.py", 'def f(x):\n    return x is "a"\nf(1)\n')
    plain, recorded = project.plain(PYTHON, "odd.py"), project.record(PYTHON, "odd.py")
    assert plain.stderr == recorded.stderr and "SyntaxWarning" in plain.stderr


CYCLE = """
class Kept:
    def __init__(self):
        self.me = self

    def __del__(self, write=os.write):
        for k in range(2):
            if k:
                write(1, b"gone")

kept = Kept()
"""

SUSPENDED = """
def numbers(write=os.write):
    try:
        yield 1
    finally:
        for k in range(2):
            if k:
                write(1, b"gone")

os.numbers = numbers()
next(os.numbers)
"""


@pytest.mark.parametrize("program", [CYCLE, SUSPENDED])
def test_objects_that_outlive_the_recorder_are_left_in_peace(project, program):
    project.write("late.py", "import os\n" + program)
    done = project.record(PYTHON, "late.py")
    assert (done.stdout, done.stderr) == ("gone", "")


def test_deep_recursion_ends_as_ever(project):
    project.write("deep.py", "def f(n):\n    return f(n + 1) + 1\nf(0)\n")
    plain, recorded = (
        project.plain(PYTHON, "deep.py"),
        project.record(PYTHON, "deep.py"),
    )
    assert recorded.stderr.splitlines()[-1] == plain.stderr.splitlines()[-1]
    assert "graphlift" not in recorded.stderr


def test_modules_that_shadow_the_standard_library_are_imported(project):
    project.write("symtable.py", "def f():\n    return 'mine'\n")
    project.write("src/ctypes.py", "def f():\n    return 'mine too'\n")
    project.write(
        "script.py", "import symtable, ctypes\nprint(symtable.f(), ctypes.f())\n"
    )
    src = str(project.folder / "src")
    done = project.record(PYTHON, "script.py", PYTHONPATH=src)
    assert done.stdout == "mine mine too\n"


def test_an_earlier_sitecustomize_runs(project, tmp_path_factory):
    site = tmp_path_factory.mktemp("site")
    (site / "sitecustomize.py").write_text("print('site', __name__)\n")
    project.write("script.py", "def f(): pass\nf()\n")
    done = project.record(PYTHON, "script.py", PYTHONPATH=str(site))
    assert done.stdout == "site sitecustomize\n" * 2  # ours, and the program's


def test_child_processes_are_recorded_too(project):
    project.write("child.py", "def f(x): return x\nf(1)\n")
    project.write(
        "parent.py",
        """
        import subprocess, sys
        def f(): subprocess.run([sys.executable, "child.py"], check=True)
        f()
        """,
    )
    assert project.record(PYTHON, "parent.py").returncode == 0
    assert {*project.functions} == {"child.py::f", "parent.py::f"}


def test_functions_can_be_pickled_and_copied(project):
    project.write(
        "copies.py",
        """
        import copy, marshal, pickle, types

        def f(x):
            for k in range(2):
                x += k
            return x

        print(pickle.loads(pickle.dumps(f))(1), copy.deepcopy(f)(1))
        consts = pickle.loads(pickle.dumps([c for c in f.__code__.co_consts]))
        code = f.__code__.replace(co_consts=tuple(consts))
        print(types.FunctionType(code, {})(1))
        """,
    )
    assert project.record(PYTHON, "copies.py").stdout == "2 2\n2\n"


def test_installed_packages_and_other_folders_are_left_alone(project):
    project.write("env/pyvenv.cfg", "")
    project.write("env/lib/site-packages/installed.py", "def f(): pass\nf()\n")
    project.write("env/tool.py", "def f(): pass\nf()\n")
    project.write(
        "script.py",
        """
        import sys
        sys.path += ["env", "env/lib/site-packages"]
        import installed, tool
        def f(): pass
        f()
        """,
    )
    project.record(PYTHON, "script.py")
    assert [*project.functions] == ["script.py::f"]


@pytest.mark.parametrize("send", ["kill", "killpg"])  # that one hits the program twice
def test_interrupts_reach_the_program(project, send):
    project.write(
        "wait.py",
        """
        import time
        def wait():
            print("waiting", flush=True)
            time.sleep(60)
        wait()
        """,
    )
    process = project.start(PYTHON, "wait.py")
    assert process.stdout is not None and process.stdout.readline() == "waiting\n"
    time.sleep(0.1)
    getattr(os, send)(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err.rstrip().endswith("KeyboardInterrupt") and "graphlift" not in err
    assert "wait.py::wait" in project.functions
