"""The text of a file by its syntax nodes: segments, comments, names that are free."""

from __future__ import annotations

import ast
import builtins
import copy
import io
import itertools
import json
import re
import tokenize
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import chain
from keyword import kwlist

from .codes import NAMES
from .facts.definitions import FunctionDefinition
from .facts.modules import ModuleFacts
from .facts.syntax import names_in
from .making import visited_fields

NOQA = re.compile(r"#\s*noqa\b(?:\s*:(?P<rules>.*))?", re.IGNORECASE)


class Source:
    """A file's text and its parse. Columns of `ast` count UTF-8 bytes, so lines are kept as bytes."""

    def __init__(self, text: str, tree: ast.Module) -> None:
        self.text = text
        self.tree = tree
        self.lines = split_lines(text)
        self._bytes = [line.encode("utf-8", "surrogatepass") for line in self.lines]

    def imports(self, name: str) -> bool:
        """Whether an `import` at the file's top level gives a module this name."""
        return any(
            (alias.asname or alias.name) == name
            for node in self.tree.body
            if isinstance(node, ast.Import)
            for alias in node.names
        )

    def segment(self, node: ast.expr | ast.stmt) -> str:
        """The text of a node as it stands; of a node that stands nowhere, the text that `ast` gives it."""
        if not is_placed(node):
            return unparsed(node, {})
        return self._between(
            node.lineno,
            node.col_offset,
            node.end_lineno or node.lineno,
            node.end_col_offset or 0,
        ).decode("utf-8", "surrogatepass")

    def _between(self, line: int, column: int, end_line: int, end_column: int) -> bytes:
        if line == end_line:
            return self._bytes[line - 1][column:end_column]
        parts = [self._bytes[line - 1][column:], *self._bytes[line : end_line - 1]]
        return b"\n".join([*parts, self._bytes[end_line - 1][:end_column]])

    def column(self, line: int, offset: int) -> int:
        """The column in characters, from 1, of an offset of `ast` in a line."""
        return len(self._bytes[line - 1][:offset].decode("utf-8", "replace")) + 1

    def spliced(self, node: ast.expr | ast.stmt, edits: Mapping[ast.expr, str]) -> str:
        """The text of a node with the texts of some nodes inside it replaced."""
        if not is_placed(node):
            return unparsed(node, edits)
        result = b""
        line, column = node.lineno, node.col_offset
        for inner in sorted(edits, key=lambda n: (n.lineno, n.col_offset)):
            result += self._between(line, column, inner.lineno, inner.col_offset)
            result += edits[inner].encode("utf-8", "surrogatepass")
            line, column = inner.end_lineno or inner.lineno, inner.end_col_offset or 0
            if (
                _stands_alone(edits[inner])
                and _groups(result, edits[inner])
                and re.match(rb"\)(?!\w)", self._bytes[line - 1][column:])
            ):
                result = (
                    result[: -len(edits[inner].encode()) - 1] + edits[inner].encode()
                )
                column += 1
        result += self._between(
            line, column, node.end_lineno or node.lineno, node.end_col_offset or 0
        )
        return result.decode("utf-8", "surrogatepass")

    @cached_property
    def comments(self) -> Mapping[int, str]:
        """The comments, by their lines, from 1."""
        try:
            tokens = list(tokenize.generate_tokens(io.StringIO(self.text).readline))
        except (tokenize.TokenError, SyntaxError):
            return {}
        return {t.start[0]: t.string for t in tokens if t.type == tokenize.COMMENT}

    @cached_property
    def exempted(self) -> Mapping[int, frozenset[str] | None]:
        """What `noqa` comments name, by their lines; None where that is every rule."""
        if "noqa" not in self.text.lower():
            return {}
        found = {line: NOQA.search(text) for line, text in self.comments.items()}
        return {
            line: None
            if match["rules"] is None
            else frozenset(re.findall(r"[\w-]+", match["rules"].lower()))
            for line, match in found.items()
            if match
        }

    def exempts(self, code: str, first: int, last: int) -> bool:
        """Whether a `noqa` comment on one of these lines exempts what is there from a rule."""
        for line in range(first, last + 1) if self.exempted else ():
            rules = self.exempted.get(line, frozenset())
            if rules is None or rules & {code.lower(), NAMES[code]}:
                return True
        return False

    def has_comment(self, nodes: Iterable[ast.stmt]) -> bool:
        """Whether a comment stands on the lines of these statements, or right before one of them."""
        for node in nodes:
            if not hasattr(node, "lineno"):
                continue
            first = node.lineno
            while first > 1 and self.lines[first - 2].lstrip().startswith("#"):
                first -= 1
            if any(
                line in self.comments
                for line in range(first, (node.end_lineno or first) + 1)
            ):
                return True
        return False

    def spelled(self, text: str) -> str:
        """A text with the numbers as the file writes them: `1e-5`, where `ast` writes `1e-05`."""
        if not self._spellings or "\n" in text:
            return text
        try:
            tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
        except (tokenize.TokenError, SyntaxError):
            return text
        for token in reversed(tokens):
            own = self._spellings.get(token.string)
            if own is not None and token.type == tokenize.NUMBER:
                text = text[: token.start[1]] + own + text[token.end[1] :]
        return text

    @cached_property
    def _spellings(self) -> Mapping[str, str]:
        """How the file writes numbers with an exponent or `_` in them, by what `ast` writes."""
        try:
            tokens = list(tokenize.generate_tokens(io.StringIO(self.text).readline))
        except (tokenize.TokenError, SyntaxError):
            return {}
        found = dict.fromkeys(t.string for t in tokens if t.type == tokenize.NUMBER)
        own = [n for n in found if not n.startswith("0") and re.search("[eE_]", n)]
        told = {ast.unparse(ast.parse(n)): n for n in reversed(own)}
        return {written: n for written, n in told.items() if written not in found}

    @cached_property
    def names(self) -> frozenset[str]:
        """Every identifier of the file."""
        return identifiers(self.tree)


