"""What attributes and methods of values give: tensors, Variables, arrays, containers, datasets, Keras objects.

Each function gives None where it does not know; an Outcome with an error where eager mode raises.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as Mapped
from collections.abc import Sequence as Sequenced

from . import tensorflow_data, tensorflow_names, tensorflow_random
from . import tensorflow_values as values
from .kinds import (
    BOOL,
    FLOAT,
    INT,
    NONE,
    SIZE,
    STR,
    UNKNOWN,
    Array,
    Dataset,
    Dict,
    Elements,
    Iterator,
    Kind,
    Mapping,
    Object,
    Python,
    Ragged,
    Scalar,
    Sequence,
    Shape,
    Shaped,
    Sparse,
    Tensor,
    TensorArray,
    Variable,
    forget,
    join,
    join_all,
)
from .operators import array_or_scalar, each
from .outcome import Outcome, Raises, Unsure, outcome
from .tensorflow_arguments import Arguments, bind
from .tensorflow_arrays import reshaped
from .tensorflow_math import reduced
from .tensorflow_values import inner, tensor

Args = tuple[Kind, ...]
Kwargs = dict[str, Kind]
Result = Kind | Outcome


def attribute(kind: Kind, name: str) -> Outcome | None:
    """What `value.name` gives; None for methods and for what isn't known."""
    return each(lambda one: _attribute(one[0], name), kind)


def method(
    kind: Kind, name: str, args: Sequenced[Kind], kwargs: Mapped[str, Kind]
) -> Outcome | None:
    """What `value.name(*args, **kwargs)` gives."""
    keys = tuple(kwargs)

    def one(kinds: tuple[Kind, ...]) -> Result:
        receiver, given = kinds[0], kinds[1 : len(args) + 1]
        named = dict(zip(keys, kinds[len(args) + 1 :], strict=True))
        return _method(receiver, name, given, named)

    return each(one, kind, *args, *kwargs.values())


def _method(kind: Kind, name: str, args: Args, kwargs: Kwargs) -> Result:
    for family, rule in RECEIVERS.items():
        if isinstance(kind, family):
            return rule(kind, name, args, kwargs)
    raise Unsure(f"{kind}.{name}()")


# ---- attributes


def _attribute(kind: Kind, name: str) -> Result:
    match kind:
        case Tensor(weak=None):
            return _tensor_attribute(kind, name)
        case Variable():
            return _variable_attribute(kind, name)
        case Array() | Scalar():
            return _array_attribute(kind, name)
        case Ragged() | Sparse():
            return _composite_attribute(kind, name)
        case TensorArray(dtype=dtype) if name == "dtype":
            return _dtype(dtype)
        case Sequence(type="shape") | Elements(type="shape"):
            return _shape_attribute(kind, name)
        case Python(type="dtype"):
            return _dtype_attribute(kind, name)
        case Object():
            return _object_attribute(kind, name)
    raise Unsure(f"{kind}.{name}")


def _dtype(name: str | None) -> Kind:
    return Python("dtype") if name is None else Python("dtype", name)


def _rank(shape: Shape) -> Kind:
    return INT if shape is None else Python("int", len(shape))


EAGER_ONLY_NAMES = ("op", "graph", "name", "value_index")
NUMPY_NAMES = frozenset(
    [
        "T",
        "astype",
        "ravel",
        "transpose",
        "reshape",
        "clip",
        "size",
        "tolist",
        "data",
        "item",
        "sum",
        "mean",
        "max",
        "min",
        "copy",
        "flatten",
        "itemsize",
        "nbytes",
    ]
)


def _tensor_attribute(kind: Tensor, name: str) -> Result:
    match name:
        case "shape":
            return values.dimensions(kind.shape)
        case "dtype":
            return _dtype(kind.dtype)
        case "ndim":
            return _rank(kind.shape)
        case "device" | "backing_device":
            return outcome(STR, "host")
    if name in EAGER_ONLY_NAMES or name in NUMPY_NAMES:
        raise Raises(f"a tensor has no {name} in eager mode")
    raise Unsure(name)


def _variable_attribute(kind: Variable, name: str) -> Result:
    match name:
        case "shape":
            return values.dimensions(kind.shape)
        case "dtype":
            return _dtype(kind.dtype)
        case "name" | "device":
            return STR
        case "trainable":
            return BOOL
    if name in ("op", "graph"):
        raise Raises(f"a Variable has no {name} in eager mode")
    raise Unsure(name)


