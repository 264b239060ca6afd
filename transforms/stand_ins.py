"""What stands for a value that one way of a function has not, and that nobody reads there."""

from __future__ import annotations

import ast

from .facts.kinds import NONE, Dict, Kind, Maybe, Python, Rows, Sequence, Tensor
from .findings import Refusal
from .list_forms import listed
from .making import expression
from .promotion import Promotion

NOTHING: dict[str, int | float | str] = {
    "int": 0,
    "float": 0.0,
    "bool": False,
    "str": "",
}
"""What stands for a Python value."""


def nothing(kind: Kind, promotion: Promotion) -> ast.expr:
    """What stands for a value that a way has not.

    Raises:
        Refusal: nothing does.
    """
    match kind:
        case Maybe():
            return ast.Constant(None)
        case Sequence(type="tuple", items=items):
            return ast.Tuple([nothing(k, promotion) for k in items], ast.Load())
        case Sequence(type="list", items=items):
            return ast.List([nothing(k, promotion) for k in items], ast.Load())
        case Dict(items=entries):
            keys: list[ast.expr | None] = [expression(repr(key)) for key, _ in entries]
            return ast.Dict(keys, [nothing(k, promotion) for _, k in entries])
        case Python() if kind == NONE or kind.known:
            made: ast.expr = ast.Constant(kind.value)  # type: ignore[arg-type]
        case Python(type=word) | Tensor(weak=str() as word) if word in NOTHING:
            made = ast.Constant(NOTHING[word])
        case Rows(ragged=False, element=element):
            made = listed(expression(promotion.zero(kind)), element)
        case Tensor():
            made = expression(promotion.zero(kind))
        case _:
            raise Refusal(f"nothing stands for {kind} where it raises", code="GL108")
    made.is_nothing = True  # type: ignore[attr-defined]
    return made
