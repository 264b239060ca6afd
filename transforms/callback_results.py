"""Numbers that a function gives back to TensorFlow, which calls it in a graph of its own and makes tensors of them.

The first step only, of GL401. `dataset.map(label)` holds the 1 of `return x, 1` as an int32, where a `tf.cond` in `label`
would give an int64.
"""

from __future__ import annotations

import ast

from .facts.callbacks import DEFAULTS
from .facts.environment import FunctionFacts
from .facts.kinds import UNKNOWN, Dict, Kind, Python, Sequence, Tensor
from .facts.profile import FunctionNode, Recorded
from .facts.session import Session
from .facts.staging import is_weak
from .making import called, expression
from .rebuilding import with_origin
from .rewriting import Rewriter
from .source import Names

DTYPES = DEFAULTS | {"bool": "bool", "str": "string"}
"""What TensorFlow makes of Python's values."""


def with_tensors_returned(
    facts: FunctionFacts,
    session: Session,
    recorded: Recorded | None,
    names: Names,
    tf: str,
) -> FunctionNode | None:
    """The function with tensors in the place of numbers that only graphs were seen to get of it; None where there are none."""
    given = session.given_to_datasets
    if recorded is None or facts.definition.node.name not in given:
        return None
    return _Returned(facts, names, tf, recorded.returns).function()


class _Returned(Rewriter):
    def __init__(self, facts: FunctionFacts, names: Names, tf: str, seen: Kind) -> None:
        super().__init__(facts, names)
        self.tf = tf
        self.seen = seen

    def instead(self, node: ast.stmt) -> list[ast.stmt] | None:
        if not isinstance(node, ast.Return) or node.value is None:
            return None
        made = self._held(node.value, self.seen)
        return None if made is node.value else [with_origin(ast.Return(made), node)]

    def _held(self, node: ast.expr, seen: Kind) -> ast.expr:
        """A returned value with tensors where such were seen."""
        match node, seen:
            case ast.Tuple(elts=elts), Sequence(items=items) if len(elts) == len(items):
                parts = list(map(self._held, elts, items))
                return node if parts == elts else ast.Tuple(parts, ast.Load())
            case ast.Dict(keys=keys, values=values), Dict():
                known = dict(seen.items)
                wanted = [known.get(getattr(k, "value", ""), UNKNOWN) for k in keys]
                parts = list(map(self._held, values, wanted))
                return node if parts == values else ast.Dict(keys, parts)
            case _, Tensor(dtype=str(dtype)) if DTYPES.get(self._type(node)) == dtype:
                if isinstance(node, ast.Constant):
                    return called(f"{self.tf}.constant", node)
                return called(f"{self.tf}.cast", node, expression(f"{self.tf}.{dtype}"))
        return node

    def _type(self, node: ast.expr) -> str:
        """The type of a Python number."""
        kind = self.kind(node)
        if isinstance(kind, Tensor) and is_weak(kind) and not kind.mixed:
            return kind.weak or ""
        return kind.type if isinstance(kind, Python) else ""
