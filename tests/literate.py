"""Rule tests written as Markdown: each case under its own heading, of two or more fenced blocks.

    ```python before                the program as it is
    ```python after                 what it is rewritten to, or instead:
    ```text left alone [CODE]       why it stays as it is, and the code of the finding that says so
    ```python calls [WORD ...]      a list of argument tuples, three or more; `tf` and `np` are there
    ```python later                 optional: calls that were not recorded, made of original and lift, too
    ```python between               optional: statements run before call i > 0
    ```python observe               optional: an expression for the state to compare at the end

Words after `calls`: `entry=NAME` names the function to call (else `f`), `gradients` compares
gradients too, `unrecorded` rewrites without a profile of the calls. A case that is left alone
may go without calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness import Program

HEADING = re.compile(r"#{2,}\s+(.*)")
FENCE = re.compile(r"(`{3,})(\S*)\s*(.*)")
BLOCKS = ("before", "after", "left alone", "calls", "later", "between", "observe")


@dataclass(frozen=True)
class Block:
    """A fenced block: its text, the words behind its name, and the lines between its fences."""

    text: str
    words: tuple[str, ...]
    lines: slice


@dataclass(frozen=True)
class Case:
    """One case of a Markdown file; ValueError from its properties where a block is missing."""

    path: Path
    heading: str
    blocks: dict[str, Block] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """A name for the test: file and heading."""
        slug = re.sub(r"[^a-z0-9]+", "-", self.heading.lower()).strip("-")
        return f"{self.path.stem}/{slug}"

    @property
    def before(self) -> str:
        return self._block("before").text

    @property
    def after(self) -> str:
        return self._block("after").text

    @property
    def left_alone(self) -> bool:
        """Whether the program is to stay as it is; the case then says why."""
        if "after" in self.blocks:
            return False
        if not self._block("left alone").text.strip():
            raise ValueError(f"{self.name}: no reason is given")
        return True

    @property
    def code(self) -> str:
        """The code of the finding that stays, or "" where none is asked for."""
        return " ".join(self._block("left alone").words)

    @property
    def program(self) -> Program | None:
        """The program and its calls, None for a case without calls."""
        if "calls" not in self.blocks and self.left_alone:
            return None
        calls = self._block("calls")
        options = dict(word.partition("=")[::2] for word in calls.words)
        if unknown := set(options) - {"entry", "gradients", "unrecorded"}:
            raise ValueError(f"{self.name}: calls has unknown words {sorted(unknown)}")
        return Program(
            text=self.before,
            calls=calls.text.strip(),
            entry=options.get("entry", "f"),
            gradients="gradients" in options,
            between=self.blocks["between"].text if "between" in self.blocks else "",
            observe=self.blocks["observe"].text.strip()
            if "observe" in self.blocks
            else "",
        )

    @property
    def later(self) -> Program | None:
        """The program with calls that its recording does not hold, None for a case without."""
        if "later" not in self.blocks or self.program is None:
            return None
        return replace(self.program, calls=self.blocks["later"].text.strip())

    @property
    def recorded(self) -> bool:
        """Whether the rewriting gets a profile of the calls."""
        return "calls" in self.blocks and "unrecorded" not in self.blocks["calls"].words

    def with_after(self, text: str) -> str:
        """The text of the whole file with this case's `after` block replaced."""
        lines = self.path.read_text(encoding="utf-8").splitlines(keepends=True)
        lines[self._block("after").lines] = [text]
        return "".join(lines)

    def _block(self, name: str) -> Block:
        if name not in self.blocks:
            raise ValueError(f"{self.name}: no block `{name}`")
        return self.blocks[name]


def read(path: Path) -> list[Case]:
    """The cases of a file: its headings that have blocks.

    Raises:
        ValueError: a block is unknown, doubled, not closed, or above the first heading.
    """
    cases: list[Case] = []
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    for heading, name, block in _blocks(path, lines):
        if not cases or cases[-1].heading != heading:
            cases.append(Case(path, heading))
        if name in cases[-1].blocks:
            raise ValueError(f"{cases[-1].name}: two blocks `{name}`")
        cases[-1].blocks[name] = block
    names = [case.name for case in cases]
    if doubled := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"{path}: two cases {sorted(doubled)}")
    return cases


def _blocks(path: Path, lines: list[str]) -> Iterator[tuple[str, str, Block]]:
    """Heading, name and block of each fenced block that has a name."""
    heading, start, fence, info = "", 0, "", ""
    for number, line in enumerate(lines):
        if fence and line.rstrip() == fence:
            if info:
                name = _name(path, info)
                words = tuple(info.removeprefix(name).split())
                span = slice(start, number)
                yield heading, name, Block("".join(lines[span]), words, span)
            fence = ""
        elif not fence and (match := FENCE.match(line)):
            fence, info, start = match[1], match[3].strip(), number + 1
            if info and not heading:
                raise ValueError(
                    f"{path}:{number + 1}: a block above the first heading"
                )
        elif not fence and (match := HEADING.match(line)):
            heading = match[1].strip()
    if fence:
        raise ValueError(f"{path}: the block at line {start} is not closed")


def _name(path: Path, info: str) -> str:
    for name in BLOCKS:
        if info == name or info.startswith(f"{name} "):
            return name
    raise ValueError(f"{path}: unknown block `{info}`")
