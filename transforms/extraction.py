"""Takes the tensor work out of a statement that stays Python's: the core does it, the statement names the results."""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from .facts.environment import FunctionFacts
from .facts.kinds import Function, Python, Tensor
from .facts.staging import is_strong
from .facts.syntax import names_in
from .making import unplaced
from .rebuilding import replaced
from .source import Names

PASSED_BY = (
    ast.Lambda
    | ast.ListComp
    | ast.SetComp
    | ast.DictComp
    | ast.GeneratorExp
    | ast.IfExp
)
"""Expressions whose parts may not be evaluated, or several times."""
READS = ("numpy", "item", "tolist", "float", "int", "bool", "str")
CONVERSIONS = ("tensorflow.constant", "tensorflow.convert_to_tensor")
WORKING = ast.Call | ast.BinOp | ast.UnaryOp | ast.Compare | ast.Subscript
PLAIN = ast.Name | ast.Attribute | ast.Constant | ast.Starred


def extracted(
    node: ast.stmt,
    facts: FunctionFacts,
    names: Names,
    late: set[str],
    again: set[str],
) -> tuple[list[ast.stmt], ast.stmt]:
    """The assignments that compute the tensors of a statement, and the statement with their names instead.

    The statement remembers as `named` what stands for which of its expressions. Names of `late` are not bound yet
    where the core computes, those of `again` hold something else when it has.
    """
    word = "value"
    match node:
        case ast.Return(value=ast.expr() as root):
            pass
        case ast.Expr(value=root) | ast.Assign(value=root):
            pass
        case ast.If(test=test, body=[*_, last]):
            root, negated = test, False
            if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
                root, negated = test.operand, True
            if isinstance(last, ast.Raise):
                word = "holds" if negated else "failed"
            else:
                word = "chosen"
        case ast.Assert(test=root):
            word = "holds"
        case _:
            return [], node
    problems = {id(p.node) for p in facts.problems}
    found: list[ast.expr] = []
    _collect(root, facts, problems, again, found)
    found = [e for e in found if not late & names_in(e)]
    table: dict[ast.AST, ast.AST] = {}
    assigns: list[ast.stmt] = []
    inside = _inside_texts(node)
    for expression in found:
        name = names.fresh(_name_for(expression, word))
        value = _standing(expression, facts) if expression in inside else expression
        assigns.append(ast.Assign([ast.Name(name, ast.Store())], value))
        table[expression] = ast.Name(name, ast.Load())
    if not table:
        return [], node
    made = replaced(node, table)
    assert isinstance(made, ast.stmt)
    note_names(
        made, node, {o: n.id for o, n in table.items() if isinstance(n, ast.Name)}
    )
    return assigns, made


def note_names(made: ast.stmt, node: ast.stmt, names: Mapping[Any, str]) -> None:
    """Have a statement that was made of another one remember what stands for which of the file's expressions."""
    here = names_in(made)
    named = {**getattr(node, "named", {}), **names}
    made.named = {old: name for old, name in named.items() if name in here}  # type: ignore[attr-defined]


def computes(node: ast.stmt, facts: FunctionFacts) -> bool:
    """Whether a statement still starts operations of TensorFlow."""
    named: dict[ast.expr, str] = getattr(node, "named", {})
    given = {name: facts.kind(old) for old, name in named.items()}

    def is_operand(child: ast.AST) -> bool:
        if isinstance(child, ast.Name) and child.id in given:
            return is_strong(given[child.id])
        return isinstance(child, ast.expr) and is_strong(facts.kind(child))

    for inner in ast.walk(node):
        match inner:
            case ast.BinOp() | ast.UnaryOp() | ast.Compare():
                if any(map(is_operand, ast.iter_child_nodes(inner))):
                    return not _formats(inner, facts)
            case ast.Call(func=function):
                kind = facts.kind(function)
                name = kind.name if isinstance(kind, Function) else ""
                if name.startswith("tensorflow.") and name not in CONVERSIONS:
                    return True
    return False


def operations(facts: FunctionFacts, body: Iterable[ast.AST]) -> int:
    """How many expressions in pieces of code start operations, roughly; what the core computes for them is left out."""
    return sum(
        _operations(facts, getattr(s, "origin", s))
        - sum(_operations(facts, e) for e in getattr(s, "named", ()))
        for s in body
    )


def _operations(facts: FunctionFacts, node: ast.AST) -> int:
    return sum(
        isinstance(n, WORKING) and is_strong(facts.kind(n)) and not _converts(n, facts)
        for n in ast.walk(node)
    )


def _converts(node: ast.AST, facts: FunctionFacts) -> bool:
    function = facts.kind(node.func) if isinstance(node, ast.Call) else None
    return isinstance(function, Function) and function.name in CONVERSIONS


def _formats(node: ast.AST, facts: FunctionFacts) -> bool:
    """Whether this is `text % values`."""
    return isinstance(node, ast.BinOp) and facts.kind(node.left) == Python(
        "str", getattr(node.left, "value", None)
    )


def _collect(
    node: ast.expr,
    facts: FunctionFacts,
    problems: set[int],
    again: set[str],
    found: list[ast.expr],
) -> None:
    """The largest expressions inside one that a graph can compute."""
    if isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp):
        _collect(node.generators[0].iter, facts, problems, again, found)
    if isinstance(node, PASSED_BY):
        return
    kind = facts.kind(node)
    if _only_reads(node) and not again & names_in(node):
        return
    if (
        isinstance(kind, Tensor)
        and not kind.mixed
        and (not isinstance(node, PLAIN) or _is_one_of(node, again))
        and not any(id(n) in problems for n in ast.walk(node))
    ):
        found.append(node)
        return
    if isinstance(node, ast.BoolOp):
        _collect(node.values[0], facts, problems, again, found)
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.keyword):
            child = child.value
        if isinstance(child, ast.expr):
            _collect(child, facts, problems, again, found)


def _only_reads(node: ast.expr) -> bool:
    """Whether an expression reads a name's value into Python, and does nothing else."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr=name), args=[]):
            return name in READS
        case ast.Call(func=ast.Name(id=name), args=[ast.Name()]):
            return name in READS
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=[]):
            return name in READS and _only_reads(value)
    return False


def _is_one_of(node: ast.expr, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _name_for(node: ast.expr, word: str) -> str:
    """What to call a value: after the method or the variable that it comes from, else by the word."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr="numpy" | "item")):
            return _name_for(value, word)
        case ast.Call(func=ast.Name(id="float" | "int" | "bool"), args=[value]):
            return _name_for(value, word)
        case ast.Call(func=ast.Attribute(attr=name)) if name.startswith("arg"):
            return "index"
        case ast.Call(func=ast.Attribute(attr="gradient")):
            return "gradient"
        case ast.Name(id=name):
            return name
    return word


def _standing(node: ast.expr, facts: FunctionFacts) -> ast.expr:
    """A copy that stands nowhere in the file, of which all is known that is known of the expression."""
    made = copy.deepcopy(node)
    for old, new in zip(ast.walk(node), ast.walk(made), strict=True):
        if isinstance(old, ast.expr) and old in facts.kinds:
            facts.kinds[new] = facts.kinds[old]  # type: ignore[index]
    return unplaced(made)


def _inside_texts(node: ast.stmt) -> set[ast.AST]:
    """The nodes inside f-strings, whose places older Pythons do not tell."""
    if sys.version_info >= (3, 12):
        return set()
    texts = [n for n in ast.walk(node) if isinstance(n, ast.JoinedStr)]
    return {inner for text in texts for inner in ast.walk(text)}
