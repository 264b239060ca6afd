"""The verdict on two runs: whether they are the same, and if not, whose doing it is."""

from .processes import Lost
from .results import Status
from .runs import Bench, Found, NotLoaded, Seen
from .targets import Target

DRIFT = 100.0  # how much of the tolerance rounding may use up that the graph optimizer alone causes


def judge(
    bench: Bench, target: Target, reference: Seen, candidate: Seen, found: Found
) -> tuple[Status, str]:
    """The status of a lift that ran, and the reason."""
    if not found.differences:
        return ("same", "") if candidate.traces else ("eager", "no graph was traced")
    try:
        return _second_opinion(bench, target, reference, candidate, found)
    except (Lost, NotLoaded) as error:
        return _status(found), f"{_first(found)} (run once more, it {error})"


def _second_opinion(
    bench: Bench, target: Target, reference: Seen, candidate: Seen, found: Found
) -> tuple[Status, str]:
    """Run again, in other ways: as it is, without tf.function, without the graph optimizer."""
    calls = len(reference.raised)
    again = bench.observe_again("original", target, calls)
    if unsteady := bench.compare(reference, again).differences:
        place = unsteady[0].partition(": ")[0]
        return "skipped", f"eager mode itself does not give the same twice ({place})"
    if reference.traces:
        eagerly = bench.observe_again("original", target, calls, eagerly=True)
        if not bench.compare(eagerly, candidate).differences:
            return (
                "same",
                f"as eager mode; the tf.function of the original: {_first(found)}",
            )
    if found.structural or not candidate.traces:
        return _status(found), _first(found)
    plain = [
        bench.observe_again(tree, target, calls, optimized=False)
        for tree in ("original", "lifted")
    ]
    if bench.compare(*plain).differences:
        return (
            _status(found),
            f"{_first(found)}; without TensorFlow's graph optimizer too",
        )
    if found.excess <= DRIFT:
        return (
            "same",
            f"up to rounding by TensorFlow's graph optimizer ({_first(found)})",
        )
    return (
        _status(found),
        f"{_first(found)}; TensorFlow's graph optimizer does that, without it they agree",
    )


def _status(found: Found) -> Status:
    return "raised" if found.raised else "different"


def _first(found: Found) -> str:
    return found.differences[0]
