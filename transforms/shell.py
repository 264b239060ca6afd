"""The Python shell: what a lifted function's results become in Python, and what is left to do after the graph.

A graph gives tensors. Where eager mode gave a Python number, or there is Python left to run at the end, the function
becomes a Python function around a `tf.function` core.
"""

from __future__ import annotations

import ast
import builtins
import keyword
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import tensor_arrays
from .facts.definitions import Form, Tag
from .facts.environment import FunctionFacts
from .facts.kind_parts import tensor_leaves, unwrapped
from .facts.kinds import (
    NONE,
    NUMPY,
    Dict,
    Elements,
    Kind,
    Maybe,
    Python,
    Ragged,
    Record,
    Rows,
    Sequence,
    Tensor,
    TensorArray,
    Union,
    Variable,
    members,
    weak,
)
from .facts.profile import FunctionNode
from .facts.staging import holds_variable, stage
from .facts.syntax import is_none
from .findings import Refusal
from .making import is_atom
from .promotion import display, literal, member_nodes, member_texts, quoted

if TYPE_CHECKING:
    from .core_trials import Split
    from .planner import Planner

CONVERSIONS = {
    "int": "int({})",
    "float": "float({})",
    "bool": "bool({})",
    "str": "{}.numpy().decode()",
    NUMPY: "{}.numpy()",
}


