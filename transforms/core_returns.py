"""What a core gives back at its return statements: the tensors of the result, then tags, state and names."""

from __future__ import annotations

import ast

from .expressions import Writer
from .facts.kind_parts import tensor_leaves, unwrapped
from .facts.kinds import (
    NONE,
    Dict,
    Elements,
    Kind,
    Maybe,
    Python,
    Ragged,
    Rows,
    Sequence,
    Tensor,
    Union,
    Variable,
    members,
    weak,
)
from .facts.syntax import is_none
from .findings import Refusal
from .making import is_atom
from .promotion import as_owner, display, literal, member_nodes, member_texts, quoted
from .python_results import MadeArray, has_python
from .shell import Shell


class Returns:
    """Writes the return statements of one core, and takes names for its results from them."""

    def __init__(self, writer: Writer, shell: Shell) -> None:
        self.writer = writer
        self.shell = shell

    def text(self, value: ast.expr) -> str:
        """The text of what the core returns at one return statement."""
        if (self.shell.tags or self.shell.kinds) and isinstance(value, ast.Tuple):
            return self._tagged(value)
        text = self.writer.text(value)
        have = self.writer.kind(value)
        if (
            any(isinstance(member, Variable) for member in members(have))
            and not self.shell.keeps
        ):
            raise Refusal(
                "it may return a Variable, which a graph gives back as its value", value
            )
        if not self.shell.needed:
            if self.shell.result == have or isinstance(self.shell.result, Elements):
                return text
            if isinstance(value, ast.Tuple | ast.List) and isinstance(
                self.shell.result, Sequence
            ):
                return self._coerced_display(value, self.shell.result)
            return self.writer.promotion.coerced(text, have, self.shell.result, value)
        leaves = self._leaves(value, text, have, self.shell.result)
        self._name(value)
        if self._is_whole(text, have, leaves):
            leaves = [text]
        leaves += self.shell.extra
        return (
            leaves[0] if len(leaves) == 1 else ", ".join(leaves) if leaves else "None"
        )

    def taken_apart(self, value: ast.expr) -> ast.expr | None:
        """The part of what is returned that is written once for each of its tensors, and so needs a name."""
        if not self.shell.needed and not self.shell.kinds:
            return None
        if (self.shell.tags or self.shell.kinds) and isinstance(value, ast.Tuple):
            return self._repeated(value.elts[0])
        text, have = self.writer.text(value), self.writer.kind(value)
        found = self._repeated(value)
        if found is value and self._is_whole(
            text, have, self._leaves(value, text, have, self.shell.result)
        ):
            return None
        return found

    def _is_whole(self, text: str, have: Kind, leaves: list[str]) -> bool:
        """Whether a tuple is given back as it is."""
        plain = (
            isinstance(have, Sequence) and have.type == "tuple" and not self.shell.extra
        )
        return (
            plain
            and len(leaves) > 1
            and leaves == [f"{text}[{i}]" for i in range(len(leaves))]
        )

    def _tagged(self, value: ast.Tuple) -> str:
        inner, *answers = value.elts
        leaves = self._leaves(
            inner,
            self.writer.text(inner),
            self.writer.kind(inner),
            self.shell.result,
        )
        self._name(inner)
        if self.shell.kinds:
            for answer, want in zip(answers, self.shell.kinds.values(), strict=True):
                if isinstance(want, Elements | Rows) or has_python(want):
                    leaves.append(self._listed(answer, want))
                else:
                    leaves.append(self._state(answer, want))
            return ", ".join(leaves)
        tags = [
            self.writer.promotion.coerced(
                self.writer.text(a), self.writer.kind(a), weak("bool"), a
            )
            for a in answers
        ]
        return ", ".join([*leaves, *tags, *self.shell.extra])

    def _listed(self, value: ast.expr, want: Kind) -> str:
        text, have = self.writer.text(value), self.writer.kind(value)
        if isinstance(want, Rows):
            return text
        if isinstance(want, Elements) and isinstance(have, Elements):
            if have == want or not isinstance(want.element, Tensor):
                return text
            tf, dtype = self.writer.tf, want.element.dtype
            made = f"{tf}.convert_to_tensor(item, {tf}.{dtype})"
            return f"[{made} for item in {text}]"
        return self.writer.promotion.coerced(text, have, want, value)

    def _coerced_display(self, value: ast.Tuple | ast.List, want: Sequence) -> str:
        texts = [
            self.writer.promotion.coerced(
                self.writer.text(e), self.writer.kind(e), w, e
            )
            for e, w in zip(value.elts, want.items, strict=True)
        ]
        if texts == [self.writer.source.segment(e) for e in value.elts]:
            return self.writer.source.segment(value)
        return display(want.type, texts)

    def _leaves(
        self,
        value: ast.expr | None,
        text: str,
        have: Kind,
        want: Kind,
    ) -> list[str]:
        """The texts of the tensors inside a result, in order."""
        if have == NONE and (self.shell.failure or unwrapped(want) != want):
            zero = self.writer.promotion.zero
            return [zero(leaf, value) for leaf in tensor_leaves(want)]
        if isinstance(have, Maybe) and isinstance(want, Sequence | Dict):
            reason = f"it raises or returns {want} as a tensor decides"
            raise Refusal(reason, value, "GL108")
        have, want = unwrapped(have), unwrapped(want)
        if isinstance(want, Sequence) and isinstance(have, Sequence):
            return self._member_leaves(value, text, have, want)
        if isinstance(want, Dict) and isinstance(have, Dict):
            return self._entry_leaves(value, text, have, want)
        if isinstance(want, Python):
            if want != NONE and not want.known:
                raise Refusal(
                    "it returns a Python value that it computes on the way", value
                )
            return []
        if isinstance(want, Rows | Ragged):
            return [text]
        if isinstance(want, MadeArray):
            return [f"{text}.stack()"]
        if isinstance(want, Tensor | Variable | Maybe):
            return [self.writer.promotion.coerced(text, have, want, value)]
        raise Refusal(f"it returns {want}", value)

    def _member_leaves(
        self, value: ast.expr | None, text: str, have: Sequence, want: Sequence
    ) -> list[str]:
        parts: list[str] = []
        nodes, texts = member_nodes(value, have), member_texts(have)
        for node, member, h, w in zip(
            nodes, texts, have.items, want.items, strict=True
        ):
            if node is not None:
                inner = self.writer.text(node)
            elif isinstance(h, Python) and h.known:
                inner = literal(h.value)
            else:
                inner = as_owner(text) + member
            parts += self._leaves(node, inner, h, w)
        return parts

    def _entry_leaves(
        self, value: ast.expr | None, text: str, have: Dict, want: Dict
    ) -> list[str]:
        entries = _entries(value)
        parts: list[str] = []
        for (key, h), (_, w) in zip(have.items, want.items, strict=True):
            node = entries.get(key)
            if node is not None:
                inner = self.writer.text(node)
            else:
                inner = f"{as_owner(text)}[{quoted(key)}]"
            parts += self._leaves(node, inner, h, w)
        return parts

    def _name(self, value: ast.expr) -> None:
        """Take names for the results from what is returned, where that is the same at every return."""
        whole = (
            not self.shell.failure and unwrapped(self.shell.result) == self.shell.result
        )
        if not whole and is_none(value):
            return
        found = [_name_of(node) for node in _leaf_nodes(value, self.shell.result)]
        if not self.shell.names:
            self.shell.names = found
        elif self.shell.names != found:
            pairs = zip(self.shell.names, found, strict=False)
            self.shell.names = [
                a if b in (a, "") else b if a == "" else None for a, b in pairs
            ]

    def _state(self, answer: ast.expr, want: Kind) -> str:
        """The text of a piece of state that a core gives back."""
        text, have = self.writer.text(answer), self.writer.kind(answer)
        if isinstance(want, Union):
            if not set(members(have)) <= set(want.members):
                raise Refusal(
                    f"it gives back {have} where it gives back {want}", answer
                )
            return text
        if isinstance(want, Sequence | Dict):
            leaves = zip(tensor_leaves(have), tensor_leaves(want), strict=False)
            same = all(
                getattr(h, "dtype", None) == getattr(w, "dtype", 0) for h, w in leaves
            )
            if type(have) is not type(want) or not same:
                raise Refusal(
                    f"it gives back {have} where it gives back {want}", answer
                )
            return text
        return self.writer.promotion.coerced(text, have, want, answer)

    def _repeated(self, value: ast.expr) -> ast.expr | None:
        """An expression in a result of which several members are asked for."""
        kind = unwrapped(self.writer.kind(value))
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
        inner = (self._repeated(node) for node in nodes if node is not None)
        return next((found for found in inner if found is not None), None)


def _entries(value: ast.expr | None) -> dict[str, ast.expr]:
    """What a display of a dict gives its keys, where no `**` behind it may give them something else."""
    found: dict[str, ast.expr] = {}
    if isinstance(value, ast.Dict):
        for key, node in zip(value.keys, value.values, strict=True):
            if key is None:
                found.clear()
            elif isinstance(key, ast.Constant) and isinstance(key.value, str):
                found[key.value] = node
    return found


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
