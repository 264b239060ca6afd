"""What TensorFlow's and Keras's classes give when called, and functions with effects on the world outside."""

from __future__ import annotations

from collections.abc import Iterator

from . import tensorflow_names
from . import tensorflow_values as values
from .kinds import (
    BOOL,
    NONE,
    SIZE,
    UNKNOWN,
    Dict,
    Elements,
    Function,
    Kind,
    Mapping,
    Object,
    Python,
    Ragged,
    Sequence,
    Sparse,
    Tensor,
    TensorArray,
    Variable,
)
from .outcome import Outcome, Raises, Unsure, outcome
from .tensorflow_arguments import Arguments, Rule, named
from .tensorflow_values import tensor, words


def variable(a: Arguments) -> Outcome:
    """tf.Variable: of its initial value's kind, unless dtype or shape say more."""
    initial = a["initial_value"]
    if initial == NONE:
        raise Raises("a Variable without an initial value")
    dtype = None if a["dtype"] == NONE else values.dtype_of(a["dtype"])
    if isinstance(initial, Function) or initial == UNKNOWN:
        return outcome(Variable(dtype, None), "variable")
    x = tensor(initial, dtype)
    known = dtype if a["dtype"] != NONE else x.dtype
    shape = x.shape if a["shape"] == NONE else values.shape_of(a["shape"])
    return outcome(Variable(known, shape), "variable")


def tensor_array(a: Arguments) -> Kind:
    """tf.TensorArray; elements of unknown rank that may differ (infer_shape=False) are not followed."""
    shape = None if a["element_shape"] == NONE else values.shape_of(a["element_shape"])
    if values.constant_bool(a["infer_shape"]) is not True and shape is None:
        raise Unsure("a TensorArray of several shapes")
    return TensorArray(values.dtype_of(a["dtype"]), shape)


def tensor_shape(a: Arguments) -> Kind:
    """tf.TensorShape: a static shape."""
    dims = a["dims"]
    if dims == NONE:
        return Elements("shape", SIZE)
    if not isinstance(dims, Sequence) or any(
        k != SIZE and not isinstance(k, Python) for k in dims.items
    ):
        raise Unsure("a shape of tensors")
    return Sequence("shape", dims.items)


KERAS_ARGUMENTS = words(
    "activity_regularizer autocast batch_shape clipnorm clipvalue dtype "
    "ema_momentum ema_overwrite_frequency global_clipnorm "
    "gradient_accumulation_steps input_dim input_shape loss_scale_factor name "
    "trainable use_ema weight_decay"
)
"""What Keras's base classes take; others may be refused."""


def makes(name: str, *effects: str) -> Rule:
    """A class whose instances are known by its name alone."""

    def rule(a: Arguments) -> Outcome:
        if not KERAS_ARGUMENTS.issuperset(key for key, _ in a.extra):
            raise Unsure("arguments of a base class")
        return outcome(Object(name), *effects)

    return rule


def refused(reason: str) -> Rule:
    """A function that eager mode does not have."""

    def rule(_: Arguments) -> Outcome:
        raise Raises(reason)

    return rule


def flattened(a: Arguments) -> Kind:
    """tf.nest.flatten: the values in tuples, lists and dicts, dicts by sorted keys."""
    return Sequence("list", tuple(_leaves(a["structure"])))


def _leaves(kind: Kind) -> Iterator[Kind]:
    match kind:
        case Sequence(type="tuple" | "list", items=items):
            for item in items:
                yield from _leaves(item)
        case Dict(items=pairs):
            for _, value in sorted(pairs, key=lambda pair: pair[0]):
                yield from _leaves(value)
        case Elements() | Mapping() | Object() | Ragged() | Sparse():
            raise Unsure(f"{kind} flattened")
        case _:
            yield kind


def is_nested(a: Arguments) -> Kind:
    kind = a["seq"]
    if isinstance(kind, Sequence | Elements | Dict | Mapping):
        return values.TRUE
    if isinstance(kind, Tensor | Variable | Python):
        return values.FALSE
    raise Unsure("is_nested")


def gives(kind: Kind, *effects: str) -> Rule:
    """A function that always gives the kind, and has the effects."""

    def rule(_: Arguments) -> Outcome:
        return outcome(kind, *effects)

    return rule


PLAIN_CLASSES = (
    "GradientTape",
    "IndexedSlices",
    "Module",
    "RaggedTensorSpec",
    "SparseTensorSpec",
    "TensorSpec",
    "VariableSynchronization",
    "autodiff.ForwardAccumulator",
    "constant_initializer",
    "ones_initializer",
    "random_normal_initializer",
    "random_uniform_initializer",
    "zeros_initializer",
)
KERAS_WITH_STATE = ("layers", "metrics", "optimizers", "models")
STATELESS_LAYERS = words(
    "Activation Add Average AveragePooling1D AveragePooling2D AveragePooling3D Concatenate Cropping1D Cropping2D "
    "Cropping3D Dot ELU Flatten GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D "
    "GlobalMaxPool1D GlobalMaxPool2D GlobalMaxPool3D LeakyReLU MaxPool1D MaxPool2D MaxPool3D "
    "Maximum Minimum Multiply Permute ReLU RepeatVector Rescaling Reshape Softmax Subtract UpSampling1D "
    "UpSampling2D UpSampling3D ZeroPadding1D ZeroPadding2D ZeroPadding3D"
)
"""Layers of Keras that have no variables, so that one is as good as another."""
KERAS_PLAIN = (
    "losses",
    "initializers",
    "regularizers",
    "constraints",
    "callbacks",
)
KERAS_BASES = {
    "Layer": ("variable",),
    "Model": ("variable",),
    "Sequential": ("variable",),
    "Metric": ("variable",),
    "Optimizer": ("variable",),
    "Loss": (),
    "Initializer": (),
    "Regularizer": (),
}


