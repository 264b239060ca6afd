"""Lifted functions go into their file, and nothing else there changes."""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path
from types import ModuleType

import pytest
from lifting_by_hand import emitted
from tricky_files import STANDARD, TRICKY

from graphlift.transforms.emit import emit
from graphlift.transforms.facts.profile import FunctionNode
from graphlift.transforms.options import Options
from graphlift.transforms.source import Source
from graphlift.transforms.steps import Code, Keep, Plan

FILES = {
    "newlines of Windows": "import a\r\n\r\n\r\ndef f(x):\r\n    # why\r\n    return x\r\n",
    "newlines of old": "import a\rdef f(x):\r    return x\r",
    "no newline at the end": "def f(x):\n    return x",
    "no newline after a comment": "def f(x):\n    return x  # why",
    "a form feed": "import a\n\x0c\ndef f(x):\n    return x\n\x0c\n# end\n",
    "a form feed inside": "def f(x):\n    a\n\x0c\n    return x\n",
    "tabs": "def f(x):\n\tif x:\n\t\treturn x\n\treturn 1\n",
    "two spaces": "class C:\n  def f(self):\n    if self:\n      return 1\n    return 2\n",
    "tabs in a class": "class C:\n\tdef f(self):\n\t\treturn 1\n",
    "eight spaces": "def f(x):\n        return x\n",
    "trailing blanks": "import a   \n\n\ndef f(x):   \n    return x   \n   \n\nb = 1  \n",
    "deep in a class": "class A:\n    class B:\n        def f(self):\n            # why\n            return 1\n    b = 1\n",
    "in an if": "if a:\n    def f(x):\n        return x\nelse:\n    def f(x):\n        return 1\n",
    "after a comment": "# one\n\n# two\n@a  # three\n# four\ndef f(x):  # five\n    # six\n    return x  # seven\n    # eight\n# nine\n",
    "strings with newlines": "def f(x):\n    a = '''\n  b\n\tc\n'''\n    return a\n",
    "strings with other newlines": "def f(x):\r\n    a = '''\r\nb\r\n'''\r\n    return a\r\n",
    "letters": "def ƒ(ä):\n    return 'é😀' + ä  # ö\n",
    "a line of continuations": "def f(x):\n    return x + \\\n        1\n",
    "a docstring": 'def f(x):\n    """Doc.\n\n    More.\n    """\n    return x\n',
    "an empty line at the start": "\n\ndef f(x):\n    return x\n",
    "a coroutine": "async def f(x):\n    async with x: return await x\n",
    "types": "def f[T](x: T, *, y: 'int' = 1, **z) -> dict[str, T]:\n    return {}\n"
    if hasattr(ast, "TypeAlias")
    else "def f(x: int, /, *, y: 'int' = 1, **z) -> dict:\n    return {}\n",
}


def newlines(text: str) -> list[str]:
    return re.findall(r"\r\n|\r|\n", text)


@pytest.mark.parametrize("name", FILES)
def test_kept_functions_leave_the_file_as_it_is(name: str) -> None:
    assert emitted(FILES[name]) == FILES[name]


@pytest.mark.parametrize("name", TRICKY)
def test_kept_statements_stay(name: str) -> None:
    text = textwrap.dedent(TRICKY[name])
    made = emitted(text)
    assert ast.dump(ast.parse(made)) == ast.dump(ast.parse(text))
    if ";" not in text:
        assert made == text


@pytest.mark.parametrize("module", STANDARD, ids=lambda module: module.__name__)
def test_kept_functions_of_the_standard_library(module: ModuleType) -> None:
    text = Path(str(module.__file__)).read_text(encoding="utf-8")
    made = emitted(text)
    assert ast.dump(ast.parse(made)) == ast.dump(ast.parse(text))
    lines = zip(made.splitlines(), text.splitlines(), strict=True)
    assert [(new, old) for new, old in lines if new != old] == []


