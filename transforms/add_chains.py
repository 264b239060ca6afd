"""GL504 add-chain: sums that TensorFlow's arithmetic optimizer loses in a branch or loop."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .facts.environment import FunctionFacts
from .facts.kinds import Python, Shape, Tensor, Variable
from .facts.modules import ModuleFacts
from .facts.syntax import blocks, bound_names, own_expressions
from .findings import Refusal
from .rule import Rule

if TYPE_CHECKING:
    from .expressions import Writer


class AddChain(Rule):
    """A sum with a repeated addend, in an arm or a loop body that becomes part of a graph.

    What it finds:
        `x + x + b` and its like, under an `if` or a loop that a tensor decides.

    Why it matters:
        TensorFlow's arithmetic optimizer turns the repeated addend into a product with a constant that it anchors to
        the arm not taken: the result is an empty tensor of shape (0,), without an error.

    Before:
        import tensorflow as tf

        def f(x: tf.Tensor):
            if tf.reduce_sum(x) > 0.0:
                y = x + x + 1.0
            else:
                y = -x
            return y

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([-1.0, -2.0]),), (tf.constant([0.0, 3.0]),)]

    After:
        import tensorflow as tf

        @tf.function(autograph=False, input_signature=[tf.TensorSpec([2], tf.float32)])
        def f(x: tf.Tensor):
            y = tf.cond(
                tf.reduce_sum(x) > 0.0,
                lambda: tf.ensure_shape(x, x.shape) + tf.ensure_shape(x, x.shape) + 1.0,
                lambda: -x,
            )
            return y

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([-1.0, -2.0]),), (tf.constant([0.0, 3.0]),)]

    When it is left alone:
        Sums of two addends, and those outside of branches and loops, where TensorFlow keeps them.
    """

    code = "GL504"
    name = "add-chain"


@dataclass(frozen=True)
class _Addend:
    """One addend: what it is, its shape, and where it stands; `plain` where no operation of the arm makes it."""

    key: str
    shape: Shape | str
    node: ast.expr
    plain: bool


@dataclass(frozen=True)
class _Sum:
    """The addends of a value; `simplified`: TensorFlow drops an operation that does nothing, such as `* 1.0`."""

    addends: tuple[_Addend, ...]
    simplified: bool = False


PASSES_THROUGH = frozenset(
    {
        "identity",
        "cast",
        "reshape",
        "stop_gradient",
        "ensure_shape",
        "convert_to_tensor",
    }
)


def adding_functions(module: ModuleFacts) -> frozenset[str]:
    """The functions of a module, by qualified name, that add something up."""
    return frozenset(
        name
        for name, definition in module.functions.items()
        if any(map(_is_addition, ast.walk(definition.original)))
    )


def _is_addition(node: ast.AST) -> bool:
    match node:
        case ast.Add():
            return True
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in ("sum", "add", "add_n", "accumulate_n")
    return False


def barriers(
    facts: FunctionFacts, whole: bool, adding: frozenset[str]
) -> set[ast.expr]:
    """The addends that need a barrier.

    The optimizer's fault needs a chain of sums of different shapes in which one value from outside the arm stands
    twice; a chain goes on through names, and through functions. `whole`: the function's own level may run in a
    branch or loop too, of those who call it. `adding`: see `adding_functions`.
    """
    chains = _Chains(facts, adding)
    chains.block(facts.definition.node.body, {}, inside=whole)
    return chains.found


class _Chains:
    def __init__(self, facts: FunctionFacts, adding: frozenset[str]) -> None:
        self.facts = facts
        self.adding = adding
        self.found: set[ast.expr] = set()
        self.versions: Counter[str] = Counter()
        self.displays: dict[str, list[ast.expr]] = {}

    def block(self, body: list[ast.stmt], sums: dict[str, _Sum], inside: bool) -> None:
        for node in body:
            self._statement(node, sums, inside)

    def _statement(self, node: ast.stmt, sums: dict[str, _Sum], inside: bool) -> None:
        for expression in own_expressions(node):
            self._search(expression, sums, inside)
        match node:
            case ast.Return(value=ast.expr() as value) if inside:
                unknown = _Addend("what a caller adds", None, value, plain=False)
                made = self._sum(value, sums)
                self._check(replace(made, addends=(*made.addends, unknown)))
            case ast.Assign(targets=[ast.Name() as target], value=value):
                self._assign([target], [value], sums)
            case ast.Assign(
                targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)
            ) if len(targets) == len(values):
                self._assign(targets, values, sums)
            case ast.AugAssign(
                target=ast.Name(id=name) as target, op=ast.Add(), value=value
            ):
                load: ast.expr = getattr(target, "as_load", target)
                made = _added(
                    [sums.get(name, self._leaf(load)), self._sum(value, sums)]
                )
                self._forget([name], sums)
                sums[name] = made
                if inside:
                    self._check(made)
            case _:
                self._forget(bound_names(node), sums)
        inside = inside or node in self.facts.staged
        unrolled = (
            isinstance(node, ast.For | ast.While) and node not in self.facts.staged
        )
        for block in blocks(node):
            inner = sums if unrolled else dict(sums)
            for _ in range(2 if unrolled else 1):
                self.block(block, inner, inside)
        if blocks(node):
            self._forget(_all_bound(node), sums)

    def _assign(
        self, targets: list[ast.expr], values: list[ast.expr], sums: dict[str, _Sum]
    ) -> None:
        made = [self._sum(value, sums) for value in values]
        for target, value, total in zip(targets, values, made, strict=True):
            if isinstance(target, ast.Name):
                self._forget([target.id], sums)
                sums[target.id] = total
                if isinstance(value, ast.List | ast.Tuple):
                    self.displays[target.id] = value.elts

    def _forget(self, names: list[str], sums: dict[str, _Sum]) -> None:
        for name in names:
            self.versions[name] += 1
            sums.pop(name, None)
            self.displays.pop(name, None)

    def _search(self, node: ast.expr, sums: dict[str, _Sum], inside: bool) -> None:
        inside = inside or (isinstance(node, ast.IfExp) and node in self.facts.staged)
        if inside and isinstance(node, ast.BinOp | ast.Call):
            self._check(self._sum(node, sums))
        if isinstance(node, ast.NamedExpr):
            sums[node.target.id] = self._sum(node.value, sums)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self._search(child, sums, inside)

    def _check(self, made: _Sum) -> None:
        counts = Counter(a.key for a in made.addends)
        repeated = [
            a for a in made.addends if counts[a.key] > 1 and a.plain and a.shape != ()
        ]
        if not repeated or not (len(made.addends) > 2 or made.simplified):
            return
        shapes = {a.shape for a in made.addends}
        if len(shapes) == 1 and None not in shapes and not made.simplified:
            return
        self.found |= {a.node for a in repeated}

    def _sum(self, node: ast.expr, sums: dict[str, _Sum]) -> _Sum:
        match node:
            case ast.Name(id=name) if name in sums:
                known = sums[name]
                return (
                    known
                    if len(known.addends) > 1 or not known.addends[0].plain
                    else self._renamed(known, node)
                )
            case ast.NamedExpr(value=value):
                return self._sum(value, sums)
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                made = _added([self._sum(left, sums), self._sum(right, sums)])
                return replace(
                    made,
                    simplified=made.simplified or _is_zero(left) or _is_zero(right),
                )
            case ast.BinOp(op=op, left=inner, right=ast.Constant(value=value)) if (
                _does_nothing(op, value)
            ):
                return replace(self._sum(inner, sums), simplified=True)
            case ast.BinOp(op=ast.Mult(), left=ast.Constant(value=1), right=inner):
                return replace(self._sum(inner, sums), simplified=True)
            case ast.Call(func=function, args=args):
                return self._call(node, function, args, sums)
            case ast.Subscript(
                value=ast.Name(id=name), slice=ast.Constant(value=int() as i)
            ) if name in self.displays and -len(self.displays[name]) <= i < len(
                self.displays[name]
            ):
                return self._placed(self._sum(self.displays[name][i], sums), node)
        return self._leaf(node)

    def _call(
        self,
        node: ast.Call,
        function: ast.expr,
        args: list[ast.expr],
        sums: dict[str, _Sum],
    ) -> _Sum:
        name = getattr(self.facts.kind(function), "name", "").rpartition(".")[2]
        if name in ("sum", "add_n", "accumulate_n") and args:
            parts = [self._sum(part, sums) for part in self._items(args[0])]
            return replace(_added(parts), simplified=True)
        if name == "add" and len(args) == 2:
            return _added([self._sum(a, sums) for a in args])
        if name in PASSES_THROUGH and args:
            return replace(self._sum(args[0], sums), simplified=True)
        if self.facts.calls.get(node) in self.adding and args:
            parts = [*(self._sum(a, sums) for a in args), self._leaf(node)]
            return replace(_added(parts), simplified=len(args) > 1)
        return self._leaf(node)

    def _items(self, node: ast.expr) -> list[ast.expr]:
        """The addends of `sum(node)`; one that is not known may stand there twice."""
        if isinstance(node, ast.Name) and node.id in self.displays:
            return self.displays[node.id]
        return node.elts if isinstance(node, ast.List | ast.Tuple) else [node] * 2

    def _placed(self, known: _Sum, node: ast.expr) -> _Sum:
        single = len(known.addends) == 1 and known.addends[0].plain
        return self._renamed(known, node) if single else known

    def _renamed(self, known: _Sum, node: ast.expr) -> _Sum:
        """A value under another name: the barrier goes where it is used."""
        (addend,) = known.addends
        return replace(known, addends=(replace(addend, node=node),))

    def _leaf(self, node: ast.expr) -> _Sum:
        versions = {
            n.id: self.versions[n.id] for n in ast.walk(node) if isinstance(n, ast.Name)
        }
        kind = self.facts.kind(node)
        shape: Shape | str = kind.shape if isinstance(kind, Tensor | Variable) else ()
        plain = isinstance(node, ast.Name | ast.Attribute | ast.Subscript)
        return _Sum((_Addend(f"{ast.unparse(node)} {versions}", shape, node, plain),))


def _added(parts: list[_Sum]) -> _Sum:
    return _Sum(
        tuple(a for part in parts for a in part.addends),
        any(part.simplified for part in parts),
    )


def _is_zero(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    if isinstance(node, ast.Call):
        return getattr(node.func, "attr", "") in ("zeros", "zeros_like")
    return isinstance(node, ast.Constant) and node.value == 0


def _does_nothing(op: ast.operator, value: object) -> bool:
    if isinstance(op, ast.Mult | ast.Div | ast.Pow):
        return value == 1
    return isinstance(op, ast.Sub) and value == 0


def _all_bound(node: ast.stmt) -> list[str]:
    return [
        n for s in ast.walk(node) if isinstance(s, ast.stmt) for n in bound_names(s)
    ]


def with_barrier(writer: Writer, node: ast.expr, text: str) -> str:
    """The text of an addend with a barrier: its shape is checked, which the optimizer does not look through.

    Raises:
        Refusal: it is no tensor, but holds some.
    """
    kind = writer.kind(node)
    if not isinstance(kind, Tensor | Variable):
        if isinstance(kind, Python):
            return text
        raise Refusal("TensorFlow's optimizer may lose this sum", node, "GL504")
    if kind.shape == ():
        return text
    return f"{writer.tf}.ensure_shape({text}, {text}.shape)"
