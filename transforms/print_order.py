"""GL201 python-print: what a graph prints keeps its order where TensorFlow leaves that open.

TensorFlow orders operations without resources among themselves, and those that use one Variable; a print is of the first
sort, a branch, loop or call that prints and uses a Variable of the second (`auto_control_deps.py` in
`tensorflow/python/framework`). Between those a control dependency keeps the order.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Container
from dataclasses import dataclass, replace
from itertools import pairwise

from .facts.environment import FunctionFacts
from .facts.kinds import Iterator, Object
from .facts.session import Session
from .facts.staging import holds_variable, is_strong
from .facts.syntax import all_bound_names
from .findings import Refusal
from .steps import Code, Compound, Keep, Step

Made = tuple[ast.stmt, list[Step]]
"""A statement, and the steps in its place."""


@dataclass(frozen=True)
class PrintOrder:
    """Tells what of the functions of a module TensorFlow leaves unordered; `graphs` are those that become graphs."""

    session: Session
    graphs: Container[str]

    def is_loose(self, facts: FunctionFacts, node: ast.AST) -> bool:
        """Whether something in a statement prints, and is ordered by its Variables alone."""
        return any(
            _shows(facts, n) and self._uses_resource(facts, n, set())
            for n in ast.walk(node)
            if n in facts.staged or self._is_graph_call(facts, n)
        ) or any(
            self._holds_loose(facts, n) for n in ast.walk(node) if n in facts.calls
        )

    def _holds_loose(self, facts: FunctionFacts, call: ast.AST) -> bool:
        """Whether a function that is written into the graph where it is called holds such a statement."""
        assert isinstance(call, ast.expr)
        inner = self.session.known(facts.calls[call])
        if inner is None or inner is facts or "stdout" not in inner.effects:
            return False
        return self.is_loose(inner, inner.definition.node)

    def _is_graph_call(self, facts: FunctionFacts, node: ast.AST) -> bool:
        if not isinstance(node, ast.expr) or node not in facts.calls:
            return False
        qualname = facts.calls[node]
        called = self.session.module.functions[qualname]
        return qualname in self.graphs or self.session.is_graph_function(called)

    def _uses_resource(
        self, facts: FunctionFacts, node: ast.AST, seen: set[str]
    ) -> bool:
        """Whether a piece of code reads or changes a Variable or an iterator, or calls an object of a library's."""
        for inner in ast.walk(node):
            if not isinstance(inner, ast.expr):
                continue
            kind = facts.kind(inner)
            if holds_variable(kind) or isinstance(kind, Iterator):
                return True
            if inner in facts.calls:
                called = facts.calls[inner]
                known = None if called in seen else self.session.known(called)
                seen.add(called)
                if known and self._uses_resource(known, known.definition.node, seen):
                    return True
            elif isinstance(inner, ast.Call) and _is_of_object(facts, inner.func):
                return True
        return False


def _is_of_object(facts: FunctionFacts, function: ast.expr) -> bool:
    """Whether a call runs an object, or a method of one."""
    owner = function.value if isinstance(function, ast.Attribute) else function
    return isinstance(facts.kind(owner), Object)


def _shows(facts: FunctionFacts, node: ast.AST) -> bool:
    shown = {id(n) for n in facts.effects.get("stdout", ())}
    return any(id(n) in shown for n in ast.walk(node))


def in_order(
    order: PrintOrder,
    facts: FunctionFacts,
    tf: str,
    fresh: Callable[[str], str],
    made: list[Made],
) -> list[Step]:
    """The steps of a block of the graph, with control dependencies where prints need them.

    Raises:
        Refusal: what prints gives no tensor that could be waited for.
    """
    made = list(made)
    showing = [
        i for i, (node, steps) in enumerate(made) if steps and _shows(facts, node)
    ]
    for place in showing:
        _check_rounds(order, facts, made[place][0])
    for i, k in pairwise(showing):
        nodes = made[i][0], made[k][0]
        if not any(order.is_loose(facts, node) for node in nodes):
            continue
        name, steps = _named(facts, tf, fresh, made[i])
        between = [node for node, _ in made[i + 1 : k]]
        if any(name in all_bound_names(node) for node in between):
            kept = fresh("shown")
            steps, name = [*steps, Code(f"{kept} = {name}")], kept
        made[i] = nodes[0], steps
        made[k] = nodes[1], _waiting(tf, name, made[k][1])
    return [step for _, steps in made for step in steps]


def _check_rounds(order: PrintOrder, facts: FunctionFacts, node: ast.stmt) -> None:
    """Refuse Python loops whose rounds TensorFlow would leave unordered."""
    for inner in ast.walk(node):
        loops = isinstance(inner, ast.For | ast.While) and inner not in facts.staged
        if loops and _shows(facts, inner) and order.is_loose(facts, inner):
            raise _unordered(inner)


def _named(
    facts: FunctionFacts, tf: str, fresh: Callable[[str], str], made: Made
) -> tuple[str, list[Step]]:
    """The steps of a statement that shows something, and the name of what tells that it has."""
    node, steps = made
    *rest, last = steps
    match last:
        case Compound(blocks=(*_, block)) if isinstance(node, ast.With):
            inner = [n for n in node.body if _shows(facts, n)]
            name, block = _named(facts, tf, fresh, (inner[-1], block))
            return name, [*rest, replace(last, blocks=(*last.blocks[:-1], block))]
    for place, step in reversed([*enumerate(steps)]):
        text = step.text if isinstance(step, Code) else ""
        if isinstance(step, Keep):
            text = ast.unparse(step.node)
        given = _given(text, tf)
        if given is not None:
            return given, steps
        if re.match(rf"{tf}\.(print|while_loop)\(", text):
            name = fresh("printed" if text.startswith(f"{tf}.print(") else "ended")
            origin = step.node if isinstance(step, Keep) else step.origin
            named = Code(f"{name} = {text}", origin)
            return name, [*steps[:place], named, *steps[place + 1 :]]
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if is_strong(
            facts.kind(value)
        ):
            return name, steps
    raise _unordered(node)


def _given(text: str, tf: str) -> str | None:
    """The first name that a statement gives what a branch or loop returns."""
    found = re.match(rf"([\w, ]+) = {tf}\.(cond|while_loop)\(", text)
    names = found.group(1).split(", ") if found else []
    return next((name.rstrip(",") for name in names if name.rstrip(",") != "_"), None)


def _waiting(tf: str, name: str, steps: list[Step]) -> list[Step]:
    """Steps of which the last waits for what a name tells of."""
    *rest, last = steps
    return [*rest, Compound((f"with {tf}.control_dependencies([{name}]):",), ([last],))]


def _unordered(node: ast.AST) -> Refusal:
    return Refusal(
        "it prints in a branch, loop or call that uses a Variable, and a graph would not keep the order of its prints",
        node,
        "GL201",
        way_out="print before or after the tensor work",
    )