@pytest.mark.parametrize(
    "text",
    [
        "def f(x): return x\n",
        "def f(x): a = 1; return a  # why",
        'def f(x):\n    """Doc."""\n',
        'def f(x): """Doc."""; return x\n',
        "class C: \n    def f(x): return x\n",
    ],
)
def test_functions_without_lines_of_their_own(text: str) -> None:
    made = emitted(text)
    tree = ast.parse(made)
    for node in ast.walk(tree):
        if isinstance(node, FunctionNode):
            node.body = [n for n in node.body if not isinstance(n, ast.Pass)]
    assert ast.unparse(tree) == ast.unparse(ast.parse(text))
    assert made.count("#") == text.count("#")


# ---- changed functions


@pytest.mark.parametrize("name", FILES)
def test_other_lines_stay_when_one_changes(name: str) -> None:
    text = FILES[name]

    def change(node: FunctionNode, plan: Plan) -> None:
        plan.steps = [Code("changed"), *plan.steps]

    made = emitted(text, change)
    before, after = text.splitlines(), made.splitlines()
    assert [line for line in after if line.strip() != "changed"] == before
    assert set(newlines(made)) == set(newlines(text))
    assert made.endswith(("\n", "\r")) == text.endswith(("\n", "\r"))


def test_decorators_go_last() -> None:
    def change(node: FunctionNode, plan: Plan) -> None:
        plan.decorator = "tf.function(input_signature=[tf.TensorSpec([], tf.float32)])"

    text = textwrap.dedent(
        """\
        # why
        @a  # one
        def f(x):  # two
            return x


        class C:
            # three
            def g(self): return 1
        """
    )
    assert emitted(text, change, width=60) == textwrap.dedent(
        """\
        # why
        @a  # one
        @tf.function(
            input_signature=[tf.TensorSpec([], tf.float32)]
        )
        def f(x):  # two
            return x


        class C:
            # three
            @tf.function(
                input_signature=[tf.TensorSpec([], tf.float32)]
            )
            def g(self):
                return 1
        """
    )


def test_core_and_shell() -> None:
    def change(node: FunctionNode, plan: Plan) -> None:
        plan.decorator = "tf.function"
        plan.core = "f_graph"
        plan.shell = [Code("return int(f_graph(x))")]

    text = '''\
import tensorflow as tf


# why
def f(x: int, y=1) -> int:
    """Doc."""
    # one
    return x  # two


a = 1
'''
    assert (
        emitted(text, change)
        == '''\
import tensorflow as tf


# why
@tf.function
def f_graph(x: int, y=1) -> int:
    # one
    return x  # two


def f(x: int, y=1) -> int:
    """Doc."""
    return int(f_graph(x))


a = 1
'''
    )


def test_core_with_parameters_of_its_own() -> None:
    def change(node: FunctionNode, plan: Plan) -> None:
        plan.core = "g_graph"
        plan.decorator = "tf.function"
        plan.parameters = ["self", "step"]
        plan.shell = [Code("self.step = self.g_graph(self.step)")]

    text = (
        "class C:\n    @a\n    def g(self, *, x: int = 1) -> int:\n        return 1\n"
    )
    assert emitted(text, change) == textwrap.dedent(
        """\
        class C:
            @tf.function
            def g_graph(self, step):
                return 1

            @a
            def g(self, *, x: int = 1) -> int:
                self.step = self.g_graph(self.step)
        """
    )


def test_statements_of_the_module_go_before_its_comments() -> None:
    def change(node: FunctionNode, plan: Plan) -> None:
        plan.statements = ["v = tf.Variable(0)"]

    text = "import tensorflow as tf\n\n\n# why\n@a\ndef f(x):\n    return x\n"
    assert emitted(text, change) == (
        "import tensorflow as tf\n\n\nv = tf.Variable(0)\n\n\n# why\n@a\ndef f(x):\n    return x\n"
    )


def test_statements_for_a_method_go_before_its_class() -> None:
    def change(node: FunctionNode, plan: Plan) -> None:
        plan.statements = ["v = 1", "w = 2"]

    text = "a\n\n\nclass C:\n    def f(self):\n        return 1\n"
    assert emitted(text, change) == (
        "a\n\n\nv = 1\nw = 2\n\n\nclass C:\n    def f(self):\n        return 1\n"
    )


