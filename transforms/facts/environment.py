"""What is known at a point of a function, and all that is known of a function."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..findings import Refusal
from .definitions import FunctionDefinition
from .kinds import UNKNOWN, Kind

if TYPE_CHECKING:
    from .session import Session


@dataclass
class Environment:
    """The kinds of the names that are bound.

    `unsure` are those that some way leaves unbound, `missing` those that an arm of an `if` does which Python chooses
    while tracing: a graph has no stand-in for them. `nonzero` are those that a test has found not to be 0.
    """

    kinds: dict[str, Kind] = field(default_factory=dict)
    unsure: frozenset[str] = frozenset()
    missing: frozenset[str] = frozenset()
    nonzero: frozenset[str] = frozenset()

    def copy(self) -> Environment:
        return replace(self, kinds=dict(self.kinds))

    def bind(self, name: str, kind: Kind) -> None:
        self.kinds[name] = kind
        self._forget(name)

    def unbind(self, name: str) -> None:
        self.kinds.pop(name, None)
        self._forget(name)

    def _forget(self, name: str) -> None:
        self.unsure -= {name}
        self.missing -= {name}
        self.nonzero -= {name}


def merge(
    environments: Iterable[Environment | None], both: Callable[[Kind, Kind], Kind]
) -> Environment | None:
    """The environment where ways meet; None for a way that does not get there. `both` joins two kinds of a name."""
    result: Environment | None = None
    for other in environments:
        if other is None:
            continue
        if result is None:
            result = other.copy()
            continue
        only_one = result.kinds.keys() ^ other.kinds.keys()
        for name, kind in other.kinds.items():
            mine = result.kinds.get(name)
            result.kinds[name] = kind if mine is None else both(mine, kind)
        result.unsure |= other.unsure | only_one
        result.missing |= other.missing
        result.nonzero &= other.nonzero
    return result


@dataclass
class Flow:
    """How a block ends: what is known where it falls through (None: it never does), breaks and continues."""

    end: Environment | None
    breaks: list[Environment] = field(default_factory=list)
    continues: list[Environment] = field(default_factory=list)


@dataclass(frozen=True)
class ForeignCall:
    """A call of another module's function: that module's session, the function, and what it does with these arguments."""

    session: Session
    qualname: str
    facts: FunctionFacts


@dataclass
class FunctionFacts:
    """What interpretation found out about one function, with its parameters of the given kinds.

    Attributes:
        kinds: of each expression that was reached.
        before, after: what is known around each statement that was reached.
        chooses: whether a tensor decides between its returns.
        arms: what is known at the ends of an if's arms.
        tests: the expressions of which only the truth matters.
        nonzero: the reads of names that a test before them has found not to be 0.
        heads, ends: what is known where a loop's iterations begin and end.
        runs: the loops that run at least once.
        staged: the control nodes (if, while, for, ternary, and/or/not, comparison chain, assert) that a tensor decides.
        exits: the loops, and the function itself, that are left by a break, continue or return that a tensor decides.
        result: what a call gives inside a graph.
        problems: why it cannot be lifted, in order.
        calls: the function of the module that each call reaches.
        generators: the generator of the module that each call makes.
        foreign: the functions of the project's other modules that calls reach.
        unsized_calls: those that give tensors without their last sizes (see `last_sizes`).
        nested: the facts of the functions defined inside, by their `def`.
        enclosed: those of nested functions that others, which have ended, made, by the calls.
        borrows: the callers that made lambdas or nested functions which it calls, itself or through others.
        captures: what each of them, and each lambda, finds in the names around it, at each of its calls.
        shared: the problems of changes in place that another name shows, too.
        effects: the nodes with each effect, by its name (`outcome.EFFECTS`).
        operations: how many TensorFlow operations one pass through the text starts.
        in_graphs: how many the graphs that it calls start.
        ranks: where the rank of a tensor is read while it is traced, though it is given tensors of any rank.
        taped: whether gradients may be taken through it.
        redirected: whether the program puts something in the place of `sys.stdout`, past which graphs print.
        eager: whether it stays Python, which decides what tensors decide.
    """

    definition: FunctionDefinition
    parameters: dict[str, Kind]
    kinds: dict[ast.expr, Kind] = field(default_factory=dict)
    before: dict[ast.stmt, Environment] = field(default_factory=dict)
    after: dict[ast.stmt, Environment | None] = field(default_factory=dict)
    chooses: bool = False
    arms: dict[ast.If, tuple[Environment | None, Environment | None]] = field(
        default_factory=dict
    )
    heads: dict[ast.stmt, Environment] = field(default_factory=dict)
    ends: dict[ast.stmt, Environment] = field(default_factory=dict)
    tests: set[ast.expr] = field(default_factory=set)
    nonzero: set[ast.expr] = field(default_factory=set)
    runs: set[ast.stmt] = field(default_factory=set)
    staged: set[ast.AST] = field(default_factory=set)
    exits: set[ast.AST] = field(default_factory=set)
    returns: list[tuple[ast.Return | None, Kind]] = field(default_factory=list)
    result: Kind = UNKNOWN
    problems: list[Refusal] = field(default_factory=list)
    shared: list[Refusal] = field(default_factory=list)
    calls: dict[ast.expr, str] = field(default_factory=dict)
    generators: dict[ast.expr, str] = field(default_factory=dict)
    foreign: dict[ast.expr, ForeignCall] = field(default_factory=dict)
    unsized_calls: set[ast.expr] = field(default_factory=set)
    nested: dict[ast.AST, FunctionFacts] = field(default_factory=dict)
    enclosed: dict[ast.expr, FunctionFacts] = field(default_factory=dict)
    borrows: set[str] = field(default_factory=set)
    captures: dict[str, dict[ast.AST, dict[str, Kind]]] = field(default_factory=dict)
    effects: dict[str, list[ast.AST]] = field(default_factory=dict)
    operations: int = 0
    in_graphs: int = 0
    ranks: set[ast.expr] = field(default_factory=set)
    taped: bool = False
    redirected: bool = False
    eager: bool = False

    def kind(self, node: ast.expr) -> Kind:
        return self.kinds.get(node, UNKNOWN)

    def codes_inside(self, node: ast.AST) -> list[str]:
        """The rules' codes of the problems inside a piece of code, in order."""
        inside = {id(n) for n in ast.walk(node)}
        return [p.code for p in self.problems if id(p.node) in inside]

    def nested_facts(self, node: ast.AST) -> FunctionFacts | None:
        """The facts of a function defined inside this one; None where nothing calls it."""
        if node in self.nested:
            return self.nested[node]
        found = (inner.nested_facts(node) for inner in self.nested.values())
        return next((facts for facts in found if facts is not None), None)
