"""GL103 tensor-bool: `and`, `or`, `in`, `==` and tests in forms that a graph has.

The first step only: from an expression that asks several tensors for their truth, one by one, to comparisons,
conditional expressions and Python's own `if`. What these become is the business of `booleans` and `conditionals`.
"""

from __future__ import annotations

import ast
from typing import TypeGuard

from .facts.environment import FunctionFacts
from .facts.kinds import Dict, Elements, Kind, Maybe, Python, Record, Sequence
from .facts.profile import FunctionNode
from .facts.staging import holds_tensor, is_bool, is_strong, is_tensor
from .facts.syntax import changed_object, own_nodes
from .findings import Refusal
from .making import called, compared, is_atom, placed
from .rebuilding import duplicated, replaced, with_origin
from .rewriting import Rewriter
from .source import Names

MOST_COMPARISONS = 3


def plainer_tests(facts: FunctionFacts, names: Names, tf: str) -> FunctionNode | None:
    """The function with such expressions in other forms; None where it has none.

    Raises:
        Refusal: one of them has no other form here.
    """
    return _Tests(facts, names, tf).function()


class _Tests(Rewriter):
    def __init__(self, facts: FunctionFacts, names: Names, tf: str) -> None:
        super().__init__(facts, names)
        self.tf = tf

    def expression(self, node: ast.expr) -> ast.expr | None:
        match node:
            case ast.BoolOp() if self._gives_operand(node):
                return self._value(node)
            case ast.BoolOp() if node in self.facts.staged:
                return self._counted(node)
            case ast.Compare(ops=[ast.In() | ast.NotIn() as operator]):
                return self._membership(node, isinstance(operator, ast.NotIn))
            case ast.Compare(ops=[ast.Eq() | ast.NotEq() as operator]):
                return self._equality(node, isinstance(operator, ast.NotEq))
            case ast.Compare(ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()]):
                return self._order(node)
            case ast.Compare(ops=[_, _, *_]) if node in self.facts.staged:
                return self._chain(node)
            case ast.Name() if node in self.facts.tests and isinstance(
                self.kind(node), Maybe
            ):
                return _both(compared(node, ast.IsNot(), ast.Constant(None)), node)
        return None

    # ---- an `if` of which Python knows a part

    def instead(self, node: ast.stmt) -> list[ast.stmt] | None:
        """`if y is not None and y > 0.0:` asks Python first, so that what y is None for is not traced."""
        match node:
            case ast.If(test=test) if node in self.facts.staged and (
                taken := _taken_first(test)
            ):
                return self._taking(node, taken)
            case ast.If(test=ast.BoolOp(op=op, values=[first, *rest]) as test) if (
                (self._is_pythons(first) and holds_tensor(self.kind(test)))
                or (isinstance(op, ast.And) and self._names_later(test))
                or self._takes_later(node, test)
            ):
                other = rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
                if isinstance(op, ast.And):
                    inner = ast.If(other, node.body, duplicated(node.orelse))
                    made = ast.If(first, [inner], node.orelse)
                else:
                    inner = ast.If(other, duplicated(node.body), node.orelse)
                    made = ast.If(first, node.body, [inner])
                ast.copy_location(inner, node)
                return [with_origin(made, node)]
        return None

    def _names_later(self, test: ast.BoolOp) -> bool:
        """Whether a test that a tensor may end gives a name to something behind its first part."""
        later = (n for value in test.values[1:] for n in ast.walk(value))
        return test in self.facts.staged and any(
            isinstance(n, ast.NamedExpr) for n in later
        )

    def _takes_later(self, node: ast.If, test: ast.BoolOp) -> bool:
        """Whether a test that a tensor may end takes an item out of a list behind its first part."""
        plain = isinstance(test.op, ast.And) or len(node.body) == 1
        return test in self.facts.staged and plain and any(map(_takes, test.values[1:]))

    def _taking(self, node: ast.If, taken: ast.Call) -> list[ast.stmt]:
        """`if stack.pop() == c:` as two statements."""
        item = self.names.fresh("item")
        take = ast.Assign([ast.Name(item, ast.Store())], taken)
        read = placed(ast.Name(item, ast.Load()), taken)
        test = replaced(node.test, {taken: read})
        assert isinstance(test, ast.expr)
        return [
            with_origin(take, node),
            with_origin(ast.If(test, node.body, node.orelse), node),
        ]

    def _is_pythons(self, node: ast.expr) -> bool:
        """Whether only Python knows how a test comes out, trace by trace."""
        kind = self.kind(node)
        return kind == Python("bool") and not holds_tensor(kind)

    # ---- and, or

    def _gives_operand(self, node: ast.BoolOp) -> bool:
        """Whether the value of `and` or `or` is asked for, and is no bool."""
        if node not in self.facts.staged or node in self.facts.tests:
            return False
        return not all(
            is_bool(self.kind(v)) for v in node.values if v in self.facts.kinds
        )

    def _value(self, node: ast.BoolOp) -> ast.expr:
        first, *rest = node.values
        first = self.atom(first, "value")
        other = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
        arms = (first, other) if isinstance(node.op, ast.Or) else (other, first)
        return ast.IfExp(first, *arms)

    def _counted(self, node: ast.BoolOp) -> ast.expr | None:
        """`stack and stack[-1] < x` asks how many items there are."""
        values: list[ast.expr] = [
            compared(called("len", v), ast.Gt(), ast.Constant(0))
            if isinstance(v, ast.Name) and isinstance(self.kind(v), Elements)
            else v
            for v in node.values
        ]
        return None if values == node.values else ast.BoolOp(node.op, values)

    # ---- in

    def _membership(self, node: ast.Compare, negated: bool) -> ast.expr | None:
        container = node.comparators[0]
        item, held = self.kind(node.left), self.kind(container)
        if is_strong(held):
            if len(getattr(held, "shape", None) or ()) != 1 or not _is_scalar(item):
                return None
            found = called(
                "bool",
                called(
                    f"{self.tf}.reduce_any", compared(container, ast.Eq(), node.left)
                ),
            )
            return _negated(found, negated)
        asked = holds_tensor(item) or (
            holds_tensor(held) and not isinstance(held, Dict)
        )
        if not asked or not _is_scalar(item):
            return None
        members = self._members(container)
        if members is None:
            return None
        if not members:
            return ast.Constant(negated)
        if (
            is_strong(item)
            and len(members) > MOST_COMPARISONS
            and all(isinstance(m, ast.Constant) for m in members)
        ):
            equal = called(f"{self.tf}.equal", node.left, ast.List(members, ast.Load()))
            return _negated(
                called("bool", called(f"{self.tf}.reduce_any", equal)), negated
            )
        left = self.atom(node.left, "item")
        tests: list[ast.expr] = [compared(left, ast.Eq(), m) for m in members]
        either = tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), tests)
        return _negated(called("bool", either), negated)

    def _members(self, node: ast.expr) -> list[ast.expr] | None:
        """What a container holds, item by item; None where that is not known."""
        kind = self.kind(node)
        varies = any(p.node is node and p.code == "GL302" for p in self.facts.problems)
        if varies or self._may_grow(node):
            return None
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return (
                None
                if any(isinstance(e, ast.Starred) for e in node.elts)
                else list(node.elts)
            )
        if (
            isinstance(kind, Sequence)
            and kind.type in ("tuple", "list")
            and is_atom(node)
        ):
            if all(isinstance(k, Python) and k.known for k in kind.items):
                return [
                    ast.Constant(k.value)  # type: ignore[arg-type]
                    for k in kind.items
                    if isinstance(k, Python)
                ]
            return [
                ast.Subscript(node, ast.Constant(i), ast.Load())
                for i in range(len(kind.items))
            ]
        if isinstance(kind, Dict):
            return [ast.Constant(key) for key, _ in kind.items]
        return None

    def _may_grow(self, node: ast.expr) -> bool:
        """Whether a container gets or loses items in a loop or under a condition, where its kind may not tell yet."""
        if not isinstance(node, ast.Name):
            return False
        keyed = isinstance(self.kind(node), Dict)
        return any(
            isinstance(changed := changed_object(inner), ast.Name)
            and changed.id == node.id
            and (keyed or not isinstance(inner, ast.Subscript))
            for statement in own_nodes(self.facts.definition.node)
            if isinstance(statement, ast.For | ast.While | ast.If)
            for inner in ast.walk(statement)
        )

    # ---- tuples

    def _equality(self, node: ast.Compare, negated: bool) -> ast.expr | None:
        """`(a, b) == (c, d)` compares item by item."""
        sides = self._sequences(node)
        if sides is None:
            return None
        (_, left), (_, right) = sides
        if left.type != right.type and (
            isinstance(left, Record) or isinstance(right, Record)
        ):
            reason = f"whether {left.type} and {right.type} compare is not known"
            raise Refusal(reason, node, "GL103")
        if left.type != right.type or len(left.items) != len(right.items):
            return ast.Constant(negated)
        items = [self._items(side, kind) for side, kind in sides]
        tests: list[ast.expr] = [
            compared(a, ast.Eq(), b)
            for a, b in zip(*items, strict=True)
            if ast.dump(a) != ast.dump(b)
        ]
        if not tests:
            return ast.Constant(not negated)
        whole = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
        return _negated(called("bool", whole), negated)

    def _order(self, node: ast.Compare) -> ast.expr | None:
        """`(a, b) < (c, d)` compares the first items that differ."""
        sides = self._sequences(node)
        if sides is None:
            return None
        (_, left), (_, right) = sides
        count = len(left.items)
        if left.type != right.type or count != len(right.items) or not count:
            reason = "which of these comes first is not known"
            raise Refusal(reason, node, "GL103")
        firsts, seconds = (
            [self.atom(item, "item") for item in self._items(side, kind)]
            for side, kind in sides
        )
        strict = ast.Lt() if isinstance(node.ops[0], ast.Lt | ast.LtE) else ast.Gt()
        whole: ast.expr = compared(firsts[-1], node.ops[0], seconds[-1])
        for a, b in list(zip(firsts, seconds, strict=True))[-2::-1]:
            same = ast.BoolOp(ast.And(), [compared(a, ast.Eq(), b), whole])
            whole = ast.BoolOp(ast.Or(), [compared(a, strict, b), same])
        return called("bool", whole)

    def _sequences(self, node: ast.Compare) -> list[tuple[ast.expr, Sequence]] | None:
        """The two tuples or lists that are compared, where one has tensors; None for anything else."""
        sides = [(n, self.kind(n)) for n in (node.left, node.comparators[0])]
        found = [(n, kind) for n, kind in sides if isinstance(kind, Sequence)]
        if len(found) < 2 or not any(holds_tensor(kind) for _, kind in found):
            return None
        return found

    def _items(self, node: ast.expr, kind: Sequence) -> list[ast.expr]:
        if isinstance(node, ast.Tuple | ast.List):
            if any(isinstance(e, ast.Starred) for e in node.elts):
                raise Refusal("which items are compared is not known", node, "GL103")
            return [self.atom(e, "item") for e in node.elts]
        owner = self.atom(node, "items")
        if isinstance(kind, Record):
            return [ast.Attribute(owner, name, ast.Load()) for name in kind.fields]
        return [
            ast.Subscript(owner, ast.Constant(i), ast.Load())
            for i in range(len(kind.items))
        ]

    # ---- chains

    def _chain(self, node: ast.Compare) -> ast.expr | None:
        """The middle of a chained comparison is worked out once, before the first comparison."""
        middle = node.comparators[0]
        if is_atom(middle):
            return None
        named = self.atom(middle, "middle")
        return ast.Compare(node.left, node.ops, [named, *node.comparators[1:]])


def _negated(node: ast.expr, negated: bool) -> ast.expr:
    return ast.UnaryOp(ast.Not(), node) if negated else node


def _both(left: ast.expr, right: ast.expr) -> ast.expr:
    return ast.BoolOp(ast.And(), [left, right])


def _is_scalar(kind: Kind) -> bool:
    return isinstance(kind, Python) or (
        is_tensor(kind) and getattr(kind, "shape", None) == ()
    )


def _takes(test: ast.expr) -> bool:
    return any(map(_is_take, ast.walk(test)))


def _is_take(node: ast.AST) -> TypeGuard[ast.Call]:
    """Whether this takes an item out of what a name holds."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr="pop")):
            return True
    return False


def _taken_first(test: ast.expr) -> ast.Call | None:
    """What a test takes out of a list, where it does so before all else that could tell."""
    match test:
        case _ if _is_take(test):
            return test
        case ast.Compare(left=ast.Name() | ast.Constant(), comparators=[right]):
            return _taken_first(right)
        case ast.Compare(left=left):
            return _taken_first(left)
        case ast.UnaryOp(operand=operand):
            return _taken_first(operand)
    return None
