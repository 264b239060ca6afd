"""What a graph prints, checks and changes keeps its order where TensorFlow leaves that open.

TensorFlow orders operations without resources among themselves, and those that use one Variable; a print or a check is of
the first sort, a branch, loop or call that prints and uses a Variable, and an assignment, of the second
(`auto_control_deps.py` in `tensorflow/python/framework`). Between those a control dependency keeps the order.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Container
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from .facts.environment import ForeignCall, FunctionFacts
from .facts.kinds import UNKNOWN, Dict, Iterator, Kind, Object, Sequence, Tensor
from .facts.session import Session
from .facts.staging import holds_variable, is_strong
from .facts.syntax import all_bound_names, own_expressions
from .findings import Refusal
from .promotion import quoted
from .steps import Code, Compound, Keep, Step

if TYPE_CHECKING:
    from .planner import Planner

CHECKS = ("assert", "check_numerics")
STATIC = frozenset({"assert_integer", "assert_scalar", "assert_shapes", "assert_type"})
"""Checks that give nothing to wait for: most fail while a graph is traced."""
Made = tuple[ast.stmt, list[Step]]
"""A statement, and the steps in its place."""


@dataclass(frozen=True)
class PrintOrder:
    """Tells what of the functions of a module TensorFlow leaves unordered; `graphs` are those that become graphs."""

    session: Session
    graphs: Container[str]

    def has_loose(self) -> bool:
        """Whether some function of the module prints, and is ordered by its Variables alone."""
        return any(self.is_loose(f, f.definition.node) for f in self._functions())

    def has_changes(self) -> bool:
        """Whether some function of the module changes Variables."""
        return any(f.effects.get("assign") for f in self._functions())

    def _functions(self) -> list[FunctionFacts]:
        known = map(self.session.known, self.session.module.functions)
        return [facts for facts in known if facts]

    def is_loose(self, facts: FunctionFacts, node: ast.AST) -> bool:
        """Whether something in a statement prints, and is ordered by its Variables alone."""
        return self._is_loose(facts, node, set())

    def _is_loose(self, facts: FunctionFacts, node: ast.AST, seen: set[str]) -> bool:
        for inner in ast.walk(node):
            apart = inner in facts.staged or self._is_graph_call(facts, inner)
            apart = apart or inner in facts.foreign
            shows = apart and _shows(facts, inner)
            if shows and self._uses_resource(facts, inner, set()):
                return True
            if isinstance(inner, ast.expr) and inner in facts.calls:
                called = facts.calls[inner]
                known = None if called in seen else self.session.known(called)
                seen.add(called)
                if known and self._is_loose(known, known.definition.node, seen):
                    return True
        return False

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
            elif inner in facts.foreign:
                call = facts.foreign[inner]
                if self._of(call)._uses_resource(
                    call.facts, call.facts.definition.node, set()
                ):
                    return True
            elif isinstance(inner, ast.Call) and _is_of_object(facts, inner.func):
                return True
        return False

    def _of(self, call: ForeignCall) -> PrintOrder:
        """The same of the module whose function is called."""
        return PrintOrder(call.session, ())

    def tells(self, call: ForeignCall) -> bool:
        """Whether what another module's function gives comes behind what it prints: see `_Block.returned`."""
        definition = call.facts.definition
        return self._of(call).has_loose() or call.session.is_graph_function(definition)


def _is_of_object(facts: FunctionFacts, function: ast.expr) -> bool:
    """Whether a call runs an object, or a method of one."""
    owner = function.value if isinstance(function, ast.Attribute) else function
    return isinstance(facts.kind(owner), Object)


def _shows(facts: FunctionFacts, node: ast.AST) -> bool:
    return _has(facts, "stdout", node)


def _has(
    facts: FunctionFacts, effect: str, node: ast.AST, *, inside: bool = True
) -> bool:
    """Whether a piece of code, or something inside it, has an effect."""
    found = {id(n) for n in facts.effects.get(effect, ())}
    return any(id(n) in found for n in (ast.walk(node) if inside else [node]))


def in_order(planner: Planner, made: list[Made]) -> list[Step]:
    """The steps of a block of the graph, with control dependencies where its order needs them.

    Raises:
        Refusal: what prints or checks gives no tensor that could be waited for.
    """
    block = _Block(planner)
    made = block.returned(list(made))
    made = block.behind_checks(block.behind_prints(made))
    return [step for _, steps in made for step in steps]


