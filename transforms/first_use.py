"""What a function makes on its first use and keeps: `if model is None: ...`, `if not hasattr(self, "w"): ...`, `if not self.built: ...`.

Making it stays Python's, before the graph; from then on the global or attribute is as constant as any other, or, where
the function sets it again, a piece of state like any other.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from .facts.environment import FunctionFacts
from .facts.kinds import Kind, Object, Python, Tensor, Variable, python
from .facts.session import Session
from .facts.syntax import bound_names, names_in
from .inlining import place


def made_on_first_use(
    session: Session, facts: FunctionFacts, body: list[ast.stmt]
) -> dict[ast.stmt, dict[str, Kind]]:
    """The statements of a block that make what is None until then, with what each leaves under which name."""
    found: dict[ast.stmt, dict[str, Kind]] = {}
    earlier: list[ast.stmt] = []
    for node in body:
        made = _made(session, facts, node)
        if made is not None and not _depends(node, earlier):
            found[node] = made
        else:
            earlier.append(node)
    return found


def given_first(facts: FunctionFacts, body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a block that give an object an attribute which it has not got yet, and do nothing else."""
    found: list[ast.stmt] = []
    earlier: list[ast.stmt] = []
    for node in body:
        chain = given_if_missing(node)
        sets = chain is not None and _only_sets(facts, node, chain)
        first = sets and not _depends(node, earlier) and not any(map(_ends, earlier))
        (found if first else earlier).append(node)
    return found


def _ends(node: ast.stmt) -> bool:
    """Whether a statement may return, or raise an exception of its own."""
    ends = (ast.Return, ast.Raise, ast.Assert)
    return any(isinstance(n, ends) for n in ast.walk(node))


def given_if_missing(node: ast.stmt) -> str | None:
    """The text of the attribute that a statement gives an object where it has none: `if not hasattr(self, "mean"): ...`."""
    tested = _tested(node)
    if tested is None or tested.start is not ABSENT or node.orelse:  # type: ignore[attr-defined]
        return None
    sets = any(ast.unparse(n) == tested.text for s in node.body for n in _set_by(s))  # type: ignore[attr-defined]
    return tested.text if sets else None


def _only_sets(facts: FunctionFacts, node: ast.stmt, chain: str | None) -> bool:
    """Whether such a statement sets this attribute alone, to a tensor or a number."""
    match node:
        case ast.If(
            body=[ast.Assign(targets=[ast.Attribute() as target], value=value)]
        ):
            kind = facts.kind(value)
            plain = isinstance(kind, Tensor | Python)
            return plain and ast.unparse(target) == chain
    return False


def _made(
    session: Session, facts: FunctionFacts, node: ast.stmt
) -> dict[str, Kind] | None:
    """The globals and attributes that a statement sets where the one it asks for is not set yet, and sets for good."""
    tested = _tested(node)
    if tested is None or not isinstance(node, ast.If) or node.orelse:
        return None
    made: dict[str, Kind] = {}
    for statement in node.body:
        match statement:
            case ast.Assign(
                targets=[ast.Name() | ast.Attribute() as target], value=value
            ):
                kind, text = facts.kind(value), ast.unparse(target)
                is_flag = text == tested.text and kind == python(True)
                if not isinstance(kind, Variable | Object) and not is_flag:
                    return None
                start = tested.start if text == tested.text else None
                if not _is_set_once(session, facts, target, node, start):
                    return None
                made[text] = Object(kind.name) if isinstance(kind, Object) else kind
            case ast.Expr():
                pass
            case _:
                return None
    return made if tested.text in made else None


ABSENT = object()


@dataclass(frozen=True)
class _Tested:
    """The global or attribute for which a statement asks whether it is set, and what it is at the start."""

    text: str
    start: object


def _tested(node: ast.stmt) -> _Tested | None:
    match node:
        case ast.If(
            test=ast.Compare(
                left=ast.Name() | ast.Attribute() as tested,
                ops=[ast.Is()],
                comparators=[ast.Constant(value=None)],
            )
        ):
            return _Tested(ast.unparse(tested), None)
        case ast.If(
            test=ast.UnaryOp(
                op=ast.Not(), operand=ast.Name() | ast.Attribute() as tested
            )
        ):
            return _Tested(ast.unparse(tested), False)
        case ast.If(
            test=ast.UnaryOp(
                op=ast.Not(),
                operand=ast.Call(
                    func=ast.Name(id="hasattr"),
                    args=[ast.Name(id=owner), ast.Constant(value=str() as name)],
                ),
            )
        ):
            return _Tested(f"{owner}.{name}", ABSENT)
    return None


def _is_set_once(
    session: Session,
    facts: FunctionFacts,
    target: ast.Name | ast.Attribute,
    node: ast.stmt,
    start: object,
) -> bool:
    """Whether only this statement, and what it is at the start, set such a global or attribute."""
    name = target.id if isinstance(target, ast.Name) else target.attr
    if isinstance(target, ast.Name):
        if name not in facts.definition.declared_global:
            return False
    elif not isinstance(target.value, ast.Name) or target.value.id in _bound(facts):
        return False
    elsewhere = session.module.elsewhere
    if name in elsewhere.rebound | elsewhere.stored:
        return False
    own = {place(n) for n in ast.walk(node)}
    for statement in session.module.nodes:
        for inner in _set_by(statement):
            if _name(inner) != name or place(inner) in own:
                continue
            starts = isinstance(statement, ast.Assign | ast.AnnAssign) and (
                isinstance(statement.value, ast.Constant)
                and statement.value.value is start
            )
            if not starts or not _is_start(session, inner, statement):
                return False
    return True


def _set_by(node: ast.AST) -> list[ast.expr]:
    targets: list[ast.expr] = []
    for name in ("targets", "target"):
        value = getattr(node, name, None)
        targets += value if isinstance(value, list) else [value] if value else []
    return [
        n
        for t in targets
        for n in ast.walk(t)
        if isinstance(n, ast.Name | ast.Attribute) and not isinstance(n.ctx, ast.Load)
    ]


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def _is_start(session: Session, target: ast.expr, statement: ast.AST) -> bool:
    """Whether a statement stands at the start: in the module or in an `__init__`."""
    if isinstance(target, ast.Name):
        return statement in session.module.tree.body
    return any(
        statement in d.original.body
        for d in session.module.functions.values()
        if d.node.name == "__init__"
    )


def _bound(facts: FunctionFacts) -> set[str]:
    body = facts.definition.node.body
    return {n for s in body for n in bound_names(s)}


def _depends(node: ast.stmt, earlier: list[ast.stmt]) -> bool:
    """Whether a statement cannot stand before these."""
    read = names_in(node)
    made = {ast.unparse(n) for i in ast.walk(node) for n in _set_by(i)}
    inner = [i for s in earlier for i in ast.walk(s)]
    bound = {n for i in inner for n in bound_names(i)}
    used = {ast.unparse(i) for i in inner if isinstance(i, ast.Name | ast.Attribute)}
    return bool(read & bound or made & used)
