"""The package: that all of it is installed, and that it starts fast."""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SETUPTOOLS = PROJECT["tool"]["setuptools"]


def folder(package: str) -> Path:
    """The folder of a package, as `package-dir` maps it."""
    for name, path in SETUPTOOLS["package-dir"].items():
        if package == name or package.startswith(name + "."):
            return (
                ROOT / path / package.removeprefix(name).lstrip(".").replace(".", "/")
            )
    raise AssertionError(f"{package} has no folder")


def test_every_file_is_installed():
    installed = set()
    for package in SETUPTOOLS["packages"]:
        home = folder(package)
        data = SETUPTOOLS["package-data"]
        for pattern in ("*.py", *data.get("*", ()), *data.get(package, ())):
            installed.update(home.glob(pattern))
    files = {
        path
        for top in ("codemods", "transforms")
        for path in (ROOT / top).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert files == installed


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from graphlift.codemods.cli import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'libcst', 'tensorflow', 'numpy', 'rich', 'pathspec'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
