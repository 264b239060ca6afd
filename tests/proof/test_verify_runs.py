"""What a proof does besides comparing: times, samples, hand-made lifts, and leaving nothing behind."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphlift.codemods.proof import Proof, ProofError, verify
from graphlift.codemods.proof.interpreter import find_python
from graphlift.codemods.proof.table import summary

Prove = Callable[..., Proof]

LOOP = """
import tensorflow as tf

{decorator}
def f(x):
    for _ in range(50):
        x = tf.sin(x) + tf.cos(x)
    return x

ARGS = [(tf.ones([4]),), (tf.zeros([4]),)]
"""
EAGER_LOOP = LOOP.format(decorator="")
GRAPH_LOOP = LOOP.format(decorator="@tf.function")
LIBRARY = """
import tensorflow as tf

{decorator}
def scale(x, by=2.0, *, names=None):
    return x * by

{decorator}
def total(items, table):
    return tf.add_n(items) + table["bias"]

def shape_of(x):
    return x.shape
"""
HANGING = """
import tensorflow as tf

def f(x):
    while {forever}:
        pass
    return x

ARGS = [(1,)]
"""
INTERRUPTED = """
import sys
from pathlib import Path
from graphlift.codemods.proof import verify

path = Path(sys.argv[1])
hanging = path.read_text().replace("0", "1")
print("begins", flush=True)
verify([path], path.parent, lambda path: hanging, progress=lambda file: print(file, flush=True))
"""


def record(root: Path, calls: dict[str, list[dict[str, Any]]], **arrays: Any) -> Path:
    """A profile with recorded calls, as `graphlift record` writes them."""
    folder = root / ".graphlift" / "samples"
    folder.mkdir(parents=True)
    for key, recorded in calls.items():
        digest = hashlib.sha1(key.encode()).hexdigest()[:12]
        np.savez(
            folder / f"{digest}.npz", calls=np.array(json.dumps(recorded)), **arrays
        )
    profile = root / ".graphlift" / "profile.json"
    profile.write_text(
        json.dumps({"version": 1, "functions": {key: {} for key in calls}})
    )
    return profile


def test_times(prove: Prove, tmp_path: Path) -> None:
    (row,) = prove(tmp_path, {"loop": (EAGER_LOOP, GRAPH_LOOP)}, timing=True).rows
    assert row.status == "same"
    assert row.eager_ms and row.graph_ms and row.speedup and row.trace_ms
    assert row.eager_ms > row.graph_ms
    assert row.speedup > 1
    assert row.trace_ms > row.graph_ms
    assert row.spread is not None
    assert row.peak_bytes is None


def test_recorded_calls(prove: Prove, tmp_path: Path) -> None:
    x = {"tensor": "a0"}
    scale = [
        {"args": [x], "kwargs": {}},
        {"args": [x, {"value": 3.0}], "kwargs": {"names": {"tuple": [{"value": "a"}]}}},
    ]
    total = [{"args": [{"list": [x, x]}, {"dict": {"bias": x}}], "kwargs": {}}]
    calls = {
        "library.py::scale": scale,
        "library.py::total": total,
        "library.py::shape_of": [{"args": [{"value": 1}], "kwargs": {}}],
        "library.py::gone": total,
    }
    profile = record(tmp_path, calls, a0=np.ones(3, np.float32))
    texts = LIBRARY.format(decorator=""), LIBRARY.format(decorator="@tf.function")
    rows = prove(tmp_path, {"library": texts}, profile=profile).rows
    assert {(row.function, row.status) for row in rows} == {
        ("library.py::scale", "same"),
        ("library.py::total", "same"),
        ("library.py::shape_of", "skipped"),
    }
    assert "the original raises AttributeError" in rows[1].reason


def test_a_hand_made_lift(prove: Prove, tmp_path: Path) -> None:
    (tmp_path / "by_hand.py").write_text(GRAPH_LOOP.replace("cos", "tan"))
    project = tmp_path / "project"
    proof = prove(project, {"loop": (EAGER_LOOP, "")}, against=tmp_path / "by_hand.py")
    assert proof.rows[0].status == "different"
    assert proof.exit_status == 1


def test_no_hand_made_lift(tmp_path: Path) -> None:
    (tmp_path / "loop.py").write_text(EAGER_LOOP)
    with pytest.raises(ProofError, match=r"nowhere\.py: No such file"):
        verify([tmp_path / "loop.py"], tmp_path, str, against=tmp_path / "nowhere.py")


def test_a_file_that_cannot_be_read(prove: Prove, tmp_path: Path) -> None:
    def lift(path: Path) -> str:
        raise SyntaxError("invalid syntax")

    path = tmp_path / "broken.py"
    path.write_text("def f(:")
    proof = verify([path], tmp_path, lift, device="cpu")
    assert (proof.rows[0].status, proof.rows[0].reason) == (
        "skipped",
        "can't be read: invalid syntax",
    )
    assert proof.exit_status == 2


def test_a_file_that_hangs_costs_itself_only(prove: Prove, tmp_path: Path) -> None:
    pairs = {
        "both": (HANGING.format(forever=1), HANGING.format(forever=1) + "\n# lifted\n"),
        "lift": (HANGING.format(forever=0), HANGING.format(forever=1)),
        "loop": (EAGER_LOOP, GRAPH_LOOP),
    }
    both, lift, loop = prove(tmp_path, pairs, timeout=3).rows
    assert (both.status, both.reason) == (
        "skipped",
        "the original does not end within 3 s",
    )
    assert (lift.status, lift.reason) == ("raised", "the lift does not end within 3 s")
    assert loop.status == "same"


def at_work_in(folder: Path) -> list[Path]:
    """The processes whose working folder is below `folder`; none where there is no /proc."""
    found = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):
            if str(link.readlink()).startswith(str(folder)):
                found.append(link)
    return found


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    program, scratch = tmp_path / "hanging.py", tmp_path / "scratch"
    program.write_text(HANGING.format(forever=0))
    scratch.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(program)],
        env={**os.environ, "TMPDIR": str(scratch), "CUDA_VISIBLE_DEVICES": "-1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "begins\n"
    assert process.stdout.readline() == "hanging.py\n"
    end = time.monotonic() + 10
    while len(at_work_in(scratch)) < 2 and time.monotonic() < end:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=10)
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert list(scratch.iterdir()) == []
    assert at_work_in(scratch) == []


def test_scratch_is_removed_and_the_project_untouched(
    prove: Prove, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch, project = tmp_path / "scratch", tmp_path / "project"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    text = EAGER_LOOP + "open('written', 'w').close()\n"
    prove(project, {"loop": (text, text + "# lifted\n")})
    assert list(scratch.iterdir()) == []
    assert [path.name for path in project.iterdir()] == ["loop.py"]
    assert (project / "loop.py").read_text() == text


def test_an_interpreter_without_tensorflow(tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
    bare.chmod(0o755)
    with pytest.raises(ProofError, match=r"has no TensorFlow .*--python"):
        verify([], tmp_path, str, python=str(bare))


def test_the_interpreter_of_the_recording(tmp_path: Path) -> None:
    profile = tmp_path / ".graphlift" / "profile.json"
    recorded = profile.parent / "samples" / "python"
    recorded.parent.mkdir(parents=True)
    recorded.write_text("/no/such/python\n")
    usual = find_python()
    assert find_python(None, profile) == usual
    recorded.write_text("/bin/sh\n")
    assert find_python(None, profile) == "/bin/sh"
    assert find_python(sys.executable, profile) == sys.executable


def test_no_interpreter(tmp_path: Path) -> None:
    with pytest.raises(ProofError, match="no Python at"):
        verify([], tmp_path, str, python=str(tmp_path / "python"))


def test_an_interpreter_that_does_not_start(tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho out of order >&2; exit 1\n")
    broken.chmod(0o755)
    with pytest.raises(ProofError, match="can't be used: out of order"):
        verify([], tmp_path, str, python=str(broken))


def test_an_unknown_device(tmp_path: Path) -> None:
    with pytest.raises(ProofError, match="no device 'tpu'"):
        verify([], tmp_path, str, device="tpu")


@pytest.mark.gpu
def test_on_a_gpu(prove: Prove, tmp_path: Path) -> None:
    try:
        proof = prove(
            tmp_path, {"loop": (EAGER_LOOP, GRAPH_LOOP)}, device="gpu", timing=True
        )
    except ProofError as error:
        pytest.skip(str(error))
    (row,) = proof.rows
    assert row.status == "same", row.reason
    assert row.speedup and row.peak_bytes
    assert f"timed on {proof.device}" in summary(proof)
    assert proof.device != "cpu"
