"""Random programs do the same when they are lifted; `random_programs.py` as a script runs more of them."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest
from random_programs import BAD, DIFFERENT, LEFT, SAME, judged, written
from shrinking import shrunk
from timeouts import TooLong, Worker

pytestmark = pytest.mark.filterwarnings("ignore")

SEED = "suite"
COUNT = 25
EFFECTS = 10


@pytest.fixture(scope="module")
def words() -> Counter[str]:
    """What came of the programs."""
    return Counter()


@pytest.mark.parametrize("number", range(COUNT))
def test_same(number: int, tmp_path: Path, words: Counter[str]) -> None:
    verdict = judged(written(SEED, number), tmp_path, recorded=number % 3 > 0)
    words[verdict.word] += 1
    assert verdict.word not in (DIFFERENT, BAD), f"{verdict.reason}\n\n{verdict.lifted}"


@pytest.mark.parametrize("number", range(EFFECTS))
def test_same_with_effects(number: int, tmp_path: Path, words: Counter[str]) -> None:
    verdict = judged(written(SEED, number, effects=True), tmp_path)
    words[verdict.word] += 1
    assert verdict.word not in (DIFFERENT, BAD), f"{verdict.reason}\n\n{verdict.lifted}"


def test_most_are_lifted(words: Counter[str]) -> None:
    assert words[SAME] >= 3 * words[LEFT]


def test_programs_are_the_same_every_time() -> None:
    assert written(SEED, 3) == written(SEED, 3) != written(SEED, 4)


def test_what_takes_too_long_stops_no_other() -> None:
    worker = Worker()
    try:
        with pytest.raises(TooLong):
            worker.run(0.5, time.sleep, 600)
        assert worker.run(60, abs, -1) == 1
    finally:
        worker.end()


def test_shrinking_finds_the_heart() -> None:
    text = """
def f(x):
    if x:
        for i in range(3):
            x = a + (wanted * 2)
            b = 1
    else:
        c = 2
    return x
"""
    assert shrunk(text, lambda part: "wanted" in part) == "def f(x):\n    x = wanted\n"