def misnamed(text: str) -> list[tuple[int, str]]:
    """The codes in a file's `noqa` comments that look like a rule's and are none, with their lines."""
    found = Source(text, ast.Module([], [])).exempted if "gl" in text.lower() else {}
    return [
        (line, word.upper())
        for line, words in found.items()
        for word in sorted(words or ())
        if re.fullmatch(r"gl\d+", word) and word.upper() not in NAMES
    ]


def identifiers(tree: ast.AST) -> frozenset[str]:
    """Every identifier of a piece of code."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case (
                ast.Name(id=name)
                | ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                found.add(name)
            case ast.arg(arg=name) | ast.Attribute(attr=name):
                found.add(name)
            case ast.ExceptHandler(name=str(name)):
                found.add(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                found.update(names)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                found.add(name)
            case ast.MatchMapping(rest=str(name)):
                found.add(name)
            case ast.alias(name=name, asname=asname):
                found.add(asname or name.partition(".")[0])
    return frozenset(found)


def head_lines(node: ast.expr | ast.stmt) -> tuple[int, int]:
    """The first and the last line of a node, of a compound statement those of its head."""
    body = getattr(node, "body", None)
    last = body[0].lineno - 1 if isinstance(body, list) else node.end_lineno
    return node.lineno, max(node.lineno, last or 0)


def is_placed(node: ast.AST) -> bool:
    """Whether a node stands in the file, and was not made in the place of one that does."""
    return hasattr(node, "lineno") and not hasattr(node, "made")


def _stands_alone(text: str) -> bool:
    """Whether parentheses around a text change nothing."""
    try:
        return isinstance(ast.parse(text, mode="eval").body, ast.Call | ast.Name)
    except SyntaxError:
        return False


def _groups(before: bytes, text: str) -> bool:
    """Whether the text stands right after a parenthesis that only groups."""
    head = before[: -len(text.encode())]
    if not head.endswith(b"("):
        return False
    rest = head[:-1].rstrip()
    apart = rest != head[:-1]
    if not rest or (apart and rest.endswith((b"return", b" not", b" and", b" or"))):
        return True
    last = rest[-1:]
    return last in (
        b"+",
        b"-",
        b"*",
        b"/",
        b"=",
        b"<",
        b">",
        b"%",
        b"@",
        b"(",
        b",",
        b"[",
    )


class _Placed(ast.NodeTransformer):
    def __init__(self, edits: Mapping[ast.expr, str]) -> None:
        self.edits = edits

    def visit(self, node: ast.AST) -> ast.AST:
        if node in self.edits and isinstance(node, ast.expr):
            return _reparsed(self.edits[node])
        if isinstance(node, ast.JoinedStr):
            parts = [
                v if isinstance(v, ast.Constant) else self.visit(v) for v in node.values
            ]
            return ast.JoinedStr(parts)  # type: ignore[arg-type]
        if isinstance(node, ast.Subscript) and node.slice in self.edits:
            text = self.edits[node.slice]
            if isinstance(node.slice, ast.Tuple) and text.startswith("("):
                text = text[1:-1]
            return ast.Subscript(self.visit(node.value), ast.Name(text), node.ctx)  # type: ignore[arg-type]
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return ast.Name(json.dumps(node.value, ensure_ascii=False), ast.Load())
        return type(node)(**visited_fields(node, self.visit))


def _reparsed(text: str) -> ast.expr:
    """A text as a node, so that it gets parentheses where it needs them; an operand as it stands."""
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return ast.Name(text, ast.Load())
    if isinstance(
        node,
        ast.BinOp | ast.UnaryOp | ast.BoolOp | ast.Compare | ast.IfExp | ast.Lambda,
    ):
        return node
    return ast.Name(text, ast.Load())


def made_text(node: ast.AST) -> str:
    """The text that `ast` gives a node, which keeps no place in the file from that."""
    return ast.unparse(ast.fix_missing_locations(copy.deepcopy(node)))


def unparsed(node: ast.expr | ast.stmt, edits: Mapping[ast.expr, str]) -> str:
    """The text that `ast` gives a node, with the texts of some nodes inside it replaced."""
    made = ast.fix_missing_locations(_Placed(edits).visit(node))
    text = ast.unparse(made)
    targets = node if isinstance(node, ast.Tuple) else None
    if targets and isinstance(targets.ctx, ast.Store) and len(targets.elts) > 1:
        return text[1:-1]
    value = getattr(made, "value", None)
    if isinstance(made, ast.Assign | ast.Return) and isinstance(value, ast.Tuple):
        whole = ast.unparse(value)
        if len(value.elts) > 1 and text.endswith(whole):
            return text.removesuffix(whole) + whole[1:-1]
    return text


def in_small_letters(name: str) -> str:
    """A class's name as a variable may have it: `GradientStep` as `gradient_step`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).strip("_").lower()


