from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, ClassVar

import pytest

from domain.models import LocationId
from loaders.table.values import OtherValue
from loaders.tools.converted_lockers import convert_events, old_events
from loaders.tools.invariants import table_violations
from loaders.tools.kinds import kind_at
from loaders.tools.migration import convert
from loaders.tools.target import Report, Target
from tests.conftest import NOW
from tests.source_items import EXAMPLES, LOCATION

Item = Mapping[str, Any]

LOCKER = {"PK": "LOCKER#l", "SK": "META", "ownerId": "o", "status": "AVAILABLE", "updatedAt": 1772013600000}
COPY = {"PK": "OWNER#o", "SK": "LOCKER#l", "entityType": "OWNER_LOCKER"}
RESERVATION = {
    "PK": "LOCKER#l",
    "SK": "RES#2026-03-05T11:00:00Z#r",
    "ownerId": "o",
    "status": "ACTIVE",
    "startAt": "2026-03-05T11:00:00Z",
    "endAt": "2026-03-05T13:00:00Z",
}
PLACE = next(item for item in EXAMPLES if item["PK"] == f"LOCATION#{LOCATION}")
BOOKING = next(item for item in EXAMPLES if item["PK"] == "BOOKING#xyz789" and item["SK"] == "METADATA")
EVENT = next(item for item in EXAMPLES if item["SK"] == "FULLDAY")
USER = next(item for item in EXAMPLES if item["SK"] == "METADATA" and item["PK"] == "USER#abc123")
DAY = f"LOCATION#{LOCATION}"
IGNORED = {"PK", "SK", "GSI1PK", "GSI1SK", "entityType"}


class Converted:
    """A table of these items, converted twice: the second time changes nothing and reports the same."""

    def __init__(self, items: Iterable[Item], location: str | None = LOCATION, times: int = 2) -> None:
        first = self._convert(items, location)
        for _ in range(1, times):
            second = self._convert(first.items.values(), location)
            assert second.groups == []
            assert (second.report.unplaced, second.report.left, second.report.unknown) == (
                first.report.unplaced,
                first.report.left,
                first.report.unknown,
            )
        self.report, self.groups, self.items = first.report, first.groups, first.items

    def _convert(self, items: Iterable[Item], location: str | None) -> Target:
        target = Target(items, Report(), NOW, None if location is None else LocationId(location))
        convert(target)
        convert_events(target, old_events(target))
        target.describe()
        return target

    def __getitem__(self, key: tuple[str, str]) -> dict[str, Any]:
        return {name: value for name, value in self.items[key].items() if name not in IGNORED}  # type: ignore[index]

    def __contains__(self, key: tuple[str, str]) -> bool:
        return key in self.items

    @property
    def violations(self) -> list[str]:
        known = [item for key, item in self.items.items() if kind_at(key, item)]
        return [f"{one.place} {one.problem}" for one in table_violations(known, NOW)]


def test_every_example_is_converted_and_nothing_is_wrong_afterwards() -> None:
    converted = Converted(EXAMPLES)
    assert converted.report.left == {}
    assert converted.report.unknown == {"LockCode": 1}
    assert converted.report.new_owners == ["999"]
    assert converted.report.unplaced == {
        ("CALENDAR_EVENT_CLAIM", "bookingId"): 1,
        ("CALENDAR_EVENT_CLAIM", "eventType"): 1,
        ("LockCode", "code"): 1,
        ("LockCode", "entityType"): 1,
    }
    assert converted.violations == []
    assert [key for key in converted.items if key.pk.startswith(("USER#", "EVENT#2"))] == []
    assert sum(converted.report.converted.values()) == len(EXAMPLES) - 1


WEIRD: tuple[Any, ...] = ("?", Decimal("1.5"), True, {"a": 1}, ["a"], OtherValue({"B": "AAAA"}))


