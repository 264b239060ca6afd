"""GL105 tensor-for: loops over `tf.range`.

Counting loops that Python runs while tracing, where their bounds are static and only ints are asked for: a loop over
`tf.range` gives tensors. Where each is only made an int of, or an index, `range` gives the same; and Python's containers
take the ints.

Ranges that end before they start: `tf.range` raises where a counter of the graph would just not count.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

from .facts.environment import FunctionFacts
from .facts.kinds import Elements, Function, Python, Sequence
from .facts.profile import FunctionNode
from .facts.signs import is_never_negative
from .facts.staging import is_tensor
from .facts.syntax import is_named
from .making import assigned, called, name, placed
from .rebuilding import rebuilt, replaced, with_body, with_origin
from .source import Names

READS = ("int", "float")
CASTS = ("cast", "gather", "one_hot")
"""Functions of TensorFlow that give the same for an int as for a tensor of int32."""
Loop = ast.For | ast.comprehension


def with_python_ranges(facts: FunctionFacts, most: int, tf: str) -> FunctionNode | None:
    """The function with `range` in such loops of at most so many rounds; None where it has none that need it."""
    node = facts.definition.node
    table: dict[ast.AST, ast.AST] = {}
    for loop, inside in _loops(node, facts):
        count = _count(loop.iter, facts)
        if count is None or count > most or not isinstance(loop.target, ast.Name):
            continue
        if _only_counts(loop.target.id, inside, node, tf):
            assert isinstance(loop.iter, ast.Call)
            table[loop.iter] = placed(called("range", *loop.iter.args), loop.iter)
            table[loop.target] = ast.Name(loop.target.id, ast.Store())
            for inner in inside:
                match inner:
                    case ast.Call(func=ast.Attribute(value=value, attr="numpy")) if (
                        getattr(value, "id", None) == loop.target.id
                    ):
                        table[inner] = placed(name(loop.target.id), inner)
    if not table:
        return None
    body = [replaced(statement, table) for statement in node.body]
    return with_body(node, body)  # type: ignore[arg-type]


def with_bounds_checked(
    facts: FunctionFacts, raises: tuple[str, ...], names: Names, tf: str
) -> FunctionNode | None:
    """The function with a check before its ranges, where a recorded call raised what `tf.range` does; None for another."""
    if "InvalidArgumentError" not in raises:
        return None
    node = facts.definition.node

    def block(body: list[ast.stmt]) -> list[ast.stmt]:
        return [
            made for statement in body for made in checked(rebuilt(statement, block))
        ]

    def checked(statement: ast.stmt) -> list[ast.stmt]:
        match statement:
            case ast.For(iter=ast.Call(func=function, args=args, keywords=[])) if (
                _may_end_before_start(function, args, facts)
                and not hasattr(statement, "checked")
            ):
                return _checked(statement, names, tf)
        return [statement]

    return with_body(node, block(node.body))


def _may_end_before_start(
    function: ast.expr, args: list[ast.expr], facts: FunctionFacts
) -> bool:
    if facts.kind(function) != Function("tensorflow.range"):
        return False
    tensors = any(is_tensor(facts.kind(argument)) for argument in args)
    if len(args) == 1:
        return tensors and not is_never_negative(args[0], facts)
    return len(args) == 2 and tensors


def _checked(loop: ast.For, names: Names, tf: str) -> list[ast.stmt]:
    """A loop over a range, with a check of its bounds before it."""
    assert isinstance(loop.iter, ast.Call)
    before: list[ast.stmt] = []
    bounds: list[ast.expr] = []
    words = ("limit",) if len(loop.iter.args) == 1 else ("start", "limit")
    for word, bound in zip(words, loop.iter.args, strict=True):
        if not isinstance(bound, ast.Name | ast.Constant):
            text = names.fresh(word)
            before.append(assigned(text, bound))
            bound = name(text)
        bounds.append(bound)
    check = "assert_non_negative" if len(bounds) == 1 else "assert_less_equal"
    before.append(ast.Expr(called(f"{tf}.debugging.{check}", *bounds)))
    made = copy.copy(loop)
    made.iter = placed(called(loop.iter.func, *bounds), loop.iter)
    made.checked = True  # type: ignore[attr-defined]
    return [*before, with_origin(made, loop)]


def _loops(
    node: FunctionNode, facts: FunctionFacts
) -> Iterator[tuple[Loop, list[ast.AST]]]:
    """The comprehensions, and the loops that take from a list or hinder a lift, with all that each round evaluates."""
    problems = {id(p.node) for p in facts.problems}

    def asks_python(inner: ast.AST) -> bool:
        takes = isinstance(inner, ast.Subscript) and is_sequence(inner.value)
        return takes or id(inner) in problems

    def is_sequence(value: ast.expr) -> bool:
        return isinstance(facts.kind(value), Sequence | Elements)

    for inner in ast.walk(node):
        match inner:
            case ast.ListComp(generators=[only]) | ast.GeneratorExp(generators=[only]):
                yield only, [n for e in (inner.elt, *only.ifs) for n in ast.walk(e)]
            case ast.For(orelse=[]):
                inside = [n for s in inner.body for n in ast.walk(s)]
                if any(map(asks_python, inside)):
                    yield inner, inside


def _count(node: ast.expr, facts: FunctionFacts) -> int | None:
    """How often a loop over `tf.range` of known ints runs; None for another."""
    match node:
        case ast.Call(func=function, args=args, keywords=[]) if facts.kind(
            function
        ) == Function("tensorflow.range"):
            bounds = [k.value for k in map(facts.kind, args) if isinstance(k, Python)]
            whole = [b for b in bounds if type(b) is int]
            if len(whole) == len(args) and whole[2:] != [0]:
                return len(range(*whole))
    return None


def _only_counts(text: str, inside: list[ast.AST], node: FunctionNode, tf: str) -> bool:
    """Whether a loop's variable is only made an int of, or an index, and read nowhere else."""
    mentions = [n for n in ast.walk(node) if is_named(n, text)]
    counted = {id(n) for n in inside}
    if any(id(n) not in counted for n in mentions if isinstance(n.ctx, ast.Load)):
        return False
    casts = [f"{tf}.{function}" for function in CASTS]
    fine: set[int] = set()
    for inner in inside:
        match inner:
            case ast.Call(func=ast.Name(id=function), args=[value]) if (
                function in READS
            ):
                fine.add(id(value))
            case ast.Call(func=function, args=args) if ast.unparse(function) in casts:
                fine |= {id(a) for a in args}
            case ast.Subscript(slice=part):
                fine |= {id(n) for n in _counted(part)}
    return all(id(n) in fine for n in mentions if isinstance(n.ctx, ast.Load))


def _counted(node: ast.expr) -> Iterator[ast.expr]:
    """The names in an index that is computed of ints."""
    match node:
        case ast.Name():
            yield node
        case ast.Call(func=ast.Attribute(value=ast.Name() as name, attr="numpy")):
            yield name
        case ast.Tuple(elts=elts):
            for part in elts:
                yield from _counted(part)
        case ast.Slice():
            for bound in (node.lower, node.upper, node.step):
                if bound is not None:
                    yield from _counted(bound)
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult(), left=left, right=right):
            if all(isinstance(n, ast.Constant | ast.Name) for n in (left, right)):
                yield from _counted(left)
                yield from _counted(right)
