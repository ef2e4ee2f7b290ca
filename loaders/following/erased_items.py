"""Items without what they tell of a person: which items belong together, and what is left of each."""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from domain.activity import ActivityKind, PastActivity, history_places
from domain.bookings import is_open_booking, slots_in
from domain.models import LockerStatus, OwnerId, ReservationStatus, door_of
from domain.times import Instant
from loaders import keys
from loaders.codecs import ACTIVITY
from loaders.contracts.privacy import StoredItem
from loaders.conversion import DamagedItemError
from loaders.table.positions import Key
from loaders.table.values import Item

ERASED = "erased"
"""In the place of texts that must not be empty."""
_NO_URL = "https://erased.invalid/"


class InUseError(Exception):
    """The owner has something again, or still, that must end before its items can be erased."""


def pseudonym_of(owner_id: OwnerId) -> str:
    """Stands for every subject of an erased owner."""
    return f"{ERASED}:{owner_id}"


def check_unused(item: StoredItem, now: Instant) -> None:
    """Raises an InUseError for what an owner must not have any more."""
    made = item.reservation
    is_live = made is not None and made.status is ReservationStatus.ACTIVE and made.end_at > now
    is_open = item.booking is not None and is_open_booking(item.booking, now)
    is_locker = item.kind == "OWNER_LOCKER" and item.content["status"] != LockerStatus.RETIRED
    if is_live or is_open or is_locker:
        raise InUseError


def activity_in(item: StoredItem) -> PastActivity | None:
    """The activity of an item; None if it is damaged."""
    try:
        return ACTIVITY.decode({"entityType": item.kind, **item.content})
    except DamagedItemError:
        return None


def activity_keys(activity: PastActivity) -> list[Key]:
    """The copies of an activity in all histories, and its entry in the parts of the log, wherever there is one."""
    entry_id, at = activity.activity_id.rpartition("-")[0], activity.occurred_at
    places = dict.fromkeys([activity.place, *history_places(activity)])
    copies = [keys.activity(place, at, activity.activity_id) for place in places]
    return [*(keys.log_entry(shard, at, entry_id) for shard in range(keys.LOG_SHARDS)), *copies]


def keys_acted_on(activity: PastActivity) -> list[Key]:
    """The access code of an activity, or the record of the door that got a device: they name who did it, too."""
    if activity.kind is ActivityKind.DEVICE_PROVISIONED:
        return [keys.code_door(door_of(activity.locker_id, activity.location_id))]
    return [] if activity.code_key is None else [keys.access_code(*activity.code_key)]


def keys_with(item: StoredItem) -> list[Key]:
    """The items that are erased together with one that is stored under an owner; none where nothing is personal."""
    if item.reservation is not None:
        made = item.reservation
        locker_id, start_at, reservation_id = place = (made.locker_id, made.start_at, made.reservation_id)
        reference = [] if made.reference is None else [keys.reservation_reference(made.owner_id, made.reference)]
        return [
            *(keys.reservation(*place), keys.live_reservation(*place), keys.locker(locker_id)),
            *(keys.owner_reservation(made.owner_id, start_at, reservation_id), keys.active_pointer(locker_id)),
            *(keys.reservation_claim(locker_id, reservation_id), keys.any_claim(made.owner_id, reservation_id)),
            *(keys.reservation_details(locker_id, reservation_id), *reference),
        ]
    if item.booking is not None:
        booked = item.booking
        return [
            keys.booking(booked.booking_id),
            keys.owner_booking(booked.owner_id, booked.date, booked.booking_id),
            *(keys.calendar_slot(booked.location_id, booked.date, slot) for slot in slots_in(booked.duration)),
        ]
    if item.kind == ACTIVITY.entity_type:
        return [] if (activity := activity_in(item)) is None else keys_acted_on(activity)
    if item.kind == "NOTIFICATION":
        content: Mapping[str, Any] = item.content
        return [keys.notification(item.owner_id, content["createdAt"], content["notificationId"])]
    return []


def keys_by_recipient(item: Item) -> list[Key]:
    """The items by which a reservation is found by its recipient, if the item has its details."""
    hashes: Any = item.get("recipientHashes", []) if item.get("entityType") == "RESERVATION_DETAILS" else []
    named: Any = [item.get(name) for name in ("startAt", "lockerId", "reservationId")]
    return [keys.recipient_reservation(one, *named) for one in hashes]


