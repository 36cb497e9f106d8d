"""Fixtures of the web layer's tests."""

import pytest

from tests.conftest import PortalFactory
from tests.web.page_client import PageClient
from tests.web.signed_in import visitor


@pytest.fixture
def buyer(portal: PortalFactory) -> PageClient:
    return visitor(portal())
