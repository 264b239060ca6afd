"""Writes expressions for the graph: the text of each, with what depends on a tensor rewritten."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from . import (
    add_chains,
    booleans,
    conditionals,
    host_reads,
    numpy_calls,
    static_shapes,
    texts,
)
from .facts.environment import FunctionFacts
from .facts.kinds import (
    Dict,
    Elements,
    Function,
    Kind,
    Python,
    Record,
    Sequence,
    Tensor,
    TensorArray,
    Type,
    Variable,
    python,
)
from .facts.staging import (
    INTS,
    holds_size,
    holds_tensor,
    is_list,
    is_numpy,
    is_strong,
    is_tensor,
    is_weak,
)
from .findings import Refusal
from .promotion import Promotion
from .source import Names, Source

SIGNS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
LEVELS: dict[type[ast.operator], int] = {
    ast.BitOr: 1, ast.BitXor: 2, ast.BitAnd: 3, ast.LShift: 4, ast.RShift: 4, ast.Add: 5, ast.Sub: 5,
    ast.Mult: 6, ast.Div: 6, ast.FloorDiv: 6, ast.Mod: 6, ast.MatMult: 6, ast.Pow: 7,
}  # fmt: skip
"""How tightly operators bind."""
TAKES_WEAK = frozenset(
    [
        "cast",
        "print",
        "zeros",
        "ones",
        "fill",
        "reshape",
        "range",
        "one_hot",
        "shape",
        "size",
        "rank",
        "stack",
        "expand_dims",
        "identity",
        "gather",
        "repeat",
        "tile",
        "slice",
        "strings.as_string",
        "equal",
        "not_equal",
        "eye",
    ]
)
"""TensorFlow functions that take an int64 or float64 tensor where they take a Python number, to the same result."""
WITHOUT_GRADIENT = frozenset({"bool", "string"}) | INTS
CONSTANTS = ("tensorflow.constant", "tensorflow.convert_to_tensor")
LIKE_FIRST = frozenset(["clip_by_value", "clip_by_norm"])
"""Functions that make the numbers they are given tensors of the dtype of the first argument."""
DEFAULTS = {"int": "int32", "float": "float32"}
TAKES_SHAPE = frozenset(
    ["zeros", "ones", "fill", "reshape", "tile", "broadcast_to", "slice"]
)
"""Functions that take lists of sizes."""
SEEDED = ("random.stateless_", "image.stateless_", "nn.experimental.stateless_")
"""Functions that take two numbers as their seed, and give the same for those of int64 as for those of int32."""
BROADCASTING = frozenset(
    [
        "add",
        "subtract",
        "multiply",
        "divide",
        "maximum",
        "minimum",
        "pow",
        "math.maximum",
        "math.minimum",
        "math.add",
        "math.subtract",
        "math.multiply",
        "math.divide",
        "squared_difference",
        "greater",
        "greater_equal",
        "less",
        "less_equal",
        "equal",
        "not_equal",
        "math.floormod",
        "math.floordiv",
    ]
)
ASSIGNING = frozenset({"assign", "assign_add", "assign_sub"})
OF_LISTS = frozenset({"constant", "convert_to_tensor", "stack"})
"""Functions that make one tensor of a list."""
INDEXED = {
    "gather_nd": (1,),
    **{
        f"tensor_scatter_nd_{change}": (1, 2)
        for change in ["update", "add", "sub", "max", "min"]
    },
}
"""Functions that take indices, of whichever dtype, and at which places these and what goes there are."""
OF_ANY_DTYPES = frozenset(
    {"tensorflow.cast", "tensorflow.gather", "tensorflow.boolean_mask"}
)
"""Functions whose arguments need no dtype in common."""


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
        left, right = self._operand(node.left), self._operand(node.right)
        a, b = self.promotion.operands(left, right, isinstance(node.op, ast.Div))
        if (a, b) == (left[0], right[0]):
            return None
        left_text, right_text = as_operand(a, node.op), as_operand(b, node.op, True)
        return f"{left_text} {SIGNS[type(node.op)]} {right_text}"

    def _operand(self, node: ast.expr) -> tuple[str, Kind, ast.expr]:
        return self.text(node), self.kind(node), node

    def _unaryop(self, node: ast.UnaryOp) -> str | None:
        if isinstance(node.op, ast.Not) and node in self.facts.staged:
            return booleans.negation(self, node)
        return None

    def _boolop(self, node: ast.BoolOp) -> str | None:
        return booleans.junction(self, node) if node in self.facts.staged else None

    def _compare(self, node: ast.Compare) -> str | None:
        return booleans.comparison(self, node)

    def _ifexp(self, node: ast.IfExp) -> str | None:
        return conditionals.ternary(self, node) if node in self.facts.staged else None

    # ---- calls

    def _subscript(self, node: ast.Subscript) -> str | None:
        """`x.shape[i]` of a dimension that varies.

        Raises:
            Refusal: the shape is not written out here.
        """
        if not (is_weak(self.kind(node)) and holds_size(self.kind(node.value))):
            return None
        sizes = static_shapes.sizes(self, node.value)
        if sizes is None:
            raise Refusal("the shape that this is of may vary", node, "GL406")
        return f"{sizes}[{self.text(node.slice)}]"

    def _attribute(self, node: ast.Attribute) -> str | None:
        return host_reads.attribute(self, node)

    def _call(self, node: ast.Call) -> str | None:
        passed = self.facts.calls.get(getattr(node, "callback", node), "")
        if passed in self.cores and hasattr(node, "callback"):
            raise Refusal(f"`{passed}` is passed here, and gives Python values", node)
        core = self.cores.get(self.facts.calls.get(node, ""))
        if core is not None:
            return self._core_call(node, core)
        function = self.kind(node.func)
        if function == Function("tensorflow.executing_eagerly"):
            return "True" if self.kind(node) == python(True) else None
        if function in (Function("builtins.isinstance"), Function("builtins.hasattr")):
            return host_reads.known_answer(self, node)
        if isinstance(function, Function) and function.name.startswith("builtins."):
            return host_reads.conversion(
                self, node, function.name.removeprefix("builtins.")
            )
        arguments = [*node.args, *(k.value for k in node.keywords)]
        short = _short_name(function).removeprefix("math.")
        if (short in OF_LISTS or short.startswith("reduce_")) and arguments:
            text = self._of_numbers(node, arguments[0])
            if text is not None:
                return text
        if isinstance(function, Function) and function.name in CONSTANTS:
            text = self._constant_of_tensors(node)
            if text is not None or function.name == "tensorflow.constant":
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
        if any(is_weak(k) and not is_numpy(k) for k in map(self.kind, arguments)):
            return self._weak_arguments(node, function)
        if short in TAKES_SHAPE or short.startswith(SEEDED):
            return self._integer_arguments(node)
        if any(_holds_numpy(self.kind(a)) for a in arguments):
            return self._array_arguments(node, function)
        outside = isinstance(function, Function) and node not in self.facts.calls
        if short == "gather" and node.args and arguments[1:] == node.args[1:]:
            outside = _holds_weak(self.kind(node.args[0]))
        if outside and any(_holds_weak(self.kind(a)) for a in arguments):
            text = self._displays(node, short)
            if text is not None:
                return text
            raise Refusal(
                "a list of Python numbers that a tensor decides is passed here", node
            )
        return None

    def _constant_of_tensors(self, node: ast.Call) -> str | None:
        """`tf.constant` of what became tensors: a graph takes only Python values there."""
        value = next(
            (k.value for k in node.keywords if k.arg == "value"),
            node.args[0] if node.args else None,
        )
        if value is None or not holds_tensor(self.kind(value)):
            return None
        if self.kind(node.func) != Function("tensorflow.constant") and not is_numpy(
            self.kind(value)
        ):
            return None
        dtype = getattr(self.kind(node), "dtype", None)
        if (
            dtype is None
            or len(node.args) > 2
            or any(k.arg not in ("dtype", "value") for k in node.keywords)
        ):
            raise Refusal("`tf.constant` of tensors is not lifted here", node)
        want = Tensor(dtype, ())
        if isinstance(value, ast.List | ast.Tuple) and isinstance(
            kind := self.kind(value), Sequence
        ):
            if not all(is_tensor(k) or isinstance(k, Python) for k in kind.items):
                raise Refusal("`tf.constant` of nested tensors is not lifted", node)
            parts = [
                self.promotion.coerced(self.text(e), k, want, e)
                for e, k in zip(value.elts, kind.items, strict=True)
            ]
            return f"{self.tf}.stack([{', '.join(parts)}])"
        if not is_tensor(self.kind(value)):
            raise Refusal("`tf.constant` of tensors is not lifted here", node)
        if is_weak(self.kind(value)) and not is_numpy(self.kind(value)):
            return self.promotion.cast(self.text(value), f"{self.tf}.{dtype}")
        return self.promotion.coerced(self.text(value), self.kind(value), want, value)

    def _of_numbers(self, node: ast.Call, value: ast.expr) -> str | None:
        """A tensor of a list of Python numbers, which are tensors here, in the dtype that eager mode gives it."""
        held = self.kind(value)
        if not (isinstance(held, Elements) and is_weak(held.element)):
            return None
        makes = _short_name(self.kind(node.func)) in OF_LISTS
        own = getattr(held.element, "dtype", None)
        wanted = DEFAULTS.get(str(getattr(held.element, "weak", None)))
        if makes:
            wanted = getattr(self.kind(node), "dtype", None)
        others = [*node.args[1:], *(k.value for k in node.keywords)]
        stacked = makes and others and "stack" in _short_name(self.kind(node.func))
        if None in (own, wanted) or stacked:
            reason = "a list of Python numbers that a tensor decides is passed here"
            raise Refusal(reason, node)
        text = f"{self.tf}.convert_to_tensor({self.text(value)}, {self.tf}.{own})"
        if own != wanted:
            text = self.promotion.cast(text, f"{self.tf}.{wanted}")
        return text if makes else self.source.spliced(node, {value: text})

    def _displays(self, node: ast.Call, short: str) -> str | None:
        """A call whose lists of tensors and Python numbers, which are tensors here, are each of one dtype."""
        places = (0,) if short in OF_LISTS else INDEXED.get(short, ())
        edits: dict[ast.expr, str] = {}
        for place, argument in enumerate(
            [*node.args, *(k.value for k in node.keywords)]
        ):
            leaves = list(_leaves(argument)) if place in places else [argument]
            kinds = [self.kind(leaf) for leaf in leaves]
            dtype = self._dtype_of_display(node, short, place, kinds)
            for leaf, kind in zip(leaves, kinds, strict=True):
                text = self.changed(leaf)
                if _holds_weak(kind):
                    if dtype is None or not isinstance(kind, Tensor):
                        return None
                    if kind.dtype != dtype:
                        cast_to = f"{self.tf}.{dtype}"
                        text = self.promotion.cast(self.text(leaf), cast_to)
                if text is not None:
                    edits[leaf] = text
        return self.source.spliced(node, edits)

    def _dtype_of_display(
        self, node: ast.Call, short: str, place: int, kinds: list[Kind]
    ) -> str | None:
        """The dtype of what a list makes as an argument; None where that is not known."""
        tensors = [k for k in kinds if isinstance(k, Tensor)]
        if not all(isinstance(k, Python | Tensor) and not is_numpy(k) for k in kinds):
            return None
        wanted = {k.dtype for k in tensors if not k.weak}
        if short not in OF_LISTS and place == 2:
            wanted = {getattr(self.kind(node.args[0]), "dtype", None)}
        elif short in OF_LISTS and not wanted:
            wanted = {getattr(self.kind(node), "dtype", None)}
        elif not wanted:
            wanted = {k.dtype for k in tensors}
            wanted = wanted if len(wanted) == 1 else {"int64"}
        return wanted.pop() if len(wanted) == 1 else None

    def _core_call(self, node: ast.Call, core: str) -> str:
        edits = {
            child: text
            for a in (*node.args, *(k.value for k in node.keywords))
            if (text := self.changed(child := a))
        }
        owner = (
            f"{self.text(node.func.value)}."
            if isinstance(node.func, ast.Attribute)
            else ""
        )
        edits[node.func] = owner + core
        return self.source.spliced(node, edits)

    def _assigned_to(self, node: ast.Call) -> Variable | None:
        """The Variable that a call assigns, or assigns a part of."""
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=[_, *_]) if (
                name in ASSIGNING
            ):
                part = isinstance(owner, ast.Subscript)
                kind = self.kind(owner.value if part else owner)  # type: ignore[attr-defined]
                return kind if isinstance(kind, Variable) else None
        return None

    def _assigned(self, node: ast.Call, variable: Variable) -> str:
        """A Python number that a Variable takes, in its dtype."""
        value, want = node.args[0], Tensor(variable.dtype, ())
        text = self.promotion.coerced(self.text(value), self.kind(value), want, value)
        edits = {value: text}
        if new := self.changed(node.func):
            edits[node.func] = new
        return self.source.spliced(node, edits)

    def _weak_arguments(self, node: ast.Call, function: Kind) -> str | None:
        name = function.name if isinstance(function, Function) else ""
        if not name.startswith("tensorflow."):
            receiver = getattr(function, "receiver", None)
            if isinstance(receiver, TensorArray) and not node.keywords:
                return self._array_call(node, receiver)
            if name == "method.append" and self._is_of_own_list(node.func):
                return None
            if isinstance(receiver, Record):
                return None
            if (variable := self._assigned_to(node)) is not None:
                return self._assigned(node, variable)
            if name.startswith("method.") and self.facts.calls.get(node) is None:
                raise Refusal(
                    "a Python number that a tensor decides is passed here", node
                )
            return None
        short = name.removeprefix("tensorflow.")
        if short in BROADCASTING and len(node.args) == 2 and not node.keywords:
            first, second = map(self._operand, node.args)
            a, b = self.promotion.operands(first, second)
            if not (is_strong(first[1]) or is_strong(second[1])):
                raise Refusal(
                    f"`{ast.unparse(node.func)}` of Python numbers that a tensor decides is not lifted",
                    node,
                )
            return f"{self.source.segment(node.func)}({a}, {b})"
        if short in LIKE_FIRST and node.args and is_strong(self.kind(node.args[0])):
            return self._like_first(node)
        if short not in TAKES_WEAK and len(node.args) == 1 and not node.keywords:
            return self._converted_argument(node)
        if short not in TAKES_WEAK or (
            short == "one_hot" and not self._is_only_counted(node)
        ):
            raise Refusal(
                f"`{ast.unparse(node.func)}` takes a Python number here",
                node,
                way_out="pass a tensor of the dtype that is meant",
            )
        if short == "range":
            return self._range(node)
        if short in ("repeat", "tile") and not is_weak(self.kind(node.args[0])):
            return None
        if short in (
            "stack",
            "identity",
            "fill",
            "equal",
            "not_equal",
            "repeat",
            "tile",
        ):
            raise Refusal(
                f"`{ast.unparse(node.func)}` takes a Python number here",
                node,
                way_out="pass a tensor of the dtype that is meant",
            )
        return None

    def _is_only_counted(self, node: ast.Call) -> bool:
        """Whether `tf.one_hot` gets Python numbers that a tensor decides as its places or depth, not as its values."""
        values = [*node.args[2:], *(k.value for k in node.keywords if k.arg != "depth")]
        return not any(is_weak(self.kind(value)) for value in values)

    def _is_of_own_list(self, function: ast.expr) -> bool:
        """Whether what a method is called of is a list of this function."""
        owner = getattr(function, "value", None)
        return (
            isinstance(owner, ast.Name)
            and owner.id not in self.facts.parameters
            and is_list(self.kind(owner))
        )

    def _array_call(self, node: ast.Call, array: TensorArray) -> str:
        """A TensorArray takes its own dtype, at an index of int32."""
        texts = []
        for argument, dtype in zip(node.args, ("int32", array.dtype), strict=False):
            kind, text = self.kind(argument), self.text(argument)
            if is_weak(kind) and getattr(kind, "dtype", None) != dtype:
                text = self.promotion.cast(text, f"{self.tf}.{dtype}")
            texts.append(text)
        return f"{self.text(node.func)}({', '.join(texts)})"

    def _range(self, node: ast.Call) -> str | None:
        """`tf.range` of Python numbers counts in the dtype that it gives these."""
        dtype = getattr(self.kind(node), "dtype", None)
        if any(k.arg == "dtype" for k in node.keywords):
            return None
        if dtype is None or node.keywords:
            raise Refusal("the dtype of this range is not known", node)
        texts = [
            self.promotion.cast(self.text(a), f"{self.tf}.{dtype}")
            if is_weak(self.kind(a))
            else self.text(a)
            for a in node.args
        ]
        return f"{self.source.segment(node.func)}({', '.join(texts)})"

    def _array_arguments(self, node: ast.Call, function: Kind) -> str | None:
        """Arrays that are held in tensors, where TensorFlow would take arrays: they have to be of one dtype there."""
        name = function.name if isinstance(function, Function) else ""
        if not name.startswith("tensorflow."):
            return None
        if (
            name.removeprefix("tensorflow.") in BROADCASTING
            and len(node.args) == 2
            and not node.keywords
        ):
            first, second = map(self._operand, node.args)
            a, b = self.promotion.operands(first, second)
            if (a, b) == (first[0], second[0]) and not self.edits(node):
                return None
            return f"{self.source.segment(node.func)}({a}, {b})"
        arguments = [*node.args, *(k.value for k in node.keywords)]
        dtypes = {d for a in arguments for d in _dtypes(self.kind(a))}
        if name == "tensorflow.where":
            dtypes -= {"bool"}
        if len(dtypes) > 1 and name not in OF_ANY_DTYPES:
            raise Refusal(
                f"`{ast.unparse(node.func)}` takes arrays of several dtypes", node
            )
        return None

    def _integer_arguments(self, node: ast.Call) -> str | None:
        """Sizes or seeds in a list are of one dtype in a graph: that of the tensors among them, or int64."""
        edits = self.edits(node)
        for argument in (*node.args, *(k.value for k in node.keywords)):
            kind = self.kind(argument)
            if not isinstance(argument, ast.List | ast.Tuple) or not holds_tensor(kind):
                continue
            kinds = [self.kind(e) for e in argument.elts]
            if any(getattr(k, "weak", None) == "float" for k in kinds):
                raise Refusal("a list of floats that a tensor decides", argument)
            own = {getattr(k, "dtype", None) for k in kinds if is_strong(k)}
            (want,) = own if len(own) == 1 else ("int64",)
            inner = self.edits(argument)
            for element, held in zip(argument.elts, kinds, strict=True):
                if is_weak(held) and getattr(held, "dtype", None) != want:
                    text = self.text(element)
                    inner[element] = self.promotion.cast(text, f"{self.tf}.{want}")
            if inner:
                edits[argument] = self.source.spliced(argument, inner)
        return self.source.spliced(node, edits) if edits else None

    def _like_first(self, node: ast.Call) -> str:
        """Python numbers take the dtype of the tensor that they come with."""
        first, *rest = [*node.args, *(k.value for k in node.keywords)]
        want = Tensor(getattr(self.kind(first), "dtype", None), ())
        edits = {first: self.text(first)}
        for argument in rest:
            text = self.text(argument)
            if is_weak(self.kind(argument)):
                text = self.promotion.coerced(text, self.kind(argument), want, argument)
            edits[argument] = text
        return self.source.spliced(node, edits)

    def _converted_argument(self, node: ast.Call) -> str:
        """A Python number alone becomes a tensor of TensorFlow's default dtype."""
        (argument,) = node.args
        kind = self.kind(argument)
        dtype = DEFAULTS.get(getattr(kind, "weak", "") or "")
        if dtype is None:
            raise Refusal(f"`{ast.unparse(node.func)}` takes a Python value here", node)
        text = self.promotion.cast(self.text(argument), f"{self.tf}.{dtype}")
        return f"{self.source.segment(node.func)}({text})"

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


