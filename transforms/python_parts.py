"""What Python alone computes of the state of a function, before the graph: the steps of a schedule, powers of a count.

An expression of numbers that a graph does not compute as Python does becomes a statement of its own in the shell, with
the statements of Python's that it depends on.
"""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass, field

from . import draws
from .apart import apart, in_order, is_sure, name_in_block, rest
from .changing_state import STATE_CODES
from .facts.environment import FunctionFacts
from .facts.kinds import UNKNOWN, Function, Kind, Python
from .facts.session import Session
from .facts.staging import holds_tensor
from .facts.syntax import HELD
from .ordering import Ordering, may_leave
from .source import Names

PLAIN_CALLS = ("builtins.", "math.", "method.", "dict.", "list.")
KEPT = {"assert", "mutates"}
"""Effects of a function of Python's: an exception, and a change of state."""
GROWING = (ast.Mult, ast.LShift, ast.Pow)
RAISING = (ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift)
SAFE_CALLS = ("min", "max", "abs", "float", "int", "bool")
SIMPLE = ast.Assign | ast.AugAssign
ANY_STATE = "<state>"
"""Stands for what a function that is called may read and write."""


@dataclass
class PythonParts:
    """What of a core goes before it.

    Attributes:
        moved: statements of the core, in their order.
        apart: statements made of expressions of one statement.
        rest: that statement, with names in the place of the expressions; None where it has moved itself.
        kinds: of the names.
    """

    moved: list[ast.stmt] = field(default_factory=list)
    apart: list[ast.stmt] = field(default_factory=list)
    rest: ast.stmt | None = None
    kinds: dict[str, Kind] = field(default_factory=dict)


