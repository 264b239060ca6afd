"""The places that each rule finds in a function, from its facts."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .facts.environment import FunctionFacts
from .facts.kinds import Function, Kind, weak
from .facts.staging import is_tensor
from .facts.texts import parts

Place = tuple[str, ast.expr | ast.stmt, str]
"""A rule's code, a node, and what is the matter there."""

STAGED: dict[type[ast.AST], tuple[str, str]] = {
    ast.If: ("GL101", "this `if` is decided by a tensor"),
    ast.IfExp: ("GL102", "this conditional expression is decided by a tensor"),
    ast.BoolOp: ("GL103", "a tensor has no truth while a graph is traced"),
    ast.UnaryOp: ("GL103", "a tensor has no truth while a graph is traced"),
    ast.Compare: ("GL103", "a chained comparison of tensors asks for their truth"),
    ast.While: ("GL104", "this loop is ended by a tensor"),
    ast.For: ("GL105", "this loop goes over a tensor, or is ended by one"),
    ast.Assert: ("GL108", "this is asserted of a tensor"),
}
CONVERSIONS = frozenset({"builtins.int", "builtins.float", "builtins.bool"})
PROBLEMS = frozenset(
    {
        "GL108",
        "GL109",
        "GL110",
        "GL111",
        "GL202",
        "GL203",
        "GL204",
        "GL207",
        "GL208",
        "GL211",
        "GL301",
        "GL302",
        "GL303",
        "GL304",
    }
)
"""Codes of problems that lifting solves."""


def places(facts: FunctionFacts) -> Iterator[Place]:
    """What the rules find in one function, in no order."""
    for node in facts.staged:
        found = STAGED.get(type(node))
        if found is not None and hasattr(node, "lineno"):
            assert isinstance(node, ast.expr | ast.stmt)
            yield found[0], node, found[1]
    for node in ast.walk(facts.definition.original):
        if isinstance(node, ast.Call):
            yield from _call(facts, node)
        if (
            isinstance(node, ast.expr)
            and facts.kinds.get(node) == weak("str")
            and parts(node)
        ):
            yield "GL210", node, "a traced tensor has no value to be shown"
    for problem in facts.problems:
        told = problem.node in facts.staged and STAGED.get(type(problem.node))
        if told and told[0] == problem.code:
            continue
        if problem.code in PROBLEMS and isinstance(problem.node, ast.expr | ast.stmt):
            yield problem.code, problem.node, problem.reason
    for written in facts.effects.get("write", ()):
        if _is_dropped(facts, written):
            assert isinstance(written, ast.expr)
            yield "GL209", written, "what this gives is dropped"


def _call(facts: FunctionFacts, node: ast.Call) -> Iterator[Place]:
    function = facts.kind(node.func)
    name = function.name if isinstance(function, Function) else ""
    argument: Kind | None = facts.kind(node.args[0]) if node.args else None
    if name == "builtins.print":
        yield "GL201", node, "a graph prints once, while it is traced"
    elif name in CONVERSIONS and argument is not None and is_tensor(argument):
        yield "GL205", node, f"`{ast.unparse(node.func)}` reads a tensor into Python"
    elif name == "builtins.len" and argument is not None and is_tensor(argument):
        yield "GL406", node, "a traced tensor has no `len()`"


def _is_dropped(facts: FunctionFacts, call: ast.AST) -> bool:
    return any(
        isinstance(s, ast.Expr) and s.value is call
        for s in ast.walk(facts.definition.original)
    )