@pytest.mark.parametrize("weird", [None, *WEIRD], ids=str)
def test_any_attribute_may_be_missing_or_have_any_value_and_nothing_is_lost(weird: Any) -> None:
    for position, example in enumerate(EXAMPLES):
        for name in example.keys() - {"PK", "SK", "GSI1PK", "GSI1SK"}:
            changed = {key: value for key, value in example.items() if key != name}
            if weird is not None:
                changed[name] = weird
            converted = Converted([*EXAMPLES[:position], changed, *EXAMPLES[position + 1 :]])
            assert converted.violations is not None
            if weird is not None and name not in {"entityType", "itemType"}:
                values = [value for item in converted.items.values() for value in item.values()]
                assert weird in values, (example["PK"], example["SK"], name)


@pytest.mark.parametrize("weird", [None, "?", OtherValue({"SS": ["a"]})], ids=str)
def test_no_damage_of_an_item_of_today_stops_a_migration_or_the_doctor(weird: Any) -> None:
    items = Converted(EXAMPLES).items
    for key, item in items.items():
        for name in item.keys() - {"PK", "SK", "GSI1PK", "GSI1SK"}:
            damaged = {other: value for other, value in item.items() if other != name}
            if weird is not None:
                damaged[name] = weird
            assert Converted({**items, key: damaged}.values(), times=1).violations is not None


class TestAfterOtherWrites:
    """Another program has changed items of today's form, and the migration is run again."""

    @pytest.mark.parametrize(
        "changed", [{"status": "MAINTENANCE"}, {"ownerId": "other"}, {"locationId": LOCATION, "reservableBy": "OWNER"}]
    )
    def test_copies_and_offers_follow_the_locker(self, changed: Item) -> None:
        other = "01ARZ3NDEKTSV4RRFFQ69G5FAX"
        elsewhere = {**PLACE, "PK": f"LOCATION#{other}", "locationId": other, "locationCode": "other"}
        before = Converted([PLACE, elsewhere, {**LOCKER, "locationId": other, "size": "M"}]).items
        locker = next(item for key, item in before.items() if key == ("LOCKER#l", "META"))
        assert Converted([*before.values(), {**locker, **changed}]).violations == []

    def test_the_slot_of_a_canceled_reservation_is_free(self) -> None:
        before = Converted([LOCKER, RESERVATION]).items
        (made,) = (item for item in before.values() if item["entityType"] == "RESERVATION")
        after = Converted([*before.values(), {**made, "status": "CANCELLED"}])
        assert after.violations == []
        assert [item for item in after.items.values() if item["entityType"] == "RESERVATION_SLOT"] == []

    def test_a_reservation_that_only_its_pointer_names_is_there_again(self) -> None:
        before = Converted([LOCKER, RESERVATION]).items
        lost = [item for item in before.values() if item["entityType"] != "RESERVATION"]
        after = Converted(lost)
        assert after["LOCKER#l", "RES#2026-03-05T11:00:00.000Z#r"]["endAt"] == "2026-03-05T13:00:00.000Z"
        assert after.violations == []


def test_a_time_may_be_milliseconds_in_text() -> None:
    converted = Converted([{**LOCKER, "updatedAt": "1772013600000"}])
    assert converted["LOCKER#l", "META"]["updatedAt"] == "2026-02-25T10:00:00.000Z"


def test_a_name_beside_an_unknown_action_is_kept() -> None:
    event = {"PK": "LOCKER#l", "SK": "EVT#2026-02-01T00:00:00Z#e", "action": "LEFT_OPEN", "actionName": "Left open"}
    converted = Converted([event])["LOCKER#l", "EVT#2026-02-01T00:00:00.000Z#e"]
    assert (converted["actionName"], converted["ACCESS_EVENT.actionName"]) == ("LEFT_OPEN", "Left open")


