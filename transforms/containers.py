"""GL203 list-append: a list that grows where a tensor decides becomes a `tf.TensorArray`, or a tensor of its items."""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator

from .facts.environment import FunctionFacts
from .facts.kinds import (
    NUMPY,
    UNKNOWN,
    Dict,
    Elements,
    Kind,
    Mapping,
    Rows,
    Sequence,
    Tensor,
)
from .facts.liveness import liveness
from .facts.profile import FunctionNode
from .facts.staging import choose, is_list, is_strong, stage
from .facts.syntax import is_named, names_in, own_nodes, target_names
from .findings import Refusal, Unseen
from .list_forms import DEFAULTS, List, copied
from .lists import Lists
from .making import assigned
from .rebuilding import rebuilt, with_body, with_origin
from .rule import LEAK, Rule
from .source import Names

MOST_KINDS = 4
"""From so many kinds of items on, a finding does not name them."""


class ListAppend(Rule):
    """A Python list that grows in a loop or a branch which a tensor decides.

    What it finds:
        Local lists that are changed in a tensor loop or branch: `append`, `extend`, `insert`, `pop`, `+=`, items set,
        `table[i][j] = ...` of lists of one length in a list.

    Why it matters:
        While a graph is traced the body runs once, so the list gets one symbolic tensor of the loop, which cannot be
        used outside (`InaccessibleTensorError`), or silently too few items.

    Before:
        import tensorflow as tf

        def f(values: tf.Tensor):
            doubled = []
            for v in values:
                doubled.append(v * 2.0)
            return tf.stack(doubled)

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([4.0]),), (tf.constant([1.0, -2.0, 3.0]),)]

    After:
        import tensorflow as tf

        @tf.function(autograph=False, input_signature=[tf.TensorSpec([None], tf.float32)])
        def f(values: tf.Tensor):
            length = tf.shape(values)[0]
            doubled = tf.TensorArray(tf.float32, size=length, element_shape=[])

            def body(i, doubled):
                v = values[i]
                doubled = doubled.write(i, v * 2.0)
                return i + 1, doubled

            _, doubled = tf.while_loop(
                lambda i, doubled: i < length, body, (tf.constant(0), doubled)
            )
            return doubled.stack()

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([4.0]),), (tf.constant([1.0, -2.0, 3.0]),)]

    When it is left alone:
        Lists whose items are of different dtypes, or that are given to what is no function of the module. Lists in a
        list whose items are set, where they may be of several lengths, or one of them goes by a name of its own. An
        index out of range raises the graph's `InvalidArgumentError`, not `IndexError`, where no recorded call has
        raised that.
    """

    code = "GL203"
    name = "list-append"
    errors = (LEAK,)


def with_tensor_arrays(
    facts: FunctionFacts, names: Names, tf: str, empty: bool
) -> FunctionNode | None:
    """The function with its growing lists held in the graph; None where it has none.

    `empty`: loops were seen that fill none.

    Raises:
        Refusal: a list is used in a way that the graph does not serve.
    """
    grown = growing(facts)
    if not grown:
        return None
    try:
        return _with_lists(facts, names, tf, grown, empty)
    except Refusal:
        dicts = (getattr(n, "of_dict", "") for n in own_nodes(facts.definition.node))
        name = next(filter(None, dicts), None)
        if name is None:
            raise
        raise _decided_keys(name, facts) from None


def _with_lists(
    facts: FunctionFacts, names: Names, tf: str, grown: list[str], empty: bool
) -> FunctionNode:
    made = copy.copy(facts.definition.node)
    found = {name: _list(facts, made, name, names, tf) for name in grown}
    lists = Lists(facts, names, tf, found, empty)
    made.body = lists.block(made.body)
    for name in grown:
        lists.check(made, name)
    return made


def with_parts(facts: FunctionFacts, names: Names) -> FunctionNode | None:
    """The function with the lists that it makes or changes several at once each by itself; None where it has none."""
    node = facts.definition.node
    if not any(p.code == "GL203" for p in facts.problems):
        return None
    return with_body(node, _parted(node.body, facts, names))


