"""What functions are called with from outside of the code that is analysed: recorded, or annotated."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from . import arrays
from .definitions import FunctionDefinition
from .environment import FunctionFacts
from .kind_joins import join
from .kind_parts import of_any_size
from .kinds import (
    NONE,
    UNKNOWN,
    Array,
    Kind,
    Object,
    Python,
    Ragged,
    Scalar,
    Tensor,
    Variable,
    members,
)
from .staging import hold, holds_tensor

if TYPE_CHECKING:
    from .session import Session

IMPROBABLE_DTYPE = "float16"
COMMON_DTYPES = ("float32", "float64", "int32", "int64", "bool", "string")


class Parameters:
    """The kinds of the parameters of functions that nothing in their project calls."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.module = session.module
        self._inferred: dict[str, dict[str, Kind]] = {}

    def from_outside(self, definition: FunctionDefinition) -> dict[str, Kind] | None:
        """What a function is called with from outside: recorded, or annotated; None where nothing tells."""
        recorded = self.session.recorded(definition.qualname)
        if definition.is_inner and not definition.keeps_state:
            return None
        if recorded is not None and recorded.calls:
            held = {n: _held(k) for n, k in recorded.parameters.items()}
            if not _may_be_signed(definition, held):
                held = of_any_call(definition, held)
            return self._with_fresh_self(definition, held)
        annotated = {
            a.arg: self._annotated(a.annotation) for a in definition.parameters
        }
        if definition.owner and definition.receiver:
            annotated[definition.receiver] = Object(
                self.session.dotted(definition.owner.qualname)
            )
        if definition.node.args.vararg or definition.node.args.kwarg:
            return None
        if UNKNOWN in annotated.values() or not any(
            map(holds_tensor, annotated.values())
        ):
            return None
        if definition.qualname not in self._inferred:
            self._inferred[definition.qualname] = annotated
            self._inferred[definition.qualname] = self._with_dtypes(
                definition, annotated
            )
        return dict(self._inferred[definition.qualname])

    def _with_fresh_self(
        self, definition: FunctionDefinition, parameters: dict[str, Kind]
    ) -> dict[str, Kind]:
        """Parameters, among them what an `__init__` is given: an object that nobody else has yet."""
        if definition.node.name == "__init__" and definition.parameters:
            name = definition.parameters[0].arg
            kind = parameters.get(name)
            if isinstance(kind, Object):
                parameters[name] = replace(kind, fresh=True)
        return parameters

    def _with_dtypes(
        self, definition: FunctionDefinition, parameters: dict[str, Kind]
    ) -> dict[str, Kind]:
        """Dtypes that annotations leave open, where only one lets the function run.

        A graph traces every arm, so each operation has to take its operands; a parameter of another dtype raises.
        """
        result = dict(parameters)
        unknown = [
            n
            for n, k in parameters.items()
            if isinstance(k, Tensor | Variable) and k.dtype is None
        ]
        for name in unknown:
            obstacles = {
                d: self._obstacles(definition, result, name, d) for d in COMMON_DTYPES
            }
            least = min(obstacles.values())
            possible = [d for d, count in obstacles.items() if count == least]
            if (
                len(possible) == 1
                and self._obstacles(definition, result, name, IMPROBABLE_DTYPE) > least
            ):
                result[name] = _with_dtype(result[name], possible[0])
        return result

    def _obstacles(
        self,
        definition: FunctionDefinition,
        parameters: dict[str, Kind],
        name: str,
        dtype: str,
    ) -> int:
        """How often the function would raise, or do what is not known, with a parameter of this dtype."""
        saved = self.session.state()
        facts = FunctionFacts(
            definition, {**parameters, name: _with_dtype(parameters[name], dtype)}
        )
        try:
            self.session.interpret(facts, None)
        finally:
            self.session.restore(saved)
        return len(facts.problems)

    def _annotated(self, node: ast.expr | None) -> Kind:
        """The kind that an annotation promises; unknown where there is none."""
        match node:
            case ast.Constant(value=None):
                return NONE
            case ast.Constant(value=str() as text):
                try:
                    return self._annotated(ast.parse(text, mode="eval").body)
                except SyntaxError:
                    return UNKNOWN
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return join(self._annotated(left), self._annotated(right))
            case ast.Subscript(
                value=ast.Name(id="Optional") | ast.Attribute(attr="Optional"),
                slice=inner,
            ):
                return join(self._annotated(inner), NONE)
            case ast.Name(id="int" | "float" | "bool" | "str" as name):
                return Python(name)
            case ast.Name() | ast.Attribute():
                return self._annotated_class(ast.unparse(node))
        return UNKNOWN

    def _annotated_class(self, text: str) -> Kind:
        if text in self.module.classes:
            return Object(self.session.dotted(text))
        dotted = self.module.imported(text)
        if dotted == "tensorflow.Tensor":
            return Tensor()
        if dotted == "tensorflow.Variable":
            return Variable()
        return UNKNOWN


def of_any_call(
    definition: FunctionDefinition, kinds: Mapping[str, Kind]
) -> dict[str, Kind]:
    """What arguments may be at other calls: of other sizes, but as many in `*args`, for which a graph is traced anew."""
    rest = definition.node.args.vararg
    several = rest.arg if rest else None
    return {n: of_any_size(k, n != several) for n, k in kinds.items()}


def _held(kind: Kind) -> Kind:
    """A parameter as a graph takes it: an array of NumPy becomes a tensor."""
    held = hold(kind) if all(map(_is_array, members(kind))) else kind
    return held if arrays.may_hold(held) else kind


def _may_be_signed(
    definition: FunctionDefinition, parameters: Mapping[str, Kind]
) -> bool:
    """Whether a signature can hold callers to the sizes that were seen."""
    args = definition.node.args
    own = [kind for name, kind in parameters.items() if name != definition.receiver]
    return not (args.vararg or args.kwarg or args.kwonlyargs or args.defaults) and all(
        isinstance(k, Tensor | Ragged) for k in own
    )


def _is_array(kind: Kind) -> bool:
    return isinstance(kind, Array | Scalar)


def _with_dtype(kind: Kind, dtype: str) -> Kind:
    return replace(kind, dtype=dtype) if isinstance(kind, Tensor | Variable) else kind
