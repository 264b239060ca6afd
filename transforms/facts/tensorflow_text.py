"""What tf.strings, tf.io, tf.signal, ragged and sparse tensors give."""

from __future__ import annotations

from . import tensorflow_values as values
from .kinds import NONE, Elements, Kind, Ragged, Sequence, Shape, Sparse, Tensor
from .outcome import Raises, Unsure
from .tensorflow_arguments import Arguments, Rule, named
from .tensorflow_arrays import members_of, one_dtype
from .tensorflow_math import reduced
from .tensorflow_values import (
    COMPLEX_DTYPES,
    COMPLEXES,
    EVERY,
    NUMBERS,
    REAL_DTYPES,
    STRING,
    accept,
    inner,
    tensor,
)

TEXT = Tensor("string", ())

# ---- strings


def text(result: str = "string") -> Rule:
    """A string tensor in, one of its shape out."""

    def rule(a: Arguments) -> Kind:
        x = tensor(a.at(0))
        accept(x.dtype, STRING)
        return Tensor(result, x.shape)

    return rule


def as_string(a: Arguments) -> Kind:
    x = tensor(a["input"])
    accept(x.dtype, EVERY)
    return Tensor("string", x.shape)


def to_number(a: Arguments) -> Kind:
    x = tensor(a["input"])
    accept(x.dtype, STRING)
    return Tensor(values.dtype_of(a["out_type"]), x.shape)


def join(a: Arguments) -> Kind:
    """tf.strings.join: strings of one shape, or scalars among them."""
    tensors, _ = members_of(a["inputs"])
    accept(one_dtype(tensors), STRING)
    shape: Shape = ()
    for one in tensors:
        shape = (
            one.shape
            if shape == ()
            else shape
            if one.shape == ()
            else values.equal_shapes(shape, one.shape)
        )
    return Tensor("string", shape)


def reduce_join(a: Arguments) -> Kind:
    x = tensor(a["inputs"])
    accept(x.dtype, STRING)
    return Tensor(
        "string", reduced(x.shape, a["axis"], values.constant_bool(a["keepdims"]))
    )


def pieces(dtype: str) -> Rule:
    """What texts are taken apart into, as many as each one has."""

    def rule(a: Arguments) -> Kind:
        x = tensor(a["input"])
        accept(x.dtype, STRING)
        if x.shape is None:
            raise Unsure("texts of unknown rank, taken apart")
        form = Ragged if x.shape else Tensor
        return form(dtype, (*x.shape, None))

    return rule


def unicode_script(a: Arguments) -> Kind:
    x = tensor(a["input"])
    accept(x.dtype, frozenset({"int32"}))
    return x


def formatted(_: Arguments) -> Kind:
    return TEXT


# ---- io


def decode_raw(a: Arguments) -> Kind:
    x = tensor(a["input_bytes"])
    accept(x.dtype, STRING)
    return Tensor(
        values.dtype_of(a["out_type"]), None if x.shape is None else (*x.shape, None)
    )


def decode_image(a: Arguments) -> Kind:
    accept(tensor(a["contents"]).dtype, STRING)
    dtype = values.dtype_of(a["dtype"]) if "dtype" in a.parameters else "uint8"
    if "expand_animations" in a.parameters:
        flat = values.constant_bool(a["expand_animations"]) is False
        return Tensor(dtype, (None, None, _channels(a)) if flat else None)
    return Tensor(dtype, (None, None, _channels(a)))


def _channels(a: Arguments) -> int | None:
    given = a["channels"]
    return None if given == NONE else values.constant_int(given) or None


def encode_image(a: Arguments) -> Kind:
    x = tensor(a["image"])
    accept(x.dtype, frozenset({"uint8", "uint16"}))
    return Tensor("string", None if x.shape is None else x.shape[:-3])


def parse_tensor(a: Arguments) -> Kind:
    accept(tensor(a["serialized"]).dtype, STRING)
    return Tensor(values.dtype_of(a["out_type"]))


def serialize_tensor(a: Arguments) -> Kind:
    tensor(a["tensor"])
    return TEXT


# ---- signal


def fft(rank: int) -> Rule:
    """A transform of the last dimensions."""

    def rule(a: Arguments) -> Kind:
        x = tensor(a["input"])
        accept(x.dtype, COMPLEXES)
        if x.shape is not None and len(x.shape) < rank:
            raise Raises(f"a transform of {len(x.shape)} dimensions")
        return x

    return rule


def _vector(shape: Shape) -> None:
    if shape == ():
        raise Raises("the spectrum of a scalar")