def _parted(body: list[ast.stmt], facts: FunctionFacts, names: Names) -> list[ast.stmt]:
    """A block with `a, b = [], 0` of lists, and `a[i], a[j] = a[j], a[i]`, as assignments of their own."""
    result: list[ast.stmt] = []
    for node in body:
        match node:
            case ast.Assign(
                targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)
            ) if len(targets) == len(values) and _are_new(values):
                result += [
                    with_origin(ast.Assign([t], v), node)
                    for t, v in zip(targets, values, strict=True)
                ]
            case ast.Assign(
                targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)
            ) if len(targets) == len(values) and all(map(_is_item, targets)):
                result += [
                    with_origin(made, node)
                    for made in _one_by_one(targets, values, facts, names)
                ]
            case ast.Assign(
                targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)
            ) if len(targets) == len(values) and _are_lists(targets, values, facts):
                result += [
                    with_origin(made, node)
                    for made in _in_turn(targets, values, facts, names)
                ]
            case _:
                result.append(rebuilt(node, lambda b: _parted(b, facts, names)))
    return result


def _are_new(values: list[ast.expr]) -> bool:
    """Whether values are numbers, texts, and new lists, sets or dicts that are empty, some of these among them."""
    empty = [
        (isinstance(v, ast.List) and not v.elts)
        or (isinstance(v, ast.Dict) and not v.keys)
        or (isinstance(v, ast.Call) and ast.unparse(v) == "set()")
        for v in values
    ]
    pairs = zip(empty, values, strict=True)
    return any(empty) and all(e or isinstance(v, ast.Constant) for e, v in pairs)


def _is_item(target: ast.expr) -> bool:
    match target:
        case ast.Subscript(value=ast.Name(), slice=index):
            return not isinstance(index, ast.Slice)
    return False


def _one_by_one(
    targets: list[ast.expr],
    values: list[ast.expr],
    facts: FunctionFacts,
    names: Names,
) -> list[ast.stmt]:
    """Items set one by one, to values that are read before."""
    held = [names.fresh("item") for _ in values]
    reads = [ast.Name(text, ast.Load()) for text in held]
    facts.kinds |= {r: facts.kind(v) for r, v in zip(reads, values, strict=True)}
    return [
        *map(assigned, held, values),
        *(ast.Assign([t], r) for t, r in zip(targets, reads, strict=True)),
    ]


def _are_lists(
    targets: list[ast.expr], values: list[ast.expr], facts: FunctionFacts
) -> bool:
    """Whether names are given lists, among others, and no function inside knows them."""
    own = {t.id for t in targets if isinstance(t, ast.Name)}
    captured = liveness(facts.definition.node).captured
    return (
        len(own) == len(targets)
        and own.isdisjoint(captured)
        and any(is_list(facts.kind(v)) for v in values)
    )


def _in_turn(
    targets: list[ast.expr],
    values: list[ast.expr],
    facts: FunctionFacts,
    names: Names,
) -> Iterator[ast.stmt]:
    """Names set one by one; those that a later value still reads last."""
    last: list[ast.stmt] = []
    for i, (target, value) in enumerate(zip(targets, values, strict=True)):
        assert isinstance(target, ast.Name)
        if any(target.id in names_in(later) for later in values[i + 1 :]):
            held = names.fresh(target.id)
            read = ast.Name(held, ast.Load())
            facts.kinds[read] = facts.kind(value)
            last.append(ast.Assign([target], read))
            yield assigned(held, value)
        else:
            yield ast.Assign([target], value)
    yield from last


def growing(facts: FunctionFacts) -> list[str]:
    """The local lists that are changed where a tensor says so."""
    found: dict[str, None] = {}
    for problem in facts.problems:
        if problem.code == "GL203":
            name = changed_list(problem.node, facts)
            if name is not None and name not in facts.parameters:
                found.setdefault(name)
    while more := {*_taken_over(facts.definition.node, found)} - found.keys():
        found |= dict.fromkeys(sorted(more))
    return list(found)


