"""The option with which an author accepts what the rewriting gives now."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-rules",
        action="store_true",
        help="write what the rewriting gives into the `after` blocks of the Markdown cases",
    )


@pytest.fixture
def update_rules(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-rules", default=False))
