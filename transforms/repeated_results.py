"""What a core gives back twice: where two names of the shell are for one tensor, it gives that once, for one name.

A loss that is printed and returned, or a state that is kept and returned, is one tensor in eager mode, too.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from .plain_names import all_bound, is_told, renamed
from .source import identifiers
from .steps import Code, Compound, Define, Keep, Plan, Step, kept, mentioned, texts

RETURN = "return "


def given_once(plan: Plan) -> Plan:
    """The plan, its shell without names that are for what another one is for."""
    call = next((s for s in plan.shell if _gives(s, plan.tensors)), None)
    if not isinstance(call, Code):
        return plan
    names, value = _parts(call.text)
    found = [*_values(plan.steps)]
    if any(len(values) != len(names) for values in found):
        return plan
    columns = [*zip(*found, strict=True)]
    steps, shell = plan.steps, plan.shell
    place = shell.index(call)
    for later in reversed(range(1, len(names))):
        first = columns.index(columns[later])
        same = first < later and all(map(str.isidentifier, columns[later]))
        if not same or names[later] not in plan.tensors:
            continue
        joined = _joined(shell, place, names[first], names[later])
        if joined is not None:
            steps, shell = [*_without(steps, later)], joined
            names = _parts(shell[place].text)[0]  # type: ignore[union-attr]
            del names[later]
            shell[place] = replace(call, text=f"{', '.join(names)} = {value}")
    return replace(plan, steps=steps, shell=shell)


def _gives(step: Step, tensors: frozenset[str]) -> bool:
    """Whether this is the call of the core that gives these."""
    if not isinstance(step, Code) or not tensors:
        return False
    match ast.parse(step.text).body:
        case [ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Call())]:
            return tensors <= {ast.unparse(target) for target in targets}
    return False


def _parts(text: str) -> tuple[list[str], str]:
    """The names that an assignment sets, and the text of its value."""
    targets, _, value = text.partition(" = ")
    return targets.split(", "), value


def _values(steps: Iterable[Step]) -> Iterator[list[str]]:
    """The texts of what a core returns, for each `return`; none where the file's own statement returns."""
    for step in steps:
        match step:
            case Code(text=text) if text.startswith(RETURN):
                yield _items(text)
            case Keep(node=node):
                if any(isinstance(n, ast.Return) for n in ast.walk(node)):
                    yield []
            case Compound(blocks=blocks):
                for block in blocks:
                    yield from _values(block)


def _items(text: str) -> list[str]:
    """The texts of the items that a `return` gives."""
    value = text.removeprefix(RETURN)
    match ast.parse(value, mode="eval").body:
        case ast.Tuple(elts=items):
            return [ast.get_source_segment(value, item) or "" for item in items]
    return []


def _without(steps: Iterable[Step], place: int) -> Iterator[Step]:
    """A core that leaves out what it returns in one place."""
    for step in steps:
        match step:
            case Code(text=text) if text.startswith(RETURN):
                items = _items(text)
                del items[place]
                yield replace(step, text=RETURN + ", ".join(items))
            case Compound(blocks=blocks):
                left = ([*_without(block, place)] for block in blocks)
                yield replace(step, blocks=tuple(left))
            case _:
                yield step


def _joined(shell: list[Step], place: int, first: str, later: str) -> list[Step] | None:
    """A shell that has one name in the place of two from a call on; None where they are not for one value throughout."""
    times = Counter(all_bound(shell))
    functions = any(isinstance(step, Define) for step in shell)
    if times[first] != 1 or times[later] != 1 or functions:
        return None
    fixed = {n for node in kept(shell) for n in identifiers(node)}
    made = first.partition("_")[0] == "result" and first not in fixed
    old, new = (first, later) if made or later in fixed else (later, first)
    _, value = _parts(shell[place].text)  # type: ignore[union-attr]
    read = mentioned([*shell[:place], Code(value)])
    if old in fixed | read or not all(is_told(text, old) for text in texts(shell)):
        return None
    return [*renamed(shell, old, new)]
