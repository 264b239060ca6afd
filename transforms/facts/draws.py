"""What Python's and NumPy's random functions, the clock and logs give."""

from __future__ import annotations

from collections.abc import Mapping

from .kind_joins import forget, join_all
from .kinds import (
    FLOAT,
    INT,
    NONE,
    STR,
    UNKNOWN,
    Array,
    Elements,
    Kind,
    Python,
    Scalar,
    Sequence,
    Shape,
)
from .staging import holds_size

RANDOM = ("random.", "numpy.random.", "secrets.", "uuid.")
CHANGING = ("time.", "datetime.", "os.", "pathlib.", "io.", "json.", "builtins.open")
"""Packages whose functions read what is outside the program."""
LOGS = ("logging.", "warnings.", "absl.logging.")
LOGGERS = frozenset({"logging.Logger", "logging.RootLogger", "logging.LoggerAdapter"})
MESSAGES = frozenset(
    {"debug", "info", "warning", "warn", "error", "critical", "exception", "log"}
)
GENERATORS = frozenset(
    {
        "random.Random",
        "random.SystemRandom",
        "numpy.random._generator.Generator",
        "numpy.random.mtrand.RandomState",
    }
)
"""Classes whose instances draw from a stream of their own."""
MOST_BITS = 62
"""Of an int that a tensor holds."""

PYTHON_FLOATS = frozenset(
    {
        "random",
        "uniform",
        "gauss",
        "normalvariate",
        "triangular",
        "betavariate",
        "expovariate",
        "gammavariate",
        "lognormvariate",
        "vonmisesvariate",
        "paretovariate",
        "weibullvariate",
    }
)
PYTHON_INTS = frozenset({"randint", "randrange"})
NUMPY_FLOATS = {
    "random": 0,
    "random_sample": 0,
    "standard_normal": 0,
    "standard_exponential": 0,
    "uniform": 2,
    "normal": 2,
    "laplace": 2,
    "logistic": 2,
    "gumbel": 2,
    "lognormal": 2,
    "beta": 2,
    "exponential": 1,
    "rayleigh": 1,
}
"""NumPy's draws of floats, with the place of their argument `size`."""
NUMPY_INTS = {"randint": 2, "integers": 2, "poisson": 1, "binomial": 2, "geometric": 1}
CLOCKS: dict[str, Kind] = {
    **dict.fromkeys(
        ("time.time", "time.perf_counter", "time.monotonic", "time.process_time"), FLOAT
    ),
    **dict.fromkeys(("time.time_ns", "time.perf_counter_ns", "time.monotonic_ns"), INT),
    "secrets.randbelow": INT,
    **dict.fromkeys(("secrets.token_hex", "time.ctime", "time.strftime"), STR),
}


def code(name: str) -> str | None:
    """The code of the rule that a function of another package falls under: it draws, logs, or reads what changes."""
    if name.startswith(RANDOM):
        return "GL207"
    if name.startswith(LOGS):
        return "GL202"
    return "GL208" if name.startswith(CHANGING) else None


def drawn(name: str, positional: list[Kind], keywords: Mapping[str, Kind]) -> Kind:
    """What a draw, the clock or a log gives; `name` is dotted, a generator's methods under its class."""
    owner, _, method = name.rpartition(".")
    if name.startswith(LOGS):
        return NONE if method in MESSAGES else UNKNOWN
    if name in CLOCKS:
        return CLOCKS[name]
    given = [*positional, *keywords.values()]
    if owner in ("random", "random.Random", "random.SystemRandom"):
        return _of_python(method, given)
    if name in ("secrets.randbits", "secrets.choice"):
        return _of_python({"randbits": "getrandbits"}.get(method, method), given)
    if owner.startswith("numpy.random"):
        return _of_numpy(method, positional, keywords)
    return UNKNOWN


def _of_python(method: str, given: list[Kind]) -> Kind:
    if method == "choice" and len(given) == 1:
        return _member(given[0])
    if not all(isinstance(kind, Python) or holds_size(kind) for kind in given):
        return UNKNOWN
    if method == "getrandbits":
        bits = getattr(given[0], "value", None) if given else None
        return INT if isinstance(bits, int) and bits <= MOST_BITS else UNKNOWN
    if method in PYTHON_FLOATS:
        return FLOAT
    return INT if method in PYTHON_INTS else UNKNOWN


def _member(kind: Kind) -> Kind:
    """One of the Python numbers or texts in a tuple or list."""
    if isinstance(kind, Elements):
        found = kind.element
    elif isinstance(kind, Sequence) and kind.type in ("tuple", "list"):
        found = join_all(map(forget, kind.items))
    else:
        return UNKNOWN
    return found if found in (INT, FLOAT, STR) else UNKNOWN


def _of_numpy(
    method: str, positional: list[Kind], keywords: Mapping[str, Kind]
) -> Kind:
    if method in ("rand", "randn"):
        shape = _shape(Sequence("tuple", tuple(positional)))
        return Array("float64", shape) if positional else FLOAT
    if "dtype" in keywords:
        return UNKNOWN
    if method == "permutation" and len(positional) == 1 and not keywords:
        return _permuted(positional[0])
    if method == "choice":
        return _chosen(positional, keywords)
    if method in NUMPY_FLOATS:
        return _sized(
            positional, keywords, NUMPY_FLOATS[method], Array("float64"), FLOAT
        )
    if method in NUMPY_INTS:
        single = Scalar("int64") if method == "integers" else INT
        return _sized(positional, keywords, NUMPY_INTS[method], Array("int64"), single)
    return UNKNOWN


def _permuted(kind: Kind) -> Kind:
    if isinstance(kind, Python) and kind.type == "int":
        return Array("int64", (kind.value if isinstance(kind.value, int) else None,))
    return kind if isinstance(kind, Array) and kind.shape else UNKNOWN


def _chosen(positional: list[Kind], keywords: Mapping[str, Kind]) -> Kind:
    """One or several of the numbers below one."""
    (kind, *rest) = positional or [UNKNOWN]
    if not (isinstance(kind, Python) and kind.type == "int") or len(rest) > 1:
        return UNKNOWN
    size = {n: k for n, k in keywords.items() if n == "size"}
    return _sized(rest, size, 0, Array("int64"), INT)


def _sized(
    positional: list[Kind],
    keywords: Mapping[str, Kind],
    place: int,
    several: Array,
    single: Kind,
) -> Kind:
    """Numbers of the asked size, of parameters that are Python numbers."""
    size = keywords.get("size", NONE)
    if len(positional) > place:
        size = positional[place]
    parameters = [*positional[:place], *(k for n, k in keywords.items() if n != "size")]
    if len(positional) > place + 1 or not all(
        isinstance(kind, Python) for kind in parameters
    ):
        return UNKNOWN
    if size == NONE:
        return single
    if isinstance(size, Python):
        size = Sequence("tuple", (size,))
    if isinstance(size, Sequence):
        return Array(several.dtype, _shape(size))
    return UNKNOWN


def _shape(size: Sequence) -> Shape:
    return tuple(
        kind.value if isinstance(kind, Python) and isinstance(kind.value, int) else None
        for kind in size.items
    )
