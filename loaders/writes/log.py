"""The step that logs a write: one item in the same transaction, for each part of the log that it concerns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from domain.activity import Actor, Happening
from domain.authorization import Principal
from domain.times import shift, to_seconds
from loaders import keys
from loaders.backend import Backend
from loaders.codecs import LogEntry
from loaders.contracts.writing import WriteContract
from loaders.log import encode_happenings

if TYPE_CHECKING:
    from loaders.table.operations import Step


@dataclass(frozen=True, slots=True)
class Log:
    """Logs what one caller does; time does it if there is no principal."""

    backend: Backend
    principal: Principal | None

    async def transact(self, contract: WriteContract, steps: Sequence[Step], *happenings: Happening) -> None:
        """Sends the steps of a contract, and what they do, in one transaction."""
        await self.backend.store.transact(contract.transact(*steps, *self.steps(contract, happenings)))

    def steps(self, contract: WriteContract, happenings: Sequence[Happening]) -> list[Step]:
        """The steps that log what a transaction does; they are made last, since the time that they name grows old."""
        contract.check_emitted(happening.kind for happening in happenings)
        stamp, entry_id = self.backend.stamp(), self.backend.new_id()
        expires_at = to_seconds(shift(stamp.at, self.backend.log_retention))
        actor = {} if self.principal is None else _attributes(Actor.of(self.principal))
        shards: dict[int, list[tuple[int, Happening]]] = {}
        for numbered in enumerate(happenings):
            for shard in {keys.log_shard(place) for place in numbered[1].places}:
                shards.setdefault(shard, []).append(numbered)
        steps = []
        for shard, told in sorted(shards.items()):
            text = encode_happenings(told)
            entry = LogEntry(
                shard=shard, stamp=stamp.at, entry_id=entry_id, happenings=text, expires_at=expires_at, **actor
            )
            steps.append(contract.log_step(entry, stamp))
        return steps


def _attributes(actor: Actor) -> dict[str, Any]:
    return {
        "actor_subject": actor.subject,
        "actor_role": actor.role,
        "actor_owner_id": actor.owner_id,
        "actor_key_id": actor.key_id,
    }
