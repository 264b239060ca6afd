"""How many dimensions a tensor has, where that is not known: Python's number in one trace, or the graph's.

Tensors of several ranks that a function is given are told apart while it is traced, once for each rank. Where a tensor
decides the rank, no trace knows it.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .kinds import INT, SIZE, Elements, Kind, Tensor, weak
from .staging import is_strong
from .syntax import all_bound_names

if TYPE_CHECKING:
    from .environment import FunctionFacts
    from .evaluation import Evaluation

NAMES = frozenset({"rank", "ndims", "ndim"})
WAY_OUT = "ask `tf.rank`, or give both arms tensors of one rank"


def attribute(evaluation: Evaluation, node: ast.Attribute, owner: Kind) -> Kind | None:
    """What `x.shape.rank` or `x.ndim` of a tensor of unknown rank is; None for another attribute."""
    of_tensor = isinstance(owner, Tensor) and owner.shape is None and is_strong(owner)
    if node.attr not in NAMES or not (of_tensor or is_open_shape(owner)):
        return None
    return _read(evaluation, node)


def length(evaluation: Evaluation, node: ast.Call, whole: Kind) -> Kind | None:
    """What `len(x.shape)` of a tensor of unknown rank is; None of anything else."""
    return _read(evaluation, node) if is_open_shape(whole) else None


def is_open_shape(kind: Kind) -> bool:
    """Whether this is the shape of a tensor of unknown rank, or a list of its sizes."""
    return isinstance(kind, Elements) and kind.element == SIZE


def is_given(facts: FunctionFacts) -> bool:
    """Whether a function is given tensors of any rank."""
    return any(
        isinstance(k, Tensor) and k.shape is None for k in facts.parameters.values()
    )


def passed(evaluation: Evaluation, node: ast.expr, callee: FunctionFacts) -> None:
    """Note that a call passes on a rank that the function called reads while it is traced."""
    if callee.ranks and is_given(callee):
        name = callee.definition.node.name
        _note(evaluation, node, f"`{name}` asks for a rank that no trace may know")


def _read(evaluation: Evaluation, node: ast.expr) -> Kind:
    facts = evaluation.facts
    if evaluation.session.is_graph_function(facts.definition):
        return INT
    if not is_given(facts):
        return weak("int")
    _note(evaluation, node, "a rank that no trace may know is asked for here")
    return INT


def _note(evaluation: Evaluation, node: ast.expr, reason: str) -> None:
    """Note a rank that Python reads while it traces; a problem where a tensor may have decided it."""
    facts = evaluation.facts
    body = facts.definition.node.body
    kept = facts.parameters.keys() - {n for s in body for n in all_bound_names(s)}
    as_given = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} & kept
    if not is_given(facts) or (facts.staged and not as_given):
        evaluation.problem(reason, node, "GL406", WAY_OUT)
    facts.ranks.add(node)
