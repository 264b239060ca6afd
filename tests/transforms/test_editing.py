"""Statements of ast and libcst find each other, and keep their comments on the way."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import libcst as cst
import pytest
from tricky_files import STANDARD, TRICKY

from graphlift.transforms.editing import Editor, parse_statement
from graphlift.transforms.source import Source
from graphlift.transforms.steps import Code, Compound, Define, Keep, Step


def edited(text: str, width: int = 88) -> tuple[ast.Module, list[Editor]]:
    """The parse of a text, and an editor for each of its top-level functions."""
    source = Source(text, ast.parse(text))
    module = cst.parse_module(text)
    editors = []
    for node, tree in zip(source.tree.body, module.body, strict=True):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert isinstance(tree, cst.FunctionDef)
            editors.append(Editor(source, node, tree, 0, width))
    return source.tree, editors


def unpaired(editor: Editor, node: ast.AST) -> list[str]:
    """The statements of a function that are paired with none, or with another one."""
    found = []
    for inner in ast.walk(node):
        if not isinstance(inner, ast.stmt) or inner is node:
            continue
        own, line = editor.pairs[inner]
        text = cst.Module([]).code_for_node(own)
        same = ast.dump(ast.parse(textwrap.dedent(text))) == ast.dump(
            ast.Module([inner], [])
        )
        stands = own is line or own in getattr(line, "body", ())
        if not (same and stands):
            found.append(ast.unparse(inner))
    return found


@pytest.mark.parametrize("name", TRICKY)
def test_pairs(name: str) -> None:
    tree, (editor,) = edited(textwrap.dedent(TRICKY[name]))
    assert unpaired(editor, tree.body[0]) == []


@pytest.mark.parametrize("module", STANDARD, ids=lambda module: module.__name__)
def test_pairs_of_the_standard_library(module: ModuleType) -> None:
    text = Path(str(module.__file__)).read_text(encoding="utf-8")
    tree, editors = edited(text)
    nodes = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    assert len(nodes) == len(editors) > 0
    for node, editor in zip(nodes, editors, strict=True):
        assert unpaired(editor, node) == []


def test_parses_that_differ_are_refused() -> None:
    source = Source("", ast.parse("def f():\n    a\n    b\n"))
    tree = cst.parse_statement("def f():\n    a\n")
    assert isinstance(tree, cst.FunctionDef)
    node = source.tree.body[0]
    assert isinstance(node, ast.FunctionDef)
    with pytest.raises(ValueError, match="differ"):
        Editor(source, node, tree, 0, 88)


# ---- steps


def built(text: str, make: Callable[[list[ast.stmt]], list[Step]]) -> str:
    """The new body of a function from steps that are made of its old statements."""
    tree, (editor,) = edited(textwrap.dedent(text), width=40)
    node = tree.body[0]
    assert isinstance(node, ast.FunctionDef)
    body = editor.block(make(node.body), 0)
    return cst.Module(body).code


def test_kept_statements_keep_all() -> None:
    text = TRICKY["comments in odd places"]
    assert built(text, lambda body: list(map(Keep, body))) == textwrap.dedent(
        """\
        # first
        if x:  # test
            # inside
            a  # one
            # last
        # between
        else:  # other
            b
        # after

        # far
        return a  # end
        """
    )


def test_statements_of_one_line_are_parted() -> None:
    text = """
    def f(x):
        # before
        a = 1; b = 2; c = 3  # why
    """
    assert built(text, lambda body: list(map(Keep, body))) == (
        "# before\na = 1\nb = 2\nc = 3  # why\n"
    )
    assert built(text, lambda body: [Keep(body[1])]) == "b = 2\n"


def test_new_statements_take_the_comments_of_their_origin() -> None:
    text = """
    def f(x):
        # before

        # long before
        a = 1  # why
        # before b
        if b:  # test
            c
            # last
    """
    made = built(
        text, lambda body: [Code("d = 2", body[0]), Code("e = 3", body[1]), Code("g")]
    )
    assert made == (
        "# before\n\n# long before\nd = 2  # why\n"
        "# before b\n# test\n# last\ne = 3\ng\n"
    )


def test_comments_of_parted_lines_go_once() -> None:
    text = """
    def f(x):
        # before
        a = 1; b = 2  # why
    """
    made = built(text, lambda body: [Code("c = 3", s) for s in body])
    assert made == "# before\nc = 3\nc = 3  # why\n"


def test_long_statements_are_broken() -> None:
    made = built(
        "def f(x):\n    a\n",
        lambda body: [
            Code("name = function(first_argument, second_argument)", body[0])
        ],
    )
    assert made == "name = function(\n    first_argument, second_argument\n)\n"


def test_the_depth_counts_for_the_width() -> None:
    def make(body: list[ast.stmt]) -> list[Step]:
        inner: list[Step] = [Code("name = function(first, second_12)")]
        return [
            Code("name = function(first, second_12)"),
            Compound(("if x:",), (inner,)),
        ]

    assert built("def f(x):\n    a\n", make) == (
        "name = function(first, second_12)\n"
        "if x:\n    name = function(\n        first, second_12\n    )\n"
    )


def test_nested_functions_have_space_around() -> None:
    def make(body: list[ast.stmt]) -> list[Step]:
        return [
            Keep(body[0]),
            Define("g", ("x", "y"), [Code("return x")], body[1]),
            Define("h", (), []),
            Keep(body[2]),
        ]

    text = "def f(x):\n    a\n    # why\n    if b: d\n    c\n"
    assert built(text, make) == (
        "a\n\n# why\ndef g(x, y):\n    return x\n\ndef h():\n    pass\n\nc\n"
    )
    assert built(text, lambda body: make(body)[1:2]) == (
        "# why\ndef g(x, y):\n    return x\n"
    )


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        (("if x:",), "if x:\n    a\n"),
        (("if x:", "else:"), "if x:\n    a\nelse:\n    b\n"),
        (("while x:", "else:"), "while x:\n    a\nelse:\n    b\n"),
        (("for x in y:", "else:"), "for x in y:\n    a\nelse:\n    b\n"),
        (("try:", "finally:"), "try:\n    a\nfinally:\n    b\n"),
        (("with x as y, z:",), "with x as y, z:\n    a\n"),
    ],
)
def test_compound_statements(headers: tuple[str, ...], code: str) -> None:
    blocks: tuple[list[Step], ...] = ([Code("a")], [Code("b")])[: len(headers)]
    assert built("def f(x):\n    a\n", lambda body: [Compound(headers, blocks)]) == code


def test_compound_statements_take_comments() -> None:
    text = """
    def f(x):
        # before
        if x:  # test
            a
        # between
        else:  # other
            b
    """
    made = built(
        text,
        lambda body: [
            Compound(("if y:", "else:"), ([Code("c")], [Code("d")]), body[0])
        ],
    )
    assert sorted(line for line in made.splitlines() if "#" in line) == [
        "# before",
        "# between",
        "# other",
        "# test",
    ]
    assert ast.unparse(ast.parse(made)) == "if y:\n    c\nelse:\n    d"


def test_no_steps_are_a_pass() -> None:
    assert built("def f(x):\n    a\n", lambda body: []) == "pass\n"


def test_statements_that_stand_nowhere_are_unparsed() -> None:
    made = ast.parse("if a: b").body[0]
    assert built("def f(x):\n    a\n", lambda body: [Keep(made)]) == "if a:\n    b\n"


def test_parse_statement() -> None:
    assert isinstance(parse_statement("if a: b"), cst.If)
