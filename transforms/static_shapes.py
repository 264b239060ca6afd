"""GL406 static-shape: sizes that Python reads from a tensor, and sizes that it could read."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Set
from typing import TYPE_CHECKING

from .facts import ranks
from .facts.environment import FunctionFacts
from .facts.evaluation_calls import UNCOUNTED
from .facts.kinds import UNKNOWN, Function, Kind, Object, Shape, Tensor, Variable
from .facts.profile import FunctionNode
from .facts.staging import holds_size, holds_tensor, is_tensor, is_weak
from .facts.syntax import bound_names, is_named, names_in, own_nodes, target_names
from .facts.tensorflow_random import GENERATOR
from .findings import Refusal
from .making import called, expression, is_atom
from .rebuilding import replaced, with_origin
from .rewriting import Rewriter
from .rule import Rule
from .source import Names

if TYPE_CHECKING:
    from .expressions import Writer

SHAPED = {
    "zeros": 0,
    "ones": 0,
    "fill": 0,
    "reshape": 1,
    "broadcast_to": 1,
    "random.uniform": 0,
    "random.normal": 0,
    "random.truncated_normal": 0,
    "random.stateless_uniform": 0,
    "random.stateless_normal": 0,
    "random.stateless_truncated_normal": 0,
}
"""Functions of TensorFlow that take a shape, or a tensor of its sizes, and where."""
DRAWING = frozenset({"uniform", "normal", "truncated_normal", "uniform_full_int"})
"""Methods of a `tf.random.Generator` that take a shape first."""


class StaticShape(Rule):
    """`len(x)` of a tensor.

    What it finds:
        `len()` of tensors. And `tf.shape`, `tf.size` and `tf.rank` in tests, where a way that a static size rules out
        could not be traced: there the size is Python's, and so is the test.

    Why it matters:
        A traced tensor has no `len()`: tracing stops with `len is not well defined for a symbolic Tensor`. And a graph
        traces both ways of a test on a tensor, `x[4]` of three items among them.

    Before:
        import tensorflow as tf

        def f(x: tf.Tensor):
            return tf.reduce_sum(x) / len(x)

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([3.0]),), (tf.constant([1.0, 2.0, 6.0]),)]

    After:
        import tensorflow as tf

        @tf.function(autograph=False, input_signature=[tf.TensorSpec([None], tf.float32)])
        def f(x: tf.Tensor):
            return tf.reduce_sum(x) / tf.cast(tf.shape(x, tf.int64)[0], tf.float32)

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([3.0]),), (tf.constant([1.0, 2.0, 6.0]),)]

    When it is left alone:
        Containers of Python. What can be done where Python needs a size itself: pass it as an argument, or record
        runs in which it is the same.
    """

    code = "GL406"
    name = "static-shape"
    errors = (r"len is not well defined for a symbolic Tensor",)


def with_static_tests(facts: FunctionFacts, names: Names) -> FunctionNode | None:
    """The function with static sizes in its tests read by Python, where one of its ways raises; None where none does."""
    if not any(" raises: " in problem.reason for problem in facts.problems):
        return None
    return _StaticTests(facts, names).function()


class _StaticTests(Rewriter):
    def __init__(self, facts: FunctionFacts, names: Names) -> None:
        super().__init__(facts, names)
        self.inside = {n for test in facts.tests for n in ast.walk(test)}
        self.subscripted = {
            n.value for n in self.inside if isinstance(n, ast.Subscript)
        }
        self.sizes: dict[str, ast.expr] = {}
        stored: list[str] = []
        for node in own_nodes(facts.definition.node):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                stored.append(node.id)
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self.sizes[name] = value
        self.once = {n for n in stored if stored.count(n) == 1}
        self.once |= facts.parameters.keys() - set(stored)

    def expression(self, node: ast.expr) -> ast.expr | None:
        if node not in self.inside:
            return None
        if isinstance(node, ast.Name) and node.id in self.once & self.sizes.keys():
            return self._static(self.sizes[node.id], self.once)
        return self._static(node, None)

    def _static(self, node: ast.expr, lasting: set[str] | None) -> ast.expr | None:
        """A size of a tensor as Python reads it; of names in `lasting` alone, where that is given."""
        index = "0"
        match node:
            case ast.Subscript(
                value=ast.Call() as call, slice=ast.Constant(value=int(i))
            ):
                name, index = "tensorflow.shape", str(i)
            case ast.Subscript(
                value=ast.Call() as call,
                slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(i))),
            ):
                name, index = "tensorflow.shape", f"-{i}"
            case ast.Call() as call if node not in self.subscripted:
                name = getattr(self.kind(call.func), "name", "")
            case _:
                return None
        if self.kind(call.func) != Function(name) or not call.args:
            return None
        of = call.args[0]
        kind, text = self.kind(of), ast.unparse(of)
        lasts = lasting is None or (isinstance(of, ast.Name) and of.id in lasting)
        if not isinstance(kind, Tensor | Variable) or not is_atom(of) or not lasts:
            return None
        made = _written(name, text, kind.shape, int(index))
        return expression(made) if made else None


def _written(name: str, of: str, shape: Shape, index: int) -> str | None:
    """The text of a size where it is static; None where it is not."""
    if shape is None:
        return None
    match name:
        case "tensorflow.shape" if -len(shape) <= index < len(shape):
            return f"{of}.shape[{index}]" if shape[index] is not None else None
        case "tensorflow.rank":
            return f"{of}.shape.rank"
        case "tensorflow.size" if None not in shape:
            return f"{of}.shape.num_elements()"
    return None


def are_given(facts: FunctionFacts) -> bool:
    """Whether all sizes that are not known come with the parameters: no other is known once it is traced.

    Of `tf.zeros([n, 1])`, with an `n` of Python's, or of a tensor that is captured, it may be; and of a tensor that a
    loop of Python's makes longer.
    """
    bound = facts.parameters.keys() | {
        n for s in own_nodes(facts.definition.node) for n in bound_names(s)
    }
    bound -= _set_to_known_sizes(facts)
    return all(
        _comes_in(node, facts, bound)
        for node, kind in facts.kinds.items()
        if _is_open(kind)
    )


def _set_to_known_sizes(facts: FunctionFacts) -> set[str]:
    """The names that are somewhere given a tensor all of whose sizes are known."""
    return {
        target.id
        for node in own_nodes(facts.definition.node)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
        and is_tensor(kind := facts.kind(node.value))
        and not _is_open(kind)
    }


def _given_shape(node: ast.Call, function: Kind) -> ast.expr | None:
    """The shape that a function of TensorFlow's, or a generator's method, is given to make a tensor of."""
    if not isinstance(function, Function):
        return None
    place = SHAPED.get(function.name.removeprefix("tensorflow."))
    if function.receiver == Object(GENERATOR):
        place = 0 if function.name.removeprefix("method.") in DRAWING else None
    if place is None:
        return None
    if len(node.args) > place:
        return node.args[place]
    return next((k.value for k in node.keywords if k.arg == "shape"), None)


def _comes_in(node: ast.AST, facts: FunctionFacts, bound: Set[str]) -> bool:
    """Whether a tensor with sizes that are not known gets these from others such."""
    if isinstance(node, ast.Name):
        return node.id in bound
    if isinstance(node, ast.Call):
        shape = _given_shape(node, facts.kinds.get(node.func, UNKNOWN))
        if shape is not None:
            return holds_tensor(facts.kinds.get(shape, UNKNOWN))
    inside = set(ast.walk(node)) - {node}
    return any(n in inside and _is_open(kind) for n, kind in facts.kinds.items())


def _is_open(kind: Kind) -> bool:
    if not isinstance(kind, Tensor | Variable):
        return False
    return kind.shape is None or None in kind.shape


def length(writer: Writer, node: ast.Call) -> str | None:
    """The text of `len(node)` of a tensor or its shape: Python's int where that is static; None for other things."""
    (whole,) = node.args
    kind = writer.kind(whole)
    if ranks.is_open_shape(kind):
        return rank(writer, whole) if is_weak(writer.kind(node)) else None
    if not isinstance(kind, Tensor | Variable):
        return None
    text = writer.text(whole)
    if kind.shape and kind.shape[0] is not None:
        return (
            f"{text}.shape[0]"
            if isinstance(whole, ast.Name | ast.Attribute)
            else repr(kind.shape[0])
        )
    return f"{writer.tf}.shape({text}, {writer.tf}.int64)[0]"