def _array_attribute(kind: Array | Scalar, name: str) -> Result:
    shape = () if isinstance(kind, Scalar) else kind.shape
    match name:
        case "shape":
            if shape is None:
                return Elements("tuple", INT)
            return Sequence(
                "tuple", tuple(INT if n is None else Python("int", n) for n in shape)
            )
        case "dtype":
            return _dtype(kind.dtype)
        case "ndim":
            return _rank(shape)
        case "size":
            count = None if shape is None else values.product(shape)
            return INT if count is None else Python("int", count)
        case "T":
            return (
                kind
                if isinstance(kind, Scalar)
                else Array(kind.dtype, None if shape is None else shape[::-1])
            )
        case "nbytes" | "itemsize":
            return INT
    raise Unsure(name)


def _composite_attribute(kind: Shaped, name: str) -> Result:
    match name:
        case "shape":
            return _composite_shape(kind)
        case "dtype":
            return _dtype(kind.dtype)
    if isinstance(kind, Sparse):
        rank = None if kind.shape is None else len(kind.shape)
        parts = {
            "indices": Tensor("int64", (None, rank)),
            "values": Tensor(kind.dtype, (None,)),
            "dense_shape": Tensor("int64", (rank,)),
        }
        if name in parts:
            return parts[name]
    raise Unsure(name)


def _composite_shape(kind: Shaped) -> Kind:
    """The static shape: of ragged tensors, a dimension may be None in eager mode too."""
    if isinstance(kind, Ragged) and kind.shape is not None:
        return Sequence(
            "shape",
            tuple(UNKNOWN if n is None else Python("int", n) for n in kind.shape),
        )
    return values.dimensions(kind.shape)


def _shape_attribute(kind: Sequence | Elements, name: str) -> Result:
    if name in ("rank", "ndims"):
        return Python("int", len(kind.items)) if isinstance(kind, Sequence) else INT
    raise Unsure(name)


def _dtype_attribute(kind: Python, name: str) -> Result:
    dtype = values.dtype_of(kind)
    match name:
        case "name":
            return STR if dtype is None else Python("str", dtype)
        case "is_floating":
            return BOOL if dtype is None else Python("bool", dtype in values.FLOATS)
        case "is_integer":
            return BOOL if dtype is None else Python("bool", dtype in values.INTEGERS)
        case "is_complex":
            return BOOL if dtype is None else Python("bool", dtype in values.COMPLEXES)
        case "is_bool":
            return BOOL if dtype is None else Python("bool", dtype == "bool")
        case "base_dtype":
            return kind
        case "size":
            return INT
    raise Unsure(name)


def _object_attribute(kind: Object, name: str) -> Result:
    family = _family(kind)
    if family == "optimizer":
        if name in ("learning_rate", "lr"):
            return Variable("float32", ())
        if name == "iterations":
            return Variable("int64", ())
    if family in ("optimizer", "metric", "loss") and name == "name":
        return STR
    if family == "generator" and name == "state":
        return Variable("int64", None)
    raise Unsure(f"{kind}.{name}")


def _family(kind: Object) -> str:
    """optimizer, metric, loss, schedule, tape or generator; "" for other objects."""
    name = tensorflow_names.canonical(kind.name) or ""
    for prefix, family in FAMILIES.items():
        if name.startswith(prefix):
            return family
    return ""


FAMILIES = {
    "tensorflow.keras.optimizers.schedules.": "schedule",
    "tensorflow.keras.optimizers.": "optimizer",
    "tensorflow.keras.Optimizer": "optimizer",
    "tensorflow.keras.metrics.": "metric",
    "tensorflow.keras.Metric": "metric",
    "tensorflow.keras.losses.": "loss",
    "tensorflow.keras.Loss": "loss",
    "tensorflow.GradientTape": "tape",
    "tensorflow.random.Generator": "generator",
}

# ---- tensors and Variables