def double_quoted(text: str) -> str:
    """Code that `ast` wrote, its texts in double quotes where that takes no escapes."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    texts = [t for t in tokens if t.type == tokenize.STRING]
    lines = text.split("\n")
    for token in reversed(texts):
        prefix, _, inner = token.string.partition("'")
        (row, start), (last, end) = token.start, token.end
        quoted = prefix + inner[:-1]
        if row != last or "'" in inner[:-1] or '"' in quoted:
            continue
        if "\\" in quoted.replace("\\n", "").replace("\\t", "").replace("\\r", ""):
            continue
        line = lines[row - 1]
        lines[row - 1] = f'{line[:start]}{prefix}"{inner[:-1]}"{line[end:]}'
    return "\n".join(lines)


def split_lines(text: str) -> list[str]:
    """Lines as `ast` counts them: form feeds and the like end none."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


class Names:
    """Gives names that clash with none that are taken; those are gone through when it gives the first one."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._given = taken

    @cached_property
    def _taken(self) -> set[str]:
        return set(self._given)

    @classmethod
    def clear_of(cls, function: ast.AST, others: Iterable[str]) -> Names:
        """Names that clash with none that a function reads or sets, none of `others`, and none of Python's own."""
        read = names_in(function)
        return cls(read.union(others, dir(builtins), kwlist))

    @classmethod
    def local_to(cls, definition: FunctionDefinition, module: ModuleFacts) -> Names:
        """Names that clash with none of a function, of the functions around it, of its module, and of Python."""
        around = definition
        while around.parent is not None:
            around = around.parent
        own = (n for node in {definition.node, around.node} for n in identifiers(node))
        return cls(chain(own, module.globals, dir(builtins), kwlist))

    def fresh(self, name: str, *others: str) -> str:
        """The first of these names that is new, or the first one with the least number that makes it new."""
        numbered = (f"{name}_{number}" for number in itertools.count(2))
        made = next(
            candidate
            for candidate in itertools.chain([name, *others], numbered)
            if candidate not in self._taken
        )
        self._taken.add(made)
        return made

    def free(self, name: str) -> None:
        """A name that is not needed after all."""
        self._taken.discard(name)

    def index(self) -> str:
        """A new name for what counts a loop."""
        return self.fresh("i", "j", "k")
