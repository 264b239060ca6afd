"""Rewrites what reads Python lists that live in the graph: the expressions of a statement, and what it returns."""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Mapping

from .facts.environment import FunctionFacts
from .facts.kinds import Module, Tensor
from .facts.staging import INTS
from .findings import Refusal, Unseen
from .list_forms import List, listed
from .making import Node, called, compared, expression, negated
from .source import made_text

NUMBERS = frozenset({"int", "float", "bool"})
REDUCED = frozenset({"mean", "sum", "prod", "std", "var", "any", "all"})
"""Functions of NumPy that give the same of no items, whatever their dtype."""
ARRAYS = frozenset({"array", "asarray", "stack", "max", "min"})
MAKERS = frozenset({"stack", "convert_to_tensor", "constant"})
ITERATING = frozenset(
    [
        "zip",
        "enumerate",
        "reversed",
        "sum",
        "min",
        "max",
        "any",
        "all",
        "sorted",
        "list",
    ]
)
FOUND = INTS | {"bool", "string"}
"""Dtypes of which a value is found in a list by what it is equal to."""
SIDE_BY_SIDE = frozenset({"zip", "enumerate", "reversed"})


class ListReads:
    """Rewrites the reads of lists in one function.

    Attributes:
        never_empty: the statements in which the lists that they read hold something.
        empty: others may find a list with nothing in it, as was seen.
        statement: the one that is rewritten.
    """

    def __init__(
        self,
        facts: FunctionFacts,
        tf: str,
        lists: Mapping[str, List],
        never_empty: Collection[ast.stmt],
        empty: bool,
    ) -> None:
        self.facts = facts
        self.tf = tf
        self.lists = lists
        self.never_empty = never_empty
        self.empty = empty
        self.statement: ast.stmt | None = None
        modules = {Module("numpy")}
        self.np = {
            n.id
            for n, k in facts.kinds.items()
            if isinstance(n, ast.Name) and k in modules
        }

    def mentions(self, node: ast.AST) -> bool:
        return any(
            isinstance(n, ast.Name) and n.id in self.lists for n in ast.walk(node)
        )

    def stacked(self, made: List) -> str:
        """The text of the tensor that TensorFlow makes of a list."""
        shape = made.element.shape
        known = shape is not None and None not in shape
        if known or not self.empty or self.statement in self.never_empty:
            return made.stacked
        if made.element.dtype != "float32":
            reason = f"`{made.name}` may be empty, and gives another dtype then"
            raise Unseen(reason, self.statement, "GL203")
        return f"{made.stacked} if {made.size} > 0 else {self.tf}.zeros([0])"

    def used(self, node: ast.expr) -> ast.expr:
        """An expression with its reads of lists."""
        if not self.mentions(node):
            return node
        made: ast.expr = _Uses(self).visit(self._copied(node))
        return made

    def _copied(self, node: Node) -> Node:
        """A copy that may be changed; expressions of which only the truth matters are marked."""
        copies: dict[int, ast.AST] = {}
        made = copy.deepcopy(node, copies)
        for test in self.facts.tests:
            if id(test) in copies:
                copies[id(test)].is_test = True  # type: ignore[attr-defined]
        return made

    def header(self, node: ast.expr) -> ast.expr:
        """A loop over a list goes over the tensor of its items."""
        if isinstance(node, ast.Name) and node in self.facts.tests:
            return self.used(node)
        if isinstance(node, ast.Name) and node.id in self.lists:
            return expression(self.whole(self.lists[node.id]))
        if isinstance(node, ast.Subscript):
            return _Uses(self).iterated(self._copied(node))
        if isinstance(node, ast.Call) and self.mentions(node):
            made: ast.expr = _Uses(self, header=True).visit(self._copied(node))
            return made
        return self.used(node)

    def text(self, node: ast.expr) -> str:
        return made_text(self.used(node))

    def gives(self, node: ast.expr | None) -> bool:
        """Whether a list, or a part of one, is returned, or is part of what is."""
        match node:
            case (
                ast.Name(id=name)
                | ast.Subscript(value=ast.Name(id=name), slice=ast.Slice())
            ):
                return name in self.lists
            case ast.Tuple(elts=parts) | ast.Dict(values=parts):
                return any(map(self.gives, parts))
            case ast.Call(func=ast.Name(id="list"), args=[ast.Name() as given]):
                return self.gives(given)
        return False

    def returned(self, node: ast.expr) -> ast.expr:
        """A returned list, or part of one, is a list of Python."""
        match node:
            case (
                ast.Name(id=name)
                | ast.Subscript(value=ast.Name(id=name), slice=ast.Slice())
            ) if name in self.lists:
                made = self.lists[name]
                if made.holds_lists and isinstance(node, ast.Name):
                    whole = called("list", expression(self.whole(made)))
                    whole.list_items = Tensor(made.element.dtype, ())  # type: ignore[attr-defined]
                    whole.list_levels = 2  # type: ignore[attr-defined]
                    return whole
                if made.nested:
                    raise Refusal(
                        f"the lists or tuples in `{name}` are given back", node, "GL203"
                    )
                items = expression(self.whole(made))
                if isinstance(node, ast.Subscript):
                    items = self.part(made, node)
                return listed(items, made.element)
            case ast.Call(func=ast.Name(id="list"), args=[ast.Name() as given]) if (
                self.gives(given)
            ):
                return self.returned(given)
            case ast.Tuple(elts=elts):
                return ast.Tuple([self.returned(e) for e in elts], ast.Load())
            case ast.Dict(values=values):
                return ast.Dict(node.keys, [self.returned(v) for v in values])
        return self.used(node)

    def is_array(self, function: ast.expr, made: List) -> bool:
        """Whether this is a function of NumPy to which a list is an array of its items."""
        match function:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if (
                module in self.np
            ):
                filled = self.statement in self.never_empty
                own = filled or made.element.dtype == "float64"
                return name in REDUCED or (name in ARRAYS and own)
        return False

    def is_tensorflow(self, function: ast.expr) -> str | None:
        """The name of a function of TensorFlow."""
        text = ast.unparse(function)
        start = f"{self.tf}."
        return text.removeprefix(start) if text.startswith(start) else None

    def in_statement(self, node: ast.stmt) -> ast.stmt:
        """A statement with its reads of lists; what a `return` gives is Python's."""
        uses = _Uses(self, left=isinstance(node, ast.Return))
        made: ast.stmt = uses.visit(self._copied(node))
        return made

    def with_call(self, node: ast.stmt, call: ast.Call, new: ast.expr) -> ast.stmt:
        """A statement with its reads of lists, and an expression in the place of a call."""
        made: ast.stmt = _Replaced(call, new, self).visit(self._copied(node))
        return made

    def whole(self, made: List) -> str:
        """The text of the tensor of all items.

        Raises:
            Refusal: they may differ in shape, or there may be none and then nothing tells their shape.
        """
        shape = made.element.shape
        if made.lengths is None and (shape is None or None in shape):
            reason = f"the items of `{made.name}` may differ in shape"
            raise Unseen(reason, self.facts.definition.original, "GL203")
        return made.whole

    def part(self, made: List, node: ast.Subscript) -> ast.expr:
        """An item, or some items."""
        if isinstance(node.slice, ast.Slice):
            return expression(f"{made.name}[{self.text(node.slice)}]")
        return made.item(self.text(node.slice))


