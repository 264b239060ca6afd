"""What tf.data gives: datasets and their elements."""

from __future__ import annotations

from collections.abc import Callable

from . import tensorflow_values as values
from .kind_joins import join_all
from .kinds import (
    UNKNOWN,
    Array,
    Dataset,
    Dict,
    Iterator,
    Kind,
    Object,
    Scalar,
    Sequence,
    Tensor,
)
from .outcome import Outcome, Raises, Unsure, outcome
from .tensorflow_arguments import Arguments, Rule
from .tensorflow_values import tensor

COUNT = Tensor("int64", ())
LINE = Tensor("string", ())


def each_tensor(kind: Kind, change: Callable[[Tensor], Kind]) -> Kind:
    """The structure with each of its tensors changed: tuples and dicts are structure, the rest are tensors."""
    if isinstance(kind, Sequence) and kind.type == "tuple":
        return Sequence(
            "tuple", tuple(each_tensor(item, change) for item in kind.items)
        )
    if isinstance(kind, Dict):
        return Dict(
            tuple((key, each_tensor(value, change)) for key, value in kind.items)
        )
    if kind == UNKNOWN:
        return UNKNOWN
    return change(tensor(kind))


def _row(x: Tensor) -> Kind:
    if x.shape == ():
        raise Raises("slices of a scalar")
    return Tensor(x.dtype, x.shape[1:] if x.shape else None)


def _led_by(size: int | None) -> Callable[[Tensor], Kind]:
    return lambda x: Tensor(x.dtype, None if x.shape is None else (size, *x.shape))


def _open(x: Tensor) -> Kind:
    """Of the same rank, its sizes not known."""
    return Tensor(x.dtype, None if x.shape is None else (None,) * len(x.shape))


# ---- making


def from_tensors(a: Arguments) -> Kind:
    return Dataset(each_tensor(a["tensors"], lambda x: x))


def from_tensor_slices(a: Arguments) -> Kind:
    return Dataset(each_tensor(a["tensors"], _row))


def count_up(a: Arguments) -> Kind:
    dtype = dict(a.extra).get("output_type")
    return Dataset(Tensor(values.dtype_of(dtype) if dtype else "int64", ()))


def zipped(a: Arguments) -> Kind:
    sources: Kind = a["datasets"] if "datasets" in a else Sequence("tuple", a.rest)
    if (
        isinstance(sources, Sequence)
        and len(sources.items) == 1
        and "datasets" not in a
    ):
        sources = sources.items[0]
    return Dataset(_elements(sources))


def _elements(kind: Kind) -> Kind:
    match kind:
        case Dataset(element=element):
            return element
        case Sequence(type="tuple", items=items):
            return Sequence("tuple", tuple(map(_elements, items)))
        case Dict(items=pairs):
            return Dict(tuple((key, _elements(value)) for key, value in pairs))
    raise Unsure(f"{kind} zipped")


def chosen(*effects: str) -> Rule:
    """Of several datasets, the elements of one or another."""

    def rule(a: Arguments) -> Outcome:
        sources = a["datasets"]
        if not isinstance(sources, Sequence) or not all(
            isinstance(s, Dataset) for s in sources.items
        ):
            raise Unsure("datasets")
        return outcome(
            Dataset(
                join_all(s.element for s in sources.items if isinstance(s, Dataset))
            ),
            *effects,
        )

    return rule


def lines(_: Arguments) -> Outcome:
    return outcome(Dataset(LINE), "io")


def called(_: Arguments) -> Outcome:
    """A dataset made by Python functions: what they give is the caller's to know."""
    return outcome(Dataset(UNKNOWN), "callback")


RULES: dict[str, Rule] = {
    "data.Dataset.from_tensors": from_tensors,
    "data.Dataset.from_tensor_slices": from_tensor_slices,
    "data.Dataset.range": count_up,
    "data.Dataset.zip": zipped,
    "data.Dataset.from_generator": called,
    "data.Dataset.choose_from_datasets": chosen(),
    "data.Dataset.sample_from_datasets": chosen("random"),
    "data.Dataset.list_files": lines,
    "data.TextLineDataset": lines,
    "data.TFRecordDataset": lines,
}

# ---- methods

Method = Callable[[Kind, Arguments], "Kind | Outcome"]


def _same(element: Kind, _: Arguments) -> Kind:
    return Dataset(element)


def _shuffle(element: Kind, _: Arguments) -> Outcome:
    return outcome(Dataset(element), "random")


def _filter(element: Kind, _: Arguments) -> Outcome:
    return outcome(Dataset(element), "callback")


def _map(_: Kind, __: Arguments) -> Outcome:
    return outcome(Dataset(UNKNOWN), "callback")


def _batch_size(a: Arguments) -> int | None:
    """The size of every batch, where all are full."""
    tensor(a["batch_size"], "int64")
    full = values.constant_bool(a["drop_remainder"]) is True
    return values.constant_int(a["batch_size"]) if full else None


def _batch(element: Kind, a: Arguments) -> Kind:
    return Dataset(each_tensor(element, _led_by(_batch_size(a))))


def _padded_batch(element: Kind, a: Arguments) -> Kind:
    return Dataset(each_tensor(each_tensor(element, _open), _led_by(_batch_size(a))))


def _unbatch(element: Kind, _: Arguments) -> Kind:
    return Dataset(each_tensor(element, _row))


def _enumerate(element: Kind, _: Arguments) -> Kind:
    return Dataset(Sequence("tuple", (COUNT, element)))


def _concatenate(element: Kind, a: Arguments) -> Kind:
    other = a["dataset"]
    if not isinstance(other, Dataset):
        raise Unsure("concatenate")
    return Dataset(join_all((element, other.element)))


def _reduce(_: Kind, a: Arguments) -> Outcome:
    try:
        return outcome(each_tensor(a["initial_state"], lambda x: x), "callback")
    except Unsure:
        return outcome(UNKNOWN, "callback")


def _cardinality(_: Kind, __: Arguments) -> Kind:
    return COUNT


def _element(element: Kind, _: Arguments) -> Kind:
    return element


def _arrays(element: Kind, _: Arguments) -> Outcome:
    return outcome(Iterator(each_tensor(element, host)), "host")


def host(x: Tensor) -> Kind:
    """What .numpy() gives of a tensor."""
    if x.shape == ():
        return Scalar(x.dtype) if x.dtype != "string" else Object("builtins.bytes")
    return Array(None if x.dtype == "string" else x.dtype, x.shape)


DATASET: dict[str, Method] = {
    **dict.fromkeys(
        ("take", "skip", "repeat", "prefetch", "cache", "shard", "with_options"), _same
    ),
    "shuffle": _shuffle,
    **dict.fromkeys(("filter", "take_while", "rejection_resample"), _filter),
    **dict.fromkeys(
        ("map", "flat_map", "interleave", "apply", "scan", "group_by_window"), _map
    ),
    "batch": _batch,
    "padded_batch": _padded_batch,
    "unbatch": _unbatch,
    "enumerate": _enumerate,
    "concatenate": _concatenate,
    "reduce": _reduce,
    "cardinality": _cardinality,
    "get_single_element": _element,
    "as_numpy_iterator": _arrays,
}


def _advance(element: Kind, _: Arguments) -> Outcome:
    return outcome(element, "assert")


def _optional(_: Kind, __: Arguments) -> Outcome:
    return outcome(Object("tensorflow.experimental.Optional"), "mutates")


ITERATOR: dict[str, Method] = {"get_next": _advance, "get_next_as_optional": _optional}
