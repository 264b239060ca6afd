"""What TensorFlow's products of matrices and its linear algebra give."""

from __future__ import annotations

from collections.abc import Callable

from . import operators_arithmetic
from . import tensorflow_values as values
from .kinds import NONE, Kind, Sequence, Shape, Tensor
from .outcome import Raises, Unsure
from .tensorflow_arguments import Arguments, Rule, named
from .tensorflow_math import reduced
from .tensorflow_values import (
    BOOL,
    COMPLEXES,
    EVERY,
    EXACT,
    FLOATS,
    INDICES,
    INEXACT,
    NUMBERS,
    REALS,
    SINGLE_OR_DOUBLE,
    STRING,
    accept,
    common,
    tensor,
)


def matmul(a: Arguments) -> Kind:
    a.only("a", "b", "transpose_a", "transpose_b", "adjoint_a", "adjoint_b")
    x, y = common((a["a"], a["b"]))
    dtype = values.same_dtype(x.dtype, y.dtype)
    accept(dtype, operators_arithmetic.TENSOR_OPERANDS["matmult"])
    left = _turned(x.shape, a["transpose_a"], a["adjoint_a"])
    right = _turned(y.shape, a["transpose_b"], a["adjoint_b"])
    return Tensor(dtype, operators_arithmetic.matmul_shape(left, right))


def _turned(shape: Shape, *flags: Kind) -> Shape:
    """The shape of a matrix that is transposed where one of the flags is set."""
    known = [values.constant_bool(flag) for flag in flags]
    if shape is None or None in known:
        return None
    if len(shape) < 2:
        raise Raises(f"a matrix of {len(shape)} dimensions")
    return (*shape[:-2], shape[-1], shape[-2]) if any(known) else shape


def matvec(a: Arguments) -> Kind:
    x, y = common((a["a"], a["b"]))
    dtype = values.same_dtype(x.dtype, y.dtype)
    accept(dtype, operators_arithmetic.TENSOR_OPERANDS["matmult"])
    if y.shape == ():
        raise Raises("a vector without dimensions")
    left = _turned(x.shape, a["transpose_a"], a["adjoint_a"])
    product = operators_arithmetic.matmul_shape(
        left, None if y.shape is None else (*y.shape, 1)
    )
    return Tensor(dtype, None if product is None else product[:-1])


def tensordot(a: Arguments) -> Kind:
    x, y = common((tensor(a["a"]), a["b"]))
    dtype = values.same_dtype(x.dtype, y.dtype)
    accept(dtype, operators_arithmetic.TENSOR_OPERANDS["matmult"])
    return Tensor(dtype, _tensordot_shape(x.shape, y.shape, a["axes"]))


def _tensordot_shape(x: Shape, y: Shape, axes: Kind) -> Shape:
    if x is None or y is None:
        return None
    n = values.constant_int(axes)
    if n is not None:
        if not 0 <= n <= min(len(x), len(y)):
            raise Raises(f"{n} axes")
        left, right = tuple(range(len(x) - n, len(x))), tuple(range(n))
    elif isinstance(axes, Sequence) and len(axes.items) == 2:
        pairs = [values.axes(side) for side in axes.items]
        if pairs[0] is None or pairs[1] is None or len(pairs[0]) != len(pairs[1]):
            raise Unsure("axes of tensordot")
        left = tuple(values.axis_in(n, len(x)) for n in pairs[0])
        right = tuple(values.axis_in(n, len(y)) for n in pairs[1])
    else:
        return None
    for i, j in zip(left, right, strict=True):
        values.equal_sizes(x[i], y[j])
    return tuple(s for i, s in enumerate(x) if i not in left) + tuple(
        s for j, s in enumerate(y) if j not in right
    )


def einsum(a: Arguments) -> Kind:
    equation = values.constant_str(a["equation"])
    operands = [tensor(kind) for kind in a.rest]
    if not operands:
        raise Unsure("einsum of a list")
    dtype = operands[0].dtype
    for other in operands[1:]:
        dtype = values.same_dtype(dtype, other.dtype)
    accept(dtype, operators_arithmetic.TENSOR_OPERANDS["matmult"])
    return Tensor(dtype, einsum_shape(equation, operands))


def einsum_shape(equation: str | None, operands: list[Tensor]) -> Shape:
    """The shape of a product by an equation that says what is kept; None where that is not known."""
    if equation is None or "..." in equation or "->" not in equation:
        return None
    inputs, output = equation.replace(" ", "").split("->")
    sizes: dict[str, int | None] = {}
    if len(inputs.split(",")) != len(operands):
        raise Raises("einsum with another number of operands")
    for labels, operand in zip(inputs.split(","), operands, strict=True):
        for label, size in zip(
            labels, values.with_rank(operand.shape, len(labels)), strict=True
        ):
            sizes[label] = values.equal_sizes(sizes.get(label), size)
    if not set(output) <= set(sizes):
        raise Raises("an output label without input")
    return tuple(sizes[label] for label in output)


