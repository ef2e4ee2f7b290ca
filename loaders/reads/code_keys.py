"""Which secrets of the ring are in use: one may leave it only when no live code, device or webhook needs it."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from domain.access_codes import AccessCode, may_open
from domain.retention import unexpired
from domain.times import Instant
from domain.webhooks import WebhookStatus
from loaders.codecs import ACCESS_CODE, CODE_DOOR, RECIPIENT_RESERVATION, WEBHOOK
from loaders.contracts.access_codes import CODE_KEYS_SCAN
from loaders.contracts.base import MAX_ITEMS
from loaders.contracts.bookings import BOOKING_BY_ID
from loaders.contracts.lockers import LOCKER_BY_ID
from loaders.contracts.reading import ReadOne
from loaders.contracts.reservations import RESERVATION_BY_KEY
from loaders.table.client import DynamoStore
from loaders.table.values import WireItem

_BASES: dict[str, ReadOne[Any]] = {"reservation": RESERVATION_BY_KEY, "booking": BOOKING_BY_ID, "locker": LOCKER_BY_ID}


@dataclass(slots=True)
class KeyUse:
    """How many live codes, devices, webhooks and recipients of reservations need a key."""

    codes: int = 0
    devices: int = 0
    webhooks: int = 0
    recipients: int = 0

    @property
    def is_needed(self) -> bool:
        return bool(self.codes or self.devices or self.webhooks or self.recipients)


async def key_uses(store: DynamoStore, now: Instant) -> dict[str, KeyUse]:
    """The uses of each key; reads the whole table (QC-113)."""
    uses: defaultdict[str, KeyUse] = defaultdict(KeyUse)
    async for page in CODE_KEYS_SCAN.pages(store):
        codes: list[AccessCode] = []
        for item in page.items:
            if item.get("entityType") == {"S": "ACCESS_CODE"}:
                codes.append(ACCESS_CODE.read(item))
            for kind, key_id in _others(item, now):
                setattr(uses[key_id], kind, getattr(uses[key_id], kind) + 1)
        for code in await _live(store, codes, now):
            uses[code.key_id].codes += 1
    return dict(uses)


def _others(item: WireItem, now: Instant) -> Iterator[tuple[str, str]]:
    """The keys that an item needs which is no code, each with the name of its count."""
    match item.get("entityType"):
        case {"S": "CODE_DOOR"}:
            door = CODE_DOOR.read(item)
            if door.device_key_id is not None:
                yield "devices", door.device_key_id
        case {"S": "WEBHOOK"}:
            webhook = WEBHOOK.read(item)
            if webhook.status is not WebhookStatus.DELETED:
                yield from (("webhooks", key_id) for key_id in {key_id for key_id, _ in webhook.secrets(now)})
        case {"S": "RECIPIENT_RESERVATION"}:
            entry = unexpired(RECIPIENT_RESERVATION.read(item), now)
            if entry is not None:
                yield "recipients", entry.recipient_hash.partition("#")[0]


def basis_key(code: AccessCode) -> tuple[ReadOne[Any], tuple[Any, ...]]:
    kind, key = code.basis
    return _BASES[kind], key


async def _live(store: DynamoStore, codes: list[AccessCode], now: Instant) -> list[AccessCode]:
    found: dict[tuple[str, tuple[Any, ...]], Any] = {}
    for kind, contract in _BASES.items():
        wanted = list({code.basis[1] for code in codes if code.basis[0] == kind})
        for first in range(0, len(wanted), MAX_ITEMS):
            batch = wanted[first : first + MAX_ITEMS]
            records = await contract.read_many(store, batch)
            found |= {(kind, key): record for key, record in zip(batch, records, strict=True)}
    # What cannot be read may be live.
    return [
        code for code in codes if isinstance(found[code.basis], Exception) or may_open(code, now, found[code.basis])
    ]