class TestLockers:
    def test_a_name_of_the_copy_becomes_the_lockers_alias_whatever_form_the_copy_has(self) -> None:
        for updated in (1772013600000, "2026-02-25T10:00:00Z", "2026-02-25T10:00:00.000Z"):
            copy = {**COPY, "ownerId": "o", "lockerId": "l", "status": "AVAILABLE", "updatedAt": updated}
            converted = Converted([LOCKER, {**copy, "lockerAlias": "Front Gate"}])
            assert converted["LOCKER#l", "META"]["alias"] == "Front Gate"
            assert converted["OWNER#o", "LOCKER#l"]["alias"] == "Front Gate"
            assert converted.report.unplaced == {}

    def test_a_second_name_is_kept_on_the_locker(self) -> None:
        converted = Converted([{**LOCKER, "alias": "Gate"}, {**COPY, "lockerAlias": "Front Gate"}])
        locker = converted["LOCKER#l", "META"]
        assert (locker["alias"], locker["lockerAlias"]) == ("Gate", "Front Gate")
        assert converted.report.unplaced == {("LOCKER", "lockerAlias"): 1}
        assert "lockerAlias" not in converted["OWNER#o", "LOCKER#l"]

    def test_what_a_copy_tells_otherwise_is_kept_on_the_locker(self) -> None:
        copy = {**COPY, "status": "OCCUPIED", "updatedAt": "2026-02-26T10:00:00Z", "color": "red"}
        locker = Converted([{**LOCKER, "color": "blue"}, copy])["LOCKER#l", "META"]
        assert (locker["status"], locker["OWNER_LOCKER.status"]) == ("AVAILABLE", "OCCUPIED")
        assert locker["OWNER_LOCKER.updatedAt"] == "2026-02-26T10:00:00Z"
        assert (locker["color"], locker["OWNER_LOCKER.color"]) == ("blue", "red")

    def test_a_copy_in_the_list_of_another_owner_is_removed_and_kept_on_the_locker(self) -> None:
        other = {**COPY, "PK": "OWNER#a", "lockerAlias": "Old Gate"}
        converted = Converted([LOCKER, other, {**COPY, "lockerAlias": "Gate"}])
        locker = converted["LOCKER#l", "META"]
        assert ("OWNER#a", "LOCKER#l") not in converted
        assert (locker["alias"], locker["lockerAlias"], locker["OWNER_LOCKER.ownerId"]) == ("Gate", "Old Gate", "a")
        assert converted.violations == []

    def test_a_state_item_tells_the_status_of_a_locker_that_has_none(self) -> None:
        state = {"PK": "LOCKER#l", "SK": "STATE", "status": "OCCUPIED", "battery": 90}
        bare = {name: value for name, value in LOCKER.items() if name != "status"}
        converted = Converted([bare, state])
        assert converted["LOCKER#l", "META"]["status"] == "OCCUPIED"
        assert converted["LOCKER#l", "META"]["battery"] == 90
        assert ("LOCKER#l", "STATE") not in converted

    def test_a_locker_that_lacks_a_fact_is_left_with_its_copy_and_every_attribute_is_reported(self) -> None:
        items: list[Item] = [{**LOCKER, "status": "BROKEN", "locationId": "x"}, {**COPY, "lockerAlias": "Gate"}]
        converted = Converted(items)
        assert list(converted.items.values())[:2] == items
        assert converted.report.left == {("LOCKER", "status"): 1, ("OWNER_LOCKER", "status"): 1}
        assert ("LOCKER", "status") in converted.report.unplaced
        assert ("OWNER_LOCKER", "lockerAlias") in converted.report.unplaced
        assert any("LOCKER#l / META it cannot be read" in one for one in converted.violations)

    def test_a_time_with_more_digits_than_today_is_shown_to_the_millisecond_and_kept(self) -> None:
        locker = Converted([{**LOCKER, "createdAt": "2026-02-25T10:00:00.123456Z"}])["LOCKER#l", "META"]
        assert locker["createdAt"] == "2026-02-25T10:00:00.123Z"
        assert locker["LOCKER.createdAt"] == "2026-02-25T10:00:00.123456Z"


