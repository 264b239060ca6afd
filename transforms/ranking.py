"""GL109 tensor-comprehension: `max`, `min` and `sorted` of tensors, by a key or by themselves, in forms that a graph has."""

from __future__ import annotations

import ast
import functools

from .facts.environment import FunctionFacts
from .facts.kinds import (
    Dict,
    Elements,
    Function,
    Kind,
    Python,
    Record,
    Sequence,
    Tensor,
    Variable,
)
from .facts.staging import INTS, is_strong
from .facts.syntax import names_in
from .findings import Refusal
from .making import applied, assigned, called, compared, name
from .rewriting import Rewriter
from .source import Names

MOST_UNSTACKED = 16
COMBINED = ("enumerate", "zip")


class Ranking(Rewriter):
    """Rewrites what Python picks or orders by comparing tensors."""

    def __init__(self, facts: FunctionFacts, names: Names, tf: str) -> None:
        super().__init__(facts, names)
        self.tf = tf

    def builtin(self, node: ast.Call) -> str | None:
        kind = self.kind(node.func)
        text = kind.name if isinstance(kind, Function) else ""
        for prefix in ("builtins.", "functools.", "operator."):
            if text.startswith(prefix):
                return text.removeprefix(prefix if prefix == "builtins." else "")
        return None

    def unstacked(self, node: ast.expr) -> ast.expr:
        """A tensor of a few rows as a list of them; anything else as it is."""
        size = (getattr(self.kind(node), "shape", None) or (None,))[0]
        if not self.unstacks(node) or not size or size > MOST_UNSTACKED:
            return node
        return called(f"{self.tf}.unstack", node)

    def unstacks(self, node: ast.expr) -> bool:
        kind = self.kind(node)
        return (
            is_strong(kind)
            and isinstance(kind, Tensor)
            and kind.shape is not None
            and len(kind.shape) > 0
            and kind.shape[0] is not None
        )

    def is_bound(self, text: str) -> bool:
        node = self.facts.definition.node
        bound = {
            n.id
            for n in ast.walk(node)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        return text in bound or text in self.facts.parameters

    # ---- keys

    def _key(self, node: ast.expr | None) -> ast.expr | None:
        """A `key` as it can be called or written out: a lambda in the place of `itemgetter(i)` and its like."""
        item = "item" if node is None or "item" not in names_in(node) else "place"
        match node:
            case ast.Attribute(value=owner, attr="__getitem__"):
                body: ast.expr = ast.Subscript(owner, name(item), ast.Load())
            case ast.Call(args=[ast.Constant(value=part) as index], keywords=[]):
                kind = self.kind(node.func)
                maker = kind.name if isinstance(kind, Function) else ""
                if maker == "operator.itemgetter":
                    body = ast.Subscript(name(item), index, ast.Load())
                elif maker == "operator.attrgetter" and isinstance(part, str):
                    body = name(item)
                    for attribute in part.split("."):
                        body = ast.Attribute(body, attribute, ast.Load())
                else:
                    raise Refusal("this `key` is not lifted", node, "GL109")
            case None | ast.Lambda() | ast.Name() | ast.Attribute():
                return node
            case _:
                raise Refusal("this `key` is not lifted", node, "GL109")
        return _lambda([item], body)

    # ---- max and min

    def _with_default(self, node: ast.Call, default: ast.expr) -> ast.expr:
        """`max(xs, default=d)` is `max(xs) if xs else d`."""
        match node.args:
            case [
                ast.GeneratorExp(elt=element, generators=generators)
                | ast.ListComp(elt=element, generators=generators)
            ]:
                source: ast.expr = ast.ListComp(element, generators)
            case [ast.Name() as source] if isinstance(self.kind(source), Elements):
                pass
            case _:
                reason = f"`{ast.unparse(node.func)}` with a default is not lifted"
                raise Refusal(reason, node, "GL109")
        items = self.atom(source, "items")
        rest = [k for k in node.keywords if k.arg != "default"]
        some = compared(called("len", items), ast.Gt(), ast.Constant(0))
        return ast.IfExp(some, ast.Call(node.func, [items], rest), default)

    def extreme(self, node: ast.Call, function: str) -> ast.expr | None:
        keywords = {k.arg: k.value for k in node.keywords}
        key = self._key(keywords.pop("key", None))
        if keywords:
            return self._with_default(node, keywords["default"])
        items = self.items(node)
        if items is not None:
            return self._chosen(node, items, function, key) if items else None
        (source,) = node.args
        if isinstance(source, ast.GeneratorExp):
            return called(
                function,
                ast.ListComp(source.elt, source.generators),
                **{k.arg: k.value for k in node.keywords if k.arg},
            )
        if isinstance(source, ast.Call) and self.builtin(source) in COMBINED:
            parts = [self.unstacked(a) for a in source.args]
            if parts != source.args:
                made = ast.Call(source.func, parts, source.keywords)
                return ast.Call(node.func, [made], node.keywords)
        kind = self.kind(source)
        counted = self._counted(source)
        if counted is not None and key is not None:
            return self._first_best(node, counted, function, key)
        if (
            not (is_strong(kind) and len(getattr(kind, "shape", None) or ()) == 1)
            or key is not None
        ):
            return None
        shape, dtype = getattr(kind, "shape", (None,)), getattr(kind, "dtype", None)
        if dtype in INTS and shape[0]:
            return called(f"{self.tf}.reduce_{function}", source)
        found, item = ("largest", "v") if function == "max" else ("smallest", "v")
        better = compared(name(item), _better(function), name(found))
        chosen = called(f"{self.tf}.where", better, name(item), name(found))
        return called(f"{self.tf}.foldl", _lambda([found, item], chosen), source)

    def items(self, node: ast.Call) -> list[ast.expr] | None:
        """What a builtin goes over, one by one; None where that is not known."""
        if len(node.args) > 1:
            return list(node.args)
        source = node.args[0]
        kind = self.kind(source)
        if isinstance(kind, Dict):
            return [ast.Constant(key) for key, _ in kind.items]
        if isinstance(source, ast.List | ast.Tuple) and not any(
            isinstance(e, ast.Starred) for e in source.elts
        ):
            return list(source.elts)
        if isinstance(kind, Sequence) and not _is_comprehension(source):
            if kind.type not in ("tuple", "list"):
                source = called("tuple", source)
            owner = self.atom(source, "items")
            return [
                ast.Subscript(owner, ast.Constant(i), ast.Load())
                for i in range(len(kind.items))
            ]
        return None

    def _chosen(
        self, node: ast.Call, items: list[ast.expr], function: str, key: ast.expr | None
    ) -> ast.expr:
        """The best of several values: each next one where it is better than the best before it."""
        kinds = [self.kind(item) for item in node.args] if len(node.args) > 1 else []
        first = getattr(kinds[0], "dtype", None) if kinds else None
        if (
            key is None
            and first in INTS
            and all(is_strong(k) and getattr(k, "dtype", None) == first for k in kinds)
        ):
            operation = f"{self.tf}.{function}imum"
            return functools.reduce(lambda a, b: called(operation, a, b), items)
        found = "largest" if function == "max" else "smallest"
        if key is not None and len(items) > 2 and _calls(applied(key, items[0])):
            return self._best_of(items, function, key, found)
        best = self.atom(items[0], "first")
        for i, item in enumerate(items[1:]):
            other = self.atom(item, "second")
            better = compared(_keyed(key, other), _better(function), _keyed(key, best))
            best = ast.IfExp(better, other, best)
            if i < len(items) - 2:
                best = self.atom(best, found)
        return best

    def _best_of(
        self, items: list[ast.expr], function: str, key: ast.expr, found: str
    ) -> ast.expr:
        """The best of several by a key, which is worked out once for each."""
        most, better = ("most", "larger") if function == "max" else ("least", "smaller")
        best = self.atom(items[0], "first")
        record = self.atom(applied(key, best), most)
        for item in items[1:-1]:
            other = self.atom(item, "second")
            value = self.atom(applied(key, other), "value")
            test = self.atom(compared(value, _better(function), record), better)
            best = self.atom(ast.IfExp(test, other, best), found)
            record = self.atom(ast.IfExp(test, value, record), most)
        other = self.atom(items[-1], "second")
        test = compared(applied(key, other), _better(function), record)
        return ast.IfExp(test, other, best)

    def _counted(self, source: ast.expr) -> range | None:
        """The numbers of `range(...)`, where they are known."""
        if not isinstance(source, ast.Call) or self.builtin(source) != "range":
            return None
        ends = [self.kind(a) for a in source.args]
        values = [k.value for k in ends if isinstance(k, Python) and k.type == "int"]
        numbers = [v for v in values if isinstance(v, int)]
        return range(*numbers) if numbers and len(numbers) == len(ends) else None

    def _first_best(
        self, node: ast.Call, numbers: range, function: str, key: ast.expr
    ) -> ast.expr:
        """The first number of which the key is best: a loop over the others."""
        if not numbers or not self._may_name or self._has_effects(node):
            raise Refusal(f"`{function}` is not lifted here", node, "GL109")
        best, value = self.target(node, "best"), self.names.fresh("value")
        item = _item_of(key)
        if self.is_bound(item):
            item = self.names.fresh(item)
        most = self.names.fresh("most" if function == "max" else "least")
        first = ast.Constant(numbers[0])
        better = compared(name(value), _better(function), name(most))
        taken = [assigned(best, name(item)), assigned(most, name(value))]
        rest = numbers[1:]
        ends = [rest.start, rest.stop, *([rest.step] if rest.step != 1 else [])]
        over = called("range", *map(ast.Constant, ends))
        body = [
            assigned(value, applied(key, name(item))),
            ast.If(better, list(taken), []),
        ]
        made: list[ast.stmt] = [
            assigned(best, first),
            assigned(most, applied(key, first)),
            ast.For(ast.Name(item, ast.Store()), over, body, []),
        ]
        self._before += made
        return name(best)

    # ---- sorted

    def sorted(self, node: ast.Call, function: str) -> ast.expr | None:
        keywords = {k.arg: k.value for k in node.keywords}
        key = self._key(keywords.get("key"))
        reverse = keywords.get("reverse", ast.Constant(False))
        if not isinstance(reverse, ast.Constant):
            raise Refusal("`sorted` that may be reversed is not lifted", node, "GL109")
        order = {"direction": ast.Constant("DESCENDING")} if reverse.value else {}
        kind = self.kind(node.args[0])
        counted = self._counted(node.args[0])
        if counted is not None and key is not None:
            return self._ranked(node, counted, key, order)
        if (
            is_strong(kind)
            and len(getattr(kind, "shape", None) or ()) == 1
            and key is None
        ):
            return called("list", called(f"{self.tf}.sort", node.args[0], **order))
        if not isinstance(kind, Sequence):
            return None
        if key is not None and _are_rows(kind):
            return self._sorted_rows(node, kind, key, order)
        if key is not None and all(map(_is_int, kind.items)) and kind.nests:
            return self._sorted_ints(node.args[0], key, order)
        items = self.items(node) if _same_scalars(kind) else None
        if items is None:
            return None
        source, item = node.args[0], _item_of(key)
        whole: ast.expr = _display(items)
        if isinstance(source, ast.Name) and kind.nests:
            whole = source
        if key is None:
            stacked = called(f"{self.tf}.stack", whole)
            return called(
                f"{self.tf}.unstack", called(f"{self.tf}.sort", stacked, **order)
            )
        if whole is source:
            keys: ast.expr = _each(applied(key, name(item)), item, source)
        else:
            items = [self.atom(item, "item") for item in items]
            whole = _display(items)
            keys = _display([applied(key, item) for item in items])
        keys = called(f"{self.tf}.stack", keys)
        places = self._places(keys, order)
        picked = called(f"{self.tf}.gather", called(f"{self.tf}.stack", whole), places)
        return called(f"{self.tf}.unstack", picked)

    def _sorted_ints(
        self, source: ast.expr, key: ast.expr, order: dict[str, ast.Constant]
    ) -> ast.expr:
        """Python's ints in the order of their keys, which are tensors."""
        source, item = self.atom(source, "items"), _item_of(key)
        keys = called(f"{self.tf}.stack", _each(applied(key, name(item)), item, source))
        places = self._places(keys, order)
        picked = called(f"{self.tf}.gather", source, places)
        over = called(f"{self.tf}.unstack", picked)
        return _each(called("int", name(item)), item, over)

    def _sorted_rows(
        self,
        node: ast.Call,
        kind: Sequence,
        key: ast.expr,
        order: dict[str, ast.Constant],
    ) -> ast.expr:
        """Tuples or records of tensors in the order of their keys: each column is put in it."""
        source = node.args[0]
        if kind.type not in ("tuple", "list"):
            source = called("tuple", source)
        source = self.atom(source, "rows")
        row, column = _item_of(key), "column"
        first = kind.items[0]
        keys = called(f"{self.tf}.stack", _each(applied(key, name(row)), row, source))
        places = self.atom(
            self._places(keys, order),
            "order",
        )
        picked = called(
            f"{self.tf}.gather", called(f"{self.tf}.stack", name(column)), places
        )
        rows: ast.expr = source
        if isinstance(first, Record):
            fields = [ast.Attribute(name(row), f, ast.Load()) for f in first.fields]
            rows = _each(ast.Tuple(list(fields), ast.Load()), row, source)
        columns = _each(
            called(f"{self.tf}.unstack", picked), column, called("zip", _all_of(rows))
        )
        made = called("zip", _all_of(columns))
        if not isinstance(first, Record):
            return called("list", made)
        record = name(first.type.rpartition(".")[2])
        return _each(ast.Call(record, [_all_of(name(row))], []), row, made)

    def _ranked(
        self,
        node: ast.Call,
        numbers: range,
        key: ast.expr,
        order: dict[str, ast.Constant],
    ) -> ast.expr:
        """Numbers from 0 in the order of their keys."""
        if numbers != range(len(numbers)):
            raise Refusal("`sorted` goes over numbers from 0 only", node, "GL109")
        item = _item_of(key)
        keys = self._whole(key, len(numbers))
        if keys is None:
            over = called("range", ast.Constant(len(numbers)))
            made = _each(applied(key, name(item)), item, over)
            keys = called(f"{self.tf}.stack", made)
        places = self._places(keys, order)
        over = called(f"{self.tf}.unstack", places)
        return _each(called("int", name(item)), item, over)

    def _places(self, keys: ast.expr, order: dict[str, ast.Constant]) -> ast.expr:
        """Where the items stand that come first, second and so on; equal ones keep their order."""
        stable = ast.Constant(True)
        return called(f"{self.tf}.argsort", keys, stable=stable, **order)

    def _whole(self, key: ast.expr, size: int) -> ast.expr | None:
        """The tensor of which a key gives the items one by one."""
        match key:
            case ast.Lambda(
                args=ast.arguments(args=[ast.arg(arg=item)]),
                body=ast.Subscript(value=ast.Name() as owner, slice=ast.Name(id=place)),
            ) if item == place and owner.id != item:
                kind = self.kind(owner)
                if is_strong(kind) and getattr(kind, "shape", None) == (size,):
                    return owner
        return None


def _keyed(key: ast.expr | None, item: ast.expr) -> ast.expr:
    return item if key is None else applied(key, item)


def _calls(node: ast.expr) -> bool:
    return any(isinstance(n, ast.Call) for n in ast.walk(node))


def _better(function: str) -> ast.cmpop:
    return ast.Gt() if function == "max" else ast.Lt()


def _lambda(parameters: list[str], body: ast.expr) -> ast.Lambda:
    args = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(p) for p in parameters],
        kwonlyargs=[],
        kw_defaults=[],
        defaults=[],
    )
    return ast.Lambda(args, body)


