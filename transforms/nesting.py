"""Which records `tf.cond`, loops and graphs take apart and put together again."""

from __future__ import annotations

import ast

from .facts.environment import FunctionFacts
from .facts.records import records_in
from .steps import Plan


def taken_apart(facts: FunctionFacts, plan: Plan) -> set[str]:
    """The types of the records that a lifted function's `tf.cond`, loops and graphs are given or give back.

    Args:
        facts: of the function, after all first steps.
        plan: what it becomes. A shell puts a result together from its tensors itself.
    """
    nodes = [n for staged in facts.staged for n in ast.walk(staged)]
    kinds = [facts.kind(n) for n in nodes if _gives(n) and isinstance(n, ast.expr)]
    if not plan.shell:
        returned = (n.value for n in nodes if isinstance(n, ast.Return) and n.value)
        kinds += map(facts.kind, returned)
    if plan.decorator or plan.core:
        kinds += facts.parameters.values()
    if plan.decorator and not plan.shell:
        kinds.append(facts.result)
    given = {*(plan.parameters or ()), *(n for p in plan.more for n in p.parameters)}
    if given:
        names = ast.walk(facts.definition.node)
        kinds += [
            facts.kind(n) for n in names if isinstance(n, ast.Name) and n.id in given
        ]
    return {record.type for kind in kinds for record in records_in(kind)}


def _gives(node: ast.AST) -> bool:
    stored = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    return stored or isinstance(node, ast.IfExp)