def _tensor_method(kind: Tensor, name: str, args: Args, kwargs: Kwargs) -> Result:
    if kind.weak:
        raise Unsure(f"{kind}.{name}()")
    match name:
        case "numpy":
            return outcome(_numpy(kind), "host")
        case "get_shape":
            return values.dimensions(kind.shape)
        case "set_shape":
            values.equal_shapes(kind.shape, values.shape_of(args[0]) if args else None)
            return outcome(NONE, "assert")
        case "ref":
            return Object("tensorflow.Reference")
        case "cpu" | "gpu":
            return kind
        case "eval" | "consumers":
            raise Raises(f"{name} of a tensor in eager mode")
    if name in NUMPY_NAMES:
        raise Raises(f"a tensor has no {name}")
    raise Unsure(name)


def _numpy(kind: Shaped) -> Kind:
    text = kind.dtype == "string"
    scalar: Kind = Python("bytes") if text else Scalar(kind.dtype)
    array = Array("object" if text else kind.dtype, kind.shape)
    if kind.dtype is None and not kind.shape:
        scalar = join(scalar, Python("bytes"))
    if kind.shape is None:
        return join(array, scalar)
    return array if kind.shape else scalar


ASSIGNS = ("assign", "assign_add", "assign_sub")
SCATTERS = (
    "scatter_nd_add",
    "scatter_nd_sub",
    "scatter_nd_update",
    "scatter_nd_max",
    "scatter_nd_min",
)
SPARSE_SCATTERS = (
    "scatter_add",
    "scatter_sub",
    "scatter_update",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
)


def _variable_method(kind: Variable, name: str, args: Args, kwargs: Kwargs) -> Result:
    if name in ASSIGNS:
        return _assigned(kind, name, _bound("tensorflow.Variable", name, args, kwargs))
    if name in SCATTERS or name in SPARSE_SCATTERS:
        return outcome(kind, "assign")
    match name:
        case "value" | "read_value":
            return Tensor(kind.dtype, kind.shape)
        case "numpy":
            return outcome(_numpy(kind), "host")
        case "get_shape":
            return values.dimensions(kind.shape)
        case "is_initialized":
            return Tensor("bool", ())
        case "ref":
            return Object("tensorflow.Reference")
    raise Unsure(name)


def _bound(owner: str, name: str, args: Args, kwargs: Kwargs) -> Arguments:
    return bind(f"{owner}.{name}", args, kwargs)


def _assigned(kind: Variable, name: str, a: Arguments) -> Result:
    x = tensor(a.at(0), kind.dtype)
    if kind.dtype is not None:
        values.accept(kind.dtype, values.EVERY if name == "assign" else values.NUMBERS)
    values.equal_shapes(kind.shape, x.shape)
    keeps = values.constant_bool(a["read_value"])
    if keeps is None:
        raise Unsure("read_value")
    return outcome(kind if keeps else NONE, "assign")


# ---- TensorArray


def _tensor_array_method(
    kind: TensorArray, name: str, args: Args, kwargs: Kwargs
) -> Result:
    a = _bound("tensorflow.TensorArray", name, args, kwargs)
    match name:
        case "write":
            return _written(kind, tensor(a["value"], kind.dtype).shape)
        case "unstack" | "scatter":
            x = tensor(a["value"], kind.dtype)
            if x.shape == ():
                raise Raises("a scalar unstacked")
            return _written(kind, x.shape[1:] if x.shape else None)
        case "read":
            return Tensor(kind.dtype, kind.shape)
        case "stack":
            return Tensor(
                kind.dtype, None if kind.shape is None else (None, *kind.shape)
            )
        case "gather":
            n = tensor(a["indices"]).shape
            rows = None if n is None else values.with_rank(n, 1)[0]
            return Tensor(
                kind.dtype, None if kind.shape is None else (rows, *kind.shape)
            )
        case "concat":
            if kind.shape == ():
                raise Raises("scalars concatenated")
            return Tensor(
                kind.dtype, None if kind.shape is None else (None, *kind.shape[1:])
            )
        case "size":
            return Tensor("int32", ())
        case "identity":
            return kind
    raise Unsure(name)


def _written(kind: TensorArray, shape: Shape) -> Outcome:
    values.equal_shapes(kind.shape, shape)
    return outcome(
        TensorArray(kind.dtype, shape if kind.shape is None else kind.shape), "write"
    )


# ---- datasets and iterators


def _dataset_method(kind: Dataset, name: str, args: Args, kwargs: Kwargs) -> Result:
    rule = tensorflow_data.DATASET.get(name)
    if rule is None:
        raise Unsure(name)
    return rule(kind.element, _bound("tensorflow.data.Dataset", name, args, kwargs))