def _item_of(key: ast.expr | None) -> str:
    """What a comprehension calls the items that it passes to a key: what a lambda calls them."""
    match key:
        case ast.Lambda(args=ast.arguments(args=[ast.arg(arg=item)])):
            return item
    return "item"


def _display(items: list[ast.expr]) -> ast.List:
    return ast.List(items, ast.Load())


def _is_comprehension(node: ast.expr) -> bool:
    return isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp)


def _each(element: ast.expr, item: str, source: ast.expr) -> ast.ListComp:
    """`[element for item in source]`."""
    generator = ast.comprehension(ast.Name(item, ast.Store()), source, [], 0)
    return ast.ListComp(element, [generator])


def _all_of(source: ast.expr) -> ast.Starred:
    return ast.Starred(source, ast.Load())


def _are_rows(kind: Sequence) -> bool:
    """Whether these are tuples or records of tensors, each of the same dtypes and static shapes."""
    first = kind.items[0] if kind.items else None
    if not isinstance(first, Sequence) or first.type == "list" or not first.nests:
        return False
    alike = {(type(k), getattr(k, "type", ""), _specs(k)) for k in kind.items}
    return len(alike) == 1 and None not in (_specs(first) or (None,))


def _specs(kind: Kind) -> tuple[object, ...] | None:
    """The dtype and static shape of each tensor of a tuple; None for a part that is no such tensor."""
    if not isinstance(kind, Sequence):
        return None
    return tuple(
        (k.dtype, k.shape)
        if isinstance(k, Tensor)
        and is_strong(k)
        and k.shape is not None
        and not k.mixed
        and None not in k.shape
        else None
        for k in kind.items
    )


def _is_int(kind: Kind) -> bool:
    return isinstance(kind, Python) and kind.type == "int"


def _same_scalars(kind: Sequence) -> bool:
    dtypes = {getattr(k, "dtype", None) for k in kind.items}
    strong = all(
        is_strong(k) and not isinstance(k, Variable) and getattr(k, "shape", None) == ()
        for k in kind.items
    )
    return (
        strong
        and len(dtypes) == 1
        and dtypes <= (INTS | {"float16", "bfloat16", "float32", "float64"})
    )
