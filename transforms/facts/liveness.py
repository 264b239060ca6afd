"""Liveness: which names are read later, at each statement of a function.

The usual backward analysis over structured control flow (Aho, Lam, Sethi, Ullman, "Compilers", 9.2.5), on the
syntax tree; a name that a nested function captures counts as read everywhere.
"""

from __future__ import annotations

import ast
from collections.abc import Set
from dataclasses import dataclass, field

from .profile import FunctionNode
from .syntax import blocks, bound_names, names_in, own_expressions, own_nodes

Names = frozenset[str]
NOTHING: Names = frozenset()


@dataclass
class Liveness:
    """Names read after a statement, and those that a loop reads of what stands before it.

    Attributes:
        head: names read from where any iteration of a loop begins, or would.
        entry: names read from where its first does.
        captured: names that nested functions read.
        runs: the loops that run at least once.
    """

    after: dict[ast.stmt, Names] = field(default_factory=dict)
    head: dict[ast.stmt, Names] = field(default_factory=dict)
    entry: dict[ast.stmt, Names] = field(default_factory=dict)
    captured: Names = NOTHING
    runs: Set[ast.stmt] = frozenset()


@dataclass(frozen=True)
class _Exits:
    to_break: Names = NOTHING
    to_continue: Names = NOTHING
    to_return: Names = NOTHING


def liveness(function: FunctionNode, runs: Set[ast.stmt] = frozenset()) -> Liveness:
    """The liveness of a function's own statements; `runs` are loops that run at least once."""
    result = Liveness(captured=_captured(function), runs=runs)
    _block(function.body, result.captured, _Exits(), result)
    return result


def _captured(function: FunctionNode) -> Names:
    names: set[str] = set()
    for node in own_nodes(function):
        if isinstance(node, ast.Lambda):
            names |= _loaded(node)
        elif isinstance(node, FunctionNode | ast.ClassDef):
            names |= names_in(node)
    return frozenset(names)


def _loaded(node: ast.AST) -> set[str]:
    """The names that an expression reads, without the parameters of the lambdas in it."""
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Load) else set()
    if isinstance(node, ast.Lambda):
        own = {n.arg for n in ast.walk(node.args) if isinstance(n, ast.arg)}
        return (_loaded(node.body) - own) | _loaded(node.args)
    return {name for inner in ast.iter_child_nodes(node) for name in _loaded(inner)}


def reads(node: ast.AST) -> Names:
    """The names an expression, or a statement's own expressions, read."""
    roots = [node] if isinstance(node, ast.expr) else own_expressions(node)
    names = {name for root in roots for name in _loaded(root)}
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        names.add(node.target.id)
    if isinstance(node, FunctionNode | ast.ClassDef):
        names |= names_in(node)
    if isinstance(node, ast.Assert | ast.Delete):
        names |= names_in(node)
    return frozenset(names)


def all_reads(node: ast.stmt) -> Names:
    """The names that a statement and those in it read."""
    found = reads(node)
    for block in blocks(node):
        for statement in block:
            found |= all_reads(statement)
    return found


def _block(body: list[ast.stmt], out: Names, exits: _Exits, result: Liveness) -> Names:
    for node in reversed(body):
        result.after[node] = result.after.get(node, NOTHING) | out
        out = _statement(node, out, exits, result) | result.captured
    return out


def _statement(node: ast.stmt, out: Names, exits: _Exits, result: Liveness) -> Names:
    match node:
        case ast.Return():
            return reads(node) | exits.to_return
        case ast.Raise():
            return reads(node)
        case ast.Break():
            return exits.to_break
        case ast.Continue():
            return exits.to_continue
        case ast.If():
            arms = _block(node.body, out, exits, result) | _block(
                node.orelse, out, exits, result
            )
            return (arms - _written_by_test(node)) | reads(node)
        case ast.While():
            return _loop(node, out, exits, result)
        case ast.For() | ast.AsyncFor():
            return _loop(node, out, exits, result) | reads(node.iter)
        case ast.With() | ast.AsyncWith():
            inner = _block(node.body, out, exits, result)
            return (inner - frozenset(bound_names(node))) | reads(node)
        case ast.Try():
            return _try(node, out, exits, result)
        case ast.Match():
            arms = out.union(
                *(_block(case.body, out, exits, result) for case in node.cases)
            )
            return arms | frozenset(
                n.id for n in ast.walk(node.subject) if isinstance(n, ast.Name)
            )
    return (out - frozenset(bound_names(node))) | reads(node)


def _written_by_test(node: ast.If | ast.While) -> Names:
    return frozenset(
        inner.target.id
        for inner in ast.walk(node.test)
        if isinstance(inner, ast.NamedExpr)
    )


def _loop(
    node: ast.While | ast.For | ast.AsyncFor,
    out: Names,
    exits: _Exits,
    result: Liveness,
) -> Names:
    if isinstance(node, ast.While):
        test, written = reads(node.test), _written_by_test(node)
    else:
        test = frozenset(getattr(node, "stops", ()))
        written = frozenset(bound_names(node))
    leaving = _block(node.orelse, out, exits, result)
    head: Names = leaving
    while True:
        inner = _Exits(out, head | test, exits.to_return)
        entry = _block(node.body, head, inner, result)
        first = test | (entry - written)
        grown = head | leaving | first
        if grown == head:
            result.head[node] = head
            result.entry[node] = first if node in result.runs else head
            return result.entry[node]
        head = grown


def _try(node: ast.Try, out: Names, exits: _Exits, result: Liveness) -> Names:
    final = _block(node.finalbody, out, exits, result)
    handlers = final.union(
        *(_block(h.body, final, exits, result) for h in node.handlers)
    )
    handlers |= frozenset(
        n.id
        for h in node.handlers
        if h.type
        for n in ast.walk(h.type)
        if isinstance(n, ast.Name)
    )
    normal = _block(node.orelse, final, exits, result)
    for inner in ast.walk(ast.Module(node.body, [])):
        if isinstance(inner, ast.stmt):
            result.after[inner] = result.after.get(inner, NOTHING) | handlers
    return _block(node.body, normal | handlers, exits, result) | handlers
