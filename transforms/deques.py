"""GL203 list-append: a `collections.deque` of tensors is a list.

The first step only: `queue.popleft()` becomes `queue.pop(0)`. A list that is longer than `maxlen` loses its first item.
"""

from __future__ import annotations

import ast
import copy

from . import nonempty
from .facts.environment import FunctionFacts
from .facts.modules import ModuleFacts
from .facts.profile import FunctionNode
from .facts.syntax import blocks, is_named, own_nodes
from .making import called, compared, is_atom, name, placed
from .rebuilding import each_made, rebuilt, replaced, with_body

EMPTY = "pop from an empty deque"
AS_LISTS = frozenset({"append", "extend", "clear", "reverse"})


def without_deques(facts: FunctionFacts, module: ModuleFacts) -> FunctionNode | None:
    """The function with lists in the place of its deques; None where it has none of which each use is one of a list."""
    node = facts.definition.node
    for made in own_nodes(node):
        match made:
            case ast.Assign(targets=[ast.Name(id=text)], value=ast.Call() as call) if (
                _is_deque(call, module)
            ):
                body = _Deque(node, text, call).function()
                if body is not None:
                    return with_body(node, body)
    return None


def _is_deque(call: ast.Call, module: ModuleFacts) -> bool:
    return module.imported(ast.unparse(call.func)) == "collections.deque"


class _Deque:
    """One deque of a function."""

    def __init__(self, node: FunctionNode, text: str, made: ast.Call) -> None:
        self.node = node
        self.text = text
        self.made = made
        self.most = next((k.value for k in made.keywords if k.arg == "maxlen"), None)
        if len(made.args) == 2:
            self.most = made.args[1]
        self.filled = nonempty.uses(node.body, [text])
        self.served: set[ast.AST] = set()

    def function(self) -> list[ast.stmt] | None:
        """The body of the function; None where a use is not one of a list."""
        uses = [n for n in ast.walk(self.node) if is_named(n, self.text)]
        stores = [n for n in uses if not isinstance(n.ctx, ast.Load)]
        items = self._items()
        bounded = self.most is not None
        if len(stores) != 1 or items is None or not self._is_bound():
            return None
        for inner in own_nodes(self.node):
            match inner:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id=n) as use, attr=attr)
                ) if n == self.text and attr in AS_LISTS - (
                    {"extend"} if bounded else set()
                ):
                    self.served.add(use)
                case (
                    ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=n) as use])
                    | ast.Subscript(value=ast.Name(id=n) as use, slice=ast.expr())
                    | ast.For(iter=ast.Name(id=n) as use)
                    | ast.comprehension(iter=ast.Name(id=n) as use)
                    | ast.While(test=ast.Name(id=n) as use)
                    | ast.If(test=ast.Name(id=n) as use)
                    | ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=n) as use)
                    | ast.Call(
                        func=ast.Attribute(attr="stack" | "concat" | "add_n"),
                        args=[ast.Name(id=n) as use, *_],
                    )
                    | ast.Call(
                        func=ast.Name(id="list" | "sum" | "enumerate" | "reversed"),
                        args=[ast.Name(id=n) as use],
                    )
                ) if n == self.text:
                    self.served.add(use)
                case ast.BoolOp(values=values):
                    self.served |= {v for v in values if is_named(v, self.text)}
        body = self.block(self.node.body)
        left = {use for use in uses if use not in self.served}
        return body if left == {*stores} else None

    def _items(self) -> ast.expr | None:
        match self.made.args:
            case []:
                return ast.List([], ast.Load())
            case [ast.List(elts=elts) as items, *_]:
                most = getattr(self.most, "value", len(elts) if not self.most else 0)
                return items if len(elts) <= most else None
        return None

    def _is_bound(self) -> bool:
        """Whether how long it may be stays the same."""
        if self.most is None:
            return True
        stored = {
            n.id
            for n in ast.walk(self.node)
            if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
        }
        return is_atom(self.most) and not any(
            isinstance(n, ast.Name) and n.id in stored for n in ast.walk(self.most)
        )

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return each_made(body, self.statement)

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        match node:
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name(id=n) as use, attr=attr),
                    args=[value],
                )
            ) if n == self.text and attr in ("append", "appendleft"):
                self.served.add(use)
                added: ast.stmt = node
                if attr == "appendleft":
                    first = ast.Constant(0)
                    added = ast.Expr(called(f"{n}.insert", first, value))
                return [added, *self._shortened("0" if attr == "append" else "-1")]
        table: dict[ast.AST, ast.AST] = {}
        for inner in [] if blocks(node) else ast.walk(node):
            match inner:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id=n) as use, attr=attr), args=[]
                ) if n == self.text and attr in ("pop", "popleft"):
                    self.served.add(use)
                    first_item = [ast.Constant(0)] if attr == "popleft" else []
                    table[inner] = placed(called(f"{n}.pop", *first_item), inner)
                case ast.Call() if inner is self.made:
                    table[inner] = placed(self._items() or inner, inner)
        made = replaced(rebuilt(node, self.block), table)
        assert isinstance(made, ast.stmt)
        if node in self.filled or not any(n in self.served for n in self._pops(node)):
            return [made]
        made = copy.copy(made)
        made.never_empty = True  # type: ignore[attr-defined]
        return [self._check(), made]

    def _pops(self, node: ast.stmt) -> list[ast.AST]:
        return [
            n.func.value
            for n in ast.walk(node)
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)
            if n.func.attr in ("pop", "popleft") and not blocks(node)
        ]

    def _check(self) -> ast.stmt:
        """What raises where the deque is empty."""
        error = ast.Raise(called("IndexError", ast.Constant(EMPTY)))
        length = called("len", name(self.text))
        return ast.If(compared(length, ast.Eq(), ast.Constant(0)), [error], [])

    def _shortened(self, index: str) -> list[ast.stmt]:
        """What keeps the list as long as the deque."""
        if self.most is None:
            return []
        longer = compared(called("len", name(self.text)), ast.Gt(), self.most)
        place = [ast.Constant(0)] if index == "0" else []
        return [ast.If(longer, [ast.Expr(called(f"{self.text}.pop", *place))], [])]
