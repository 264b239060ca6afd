"""GL203 list-append: a list of lists of one length, whose items a tensor changes, becomes one tensor.

The first step only. `table[i][j]` becomes `table[i, j]`, and setting it makes another tensor.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

from .facts.environment import FunctionFacts
from .facts.kinds import UNKNOWN, Elements, Kind, Sequence, Tensor
from .facts.profile import FunctionNode
from .facts.signs import is_never_negative
from .facts.staging import choose, is_strong, stage
from .facts.syntax import blocks, names_in
from .findings import Refusal
from .list_forms import DEFAULTS
from .list_reads import NUMBERS
from .making import assigned, called, expression, is_atom, name
from .rebuilding import each_made, rebuilt, with_body, with_origin
from .source import Names
from .tuple_forms import family_of

MAKERS = frozenset({"stack", "constant", "convert_to_tensor"})


@dataclass(frozen=True)
class Cell:
    """An item of a list in a list: the list of these lists, and the two places."""

    grid: str
    row: ast.expr
    column: ast.expr


def with_grids(facts: FunctionFacts, names: Names, tf: str) -> FunctionNode | None:
    """The function with such lists as tensors; None where it has none.

    Raises:
        Refusal: a list is used in a way that one tensor does not serve.
    """
    for problem in facts.problems:
        cell = cell_of(problem.node) if problem.code == "GL203" else None
        if cell is not None:
            grids = family_of(facts, cell.grid)
            node = facts.definition.node
            return with_body(node, _Grids(facts, names, tf, grids).block(node.body))
    return None


def cell_of(node: ast.AST | None) -> Cell | None:
    """What an expression reads or sets, where that is an item of a list in a list."""
    match node:
        case ast.Subscript(
            value=ast.Subscript(value=ast.Name(id=grid), slice=row), slice=column
        ) if not isinstance(row, ast.Slice):
            return Cell(grid, row, column)
    return None


class _Grids:
    """Rewrites the statements of one function that make, read and change lists of lists of one family."""

    def __init__(
        self, facts: FunctionFacts, names: Names, tf: str, grids: frozenset[str]
    ) -> None:
        self.facts = facts
        self.names = names
        self.tf = tf
        self.grids = grids
        self.rows: set[str] = set()
        self.item = self._item()

    def _item(self) -> Tensor:
        """The one kind of the items.

        Raises:
            Refusal: no tensor holds them.
        """
        joined: Kind | None = None
        for node in ast.walk(self.facts.definition.node):
            for kind in self._given(node):
                item = stage(kind)
                joined = item if joined is None else choose(joined, item)
        grid = min(self.grids)
        if (
            not isinstance(joined, Tensor)
            or joined.dtype is None
            or joined.weak not in (None, *NUMBERS)
        ):
            reason = f"`{grid}` holds lists of items of kinds that no one tensor holds"
            way_out = "keep one list of lists for each kind of item"
            raise Refusal(reason, self.facts.definition.original, "GL203", way_out)
        if joined.shape != ():
            reason = f"the items in the lists in `{grid}` are no scalars"
            way_out = (
                "keep one tensor, and set its rows by `tf.tensor_scatter_nd_update`"
            )
            raise Refusal(reason, self.facts.definition.original, "GL203", way_out)
        return joined

    def _given(self, node: ast.AST) -> Iterator[Kind]:
        """The kinds of the items that a statement puts into the lists."""
        match node:
            case ast.Assign(targets=[ast.Name(id=grid)], value=value) if (
                grid in self.grids and not isinstance(value, ast.Name)
            ):
                for row in _members(self.facts.kind(value)):
                    yield from _members(row)
            case ast.Assign(targets=[target, *_]) | ast.AugAssign(target=target):
                targets = node.targets if isinstance(node, ast.Assign) else [target]
                for one in targets:
                    parts = one.elts if isinstance(one, ast.Tuple) else [one]
                    yield from (self.facts.kind(p) for p in parts if self._cell(p))

    # ---- statements

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return each_made(body, self._statement)

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        if not names_in(node) & (self.grids | self.rows):
            return [node]
        match node:
            case ast.Assign(targets=[ast.Name(id=grid)], value=value) if (
                grid in self.grids
            ):
                return [
                    node if isinstance(value, ast.Name) else self._made(grid, value)
                ]
            case ast.Assign(targets=[ast.Subscript() as target], value=value) if (
                cell := self._cell(target)
            ):
                return self._set(cell, value, self._read(value))
            case ast.Assign(targets=[_, *_] as targets, value=value) if len(
                targets
            ) > 1 and any(map(self._cell, targets)):
                return self._set_alike(targets, value)
            case ast.AugAssign(target=target, op=op, value=value) if cell := self._cell(
                target
            ):
                old = self._read(target)
                return self._set(cell, target, ast.BinOp(old, op, self._read(value)))
            case ast.Assign(
                targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)
            ) if len(targets) == len(values) and all(map(self._cell, targets)):
                return self._set_together(targets, values)
            case ast.Return(value=ast.expr() as value):
                return [ast.Return(self._returned(value))]
            case ast.For(target=ast.Name(id=row), iter=ast.Name(id=grid)) if (
                grid in self.grids
            ):
                return [self._over_rows(node, row)]
            case ast.For(target=ast.Name() as target, iter=source) if self.is_row(
                source
            ):
                return [self._over_items(node, target)]
        if isinstance(node, FunctionNode | ast.ClassDef):
            raise self.refusal(min(names_in(node) & self.grids), node)
        inner = (
            copy.copy(rebuilt(node, self.block)) if blocks(node) else copy.copy(node)
        )
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                setattr(inner, field, self._read(value))
            elif isinstance(value, list) and value and isinstance(value[0], ast.expr):
                setattr(inner, field, [*map(self._read, value)])
        return [with_origin(inner, node)]

    def _over_rows(self, node: ast.For, row: str) -> ast.stmt:
        """A loop over the lists goes over the rows of the tensor."""
        self.rows.add(row)
        inner = copy.copy(rebuilt(node, self.block))
        self.rows.discard(row)
        return with_origin(inner, node)

    def _over_items(self, node: ast.For, target: ast.Name) -> ast.stmt:
        """A loop over the items of one list."""
        inner = copy.copy(rebuilt(node, self.block))
        assert isinstance(inner, ast.For)
        inner.iter = self._row(node.iter)
        if self.item.weak:
            number = assigned(target.id, called(self.item.weak, name(target.id)))
            inner.target = ast.Name(target.id, ast.Store())
            inner.body = [number, *inner.body]
        return with_origin(inner, node)

    def is_row(self, node: ast.expr) -> bool:
        """Whether an expression is one of the lists."""
        match node:
            case ast.Name(id=text):
                return text in self.rows
            case ast.Subscript(value=ast.Name(id=grid), slice=row):
                return grid in self.grids and not isinstance(row, ast.Slice)
        return False

    def _row(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Subscript):
            return ast.Subscript(node.value, self._read(node.slice), ast.Load())
        return node

    def _made(self, grid: str, value: ast.expr) -> ast.stmt:
        made = self._filled(value)
        if made is None and _is_even(value, self.facts.kind(value)):
            made = called(f"{self.tf}.stack", self._read(value))
            if self.item.weak or self.item.mixed:
                made = called(f"{self.tf}.constant", self._read(value), self._dtype)
        if made is None:
            reason = f"the lists in `{grid}` may be of several lengths"
            way_out = "make them of one length, or keep one list for each"
            raise Refusal(reason, value, "GL203", way_out)
        return assigned(grid, made)

    def _filled(self, value: ast.expr) -> ast.expr | None:
        """The tensor of a list of lists that hold one value all over; None where it is something else."""
        outer = _repeated(value)
        inner = _repeated(outer[0]) if outer else None
        if outer is None or inner is None or not is_atom(inner[0]):
            return None
        dims = ast.List([self._read(outer[1]), self._read(inner[1])], ast.Load())
        item = self._read(inner[0])
        if is_strong(self.facts.kind(inner[0])):
            return called(f"{self.tf}.fill", dims, item)
        return called(
            f"{self.tf}.fill", dims, called(f"{self.tf}.constant", item, self._dtype)
        )

    def _set(self, cell: Cell, value: ast.expr, new: ast.expr) -> list[ast.stmt]:
        """An item set: a tensor with another item there."""
        before: list[ast.stmt] = []
        places = [
            self._place(index, size, before)
            for index, size in (
                (cell.row, f"len({cell.grid})"),
                (cell.column, f"len({cell.grid}[0])"),
            )
        ]
        where = ast.List([ast.List(places, ast.Load())], ast.Load())
        item: ast.expr = ast.List([self._converted(value, new)], ast.Load())
        if self.item.weak:
            item = called(f"{self.tf}.constant", item, self._dtype)
        update = f"{self.tf}.tensor_scatter_nd_update"
        changed = called(update, name(cell.grid), where, item)
        return [*before, assigned(cell.grid, changed)]

    def _set_alike(self, targets: list[ast.expr], value: ast.expr) -> list[ast.stmt]:
        """Several items, and names, set to one value."""
        made: list[ast.stmt] = []
        held = self._read(value)
        if not is_atom(held):
            text = self.names.fresh("item")
            made.append(assigned(text, held))
            held = name(text)
        for target in targets:
            cell = self._cell(target)
            if cell is None:
                made.append(ast.Assign([target], held))
            else:
                made += self._set(cell, value, held)
        return made

    def _set_together(
        self, targets: list[ast.expr], values: list[ast.expr]
    ) -> list[ast.stmt]:
        held = [self.names.fresh("item") for _ in values]
        made: list[ast.stmt] = [*map(assigned, held, map(self._read, values))]
        for target, value, text in zip(targets, values, held, strict=True):
            cell = self._cell(target)
            assert cell is not None
            made += self._set(cell, value, name(text))
        return made

    def _place(self, index: ast.expr, size: str, before: list[ast.stmt]) -> ast.expr:
        """An index, counted from the start."""
        place = self._read(index)
        match index:
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as n)):
                return expression(f"{size} - {n}")
        if is_never_negative(index, self.facts):
            return place
        text = self.names.fresh("index")
        if not isinstance(place, ast.Name):
            before.append(assigned(text, place))
            place = name(text)
        counted = f"{place.id} if {place.id} >= 0 else {place.id} + {size}"
        before.append(assigned(text, expression(counted)))
        return name(text)

    # ---- what goes in

    @property
    def _dtype(self) -> ast.expr:
        return expression(f"{self.tf}.{self.item.dtype}")

    def _converted(self, value: ast.expr, new: ast.expr) -> ast.expr:
        """A value as the tensor takes it; `value` has its kind."""
        staged = stage(self.facts.kind(value))
        number = staged.weak if isinstance(staged, Tensor) else None
        if self.item.weak == "float" and number == "int":
            return called("float", new)
        if number is not None and self.item.weak is None:
            return called(f"{self.tf}.constant", new, self._dtype)
        return new

    # ---- what comes out

    def _cell(self, node: ast.expr) -> Cell | None:
        cell = cell_of(node)
        found = cell is not None and cell.grid in self.grids
        return cell if found else None

    def _read(self, node: ast.expr) -> ast.expr:
        """An expression with its reads of the lists."""
        if not names_in(node) & (self.grids | self.rows):
            return node
        made: ast.expr = _Reads(self).visit(copy.deepcopy(node))
        return made

    def _returned(self, node: ast.expr) -> ast.expr:
        """A list of lists, or one of these, that is returned is Python's."""
        match node:
            case ast.Tuple(elts=elts):
                return ast.Tuple([*map(self._returned, elts)], ast.Load())
            case ast.Dict(keys=keys, values=values):
                return ast.Dict(keys, [*map(self._returned, values)])
            case ast.Name(id=grid) if grid in self.grids:
                return self._listed(name(grid), 2)
            case _ if self.is_row(node):
                return self._listed(self._row(node), 1)
        return self._read(node)

    def _listed(self, node: ast.expr, levels: int) -> ast.expr:
        if self.item.mixed:
            grid = ast.unparse(node)
            reason = f"`{grid}` is given back, and holds Python numbers and tensors"
            way_out = f"put `{self.tf}.constant(...)` in the place of its numbers"
            raise Refusal(reason, node, "GL203", way_out)
        made = called("list", node)
        made.list_items = self.item  # type: ignore[attr-defined]
        made.list_levels = levels  # type: ignore[attr-defined]
        return made

    def refusal(self, grid: str, node: ast.AST) -> Refusal:
        reason = (
            f"`{grid}` is used in a way that one tensor of its items does not serve"
        )
        way_out = (
            f"read and set its items one by one, as `{grid}[i][j]`, or keep a tensor"
        )
        return Refusal(reason, node, "GL203", way_out)

    def item_of(self, tensor: str, places: list[ast.expr]) -> ast.expr:
        """An item as eager mode has it."""
        place = ast.Tuple(places, ast.Load()) if len(places) > 1 else places[0]
        read: ast.expr = ast.Subscript(name(tensor), place, ast.Load())
        if self.item.weak:
            read = called(self.item.weak, read)
        if self.item.mixed:
            read.mixed = self.item  # type: ignore[attr-defined]
        return read

    def whole(self, grid: str, dtype: ast.expr | None) -> ast.expr:
        """The tensor that TensorFlow makes of a list of lists."""
        default = DEFAULTS.get(self.item.weak or "")
        if dtype is None and default not in (None, self.item.dtype):
            dtype = expression(f"{self.tf}.{default}")
        tensor = name(grid)
        return tensor if dtype is None else called(f"{self.tf}.cast", tensor, dtype)


