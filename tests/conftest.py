"""What all tests share: a quiet TensorFlow, steady Hypothesis, no GPU test without a GPU."""

import os
import shutil
import signal

import pytest
from hypothesis import settings

# Ctrl-C reaches the tests' processes also where the suite runs in the background.
signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")


KNOWN_FAULTS = (
    'test_emit.py::test_functions_without_lines_of_their_own[def f(x): """Doc."""; return x\\n]',
)
"""Tests of faults that are known and not mended yet; each must go from here once it is."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.endswith(KNOWN_FAULTS):
            item.add_marker(pytest.mark.xfail(reason="not mended yet", strict=True))
    if shutil.which("nvidia-smi"):
        return
    for item in items:
        if item.get_closest_marker("gpu"):
            item.add_marker(pytest.mark.skip(reason="no GPU here"))
