"""What expressions give, and what evaluating them does, as the interpreter walks a function."""

from __future__ import annotations

import ast
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from ..findings import Refusal
from . import operators
from .agreement import agrees
from .calls import class_names, is_member
from .environment import Environment, FunctionFacts
from .kind_joins import join_all
from .kind_parts import is_mutable
from .kinds import (
    NONE,
    UNKNOWN,
    Dataset,
    Dict,
    Elements,
    Function,
    Iterator,
    Kind,
    Maybe,
    Module,
    Object,
    Python,
    Ragged,
    Rows,
    Sequence,
    Shaped,
    Tensor,
    Type,
    Union,
    Variable,
    members,
)
from .outcome import Outcome
from .profile import Recorded
from .signs import tells_nonzero
from .staging import holds_tensor, is_tensor, is_weak

if TYPE_CHECKING:
    from .session import Session

Truth = Literal[True, False, "tensor"] | None
"""Whether a test holds: known, decided by a tensor, or (None) known to Python only while tracing."""
ALLOWED_EFFECTS = frozenset({"assign", "assert", "exhausts", "stdout", "write"})


@dataclass(frozen=True)
class _Control:
    node: ast.AST
    staged: bool
    loop: bool


class Evaluation:
    """Evaluates expressions to kinds; `facts` is the function at hand, `session` all that is known of its project."""

    def __init__(self, session: Session, recorded: Recorded | None) -> None:
        self.session = session
        self.recorded = recorded
        self.facts: FunctionFacts
        self.shown: set[ast.expr] = set()
        self.outer: Environment | None = None
        self._controls: list[_Control] = []
        self._sites: dict[
            ast.Lambda, dict[tuple[ast.Call, str], dict[ast.expr, Kind]]
        ] = {}
        self.raised = False
        """Whether what was evaluated last surely raised."""

    def enter(self, facts: FunctionFacts, outer: Environment | None) -> None:
        self.facts = facts
        self.outer = outer
        self._controls = []
        self._sites = {}

    # ---- problems, effects, control

    def problem(
        self, reason: str, node: ast.AST, code: str = "GL401", way_out: str = ""
    ) -> None:
        self.facts.problems.append(Refusal(reason, node, code, way_out))

    def may_change(self, what: str, node: ast.AST, kind: Kind) -> None:
        """Refuse what may hold something else in a later call."""
        reason = f"{what} may change between calls"
        self.problem(reason, node, "GL302", way_out_of_change(kind))

    def keeps_settings(self, of: str, node: ast.AST) -> None:
        """Refuse what depends on settings of Keras's layers, or of its optimizers, where the program changes one."""
        text = self.session.settings.get(of)
        if text is not None:
            reason = f"`{text}` changes between calls, and a graph keeps what Keras read while it was traced"
            way_out = f"set it before the first call, or make the graph anew behind it, with `tf.function({self.facts.definition.node.name})`"
            self.problem(reason, node, "GL302", way_out)

    def effect(self, name: str, node: ast.AST) -> None:
        self.facts.effects.setdefault(name, []).append(node)

    def operation(self, count: int = 1) -> None:
        self.facts.operations += count

    def marks(self) -> tuple[int, int, dict[str, int], int, int]:
        """How much has been found so far; `rewind` forgets what a later, discarded round found."""
        effects = {name: len(nodes) for name, nodes in self.facts.effects.items()}
        return (
            len(self.facts.problems),
            len(self.facts.returns),
            effects,
            self.facts.operations,
            self.facts.in_graphs,
        )

    def rewind(self, marks: tuple[int, int, dict[str, int], int, int]) -> None:
        problems, returns, effects, operations, in_graphs = marks
        del self.facts.problems[problems:]
        del self.facts.returns[returns:]
        for name, nodes in self.facts.effects.items():
            del nodes[effects.get(name, 0) :]
        self.facts.operations = operations
        self.facts.in_graphs = in_graphs

    @contextmanager
    def control(
        self, node: ast.AST, staged: bool, loop: bool | None = None
    ) -> Generator[None]:
        is_loop = isinstance(node, ast.For | ast.While) if loop is None else loop
        self._controls.append(_Control(node, staged, is_loop))
        try:
            yield
        finally:
            self._controls.pop()

    def is_staged(self) -> bool:
        return any(control.staged for control in self._controls)

    def innermost_loop(self) -> ast.AST | None:
        return next((c.node for c in reversed(self._controls) if c.loop), None)

    def exit_to(self, target: ast.AST | None, continues: bool = False) -> None:
        """Note which loops (and function) an exit leaves by a tensor's word; `target` None is the function."""
        staged = False
        for control in reversed(self._controls):
            staged = staged or control.staged
            if control.loop and staged and not (continues and control.node is target):
                self.facts.exits.add(control.node)
            if control.node is target:
                return
        if staged:
            self.facts.exits.add(self.facts.definition.node)

    # ---- what the profile saw

    def observed(self, target: ast.Name, kind: Kind) -> Kind:
        """The kind with a dtype or, where nothing is known, all else the profile knows of this assignment."""
        if self.recorded is None or not hasattr(target, "lineno"):
            return kind
        node = self.facts.definition.node
        seen = self.recorded.names.get(
            f"{target.lineno - node.lineno}:{target.col_offset - node.col_offset}:{target.id}"
        )
        if kind == UNKNOWN and seen is not None:
            return seen
        if seen is not None and not agrees(kind, seen):
            self.problem(
                f"`{target.id}` was seen to be {seen}, where {kind} was to be expected",
                target,
            )
        if isinstance(kind, Tensor) and isinstance(seen, Tensor) and not kind.weak:
            kind = replace(kind, dtype=kind.dtype or seen.dtype)
        return kind

    # ---- expressions

    def evaluate(self, node: ast.expr, environment: Environment) -> Kind:
        handler = getattr(self, f"_{type(node).__name__.lower()}", None)
        kind: Kind = getattr(node, "drawn", UNKNOWN)
        if kind != UNKNOWN:
            self.problem("a graph draws once, while it is traced", node, "GL207")
        elif handler is None:
            self.problem(f"`{ast.unparse(node)[:40]}` is not lifted", node)
        else:
            kind = handler(node, environment)
        if isinstance(kind, Tensor) and hasattr(node, "mixed"):
            kind = replace(kind, mixed=True, numbers=node.mixed.numbers)
        self.facts.kinds[node] = kind
        return kind

    def settle(self, found: Outcome | None, what: str, node: ast.AST) -> Kind:
        """The kind of an outcome; notes its effects, and a problem where it is not known or an error."""
        if found is None:
            self._not_known(what, node)
            return UNKNOWN
        if found.error:
            self.problem(f"{what} raises: {found.error}", node)
            self.raised = True
            return UNKNOWN
        for name in sorted(found.effects):
            self.effect(name, node)
            if name not in ALLOWED_EFFECTS:
                self.problem(*_blocker(name, what, node, found.kind))
        return found.kind

    def _not_known(self, what: str, node: ast.AST) -> None:
        kinds = self.facts.kinds
        for operand in ast.iter_child_nodes(node):
            if isinstance(operand, ast.Name) and isinstance(kinds.get(operand), Maybe):
                reason = f"`{operand.id}` may be None in `{ast.unparse(node)[:40]}`, as a tensor decides"
                way_out = f"say `assert {operand.id} is not None` before, or let it start as a tensor"
                return self.problem(reason, node, way_out=way_out)
        return self.problem(f"what {what} gives is not known", node)

    # ---- code that runs several times, each time with other kinds

    def called_lambda(
        self,
        node: ast.Lambda,
        call: ast.Call,
        made: str,
        environment: Environment,
        maker: Evaluation,
    ) -> Kind:
        """What a lambda, `made` by this name, gives at one call; its nodes hold what they hold at all of its calls."""
        kind = self.evaluate(node.body, environment)
        sites = maker._sites.setdefault(node, {})
        sites[call, made] = self._kinds_in(node.body)
        maker._hold_all(list(sites.values()))
        return kind

    def _kinds_in(self, *nodes: ast.expr) -> dict[ast.expr, Kind]:
        return {
            inner: self.facts.kinds[inner]
            for node in nodes
            for inner in ast.walk(node)
            if isinstance(inner, ast.expr) and inner in self.facts.kinds
        }

    def _hold_all(self, times: list[dict[ast.expr, Kind]]) -> None:
        for node in {node: None for held in times for node in held}:
            kind = join_all(held[node] for held in times if node in held)
            self.facts.kinds[node] = kind
            if (
                node in self.facts.tests
                and isinstance(kind, Union)
                and holds_tensor(kind)
            ):
                self.problem("this test may be a Python value or a tensor", node)

    # ---- tests

    def test(self, node: ast.expr, environment: Environment) -> Truth:
        self.facts.tests.add(node)
        kind = self.evaluate(node, environment)
        truth = self.truth(kind)
        if truth == "tensor" and self.facts.eager:
            return None
        if truth == "tensor" and isinstance(kind, Union):
            self.problem("this test may be a Python value or a tensor", node)
        shape = kind.shape if isinstance(kind, Shaped) else ()
        several = shape is not None and any(size != 1 for size in shape)
        if truth == "tensor" and several:
            self.problem(f"the truth of {kind} is not lifted", node, "GL103")
        return truth

    def truth(self, kind: Kind) -> Truth:
        if isinstance(kind, Python):
            if kind == NONE:
                return False
            return (
                bool(kind.value)
                if kind.known and kind.type not in ("dtype", "ellipsis")
                else None
            )
        if is_tensor(kind) or (isinstance(kind, Union) and holds_tensor(kind)):
            return "tensor"
        if isinstance(kind, Sequence):
            return bool(kind.items)
        if isinstance(kind, Dict):
            return bool(kind.items)
        if isinstance(kind, Function | Type | Module):
            return True
        return None

    def narrowed(
        self, test: ast.expr, holds: bool, environment: Environment
    ) -> Environment:
        """What is known where the test came out so: `x is None` and `isinstance(x, ...)` split a union, `n > 0` is not 0."""
        result = environment.copy()
        if nonzero := tells_nonzero(test, holds):
            result.nonzero |= {nonzero}
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.narrowed(operand, not holds, environment)
            case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And) == holds:
                for value in values:
                    result = self.narrowed(value, holds, result)
                return result
            case ast.Compare(
                left=ast.Name(id=name), ops=[op], comparators=[ast.Constant(value=None)]
            ):
                is_none = isinstance(op, ast.Is | ast.Eq) == holds
            case ast.Call(
                func=ast.Name(id="isinstance"), args=[ast.Name(id=name), classes]
            ):
                told = result.kinds.get(name, UNKNOWN)
                names = class_names(classes, self.facts.kind)
                answers = {
                    m: is_member(m, names, self.session.line) for m in members(told)
                }
                rest = [m for m, answer in answers.items() if answer is not (not holds)]
                if isinstance(told, Union) and rest:
                    result.kinds[name] = join_all(rest)
                return result
            case ast.Name() if hasattr(test, "tells_none"):
                name, is_none = test.tells_none, holds
            case _:
                return result
        kind = result.kinds.get(name)
        if isinstance(kind, Union) and NONE in kind.members:
            rest = [m for m in kind.members if m != NONE]
            result.kinds[name] = NONE if is_none else join_all(rest)
        if isinstance(kind, Maybe):
            result.kinds[name] = NONE if is_none else kind.kind
        return result

    # ---- loops

    def iterates_in_graph(self, node: ast.expr, iterable: Kind) -> bool:
        """Whether a loop over this can only be a loop of the graph."""
        if self.facts.eager:
            return False
        if is_tensor(iterable) or isinstance(
            iterable, Dataset | Iterator | Ragged | Rows
        ):
            return True
        if not isinstance(iterable, Elements):
            return False
        if iterable.over_rows:
            return True
        if iterable.type in ("range", "enumerate") and _has_weak_index(iterable):
            return True
        sources = node.args if isinstance(node, ast.Call) else []
        return iterable.type in ("zip", "reversed") and any(
            is_tensor(kind) or isinstance(kind, Ragged | Rows)
            for kind in map(self.facts.kind, sources)
        )

    def observed_element(self, iterable: Kind) -> Kind | None:
        """What a loop over this takes from it; None where that is unknown."""
        return (
            join_all(operators.iterate(m) or UNKNOWN for m in members(iterable))
            if iterable != UNKNOWN
            else None
        )

    def runs_at_least_once(self, node: ast.expr, iterable: Kind) -> bool:
        """Whether a loop over this has a first element."""
        if isinstance(iterable, Sequence):
            return bool(iterable.items)
        if isinstance(iterable, Tensor | Variable) and iterable.shape:
            return bool(iterable.shape[0])
        if not (isinstance(node, ast.Call) and isinstance(iterable, Elements)):
            return False
        if not node.args or any(isinstance(a, ast.Starred) for a in node.args):
            return False
        kinds = [self.facts.kind(a) for a in node.args]
        if iterable.type == "range":
            known = [
                k.value
                for k in kinds
                if isinstance(k, Python) and isinstance(k.value, int)
            ]
            whole = len(known) == len(kinds) and known[2:] != [0]
            return whole and len(range(*known)) > 0
        counted = node.args[:1] if iterable.type == "enumerate" else node.args
        return iterable.type in ("enumerate", "reversed", "zip") and all(
            map(self.runs_at_least_once, counted, kinds)
        )