def refusal(name: str, node: ast.AST) -> Refusal:
    return Refusal(
        f"`{name}` is used in a way that a TensorArray does not serve",
        node,
        "GL203",
    )


def _holds_bools(made: List) -> bool:
    return (made.element.dtype, made.element.shape, made.nested) == ("bool", (), False)


class _Uses(ast.NodeTransformer):
    """Reads of lists, as reads of what they become."""

    def __init__(
        self, reads: ListReads, left: bool = False, header: bool = False
    ) -> None:
        """`left`: the statement is left to Python; `header`: it is what a loop goes over."""
        self.reads = reads
        self.left = left
        self.header = header

    def _made(self, node: ast.expr, old: ast.expr) -> ast.expr:
        ast.copy_location(node, old)
        node.made = True  # type: ignore[attr-defined]
        return node

    def _list(self, node: ast.expr) -> List | None:
        """The list that an expression is, or is a copy of."""
        match node:
            case (
                ast.Name(id=text)
                | ast.Call(func=ast.Name(id="list"), args=[ast.Name(id=text)])
            ):
                return self.reads.lists.get(text)
        return None

    def _tensor(self, node: ast.expr) -> ast.expr | None:
        """The tensor of a list, or of a part of one, as TensorFlow makes one."""
        made = self._list(node)
        if made is not None:
            return expression(self.reads.stacked(made))
        part = self._part_of(node)
        return self.reads.part(*part) if part and not part[0].element.weak else None

    def _part_of(self, node: ast.expr) -> tuple[List, ast.Subscript] | None:
        """The list that an expression is a part of."""
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Slice()) if (
                name in self.reads.lists
            ):
                return self.reads.lists[name], node
        return None

    def visit_Call(self, node: ast.Call) -> ast.AST:
        function = self.reads.is_tensorflow(node.func)
        builtin = node.func.id if isinstance(node.func, ast.Name) else None
        first = node.args[0] if node.args else None
        tensor = self._tensor(first) if first is not None else None
        if builtin in ("any", "all") and first is not None:
            asked = self._list(first)
            if asked is not None and _holds_bools(asked):
                whole = self.reads.whole(asked)
                text = f"bool({self.reads.tf}.reduce_{builtin}({whole}))"
                return self._made(expression(text), node)
        if builtin in ITERATING:
            self.header = self.header and builtin in SIDE_BY_SIDE
            node.args = [self.iterated(a) for a in node.args]
            for keyword in node.keywords:
                keyword.value = self.visit(keyword.value)
            return node
        match node:
            case ast.Call(func=ast.Attribute(value=held, attr="index"), args=[item]):
                owner = self._list(held)
                if owner is not None and owner.element.dtype in FOUND:
                    place = self._same(node, owner, self.visit(item))
                    text = f"int({self.reads.tf}.where({ast.unparse(place)})[0, 0])"
                    return self._made(expression(text), node)
        if first is None or tensor is None:
            return self.generic_visit(node)
        made = self._list(first)
        if made is not None and self.reads.is_array(node.func, made):
            array = expression(f"{self.reads.whole(made)}.numpy()")
            node.args = [self._made(array, first), *node.args[1:]]
            return node
        if builtin == "len" and made is not None:
            return (
                node if made.rows else self._made(expression(f"int({made.size})"), node)
            )
        if builtin == "len":
            node.args = [self._made(tensor, first)]
            return node
        if function in MAKERS and len(node.args) == 1 and not node.keywords:
            return self._made(tensor, node)
        if function == "ragged.stack" and made is not None and made.lengths:
            return self._made(expression(made.ragged), node)
        if function in ("stack", "concat"):
            return self._joined(node, function, tensor, made)
        if function == "add_n" and made is not None and not made.element.weak:
            text = f"{self.reads.tf}.reduce_sum({self.reads.whole(made)}, axis=0)"
            return self._made(expression(text), node)
        if function is not None and function.startswith("reduce_"):
            node.args = [self._made(tensor, first), *node.args[1:]]
            return node
        return self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        made = self._list(node.operand) if isinstance(node.op, ast.Not) else None
        if made is None or made.rows:
            return self.generic_visit(node)
        return self._made(expression(f"bool({made.name}.size() == 0)"), node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """A length that is only compared with a small number is left as TensorFlow counts it."""
        match node:
            case ast.Compare(
                left=ast.Call(
                    func=ast.Name(id="len"), args=[ast.Name(id=name) as held]
                ),
                comparators=[ast.Constant(value=int() as number)],
            ) if hasattr(node, "is_test") and abs(number) < 2**31:
                made = self._list(held)
                if made is not None and not made.rows:
                    node.left = self._made(expression(f"{name}.size()"), node.left)
                    return node
            case ast.Compare(
                left=item, ops=[ast.In() | ast.NotIn() as op], comparators=[held]
            ):
                made = self._list(held)
                if made is not None and made.element.dtype in FOUND:
                    return self._found(node, made, self.visit(item), op)
        return self.generic_visit(node)

    def _found(
        self, node: ast.Compare, made: List, item: ast.expr, op: ast.cmpop
    ) -> ast.expr:
        """Whether an item is in a list of scalars, or is not."""
        same = self._same(node, made, item)
        found = called("bool", called(f"{self.reads.tf}.reduce_any", same))
        return self._made(negated(found) if isinstance(op, ast.NotIn) else found, node)

    def _same(self, node: ast.expr, made: List, item: ast.expr) -> ast.expr:
        """Which items of a list of scalars are like this one."""
        if made.element.shape != ():
            raise refusal(made.name, node)
        return compared(expression(self.reads.whole(made)), ast.Eq(), item)

    def iterated(self, node: ast.expr) -> ast.expr:
        """What goes over a list goes over the tensor of its items."""
        made = self._list(node)
        if made is not None and made.element.weak in NUMBERS and self.left:
            text = f"{self.reads.whole(made)}.numpy().tolist()"
            return self._made(expression(text), node)
        if made is not None and (self.header or not made.element.weak):
            return self._made(expression(self.reads.whole(made)), node)
        part = self._part_of(node)
        if part is not None and (self.header or not part[0].element.weak):
            return self._made(self.reads.part(*part), node)
        visited: ast.expr = self.visit(node)
        return visited

    def _joined(
        self, node: ast.Call, function: str, tensor: ast.expr, made: List | None
    ) -> ast.AST:
        """`tf.stack` or `tf.concat` of a list along an axis."""
        axis = _axis(node)
        shape = made.element.shape if made else None
        if function == "concat" and axis == 0 and made is not None and not made.rows:
            return self._made(called(f"{made.name}.concat"), node)
        if made is None or shape is None or axis is None or made.element.weak:
            return self.generic_visit(node)
        rank = len(shape) + (function == "stack")
        axis = axis + rank if axis < 0 else axis
        order = [*range(1, axis + 1), 0, *range(axis + 1, len(shape) + 1)]
        text = ast.unparse(tensor)
        if order != sorted(order):
            text = f"{self.reads.tf}.transpose({text}, {order})"
        if function == "concat":
            if shape[axis] is None and not made.rows:
                raise Unseen(
                    "what is joined side by side may be of several sizes", node, "GL203"
                )
            dims = [*shape[:axis], -1, *shape[axis + 1 :]]
            if None in dims:
                raise Unseen("the sizes of what is joined are not known", node, "GL203")
            text = f"{self.reads.tf}.reshape({text}, {dims})"
        return self._made(expression(text), node)

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        node.iter = self.iterated(node.iter)
        node.ifs = [self.visit(test) for test in node.ifs]
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        made = self._list(node.value)
        if made is None or not isinstance(node.ctx, ast.Load):
            return self.generic_visit(node)
        if isinstance(node.slice, ast.Slice):
            raise refusal(made.name, node)
        return self._made(self.reads.part(made, node), node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        made = self._list(node)
        if made is None or not isinstance(node.ctx, ast.Load):
            return node
        if hasattr(node, "is_test"):
            return self._made(expression(f"{made.size} > 0"), node)
        if made.rows:
            raise refusal(made.name, node)
        return node


class _Replaced(_Uses):
    """One call replaced, the rest as `_Uses` has it."""

    def __init__(self, call: ast.Call, instead: ast.expr, reads: ListReads) -> None:
        super().__init__(reads)
        self.text = ast.dump(call)
        self.instead = instead

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if ast.dump(node) == self.text:
            return self._made(self.instead, node)
        return super().visit_Call(node)


def _axis(node: ast.Call) -> int | None:
    given = [k.value for k in node.keywords if k.arg == "axis"] + node.args[1:2]
    if not given:
        return 0
    match given[0]:
        case ast.Constant(value=int() as axis):
            return axis
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as axis)):
            return -axis
    return None