def norm(a: Arguments) -> Kind:
    a.only("tensor", "axis", "keepdims")
    x = tensor(a["tensor"])
    accept(x.dtype, INEXACT)
    if isinstance(a["axis"], Sequence) and len(a["axis"].items) != 2:
        raise Raises("an axis, or two of them")
    return Tensor(
        x.dtype, reduced(x.shape, a["axis"], values.constant_bool(a["keepdims"]))
    )


# ---- matrices


def square(
    accepted: frozenset[str], result: Callable[[tuple[int | None, ...]], Shape]
) -> Rule:
    """A square matrix (or a stack of them) in, something of the shape that `result` makes of its shape out."""

    def squared(shape: tuple[int | None, ...]) -> Shape:
        size = values.equal_sizes(shape[-1], shape[-2])
        return result((*shape[:-2], size, size))

    return matrix(accepted, squared)


def matrix(
    accepted: frozenset[str], result: Callable[[tuple[int | None, ...]], Shape]
) -> Rule:
    """A matrix (or a stack of them) in, something of the shape that `result` makes of its shape out."""

    def rule(a: Arguments) -> Kind:
        x = tensor(a.at(0))
        accept(x.dtype, accepted)
        return Tensor(x.dtype, None if x.shape is None else result(_matrix(x.shape)))

    return rule


def _matrix(shape: Shape) -> tuple[int | None, ...]:
    """The shape of a matrix or a stack of them."""
    if shape is None:
        raise Unsure("a matrix of unknown rank")
    if len(shape) < 2:
        raise Raises(f"a matrix of {len(shape)} dimensions")
    return shape


def _flipped(shape: tuple[int | None, ...]) -> Shape:
    return (*shape[:-2], shape[-1], shape[-2])


def _smaller(shape: tuple[int | None, ...]) -> int | None:
    rows, columns = shape[-2:]
    return None if rows is None or columns is None else min(rows, columns)


def solve(a: Arguments) -> Kind:
    x, y = common((a.at(0), a.at(1)))
    dtype = values.same_dtype(x.dtype, y.dtype)
    accept(dtype, SINGLE_OR_DOUBLE | COMPLEXES)
    product = operators_arithmetic.matmul_shape(x.shape, y.shape)
    if x.shape is not None:
        values.equal_sizes(x.shape[-1], x.shape[-2])
    return Tensor(dtype, product)


def eigh(a: Arguments) -> Kind:
    x = square(SINGLE_OR_DOUBLE, lambda shape: shape)(a)
    assert isinstance(x, Tensor)
    eigenvalues = Tensor(x.dtype, x.shape[:-1] if x.shape else None)
    return Sequence("tuple", (eigenvalues, x))


def slogdet(a: Arguments) -> Kind:
    one = square(EXACT, lambda shape: shape[:-2])(a)
    assert isinstance(one, Tensor)
    return Sequence("tuple", (one, one))


def normalize(a: Arguments) -> Kind:
    """tf.linalg.normalize: the tensor over its norm, and the norm."""
    a.only("tensor", "axis")
    x = tensor(a["tensor"])
    accept(x.dtype, FLOATS)
    return Sequence("tuple", (x, Tensor(x.dtype, reduced(x.shape, a["axis"], True))))


def svd(a: Arguments) -> Kind:
    x = tensor(a["tensor"])
    accept(x.dtype, SINGLE_OR_DOUBLE)
    flags = [values.constant_bool(a[name]) for name in ("full_matrices", "compute_uv")]
    if flags[0] is not False or flags[1] is None:
        raise Unsure("svd")
    shape = _matrix(x.shape)
    *stack, rows, columns = shape
    k = _smaller(shape)
    s = Tensor(x.dtype, (*stack, k))
    if not flags[1]:
        return s
    return Sequence(
        "tuple",
        (s, Tensor(x.dtype, (*stack, rows, k)), Tensor(x.dtype, (*stack, columns, k))),
    )


def qr(a: Arguments) -> Kind:
    x = tensor(a["input"])
    accept(x.dtype, SINGLE_OR_DOUBLE | {"float16"})
    if values.constant_bool(a["full_matrices"]) is not False:
        raise Unsure("qr")
    shape = _matrix(x.shape)
    *stack, rows, columns = shape
    k = _smaller(shape)
    return Sequence(
        "tuple",
        (Tensor(x.dtype, (*stack, rows, k)), Tensor(x.dtype, (*stack, k, columns))),
    )


