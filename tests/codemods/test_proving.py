"""Which lifts are run, and that only what is proved is written."""

import json
from pathlib import Path

import pytest

from graphlift.codemods import proving
from graphlift.codemods.proof import Proof, ProofError, Row

NEVER = f"f: {proving.NEVER_RUN}"
TF = "import tensorflow\n"


class FakeVerify:
    """A proof with the rows it was made with; it keeps what it was asked."""

    def __init__(self, *rows: Row) -> None:
        self.rows = rows

    def __call__(self, files, root, lift, **options) -> Proof:
        self.files = [path.name for path in files]
        self.root, self.options = root, options
        self.texts = {}
        unreadable = []
        for path in files:
            try:
                self.texts[path.name] = lift(path)
            except ValueError:
                unreadable.append(path.name)
        return Proof("cpu", self.rows, unreadable)


@pytest.fixture
def rows(monkeypatch):
    def install(*rows):
        fake = FakeVerify(*(Row(*row) for row in rows))
        monkeypatch.setattr(proving, "verify", fake)
        return fake

    return install


def test_verify_runs_what_rewrite_would_write(graphlift, put, folder, rows):
    path = put("sub/a.py", TF + "IF\n")
    asked = rows(("sub/a.py::f", "same"))
    result = graphlift("verify", "sub", "--python", "py", "--device", "cpu")
    assert asked.texts == {"a.py": TF + "tf.cond\n"}
    assert asked.root == folder
    assert asked.options == {
        "profile": None,
        "against": None,
        "python": "py",
        "device": "cpu",
        "timing": True,
        "progress": None,
    }
    assert "sub/a.py::f" in result.out
    assert result.code == 0
    assert path.read_text() == TF + "IF\n"


def test_verify_as_json(graphlift, put, rows):
    put("a.py", TF + "IF\n")
    rows(("a.py::f", "different", "x"))
    result = graphlift("verify", ".", "--format", "json")
    assert json.loads(result.out)["functions"][0]["status"] == "different"
    assert result.code == 1
    assert graphlift("verify", ".", "--format", "sarif").code == 2


def test_verify_against_a_hand_made_lift(graphlift, put, rows, pipeline):
    put("a.py", TF + "IF\n")
    asked = rows(("a.py::f", "same"))
    graphlift("verify", "a.py", "--against", "hand.py")
    assert asked.options["against"] == Path("hand.py")
    assert pipeline.calls == []


def test_verify_of_files_that_cannot_be_processed(graphlift, put, rows):
    put("a.py", TF + "SYNTAX\n")
    put("b.py", b"tensorflow\0")
    asked = rows()
    result = graphlift("verify", ".")
    assert asked.files == ["a.py"]
    assert "b.py: error: binary" in result.err
    assert result.code == 2


def test_where_nothing_can_be_run(graphlift, put, monkeypatch):
    def fail(*_, **__):
        raise ProofError("no TensorFlow in /usr/bin/python3")

    put("a.py", TF)
    monkeypatch.setattr(proving, "verify", fail)
    result = graphlift("verify", ".")
    assert (result.code, result.err) == (
        2,
        "error: no TensorFlow in /usr/bin/python3\n",
    )


@pytest.mark.parametrize("row", [("a.py::f", "same"), ("a.py::main", "same")])
def test_rewrite_writes_what_is_proved(graphlift, put, rows, row):
    path = put("a.py", TF + "IF\n")
    put("b.py", TF)
    asked = rows(row)
    result = graphlift("rewrite", "--verify", ".")
    assert path.read_text() == TF + "tf.cond\n"
    assert asked.files == ["a.py", "b.py"]
    assert result.code == 0


@pytest.mark.parametrize(
    "rest", [("a.py::g", "skipped", "slow"), ("a.py::g", "eager"), ("b.py", "skipped")]
)
def test_what_was_not_lifted_needs_no_proof(graphlift, put, rows, rest):
    path = put("a.py", TF + "IF\n")
    rows(("a.py::f", "same"), rest)
    assert graphlift("rewrite", "--verify", ".").code == 0
    assert path.read_text() == TF + "tf.cond\n"


def called(*callers: str) -> bytes:
    """A profile in which `f` of a.py has some callers, the first of them called by the next and so on."""
    chain = ["a.py::f", *callers]
    functions = {
        key: {"source": "", "calls": 1, "callers": chain[i + 1 : i + 2]}
        for i, key in enumerate(chain)
    }
    return json.dumps({"version": 1, "functions": functions}).encode()


@pytest.mark.parametrize(
    ("status", "code"), [("same", 0), ("different", 1), ("skipped", 1)]
)
def test_a_program_proves_what_it_was_recorded_to_call(
    graphlift, put, rows, status, code
):
    path = put("a.py", TF + "IF\n")
    put("b.py", TF)
    put(".graphlift/profile.json", called("b.py::step", "b.py::main"))
    rows(("b.py::main", status, "so"))
    assert graphlift("verify", ".").code == code
    result = graphlift("rewrite", "--verify", "--python", "py", ".")
    assert result.code == code
    assert ("tf.cond" in path.read_text()) == (status == "same")
    assert ("b.py::main" in result.err) == (status != "same")


def test_lifted_functions_that_nothing_ran_are_told(graphlift, put, rows):
    put("a.py", TF + "IF\n")
    put("b.py", TF)
    rows(("a.py", "skipped", "no calls"), ("b.py::g", "same"))
    result = graphlift("verify", ".", "--format", "json")
    assert [
        (r["function"], r["status"]) for r in json.loads(result.out)["functions"]
    ] == [
        ("b.py::g", "same"),
        ("a.py::f", "skipped"),
    ]
    assert result.code == 1


@pytest.mark.parametrize(
    ("found", "doubt"),
    [
        ([("a.py::f", "different", "1 is not 2")], "a.py::f different: 1 is not 2"),
        ([("a.py::f", "same"), ("a.py::g", "raised", "E")], "a.py::g raised: E"),
        ([("a.py::main", "skipped", "slow")], "a.py::main skipped: slow"),
        ([("a.py", "skipped", "no calls")], NEVER),
        ([("a.py::g", "same")], NEVER),
        ([("b.py::f", "same")], NEVER),
        ([], NEVER),
    ],
)
def test_rewrite_leaves_what_is_not_proved(graphlift, put, rows, found, doubt):
    path = put("a.py", TF + "IF\n")
    rows(*found)
    result = graphlift("rewrite", "--verify", ".")
    assert path.read_text() == TF + "IF\n"
    assert result.err == f"a.py: not proved, left as it was: {doubt}\n"
    assert "0 functions lifted, 0 files rewritten" in result.out
    assert result.code == 1


def test_without_a_change_there_is_nothing_to_prove(graphlift, put, monkeypatch):
    put("a.py", TF)
    monkeypatch.setattr(proving, "verify", None)
    assert graphlift("rewrite", "--verify", ".").code == 0