class Eraser:
    """Erases what items tell of one owner."""

    def __init__(self, owner_id: OwnerId, subjects: AbstractSet[str]) -> None:
        self._owner_id = owner_id
        self._subjects = subjects

    def erase(self, item: Item, root: Key) -> Item | None:
        """Returns what is left of an item, None if nothing is; the same if it tells nothing.

        `root` is the key of the record that it was found by, if it is of that record alone.
        """
        erase = self._KINDS.get(str(item.get("entityType")))
        return item if erase is None else erase(self, item, root)

    def _reservation(self, item: Item, root: Key) -> Item:
        own = keys.reservation(item["lockerId"], item["startAt"], item["reservationId"])  # type: ignore[arg-type]
        if own != root or not item.keys() & {"reference", "endReason", "lastChange"}:
            return item
        return _without(item, "reference", "endReason", "lastChange") | _next_version(item)

    def _locker(self, item: Item, root: Key) -> Item:
        if root != keys.locker(item["lockerId"]):  # type: ignore[arg-type]
            if root.sk.rpartition("#")[2] == item.get("occupiedBy"):
                raise InUseError  # its reservation must be released first
            return item
        if "alias" not in item:
            return item
        return _without(item, "alias", "lastChange") | _next_version(item) | _no_fingerprint(item)

    def _booking(self, item: Item, _: Key) -> Item:
        if item["ownerId"] != self._owner_id:
            return self._decided(item)
        if item["description"] == ERASED and not item.keys() & {"reason", "decidedBySubject"}:
            return item
        changed = _without(item, "reason", "decidedBySubject", "lastChange") | _next_version(item)
        return changed | _no_fingerprint(item) | {"description": ERASED}

    def _decided(self, item: Item) -> Item:
        """The booking of somebody else: it still has somebody who decided it."""
        subject = item.get("decidedBySubject")
        if subject not in self._subjects:
            return item
        return _without(item, "lastChange") | _next_version(item) | {"decidedBySubject": self._other(subject)}

    def _half_day(self, item: Item, root: Key) -> Item:
        return {**item, "title": ERASED} if root == keys.booking(item.get("bookingId")) else item  # type: ignore[arg-type]

    def _code(self, item: Item, _: Key) -> Item:
        reveals: Any = item.get("reveals", [])
        changed = {
            **item,
            **{name: self._other(item[name]) for name in ("issuedBy", "createdBy", "revokedBy") if name in item},
            "reveals": [" ".join([*text.split(" ", 2)[:2], self._other(text.split(" ", 2)[2])]) for text in reveals],
        }
        if item["ownerId"] == self._owner_id:
            changed = _without(changed, "label") | _no_fingerprint(item)
        return changed

    def _door(self, item: Item, _: Key) -> Item:
        return {**item, "provisionedBy": self._other(item["provisionedBy"])} if "provisionedBy" in item else item

    def _activity(self, item: Item, _: Key) -> Item:
        if item.get("actorOwnerId") != self._owner_id:
            return item
        return {**item, "actorSubject": pseudonym_of(self._owner_id)}

    def _created(self, item: Item, _: Key) -> Item:
        return {**item, "createdBy": self._other(item["createdBy"])}

    def _webhook(self, item: Item, root: Key) -> Item:
        changed = self._created(item, root)
        if item.get("ownerId") != self._owner_id:
            return changed
        return _without(changed, "description", "lastChange") | {"url": _NO_URL} | _no_fingerprint(item)

    def _budget(self, item: Item, _: Key) -> Item | None:
        return None if item.get("subject") in self._subjects else {**item, "setBy": self._other(item["setBy"])}

    def _event(self, item: Item, _: Key) -> Item:
        return _without(item, "metadata") if item["actorId"] == self._owner_id else item

    def _other(self, subject: Any) -> Any:
        return pseudonym_of(self._owner_id) if subject in self._subjects else subject

    _KINDS: Mapping[str, Callable[["Eraser", Item, Key], Item | None]] = {
        **dict.fromkeys(("RESERVATION", "OWNER_RESERVATION", "LIVE_RESERVATION", "RESERVATION_ACTIVE"), _reservation),
        **dict.fromkeys(
            ("RESERVATION_CLAIM", "ANY_LOCKER_CLAIM", "ACCESS_EVENT_CLAIM"),
            lambda _, item, __: {**item, "fingerprint": ERASED},
        ),
        **dict.fromkeys(
            ("RESERVATION_DETAILS", "RECIPIENT_RESERVATION", "REFERENCE_CLAIM", "NOTIFICATION"), lambda *_: None
        ),
        **dict.fromkeys(("BOOKING", "OWNER_BOOKING"), _booking),
        "CALENDAR_SLOT": _half_day,
        **dict.fromkeys(("LOCKER", "OWNER_LOCKER", "LOCATION_LOCKER"), _locker),
        "ACCESS_CODE": _code,
        "CODE_DOOR": _door,
        **dict.fromkeys(("ACTIVITY", "LOG_ENTRY"), _activity),
        "API_KEY": _created,
        "WEBHOOK": _webhook,
        "CALLER_BUDGET": _budget,
        "ACCESS_EVENT": _event,
    }


def _without(item: Item, *names: str) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in names}


def _next_version(item: Item) -> dict[str, Any]:
    """With it, a write that was decided on the item as it was is decided again."""
    version: Any = item.get("version")
    return {} if version is None else {"version": version + 1}


def _no_fingerprint(item: Item) -> dict[str, Any]:
    """A hash of what was erased tells it to those who can guess it."""
    return {"fingerprint": ERASED} if "fingerprint" in item else {}