def _iterator_method(kind: Iterator, name: str, args: Args, kwargs: Kwargs) -> Result:
    rule = tensorflow_data.ITERATOR.get(name)
    if rule is None:
        raise Unsure(name)
    return rule(kind.element, _bound("tensorflow.data.Iterator", name, args, kwargs))


# ---- objects of TensorFlow and Keras


def _object_method(kind: Object, name: str, args: Args, kwargs: Kwargs) -> Result:
    rules: dict[str, Callable[[str, Args, Kwargs], Result]] = {
        "tape": _tape_method,
        "generator": _generator_method,
        "optimizer": _optimizer_method,
        "metric": _metric_method,
    }
    rule = rules.get(_family(kind))
    if rule is None:
        raise Unsure(f"{kind}.{name}()")
    return rule(name, args, kwargs)


def _tape_method(name: str, args: Args, kwargs: Kwargs) -> Result:
    if name == "__enter__":
        return Object("tensorflow.GradientTape")
    a = _bound("tensorflow.GradientTape", name, args, kwargs)
    match name:
        case "watch":
            return NONE
        case "gradient":
            return _gradient(a["sources"])
        case "jacobian" | "batch_jacobian":
            return _jacobian(a.at(0), a.at(1), name == "batch_jacobian")
        case "stop_recording":
            return Object("tensorflow.GradientTape.stop_recording")
    raise Unsure(name)


def _gradient(source: Kind) -> Kind:
    """The gradients, in the structure of the sources; ints have none."""
    match source:
        case Sequence(type="tuple" | "list" as type, items=items):
            return Sequence(type, tuple(map(_gradient, items)))
        case Elements(type="tuple" | "list" as type, element=element):
            return Elements(type, _gradient(element))
        case Dict(items=pairs):
            return Dict(tuple((key, _gradient(value)) for key, value in pairs))
        case Tensor(weak=None) | Variable():
            if source.dtype in values.INTEGERS | values.BOOL | values.STRING:
                return NONE
            return Tensor(source.dtype, source.shape)
    raise Unsure(f"the gradient by {source}")


def _jacobian(target: Kind, source: Kind, batched: bool) -> Kind:
    if not isinstance(target, Tensor | Variable) or not isinstance(
        source, Tensor | Variable
    ):
        raise Unsure("a jacobian of several")
    if target.shape is None or source.shape is None:
        return Tensor(source.dtype)
    return Tensor(source.dtype, target.shape + source.shape[1 if batched else 0 :])


def _generator_method(name: str, args: Args, kwargs: Kwargs) -> Result:
    rule = tensorflow_random.METHODS.get(name)
    if rule is None:
        raise Unsure(name)
    return rule(_bound("tensorflow.random.Generator", name, args, kwargs))


def _optimizer_method(name: str, args: Args, kwargs: Kwargs) -> Result:
    match name:
        case "apply_gradients":
            return outcome(Variable("int64", ()), "assign")
        case "apply":
            return outcome(NONE, "assign")
        case "build":
            return outcome(NONE, "variable")
    raise Unsure(name)


def _metric_method(name: str, args: Args, kwargs: Kwargs) -> Result:
    match name:
        case "update_state":
            return outcome(NONE, "assign")
        case "reset_state" | "reset_states":
            return outcome(NONE, "assign")
    raise Unsure(name)


# ---- NumPy


def _array_method(
    kind: Array | Scalar, name: str, args: Args, kwargs: Kwargs
) -> Result:
    if any(isinstance(k, Tensor | Variable) for k in (*args, *kwargs.values())):
        raise Unsure("a tensor given to NumPy")
    shape = () if isinstance(kind, Scalar) else kind.shape
    if name in REDUCTIONS:
        return _array_reduced(kind.dtype, shape, name, args, kwargs)
    match name:
        case "item" if not args and not kwargs:
            return _item(kind.dtype)
        case "astype":
            wanted = args[0] if args else kwargs.get("dtype", UNKNOWN)
            dtype = _numpy_dtype(wanted)
            if dtype == "string":
                raise Unsure("an array of texts")
            return array_or_scalar(dtype, shape)
        case "reshape" if not kwargs:
            return Array(kind.dtype, _reshaped(shape, args))
        case "flatten" | "ravel":
            return Array(
                kind.dtype, (None if shape is None else values.product(shape),)
            )
        case "copy":
            return kind
        case "transpose" if not args and not kwargs:
            return array_or_scalar(kind.dtype, None if shape is None else shape[::-1])
        case "tolist" if shape is not None and len(shape) <= 1:
            item = _item(kind.dtype)
            return Elements("list", item) if shape else item
        case "sort" | "fill":
            return outcome(NONE, "mutates")
    raise Unsure(name)


