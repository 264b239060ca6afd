"""Calls of `functools.partial` objects, as calls of the functions that these hold.

The first step only, of GL401: a graph is lifted through the functions that are called, and a partial hides one.
"""

from __future__ import annotations

import ast
import copy

from .facts.environment import FunctionFacts
from .facts.modules import ModuleFacts
from .facts.profile import FunctionNode
from .facts.syntax import given_to, own_nodes
from .making import is_atom, unplaced
from .rebuilding import with_origin
from .rewriting import Rewriter
from .source import Names


def without_partials(
    facts: FunctionFacts, module: ModuleFacts, names: Names
) -> FunctionNode | None:
    """The function with such calls written out; None where it has none."""
    made = _Partials(facts, module, names)
    return made.function() if made.local or made.shared else None


class _Partials(Rewriter):
    def __init__(self, facts: FunctionFacts, module: ModuleFacts, names: Names) -> None:
        super().__init__(facts, names)
        self.module = module
        nodes = list(ast.walk(facts.definition.node))
        self.stored = [
            n.id
            for n in nodes
            if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
        ]
        called = {n.func for n in nodes if isinstance(n, ast.Call)}
        self.passed = {
            n.id
            for n in nodes
            if isinstance(n, ast.Name)
            and isinstance(n.ctx, ast.Load)
            and n not in called
        }
        self.local: dict[str, ast.Call] = {}
        for node in own_nodes(facts.definition.node):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                    if self._is_partial(call) and self._may_go(name, call):
                        self.local[name] = call
        self.shared = self._shared(called)

    def _shared(self, called: set[ast.expr]) -> dict[str, ast.Call]:
        """The partials of the module that are called here."""
        found: dict[str, ast.Call] = {}
        for function in called:
            if not isinstance(function, ast.Name) or function.id in self.stored:
                continue
            name, module = function.id, self.module
            values = module.assignments.get(name, [])
            if len(values) != 1 or name in module.rebound:
                continue
            match values[0]:
                case ast.Call(args=[ast.Name(), *_]) as call:
                    if self._is_partial(call) and self._lasts(call):
                        found[name] = call
        return found

    def _is_partial(self, call: ast.Call) -> bool:
        dotted = self.module.imported(ast.unparse(call.func))
        plain = not any(isinstance(a, ast.Starred) for a in call.args)
        named = all(k.arg for k in call.keywords)
        return dotted == "functools.partial" and bool(call.args) and plain and named

    def _may_go(self, name: str, call: ast.Call) -> bool:
        """Whether a partial of the function's own is only called, and with what stays as it is."""
        values = [*call.args[1:], *(k.value for k in call.keywords)]
        once = self.stored.count(name) == 1 and name not in self.passed
        roots = {n.id for v in values for n in ast.walk(v) if isinstance(n, ast.Name)}
        return once and all(map(is_atom, values)) and not roots & set(self.stored)

    def _lasts(self, call: ast.Call) -> bool:
        """Whether what a partial of the module holds is the same for good, and has its names here."""
        values = given_to(call)
        roots = {n.id for v in values for n in ast.walk(v) if isinstance(n, ast.Name)}
        own = {*self.stored, *self.facts.parameters}
        return all(map(is_atom, values)) and not roots & (own | self.module.rebound)

    def instead(self, node: ast.stmt) -> list[ast.stmt] | None:
        match node:
            case ast.Assign(targets=[ast.Name(id=name) as target], value=value) if (
                value is self.local.get(name)
            ):
                assert isinstance(value, ast.Call)
                made = ast.Assign([copy.copy(target)], value.args[0])
                return [with_origin(made, node)]
        return None

    def expression(self, node: ast.expr) -> ast.expr | None:
        match node:
            case ast.Call(func=ast.Name(id=name) as function) if name in self.local:
                return _called(function, self.local[name], node)
            case ast.Call(func=ast.Name(id=name)) if name in self.shared:
                call = self.shared[name]
                return _called(_copied(call.args[0]), call, node)
        return None


def _called(function: ast.expr, partial: ast.Call, node: ast.Call) -> ast.Call:
    given = {k.arg for k in node.keywords}
    held = [k for k in partial.keywords if k.arg not in given]
    keywords = [ast.keyword(k.arg, _copied(k.value)) for k in held]
    args = [*map(_copied, partial.args[1:]), *node.args]
    return ast.Call(function, args, [*node.keywords, *keywords])


def _copied(node: ast.expr) -> ast.expr:
    return unplaced(copy.deepcopy(node))
