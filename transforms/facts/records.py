"""Classes whose instances are no more than the values of their fields: namedtuples, and dataclasses that nothing changes.

A graph takes a namedtuple apart and puts it together again by itself. A dataclass has to say how, in two methods that
`tf.nest` looks for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .definitions import ClassDefinition, Fields
from .initializers import is_dataclass
from .kinds import Dict, Elements, Kind, Maybe, Record, Sequence, members
from .profile import FunctionNode

if TYPE_CHECKING:
    from .modules import ModuleFacts

NEST_METHODS = """\
def __tf_flatten__(self):
    return (), ({fields})

@classmethod
def __tf_unflatten__(cls, metadata, components):
    return cls(*components)
"""
OWN_WAYS = frozenset(
    [
        "__new__",
        "__init__",
        "__post_init__",
        "__getattr__",
        "__getattribute__",
        "__setattr__",
        "__delattr__",
        "__iter__",
        "__getitem__",
        "__len__",
        "__contains__",
        "__bool__",
        "__eq__",
        "__lt__",
        "__le__",
        "__gt__",
        "__ge__",
        "__hash__",
        "__radd__",
        "__rsub__",
        "__rmul__",
        "__rtruediv__",
        "__iadd__",
        "__neg__",
        "__call__",
    ]
)
"""Methods for which an instance is more than a tuple of its fields."""


def namedtuples(module: ModuleFacts) -> dict[str, Fields]:
    """The fields of a module's namedtuples, by the names of these."""
    found: dict[str, Fields] = {}
    for name, values in module.assignments.items():
        names = _namedtuple(values[0]) if len(values) == 1 else None
        if names is not None:
            found[name] = dict.fromkeys(names)
    for name, made in module.classes.items():
        bases = [ast.unparse(b).rpartition(".")[2] for b in made.node.bases]
        if bases == ["NamedTuple"] and not made.methods.keys() & OWN_WAYS:
            found[name] = made.declared
    return found


def dataclasses(module: ModuleFacts) -> dict[str, Fields]:
    """The fields of a module's dataclasses that have no other attributes, and of which no instance is ever changed."""
    return {
        name: fields
        for name, made in module.classes.items()
        if (fields := _fields(made, module))
        and not any(_may_be_set(field, made, module) for field in fields)
    }


def records_in(kind: Kind) -> Iterator[Record]:
    """The records that a value is, or holds."""
    for member in members(kind):
        match member:
            case Sequence() | Dict():
                if isinstance(member, Record):
                    yield member
                for part in member.parts:
                    yield from records_in(part)
            case Elements(element=inner) | Maybe(kind=inner):
                yield from records_in(inner)


def nest_methods(fields: Fields) -> str:
    """The methods by which a graph takes a dataclass apart."""
    texts = [f"self.{field}" for field in fields]
    return NEST_METHODS.format(fields=", ".join(texts) + "," * (len(texts) == 1))


def _fields(made: ClassDefinition, module: ModuleFacts) -> Fields | None:
    """The fields of a dataclass; None for another class, and for one that is more than they."""
    node = made.node
    own = {s.name for s in node.body if isinstance(s, FunctionNode)} & OWN_WAYS
    if node.bases or own or not is_dataclass(node, module.imported):
        return None
    if "<locals>" in made.qualname or node.body[0].lineno == node.lineno:
        return None
    fields = made.declared
    statements = [
        s
        for s in node.body
        if not isinstance(s, FunctionNode)
        and not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
    ]
    made_anew = any(
        isinstance(n, ast.Call)
        for value in fields.values()
        if value
        for n in ast.walk(value)
    )
    simple = len(statements) == len(fields) and not made_anew
    if not simple or not _is_taken_apart_alike(made, fields):
        return None
    return fields


def _is_taken_apart_alike(made: ClassDefinition, fields: Fields) -> bool:
    """Whether a class has no methods for `tf.nest`, or just those that it would be given."""
    own = [m.original for n, m in made.methods.items() if n.startswith("__tf_")]
    wanted = ast.parse(nest_methods(fields)).body
    return not own or list(map(ast.dump, own)) == list(map(ast.dump, wanted))


def _may_be_set(field: str, made: ClassDefinition, module: ModuleFacts) -> bool:
    """Whether some code may give this field of an instance another value."""
    writers = module.rebound_attributes
    return not all(
        _sets_its_own(module, writer, field, made)
        for writer in {*writers.get(field, ()), *writers.get("<any>", ())}
    )


def _sets_its_own(
    module: ModuleFacts, writer: str, field: str, made: ClassDefinition
) -> bool:
    """Whether a function only sets this attribute of the instance of another class that it is a method of."""
    definition = module.functions.get(writer)
    if definition is None or definition.owner in (None, made):
        return False
    me = definition.receiver
    return (
        me is not None
        and all(
            isinstance(n.value, ast.Name) and n.value.id == me
            for n in ast.walk(definition.original)
            if isinstance(n, ast.Attribute)
            and n.attr in (field, "__dict__")
            and isinstance(n.ctx, ast.Store | ast.Del)
        )
        and not any(
            isinstance(n, ast.Name | ast.Attribute)
            and getattr(n, "id", getattr(n, "attr", ""))
            in ("setattr", "__dict__", "vars")
            for n in ast.walk(definition.original)
        )
    )


def _namedtuple(value: ast.expr | None) -> list[str] | None:
    """The fields of `namedtuple("Name", "field field")`; None for what is no such call."""
    match value:
        case ast.Call(
            func=ast.Name(id="namedtuple") | ast.Attribute(attr="namedtuple"),
            args=[ast.Constant(), ast.Constant(value=str() as fields)],
            keywords=[],
        ):
            return fields.replace(",", " ").split()
        case ast.Call(
            func=ast.Name(id="namedtuple") | ast.Attribute(attr="namedtuple"),
            args=[ast.Constant(), ast.List(elts=elts) | ast.Tuple(elts=elts)],
            keywords=[],
        ) if all(isinstance(e, ast.Constant) for e in elts):
            return [str(e.value) for e in elts if isinstance(e, ast.Constant)]
    return None