class TestReservations:
    def test_a_pointer_tells_when_its_reservation_changed(self) -> None:
        pointer = {**RESERVATION, "SK": "RES#ACTIVE", "reservationId": "r", "updatedAt": 1772013600000, "lamp": "on"}
        converted = Converted([LOCKER, RESERVATION, pointer])
        made = converted["LOCKER#l", "RES#2026-03-05T11:00:00.000Z#r"]
        assert (made["updatedAt"], made["lamp"]) == ("2026-02-25T10:00:00.000Z", "on")
        assert converted["LOCKER#l", "RES#ACTIVE"]["lastEndAt"] == "2026-03-05T13:00:00.000Z"
        assert converted.violations == []

    def test_a_pointer_without_its_reservation_becomes_one(self) -> None:
        pointer = {**RESERVATION, "SK": "RES#ACTIVE", "reservationId": "r"}
        converted = Converted([LOCKER, pointer])
        assert converted["LOCKER#l", "RES#2026-03-05T11:00:00.000Z#r"]["status"] == "ACTIVE"
        assert converted.violations == []

    def test_one_reservation_in_two_spellings_of_its_key_becomes_one(self) -> None:
        other = {**RESERVATION, "SK": "RES#2026-03-05T11:00:00.000Z#r", "endAt": "2026-03-05T14:00:00Z"}
        converted = Converted([LOCKER, RESERVATION, other])
        made = converted["LOCKER#l", "RES#2026-03-05T11:00:00.000Z#r"]
        assert {made["endAt"], made["RESERVATION.endAt"][:19] + ".000Z"} == {
            "2026-03-05T13:00:00.000Z",
            "2026-03-05T14:00:00.000Z",
        }
        assert converted.violations == []


class TestEvents:
    EVENT: ClassVar = {"PK": "LOCKER#l", "SK": "EVT#2026-02-26T09:05:00Z#e", "actorId": "a"}

    def event(self, **values: Any) -> dict[str, Any]:
        return Converted([{**self.EVENT, **values}])["LOCKER#l", "EVT#2026-02-26T09:05:00.000Z#e"]

    @pytest.mark.parametrize(
        ("word", "action", "name"),
        [("OPEN", "OPEN", None), ("open", "OPEN", None), ("LEFT_OPEN", "OTHER", "LEFT_OPEN"), (None, "OTHER", None)],
    )
    def test_an_unknown_action_is_other_with_its_word(self, word: str | None, action: str, name: str | None) -> None:
        event = self.event(action=word, result="SUCCESS")
        assert (event["action"], event.get("actionName")) == (action, name)

    def test_a_word_that_is_no_text_is_kept(self) -> None:
        event = self.event(action=7, result="SUCCESS", metadata="none")
        assert (event["action"], event["ACCESS_EVENT.actionName"]) == ("OTHER", 7)
        assert event["ACCESS_EVENT.metadata"] == "none"


class TestLocations:
    def test_known_parts_of_an_address_have_their_places_and_others_stay(self) -> None:
        parts = {"street": "Main St 1", "state": "TX", "country": "US", "county": "Travis", "postalCode": 78701}
        location = Converted([{**PLACE, "addressComponents": parts}])[DAY, "META"]
        assert (location["street"], location["region"], location["country"]) == ("Main St 1", "TX", "US")
        assert location["addressComponents"] == {"county": "Travis", "postalCode": 78701}

    def test_a_location_without_a_claim_on_its_code_gets_one(self) -> None:
        converted = Converted([PLACE])
        assert converted["LOCATION_CODE#austin-main-01", "META"]["locationId"] == LOCATION
        assert converted.violations == []


class TestOwners:
    def test_an_address_that_another_owner_has_is_kept(self) -> None:
        other = {**USER, "PK": "USER#zoe", "userId": "zoe", "email": "User@Example.com"}
        converted = Converted([other, USER])
        assert converted["EMAIL#user@example.com", "META"]["ownerId"] == "abc123"
        assert converted["OWNER#zoe", "META"]["User.email"] == "User@Example.com"
        assert converted.violations == []

    def test_a_user_with_a_record_of_today_adds_what_that_lacks(self) -> None:
        first = Converted([{**USER, "phone": None}])
        converted = Converted([*first.items.values(), {**USER, "name": "Jon", "role": "admin"}])
        owner = converted["OWNER#abc123", "META"]
        assert (owner["name"], owner["User.name"], owner["phone"]) == ("John Doe", "Jon", "+39 123 456 7890")
        assert (owner["role"], owner["User.role"]) == ("USER", "admin")


