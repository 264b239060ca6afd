"""The commands, from their arguments to their exit codes."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

EXIT_OK, EXIT_FINDINGS, EXIT_FAILED = 0, 1, 2


def test_check_says_where_and_what(graphlift, put):
    put("a.py", "import tensorflow\nIF\nLIST\n")
    result = graphlift("check", ".")
    assert result.out.splitlines() == [
        "a.py:2:1: GL101 [tensor-if] a IF here (safe)",
        "a.py:3:1: GL205 [host-read] a LIST here (manual)",
        "2 findings in 1 file (1 safe, 1 manual)",
    ]
    assert result.code == EXIT_FINDINGS


def test_check_finds_nothing(graphlift, put):
    put("a.py", "import tensorflow\n")
    result = graphlift("check", ".")
    assert (result.code, result.out) == (EXIT_OK, "0 findings in 1 file\n")


def test_check_takes_the_current_folder(graphlift, put):
    put("sub/a.py", "import tensorflow\nIF\n")
    assert graphlift("check").out == graphlift("check", ".").out
    assert graphlift("diff").out == graphlift("diff", ".").out


def test_quiet_check_says_findings_only(graphlift, put):
    put("a.py", "import tensorflow\nIF\n")
    result = graphlift("check", "-q", "a.py")
    assert result.out == "a.py:2:1: GL101 [tensor-if] a IF here (safe)\n"


def test_a_broken_file_does_not_stop_the_others(graphlift, put):
    put("a.py", "import tensorflow\nSYNTAX\n")
    put("b.py", "import tensorflow\nIF\n")
    result = graphlift("check", ".")
    assert "a.py:3:5: error: invalid syntax\n" in result.out
    assert "b.py:2:1: GL101" in result.out
    assert "1 file could not be processed" in result.out
    assert result.code == EXIT_FAILED


def test_a_file_that_may_not_be_read_does_not_stop_the_others(
    graphlift, put, monkeypatch
):
    put("a.py", "import tensorflow\nIF\n")
    closed, read = put("b.py", "import tensorflow\nIF\n"), Path.read_bytes

    def refused(path):
        if path.name == closed.name:
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refused)
    monkeypatch.setattr(os, "access", lambda path, mode: path != "b.py")
    result = graphlift("check", "a.py", "b.py")
    assert "a.py:2:1: GL101" in result.out
    assert "b.py: error: permission denied\n" in result.out
    assert result.code == EXIT_FAILED


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        ("DEEP", "nested too deeply"),
        ("BUG", "graphlift failed on it: RuntimeError('oops') at conftest.py"),
    ],
)
def test_whatever_goes_wrong_is_told(graphlift, put, mark, message):
    put("a.py", f"import tensorflow\n{mark}\n")
    result = graphlift("check", "a.py")
    assert f"a.py: error: {message}" in result.out
    assert result.code == EXIT_FAILED


def test_a_path_that_is_not_there(graphlift):
    result = graphlift("check", "nowhere")
    assert "nowhere: error: no such file or directory" in result.out
    assert result.code == EXIT_FAILED


@pytest.mark.parametrize(
    "arguments",
    [
        ["--select", "IF"],
        ["rewrite"],
        ["diff", ".", "--format", "json"],
        ["verify", ".", "--stdin-filename", "a.py"],
        ["check", ".", "--write-baseline"],
        ["check", ".", "--jobs", "0"],
        ["check", ".", "--format", "xml"],
        ["nothing"],
    ],
)
def test_wrong_calls(graphlift, arguments):
    assert graphlift(*arguments).code == EXIT_FAILED


def test_an_unknown_rule_is_a_wrong_call(graphlift, put):
    result = graphlift("check", ".", "--select", "tensor-fi")
    assert result.code == EXIT_FAILED
    assert (
        result.err
        == "error: no rule is called 'tensor-fi'; did you mean 'tensor-if'?\n"
    )


def test_select_and_ignore(graphlift, put):
    put("a.py", "import tensorflow\nIF\nLIST\n")
    assert "GL205" not in graphlift("check", ".", "--select", "tensor-if").out
    assert "GL101" not in graphlift("check", ".", "--ignore", "gl101").out


def test_json(graphlift, put):
    put("a.py", "import tensorflow\nIF\n")
    report = json.loads(graphlift("check", ".", "--format", "json").out)
    assert report["summary"]["findings"] == 1


def test_diff_changes_nothing(graphlift, put):
    path = put("a.py", "import tensorflow\nIF\n")
    result = graphlift("diff", ".")
    assert "-IF\n+tf.cond\n" in result.out
    assert path.read_text() == "import tensorflow\nIF\n"
    assert result.code == EXIT_OK
    assert graphlift("diff", "--exit-code", ".").code == EXIT_FINDINGS


def test_diff_names_what_a_link_leads_to(graphlift, put, folder):
    put("code/a.txt", "import tensorflow\nIF\n")
    (folder / "link.py").symlink_to("code/a.txt")
    (folder / "sub").symlink_to("code")
    put("code/b.py", "import tensorflow\nIF\n")
    result = graphlift("diff", "link.py", "sub/b.py")
    assert [line[4:] for line in result.out.splitlines() if line[:3] == "---"] == [
        "a/code/a.txt",
        "a/code/b.py",
    ]


def test_diff_tells_what_remains_apart(graphlift, put):
    put("a.py", "import tensorflow\nIF\nLIST\n")
    put("b.py", "import tensorflow\nSYNTAX\n")
    result = graphlift("diff", "a.py")
    assert "GL205" not in result.out
    assert "a.py:3:1: GL205" in result.err
    assert result.code == EXIT_FINDINGS
    result = graphlift("diff", ".")
    assert "b.py:3:5: error: invalid syntax" in result.err
    assert "+tf.cond" in result.out
    assert result.code == EXIT_FAILED


def test_rewrite_says_what_it_did(graphlift, put):
    path = put("sub/a.py", "import tensorflow\nIF\n")
    put("b.py", "import tensorflow\n")
    result = graphlift("rewrite", ".")
    assert result.out.splitlines() == [
        "lifted f in sub/a.py",
        "1 function lifted, 1 file rewritten; left: 0 findings in 2 files",
    ]
    assert path.read_text() == "import tensorflow\ntf.cond\n"
    assert result.code == EXIT_OK


def test_rewrite_leaves_findings(graphlift, put):
    put("a.py", "import tensorflow\nLIST\n")
    result = graphlift("rewrite", ".")
    assert "GL205" in result.out
    assert "0 functions lifted, 0 files rewritten; left: 1 finding" in result.out
    assert result.code == EXIT_FINDINGS


def test_rewrite_counts_no_file_that_it_could_not_write(graphlift, put, monkeypatch):
    path = put("a.py", "import tensorflow\nIF\n")
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    result = graphlift("rewrite", ".")
    assert "a.py: error: read-only" in result.out
    assert "0 functions lifted, 0 files rewritten" in result.out
    assert path.read_text() == "import tensorflow\nIF\n"
    assert result.code == EXIT_FAILED


def test_rewrite_of_standard_input(graphlift):
    result = graphlift("rewrite", "-", stdin="import tensorflow\r\nIF é".encode())
    assert result.raw == "import tensorflow\r\ntf.cond é".encode()
    assert result.code == EXIT_OK


def test_rewrite_of_standard_input_tells_the_rest_apart(graphlift):
    result = graphlift("rewrite", "-", stdin=b"import tensorflow\nLIST\n")
    assert result.raw == b"import tensorflow\nLIST\n"
    assert "-:2:1: GL205" in result.err
    assert result.code == EXIT_FINDINGS


def test_standard_input_may_be_a_file_of_the_project(graphlift, put, pipeline):
    put("pyproject.toml", '[tool.graphlift.per-file-ignores]\n"sub/" = ["GL101"]\n')
    path = put("sub/a.py", "import tensorflow\nLIST\n")
    stdin = b"import tensorflow\nIF\nLIST\n"
    result = graphlift("check", "--stdin-filename", path, "-", stdin=stdin)
    assert (
        result.out.splitlines()[0]
        == "sub/a.py:3:1: GL205 [host-read] a LIST here (manual)"
    )
    result = graphlift("rewrite", "-", "--stdin-filename", "sub/new.py", stdin=stdin)
    assert result.out == stdin.decode().replace("IF", "tf.cond")
    assert pipeline.calls == ["sub/a.py", "sub/new.py"]
    assert path.read_text() == "import tensorflow\nLIST\n"


def test_rewrite_of_broken_standard_input_writes_nothing(graphlift):
    result = graphlift("rewrite", "-", stdin=b"import tensorflow\nSYNTAX\n")
    assert result.raw == b""
    assert "-:3:5: error: invalid syntax" in result.err
    assert result.code == EXIT_FAILED


@pytest.mark.parametrize("words", ["rewrite - .", "rewrite --verify -", "verify -"])
def test_standard_input_goes_alone_and_unproved(graphlift, words):
    result = graphlift(*words.split())
    assert (result.code, result.raw) == (EXIT_FAILED, b"")


def test_what_was_never_recorded_is_told(graphlift, put):
    for name in ("a.py", "b.py", "c.py", "d.py"):
        put(name, "import tensorflow\nUNKNOWN\n")
    note = (
        "note: never recorded, so nothing is found in a.py::g, b.py::g, c.py::g and 1 more; "
        "run them once: graphlift record -- python PROGRAM\n"
    )
    for command in ("check", "check", "diff", "rewrite"):  # the second from the cache
        result = graphlift(command, ".")
        assert (result.code, result.err) == (EXIT_OK, note)
    assert graphlift("check", "--quiet", ".").err == ""


@pytest.mark.parametrize("command", ["diff", "rewrite"])
def test_a_new_text_that_the_file_cannot_hold(graphlift, put, pipeline, command):
    path = put("a.py", "# coding: latin-1\nimport tensorflow\nIF")
    lifted = pipeline.rewrite

    def rewrite(text, *rest):
        new = lifted(text, *rest)
        return replace(new, text=new.text + "€")

    pipeline.rewrite = rewrite
    result = graphlift(command, ".")
    assert "can't write" in result.out + result.err
    assert path.read_text().endswith("IF")
    assert result.code == EXIT_FAILED


def test_interrupted_rewrite_says_what_it_wrote(graphlift, put, pipeline, monkeypatch):
    put("a.py", "import tensorflow\nIF\n")
    put("b.py", "import tensorflow\nSTOP\n")
    rewrite = pipeline.rewrite

    def interrupted(text, *rest):
        if "STOP" in text:
            raise KeyboardInterrupt
        return rewrite(text, *rest)

    monkeypatch.setattr(pipeline, "rewrite", interrupted)
    result = graphlift("rewrite", ".")
    assert "lifted f in a.py\n" in result.out
    assert result.err == "interrupted\n"
    assert result.code == 130


def test_explain_a_rule(graphlift):
    result = graphlift("explain", "TENSOR-IF")
    assert result.out.startswith("GL101 tensor-if (safe where it is lifted)\n\n")
    assert result.out == graphlift("explain", "gl101").out


def test_manual_findings_come_with_what_explains_them(graphlift, put):
    put("a.py", "import tensorflow\nLIST\nIF\n")
    result = graphlift("check", ".")
    assert result.err == "note: what can be done by hand: graphlift explain GL205\n"
    assert "GL205 host-read" in graphlift("explain", "GL101", "GL205").out


def test_explain_a_rule_to_come(graphlift):
    result = graphlift("explain", "GL403")
    assert (result.code, result.out.count("no such rule yet")) == (EXIT_OK, 1)


def test_explain_an_error(graphlift):
    message = "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed"
    assert "GL101 tensor-if" in graphlift("explain", message).out


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        ("Using a `tf.Tensor` as a Python `bool` is not allowed.", "tensor-if"),
        ("Using a symbolic  as a Python  is not allowed", "tensor-bool"),
        (
            "true_fn and false_fn arguments to tf.cond must have the same number,\n"
            "type, and overall structure of return values.",
            "tensor-if",
        ),
        (
            "<tf.Tensor 'x:0' shape=()> is out of scope and cannot be used here.",
            "list-append",
        ),
        ("iterating over `tf.Tensor` is not allowed", "tensor-for"),
        ("tried to create variables on non-first call.", "local-variable"),
    ],
)
def test_explain_what_was_pasted(graphlift, message, rule):
    assert rule in graphlift("explain", message).out
    text = f"Traceback:\n  File 'a.py'\n{message} Use\n"
    assert rule in graphlift("explain", "-", stdin=text.encode()).out


def test_a_break_alone_is_no_error(graphlift):
    assert graphlift("explain", "take a break").code == EXIT_FAILED


def test_explain_what_nobody_knows(graphlift):
    result = graphlift("explain", "why")
    assert result.code == EXIT_FAILED
    assert "why" in result.err


def test_explain_nothing(graphlift):
    result = graphlift("explain", "-", stdin=b"\n")
    assert (result.code, result.out) == (EXIT_FAILED, "")
    assert "nothing to explain" in result.err


def test_explain_a_misspelt_rule(graphlift):
    result = graphlift("explain", "tensor-fi")
    assert result.code == EXIT_FAILED
    assert result.err.endswith("tensor-fi; did you mean 'tensor-if'?\n")


def test_a_comment_that_names_no_rule(graphlift, put):
    put("a.py", "import tensorflow\nx = 1  # noqa: GL999, GL101, E501\n")
    result = graphlift("check", ".")
    assert result.err == "note: a.py:2: `noqa` names GL999, which is no rule\n"


def test_a_broken_profile_is_named_once(graphlift, put):
    put("a.py", "import tensorflow\n")
    put(".graphlift/profile.json", "{")
    result = graphlift("check", ".")
    assert result.code == EXIT_FAILED
    assert result.err.count("profile.json") == 1


def test_rules_are_one_a_line(graphlift):
    lines = graphlift("rules").out.splitlines()
    assert [line[:5] for line in lines] == sorted(line[:5] for line in lines)
    assert any(line.split()[:3] == ["GL101", "tensor-if", "safe"] for line in lines)


def test_version(graphlift):
    assert graphlift("--version").out.startswith("graphlift ")


def test_a_closed_pipe_is_no_crash(folder):
    command = f"{sys.executable} -c 'from graphlift.codemods.cli import main; main()' rules | true"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.stderr == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize("arguments", ["rules", "--help"])
def test_output_that_is_not_taken_is_told_in_a_line(arguments):
    command = f"{sys.executable} -c 'from graphlift.codemods.cli import main; main()' {arguments} > /dev/full"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.stderr == "error: no space left on device\n"
    assert done.returncode == EXIT_FAILED


class RecordError(Exception):
    pass


@pytest.fixture
def recorder(monkeypatch):
    """A recorder that keeps what it was asked, and does what `asked.answer` says."""
    fake = SimpleNamespace(RecordError=RecordError, answer=lambda: 0)

    def record(command, root, output, python, tell):
        fake.asked = (command, root, output, python)
        tell("recorded 1 function in profile.json")
        return fake.answer()

    fake.record = record
    monkeypatch.setitem(sys.modules, "graphlift.codemods.record", fake)
    return fake


@pytest.mark.parametrize(
    "command",
    [
        ["--", "python", "-m", "x", "--profile", "y"],
        ["python", "-m", "x", "--profile", "y"],
    ],
)
def test_record_takes_the_command_as_it_is(graphlift, folder, recorder, command):
    result = graphlift("record", *command)
    assert (result.code, result.out) == (0, "")
    assert result.err == "graphlift: recorded 1 function in profile.json\n"
    assert recorder.asked == (
        ["python", "-m", "x", "--profile", "y"],
        folder,
        Path(".graphlift/profile.json"),
        None,
    )


def test_record_says_why_it_cannot(graphlift, recorder):
    def fail():
        raise RecordError("no such command: x")

    recorder.answer = fail
    result = graphlift("record", "--", "x")
    assert result.code == 2
    assert result.err.endswith("error: no such command: x\n")
