"""An example of every list that is read in pages, and the items that stand beside lists and must not be in them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from inspect import isfunction, signature
from typing import Any

from domain.bookings import BookingStatus
from domain.models import LocationStatus, LockerId, LockerStatus, OwnerId, ReservableBy, ReservationId, door_of
from domain.times import EARLIEST, FIRST_DAY, LAST_DAY, LATEST
from domain.webhooks import WebhookStatus
from loaders import keys
from loaders.codecs import OWNER_BOOKING
from loaders.contracts.base import Order
from loaders.contracts.reading import ReadPage
from loaders.contracts.registry import CONTRACTS
from loaders.conversion import Codec
from loaders.pages import Page, PageRequest
from loaders.table.client import Store
from loaders.table.positions import IndexKey, Key, Position
from tests.contracts.samples import DAY, LONGEST, NOON, RECIPIENT, SHORT, arguments_of, at, day, filled, record

Item = tuple[Key, "Mapping[str, Any]"]
PAGED: dict[str, ReadPage[Any]] = {
    contract.id: contract
    for contract in CONTRACTS.values()
    if isinstance(contract, ReadPage) and contract.page_rule.look_ahead
}
KEYS = [builder for builder in vars(keys).values() if isfunction(builder) and builder.__annotations__["return"] is Key]


def not_indexed() -> dict[str, str]:
    return {}


def first_part(status: LockerStatus, locker_id: LockerId) -> dict[str, str]:
    """The place of a locker in the first part of all lockers of its status."""
    return {"GSI1PK": keys.lockers_of_status(status, 0).pk, "GSI1SK": locker_id}


def claim_at(reservation_id: ReservationId, locker_id: LockerId) -> Key:
    """The claim on an id at one of many lockers."""
    return keys.reservation_claim(locker_id, reservation_id)


def reference_of(reference: str, owner_id: OwnerId) -> Key:
    """The claim of one of many owners on a reference."""
    return keys.reservation_reference(owner_id, reference)


@dataclass(frozen=True)
class ListExample:
    """One list: the key of its items, whose last argument identifies them, and their place in the index."""

    contract: ReadPage[Any]
    key: Callable[..., Key]
    index: Callable[..., dict[str, str]] = not_indexed
    given: Mapping[str, Any] = field(default_factory=dict)
    """Values that are not those of the examples."""
    stored: dict[str, Any] = field(default_factory=dict)
    """Attributes that items have beside those of their records."""
    of: Codec[Any] | None = None
    """The kind of its items, where the list has items of any kind."""
    by: str | None = None
    """The field that identifies the items, where it is not the key's last argument."""

    @property
    def id_field(self) -> str:
        """The field that identifies the items."""
        return self.by or list(signature(self.key).parameters)[-1]

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The arguments of the range, without a window."""
        return tuple(arguments_of(self.contract.range, LONGEST, **self.given).values())

    def item(self, number: int, *, longest: bool = False) -> Item:
        """The nth item in ascending order."""
        codec = self.of or self.contract.codec
        model: Any = codec._model  # noqa: SLF001
        builders = (self.key, self.index, self.contract.range)
        known = {name: value for builder in builders for name, value in arguments_of(builder, LONGEST).items()}
        ids = {part.name: known[part.name] for part in fields(model) if part.name in known and part.name[-3:] == "_id"}
        one = record(model, number, longest=longest, **{**ids, **self.given, self.id_field: self.name(number)})
        told = {name: getattr(one, name) for name in known if hasattr(one, name)}
        return filled(self.key, LONGEST, **told), codec.encode(one) | filled(self.index, LONGEST, **told) | self.stored

    def name(self, number: int) -> str:
        """The id of the nth item."""
        return f"{number:026d}" if self.id_field == "location_id" else f"{number:064d}"

    def name_of(self, one: Any) -> str:
        """The id of a record, or of the booking that it holds."""
        return str(getattr(one if self.of is None else one.booking, self.id_field))

    def position(self, number: int) -> Position:
        """Where the nth item stands in the list."""
        key, attributes = self.item(number)
        return IndexKey(*key, attributes["GSI1PK"], attributes["GSI1SK"]) if self.index_name else key

    @property
    def index_name(self) -> str | None:
        """The index that the list reads, if not the table itself."""
        return self.contract.range(*self.arguments).index

    @property
    def has_window(self) -> bool:
        """Whether the list can be narrowed to a time window."""
        return self.widest != ()

    @property
    def widest(self) -> tuple[Any, ...]:
        """The bounds of the widest window of the list."""
        bounds = [one.default for one in signature(self.contract.range).parameters.values()]
        return tuple(bound for bound in bounds if bound in {EARLIEST, LATEST, FIRST_DAY, LAST_DAY})

    def moment(self, number: int) -> str:
        """The time or day of the nth item, by which windows narrow the list."""
        return day(number) if self.widest == (FIRST_DAY, LAST_DAY) else at(number)

    async def read(self, store: Store, request: PageRequest, order: Order, *window: Any) -> Page[Any]:
        """Reads a page."""
        bounds = window or self.widest
        return await self.contract.page(store, request, order, *self.arguments, *bounds)


_FINGERPRINT = {"fingerprint": "f" * 64}
_BY_OWNER = (keys.owner_locker, keys.owner_locker_index)
_AT_LOCATION = (keys.location_locker, keys.location_locker_index)
_UNDECIDED = {"status": BookingStatus.PENDING, "reason": None, "decided_by": None, "decided_by_subject": None}
_AT_LOCKER = {"locker_id": LONGEST.locker, "location_id": None, "reservation_id": LONGEST.reservation}
_CODES = (keys.access_code, keys.purpose_index, _AT_LOCKER, _FINGERPRINT)
_UNLIKELY = dict.fromkeys(("calendar_event_id", "payment_id", "api_key_id", "caller_id", "booking_id", "event_id"))

_WEBHOOK = {"status": WebhookStatus.ACTIVE, "description": LONGEST.name}


def _history(kind: str, name: str) -> tuple[Any, ...]:
    return keys.activity, not_indexed, {"place": f"{kind}:{name}", **_UNLIKELY}


_AVAILABLE = {"status": LockerStatus.AVAILABLE, "shard": 0, "alias": LONGEST.name, "features": LONGEST.features}
_AVAILABLE["occupied_by"] = LONGEST.reservation
_OWNER = {"name": LONGEST.name, "email": LONGEST.email, "phone": LONGEST.phone}
_LISTS: dict[str, tuple[Any, ...]] = {
    "QC-02": _BY_OWNER,
    "QC-05": (keys.reservation,),
    "QC-09": (keys.event, not_indexed, {"location_id": None}),
    "QC-14": (keys.owner_reservation,),
    "QC-17": _BY_OWNER,
    "QC-32": (keys.location, keys.location_index, {"status": LocationStatus.ACTIVE}, _FINGERPRINT),
    "QC-34": _AT_LOCATION,
    "QC-35": _AT_LOCATION,
    "QC-37": (keys.offer,),
    "QC-38": (keys.offer,),
    "QC-42": (keys.booking, keys.pending_index, _UNDECIDED, _FINGERPRINT),
    "QC-45": (keys.owner_booking,),
    "QC-47": (keys.payment, not_indexed, {}, _FINGERPRINT),
    "QC-48": (keys.notification,),
    "QC-63": (keys.api_key, keys.api_key_index, {}, _FINGERPRINT),
    "QC-65": (keys.caller_budget, not_indexed, {"subject": None}, {}, None, "key_id"),
    "QC-85": (keys.live_reservation,),
    "QC-101": _CODES,
    "QC-102": _CODES,
    "QC-140": (keys.live_reservation, keys.due_index),
    "QC-151": _history("locker", LONGEST.locker),
    "QC-152": _history("location", LONGEST.location),
    "QC-153": _history("public", LONGEST.location),
    "QC-154": _history("owner", LONGEST.owner),
    "QC-156": (keys.log_entry, not_indexed, {"shard": 0}),
    "QC-170": (keys.owner, keys.owner_index, _OWNER, _FINGERPRINT),
    "QC-171": (keys.owner_name, keys.owner_name_index, {**_OWNER, "prefix": LONGEST.name}),
    "QC-172": (keys.locker, first_part, _AVAILABLE, _FINGERPRINT),
    "QC-173": (keys.overdue_stay, keys.overdue_index),
    "QC-174": (keys.reservation, keys.reservation_index),
    "QC-175": (keys.owner_booking, keys.booking_index, {"status": BookingStatus.PENDING}),
    "QC-177": (claim_at, keys.claim_index, {}, _FINGERPRINT),
    "QC-178": (reference_of, keys.reference_index, {"reference": LONGEST.reference}),
    "QC-179": (keys.owner_phone, not_indexed, {"digits": "1" * 30}),
    "QC-163": (keys.location_figures,),
    "QC-164": (keys.location_usage, not_indexed, {"date": DAY}),
    "QC-181": (keys.webhook, not_indexed, _WEBHOOK, _FINGERPRINT),
    "QC-182": (keys.webhook, keys.webhook_index, _WEBHOOK, _FINGERPRINT),
    "QC-186": (keys.delivery,),
    "QC-215": (keys.recipient_reservation, not_indexed, {"recipient_hash": RECIPIENT}),
    "QC-205": (keys.owner_booking, not_indexed, {}, {}, OWNER_BOOKING),
    "QC-114": (keys.door_event, not_indexed, {"locker_id": None, "location_id": LONGEST.location}),
}
LISTS = {contract_id: ListExample(PAGED[contract_id], *example) for contract_id, example in _LISTS.items()}


def neighbours(example: ListExample) -> list[Position]:
    """A position of every kind, in the list's own partition and elsewhere, but for the list's own."""
    within = example.contract.range(*example.arguments)
    crowd: list[Position] = [
        *(filled(builder, names) for builder in KEYS for names in (LONGEST, SHORT)),
        *(filled(builder, LONGEST, door=door_of(None, LONGEST.location)) for builder in KEYS),
        filled(keys.offer, LONGEST, audience=ReservableBy.OWNER),
        *(other.position(1) for other in LISTS.values() if other.index_name),
        IndexKey("LOCATION#2", "META", "LOCATION#INACTIVE", f"{NOON}#2"),
    ]
    return [position for position in dict.fromkeys(crowd) if position not in within]
