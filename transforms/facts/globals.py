"""What a module's globals hold, and the names that it has from elsewhere."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from . import numpy_functions, tensorflow_api
from .definitions import FunctionDefinition
from .environment import Environment, FunctionFacts
from .interpreter import Interpreter
from .kind_joins import forget, join_all
from .kind_parts import settled
from .kinds import (
    UNKNOWN,
    Function,
    Kind,
    Module,
    Python,
    Tensor,
    Type,
    Variable,
    python,
)
from .profile import Recorded

if TYPE_CHECKING:
    from .session import Session

EXTERNAL_ROOTS = {"keras": "tensorflow.keras"}
LEVELS = {
    "NOTSET": 0,
    "DEBUG": 10,
    "INFO": 20,
    "WARN": 30,
    "WARNING": 30,
    "ERROR": 40,
    "FATAL": 50,
    "CRITICAL": 50,
}
"""The levels of `logging`."""


class Globals:
    """The kinds of what one module has under its names."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.module = session.module
        self._kinds: dict[str, Kind] = {}

    def external(self, dotted: str) -> Kind:
        """What a dotted name of another package stands for."""
        home, name = self.session.home(dotted)
        if home is not self.session:
            kind = home.globals.kind(name, None) if name else Module(home.module.name)
            if kind is not None:
                return kind
        root, _, rest = dotted.partition(".")
        if root in EXTERNAL_ROOTS:
            dotted = EXTERNAL_ROOTS[root] + (f".{rest}" if rest else "")
        if dotted == "tensorflow":
            return Module(dotted)
        if dotted.startswith("tensorflow."):
            return tensorflow_api.constant(dotted) or Function(dotted)
        if root == "math" and rest and not callable(getattr(math, rest, None)):
            return python(getattr(math, rest, None))
        if root == "logging" and rest in LEVELS:
            return python(LEVELS[rest])
        if root == "numpy" and rest in numpy_functions.CONSTANTS:
            return numpy_functions.CONSTANTS[rest]
        if root == "numpy" and rest in numpy_functions.TYPES:
            return Type(dotted)
        if not rest:
            return Module(dotted)
        return Function(dotted)

    def kind(self, name: str, recorded: Recorded | None) -> Kind | None:
        """What a module's global holds; None where it has none of this name."""
        if name in self.module.functions:
            return Function(self.session.dotted(name))
        if name in self.module.classes or name in self.session.records:
            return Type(self.session.dotted(name))
        seen = recorded.globals.get(name) if recorded else None
        if name in self.module.imports:
            kind = self.external(self.module.imports[name])
            own = isinstance(kind, Function) and kind.name.count(".") > 0
            constant = isinstance(seen, Python | Tensor | Variable)
            return seen if seen and ((own and constant) or kind == UNKNOWN) else kind
        if name not in self.module.assignments:
            return None
        if name not in self._kinds:
            self._kinds[name] = UNKNOWN
            self._kinds[name] = self._evaluated(name)
        kind = self._kinds[name]
        if name in self.module.rebound and seen is not None:
            return seen
        if kind == UNKNOWN or (
            isinstance(kind, Tensor | Variable) and kind.shape is None
        ):
            return seen or kind
        return kind

    def _evaluated(self, name: str) -> Kind:
        kinds = []
        for value in self.module.assignments[name]:
            kinds.append(UNKNOWN if value is None else self.value(value))
        return join_all(kinds) if len(kinds) == 1 else join_all(map(forget, kinds))

    def value(self, value: ast.expr) -> Kind:
        """The kind of an expression of the module itself; what it does besides does not matter here."""
        stub = ast.parse("def module(): pass").body[0]
        assert isinstance(stub, ast.FunctionDef)
        evaluation = Interpreter(self.session, None)
        evaluation.enter(FunctionFacts(FunctionDefinition(stub, "<module>"), {}), None)
        return settled(evaluation.evaluate(value, Environment()))

    def defaults(self, definition: FunctionDefinition) -> dict[str, Kind]:
        return {n: self.value(d) for n, d in definition.defaults.items()}

    def is_changed(self, name: str) -> bool:
        """Whether some code changes what a global holds in place."""
        dotted = self.module.imports.get(name)
        home, own = self.session.home(dotted) if dotted else (self.session, name)
        return name in self.module.changed or own in home.module.changed

    def changed_defaults(self, definition: FunctionDefinition) -> Iterator[str]:
        """The parameters whose default values some code changes in place, under their own names or another's."""
        for name, default in definition.defaults.items():
            match default:
                case ast.Constant():
                    continue
                case ast.Name(id=other):
                    changed = self.is_changed(other)
                case ast.Attribute(attr=attr):
                    changed = attr in self.module.changed_attributes
                case _:
                    changed = False
            if changed or name in self.module.changed:
                yield name
