"""What draws and clocks are said to give, against what Python and NumPy give."""

from __future__ import annotations

import random
import secrets
import time

import numpy as np
import pytest

from graphlift.transforms.facts import draws
from graphlift.transforms.facts.kinds import (
    INT,
    UNKNOWN,
    Array,
    Kind,
    Python,
    Scalar,
    Sequence,
    Tensor,
    python,
)

ARGUMENTS = {
    "uniform": (1, 2),
    "gauss": (0, 1),
    "normalvariate": (0, 1),
    "triangular": (0, 1),
    "betavariate": (1, 2),
    "expovariate": (2,),
    "gammavariate": (1, 2),
    "lognormvariate": (0, 1),
    "vonmisesvariate": (0, 1),
    "paretovariate": (2,),
    "weibullvariate": (1, 2),
    "randint": (0, 5),
    "randrange": (5,),
    "beta": (1, 2),
    "integers": (5,),
    "binomial": (4, 0.5),
    "geometric": (0.5,),
    "randbelow": (5,),
    "strftime": ("%Y",),
}
OWNERS = {
    "random": random,
    "numpy.random": np.random,
    "numpy.random._generator.Generator": np.random.default_rng(1),
    "numpy.random.mtrand.RandomState": np.random.RandomState(1),
    "time": time,
    "secrets": secrets,
}
NUMPY = [*draws.NUMPY_FLOATS, *draws.NUMPY_INTS]
CALLS = [
    *(("random", name, ()) for name in (*draws.PYTHON_FLOATS, *draws.PYTHON_INTS)),
    *((o, n, s) for o in OWNERS if "numpy" in o for n in NUMPY for s in ((), (2, 3))),
    *((*name.split("."), ()) for name in draws.CLOCKS),
]


def kind_of(value: object) -> Kind:
    if isinstance(value, np.ndarray):
        return Array(value.dtype.name, value.shape)
    if isinstance(value, np.generic):
        return Scalar(value.dtype.name)
    return Python(type(value).__name__)


@pytest.mark.parametrize(("owner", "name", "size"), sorted(CALLS))
def test_against_what_is_drawn(owner: str, name: str, size: tuple[int, ...]) -> None:
    function = getattr(OWNERS[owner], name, None)
    if function is None:
        pytest.skip(f"{owner} has no {name}")
    positional = (
        ARGUMENTS.get(name, ())
        if owner != "numpy.random" or name != "randint"
        else (5,)
    )
    if name == "uniform" and "numpy" in owner:
        positional = ()
    keywords = {"size": size} if size else {}
    kinds = {"size": Sequence("tuple", tuple(map(python, size)))} if size else {}
    found = draws.drawn(f"{owner}.{name}", list(map(python, positional)), kinds)
    assert found == kind_of(function(*positional, **keywords))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("random.uniform", (python(0.0), Tensor("float32", ()))),
        ("random.getrandbits", (python(64),)),
        ("random.choice", (Sequence("list", (python(1), python(0.5))),)),
        ("random.shuffle", (UNKNOWN,)),
        ("numpy.random.normal", (Array("float64", (2,)),)),
        ("numpy.random.uniform", (python(0), python(1), UNKNOWN)),
        ("numpy.random.choice", (Array("float64", (2,)),)),
        ("datetime.datetime.now", ()),
    ],
)
def test_not_told(name: str, arguments: tuple[Kind, ...]) -> None:
    assert draws.drawn(name, list(arguments), {}) == UNKNOWN


@pytest.mark.parametrize(
    ("name", "arguments", "kind"),
    [
        ("random.getrandbits", (python(8),), INT),
        ("random.choice", (Sequence("list", (python(1), python(2))),), INT),
        ("numpy.random.choice", (python(4),), INT),
        ("numpy.random.permutation", (python(4),), Array("int64", (4,))),
        ("numpy.random.rand", (python(2), python(3)), Array("float64", (2, 3))),
    ],
)
def test_by_its_arguments(name: str, arguments: tuple[Kind, ...], kind: Kind) -> None:
    assert draws.drawn(name, list(arguments), {}) == kind


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("random.random", "GL207"),
        ("numpy.random.rand", "GL207"),
        ("time.time", "GL208"),
        ("builtins.open", "GL208"),
        ("numpy.sum", None),
        ("randomness.draw", None),
    ],
)
def test_codes(name: str, code: str | None) -> None:
    assert draws.code(name) == code