@dataclass(frozen=True)
class _Array(TensorArray):
    """A TensorArray that the shell makes anew; `made` is the text of that, with `{}` for its items."""

    made: str = ""


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
        shell = cls(_with_array(facts.result, array) if array else facts.result, tf)
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
        count = len(outs) + len(parts.given)
        whole = result.items if count and isinstance(result, Sequence) else (result,)
        opened = bool(parts.after)
        shell = cls(whole[0], tf=tf, extra=[*outs, *parts.given], opened=opened)
        if len(whole) != 1 + count:
            raise Refusal(f"it gives back {result} with its state", parts.core.node)
        kinds = {
            name: _staged_list(kind) if name in parts.given else kind
            for name, kind in zip(shell.extra, whole[1:], strict=True)
        }
        for name, kind in kinds.items():
            if (isinstance(kind, Tensor) and kind.mixed) or isinstance(kind, Variable):
                raise Refusal(
                    f"`{name}` may be a Python number or a tensor after the graph"
                )
            if not (
                _is_given_back(kind) or (name in parts.given and _comes_back(kind))
            ):
                raise Refusal(
                    f"`{name}` is a Python value that the graph does not give back"
                )
        shell.kinds = kinds
        shell.epilogue = [
            f"{s.text} = {text}"
            for s in parts.state
            if s.written and (text := _converted(s.name, kinds[s.name], tf)) != s.chain
        ]
        shell.epilogue += [
            f"{n} = {_converted(n, kinds[n], tf)}"
            for n in parts.given
            if _converted(n, kinds[n], tf) != n
        ]
        return shell

    @property
    def converts(self) -> bool:
        """Whether the result holds Python values."""
        return _has_python(self.result) or bool(self.tags or self.exhausted)

    @property
    def needed(self) -> bool:
        return (
            not self.keeps
            and not self.kinds
            and (self.converts or self.opened or bool(self.epilogue or self.extra))
        )

    def returned(self, planner: Planner, value: ast.expr) -> str:
        """The text of what the core returns at one return statement."""
        if (self.tags or self.kinds) and isinstance(value, ast.Tuple):
            return self._tagged(planner, value)
        text = planner.writer.text(value)
        have = planner.facts.kind(value)
        if (
            any(isinstance(member, Variable) for member in members(have))
            and not self.keeps
        ):
            raise Refusal(
                "it may return a Variable, which a graph gives back as its value", value
            )
        if not self.needed:
            if self.result == have or isinstance(self.result, Elements):
                return text
            if isinstance(value, ast.Tuple | ast.List) and isinstance(
                self.result, Sequence
            ):
                return self._coerced_display(planner, value, self.result)
            return planner.promotion.coerced(text, have, self.result, value)
        leaves = self._leaves(planner, value, text, have, self.result)
        self._name(value)
        if self._is_whole(text, have, leaves):
            leaves = [text]
        leaves += self.extra
        return (
            leaves[0] if len(leaves) == 1 else ", ".join(leaves) if leaves else "None"
        )

    def taken_apart(self, planner: Planner, value: ast.expr) -> ast.expr | None:
        """The part of what is returned that is written once for each of its tensors, and so needs a name."""
        if not self.needed and not self.kinds:
            return None
        if (self.tags or self.kinds) and isinstance(value, ast.Tuple):
            return _repeated(planner, value.elts[0])
        text, have = planner.writer.text(value), planner.facts.kind(value)
        found = _repeated(planner, value)
        if found is value and self._is_whole(
            text, have, self._leaves(planner, value, text, have, self.result)
        ):
            return None
        return found

    def _is_whole(self, text: str, have: Kind, leaves: list[str]) -> bool:
        """Whether a tuple is given back as it is."""
        plain = isinstance(have, Sequence) and have.type == "tuple" and not self.extra
        return (
            plain
            and len(leaves) > 1
            and leaves == [f"{text}[{i}]" for i in range(len(leaves))]
        )

    def _tagged(self, planner: Planner, value: ast.Tuple) -> str:
        inner, *answers = value.elts
        leaves = self._leaves(
            planner,
            inner,
            planner.writer.text(inner),
            planner.facts.kind(inner),
            self.result,
        )
        self._name(inner)
        if self.kinds:
            for answer, want in zip(answers, self.kinds.values(), strict=True):
                if isinstance(want, Elements | Rows) or _has_python(want):
                    leaves.append(self._listed(planner, answer, want))
                else:
                    leaves.append(_whole(planner, answer, want))
            return ", ".join(leaves)
        tags = [
            planner.promotion.coerced(
                planner.writer.text(a), planner.facts.kind(a), weak("bool"), a
            )
            for a in answers
        ]
        return ", ".join([*leaves, *tags, *self.extra])

    def _listed(self, planner: Planner, value: ast.expr, want: Kind) -> str:
        text, have = planner.writer.text(value), planner.facts.kind(value)
        if isinstance(want, Rows):
            return text
        if isinstance(want, Elements) and isinstance(have, Elements):
            if have == want or not isinstance(want.element, Tensor):
                return text
            tf, dtype = planner.tf, want.element.dtype
            made = f"{tf}.convert_to_tensor(item, {tf}.{dtype})"
            return f"[{made} for item in {text}]"
        return planner.promotion.coerced(text, have, want, value)

    def _coerced_display(
        self, planner: Planner, value: ast.Tuple | ast.List, want: Sequence
    ) -> str:
        texts = [
            planner.promotion.coerced(
                planner.writer.text(e), planner.facts.kind(e), w, e
            )
            for e, w in zip(value.elts, want.items, strict=True)
        ]
        if texts == [planner.source.segment(e) for e in value.elts]:
            return planner.source.segment(value)
        return display(want.type, texts)

    def _leaves(
        self,
        planner: Planner,
        value: ast.expr | None,
        text: str,
        have: Kind,
        want: Kind,
    ) -> list[str]:
        """The texts of the tensors inside a result, in order."""
        if have == NONE and (self.failure or unwrapped(want) != want):
            zero = planner.promotion.zero
            return [zero(leaf, value) for leaf in tensor_leaves(want)]
        if isinstance(have, Maybe) and isinstance(want, Sequence | Dict):
            reason = f"it raises or returns {want} as a tensor decides"
            raise Refusal(reason, value, "GL108")
        have, want = unwrapped(have), unwrapped(want)
        if isinstance(want, Sequence) and isinstance(have, Sequence):
            parts: list[str] = []
            nodes, texts = member_nodes(value, have), member_texts(have)
            for node, member, h, w in zip(
                nodes, texts, have.items, want.items, strict=True
            ):
                if node is not None:
                    inner = planner.writer.text(node)
                else:
                    inner = text + member
                    if isinstance(h, Python) and h.known:
                        inner = literal(h.value)
                parts += self._leaves(planner, node, inner, h, w)
            return parts
        if isinstance(want, Dict) and isinstance(have, Dict):
            entries = _entries(value)
            parts = []
            for (key, h), (_, w) in zip(have.items, want.items, strict=True):
                node = entries.get(key)
                inner = (
                    planner.writer.text(node)
                    if node is not None
                    else f"{text}[{quoted(key)}]"
                )
                parts += self._leaves(planner, node, inner, h, w)
            return parts
        if isinstance(want, Python):
            if want != NONE and not want.known:
                raise Refusal(
                    "it returns a Python value that it computes on the way", value
                )
            return []
        if isinstance(want, Rows | Ragged):
            return [text]
        if isinstance(want, _Array):
            return [f"{text}.stack()"]
        if isinstance(want, Tensor | Variable | Maybe):
            return [planner.promotion.coerced(text, have, want, value)]
        raise Refusal(f"it returns {want}", value)

    def _name(self, value: ast.expr) -> None:
        """Take names for the results from what is returned, where that is the same at every return."""
        whole = not self.failure and unwrapped(self.result) == self.result
        if not whole and is_none(value):
            return
        found = [_name_of(node) for node in _leaf_nodes(value, self.result)]
        if not self.names:
            self.names = found
        elif self.names != found:
            pairs = zip(self.names, found, strict=False)
            self.names = [
                a if b in (a, "") else b if a == "" else None for a, b in pairs
            ]

    # ---- the text of the shell

    def calls(self, core_call: str) -> list[str]:
        """The call of a split function's core, and what becomes of what it gives back beside the result."""
        names = self._leaf_names(len(tensor_leaves(self.result)))
        targets = [*names, *self.kinds]
        rest = [*_arrays(names, tensor_leaves(self.result)), *self.epilogue]
        call = f"{', '.join(targets)} = {core_call}" if targets else core_call
        return [call, *rest]

    def closing(self) -> list[str]:
        """The return of a split function."""
        if self.result == NONE:
            return []
        names = iter(self._leaf_names(len(tensor_leaves(self.result))))
        result = _skeleton(self.result, names, {}, (), self.tf)
        if (
            isinstance(self.result, Sequence)
            and self.result.type == "tuple"
            and len(self.result.items) > 1
        ):
            result = result[1:-1]
        return [f"return {result}"]

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
            return [
                self._guarded(f"return {_converted(core_call, leaves[0], self.tf)}")
            ]
        targets = [*names, *(tag.name for tag in self.tags), *self.extra]
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
        result = _skeleton(kind, remaining, tags, (), self.tf)
        if (
            isinstance(self.result, Sequence)
            and self.result.type == "tuple"
            and len(self.result.items) > 1
        ):
            result = result[1:-1]
        closing = [f"return {result}"] if self.result != NONE else []
        return [call, *raising, *_arrays(names, leaves), *self.epilogue, *closing]

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
        return [*failed, *told, f"return {texts[-1]}"]

    def _of_form(self, form: Form, names: list[str]) -> str:
        given = iter([names[i] for i in form.places])
        return _skeleton(form.kind, given, {}, (), self.tf)

    def _raising(self, form: Form, names: list[str]) -> list[str]:
        """A `raise`, and before it what it shows, in Python's types."""
        given = [names[i] for i in form.places]
        parts = zip(form.shown, given, tensor_leaves(form.kind), strict=True)
        made = [(name, _converted(text, kind, self.tf)) for name, text, kind in parts]
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
        for i, name in enumerate(given):
            fallback = "result" if count == 1 else f"result_{i + 1}"
            while fallback in kept:
                fallback += "_"
            names.append(name if name and name not in {*names, *kept} else fallback)
        return names


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


