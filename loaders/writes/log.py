"""The step that logs a write: one item in the same transaction, for each part of the log that it concerns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from domain.activity import Actor, Happening
from domain.api_keys import ApiKeyId
from domain.authorization import Principal
from domain.times import Instant, shift, to_seconds
from loaders import keys
from loaders.backend import Backend
from loaders.contracts.writing import WriteContract
from loaders.log import activity_of, encode_happenings

if TYPE_CHECKING:
    from loaders.table.clock import Stamp
    from loaders.table.operations import Step

_SECOND = len("2026-03-01T12:00:00")


@dataclass(frozen=True, slots=True)
class Log:
    """Logs what one caller does; time does it if there is no principal."""

    backend: Backend
    principal: Principal | None

    async def transact(self, contract: WriteContract, steps: Sequence[Step], *happenings: Happening) -> None:
        """Sends the steps of a contract, and what they do, in one transaction; then tells those who want to know."""
        contract.check_emitted(happening.kind for happening in happenings)
        # Made last, since the time that the entries name grows old.
        stamp, entry_id = self.backend.stamp(), self.backend.new_id()
        entries = self._entries(contract, stamp, entry_id, happenings)
        await self.backend.store.transact(contract.transact(*steps, *entries))
        listener = self.backend.listener
        if listener is not None and listener.is_listening:
            actor = self._actor
            told = [activity_of(entry_id, stamp.at, actor, *numbered) for numbered in enumerate(happenings)]
            listener.tell(told)

    def _entries(
        self, contract: WriteContract, stamp: Stamp, entry_id: str, happenings: Sequence[Happening]
    ) -> list[Step]:
        common = {"expiresAt": _expiry(stamp.at[:_SECOND], self.backend.retention.log), **self._attributes}
        shards: dict[int, list[tuple[int, Happening]]] = {}
        for numbered in enumerate(happenings):
            for shard in {keys.log_shard(place) for place in numbered[1].places}:
                shards.setdefault(shard, []).append(numbered)
        return [
            contract.log_step(shard, stamp, entry_id, {"happenings": encode_happenings(told), **common})
            for shard, told in sorted(shards.items())
        ]

    @property
    def _attributes(self) -> dict[str, Any]:
        principal = self.principal
        if principal is None:
            return {}
        attributes: dict[str, Any] = {"actorSubject": principal.subject, "actorRole": principal.role}
        if principal.owner_id is not None:
            attributes["actorOwnerId"] = principal.owner_id
        if principal.by_key and principal.credential:
            attributes["actorKeyId"] = principal.credential
        return attributes

    @property
    def _actor(self) -> Actor | None:
        principal = self.principal
        if principal is None:
            return None
        key_id = ApiKeyId(principal.credential) if principal.by_key and principal.credential else None
        return Actor(subject=principal.subject, role=principal.role, owner_id=principal.owner_id, key_id=key_id)


@lru_cache(1)
def _expiry(second: str, retention: timedelta) -> int:
    return to_seconds(shift(Instant(f"{second}.000Z"), retention))