def _taken_over(function: FunctionNode, found: Collection[str]) -> Iterator[str]:
    """The names that are given such a list, a part of one, or another one of the same items.

    Raises:
        Refusal: both names go on naming the same list.
    """
    for node in own_nodes(function):
        match node:
            case ast.Assign(
                targets=[ast.Name(id=part)],
                value=ast.Subscript(value=ast.Name(id=name), slice=ast.Slice()),
            ) if name in found:
                yield part
            case ast.Assign(targets=[ast.Name(id=part)], value=value) if (
                copied(value) in found
            ):
                yield part
            case ast.Assign(targets=[ast.Name(id=part)], value=ast.Name(id=name)) if (
                name in found
            ):
                if name in liveness(function).after[node]:
                    reason = f"`{part}` is `{name}` by another name"
                    way_out = f"copy it with `list({name})` if it is to stay as it is"
                    raise Refusal(reason, node, "GL203", way_out)
                yield part


def changed_list(node: ast.AST | None, facts: FunctionFacts) -> str | None:
    """The list that a node changes, or gives its length."""
    match node:
        case (
            ast.Call(func=ast.Attribute(value=ast.Name() as owner))
            | ast.Subscript(value=ast.Name() as owner)
        ):
            return None if isinstance(facts.kind(owner), Dict | Mapping) else owner.id
        case ast.AugAssign(target=ast.Name(id=name)):
            return name
        case ast.BinOp() | ast.Call(func=ast.Name(id="list")):
            for statement in ast.walk(facts.definition.node):
                match statement:
                    case ast.Assign(targets=[ast.Name(id=name)]) if (
                        statement.value is node
                    ):
                        return name
    return None


def _list(
    facts: FunctionFacts, function: FunctionNode, name: str, names: Names, tf: str
) -> List:
    """What is known of a list: its items, and whether its uses need one tensor.

    Raises:
        Refusal: no tensor holds its items.
    """
    element = _element(facts, function, name)
    rows = any(_needs_rows(node, name) for node in ast.walk(function))
    whole = any(_is_gone_over(node, name) for node in ast.walk(function))
    read = any(_is_item_read(node, name) for node in ast.walk(function))
    node = facts.definition.original
    parted = any(_is_part(node, name) for node in ast.walk(function))
    if element.mixed and (whole or parted):
        way_out = f"put `{tf}.constant(...)` in the place of its numbers"
        reason = f"`{name}` holds Python numbers and tensors"
        if element.weak:
            way_out = "start with floats, `0.0` in the place of `0`"
            reason = f"`{name}` holds Python ints and floats"
        raise Refusal(reason, node, "GL203", way_out)
    if rows and (element.shape is None or None in element.shape):
        raise Unseen(f"the items of `{name}` may differ in shape", node, "GL203")
    items = [k for n in ast.walk(function) for k in _given(facts, n, name)]
    nested = any(isinstance(kind, Sequence | Elements) for kind in items)
    ragged = whole or read or any(_is_ragged(node, name) for node in ast.walk(function))
    varies = ragged and not rows and element.shape == (None,)
    lengths = names.fresh("lengths") if varies else None
    lists = lengths is not None and all(
        isinstance(k, Elements) and k.type == "list" for k in items
    )
    return List(name, element, rows, nested, read, tf, lengths, lists)


def _needs_rows(node: ast.AST, name: str) -> bool:
    """Whether a use of a list is one that a TensorArray does not serve, but a tensor does."""
    match node:
        case ast.Call(
            func=ast.Attribute(
                value=ast.Name(id=n),
                attr="insert" | "pop" | "reverse" | "clear" | "sort",
            )
        ):
            return n == name
        case (
            ast.Call(
                func=ast.Attribute(value=ast.Name(id=n), attr="extend"), args=[value]
            )
            | ast.AugAssign(target=ast.Name(id=n), value=value)
        ):
            return n == name and not isinstance(value, ast.List | ast.Tuple)
        case ast.Assign(targets=[ast.Name(id=n)], value=value) if n == name:
            return not isinstance(value, ast.List)
        case ast.Subscript(value=ast.Name(id=n), slice=index, ctx=ast.Load()):
            return n == name and not _is_constant(index)
        case ast.Subscript(value=ast.Name(id=n)):
            return n == name
    return False


