"""Calls of lambdas that read names which a tensor decides, or that branch on one and are the module's, as what they give.

The first step only, of GL401. Python looks such a name up when the lambda is called; a lambda in a graph would hold what
the name was bound to around the arm or loop body, so its text stands in the place of the calls. A lambda of the module
is no function of which there could be a lifted text.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterable

from .companions import is_unclear
from .facts.environment import FunctionFacts
from .facts.modules import ModuleFacts
from .facts.profile import FunctionNode
from .facts.syntax import all_bound_names, named_functions, names_in
from .findings import Refusal
from .making import SCOPES, applied, is_atom, unplaced
from .rewriting import Rewriter
from .source import Names


def without_late_binding(
    facts: FunctionFacts, module: ModuleFacts, names: Names
) -> FunctionNode | None:
    """The function with such calls written out; None where it has none."""
    made = _Lambdas(facts, module, names)
    return made.function() if made.wanted or made.of_module else None


def check_read_later(
    python: Iterable[ast.stmt], core: FunctionNode, given: Collection[str]
) -> None:
    """Refuse a core that sets what functions in the statements around it may read when they are called.

    Raises:
        Refusal: with the function.
    """
    bound = {name for s in core.body for name in all_bound_names(s)} - {*given}
    for inner in (n for statement in python for n in ast.walk(statement)):
        if isinstance(inner, ast.Lambda | FunctionNode):
            own = {n.arg for n in ast.walk(inner) if isinstance(n, ast.arg)}
            if late := sorted(names_in(inner) & bound - own):
                reason = f"a function in it reads `{late[0]}` after a graph set that"
                raise Refusal(reason, inner)


class _Lambdas(Rewriter):
    def __init__(self, facts: FunctionFacts, module: ModuleFacts, names: Names) -> None:
        super().__init__(facts, names)
        node = facts.definition.node
        lambdas = {
            name: made
            for made, name in named_functions(node).items()
            if name and isinstance(made, ast.Lambda)
        }
        nodes = list(ast.walk(node))
        stored = [n.id for n in nodes if isinstance(n, ast.Name) and _is_store(n)]
        shadowed = {
            inner for n in nodes if isinstance(n, SCOPES) for inner in ast.walk(n)
        }
        unclear: set[str] = set()
        fixed: set[str] = set()
        for call in nodes:
            match call:
                case ast.Call(func=ast.Name(id=name)) if name in lambdas:
                    if is_unclear(facts.kind(call)):
                        unclear.add(name)
                    if call in shadowed or not _fits(call, lambdas[name]):
                        fixed.add(name)
        hindered = {p.node for p in facts.problems}
        self.wanted = {
            name: made
            for name, made in lambdas.items()
            if (made in hindered or name in unclear)
            and stored.count(name) == 1
            and name not in fixed
        }

        self.of_module = {
            call: made
            for call in nodes
            if isinstance(call, ast.Call) and call in hindered
            if (made := _of_module(call, module)) and not names_in(made) & {*stored}
        }

    def instead(self, node: ast.stmt) -> list[ast.stmt] | None:
        match node:
            case ast.Assign(value=ast.Lambda() as made) if made in self.wanted.values():
                return []
        return None

    def expression(self, node: ast.expr) -> ast.expr | None:
        match node:
            case ast.Call(func=ast.Name(id=name), args=args) if name in self.wanted:
                return applied(copy.deepcopy(self.wanted[name]), *args)
            case ast.Call(args=args) if node in self.of_module:
                made = unplaced(copy.deepcopy(self.of_module[node]))
                pairs = zip(args, made.args.args, strict=True)
                return applied(made, *(self.atom(a, p.arg) for a, p in pairs))
        return None


def _is_store(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _of_module(call: ast.Call, module: ModuleFacts) -> ast.Lambda | None:
    """The lambda of the module that a call is of."""
    match call.func:
        case ast.Name(id=name) if name not in module.rebound:
            match module.assignments.get(name):
                case [ast.Lambda() as made] if _fits(call, made, named=True):
                    return made
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=key)) if (
            name not in module.rebound | module.changed
        ):
            match module.assignments.get(name):
                case [ast.Dict() | ast.List() | ast.Tuple() as table]:
                    item = _item(table, key)
                    if isinstance(item, ast.Lambda) and _fits(call, item, named=True):
                        return item
    return None


def _item(table: ast.Dict | ast.List | ast.Tuple, key: object) -> ast.expr | None:
    """The item of a table whose keys are written out; None where that is not one."""
    if isinstance(table, ast.Dict):
        keys = [getattr(k, "value", None) for k in table.keys]
        return table.values[keys.index(key)] if keys.count(key) == 1 else None
    if any(isinstance(e, ast.Starred) for e in table.elts):
        return None
    if not isinstance(key, int) or not 0 <= key < len(table.elts):
        return None
    return table.elts[key]


def _fits(call: ast.Call, made: ast.Lambda, named: bool = False) -> bool:
    """Whether the text of a lambda may stand in the place of a call of it; `named` where arguments may get names."""
    parameters = made.args
    plain = not (parameters.defaults or parameters.vararg or parameters.kwarg)
    plain = plain and not (parameters.kwonlyargs or call.keywords)
    scoped = any(isinstance(n, (*SCOPES, ast.NamedExpr)) for n in ast.walk(made.body))
    same = len(parameters.args) == len(call.args)
    given = not any(isinstance(a, ast.Starred) for a in call.args)
    atoms = given if named else all(map(is_atom, call.args))
    return plain and same and not scoped and atoms
