"""The `__init__` that `dataclass` writes for a class."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

IMMATERIAL = frozenset(["repr", "eq", "order", "frozen", "slots", "unsafe_hash"])
"""Arguments of `dataclass` that change nothing about how an instance is made."""
UNLIKE_OTHERS = ("InitVar", "KW_ONLY")
DISPLAYS = {"list": "[]", "dict": "{}", "set": "set()"}


Imported = Callable[[str], str | None]
"""Gives the dotted name that a chain of names has from an import."""


@dataclass(frozen=True)
class Field:
    """What an instance gets where nothing else is passed, anew for each; whether something may be passed."""

    default: ast.expr | None
    is_passed: bool = True


def is_dataclass(node: ast.ClassDef, imported: Imported) -> bool:
    """Whether `dataclass`, with no options but such as leave the making of instances alone, is all that decorates a class."""
    if len(node.decorator_list) != 1 or node.keywords:
        return False
    decorator, options = node.decorator_list[0], list[ast.keyword]()
    if isinstance(decorator, ast.Call):
        options = decorator.keywords
        decorator = decorator.func
    plain = all(option.arg in IMMATERIAL for option in options)
    return plain and imported(ast.unparse(decorator)) == "dataclasses.dataclass"


def fields(node: ast.ClassDef, imported: Imported) -> dict[str, Field] | None:
    """The fields that the body of a dataclass has; None where what they are is not plain."""
    found: dict[str, Field] = {}
    for statement in node.body:
        if not isinstance(statement, ast.AnnAssign):
            continue
        name, value = statement.target, statement.value
        annotation = ast.unparse(statement.annotation)
        if "ClassVar" in annotation:
            continue
        unlike = any(word in annotation for word in UNLIKE_OTHERS)
        if unlike or not isinstance(name, ast.Name):
            return None
        made = _field(value, imported)
        if made is None:
            return None
        found[name.id] = made
    return found


def written(node: ast.ClassDef, fields: dict[str, Field]) -> ast.FunctionDef:
    """The `__init__` that sets these fields. What it takes defaults from is worked out anew for each call."""
    values = {
        name: name if f.is_passed else f.default and ast.unparse(f.default)
        for name, f in fields.items()
    }
    lines = [f"    self.{name} = {text}" for name, text in values.items() if text]
    if any(getattr(s, "name", "") == "__post_init__" for s in node.body):
        lines.append("    self.__post_init__()")
    text = "\n".join(["def __init__(self):", *(lines or ["    pass"])])
    (made,) = ast.parse(text).body
    assert isinstance(made, ast.FunctionDef)
    passed = {name: f.default for name, f in fields.items() if f.is_passed}
    made.args.args += [ast.arg(name) for name in passed]
    made.args.defaults = [value for value in passed.values() if value is not None]
    for inner in ast.walk(made):
        if isinstance(inner, ast.expr | ast.stmt | ast.arg):
            ast.copy_location(inner, node)
    return made


def _field(value: ast.expr | None, imported: Imported) -> Field | None:
    """A field by what the class body gives it; None where that is not plain."""
    if not isinstance(value, ast.Call):
        return Field(value)
    if imported(ast.unparse(value.func)) != "dataclasses.field" or value.args:
        return Field(value)
    given = {keyword.arg: keyword.value for keyword in value.keywords}
    passed = given.get("init", ast.Constant(True))
    if None in given or "kw_only" in given or not isinstance(passed, ast.Constant):
        return None
    default = given.get("default")
    if "default_factory" in given:
        default = _made(given["default_factory"])
    return Field(default, bool(passed.value))


def _made(factory: ast.expr) -> ast.expr:
    """What calling a factory gives, as an expression."""
    match factory:
        case ast.Name(id=name) if name in DISPLAYS:
            return ast.parse(DISPLAYS[name], mode="eval").body
        case ast.Lambda(body=body):
            return body
    return ast.Call(factory, [], [])