def way_out_of_change(kind: Kind) -> str:
    """What a person can do about what changes between calls and no `tf.Variable` can hold; else empty."""
    if any(map(is_mutable, members(kind))):
        return "pass what it holds as arguments"
    if any(isinstance(m, Object | Variable | Function) for m in members(kind)):
        return "pass it as an argument"
    return ""


def _blocker(
    effect: str, what: str, node: ast.AST, kind: Kind
) -> tuple[str, ast.AST, str]:
    reasons = {
        "random": (f"{what} draws another stream in a graph", "GL207"),
        "variable": (
            f"{what} makes variables on every call",
            "GL304" if isinstance(kind, Variable) else "GL305",
        ),
        "io": (
            (f"{what} does not seed the draws of a graph", "GL207")
            if "seed" in what
            else (f"{what} reads or writes outside the program", "GL208")
        ),
        "host": (f"{what} needs the value while Python runs", "GL205"),
        "callback": (f"{what} calls Python functions", "GL401"),
        "mutates": (f"{what} changes an object in place", "GL204"),
    }
    reason, code = reasons.get(effect, (f"{what} does more than compute", "GL401"))
    return reason, node, code


def _has_weak_index(iterable: Elements) -> bool:
    element = iterable.element
    first = (
        element.items[0] if isinstance(element, Sequence) and element.items else element
    )
    return is_weak(first)
