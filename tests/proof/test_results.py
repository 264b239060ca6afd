"""Rows, their JSON and their table."""

import json
from math import inf

from rich.console import Console

from graphlift.codemods.proof.results import Proof, Row, Status
from graphlift.codemods.proof.table import reasons, summary, table

FAST = Row(
    "model.py::f",
    "same",
    max_abs_error=1.2e-7,
    max_rel_error=2e-7,
    eager_ms=12.3456,
    graph_ms=1.5,
    speedup=8.2,
    spread=0.4,
    trace_ms=210.0,
    traces=1,
    graph_nodes=31,
)
WRONG = Row("model.py::g", "different", "call 1: eager 1, lifted 2", max_rel_error=inf)
MEMBERS = [
    "function", "status", "reason", "max_abs_error", "max_rel_error", "eager_ms", "graph_ms", "speedup",
    "trace_ms", "traces", "graph_nodes", "xla_speedup", "peak_bytes", "branches", "branches_run",
]  # fmt: skip


def shown(proof: Proof) -> list[str]:
    console = Console(width=120, no_color=True)
    with console.capture() as capture:
        console.print(table(proof), *reasons(proof), sep="\n")
    return capture.get().splitlines()


def test_json() -> None:
    data = json.loads(
        json.dumps(Proof("cpu", [FAST, WRONG]).to_json(), allow_nan=False)
    )
    assert (data["version"], data["device"]) == (1, "cpu")
    assert set(MEMBERS) == set(data["functions"][0]) - {"spread"}
    assert data["functions"][0]["speedup"] == 8.2
    assert data["functions"][1]["max_rel_error"] is None


def test_exit_status() -> None:
    def status(*statuses: Status, unreadable: tuple[str, ...] = ()) -> int:
        return Proof("cpu", [Row("f", s) for s in statuses], unreadable).exit_status

    assert status("same", "eager") == status() == 0
    assert status("same", "skipped") == 1
    assert status("same", "different") == 1
    assert status("same", "raised") == 1
    assert status("different", unreadable=("broken.py",)) == 2


def test_table() -> None:
    lines = shown(Proof("cpu", [FAST, WRONG]))
    assert lines[1].split() == [
        "model.py::f",
        "same",
        "2.0e-07",
        "12.3",
        "1.5",
        "x8.20",
        "±0.20",
        "1",
        "31",
    ]
    assert lines[2].split() == ["model.py::g", "different", "inf"]
    assert lines[-1] == "model.py::g different: call 1: eager 1, lifted 2"


def test_summary() -> None:
    assert summary(Proof("cpu", [FAST, FAST, WRONG])) == (
        "2 same, 1 different, 0 raised, 0 left eager, 0 skipped; no GPU here: run and timed on the CPU"
    )
    chosen = Proof("cpu", [], gpu_wanted=False)
    assert summary(chosen).endswith("skipped; run and timed on the CPU")
    assert summary(Proof("NVIDIA H200", [])).endswith("; run and timed on NVIDIA H200")


def test_brackets_in_a_reason_are_text() -> None:
    row = Row("model.py::[red]f", "different", "call 1[bold]: eager 1")
    assert "call 1[bold]: eager 1" in shown(Proof("cpu", [row]))[-1]
