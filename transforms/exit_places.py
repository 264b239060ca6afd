"""Where exits stand, and which of them cannot stay there: a tensor decides whether they are taken."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from .facts.environment import FunctionFacts
from .facts.syntax import blocks
from .leaving import has_own, may_return
from .source import Names


@dataclass
class Loop:
    """A loop that is left: its flags' names, made when first needed.

    Attributes:
        graph: it is one of the graph.
        flagged: the function itself sets the flag with which the loop ends.
    """

    names: Names
    graph: bool
    ended: str | None = None
    skipped: str | None = None
    flagged: bool = False

    def end(self) -> str:
        self.ended = self.ended or self.names.fresh("ended")
        return self.ended

    def skip(self) -> str:
        self.skipped = self.skipped or self.names.fresh("skipped")
        return self.skipped


@dataclass(frozen=True)
class Place:
    """Where a block stands.

    Attributes:
        loop: the innermost loop around it.
        staged: a tensor decides between that loop (or the function) and the block.
        free: Python alone decides between the function and the block, so that returns may stay.
        ends: the function ends where the block does.
        guarded: code follows that a `continue` skips.
    """

    loop: Loop | None = None
    staged: bool = False
    free: bool = True
    ends: bool = True
    guarded: bool = False

    @property
    def in_python_loop(self) -> bool:
        """Whether `break` and `continue` may stay."""
        return self.loop is not None and not self.loop.graph and not self.staged


class ExitPlaces:
    """Tells where the exits of one function stand.

    Attributes:
        branches: those on flags, which tensors decide.
    """

    def __init__(self, facts: FunctionFacts, names: Names) -> None:
        self.facts = facts
        self.names = names
        self.branches: set[ast.stmt] = set()

    def inside(self, node: ast.stmt, place: Place) -> Place:
        """The place of the blocks of a statement that is no loop, where more follows."""
        staged = node in self.facts.staged or node in self.branches
        free = place.free and not staged and not isinstance(node, ast.Try)
        return replace(
            place, staged=place.staged or staged, free=free, ends=False, guarded=True
        )

    def moved(self, node: ast.stmt, place: Place) -> Iterator[type[ast.stmt]]:
        """The exits out of a statement that cannot stay, by their types."""
        if not self.is_reached(node):
            return
        match node:
            case ast.Break() | ast.Continue():
                if not place.in_python_loop:
                    yield type(node)
            case ast.Return():
                if not place.free:
                    yield ast.Return
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return
            case ast.For() | ast.While():
                graph = self.is_graph(node)
                loop = Loop(self.names, graph)
                inside = Place(loop, graph, place.free and not graph, ends=False)
                for inner in node.body:
                    yield from (k for k in self.moved(inner, inside) if k is ast.Return)
                chosen = graph and any(has_own(s, ast.Break) for s in node.body)
                around = replace(place, staged=True, free=False) if chosen else place
                for inner in node.orelse:
                    yield from self.moved(inner, around)
            case _:
                for block in blocks(node):
                    for inner in block:
                        yield from self.moved(inner, self.inside(node, place))

    def is_graph(self, node: ast.For | ast.While) -> bool:
        """Whether a loop is one of the graph: a tensor decides it, or what of an iteration is skipped before an exit."""
        if node in self.facts.staged or node in self.facts.exits:
            return True
        kinds = {
            kind
            for statement in node.body
            for kind in self.moved(statement, Place(Loop(self.names, graph=False)))
        }
        leaves = any(has_own(s, ast.Break) or may_return(s) for s in node.body)
        return ast.Continue in kinds and leaves

    def is_reached(self, node: ast.stmt) -> bool:
        """Whether Python, which knows some tests while tracing, gets to a statement."""
        made_here = not hasattr(node, "lineno")
        return made_here or not self.facts.before or node in self.facts.before
