"""Paging arguments and windows."""

from __future__ import annotations

from typing import Any

import pytest

from domain.errors import BadInputError
from domain.times import EARLIEST, LATEST, Instant
from loaders.pages import PageRequest, Window, page_request

NOON, ONE = Instant("2026-03-01T12:00:00.000Z"), Instant("2026-03-01T13:00:00.000Z")


def request_with(**given: Any) -> PageRequest:
    arguments = {"first": None, "after": None, "last": None, "before": None, "default": 25, "maximum": 100}
    return page_request(**{**arguments, **given})


@pytest.mark.parametrize(
    ("given", "request_"),
    [
        ({}, PageRequest(25)),
        ({"first": 1}, PageRequest(1)),
        ({"first": 100}, PageRequest(100)),
        ({"after": "c"}, PageRequest(25, cursor="c")),
        ({"first": 3, "after": "c"}, PageRequest(3, cursor="c")),
        ({"last": 3}, PageRequest(3, backward=True)),
        ({"before": "c"}, PageRequest(25, backward=True, cursor="c")),
        ({"last": 3, "before": "c"}, PageRequest(3, backward=True, cursor="c")),
        ({"first": 3, "after": ""}, PageRequest(3, cursor="")),
        ({"default": 5, "maximum": 5}, PageRequest(5)),
    ],
)
def test_paging_arguments_name_one_part_of_a_list(given: dict[str, Any], request_: PageRequest) -> None:
    assert request_with(**given) == request_
    assert request_.cursor_argument == ("before" if request_.backward else "after")


@pytest.mark.parametrize(
    "given",
    [{"first": 1, "last": 1}, {"first": 1, "before": "c"}, {"after": "c", "last": 1}, {"after": "", "before": ""}],
)
def test_paging_in_both_directions_at_once_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(BadInputError, match="Use first and after, or last and before") as refusal:
        request_with(**given)
    assert refusal.value.path == ("last",)


@pytest.mark.parametrize("name", ["first", "last"])
@pytest.mark.parametrize("size", [0, -1, 101, 2**31 - 1])
def test_a_page_of_a_size_that_is_not_allowed_is_refused(name: str, size: int) -> None:
    with pytest.raises(BadInputError, match=f"^{name} must be from 1 to 100, not {size}") as refusal:
        request_with(**{name: size})
    assert refusal.value.path == (name,)


def test_a_window_is_all_of_time_unless_it_is_bounded_and_never_backward() -> None:
    assert Window() == Window(EARLIEST, LATEST)
    assert Window(NOON, NOON).end == NOON
    with pytest.raises(BadInputError, match=r"^window\.from must not be after window\.to\.$") as refusal:
        Window(ONE, NOON)
    assert refusal.value.path == ("window", "from")
