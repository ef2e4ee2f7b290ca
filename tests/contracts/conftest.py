"""What the contracts' suites share."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contracts.seeds import Seeds


@pytest.fixture
def seeds(plain_client: Any, table: str) -> Seeds:
    """A way into the test's table that the proxy does not see."""
    return Seeds(plain_client, table)