def _is_given_back(kind: Kind) -> bool:
    """Whether a core can give back a piece of state: a tensor, a tuple, list or dict of them, or None in some traces."""
    if isinstance(kind, Sequence) and kind.type in ("tuple", "list"):
        return all(map(_is_given_back, kind.items)) and not _has_python(kind)
    if isinstance(kind, Dict):
        return all(_is_given_back(v) for _, v in kind.items) and not _has_python(kind)
    if isinstance(kind, Union) and NONE in kind.members:
        rest = [member for member in kind.members if member != NONE]
        return all(map(_is_given_back, rest)) and not any(map(_has_python, rest))
    return isinstance(kind, Tensor) and not kind.mixed


def _whole(planner: Planner, answer: ast.expr, want: Kind) -> str:
    """The text of a piece of state that a core gives back."""
    text, have = planner.writer.text(answer), planner.facts.kind(answer)
    if isinstance(want, Union):
        if not set(members(have)) <= set(want.members):
            raise Refusal(f"it gives back {have} where it gives back {want}", answer)
        return text
    if isinstance(want, Sequence | Dict):
        leaves = zip(tensor_leaves(have), tensor_leaves(want), strict=False)
        same = all(
            getattr(h, "dtype", None) == getattr(w, "dtype", 0) for h, w in leaves
        )
        if type(have) is not type(want) or not same:
            raise Refusal(f"it gives back {have} where it gives back {want}", answer)
        return text
    return planner.promotion.coerced(text, have, want, answer)