class _Block:
    """Orders the statements of one block."""

    def __init__(self, planner: Planner) -> None:
        self.order = planner.print_order
        self.facts = planner.facts
        self.source = planner.source
        self.fresh = planner.names.fresh
        self.tf = planner.tf
        self.called = (
            self.facts.definition.qualname not in self.order.graphs
            and not planner.shell.needed
        )
        self.told: dict[int, str] = {}
        """What tells that a step is done, by the step's identity, where that was asked before."""

    def returned(self, made: list[Made]) -> list[Made]:
        """The statements, with what a graph's call of the function gives behind its prints and checks.

        The graph waits for that alone.
        """
        if not (self.called and made):
            return made
        node, steps = made[-1]
        value = node.value if isinstance(node, ast.Return) else None
        if value is None or not is_strong(self.facts.kind(value)):
            return made
        places = [i for i, (_, before) in enumerate(made[:-1]) if before]
        showing = [i for i in places if self.shows(made[i][0])][-1:]
        checking = [i for i in places if self.checks(made[i][0])]
        names = []
        if showing and not self.shows(node) and self.order.has_loose():
            names += self._all_told(made, showing, self.shows)
        if checking and self.order.has_changes():
            names += self._all_told(made, checking, self.checks)
        if not names:
            return made
        waiting = self._waiting(
            [*dict.fromkeys(names)], steps[:-1], [self._anew(steps[-1])]
        )
        return [*made[:-1], (node, waiting)]

    def _all_told(
        self, made: list[Made], places: list[int], asked: Callable[[ast.AST], bool]
    ) -> list[str]:
        """The names of what tells that some statements are done, at the last; the statements get them."""
        names = []
        for i in places:
            name, made[i] = self._told(made, i, len(made) - 1, asked)
            names.append(name)
        return names

    def _anew(self, step: Step) -> Step:
        """A return of a tensor that is made there."""
        text = self._text(step).removeprefix("return ")
        if isinstance(ast.parse(text, mode="eval").body, ast.BinOp):
            return step
        origin = step.node if isinstance(step, Keep) else getattr(step, "origin", None)
        return Code(f"return {self.tf}.identity({text})", origin)

    def behind_prints(self, made: list[Made]) -> list[Made]:
        """The statements, each that prints behind the one that does before it."""
        showing = [
            i for i, (node, steps) in enumerate(made) if steps and self.shows(node)
        ]
        for place in showing:
            self._check_rounds(made[place][0])
            self._check_calls(made[place][0])
        for i, k in pairwise(showing):
            node, steps = made[k]
            loose = any(self.order.is_loose(self.facts, n) for n in (made[i][0], node))
            if loose:
                name, made[i] = self._told(made, i, k, self.shows)
                made[k] = node, self._waiting([name], steps[:-1], steps[-1:])
        return made

    def behind_checks(self, made: list[Made]) -> list[Made]:
        """The statements, from the first on that changes a Variable behind the checks before it."""
        checking = [
            i for i, (node, steps) in enumerate(made) if steps and self.checks(node)
        ]
        if not checking:
            return made
        later = range(checking[0] + 1, len(made))
        place = next((k for k in later if self.changes(made[k][0])), None)
        if place is None:
            return made
        names = []
        for i in (i for i in checking if i < place):
            name, made[i] = self._told(made, i, place, self.checks)
            names.append(name)
        end = 1 + max(k for k in later if self.changes(made[k][0]))
        inside = self.behind_checks(made[place:end])
        steps = [step for _, steps in inside for step in steps]
        waiting = made[place][0], self._waiting(names, [], steps)
        return [*made[:place], waiting, *made[end:]]

    def _check_rounds(self, node: ast.stmt) -> None:
        """Refuse Python loops whose rounds TensorFlow would leave unordered."""
        for inner in ast.walk(node):
            loops = isinstance(inner, ast.For | ast.While)
            if (
                loops
                and inner not in self.facts.staged
                and self.shows(inner)
                and self.order.is_loose(self.facts, inner)
            ):
                raise _unordered(inner)

    def _check_calls(self, node: ast.stmt) -> None:
        """Refuse statements with several calls that TensorFlow would leave unordered; a print of what one gives waits for it."""
        inner = [n for e in own_expressions(node) for n in ast.walk(e)]
        called = self.facts.calls.keys() | self.facts.foreign.keys()
        calls = [n for n in inner if n in called and self.shows(n)]
        if len(calls) > 1 and any(self.order.is_loose(self.facts, n) for n in calls):
            raise Refusal(
                "functions that it calls here print and use Variables, and a graph would not keep their order",
                node,
                "GL201",
                way_out="call each in a statement of its own",
            )

    # ---- what statements do

    def shows(self, node: ast.AST) -> bool:
        return _shows(self.facts, node)

    def changes(self, node: ast.AST) -> bool:
        return _has(self.facts, "assign", node)

    def checks(self, node: ast.AST) -> bool:
        """Whether a statement raises where the values of tensors say so."""
        calls = (n for n in ast.walk(node) if isinstance(n, ast.Call))
        return any(map(self._is_check, calls))

    def _is_check(self, call: ast.Call) -> bool:
        if not _has(self.facts, "assert", call, inside=False):
            return False
        name = getattr(self.facts.kind(call.func), "name", "").rpartition(".")[2]
        named = name.lower().startswith(CHECKS) and name not in STATIC
        return named or call in self.facts.calls

    # ---- what tells that they have

    def _told(
        self, made: list[Made], place: int, later: int, asked: Callable[[ast.AST], bool]
    ) -> tuple[str, Made]:
        """The name of what tells that a statement is done, where a later one stands; and the statement with that name."""
        name, steps = self._named(made[place], asked)
        held = name.partition("[")[0]
        if any(held in all_bound_names(n) for n, _ in made[place + 1 : later]):
            kept = self.fresh("done")
            steps, name = [*steps, Code(f"{kept} = {name}")], kept
        return name, (made[place][0], steps)

    def _named(
        self, made: Made, asked: Callable[[ast.AST], bool]
    ) -> tuple[str, list[Step]]:
        node, steps = made
        last = steps[-1]
        if isinstance(last, Compound) and last.headers[0].startswith("with "):
            inside = node.body if isinstance(node, ast.With) else [node]
            asking = [n for n in inside if asked(n)]
            name, block = self._named((asking[-1], last.blocks[0]), asked)
            return name, [*steps[:-1], replace(last, blocks=(block,))]
        for place, step in reversed([*enumerate(steps)]):
            if id(step) in self.told:
                return self.told[id(step)], steps
            text = self._text(step)
            given = (self._tensor_in(node, n) for n in _given(text, self.tf))
            if (tensor := next(filter(None, given), None)) is not None:
                return tensor, steps
            base = self._base(node, text)
            if base is not None:
                name = self.fresh(base)
                origin = step.node if isinstance(step, Keep) else step.origin
                named = Code(f"{name} = {text}", origin)
                told = f"{name}[0]" if base == "ended" else name
                self.told[id(named)] = told
                return told, [*steps[:place], named, *steps[place + 1 :]]
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if is_strong(
                self.facts.kind(value)
            ) and all(map(self._tells, filter(asked, ast.walk(value)))):
                return name, steps
        raise _unordered(node)

    def _tells(self, node: ast.AST) -> bool:
        """Whether the result of a call tells that it is done; what is no call of the project's does."""
        if not isinstance(node, ast.expr):
            return True
        foreign = self.facts.foreign.get(node)
        if foreign and not self.order.tells(foreign):
            return False
        called = foreign or node in self.facts.calls
        return not called or is_strong(self.facts.kind(node))

    def _tensor_in(self, node: ast.stmt, name: str) -> str | None:
        """The text of a tensor that a name holds behind a statement."""
        after = self.facts.after.get(node)
        return _leaf(name, after.kinds.get(name, UNKNOWN)) if after else None

    def _counts(self, node: ast.stmt) -> bool:
        """Whether all that a loop sets are tensors."""
        head = self.facts.heads.get(node)
        kinds = head.kinds if head else {}
        return all(
            isinstance(kinds[name], Tensor)
            for name in all_bound_names(node)
            if name in kinds
        )

    def _text(self, step: Step) -> str:
        match step:
            case Code(text=text):
                return text
            case Keep(node=node):
                return self.source.segment(node)
        return ""

    def _base(self, node: ast.stmt, text: str) -> str | None:
        """What to call what a step gives that is a print, a check or a loop; None where it is none."""
        if text.startswith(f"{self.tf}.print("):
            return "printed"
        if text.startswith(f"{self.tf}.while_loop(") and self._counts(node):
            return "ended"
        match node:
            case ast.Expr(value=ast.Call() as call) if call not in self.facts.calls:
                return "checked" if self._is_check(call) else None
        return None

    def _waiting(
        self, names: list[str], before: list[Step], steps: list[Step]
    ) -> list[Step]:
        """Steps that wait for what names tell of, and those before them, which don't."""
        header = f"with {self.tf}.control_dependencies([{', '.join(names)}]):"
        return [*before, Compound((header,), (steps,))]


def _given(text: str, tf: str) -> list[str]:
    """The names that a statement gives what a branch or loop returns."""
    found = re.match(rf"\(?([\w, ]+)\)? = {tf}\.(cond|while_loop)\(", text)
    return [n.strip() for n in found.group(1).split(",")] if found else []


def _leaf(text: str, kind: Kind) -> str | None:
    """The text of the first tensor in a value; None where it holds none."""
    if isinstance(kind, Tensor):
        return text
    members: list[tuple[str, Kind]] = []
    if isinstance(kind, Sequence):
        members = [(str(i), item) for i, item in enumerate(kind.items)]
    elif isinstance(kind, Dict):
        members = [(quoted(key), value) for key, value in kind.items]
    found = (_leaf(f"{text}[{place}]", inner) for place, inner in members)
    return next(filter(None, found), None)


def _unordered(node: ast.AST) -> Refusal:
    return Refusal(
        "it prints or checks in a branch, loop or call that gives no tensor, and a graph would not keep the order of that and of what uses a Variable",
        node,
        "GL201",
        way_out="print and check before or after the tensor work",
    )
