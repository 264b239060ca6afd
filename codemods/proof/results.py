"""The outcome of a proof: a row for each function that was run, or not."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, Literal

Status = Literal["same", "different", "raised", "eager", "skipped"]

STATUSES: tuple[Status, ...] = ("same", "different", "raised", "eager", "skipped")
UNPROVED: tuple[Status, ...] = ("different", "raised", "skipped")


@dataclass(frozen=True)
class Row:
    """What is known of one function, `path::name`; None where it was not measured.

    `max_abs_error` is how far floats are apart, `max_rel_error` the same by the largest number beside them.
    `eager_ms` and `graph_ms` are medians of the time of a call, `speedup` the median and `spread`
    the interquartile range of their ratios in paired rounds; `trace_ms` is what the lift's first
    call took longer than later ones, `traces` how often its busiest tf.function was traced.
    """

    function: str
    status: Status
    reason: str = ""
    max_abs_error: float | None = None
    max_rel_error: float | None = None
    eager_ms: float | None = None
    graph_ms: float | None = None
    speedup: float | None = None
    spread: float | None = None
    trace_ms: float | None = None
    traces: int | None = None
    graph_nodes: int | None = None
    xla_speedup: float | None = None
    peak_bytes: int | None = None
    branches: int | None = None
    branches_run: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The row as JSON has it, numbers that JSON can't say as None."""
        return {
            name: None if isinstance(value, float) and not isfinite(value) else value
            for name, value in asdict(self).items()
        }


@dataclass(frozen=True)
class Proof:
    """All rows, and the device they were run on: "cpu", or the name of a GPU.

    `unreadable`: the files that could not be lifted because they can't be read as Python;
    `gpu_wanted`: whether a GPU would have been used.
    """

    device: str
    rows: Sequence[Row]
    unreadable: Sequence[str] = ()
    gpu_wanted: bool = True

    @property
    def counts(self) -> dict[Status, int]:
        """How many rows there are of each status, in the order of STATUSES."""
        counted = Counter(row.status for row in self.rows)
        return {status: counted[status] for status in STATUSES}

    @property
    def exit_status(self) -> int:
        """0 where all that was lifted is proved, 2 where a file could not be read, else 1."""
        if self.unreadable:
            return 2
        return int(any(self.counts[status] for status in UNPROVED))

    @property
    def where(self) -> str:
        """The device in words."""
        if self.device != "cpu":
            return f"run and timed on {self.device}"
        return "no GPU here: " * self.gpu_wanted + "run and timed on the CPU"

    def to_json(self) -> dict[str, Any]:
        """The whole proof, ready for json.dumps."""
        return {
            "version": 1,
            "device": self.device,
            "functions": [row.to_json() for row in self.rows],
        }