def keras_class(name: str) -> Rule | None:
    """The rule for a Keras class; layers, metrics, optimizers and models have variables of their own."""
    if not tensorflow_names.is_class(f"tensorflow.{name}"):
        return None
    part, _, rest = name.removeprefix("keras.").partition(".")
    if not rest:
        effects = KERAS_BASES.get(part)
        return None if effects is None else makes(f"tensorflow.{name}", *effects)
    stateless = "schedules" in rest or (part == "layers" and rest in STATELESS_LAYERS)
    if part in KERAS_WITH_STATE and not stateless:
        return makes(f"tensorflow.{name}", "variable")
    return (
        makes(f"tensorflow.{name}")
        if part in (*KERAS_PLAIN, *KERAS_WITH_STATE)
        else None
    )


ASSERTIONS = (
    "Assert",
    "assert_equal",
    "assert_greater",
    "assert_less",
    "assert_rank",
    "debugging.assert_greater_equal",
    "debugging.assert_integer",
    "debugging.assert_less_equal",
    "debugging.assert_near",
    "debugging.assert_negative",
    "debugging.assert_non_negative",
    "debugging.assert_non_positive",
    "debugging.assert_none_equal",
    "debugging.assert_positive",
    "debugging.assert_rank_at_least",
    "debugging.assert_rank_in",
    "debugging.assert_scalar",
    "debugging.assert_shapes",
    "debugging.assert_type",
)
SETTINGS = (
    "config.experimental.set_memory_growth",
    "config.experimental_run_functions_eagerly",
    "config.run_functions_eagerly",
    "config.set_visible_devices",
    "config.threading.set_inter_op_parallelism_threads",
    "config.threading.set_intra_op_parallelism_threads",
    "keras.utils.clear_session",
    "debugging.enable_check_numerics",
    "debugging.disable_check_numerics",
)
SUMMARIES = ("scalar", "histogram", "image", "text", "audio", "write", "graph", "flush")

RULES: dict[str, Rule] = {
    "Variable": variable,
    "TensorArray": tensor_array,
    "TensorShape": tensor_shape,
    **{name: makes(f"tensorflow.{name}") for name in PLAIN_CLASSES},
    **dict.fromkeys(ASSERTIONS, gives(NONE, "assert")),
    **dict.fromkeys(SETTINGS, gives(NONE, "io")),
    **dict.fromkeys((f"summary.{name}" for name in SUMMARIES), gives(UNKNOWN, "io")),
    "summary.create_file_writer": gives(
        Object("tensorflow.summary.SummaryWriter"), "io"
    ),
    **named("random.set_seed keras.utils.set_random_seed", gives(NONE, "io", "random")),
    "print": gives(NONE, "stdout"),
    "timestamp": gives(Tensor("float64", ()), "io"),
    "executing_eagerly": gives(BOOL, "host"),
    "inside_function": gives(BOOL, "host"),
    "config.list_physical_devices": gives(
        Elements("list", Object("tensorflow.config.PhysicalDevice")), "io"
    ),
    "config.list_logical_devices": gives(
        Elements("list", Object("tensorflow.config.LogicalDevice")), "io"
    ),
    "config.functions_run_eagerly": gives(BOOL, "host"),
    "name_scope": makes("tensorflow.name_scope"),
    "device": makes("tensorflow.device"),
    "control_dependencies": makes("tensorflow.control_dependencies"),
    "init_scope": makes("tensorflow.init_scope"),
    "no_op": gives(NONE),
    "group": gives(NONE),
    "io.read_file": gives(Tensor("string", ()), "io"),
    "io.write_file": gives(NONE, "io"),
    "io.matching_files": gives(Tensor("string", (None,)), "io"),
    "io.gfile.exists": gives(BOOL, "io"),
    "io.gfile.isdir": gives(BOOL, "io"),
    "io.gfile.makedirs": gives(NONE, "io"),
    "io.gfile.mkdir": gives(NONE, "io"),
    "io.gfile.remove": gives(NONE, "io"),
    "io.gfile.rmtree": gives(NONE, "io"),
    "io.gfile.copy": gives(NONE, "io"),
    "io.gfile.rename": gives(NONE, "io"),
    "io.gfile.glob": gives(Elements("list", Python("str")), "io"),
    "io.gfile.listdir": gives(Elements("list", Python("str")), "io"),
    **dict.fromkeys(
        (
            "map_fn",
            "vectorized_map",
            "foldl",
            "foldr",
            "scan",
            "py_function",
            "numpy_function",
        ),
        gives(UNKNOWN, "callback"),
    ),
    **dict.fromkeys(
        (
            "cond",
            "case",
            "switch_case",
            "while_loop",
            "custom_gradient",
            "recompute_grad",
            "grad_pass_through",
        ),
        gives(UNKNOWN, "callback"),
    ),
    "lookup.StaticHashTable": makes("tensorflow.lookup.StaticHashTable", "variable"),
    "train.Checkpoint": makes("tensorflow.train.Checkpoint"),
    "train.CheckpointManager": makes("tensorflow.train.CheckpointManager", "io"),
    **named("saved_model.load saved_model.save", gives(UNKNOWN, "io")),
    **named("io.parse_example io.parse_single_example io.decode_csv", gives(UNKNOWN)),
    "autograph.experimental.set_loop_options": gives(NONE),
    "nest.map_structure": gives(UNKNOWN, "callback"),
    "nest.flatten": flattened,
    "nest.is_nested": is_nested,
    "nest.assert_same_structure": gives(NONE, "assert"),
    "gradients": refused("tf.gradients needs a graph"),
}
