"""GL113 tensor-recursion: a function that calls itself at its end becomes a loop."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

from .facts.definitions import FunctionDefinition
from .facts.environment import FunctionFacts
from .facts.profile import FunctionNode
from .facts.syntax import is_named, own_nodes, own_start
from .findings import Refusal
from .making import assigned, called, placed
from .making import name as name_of
from .rebuilding import rebuilt, with_origin
from .rule import Rule
from .source import Names


class TensorRecursion(Rule):
    """A function that calls itself until a tensor says so.

    What it finds:
        Functions whose last step is to call themselves, and those that do one thing with what that call gives.

    Why it matters:
        A graph is traced before the tensor is known, so the function would call itself for ever.

    Before:
        import tensorflow as tf

        def f(a: tf.Tensor, b: tf.Tensor):
            if b == 0:
                return a
            return f(b, a % b)

        ARGS = [
            (tf.constant(12), tf.constant(18)), (tf.constant(5), tf.constant(0)), (tf.constant(35), tf.constant(21))
        ]

    After:
        import tensorflow as tf

        @tf.function(
            autograph=False,
            input_signature=[tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.int32)],
        )
        def f(a: tf.Tensor, b: tf.Tensor):
            def body(a, b):
                a, b = b, a % b
                return a, b

            a, _ = tf.while_loop(lambda a, b: b != 0, body, (a, b))
            return a

        ARGS = [
            (tf.constant(12), tf.constant(18)), (tf.constant(5), tf.constant(0)), (tf.constant(35), tf.constant(21))
        ]

    When it is left alone:
        Functions that call themselves more than once, or in the middle of what they do. What can be done: a loop
        with a `tf.TensorArray` of what is left to do.
    """

    code = "GL113"
    name = "tensor-recursion"
    errors = (r"maximum recursion depth exceeded",)


def without_recursion(facts: FunctionFacts, names: Names) -> FunctionNode | None:
    """The function as a loop; None where it does not call itself.

    Raises:
        Refusal: it calls itself otherwise than at its end.
    """
    definition = facts.definition
    if definition.decorators or not any(_own_calls(definition, definition.node)):
        return None
    recursion = _Recursion(definition, names)
    made = copy.copy(definition.node)
    made.body = recursion.body()
    return made


def _own_calls(definition: FunctionDefinition, node: ast.AST) -> Iterator[ast.Call]:
    """The calls in a node of the function itself."""
    name = definition.node.name
    receiver = definition.receiver
    for inner in ast.walk(node):
        match inner:
            case ast.Call(func=ast.Name(id=called)) if (
                called == name and definition.qualname == name
            ):
                yield inner
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=owner), attr=called)
            ) if called == name and owner == receiver:
                yield inner


class _Recursion:
    """Makes the loop of one function that calls itself."""

    def __init__(self, definition: FunctionDefinition, names: Names) -> None:
        self.definition = definition
        self.names = names
        node = definition.node
        args = node.args
        if (
            args.vararg
            or args.kwarg
            or any(isinstance(n, ast.Lambda | FunctionNode) for n in own_nodes(node))
        ):
            raise self._refusal(
                "it calls itself, and has arguments or functions that a loop cannot keep",
                node,
            )
        self.parameters = [a.arg for a in definition.parameters]
        if definition.owner is not None:
            self.parameters = self.parameters[1:]
        self.calls = list(_own_calls(definition, node))
        self.last = [
            n
            for n in own_nodes(node)
            if isinstance(n, ast.Return) and n.value in self.calls
        ]

    def body(self) -> list[ast.stmt]:
        node = self.definition.node
        start = own_start(node)
        if len(self.last) == len(self.calls):
            loop = self._endless(self._again(node.body[start:]))
            return [*node.body[:start], loop]
        return [*node.body[:start], *self._there_and_back(node.body[start:])]

    def _endless(self, body: list[ast.stmt]) -> ast.stmt:
        if not _leaves(body):
            body = [*body, ast.Return(ast.Constant(None))]
        return ast.While(ast.Constant(True), body, [])

    # ---- calls at the end

    def _again(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """A block whose last calls are its parameters' new values."""
        result: list[ast.stmt] = []
        for node in body:
            if isinstance(node, ast.Return) and node in self.last:
                assert isinstance(node.value, ast.Call)
                given = self._given(node.value)
                result += [with_origin(s, node) for s in given]
                result.append(ast.Continue())
                continue
            if isinstance(node, ast.For | ast.While | ast.Try) and any(
                n in self.last for n in ast.walk(node)
            ):
                raise self._refusal("it calls itself inside a loop or `try`", node)
            result.append(rebuilt(node, self._again))
        return result

    def _given(self, call: ast.Call) -> list[ast.stmt]:
        """The assignment of a call's arguments to the parameters.

        Raises:
            Refusal: what a parameter gets is not known.
        """
        values = self._arguments(call)
        changed = {
            name: value for name, value in values.items() if not is_named(value, name)
        }
        if not changed:
            return []
        targets: list[ast.expr] = [ast.Name(n, ast.Store()) for n in changed]
        if len(changed) == 1:
            return [ast.Assign(targets, next(iter(changed.values())))]
        return [
            ast.Assign(
                [ast.Tuple(targets, ast.Store())],
                ast.Tuple(list(changed.values()), ast.Load()),
            )
        ]

    def _arguments(self, call: ast.Call) -> dict[str, ast.expr]:
        args = self.definition.node.args
        positional = [a.arg for a in (*args.posonlyargs, *args.args)]
        names = [n for n in positional if n in self.parameters]
        values: dict[str, ast.expr] = dict(zip(names, call.args, strict=False))
        values |= {k.arg: k.value for k in call.keywords if k.arg is not None}
        defaults = self.definition.defaults
        for name in self.parameters:
            if name not in values and isinstance(defaults.get(name), ast.Constant):
                values[name] = defaults[name]
        known = len(call.args) <= len(names) and not any(
            isinstance(a, ast.Starred) for a in call.args
        )
        if not known or any(k.arg is None for k in call.keywords):
            raise self._refusal("what it calls itself with is not known", call)
        if values.keys() != set(self.parameters):
            raise self._refusal("what it calls itself with is not known", call)
        return {name: values[name] for name in self.parameters}

    # ---- one thing done with what the call gives

    def _there_and_back(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """`if c: return a` and `return x * f(y)`: down to c, keeping each x, and back up."""
        match body:
            case [
                ast.If(body=[ast.Return() as base], orelse=[]) as test,
                *steps,
                ast.Return() as back,
            ]:
                pass
            case [
                ast.If(
                    body=[ast.Return() as base], orelse=[*steps, ast.Return() as back]
                ) as test
            ]:
                pass
            case _:
                raise self._refusal(
                    "it calls itself in the middle of what it does", self.calls[0]
                )
        if (
            len(self.calls) != 1
            or self.calls[0] not in ast.walk(back)
            or back.value is None
        ):
            raise self._refusal(
                "it calls itself more than once: keep what is still to do in a list, in a loop",
                self.calls[-1],
            )
        (call,) = self.calls
        kept = self._kept(steps, back, call)
        lists = {name: self.names.fresh(f"{name}_values") for name in kept}
        result = self.names.fresh("result")
        begin = with_origin(assigned(result, base.value or ast.Constant(None)), base)
        undone = with_origin(
            assigned(result, _with_result(back.value, call, result)), back
        )
        if lists:
            empty = [assigned(n, ast.List([], ast.Load())) for n in lists.values()]
            keep = [_keep(lists[name], name) for name in kept]
            up = self._backwards(lists, undone)
        else:
            depth = self.names.fresh("depth")
            empty = [assigned(depth, ast.Constant(0))]
            one = ast.Constant(1)
            keep = [ast.AugAssign(ast.Name(depth, ast.Store()), ast.Add(), one)]
            source = called("range", name_of(depth))
            up = ast.For(ast.Name("_", ast.Store()), source, [undone], [])
        down = ast.While(_not(test.test), [*steps, *keep, *self._given(call)], [])
        end = ast.Return(name_of(result))
        return [*empty, with_origin(down, test), begin, up, end]

    def _kept(
        self, steps: list[ast.stmt], back: ast.Return, call: ast.Call
    ) -> list[str]:
        """The names whose values on the way down are needed on the way back."""
        values = self._arguments(call)
        inside = {id(n) for n in ast.walk(call)}
        read = {
            n.id
            for n in ast.walk(back)
            if isinstance(n, ast.Name) and id(n) not in inside
        }
        bound = {
            n.id
            for s in steps
            for n in ast.walk(s)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        moved = {name for name, value in values.items() if not is_named(value, name)}
        return sorted(read & (bound | moved))

    def _backwards(self, lists: dict[str, str], undone: ast.stmt) -> ast.stmt:
        """The loop over what was kept, the last first."""
        targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in lists]
        sources = [called("reversed", name_of(kept)) for kept in lists.values()]
        if len(lists) == 1:
            return ast.For(targets[0], sources[0], [undone], [])
        together = ast.Tuple(targets, ast.Store())
        return ast.For(together, called("zip", *sources), [undone], [])

    def _refusal(self, reason: str, node: ast.AST) -> Refusal:
        return Refusal(reason, node, "GL113")


def _leaves(body: list[ast.stmt]) -> bool:
    match body:
        case [*_, ast.Return() | ast.Continue() | ast.Raise()]:
            return True
        case [*_, ast.If(body=then, orelse=other)]:
            return _leaves(then) and _leaves(other)
    return False


def _keep(name: str, value: str) -> ast.stmt:
    append = ast.Attribute(ast.Name(name, ast.Load()), "append", ast.Load())
    return ast.Expr(ast.Call(append, [ast.Name(value, ast.Load())], []))


def _not(node: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), node)


def _with_result(node: ast.expr, call: ast.Call, name: str) -> ast.expr:
    """The expression with a name in the place of a call."""

    class Named(ast.NodeTransformer):
        def visit_Call(self, inner: ast.Call) -> ast.AST:
            if ast.dump(inner) == ast.dump(call):
                return placed(ast.Name(name, ast.Load()), inner)
            return self.generic_visit(inner)

    made: ast.expr = Named().visit(copy.deepcopy(node))
    return made