REDUCTIONS = (
    "sum",
    "prod",
    "mean",
    "std",
    "var",
    "max",
    "min",
    "any",
    "all",
    "argmax",
    "argmin",
)


def _array_reduced(
    dtype: str | None, shape: Shape, name: str, args: Args, kwargs: Kwargs
) -> Kind:
    if len(args) > 1 or not set(kwargs) <= {"axis", "keepdims"}:
        raise Unsure(name)
    axis = args[0] if args else kwargs.get("axis", NONE)
    keep = values.constant_bool(kwargs.get("keepdims", NONE))
    result = _reduced_dtype(name, dtype)
    if axis == NONE and not keep:
        return Scalar(result)
    if shape == ():
        raise Unsure("an axis of a scalar")

    return array_or_scalar(result, reduced(shape, axis, keep))


def _reduced_dtype(name: str, dtype: str | None) -> str | None:
    if name in ("any", "all"):
        return "bool"
    if name in ("argmax", "argmin"):
        return "int64"
    if dtype is None:
        return None
    small = dtype == "bool" or dtype in values.INTEGERS
    if name in ("mean", "std", "var") and small:
        return "float64"
    if name in ("sum", "prod") and small:
        return "uint64" if dtype.startswith("uint") else "int64"
    return dtype


def _item(dtype: str | None) -> Kind:
    for family, kind in (
        (values.INTEGERS, INT),
        (values.FLOATS - {"bfloat16"}, FLOAT),
        (values.BOOL, BOOL),
    ):
        if dtype in family:
            return kind
    raise Unsure(f"an item of {dtype}")


def _numpy_dtype(kind: Kind) -> str | None:
    names = {
        "builtins.float": "float64",
        "float": "float64",
        "int": "int64",
        "bool": "bool",
    }
    name = getattr(kind, "name", None) or values.constant_str(kind) or ""
    return names.get(name) or values.dtype_of(kind)


def _reshaped(shape: Shape, args: Args) -> Shape:
    if len(args) == 1:
        return reshaped(shape, values.integers(args[0]))
    return reshaped(shape, tuple(map(values.constant_int, args)))


# ---- Python's containers and text

LIST_CHANGES = ("append", "extend", "insert", "remove", "clear", "sort", "reverse")


def _sequence_method(
    kind: Sequence | Elements, name: str, args: Args, kwargs: Kwargs
) -> Result:
    if kind.type == "list":
        if name in LIST_CHANGES:
            return outcome(NONE, "mutates")
        if name == "pop":
            return _popped(kind, args)
        if name == "copy":
            return kind
    if kind.type == "set" and name in ("add", "discard", "remove", "update", "clear"):
        return outcome(NONE, "mutates")
    if kind.type == "shape":
        return _shape_method(kind, name, args)
    if kind.type in ("list", "tuple") and name in ("index", "count"):
        if all(isinstance(k, Python) for k in (*inner(kind), *args)):
            return INT
    raise Unsure(name)


def _popped(kind: Sequence | Elements, args: Args) -> Outcome:
    if args and not isinstance(args[0], Python):
        raise Unsure("pop at a tensor")
    position = values.constant_int(args[0]) if args else -1
    if isinstance(kind, Sequence) and position is not None:
        if not -len(kind.items) <= position < len(kind.items):
            raise Raises(f"pop at {position} of {len(kind.items)}")
        return outcome(kind.items[position], "mutates")
    return outcome(join_all(map(forget, inner(kind))), "mutates")


def _shape_method(kind: Sequence | Elements, name: str, args: Args) -> Result:
    match name:
        case "as_list":
            return (
                Sequence("list", kind.items)
                if isinstance(kind, Sequence)
                else Elements("list", SIZE)
            )
        case "num_elements" if isinstance(kind, Sequence):
            count = values.product(map(values.constant_int, kind.items))
            return SIZE if count is None else Python("int", count)
        case "concatenate" if (
            isinstance(kind, Sequence) and args and isinstance(args[0], Sequence)
        ):
            return Sequence("shape", kind.items + args[0].items)
    raise Unsure(name)


