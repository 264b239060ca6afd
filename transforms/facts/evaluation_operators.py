"""What operators, comparisons and conditional expressions give, as the interpreter walks a function."""

from __future__ import annotations

import ast
from dataclasses import replace

from . import arrays, operators, texts
from .environment import Environment
from .evaluation import Evaluation
from .kind_joins import join_all
from .kinds import (
    BOOL,
    NONE,
    UNKNOWN,
    Dict,
    Kind,
    Maybe,
    Python,
    Rows,
    Scalar,
    Sequence,
    Tensor,
    Union,
    members,
    python,
    weak,
)
from .mixing import may_be_number, remixed, unmixed
from .numbers import ZERO_DIVISION, divisor, exact_numbers, is_known_nonzero
from .signs import is_never_negative, is_never_positive, is_nonzero, is_size
from .staging import (
    choose,
    hold,
    holds_tensor,
    host_join,
    is_list,
    is_numpy,
    is_optimizer,
    is_tensor,
    is_weak,
    list_of,
    released,
)

MADE_ANEW = (
    "a graph makes tensors, tuples, dicts and dataclasses anew: compare what they hold"
)
ORDER = frozenset({"lt", "lte", "gt", "gte"})
POWER = "a power of Python numbers may be of another type, or too large, as a tensor decides"
SHIFT = "a shift of Python numbers may go the other way, as a tensor decides"