class TestBookings:
    def test_an_approved_booking_takes_its_half_days_as_its_event_tells_them(self) -> None:
        booking, event = {**BOOKING, "status": "approved"}, {**EVENT, "title": "Party", "sound": "loud"}
        converted = Converted([PLACE, USER, booking, event])
        for half in ("MORNING", "AFTERNOON"):
            slot = converted[DAY, f"DAY#2025-11-15#{half}"]
            assert (slot["eventId"], slot["title"], slot["bookingId"]) == ("evt456", "Party", "xyz789")
            assert (slot["createdBy"], slot["duration"]) == ("abc123", "FULL_DAY")
        assert converted["BOOKING#xyz789", "META"]["sound"] == "loud"
        assert converted.report.unplaced == {("BOOKING", "sound"): 1}
        assert converted.violations == []

    def test_the_event_of_a_booking_that_is_not_approved_is_an_event_of_its_own(self) -> None:
        converted = Converted([PLACE, USER, BOOKING, EVENT])
        claim = converted[DAY, "CID#evt456"]
        assert (claim["bookingId"], claim["eventType"]) == ("xyz789", "private_booking")
        assert "bookingId" not in converted[DAY, "DAY#2025-11-15#MORNING"]
        assert converted["OWNER#abc123", "PENDING_BOOKINGS"]["pendingBookings"] == 1
        assert converted.violations == []

    def test_the_halves_of_an_event_become_one_event(self) -> None:
        halves = [{**EVENT, "SK": half, "timeSlot": half} for half in ("MORNING", "AFTERNOON")]
        converted = Converted([PLACE, *halves])
        assert converted[DAY, "CID#evt456"]["duration"] == "FULL_DAY"
        assert converted.report.left == {}

    def test_without_a_location_bookings_and_events_stay_and_are_reported(self) -> None:
        converted = Converted([BOOKING, EVENT], location=None)
        assert converted.report.left == {("Booking", "locationId"): 1, ("Event", "locationId"): 1}
        assert ("Event", "title") in converted.report.unplaced

    def test_a_booking_whose_half_day_is_taken_stays(self) -> None:
        both = [{**BOOKING, "PK": f"BOOKING#{name}", "bookingId": name, "status": "approved"} for name in ("b1", "b2")]
        converted = Converted([PLACE, USER, *both])
        assert converted.report.left == {("Booking", "its half day is taken"): 1}
        assert converted.violations == []

    def test_payments_and_notifications_are_converted_as_far_as_they_tell_enough(self) -> None:
        payment = {"PK": "BOOKING#xyz789", "SK": "PAYMENT#p", "amount": 5, "currency": "EUR", "createdAt": 0}
        note = {"PK": "USER#abc123", "SK": "NOTIFICATION#n", "message": "Hello", "createdAt": 0, "isRead": True}
        bare = [{**payment, "SK": "PAYMENT#q", "currency": "gold"}, {**note, "SK": "NOTIFICATION#m", "message": None}]
        converted = Converted([PLACE, USER, BOOKING, payment, note, *bare])
        start = "1970-01-01T00:00:00.000Z"
        assert converted["BOOKING#xyz789", "PAYMENT#p"]["paidAt"] == start
        assert converted["OWNER#abc123", f"NOTIFICATION#{start}#n"]["isRead"] is True
        assert converted.report.left == {("PAYMENT", "currency"): 1, ("Notification", "message"): 1}
        (violation,) = converted.violations
        assert violation.startswith("BOOKING#xyz789 / PAYMENT#q it cannot be read")
