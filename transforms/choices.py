"""What follows a branch goes into its arms, where a tensor decides between values that no tensor can hold.

The first step only, of GL101 and GL102: an `if` that chooses between functions, objects, dtypes, or tuples of different
lengths is followed by what uses them. A graph cannot hand such a value on, but each arm can use its own.
"""

from __future__ import annotations

import ast
import copy

from .facts.environment import FunctionFacts
from .facts.kinds import Kind
from .facts.liveness import Liveness, liveness
from .facts.profile import FunctionNode
from .facts.staging import fits_graph, stage
from .facts.syntax import blocks, bound_names
from .making import SCOPES
from .rebuilding import duplicated, rebuilt, with_body, with_origin, written_out
from .rewriting import Rewriter
from .source import Names

MOST_NODES = 200
"""How much may follow: it is written twice."""


def with_uses_in_arms(facts: FunctionFacts, names: Names) -> FunctionNode | None:
    """The function with what uses such values moved into the arms that choose them; None where there is nothing to move."""
    chosen = _Choices(facts, names).function()
    if chosen is not None:
        return chosen
    node = facts.definition.node
    return with_body(node, _block(node.body, facts, liveness(node)))


class _Choices(Rewriter):
    """Conditional expressions between such values, as `if` statements."""

    def instead(self, node: ast.stmt) -> list[ast.stmt] | None:
        match node:
            case ast.Assign(
                targets=[target],
                value=ast.IfExp(test=test, body=body, orelse=orelse) as value,
            ) if self._is_unheld(value):
                then = ast.Assign([target], body)
                other = ast.Assign([copy.copy(target)], orelse)
                return [with_origin(ast.If(test, [then], [other]), node)]
        return None

    def expression(self, node: ast.expr) -> ast.expr | None:
        if isinstance(node, ast.IfExp) and self._is_unheld(node) and self._may_name:
            return self.atom(node, "chosen")
        return None

    def _is_unheld(self, node: ast.expr) -> bool:
        return node in self.facts.staged and not holds(self.kind(node))


def holds(kind: Kind) -> bool:
    """Whether a graph can hand such a value on."""
    return fits_graph(stage(kind))


def _block(
    body: list[ast.stmt], facts: FunctionFacts, live: Liveness
) -> list[ast.stmt]:
    for i, node in enumerate(body):
        if isinstance(node, ast.If) and node in facts.staged:
            unheld = _unheld(node, facts, live)
            following = _uses(body[i + 1 :], unheld, live) if unheld else []
            if following:
                then = _continued(node.body, following, unheld)
                other = _continued(node.orelse, duplicated(following), unheld)
                made = copy.copy(node)
                made.body, made.orelse = then, other
                rest = body[i + 1 + len(following) :]
                return [*body[:i], with_origin(made, node), *rest]
        changed = rebuilt(node, lambda block: _block(block, facts, live))
        if changed is not node:
            return [*body[:i], changed, *body[i + 1 :]]
    return body


def _continued(
    arm: list[ast.stmt], following: list[ast.stmt], unheld: set[str]
) -> list[ast.stmt]:
    """An arm with what follows; where the arm only names a function or object, the name is left out."""
    match arm:
        case [
            *before,
            ast.Assign(targets=[ast.Name(id=name)], value=ast.expr() as value),
        ] if name in unheld and _may_bewritten_out(name, value, following):
            return [*before, *(written_out(s, {name: value}) for s in following)]
    return [*arm, *following]


def _may_bewritten_out(name: str, value: ast.expr, following: list[ast.stmt]) -> bool:
    root = value
    while isinstance(root, ast.Attribute | ast.Subscript):
        root = root.value
    stored = {
        n.id
        for s in following
        for n in ast.walk(s)
        if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
    }
    if isinstance(value, ast.Subscript) and not isinstance(value.slice, ast.Constant):
        return False
    simple = all(
        isinstance(s, ast.Return | ast.Assign | ast.Expr)
        and not any(isinstance(n, SCOPES) for n in ast.walk(s))
        for s in following
    )
    return simple and isinstance(root, ast.Name) and not stored & {name, root.id}


def _unheld(node: ast.If, facts: FunctionFacts, live: Liveness) -> set[str]:
    """The names that an `if` sets, that are read later, and that no tensor can hold."""
    after = facts.after.get(node)
    if after is None:
        return set()
    return {
        name
        for name in _assigned([node])
        if name in live.after.get(node, frozenset())
        and name in after.kinds
        and not holds(after.kinds[name])
    }


def _assigned(body: list[ast.stmt]) -> set[str]:
    found: set[str] = set()
    for node in body:
        found |= set(bound_names(node))
        if not isinstance(node, FunctionNode | ast.ClassDef):
            for block in blocks(node):
                found |= _assigned(block)
    return found


def _uses(body: list[ast.stmt], names: set[str], live: Liveness) -> list[ast.stmt]:
    """The statements up to the last one that reads the names; none where they are read after the block, or are many."""
    last = max((i for i, node in enumerate(body) if _reads(node, names)), default=None)
    if last is None:
        return []
    following = body[: last + 1]
    if names & live.after.get(following[-1], frozenset()) or any(
        isinstance(n, FunctionNode | ast.ClassDef) for n in following
    ):
        return []
    size = sum(1 for node in following for _ in ast.walk(node))
    return following if size <= MOST_NODES else []


def _reads(node: ast.stmt, names: set[str]) -> bool:
    return any(
        isinstance(n, ast.Name) and n.id in names and isinstance(n.ctx, ast.Load)
        for n in ast.walk(node)
    )
