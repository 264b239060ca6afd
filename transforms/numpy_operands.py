"""A call of NumPy's that is written for the graph: its arguments, as TensorFlow takes them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from . import static_shapes
from .facts.kinds import NONE, Array, Kind, Python, Scalar, Sequence, Tensor
from .facts.staging import holds_size, holds_tensor, is_tensor
from .findings import Refusal
from .promotion import array_dtype

if TYPE_CHECKING:
    from .expressions import Writer


class Call:
    """A NumPy call that is written for the graph: its arguments by parameter, with texts and kinds."""

    def __init__(
        self, writer: Writer, node: ast.Call, arguments: dict[str, ast.expr]
    ) -> None:
        self.writer = writer
        self.node = node
        self.arguments = arguments
        self.tf = writer.tf
        kind = writer.kind(node)
        self.dtype: str = getattr(kind, "dtype", None) or "float64"
        self.is_real = self.dtype.startswith("float")

    def __contains__(self, name: str) -> bool:
        return name in self.arguments and self.kind(name) != NONE

    def kind(self, name: str) -> Kind:
        return self.writer.kind(self.arguments[name])

    def array(self, name: str, dtype: str | None = None) -> str:
        """The text of an argument as a tensor of the dtype; of its own, where none is asked for."""
        return self.tensor(self.arguments[name], dtype)

    def tensor(self, node: ast.expr, dtype: str | None = None) -> str:
        kind = self.writer.kind(node)
        sizes = self._sizes(node)
        if sizes is not None:
            kind, text = Tensor("int64", (None,)), sizes
        else:
            text = self.writer.read(node) if self.is_real else self.writer.text(node)
        if isinstance(kind, Python | Array | Scalar):
            own = dtype or array_dtype((kind,))
            return f"{self.tf}.constant({text}, {self.tf}.{own})"
        if isinstance(kind, Sequence) and isinstance(node, ast.List | ast.Tuple):
            if not holds_tensor(kind):
                own = dtype or array_dtype(kind.items)
                return f"{self.tf}.constant({text}, {self.tf}.{own})"
            return f"{self.tf}.stack([{', '.join(self.tensor(e, dtype) for e in node.elts)}])"
        if not is_tensor(kind):
            raise Refusal(f"{kind} is not lifted here", self.node, "GL206")
        wanted = dtype or getattr(kind, "dtype", None)
        if getattr(kind, "dtype", None) == wanted:
            return text
        return self.writer.promotion.cast(text, f"{self.tf}.{wanted}")

    def _sizes(self, node: ast.expr) -> str | None:
        """The text of a tensor of the sizes that a shape has, where one of them is not static."""
        whole = holds_size(self.writer.kind(node))
        return static_shapes.sizes(self.writer, node) if whole else None

    def shape(self, name: str) -> str:
        """The text of an argument that is a shape, or one size."""
        node, kind = self.arguments[name], self.kind(name)
        text = self._sizes(node)
        if text is None and holds_size(kind):
            raise Refusal("the shape that this is of may vary", node, "GL406")
        text = text or self.writer.text(node)
        number = isinstance(kind, Python) or getattr(kind, "shape", None) == ()
        return f"[{text}]" if number else text

    def option(self, name: str, as_name: str | None = None) -> str:
        """A keyword argument that is passed on, or nothing."""
        if name not in self:
            return ""
        return f", {as_name or name}={self.writer.text(self.arguments[name])}"

    def call(self, function: str, *arguments: str) -> str:
        return f"{self.tf}.{function}({', '.join(arguments)})"