def _is_ragged(node: ast.AST, name: str) -> bool:
    """Whether a list is made a ragged tensor here."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Attribute(attr="ragged"), attr="stack"),
            args=[ast.Name(id=n)],
        ):
            return n == name
    return False


def _is_constant(index: ast.expr) -> bool:
    match index:
        case (
            ast.Constant(value=int())
            | ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int()))
        ):
            return True
    return False


def _is_item_read(node: ast.AST, name: str) -> bool:
    """Whether an item of a list is read as Python's."""
    match node:
        case ast.Subscript(value=ast.Name(id=n), ctx=ast.Load()):
            return n == name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=n), attr="pop")):
            return n == name
    return False


def _is_gone_over(node: ast.AST, name: str) -> bool:
    """Whether a list is returned, or gone over as Python's."""
    match node:
        case ast.For(iter=source):
            return any(is_named(n, name) for n in ast.walk(source))
        case ast.Return(value=ast.expr() as value):
            parts = value.elts if isinstance(value, ast.Tuple | ast.List) else [value]
            return any(is_named(p, name) for p in parts)
    return False


def _is_part(node: ast.AST, name: str) -> bool:
    """Whether a part of a list is read, or a comprehension goes over it."""
    match node:
        case ast.Subscript(value=ast.Name(id=n), slice=ast.Slice(), ctx=ast.Load()):
            return n == name
        case ast.comprehension(iter=source):
            return any(is_named(n, name) for n in ast.walk(source))
    return False


def _decided_keys(name: str, facts: FunctionFacts) -> Refusal:
    if key := _looped_key(name, facts):
        reason = f"`{name}` has items set at the keys `{key}` that a loop of Python goes through"
        way_out = "set each in a line of its own, or make the dict anew: `{key: ... for key in ...}`"
        return Refusal(reason, facts.definition.original, "GL203", way_out)
    reason = f"a tensor decides which keys the dict `{name}` has"
    way_out = (
        "keep one tensor with a place for each key; count with `tf.unique_with_counts`"
    )
    return Refusal(reason, facts.definition.original, "GL203", way_out)


def _looped_key(name: str, facts: FunctionFacts) -> str | None:
    """The name by which a loop of Python goes through keys at which it sets items of a dict."""
    for loop in own_nodes(facts.definition.node):
        if isinstance(loop, ast.For) and loop not in facts.staged:
            keys = target_names(loop.target)
            for node in ast.walk(loop):
                match node:
                    case ast.Subscript(
                        value=ast.Name(id=owner),
                        slice=ast.Name(id=key),
                        ctx=ast.Store(),
                    ) if owner == name and key in keys:
                        return key
    return None


def _makes_dict(node: ast.AST, name: str) -> bool:
    """Whether this gives a name a dict."""
    match node:
        case ast.Assign(targets=[ast.Name(id=text)], value=ast.Dict()):
            return text == name
    return False


