"""What the items of lists are, where they are tuples, namedtuples, or dicts that are written out."""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass

from .facts.environment import FunctionFacts
from .facts.kinds import Dict, Kind, Record, Sequence
from .facts.profile import FunctionNode
from .facts.syntax import names_in, own_nodes
from .list_forms import copied

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
Parts = list[ast.expr]


class Whole(Exception):
    """A list is used as a whole."""


@dataclass(frozen=True)
class Form:
    """What the items of a list are.

    Attributes:
        kind: that of an item.
        keys: by which its parts are read: places, names of fields, or keys.
        type: of a tuple or list, or the class of a record.
    """

    kind: type[Kind]
    keys: tuple[int | str, ...]
    type: str = ""

    @property
    def changeable(self) -> bool:
        return self.kind is Dict or self.type == "list"

    def key(self, node: ast.expr) -> tuple[ast.expr, int] | None:
        """The item of which an expression reads a part, and which one."""
        match node:
            case ast.Attribute(value=item, attr=attr) if (
                self.kind is Record and attr in self.keys
            ):
                return item, self.keys.index(attr)
            case ast.Subscript(value=item, slice=ast.Constant(value=str() as key)) if (
                self.kind is Dict and key in self.keys
            ):
                return item, self.keys.index(key)
            case ast.Subscript(value=item, slice=index) if self.kind is not Dict:
                place = _constant(index)
                if place is not None and -len(self.keys) <= place < len(self.keys):
                    return item, place % len(self.keys)
        return None

    def made(self, parts: Parts, maker: ast.expr | None) -> ast.expr:
        """An item made of its parts."""
        match self.kind:
            case _ if self.kind is Dict:
                return ast.Dict([ast.Constant(k) for k in self.keys], parts)
            case _ if self.kind is Record:
                if maker is None:
                    raise Whole
                return ast.Call(copy.deepcopy(maker), parts, [])
        display = ast.List if self.type == "list" else ast.Tuple
        return display(parts, ast.Load())

    def part(self, item: ast.expr, place: int) -> ast.expr:
        key = self.keys[place]
        if self.kind is Record:
            return ast.Attribute(item, str(key), ast.Load())
        return ast.Subscript(item, ast.Constant(key), ast.Load())


def family_of(facts: FunctionFacts, grown: str) -> frozenset[str]:
    """The lists that are given each other's items as a whole."""
    pairs = [
        (target.id, source)
        for node in own_nodes(facts.definition.node)
        if isinstance(node, ast.Assign) and len(node.targets) == 1
        if isinstance(target := node.targets[0], ast.Name)
        if (source := _source(node.value)) is not None
    ]
    family = {grown}
    for _ in pairs:
        family |= {n for pair in pairs if family & {*pair} for n in pair}
    return frozenset(family)


def _source(value: ast.expr) -> str | None:
    match value:
        case ast.Subscript(value=whole, slice=ast.Slice()):
            return _source(whole)
        case ast.Name(id=source):
            return source
    return copied(value) or None


def form_of(facts: FunctionFacts, family: frozenset[str]) -> Form | None:
    """The one form of the items of lists; None where they are no tuples."""
    forms = {
        _form_of(facts.kind(value))
        for node in own_nodes(facts.definition.node)
        for value in given(node, family)
        if value in facts.kinds
    }
    return forms.pop() if len(forms) == 1 else None


def _form_of(kind: Kind) -> Form | None:
    match kind:
        case Record(type=text, fields=fields):
            return Form(Record, fields, text)
        case Sequence(type="tuple" | "list" as text, items=items) if items:
            return Form(Sequence, tuple(range(len(items))), text)
        case Dict(items=items) if items:
            return Form(Dict, tuple(key for key, _ in items))
    return None


def given(node: ast.AST, family: frozenset[str]) -> list[ast.expr]:
    """The items that a statement puts into one of the lists, one by one."""
    match node:
        case (
            ast.Call(
                func=ast.Attribute(value=ast.Name(id=n), attr="append"), args=[value]
            )
            | ast.Call(
                func=ast.Attribute(value=ast.Name(id=n), attr="insert"),
                args=[_, value],
            )
            | ast.Assign(targets=[ast.Subscript(value=ast.Name(id=n))], value=value)
        ) if n in family:
            return [value]
        case ast.Assign(targets=[ast.Name(id=n)], value=ast.List(elts=elts)) if (
            n in family
        ):
            return elts
    return []


def makes(node: ast.Call, form: Form) -> bool:
    called_as = ast.unparse(node.func).rpartition(".")[2]
    return form.kind is Record and called_as == form.type.rpartition(".")[2]


def written(value: ast.expr, form: Form) -> Parts | None:
    """The parts of an item that is written out; None where it is not."""
    match value:
        case ast.Tuple(elts=elts) | ast.List(elts=elts) if (
            form.kind is Sequence
            and len(elts) == len(form.keys)
            and not any(isinstance(e, ast.Starred) for e in elts)
        ):
            return elts
        case ast.Dict(keys=keys, values=values) if form.kind is Dict:
            found = [k.value for k in keys if isinstance(k, ast.Constant)]
            return values if tuple(found) == form.keys else None
        case ast.Call(args=args, keywords=keywords) if makes(value, form):
            given = [*form.keys[: len(args)], *(k.arg for k in keywords)]
            plain = not any(isinstance(a, ast.Starred) for a in args)
            if plain and tuple(given) == form.keys:
                return [*args, *(k.value for k in keywords)]
    return None


def item_names(
    node: FunctionNode, form: Form, family: frozenset[str]
) -> tuple[str, ...]:
    """Names for the parts of an item: its fields, or what the function calls them, or their ordinals."""
    if form.kind is not Sequence:
        return tuple(str(k) if str(k).isidentifier() else "part" for k in form.keys)
    for inner in own_nodes(node):
        taken = [inner.target] if isinstance(inner, ast.For) else []
        if isinstance(inner, ast.Assign):
            taken = inner.targets
        parted = [n for t in taken for n in ast.walk(t) if isinstance(n, ast.Tuple)]
        about = names_in(inner.iter if isinstance(inner, ast.For) else inner) & family
        put = [written(value, form) for value in given(inner, family)]
        for parts in [*put, *(t.elts for t in parted if about)]:
            texts = [p.id for p in parts or () if isinstance(p, ast.Name)]
            if len({*texts}) == len(form.keys):
                return tuple(texts)
    return tuple((*ORDINALS, *(f"part_{k}" for k in form.keys))[: len(form.keys)])


def _constant(node: ast.expr) -> int | None:
    match node:
        case ast.Constant(value=int() as number):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number)):
            return -number
    return None
