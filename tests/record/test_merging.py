"""Profiles over several runs."""

import ast
import re
import sys

from graphlift.codemods.record.recorder.graphlift_recorder import source
from graphlift.transforms.facts import profile as reading

PROGRAM = """
import sys
import numpy

def f(x):
    for k in range(x if isinstance(x, int) else 1):
        y = k
    return x

def g(x):
    return x

f(eval(sys.argv[1]))
if len(sys.argv) > 2:
    g(numpy.ones(2))
"""


def uncounted(text):
    return re.sub(r'"(calls|true|false)": \d+', "", text)


def record(project, *args):
    done = project.record(sys.executable, "program.py", *args)
    assert done.returncode == 0, done.stderr


def test_recording_again_joins_kinds_and_adds_calls(project):
    project.write("program.py", PROGRAM)
    record(project, "3", "g")
    record(project, "'a'")
    entry = project.functions["program.py::f"]
    assert entry["calls"] == 2
    assert entry["parameters"] == {"x": "int | str"}
    assert entry["loops"]["1:4"]["trips"] == [1, 3]
    assert "program.py::g" in project.functions


def test_a_second_run_like_the_first_changes_counts_only(project):
    project.write("program.py", PROGRAM)
    record(project, "3", "g")
    first = project.profile.read_text()
    record(project, "3", "g")
    second = project.profile.read_text()
    assert first != second and uncounted(first) == uncounted(second)
    assert first.endswith("}\n") and str(project.folder) not in first


def test_entries_of_changed_functions_are_replaced_and_gone_ones_dropped(project):
    project.write("program.py", PROGRAM)
    record(project, "3", "g")
    assert project.samples("program.py::g").exists()
    kept = project.samples("program.py::g").with_name("python")
    assert kept.read_text() == f"{sys.executable}\n"
    project.write("program.py", PROGRAM.replace("return x\n\ng", "return [x]\n\ng"))
    text = PROGRAM.replace("    return x\n\ndef g(x):\n    return x", "    return [x]")
    project.write("program.py", text)
    record(project, "'a'")
    assert [*project.functions] == ["program.py::f"]
    entry = project.functions["program.py::f"]
    assert (entry["calls"], entry["parameters"]) == (1, {"x": "str"})
    assert not project.samples("program.py::g").exists()


def test_entries_of_a_file_that_does_not_parse_stay(project):
    project.write("other.py", "def h(): pass\nh()\n")
    project.write("program.py", "import other\n" + PROGRAM.lstrip())
    record(project, "3")
    project.write("other.py", "def h(: pass\n")
    project.write("program.py", PROGRAM)
    record(project, "3")
    assert "other.py::h" in project.functions


def test_the_profile_reads_as_the_analysis_reads_it(project):
    path = project.write("program.py", PROGRAM)
    record(project, "3", "g")
    read = reading.Profile.load(project.profile)
    assert read.root == project.folder
    lines = path.read_text().split("\n")
    for qualname, node in source.functions(ast.parse(path.read_bytes())):
        entry = read.get("program.py", qualname, lines, node)
        assert entry is not None and entry.calls == 1
        assert source.digest(lines, node) == reading.fingerprint(lines, node)


def test_what_was_recorded_stays_in_its_place_where_comments_come_and_go(project):
    path = project.write(
        "program.py", PROGRAM.replace("    for", "    # why\n\n    for")
    )
    record(project, "3")
    text = (
        path.read_text()
        .replace("    # why\n", "")
        .replace("        y", "# so\n        y")
    )
    nodes = dict(source.functions(ast.parse(text)))
    read = reading.Profile.load(project.profile)
    entry = read.get("program.py", "f", text.split("\n"), nodes["f"])
    assert entry is not None
    assert [*entry.loops] == ["2:4"] and {*entry.names} == {"2:8:k", "4:8:y"}


def test_qualified_names_are_pythons():
    text = """
class A:
    class B:
        def m(self): return [lambda: 0 for _ in ()]
    if True:
        async def n(self):
            def o(): pass
            return o

def f():
    global G
    def G():
        def h(): pass
        return h
    class C:
        def m(self): pass
    return G, C
"""
    namespace = {}
    exec(text, namespace)
    a, f = namespace["A"], namespace["f"]
    g, c = f()
    values = [a.B.m, a.n, f, g, g(), c.m]
    names = {name for name, _ in source.functions(ast.parse(text))}
    assert names == {value.__qualname__ for value in values} | {"A.n.<locals>.o"}
