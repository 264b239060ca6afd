"""Names of the lift's own that end in a number: they do so only where the plain ones are taken in their function.

A name is first chosen to be new in the whole function that is lifted. When that has become a shell, cores and functions
inside them, `failed_2` may be the only one to fail where it stands, and `i_2` the only index of its loop.
"""

from __future__ import annotations

import ast
import builtins
import io
import itertools
import keyword
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import replace

from .facts.profile import FunctionNode
from .facts.syntax import all_bound_names, blocks, bound_names
from .source import Source, identifiers
from .steps import WORD, Code, Compound, Define, Keep, Plan, Step, texts

NUMBERED = re.compile(r"(\w*[^\W\d_])_(\d+)")
INDEXES = ("i", "j", "k")
"""What loops count with, from the outermost one inwards."""


def with_plain_names(plan: Plan, source: Source) -> Plan:
    """The plan with plainer names where they are free."""
    if plan.loop is not None:
        return plan
    taken = {*_module_names(source.tree.body), *dir(builtins), *keyword.kwlist}
    own = {a.arg for a in ast.walk(plan.node.args) if isinstance(a, ast.arg)}
    given = own if plan.parameters is None else {*plan.parameters}

    def plain(steps: list[Step], parameters: Iterable[str]) -> list[Step]:
        return _Renaming(source.names, taken, parameters).of(steps)

    return replace(
        plan,
        steps=plain(plan.steps, given),
        shell=plain(plan.shell, own),
        more=[replace(c, steps=plain(c.steps, c.parameters)) for c in plan.more],
    )


def _module_names(body: list[ast.stmt]) -> Iterator[str]:
    """The names that a module's statements set, those in its functions and classes left out."""
    for statement in body:
        yield from bound_names(statement)
        if not isinstance(statement, FunctionNode | ast.ClassDef):
            for block in blocks(statement):
                yield from _module_names(block)


class _Renaming:
    """Gives plainer names to what one function sets: none that the file has, and none of its parameters."""

    def __init__(
        self, fixed: frozenset[str], taken: set[str], parameters: Iterable[str]
    ) -> None:
        self.parameters = {*parameters}
        self.fixed = fixed | self.parameters
        self.taken = taken

    def of(self, steps: list[Step]) -> list[Step]:
        for name in dict.fromkeys(all_bound(steps)):
            found = NUMBERED.fullmatch(name)
            if found is None or name in self.fixed:
                continue
            new = self._plainer(name, found[1], int(found[2]), steps)
            if new is not None:
                steps = [*renamed(steps, name, new)]
        return steps

    def _plainer(
        self, name: str, word: str, number: int, steps: list[Step]
    ) -> str | None:
        """A plainer name for a numbered one; None where it is one of several, or there is none."""
        found = filter(None, map(NUMBERED.fullmatch, _words(steps)))
        numbers = {match[2] for match in found if match[1] == word}
        if "1" in numbers and len(numbers) > 1:
            return None
        if not all(is_told(text, name) for text in texts(steps)):
            return None
        mentioned = _around(steps, name, self.parameters) | self.taken
        counts = word == INDEXES[0] and name in _parameters(steps)
        words = INDEXES if counts else (word,)
        numbered = (f"{word}_{n}" for n in range(2, number))
        return next((n for n in (*words, *numbered) if n not in mentioned), None)


def _around(steps: list[Step], name: str, outer: set[str]) -> set[str]:
    """The names in the functions that have all uses of one, and those that are set around them."""
    holders = [s for s in steps if name in _words([s])]
    around = {*outer, *_bound(steps)}
    if all(_takes(s, name) for s in holders):
        return around | _words(holders)
    match holders:
        case [Define(name=own, parameters=parameters, body=body)] if own != name:
            return _around(body, name, {*around, *parameters})
    return outer | _words(steps)


def _takes(step: Step, name: str) -> bool:
    """Whether a name is a parameter of functions, wherever it stands in a step."""
    match step:
        case Define(parameters=parameters):
            return name in parameters
        case Code(text=text):
            tree = ast.parse(text)
            lambdas = [
                n
                for n in ast.walk(tree)
                if isinstance(n, ast.Lambda) and name in [a.arg for a in n.args.args]
            ]
            inside = {n for made in lambdas for n in ast.walk(made.body)}
            return not any(
                isinstance(n, ast.Name) and n.id == name and n not in inside
                for n in ast.walk(tree)
            )
    return False


def is_told(text: str, name: str) -> bool:
    """Whether a name stands in a text as a name only: not in strings, nor before the value of an argument."""
    if name not in text:
        return True
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    depth = 0
    for token, following in itertools.pairwise(tokens):
        depth += (token.string in ("(", "[", "{")) - (token.string in (")", "]", "}"))
        if token.string == name:
            if depth and following.string == "=":
                return False
        elif name in WORD.findall(token.string):
            return False
    return True


def renamed(steps: Iterable[Step], old: str, new: str) -> Iterator[Step]:
    """The steps with a name in the place of another."""
    pattern = re.compile(rf"(?<![\w.]){old}(?!\w)")

    def text(value: str) -> str:
        return pattern.sub(new, value)

    for step in steps:
        match step:
            case Code():
                yield replace(step, text=text(step.text))
            case Define():
                yield replace(
                    step,
                    name=text(step.name),
                    parameters=tuple(map(text, step.parameters)),
                    body=[*renamed(step.body, old, new)],
                )
            case Compound():
                blocks = ([*renamed(block, old, new)] for block in step.blocks)
                headers = tuple(map(text, step.headers))
                yield replace(step, headers=headers, blocks=tuple(blocks))
            case Keep():
                yield step


def _words(steps: Iterable[Step]) -> set[str]:
    """Every identifier in the steps."""
    found: set[str] = set()
    for step in steps:
        match step:
            case Keep(node=node):
                found |= identifiers(node)
            case Code(text=text):
                found.update(WORD.findall(text))
            case Define(name=name, parameters=parameters, body=body):
                found |= {name, *parameters, *_words(body)}
            case Compound(headers=headers, blocks=blocks):
                found.update(*map(WORD.findall, headers), *map(_words, blocks))
    return found


def _bound(steps: Iterable[Step]) -> Iterator[str]:
    """The names that steps set, in order; what functions in them set is not among them."""
    for step in steps:
        match step:
            case Keep(node=node):
                yield from all_bound_names(node)
            case Code(text=text):
                for inner in ast.walk(ast.parse(text)):
                    if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                        yield inner.id
            case Define(name=name):
                yield name
            case Compound(blocks=blocks):
                for block in blocks:
                    yield from _bound(block)


def _functions(steps: Iterable[Step]) -> Iterator[Define]:
    """The functions in the steps, those in others too."""
    for step in steps:
        match step:
            case Define(body=body):
                yield step
                yield from _functions(body)
            case Compound(blocks=blocks):
                for block in blocks:
                    yield from _functions(block)


def all_bound(steps: Iterable[Step]) -> Iterator[str]:
    """The names that steps and the functions in them set or take, the outer ones first."""
    yield from _bound(steps)
    for made in _functions(steps):
        yield from (*made.parameters, *_bound(made.body))


def _parameters(steps: Iterable[Step]) -> set[str]:
    return {name for made in _functions(steps) for name in made.parameters}
