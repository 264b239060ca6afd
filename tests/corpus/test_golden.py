"""The programs of corpus/seeds: lifted to the text in golden/, and doing what they did.

A program that stays as it is has no golden text, and a line in corpus/REFUSED.md.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from harness import Program, lift, prove

from graphlift.codemods import pipeline
from graphlift.transforms.options import Options

CORPUS = Path(__file__).parents[2] / "corpus"
GOLDEN = CORPUS / "seeds" / "golden"
SEEDS = sorted((CORPUS / "seeds").glob("*.py"))


def listed(page: str) -> set[str]:
    """The programs that have a line of their own on a page of the corpus."""
    return set(re.findall(r"^- `(\w+)`: \S", (CORPUS / page).read_text(), re.MULTILINE))


def program(path: Path) -> Program:
    """The program of a file, called as its `ARGS`, `between` and `observe` say."""
    text = path.read_text(encoding="utf-8")
    return Program(
        text=text,
        calls="ARGS",
        between="between(i)" if "\ndef between(" in text else "",
        observe="observe()" if "\ndef observe(" in text else "",
        name=path.stem,
    )


@pytest.mark.parametrize("path", SEEDS, ids=lambda path: path.stem)
def test_golden(path: Path, tmp_path: Path, update_golden: bool) -> None:
    seed, golden = program(path), GOLDEN / path.name
    original, rewritten = lift(seed, tmp_path)
    if rewritten.text == seed.text:
        assert path.stem in listed("REFUSED.md"), f"not lifted: {rewritten.findings}"
        return
    if not update_golden:
        assert rewritten.text == golden.read_text(encoding="utf-8")
    again = prove(original, replace(seed, text=rewritten.text), tmp_path, watched=True)
    for profile in (None, original.profile, again.profile):
        twice = pipeline.rewrite(rewritten.text, path.name, Options(), profile)
        assert twice.text == rewritten.text
    if update_golden:
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(rewritten.text, encoding="utf-8")


def test_each_program_is_lifted_or_refused() -> None:
    lifted = {path.stem for path in GOLDEN.glob("*.py")}
    refused = listed("REFUSED.md")
    assert lifted | refused == {path.stem for path in SEEDS}
    assert not lifted & refused


def test_each_program_has_a_line_in_the_readme() -> None:
    assert listed("README.md") == {path.stem for path in SEEDS}
