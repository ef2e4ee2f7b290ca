"""When a plan lets things be asked for: what may be the same, and what arrives sooner than the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loaders.cost import UNLESS_READ
from resolvers import moments
from resolvers.relay import to_global_id
from tests.resolvers.plans import OWNER, plan, totals

if TYPE_CHECKING:
    import pytest


def whens(document: str, contract: str, **values: Any) -> dict[str, int]:
    """How many operations of a contract are sent when."""
    found: dict[str, int] = {}
    for charge in plan(document, **values).charges:
        if charge.contract == contract:
            found[charge.when] = found.get(charge.when, 0) + charge.cost.operations
    return found


def test_what_is_asked_for_at_two_moments_may_be_the_same() -> None:
    document = '{ locker(lockerId: "l") { owner { name } } owner(ownerId: "o") { kind } }'
    assert whens(document, "QC-20") == {"always": 1, UNLESS_READ: 1}
    made = plan(document)
    assert (made.expected_operations, made.total.operations) == (2, 3)
    assert made.expected_units == 1.5  # a budget is charged for all three


def test_what_the_client_names_is_surely_not_the_same() -> None:
    lockers = '{ a: locker(lockerId: "1") { %s } b: locker(lockerId: "2") { %s } }'
    event = "latestEvent { action }"
    assert whens(lockers % (event, event), "QC-10") == {"always": 2}
    nodes = f"query ($ids: [ID!]!) {{ nodes(ids: $ids) {{ ... on Locker {{ {event} }} }} }}"
    one, two = to_global_id("Locker", "1"), to_global_id("Locker", "2")
    assert whens(nodes, "QC-10", ids=[one, two]) == {"always": 2}
    assert whens(nodes, "QC-10", ids=[one, one]) == {"always": 1, UNLESS_READ: 1}
    page = OWNER % f"lockers(first: 5) {{ nodes {{ {event} }} }}"
    assert whens(page, "QC-10") == {"always": 5}


def test_what_others_name_may_be_the_same() -> None:
    document = "{ a: node(id: %s) { ...R } b: node(id: %s) { ...R } } fragment R on Reservation { locker { %s } }"
    ids = [f'"{to_global_id("Reservation", "l", start, "r")}"' for start in ("1", "2")]
    found = whens(document % (*ids, "latestEvent { action }"), "QC-10")
    assert found == {"always": 1, UNLESS_READ: 1}


def test_what_was_read_before_is_there_sooner_than_the_rest() -> None:
    below = "reservations(first: 10) { nodes { locker { owner { name } location { name } } } }"
    alone, beside = OWNER % below, f'{{ locker(lockerId: "l") {{ alias }} owner(ownerId: "acme") {{ {below} }} }}'
    for contract in ("QC-20", "QC-31"):
        assert whens(alone, contract) == {"always": 1}
        assert whens(beside, contract) == {"always": 1, UNLESS_READ: 1}
    ids = [f'"{to_global_id("Reservation", "l", start, "r")}"' for start in ("1", "2")]
    fragment = "fragment R on Reservation { locker { owner { name } } }"
    nodes = f"{{ %s a: node(id: %s) {{ ...R }} b: node(id: %s) {{ ...R }} }} {fragment}"
    assert whens(nodes % ("", *ids), "QC-20") == {"always": 1}
    assert whens(nodes % ('c: locker(lockerId: "l") { alias }', *ids), "QC-20") == {"always": 1, UNLESS_READ: 1}


def test_events_below_several_pages_come_with_each_page() -> None:
    events = "lockers(first: 3) { nodes { latestEvent { locker { owner { name } } } } }"
    document = f"{{ locations(first: 12) {{ nodes {{ {events} }} }} }}"
    assert sum(whens(document, "QC-01").values()) == sum(whens(document, "QC-20").values()) == 12


def test_the_pointers_of_a_strong_and_a_plain_read_may_be_asked_for_apart() -> None:
    document = '{ a: locker(lockerId: "1", consistent: true) { %s } b: locker(lockerId: "2") { %s } }'
    found = whens(document % (("activeReservation { endAt }",) * 2), "QC-07")
    assert (found["always"], found[UNLESS_READ]) == (1, 1)


def test_the_order_of_fields_changes_nothing() -> None:
    document = (
        """{ location(locationId: "x") { calendar(window: {from: "2026-03-01", to: "2026-05-31"}) { %s %s } } }"""
    )
    halves = "morning { booking { owner { name } } }", "afternoon { booking { bookingId } }"
    assert totals(document % halves) == totals(document % halves[::-1])


def test_moments_that_split_each_other_again_and_again_are_counted_key_by_key(monkeypatch: pytest.MonkeyPatch) -> None:
    below = "locker { activeReservation { locker { activeReservation { endAt } } owner { name } } }"
    document = OWNER % f"reservations(first: 10) {{ nodes {{ {below} }} }}"
    settled = plan(document)
    monkeypatch.setattr(moments, "_ROUNDS", 0)
    given_up = plan(document)
    for contract, most in {"QC-01": 20, "QC-20": 10}.items():
        settled_to, given_up_to = (
            sum(charge.cost.operations for charge in made.charges if charge.contract == contract)
            for made in (settled, given_up)
        )
        assert settled_to <= given_up_to <= most
    assert settled.total.operations < given_up.total.operations
