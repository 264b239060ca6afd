"""The Python shell: what a lifted function's results become in Python, and what is left to do after the graph.

A graph gives tensors. Where eager mode gave a Python number, or there is Python left to run at the end, the function
becomes a Python function around a `tf.function` core.
"""

from __future__ import annotations

import ast
import builtins
import keyword
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from . import tensor_arrays
from .facts.definitions import Form, Tag
from .facts.environment import FunctionFacts
from .facts.kind_parts import tensor_leaves
from .facts.kinds import (
    NONE,
    Dict,
    Kind,
    Maybe,
    Object,
    Python,
    Record,
    Rows,
    Sequence,
    Tensor,
    Variable,
)
from .findings import Refusal
from .python_results import (
    arrays_made,
    comes_back,
    converted,
    has_python,
    is_given_back,
    skeleton,
    staged_list,
    told_apart,
    with_array,
)

if TYPE_CHECKING:
    from .core_trials import Split


@dataclass
class Shell:
    """What stands around a core.

    Attributes:
        result: the kind of the function's result.
        tf: how the file calls TensorFlow.
        epilogue: the statements, as texts, between the call of the core and the return.
        extra: what they need from the core: its name in core and shell.
    """

    result: Kind
    tf: str
    epilogue: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)
    tags: list[Tag] = field(default_factory=list)
    forms: list[Form] = field(default_factory=list)
    """The structures that the result may be of: the first of which the tag says so, or the last."""
    kinds: dict[str, Kind] = field(default_factory=dict)
    """Of what else the core of a split function gives back."""
    told: dict[tuple[tuple[int, ...], bool], Tag] = field(default_factory=dict)
    """What that core tells of the result, by its parts and whether it tells of None."""
    failure: str | None = None
    """The `raise` of the shell, under the tag that tells of it."""
    exhausted: str | None = None
    """What a graph raises where Python's `next` raises StopIteration, where there is a `next`."""
    keeps: bool = False
    """No shell: all callers are in the graph, and take numbers as tensors."""
    opened: bool = False
    """Whether Python statements stand between the core's call and the return, so that the core gives back tensors."""

    @classmethod
    def of(cls, facts: FunctionFacts, tf: str) -> Shell:
        """The shell of a function; the tags it gives back stand behind its result."""
        tags = facts.definition.tags
        array = tensor_arrays.made_anew(facts, tf)
        shell = cls(with_array(facts.result, array) if array else facts.result, tf)
        if tags and isinstance(facts.result, Sequence):
            failure = facts.definition.failure
            result = facts.result.items[0]
            if (
                failure
                and isinstance(result, Maybe)
                and isinstance(result.kind, Sequence | Dict)
            ):
                result = result.kind
            forms = facts.definition.forms
            shell = cls(result, tf, tags=list(tags), forms=forms, failure=failure)
        if "exhausts" in facts.effects:
            shell.exhausted = f"{tf}.errors.OutOfRangeError"
        return shell

    @classmethod
    def of_split(cls, result: Kind, parts: Split, tf: str) -> Shell:
        """The shell of a split function: its core gives the result, then written state, then names."""
        outs = [s.name for s in parts.state if s.written]
        tags = parts.core.tags
        told = [*dict.fromkeys(tag.name for tag in tags)]
        extra = [*outs, *parts.given, *told]
        count = len(extra)
        whole = result.items if count and isinstance(result, Sequence) else (result,)
        opened = bool(parts.after)
        shell = cls(whole[0], tf=tf, extra=extra, opened=opened)
        if len(whole) != 1 + count:
            raise Refusal(f"it gives back {result} with its state", parts.core.node)
        kinds = {
            name: staged_list(kind) if name in parts.given else kind
            for name, kind in zip(shell.extra, whole[1:], strict=True)
        }
        own, others = _shared_out(tags, [*outs, *parts.given])
        shell.told = {(tag.path, tag.type == "none"): tag for tag in own}
        for name, kind in kinds.items():
            if name in others and isinstance(kind, Tensor) and name in parts.given:
                continue
            if (isinstance(kind, Tensor) and kind.mixed) or isinstance(kind, Variable):
                raise Refusal(
                    f"`{name}` may be a Python number or a tensor after the graph"
                )
            if not (is_given_back(kind) or (name in parts.given and comes_back(kind))):
                raise Refusal(
                    f"`{name}` is {_said(kind)}, which no graph gives back to the Python behind it",
                    way_out="make it where it is used, of tensors",
                )
        shell.kinds = kinds
        shell.epilogue = [
            f"{s.text} = {text}"
            for s in parts.state
            if s.written and (text := converted(s.name, kinds[s.name], tf)) != s.chain
        ]
        shell.epilogue += [
            f"{n} = {text}"
            for n in parts.given
            if (text := told_apart(n, kinds[n], others.get(n), tf)) != n
            and n not in parts.tested
        ]
        return shell

    @property
    def converts(self) -> bool:
        """Whether the result holds Python values."""
        return has_python(self.result) or bool(self.tags or self.exhausted)

    @property
    def needed(self) -> bool:
        return (
            not self.keeps
            and not self.kinds
            and (self.converts or self.opened or bool(self.epilogue or self.extra))
        )

    # ---- the text of the shell

    def calls(self, core_call: str) -> list[str]:
        """The call of a split function's core, and what becomes of what it gives back beside the result."""
        names = self._leaf_names(len(tensor_leaves(self.result)))
        targets = [*names, *self.kinds]
        rest = [*arrays_made(names, tensor_leaves(self.result)), *self.epilogue]
        call = f"{', '.join(targets)} = {core_call}" if targets else core_call
        return [call, *rest]

    def closing(self) -> list[str]:
        """The return of a split function."""
        if self.result == NONE:
            return []
        names = iter(self._leaf_names(len(tensor_leaves(self.result))))
        result = skeleton(self.result, names, self.told, (), self.tf)
        return [_return(self.result, result)]

    def statements(self, core_call: str) -> list[str]:
        """The body of the shell: call the core, do what is left, return what eager mode returned."""
        leaves = tensor_leaves(self.result)
        names = self._leaf_names(len(leaves), core_call.partition("(")[0])
        if (
            len(leaves) == 1
            and not self.extra
            and not self.epilogue
            and not self.tags
            and isinstance(self.result, Tensor | Rows)
        ):
            return [self._guarded(f"return {converted(core_call, leaves[0], self.tf)}")]
        told = dict.fromkeys(tag.name for tag in self.tags)
        targets = [*names, *told, *self.extra]
        call = f"{', '.join(targets)} = {core_call}" if targets else core_call
        call = self._guarded(call)
        if self.forms:
            return [call, *self.epilogue, *self._of_forms(names)]
        remaining = iter(names)
        tags = {(tag.path, tag.type == "none"): tag for tag in self.tags}
        failing = tags.pop(((), True), None) if self.failure else None
        raising = [f"if {failing.name}:\n    {self.failure}"] if failing else []
        kind = (
            self.result.kind
            if failing and isinstance(self.result, Maybe)
            else self.result
        )
        result = skeleton(kind, remaining, tags, (), self.tf)
        closing = [_return(self.result, result)] if self.result != NONE else []
        return [call, *raising, *arrays_made(names, leaves), *self.epilogue, *closing]

    def _of_forms(self, names: list[str]) -> list[str]:
        """The returns of the result in the structure of the way that was taken."""
        raising = [form for form in self.forms if form.failure]
        failed = [
            f"if {tag.name}:"
            + "".join(f"\n    {s}" for s in self._raising(form, names))
            for form, tag in zip(raising, self.tags, strict=False)
        ]
        tags = self.tags[len(raising) :]
        texts = [self._of_form(form, names) for form in self.forms[len(raising) :]]
        if len(texts) == 2:
            return [*failed, f"return {texts[0]} if {tags[0].name} else {texts[1]}"]
        ways = zip(texts, tags, strict=False)
        told = [f"if {tag.name}:\n    return {text}" for text, tag in ways]
        if self.forms[-1].kind == NONE:
            return [*failed, *told]
        return [*failed, *told, _return(self.forms[-1].kind, texts[-1])]

    def _of_form(self, form: Form, names: list[str]) -> str:
        given = iter([names[i] for i in form.places])
        return skeleton(form.kind, given, {}, (), self.tf)

    def _raising(self, form: Form, names: list[str]) -> list[str]:
        """A `raise`, and before it what it shows, in Python's types."""
        given = [names[i] for i in form.places]
        parts = zip(form.shown, given, tensor_leaves(form.kind), strict=True)
        made = [(name, converted(text, kind, self.tf)) for name, text, kind in parts]
        return [*(f"{n} = {t}" for n, t in made if n != t), form.failure or ""]

    def _raised(self) -> list[tuple[str, tuple[str, ...]]]:
        """What the shell may raise, and the names in it that the graph gives back."""
        found = [(form.failure, form.shown) for form in self.forms if form.failure]
        return [(self.failure, ()), *found] if self.failure else found

    def _guarded(self, statement: str) -> str:
        """A call of the core, which raises what Python raises when an iterator is exhausted."""
        if self.exhausted is None:
            return statement
        return f"try:\n    {statement}\nexcept {self.exhausted}:\n    raise StopIteration from None"

    def _leaf_names(self, count: int, core: str = "") -> list[str]:
        names: list[str] = []
        given = [*self.names, *[None] * count][:count]
        fields = _field_names(self.result)
        plain = not any(given) and not self.epilogue and core not in fields
        if plain and len(fields) == count:
            given = list(fields)
        kept = set(self.extra)
        for text, shown in self._raised():
            read = ast.walk(ast.parse(text))
            kept |= {n.id for n in read if isinstance(n, ast.Name)} - set(shown)
        told = [
            name if name and name not in {*given[:i], *kept} else None
            for i, name in enumerate(given)
        ]
        taken = kept | {name for name in told if name}
        untold = told.count(None)
        for name in told:
            fallback = "result" if untold == 1 else f"result_{len(names) + 1}"
            while fallback in taken:
                fallback += "_"
            names.append(name or fallback)
        return names


