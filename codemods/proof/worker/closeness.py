"""How far two arrays of one dtype and shape are apart, in units of what that dtype allows.

A graph is not the program that eager mode runs: TensorFlow reorders sums, folds constants and
fuses kernels. So floats may differ by |d| <= relative * |reference| + absolute * max |reference|.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

TOLERANCES = {
    "float64": (1e-12, 1e-14),
    "float32": (1e-5, 1e-6),
    "float16": (2e-3, 1e-3),
    "bfloat16": (2e-2, 1e-2),
    "complex128": (1e-12, 1e-14),
    "complex64": (1e-5, 1e-6),
}
NARROW = (2e-1, 1e-1)  # floats of eight bits or less
EXACT = float("inf")


@dataclass(frozen=True)
class Distance:
    """`excess`: up to 1 is the same, EXACT where it is no matter of rounding; `place`: where it is largest.

    `max_abs` and `max_rel`, by the largest of the reference, are of finite floats only.
    """

    excess: float
    place: tuple[int, ...] = ()
    max_abs: float = 0.0
    max_rel: float = 0.0


def distance(reference: Array, candidate: Array, dtype: str) -> Distance:
    """The distance of two arrays of one shape, whose dtype had that name."""
    if reference.dtype.kind not in "fc":
        unlike = reference != candidate
        return Distance(EXACT if unlike.any() else 0.0, _first(unlike))
    with np.errstate(all="ignore"):
        finite = np.isfinite(reference) & np.isfinite(candidate)
        nan = np.isnan(reference) & np.isnan(candidate)
        odd = ~finite & (reference != candidate) & ~nan
        if odd.any():
            return Distance(EXACT, _first(odd))
        wide = np.complex128 if reference.dtype.kind == "c" else np.float64
        one, other = reference.astype(wide), candidate.astype(wide)
        size = np.where(finite, np.abs(one), 0.0)
        apart = np.where(finite, np.abs(one - other), 0.0)
        relative, absolute = TOLERANCES.get(dtype, NARROW)
        allowed = relative * size + absolute * size.max(initial=0.0)
        excess = np.where(apart > 0, apart / allowed, 0.0)
    worst = excess.max(initial=0.0)
    furthest, largest = float(apart.max(initial=0.0)), float(size.max(initial=0.0))
    return Distance(
        float(worst),
        _first(excess == worst),
        furthest,
        furthest / largest if largest else 0.0,
    )


def _first(where: Array) -> tuple[int, ...]:
    places = np.argwhere(where)
    return tuple(int(i) for i in places[0]) if len(places) else ()
