"""What is run of a file."""

import hashlib
import json
from pathlib import Path

import pytest

from graphlift.codemods.proof import ProofError
from graphlift.codemods.proof.targets import Target, check_profile, targets


def found(tmp_path: Path, text: str, profile: Path | None = None) -> list[Target]:
    path = tmp_path / "model.py"
    path.write_text(text)
    return targets(path, "model.py", profile)


def record(tmp_path: Path, *keys: str) -> Path:
    profile = tmp_path / ".graphlift" / "profile.json"
    (profile.parent / "samples").mkdir(parents=True)
    for key in keys:
        digest = hashlib.sha1(key.encode()).hexdigest()[:12]
        (profile.parent / "samples" / f"{digest}.npz").touch()
    functions: dict[str, object] = {key: {} for key in (*keys, "model.py::unsampled")}
    profile.write_text(json.dumps({"version": 1, "functions": functions}))
    return profile


@pytest.mark.parametrize(
    "text",
    [
        "def f(x): ...\nARGS = []\ndef main(): ...",
        "f = lambda x: x\nARGS = []",
        "from other import f, ARGS",
        "try:\n    def f(x): ...\nfinally:\n    ARGS = []",
    ],
)
def test_f_with_its_arguments_comes_first(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, text) == [Target("model.py", "f", "ARGS")]


@pytest.mark.parametrize("parameters", ["", "argv=None", "*args", "*, n=3"])
def test_main(tmp_path: Path, parameters: str) -> None:
    text = f"def main({parameters}): ...\ndef f(x): ..."
    assert found(tmp_path, text) == [Target("model.py", "main", "")]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "def f(x): ...",
        "ARGS = []",
        "def main(argv): ...",
        "def main(*, n): ...",
        "class A:\n    def main(): ...",
        "def g():\n    def main(): ...",
        "async def main(): ...",
    ],
)
def test_nothing_to_run(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, text) == []


def test_recorded_calls_of_module_level_functions(tmp_path: Path) -> None:
    keys = ("model.py::step", "model.py::A.call", "model.py::gone", "other.py::step")
    profile = record(tmp_path, *keys)
    (target,) = found(tmp_path, "def step(x): ...\ndef unsampled(x): ...", profile)
    assert (target.function, Path(target.inputs).suffix) == ("step", ".npz")


def test_what_is_no_python(tmp_path: Path) -> None:
    with pytest.raises(SyntaxError):
        found(tmp_path, "def f(:")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"functions": '])
def test_what_is_no_profile(tmp_path: Path, text: str) -> None:
    profile = tmp_path / "profile.json"
    profile.write_text(text)
    with pytest.raises(ProofError, match="not a profile"):
        check_profile(profile)
