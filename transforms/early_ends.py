"""GL108 tensor-assert: a core that ends where its function raises; the `raise` comes behind it.

Work that stands behind a `raise` must not be done where that raises. A core that does it returns before, and gives zeros
for what it gives elsewhere, which nobody reads: the shell raises at once.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from typing import TypeGuard

from .facts.kinds import NONE, Kind
from .facts.syntax import all_bound_names
from .making import negated, unplaced
from .promotion import Promotion
from .rebuilding import with_origin
from .stand_ins import nothing


def with_end(core: list[ast.stmt], waiting: ast.stmt) -> list[ast.stmt] | None:
    """A core that ends where a statement that waits behind it will raise; None where the test of that is no name."""
    match waiting:
        case ast.If(test=test, orelse=[]):
            ended = copy.deepcopy(test)
        case ast.Assert(test=test):
            ended = negated(copy.deepcopy(test))
        case _:
            return None
    tested = ended.operand if isinstance(ended, ast.UnaryOp) else ended
    if not isinstance(tested, ast.Name):
        return None
    unplaced(ended)
    *early, last = core or [waiting]
    if ends_core(last):
        return [*early, _end(ast.BoolOp(ast.Or(), [last.test, ended]), waiting)]
    return [*core, _end(ended, waiting)]


def _end(test: ast.expr, origin: ast.stmt) -> ast.If:
    made = ast.If(test, [ast.Return(None)], [])
    with_origin(made, origin)
    made.ends_core = True  # type: ignore[attr-defined]
    return made


def ends_core(node: ast.stmt) -> TypeGuard[ast.If]:
    """Whether a statement ends a core where its function raises."""
    return hasattr(node, "ends_core")


def with_nothing(
    core: Sequence[ast.stmt],
    result: Kind,
    given: list[str],
    bound: set[str],
    kind: Callable[[str], Kind],
    promotion: Promotion,
) -> list[ast.stmt]:
    """The statements of a core, which gives nothing where it ends because its function raises.

    Args:
        result: what the core gives elsewhere.
        given: the names that it gives beside that; `kind` tells of what kinds they are.
        bound: the names that are bound before it.

    Raises:
        Refusal: nothing stands for one of these.
    """
    made: list[ast.stmt] = []
    known = set(bound)
    for node in core:
        if ends_core(node):
            leave = ast.Return(None if result == NONE else nothing(result, promotion))
            leave.instead = {  # type: ignore[attr-defined]
                n: nothing(kind(n), promotion) for n in given if n not in known
            }
            end = copy.copy(node)
            end.body = [leave]
            made.append(end)
            continue
        known |= set(all_bound_names(node))
        made.append(node)
    return made
