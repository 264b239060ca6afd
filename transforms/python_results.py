"""What results of a graph become in Python: the texts that make numbers, lists and structures of its tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .facts import kinds
from .facts.definitions import Tag
from .facts.kind_parts import unwrapped
from .facts.kinds import (
    NONE,
    NUMPY,
    WEAK_DTYPES,
    Dict,
    Elements,
    Kind,
    Maybe,
    Python,
    Ragged,
    Rows,
    Sequence,
    Tensor,
    TensorArray,
    Union,
    Variable,
)
from .facts.profile import FunctionNode
from .facts.staging import holds_variable, is_strong, stage
from .findings import Refusal
from .promotion import display, literal, member_texts, quoted

CONVERSIONS = {
    "int": "int({})",
    "float": "float({})",
    "bool": "bool({})",
    "str": "{}.numpy().decode()",
    NUMPY: "{}.numpy()",
}


@dataclass(frozen=True)
class MadeArray(TensorArray):
    """A TensorArray that the shell makes anew; `made` is the text of that, with `{}` for its items."""

    made: str = ""


def skeleton(
    kind: Kind,
    names: Iterator[str],
    tags: Mapping[tuple[tuple[int, ...], bool], Tag],
    path: tuple[int, ...],
    tf: str,
) -> str:
    """The text of the result, built from its tensors; `tags` by the path and whether they tell of None."""
    if unwrapped(kind) != kind:
        return f"None if {tags[path, True].name} else {skeleton(unwrapped(kind), names, tags, path, tf)}"
    if isinstance(kind, Sequence):
        return display(
            kind.type,
            [
                skeleton(item, names, tags, (*path, i), tf)
                for i, item in enumerate(kind.items)
            ],
        )
    if isinstance(kind, Dict):
        values = [
            skeleton(value, names, tags, (*path, i), tf)
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
    made = told_apart(text, inside, tags.get((path, False)), tf)
    return made if none is None else f"None if {none.name} else {made}"


def told_apart(text: str, kind: Kind, tag: Tag | None, tf: str) -> str:
    if tag is None:
        return converted(text, kind, tf)
    number = _only_number(kind, tag.type) or CONVERSIONS[tag.type].format(text)
    return f"{number} if {tag.name} else {converted(text, kind, tf)}"


def _only_number(kind: Kind, type_name: str) -> str | None:
    """The text of the one Python number that a value may be in the place of a tensor."""
    if not isinstance(kind, Tensor) or kind.weak or len(kind.numbers or ()) != 1:
        return None
    (number,) = kind.numbers or ()
    if type(number).__name__ != type_name:
        return None
    return literal(number)


def converted(text: str, kind: Kind, tf: str) -> str:
    """The text of what a tensor that a core gives back becomes in Python."""
    if isinstance(kind, Elements | Sequence) and kind.type == "list":
        items = {kind.element} if isinstance(kind, Elements) else {*kind.items}
        (item,) = items if len(items) == 1 else (None,)
        if isinstance(item, Tensor) and item.weak:
            return f"[{CONVERSIONS[item.weak].format('item')} for item in {text}]"
    if isinstance(kind, Sequence) and has_python(kind):
        pairs = zip(member_texts(kind), kind.items, strict=True)
        parts = [converted(text + member, item, tf) for member, item in pairs]
        return display(kind.type, parts)
    if isinstance(kind, Python):
        return literal(kind.value)
    if isinstance(kind, Tensor) and kind.weak:
        return CONVERSIONS[kind.weak].format(text)
    if isinstance(kind, Rows) and kind.levels > 1:
        return _lists(text, kind, tf)
    if isinstance(kind, Rows):
        if kind.element.weak == NUMPY:
            return f"list({text}.numpy())"
        if kind.element.weak == "str":
            return f"[item.decode() for item in {text}.numpy()]"
        if kind.element.weak:
            return f"{text}.numpy().tolist()"
        return f"list({text})" if kind.ragged else f"{tf}.unstack({text})"
    return text


def _lists(text: str, kind: Rows, tf: str) -> str:
    """The text of the lists in a list that a core gives back as one tensor."""
    if kind.element.weak in ("int", "float", "bool"):
        return f"{text}.to_list()" if kind.ragged else f"{text}.numpy().tolist()"
    rows = text if kind.ragged else f"{tf}.unstack({text})"
    row = converted("row", Rows(kind.element), tf)
    return f"[{row} for row in {rows}]"


def arrays_made(names: list[str], kinds: list[Kind]) -> list[str]:
    """The statements that make TensorArrays of the items that a core gives back."""
    return [
        f"{name} = {kind.made.format(name, name)}"
        for name, kind in zip(names, kinds, strict=True)
        if isinstance(kind, MadeArray)
    ]


def with_array(kind: Kind, made: str) -> Kind:
    """A result with the TensorArray in it as one that is made anew."""
    if isinstance(kind, Sequence):
        return Sequence(kind.type, tuple(with_array(k, made) for k in kind.items))
    if isinstance(kind, Dict):
        return Dict(tuple((key, with_array(k, made)) for key, k in kind.items))
    if isinstance(kind, TensorArray):
        return MadeArray(kind.dtype, kind.shape, made)
    return kind


def with_worked_out(kind: Kind) -> Kind:
    """A result with the numbers that Python works out while it traces as tensors."""
    if isinstance(kind, Sequence | Dict):
        return kind.mapped(with_worked_out)
    number = isinstance(kind, Python) and kind.type in WEAK_DTYPES and not kind.known
    return stage(kind) if number else kind


def staged_list(kind: Kind) -> Kind:
    """The kind of a list or tuple with Python's numbers in it as tensors; other values, and Variables, as they are."""
    several = isinstance(kind, Sequence | Elements)
    element = kind.element if isinstance(kind, Elements) else kind
    return stage(kind) if several and not holds_variable(element) else kind


