"""GL209 lost-write: the TensorArray that `write`, `scatter` or `unstack` gives is kept."""

from __future__ import annotations

import ast
import copy

from .facts.environment import FunctionFacts
from .facts.kind_joins import join_shapes
from .facts.kinds import Kind, Shape, TensorArray
from .facts.profile import FunctionNode
from .making import placed
from .rebuilding import rebuilt, replaced, with_body, with_origin
from .rule import Rule


class LostWrite(Rule):
    """The result of a TensorArray's `write`, `scatter`, `unstack` or `split` is dropped.

    What it finds:
        `array.write(...)` as a statement of its own.

    Why it matters:
        Eager mode changes the array in place; a graph gives a new one, and the old stays as it was, without a word.

    Before:
        import tensorflow as tf

        def f(n: tf.Tensor):
            squares = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
            for i in tf.range(n):
                squares.write(i, i * i)
            return squares.stack()

        ARGS = [(tf.constant(3),), (tf.constant(1),), (tf.constant(5),)]

    After:
        import tensorflow as tf

        @tf.function(autograph=False, input_signature=[tf.TensorSpec([], tf.int32)])
        def f(n: tf.Tensor):
            squares = tf.TensorArray(tf.int32, size=0, dynamic_size=True)

            def body(i, squares):
                squares = squares.write(i, i * i)
                return i + 1, squares

            _, squares = tf.while_loop(
                lambda i, squares: i < n, body, (tf.constant(0), squares)
            )
            return squares.stack()

        ARGS = [(tf.constant(3),), (tf.constant(1),), (tf.constant(5),)]

    When it is left alone:
        Arrays that are no local name of the function.
    """

    code = "GL209"
    name = "lost-write"


def with_writes_kept(facts: FunctionFacts) -> FunctionNode | None:
    """The function with its dropped writes assigned; None where there are none."""
    writes = {id(node) for node in facts.effects.get("write", ())}
    node = facts.definition.node
    return with_body(node, _kept(node.body, writes))


def _kept(body: list[ast.stmt], writes: set[int]) -> list[ast.stmt]:
    result: list[ast.stmt] = []
    for node in body:
        match node:
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=ast.Name(id=name))) as call
            ) if id(call) in writes:
                made = ast.Assign([ast.Name(name, ast.Store())], call)
                result.append(with_origin(made, node))
            case _:
                result.append(rebuilt(node, lambda block: _kept(block, writes)))
    return result


# ---- arrays that a function returns

PARAMETERS = (
    "dtype",
    "size",
    "dynamic_size",
    "clear_after_read",
    "tensor_array_name",
    "handle",
    "flow",
    "infer_shape",
    "element_shape",
)
KEEPS_ITEMS = frozenset({"write", "unstack", "scatter", "size"})
"""Methods after which an array still has all its items."""


def made_anew(facts: FunctionFacts, tf: str) -> str | None:
    """The text that makes an array like the one a function returns, of its stacked items; None where it has none.

    `{}` stands for the items.
    """
    maker = _maker(facts)
    shape = _element_shape(facts)
    if maker is None or shape is None or None in shape:
        return None
    options = _options(maker)
    kind = facts.kind(maker)
    texts = [f"{tf}.{getattr(kind, 'dtype', None)}", "size=len({})"]
    for name in PARAMETERS[2:]:
        value = options.get(name)
        if value is None or name == "tensor_array_name" or hasattr(value, "told"):
            continue
        try:
            ast.literal_eval(value)
        except ValueError:
            return None
        texts.append(f"{name}={ast.unparse(value)}")
    return f"{tf}.TensorArray({', '.join(texts)}).unstack({{}})"


def with_element_shape(facts: FunctionFacts) -> FunctionNode | None:
    """The function with the shape of an array's items told where it is made: an array without items has none else."""
    maker = _maker(facts)
    shape = _element_shape(facts)
    if maker is None or shape is None or None in shape:
        return None
    if "element_shape" in _options(maker):
        return None
    made = copy.copy(maker)
    sizes = ast.List([ast.Constant(size) for size in shape], ast.Load())
    sizes.told = True  # type: ignore[attr-defined]
    made.keywords = [*maker.keywords, ast.keyword("element_shape", sizes)]
    table: dict[ast.AST, ast.AST] = {maker: placed(made, maker)}
    node = facts.definition.node
    body = [replaced(statement, table) for statement in node.body]
    return with_body(node, body)  # type: ignore[arg-type]


def _maker(facts: FunctionFacts) -> ast.Call | None:
    """The call that makes the one array that a function fills in a loop and returns; None where it is not that."""
    loops = any(isinstance(n, ast.For | ast.While) for n in facts.staged)
    given = any(map(_arrays_in, facts.parameters.values()))
    if not loops or given or _arrays_in(facts.result) != 1:
        return None
    makers: list[ast.Call] = []
    for node in ast.walk(facts.definition.node):
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=name)) if isinstance(
                facts.kind(value), TensorArray
            ):
                if name not in KEEPS_ITEMS:
                    return None
            case ast.Call() if isinstance(facts.kind(node), TensorArray):
                makers.append(node)
    if len(makers) != 1 or makers[0] in facts.calls or makers[0] in facts.foreign:
        return None
    (maker,) = makers
    infer = _options(maker).get("infer_shape")
    return maker if infer is None else None


def _options(maker: ast.Call) -> dict[str, ast.expr]:
    given = dict(zip(PARAMETERS, maker.args, strict=False))
    return given | {str(k.arg): k.value for k in maker.keywords}


def _element_shape(facts: FunctionFacts) -> Shape:
    """The shape of an array's items, of which it is known that they have one."""
    shapes: list[Shape] = []
    for node in ast.walk(facts.definition.node):
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=name), args=args) if (
                isinstance(facts.kind(value), TensorArray) and name != "size"
            ):
                written = getattr(facts.kind(args[-1]), "shape", ()) if args else None
                shapes.append(written if name == "write" else written and written[1:])
    if not shapes:
        return None
    shape = shapes[0]
    for other in shapes[1:]:
        shape = join_shapes(shape, other)
    return shape


def _arrays_in(kind: Kind) -> int:
    return isinstance(kind, TensorArray) + sum(map(_arrays_in, kind.parts))
