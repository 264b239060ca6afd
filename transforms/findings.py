"""Findings: places that keep code from running well as a graph."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

Applicability = Literal["safe", "unsafe", "manual"]


@dataclass(frozen=True, order=True)
class Finding:
    """One place: lines and columns count from 1, columns in characters; `function` is a qualified name or ""."""

    line: int
    column: int
    end_line: int
    end_column: int
    code: str
    name: str
    message: str
    applicability: Applicability
    function: str = ""


@dataclass(frozen=True)
class Checked:
    """The findings of a file, and the qualified names of the functions that need a recording and have none."""

    findings: tuple[Finding, ...] = ()
    unrecorded: tuple[str, ...] = ()


class Refusal(Exception):
    """Why a function stays as it is: a reason for people, the place, and the code of the rule that would cure it.

    `way_out` says what a person can do, where that is more than the rule's own advice.
    """

    def __init__(
        self,
        reason: str,
        node: ast.AST | None = None,
        code: str = "GL401",
        way_out: str = "",
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.node = node
        self.code = code
        self.way_out = way_out


class Unseen(Refusal):
    """What a function does is told by a shape or a dtype that its text does not tell: a recorded run would."""