def _diagonal(kind: Kind) -> Tensor:
    x = tensor(kind)
    accept(x.dtype, NUMBERS | BOOL)
    if x.dtype == "bool" and not values.is_strong(kind):
        raise Unsure("a diagonal of Python bools")
    return x


def diag(a: Arguments) -> Kind:
    a.only("diagonal")
    x = _diagonal(a["diagonal"])
    if x.shape == ():
        raise Raises("the diagonal of a scalar")
    return Tensor(x.dtype, None if x.shape is None else (*x.shape, x.shape[-1]))


def diag_part(a: Arguments) -> Kind:
    a.only("input")
    x = _diagonal(a["input"])
    if x.shape is None:
        return Tensor(x.dtype)
    if len(x.shape) < 2:
        raise Raises("the diagonal of a vector")
    return Tensor(x.dtype, (*x.shape[:-2], _smaller(x.shape)))


def tensor_diag(a: Arguments) -> Kind:
    x = tensor(a["diagonal"])
    accept(x.dtype, (INEXACT | INDICES) - {"bfloat16"})
    if x.shape == ():
        raise Raises("the diagonal of a scalar")
    return Tensor(x.dtype, None if x.shape is None else x.shape + x.shape)


def tensor_diag_part(a: Arguments) -> Kind:
    x = tensor(a["input"])
    accept(x.dtype, (INEXACT | INDICES) - {"bfloat16"})
    if x.shape is None:
        return Tensor(x.dtype)
    half, odd = divmod(len(x.shape), 2)
    if odd:
        raise Raises("the diagonal of an odd number of dimensions")
    return Tensor(x.dtype, values.equal_shapes(x.shape[:half], x.shape[half:]))


def set_diag(a: Arguments) -> Kind:
    a.only("input", "diagonal")
    x = tensor(a["input"])
    diagonal = tensor(a["diagonal"], x.dtype)
    values.same_dtype(x.dtype, diagonal.dtype)
    if x.shape is not None:
        shape = _matrix(x.shape)
        values.equal_shapes(diagonal.shape, (*shape[:-2], _smaller(shape)))
    return x


def cross(a: Arguments) -> Kind:
    x, y = common((a["a"], a["b"]))
    dtype = values.same_dtype(x.dtype, y.dtype)
    accept(dtype, REALS)
    shape = values.equal_shapes(x.shape, y.shape)
    if shape == ():
        raise Raises("a cross product of scalars")
    if shape:
        values.equal_sizes(shape[-1], 3)
    return Tensor(dtype, shape)


def eye(a: Arguments) -> Kind:
    for name in ("num_rows", "num_columns"):
        if a[name] != NONE:
            size = tensor(a[name])
            values.with_rank(size.shape, 0)
            if size.dtype not in (None, "int32", "int64"):
                raise Unsure("a size that is no int")
    rows = values.constant_int(a["num_rows"])
    columns = (
        rows if a["num_columns"] == NONE else values.constant_int(a["num_columns"])
    )
    stack: Shape = () if a["batch_shape"] == NONE else values.shape_of(a["batch_shape"])
    shape = None if stack is None else (*stack, rows, columns)
    return Tensor(values.dtype_of(a["dtype"]), shape)


RULES: dict[str, Rule] = {
    "norm": norm,
    "matmul": matmul,
    "linalg.matvec": matvec,
    "tensordot": tensordot,
    "einsum": einsum,
    **named("linalg.inv linalg.cholesky", square(EXACT, lambda shape: shape)),
    "linalg.expm": square(INEXACT, lambda shape: shape),
    "linalg.det": square(EXACT, lambda shape: shape[:-2]),
    "linalg.logdet": square(FLOATS, lambda shape: shape[:-2]),
    "linalg.pinv": matrix(SINGLE_OR_DOUBLE, _flipped),
    "linalg.trace": matrix(NUMBERS, lambda shape: shape[:-2]),
    **named("linalg.matrix_transpose linalg.adjoint", matrix(EVERY, _flipped)),
    "linalg.band_part": matrix(EVERY - STRING, lambda shape: shape),
    **named("linalg.solve linalg.triangular_solve", solve),
    "linalg.eigh": eigh,
    "linalg.eigvalsh": square(SINGLE_OR_DOUBLE, lambda shape: shape[:-1]),
    "linalg.slogdet": slogdet,
    "linalg.normalize": normalize,
    "linalg.cholesky_solve": solve,
    "linalg.svd": svd,
    "linalg.qr": qr,
    "linalg.diag": diag,
    "linalg.diag_part": diag_part,
    "linalg.tensor_diag": tensor_diag,
    "linalg.tensor_diag_part": tensor_diag_part,
    "linalg.set_diag": set_diag,
    "linalg.cross": cross,
    "eye": eye,
}
