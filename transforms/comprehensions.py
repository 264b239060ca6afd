"""GL109 tensor-comprehension: comprehensions over tensors, and any, all, sum, min and max of them, become loops.

The first step only: from a comprehension to the loop that it stands for. What the loop becomes is the loops' business.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterable

from .facts.environment import FunctionFacts
from .facts.profile import FunctionNode
from .facts.staging import is_strong
from .facts.syntax import blocks, names_in
from .making import (
    assigned,
    called,
    filled,
    is_atom,
    negated,
    placed,
    unplaced,
    visited_fields,
)
from .rebuilding import rebuilt, replaced, with_body, with_origin
from .rule import ITERATION, Rule
from .source import Names

Comprehension = ast.ListComp | ast.GeneratorExp | ast.SetComp
COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.SetComp)


class TensorComprehension(Rule):
    """A comprehension over a tensor.

    What it finds:
        List comprehensions and generator expressions over tensors, and `any`, `all`, `sum`, `min`, `max` of tensors.

    Why it matters:
        Each iterates over the tensor in Python: row by row in eager mode, and not at all in a graph, which refuses
        to iterate over a symbolic tensor.

    Before:
        import tensorflow as tf

        def f(values: tf.Tensor):
            return tf.stack([v * v for v in values])

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([4.0]),), (tf.constant([1.0, -2.0, 3.0]),)]

    After:
        import tensorflow as tf

        @tf.function(autograph=False, input_signature=[tf.TensorSpec([None], tf.float32)])
        def f(values: tf.Tensor):
            length = tf.shape(values)[0]
            items = tf.TensorArray(tf.float32, size=length, element_shape=[])

            def body(i, items):
                v = values[i]
                items = items.write(i, v * v)
                return i + 1, items

            _, items = tf.while_loop(lambda i, items: i < length, body, (tf.constant(0), items))
            return items.stack()

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([4.0]),), (tf.constant([1.0, -2.0, 3.0]),)]

    When it is left alone:
        Set comprehensions over tensors, dict comprehensions over more than a few rows or with a filter, and
        comprehensions in a lambda. What can be done: `tf.unique` for a set, `tf.boolean_mask(x, test)` for a filter,
        `tf.map_fn` for the rest, `tf.argsort` and `tf.gather` for a sort by a key.
    """

    code = "GL109"
    name = "tensor-comprehension"
    errors = (ITERATION,)


def without_comprehensions(
    facts: FunctionFacts, names: Names, tf: str
) -> FunctionNode | None:
    """The function with its comprehensions over tensors written as loops; None where it has none."""
    node = facts.definition.node
    arranging = {id(n) for n in ast.walk(node.body[-1]) if _arranges(n)}
    wanted = {
        id(p.node)
        for p in facts.problems
        if p.code == "GL109" and not hasattr(p.node, "picks")
    }
    wanted -= arranging if isinstance(node.body[-1], ast.Return) else set()
    if not wanted:
        return None
    node = _with_own_names(node, wanted, names)
    body = _block(node.body, wanted, facts, names, tf)
    return with_body(facts.definition.node, body)


def _arranges(node: ast.AST) -> bool:
    """Whether a comprehension only puts what it goes over into dicts or tuples, as Python can behind the graph."""
    match node:
        case ast.ListComp(
            elt=ast.Dict() | ast.Tuple() | ast.List() as elt,
            generators=[
                ast.comprehension(iter=ast.Call(func=ast.Name(id="zip")), ifs=[])
            ],
        ):
            plain = ast.Name | ast.Constant | ast.Dict | ast.Tuple | ast.List
            parts = [n for n in ast.walk(elt) if isinstance(n, ast.expr)]
            return all(isinstance(n, plain) for n in parts)
    return hasattr(node, "arranges")


def _with_own_names(node: FunctionNode, wanted: set[int], names: Names) -> FunctionNode:
    """A function whose comprehensions have names that nothing else has: loops would set those."""
    count = Counter(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
    arguments = {a.arg for a in ast.walk(node) if isinstance(a, ast.arg)}
    for inner in ast.walk(node):
        if id(inner) not in wanted or not isinstance(inner, COMPREHENSIONS):
            continue
        own = Counter(n.id for n in ast.walk(inner) if isinstance(n, ast.Name))
        for generator in inner.generators:
            for name in {
                n.id for n in ast.walk(generator.target) if isinstance(n, ast.Name)
            }:
                if count[name] > own[name] or name in arguments:
                    made = _Renaming(name, names.fresh(name)).comprehension(inner)
                    wanted.add(id(made))
                    result = replaced(node, {inner: made})
                    assert isinstance(result, FunctionNode)
                    return _with_own_names(result, wanted, names)
    return node


class _Renaming(ast.NodeTransformer):
    """A comprehension with another name for what it binds; its first iterable is not of its scope."""

    def __init__(self, old: str, new: str) -> None:
        self.old = old
        self.new = new

    def comprehension(self, node: Comprehension) -> Comprehension:
        made = unplaced(copy.deepcopy(node))
        iterable = node.generators[0].iter
        made.generators[0].iter = ast.Constant(None)
        self.generic_visit(made)
        made.generators[0].iter = iterable
        return made

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.new, node.ctx) if node.id == self.old else node


def _block(
    body: list[ast.stmt], wanted: set[int], facts: FunctionFacts, names: Names, tf: str
) -> list[ast.stmt]:
    result: list[ast.stmt] = []
    for node in body:
        if not any(id(n) in wanted for n in ast.walk(node)):
            result.append(node)
        elif blocks(node) and not isinstance(node, ast.If):
            result.append(
                rebuilt(node, lambda block: _block(block, wanted, facts, names, tf))
            )
        else:
            result += _expanded(node, wanted, facts, names, tf)
    return result


def _expanded(
    node: ast.stmt, wanted: set[int], facts: FunctionFacts, names: Names, tf: str
) -> list[ast.stmt]:
    """A statement after the loops that its comprehensions stand for."""
    before: list[ast.stmt] = []
    match node:
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=(ast.ListComp() as value)
            | ast.Call(
                func=ast.Name(id="list"),
                args=[ast.GeneratorExp() as value],
                keywords=[],
            ),
        ) if id(value) in wanted:
            made_list = ast.Assign(
                [ast.Name(name, ast.Store())], ast.List([], ast.Load())
            )
            with_origin(made_list, node)
            return [made_list, _loops(value.generators, [_append(name, value.elt)])]
    made = with_origin(copy.copy(node), node)
    loops = _Loops(wanted, facts, names, tf, before)
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        loops.target = node.targets[0], node.value
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.expr):
            setattr(made, name, loops.visit(value))
    if isinstance(node, ast.If):
        made.body = _block(node.body, wanted, facts, names, tf)  # type: ignore[attr-defined]
        made.orelse = _block(node.orelse, wanted, facts, names, tf)  # type: ignore[attr-defined]
    unchanged = not (before or loops.changed) and all(
        getattr(made, block, None) == getattr(node, block, None)
        for block in ("body", "orelse")
    )
    match made:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=given)) if (
            before and name == given
        ):
            return before
    return [node] if unchanged else [*before, made]


class _Loops(ast.NodeTransformer):
    """Takes comprehensions out of an expression, as loops before the statement."""

    def __init__(
        self,
        wanted: set[int],
        facts: FunctionFacts,
        names: Names,
        tf: str,
        before: list[ast.stmt],
    ) -> None:
        self.wanted = wanted
        self.facts = facts
        self.names = names
        self.tf = tf
        self.before = before
        self.changed = False
        self.may_loop = True
        self.target: tuple[ast.expr, ast.expr] | None = None

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """The node made anew where something in it changes: the statement of the file keeps its own."""
        fields = visited_fields(node, self.visit)
        if all(fields[field] == value for field, value in ast.iter_fields(node)):
            return node
        made = copy.copy(node)
        for field, value in fields.items():
            setattr(made, field, value)
        return made

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        test: ast.expr = self.visit(node.test)
        then, other = map(self._of_whole, (node.body, node.orelse))
        if not (self.may_loop and any(map(self._loops_in, (then, other)))):
            return placed(ast.IfExp(test, then, other), node)
        name = self.names.fresh("value")
        self.before.append(
            ast.If(test, [assigned(name, then)], [assigned(name, other)])
        )
        return self._made(name, node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """What comes later has its loops where the operands before it do not decide."""
        first, *later = node.values
        values = [self.visit(first), *map(self._of_whole, later)]
        looping = [i for i, value in enumerate(values) if self._loops_in(value)]
        if not (self.may_loop and looping and looping[0]):
            return placed(ast.BoolOp(node.op, values), node)
        name = self.names.fresh("holds")
        sides = values[: looping[0]], values[looping[0] :]
        before, after = (
            ast.BoolOp(node.op, side) if len(side) > 1 else side[0] for side in sides
        )
        undecided: ast.expr = ast.Name(name, ast.Load())
        if isinstance(node.op, ast.Or):
            undecided = negated(undecided)
        self.before.append(assigned(name, before))
        self.before.append(ast.If(undecided, [assigned(name, after)], []))
        return self._made(name, node)

    def _of_whole(self, node: ast.expr) -> ast.expr:
        """An operand that may not be worked out, with what asks a whole tensor at once."""
        outer, self.may_loop = self.may_loop, False
        made = self.visit(node)
        self.may_loop = outer
        assert isinstance(made, ast.expr)
        return made

    def _loops_in(self, node: ast.expr) -> bool:
        return any(id(n) in self.wanted for n in ast.walk(node))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(
                func=ast.Name(id="any" | "all" as name),
                args=[ast.GeneratorExp() as inner],
                keywords=[],
            ) if id(inner) in self.wanted and (self.may_loop or self._whole(inner)):
                return self._search(node, inner, name == "any")
            case _ if not self.may_loop:
                return self.generic_visit(node)
            case ast.Call(
                func=ast.Name(id="sum"),
                args=[ast.GeneratorExp() as inner, *start],
                keywords=[],
            ) if id(inner) in self.wanted:
                return self._total(node, inner, start)
            case ast.Call(
                func=ast.Name(id="next"),
                args=[ast.GeneratorExp(generators=[_]) as inner, default],
            ) if id(inner) in self.wanted:
                return self._first(node, inner, default)
            case ast.Call(
                func=ast.Name(id="list"),
                args=[ast.GeneratorExp() as inner],
                keywords=[],
            ) if id(inner) in self.wanted:
                return self._listed(node, inner)
        return self.generic_visit(node)

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        wanted = self.may_loop and id(node) in self.wanted
        return self._listed(node, node) if wanted else node

    def _name(self, node: ast.expr, fallback: str) -> str:
        """The name that the statement gives what an expression is, or a new one."""
        match self.target:
            case (ast.Name(id=name), value) if value is node:
                taken = names_in(node) | self.facts.definition.declared_global
                return self.names.fresh(fallback) if name in taken else name
        return self.names.fresh(fallback)

    def _listed(
        self, node: ast.expr, inner: ast.ListComp | ast.GeneratorExp
    ) -> ast.AST:
        name = self.names.fresh("items")
        self.before.append(assigned(name, ast.List([], ast.Load())))
        self.before.append(_loops(inner.generators, [_append(name, inner.elt)]))
        return self._made(name, node)

    def _search(
        self, node: ast.Call, inner: ast.GeneratorExp, stops_at: bool
    ) -> ast.AST:
        """`any` and `all` end at the first item that decides; a comparison is made of the whole tensor at once."""
        whole = self._whole(inner)
        if whole is not None:
            reduction = f"{self.tf}.reduce_{'any' if stops_at else 'all'}"
            self.changed = True
            return placed(called("bool", called(reduction, whole)), node)
        name = self._name(node, "found") if stops_at else self.names.fresh("fails")
        test = inner.elt if stops_at else negated(inner.elt)
        decide = ast.If(test, [assigned(name, ast.Constant(True)), ast.Break()], [])
        self.before.append(assigned(name, ast.Constant(False)))
        leave = ast.If(ast.Name(name, ast.Load()), [ast.Break()], [])
        self.before.append(_loops(inner.generators, [decide], [leave]))
        made = self._made(name, node)
        return made if stops_at else placed(negated(made), node)

    def _first(
        self, node: ast.Call, inner: ast.GeneratorExp, default: ast.expr
    ) -> ast.AST:
        name = self._name(node, "first")
        self.before.append(assigned(name, default))
        found: list[ast.stmt] = [assigned(name, inner.elt), ast.Break()]
        self.before.append(_loops(inner.generators, found))
        return self._made(name, node)

    def _whole(self, inner: ast.GeneratorExp) -> ast.expr | None:
        """What a generator says of the numbers of a tensor, of all at once; None where that may be something else."""
        (generator, *more), test = inner.generators, inner.elt
        source, target = generator.iter, generator.target
        kind = self.facts.kind(source)
        one_by_one = not (more or generator.ifs) and isinstance(target, ast.Name)
        if not one_by_one or not is_strong(kind) or not is_atom(source):
            return None
        if len(getattr(kind, "shape", None) or ()) != 1 or not _compares(test, target):
            return None
        assert isinstance(target, ast.Name)
        return filled(test, {target.id: source})

    def _total(
        self, node: ast.Call, inner: ast.GeneratorExp, start: list[ast.expr]
    ) -> ast.AST:
        name = self._name(node, "total")
        self.before.append(assigned(name, *(start or [ast.Constant(0)])))
        added = ast.BinOp(ast.Name(name, ast.Load()), ast.Add(), inner.elt)
        self.before.append(_loops(inner.generators, [assigned(name, added)]))
        return self._made(name, node)

    def _made(self, name: str, old: ast.expr) -> ast.Name:
        return placed(ast.Name(name, ast.Load()), old)


def _compares(test: ast.expr, item: ast.expr) -> bool:
    """Whether a test compares an item with numbers, as no dtype makes raise."""
    match test:
        case ast.Compare(
            left=left,
            ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE() | ast.Eq() | ast.NotEq()],
            comparators=[right],
        ):
            sides = (left, right)
            same = [
                isinstance(s, ast.Name) and s.id == getattr(item, "id", "")
                for s in sides
            ]
            return sum(same) == 1 and any(map(_is_number, sides))
    return False


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _loops(
    generators: list[ast.comprehension],
    body: list[ast.stmt],
    after: Iterable[ast.stmt] = (),
) -> ast.stmt:
    """The loops of a comprehension; `after` follows each but the outermost."""
    *outer, innermost = generators
    made = _loop(innermost, body)
    for generator in reversed(outer):
        made = _loop(generator, [made, *after])
    return made


def _loop(generator: ast.comprehension, body: list[ast.stmt]) -> ast.stmt:
    for condition in reversed(generator.ifs):
        body = [ast.If(condition, body, [])]
    return ast.For(generator.target, generator.iter, body, [])


def _append(name: str, value: ast.expr) -> ast.stmt:
    return ast.Expr(
        ast.Call(
            ast.Attribute(ast.Name(name, ast.Load()), "append", ast.Load()), [value], []
        )
    )