def _short_name(function: Kind) -> str:
    """The name of one of TensorFlow's functions, within it."""
    name = function.name if isinstance(function, Function) else ""
    return name.removeprefix("tensorflow.") if name.startswith("tensorflow.") else ""


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


def _leaves(node: ast.expr) -> Iterator[ast.expr]:
    """What a display, and those inside it, hold."""
    if isinstance(node, ast.List | ast.Tuple):
        for element in node.elts:
            yield from _leaves(element)
    else:
        yield node


def _holds_weak(kind: Kind) -> bool:
    if isinstance(kind, Sequence):
        return any(map(_holds_weak, kind.items))
    if isinstance(kind, Dict):
        return any(_holds_weak(value) for _, value in kind.items)
    if isinstance(kind, Elements) and kind.type in ("list", "tuple"):
        return _holds_weak(kind.element)
    return is_weak(kind) and not is_numpy(kind)


def _holds_numpy(kind: Kind) -> bool:
    if isinstance(kind, Sequence):
        return any(map(_holds_numpy, kind.items))
    return is_numpy(kind)


def _dtypes(kind: Kind) -> set[str | None]:
    """The dtypes of the tensors in a value."""
    if isinstance(kind, Sequence):
        return set[str | None]().union(*map(_dtypes, kind.items))
    return {getattr(kind, "dtype", None)} if is_tensor(kind) else set()


def is_atom(text: str) -> bool:
    """Whether a text stands as an operand without parentheses."""
    try:
        node = ast.parse(f"({text})", mode="eval").body
    except SyntaxError:
        return False
    return isinstance(
        node,
        ast.Name
        | ast.Constant
        | ast.Call
        | ast.Attribute
        | ast.Subscript
        | ast.List
        | ast.Dict,
    )


def as_operand(text: str, operator: ast.operator, is_right: bool = False) -> str:
    """A text as an operand, in parentheses where it needs them."""
    if is_atom(text) or (text.startswith("(") and _closes_at_end(text)):
        return text
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return f"({text})"
    level = LEVELS[type(node.op)] if isinstance(node, ast.BinOp) else 0
    least = LEVELS[type(operator)] + is_right
    return text if level >= least and not isinstance(operator, ast.Pow) else f"({text})"


def _closes_at_end(text: str) -> bool:
    depth = 0
    for i, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth == 0:
            return i == len(text) - 1
    return False