def test_several_functions() -> None:
    def change(node: FunctionNode, plan: Plan) -> None:
        plan.steps = [Code(f"return {node.name!r}", node.body[0])]

    text = (
        "def f(): return 1\ndef g(): return 2\n\nclass C:\n    def h(self): return 3\n"
    )
    made = emitted(text, change)
    scope: dict[str, object] = {}
    exec(made, scope)
    assert [eval(call, scope) for call in ("f()", "g()", "C().h()")] == ["f", "g", "h"]


def test_text_that_does_not_compile_is_not_given() -> None:
    def change(node: FunctionNode, plan: Plan) -> None:
        plan.steps = [Keep(node.body[0]), Code("break")]

    with pytest.raises(SyntaxError):
        emitted("def f(x):\n    return x\n", change)


# ---- imports


@pytest.mark.parametrize(
    ("head", "wanted"),
    [
        ("", "import math\n\n"),
        ("import os\n", "import os\nimport math\n"),
        ("import tensorflow as tf\n", "import math\n\nimport tensorflow as tf\n"),
        (
            "import os\nfrom sys import path\n\nimport tensorflow as tf\n",
            "import os\nfrom sys import path\nimport math\n\nimport tensorflow as tf\n",
        ),
        ('"""Doc."""\n\nimport os\n', '"""Doc."""\n\nimport os\nimport math\n'),
        (
            "from __future__ import annotations\n\nimport os\n",
            "from __future__ import annotations\n\nimport os\nimport math\n",
        ),
        ("import math\n", "import math\n"),
        ("import os; import sys\n", "import os; import sys\nimport math\n"),
        (
            "import os\nfrom a import (\n    b,\n    c,\n)\n",
            "import os\nimport math\nfrom a import (\n    b,\n    c,\n)\n",
        ),
    ],
)
def test_imports_of_the_standard_library(head: str, wanted: str) -> None:
    def change(node: FunctionNode, plan: Plan) -> None:
        plan.imports = {"math"}

    rest = "\n\ndef f(x):\n    return x\n"
    made = emitted(head + rest, change)
    assert made.endswith("\n\ndef f(x):\n    return x\n")
    assert made.removesuffix(rest).rstrip("\n") == wanted.rstrip("\n")


@pytest.mark.parametrize(
    "head",
    [
        '"""Doc."""\n',
        '"""Doc."""\nfrom __future__ import annotations\n',
        "# comment\nfrom __future__ import annotations\n",
        "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n",
        "#!/usr/bin/env python\n",
        "",
    ],
)
@pytest.mark.parametrize("name", ["math", "tensorflow as tf"])
def test_imports_into_a_file_without_any(head: str, name: str) -> None:
    def change(node: FunctionNode, plan: Plan) -> None:
        plan.imports = {name}

    text = head + "\n\ndef f(x):\n    return x\n"
    made = emitted(text, change)
    assert f"import {name}\n" in made
    assert made.startswith(head)
    assert ast.get_docstring(ast.parse(made)) == ast.get_docstring(ast.parse(text))


def test_import_of_tensorflow_goes_last() -> None:
    def change(node: FunctionNode, plan: Plan) -> None:
        plan.imports = {"tensorflow as tf"}

    text = "import os\n\nimport keras\n\n\ndef f(x):\n    return x\n"
    assert emitted(text, change) == (
        "import os\n\nimport keras\nimport tensorflow as tf\n\n\ndef f(x):\n    return x\n"
    )


def test_imports_keep_the_newlines_of_the_file() -> None:
    def change(node: FunctionNode, plan: Plan) -> None:
        plan.imports = {"math"}

    text = "import os\r\n\r\n\r\ndef f(x):\r\n    return x\r\n"
    assert emitted(text, change).count("\n") == emitted(text, change).count("\r\n")


def test_nothing_is_written_twice():
    text = "def f(x):\n    def g(y):\n        a = y\n        return a\n\n    return g(x)\n\n\ndef h(x):\n    return x\n"
    outer = ast.parse(text).body[0]
    assert isinstance(outer, ast.FunctionDef)
    plans = [
        Plan(node, node.name, [Code("return 1")]) for node in (outer, outer.body[0])
    ]
    with pytest.raises(ValueError, match="written twice"):
        emit(Source(text, ast.parse(text)), plans, Options())
