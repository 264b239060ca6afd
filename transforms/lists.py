"""Rewrites the statements that make and change Python lists which live in the graph, as TensorArrays or as tensors."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

from . import nonempty, rearranging
from .facts.environment import FunctionFacts
from .facts.kinds import Elements, Rows, Sequence, Tensor
from .facts.profile import FunctionNode
from .facts.signs import is_never_negative
from .facts.staging import is_list, is_strong, stage
from .facts.syntax import blocks, is_named
from .findings import Refusal
from .list_forms import List, copied
from .list_reads import ListReads, refusal
from .making import assigned, called, expression, name, unplaced
from .rebuilding import each_made, rebuilt, with_origin
from .source import Names

POPPED = "pop from empty list"
BEYOND = {POPPED: "pop index out of range"}
DELETED = "list assignment index out of range"
JOINING = frozenset({"concat", "ragged.stack"})


class Lists:
    """Rewrites the uses of lists; what stays unwritten is found by `check`."""

    def __init__(
        self,
        facts: FunctionFacts,
        names: Names,
        tf: str,
        lists: dict[str, List],
        empty: bool,
    ) -> None:
        self.facts = facts
        self.names = names
        self.tf = tf
        self.lists = lists
        self.never_empty = nonempty.uses(facts.definition.node.body, lists)
        self.just_read = rearranging.just_read(facts.definition.node)
        self.reads = ListReads(facts, tf, lists, self.never_empty, empty)

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
            and self.reads.is_tensorflow(call.func) in JOINING
            and call.args
            and isinstance(call.args[0], ast.Name)
            and call.args[0].id in self.lists
        )
        check = f"{self.tf}.debugging.assert_positive"
        sizes = [expression(self.lists[name].size) for name in joined]
        return [ast.Expr(called(check, size)) for size in sizes]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        if not self.reads.mentions(node):
            return [node]
        self.reads.statement = node
        made = self._change(node)
        if made is not None:
            return made
        if blocks(node):
            self._check_order(node)
            inner = with_origin(copy.copy(rebuilt(node, self.block)), node)
            for name in ("test", "iter"):
                if hasattr(node, name):
                    setattr(inner, name, self.reads.header(getattr(node, name)))
            return [self._with_python_items(node, inner)]
        popped = self._popped(node)
        if popped is not None:
            return popped
        if isinstance(node, ast.Return) and self.reads.gives(node.value):
            assert node.value is not None
            return [ast.Return(self.reads.returned(node.value))]
        return [self.reads.in_statement(node)]

    def _check_order(self, node: ast.stmt) -> None:
        """Refuse a loop over a list that its body changes: Python goes over the new items, too.

        Raises:
            Refusal: with the place.
        """
        if not isinstance(node, ast.For):
            return
        counted = {
            id(n)
            for call in ast.walk(node.iter)
            if isinstance(call, ast.Call) and ast.unparse(call.func) in ("len", "range")
            for n in ast.walk(call)
        }
        over = {
            n.id
            for n in ast.walk(node.iter)
            if isinstance(n, ast.Name) and id(n) not in counted
        }
        for inner in (n for statement in node.body for n in ast.walk(statement)):
            match inner:
                case (
                    ast.Attribute(value=ast.Name(id=name), attr=_)
                    | ast.Subscript(value=ast.Name(id=name), ctx=ast.Store())
                    | ast.AugAssign(target=ast.Name(id=name))
                ) if name in self.lists and name in over:
                    raise refusal(name, node)

    def _change(self, node: ast.stmt) -> list[ast.stmt] | None:
        """What makes or changes a list."""
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if (
                name in self.lists
            ):
                return self._made(self.lists[name], value)
            case ast.Assign(
                targets=[ast.Name(id=order)], value=ast.Call() as places
            ) if hasattr(places, "ranks") and places.ranks in self.lists:
                return [rearranging.ranked(self, order, places)]
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
                return self._with_item(self.lists[name], index, self.reads.used(value))
            case ast.AugAssign(
                target=ast.Subscript(value=ast.Name(id=name), slice=index)
            ) if name in self.lists:
                read = self.lists[name].item(self.reads.text(index))
                new = ast.BinOp(read, node.op, self.reads.used(node.value))
                return self._with_item(self.lists[name], index, new)
            case ast.Delete(
                targets=[ast.Subscript(value=ast.Name(id=name), slice=index)]
            ) if name in self.lists:
                return self._without(self.lists[name], index, node, DELETED)
        return None

    def _made(self, made: List, value: ast.expr) -> list[ast.stmt]:
        elts = value.elts if isinstance(value, ast.List) else None
        if made.rows:
            return [assigned(made.name, self._tensor_of(made, value))]
        return [*made.new(), *(s for e in elts or () for s in self._append(made, e))]

    def _called(
        self, made: List, node: ast.stmt, method: str, args: list[ast.expr]
    ) -> list[ast.stmt] | None:
        name = made.name
        match method, args:
            case "append", [value]:
                return self._append(made, value)
            case "extend", [value]:
                return self._extended(made, value)
            case "insert", [place, value]:
                return rearranging.inserted(self, made, place, value)
            case "sort", []:
                assert isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
                whole = rearranging.in_order(self, made, node, node.value.keywords)
                return [assigned(name, whole)]
            case "pop", _ if len(args) < 2:
                index = args[0] if args else ast.Constant(-1)
                return self._without(made, index, node, POPPED)
            case "reverse", []:
                return [assigned(name, expression(f"{name}[::-1]"))]
            case "clear", []:
                return [assigned(name, self._tensor_of(made, ast.List([], ast.Load())))]
        return None

    def _append(self, made: List, value: ast.expr) -> list[ast.stmt]:
        if made.rows:
            return [self.concatenated(made, [made.name, self.row(made, value)])]
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
        return [self.concatenated(made, [made.name, self._tensor_of(made, value)])]

    def concatenated(self, made: List, parts: list[str | ast.expr]) -> ast.stmt:
        nodes = [expression(p) if isinstance(p, str) else p for p in parts]
        call = called(f"{self.tf}.concat", ast.List(nodes, ast.Load()), ast.Constant(0))
        return assigned(made.name, call)

    def _with_item(
        self, made: List, index: ast.expr, value: ast.expr
    ) -> list[ast.stmt]:
        place: ast.expr = self.reads.used(index)
        before: list[ast.stmt] = []
        match index:
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as n)):
                place = expression(f"{made.size} - {n}")
            case _ if not is_never_negative(index, self.facts):
                before, place = self.from_the_start(made, place)
        row = ast.List([self._converted(made, value, value)], ast.Load())
        where = ast.List([ast.List([place], ast.Load())], ast.Load())
        held = made.constant(row)
        update = f"{self.tf}.tensor_scatter_nd_update"
        changed = called(update, ast.Name(made.name, ast.Load()), where, held)
        return [*before, assigned(made.name, changed)]

    def from_the_start(
        self, made: List, place: ast.expr
    ) -> tuple[list[ast.stmt], ast.expr]:
        """The statements that make an index count from the start, as Python's may not, and its name."""
        index = self.names.fresh("index")
        before: list[ast.stmt] = []
        if not isinstance(place, ast.Name):
            before, place = [assigned(index, place)], name(index)
        counted = f"{place.id} if {place.id} >= 0 else {place.id} + len({made.name})"
        return [*before, assigned(index, expression(counted))], name(index)

    def _without(
        self, made: List, index: ast.expr, node: ast.stmt, message: str
    ) -> list[ast.stmt]:
        """What takes an item out of a list that nothing reads, and raises where there is none."""
        before, index, place = rearranging.at_place(self, made, index)
        ends = ast.unparse(place) in ("0", "-1")
        there = self._check(made, node, message) if ends or message == POPPED else []
        if not ends and node not in self.just_read:
            beyond = rearranging.is_beyond(made, index, place)
            there.append(_failing(beyond, BEYOND.get(message, message)))
        return [*before, *there, rearranging.without(self, made, place)]

    def _popped(self, node: ast.stmt) -> list[ast.stmt] | None:
        """A statement that takes an item out of a list, as one that reads it and one that leaves it out."""
        found = [n for n in ast.walk(node) if self._is_pop(n)]
        if not found:
            return None
        (call, *more) = found
        assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        assert isinstance(call.func.value, ast.Name)
        made = self.lists[call.func.value.id]
        uses = [n for n in ast.walk(node) if is_named(n, made.name)]
        if more or len(uses) > 1 or len(call.args) > 1:
            raise Refusal("a list is used twice where it shrinks", node, "GL203")
        index = call.args[0] if call.args else ast.Constant(-1)
        before, index, place = rearranging.at_place(self, made, index)
        read = made.item(ast.unparse(index))
        rewritten = self.reads.with_call(node, call, read)
        check = self._check(made, node, POPPED)
        return [*check, *before, rewritten, rearranging.without(self, made, place)]

    def _check(self, made: List, node: ast.stmt, message: str) -> list[ast.stmt]:
        """What raises where a list that an item is taken out of is empty, if it may be."""
        if node in self.never_empty:
            return []
        return [_failing(expression(f"{made.size} == 0"), message)]

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
                    raise refusal(use, node)
        if numbers:
            made.target = unplaced(copy.deepcopy(node.target))
            made.body = [*numbers, *made.body]
        return made

    # ---- what goes into a list

    def _item(self, made: List, value: ast.expr) -> ast.expr:
        """A value as the list takes it: a list of tensors is stacked, a Python int in a list of floats is a float."""
        return self._converted(made, self.reads.used(value), value)

    def _converted(self, made: List, node: ast.expr, value: ast.expr) -> ast.expr:
        kind = self.facts.kind(value)
        if isinstance(value, ast.Name) and value.id in self.lists:
            return expression(self.reads.whole(self.lists[value.id]))
        if isinstance(kind, Sequence | Elements):
            return (
                node if isinstance(node, ast.Call) else called(f"{self.tf}.stack", node)
            )
        staged = stage(kind)
        weak = staged.weak if isinstance(staged, Tensor) else None
        if made.element.weak == "float" and weak == "int":
            return called("float", node)
        if made.element.weak is None and weak is not None:
            return called(f"{self.tf}.constant", node, made.dtype)
        return node

    def row(self, made: List, value: ast.expr) -> ast.expr:
        return made.constant(ast.List([self._item(made, value)], ast.Load()))

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
                    return made.constant(row)
                return called(f"{self.tf}.stack", row)
            case ast.BinOp(left=ast.List(elts=[one]), op=ast.Mult(), right=times):
                row = ast.List([self._item(made, one)], ast.Load())
                held = made.constant(row)
                count = self.reads.used(times)
                return called(f"{self.tf}.repeat", held, count, ast.Constant(0))
            case ast.Call(
                func=ast.Name(id="list"),
                args=[ast.Call(func=ast.Name(id="range"), args=bounds)],
            ) if made.element.weak == "int" or made.element.mixed:
                numbers = map(self.reads.used, bounds)
                return called(f"{self.tf}.range", *numbers, dtype=made.dtype)
            case ast.Name(id=name) if name in self.lists:
                return expression(self.reads.whole(self.lists[name]))
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Slice()) if (
                name in self.lists
            ):
                return self.reads.part(self.lists[name], value)
            case ast.ListComp(generators=[over]) if (
                source := copied(value)
            ) in self.lists:
                whole = expression(self.reads.whole(self.lists[source]))
                return called(f"{self.tf}.gather", whole, over.iter)
            case ast.BinOp(left=left, op=ast.Add(), right=right) if is_list(
                self.facts.kind(left)
            ) and is_list(self.facts.kind(right)):
                parts = [self._tensor_of(made, left), self._tensor_of(made, right)]
                both = ast.List(parts, ast.Load())
                return called(f"{self.tf}.concat", both, ast.Constant(0))
            case ast.Call(keywords=keywords) if (source := copied(value)) in self.lists:
                if isinstance(value.func, ast.Name) and value.func.id == "sorted":
                    source_list = self.lists[source]
                    return rearranging.in_order(self, source_list, value, keywords)
                return expression(self.reads.whole(self.lists[source]))
        kind = self.facts.kind(value)
        match value:
            case ast.Call(func=ast.Name(id="list"), args=[rows]) if (
                isinstance(kind, Rows) and not kind.ragged
            ):
                return self.reads.used(rows)
            case ast.Call(func=function, args=[rows], keywords=[]) if (
                self.reads.is_tensorflow(function) == "unstack"
            ):
                return self.reads.used(rows)
        if isinstance(kind, Tensor) and is_strong(kind):
            return self.reads.used(value)
        known = isinstance(kind, Sequence) and bool(kind.items)
        if (known or isinstance(value, ast.ListComp)) and not made.element.weak:
            return called(f"{self.tf}.stack", self.reads.used(value))
        raise Refusal(f"what `{made.name}` holds here is not known", value, "GL203")

    # ---- what is left

    def check(self, node: FunctionNode, name: str) -> None:
        """Refuse a list that is used otherwise than the graph serves.

        Raises:
            Refusal: with the place.
        """
        if self.lists[name].rows:
            return
        methods = ["write", "size", "stack", "concat"]
        methods += ["read"] if self.lists[name].read else []
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
                raise refusal(name, inner)


def _failing(test: ast.expr, message: str) -> ast.stmt:
    """What raises where no item is there."""
    error = called("IndexError", ast.Constant(message))
    return ast.If(test, [ast.Raise(error)], [])


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
