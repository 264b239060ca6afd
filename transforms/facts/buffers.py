"""Arrays that a function makes and fills item by item: whether a graph can hold them in a tensor."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from .environment import FunctionFacts
from .kinds import Array, Kind, Python, Sequence, Shape, Tensor
from .modules import own_nodes
from .profile import FunctionNode
from .signs import is_never_negative
from .staging import is_numpy, is_tensor

MAKERS = frozenset(
    "zeros ones full empty array zeros_like ones_like full_like arange linspace eye".split()  # noqa: SIM905
)
"""Functions of NumPy that give an array of which nobody else knows."""
VIEWS = frozenset(
    "reshape ravel transpose squeeze asarray asanyarray expand_dims T view flat swapaxes".split()  # noqa: SIM905
)
"""What gives an array that shares its items with another."""


COPIES = ("numpy", "copy", "astype")
CONVERSIONS = ("len", "float", "int", "bool", "abs", "print")


def is_own(name: str, facts: FunctionFacts, imports: Mapping[str, str]) -> bool:
    """Whether a name is the only one for arrays that the function makes, so that changing them changes nothing else."""
    parents = {
        child: node
        for node in own_nodes(facts.definition.node)
        for child in ast.iter_child_nodes(node)
    }
    for node in own_nodes(facts.definition.node):
        if not isinstance(node, ast.Name) or node.id != name:
            continue
        if isinstance(node.ctx, ast.Store):
            if not _is_made(parents.get(node), node, imports):
                return False
        elif not _is_plain_use(node, parents, facts, imports):
            return False
    return name not in facts.parameters and not _is_captured(name, facts)


def _is_captured(name: str, facts: FunctionFacts) -> bool:
    """Whether a nested function or a lambda knows the array."""
    inner = (
        node
        for node in ast.walk(facts.definition.node)
        if isinstance(node, ast.Lambda | FunctionNode)
        and node is not facts.definition.node
    )
    return any(
        isinstance(n, ast.Name) and n.id == name
        for node in inner
        for n in ast.walk(node)
    )


def _is_made(
    parent: ast.AST | None, node: ast.Name, imports: Mapping[str, str]
) -> bool:
    """Whether a name is set to a new array."""
    if isinstance(parent, ast.AugAssign):
        return True
    if not isinstance(parent, ast.Assign) or parent.targets != [node]:
        return False
    match parent.value:
        case ast.BinOp() | ast.UnaryOp():
            return True
        case ast.Call(func=function):
            package, _, short = _dotted(function, imports).partition(".")
            copies = isinstance(function, ast.Attribute) and function.attr in COPIES
            return copies or (package == "numpy" and short in MAKERS)
    return False


def _is_plain_use(
    node: ast.Name,
    parents: dict[ast.AST, ast.AST],
    facts: FunctionFacts,
    imports: Mapping[str, str],
) -> bool:
    """Whether a use of an array leaves it without another name."""
    inner: ast.AST = node
    while True:
        parent = parents.get(inner)
        match parent:
            case ast.Subscript(value=value) if value is inner:
                if not isinstance(parent.ctx, ast.Load) or not _shape_of(parent, facts):
                    return True
                inner = parent
            case ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.AugAssign():
                return True
            case ast.Return():
                return True
            case ast.Tuple() | ast.List() if isinstance(
                parents.get(parent), ast.Return
            ):
                return True
            case ast.Attribute(attr=name):
                return name not in VIEWS
            case ast.Call(func=function) if function is not inner:
                name = _dotted(function, imports)
                package, _, short = name.partition(".")
                known = package in ("numpy", "tensorflow") or name in CONVERSIONS
                return known and short not in VIEWS
            case _:
                return False


def _dotted(node: ast.expr, imports: Mapping[str, str]) -> str:
    """What a chain of names stands for, such as numpy.zeros."""
    match node:
        case ast.Name(id=name):
            return imports.get(name, name)
        case ast.Attribute(value=value, attr=name):
            return f"{_dotted(value, imports)}.{name}"
    return ""


def _shape_of(node: ast.expr, facts: FunctionFacts) -> Shape:
    return getattr(facts.kind(node), "shape", ())


def fits(
    container: Kind, index: ast.expr, key: Kind, value: Kind, facts: FunctionFacts
) -> bool:
    """Whether one item or row is set, whose place counts from the front, to a value of its shape."""
    if not (isinstance(container, Array) or is_numpy(container)):
        return False
    shape = getattr(container, "shape", None)
    nodes = index.elts if isinstance(index, ast.Tuple) else [index]
    kinds = key.items if isinstance(key, Sequence) else (key,)
    if shape is None or len(kinds) != len(nodes) or len(nodes) > len(shape):
        return False
    if not all(map(_is_place, kinds)):
        return False
    if not all(is_never_negative(n, facts) for n in nodes):
        return False
    dtypes = {getattr(k, "dtype", None) for k in kinds if is_tensor(k)}
    row = shape[len(nodes) :]
    if not row and isinstance(value, Python):
        return len(dtypes) <= 1 and value.type in ("int", "float", "bool")
    known = getattr(value, "shape", None) == row and None not in row
    return len(dtypes) <= 1 and known


def _is_place(kind: Kind) -> bool:
    if isinstance(kind, Python):
        return kind.type == "int"
    whole = getattr(kind, "dtype", None) in ("int32", "int64")
    return isinstance(kind, Tensor) and whole and kind.shape == ()
