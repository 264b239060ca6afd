"""Edits a function's libcst tree: pairs its statements with those of `ast`, and builds the lifted ones.

libcst keeps comments and formatting, and indents what moves into another block.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

import libcst as cst

from .facts.syntax import blocks
from .layout import layout, outdented
from .source import Source, is_placed, unparsed
from .steps import Code, Compound, Define, Keep, Step, origins

Statement = cst.BaseStatement | cst.BaseSmallStatement


class Editor:
    """Builds the lifted statements of one function from its steps.

    Args:
        source: the file.
        node: the function, as the file has it.
        tree: its libcst tree.
        indent: the columns before its `def`.
        width: the longest line wanted.
    """

    def __init__(
        self,
        source: Source,
        node: ast.FunctionDef | ast.AsyncFunctionDef,
        tree: cst.FunctionDef,
        indent: int,
        width: int,
        steps: Sequence[Step] = (),
    ) -> None:
        self.source = source
        self.tree = tree
        self.indent = indent
        self.width = width
        self.pairs: dict[ast.stmt, tuple[Statement, cst.BaseStatement]] = {}
        _pair(node.body, tree.body, self.pairs)
        self.used = frozenset(origins(steps))

    def block(self, steps: Sequence[Step], depth: int) -> list[cst.BaseStatement]:
        """The statements of a block that stands `depth` levels inside the function's own."""
        result: list[cst.BaseStatement] = []
        after_definition = False
        for step in steps:
            made = self.statement(step, depth)
            if isinstance(step, Define) or after_definition:
                made = _spaced(made, first=not result)
            after_definition = isinstance(step, Define)
            result.append(made)
        return result or [parse_statement("pass")]

    def statement(self, step: Step, depth: int) -> cst.BaseStatement:
        match step:
            case Keep(node=node):
                return self._kept(node, depth)
            case Code(text=text, origin=origin):
                return self._code(text, origin, depth)
            case Define(name=name, parameters=parameters, body=body, origin=origin):
                head = f"def {name}({', '.join(parameters)}):"
                made = self._compound((head,), (body,), origin, depth)
                return self._decorated(made, step.decorator, depth)
            case Compound(headers=headers, blocks=blocks, origin=origin):
                return self._compound(headers, blocks, origin, depth)

    def _decorated(
        self, made: cst.BaseStatement, decorator: str | None, depth: int
    ) -> cst.BaseStatement:
        if decorator is None:
            return made
        laid = layout(decorator, self.indent + 4 * (depth + 1) + 1, self.width)
        return made.with_changes(decorators=[cst.Decorator(cst.parse_expression(laid))])

    def _kept(self, node: ast.stmt, depth: int) -> cst.BaseStatement:
        node = getattr(node, "duplicate_of", node)
        if node not in self.pairs:
            return self._code(unparsed(node, {}), None, depth)
        own, line = self.pairs[node]
        if isinstance(own, cst.BaseStatement):
            return own
        assert isinstance(line, cst.SimpleStatementLine)
        if len(line.body) == 1:
            return line
        made = cst.SimpleStatementLine(
            [own.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)],
            leading_lines=line.leading_lines if own is line.body[0] else (),
        )
        if own is line.body[-1]:
            made = made.with_changes(trailing_whitespace=line.trailing_whitespace)
        return made

    def _code(
        self, text: str, origin: ast.stmt | None, depth: int
    ) -> cst.BaseStatement:
        text = self.source.spelled(text)
        if "\n" in text and origin is not None and is_placed(origin):
            text = outdented(text, origin.col_offset)
        laid = layout(text, self.indent + 4 * (depth + 1), self.width)
        made = parse_statement(laid)
        if origin is None or origin not in self.pairs:
            return made
        own, line = self.pairs[origin]
        if isinstance(own, cst.BaseStatement):
            lines = [*_leading(own), *self._inside(origin)]
            return made.with_changes(leading_lines=lines)
        assert isinstance(line, cst.SimpleStatementLine)
        if own is line.body[0]:
            made = made.with_changes(leading_lines=line.leading_lines)
        if own is line.body[-1] and isinstance(made, cst.SimpleStatementLine):
            made = made.with_changes(trailing_whitespace=line.trailing_whitespace)
        return made

    def _inside(self, node: ast.stmt) -> list[cst.EmptyLine]:
        """The comments of the statements in a compound one that are no statements of the new body."""
        lines: list[cst.EmptyLine] = []
        for inner in (s for block in blocks(node) for s in block):
            if inner in self.used or inner not in self.pairs:
                continue
            own, line = self.pairs[inner]
            if isinstance(own, cst.BaseStatement):
                comments = [part.comment for part in _leading(own)]
            else:
                comments = [part.comment for part in line.leading_lines]  # type: ignore[attr-defined]
                comments.append(line.trailing_whitespace.comment)  # type: ignore[attr-defined]
            lines += [cst.EmptyLine(comment=c) for c in comments if c]
            lines += self._inside(inner)
        return lines

    def _compound(
        self,
        headers: Sequence[str],
        blocks: Sequence[Sequence[Step]],
        origin: ast.stmt | None,
        depth: int,
    ) -> cst.BaseStatement:
        made = parse_statement("".join(f"{header}\n    pass\n" for header in headers))
        built = [cst.IndentedBlock(self.block(block, depth + 1)) for block in blocks]
        made = _with_blocks(made, built)
        if origin is not None and origin in self.pairs:
            own, _ = self.pairs[origin]
            if isinstance(own, cst.BaseStatement):
                made = made.with_changes(leading_lines=_leading(own))
        return made


