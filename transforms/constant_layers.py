"""A `Dense` layer made for one call, whose weights are constants, as the product that it is.

The first step only, of GL305: such a layer makes variables that nothing ever changes and nobody else sees. Without them
its work is the same for each size of what it is given, and nothing has to be kept for the next call.
"""

from __future__ import annotations

import ast

from .facts.environment import FunctionFacts
from .facts.kinds import Function, Kind, Object, Python, Tensor
from .facts.profile import FunctionNode
from .facts.project import POLICIES
from .facts.session import Session
from .facts.syntax import is_named, own_nodes
from .making import called, is_atom
from .rewriting import Rewriter
from .source import Names

OPTIONS = (
    "units",
    "activation",
    "use_bias",
    "kernel_initializer",
    "bias_initializer",
    "name",
)
ACTIVATIONS = {
    "relu": "nn.relu",
    "elu": "nn.elu",
    "selu": "nn.selu",
    "softmax": "nn.softmax",
    "softplus": "nn.softplus",
    "sigmoid": "sigmoid",
    "tanh": "tanh",
}
NUMBERS = {"ones": 1.0, "zeros": 0.0}


def without_layers(
    facts: FunctionFacts, session: Session, names: Names, tf: str
) -> FunctionNode | None:
    """The function with the products of such layers; None where it has none."""
    if not any(p.code == "GL305" for p in facts.problems):
        return None
    modules = session.modules
    if modules and modules.mentioned(session.path) & POLICIES:
        return None
    return _Products(facts, names, tf).function()


