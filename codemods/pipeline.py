"""From a file's text to its findings, and to its lifted text."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from ..transforms.codes import NAMES, RECORD, WAYS_OUT
from ..transforms.facts.profile import Profile
from ..transforms.facts.project import ProjectModules
from ..transforms.findings import Applicability, Checked, Finding
from ..transforms.neighbours import Neighbours
from ..transforms.options import Options
from ..transforms.places import Place, places
from ..transforms.plan import ModulePlan, ModulePlanner
from ..transforms.recordings import Recordings
from ..transforms.source import Source, is_placed
from ..transforms.steps import Plan, kept

MOST_ROUNDS = 3


class Unreadable(ValueError):
    """A text that cannot be processed, though it may be Python."""


@dataclass(frozen=True)
class Rewritten:
    """The lifted text, what remains to be found in it, and the qualified names of the functions lifted.

    `needs` are the paths of other modules of the project that it works with only as they are lifted.
    """

    text: str
    findings: tuple[Finding, ...] = ()
    lifted: tuple[str, ...] = ()
    needs: frozenset[str] = frozenset()
    unrecorded: tuple[str, ...] = ()


def check(
    text: str,
    path: str,
    options: Options,
    profile: Profile | None = None,
    neighbours: Neighbours | None = None,
) -> Checked:
    """What is found in a file.

    Args:
        path: of the file, as the profile names it, or for display.
        neighbours: the modules of its project; it alone where there are none.

    Raises:
        SyntaxError: the text is no Python.
        Unreadable: it is nested too deep.
    """
    if "tensorflow" not in text and "keras" not in text:
        parse(text)
        return Checked()
    with _deep_nesting_reported():
        planner = _planner(text, path, options, profile, neighbours)
        return _checked(planner, planner.plan(), options)


def rewrite(
    text: str,
    path: str,
    options: Options,
    profile: Profile | None = None,
    neighbours: Neighbours | None = None,
) -> Rewritten:
    """The file with its functions lifted; byte for byte the same where nothing is.

    Raises:
        SyntaxError, Unreadable: as `check`.
    """
    if "tensorflow" not in text and "keras" not in text:
        parse(text)
        return Rewritten(text)
    with _deep_nesting_reported():
        planner = _planner(text, path, options, profile, neighbours)
        planned = planner.plan()
        left = _checked(planner, planned, options)
        if not planned.plans:
            return Rewritten(text, left.findings, unrecorded=left.unrecorded)
        from ..transforms.emit import emit

        result = emit(planner.source, planned.plans, options)
    lifted = tuple(plan.qualname for plan in planned.plans)
    remaining = tuple(f for f in left.findings if f.function not in lifted)
    return Rewritten(result, remaining, lifted, planned.needs, left.unrecorded)


@contextlib.contextmanager
def _deep_nesting_reported() -> Iterator[None]:
    try:
        yield
    except RecursionError as error:
        raise Unreadable("it is nested too deep") from error


def parse(text: str) -> ast.Module:
    """The parse of a text.

    Raises:
        SyntaxError: the text is no Python.
        Unreadable: it is nested too deep, or holds null bytes.
    """
    try:
        return ast.parse(text)
    except (RecursionError, MemoryError) as error:
        raise Unreadable("it is nested too deep") from error
    except UnicodeEncodeError as error:
        raise Unreadable("it holds characters that are not Unicode") from error
    except SyntaxError:
        raise
    except ValueError as error:
        raise Unreadable(str(error)) from error


def _planner(
    text: str,
    path: str,
    options: Options,
    profile: Profile | None,
    neighbours: Neighbours | None,
) -> ModulePlanner:
    if neighbours is None:
        alone = ProjectModules([path], lambda _: text, profile)
        neighbours = Neighbours(alone, lambda _: options)
    return neighbours.planner(path, Source(text, parse(text)), options)


def _checked(planner: ModulePlanner, planned: ModulePlan, options: Options) -> Checked:
    """What the rules find in each function that can be lifted, why others cannot, and of which nothing is known."""
    source = planner.source
    found: set[Finding] = set()
    for plan in planned.plans:
        function = plan.qualname
        if plan.loop is not None:
            message = "the steps of this loop run op by op; they can be a graph"
            found.add(_finding(source, "GL407", message, plan.loop, function, "safe"))
            continue
        if plan.decorator is not None:
            message = "runs op by op; it can be a graph"
            found.add(_finding(source, "GL401", message, plan.node, function, "safe"))
        for code, node, message in _places(planned, function):
            if not _stays(node, plan):
                found.add(_finding(source, code, message, node, function, "safe"))
    recordings = Recordings(planner.session, planned.facts)
    stale = [*recordings.stale({plan.qualname for plan in planned.plans})]
    for definition in stale:
        function, node = definition.qualname, definition.original
        message = f"`{function}` has changed since it was recorded: record it again"
        found.add(_finding(source, "GL401", message, node, function, "manual"))
    edited = {definition.qualname for definition in stale}
    for function, refusal in planned.refusals.items():
        if function in edited:
            continue
        place = refusal.node
        if not isinstance(place, ast.expr | ast.stmt) or not hasattr(place, "lineno"):
            place = planner.module.functions[function].original
        way_out = refusal.way_out or WAYS_OUT.get(refusal.code)
        if recordings.would_help(function, refusal):
            way_out = RECORD
        advice = f"; {way_out}" if way_out else ""
        message = f"`{function}` stays eager: {refusal.reason}{advice}"
        found.add(_finding(source, refusal.code, message, place, function, "manual"))
        if options.select and refusal.code not in options.select:
            why = f"; `{function}` stays eager: {refusal.reason}"
            for code, node, what in _places(planned, function):
                found.add(_finding(source, code, what + why, node, function, "manual"))
    return Checked(
        tuple(
            sorted(
                f
                for f in found
                if options.enabled(f.code)
                and not source.exempts(f.code, f.line, f.end_line)
            )
        ),
        tuple(definition.qualname for definition in recordings.missing()),
    )


def _places(planned: ModulePlan, function: str) -> Iterator[Place]:
    """What the rules find in a function, if anything is known of it."""
    facts = planned.facts.get(function)
    yield from places(facts) if facts is not None else ()


def _stays(node: ast.expr | ast.stmt, plan: Plan) -> bool:
    """Whether a place is outside the graph that its function gets, in a statement that stays as it is."""
    lines = ((s.lineno, s.end_lineno or 0) for s in kept(plan.shell) if is_placed(s))
    return any(first <= node.lineno <= last for first, last in lines)


def _finding(
    source: Source,
    code: str,
    message: str,
    node: ast.expr | ast.stmt,
    function: str,
    applicability: Applicability,
) -> Finding:
    line, column = node.lineno, source.column(node.lineno, node.col_offset)
    end_line = node.end_lineno or line
    end_column = source.column(end_line, node.end_col_offset or 0)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        end_line, end_column = line, column + len("def ") + len(node.name)
    elif isinstance(node, ast.If | ast.For | ast.While):
        head = node.test if isinstance(node, ast.If | ast.While) else node.iter
        end_line = head.end_lineno or line
        end_column = source.column(end_line, head.end_col_offset or 0)
    return Finding(
        line,
        column,
        end_line,
        end_column,
        code,
        NAMES[code],
        message,
        applicability,
        function,
    )
