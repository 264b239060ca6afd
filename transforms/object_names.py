"""Objects that a function makes go by one name each, which whatever it does with them shows."""

from __future__ import annotations

import ast

from .facts.environment import FunctionFacts
from .facts.profile import FunctionNode
from .facts.session import Session
from .facts.syntax import all_bound_names, names_in
from .objects import STATE_CODES
from .rebuilding import copied, rebuilt
from .rewriting import Rewriter
from .source import Names, in_small_letters


def with_names(
    facts: FunctionFacts, session: Session, names: Names
) -> FunctionNode | None:
    """The function with a name for each object that it makes to ask it one thing; None where it makes none."""
    return _Unnamed(facts, session, names).function()


def class_name(node: ast.expr) -> str:
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name
    return ""


class _Unnamed(Rewriter):
    """Gives a name to what a function makes to ask it one thing: `Box(a, b).clip(x)`."""

    def __init__(self, facts: FunctionFacts, session: Session, names: Names) -> None:
        super().__init__(facts, names)
        self.session = session
        self.hindering = {p.node for p in facts.problems if p.code in STATE_CODES}

    def expression(self, node: ast.expr) -> ast.expr | None:
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Call() as call) as function):
                if call not in self.hindering or not self._may_name:
                    return None
                made = self.session.module.classes.get(class_name(call))
                if made is None or self._has_effects(call):
                    return None
                held = self.atom(call, in_small_letters(made.qualname))
                asked = ast.Attribute(held, function.attr, ast.Load())
                return ast.Call(asked, node.args, node.keywords)
        return None


def without_itself(body: list[ast.stmt], name: str) -> list[ast.stmt]:
    """A block without assignments of a name to itself, as a method that gives back its object makes them."""
    result: list[ast.stmt] = []
    for node in body:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=target)], value=ast.Name(id=given)
            ) if target == given == name:
                continue
        result.append(rebuilt(node, lambda b: without_itself(b, name)))
    return result


def with_one_name(body: list[ast.stmt], name: str) -> list[ast.stmt]:
    """A block where an object that gets another name at last, `t = s`, has its first name there, too."""
    for i, node in enumerate(body):
        match node:
            case ast.Assign(targets=[ast.Name(id=other)], value=ast.Name(id=given)) if (
                given == name
            ):
                before = {n for s in body[:i] for n in names_in(s)}
                after = {n for s in body[i + 1 :] for n in names_in(s)}
                again = any(other in all_bound_names(s) for s in body[i + 1 :])
                inner = [n for s in body for n in ast.walk(s)]
                again |= any(isinstance(n, ast.arg) and n.arg == other for n in inner)
                if other in before or name in after or again:
                    return body
                renamed = OtherName(other, name)
                rest = [renamed.visit(copied(s)) for s in body[i + 1 :]]
                return [*body[:i], *rest]
    return body


class OtherName(ast.NodeTransformer):
    """Writes one name as another."""

    def __init__(self, old: str, new: str) -> None:
        self.old = old
        self.new = new

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id != self.old:
            return node
        made = ast.Name(self.new, node.ctx)
        if hasattr(node, "lineno"):
            ast.copy_location(made, node)
            made.made = True  # type: ignore[attr-defined]
        return made
