"""Fixtures of the tests of portal.storage."""

from collections.abc import Iterator

import pytest

from tests.fakes import start_cache


@pytest.fixture(autouse=True)
def create_tables() -> Iterator[None]:
    """Create the tables of a new database by their statements, as the portal does."""
    with start_cache.created_empty():
        yield
