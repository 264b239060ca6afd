"""Last sizes of what loops of the graph carry: a layer of Keras makes its weights for one, and takes no other then."""

from __future__ import annotations

import ast
from dataclasses import replace

from .environment import FunctionFacts
from .kind_parts import tensor_leaves
from .kinds import Kind, Tensor
from .syntax import assigned_in, bound_names, names_in, nested_statements


def takes_unsized(facts: FunctionFacts, call: ast.Call) -> bool:
    """Whether a call is given what a loop of the graph carries or makes, without its last size."""
    given = [a for a in call.args if _has_no_last_size(facts.kind(a))]
    return _are_unsized(facts, given)


def gives_unsized(facts: FunctionFacts) -> bool:
    """Whether a function returns such a tensor."""
    returned = [
        node.value
        for node, kind in facts.returns
        if node and node.value and any(map(_has_no_last_size, tensor_leaves(kind)))
    ]
    return _are_unsized(facts, returned)


def kept(recorded: list[Kind], entry: Kind | None, head: Kind) -> Kind:
    """What a loop hands to a layer round by round, with the last size that it begins with and was seen to keep."""
    if not (isinstance(entry, Tensor) and isinstance(head, Tensor)):
        return head
    last = [k.shape[-1] for k in recorded if isinstance(k, Tensor) and k.shape]
    if head.shape is None and entry.shape and last == [entry.shape[-1]] * 2:
        return replace(head, shape=(*(None,) * (len(entry.shape) - 1), last[0]))
    return head


def _are_unsized(facts: FunctionFacts, values: list[ast.expr]) -> bool:
    loops = any(isinstance(node, ast.For | ast.While) for node in facts.staged)
    if not values or not (loops or facts.unsized_calls):
        return False
    unsized = _unsized(facts)
    return any(_is_of(facts, value, unsized) for value in values)


def _is_of(facts: FunctionFacts, value: ast.expr, unsized: set[str]) -> bool:
    return value in facts.unsized_calls or not unsized.isdisjoint(names_in(value))


def _has_no_last_size(kind: Kind) -> bool:
    return isinstance(kind, Tensor) and (kind.shape is None or None in kind.shape[-1:])


def _unsized(facts: FunctionFacts) -> set[str]:
    """The names of what loops of the graph go on with, and of what is made of that inside them and behind."""
    found: set[str] = set()
    for node in nested_statements(facts.definition.node.body):
        if isinstance(node, ast.For | ast.While) and node in facts.staged:
            before = facts.before.get(node)
            found |= assigned_in(node) & (before.kinds.keys() if before else set())
            inner, known = list(nested_statements(node.body)), -1
            while known != len(found):
                known = len(found)
                _follow(facts, inner, found)
        _follow(facts, [node], found)
    return found


def _follow(facts: FunctionFacts, body: list[ast.stmt], found: set[str]) -> None:
    """Add the names that get something made of those already found."""
    for node in body:
        if isinstance(node, ast.Assign) and _is_of(facts, node.value, found):
            found |= set(bound_names(node))
