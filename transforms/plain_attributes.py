"""Attributes that are plain places for values: there whenever a function is called, and served by nothing else."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from .facts.definitions import ClassDefinition, FunctionDefinition
from .facts.kinds import Kind, Module, Object, Record, Type
from .facts.session import Session
from .facts.syntax import own_body, unmangled
from .first_use import given_if_missing

SERVING = ("__getattr__", "__setattr__", "__getattribute__")

UNSET = "neither `__init__` nor what it calls"
"""How it begins that an attribute has no value from the start."""


class PlainAttributes:
    """Tells, of the attributes that one function reads or writes, whether Python does no more there than keep a value."""

    def __init__(self, session: Session, definition: FunctionDefinition) -> None:
        self.session = session
        self.definition = definition

    def hindrance(
        self, kind: Kind, holder: str, name: str, written: bool
    ) -> str | None:
        """Why an attribute of what a text stands for, of this kind, is no plain place for a value; None where it is one."""
        chain = f"{holder}.{name}"
        if isinstance(kind, Module):
            known = self.session.is_global(f"{kind.name}.{name}")
            return None if known else f"`{chain}` is no global of the module"
        if isinstance(kind, Record):
            return None
        kept = not written or self._is_always_written(chain)
        if isinstance(kind, Object) and kind.is_namespace:
            return None if kept else f"not every call sets `{chain}`"
        family = (
            lineage(self.session, kind.name) if isinstance(kind, Object | Type) else []
        )
        if not family:
            return f"of which class `{holder}` is, is not known for sure"
        name = unmangled(name, family[0].qualname)
        methods = [_method(family, served) for served in (name, *SERVING)]
        serving = next(filter(None, methods), None)
        if serving is not None:
            by = (
                "a property"
                if serving.is_property
                else f"served by `{serving.qualname}`"
            )
            return f"`{chain}` is {by}"
        if any(self.session.instances.is_descriptor(c, name) for c in family):
            return f"`{chain}` is served by a descriptor"
        if self._is_set_by_module(chain) or _sets(_initializers(family), name):
            return None
        if any(name in c.assigned for c in family):
            plain = isinstance(kind, Type) or kept
            return (
                None if plain else f"not every call sets `{chain}`, which the class has"
            )
        sets = _sets((m for c in family for m in c.methods.values()), name)
        if sets and self._is_surely_met(chain):
            return None
        return f"{UNSET} sets `{chain}`"

    def _is_surely_met(self, chain: str) -> bool:
        """Whether every call reads or sets an attribute before anything decides on the way."""
        for statement in own_body(self.definition.node):
            mentioned = [
                n
                for n in ast.walk(statement)
                if isinstance(n, ast.Attribute) and ast.unparse(n) == chain
            ]
            met = set(mentioned) & set(_run_always(statement))
            if met or given_if_missing(statement) == chain:
                return True
            decides = any(isinstance(n, ast.Return) for n in ast.walk(statement))
            if decides or any(isinstance(n.ctx, ast.Store) for n in mentioned):
                return False
        return False

    def _is_set_by_module(self, chain: str) -> bool:
        """Whether the module gives an object the attribute before it calls anything of this."""
        return any(
            ast.unparse(target) == chain
            for statement in self.session.module.tree.body
            if isinstance(statement, ast.Assign)
            for target in statement.targets
        )

    def _is_always_written(self, chain: str) -> bool:
        return any(
            isinstance(s, ast.Assign | ast.AugAssign)
            and chain
            in {
                ast.unparse(n)
                for n in ast.walk(s)
                if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)
            }
            for s in self.definition.node.body
        )


def lineage(session: Session, name: str) -> list[ClassDefinition]:
    """The class of a dotted name, and those of the project that it extends, in this module or in others."""
    home, qualname = session.home(name)
    made = home.module.classes.get(qualname)
    if made is None:
        return []
    found = [made]
    for base in made.node.bases:
        text = ast.unparse(base)
        found += lineage(home, home.module.imported(text) or home.dotted(text))
    return found


def _method(family: list[ClassDefinition], name: str) -> FunctionDefinition | None:
    return next((c.methods[name] for c in family if name in c.methods), None)


def _run_always(node: ast.AST) -> Iterator[ast.AST]:
    """The expressions that a statement comes to, whatever their values are."""
    inner: Iterable[ast.AST] = ast.iter_child_nodes(node)
    match node:
        case (
            ast.If(test=first)
            | ast.While(test=first)
            | ast.IfExp(test=first)
            | ast.For(iter=first)
            | ast.comprehension(iter=first)
            | ast.BoolOp(values=[first, *_])
            | ast.ListComp(generators=[first, *_])
            | ast.SetComp(generators=[first, *_])
            | ast.DictComp(generators=[first, *_])
        ):
            inner = [first]
        case ast.With(items=items):
            inner = items
        case ast.Compare(left=left, comparators=[first, *_]):
            inner = [left, first]
        case ast.Lambda() | ast.Try() | ast.GeneratorExp() | ast.FunctionDef():
            inner = []
    yield node
    for child in inner:
        yield from _run_always(child)


def _sets(functions: Iterable[FunctionDefinition], name: str) -> bool:
    """Whether one of these functions sets an attribute of this name."""
    return any(
        isinstance(n, ast.Attribute) and n.attr == name and isinstance(n.ctx, ast.Store)
        for function in functions
        for n in ast.walk(function.original)
    )


def _initializers(family: list[ClassDefinition]) -> list[FunctionDefinition]:
    """What runs where an object is made: `__init__` of its class and of its bases, and the methods that it calls."""
    found = [
        method
        for c in family
        for name, method in c.methods.items()
        if name == "__init__"
    ]
    for initializer in found:
        for statement in initializer.original.body:
            match statement:
                case ast.Expr(ast.Call(ast.Attribute(ast.Name(owner), attr))) if (
                    owner == initializer.parameters[0].arg
                ):
                    called = _method(family, attr)
                    if called is not None and called not in found:
                        found.append(called)
    return found
