"""GL203 list-append: a list that grows where a tensor decides becomes a `tf.TensorArray`."""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass

from .facts.environment import FunctionFacts
from .facts.kinds import Kind, Tensor
from .facts.modules import blocks
from .facts.profile import FunctionNode
from .facts.staging import choose, stage
from .findings import Refusal
from .rebuilding import rebuilt, with_origin
from .rule import Rule


class ListAppend(Rule):
    """A Python list that grows in a loop or a branch which a tensor decides.

    What it finds:
        `append` to a local list in a tensor loop or branch.

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
            doubled = tf.TensorArray(
                tf.float32, size=0, dynamic_size=True, clear_after_read=False, element_shape=[]
            )

            def body(i, doubled):
                v = values[i]
                doubled = doubled.write(doubled.size(), v * 2.0)
                return i + 1, doubled

            _, doubled = tf.while_loop(
                lambda i, doubled: i < tf.shape(values)[0], body, (tf.constant(0), doubled)
            )
            return doubled.stack()

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([4.0]),), (tf.constant([1.0, -2.0, 3.0]),)]

    When it is left alone:
        Lists whose items are of different dtypes or shapes, that are passed on, or that shrink.
    """

    code = "GL203"
    name = "list-append"
    errors = (r"InaccessibleTensorError", r"cannot be accessed from .*FuncGraph")


DEFAULTS = {"int": "int32", "float": "float32", "bool": "bool", "str": "string"}


@dataclass
class _List:
    """A local list that becomes a TensorArray."""

    name: str
    element: Tensor


def with_tensor_arrays(facts: FunctionFacts, tf: str) -> FunctionNode | None:
    """The function with its growing lists held in TensorArrays; None where it has none.

    Raises:
        Refusal: a list is used in a way that a TensorArray does not serve.
    """
    node = facts.definition.node
    names = _growing(facts)
    if not names:
        return None
    lists = {name: _List(name, _element(facts, name)) for name in names}
    made = copy.copy(node)
    made.body = _block(node.body, lists, facts, tf)
    for name in names:
        _check_uses(made, name)
    return made


def _growing(facts: FunctionFacts) -> list[str]:
    """The local lists that are changed where a tensor says so."""
    found: dict[str, None] = {}
    for problem in facts.problems:
        if problem.code == "GL203" and isinstance(problem.node, ast.Call):
            match problem.node.func:
                case ast.Attribute(value=ast.Name(id=name), attr="append") if (
                    name not in facts.parameters
                ):
                    found.setdefault(name)
    return list(found)


def _element(facts: FunctionFacts, name: str) -> Tensor:
    """The one kind of a list's items.

    Raises:
        Refusal: they differ, or are no tensors.
    """
    kinds: list[Kind] = []
    for node in ast.walk(facts.definition.node):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=n), attr="append"), args=[value]
            ) if n == name:
                kinds.append(stage(facts.kind(value)))
            case ast.Assign(targets=[ast.Name(id=n)], value=ast.List(elts=elts)) if (
                n == name
            ):
                kinds += [stage(facts.kind(e)) for e in elts]
    joined = kinds[0] if kinds else None
    for kind in kinds[1:]:
        joined = choose(joined, kind) if joined is not None else kind
    if not isinstance(joined, Tensor) or joined.dtype is None or joined.mixed:
        raise Refusal(
            f"`{name}` holds items of kinds that no one tensor holds",
            facts.definition.original,
            "GL203",
        )
    if joined.shape is not None and None in joined.shape:
        raise Refusal(
            f"the items of `{name}` may differ in shape",
            facts.definition.original,
            "GL203",
        )
    return joined


# ---- the statements


def _block(
    body: list[ast.stmt], lists: dict[str, _List], facts: FunctionFacts, tf: str
) -> list[ast.stmt]:
    return [made for node in body for made in _statement(node, lists, facts, tf)]


def _statement(
    node: ast.stmt, lists: dict[str, _List], facts: FunctionFacts, tf: str
) -> list[ast.stmt]:
    if not any(isinstance(n, ast.Name) and n.id in lists for n in ast.walk(node)):
        return [node]
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.List(elts=elts)) if (
            name in lists
        ):
            made = [_assign(name, _array(lists[name], tf), node)]
            return made + [
                _append(name, _item(e, e, lists[name], facts), node) for e in elts
            ]
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[value]
            )
        ) if name in lists:
            return [
                _append(
                    name,
                    _item(_used(value, lists, facts, tf), value, lists[name], facts),
                    node,
                )
            ]
        case ast.Return(value=ast.Name(id=name)) if name in lists:
            whole = ast.Call(
                ast.Name("list", ast.Load()), [_method(name, "stack", [])], []
            )
            if lists[name].element.weak:
                whole.items_type = lists[name].element.weak  # type: ignore[attr-defined]
            return [with_origin(ast.Return(whole), node)]
    if blocks(node):
        inner = rebuilt(node, lambda block: _block(block, lists, facts, tf))
        made_node = with_origin(copy.copy(inner), node)
        for name in ("test", "iter"):
            if hasattr(node, name):
                setattr(made_node, name, _used(getattr(node, name), lists, facts, tf))
        return [made_node]
    rewritten: ast.stmt = _Uses(lists, facts, tf).visit(copy.deepcopy(node))
    return [with_origin(rewritten, node)]


def _assign(name: str, value: ast.expr, origin: ast.stmt) -> ast.stmt:
    return with_origin(ast.Assign([ast.Name(name, ast.Store())], value), origin)


def _append(name: str, value: ast.expr, origin: ast.stmt) -> ast.stmt:
    size = _method(name, "size", [])
    return _assign(name, _method(name, "write", [size, value]), origin)


