"""A project in a temporary folder, to be run as it is and recorded."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

RECORD = """
import sys
from pathlib import Path
from graphlift.codemods.record import record
sys.exit(record(sys.argv[1:], Path.cwd()))
"""


class Project:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
        return path

    def plain(self, *command: str, **env: str) -> "subprocess.CompletedProcess[str]":
        return self._run([*command], env)

    def record(self, *command: str, **env: str) -> "subprocess.CompletedProcess[str]":
        return self._run([sys.executable, "-c", RECORD, *command], env)

    def _run(
        self, command: list[str], env: dict[str, str]
    ) -> "subprocess.CompletedProcess[str]":
        env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", **env}
        return subprocess.run(
            command, cwd=self.folder, env=env, capture_output=True, text=True
        )

    def start(self, *command: str) -> "subprocess.Popen[str]":
        """Record in the background, away from any terminal."""
        return subprocess.Popen(
            [sys.executable, "-c", RECORD, *command],
            cwd=self.folder,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def profile(self) -> Path:
        return self.folder / ".graphlift" / "profile.json"

    @property
    def functions(self) -> dict[str, Any]:
        data = json.loads(self.profile.read_text(encoding="utf-8"))
        assert data["version"] == 1
        return dict(data["functions"])

    def samples(self, key: str) -> Path:
        from graphlift.codemods.record.recorder.graphlift_recorder import exchange

        return self.profile.with_name("samples") / exchange.sample_name(key)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project of a module's own, for one run that many tests look at."""
    return Project(tmp_path_factory.mktemp("project"))
