"""From a file's text to its findings, and to its lifted text."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from ..transforms.facts.modules import ModuleFacts
from ..transforms.facts.profile import Profile
from ..transforms.findings import Finding, Refusal, span
from ..transforms.options import Options
from ..transforms.plan import ModulePlan, ModulePlanner
from ..transforms.rules import find_rule
from ..transforms.source import Source

MOST_ROUNDS = 3


class Unreadable(ValueError):
    """A text that cannot be processed, though it may be Python."""


@dataclass(frozen=True)
class Rewritten:
    """The lifted text, the findings that remain in it, and the qualified names of the functions lifted."""

    text: str
    findings: tuple[Finding, ...]
    lifted: tuple[str, ...]


def check(
    text: str, path: str, options: Options, profile: Profile | None = None
) -> tuple[Finding, ...]:
    """The findings of a file.

    Args:
        path: of the file, as the profile names it, or for display.

    Raises:
        SyntaxError: the text is no Python.
        Unreadable: it is nested too deep.
    """
    if "tensorflow" not in text and "keras" not in text:
        parse(text)
        return ()
    planner = _planner(text, path, options, profile)
    return _findings(planner, planner.plan(), options)


def rewrite(
    text: str, path: str, options: Options, profile: Profile | None = None
) -> Rewritten:
    """The file with its functions lifted; byte for byte the same where nothing is.

    Raises:
        SyntaxError, Unreadable: as `check`.
    """
    if "tensorflow" not in text and "keras" not in text:
        parse(text)
        return Rewritten(text, (), ())
    planner = _planner(text, path, options, profile)
    planned = planner.plan()
    if not planned.plans:
        return Rewritten(text, _findings(planner, planned, options), ())
    from ..transforms.emit import emit

    try:
        result = emit(planner.source, planned.plans, options)
    except RecursionError as error:
        raise Unreadable("it is nested too deep") from error
    lifted = tuple(plan.qualname for plan in planned.plans)
    remaining = tuple(
        f for f in _findings(planner, planned, options) if f.function not in lifted
    )
    return Rewritten(result, remaining, lifted)


def parse(text: str) -> ast.Module:
    """The parse of a text.

    Raises:
        SyntaxError: the text is no Python.
        Unreadable: it is nested too deep, or holds null bytes.
    """
    try:
        return ast.parse(text.encode("utf-8"))
    except (RecursionError, MemoryError) as error:
        raise Unreadable("it is nested too deep") from error
    except UnicodeEncodeError as error:
        raise Unreadable("it holds characters that are not Unicode") from error
    except SyntaxError:
        raise
    except ValueError as error:
        raise Unreadable(str(error)) from error


def _planner(
    text: str, path: str, options: Options, profile: Profile | None
) -> ModulePlanner:
    tree = parse(text)
    name = re.sub(r"^(?=\d)|\W", "_", PurePosixPath(path).stem)
    try:
        return ModulePlanner(
            Source(text, tree), ModuleFacts(tree, name), path, profile, options
        )
    except RecursionError as error:
        raise Unreadable("it is nested too deep") from error


def _findings(
    planner: ModulePlanner, planned: ModulePlan, options: Options
) -> tuple[Finding, ...]:
    """One finding for each place that a plan cures, or that a refusal names."""
    found: set[Finding] = set()
    lifted = {plan.qualname: plan for plan in planned.plans}
    for qualname, plan in lifted.items():
        found.add(
            _finding(
                "GL401", "runs op by op; it can be a graph", plan.node, qualname, "safe"
            )
        )
    for qualname, refusal in planned.refusals.items():
        definition = planner.module.functions[qualname]
        node = (
            refusal.node
            if isinstance(refusal.node, ast.expr | ast.stmt)
            else definition.original
        )
        if not hasattr(node, "lineno"):
            node = definition.original
        found.add(
            _finding(
                refusal.code,
                f"`{qualname}` stays eager: {refusal.reason}",
                node,
                qualname,
                "manual",
            )
        )
    return tuple(sorted(f for f in found if options.enabled(f.code)))


def _finding(
    code: str,
    message: str,
    node: ast.expr | ast.stmt,
    function: str,
    applicability: str,
) -> Finding:
    line, column, end_line, end_column = span(node)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        end_line, end_column = line, column + len("def ") + len(node.name)
    rule = find_rule(code)
    name = rule.name if rule else code
    return Finding(
        line, column, end_line, end_column, code, name, message, applicability, function
    )  # type: ignore[arg-type]


__all__ = ["Refusal", "Rewritten", "Unreadable", "check", "parse", "rewrite"]