class OperatorEvaluation(Evaluation):
    """What operators, comparisons and conditional expressions give."""

    def _binop(self, node: ast.BinOp, environment: Environment) -> Kind:
        left = self.evaluate(node.left, environment)
        right = self.evaluate(node.right, environment)
        text = texts.kind_of(self, node)
        return text or self.binary(node.op, left, right, node)

    def binary(
        self, operator: ast.operator, left: Kind, right: Kind, node: ast.AST
    ) -> Kind:
        name = type(operator).__name__.lower()
        kinds = []
        for a in members(left):
            for b in members(right):
                own = self.session.instances.operator(self, name, node, a, b)
                kinds.append(own if own is not None else self._binary(name, a, b, node))
        kind = join_all(kinds)
        if holds_tensor(kind):
            self.operation()
        return kind

    def _binary(self, name: str, left: Kind, right: Kind, node: ast.AST) -> Kind:
        if is_numpy(left) or is_numpy(right):
            return arrays.binary(self, name, left, right, node)
        if name == "mult" and is_list(left) and is_weak(right):
            reason = "a list is as long as a tensor says"
            self.problem(reason, node, "GL203", "make a tensor of it with `tf.fill`")
            return list_of(operators.iterate(left) or UNKNOWN)
        plain = [unmixed(left), unmixed(right)]
        kind = self.settle(
            operators.binary(name, *plain),
            f"{operators.SIGNS.get(name, name)} of {left} and {right}",
            node,
        )
        if (
            name == "mult"
            and isinstance(kind, Tensor)
            and kind.weak in ("str", "bytes")
        ):
            self.problem("a text is as long as a tensor says", node, "GL210")
        self._check_number(name, left, right, kind, node)
        made = remixed(kind, name, left, right)
        if isinstance(made, Tensor) and (made.mixed or made.weak):
            made = replace(made, numbers=exact_numbers(name, left, right, made.dtype))
        return made

    def _check_number(
        self, name: str, left: Kind, right: Kind, kind: Kind, node: ast.AST
    ) -> None:
        """Refuse where Python's arithmetic and a tensor's part: division by zero, large powers, rounding."""
        numbers, by = is_weak(kind) or may_be_number(left, right), divisor(node)
        if (
            numbers
            and name in ("div", "floordiv", "mod")
            and not (is_known_nonzero(right) or _fails_alike(kind, right))
            and not (by is not None and is_nonzero(by, self.facts))
            and not hasattr(node, "checked")
            and not (by is not None and self._is_seen_size(by))
        ):
            way_out = "check before the tensor work that it is not 0, and raise there"
            self.problem(ZERO_DIVISION, node, way_out=way_out)
        if is_weak(kind) and name in ("lshift", "rshift"):
            self.problem(SHIFT, node)
        if is_weak(kind) and name == "pow" and not self._is_safe_power(kind, node):
            self.problem(POWER, node)
        counts = self.innermost_loop() is not None and self.is_staged()
        exact = exact_numbers(name, left, right, getattr(kind, "dtype", None))
        if counts and may_be_number(left, right) and exact is None:
            self.problem("it counts with what may be a Python number or a tensor", node)

    def _is_safe_power(self, kind: Kind, node: ast.AST) -> bool:
        """Whether a power of Python numbers is of one type, whatever they are, and no float too large."""
        match node:
            case ast.BinOp(left=base, right=exponent):
                pass
            case _:
                return False
        grows = is_never_negative(exponent, self.facts)
        if isinstance(kind, Tensor) and kind.weak == "int":
            return grows
        number, power = (
            kind.value if isinstance(kind, Python) else None
            for kind in map(self.facts.kind, (base, exponent))
        )
        if isinstance(number, int | float) and number > 0:
            falls = is_never_positive(exponent, self.facts)
            return (grows and number <= 1) or (falls and number >= 1)
        root = isinstance(power, int | float) and 0 < power <= 1
        return root and is_never_negative(base, self.facts)

    def _is_seen_size(self, node: ast.expr) -> bool:
        """Whether this is a size of a tensor, and no recorded call has divided by zero."""
        recorded = self.recorded
        seen = recorded is not None and "ZeroDivisionError" not in recorded.raises
        return seen and is_size(node, self.facts)

    def _unaryop(self, node: ast.UnaryOp, environment: Environment) -> Kind:
        if isinstance(node.op, ast.Not):
            truth = self.test(node.operand, environment)
            if truth == "tensor":
                self.facts.staged.add(node)
                return weak("bool")
            return BOOL if truth is None else python(not truth)
        operand = self.evaluate(node.operand, environment)
        if isinstance(operand, Tensor) and operand.weak == "bool":
            self.problem(
                "arithmetic of a Python bool that a tensor decides is not lifted", node
            )
        name = type(node.op).__name__.lower()
        own = self.session.instances.operator(self, name, node, operand)
        if own is not None:
            return own
        kinds = [
            self.settle(
                operators.unary(name, released(m) if is_numpy(m) else unmixed(m)),
                f"`{ast.unparse(node)}`",
                node,
            )
            for m in members(operand)
        ]
        kind = join_all(kinds)
        if is_numpy(operand):
            kind = hold(kind)
        if holds_tensor(kind):
            self.operation()
        return (
            replace(kind, mixed=True)
            if isinstance(kind, Tensor) and getattr(operand, "mixed", False)
            else kind
        )

    def _boolop(self, node: ast.BoolOp, environment: Environment) -> Kind:
        stops_at = isinstance(node.op, ast.Or)
        inner = environment
        kinds: list[Kind] = []
        staged = False
        for i, value in enumerate(node.values):
            if node in self.facts.tests:
                truth = self.test(value, inner)
                kind = self.facts.kind(value)
            else:
                kind = self.evaluate(value, inner)
                truth = self.truth(kind)
            staged = staged or (
                truth == "tensor" and (i < len(node.values) - 1 or bool(kinds))
            )
            if (
                truth is not stops_at
                and truth in (True, False)
                and i < len(node.values) - 1
            ):
                continue
            kinds.append(kind)
            if truth is stops_at:
                break
            inner = self.narrowed(value, not stops_at, inner)
        if staged:
            self.facts.staged.add(node)
        if staged and node in self.facts.tests:
            kinds = [weak("bool") if _is_answer(k) else k for k in kinds]
        result = kinds[0]
        for kind in kinds[1:]:
            result = choose(result, kind) if staged else host_join(result, kind)
        if staged and result == UNKNOWN:
            self.problem("`and`/`or` of these values is not lifted", node, "GL103")
        return result

    def _compare(self, node: ast.Compare, environment: Environment) -> Kind:
        left = self.evaluate(node.left, environment)
        kinds: list[Kind] = []
        for operator, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(comparator, environment)
            kinds.append(
                self._comparison(type(operator).__name__.lower(), left, right, node)
            )
            left = right
        if len(kinds) > 1 and any(map(is_tensor, kinds)):
            self.facts.staged.add(node)
        if len(kinds) > 1:
            kinds = [weak("bool") if _is_answer(k) else k for k in kinds]
        result = kinds[0]
        for kind in kinds[1:]:
            result = (
                choose(result, kind)
                if holds_tensor(result) or holds_tensor(kind)
                else host_join(result, kind)
            )
        return result

    def _comparison(
        self, name: str, left: Kind, right: Kind, node: ast.Compare
    ) -> Kind:
        if name in ORDER and (text := self._perhaps_none(node)):
            reason = f"`{text}` may be None here, for all that is known"
            way_out = f"give it a name, `item = {text}`, and ask whether that is None"
            self.problem(reason, node, way_out=way_out)
            return UNKNOWN
        kinds = []
        for a in members(left):
            for b in members(right):
                kinds.append(self._compared(name, a, b, node))
        kind = join_all(kinds)
        if holds_tensor(kind):
            self.operation()
        if isinstance(kind, Union) and holds_tensor(kind):
            self.problem("this comparison may give a Python bool or a tensor", node)
        return kind

    def _perhaps_none(self, node: ast.Compare) -> str:
        """An item or attribute that is compared and may be None: no test before tells that of it, as of a name."""
        for operand in (node.left, *node.comparators):
            kind = self.facts.kind(operand)
            if isinstance(operand, ast.Subscript | ast.Attribute) and (
                isinstance(kind, Union) and NONE in members(kind)
            ):
                return ast.unparse(operand)
        return ""

    def _compared(self, name: str, left: Kind, right: Kind, node: ast.Compare) -> Kind:
        if len(node.ops) == 1:
            own = self.session.instances.operator(self, name, node, left, right)
            if own is not None:
                return own
        if (
            (
                name in ("is", "isnot")
                and isinstance(left, Tensor)
                and left.weak == "bool"
                and not left.mixed
            )
            and isinstance(right, Python)
            and right.type == "bool"
            and right.known
        ):
            return weak("bool")
        if (
            isinstance(left, Maybe)
            and right == NONE
            and name in ("is", "isnot", "eq", "noteq")
        ):
            return weak("bool")
        if name in ("in", "notin") and is_tensor(right):
            self.problem("`in` a tensor is not lifted yet", node, "GL103")
            return UNKNOWN
        if (
            name in ("is", "isnot")
            and any(isinstance(k, Tensor) and k.mixed for k in (left, right))
            and NONE not in (left, right)
        ):
            self.problem(
                "the identity of a value that a tensor chose is not known",
                node,
                "GL103",
            )
        if name in ("is", "isnot") and all(map(_is_made_anew, (left, right))):
            self.problem(MADE_ANEW, node, "GL103")
            self.effect("identity", node)
        if name in ("eq", "noteq") and all(map(self.session.is_enum, (left, right))):
            return BOOL
        if is_numpy(left) or is_numpy(right):
            found = operators.compare(name, released(left), released(right))
            return hold(self.settle(found, f"comparing {left} with {right}", node))
        found = operators.compare(name, unmixed(left), unmixed(right))
        return self.settle(found, f"comparing {left} with {right}", node)

    def _ifexp(self, node: ast.IfExp, environment: Environment) -> Kind:
        truth = self.test(node.test, environment)
        if truth is True or truth is False:
            return self.evaluate(node.body if truth else node.orelse, environment)
        if truth == "tensor":
            self.facts.staged.add(node)
        with self.control(node, truth == "tensor"):
            then = self.evaluate(node.body, self.narrowed(node.test, True, environment))
            other = self.evaluate(
                node.orelse, self.narrowed(node.test, False, environment)
            )
        kind = choose(then, other) if truth == "tensor" else host_join(then, other)
        if any(map(is_optimizer, members(kind))):
            self.problem(
                "a graph makes the variables of one optimizer only", node, "GL305"
            )
        if kind == UNKNOWN:
            self.problem(f"one value cannot hold {then} or {other}", node, "GL102")
        return kind


def _is_made_anew(kind: Kind) -> bool:
    """Whether a graph may give back another object of the same."""
    anew = isinstance(kind, Sequence | Dict | Tensor | Maybe | Rows)
    return anew and holds_tensor(kind)


def _is_answer(kind: Kind) -> bool:
    """Whether this is a bool of NumPy, of which only the truth matters."""
    return is_numpy(kind) and kind == hold(Scalar("bool"))


def _fails_alike(kind: Kind, divisor: Kind) -> bool:
    """Whether a graph raises too where the divisor is 0: ints by a Python int that is known while tracing."""
    whole = isinstance(kind, Tensor) and kind.weak == "int"
    return whole and isinstance(divisor, Python) and divisor.type == "int"