class _Products(Rewriter):
    def __init__(self, facts: FunctionFacts, names: Names, tf: str) -> None:
        super().__init__(facts, names)
        self.tf = tf
        self.local: dict[str, ast.Call] = {}
        for node in own_nodes(facts.definition.node):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                    if self._fits(call) and self._is_only_called(name, call):
                        self.local[name] = call

    def _fits(self, call: ast.Call) -> bool:
        """Whether a call makes a layer of constant weights."""
        function = self.kind(call.func)
        name = function.name if isinstance(function, Function) else ""
        options = _options(call)
        if name != "tensorflow.keras.layers.Dense" or options is None:
            return False
        units, bias = options.get("units"), options.get("bias_initializer")
        kernel = options.get("kernel_initializer")
        return (
            units is not None
            and _is_python(self.kind(units), "int")
            and kernel is not None
            and self._number(kernel) is not None
            and (bias is None or self._number(bias) is not None)
            and isinstance(options.get("use_bias", ast.Constant(True)), ast.Constant)
            and self._is_known(options.get("activation", ast.Constant(None)))
        )

    def _is_known(self, activation: ast.expr) -> bool:
        match activation:
            case ast.Constant(value=name):
                return name in (None, "linear", *ACTIVATIONS)
        return is_atom(activation) and isinstance(self.kind(activation), Function)

    def _number(self, initializer: ast.expr) -> ast.expr | None:
        """What all weights are that an initializer makes; None where they differ, or are drawn."""
        match initializer:
            case ast.Constant(value="ones" | "zeros" as name):
                return ast.Constant(NUMBERS[name])
            case ast.Call(args=[], keywords=[]):
                made = _initializer(self.kind(initializer))
                return ast.Constant(NUMBERS[made]) if made in NUMBERS else None
            case ast.Call(args=[number], keywords=[]) if (
                _initializer(self.kind(initializer)) == "constant"
            ):
                if isinstance(number, ast.Constant) and type(number.value) is int:
                    return ast.Constant(float(number.value))
                floating = _is_python(self.kind(number), "float")
                return number if floating and is_atom(number) else None
        return None

    def _is_only_called(self, name: str, call: ast.Call) -> bool:
        """Whether all that is done with a layer of the function's own is to call it, when it is what it was made as."""
        nodes = list(ast.walk(self.facts.definition.node))
        uses = {n for n in nodes if is_named(n, name)}
        calls = [n for n in nodes if isinstance(n, ast.Call) and n.func in uses]
        stored = {
            n.id if isinstance(n, ast.Name) else n.attr
            for n in nodes
            if isinstance(n, ast.Name | ast.Attribute)
            and not isinstance(n.ctx, ast.Load)
        }
        read = [n for n in ast.walk(call) if isinstance(n, ast.Name | ast.Attribute)]
        kept = not any(getattr(n, "id", getattr(n, "attr", "")) in stored for n in read)
        alone = not self.facts.calls or not any(
            isinstance(n, ast.Attribute) and _is_python(self.kind(n)) for n in read
        )
        return (
            len(uses) == len(calls) + 1
            and all(self._takes(n) for n in calls)
            and kept
            and alone
        )

    def _takes(self, call: ast.Call) -> bool:
        """Whether a layer is given a tensor of the dtype that it computes in."""
        kind = self.kind(call.args[0]) if len(call.args) == 1 else None
        return (
            isinstance(kind, Tensor)
            and kind.dtype == "float32"
            and not kind.weak
            and kind.shape is not None
            and len(kind.shape) > 1
            and not call.keywords
        )

    def instead(self, node: ast.stmt) -> list[ast.stmt] | None:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if (
                value is self.local.get(name)
            ):
                return []
        return None

    def expression(self, node: ast.expr) -> ast.expr | None:
        match node:
            case ast.Call(func=ast.Name(id=name), args=[given]) if name in self.local:
                return self._product(self.local[name], given)
            case ast.Call(func=ast.Call() as layer, args=[given]) if self._takes(
                node
            ) and self._fits(layer):
                return self._product(layer, given)
        return None

    def _product(self, layer: ast.Call, given: ast.expr) -> ast.expr:
        options = _options(layer)
        assert options is not None
        given = self.atom(given, "inputs")
        size = ast.Subscript(
            ast.Attribute(given, "shape", ast.Load()),
            ast.UnaryOp(ast.USub(), ast.Constant(1)),
            ast.Load(),
        )
        shape = ast.List([size, options["units"]], ast.Load())
        kernel = self._number(options["kernel_initializer"])
        assert kernel is not None
        made: ast.expr = called(f"{self.tf}.matmul", given, self._filled(shape, kernel))
        bias = self._bias(options)
        if bias is not None:
            made = ast.BinOp(made, ast.Add(), bias)
        return self._activated(options.get("activation", ast.Constant(None)), made)

    def _filled(self, shape: ast.expr, number: ast.expr) -> ast.expr:
        match number:
            case ast.Constant(value=1.0):
                return called(f"{self.tf}.ones", shape)
            case ast.Constant(value=0.0):
                return called(f"{self.tf}.zeros", shape)
        return called(f"{self.tf}.fill", shape, number)

    def _bias(self, options: dict[str, ast.expr]) -> ast.expr | None:
        match options.get("use_bias"):
            case ast.Constant(value=wanted) if not wanted:
                return None
        number = self._number(options.get("bias_initializer", ast.Constant("zeros")))
        match number:
            case ast.Constant(value=0.0):
                return None
        return number

    def _activated(self, activation: ast.expr, value: ast.expr) -> ast.expr:
        match activation:
            case ast.Constant(value=None | "linear"):
                return value
            case ast.Constant(value=str(name)):
                return called(f"{self.tf}.{ACTIVATIONS[name]}", value)
        return called(activation, value)


def _options(call: ast.Call) -> dict[str, ast.expr] | None:
    """What a layer is made with, by the names of `Dense`; None where that is more than is known."""
    names = [k.arg or "" for k in call.keywords]
    plain = not any(isinstance(a, ast.Starred) for a in call.args)
    if len(call.args) > len(OPTIONS) - 1 or not plain or not {*names} <= {*OPTIONS}:
        return None
    given = dict(zip(OPTIONS, call.args, strict=False))
    return given | {k.arg: k.value for k in call.keywords if k.arg}


def _initializer(kind: Kind) -> str:
    """The name, in small letters, of a class of initializers."""
    name = kind.name if isinstance(kind, Object) else ""
    owner, _, last = name.lower().rpartition(".")
    if owner == "tensorflow":
        return last.removesuffix("_initializer")
    return last if owner == "tensorflow.keras.initializers" else ""


def _is_python(kind: Kind, *types: str) -> bool:
    return isinstance(kind, Python) and (not types or kind.type in types)
