"""Which statements of a function may change places, so that Python's part comes before or after the graph's."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Set

from . import draws, extraction
from .apart import involves_tensors, is_container
from .changing_state import StateVariable
from .early_ends import ends_core
from .facts.draws import LOGGERS
from .facts.environment import FunctionFacts
from .facts.kinds import UNKNOWN, Function, Module, Object, Python, Tensor, Type
from .facts.liveness import all_reads
from .facts.safety import is_safe
from .facts.staging import is_strong
from .facts.syntax import ANY, HELD, all_bound_names
from .inlining import local_names
from .reached_state import ReachedState

WAITS = frozenset(
    {"GL201", "GL202", "GL203", "GL204", "GL205", "GL208", "GL210", "GL407"}
)
ASKING = frozenset({"len", "sum", "min", "max", "int", "float", "abs", "round"})
"""Builtin functions that do nothing but give a number."""


RAISING = frozenset(
    f"tensorflow.linalg.{name}" for name in ("inv", "cholesky", "solve", "sqrtm")
) | {"tensorflow.debugging.check_numerics", "tensorflow.ensure_shape"}


class Ordering:
    """Tells what may be moved past what, in one function with these facts and this state."""

    def __init__(
        self,
        facts: FunctionFacts,
        state: Mapping[str, StateVariable],
        borrowed: frozenset[str],
        reached: ReachedState,
    ) -> None:
        self.facts = facts
        self.state = state
        self.borrowed = borrowed
        self.reached = reached
        self.local = local_names(facts.definition.node)
        self.objects = draws.changed_objects(facts)

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
        if any(map(only_raises, after)):
            return False
        if not earlier:
            return True
        earlier = [*earlier, *after]
        if (
            _exits(statement)
            or any(map(may_leave, earlier))
            or any(draws.may_draw(self.facts, s) for s in earlier)
            or not (code in draws.CODES or self._only_reads(statement))
            or (code == "GL208" and draws.measures(self.facts))
            or not _only_draws(statement)
        ):
            return False
        if code not in draws.CODES and any(map(self._changes_objects, earlier)):
            return False
        bound = {n for s in earlier for n in self.changed(s)}
        if bound & (self.reads(statement) | set(all_bound_names(statement))):
            return False
        if any(self._touches_state(s) for s in earlier) and self._touches_state(
            statement
        ):
            return False
        written = set(all_bound_names(statement))
        written |= self._chains(self.reached.of(statement).changed)
        return not {n for s in earlier for n in self.reads(s)} & written

    def _changes_objects(self, statement: ast.stmt) -> bool:
        """Whether a statement changes a list, dict or object of the caller's or the module's, whatever its name."""
        origin = getattr(statement, "origin", statement)
        return any("GL204" in self.facts.codes_inside(s) for s in (statement, origin))

    def _only_reads(self, statement: ast.stmt) -> bool:
        """Whether a statement only asks builtin functions about Python's values."""
        names = [getattr(self.facts.kind(n), "name", "") for n in _calls(statement)]
        asked = [
            self.facts.kind(a)
            for n in ast.walk(statement)
            if isinstance(n, ast.Call)
            for a in n.args
        ]
        return (
            not involves_tensors(self.facts, statement)
            and all(name.removeprefix("builtins.") in ASKING for name in names)
            and all(isinstance(kind, Python) or is_container(kind) for kind in asked)
        )

    def loops(self, statement: ast.stmt) -> bool:
        """Whether a statement holds a loop that only a graph makes fast."""
        return any(
            isinstance(n, ast.For | ast.While) and n in self.facts.staged
            for n in ast.walk(statement)
        )

    def changed(self, statement: ast.stmt) -> set[str]:
        """The names and attributes that a statement sets, or whose objects it may change in place."""
        names = set(all_bound_names(statement))
        for node in ast.walk(statement):
            match node:
                case ast.Attribute(ctx=ast.Store() | ast.Del()):
                    names.add(ast.unparse(node))
                case ast.Subscript(
                    value=ast.Name(id=name), ctx=ast.Store() | ast.Del()
                ):
                    names.add(name)
                case ast.Call(func=function, args=args) if not self._only_computes(
                    node
                ):
                    owners = (
                        [function.value] if isinstance(function, ast.Attribute) else []
                    )
                    names |= {
                        n.id
                        for n in [*owners, *args]
                        if isinstance(n, ast.Name) and self._is_object(n)
                    }
                    names |= self.objects & {ast.unparse(n) for n in owners}
        return names | self._chains(self.reached.of(statement).changed)

    def _only_computes(self, node: ast.Call) -> bool:
        """Whether a call of one of the project's functions changes nothing, as far as its facts tell."""
        acting = {n for nodes in self.facts.effects.values() for n in nodes}
        acting |= {p.node for p in self.facts.problems if p.node is not None}
        return node in self.facts.calls and node not in acting

    def reads(self, statement: ast.stmt) -> set[str]:
        """The names and attributes that a statement reads."""
        attributes = (
            n.as_load if hasattr(n, "as_load") else n
            for n in ast.walk(statement)
            if isinstance(n, ast.Attribute)
        )
        loaded = (n for n in attributes if isinstance(n.ctx, ast.Load))
        reached = self._chains(self.reached.of(statement).read)
        return set(all_reads(statement)) | set(map(ast.unparse, loaded)) | reached

    def _chains(self, names: Set[str]) -> set[str]:
        """What globals and attributes of these last names are called in the function; and what it may not mention at all."""
        found = {f"<{name}>" for name in names}
        for node in ast.walk(self.facts.definition.node):
            match node:
                case ast.Attribute(attr=name) if name in names or ANY in names:
                    found.add(ast.unparse(node))
                case ast.Name(id=name) if name in names and name not in self.local:
                    found.add(name)
        return found

    def _is_object(self, node: ast.Name) -> bool:
        kind = self.facts.kinds.get(node, UNKNOWN)
        if isinstance(kind, Object) and kind.name in LOGGERS:
            return False
        return not isinstance(kind, Tensor | Python | Module | Function | Type)

    def may_wait(self, statement: ast.stmt, later: list[ast.stmt], code: str) -> bool:
        """Whether a statement can run after the tensor work that stands after it."""
        raising = only_raises(statement)
        if (raising or self.reached.of(statement).raises) and not all(
            map(self._is_safe, later)
        ):
            return False
        if _exits(statement) and not raising and later:
            return False
        if later and "GL207" in self.facts.codes_inside(statement):
            return False
        later = [s for s in later if not is_plain_return(s)]
        if later and (
            (
                not raising
                and not (self._codes(statement, code) & WAITS)
                and not self._is_harmless(statement, later)
            )
            or self.has_effects(statement, ("assign", "random", "variable", "io"))
        ):
            return False
        if self._changes_objects(statement) and any(
            may_raise(self.facts, s) for s in later
        ):
            return False
        bound = self.changed(statement)
        read = self.reads(statement)
        for other in later:
            if bound & (self.reads(other) | self.changed(other)) or read & self.changed(
                other
            ):
                return False
            if self._may_name_one(statement, other):
                return False
            if self._writes_state(other, statement) or (
                self.has_effects(other, ("stdout", "io"))
                and not self._only_keeps(statement)
            ):
                return False
        returned = [n for s in later if isinstance(s, ast.Return) for n in all_reads(s)]
        return not bound & set(returned)

    def is_indifferent(self, statement: ast.stmt) -> bool:
        """Whether a statement knows nothing of Python's state, changes nothing, and does not raise by its values."""
        seen = ("assign", "random", "variable", "stdout", "io", "mutates")
        return not (
            self._touches_state(statement)
            or self._containers(statement)
            or self._changes_objects(statement)
            or self.has_effects(statement, seen)
            or may_raise(self.facts, statement)
            or any(n in self.facts.calls for n in ast.walk(statement))
        )

    def _may_name_one(self, statement: ast.stmt, other: ast.stmt) -> bool:
        """Whether two statements may go to one list or dict by two names, of which an assignment gave it one."""
        if not self._changes_objects(statement):
            return False
        mine, others = self._containers(statement), self._containers(other)
        return any(
            a != b and (self.is_borrowed(a) or self.is_borrowed(b))
            for a in mine
            for b in others
        )

    def is_borrowed(self, chain: str) -> bool:
        """Whether the module gives a name or an attribute what may have another name, too."""
        return chain.rpartition(".")[2] in self.borrowed

    def _containers(self, statement: ast.stmt) -> set[str]:
        """The attributes and names of lists and dicts in a statement."""
        return {
            ast.unparse(n)
            for n in ast.walk(statement)
            if isinstance(n, ast.Attribute | ast.Name)
            and is_container(self.facts.kind(n))
        }

    def _only_keeps(self, statement: ast.stmt) -> bool:
        """Whether a statement changes lists and dicts, and shows nothing."""
        codes = {*self.facts.codes_inside(statement)}
        shows = self.has_effects(statement, ("stdout", "io"))
        return "GL204" in codes and codes <= {"GL204", "GL205"} and not shows

    def _is_safe(self, statement: ast.stmt) -> bool:
        """Whether nobody can tell that the tensor work of a statement was done: it cannot raise, and keeps nothing."""
        match statement:
            case ast.Assign(targets=targets, value=value):
                plain = all(isinstance(t, ast.Name) for t in targets)
                safe = is_safe(self.facts, value)
            case ast.AugAssign(target=target, op=op, value=value):
                plain = isinstance(target, ast.Name)
                safe = is_safe(self.facts, ast.BinOp(target, op, value))
            case ast.Return(value=ast.expr() as value):
                plain, safe = True, is_safe(self.facts, value)
            case ast.Expr(value=value):
                plain, safe = True, self._has_safe_tensors(value)
            case ast.If(test=test) | ast.Assert(test=test) if only_raises(statement):
                plain, safe = True, self._has_safe_tensors(test)
            case _:
                return False
        writes = set(all_bound_names(statement)) & self.facts.definition.declared_global
        seen = ("assign", "random", "variable", "io", "assert")
        return plain and safe and not writes and not self.has_effects(statement, seen)

    def _has_safe_tensors(self, node: ast.expr) -> bool:
        """Whether none of the tensors that an expression computes can raise."""
        if is_strong(self.facts.kind(node)):
            return is_safe(self.facts, node)
        parts = (n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr))
        return all(map(self._has_safe_tensors, parts))

    def _codes(self, statement: ast.stmt, code: str) -> set[str]:
        """The codes of all that hinders a statement."""
        origin = getattr(statement, "origin", statement)
        return {code, *self.facts.codes_inside(origin)}

    def _is_harmless(self, statement: ast.stmt, later: list[ast.stmt]) -> bool:
        """Whether a statement only computes a Python value, and nothing later is seen where it raises."""
        pure = (
            ast.Subscript | ast.Name | ast.Constant | ast.Tuple | ast.List | ast.BinOp
            | ast.operator | ast.expr_context | ast.Attribute
        )  # fmt: skip
        seen = any(self.has_effects(s, ("assign", "random", "stdout")) for s in later)
        return (
            isinstance(statement, ast.Assign)
            and not extraction.computes(statement, self.facts)
            and all(isinstance(t, ast.Name) for t in statement.targets)
            and all(isinstance(n, pure) for n in ast.walk(statement.value))
            and not seen
        )

    def has_effects(self, statement: ast.stmt, names: tuple[str, ...]) -> bool:
        return has_effects(self.facts, statement, names)

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


