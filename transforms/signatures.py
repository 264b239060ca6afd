"""GL401 eager-function and GL402 no-signature: `@tf.function` with its input signature."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from .facts.environment import FunctionFacts
from .facts.kind_joins import join_shapes
from .facts.kinds import Function, Kind, Object, Ragged, Shape, Tensor, Variable
from .facts.staging import is_weak
from .facts.syntax import own_nodes
from .rule import Rule

LIBRARIES = ("tensorflow.", "builtins.", "numpy.", "math.", "method.")


class EagerFunction(Rule):
    """A function of tensor operations that runs op by op from Python.

    What it finds:
        Functions that take tensors, do tensor work, and are no `tf.function`.

    Why it matters:
        Every operation costs a trip through Python, and nothing is fused or planned ahead.

    Before:
        import tensorflow as tf

        def f(x: tf.Tensor, y: tf.Tensor):
            z = x * y + tf.sin(x)
            return z * z + 1.0

        ARGS = [(tf.constant(2.0), tf.constant(3.0)), (tf.constant(0.0), tf.constant(1.0)), (tf.constant(-1.0), tf.constant(1.0))]

    After:
        import tensorflow as tf

        @tf.function(
            autograph=False,
            input_signature=[tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.float32)],
        )
        def f(x: tf.Tensor, y: tf.Tensor):
            z = x * y + tf.sin(x)
            return z * z + 1.0

        ARGS = [(tf.constant(2.0), tf.constant(3.0)), (tf.constant(0.0), tf.constant(1.0)), (tf.constant(-1.0), tf.constant(1.0))]

    When it is left alone:
        Functions in which anything is not understood, those whose results no graph can give, those whose
        parameters' kinds nothing tells, those that changed since they were recorded, those of which a graph would be
        traced anew for each object or number that they are given, and run too seldom for each, and those in which a tape
        watches a tensor that may be given, or be set in a loop or branch, under two names: eager mode counts both as uses
        of one tensor, a graph does not (`tf.identity` keeps them apart in eager mode, too). What can be done: record a
        run that calls the function (`graphlift record -- python PROGRAM`), or annotate it; where the kind of
        a value stays unknown or may be Python's or a tensor, make it a tensor in any case (`tf.convert_to_tensor`);
        take the tensor work that is understood into a function of its own, which is lifted then.
    """

    code = "GL401"
    name = "eager-function"


class NoSignature(Rule):
    """A `tf.function` without an input signature, which is traced again for every new size.

    What it finds:
        Functions made a `tf.function` by graphlift whose tensor arguments are known.

    Why it matters:
        Each new shape costs a trace, and each trace memory.

    Before:
        import tensorflow as tf

        def f(x: tf.Tensor):
            return tf.reduce_sum(x * x)

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([1.0]),), (tf.constant([1.0, 2.0, 3.0]),)]

    After:
        import tensorflow as tf

        @tf.function(autograph=False, input_signature=[tf.TensorSpec([None], tf.float32)])
        def f(x: tf.Tensor):
            return tf.reduce_sum(x * x)

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([1.0]),), (tf.constant([1.0, 2.0, 3.0]),)]

    When it is left alone:
        Functions with Python arguments, defaults other than numbers, `*args` or keyword-only parameters: a signature
        would freeze or refuse them.
    """

    code = "GL402"
    name = "no-signature"


class PythonArgument(Rule):
    """A Python number as the argument of a function that becomes a graph.

    What it finds:
        Parameters that are Python ints or floats.

    Why it matters:
        A `tf.function` is traced anew for each new number.

    Before:
        import tensorflow as tf

        def f(x, rate):
            return x - rate * tf.sin(x)

        ARGS = [(tf.constant(2.0), 0.1), (tf.constant(2.0), 0.2), (tf.constant(2.0), 0.4)]

    After:
        import tensorflow as tf

        @tf.function(
            autograph=False,
            input_signature=[tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.float64)],
        )
        def f(x, rate):
            return x - tf.cast(rate, tf.float32) * tf.sin(x)

        ARGS = [(tf.constant(2.0), 0.1), (tf.constant(2.0), 0.2), (tf.constant(2.0), 0.4)]

    When it is left alone:
        Numbers that Python itself needs while tracing; what Python alone can compute of others, it computes before the
        graph. What can be done: pass tensors (`tf.constant(0.1)`), so that a new value is no new trace.
    """

    code = "GL404"
    name = "python-argument"


def decorator(
    facts: FunctionFacts, recorded: Mapping[str, Kind] | None, tf: str
) -> str:
    """The text of the decorator, without the `@`; `recorded` are the kinds of the parameters in the recorded calls."""
    parameters = recorded or facts.parameters
    admitted = {
        n: _admitting(k, facts.parameters.get(n)) for n, k in parameters.items()
    }
    signature = _signature(facts, admitted, bool(recorded), tf)
    options = "autograph=False"
    if signature is not None:
        options += f", input_signature=[{signature}]"
    elif (
        any(map(_varies, parameters.values()))
        and not any(map(_holds_variable_of_any_size, parameters.values()))
        and not facts.ranks
    ):
        options += ", reduce_retracing=True"
    return f"{tf}.function({options})"


def _admitting(recorded: Kind, kind: Kind | None) -> Kind:
    """A recorded parameter, of the sizes that graphs pass to it, too: no call of theirs would raise for others."""
    if isinstance(recorded, Tensor) and isinstance(kind, Tensor):
        return replace(recorded, shape=join_shapes(recorded.shape, kind.shape))
    return recorded


def too_tight(decorators: Iterable[str | None], facts: FunctionFacts) -> str | None:
    """Why a graph may not call a function with these decorators: TensorFlow takes a size that is not known for any.

    `facts`: the function's, with what it is called with.
    """
    kinds = [k for n, k in facts.parameters.items() if n != facts.definition.receiver]
    for decorator in filter(None, decorators):
        shapes = list(_signed_shapes(ast.parse(decorator, mode="eval").body))
        if any(map(_is_tighter, shapes, kinds)):
            return "its signature holds for some sizes only: have it admit others, too"
    return None


def _signed_shapes(decorator: ast.expr) -> Iterator[Shape]:
    """The shapes of a decorator's input signature, as far as they are written out."""
    for node in ast.walk(decorator):
        match node:
            case ast.keyword(arg="input_signature", value=ast.List(elts=specs)):
                for spec in specs:
                    match spec:
                        case ast.Call(args=[ast.List(elts=sizes), *_]):
                            yield tuple(getattr(n, "value", None) for n in sizes)
                        case _:
                            yield None


