"""The worker: a process that imports TensorFlow once, and forks a child for each program.

The parent speaks over the socket whose descriptor is the last argument, one JSON object a line.
To the process itself: {"fork": folder for the child's files}, with the child's own socket sent
along, answered by {"pid"}, and {"reap": pid}, answered by {"status"}, as os.waitstatus_to_exitcode
gives it. A child answers what Child has methods for, each named by "do". NumPy and TensorFlow are imported
only where they are known to be there.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path
from typing import Any, NoReturn

Message = dict[str, Any]


def main(descriptor: int) -> None:
    """Answer until the parent closes the socket."""
    control = socket.socket(fileno=descriptor)
    control.set_inheritable(False)
    if problem := _problem():
        _send(control, {"problem": problem})
        return
    _send(control, {"problem": None})
    ended: dict[int, int] = {}
    while True:
        data, descriptors = _receive(control)
        if not data:
            return
        request = json.loads(data)
        if "fork" in request:
            _send(control, {"pid": _fork(request["fork"], descriptors[0], control)})
            _reap(ended, os.WNOHANG)
        else:
            while request["reap"] not in ended:
                _reap(ended, 0)
            _send(control, {"status": ended.pop(request["reap"])})


def _problem() -> str | None:
    """Why this interpreter can't be used."""
    if sys.version_info < (3, 10):  # noqa: UP036 (it is the user's)
        return "is older than Python 3.10"
    try:
        import tensorflow  # noqa: F401
    except ImportError as error:
        return f"has no TensorFlow ({error})"
    return None


def _reap(ended: dict[int, int], options: int) -> None:
    """Note how children ended."""
    pid, status = os.waitpid(-1, options)
    if pid:
        ended[pid] = os.waitstatus_to_exitcode(status)


def _fork(folder: str, descriptor: int, control: socket.socket) -> int:
    pid = os.fork()
    if not pid:
        control.close()
        _be_child(folder, socket.socket(fileno=descriptor))
    os.close(descriptor)
    return pid


def _be_child(folder: str, channel: socket.socket) -> NoReturn:
    status = 1
    try:
        os.setpgid(0, 0)
        channel.set_inheritable(False)
        errors = os.open(
            os.path.join(folder, "stderr"), os.O_WRONLY | os.O_CREAT, 0o600
        )
        os.dup2(errors, 2)
        child = Child(folder)
        for line in channel.makefile("rb"):
            request = json.loads(line)
            try:
                answer = getattr(child, request.pop("do"))(**request)
            except Exception as error:
                answer = {"broken": f"{type(error).__name__}: {error}"}
            _send(channel, answer)
        status = 0
    finally:
        os._exit(status)


class Child:
    """What a child does; `folder` is its own, for what it writes."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def observe(
        self,
        tree: str,
        file: str,
        function: str,
        inputs: str,
        calls: int | None,
        enough: float,
        optimized: bool,
        eagerly: bool,
    ) -> Message:
        """Run a program and save what was observed.

        `optimized`: with TensorFlow's graph optimizer; `eagerly`: its tf.functions too.
        """
        import tensorflow as tf

        from . import values
        from .output import Output
        from .program import Program

        if not optimized:
            tf.config.optimizer.set_experimental_options(
                {"disable_meta_optimizer": True}
            )
        tf.config.run_functions_eagerly(eagerly)
        output = Output(os.path.join(self._folder, "stdout"), tree)
        self._program = Program(tree, file, function, inputs, output)
        try:
            self._program.load()
        except BaseException as error:
            return {"failed": f"{type(error).__name__}: {error}".replace(tree, ".")}
        observed = self._program.observe(calls, enough)
        path = os.path.join(self._folder, "observed")
        values.save(Path(path), observed)
        return {
            "observed": path,
            "raised": [call.get("raised") for call in observed["calls"]],
            "seconds": self._program.seconds,
            "traces": self._program.traces.count(),
            "nodes": self._program.traces.nodes(),
            "imported": self._program.imported(),
            "inputs": self._program.inputs,
        }

    def round(self, passes: int) -> Message:
        """Time the program that was observed."""
        return {"seconds": self._program.round(passes)}

    def compare(self, reference: str, candidate: str) -> Message:
        """Compare two observations."""
        from . import compare, values

        comparison = compare.Comparison()
        comparison.observations(
            values.load(Path(reference)), values.load(Path(candidate))
        )
        return comparison.report()

    def device(self) -> Message:
        """The name of the device, and the most memory used on it."""
        from .program import device, peak_bytes

        return {"device": device(), "peak_bytes": peak_bytes()}


def _send(channel: socket.socket, message: Message) -> None:
    channel.sendall(json.dumps(message).encode() + b"\n")


def _receive(control: socket.socket) -> tuple[bytes, list[int]]:
    """A line, and the descriptors that came with it."""
    data, descriptors, _, _ = socket.recv_fds(control, 2**16, 1)
    return data, descriptors
