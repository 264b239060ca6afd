"""Writes expressions for the graph: the text of each, with what depends on a tensor rewritten."""

from __future__ import annotations

import ast
import sys

from . import (
    add_chains,
    arguments,
    booleans,
    conditionals,
    host_reads,
    list_arguments,
    lookups,
    negations,
    numpy_calls,
    static_shapes,
    texts,
)
from .facts.environment import FunctionFacts
from .facts.kinds import (
    WEAK_DTYPES,
    Function,
    Kind,
    Python,
    Type,
    python,
)
from .facts.staging import (
    INTS,
    holds_size,
    is_strong,
    is_tensor,
    is_weak,
)
from .facts.syntax import given_to, index_parts
from .findings import Refusal
from .operands import SIGNS, as_operand, is_atom
from .promotion import Promotion
from .source import Names, Source

WITHOUT_GRADIENT = frozenset({"bool", "string"}) | INTS


class Writer:
    """Writes the expressions of one function.

    Args:
        source: the file.
        facts: of the function.
        tf: how the file calls TensorFlow.
        cores: what to call in the place of a function that has a Python shell, by qualified name.
        names: gives new names.
    """

    def __init__(
        self,
        source: Source,
        facts: FunctionFacts,
        tf: str,
        cores: dict[str, str],
        names: Names,
    ) -> None:
        self.source = source
        self.facts = facts
        self.tf = tf
        self.cores = cores
        self.names = names
        self.promotion = Promotion(tf)
        self.barriers: set[ast.expr] = set()
        self.comparisons: set[ast.expr] = set()
        self._texts: dict[ast.expr, str | None] = {}

    def kind(self, node: ast.expr) -> Kind:
        return self.facts.kind(node)

    def text(self, node: ast.expr) -> str:
        """The text of an expression in the lifted function."""
        return self.changed(node) or self.source.segment(node)

    def read(self, node: ast.expr) -> str:
        """The text of a tensor whose value Python or NumPy takes: no gradient goes through that."""
        kind = self.kind(node)
        text = self.text(node)
        real = getattr(kind, "dtype", None) not in WITHOUT_GRADIENT
        if is_strong(kind) and real and self.facts.taped:
            return f"{self.tf}.stop_gradient({text})"
        return text

    def atom(self, node: ast.expr) -> str:
        """The same, in parentheses where it would not stand as an operand."""
        text = self.text(node)
        return text if is_atom(text) else f"({text})"

    def edits(self, node: ast.AST) -> dict[ast.expr, str]:
        """The new texts of the outermost changed expressions inside a node."""
        found: dict[ast.expr, str] = {}
        for child in _expressions(node):
            text = self.changed(child)
            if text is not None:
                found[child] = text
        return found

    def changed(self, node: ast.expr) -> str | None:
        """The new text of an expression; None where it stays as it stands."""
        if node not in self._texts:
            self._texts[node] = self._guarded(node)
        return self._texts[node]

    def _guarded(self, node: ast.expr) -> str | None:
        text = self._changed(node)
        if node in self.barriers:
            plain = text or self.source.segment(node)
            guarded = add_chains.with_barrier(self, node, plain)
            return text if guarded == plain else guarded
        return text

    def _changed(self, node: ast.expr) -> str | None:
        handler = getattr(self, f"_{type(node).__name__.lower()}", None)
        text = texts.text_of(self, node) or (handler(node) if handler else None)
        if text is not None:
            return str(text)
        edits = self.edits(node)
        if hasattr(node, "made"):
            return self.source.spliced(node, edits)
        if not edits:
            return None
        if isinstance(node, ast.JoinedStr) and sys.version_info < (3, 12):
            raise Refusal("an f-string with tensors in it is not lifted", node, "GL210")
        return self.source.spliced(node, edits)

    # ---- names

    def _name(self, node: ast.Name) -> str | None:
        """A flag that tells whether a value is None, where that is known."""
        kind = self.kind(node)
        if hasattr(node, "tells_none") and isinstance(kind, Python) and kind.known:
            return repr(kind.value)
        return None

    # ---- operators

    def _binop(self, node: ast.BinOp) -> str | None:
        left, right = self.operand(node.left), self.operand(node.right)
        a, b = self.promotion.operands(left, right, isinstance(node.op, ast.Div))
        if (a, b) == (left[0], right[0]):
            return None
        left_text, right_text = as_operand(a, node.op), as_operand(b, node.op, True)
        return f"{left_text} {SIGNS[type(node.op)]} {right_text}"

    def operand(self, node: ast.expr) -> tuple[str, Kind, ast.expr]:
        return self.text(node), self.kind(node), node

    def _unaryop(self, node: ast.UnaryOp) -> str | None:
        if isinstance(node.op, ast.Not) and node in self.facts.staged:
            return booleans.negation(self, node)
        if isinstance(node.op, ast.Invert) and node.operand in self.comparisons:
            return negations.of_text(self, node.operand, self.text(node.operand))
        return None

    def _boolop(self, node: ast.BoolOp) -> str | None:
        return booleans.junction(self, node) if node in self.facts.staged else None

    def _compare(self, node: ast.Compare) -> str | None:
        return booleans.comparison(self, node)

    def _ifexp(self, node: ast.IfExp) -> str | None:
        return conditionals.ternary(self, node) if node in self.facts.staged else None

    # ---- calls

    def _subscript(self, node: ast.Subscript) -> str | None:
        """`x.shape[i]` of a dimension that varies, or a subscript by tensors.

        Raises:
            Refusal: the shape is not written out here.
        """
        if not (is_weak(self.kind(node)) and holds_size(self.kind(node.value))):
            return self._indexed(node) if is_tensor(self.kind(node.value)) else None
        sizes = static_shapes.sizes(self, node.value)
        if sizes is None:
            raise Refusal("the shape that this is of may vary", node, "GL406")
        return f"{sizes}[{self.text(node.slice)}]"

    def _indexed(self, node: ast.Subscript) -> str | None:
        """A subscript of a tensor with its indices in one dtype, which TensorFlow asks for; None where they are."""
        parts = [*index_parts(node.slice)]
        strong = next((part for part in parts if is_strong(self.kind(part))), None)
        weak = [part for part in parts if is_weak(self.kind(part))]
        if strong is None or not weak or self._is_int64(strong):
            return None
        dtype = self.promotion.dtype_of(self.text(strong), self.kind(strong), strong)
        edits = {n: text for n in (node.value, *parts) if (text := self.changed(n))}
        edits |= {n: self.promotion.cast(self.text(n), dtype) for n in weak}
        return self.source.spliced(node, edits)

    def _is_int64(self, node: ast.expr) -> bool:
        return getattr(self.kind(node), "dtype", None) == WEAK_DTYPES["int"]

    def _attribute(self, node: ast.Attribute) -> str | None:
        return host_reads.attribute(self, node)

    def _call(self, node: ast.Call) -> str | None:
        passed = self.facts.calls.get(getattr(node, "callback", node), "")
        if passed in self.cores and hasattr(node, "callback"):
            raise Refusal(f"`{passed}` is passed here, and gives Python values", node)
        core = self.cores.get(self.facts.calls.get(node, ""))
        if core is not None:
            return self._core_call(node, core)
        if hasattr(node.func, "switched"):
            return lookups.switch(self, node)
        function = self.kind(node.func)
        if function == Function("tensorflow.executing_eagerly"):
            return "True" if self.kind(node) == python(True) else None
        if function in (Function("builtins.isinstance"), Function("builtins.hasattr")):
            return host_reads.known_answer(self, node)
        if isinstance(function, Function) and function.name.startswith("builtins."):
            return host_reads.conversion(
                self, node, function.name.removeprefix("builtins.")
            )
        text = negations.of_call(self, node) or list_arguments.of_list(self, node)
        if text is not None or function == Function("tensorflow.constant"):
            return text
        if isinstance(node.func, ast.Attribute) and is_tensor(
            self.kind(node.func.value)
        ):
            text = host_reads.method(self, node, node.func.value, node.func.attr)
            if text is not None:
                return text
        if isinstance(function, Function | Type):
            package, _, name = function.name.partition(".")
            if package == "numpy":
                return numpy_calls.text_of(self, node, name)
            if package == "math":
                return host_reads.of_math(self, node, name)
        return arguments.text_of(self, node)

    def _core_call(self, node: ast.Call, core: str) -> str:
        given = given_to(node)
        edits = {a: text for a in given if (text := self.changed(a))}
        owner = (
            f"{self.text(node.func.value)}."
            if isinstance(node.func, ast.Attribute)
            else ""
        )
        edits[node.func] = owner + core
        return self.source.spliced(node, edits)

    # ---- parts

    def predicate(self, node: ast.expr) -> str:
        """The text of a scalar bool tensor that says whether a test holds."""
        kind = self.kind(node)
        text = self.text(node)
        if isinstance(kind, Python):
            return (
                f"{self.tf}.constant(bool({text}))"
                if kind.type != "bool"
                else f"{self.tf}.constant({text})"
            )
        dtype = getattr(kind, "dtype", None)
        if not is_tensor(kind):
            raise Refusal(f"the truth of {kind} is not lifted", node, "GL103")
        shape = getattr(kind, "shape", ()) or ()
        if any(size != 1 for size in shape):
            raise Refusal(f"the truth of {kind} is not lifted", node, "GL103")
        if shape:
            text = f"{self.tf}.reshape({text}, [])"
        if dtype == "bool":
            return text
        if dtype is None:
            return f"{self.tf}.cast({text}, {self.tf}.bool)"
        if dtype == "string":
            raise Refusal(
                "the truth of a text that a tensor decides is not lifted", node, "GL103"
            )
        return f"{self.tf}.not_equal({text}, 0)"


def _expressions(node: ast.AST) -> list[ast.expr]:
    """The expressions right inside a node, through what is no expression itself."""
    found: list[ast.expr] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            found.append(child)
        elif isinstance(
            child, ast.keyword | ast.withitem | ast.comprehension | ast.arguments
        ):
            found += _expressions(child)
    return found