def _is_tighter(signed: Shape, kind: Kind) -> bool:
    """Whether a signature has sizes that an argument need not have."""
    if signed is None or not isinstance(kind, Tensor):
        return False
    sizes = kind.shape or (None,) * len(signed)
    return any(s is not None and s != k for s, k in zip(signed, sizes, strict=False))


def argument(text: str, kind: Kind | None, tf: str) -> str:
    """The text of an argument without a signature: a number of Python's is made a tensor, else it is traced anew."""
    if isinstance(kind, Tensor) and kind.weak:
        return f"{tf}.constant({text}, {tf}.{kind.dtype})"
    return text


def _varies(kind: Kind) -> bool:
    """Whether this is a tensor that comes in several sizes."""
    shape = kind.shape if isinstance(kind, Tensor) else None
    return shape is not None and None in shape


def _holds_variable_of_any_size(kind: Kind) -> bool:
    """Whether Variables of several sizes come with this: a graph for all sizes takes the first one's for theirs."""
    if isinstance(kind, Variable):
        return kind.shape is None or None in kind.shape
    return any(map(_holds_variable_of_any_size, kind.parts))


def _signature(
    facts: FunctionFacts, parameters: Mapping[str, Kind], is_recorded: bool, tf: str
) -> str | None:
    """The specs of the parameters; None where a signature would change what callers may pass."""
    args = facts.definition.node.args
    if args.vararg or args.kwarg or args.kwonlyargs:
        return None
    if not all(is_weak(facts.parameters[n]) for n in facts.definition.defaults):
        return None
    if any(map(_has_no_size, parameters.values())) and _calls_others(facts):
        return None
    if any(map(_has_no_rank, parameters.values())) and (
        facts.ranks or _calls_layers(facts)
    ):
        return None
    specs = []
    for parameter in [*args.posonlyargs, *args.args]:
        kind = parameters.get(parameter.arg)
        if parameter.arg == facts.definition.receiver and isinstance(kind, Object):
            continue
        spec = _spec(kind, tf, is_recorded)
        if spec is None:
            return None
        specs.append(spec)
    return ", ".join(specs)


def _has_no_size(kind: Kind) -> bool:
    """Whether this is a tensor of two dimensions or more, of which no size is known."""
    shape = kind.shape if isinstance(kind, Tensor) else None
    return shape is not None and len(shape) > 1 and not any(shape)


def _has_no_rank(kind: Kind) -> bool:
    return isinstance(kind, Tensor) and kind.shape is None


def _calls_others(facts: FunctionFacts) -> bool:
    """Whether more than TensorFlow's functions is called: layers of Keras ask for sizes while they are traced."""
    functions = (
        facts.kind(n.func)
        for n in own_nodes(facts.definition.node)
        if isinstance(n, ast.Call)
    )
    return not all(
        isinstance(k, Function) and k.name.startswith(LIBRARIES) for k in functions
    )


def _calls_layers(facts: FunctionFacts) -> bool:
    """Whether layers or models of Keras are called."""
    functions = (
        facts.kind(n.func)
        for n in own_nodes(facts.definition.node)
        if isinstance(n, ast.Call)
    )
    return any(isinstance(k, Object) and "keras" in k.name for k in functions)


def _spec(kind: Kind | None, tf: str, is_recorded: bool) -> str | None:
    if (
        isinstance(kind, Tensor)
        and kind.dtype
        and (kind.shape is not None or is_recorded)
    ):
        return f"{tf}.TensorSpec({_shape(kind.shape)}, {tf}.{kind.dtype})"
    if isinstance(kind, Ragged) and kind.dtype and kind.shape:
        return f"{tf}.RaggedTensorSpec({_shape(kind.shape)}, {tf}.{kind.dtype})"
    return None


def _shape(shape: Shape) -> str:
    return "None" if shape is None else "[" + ", ".join(map(str, shape)) + "]"
