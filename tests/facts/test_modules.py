"""What a module defines."""

from __future__ import annotations

import ast

import pytest

from graphlift.transforms.facts.modules import ModuleFacts

TEXT = '''\
"""A module."""
import os
import os.path
import numpy as np, tensorflow as tf
import tensorflow.keras.layers as layers
from tensorflow import Variable as V, constant
from . import sibling

try:
    import fast
except ImportError:
    fast = None

RATE = 0.5
SIZE: int = 3
LATER: int
a = b = [1]
first, (second, *rest) = (1, (2, 3))
TABLE = {}
TABLE["x"] = 1
CALLS = 0
for LEVEL in range(3):
    pass
if RATE:
    def chosen(): ...
else:
    def chosen(): ...


def outer(x, /, y, *args, z=1, **kwargs):
    global CALLS
    CALLS += 1

    def inner():
        nonlocal x
        x = 1
        return lambda: x

    class Local:
        def method(self): ...

    return inner


class Base(tf.Module):
    def shared(self): ...
    def lost(self): ...


class Child(Base):
    rate = 1

    def __init__(self):
        self.step = 0
        self.items = []

    def shared(self):
        self.step += 1
        self.items.append(1)
        yield 1

    @staticmethod
    def free(): ...

    @classmethod
    def made(cls): ...

    @property
    def size(self): ...

    class Inner:
        def deep(self): ...


async def later(): ...
'''


@pytest.fixture(scope="module")
def module() -> ModuleFacts:
    return ModuleFacts(ast.parse(TEXT), "m")


def test_functions_by_their_qualified_names(module: ModuleFacts) -> None:
    assert list(module.functions) == [
        "chosen",
        "outer",
        "outer.<locals>.inner",
        "outer.<locals>.Local.method",
        "Base.shared",
        "Base.lost",
        "Child.__init__",
        "Child.shared",
        "Child.free",
        "Child.made",
        "Child.size",
        "Child.Inner.deep",
        "later",
    ]
    assert module.functions["chosen"].node.lineno == 27


def test_owners_and_parents(module: ModuleFacts) -> None:
    functions, classes = module.functions, module.classes
    assert functions["Child.shared"].owner is classes["Child"]
    assert functions["outer.<locals>.inner"].parent is functions["outer"]
    assert functions["outer.<locals>.inner"].owner is None
    local = functions["outer.<locals>.Local.method"]
    assert local.owner is classes["outer.<locals>.Local"]
    assert local.parent is functions["outer"]
    assert functions["Child.Inner.deep"].owner is classes["Child.Inner"]
    assert set(classes) == {"outer.<locals>.Local", "Base", "Child", "Child.Inner"}


def test_what_a_function_is(module: ModuleFacts) -> None:
    functions = module.functions
    assert functions["Child.free"].is_static
    assert functions["Child.made"].is_class_method
    assert functions["Child.size"].is_property
    assert functions["Child.shared"].is_generator
    assert not functions["outer"].is_generator
    assert [a.arg for a in functions["outer"].parameters] == ["x", "y", "z"]
    assert functions["outer"].declared_global == {"CALLS"}
    assert functions["outer.<locals>.inner"].declared_global == {"x"}


def test_imports(module: ModuleFacts) -> None:
    assert module.imports == {
        "os": "os",
        "np": "numpy",
        "tf": "tensorflow",
        "layers": "tensorflow.keras.layers",
        "sibling": ".sibling",
        "V": "tensorflow.Variable",
        "constant": "tensorflow.constant",
        "fast": "fast",
    }


def test_globals(module: ModuleFacts) -> None:
    given = {
        name: [value and ast.unparse(value) for value in values]
        for name, values in module.assignments.items()
    }
    assert given == {
        "fast": ["None"],
        "RATE": ["0.5"],
        "SIZE": ["3"],
        "a": ["[1]"],
        "b": ["[1]"],
        "first": ["1"],
        "second": [None],
        "rest": [None],
        "TABLE": ["{}"],
        "CALLS": ["0"],
        "LEVEL": [None, None],
    }


def test_what_changes(module: ModuleFacts) -> None:
    assert module.rebound == {"LEVEL", "CALLS", "x"}
    assert {"TABLE", "CALLS"} <= module.changed
    assert module.rebound_attributes == {
        "step": {"Child.__init__", "Child.shared"},
        "items": {"Child.__init__"},
    }
    assert module.changed_attributes == {
        "step": {"Child.shared"},
        "items": {"Child.shared"},
    }


def test_methods_through_bases(module: ModuleFacts) -> None:
    def found(name: str) -> str | None:
        definition = module.method("Child", name)
        return definition and definition.qualname

    assert found("shared") == "Child.shared"
    assert found("lost") == "Base.lost"
    assert found("nowhere") is None
    assert module.method("Nobody", "shared") is None


def test_bases(module: ModuleFacts) -> None:
    assert module.bases("Child") == ["Base", "tensorflow.Module"]
    assert module.bases("Base") == ["tensorflow.Module"]


def test_classes_that_inherit_in_a_ring() -> None:
    module = ModuleFacts(ast.parse("class A(B): ...\nclass B(A): ..."), "m")
    assert module.bases("A") == ["B", "A"]
    assert module.method("A", "f") is None