def _has_python(kind: Kind) -> bool:
    if isinstance(kind, Sequence):
        return any(map(_has_python, kind.items))
    if isinstance(kind, Dict):
        return any(_has_python(value) for _, value in kind.items)
    if isinstance(kind, Rows):
        return True
    return (
        (isinstance(kind, Python) and kind != NONE)
        or (isinstance(kind, Tensor) and kind.weak is not None)
        or isinstance(kind, _Array)
    )


def _arrays(names: list[str], kinds: list[Kind]) -> list[str]:
    """The statements that make TensorArrays of the items that a core gives back."""
    return [
        f"{name} = {kind.made.format(name, name)}"
        for name, kind in zip(names, kinds, strict=True)
        if isinstance(kind, _Array)
    ]


def _with_array(kind: Kind, made: str) -> Kind:
    """A result with the TensorArray in it as one that is made anew."""
    if isinstance(kind, Sequence):
        return Sequence(kind.type, tuple(_with_array(k, made) for k in kind.items))
    if isinstance(kind, Dict):
        return Dict(tuple((key, _with_array(k, made)) for key, k in kind.items))
    if isinstance(kind, TensorArray):
        return _Array(kind.dtype, kind.shape, made)
    return kind


def _skeleton(
    kind: Kind,
    names: Iterator[str],
    tags: Mapping[tuple[tuple[int, ...], bool], Tag],
    path: tuple[int, ...],
    tf: str,
) -> str:
    """The text of the result, built from its tensors; `tags` by the path and whether they tell of None."""
    if unwrapped(kind) != kind:
        return f"None if {tags[path, True].name} else {_skeleton(unwrapped(kind), names, tags, path, tf)}"
    if isinstance(kind, Sequence):
        return display(
            kind.type,
            [
                _skeleton(item, names, tags, (*path, i), tf)
                for i, item in enumerate(kind.items)
            ],
        )
    if isinstance(kind, Dict):
        values = [
            _skeleton(value, names, tags, (*path, i), tf)
            for i, (_, value) in enumerate(kind.items)
        ]
        return (
            "{"
            + ", ".join(
                f"{quoted(k)}: {v}"
                for (k, _), v in zip(kind.items, values, strict=True)
            )
            + "}"
        )
    if isinstance(kind, Python):
        return literal(kind.value)
    inside = kind.kind if isinstance(kind, Maybe) else kind
    none, text = tags.get((path, True)), next(names)
    made = _told_apart(text, inside, tags.get((path, False)), tf)
    return made if none is None else f"None if {none.name} else {made}"


def _told_apart(text: str, kind: Kind, tag: Tag | None, tf: str) -> str:
    if tag is None:
        return _converted(text, kind, tf)
    number = _only_number(kind, tag.type) or CONVERSIONS[tag.type].format(text)
    return f"{number} if {tag.name} else {_converted(text, kind, tf)}"


def _only_number(kind: Kind, type_name: str) -> str | None:
    """The text of the one Python number that a value may be in the place of a tensor."""
    if not isinstance(kind, Tensor) or kind.weak or len(kind.numbers or ()) != 1:
        return None
    (number,) = kind.numbers or ()
    if type(number).__name__ != type_name:
        return None
    return literal(number)


def _staged_list(kind: Kind) -> Kind:
    """The kind of a list or tuple with Python's numbers in it as tensors; other values, and Variables, as they are."""
    several = isinstance(kind, Sequence | Elements)
    element = kind.element if isinstance(kind, Elements) else kind
    return stage(kind) if several and not holds_variable(element) else kind


def _comes_back(kind: Kind) -> bool:
    """Whether a graph gives back such a value of a name: a tensor, or a list or tuple of tensors."""
    if isinstance(kind, Sequence) and kind.type in ("list", "tuple"):
        tensors = [k for k in kind.items if isinstance(k, Tensor) and not k.mixed]
        return bool(tensors) and len(tensors) == len(kind.items)
    if isinstance(kind, Elements) and kind.type in ("list", "tuple"):
        kind = kind.element
    return isinstance(kind, Rows) or (isinstance(kind, Tensor) and not kind.mixed)


