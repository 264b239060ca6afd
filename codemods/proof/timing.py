"""How much faster a lift is: paired rounds of original and lift, one right after the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from .processes import Worker

BUDGET = 0.5
PATIENCE = 8 * BUDGET
SHORTEST_ROUND = 0.01
FEWEST_ROUNDS, MOST_ROUNDS = 3, 25


@dataclass(frozen=True)
class Timing:
    """Medians of the time of a call, and of their ratios in paired rounds with the interquartile range."""

    eager_ms: float
    graph_ms: float
    speedup: float
    spread: float


def time_pair(
    original: Worker,
    lifted: Worker,
    made: tuple[Sequence[float], Sequence[float]],
    inputs: int,
) -> Timing:
    """Time two workers against each other, within BUDGET seconds for each once they are warm.

    `made`: the seconds of the calls that both have made already; where calls are so slow that
    the rounds would take longer than PATIENCE, the later ones of those are all there is. `inputs`: the number
    of calls in a pass. Raises Lost.
    """
    passes = [inputs * median(seconds[1:] or seconds) for seconds in made]
    if max(passes) * (FEWEST_ROUNDS + 1) > PATIENCE:
        later = [seconds[1:] or seconds for seconds in made]
        return _summary(list(zip(*later, strict=False)))
    passes = [inputs * _round(worker, 1) for worker in (original, lifted)]
    repeats = [max(1, int(SHORTEST_ROUND / max(seconds, 1e-6))) for seconds in passes]
    rounds = int(BUDGET / max(SHORTEST_ROUND, *passes))
    pairs = []
    for i in range(min(MOST_ROUNDS, max(FEWEST_ROUNDS, rounds))):
        if i % 2:
            graph, eager = _round(lifted, repeats[1]), _round(original, repeats[0])
        else:
            eager, graph = _round(original, repeats[0]), _round(lifted, repeats[1])
        pairs.append((eager, graph))
    return _summary(pairs)


def _round(worker: Worker, passes: int) -> float:
    seconds: float = worker.ask("round", passes=passes)["seconds"]
    return seconds


def _summary(pairs: Sequence[tuple[float, float]]) -> Timing:
    ratios = [eager / max(graph, 1e-9) for eager, graph in pairs]
    quarters = (
        quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else [0.0] * 3
    )
    return Timing(
        eager_ms=1e3 * median(eager for eager, _ in pairs),
        graph_ms=1e3 * median(graph for _, graph in pairs),
        speedup=median(ratios),
        spread=quarters[2] - quarters[0],
    )
