"""A proof as a table in the terminal."""

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from .results import Proof, Row, Status

COLOURS: dict[Status, str] = {
    "same": "green",
    "different": "red",
    "raised": "red",
    "eager": "yellow",
    "skipped": "dim",
}
WORDS: dict[Status, str] = {"eager": "left eager"}


def table(proof: Proof) -> Table:
    """One line a function; under it the counts, and the device."""
    made = Table(
        box=None, caption=summary(proof), caption_justify="left", pad_edge=False
    )
    made.add_column("function", overflow="fold")
    made.add_column("verdict", no_wrap=True)
    for name in ("rel error", "eager ms", "graph ms", "speed-up", "traces", "nodes"):
        made.add_column(name, justify="right", no_wrap=True)
    for row in proof.rows:
        made.add_row(*_cells(row))
    return made


def reasons(proof: Proof) -> Iterator[Text]:
    """A line for each row that needs one: what differs, what was raised, why it was skipped."""
    for row in proof.rows:
        if row.reason:
            yield Text.assemble(
                (row.function, "bold"), " ", _verdict(row), f": {row.reason}"
            )


def summary(proof: Proof) -> str:
    """The counts of all verdicts, and the device."""
    counts = (
        f"{count} {WORDS.get(status, status)}" for status, count in proof.counts.items()
    )
    return f"{', '.join(counts)}; {proof.where}"


def _cells(row: Row) -> tuple[Text | str, ...]:
    return (
        row.function,
        _verdict(row),
        _number(row.max_rel_error, ".1e"),
        _number(row.eager_ms, ".3g"),
        _number(row.graph_ms, ".3g"),
        _speedup(row),
        _number(row.traces, "d"),
        _number(row.graph_nodes, "d"),
    )


def _verdict(row: Row) -> Text:
    return Text(WORDS.get(row.status, row.status), COLOURS[row.status])


def _number(value: float | None, form: str) -> str:
    if value is None:
        return ""
    return "0" if value == 0 else format(value, form)


def _speedup(row: Row) -> str:
    if row.speedup is None:
        return ""
    return f"x{row.speedup:.2f}" + (f" ±{row.spread / 2:.2f}" if row.spread else "")