def has_python(kind: Kind) -> bool:
    """Whether a result is, or holds, what Python has to make of tensors."""
    if isinstance(kind, Sequence):
        return any(map(has_python, kind.items))
    if isinstance(kind, Dict):
        return any(has_python(value) for _, value in kind.items)
    if isinstance(kind, Rows):
        return True
    return (
        (isinstance(kind, Python) and kind != NONE)
        or (isinstance(kind, Tensor) and kind.weak is not None)
        or isinstance(kind, MadeArray)
    )


def makes_arrays(kind: Kind) -> bool:
    """Whether a result is, or holds, a TensorArray that the shell makes anew."""
    return isinstance(kind, MadeArray) or any(map(makes_arrays, kind.parts))


def is_given_back(kind: Kind) -> bool:
    """Whether a core can give back a piece of state: a tensor, a tuple, list or dict of them, or None in some traces."""
    if isinstance(kind, Sequence) and kind.type in ("tuple", "list"):
        return all(map(is_given_back, kind.items)) and not has_python(kind)
    if isinstance(kind, Elements) and kind.type in ("tuple", "list"):
        return is_strong(kind.element) and is_given_back(kind.element)
    if isinstance(kind, Dict):
        return all(is_given_back(v) for _, v in kind.items) and not has_python(kind)
    if isinstance(kind, Union) and NONE in kind.members:
        rest = [member for member in kind.members if member != NONE]
        return all(map(is_given_back, rest)) and not any(map(has_python, rest))
    return isinstance(kind, Tensor) and not kind.mixed


def comes_back(kind: Kind) -> bool:
    """Whether a graph gives back such a value of a name: a tensor, or a list or tuple of tensors."""
    if isinstance(kind, Sequence) and kind.type in ("list", "tuple"):
        tensors = [k for k in kind.items if isinstance(k, Tensor) and not k.mixed]
        return bool(tensors) and len(tensors) == len(kind.items)
    if isinstance(kind, Elements) and kind.type in ("list", "tuple"):
        kind = kind.element
    return isinstance(kind, Rows) or (isinstance(kind, Tensor) and not kind.mixed)


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
            reason = f"it returns {kind}"
            way_out = ""
            if isinstance(kind.element, Tensor) and kind.element.weak:
                reason = f"it returns a {kind.type} of Python numbers that is as long as a tensor decides"
                way_out = "return one as long each time, or fill one list and return it"
            raise Refusal(reason, node, way_out=way_out)
    elif isinstance(kind, Variable):
        raise Refusal(
            "it returns a Variable, which a graph gives back as its value", node
        )
    elif isinstance(kind, TensorArray) and not isinstance(kind, MadeArray):
        reason = (
            "it returns a TensorArray that no loop fills with items of one known shape"
        )
        raise Refusal(reason, node)
    elif isinstance(kind, kinds.Mapping):
        reason = f"it returns {kind}, whose keys are not known before it runs"
        way_out = "return the values as one tensor, and have the caller make the dict"
        raise Refusal(reason, node, way_out=way_out)
    elif not isinstance(kind, Python | Maybe | Tensor | Ragged | Rows | MadeArray):
        raise Refusal(f"it returns {kind}", node)
