"""Emits lifted functions into the text of their file: one transaction, all of it or nothing."""

from __future__ import annotations

import ast
import io
import itertools
import re
import sys
import textwrap
import tokenize
from collections import Counter
from collections.abc import Iterable, Sequence

import libcst as cst

from .editing import Editor
from .endings import with_values_given_back
from .facts.profile import FunctionNode
from .layout import layout
from .options import Options
from .plain_names import with_plain_names
from .repeated_results import given_once
from .source import Source
from .steps import Core, Keep, Plan


def emit(source: Source, lifted: Sequence[Plan], options: Options) -> str:
    """The text of the file with these functions lifted.

    Raises:
        SyntaxError: the new text does not compile.
        ValueError: libcst reads the file otherwise than `ast` does, or functions to be written stand in one another.
    """
    newline = _newline(source.text)
    lines = _lines_with_ends(source.text)
    edits: list[tuple[int, int, str]] = []
    for item in lifted:
        first = min([item.node.lineno, *(d.lineno for d in item.node.decorator_list)])
        edits.append(
            (
                first - 1,
                item.node.end_lineno or first,
                _function_text(source, item, options),
            )
        )
    for line, statements in _module_statements(source, lifted).items():
        edits.append((line, line, "".join(f"{s}\n" for s in statements) + "\n\n"))
    edits += [
        (node.end_lineno or 0, node.end_lineno or 0, text)
        for node, text in _methods(lifted, lines).items()
    ]
    needed = {name for item in lifted for name in item.imports} - _imported(source.tree)
    edits += _import_edits(source, needed)
    written = len(lines)
    for start, end, text in sorted(edits, key=lambda e: (e[0], e[1]), reverse=True):
        if end > written:
            raise ValueError(f"line {end} would be written twice")
        written = start
        if (
            end == len(lines)
            and end > start
            and not lines[end - 1].endswith(("\n", "\r"))
        ):
            text = text.removesuffix("\n")
        lines[start:end] = [text.replace("\n", newline)]
    result = "".join(lines)
    compile(result, "<lifted>", "exec", dont_inherit=True)
    return result


def _function_text(source: Source, item: Plan, options: Options) -> str:
    node = item.node
    room = options.line_length - node.col_offset - 4
    item = given_once(with_values_given_back(item, source, room))
    item = with_values_given_back(with_plain_names(item, source), source, room)
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    text = "\n".join(source.lines[first - 1 : node.end_lineno]) + "\n"
    indented = node.col_offset > 0
    module = cst.parse_module("if 1:\n" + text if indented else text)
    holder = module.body[0]
    tree = holder.body.body[0] if indented else holder  # type: ignore[union-attr]
    assert isinstance(tree, cst.FunctionDef)
    steps = [*item.steps, *item.shell]
    editor = Editor(source, node, tree, node.col_offset, options.line_length, steps)
    made = _definitions(editor, tree, item)
    lost = _lost_comments(
        text, module.with_changes(body=made, header=[], footer=[]).code
    )
    if lost:
        made[0] = _with_comments(made[0], lost)
    if indented:
        around = holder.body.indent or module.default_indent  # type: ignore[union-attr]
        block = holder.body.with_changes(body=made, indent=around)  # type: ignore[union-attr]
        return module.with_changes(
            body=[holder.with_changes(body=block)],
            default_indent=_indent(source, node),
        ).code.partition("\n")[2]
    return module.with_changes(body=made, header=[], footer=[]).code


def _indent(source: Source, node: FunctionNode) -> str:
    """How far the body of a function is indented."""
    first = node.body[0]
    line = source.lines[first.lineno - 1][: first.col_offset]
    around = source.lines[node.lineno - 1][: node.col_offset]
    return line.removeprefix(around) if line.isspace() and line != around else "    "


def _lost_comments(old: str, new: str) -> list[str]:
    """The comments of a text that another one has fewer of, in order."""
    have = Counter(_comments(new))
    lost = []
    for comment in _comments(old):
        have[comment] -= 1
        if have[comment] < 0:
            lost.append(comment)
    return lost


def _comments(text: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(textwrap.dedent(text)).readline)
    return [t.string for t in tokens if t.type == tokenize.COMMENT]


def _with_comments(tree: cst.FunctionDef, comments: list[str]) -> cst.FunctionDef:
    """A function with comments before its first statement: they stood on what is no statement any more."""
    first, *rest = tree.body.body
    lines = [cst.EmptyLine(comment=cst.Comment(c)) for c in comments]
    first = first.with_changes(
        leading_lines=[*getattr(first, "leading_lines", ()), *lines]
    )
    return tree.with_changes(body=tree.body.with_changes(body=[first, *rest]))


