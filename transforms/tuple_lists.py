"""GL203 list-append: a list of tuples becomes one list for each place of the tuples.

The first step only. `pairs.append((i, v))` and `for i, v in pairs` become `pairs_i.append(i)`, `pairs_v.append(v)` and
`for i, v in zip(pairs_i, pairs_v)`: each list has items of one kind, which a graph can hold. Namedtuples, and dicts that
are written out, are taken apart by their fields.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from . import tuple_order
from .containers import growing
from .facts.environment import FunctionFacts
from .facts.profile import FunctionNode
from .facts.syntax import is_named, names_in, own_nodes
from .list_forms import copied
from .making import assigned, called, is_atom, name, placed
from .rebuilding import each_made, rebuilt, replaced, with_body
from .source import Names
from .tuple_forms import (
    Form,
    Parts,
    Whole,
    family_of,
    form_of,
    item_names,
    makes,
    written,
)


def without_tuples(facts: FunctionFacts, names: Names) -> FunctionNode | None:
    """The function with such a list taken apart; None where it has none of which all uses can be."""
    node = facts.definition.node
    for grown in growing(facts):
        family = family_of(facts, grown)
        form = form_of(facts, family)
        if form is None:
            continue
        try:
            body = Apart(facts, names, form, family).function()
        except Whole:
            continue
        return with_body(node, body)
    return None


class Apart:
    """Rewrites all uses of the lists of one family."""

    def __init__(
        self, facts: FunctionFacts, names: Names, form: Form, family: frozenset[str]
    ) -> None:
        self.facts = facts
        self.names = names
        self.form = form
        self.family = family
        self.node = facts.definition.node
        self.items = item_names(self.node, form, family)
        self.maker = self._maker()
        self.parts = {
            n: [names.fresh(f"{n}_{part}") for part in self.items]
            for n in sorted(family)
        }

    def function(self) -> list[ast.stmt]:
        """The body of the function.

        Raises:
            Whole: a list is used otherwise.
        """
        if self.family & self.facts.parameters.keys():
            raise Whole
        body = self.block(self.node.body)
        if any(
            isinstance(n, ast.Name) and n.id in self.family
            for statement in body
            for n in ast.walk(statement)
        ):
            raise Whole
        return body

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return each_made(body, self.statement)

    # ---- statements

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        if not self._mentions(node):
            return [node]
        before, node = tuple_order.ranked_before(self, node)
        if before:
            return [*before, *self.statement(node)]
        match node:
            case ast.Assign(
                targets=[ast.Name(id=n)], value=ast.Call(func=ast.Name(id="sorted"))
            ) if n in self.family:
                assert isinstance(node.value, ast.Call)
                return tuple_order.in_order(self, n, copied(node.value), node.value)
            case ast.Assign(targets=[ast.Name(id=n)], value=value) if n in self.family:
                return self._assigned(n, value)
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name(id=n), attr="sort"), args=[]
                ) as call
            ) if n in self.family:
                return tuple_order.in_order(self, n, n, call)
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name(id=n), attr=method), args=args
                )
            ) if n in self.family:
                return self._called(n, method, args)
            case ast.Assign(
                targets=[
                    ast.Subscript(value=ast.Name(id=n), slice=ast.expr() as index)
                ],
                value=value,
            ) if n in self.family and is_atom(index):
                return self._with_item(n, index, value)
            case ast.Assign(targets=[target], value=value) if self._pops(target, value):
                return self._popped(target, value)
            case ast.For() if self._goes_over(node.iter):
                return [self._loop(node)]
            case ast.Return(value=ast.expr() as value):
                made = copy.copy(node)
                made.value = self._returned(value)
                return [made]
        table = self._table(node)
        changed = replaced(rebuilt(node, self.block), table)
        assert isinstance(changed, ast.stmt)
        return [changed]

    def _assigned(self, n: str, value: ast.expr) -> list[ast.stmt]:
        match value:
            case ast.List(elts=elts):
                rows = [self._written(e) for e in elts]
                columns = [list(c) for c in zip(*rows, strict=True)] or [
                    [] for _ in self.form.keys
                ]
                values: Parts = [ast.List(c, ast.Load()) for c in columns]
            case ast.Name(id=source) if source in self.family:
                values = [*map(name, self.parts[source])]
            case ast.Subscript(value=ast.Name(id=source), slice=part) if (
                source in self.family and isinstance(part, ast.Slice)
            ):
                values = [
                    ast.Subscript(name(p), part, ast.Load()) for p in self.parts[source]
                ]
            case _:
                raise Whole
        return [assigned(p, v) for p, v in zip(self.parts[n], values, strict=True)]

    def _with_item(self, n: str, index: ast.expr, value: ast.expr) -> list[ast.stmt]:
        before, parts = self._parts_of(value)
        if self._mentions(value):
            held = [self.names.fresh(part) for part in self.items]
            before += map(assigned, held, parts)
            parts = [*map(name, held)]
        places = [ast.Subscript(name(p), index, ast.Store()) for p in self.parts[n]]
        return [*before, *map(_set, places, parts)]

    def _called(self, n: str, method: str, args: Parts) -> list[ast.stmt]:
        match method, args:
            case ("append", [value]) | ("insert", [_, value]):
                index = args[:-1]
                if not all(map(is_atom, index)):
                    raise Whole
                before, parts = self._parts_of(value)
                added = [[*index, part] for part in parts]
                return [*before, *self._each(n, method, added)]
            case ("pop", ([] | [_])) | (("reverse" | "clear"), []) if all(
                map(is_atom, args)
            ):
                return self._each(n, method, [args for _ in self.form.keys])
        raise Whole

    def _each(self, n: str, method: str, args: list[Parts]) -> list[ast.stmt]:
        pairs = zip(self.parts[n], args, strict=True)
        return _as_long(
            [ast.Expr(called(f"{part}.{method}", *given)) for part, given in pairs]
        )

    def _parts_of(self, value: ast.expr) -> tuple[list[ast.stmt], Parts]:
        """What comes before an item is put into a list, and its parts."""
        try:
            return [], self._written(value)
        except Whole:
            if self.form.changeable or self._mentions(value):
                raise
        if not is_atom(value):
            item = self.names.fresh("item")
            before: list[ast.stmt] = [assigned(item, value)]
            return before, [self.form.part(name(item), k) for k in self._places]
        return [], [self.form.part(value, k) for k in self._places]

    def _written(self, value: ast.expr) -> Parts:
        """The parts of an item that is written out.

        Raises:
            Whole: it is not.
        """
        parts = written(value, self.form)
        if parts is None:
            raise Whole
        return [self.expression(p) for p in parts]

    @property
    def _places(self) -> range:
        return range(len(self.form.keys))

    def _pops(self, target: ast.expr, value: ast.expr) -> bool:
        read = self.form.key(value)
        match value if read is None else read[0]:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=n), attr="pop"),
                args=[] | [ast.Constant() | ast.UnaryOp()],
            ):
                return n in self.family
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=n), attr="pop"),
                args=[ast.Name(id=index)],
            ):
                return n in self.family and index not in names_in(target)
        return False

    def _popped(self, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        """An item taken out of a list is taken out of each."""
        read = self.form.key(value)
        call = value if read is None else read[0]
        assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        assert isinstance(call.func.value, ast.Name)
        taken: Parts = [
            called(f"{part}.pop", *call.args) for part in self.parts[call.func.value.id]
        ]
        if read is not None:
            popped = [ast.Expr(c) for c in taken]
            made: list[ast.stmt] = [*popped]
            made[read[1]] = _set(target, taken[read[1]])
            return _as_long(made)
        match target:
            case ast.Tuple(elts=elts) if len(elts) == len(taken) and not any(
                isinstance(e, ast.Starred) for e in elts
            ):
                return _as_long([*map(_set, elts, taken)])
        parts = [self.names.fresh(part) for part in self.items]
        item = self.form.made([*map(name, parts)], self.maker)
        return [*_as_long([*map(assigned, parts, taken)]), _set(target, item)]

    def _loop(self, node: ast.For) -> ast.stmt:
        """A loop over a list goes over all of them at once."""
        body = node.body
        alone = self._used_only_in(node)

        def reads(item: str) -> set[int] | None:
            return self._parts_read(item, body) if item in alone else None

        made = copy.copy(node)
        made.iter, made.target, named = self._iterated(node.iter, node.target, reads)
        before: list[ast.stmt] = []
        for item, parts in named.items():
            if reads(item) is not None:
                table = self._parts_in(item, parts, body)
                body = [replaced(s, table) for s in body]  # type: ignore[misc]
            elif self.form.changeable:
                raise Whole
            else:
                before.append(assigned(item, self._item(parts)))
        made.body = [*before, *self.block(body)]
        made.orelse = self.block(node.orelse)
        return made

    def _used_only_in(self, loop: ast.For) -> set[str]:
        """The names that a loop binds and that are used in its body only."""
        count = Counter(n.id for n in ast.walk(self.node) if isinstance(n, ast.Name))
        inside = [loop.target, *loop.body]
        here = Counter(
            n.id for s in inside for n in ast.walk(s) if isinstance(n, ast.Name)
        )
        bound = names_in(loop.target)
        return {n for n in bound if here[n] == count[n]}

    def _parts_read(self, item: str, nodes: Iterable[ast.AST]) -> set[int] | None:
        """Which parts of an item are read; None where it is used otherwise, too."""
        inside = [n for node in nodes for n in ast.walk(node)]
        read = [
            key
            for n in inside
            if isinstance(n, ast.Attribute | ast.Subscript)
            and isinstance(n.ctx, ast.Load)
            and (key := self.form.key(n))
        ]
        uses = {n for n in inside if is_named(n, item)}
        if not uses <= {owner for owner, _ in read}:
            return None
        return {place for owner, place in read if owner in uses}

    def _item(self, parts: Mapping[int, str]) -> ast.expr:
        return self.form.made([name(parts[k]) for k in self._places], self.maker)

    def _iterated(
        self,
        source: ast.expr,
        target: ast.expr,
        reads: Callable[[str], set[int] | None],
    ) -> tuple[ast.expr, ast.expr, dict[str, dict[int, str]]]:
        """What a loop goes over and binds, and for each name of an item those of the parts that are needed."""
        pairs = [(source, target)]
        match source, target:
            case (
                ast.Call(func=ast.Name(id="enumerate"), args=[inner, *start]),
                ast.Tuple(elts=[count, item]),
            ):
                over, bound, named = self._iterated(inner, item, reads)
                counted = ast.Call(source.func, [over, *start], source.keywords)
                pair = ast.Tuple([count, bound], ast.Store())
                return placed(counted, source), placed(pair, target), named
            case (
                ast.Call(func=ast.Name(id="zip"), args=args, keywords=[]),
                ast.Tuple(elts=elts),
            ) if len(args) == len(elts):
                pairs = [*zip(args, elts, strict=True)]
        named = {}
        sides: list[tuple[ast.expr, ast.expr]] = []
        for one, item in pairs:
            if not self._mentions(one):
                sides.append((one, item))
                continue
            lists = self._over(one)
            match item:
                case ast.Tuple(elts=elts) if len(elts) == len(lists):
                    read = [k for k, e in enumerate(elts) if not self._is_unread(e)]
                    sides += [(lists[k], elts[k]) for k in read or [0]]
                case ast.Name(id=text):
                    needed = reads(text)
                    kept = self._places if needed is None else sorted(needed or {0})
                    named[text] = {k: self.names.fresh(self.items[k]) for k in kept}
                    sides += [
                        (lists[k], ast.Name(part, ast.Store()))
                        for k, part in named[text].items()
                    ]
                case _:
                    raise Whole
        if len(sides) == 1 and len(pairs) == 1:
            ((over, bound),) = sides
            return placed(over, source), bound, named
        many = called("zip", *(over for over, _ in sides))
        several = ast.Tuple([bound for _, bound in sides], ast.Store())
        return placed(many, source), placed(several, target), named

    def _is_unread(self, target: ast.expr) -> bool:
        """Whether what a loop binds here is a name that says so."""
        return is_named(target, "_") and not any(
            is_named(n, "_") and isinstance(n.ctx, ast.Load)
            for n in ast.walk(self.node)
        )

    def _over(self, source: ast.expr) -> Parts:
        """The lists, as a loop goes over one of them, or a part."""
        wrap: Callable[[ast.expr], ast.expr]
        match source:
            case ast.Name(id=n):
                wrap = lambda part: part  # noqa: E731
            case ast.Call(func=ast.Name(id="reversed"), args=[ast.Name(id=n)]):
                wrap = lambda part: called("reversed", part)  # noqa: E731
            case ast.Subscript(value=ast.Name(id=n), slice=ast.Slice() as part_of):
                wrap = lambda part: ast.Subscript(part, part_of, ast.Load())  # noqa: E731
            case _:
                raise Whole
        if n not in self.family:
            raise Whole
        return [wrap(name(p)) for p in self.parts[n]]

    # ---- expressions

    def expression(self, node: ast.expr) -> ast.expr:
        made = replaced(node, self._table(node))
        assert isinstance(made, ast.expr)
        return made

    def _table(self, node: ast.AST) -> dict[ast.AST, ast.AST]:
        """What stands in the place of each use of the lists in a statement's own expressions."""
        table: dict[ast.AST, ast.AST] = {}
        for inner in ast.walk(node):
            made = self._read(inner) if isinstance(inner, ast.expr) else None
            if made is not None:
                table[inner] = placed(made, inner) if hasattr(inner, "lineno") else made  # type: ignore[arg-type]
        return table

    def _read(self, node: ast.expr) -> ast.expr | None:
        read = self.form.key(node)
        if read is not None and (index := self._index(read[0])) is not None:
            n, place = index
            return ast.Subscript(name(self.parts[n][read[1]]), place, ast.Load())
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=n)]) if (
                n in self.family
            ):
                return called("len", name(self.parts[n][0]))
            case ast.Name(id=n) if n in self.family and node in self.facts.tests:
                return name(self.parts[n][0])
            case ast.Subscript(ctx=ast.Load()) if (
                not self.form.changeable and (index := self._index(node)) is not None
            ):
                n, place = index
                if not is_atom(place):
                    raise Whole
                parts: Parts = [
                    ast.Subscript(name(p), place, ast.Load()) for p in self.parts[n]
                ]
                return self.form.made(parts, self.maker)
            case ast.ListComp(generators=[one]) if self._mentions(one.iter):
                return self.comprehension(node, one)
        return None

    def _index(self, node: ast.expr) -> tuple[str, ast.expr] | None:
        """The list of which an expression reads an item, and at which index."""
        match node:
            case ast.Subscript(value=ast.Name(id=n), slice=index) if (
                n in self.family and not isinstance(index, ast.Slice)
            ):
                return n, index
        return None

    def comprehension(self, node: ast.ListComp, one: ast.comprehension) -> ast.expr:
        inner: list[ast.AST] = [node.elt, *one.ifs]
        if any(map(self._mentions, inner)):
            raise Whole

        def reads(item: str) -> set[int] | None:
            return self._parts_read(item, inner)

        source, target, named = self._iterated(one.iter, one.target, reads)
        for item, parts in named.items():
            if self.form.changeable and reads(item) is None:
                raise Whole
            table = self._parts_in(item, parts, inner)
            inner = [replaced(n, table) for n in inner]
        elt, *ifs = inner
        made = ast.comprehension(target, source, ifs, one.is_async)  # type: ignore[arg-type]
        return ast.ListComp(elt, [made])  # type: ignore[arg-type]

    def _parts_in(
        self, item: str, held: Mapping[int, str], nodes: Iterable[ast.AST]
    ) -> dict[ast.AST, ast.AST]:
        """What stands in the place of an item: for its parts their names, for all of it the item made of these."""
        table: dict[ast.AST, ast.AST] = {}
        for inner in (n for node in nodes for n in ast.walk(node)):
            read = self.form.key(inner) if isinstance(inner, ast.expr) else None
            if read and is_named(read[0], item):
                table[inner] = placed(name(held[read[1]]), inner)  # type: ignore[arg-type]
                table[read[0]] = read[0]
            elif is_named(inner, item) and inner not in table:
                table[inner] = placed(self._item(held), inner)
        return table

    def _returned(self, value: ast.expr) -> ast.expr:
        """What is returned; a list of the family is made as it was."""
        match value:
            case ast.Name(id=n) if n in self.family:
                return self._whole(n)
            case ast.Tuple(elts=elts):
                return ast.Tuple([*map(self._returned, elts)], ast.Load())
            case ast.Dict(keys=keys, values=values):
                return ast.Dict(keys, [*map(self._returned, values)])
        made = self.expression(value)
        match made:
            case ast.ListComp(
                elt=ast.Name(id=item),
                generators=[
                    ast.comprehension(
                        target=ast.Name(id=bound), iter=ast.Name() as source, ifs=[]
                    )
                ],
            ) if item == bound:
                return called("list", source)
        return made

    def _whole(self, n: str) -> ast.expr:
        many = called("zip", *map(name, self.parts[n]))
        if self.form.type == "tuple":
            return called("list", many)
        parts = [self.names.fresh(part) for part in self.items]
        target = ast.Tuple([ast.Name(p, ast.Store()) for p in parts], ast.Store())
        item = self.form.made([*map(name, parts)], self.maker)
        whole = ast.ListComp(item, [ast.comprehension(target, many, [], 0)])
        whole.arranges = True  # type: ignore[attr-defined]
        return whole

    def _goes_over(self, source: ast.expr) -> bool:
        """Whether a loop goes over one of the lists, not only to its length."""
        counted = {
            n.args[0]
            for n in ast.walk(source)
            if isinstance(n, ast.Call) and is_named(n.func, "len") and n.args
        }
        uses = (n for n in ast.walk(source) if isinstance(n, ast.Name))
        return any(n.id in self.family and n not in counted for n in uses)

    def _mentions(self, node: ast.AST) -> bool:
        return any(
            isinstance(n, ast.Name) and n.id in self.family for n in ast.walk(node)
        )

    def _maker(self) -> ast.expr | None:
        """How the function calls the class of its items."""
        for node in own_nodes(self.node):
            if isinstance(node, ast.Call) and makes(node, self.form):
                return node.func
        return None


def _as_long(popping: list[ast.stmt]) -> list[ast.stmt]:
    """Statements that take from lists of one length: where the first finds something, the others do."""
    for node in popping[1:]:
        node.never_empty = True  # type: ignore[attr-defined]
    return popping


def _set(target: ast.expr, value: ast.expr) -> ast.stmt:
    return ast.Assign([target], value)