def rank(writer: Writer, node: ast.expr) -> str:
    """The text of the rank of a tensor, of which `node` is the shape or the tensor itself.

    Raises:
        Refusal: the shape is not written out here.
    """
    return f"{writer.tf}.cast({_rank(writer, node)}, {writer.tf}.int64)"


def _rank(writer: Writer, node: ast.expr) -> str:
    owner = node if is_tensor(writer.kind(node)) else _shaped(node)
    if owner is None:
        raise Refusal("the shape that this is of may vary", node, "GL406")
    return f"{writer.tf}.rank({writer.text(owner)})"


def compared_rank(writer: Writer, node: ast.expr, other: ast.expr) -> str | None:
    """The text of a rank that is compared with a number as it is written, in int32; None for something else."""
    if not (isinstance(other, ast.Constant) and is_weak(writer.kind(node))):
        return None
    match node:
        case ast.Attribute(value=owner, attr=attr) if attr in ranks.NAMES:
            return _rank(writer, owner)
        case ast.Call(func=ast.Name(id="len"), args=[shape]) if ranks.is_open_shape(
            writer.kind(shape)
        ):
            return _rank(writer, shape)
    return None


def as_given(text: str, tf: str) -> str | None:
    """The text of a size, of an int64 as Python's numbers are held, as the int32 that TensorFlow gives; None of others."""
    size = re.fullmatch(rf"{tf}\.shape\(([\w.]+), {tf}\.int64\)(\[-?\w+\])", text)
    if size is not None:
        return f"{tf}.shape({size[1]}){size[2]}"
    count = counted(text, tf)
    return count if count != text else None


