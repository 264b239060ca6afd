"""Which statements of a function may change places, so that Python's part comes before or after the graph's."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from . import draws
from .changing_state import HELD, StateVariable
from .facts.environment import FunctionFacts
from .facts.kinds import UNKNOWN, Function, Module, Python, Tensor, Type
from .facts.liveness import all_reads
from .facts.modules import all_bound_names

WAITS = frozenset(
    {"GL201", "GL202", "GL203", "GL204", "GL205", "GL208", "GL210", "GL407"}
)


class Ordering:
    """Tells what may be moved past what, in one function with these facts and this state."""

    def __init__(
        self, facts: FunctionFacts, state: Mapping[str, StateVariable]
    ) -> None:
        self.facts = facts
        self.state = state

    def may_go_first(
        self,
        statement: ast.stmt,
        earlier: list[ast.stmt],
        after: list[ast.stmt],
        code: str,
    ) -> bool:
        """Whether a statement can run before the tensor work that stands before it."""
        if isinstance(statement, ast.Return) or self.loops(statement):
            return False
        if not earlier:
            return True
        earlier = [*earlier, *after]
        if (
            _exits(statement)
            or any(map(_may_leave, earlier))
            or any(draws.may_draw(self.facts, s) for s in earlier)
            or code not in draws.CODES
            or (code == "GL208" and draws.measures(self.facts))
            or not _only_draws(statement)
        ):
            return False
        bound = {n for s in earlier for n in self.changed(s)}
        if bound & (all_reads(statement) | set(all_bound_names(statement))):
            return False
        if any(self._touches_state(s) for s in earlier) and self._touches_state(
            statement
        ):
            return False
        return not {n for s in earlier for n in all_reads(s)} & set(
            all_bound_names(statement)
        )

    def loops(self, statement: ast.stmt) -> bool:
        """Whether a statement holds a loop that only a graph makes fast."""
        return any(
            isinstance(n, ast.For | ast.While) and n in self.facts.staged
            for n in ast.walk(statement)
        )

    def changed(self, statement: ast.stmt) -> set[str]:
        """The names that a statement sets, or whose objects it may change in place."""
        names = set(all_bound_names(statement))
        for node in ast.walk(statement):
            match node:
                case ast.Subscript(
                    value=ast.Name(id=name), ctx=ast.Store() | ast.Del()
                ):
                    names.add(name)
                case ast.Call(func=function, args=args):
                    owners = (
                        [function.value] if isinstance(function, ast.Attribute) else []
                    )
                    names |= {
                        n.id
                        for n in [*owners, *args]
                        if isinstance(n, ast.Name) and self._is_object(n)
                    }
        return names

    def _is_object(self, node: ast.Name) -> bool:
        kind = self.facts.kinds.get(node, UNKNOWN)
        return not isinstance(kind, Tensor | Python | Module | Function | Type)

    def may_wait(self, statement: ast.stmt, later: list[ast.stmt], code: str) -> bool:
        """Whether a statement can run after the tensor work that stands after it."""
        if _exits(statement) and (later or not isinstance(statement, ast.Return)):
            return False
        if later and self._draws(statement):
            return False
        later = [s for s in later if not is_plain_return(s)]
        if later and (
            (
                not (self._codes(statement, code) & WAITS)
                and not self._is_harmless(statement, later)
            )
            or self.has_effects(statement, ("assign", "random", "variable", "io"))
        ):
            return False
        bound = self.changed(statement)
        read = all_reads(statement)
        for other in later:
            if bound & (all_reads(other) | self.changed(other)) or read & self.changed(
                other
            ):
                return False
            if self.has_effects(other, ("stdout", "io")) or self._writes_state(
                other, statement
            ):
                return False
        returned = [n for s in later if isinstance(s, ast.Return) for n in all_reads(s)]
        return not bound & set(returned)

    def _draws(self, statement: ast.stmt) -> bool:
        drawing = {id(p.node) for p in self.facts.problems if p.code == "GL207"}
        return any(id(n) in drawing for n in ast.walk(statement))

    def _codes(self, statement: ast.stmt, code: str) -> set[str]:
        """The codes of all that hinders a statement."""
        origin = getattr(statement, "origin", statement)
        inside = {id(n) for n in ast.walk(origin)}
        return {code} | {p.code for p in self.facts.problems if id(p.node) in inside}

    def _is_harmless(self, statement: ast.stmt, later: list[ast.stmt]) -> bool:
        """Whether a statement only computes a Python value, and nothing later is seen where it raises."""
        pure = (
            ast.Subscript | ast.Name | ast.Constant | ast.Tuple | ast.List | ast.BinOp
            | ast.operator | ast.expr_context | ast.Attribute
        )  # fmt: skip
        seen = any(self.has_effects(s, ("assign", "random", "stdout")) for s in later)
        return (
            isinstance(statement, ast.Assign)
            and hasattr(statement, "named")
            and all(isinstance(t, ast.Name) for t in statement.targets)
            and all(isinstance(n, pure) for n in ast.walk(statement.value))
            and not seen
        )

    def has_effects(self, statement: ast.stmt, names: tuple[str, ...]) -> bool:
        nodes = {id(n) for name in names for n in self.facts.effects.get(name, ())}
        return any(id(n) in nodes for n in ast.walk(statement))

    def _touches_state(self, statement: ast.stmt) -> bool:
        return any(
            ast.unparse(n) in self.state
            for n in ast.walk(statement)
            if isinstance(n, HELD)
        )

    def _writes_state(self, other: ast.stmt, statement: ast.stmt) -> bool:
        """Whether a later statement writes state that this one mentions."""
        mentioned = {ast.unparse(n) for n in ast.walk(statement) if isinstance(n, HELD)}
        written = {
            ast.unparse(n)
            for n in ast.walk(other)
            if isinstance(n, HELD) and isinstance(n.ctx, ast.Store)
        }
        return bool(mentioned & written & self.state.keys())


def is_plain_return(node: ast.stmt) -> bool:
    return isinstance(node, ast.Return) and (
        node.value is None or isinstance(node.value, ast.Name | ast.Constant)
    )


def may_return(node: ast.stmt) -> bool:
    return any(isinstance(n, ast.Return) for n in ast.walk(node))


def _may_leave(node: ast.stmt) -> bool:
    """Whether a statement may leave the function."""
    leaving = (ast.Return, ast.Raise, ast.Assert)
    return any(isinstance(n, leaving) for n in ast.walk(node))


def _exits(node: ast.stmt) -> bool:
    return any(
        isinstance(n, ast.Return | ast.Break | ast.Continue | ast.Raise)
        for n in ast.walk(node)
    )


def _only_draws(node: ast.stmt) -> bool:
    """Whether a statement only sets plain names, so that it can change places with tensor work."""
    return isinstance(node, ast.Assign) and all(
        isinstance(t, ast.Name | ast.Tuple) for t in node.targets
    )