def _makes_set(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Assign(
            targets=[ast.Name(id=n)],
            value=ast.Set() | ast.SetComp() | ast.Call(func=ast.Name(id="set")),
        ):
            return n == name
    return False


def _element(facts: FunctionFacts, function: FunctionNode, name: str) -> Tensor:
    """The one kind of a list's items.

    Raises:
        Refusal: they differ, or are no tensors.
    """
    if any(_makes_dict(node, name) for node in ast.walk(function)):
        raise _decided_keys(name, facts)
    joined: Kind | None = None
    for node in ast.walk(function):
        for kind in _given(facts, node, name):
            item = _as_tensor(kind)
            joined = item if joined is None else choose(joined, item)
    if isinstance(joined, Tensor) and joined.weak:
        for kind in _added(facts, function, name):
            joined = choose(joined, stage(kind))
    if any(_makes_set(node, name) for node in ast.walk(function)):
        reason = f"`{name}` is a set, which a graph has none of"
        way_out = "keep a list of what is new in it, or ask `tf.unique`"
        raise Refusal(reason, facts.definition.original, "GL203", way_out)
    if (
        not isinstance(joined, Tensor)
        or joined.dtype is None
        or joined.weak not in (None, NUMPY, *DEFAULTS)
    ):
        if joined == UNKNOWN:
            _raise_unknown(facts, function, name)
        reason = f"`{name}` is no list of tensors, and changes where a tensor decides"
        way_out = "fill it before or after the tensor work"
        if joined is not None:
            reason = f"`{name}` holds items of kinds that no one tensor holds"
            found = {
                str(k): k for n in ast.walk(function) for k in _given(facts, n, name)
            }
            if len(found) < MOST_KINDS:
                reason += f": {', '.join(found)}"
            way_out = (
                "keep a list for each kind, or fill it before or after the tensor work"
            )
        raise Refusal(reason, facts.definition.original, "GL203", way_out)
    return joined


def _raise_unknown(facts: FunctionFacts, function: FunctionNode, name: str) -> None:
    """Refuse items of which nothing is known for what keeps them from being known."""
    calls = (n for n in ast.walk(function) if isinstance(n, ast.Call))
    items = (a for n in calls if _given(facts, n, name) for a in n.args)
    inside = {id(inner) for item in items for inner in ast.walk(item)}
    for problem in facts.problems:
        if problem.code == "GL401" and id(problem.node) in inside:
            raise problem


def _given(facts: FunctionFacts, node: ast.AST, name: str) -> list[Kind]:
    """The kinds of the items that a statement or call puts into a list; none where no way leads to it."""
    match node:
        case (
            ast.Call(
                func=ast.Attribute(value=ast.Name(id=n), attr="append"), args=[value]
            )
            | ast.Call(
                func=ast.Attribute(value=ast.Name(id=n), attr="insert"), args=[_, value]
            )
            | ast.Assign(targets=[ast.Subscript(value=ast.Name(id=n))], value=value)
        ) if n == name and value in facts.kinds:
            return [facts.kind(value)]
        case (
            ast.Call(
                func=ast.Attribute(value=ast.Name(id=n), attr="extend"), args=[several]
            )
            | ast.AugAssign(target=ast.Name(id=n), value=several)
            | ast.Assign(targets=[ast.Name(id=n)], value=several)
        ) if n == name and several in facts.kinds:
            kind = facts.kind(several)
            if isinstance(kind, Sequence):
                return list(kind.items)
            if is_strong(kind) and isinstance(kind, Tensor) and kind.shape:
                return [Tensor(kind.dtype, kind.shape[1:])]
            return [kind.element] if isinstance(kind, Elements | Rows) else [UNKNOWN]
    return []


def _added(facts: FunctionFacts, function: FunctionNode, name: str) -> Iterator[Kind]:
    """The kinds of what is added to items of a list, `sums[i] += v`, and the like."""
    for node in ast.walk(function):
        match node:
            case ast.AugAssign(
                target=ast.Subscript(value=ast.Name(id=n)), value=value
            ) if n == name and value in facts.kinds:
                yield facts.kind(value)


def _as_tensor(kind: Kind) -> Kind:
    """An item as TensorFlow makes one tensor of it: a list of tensors is stacked."""
    if isinstance(kind, Elements | Sequence) and kind.type in ("list", "tuple"):
        inner = kind.items if isinstance(kind, Sequence) else (kind.element,)
        joined = _as_tensor(inner[0]) if inner else UNKNOWN
        for item in inner[1:]:
            joined = choose(joined, _as_tensor(item))
        if not isinstance(joined, Tensor) or joined.weak or joined.mixed:
            return UNKNOWN
        count = len(inner) if isinstance(kind, Sequence) else None
        shape = None if joined.shape is None else (count, *joined.shape)
        return Tensor(joined.dtype, shape)
    return stage(kind)
