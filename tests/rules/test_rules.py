"""The Markdown cases of this folder: see `literate` for their form.

Each is rewritten twice (the second time changes nothing), compared with its `after` block, and
run on its calls: as it was, lifted, and lifted with graphs run eagerly. One that is left alone
runs as a graph where it is one.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from harness import lift, prove
from literate import Case, read

from graphlift.codemods import pipeline
from graphlift.codemods.pipeline import Rewritten
from graphlift.transforms.facts.profile import Profile
from graphlift.transforms.options import Options
from graphlift.transforms.rules import find_rule

FILES = sorted(Path(__file__).parent.glob("*.md"))
CASES = [case for path in FILES for case in read(path)]


def unrecorded(
    text: str, path: str, options: Options, profile: Profile | None
) -> Rewritten:
    """The rewriting without what was recorded."""
    return pipeline.rewrite(text, path, options)


def fresh(case: Case) -> Case:
    """The case as its file has it now, other cases of which may have been updated."""
    return next(other for other in read(case.path) if other.name == case.name)


def same_text(text: str, wanted: str) -> None:
    assert text == wanted


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_file_is_named_after_a_rule(path: Path) -> None:
    assert find_rule(path.stem)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_third_are_left_alone(path: Path) -> None:
    cases = read(path)
    assert 3 * sum(case.left_alone for case in cases) >= len(cases)


@pytest.mark.parametrize(
    "case", [case for case in CASES if not case.left_alone], ids=lambda case: case.name
)
def test_rewritten(case: Case, tmp_path: Path, update_rules: bool) -> None:
    program = case.program
    assert program
    original, rewritten = lift(
        program, tmp_path, pipeline.rewrite if case.recorded else unrecorded
    )
    assert rewritten.text != case.before, f"nothing was lifted: {rewritten.findings}"
    if not update_rules:
        same_text(rewritten.text, case.after)
    lifted = replace(program, text=rewritten.text)
    again = prove(original, lifted, tmp_path, watched=True)
    for profile in (None, original.profile, again.profile):
        same_text(
            pipeline.rewrite(lifted.text, "case.py", Options(), profile).text,
            lifted.text,
        )
    if update_rules:
        case.path.write_text(fresh(case).with_after(lifted.text), encoding="utf-8")


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.left_alone], ids=lambda case: case.name
)
def test_left_alone(case: Case, tmp_path: Path) -> None:
    if case.program:
        original, rewritten = lift(case.program, tmp_path)
        prove(original, case.program, tmp_path)
    else:
        rewritten = pipeline.rewrite(case.before, "case.py", Options())
    same_text(rewritten.text, case.before)
    assert not case.code or case.code in {
        finding.code for finding in rewritten.findings
    }


def test_the_way_out_of_what_may_change_is_one_for_what_it_is(tmp_path: Path) -> None:
    case = next(c for c in CASES if "tensor-lookup/a-list-that-the-caller" in c.name)
    assert case.program
    _, rewritten = lift(case.program, tmp_path)
    (message,) = (f.message for f in rewritten.findings if f.function == "f")
    assert message.endswith("; pass what it holds as arguments")


def test_a_loop_whose_steps_become_a_graph_is_one_finding(tmp_path: Path) -> None:
    case = next(c for c in CASES if "inline-step/several-calls" in c.name)
    original, _ = lift(case.program, tmp_path)
    file = f"{case.program.name}.py"
    found = pipeline.check(case.before, file, Options(), original.profile).findings
    [finding] = [f for f in found if f.function == "f"]
    assert (finding.code, finding.applicability) == ("GL407", "safe")
    assert case.before.splitlines()[finding.line - 1].startswith("    for row in")
