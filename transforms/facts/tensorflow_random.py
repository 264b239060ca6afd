"""What TensorFlow's random functions give. Stateless ones are pure; all others draw from a stream."""

from __future__ import annotations

from . import tensorflow_values as values
from .kinds import NONE, Elements, Kind, Object, Sequence, Shape, Tensor
from .outcome import Outcome, Raises, Unsure, outcome
from .tensorflow_arguments import Arguments, Rule
from .tensorflow_values import FLOATS, INTEGERS, accept, tensor

GENERATOR = "tensorflow.random.Generator"
ADVANCES = ("assign",)
"""A generator keeps its place in a Variable, and so draws the same numbers in a graph as in eager mode."""


def drawn(accepted: frozenset[str], *effects: str) -> Rule:
    """Numbers of the asked shape and dtype."""

    def rule(a: Arguments) -> Outcome:
        dtype = values.dtype_of(a["dtype"])
        accept(dtype, accepted)
        return outcome(Tensor(dtype, values.shape_of(a["shape"])), *effects)

    return rule


def uniform(*effects: str) -> Rule:
    """Uniform numbers; ints need a maxval."""
    draw = drawn(FLOATS | {"int32", "int64"}, *effects)

    def rule(a: Arguments) -> Kind | Outcome:
        dtype = values.dtype_of(a["dtype"])
        if dtype in INTEGERS and a["maxval"] == NONE:
            if a["minval"] == NONE and dtype in ("uint32", "uint64"):
                raise Unsure("full range")
            raise Raises("ints without maxval")
        return draw(a)

    return rule


def shuffled(a: Arguments) -> Outcome:
    return outcome(tensor(a["value"]), "random")


def shuffled_by_seed(a: Arguments) -> Kind:
    return tensor(a["value"])


def categorical(*effects: str) -> Rule:
    def rule(a: Arguments) -> Outcome:
        rows = values.with_rank(tensor(a["logits"]).shape, 2)[0]
        tensor(a["num_samples"], "int32")
        dtype = "int64" if a["dtype"] == NONE else values.dtype_of(a["dtype"])
        return outcome(
            Tensor(dtype, (rows, values.constant_int(a["num_samples"]))), *effects
        )

    return rule


def parametric(name: str, *effects: str) -> Rule:
    """Numbers of the asked shape for each value of a parameter; a stateless shape has both in it."""

    def rule(a: Arguments) -> Outcome:
        dtype = values.dtype_of(a["dtype"])
        shape = tensor(a[name], None if name == "lam" else dtype).shape
        if name == "alpha" and a["beta"] != NONE:
            shape = values.broadcast(shape, tensor(a["beta"], dtype).shape)
        wanted = values.shape_of(a["shape"])
        return outcome(
            Tensor(dtype, _joined(wanted, shape) if effects else wanted), *effects
        )

    return rule


def _joined(a: Shape, b: Shape) -> Shape:
    return None if a is None or b is None else a + b


def seeds(a: Arguments) -> Kind:
    return values.tensor(a["seed"])


def split(a: Arguments) -> Kind:
    x = tensor(a["seed"])
    return Tensor(x.dtype, (values.constant_int(a["num"]), 2))


def make_seeds(a: Arguments) -> Outcome:
    return outcome(Tensor("int64", (2, values.constant_int(a["count"]))), *ADVANCES)


def split_generator(a: Arguments) -> Outcome:
    count = values.constant_int(a["count"])
    one = Object(GENERATOR)
    many = (
        Elements("list", one)
        if count is None or count > 64
        else Sequence("list", (one,) * count)
    )
    return outcome(many, "random", "variable")


def generator(_: Arguments) -> Outcome:
    return outcome(Object(GENERATOR), "variable")


RULES: dict[str, Rule] = {
    "random.uniform": uniform("random"),
    "random.normal": drawn(FLOATS, "random"),
    "random.truncated_normal": drawn(FLOATS, "random"),
    "random.gamma": parametric("alpha", "random"),
    "random.poisson": parametric("lam", "random"),
    "random.categorical": categorical("random"),
    "random.shuffle": shuffled,
    "random.stateless_uniform": uniform(),
    "random.stateless_normal": drawn(FLOATS),
    "random.stateless_truncated_normal": drawn(FLOATS),
    "random.stateless_categorical": categorical(),
    "random.experimental.stateless_shuffle": shuffled_by_seed,
    "random.stateless_gamma": parametric("alpha"),
    "random.stateless_poisson": parametric("lam"),
    "random.fold_in": seeds,
    "random.split": split,
    "random.Generator": generator,
    "random.Generator.from_seed": generator,
    "random.Generator.from_non_deterministic_state": generator,
    "random.Generator.from_state": generator,
    "random.get_global_generator": generator,
}
METHODS: dict[str, Rule] = {
    "uniform": uniform(*ADVANCES),
    "normal": drawn(FLOATS, *ADVANCES),
    "truncated_normal": drawn(FLOATS, *ADVANCES),
    "uniform_full_int": drawn(INTEGERS, *ADVANCES),
    "make_seeds": make_seeds,
    "split": split_generator,
}
