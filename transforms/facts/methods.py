"""What attributes and methods of values give: tensors, Variables, arrays, containers, datasets, Keras objects.

Each function gives None where it does not know; an Outcome with an error where eager mode raises.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as Mapped
from collections.abc import Sequence as Sequenced

from . import tensorflow_data, tensorflow_names, tensorflow_random
from . import tensorflow_values as values
from .kind_joins import join
from .kinds import (
    BOOL,
    NONE,
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
    Record,
    Scalar,
    Sequence,
    Shape,
    Shaped,
    Sparse,
    Tensor,
    TensorArray,
    Variable,
)
from .methods_numpy import array_attribute, array_method
from .methods_python import (
    dict_method,
    dtype_attribute,
    python_method,
    record_method,
    sequence_method,
    shape_attribute,
)
from .outcome import Outcome, Raises, Unsure, each, outcome
from .tensorflow_arguments import Arguments, bind
from .tensorflow_values import tensor, words

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
            return array_attribute(kind, name)
        case Ragged() | Sparse():
            return _composite_attribute(kind, name)
        case TensorArray(dtype=dtype) if name == "dtype":
            return values.dtype_kind(dtype)
        case Record() if (member := kind.get(name)) is not None:
            return member
        case Sequence(type="shape") | Elements(type="shape"):
            return shape_attribute(kind, name)
        case Python(type="dtype"):
            return dtype_attribute(kind, name)
        case Object():
            return _object_attribute(kind, name)
    raise Unsure(f"{kind}.{name}")


EAGER_ONLY_NAMES = ("op", "graph", "name", "value_index")
NUMPY_NAMES = words(
    "T astype ravel transpose reshape clip size tolist data item sum mean max min "
    "copy flatten itemsize nbytes"
)


def _tensor_attribute(kind: Tensor, name: str) -> Result:
    match name:
        case "shape":
            return values.dimensions(kind.shape)
        case "dtype":
            return values.dtype_kind(kind.dtype)
        case "ndim":
            return values.rank_kind(kind.shape)
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
            return values.dtype_kind(kind.dtype)
        case "name" | "device":
            return STR
        case "trainable":
            return BOOL
    if name in ("op", "graph"):
        raise Raises(f"a Variable has no {name} in eager mode")
    raise Unsure(name)


def _composite_attribute(kind: Shaped, name: str) -> Result:
    match name:
        case "shape":
            return _composite_shape(kind)
        case "dtype":
            return values.dtype_kind(kind.dtype)
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
            return outcome(Object("tensorflow.Reference"), "identity")
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
        "metric": lambda *given: _metric_method(kind, *given),
        "loss": _loss_method,
        "schedule": _schedule_method,
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
        case "watch" | "reset":
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
            return outcome(NONE, "assign")
    raise Unsure(name)


SCALAR_METRICS = words(
    "AUC Accuracy BinaryAccuracy BinaryCrossentropy CategoricalAccuracy CategoricalCrossentropy "
    "Mean MeanAbsoluteError MeanSquaredError Precision Recall RootMeanSquaredError "
    "SparseCategoricalAccuracy SparseCategoricalCrossentropy Sum"
)
"""Metrics whose result is one float."""


def _metric_method(kind: Object, name: str, args: Args, kwargs: Kwargs) -> Result:
    match name:
        case "update_state" | "reset_state":
            return outcome(NONE, "assign")
        case "result" if _is_scalar_metric(kind):
            return Tensor("float32", ())
        case "__call__" if _is_scalar_metric(kind):
            return outcome(Tensor("float32", ()), "assign")
    raise Unsure(name)


def _is_scalar_metric(kind: Object) -> bool:
    name = tensorflow_names.canonical(kind.name) or ""
    return name.removeprefix("tensorflow.keras.metrics.") in SCALAR_METRICS


def _loss_method(name: str, args: Args, kwargs: Kwargs) -> Result:
    """A loss object called: its reduction is not known, so neither is the shape."""
    if name == "__call__":
        return Tensor("float32")
    raise Unsure(name)


def _schedule_method(name: str, args: Args, kwargs: Kwargs) -> Result:
    if name == "__call__":
        return Tensor("float32", ())
    raise Unsure(name)


RECEIVERS: dict[type, Callable[..., Result]] = {
    Tensor: _tensor_method,
    Variable: _variable_method,
    TensorArray: _tensor_array_method,
    Array: array_method,
    Scalar: array_method,
    Dataset: _dataset_method,
    Iterator: _iterator_method,
    Object: _object_method,
    Record: record_method,
    Sequence: sequence_method,
    Elements: sequence_method,
    Dict: dict_method,
    Mapping: dict_method,
    Python: python_method,
}