DICT_CHANGES = ("update", "clear")


def _dict_method(kind: Dict | Mapping, name: str, args: Args, kwargs: Kwargs) -> Result:
    if name in DICT_CHANGES:
        return outcome(NONE, "mutates")
    match name:
        case "copy":
            return kind
        case "keys" | "values" | "items":
            return _view(kind, name)
        case "get" | "pop" | "setdefault" if args and isinstance(args[0], Python):
            found = _got(kind, name, args)
            return outcome(found, *([] if name == "get" else ["mutates"]))
        case "popitem":
            raise Unsure(name)
    raise Unsure(name)


def _view(kind: Dict | Mapping, name: str) -> Kind:
    if isinstance(kind, Mapping):
        members = {
            "keys": kind.key,
            "values": kind.value,
            "items": Sequence("tuple", (kind.key, kind.value)),
        }
        return Elements(f"dict_{name}", members[name])
    rows: dict[str, Args] = {
        "keys": tuple(Python("str", key) for key, _ in kind.items),
        "values": tuple(value for _, value in kind.items),
        "items": tuple(
            Sequence("tuple", (Python("str", key), value)) for key, value in kind.items
        ),
    }
    return Sequence(f"dict_{name}", rows[name])


def _got(kind: Dict | Mapping, name: str, args: Args) -> Kind:
    default = args[1] if len(args) > 1 else NONE
    if isinstance(kind, Mapping):
        return (
            kind.value if name == "pop" and len(args) < 2 else join(kind.value, default)
        )
    key = values.constant_str(args[0])
    if key is None:
        return join_all([*(forget(value) for _, value in kind.items), default])
    found = kind.get(key)
    if found is None and name == "pop" and len(args) < 2:
        raise Raises(f"no key {key!r}")
    return default if found is None else found


TEXT_RESULTS: dict[str, Kind] = {
    **dict.fromkeys(
        [
            "capitalize",
            "casefold",
            "center",
            "expandtabs",
            "format",
            "join",
            "ljust",
            "lower",
            "lstrip",
            "removeprefix",
            "removesuffix",
            "replace",
            "rjust",
            "rstrip",
            "strip",
            "swapcase",
            "title",
            "translate",
            "upper",
            "zfill",
        ],
        STR,
    ),
    **dict.fromkeys(["count", "find", "index", "rfind", "rindex"], INT),
    **dict.fromkeys(
        [
            "endswith",
            "isalnum",
            "isalpha",
            "isascii",
            "isdecimal",
            "isdigit",
            "isidentifier",
            "islower",
            "isnumeric",
            "isspace",
            "istitle",
            "isupper",
            "startswith",
        ],
        BOOL,
    ),
    **dict.fromkeys(["rsplit", "split", "splitlines"], Elements("list", STR)),
    **dict.fromkeys(["partition", "rpartition"], Sequence("tuple", (STR, STR, STR))),
    "encode": Python("bytes"),
}


def _python_method(kind: Python, name: str, args: Args, kwargs: Kwargs) -> Result:
    if not all(map(_is_host, (*args, *kwargs.values()))):
        raise Unsure(f"{name} of tensors")
    if kind.type == "str" and name in TEXT_RESULTS:
        return TEXT_RESULTS[name]
    if kind.type == "bytes" and name == "decode":
        return STR
    if kind.type == "float" and name == "is_integer":
        return BOOL
    if kind.type == "int" and name == "bit_length":
        return INT
    raise Unsure(f"{kind}.{name}()")


def _is_host(kind: Kind) -> bool:
    """Is it made of Python and NumPy values alone?"""
    if isinstance(kind, Sequence | Elements):
        return all(map(_is_host, inner(kind)))
    return isinstance(kind, Python | Scalar | Array)


RECEIVERS: dict[type, Callable[..., Result]] = {
    Tensor: _tensor_method,
    Variable: _variable_method,
    TensorArray: _tensor_array_method,
    Array: _array_method,
    Scalar: _array_method,
    Dataset: _dataset_method,
    Iterator: _iterator_method,
    Object: _object_method,
    Sequence: _sequence_method,
    Elements: _sequence_method,
    Dict: _dict_method,
    Mapping: _dict_method,
    Python: _python_method,
}