def _return(kind: Kind, text: str) -> str:
    """The `return` of a value, where a tuple goes without its parentheses."""
    plain = isinstance(kind, Sequence) and kind.type == "tuple" and len(kind.items) > 1
    return f"return {text[1:-1] if plain else text}"


def _shared_out(tags: list[Tag], names: list[str]) -> tuple[list[Tag], dict[str, Tag]]:
    """What a core tells of its result, and of what it gives back beside it, by the names."""
    if not names:
        return tags, {}
    own = [replace(tag, path=tag.path[1:]) for tag in tags if tag.path[0] == 0]
    others = {names[tag.path[0] - 1]: tag for tag in tags if tag.path[0]}
    return own, others


def _field_names(kind: Kind) -> list[str]:
    """What a record or dict calls its tensors, where each can be the name of a variable."""
    members = {}
    if isinstance(kind, Record):
        members = dict(zip(kind.fields, kind.items, strict=True))
    elif isinstance(kind, Dict):
        members = dict(kind.items)
    held = {n: k for n, k in members.items() if not isinstance(k, Python)}
    plain = all(
        n.isidentifier() and not keyword.iskeyword(n) and not hasattr(builtins, n)
        for n in held
    )
    single = all(isinstance(k, Tensor | Maybe) for k in held.values())
    return list(held) if plain and single else []


def _said(kind: Kind) -> str:
    """What a message calls a value."""
    if isinstance(kind, Object):
        return f"a `{kind.name.rpartition('.')[2]}`"
    text = isinstance(kind, Python) and kind.type == "str"
    return "a text" if text else f"{kind}"
