"""GL504 add-chain: sums that TensorFlow's arithmetic optimizer loses in a branch or loop."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .facts.environment import FunctionFacts
from .facts.kinds import Shape, Tensor, Variable
from .facts.modules import blocks, bound_names, own_expressions
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
                lambda: tf.ensure_shape(x + x, x.shape) + 1.0,
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
class _Sum:
    """The addends of a value, each with its shape, and the nodes that add them up."""

    addends: tuple[tuple[str, Shape | str], ...]
    nodes: frozenset[ast.expr] = frozenset()
    simplified: bool = False


def barriers(facts: FunctionFacts, whole: bool) -> set[ast.expr]:
    """The inner sums that need a barrier.

    The optimizer's fault needs a chain of sums of different shapes in which one addend stands twice; a chain goes
    on through names. `whole`: the function's own level may run in a branch or loop too, of those who call it.
    """
    chains = _Chains(facts)
    chains.block(facts.definition.node.body, {}, inside=whole)
    return chains.found


class _Chains:
    def __init__(self, facts: FunctionFacts) -> None:
        self.facts = facts
        self.found: set[ast.expr] = set()
        self.versions: Counter[str] = Counter()

    def block(self, body: list[ast.stmt], sums: dict[str, _Sum], inside: bool) -> None:
        for node in body:
            self._statement(node, sums, inside)

    def _statement(self, node: ast.stmt, sums: dict[str, _Sum], inside: bool) -> None:
        for expression in own_expressions(node):
            self._search(expression, sums, inside)
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                made = self._sum(value, sums)
                self._forget([name], sums)
                sums[name] = made
            case ast.AugAssign(target=ast.Name(id=name) as target, op=ast.Add(), value=value):
                left, right = sums.get(name, self._leaf(target)), self._sum(value, sums)
                self._forget([name], sums)
                sums[name] = _Sum((*left.addends, *right.addends), left.nodes | right.nodes)
                if inside:
                    self._check(sums[name], None)
            case _:
                self._forget(bound_names(node), sums)
        inside = inside or node in self.facts.staged
        for block in blocks(node):
            if not isinstance(node, ast.If):
                self._forget([n for s in block for n in bound_names(s)], sums)
            self.block(block, dict(sums), inside)
        if blocks(node):
            self._forget([n for b in blocks(node) for s in ast.walk(ast.Module(b, [])) for n in bound_names(s)], sums)

    def _forget(self, names: list[str], sums: dict[str, _Sum]) -> None:
        for name in names:
            self.versions[name] += 1
            sums.pop(name, None)

    def _search(self, node: ast.expr, sums: dict[str, _Sum], inside: bool) -> None:
        inside = inside or (isinstance(node, ast.IfExp) and node in self.facts.staged)
        if inside and _adds(node):
            self._check(self._sum(node, sums), node)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self._search(child, sums, inside)

    def _check(self, made: _Sum, outermost: ast.expr | None) -> None:
        repeated = [k for k, n in Counter(k for k, _ in made.addends).items() if n > 1]
        shapes = {key: shape for key, shape in made.addends}
        if not any(shapes[k] != () for k in repeated) or not (len(made.addends) > 2 or made.simplified):
            return
        if len(set(shapes.values())) == 1 and None not in shapes.values() and not made.simplified:
            return
        self.found |= {n for n in made.nodes if n is not outermost}

    def _sum(self, node: ast.expr, sums: dict[str, _Sum]) -> _Sum:
        match node:
            case ast.Name(id=name) if name in sums:
                return sums[name]
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                return _added(node, [self._sum(left, sums), self._sum(right, sums)])
            case ast.BinOp(op=ast.Mult(), left=inner, right=ast.Constant(value=1)):
                return replace(self._sum(inner, sums), simplified=True)
            case ast.BinOp(op=ast.Mult(), left=ast.Constant(value=1), right=inner):
                return replace(self._sum(inner, sums), simplified=True)
            case ast.Call(func=ast.Name(id="sum") | ast.Attribute(attr="add_n"), args=[ast.List(elts=parts)]):
                made = _added(node, [self._sum(part, sums) for part in parts])
                return replace(made, simplified=isinstance(node.func, ast.Name))
        return self._leaf(node)

    def _leaf(self, node: ast.expr) -> _Sum:
        versions = {n.id: self.versions[n.id] for n in ast.walk(node) if isinstance(n, ast.Name)}
        kind = self.facts.kind(node)
        shape: Shape | str = kind.shape if isinstance(kind, Tensor | Variable) else ()
        return _Sum(((f"{ast.unparse(node)} {versions}", shape),))


def _added(node: ast.expr, parts: list[_Sum]) -> _Sum:
    addends = tuple(a for part in parts for a in part.addends)
    nodes = frozenset({node}).union(*(part.nodes for part in parts))
    return _Sum(addends, nodes, any(part.simplified for part in parts))


def _adds(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Add)
    return isinstance(node, ast.Call) and (getattr(node.func, "id", "") == "sum" or getattr(node.func, "attr", "") == "add_n")


def with_barrier(writer: Writer, node: ast.expr, text: str) -> str:
    """The text of a sum with the barrier around it: its shape is checked, which the optimizer does not look through."""
    kind = writer.kind(node)
    if not isinstance(kind, Tensor | Variable) or kind.shape == ():
        return text
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(writer.kind(inner), Tensor | Variable):
            shape = getattr(writer.kind(inner), "shape", None)
            if shape is not None and shape == getattr(kind, "shape", None):
                return f"{writer.tf}.ensure_shape({text}, {inner.id}.shape)"
    if kind.shape is not None:
        return f"{writer.tf}.ensure_shape({text}, {list(kind.shape)})"
    name = writer.names.fresh("partial_sum")
    return f"{writer.tf}.ensure_shape({name} := {text}, {name}.shape)"
