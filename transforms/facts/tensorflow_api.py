"""What TensorFlow's public functions, classes and constants give.

The rules are in the modules beside this one, by subject; each has a table RULES from a canonical name without
"tensorflow." to a function of the call's arguments. What has no rule is not known, and the caller must refuse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from . import (
    tensorflow_arrays,
    tensorflow_creation,
    tensorflow_data,
    tensorflow_images,
    tensorflow_linear,
    tensorflow_math,
    tensorflow_names,
    tensorflow_neural,
    tensorflow_objects,
    tensorflow_picking,
    tensorflow_random,
    tensorflow_text,
)
from .kinds import NONE, Kind, Module, Python, Type
from .outcome import Outcome, each
from .tensorflow_arguments import Rule, bind

RULES: dict[str, Rule] = (
    tensorflow_math.RULES
    | tensorflow_linear.RULES
    | tensorflow_creation.RULES
    | tensorflow_arrays.RULES
    | tensorflow_picking.RULES
    | tensorflow_neural.RULES
    | tensorflow_images.RULES
    | tensorflow_text.RULES
    | tensorflow_data.RULES
    | tensorflow_random.RULES
    | tensorflow_objects.RULES
)


def canonical(name: str) -> str | None:
    """The one name for all aliases: tensorflow.math.reduce_sum is tensorflow.reduce_sum; None for other names."""
    return tensorflow_names.canonical(name)


def constant(name: str) -> Kind | None:
    """The kind of a public name that is a dtype, a module, an exception, tf.newaxis or a constant; else None."""
    dtype = tensorflow_names.dtype(name)
    if dtype is not None:
        return Python("dtype", dtype)
    if name == "tensorflow.newaxis":
        return NONE
    if tensorflow_names.is_module(name):
        return Module(name)
    if name.startswith("tensorflow.errors.") and tensorflow_names.is_class(name):
        return Type(name)
    return tensorflow_names.constant(name)


def call(name: str, args: Sequence[Kind], kwargs: Mapping[str, Kind]) -> Outcome | None:
    """What calling the named function or class gives; None where that is not known."""
    full = canonical(name)
    rule = _rule(full.removeprefix("tensorflow.")) if full else None
    if full is None or rule is None:
        return None
    keys = tuple(kwargs)

    def one(kinds: tuple[Kind, ...]) -> Kind | Outcome:
        bound = bind(
            full, kinds[: len(args)], dict(zip(keys, kinds[len(args) :], strict=True))
        )
        return rule(bound)

    return each(one, *args, *kwargs.values())


def _rule(name: str) -> Rule | None:
    if name in RULES:
        return RULES[name]
    return tensorflow_objects.keras_class(name) if name.startswith("keras.") else None
