"""Proofs of hand-written pairs: an original, and what a lift would have made of it."""

import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from graphlift.codemods.proof import Proof, verify

if importlib.util.find_spec("numpy") is None:
    collect_ignore_glob = ["test_*.py"]

Pairs = Mapping[str, tuple[str, str]]


def prove_pairs(root: Path, pairs: Pairs, **options: Any) -> Proof:
    """Prove pairs of texts, by the name of the file each is put in."""
    if importlib.util.find_spec("tensorflow") is None:
        pytest.skip("no TensorFlow here")
    for name, (original, _) in pairs.items():
        path = root / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(original))
    files = [root / f"{name}.py" for name in pairs]

    def lift(path: Path) -> str:
        return dedent(pairs[path.relative_to(root).as_posix().removesuffix(".py")][1])

    options = {"device": "cpu", "timing": False, **options}
    return verify(files, root, lift, **options)


@pytest.fixture(scope="session")
def prove() -> Callable[..., Proof]:
    """`prove_pairs`."""
    return prove_pairs