class _Reads(ast.NodeTransformer):
    """Reads of lists of lists, as reads of the tensors that they become."""

    def __init__(self, grids: _Grids) -> None:
        self.grids = grids

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        places: list[ast.expr] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Subscript):
            places.insert(0, inner.slice)
            inner = inner.value
        text = inner.id if isinstance(inner, ast.Name) else ""
        levels = 2 * (text in self.grids.grids) or 1 * (text in self.grids.rows)
        if not levels or len(places) < levels:
            return self.generic_visit(node)
        if len(places) > levels or any(isinstance(p, ast.Slice) for p in places):
            raise self.grids.refusal(text, node)
        return self._placed(self.grids.item_of(text, [*map(self.visit, places)]), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        function = ast.unparse(node.func)
        short = function.removeprefix(f"{self.grids.tf}.")
        match node.args:
            case [ast.Name(id=grid), *rest] if grid in self.grids.grids:
                if function == "len":
                    return node
                if short != function and short in MAKERS:
                    given = [
                        *rest,
                        *(k.value for k in node.keywords if k.arg == "dtype"),
                    ]
                    if len(given) == len(rest) + len(node.keywords) <= 1:
                        dtype = given[0] if given else None
                        return self._placed(self.grids.whole(grid, dtype), node)
            case [row] if self.grids.is_row(row):
                strong = not (self.grids.item.weak or self.grids.item.mixed)
                if function == "len" or (strong and short != function):
                    if isinstance(row, ast.Subscript):
                        row.slice = self.visit(row.slice)
                    return node
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.grids.grids | self.grids.rows:
            raise self.grids.refusal(node.id, node)
        return node

    def _placed(self, made: ast.expr, node: ast.expr) -> ast.expr:
        ast.copy_location(made, node)
        made.made = True  # type: ignore[attr-defined]
        return made


def _members(kind: Kind) -> tuple[Kind, ...]:
    """What a list holds."""
    if isinstance(kind, Sequence):
        return kind.items
    return (kind.element,) if isinstance(kind, Elements) else (UNKNOWN,)


def _repeated(value: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """What a list has all over, and how often; None where its items may differ."""
    match value:
        case (
            ast.BinOp(left=ast.List(elts=[item]), op=ast.Mult(), right=times)
            | ast.BinOp(left=times, op=ast.Mult(), right=ast.List(elts=[item]))
        ):
            return item, times
        case ast.ListComp(
            elt=item,
            generators=[ast.comprehension(target=target, iter=source, ifs=[])],
        ) if not _read_in(item) & names_in(target):
            return item, _count(source)
    return None


def _read_in(node: ast.expr) -> set[str]:
    names = (n for n in ast.walk(node) if isinstance(n, ast.Name))
    return {n.id for n in names if isinstance(n.ctx, ast.Load)}


def _count(source: ast.expr) -> ast.expr:
    """How many items a loop goes over."""
    match source:
        case ast.Call(func=ast.Name(id="range"), args=[stop]):
            return stop
        case ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=0), stop]):
            return stop
        case ast.Call(func=ast.Name(id="range"), args=[start, stop]):
            return ast.BinOp(stop, ast.Sub(), start)
    return called("len", source)


def _is_even(value: ast.expr, kind: Kind) -> bool:
    """Whether the lists in a list are of one length."""
    lengths = {
        len(row.items) if isinstance(row, Sequence) else None for row in _members(kind)
    }
    if None not in lengths:
        return len(lengths) == 1
    match value:
        case ast.ListComp(elt=row, generators=[ast.comprehension(target=target)]):
            size = _size_of(row)
            return size is not None and not _read_in(size) & names_in(target)
    return False


def _size_of(row: ast.expr) -> ast.expr | None:
    """What tells the length of a list."""
    match row:
        case ast.ListComp(generators=[ast.comprehension(iter=source, ifs=[])]):
            return source
        case ast.BinOp(left=ast.List(), op=ast.Mult(), right=times):
            return times
    return None
