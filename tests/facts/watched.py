"""Runs small programs eagerly with every value watched, and holds the interpreter's facts against them.

A `Program` is a text and a list of calls of one of its functions. `interpret` finds the facts from
the kinds of the arguments alone; `complaints` makes the calls in an instrumented copy of the program
and says where an expression, a name after a statement, or a result is not what the facts promise.
"""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from facts import expressions
from observing import kind_of

from graphlift.transforms.facts.environment import Environment, FunctionFacts
from graphlift.transforms.facts.kind_joins import join
from graphlift.transforms.facts.kinds import (
    GENERATOR,
    NONE,
    UNKNOWN,
    Dict,
    Elements,
    Function,
    Kind,
    Maybe,
    Module,
    Object,
    Python,
    Rows,
    Sequence,
    Tensor,
    Type,
    Union,
)
from graphlift.transforms.facts.modules import ModuleFacts
from graphlift.transforms.facts.profile import Profile, Recorded, fingerprint
from graphlift.transforms.facts.session import Session

MODULE = "program"
ITERATORS = ("range", "enumerate", "zip", "reversed")


@dataclass(frozen=True)
class Program:
    """A text, and calls of its function `entry`: a list of argument tuples, Python read beside it.

    `raises`: what calls may raise; they are watched up to there.
    """

    text: str
    calls: str
    entry: str = "f"
    raises: tuple[type[Exception], ...] = ()


@dataclass(frozen=True)
class Interpreted:
    """A program's parse and the facts of its functions, by qualified name."""

    tree: ast.Module
    facts: Mapping[str, FunctionFacts]

    @property
    def problems(self) -> list[str]:
        return [p.reason for facts in self.facts.values() for p in facts.problems]


def interpret(program: Program) -> Interpreted:
    """The facts of a program, of which only the kinds of its arguments are known."""
    tree = ast.parse(program.text)
    module = ModuleFacts(tree, MODULE)
    definition = module.functions[program.entry]
    names = [parameter.arg for parameter in definition.parameters]
    calls = arguments(program, loaded(tree, {}))
    rows = [dict(zip(names, map(kind_of, call), strict=True)) for call in calls]
    parameters = rows[0]
    for row in rows[1:]:
        parameters = {name: join(kind, row[name]) for name, kind in parameters.items()}
    lines = program.text.splitlines()
    recorded = Recorded(
        fingerprint(lines, definition.node), len(rows), parameters=parameters
    )
    profile = Profile(Path(), {f"{MODULE}.py::{program.entry}": recorded})
    return Interpreted(tree, Session(module, lines, f"{MODULE}.py", profile).analyse())


def complaints(program: Program, found: Interpreted) -> list[str]:
    """Where the facts do not admit what happens on the program's calls; none is how it should be."""
    watcher = _Watcher(found)
    module = loaded(
        watcher.instrumented(), {"_saw": watcher.saw, "_passed": watcher.passed}
    )
    result = found.facts[program.entry].result
    for call in arguments(program, module):
        try:
            value = module[program.entry](*call)
        except program.raises:
            continue
        if not admits(result, value):
            watcher.complain(f"the result is said to be {result}, is {shown(value)}")
    return list(watcher.complaints)


def loaded(tree: ast.Module, extra: Mapping[str, object]) -> dict[str, Any]:
    """The namespace of a program that was run; it has `tf` and `np` whatever it imports."""
    namespace: dict[str, Any] = {"__name__": MODULE, "tf": tf, "np": np, **extra}
    exec(compile(tree, f"{MODULE}.py", "exec"), namespace)
    return namespace


