"""Every rule documents itself: headings, and a Before that is rewritten to its After.

The programs of Before and After may give calls in a line `ARGS = [...]`; it is not part of what
is compared, and the calls go to `f`, or the last function where there is no `f`.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from harness import Program, lift, prove

from graphlift.codemods import pipeline
from graphlift.transforms.codes import NAMES
from graphlift.transforms.options import Options
from graphlift.transforms.rules import RULES, Rule

HEADINGS = (
    "What it finds",
    "Why it matters",
    "Before",
    "After",
    "When it is left alone",
)


@dataclass(frozen=True)
class Example:
    """A program of a docstring, and its ARGS where it has them."""

    text: str
    calls: str

    @property
    def entry(self) -> str:
        names = [
            n.name for n in ast.parse(self.text).body if isinstance(n, ast.FunctionDef)
        ]
        return "f" if "f" in names else names[-1]


def sections(rule: type[Rule]) -> dict[str, str]:
    """The text under each heading of a rule's docstring."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in inspect.cleandoc(rule.__doc__ or "").splitlines():
        title = line.strip("#*: ")
        if title in HEADINGS and line == line.lstrip():
            lines = found.setdefault(title, [])
        else:
            lines.append(line)
    return {title: "\n".join(body).strip("\n") for title, body in found.items()}


def example(section: str) -> Example:
    """The program of a Before or After, indented or fenced."""
    fenced = re.search(r"^```.*?\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    text = textwrap.dedent(fenced[1] if fenced else section).strip("\n") + "\n"
    lines = text.splitlines(keepends=True)
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ARGS":
            del lines[node.lineno - 1 : node.end_lineno]
            return Example("".join(lines).rstrip() + "\n", ast.unparse(node.value))
    return Example(text, "")


def test_every_rule_has_the_name_of_its_code() -> None:
    assert {rule.code: rule.name for rule in RULES}.items() <= NAMES.items()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_headings(rule: type[Rule]) -> None:
    found = sections(rule)
    assert list(found) == list(HEADINGS)
    assert all(found.values())


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_before_becomes_after(
    rule: type[Rule], tmp_path: Path, update_rules: bool
) -> None:
    found = sections(rule)
    before, after = example(found["Before"]), example(found["After"])
    if not before.calls:
        assert pipeline.rewrite(before.text, "case.py", Options()).text == after.text
        return
    program = Program(before.text, before.calls, before.entry)
    original, rewritten = lift(program, tmp_path)
    if update_rules:
        prove(original, replace(program, text=rewritten.text), tmp_path)
        write_after(rule, found["After"], rewritten.text, found["Before"])
        return
    assert rewritten.text == after.text
    prove(original, replace(program, text=after.text), tmp_path)


def write_after(rule: type[Rule], old: str, text: str, before: str) -> None:
    """Put a program in the place of a docstring's After, with the calls of its Before."""
    calls = before[before.rindex("ARGS = [") :].strip("\n")
    new = textwrap.indent(text.rstrip("\n"), "    ") + "\n\n    " + calls
    path = Path(inspect.getfile(rule))
    source = path.read_text()
    section = textwrap.indent(old, "    ")
    assert source.count(section) == 1
    path.write_text(source.replace(section, textwrap.indent(new, "    ")))
