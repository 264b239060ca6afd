"""What the user's code writes to standard output, from Python or from TensorFlow."""

from __future__ import annotations

import os
import sys

MOST = 2**20


class Output:
    """Sends standard output to the file at `path`, line by line so that all writers keep their order.

    `tree` is left out of what is read back: original and lift are in different folders.
    """

    def __init__(self, path: str, tree: str) -> None:
        self._tree = tree
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self._seen = 0
        os.dup2(self._file, 1)
        sys.stdout = open(1, "w", buffering=1, encoding="utf-8", closefd=False)  # noqa: SIM115

    def take(self) -> str:
        """What was written since the last time; its beginning, where that is a lot."""
        sys.stdout.flush()
        size = os.fstat(self._file).st_size
        data = os.pread(self._file, min(size - self._seen, MOST), self._seen)
        self._seen = size
        return data.decode(errors="replace").replace(self._tree, ".")
