"""Rewrites a function's uses of a Python list that lives in the graph, as a TensorArray or as a tensor of its items."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from collections.abc import Sequence as Sequenced
from dataclasses import dataclass

from . import nonempty
from .facts.environment import FunctionFacts
from .facts.kinds import NUMPY, Elements, Module, Rows, Sequence, Tensor
from .facts.profile import FunctionNode
from .facts.signs import is_never_negative
from .facts.staging import is_strong, stage
from .facts.syntax import blocks
from .findings import Refusal
from .making import Node, assigned, called, expression, name, unplaced
from .rebuilding import each_made, rebuilt, with_origin
from .source import Names

POPPED = "pop from empty list"
DELETED = "list assignment index out of range"
DEFAULTS = {"int": "int32", "float": "float32", "bool": "bool", "str": "string"}
NUMBERS = frozenset({"int", "float", "bool"})
REDUCED = frozenset({"mean", "sum", "prod", "std", "var", "any", "all"})
"""Functions of NumPy that give the same of no items, whatever their dtype."""
ARRAYS = frozenset({"array", "asarray", "stack", "max", "min"})
MAKERS = frozenset({"stack", "convert_to_tensor", "constant"})
JOINING = frozenset({"concat", "ragged.stack"})
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
SIDE_BY_SIDE = frozenset({"zip", "enumerate", "reversed"})


@dataclass(frozen=True)
class List:
    """A local list that is held in the graph.

    Attributes:
        rows: it becomes one tensor, else a TensorArray.
        nested: it is one of lists or tuples.
        lengths: the name of the TensorArray of the lengths of its items, where it is to be read as a ragged tensor.
    """

    name: str
    element: Tensor
    rows: bool
    nested: bool
    lengths: str | None = None


class Lists:
    """Rewrites the uses of lists; what stays unwritten is found by `check`."""

    def __init__(
        self, facts: FunctionFacts, names: Names, tf: str, lists: dict[str, List]
    ) -> None:
        self.facts = facts
        self.names = names
        self.tf = tf
        self.lists = lists
        self.never_empty = nonempty.uses(facts.definition.node.body, lists)
        self.statement: ast.stmt | None = None
        modules = {Module("numpy")}
        self.np = {
            n.id
            for n, k in facts.kinds.items()
            if isinstance(n, ast.Name) and k in modules
        }

    # ---- statements

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return each_made(body, lambda n: [*self._checks(n), *self._statement(n)])

    def _checks(self, node: ast.stmt) -> list[ast.stmt]:
        """What raises where a list that TensorFlow joins is empty, as joining no tensors does, if it may be."""
        if blocks(node) or node in self.never_empty:
            return []
        joined = dict.fromkeys(
            call.args[0].id
            for call in ast.walk(node)
            if isinstance(call, ast.Call)
            and self.is_tensorflow(call.func) in JOINING
            and call.args
            and isinstance(call.args[0], ast.Name)
            and call.args[0].id in self.lists
        )
        check = f"{self.tf}.debugging.assert_positive"
        sizes = [expression(self._size(self.lists[name])) for name in joined]
        return [ast.Expr(called(check, size)) for size in sizes]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        if not self._mentions(node):
            return [node]
        self.statement = node
        made = self._change(node)
        if made is not None:
            return made
        if blocks(node):
            self._check_order(node)
            inner = with_origin(copy.copy(rebuilt(node, self.block)), node)
            for name in ("test", "iter"):
                if hasattr(node, name):
                    setattr(inner, name, self._header(getattr(node, name)))
            return [self._with_python_items(node, inner)]
        popped = self._popped(node)
        if popped is not None:
            return popped
        if isinstance(node, ast.Return) and self._gives(node.value):
            assert node.value is not None
            return [ast.Return(self._returned(node.value))]
        left = isinstance(node, ast.Return)
        return [_Uses(self, left).visit(self._copied(node))]

    def _check_order(self, node: ast.stmt) -> None:
        """Refuse a loop over a list that its body changes: Python goes over the new items, too.

        Raises:
            Refusal: with the place.
        """
        if not isinstance(node, ast.For) or not self._mentions(node.iter):
            return
        for inner in (n for statement in node.body for n in ast.walk(statement)):
            match inner:
                case (
                    ast.Attribute(value=ast.Name(id=name), attr=_)
                    | ast.Subscript(value=ast.Name(id=name), ctx=ast.Store())
                    | ast.AugAssign(target=ast.Name(id=name))
                ) if name in self.lists and any(
                    isinstance(n, ast.Name) and n.id == name
                    for n in ast.walk(node.iter)
                ):
                    raise self.refusal(name, node)

    def _mentions(self, node: ast.AST) -> bool:
        return any(
            isinstance(n, ast.Name) and n.id in self.lists for n in ast.walk(node)
        )

    def _change(self, node: ast.stmt) -> list[ast.stmt] | None:
        """What makes or changes a list."""
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if (
                name in self.lists
            ):
                return self._made(self.lists[name], value)
            case ast.AugAssign(target=ast.Name(id=name), value=value) if (
                name in self.lists
            ):
                return self._extended(self.lists[name], value)
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name(id=name), attr=method), args=args
                )
            ) if name in self.lists:
                return self._called(self.lists[name], node, method, args)
            case ast.Assign(
                targets=[ast.Subscript(value=ast.Name(id=name), slice=index)],
                value=value,
            ) if name in self.lists:
                return self._with_item(self.lists[name], index, self._used(value))
            case ast.AugAssign(
                target=ast.Subscript(value=ast.Name(id=name), slice=index)
            ) if name in self.lists:
                read = self._read(self.lists[name], self._text(index))
                new = ast.BinOp(read, node.op, self._used(node.value))
                return self._with_item(self.lists[name], index, new)
            case ast.Delete(
                targets=[ast.Subscript(value=ast.Name(id=name), slice=index)]
            ) if name in self.lists:
                made = self.lists[name]
                return [*self._check(made, node, DELETED), self._without(made, index)]
        return None

    def _made(self, made: List, value: ast.expr) -> list[ast.stmt]:
        elts = value.elts if isinstance(value, ast.List) else None
        if made.rows:
            return [assigned(made.name, self._tensor_of(made, value))]
        arrays = [assigned(made.name, self._array(made))]
        if made.lengths is not None:
            lengths = expression(self._new_array("int32", []))
            arrays.append(assigned(made.lengths, lengths))
        return [*arrays, *(s for e in elts or () for s in self._append(made, e))]

    def _called(
        self, made: List, node: ast.stmt, method: str, args: list[ast.expr]
    ) -> list[ast.stmt] | None:
        name = made.name
        match method, args:
            case "append", [value]:
                return self._append(made, value)
            case "extend", [value]:
                return self._extended(made, value)
            case "insert", [ast.Constant(value=int() as place), value] if place >= 0:
                parts = [f"{name}[:{place}]"] if place else []
                rest = f"{name}[{place}:]" if place else name
                return [
                    self._concatenated(made, [*parts, self._row(made, value), rest])
                ]
            case "pop", _ if len(args) < 2:
                index = args[0] if args else ast.Constant(-1)
                return [*self._check(made, node, POPPED), self._without(made, index)]
            case "reverse", []:
                return [assigned(name, expression(f"{name}[::-1]"))]
            case "clear", []:
                return [assigned(name, self._tensor_of(made, ast.List([], ast.Load())))]
        return None

    def _append(self, made: List, value: ast.expr) -> list[ast.stmt]:
        if made.rows:
            return [self._concatenated(made, [made.name, self._row(made, value)])]
        item = self._item(made, value)
        if made.lengths is None:
            return [_written(made.name, item)]
        row = item.id if isinstance(item, ast.Name) else self.names.fresh("row")
        named = [] if isinstance(item, ast.Name) else [assigned(row, item)]
        length = called(f"{self.tf}.size", name(row))
        return [*named, _written(made.name, name(row)), _written(made.lengths, length)]

    def _extended(self, made: List, value: ast.expr) -> list[ast.stmt]:
        if isinstance(value, ast.List | ast.Tuple):
            return [s for e in value.elts for s in self._append(made, e)]
        return [self._concatenated(made, [made.name, self._tensor_of(made, value)])]

    def _concatenated(self, made: List, parts: list[str | ast.expr]) -> ast.stmt:
        nodes = [expression(p) if isinstance(p, str) else p for p in parts]
        call = called(f"{self.tf}.concat", ast.List(nodes, ast.Load()), ast.Constant(0))
        return assigned(made.name, call)

    def _with_item(
        self, made: List, index: ast.expr, value: ast.expr
    ) -> list[ast.stmt]:
        place: ast.expr = self._used(index)
        before: list[ast.stmt] = []
        match index:
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as n)):
                place = expression(f"{self._size(made)} - {n}")
            case _ if not is_never_negative(index, self.facts):
                before, place = self._from_the_start(made, place)
        row = ast.List([self._converted(made, value, value)], ast.Load())
        where = ast.List([ast.List([place], ast.Load())], ast.Load())
        held = self._constant(made, row)
        update = f"{self.tf}.tensor_scatter_nd_update"
        changed = called(update, ast.Name(made.name, ast.Load()), where, held)
        return [*before, assigned(made.name, changed)]

    def _from_the_start(
        self, made: List, place: ast.expr
    ) -> tuple[list[ast.stmt], ast.expr]:
        """The statements that make an index count from the start, as Python's may not, and its name."""
        index = self.names.fresh("index")
        before: list[ast.stmt] = []
        if not isinstance(place, ast.Name):
            before, place = [assigned(index, place)], name(index)
        counted = f"{place.id} if {place.id} >= 0 else {place.id} + len({made.name})"
        return [*before, assigned(index, expression(counted))], name(index)

    def _without(self, made: List, index: ast.expr) -> ast.stmt:
        rest = {"0": f"{made.name}[1:]", "-1": f"{made.name}[:-1]"}
        text = rest.get(ast.unparse(index))
        if text is None:
            raise Refusal("only the first or last item can be taken", index, "GL203")
        return assigned(made.name, expression(text))

    def _popped(self, node: ast.stmt) -> list[ast.stmt] | None:
        """A statement that takes an item out of a list, as one that reads it and one that leaves it out."""
        found = [n for n in ast.walk(node) if self._is_pop(n)]
        if not found:
            return None
        (call, *more) = found
        assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        assert isinstance(call.func.value, ast.Name)
        made = self.lists[call.func.value.id]
        uses = [
            n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == made.name
        ]
        if more or len(uses) > 1 or len(call.args) > 1:
            raise Refusal("a list is used twice where it shrinks", node, "GL203")
        index = call.args[0] if call.args else ast.Constant(-1)
        read = self._read(made, ast.unparse(index))
        rewritten: ast.stmt = _Replaced(call, read, self).visit(self._copied(node))
        check = self._check(made, node, POPPED)
        return [*check, rewritten, self._without(made, index)]

    def _check(self, made: List, node: ast.stmt, message: str) -> list[ast.stmt]:
        """What raises where a list that an item is taken out of is empty, if it may be."""
        if node in self.never_empty:
            return []
        error = called("IndexError", ast.Constant(message))
        empty = expression(f"{self._size(made)} == 0")
        return [ast.If(empty, [ast.Raise(error)], [])]

    def _is_pop(self, node: ast.AST) -> bool:
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="pop")):
                return name in self.lists
        return False

    def _with_python_items(self, node: ast.stmt, made: ast.stmt) -> ast.stmt:
        """A loop over lists of Python numbers goes over numbers."""
        if not (isinstance(node, ast.For) and isinstance(made, ast.For)):
            return made
        numbers: list[ast.stmt] = []
        for target, source in side_by_side(node.target, node.iter):
            for use in (n.id for n in ast.walk(source) if isinstance(n, ast.Name)):
                weak = self.lists[use].element.weak if use in self.lists else None
                if weak and isinstance(target, ast.Name):
                    numbers.append(assigned(target.id, called(weak, name(target.id))))
                elif weak:
                    raise self.refusal(use, node)
        if numbers:
            made.target = unplaced(copy.deepcopy(node.target))
            made.body = [*numbers, *made.body]
        return made

    # ---- expressions

    def _used(self, node: ast.expr) -> ast.expr:
        if not self._mentions(node):
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

    def _header(self, node: ast.expr) -> ast.expr:
        """A loop over a list goes over the tensor of its items."""
        if isinstance(node, ast.Name) and node in self.facts.tests:
            return self._used(node)
        if isinstance(node, ast.Name) and node.id in self.lists:
            return expression(self.whole(self.lists[node.id]))
        if isinstance(node, ast.Subscript):
            return _Uses(self).iterated(self._copied(node))
        if isinstance(node, ast.Call) and self._mentions(node):
            made: ast.expr = _Uses(self, header=True).visit(self._copied(node))
            return made
        return self._used(node)

    def _text(self, node: ast.expr) -> str:
        return ast.unparse(ast.fix_missing_locations(copy.deepcopy(self._used(node))))

    def _gives(self, node: ast.expr | None) -> bool:
        """Whether a list, or a part of one, is returned, or is part of what is."""
        match node:
            case (
                ast.Name(id=name)
                | ast.Subscript(value=ast.Name(id=name), slice=ast.Slice())
            ):
                return name in self.lists
            case ast.Tuple(elts=parts) | ast.Dict(values=parts):
                return any(map(self._gives, parts))
            case ast.Call(func=ast.Name(id="list"), args=[ast.Name() as given]):
                return self._gives(given)
        return False

    def _returned(self, node: ast.expr) -> ast.expr:
        """A returned list, or part of one, is a list of Python."""
        match node:
            case (
                ast.Name(id=name)
                | ast.Subscript(value=ast.Name(id=name), slice=ast.Slice())
            ) if name in self.lists:
                made = self.lists[name]
                if made.nested:
                    raise Refusal(
                        f"the lists or tuples in `{name}` are given back", node, "GL203"
                    )
                items = expression(self.whole(made))
                if isinstance(node, ast.Subscript):
                    items = self.read(made, node)
                whole = called("list", items)
                if made.element.weak:
                    whole.list_items = made.element  # type: ignore[attr-defined]
                return whole
            case ast.Call(func=ast.Name(id="list"), args=[ast.Name() as given]) if (
                self._gives(given)
            ):
                return self._returned(given)
            case ast.Tuple(elts=elts):
                return ast.Tuple([self._returned(e) for e in elts], ast.Load())
            case ast.Dict(values=values):
                return ast.Dict(node.keys, [self._returned(v) for v in values])
        return self._used(node)

    def ragged(self, made: List) -> str:
        """The text of the ragged tensor of all rows, of which there are some."""
        return self._ragged(made, f"{made.name}.concat()")

    def _ragged(self, made: List, values: str) -> str:
        return (
            f"{self.tf}.RaggedTensor.from_row_lengths({values}, {made.lengths}.stack())"
        )

    def whole(self, made: List) -> str:
        """The text of the tensor of all items.

        Raises:
            Refusal: they may differ in shape, or there may be none and then nothing tells their shape.
        """
        if made.lengths is not None:
            none = f"{self.tf}.zeros([0], {self.tf}.{made.element.dtype})"
            rows = f"{made.name}.concat() if {made.name}.size() > 0 else {none}"
            return self._ragged(made, rows)
        shape = made.element.shape
        if shape is None or None in shape:
            node = self.facts.definition.original
            raise Refusal(
                f"the items of `{made.name}` may differ in shape", node, "GL203"
            )
        return self._stack(made)

    def _stack(self, made: List) -> str:
        return made.name if made.rows else f"{made.name}.stack()"

    def stacked(self, made: List) -> str:
        """The list as TensorFlow makes one tensor of it: Python numbers become float32 and int32."""
        default = DEFAULTS.get(made.element.weak or "")
        whole = self._stack(made)
        return (
            whole
            if default is None
            else f"{self.tf}.cast({whole}, {self.tf}.{default})"
        )

    def size(self, made: List) -> ast.expr:
        """`len` of a list."""
        return expression(f"int({made.name}.size())")

    def _size(self, made: List) -> str:
        if made.rows:
            return f"{self.tf}.shape({made.name})[0]"
        return f"{made.name}.size()"

    def filled(self, made: List) -> ast.expr:
        """Whether a list holds anything."""
        return expression(f"{self._size(made)} > 0")

    def _read(self, made: List, index: str) -> ast.expr:
        if made.rows:
            text = f"{made.name}[{index}]"
        elif index.startswith("-"):
            text = f"{made.name}.read({made.name}.size() - {index[1:]})"
        else:
            text = f"{made.name}.read({index})"
        return expression(_python(made, text))

    def read(self, made: List, node: ast.Subscript) -> ast.expr:
        """An item, or some items."""
        if isinstance(node.slice, ast.Slice):
            return expression(f"{made.name}[{self._text(node.slice)}]")
        return self._read(made, self._text(node.slice))

    # ---- what goes into a list

    def _array(self, made: List) -> ast.expr:
        return expression(self._new_array(made.element.dtype, made.element.shape))

    def _new_array(self, dtype: str | None, shape: Sequenced[int | None] | None) -> str:
        dims = "None" if shape is None else str(list(shape))
        varies = shape is not None and None in shape
        return (
            f"{self.tf}.TensorArray({self.tf}.{dtype}, size=0, dynamic_size=True, clear_after_read=False, "
            f"{'infer_shape=False, ' if varies else ''}element_shape={dims})"
        )

    def _item(self, made: List, value: ast.expr) -> ast.expr:
        """A value as the list takes it: a list of tensors is stacked, a Python int in a list of floats is a float."""
        return self._converted(made, self._used(value), value)

    def _converted(self, made: List, node: ast.expr, value: ast.expr) -> ast.expr:
        kind = self.facts.kind(value)
        if isinstance(value, ast.Name) and value.id in self.lists:
            return expression(self.whole(self.lists[value.id]))
        if isinstance(kind, Sequence | Elements):
            return (
                node if isinstance(node, ast.Call) else called(f"{self.tf}.stack", node)
            )
        staged = stage(kind)
        weak = staged.weak if isinstance(staged, Tensor) else None
        if made.element.weak == "float" and weak == "int":
            return called("float", node)
        if made.element.weak is None and weak is not None:
            return called(f"{self.tf}.constant", node, self._dtype(made))
        return node

    def _dtype(self, made: List) -> ast.expr:
        return expression(f"{self.tf}.{made.element.dtype}")

    def _constant(self, made: List, row: ast.expr) -> ast.expr:
        """A list display as a tensor, where it may hold Python numbers."""
        if made.element.weak is None:
            return row
        return called(f"{self.tf}.constant", row, self._dtype(made))

    def _row(self, made: List, value: ast.expr) -> ast.expr:
        return self._constant(made, ast.List([self._item(made, value)], ast.Load()))

    def _tensor_of(self, made: List, value: ast.expr) -> ast.expr:
        """The tensor of a list's items.

        Raises:
            Refusal: what they are is not written out.
        """
        match value:
            case ast.List(elts=[]):
                dims = list(made.element.shape or ())
                return expression(
                    f"{self.tf}.zeros({[0, *dims]}, {self.tf}.{made.element.dtype})"
                )
            case ast.List(elts=elts):
                row = ast.List([self._item(made, e) for e in elts], ast.Load())
                if made.element.weak:
                    return self._constant(made, row)
                return called(f"{self.tf}.stack", row)
            case ast.BinOp(left=ast.List(elts=[one]), op=ast.Mult(), right=times):
                row = ast.List([self._item(made, one)], ast.Load())
                held = self._constant(made, row)
                count = self._used(times)
                return called(f"{self.tf}.repeat", held, count, ast.Constant(0))
            case ast.Name(id=name) if name in self.lists:
                return expression(self.whole(self.lists[name]))
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Slice()) if (
                name in self.lists
            ):
                return self.read(self.lists[name], value)
        kind = self.facts.kind(value)
        match value:
            case ast.Call(func=ast.Name(id="list"), args=[rows]) if (
                isinstance(kind, Rows) and not kind.ragged
            ):
                return self._used(rows)
        if isinstance(kind, Tensor) and is_strong(kind):
            return self._used(value)
        known = isinstance(kind, Sequence) and bool(kind.items)
        if (known or isinstance(value, ast.ListComp)) and not made.element.weak:
            return called(f"{self.tf}.stack", self._used(value))
        raise Refusal(f"what `{made.name}` holds here is not known", value, "GL203")

    # ---- what is left

    def check(self, node: FunctionNode, name: str) -> None:
        """Refuse a list that is used otherwise than the graph serves.

        Raises:
            Refusal: with the place.
        """
        if self.lists[name].rows:
            return
        methods = ["write", "size", "stack", "concat", "read"]
        allowed: set[int] = set()
        for inner in ast.walk(node):
            match inner:
                case ast.Attribute(value=ast.Name(id=n) as use, attr=attr) if (
                    n == name and attr in methods
                ):
                    allowed.add(id(use))
                case ast.Assign(targets=[ast.Name(id=n) as use]) if n == name:
                    allowed.add(id(use))
        for inner in ast.walk(node):
            if (
                isinstance(inner, ast.Name)
                and inner.id == name
                and id(inner) not in allowed
            ):
                raise self.refusal(name, inner)

    def refusal(self, name: str, node: ast.AST) -> Refusal:
        return Refusal(
            f"`{name}` is used in a way that a TensorArray does not serve",
            node,
            "GL203",
        )

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


