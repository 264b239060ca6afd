"""GL109 tensor-comprehension: builtins over tensors in forms that a graph has.

The first step only: `max`, `min`, `sum`, `any`, `all`, `sorted`, `map`, `filter`, `divmod`, `pow`, `functools.reduce`,
the functions of `operator`, and `*` of a tensor.
"""

from __future__ import annotations

import ast
import copy
from functools import cached_property

from .facts.environment import FunctionFacts
from .facts.evaluation_operators import SHIFT
from .facts.kinds import (
    Elements,
    Kind,
    Sequence,
    Tensor,
    Union,
)
from .facts.profile import FunctionNode
from .facts.signs import is_never_negative
from .facts.staging import INTS, holds_tensor, is_strong, is_tensor
from .facts.syntax import given_to, is_named, own_nodes
from .findings import Refusal
from .making import applied, assigned, called, compared, name, placed
from .ranking import COMBINED, MOST_UNSTACKED, Ranking
from .rebuilding import with_origin
from .source import Names

BINARY: dict[str, ast.operator] = {
    "add": ast.Add(), "sub": ast.Sub(), "mul": ast.Mult(), "truediv": ast.Div(), "floordiv": ast.FloorDiv(),
    "mod": ast.Mod(), "pow": ast.Pow(), "matmul": ast.MatMult(), "and_": ast.BitAnd(), "or_": ast.BitOr(),
    "xor": ast.BitXor(),
}  # fmt: skip
SHIFTS: dict[type[ast.operator], ast.operator] = {
    ast.LShift: ast.Mult(), ast.RShift: ast.FloorDiv()
}  # fmt: skip
COMPARISONS: dict[str, ast.cmpop] = {
    "lt": ast.Lt(), "le": ast.LtE(), "gt": ast.Gt(), "ge": ast.GtE(), "eq": ast.Eq(), "ne": ast.NotEq(),
}  # fmt: skip


def without_builtins(
    facts: FunctionFacts, names: Names, tf: str
) -> FunctionNode | None:
    """The function with its builtins over tensors in other forms; None where it has none.

    Raises:
        Refusal: one of them has no other form here.
    """
    return _Builtins(facts, names, tf).function()