def _converted(text: str, kind: Kind, tf: str) -> str:
    if isinstance(kind, Elements | Sequence) and kind.type == "list":
        items = {kind.element} if isinstance(kind, Elements) else {*kind.items}
        (item,) = items if len(items) == 1 else (None,)
        if isinstance(item, Tensor) and item.weak:
            return f"[{CONVERSIONS[item.weak].format('item')} for item in {text}]"
    if isinstance(kind, Sequence) and _has_python(kind):
        pairs = zip(member_texts(kind), kind.items, strict=True)
        parts = [_converted(text + member, item, tf) for member, item in pairs]
        return display(kind.type, parts)
    if isinstance(kind, Python):
        return literal(kind.value)
    if isinstance(kind, Tensor) and kind.weak:
        return CONVERSIONS[kind.weak].format(text)
    if isinstance(kind, Rows):
        if kind.element.weak == NUMPY:
            return f"list({text}.numpy())"
        if kind.element.weak == "str":
            return f"[item.decode() for item in {text}.numpy()]"
        if kind.element.weak:
            return f"{text}.numpy().tolist()"
        return f"list({text})" if kind.ragged else f"{tf}.unstack({text})"
    return text


def _entries(value: ast.expr | None) -> dict[str, ast.expr]:
    if not isinstance(value, ast.Dict):
        return {}
    return {
        key.value: node
        for key, node in zip(value.keys, value.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    }


def _repeated(planner: Planner, value: ast.expr) -> ast.expr | None:
    """An expression in a result of which several members are asked for."""
    kind = unwrapped(planner.facts.kind(value))
    if isinstance(kind, Sequence):
        nodes, members = member_nodes(value, kind), list(kind.items)
    elif isinstance(kind, Dict):
        entries = _entries(value)
        nodes = [entries.get(key) for key, _ in kind.items]
        members = [item for _, item in kind.items]
    else:
        return None
    asked = [
        item
        for node, item in zip(nodes, members, strict=True)
        if node is None and not (isinstance(item, Python) and item.known)
    ]
    if len(asked) > 1 and not is_atom(value):
        return value
    inner = (_repeated(planner, node) for node in nodes if node is not None)
    return next((found for found in inner if found is not None), None)


def _leaf_nodes(value: ast.expr | None, kind: Kind) -> list[ast.expr | None]:
    kind = unwrapped(kind)
    if isinstance(kind, Sequence):
        return [
            leaf
            for node, item in zip(member_nodes(value, kind), kind.items, strict=True)
            for leaf in _leaf_nodes(node, item)
        ]
    if isinstance(kind, Dict):
        entries = _entries(value)
        return [
            leaf
            for key, item in kind.items
            for leaf in _leaf_nodes(entries.get(key), item)
        ]
    return [] if isinstance(kind, Python) else [value]


def _name_of(node: ast.expr | None) -> str | None:
    """The name of a part of a result; "" for what stands there for nothing."""
    if getattr(node, "is_nothing", False):
        return ""
    return node.id if isinstance(node, ast.Name) else None


def check_result(kind: Kind, node: FunctionNode) -> None:
    """Refuse results that neither a graph nor a shell can give back.

    Raises:
        Refusal: with what the result is.
    """
    if isinstance(kind, Sequence) and kind.nests:
        for item in kind.items:
            check_result(item, node)
    elif isinstance(kind, Dict):
        for _, value in kind.items:
            check_result(value, node)
    elif isinstance(kind, Elements) and kind.type in ("list", "tuple"):
        if (
            not isinstance(kind.element, Tensor)
            or kind.element.weak
            or kind.element.mixed
        ):
            raise Refusal(f"it returns {kind}", node)
    elif isinstance(kind, Variable):
        raise Refusal(
            "it returns a Variable, which a graph gives back as its value", node
        )
    elif isinstance(kind, TensorArray) and not isinstance(kind, _Array):
        reason = (
            "it returns a TensorArray that no loop fills with items of one known shape"
        )
        raise Refusal(reason, node)
    elif not isinstance(kind, Python | Maybe | Tensor | Ragged | Rows | _Array):
        raise Refusal(f"it returns {kind}", node)