class _Uses(ast.NodeTransformer):
    """Reads of lists, as reads of what they become."""

    def __init__(self, lists: Lists, left: bool = False, header: bool = False) -> None:
        """`left`: the statement is left to Python; `header`: it is what a loop goes over."""
        self.lists = lists
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
                return self.lists.lists.get(text)
        return None

    def _tensor(self, node: ast.expr) -> ast.expr | None:
        """The tensor of a list, or of a part of one, as TensorFlow makes one."""
        made = self._list(node)
        if made is not None:
            return expression(self.lists.stacked(made))
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Slice()) if (
                name in self.lists.lists and not self.lists.lists[name].element.weak
            ):
                return self.lists.read(self.lists.lists[name], node)
        return None

    def visit_Call(self, node: ast.Call) -> ast.AST:
        function = self.lists.is_tensorflow(node.func)
        builtin = node.func.id if isinstance(node.func, ast.Name) else None
        first = node.args[0] if node.args else None
        tensor = self._tensor(first) if first is not None else None
        if builtin in ITERATING:
            self.header = self.header and builtin in SIDE_BY_SIDE
            node.args = [self.iterated(a) for a in node.args]
            for keyword in node.keywords:
                keyword.value = self.visit(keyword.value)
            return node
        if first is None or tensor is None:
            return self.generic_visit(node)
        made = self._list(first)
        if made is not None and self.lists.is_array(node.func, made):
            array = expression(f"{self.lists.whole(made)}.numpy()")
            node.args = [self._made(array, first), *node.args[1:]]
            return node
        if builtin == "len" and made is not None:
            return node if made.rows else self._made(self.lists.size(made), node)
        if builtin == "len":
            node.args = [self._made(tensor, first)]
            return node
        if function in MAKERS and len(node.args) == 1 and not node.keywords:
            return self._made(tensor, node)
        if function == "ragged.stack" and made is not None and made.lengths:
            return self._made(expression(self.lists.ragged(made)), node)
        if function in ("stack", "concat"):
            return self._joined(node, function, tensor, made)
        if function == "add_n" and made is not None and not made.element.weak:
            text = f"{self.lists.tf}.reduce_sum({self.lists.whole(made)}, axis=0)"
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
        return self.generic_visit(node)

    def iterated(self, node: ast.expr) -> ast.expr:
        """What goes over a list goes over the tensor of its items."""
        made = self._list(node)
        if made is not None and made.element.weak in NUMBERS and self.left:
            text = f"{self.lists.whole(made)}.numpy().tolist()"
            return self._made(expression(text), node)
        if made is not None and (self.header or not made.element.weak):
            return self._made(expression(self.lists.whole(made)), node)
        part = self._tensor(node) if made is None else None
        if part is not None:
            return self._made(part, node)
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
            text = f"{self.lists.tf}.transpose({text}, {order})"
        if function == "concat":
            if shape[axis] is None and not made.rows:
                raise Refusal(
                    "what is joined side by side may be of several sizes", node, "GL203"
                )
            dims = [*shape[:axis], -1, *shape[axis + 1 :]]
            if None in dims:
                raise Refusal(
                    "the sizes of what is joined are not known", node, "GL203"
                )
            text = f"{self.lists.tf}.reshape({text}, {dims})"
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
            raise self.lists.refusal(made.name, node)
        return self._made(self.lists.read(made, node), node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        made = self._list(node)
        if made is None or not isinstance(node.ctx, ast.Load):
            return node
        if hasattr(node, "is_test"):
            return self._made(self.lists.filled(made), node)
        if made.rows:
            raise self.lists.refusal(made.name, node)
        return node


class _Replaced(_Uses):
    """One call replaced, the rest as `_Uses` has it."""

    def __init__(self, call: ast.Call, instead: ast.expr, lists: Lists) -> None:
        super().__init__(lists)
        self.text = ast.dump(call)
        self.instead = instead

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if ast.dump(node) == self.text:
            return self._made(self.instead, node)
        return super().visit_Call(node)


def _python(made: List, text: str) -> str:
    """An item as the list has it, which may be none of TensorFlow's."""
    if made.element.weak == NUMPY:
        return f"{text}.numpy()"
    return f"{made.element.weak}({text})" if made.element.weak else text


def _written(array: str, item: ast.expr) -> ast.stmt:
    """A TensorArray with one more item."""
    return assigned(array, called(f"{array}.write", called(f"{array}.size"), item))


def side_by_side(
    target: ast.expr, source: ast.expr
) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a loop binds to the items of what, one by one."""
    match source, target:
        case (
            ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]),
            ast.Tuple(elts=[_, item]),
        ):
            yield from side_by_side(item, inner)
        case ast.Call(func=ast.Name(id="reversed"), args=[inner]), _:
            yield from side_by_side(target, inner)
        case (
            ast.Call(func=ast.Name(id="zip"), args=args),
            ast.Tuple(elts=elts),
        ) if len(args) == len(elts):
            for pair in zip(elts, args, strict=True):
                yield from side_by_side(*pair)
        case _:
            yield target, source


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
