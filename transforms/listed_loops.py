"""GL105 tensor-for: a loop over a list of a tensor's rows that is made for it alone goes over the tensor itself.

`for i, v in reversed(list(enumerate(x)))` counts down, and takes its row from `x`.
"""

from __future__ import annotations

import ast

from .facts.environment import FunctionFacts
from .facts.kinds import Function, Tensor
from .facts.profile import FunctionNode
from .facts.staging import is_strong
from .facts.syntax import all_bound_names
from .making import called, name
from .rebuilding import with_origin
from .rewriting import Rewriter
from .source import Names


def without_lists(facts: FunctionFacts, names: Names) -> FunctionNode | None:
    """The function with such loops over tensors; None where it has none."""
    return _ListedLoops(facts, names).function()


class _ListedLoops(Rewriter):
    def instead(self, node: ast.stmt) -> list[ast.stmt] | None:
        if not isinstance(node, ast.For):
            return None
        match self._call(node.iter):
            case "list" | "tuple", [over] if self._is_rows(over):
                return [_going(node, node.target, over, [])]
            case "reversed", [ast.expr() as listed]:
                match self._call(listed):
                    case "list" | "tuple", [over]:
                        return self._backwards(node, over)
        return None

    def _backwards(self, node: ast.For, over: ast.expr) -> list[ast.stmt] | None:
        """The loop from the last row to the first."""
        if self._is_tensor(over):
            return [_going(node, node.target, called("reversed", over), [])]
        stored = all_bound_names(node)
        match self._call(over), node.target:
            case ("enumerate", [rows]), ast.Tuple(elts=[ast.Name(id=index), row]):
                several, targets = [rows], [row]
            case ("zip", [_, *_] as several), ast.Tuple(elts=targets):
                index = self.names.fresh("i")
            case _:
                return None
        if not all(
            isinstance(rows, ast.Name)
            and self._is_tensor(rows)
            and rows.id not in stored
            for rows in several
        ):
            return None
        taken: list[ast.stmt] = [
            ast.Assign([target], ast.Subscript(rows, name(index), ast.Load()))
            for target, rows in zip(targets, several, strict=True)
        ]
        lengths = [called("len", rows) for rows in several]
        count = lengths[0] if len(lengths) == 1 else called("min", *lengths)
        down = called("reversed", called("range", count))
        return [_going(node, ast.Name(index, ast.Store()), down, taken)]

    def _is_rows(self, over: ast.expr) -> bool:
        """Whether an expression goes over the rows of tensors alone."""
        match self._call(over):
            case "enumerate" | "zip" | "reversed", [_, *_] as several:
                return all(map(self._is_tensor, several))
        return self._is_tensor(over)

    def _is_tensor(self, node: ast.expr) -> bool:
        kind = self.kind(node)
        return isinstance(kind, Tensor) and is_strong(kind) and kind.shape != ()

    def _call(self, node: ast.expr) -> tuple[str, list[ast.expr]]:
        """The builtin that an expression calls, and with what; nothing where it is no such call."""
        if not isinstance(node, ast.Call) or node.keywords:
            return "", []
        kind = self.kind(node.func)
        text = kind.name if isinstance(kind, Function) else ""
        return text.removeprefix("builtins."), node.args


def _going(
    node: ast.For, target: ast.expr, over: ast.expr, start: list[ast.stmt]
) -> ast.stmt:
    made = ast.For(target, over, [*start, *node.body], node.orelse)
    return with_origin(made, node)