def rfft(a: Arguments) -> Kind:
    x = tensor(a["input_tensor"])
    accept(x.dtype, frozenset(COMPLEX_DTYPES))
    _vector(x.shape)
    if a["fft_length"] != NONE or not x.shape:
        return Tensor(
            COMPLEX_DTYPES.get(x.dtype or ""),
            None if x.shape is None else (*x.shape[:-1], None),
        )
    size = x.shape[-1]
    return Tensor(
        COMPLEX_DTYPES.get(x.dtype or ""),
        (*x.shape[:-1], None if size is None else size // 2 + 1),
    )


def irfft(a: Arguments) -> Kind:
    x = tensor(a["input_tensor"])
    accept(x.dtype, COMPLEXES)
    _vector(x.shape)
    return Tensor(
        REAL_DTYPES.get(x.dtype or ""),
        None if x.shape is None else (*x.shape[:-1], None),
    )


def same(a: Arguments) -> Kind:
    """tf.signal.fftshift and its inverse."""
    x = tensor(a["x"])
    _vector(x.shape)
    return x


def window(a: Arguments) -> Kind:
    return Tensor(
        values.dtype_of(a["dtype"]), (values.constant_int(a["window_length"]),)
    )


# ---- ragged


def ragged_constant(a: Arguments) -> Kind:
    """tf.ragged.constant of a list of lists of Python numbers."""
    a.only("pylist", "dtype")
    rows = a["pylist"]
    dtype = None if a["dtype"] == NONE else values.dtype_of(a["dtype"])
    if not isinstance(rows, Sequence) or not all(
        isinstance(row, Sequence | Elements) for row in rows.items
    ):
        raise Unsure("a ragged constant")
    leaves = [
        leaf
        for row in rows.items
        if isinstance(row, Sequence | Elements)
        for leaf in inner(row)
    ]
    if not leaves or any(values.as_python(leaf) is None for leaf in leaves):
        raise Unsure("a ragged constant of more levels")
    return Ragged(
        dtype or tensor(Sequence("list", tuple(leaves))).dtype, (len(rows.items), None)
    )


def ragged_of_rows(a: Arguments) -> Kind:
    """tf.RaggedTensor.from_row_lengths and its like."""
    x, rows = tensor(a["values"]), tensor(a.at(1))
    accept(rows.dtype, frozenset({"int32", "int64"}))
    count = values.with_rank(rows.shape, 1)[0]
    by_rows = a.parameters[1] in ("row_lengths", "row_starts", "row_limits")
    if x.shape is None:
        return Ragged(x.dtype)
    return Ragged(x.dtype, (count if by_rows else None, None, *x.shape[1:]))


def ragged_stack(a: Arguments) -> Kind:
    a.only("values")
    tensors, count = members_of(a["values"])
    dtype = one_dtype(tensors)
    if not all(one.shape is not None and len(one.shape) == 1 for one in tensors):
        raise Unsure("a ragged stack")
    return Ragged(dtype, (count, None))


# ---- sparse


def sparse_tensor(a: Arguments) -> Kind:
    x = tensor(a["values"])
    return Sparse(x.dtype, values.shape_of(a["dense_shape"]))


def from_dense(a: Arguments) -> Kind:
    x = tensor(a["tensor"])
    if x.shape == ():
        raise Raises("a sparse scalar")
    return Sparse(x.dtype, x.shape)


def to_dense(a: Arguments) -> Kind:
    x = _sparse(a["sp_input"])
    return Tensor(x.dtype, x.shape)


def _sparse(kind: Kind) -> Sparse:
    if not isinstance(kind, Sparse):
        raise Unsure(f"{kind} for a sparse tensor")
    return kind


def reordered(a: Arguments) -> Kind:
    return _sparse(a["sp_input"])


def sparse_dense_matmul(a: Arguments) -> Kind:
    a.only("sp_a", "b")
    left = _sparse(a["sp_a"])
    right = tensor(a["b"], left.dtype)
    accept(left.dtype, NUMBERS)
    rows, inner = values.with_rank(left.shape, 2)
    height, columns = values.with_rank(right.shape, 2)
    values.equal_sizes(inner, height)
    return Tensor(left.dtype, (rows, columns))


RULES: dict[str, Rule] = {
    "as_string": as_string,
    **named(
        "strings.lower strings.upper strings.strip strings.regex_replace strings.substr",
        text(),
    ),
    "strings.length": text("int32"),
    "strings.regex_full_match": text("bool"),
    **named(
        "strings.to_hash_bucket strings.to_hash_bucket_fast strings.to_hash_bucket_strong",
        text("int64"),
    ),
    "strings.to_number": to_number,
    "strings.join": join,
    "strings.reduce_join": reduce_join,
    **named(
        "strings.split strings.bytes_split strings.unicode_split", pieces("string")
    ),
    "strings.unicode_decode": pieces("int32"),
    "strings.unicode_script": unicode_script,
    "strings.format": formatted,
    "io.decode_raw": decode_raw,
    **named("image.decode_image image.decode_png image.decode_jpeg", decode_image),
    **named("image.encode_png image.encode_jpeg", encode_image),
    "io.parse_tensor": parse_tensor,
    "io.serialize_tensor": serialize_tensor,
    **named("io.encode_base64 io.decode_base64", text()),
    **named("signal.fft signal.ifft", fft(1)),
    **named("signal.fft2d signal.ifft2d", fft(2)),
    **named("signal.fftshift signal.ifftshift", same),
    "signal.rfft": rfft,
    "signal.irfft": irfft,
    **named("signal.hann_window signal.hamming_window", window),
    "ragged.constant": ragged_constant,
    "ragged.stack": ragged_stack,
    **named(
        "RaggedTensor.from_row_lengths RaggedTensor.from_row_splits "
        "RaggedTensor.from_row_starts RaggedTensor.from_row_limits",
        ragged_of_rows,
    ),
    "SparseTensor": sparse_tensor,
    "sparse.from_dense": from_dense,
    "sparse.to_dense": to_dense,
    "sparse.reorder": reordered,
    "sparse.sparse_dense_matmul": sparse_dense_matmul,
}
