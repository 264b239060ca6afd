"""`asdict`, `astuple` and `replace` of dataclasses, written out.

The first step only, of GL401: these copy deeply what an object holds, which no tensor of a graph allows, or make another
object of its class.
"""

from __future__ import annotations

import ast

from .facts.environment import FunctionFacts
from .facts.function_calls import COPIES
from .facts.kinds import Function, Kind, Object, Record
from .facts.profile import FunctionNode
from .facts.session import Session
from .making import name
from .rewriting import Rewriter
from .source import Names


def with_fields_written_out(
    facts: FunctionFacts, session: Session, names: Names
) -> FunctionNode | None:
    """The function with the fields of its dataclasses written out where they are copied; None where none are."""
    return _Copies(facts, session, names).function()


class _Copies(Rewriter):
    def __init__(self, facts: FunctionFacts, session: Session, names: Names) -> None:
        super().__init__(facts, names)
        self.session = session
        self.hindering = {p.node for p in facts.problems}

    def expression(self, node: ast.expr) -> ast.expr | None:
        match node:
            case ast.Call(func=function, args=[whole]) if node in self.hindering:
                called, fields = self.kind(function), self._fields(self.kind(whole))
                if isinstance(called, Function) and called.name in COPIES and fields:
                    held = self.atom(whole, "whole")
                    return self._written_out(node, called, held, fields)
        return None

    def _written_out(
        self, node: ast.Call, called: Function, whole: ast.expr, fields: list[str]
    ) -> ast.expr | None:
        values: list[ast.expr] = [ast.Attribute(whole, f, ast.Load()) for f in fields]
        match called.name:
            case "dataclasses.asdict":
                return ast.Dict([ast.Constant(f) for f in fields], values)
            case "dataclasses.astuple":
                return ast.Tuple(values, ast.Load())
        made = self.session.qualname(_class_name(self.kind(node.args[0])))
        given = {keyword.arg for keyword in node.keywords}
        kept = [
            ast.keyword(f, value)
            for f, value in zip(fields, values, strict=True)
            if f not in given
        ]
        return ast.Call(name(made), [], [*node.keywords, *kept])

    def _fields(self, kind: Kind) -> list[str] | None:
        """The fields of a dataclass of the module that are passed to make one; None for anything else."""
        made = self.session.class_of(_class_name(kind))
        if made is None or made.fields is None:
            return None
        passed = all(f.is_passed for f in made.fields.values())
        return list(made.fields) if passed else None


def _class_name(kind: Kind) -> str:
    """The class of an object, or of one that a graph takes apart; "" for anything else."""
    match kind:
        case Record(type=name) | Object(name=name):
            return name
    return ""
