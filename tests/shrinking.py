"""Cuts a program down while it still does what is looked for."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

from timeouts import TooLong, within

LONGEST = 10
"""Seconds for one try: a cut may well make a loop endless."""


def shrunk(text: str, still: Callable[[str], bool]) -> str:
    """The program after every cut for which `still` answers True, until no cut is left.

    A cut leaves out a statement, puts one of its blocks in its place, or takes a part for a whole value.
    For the main thread only.
    """
    text = ast.unparse(ast.parse(text)) + "\n"
    place, untried = 0, len(list(cuts(text)))
    while untried:
        options = list(cuts(text))
        place %= len(options)
        if _in_time(still, options[place]):
            text = options[place]
            untried = len(list(cuts(text)))
        else:
            place += 1
            untried -= 1
    return text


def _in_time(still: Callable[[str], bool], text: str) -> bool:
    try:
        with within(LONGEST):
            return still(text)
    except TooLong:
        return False


def cuts(text: str) -> Iterator[str]:
    """The programs that are one cut smaller; large cuts first."""
    tree = ast.parse(text)
    for place, node in enumerate(ast.walk(tree)):
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                for i, statement in enumerate(value):
                    for instead in _instead(statement):
                        yield _with(tree, place, name, i, instead)
            elif isinstance(value, ast.expr):
                for part in _parts(value):
                    yield _with(tree, place, name, None, part)


def _instead(node: ast.stmt) -> list[list[ast.stmt]]:
    match node:
        case ast.Import() | ast.Pass():
            return []
        case ast.If(body=body, orelse=orelse) | ast.For(body=body, orelse=orelse):
            return [[], body, *([orelse] if orelse else [])]
        case ast.While(body=body):
            return [[], body]
    return [[]]


def _parts(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.BoolOp(values=values):
            return values
        case ast.UnaryOp(operand=operand):
            return [operand]
        case ast.IfExp(body=body, orelse=orelse):
            return [body, orelse]
        case ast.Call(args=args):
            return args
    return []


def _with(tree: ast.Module, place: int, name: str, i: int | None, new: object) -> str:
    """The text of the tree with a member of one of its nodes replaced."""
    made = copy.deepcopy(tree)
    node = list(ast.walk(made))[place]
    if i is None:
        setattr(node, name, new)
    else:
        members = getattr(node, name)
        members[i : i + 1] = new
        if not members and name != "orelse":
            members.append(ast.Pass())
    return ast.unparse(ast.fix_missing_locations(made)) + "\n"