class PythonFirst:
    """Finds such parts in one function; its parameters `numbers` count as state."""

    def __init__(
        self,
        session: Session,
        facts: FunctionFacts,
        order: Ordering,
        names: Names,
        numbers: frozenset[str] = frozenset(),
    ) -> None:
        self.numbers = numbers
        self.session = session
        self.facts = facts
        self.order = order
        self.names = names

    def parts(
        self, statement: ast.stmt, earlier: list[ast.stmt], others: list[ast.stmt]
    ) -> PythonParts | None:
        """What of a statement can go before all tensor work, with what it needs of the statements before it.

        `others` stay where they are, before or behind it. None where there is nothing, or something is in the way.
        """
        if self.is_pythons(statement):
            return self._moved([statement], statement, earlier, others)
        expressions = self._expressions(statement)
        if not expressions:
            return None
        return self._moved([*expressions], statement, earlier, others)

    def test(
        self, statement: ast.stmt, earlier: list[ast.stmt], others: list[ast.stmt]
    ) -> PythonParts | None:
        """The test of an `if` that asks about Python's state alone, with what it needs, as `parts` gives them."""
        if (
            not isinstance(statement, ast.If)
            or not isinstance(statement.test, ast.Compare)
            or not self._is_number(statement.test)
            or not self._is_pure(statement.test)
            or not self._touched(statement.test) & self._state
        ):
            return None
        return self._moved([statement.test], statement, earlier, others)

    def _moved(
        self,
        taken: list[ast.AST],
        statement: ast.stmt,
        earlier: list[ast.stmt],
        others: list[ast.stmt],
    ) -> PythonParts | None:
        """A statement, or expressions of it, with what they need of the statements before; None where that cannot be."""
        found = PythonParts()
        if taken != [statement]:
            expressions = [n for n in taken if isinstance(n, ast.expr)]
            self._take_apart(statement, expressions, found)
        needed = set().union(*map(self._touched, taken))
        inside = _before(statement, taken)
        if any(self._written(s) & needed for s in inside):
            return None
        for other in reversed(earlier):
            if self._written(other) & needed or (
                self.is_pythons(other) and self._written(other) & self._state
            ):
                if not self.is_pythons(other):
                    return None
                found.moved.insert(0, other)
                needed |= self._touched(other)
        if taken != [statement] and not self._is_apart(taken, statement):
            return None
        staying = [*others, *(s for s in earlier if s not in found.moved), *inside]
        if not all(self._may_pass([*found.moved, *taken], s) for s in staying):
            return None
        if taken == [statement]:
            found.moved.append(statement)
        return found

    def _take_apart(
        self, statement: ast.stmt, expressions: list[ast.expr], found: PythonParts
    ) -> None:
        table: dict[ast.expr, str] = {}
        for expression in expressions:
            name = name_in_block(self.facts, statement, expression)
            name = name or self.names.fresh(_name_for(expression))
            table[expression] = name
            found.apart.append(apart(name, expression))
            found.kinds[name] = self.facts.kind(expression)
        found.rest = rest(statement, table)

    # ---- what is Python's

    def _expressions(self, statement: ast.stmt) -> list[ast.expr]:
        """The largest expressions of a statement that are Python's and depend on state or numbers, in the order of evaluation."""
        found: list[ast.expr] = []
        for node in ast.walk(statement):
            inside = any(node in ast.walk(larger) for larger in found)
            if (
                not inside
                and (isinstance(node, ast.BinOp) or node in {*self._calls(node)})
                and self._is_number(node)
                and self._is_pure(node)
                and self._touched(node) & (self._state | self.numbers)
                and is_sure(statement, node)
            ):
                found.append(node)
        return [n for n in in_order(statement) if n in found]

    def is_pythons(self, statement: ast.stmt) -> bool:
        """Whether a statement computes and keeps a number of Python's."""
        return (
            self.counts(statement)
            and self._is_number(statement.value)  # type: ignore[attr-defined]
            and (self._is_float(statement.value) or not self._grows(statement))  # type: ignore[attr-defined]
        )

    def counts(self, statement: ast.stmt) -> bool:
        """Whether a statement computes a number of Python's, whatever it grows to, and keeps it."""
        if not isinstance(statement, SIMPLE):
            return False
        kind = self.facts.kind(statement.value)
        number = isinstance(kind, Python) and kind.type in ("int", "float", "bool")
        return (
            number
            and self._is_pure(statement)
            and all(map(self._is_place, ast.walk(statement)))
        )

    def only_keeps(self, statement: ast.stmt) -> bool:
        """Whether a statement calls a function of the project that does no more than keep Python's state."""
        call = statement.value if isinstance(statement, ast.Expr) else None
        called = self.facts.calls.get(call) if isinstance(call, ast.Call) else None
        if called is None:
            return False
        inner = self.session.facts_of(called)
        only = all(p.code in {*STATE_CODES, "GL204"} for p in inner.problems)
        return only and not inner.operations and inner.effects.keys() <= KEPT

    def _is_place(self, node: ast.AST) -> bool:
        """Whether nothing but a name or a piece of state is written here."""
        if not isinstance(node, HELD) or not isinstance(node.ctx, ast.Store):
            return True
        return isinstance(node, ast.Name) or ast.unparse(node) in self.order.state

    def _is_number(self, node: ast.expr) -> bool:
        """Whether this is a number of Python's that a graph can be given, whatever it grows to."""
        kind = self.facts.kind(node)
        if not isinstance(kind, Python) or kind.type not in ("int", "float", "bool"):
            return False
        return kind.type != "int" or not self._grows(node)

    def _is_float(self, node: ast.expr) -> bool:
        kind = self.facts.kind(node)
        return isinstance(kind, Python) and kind.type == "float"

    def _grows(self, node: ast.AST) -> bool:
        """Whether ints may come to be more here than a tensor holds, call by call."""
        called = (self.facts.calls.get(c) for c in self._calls(node))
        functions = self.session.module.functions
        inner = [node, *(functions[q].original for q in called if q)]
        return any(
            isinstance(n, ast.BinOp | ast.AugAssign) and isinstance(n.op, GROWING)
            for part in inner
            for n in ast.walk(part)
        )

    def _is_pure(self, node: ast.AST) -> bool:
        """Whether no tensor has a part in it, and it does no more than compute and keep state."""
        holders = self._holders(node)
        parts = (n for n in ast.walk(node) if n not in holders)
        if any(
            holds_tensor(self.facts.kind(n)) for n in parts if isinstance(n, ast.expr)
        ):
            return False
        return all(map(self._is_plain, self._calls(node)))

    def _is_plain(self, call: ast.expr) -> bool:
        if call in self.facts.calls:
            inner = self.session.facts_of(self.facts.calls[call])
            only = all(p.code in STATE_CODES for p in inner.problems)
            return only and not inner.operations and inner.effects.keys() <= KEPT
        kind = self.facts.kind(call.func) if isinstance(call, ast.Call) else UNKNOWN
        return isinstance(kind, Function) and kind.name.startswith(PLAIN_CALLS)

    def _calls(self, node: ast.AST) -> list[ast.expr]:
        """The calls in a piece of code, and the properties that it reads."""
        return [
            n
            for n in ast.walk(node)
            if isinstance(n, ast.Call)
            or (isinstance(n, ast.Attribute) and n in self.facts.calls)
        ]

    # ---- what depends on what

    @property
    def _state(self) -> set[str]:
        return {*self.order.state, ANY_STATE}

    def _touched(self, node: ast.AST) -> set[str]:
        """The names and the state that a piece of code reads or writes."""
        holders = self._holders(node)
        held = (n for n in ast.walk(node) if isinstance(n, HELD))
        found = {ast.unparse(n) for n in held if n not in holders}
        if any(call in self.facts.calls for call in self._calls(node)):
            found |= self._state
        return found

    def _holders(self, node: ast.AST) -> set[ast.expr]:
        """What holds the items in a piece of code that are pieces of state."""
        return {
            n.value
            for n in ast.walk(node)
            if isinstance(n, ast.Subscript) and ast.unparse(n) in self.order.state
        }

    def _written(self, node: ast.AST) -> set[str]:
        found = {
            ast.unparse(n)
            for n in ast.walk(node)
            if isinstance(n, HELD) and isinstance(n.ctx, ast.Store)
        }
        if any(call in self.facts.calls for call in self._calls(node)):
            found |= self._state
        return found

    def _is_apart(self, taken: list[ast.AST], statement: ast.stmt) -> bool:
        """Whether the rest of a statement knows nothing of the state that these expressions of it change."""
        inside = {n for expression in taken for n in ast.walk(expression)}
        others = {
            ast.unparse(n)
            for n in ast.walk(statement)
            if isinstance(n, HELD) and n not in inside
        }
        return not others & set().union(*map(self._written, taken))

    def _may_raise(self, node: ast.AST) -> bool:
        """Whether Python may raise an exception here."""
        for inner in ast.walk(node):
            match inner:
                case ast.BinOp(left=ast.Constant(value=base), op=ast.Pow()):
                    raises = not (isinstance(base, float) and 0.0 < base <= 1.0)
                case (
                    ast.BinOp(op=ast.Div() | ast.FloorDiv() | ast.Mod(), right=divisor)
                    | ast.AugAssign(
                        op=ast.Div() | ast.FloorDiv() | ast.Mod(), value=divisor
                    )
                ):
                    raises = not self._is_nonzero(divisor)
                case ast.BinOp(op=op) | ast.AugAssign(op=op):
                    raises = isinstance(op, RAISING)
                case ast.Call(func=ast.Name(id=name)) if inner not in self.facts.calls:
                    raises = name not in SAFE_CALLS
                case ast.Call() | ast.Attribute() if inner in self._calls(inner):
                    called = self.facts.calls.get(inner)
                    made = self.session.module.functions[called] if called else None
                    raises = made is None or self._may_raise(made.original)
                case _:
                    raises = False
            if raises:
                return True
        return False

    def _is_nonzero(self, node: ast.expr) -> bool:
        """Whether this is always the same number, and not zero."""
        kind = self.facts.kind(node)
        return isinstance(kind, Python) and kind.known and kind.value != 0

    def _may_pass(self, moving: list[ast.AST], staying: ast.stmt) -> bool:
        """Whether pieces of code may run before a statement that may have stood before them."""
        written = set().union(*map(self._written, moving))
        touched = set().union(*map(self._touched, moving))
        if written & self._touched(staying) or self._written(staying) & touched:
            return False
        if self.order.changed(staying) & touched:
            return False
        seen = ("assign", "stdout", "io", "variable")
        if self.order.has_effects(staying, seen) and any(map(self._may_raise, moving)):
            return False
        keeps = bool(written & self._state)
        raises = may_leave(staying) or self.order.has_effects(staying, ("assert",))
        return not (keeps and raises) and not draws.may_draw(self.facts, staying)


def _before(statement: ast.stmt, taken: list[ast.AST]) -> list[ast.stmt]:
    """The statements in the block of a tape that run before the last of some expressions in it."""
    if not isinstance(statement, ast.With):
        return []
    found: list[ast.stmt] = []
    left = set(taken)
    for inner in statement.body:
        here = left & {*ast.walk(inner)}
        found += _before(inner, [*here]) if here else [inner]
        left -= here
        if not left:
            return found
    return found


def _name_for(node: ast.expr) -> str:
    """What to call the value of an expression."""
    called = getattr(node, "inlined", None)
    if called is not None:
        return str(called)
    match node:
        case ast.Compare():
            return "condition"
        case (
            ast.Attribute(attr=name)
            | ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name))
        ):
            found = name.strip("_").removeprefix("get_").lower()
            return "value" if hasattr(builtins, found) else found or "value"
        case ast.BinOp(op=ast.Pow()):
            return "power"
    return "value"