def _definitions(
    editor: Editor, tree: cst.FunctionDef, item: Plan
) -> list[cst.FunctionDef]:
    docstring = _docstring(item.node)
    kept = [] if docstring is None else [Keep(docstring)]
    body = _block_like(tree.body, editor.block([*kept, *item.steps], 0))
    decorators = _decorators(editor, item)
    if item.core is None:
        return [
            tree.with_changes(body=body, decorators=[*tree.decorators, *decorators])
        ]
    core = tree.with_changes(
        name=cst.Name(item.core),
        body=_block_like(tree.body, editor.block(item.steps, 0)),
        decorators=decorators,
    )
    if item.parameters is not None:
        core = _with_parameters(core, item.parameters)
    statements = editor.block([*kept, *item.shell], 0)
    space = 1 if item.node.col_offset else 2
    shell = tree.with_changes(
        body=cst.IndentedBlock(statements),
        leading_lines=[cst.EmptyLine(indent=False)] * space,
    )
    more = [
        _with_parameters(
            tree.with_changes(
                name=cst.Name(other.name),
                body=cst.IndentedBlock(editor.block(other.steps, 0)),
                decorators=_decorators(editor, other),
                leading_lines=[cst.EmptyLine(indent=False)] * space,
            ),
            other.parameters,
        )
        for other in item.more
    ]
    return [core, *more, shell]


def _with_parameters(tree: cst.FunctionDef, names: list[str]) -> cst.FunctionDef:
    parameters = cst.Parameters([cst.Param(cst.Name(name)) for name in names])
    return tree.with_changes(params=parameters, returns=None)


def _block_like(old: cst.BaseSuite, body: list[cst.BaseStatement]) -> cst.IndentedBlock:
    """A block with the header and the last lines of another one."""
    if isinstance(old, cst.IndentedBlock):
        return old.with_changes(body=body)
    return cst.IndentedBlock(body)


def _decorators(editor: Editor, item: Plan | Core) -> list[cst.Decorator]:
    texts = ["staticmethod"] if item.is_static else []
    texts += [item.decorator] if item.decorator is not None else []
    laid = (layout(text, editor.indent + 1, editor.width) for text in texts)
    return [cst.Decorator(cst.parse_expression(text)) for text in laid]


def _docstring(node: FunctionNode) -> ast.stmt | None:
    return node.body[0] if ast.get_docstring(node, clean=False) is not None else None


# ---- the module around


def _module_statements(source: Source, lifted: Iterable[Plan]) -> dict[int, list[str]]:
    """New statements of the module by the line index they go before: that of the top-level statement they are for."""
    found: dict[int, list[str]] = {}
    for item in lifted:
        if not item.statements:
            continue
        for node in source.tree.body:
            if node.lineno <= item.node.lineno <= (node.end_lineno or node.lineno):
                first = min(
                    [
                        node.lineno,
                        *(d.lineno for d in getattr(node, "decorator_list", ())),
                    ]
                )
                while first > 1 and source.lines[first - 2].lstrip().startswith("#"):
                    first -= 1
                found.setdefault(first - 1, []).extend(item.statements)
    return found


def _methods(lifted: Iterable[Plan], lines: list[str]) -> dict[ast.ClassDef, str]:
    """The methods that classes are given, to stand at their ends."""
    found: dict[ast.ClassDef, str] = {}
    for node, text in (pair for item in lifted for pair in item.methods.items()):
        made = "\n" + textwrap.indent(text, " " * node.body[0].col_offset)
        is_ended = lines[(node.end_lineno or 0) - 1].endswith(("\n", "\r"))
        found[node] = made if is_ended else "\n" + made.removesuffix("\n")
    return found


def _imported(tree: ast.Module) -> set[str]:
    return {
        alias.name
        for node in tree.body
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.asname is None
    }


def _import_edits(source: Source, needed: Iterable[str]) -> list[tuple[int, int, str]]:
    """New imports: one of the standard library after the others of it, else first; TensorFlow's after all."""
    tree = source.tree
    comments = len(list(itertools.takewhile(lambda t: t.startswith("#"), source.lines)))
    imports = [
        n
        for n in tree.body
        if isinstance(n, ast.Import | ast.ImportFrom) and not _is_future(n)
    ]
    standard = [n for n in imports if _root(n) in sys.stdlib_module_names]
    edits = []
    for name in sorted(needed):
        line = f"import {name}\n"
        if name in sys.stdlib_module_names:
            if standard:
                at = standard[-1].end_lineno or standard[-1].lineno
            else:
                at = imports[0].lineno - 1 if imports else _first_line(tree, comments)
                line += "\n"
        else:
            at = (
                (imports[-1].end_lineno or 0)
                if imports
                else _first_line(tree, comments)
            )
        edits.append((at, at, line))
    return edits


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _root(node: ast.Import | ast.ImportFrom) -> str:
    name = node.names[0].name if isinstance(node, ast.Import) else node.module or ""
    return name.partition(".")[0]


def _first_line(tree: ast.Module, comments: int) -> int:
    """The line index after the comments at the top, the docstring and `__future__` imports."""
    line = comments
    for node in tree.body:
        match node:
            case (
                ast.Expr(value=ast.Constant(value=str()))
                | ast.ImportFrom(module="__future__")
            ):
                line = node.end_lineno or line
            case _:
                break
    return line


def _newline(text: str) -> str:
    found = re.search(r"\r\n|\n|\r", text)
    return found[0] if found else "\n"


def _lines_with_ends(text: str) -> list[str]:
    return re.findall(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+", text)