def parse_statement(text: str) -> cst.BaseStatement:
    """The libcst tree of one statement."""
    made = cst.parse_statement(text)
    assert isinstance(made, cst.BaseStatement)
    return made


def _leading(node: cst.BaseStatement) -> Sequence[cst.EmptyLine]:
    """The lines before a compound statement, and the comments of its own lines: after `if x:`, before `else:`, ..."""
    lines = list(getattr(node, "leading_lines", ()))
    for part in _own_parts(node):
        lines += [line for line in getattr(part, "leading_lines", ()) if line.comment]
        body = getattr(part, "body", None)
        if isinstance(body, cst.IndentedBlock):
            if body.header.comment:
                lines.append(cst.EmptyLine(comment=body.header.comment))
            lines += [
                cst.EmptyLine(comment=line.comment)
                for line in body.footer
                if line.comment
            ]
    return lines


def _own_parts(node: cst.BaseStatement) -> list[cst.CSTNode]:
    """The parts of a compound statement that have lines of their own; an `elif` is a statement of its own."""
    parts: list[cst.CSTNode] = [
        cst.Pass() if not hasattr(node, "body") else node.with_changes(leading_lines=())
    ]
    for name in ("orelse", "finalbody"):
        part = getattr(node, name, None)
        if part is not None and not isinstance(part, cst.If):
            parts.append(part)
    return parts


def _spaced(node: cst.BaseStatement, first: bool) -> cst.BaseStatement:
    leading = list(getattr(node, "leading_lines", ()))
    if first or (leading and leading[0].comment is None):
        return node
    return node.with_changes(leading_lines=[cst.EmptyLine(indent=False), *leading])


def _with_blocks(
    node: cst.BaseStatement, blocks: list[cst.IndentedBlock]
) -> cst.BaseStatement:
    """A compound statement with its blocks replaced, in order."""
    node = node.with_changes(body=blocks[0])
    if len(blocks) > 1:
        if isinstance(node, cst.Try):
            return _with_handlers(node, blocks[1:])
        orelse = node.orelse  # type: ignore[attr-defined]
        return node.with_changes(orelse=_with_blocks(orelse, blocks[1:]))
    return node


def _with_handlers(node: cst.Try, blocks: list[cst.IndentedBlock]) -> cst.Try:
    """A `try` with the blocks of its handlers, of its `else` and of its `finally` replaced."""
    count = len(node.handlers)
    handlers = [
        handler.with_changes(body=block)
        for handler, block in zip(node.handlers, blocks[:count], strict=True)
    ]
    node = node.with_changes(handlers=handlers)
    if node.orelse is not None:
        orelse = node.orelse.with_changes(body=blocks[count])
        node = node.with_changes(orelse=orelse)
    if node.finalbody is not None:
        final = node.finalbody.with_changes(body=blocks[-1])
        node = node.with_changes(finalbody=final)
    return node


# ---- pairing


def _pair(
    body: Sequence[ast.stmt],
    suite: cst.BaseSuite | Sequence[cst.BaseStatement],
    pairs: dict[ast.stmt, tuple[Statement, cst.BaseStatement]],
) -> None:
    """Pair the statements of a block, and of the blocks inside, by their order."""
    flat = list(_flat(suite))
    if len(flat) != len(body):
        raise ValueError("the parses of ast and libcst differ")
    for node, (own, line) in zip(body, flat, strict=True):
        pairs[node] = (own, line)
        for inner, inner_suite in _blocks(node, own):
            _pair(inner, inner_suite, pairs)


def _flat(
    suite: cst.BaseSuite | Sequence[cst.BaseStatement],
) -> list[tuple[Statement, cst.BaseStatement]]:
    if isinstance(suite, cst.SimpleStatementSuite):
        line = cst.SimpleStatementLine(
            suite.body, trailing_whitespace=suite.trailing_whitespace
        )
        return [(small, line) for small in line.body]
    statements = suite.body if isinstance(suite, cst.IndentedBlock) else suite
    found: list[tuple[Statement, cst.BaseStatement]] = []
    for statement in statements:  # type: ignore[union-attr]
        if isinstance(statement, cst.SimpleStatementLine):
            found += [(small, statement) for small in statement.body]
        else:
            found.append((statement, statement))
    return found


def _blocks(
    node: ast.stmt, own: Statement
) -> list[tuple[Sequence[ast.stmt], cst.BaseSuite | Sequence[cst.BaseStatement]]]:
    found: list[
        tuple[Sequence[ast.stmt], cst.BaseSuite | Sequence[cst.BaseStatement]]
    ] = []
    body = getattr(node, "body", None)
    if isinstance(body, list) and hasattr(own, "body"):
        found.append((body, own.body))
    orelse = getattr(node, "orelse", None)
    other = getattr(own, "orelse", None)
    if isinstance(orelse, list) and orelse and other is not None:
        found.append((orelse, [other] if isinstance(other, cst.If) else other.body))
    for handler, own_handler in zip(
        getattr(node, "handlers", ()), getattr(own, "handlers", ()), strict=True
    ):
        found.append((handler.body, own_handler.body))
    for case, own_case in zip(
        getattr(node, "cases", ()), getattr(own, "cases", ()), strict=True
    ):
        found.append((case.body, own_case.body))
    final = getattr(node, "finalbody", None)
    if final:
        found.append((final, own.finalbody.body))  # type: ignore[union-attr]
    return found
