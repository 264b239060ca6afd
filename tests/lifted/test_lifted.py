"""Programs of this folder's Markdown files that must be lifted and do the same; how the lifts read is not held.

See `literate` for the form: each case is a `before` block and its `calls`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from harness import eager_functions, lift, prove, run
from literate import Case, read

from graphlift.codemods import pipeline

FILES = sorted(Path(__file__).parent.glob("*.md"))
CASES = [case for path in FILES for case in read(path)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_lifted(case: Case, tmp_path: Path) -> None:
    program = case.program
    assert program
    original, rewritten = lift(program, tmp_path, pipeline.rewrite)
    assert rewritten.text != case.before, f"nothing was lifted: {rewritten.findings}"
    prove(original, replace(program, text=rewritten.text), tmp_path)
    if case.later is not None:
        with eager_functions():
            original = run(case.later, tmp_path / "later", watched=False)
        prove(original, replace(case.later, text=rewritten.text), tmp_path)
