"""One creation that is sent many times at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import NOW
from tests.invariants import check_invariants
from tests.resolvers.test_creations import CREATIONS, create, stocked
from tests.wire import Meeting

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.wire import Wire

__all__ = ["stocked"]


@pytest.mark.parametrize("name", CREATIONS)
async def test_one_creation_sent_ten_times_at_once_has_one_effect_and_one_answer(
    stocked: Api,  # the fixture
    wire: Wire,
    dump: Callable[[], Any],
    name: str,
) -> None:
    wire.fault = Meeting(10)
    payloads = await asyncio.gather(*(create(stocked, name) for _ in range(10)))
    assert payloads == [payloads[0]] * 10
    assert payloads[0]["userErrors"] == []
    check_invariants(await dump(), NOW)