def has_effects(
    facts: FunctionFacts, statement: ast.stmt, names: tuple[str, ...]
) -> bool:
    nodes = {id(n) for name in names for n in facts.effects.get(name, ())}
    return any(id(n) in nodes for n in ast.walk(statement))


def may_raise(facts: FunctionFacts, statement: ast.stmt) -> bool:
    """Whether a statement has operations whose values decide whether they raise."""
    functions = [getattr(k, "name", "") for k in map(facts.kind, _calls(statement))]
    return has_effects(facts, statement, ("assert",)) or any(
        name in RAISING for name in functions
    )


def only_raises(node: ast.stmt) -> bool:
    """Whether a statement does nothing but raise, and show why, where its test says so."""
    match node:
        case ast.Assert():
            return True
        case ast.If(body=[*shown, ast.Raise()], orelse=[] | [ast.If()] as orelse):
            return all(isinstance(s, ast.Expr) for s in shown) and all(
                map(only_raises, orelse)
            )
    return False


def _calls(node: ast.AST) -> list[ast.expr]:
    return [n.func for n in ast.walk(node) if isinstance(n, ast.Call)]


def is_plain_return(node: ast.stmt) -> bool:
    return isinstance(node, ast.Return) and (
        node.value is None or isinstance(node.value, ast.Name | ast.Constant)
    )


def may_return(node: ast.stmt) -> bool:
    """Whether a statement may leave the function with a result."""
    returns = any(isinstance(n, ast.Return) for n in ast.walk(node))
    return returns and not ends_core(node)


def may_leave(node: ast.stmt) -> bool:
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