def _item(
    node: ast.expr, value: ast.expr, made: _List, facts: FunctionFacts
) -> ast.expr:
    """A value as the list's TensorArray takes it: a Python int in a list of floats is a float."""
    kind = stage(facts.kind(value))
    if made.element.weak == "float" and isinstance(kind, Tensor) and kind.weak == "int":
        return ast.Call(ast.Name("float", ast.Load()), [node], [])
    return node


def _array(made: _List, tf: str) -> ast.expr:
    dims = "None" if made.element.shape is None else str(list(made.element.shape))
    text = (
        f"{tf}.TensorArray({tf}.{made.element.dtype}, size=0, dynamic_size=True, "
        f"clear_after_read=False, element_shape={dims})"
    )
    return _bare(ast.parse(text, mode="eval").body)


def _bare(node: ast.expr) -> ast.expr:
    """A made expression: it stands nowhere in the file."""
    for inner in ast.walk(node):
        for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            if hasattr(inner, name):
                delattr(inner, name)
    return node


def _method(name: str, method: str, args: list[ast.expr]) -> ast.expr:
    return ast.Call(
        ast.Attribute(ast.Name(name, ast.Load()), method, ast.Load()), args, []
    )


# ---- the uses


def _used(
    node: ast.expr, lists: dict[str, _List], facts: FunctionFacts, tf: str
) -> ast.expr:
    made: ast.expr = _Uses(lists, facts, tf).visit(
        copy.deepcopy(node) if _mentions(node, lists) else node
    )
    return made


def _mentions(node: ast.AST, lists: dict[str, _List]) -> bool:
    return any(isinstance(n, ast.Name) and n.id in lists for n in ast.walk(node))


class _Uses(ast.NodeTransformer):
    """Reads of a list, as reads of its TensorArray."""

    def __init__(self, lists: dict[str, _List], facts: FunctionFacts, tf: str) -> None:
        self.lists = lists
        self.facts = facts
        self.tf = tf

    def _made(self, node: ast.expr, old: ast.expr) -> ast.expr:
        ast.copy_location(node, old)
        node.made = True  # type: ignore[attr-defined]
        return node

    def _stacked(self, name: str) -> ast.expr:
        """The list as TensorFlow makes one tensor of it: Python numbers become float32 and int32."""
        default = DEFAULTS.get(self.lists[name].element.weak or "")
        text = (
            f"{name}.stack()"
            if default is None
            else f"{self.tf}.cast({name}.stack(), {self.tf}.{default})"
        )
        return _bare(ast.parse(text, mode="eval").body)

    def _read(self, name: str, index: str) -> ast.expr:
        number = self.lists[name].element.weak
        text = f"{name}.read({index})"
        return _bare(
            ast.parse(f"{number}({text})" if number else text, mode="eval").body
        )

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]) if (
                name in self.lists
            ):
                size = _bare(ast.parse(f"int({name}.size())", mode="eval").body)
                return self._made(size, node)
            case ast.Call(
                func=ast.Attribute(
                    attr="stack" | "convert_to_tensor" | "constant",
                    value=ast.Name(id=owner),
                ),
                args=[ast.Name(id=name)],
                keywords=[],
            ) if name in self.lists and owner == self.tf:
                return self._made(self._stacked(name), node)
            case ast.Call(
                func=ast.Attribute(attr="add_n", value=ast.Name(id=owner)),
                args=[ast.Name(id=name)],
                keywords=[],
            ) if (
                name in self.lists
                and owner == self.tf
                and not self.lists[name].element.weak
            ):
                text = f"{self.tf}.reduce_sum({name}.stack(), axis=0)"
                return self._made(_bare(ast.parse(text, mode="eval").body), node)
            case ast.Call(
                func=ast.Attribute(attr="concat", value=ast.Name(id=owner)),
                args=[ast.Name(id=name), axis],
                keywords=[],
            ) if (
                name in self.lists
                and owner == self.tf
                and isinstance(axis, ast.Constant)
                and axis.value == 0
            ):
                return self._made(_method(name, "concat", []), node)
            case ast.Call(
                func=ast.Attribute(attr=attr, value=ast.Name(id=owner)),
                args=[ast.Name(id=name), *rest],
            ) if name in self.lists and owner == self.tf and attr.startswith("reduce_"):
                node.args = [self._made(self._stacked(name), node.args[0]), *rest]
                return node
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        match node:
            case ast.Subscript(
                value=ast.Name(id=name),
                slice=ast.UnaryOp(
                    op=ast.USub(), operand=ast.Constant(value=int() as n)
                ),
                ctx=ast.Load(),
            ) if name in self.lists:
                return self._made(self._read(name, f"{name}.size() - {n}"), node)
            case ast.Subscript(
                value=ast.Name(id=name),
                slice=ast.Constant(value=int() as n),
                ctx=ast.Load(),
            ) if name in self.lists:
                return self._made(self._read(name, str(n)), node)
        return self.generic_visit(node)


def _check_uses(node: FunctionNode, name: str) -> None:
    """Refuse a list that is used otherwise than its TensorArray can be.

    Raises:
        Refusal: with the place.
    """
    allowed: set[int] = set()
    for inner in ast.walk(node):
        match inner:
            case ast.Attribute(
                value=ast.Name(id=n) as use,
                attr="write" | "size" | "stack" | "concat" | "read",
            ) if n == name:
                allowed.add(id(use))
            case ast.Assign(targets=[ast.Name(id=n) as use]) if n == name:
                allowed.add(id(use))
    for inner in ast.walk(node):
        if (
            isinstance(inner, ast.Name)
            and inner.id == name
            and id(inner) not in allowed
        ):
            raise Refusal(
                f"`{name}` is used in a way that a TensorArray does not serve",
                inner,
                "GL203",
            )
