"""A few processes that take tasks one by one; one that dies costs no more than its task."""

import contextlib
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Generic, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


class Died(Exception):
    """The process that had a task ended before the task was done."""


def available() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run(
    work: Callable[[Task], Result], tasks: Sequence[Task], jobs: int
) -> Iterator[tuple[int, Result | Died]]:
    """Yield the index of each task and what `work` made of it, as they get done.

    `work` must not raise. Whatever ends the iteration (an exception, Ctrl-C, the caller
    stopping early) kills the processes at once.
    """
    waiting = deque(enumerate(tasks))
    busy: dict[Connection, _Worker[Task, Result]] = {}
    idle: list[_Worker[Task, Result]] = []
    try:
        while waiting or busy:
            while waiting and len(busy) < jobs:
                worker = idle.pop() if idle else _Worker(work)
                busy[worker.connection] = worker
                worker.take(*waiting.popleft())
            for ready in wait(list(busy)):
                worker = busy.pop(ready)  # type: ignore[call-overload]
                result = worker.result()
                if not isinstance(result, Died):
                    idle.append(worker)
                yield worker.index, result
    finally:
        for worker in (*busy.values(), *idle):
            worker.process.kill()


class _Worker(Generic[Task, Result]):
    """A process and the index of the task it has."""

    def __init__(self, work: Callable[[Task], Result]) -> None:
        self.connection, far = multiprocessing.Pipe()
        self.process = multiprocessing.Process(
            target=_serve, args=(work, far, self.connection), daemon=True
        )
        with _interrupts_later():
            self.process.start()
        far.close()
        self.index = -1

    def take(self, index: int, task: Task) -> None:
        self.index = index
        with contextlib.suppress(OSError):  # dead already: `result` will say so
            self.connection.send(task)

    def result(self) -> Result | Died:
        try:
            received: Result = self.connection.recv()
        except (EOFError, OSError):
            self.process.join()
            return Died(f"the process ended with {self.process.exitcode}")
        return received


@contextlib.contextmanager
def _interrupts_later() -> Iterator[None]:
    """Hold Ctrl-C back: while a process is forked, Python may swallow it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])


def _serve(
    work: Callable[[Task], Result], connection: Connection, far: Connection
) -> None:
    far.close()  # so that the end of the parent is seen here
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(EOFError, OSError):
        while True:
            connection.send(work(connection.recv()))