def counted(text: str, tf: str) -> str:
    """The text of the count of an array's items before it is cast to hold a Python number; any other text as it is."""
    count = re.fullmatch(rf"{tf}\.cast\((\w+\.size\(\)), {tf}\.int64\)", text)
    return count[1] if count else text


def with_sizes(facts: FunctionFacts, names: Names, tf: str) -> FunctionNode | None:
    """The function with shapes that are not static unpacked size by size, and passed as tensors; None without them."""
    return _Sizes(facts, names, tf).function()


class _Sizes(Rewriter):
    def __init__(self, facts: FunctionFacts, names: Names, tf: str) -> None:
        super().__init__(facts, names)
        self.tf = tf

    def instead(self, node: ast.stmt) -> list[ast.stmt] | None:
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=parts) as target], value=value) if (
                holds_size(self.kind(value))
                and (shape := _shape(value)) is not None
                and all(isinstance(part, ast.Name) for part in parts)
                and not set(target_names(target)) & names_in(shape)
            ):
                return [
                    with_origin(ast.Assign([part], self._size(shape, i)), node)
                    for i, part in enumerate(parts)
                ]
        return None

    def _size(self, shape: ast.Attribute, index: int) -> ast.expr:
        return ast.Subscript(copy.deepcopy(shape), ast.Constant(index), ast.Load())

    def expression(self, node: ast.expr) -> ast.expr | None:
        if not isinstance(node, ast.Call):
            return None
        given = _given_shape(node, self.kind(node.func))
        shape = _shape(given) if given and holds_size(self.kind(given)) else None
        if given is None or shape is None:
            return None
        sizes = called(f"{self.tf}.shape", shape.value)
        return replaced(node, {given: sizes})  # type: ignore[return-value]


GOES_OVER = frozenset(
    ["all", "any", "enumerate", "len", "max", "min", "reversed", "sum", "zip"]
)
"""Builtins that go over what they are given, and do nothing else with it."""


def with_rows(facts: FunctionFacts, names: Names) -> FunctionNode | None:
    """The function with loops over a tensor in the place of loops over `tf.unstack` of it, where its size is not static.

    None where it has none.
    """
    unsized = {
        problem.node for problem in facts.problems if problem.reason == UNCOUNTED
    }
    return _Rows(facts, names, unsized).function() if unsized else None


class _Rows(Rewriter):
    def __init__(
        self, facts: FunctionFacts, names: Names, unsized: set[ast.AST | None]
    ) -> None:
        super().__init__(facts, names)
        self.unsized = unsized
        self.gone_over: set[ast.expr] = set()
        for node in ast.walk(facts.definition.node):
            match node:
                case ast.For(iter=source) | ast.comprehension(iter=source):
                    self.gone_over.add(source)
                case ast.Call(func=ast.Name() as function, args=args) if (
                    getattr(self.kind(function), "name", "").removeprefix("builtins.")
                    in GOES_OVER
                ):
                    self.gone_over.update(args)
        nodes = list(ast.walk(facts.definition.node))
        for node in nodes:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if all(
                    n in self.gone_over or n is node.targets[0]
                    for n in nodes
                    if is_named(n, name)
                ):
                    self.gone_over.add(value)

    def expression(self, node: ast.expr) -> ast.expr | None:
        match node:
            case ast.Call(args=[rows], keywords=[]) if (
                node in self.unsized and node in self.gone_over
            ):
                return rows
        return None


def _shape(node: ast.expr) -> ast.Attribute | None:
    """The `x.shape` whose sizes an expression gives."""
    match node:
        case ast.Attribute(value=ast.Name(), attr="shape"):
            return node
        case (
            ast.Call(func=ast.Attribute(value=inner, attr="as_list"), args=[])
            | ast.Call(func=ast.Name(id="list" | "tuple"), args=[inner])
        ):
            return _shape(inner)
        case ast.Call(
            func=ast.Attribute(value=ast.Name() as owner, attr="get_shape"), args=[]
        ):
            return ast.Attribute(owner, "shape", ast.Load())
    return None


def sizes(writer: Writer, node: ast.expr) -> str | None:
    """The text of a tensor of the sizes that `x.shape`, or a part of it, names; None for another expression."""
    match node:
        case ast.Subscript(value=inner, slice=ast.Slice() as part):
            whole = sizes(writer, inner)
            return whole and f"{whole}[{writer.text(part)}]"
    owner = _shaped(node)
    if owner is None:
        return None
    return f"{writer.tf}.shape({writer.text(owner)}, {writer.tf}.int64)"


def _shaped(node: ast.expr) -> ast.expr | None:
    """The tensor of which an expression gives the shape."""
    match node:
        case ast.Attribute(value=owner, attr="shape"):
            return owner
        case ast.Call(func=ast.Attribute(value=owner, attr="get_shape"), args=[]):
            return owner
        case ast.Call(func=ast.Attribute(value=inner, attr="as_list"), args=[]):
            return _shaped(inner)
        case ast.Call(func=ast.Name(id="list" | "tuple"), args=[inner]):
            return _shaped(inner)
    return None