def arguments(program: Program, namespace: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The argument tuples of a program's calls."""
    calls: list[tuple[Any, ...]] = eval(program.calls, namespace)
    return calls


# ---- watching


@dataclass
class _Watcher:
    """Checks values as they come up in the instrumented program."""

    found: Interpreted
    complaints: dict[str, None] = field(default_factory=dict)
    nodes: list[ast.AST] = field(init=False)
    kinds: dict[ast.AST, Kind] = field(default_factory=dict)
    tests: set[ast.AST] = field(default_factory=set)
    after: dict[ast.AST, Environment | None] = field(default_factory=dict)
    interpreted: set[ast.AST] = field(default_factory=set)
    outside: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.nodes = list(ast.walk(self.found.tree))
        for facts in self.found.facts.values():
            self.interpreted.add(facts.definition.original)
            self.outside |= facts.definition.declared_global
            self.kinds |= facts.kinds
            self.tests |= facts.tests
            self.after |= facts.after

    def instrumented(self) -> ast.Module:
        """A copy of the program that tells the watcher each value and each statement that is passed."""
        tree = copy.deepcopy(self.found.tree)
        places = {new: place for place, new in enumerate(ast.walk(tree))}
        made = _Instrumented(places, self.nodes, self.kinds.keys(), self.interpreted)
        return ast.fix_missing_locations(made.visit(tree))

    def complain(self, text: str) -> None:
        self.complaints.setdefault(text)

    def saw(self, place: int, value: Any) -> Any:
        node = self.nodes[place]
        kind = self.kinds[node]
        if node in self.tests:
            fits = not isinstance(kind, Python) or not kind.known
            fits = fits or bool(kind.value) == bool(value)  # type: ignore[attr-defined]
        else:
            fits = admits(kind, value)
        if not fits:
            self.complain(
                f"{self._where(node)} is said to be {kind}, is {shown(value)}"
            )
        return value

    def passed(self, place: int, values: Mapping[str, Any]) -> None:
        node = self.nodes[place]
        if node not in self.after:
            self.complain(f"{self._where(node)} is said not to be reached")
            return
        known = self.after[node]
        if known is None:
            self.complain(f"{self._where(node)} is said not to fall through")
            return
        sure = known.kinds.keys() - known.unsure - self.outside
        for name in sure - values.keys():
            self.complain(f"after {self._where(node)} `{name}` is said to be bound")
        for name, value in values.items():
            kind = known.kinds.get(name)
            if kind is None:
                self.complain(f"after {self._where(node)} `{name}` is not known")
            elif not admits(kind, value):
                self.complain(
                    f"after {self._where(node)} `{name}` is said to be {kind}, is {shown(value)}"
                )

    def _where(self, node: ast.AST) -> str:
        first = ast.unparse(node).partition("\n")[0]
        return f"line {getattr(node, 'lineno', 0)} `{first}`"


@dataclass
class _Instrumented(ast.NodeTransformer):
    """Wraps expressions whose kinds are known and follows statements by a call, in interpreted functions."""

    places: Mapping[ast.AST, int]
    originals: list[ast.AST]
    known: Set[ast.AST]
    interpreted: set[ast.AST]
    inside: bool = False

    def visit(self, node: ast.AST) -> Any:
        original = self.originals[self.places[node]] if node in self.places else None
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            return self._definition(node, original)
        made = self.generic_visit(node)
        if not self.inside:
            return made
        if isinstance(made, ast.stmt):
            passed = _call("_passed", self.places[node], "locals()")
            return [made, ast.Expr(passed)]
        if isinstance(made, ast.expr) and original in self.known and _is_value(made):
            saw = _call("_saw", self.places[node], "None")
            saw.args[1] = made
            return saw
        return made

    def _definition(
        self, node: ast.FunctionDef | ast.ClassDef, original: ast.AST | None
    ) -> Any:
        outside, self.inside = self.inside, original in self.interpreted
        body: list[ast.stmt] = []
        for statement in node.body:
            made = self.visit(statement)
            body += made if isinstance(made, list) else [made]
        node.body = body
        self.inside = outside
        if outside and isinstance(node, ast.FunctionDef):
            return [node, ast.Expr(_call("_passed", self.places[node], "locals()"))]
        return node


def _call(name: str, place: int, argument: str) -> ast.Call:
    made = ast.parse(f"{name}({place}, {argument})", mode="eval").body
    assert isinstance(made, ast.Call)
    return made


def _is_value(node: ast.expr) -> bool:
    """Whether an expression may be wrapped in a call."""
    if isinstance(node, ast.Starred | ast.Slice | ast.JoinedStr):
        return False
    if isinstance(node, ast.Name) and node.id in ("super", "print", "isinstance"):
        return False
    if isinstance(node, ast.Tuple) and any(isinstance(e, ast.Slice) for e in node.elts):
        return False
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


# ---- does a kind admit a value that eager mode gave


def admits(kind: Kind, value: Any) -> bool:
    """Whether eager mode may give this value where the facts tell this kind."""
    match kind:
        case Tensor(mixed=True) if isinstance(value, bool | int | float | str):
            return True
        case Tensor() if kind.weak is None and isinstance(value, tf.Variable):
            return admits(kind, value.read_value())  # which is what a graph chooses
        case Maybe(kind=inner):
            return value is None or admits(inner, value)
        case Rows(element=element):
            return isinstance(value, list) and all(admits(element, v) for v in value)
        case Union(members=parts):
            return any(admits(part, value) for part in parts)
        case Sequence(items=items) if type(value) in (zip, enumerate, reversed):
            return True
        case Sequence(type="tuple" | "list" as name, items=items):
            is_one = isinstance(value, tuple if name == "tuple" else list)
            return is_one and admits_all(items, list(value))
        case Elements(type=name) if name in ITERATORS:
            return type(value).__name__.endswith((name, f"{name}iterator"))
        case Elements(type="tuple", element=element):
            is_generator = isinstance(value, types.GeneratorType)
            return is_generator or (
                isinstance(value, tuple) and all(admits(element, v) for v in value)
            )
        case Elements(type=name, element=element):
            return type(value).__name__ == name and all(
                admits(element, v) for v in value
            )
        case Dict(items=items):
            return (
                isinstance(value, dict)
                and list(value) == [key for key, _ in items]
                and admits_all(tuple(k for _, k in items), list(value.values()))
            )
        case Python(type="ellipsis"):
            return value is ...
        case Function():
            return callable(value)
        case Type():
            return isinstance(value, type)
        case Module():
            return isinstance(value, types.ModuleType)
        case Object(name=name) if name.startswith(f"{MODULE}."):
            return type(value).__qualname__ == name.removeprefix(f"{MODULE}.")
    if kind == GENERATOR:
        return isinstance(value, types.GeneratorType)
    if kind == NONE:
        return value is None
    return kind == UNKNOWN or expressions.admits(kind, value)


def admits_all(kinds: tuple[Kind, ...], values: list[Any]) -> bool:
    return len(kinds) == len(values) and all(map(admits, kinds, values))


def shown(value: Any) -> str:
    """A value's kind and text, on one line."""
    text = " ".join(repr(value).split())
    return f"{kind_of(value)}: {text[:80]}"
