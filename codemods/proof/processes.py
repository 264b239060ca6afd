"""The worker processes: one that has TensorFlow imported, and a child of it for each program."""

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from .interpreter import ProofError

WORKER = Path(__file__).with_name("worker")
IMPORT_SECONDS = 180.0
BOOT = """
import sys, types
package = sys.modules["graphlift_worker"] = types.ModuleType("graphlift_worker")
package.__path__ = [sys.argv[1]]
sys.path = [folder for folder in sys.path if folder]
from graphlift_worker.serve import main
main(int(sys.argv[2]))
"""
SETTINGS = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_FORCE_GPU_ALLOW_GROWTH": "true"}

Message = dict[str, Any]


class Lost(Exception):
    """A program's process has ended without an answer, or gave none in time; says which."""


class Template:
    """Starts the process that imports TensorFlow, and forks workers from it; a context manager.

    `folder` is for what the workers write. ProofError where there is no TensorFlow in `python`.
    """

    def __init__(self, python: str, folder: Path, *, gpu: bool = True) -> None:
        self._python = python
        self._folder = folder
        self._hidden = {} if gpu else {"CUDA_VISIBLE_DEVICES": "-1"}
        self._forks = 0

    def __enter__(self) -> Self:
        if not hasattr(os, "fork"):
            raise ProofError("this system can't fork processes, as a proof does")
        control, inherited = socket.socketpair()
        with inherited, (self._folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [self._python, "-c", BOOT, str(WORKER), str(inherited.fileno())],
                env={**SETTINGS, **os.environ, **self._hidden},
                pass_fds=[inherited.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )
        self._control = _Channel(control)
        try:
            self._welcome()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        _kill(self._process.pid)
        self._process.wait()
        self._control.close()

    @contextmanager
    def worker(self, seconds: float) -> "Iterator[Worker]":
        """A new worker that may take so many seconds for all that it is asked; killed in the end."""
        self._forks += 1
        folder = self._folder / str(self._forks)
        folder.mkdir()
        ours, theirs = socket.socketpair()
        with theirs:
            answer = self._control.ask({"fork": str(folder)}, IMPORT_SECONDS, theirs)
        worker = Worker(self, answer["pid"], _Channel(ours), folder, seconds)
        try:
            yield worker
        finally:
            worker.close()

    def reap(self, pid: int) -> int:
        """The exit code of a worker that has ended, negative for a signal."""
        status: int = self._control.ask({"reap": pid}, IMPORT_SECONDS)["status"]
        return status

    def _welcome(self) -> None:
        try:
            answer = self._control.receive(IMPORT_SECONDS)
        except (OSError, EOFError):
            reason = _last_line(self._folder / "log") or "it does not start"
            raise ProofError(f"{self._python} can't be used: {reason}") from None
        if answer["problem"]:
            raise ProofError(
                f"{self._python} {answer['problem']}: "
                "name another interpreter with --python"
            )


class Worker:
    """A child that runs one program. Every `ask` can raise Lost, and the worker is gone then."""

    def __init__(
        self,
        template: Template,
        pid: int,
        channel: "_Channel",
        folder: Path,
        seconds: float,
    ) -> None:
        self._template = template
        self._pid = pid
        self._channel = channel
        self._folder = folder
        self._allowed = self._left = seconds
        self._ended = False

    def ask(self, do: str, **arguments: Any) -> Message:
        """The answer to one request of worker/serve.py."""
        began = time.monotonic()
        try:
            answer = self._channel.ask({"do": do, **arguments}, max(0.1, self._left))
        except TimeoutError:
            self.close()
            raise Lost(f"does not end within {self._allowed:g} s") from None
        except (OSError, EOFError):
            raise Lost(self._how_it_ended()) from None
        finally:
            self._left -= time.monotonic() - began
        if "broken" in answer:
            raise Lost(f"can't be observed: {answer['broken']}")
        return answer

    def close(self) -> None:
        """End the process, if it has not ended, and all that it has started."""
        self._channel.close()
        if not self._ended:
            self._ended = True
            _kill(self._pid)

    def _how_it_ended(self) -> str:
        self._ended = True
        status = self._template.reap(self._pid)
        said = _last_line(self._folder / "stderr")
        if status < 0:
            how = f"is ended by {signal.Signals(-status).name}"
        else:
            how = f"ends its process with exit status {status}"
        return f"{how}: {said}" if said else how


class _Channel:
    """Requests and answers over a socket, one JSON object a line."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def ask(
        self, message: Message, seconds: float, passed: socket.socket | None = None
    ) -> Message:
        """Send a message (and a socket), and wait for the answer."""
        data = json.dumps(message).encode() + b"\n"
        if passed:
            socket.send_fds(self._connection, [data], [passed.fileno()])
        else:
            self._connection.sendall(data)
        return self.receive(seconds)

    def receive(self, seconds: float) -> Message:
        """The next message; TimeoutError or EOFError where none comes."""
        end = time.monotonic() + seconds
        data = b""
        while not data.endswith(b"\n"):
            self._connection.settimeout(max(0.001, end - time.monotonic()))
            received = self._connection.recv(2**16)
            if not received:
                raise EOFError
            data += received
        answer: Message = json.loads(data)
        return answer

    def close(self) -> None:
        self._connection.close()


def _kill(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _last_line(path: Path) -> str:
    """The last line with something on it, of a file that may not be there."""
    try:
        lines = path.read_text("utf-8", "replace").split("\n")
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
