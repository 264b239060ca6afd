"""Tensors that take the name of the list that they are made of, `losses = tf.stack(losses)`, get a name of their own."""

from __future__ import annotations

import ast
from collections.abc import Set

from .containers import changed_list
from .facts.environment import FunctionFacts
from .facts.kinds import Function, Tensor
from .facts.liveness import liveness
from .facts.profile import FunctionNode
from .facts.staging import is_strong
from .facts.syntax import names_in
from .making import assigned
from .object_names import OtherName
from .rebuilding import copied, rebuilt, with_body, with_origin
from .source import Names

JOINING = frozenset({"tensorflow.stack", "tensorflow.concat"})
"""Functions that give a tensor, whatever is known of the list."""


def with_names_apart(facts: FunctionFacts, names: Names) -> FunctionNode | None:
    """The function with such a name given to one tensor of a list that grows in the graph; None where it has none."""
    changed = {changed_list(p.node, facts) for p in facts.problems if p.code == "GL203"}
    lists = {name for name in changed if name}
    if not lists:
        return None
    node = facts.definition.node
    live = liveness(node)
    lists -= live.captured

    def block(body: list[ast.stmt], outermost: bool = False) -> list[ast.stmt]:
        for i, statement in enumerate(body):
            name = _taken_name(statement, lists, facts)
            rest = body[i + 1 :]
            stays = outermost or not any(map(_leaves, rest))
            if name and stays and name not in live.after[body[-1]] | _arguments(rest):
                return [*body[:i], *_renamed(statement, rest, name, names)]
        return [rebuilt(statement, block) for statement in body]

    return with_body(node, block(node.body, outermost=True))


def _taken_name(node: ast.stmt, lists: Set[str], facts: FunctionFacts) -> str | None:
    """The name of a list that a statement gives to a tensor made of it."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as value) if (
            name in lists and name in names_in(value)
        ):
            kind, function = facts.kind(value), facts.kind(value.func)
            joins = isinstance(function, Function) and function.name in JOINING
            made = joins or (isinstance(kind, Tensor) and is_strong(kind))
            return name if made else None
    return None


def _renamed(
    node: ast.stmt, rest: list[ast.stmt], name: str, names: Names
) -> list[ast.stmt]:
    assert isinstance(node, ast.Assign)
    fresh = names.fresh(f"all_{name}")
    renamed = OtherName(name, fresh)
    made = with_origin(assigned(fresh, node.value), node)
    return [made, *(renamed.visit(copied(s)) for s in rest)]


def _arguments(body: list[ast.stmt]) -> set[str]:
    """The names of the parameters of functions inside."""
    inner = (n for statement in body for n in ast.walk(statement))
    return {n.arg for n in inner if isinstance(n, ast.arg)}


def _leaves(node: ast.stmt) -> bool:
    """Whether a statement may go on where what its name held before is read."""
    return any(isinstance(n, ast.Break | ast.Continue) for n in ast.walk(node))
