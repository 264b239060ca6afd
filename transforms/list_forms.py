"""What a Python list is in the graph: a TensorArray, or one tensor of its items; and how its items are read there."""

from __future__ import annotations

import ast
from collections.abc import Sequence as Sequenced
from dataclasses import dataclass

from .facts.kinds import NUMPY, Tensor
from .making import assigned, called, expression

DEFAULTS = {"int": "int32", "float": "float32", "bool": "bool", "str": "string"}


@dataclass(frozen=True)
class List:
    """A local list that is held in the graph.

    Attributes:
        tf: how the file calls TensorFlow.
        rows: it becomes one tensor, else a TensorArray.
        nested: it is one of lists or tuples.
        holds_lists: it is one of lists of tensors, of several lengths.
        read: its items are read one by one, too.
        lengths: the name of the TensorArray of the lengths of its items, where it is to be read as a ragged tensor.
    """

    name: str
    element: Tensor
    rows: bool
    nested: bool
    read: bool
    tf: str
    lengths: str | None = None
    holds_lists: bool = False

    @property
    def whole(self) -> str:
        """The text of the tensor of all items, where these do not differ in shape."""
        if self.lengths is None:
            return self.stack
        none = f"{self.tf}.zeros([0], {self.tf}.{self.element.dtype})"
        return self._ragged(
            f"{self.name}.concat() if {self.name}.size() > 0 else {none}"
        )

    @property
    def ragged(self) -> str:
        """The text of the ragged tensor of all rows, of which there are some."""
        return self._ragged(f"{self.name}.concat()")

    def _ragged(self, values: str) -> str:
        return (
            f"{self.tf}.RaggedTensor.from_row_lengths({values}, {self.lengths}.stack())"
        )

    @property
    def stack(self) -> str:
        return self.name if self.rows else f"{self.name}.stack()"

    @property
    def stacked(self) -> str:
        """The list as TensorFlow makes one tensor of it: Python numbers become float32 and int32."""
        default = DEFAULTS.get(self.element.weak or "")
        if default is None:
            return self.stack
        return f"{self.tf}.cast({self.stack}, {self.tf}.{default})"

    @property
    def size(self) -> str:
        if self.rows:
            return f"{self.tf}.shape({self.name})[0]"
        return f"{self.name}.size()"

    def item(self, index: str) -> ast.expr:
        """An item, as the list has it, which may be none of TensorFlow's."""
        if self.rows:
            text = f"{self.name}[{index}]"
        elif index.startswith("-"):
            text = f"{self.name}.read({self.name}.size() - {index[1:]})"
        else:
            text = f"{self.name}.read({index})"
        weak = self.element.weak
        if weak == NUMPY:
            return expression(f"{text}.numpy()")
        item = expression(f"{weak}({text})" if weak else text)
        if self.element.mixed:
            item.mixed = self.element  # type: ignore[attr-defined]
        return item

    # ---- as statements make it

    def new(self) -> list[ast.stmt]:
        """The assignments of an empty TensorArray, and of that of the lengths."""
        array = self._array(self.element.dtype, self.element.shape)
        if self.lengths is None:
            return [assigned(self.name, array)]
        lengths = self._array("int32", ())
        return [assigned(self.name, array), assigned(self.lengths, lengths)]

    def _array(
        self, dtype: str | None, shape: Sequenced[int | None] | None
    ) -> ast.expr:
        dims = "None" if shape is None else str(list(shape))
        varies = shape is not None and None in shape
        again = "clear_after_read=False, " if self.read else ""
        return expression(
            f"{self.tf}.TensorArray({self.tf}.{dtype}, size=0, dynamic_size=True, {again}"
            f"{'infer_shape=False, ' if varies else ''}element_shape={dims})"
        )

    @property
    def dtype(self) -> ast.expr:
        return expression(f"{self.tf}.{self.element.dtype}")

    def constant(self, row: ast.expr) -> ast.expr:
        """A list display as a tensor, where it may hold Python numbers."""
        if self.element.weak is None:
            return row
        return called(f"{self.tf}.constant", row, self.dtype)


def listed(rows: ast.expr, element: Tensor) -> ast.expr:
    """The list of the rows of a tensor, where its items are such."""
    made = called("list", rows)
    if element.weak:
        made.list_items = element  # type: ignore[attr-defined]
    return made


def copied(node: ast.expr) -> str:
    """The name of the list of which an expression makes another one, of the same items."""
    match node:
        case ast.ListComp() if hasattr(node, "picks"):
            return str(node.picks)
        case (
            ast.Call(func=ast.Name(id="list" | "sorted"), args=[ast.Name(id=text)])
            | ast.Call(
                func=ast.Attribute(value=ast.Name(id=text), attr="copy"), args=[]
            )
        ):
            return text
    return ""
