"""Paired rounds, on workers that only say how long they took."""

from typing import Any, cast

import pytest

from graphlift.codemods.proof.processes import Worker
from graphlift.codemods.proof.timing import MOST_ROUNDS, time_pair


class Clock:
    """A worker whose calls take turns through `seconds`."""

    def __init__(self, log: list[str], name: str, *seconds: float) -> None:
        self._log = log
        self._name = name
        self._seconds = seconds
        self._rounds = 0
        self.passes: list[int] = []

    def ask(self, do: str, passes: int) -> dict[str, Any]:
        assert do == "round"
        self._log.append(self._name)
        self.passes.append(passes)
        self._rounds += 1
        return {"seconds": self._seconds[self._rounds % len(self._seconds)]}


def workers(*clocks: Clock) -> tuple[Worker, ...]:
    return cast(tuple[Worker, ...], clocks)


def test_rounds_are_paired_and_change_order() -> None:
    log: list[str] = []
    original, lifted = Clock(log, "A", 4e-3), Clock(log, "B", 1e-3)
    timing = time_pair(*workers(original, lifted), ([1.0, 4e-3], [1.0, 1e-3]), 1)
    assert "".join(log[:8]) == "ABABBAAB"
    assert timing.speedup == pytest.approx(4)
    assert (timing.eager_ms, timing.graph_ms, timing.spread) == pytest.approx((4, 1, 0))
    assert (original.passes[1], lifted.passes[1]) == (2, 10)
    assert len(lifted.passes) == 1 + MOST_ROUNDS


def test_spread_is_of_the_ratios() -> None:
    original, lifted = Clock([], "A", 1e-2, 2e-2), Clock([], "B", 1e-2)
    timing = time_pair(*workers(original, lifted), ([1e-2] * 3, [1e-2] * 3), 1)
    assert timing.spread == pytest.approx(1)


def test_slow_calls_are_not_made_again() -> None:
    original, lifted = Clock([], "A"), Clock([], "B")
    timing = time_pair(
        *workers(original, lifted), ([9.0, 4.0, 6.0], [7.0, 2.0, 2.0]), 1
    )
    assert (timing.eager_ms, timing.graph_ms, timing.speedup) == pytest.approx(
        (5000, 2000, 2.5)
    )


def test_one_slow_call_is_all_there_is() -> None:
    timing = time_pair(*workers(Clock([], "A"), Clock([], "B")), ([9.0], [3.0]), 1)
    assert (timing.speedup, timing.spread) == pytest.approx((3, 0))