class _Builtins(Ranking):
    def __init__(self, facts: FunctionFacts, names: Names, tf: str) -> None:
        super().__init__(facts, names, tf)
        self.hindering = {p.node for p in facts.problems if p.code == "GL109"}

    # ---- loops over map and filter

    def instead(self, node: ast.stmt) -> list[ast.stmt] | None:
        match node:
            case ast.For(iter=ast.Call() as call) if self._is_lazy(call):
                generator = self._generator(call)
                source = generator.generators[0]
                start: list[ast.stmt] = [ast.Assign([node.target], generator.elt)]
                if ast.dump(node.target) == ast.dump(_stored(generator.elt)):
                    start = []
                inner = [*start, *node.body]
                for condition in source.ifs:
                    inner = [ast.If(condition, inner, [])]
                made = ast.For(source.target, source.iter, inner, node.orelse)
                return [with_origin(made, node)]
            case ast.AugAssign(op=op, value=by) if self._shifts(node, by):
                factor = self._doubled(by)
                made_shift = ast.AugAssign(node.target, SHIFTS[type(op)], factor)
                return [with_origin(made_shift, node)]
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name(id=owner), attr="sort"), args=[]
                ) as call
            ) if call in self.hindering:
                shared = any(p.node is call for p in self.facts.shared)
                if owner in self.facts.parameters or shared:
                    raise Refusal(f"`{owner}` may be another's list", call, "GL109")
                made_list = ast.Call(name("sorted"), [name(owner)], call.keywords)
                return [with_origin(assigned(owner, placed(made_list, call)), node)]
            case ast.Assign(targets=[ast.Tuple(elts=elts)], value=value) if any(
                isinstance(e, ast.Starred) for e in elts
            ) and self.unstacks(value):
                made_value = placed(called(f"{self.tf}.unstack", value), value)
                return [with_origin(ast.Assign(node.targets, made_value), node)]
            case ast.Assign(
                targets=[ast.Name(id=text)],
                value=ast.Call(func=ast.Name(id="list"), args=[rows]) as call,
            ) if is_strong(self.kind(rows)) and self._hinders(text):
                held = self._rows(text, rows)
                if held is not None:
                    listed = ast.Assign(node.targets, placed(held, call))
                    return [with_origin(listed, node)]
            case ast.Assign(targets=[target], value=ast.expr() as value) if (
                isinstance(target, ast.Tuple | ast.List)
                or getattr(target, "id", "") in self.parted
            ):
                parts = self._of_rows(value)
                if parts is not None:
                    return [with_origin(ast.Assign(node.targets, parts), node)]
        return None

    def _hinders(self, text: str) -> bool:
        """Whether problems are about what has this name."""
        return any(
            is_named(n, text)
            for p in self.facts.problems
            if p.node is not None
            for n in ast.walk(p.node)
        )

    def _rows(self, text: str, rows: ast.expr) -> ast.expr | None:
        """What serves as the list of a tensor's rows: the tensor where they are only read, else a list of as many."""
        read: set[ast.AST] = set()
        nodes = list(ast.walk(self.facts.definition.node))
        for inner in nodes:
            match inner:
                case ast.Subscript(slice=ast.Slice()):
                    pass
                case (
                    ast.Subscript(value=use, ctx=ast.Load())
                    | ast.Call(func=ast.Name(id="len"), args=[use])
                    | ast.For(iter=use)
                    | ast.comprehension(iter=use)
                ):
                    read.add(use)
        uses = [n for n in nodes if is_named(n, text)]
        if sum(n not in read for n in uses) == 1:
            return rows
        return called(f"{self.tf}.unstack", rows) if self.unstacks(rows) else None

    # ---- comprehensions whose items Python takes one by one

    @cached_property
    def parted(self) -> set[str]:
        """The names whose items are taken apart, each as what it is."""
        found: set[str] = set()
        for node in own_nodes(self.facts.definition.node):
            match node:
                case (
                    ast.Assign(
                        targets=[ast.Tuple() | ast.List()], value=ast.Name(id=name)
                    )
                    | ast.Starred(value=ast.Name(id=name), ctx=ast.Load())
                ):
                    found.add(name)
        return found

    def _of_rows(self, node: ast.expr) -> ast.expr | None:
        """A comprehension over tensors of a few rows, as one over lists of them; None for anything else."""
        if (
            node not in self.hindering
            or not isinstance(node, ast.ListComp | ast.GeneratorExp | ast.DictComp)
            or any(g.ifs for g in node.generators)
        ):
            return None
        made = copy.copy(node)
        made.generators = [
            ast.comprehension(g.target, self._row_by_row(g.iter), [], 0)
            for g in node.generators
        ]
        pairs = zip(made.generators, node.generators, strict=True)
        changed = any(new.iter is not old.iter for new, old in pairs)
        return placed(made, node) if changed else None

    def _row_by_row(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Call) and self.builtin(node) in COMBINED:
            args = [self._row_by_row(a) for a in node.args]
            changed = any(
                new is not old for new, old in zip(args, node.args, strict=True)
            )
            return ast.Call(node.func, args, node.keywords) if changed else node
        return self.unstacked(node)

    def _is_lazy(self, node: ast.Call) -> bool:
        """`map(...)` or `filter(...)` of something."""
        return (
            self.builtin(node) in ("map", "filter")
            and not node.keywords
            and len(node.args) > 1
        )

    def _generator(self, node: ast.Call) -> ast.GeneratorExp:
        """`map` and `filter` as a generator expression."""
        function, *sources = node.args
        filters = self.builtin(node) == "filter"
        if filters and len(sources) != 1:
            raise Refusal("`filter` takes one iterable", node, "GL109")
        targets = self._targets(function, len(sources))
        target: ast.expr = ast.Name(targets[0], ast.Store())
        source = sources[0]
        if len(sources) > 1:
            target = ast.Tuple([ast.Name(t, ast.Store()) for t in targets], ast.Store())
            source = called("zip", *sources)
        value = applied(function, *map(name, targets))
        element, tests = (name(targets[0]), [value]) if filters else (value, [])
        return ast.GeneratorExp(element, [ast.comprehension(target, source, tests, 0)])

    def _targets(self, function: ast.expr, count: int) -> list[str]:
        """Names for the items: those of a lambda's own parameters."""
        match function:
            case ast.Lambda(args=ast.arguments(args=parameters)) if (
                len(parameters) == count
            ):
                return [
                    self.names.fresh(p.arg) if self.is_bound(p.arg) else p.arg
                    for p in parameters
                ]
        return [self.names.fresh("item") for _ in range(count)]

    # ---- expressions

    def expression(self, node: ast.expr) -> ast.expr | None:
        match node:
            case ast.Starred(value=value, ctx=ast.Load()) if self.unstacks(value):
                inner = placed(called(f"{self.tf}.unstack", value), value)
                return ast.Starred(inner, ast.Load())
            case ast.Starred(value=value, ctx=ast.Load()):
                rows = self._of_rows(value)
                return None if rows is None else ast.Starred(rows, ast.Load())
            case ast.DictComp():
                return self._of_rows(node)
            case ast.Call():
                return self._call(node)
            case ast.BinOp(left=left, op=op, right=right) if self._shifts(node, right):
                return _shifted(left, op, self._doubled(right))
        return None

    def _shifts(self, node: ast.BinOp | ast.AugAssign, by: ast.expr) -> bool:
        """Whether this shifts a Python number that a tensor holds, and not by less than 0."""
        found = (p.reason == SHIFT for p in self.facts.problems if p.node is node)
        return any(found) and is_never_negative(by, self.facts)

    def _doubled(self, by: ast.expr) -> ast.expr:
        """What a shift multiplies or divides by."""
        if isinstance(by, ast.Constant) and isinstance(by.value, int) and by.value < 62:
            return ast.Constant(2**by.value)
        return ast.BinOp(ast.Constant(2), ast.Pow(), by)

    def _call(self, node: ast.Call) -> ast.expr | None:
        function = self.builtin(node)
        hindering = any(n in self.hindering for n in [node, *node.args])
        asked = any(_has_tensors(self.kind(a)) for a in given_to(node))
        if function is None or not (asked or hindering):
            return None
        if any(isinstance(a, ast.Starred) for a in node.args):
            return None
        if function.startswith("operator."):
            return self._operator(function.removeprefix("operator."), node.args)
        handler = {
            "max": self.extreme, "min": self.extreme, "sum": self._sum, "any": self._search, "all": self._search,
            "sorted": self.sorted, "functools.reduce": self._reduce, "list": self._list, "tuple": self._list,
            "divmod": self._divmod, "pow": self._pow, "map": self._lazy, "filter": self._lazy, "reversed": self._reversed,
        }.get(function)  # fmt: skip
        return handler(node, function) if handler else None

    def _lazy(self, node: ast.Call, function: str) -> ast.expr | None:
        return self._generator(node) if self._is_lazy(node) else None

    def _list(self, node: ast.Call, function: str) -> ast.expr | None:
        """`list(v for v in t)` is `[v for v in t]`; `tuple` goes over a few rows one by one."""
        match node.args:
            case [ast.GeneratorExp(elt=element, generators=generators)] if (
                function == "list"
            ):
                return ast.ListComp(element, generators)
            case [ast.GeneratorExp() as inner] if function == "tuple":
                rows = self._of_rows(inner)
                if isinstance(rows, ast.GeneratorExp):
                    return called("tuple", ast.ListComp(rows.elt, rows.generators))
        return None

    def _reversed(self, node: ast.Call, function: str) -> ast.expr | None:
        """A loop over `reversed(range(n))` is one over `range(n - 1, -1, -1)`."""
        over = (
            n.iter
            for n in ast.walk(self.facts.definition.node)
            if isinstance(n, ast.For | ast.comprehension)
        )
        match node.args:
            case [ast.Call(args=[limit], keywords=[]) as counted] if (
                node in over and self.builtin(counted) == "range"
            ):
                if not str(getattr(self.kind(limit), "dtype", "uint")).startswith("u"):
                    last = ast.BinOp(limit, ast.Sub(), ast.Constant(1))
                    down = ast.UnaryOp(ast.USub(), ast.Constant(1))
                    return ast.Call(counted.func, [last, down, down], [])
        return None

    # ---- sum, any, all

    def _sum(self, node: ast.Call, function: str) -> ast.expr | None:
        source = node.args[0]
        kind = self.kind(source)
        if self._is_grown(source, kind):
            return self._item_by_item(source, *node.args[1:])
        if not (is_strong(kind) and isinstance(kind, Tensor) and kind.shape):
            return None
        size = kind.shape[0]
        if kind.dtype in INTS and size and len(node.args) == 1:
            return called(
                f"{self.tf}.reduce_sum",
                source,
                *([ast.Constant(0)] if len(kind.shape) > 1 else []),
            )
        if size and size <= MOST_UNSTACKED:
            return called("sum", called(f"{self.tf}.unstack", source), *node.args[1:])
        return self._item_by_item(source, *node.args[1:])

    def _item_by_item(self, source: ast.expr, *start: ast.expr) -> ast.expr:
        """The sum of what a loop goes over."""
        item = self.names.fresh("v")
        generator = ast.comprehension(ast.Name(item, ast.Store()), source, [], 0)
        return called("sum", ast.GeneratorExp(name(item), [generator]), *start)

    def _is_grown(self, source: ast.expr, kind: Kind) -> bool:
        """Whether this is a list of tensors, of the function's own, that is as long as a tensor says."""
        grown = isinstance(kind, Elements) and kind.type == "list"
        own = isinstance(source, ast.Name) and source.id not in self.facts.parameters
        return grown and own and is_strong(kind.element)  # type: ignore[attr-defined]

    def _search(self, node: ast.Call, function: str) -> ast.expr | None:
        """`any` and `all`, as one bool."""
        (source,) = node.args
        kind = self.kind(source)
        reduction = f"{self.tf}.reduce_{function}"
        if is_strong(kind) and len(getattr(kind, "shape", None) or ()) == 1:
            dtype = getattr(kind, "dtype", None)
            zero = ast.Constant("" if dtype == "string" else 0)
            whole = source if dtype == "bool" else compared(source, ast.NotEq(), zero)
            return called("bool", called(reduction, whole))
        if not isinstance(kind, Sequence):
            return None
        if all(
            isinstance(k, Tensor) and k.dtype == "bool" and k.shape == () and not k.weak
            for k in kind.items
        ):
            if isinstance(source, ast.GeneratorExp):
                source = ast.ListComp(source.elt, source.generators)
            return called("bool", called(reduction, source))
        items = self.items(node)
        if not items or any(_has_several(k) for k in kind.items):
            return None
        operands: list[ast.expr] = [
            called("bool", self.atom(item, "flag")) for item in items
        ]
        return ast.BoolOp(ast.Or() if function == "any" else ast.And(), operands)

    # ---- reduce, divmod, pow, operators

    def _reduce(self, node: ast.Call, function: str) -> ast.expr | None:
        """`functools.reduce` as the loop it stands for."""
        if not self._may_name or self._has_effects(node):
            raise Refusal("`reduce` is not lifted here", node, "GL109")
        step, source, *start = node.args
        value, item = self.target(node, "reduced"), self.names.fresh("item")
        if start:
            first, rest = start[0], source
        else:
            owner = self.atom(source, "items")
            first = ast.Subscript(owner, ast.Constant(0), ast.Load())
            rest = ast.Subscript(owner, ast.Slice(ast.Constant(1)), ast.Load())
        self._before.append(ast.Assign([ast.Name(value, ast.Store())], first))
        update = ast.Assign(
            [ast.Name(value, ast.Store())], applied(step, name(value), name(item))
        )
        self._before.append(ast.For(ast.Name(item, ast.Store()), rest, [update], []))
        return name(value)

    def _divmod(self, node: ast.Call, function: str) -> ast.expr | None:
        """Of Python numbers: tensors have no `divmod`."""
        if any(is_strong(self.kind(a)) for a in node.args):
            return None
        left, right = (self.atom(a, "operand") for a in node.args)
        return ast.Tuple(
            [ast.BinOp(left, ast.FloorDiv(), right), ast.BinOp(left, ast.Mod(), right)],
            ast.Load(),
        )

    def _pow(self, node: ast.Call, function: str) -> ast.expr | None:
        if len(node.args) != 2:
            return None
        return ast.BinOp(node.args[0], ast.Pow(), node.args[1])

    def _operator(self, function: str, args: list[ast.expr]) -> ast.expr | None:
        match args:
            case [left, right] if function in BINARY:
                return ast.BinOp(left, BINARY[function], right)
            case [left, right] if function in COMPARISONS:
                return compared(left, COMPARISONS[function], right)
            case [left, right] if function == "getitem":
                return ast.Subscript(left, right, ast.Load())
            case [operand] if function == "neg":
                return ast.UnaryOp(ast.USub(), operand)
            case [operand] if function == "not_":
                return ast.UnaryOp(ast.Not(), operand)
            case [operand] if function == "truth":
                return called("bool", operand)
        return None


def _shifted(left: ast.expr, op: ast.operator, factor: ast.expr) -> ast.expr:
    one = isinstance(left, ast.Constant) and left.value == 1
    if one and isinstance(op, ast.LShift):
        return factor
    return ast.BinOp(left, SHIFTS[type(op)], factor)


def _stored(node: ast.expr) -> ast.expr:
    return ast.Name(node.id, ast.Store()) if isinstance(node, ast.Name) else node


def _has_tensors(kind: Kind) -> bool:
    """Whether a value is a tensor, or holds or gives some."""
    if isinstance(kind, Union):
        return any(map(_has_tensors, kind.members))
    element = getattr(kind, "element", None)
    return holds_tensor(kind) or (isinstance(element, Kind) and holds_tensor(element))


def _has_several(kind: Kind) -> bool:
    shape = getattr(kind, "shape", ())
    return is_tensor(kind) and shape != ()
