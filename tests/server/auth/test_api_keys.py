import asyncio

import pytest
import pytest_asyncio

from domain.api_keys import ApiKey, ApiKeyId, ApiKeyRole, format_key
from domain.authorization import DEVELOPMENT_ADMIN, Principal, Role, Scope
from domain.commands.api_keys import CreateApiKey, ResumeApiKey, RevokeApiKey, SuspendApiKey
from domain.errors import UnavailableError
from domain.models import LockerId, OwnerId
from loaders.backend import Backend
from loaders.writes.api_keys import create_api_key, resume_api_key, revoke_api_key, suspend_api_key
from server.auth.api_keys import ApiKeyVerifier
from server.http_errors import InvalidCredentialsError
from tests.conftest import Clock


class Keys:
    """Keys as the verifier reads them, with a timer that stands still and reads that can be held."""

    def __init__(self, clock: Clock) -> None:
        self.now = 0.0
        self.records: dict[ApiKeyId, ApiKey] = {}
        self.reads: list[ApiKeyId] = []
        self.answers = asyncio.Event()
        self.answers.set()
        self._verifier = ApiKeyVerifier(self._read, clock, lambda: self.now)

    async def result(self, secret: str) -> Principal | str:
        try:
            return await self._verifier.principal(secret)
        except (InvalidCredentialsError, UnavailableError) as error:
            return str(error)

    async def held(self, *secrets: str, reads: int) -> list[asyncio.Task[Principal | str]]:
        """Verifies keys at once, and returns when so many more reads have begun."""
        expected = len(self.reads) + reads
        tasks = [asyncio.create_task(self.result(secret)) for secret in secrets]
        while len(self.reads) < expected:  # noqa: ASYNC110  # the reads are what is waited for
            await asyncio.sleep(0)
        return tasks

    async def _read(self, key_id: ApiKeyId) -> ApiKey | None:
        self.reads.append(key_id)
        await self.answers.wait()
        return self.records.get(key_id)


@pytest.fixture
def keys(clock: Clock) -> Keys:
    return Keys(clock)


@pytest_asyncio.fixture
async def partner(backend: Backend, keys: Keys) -> str:
    owners = [OwnerId("o1"), OwnerId("o2")]
    command = CreateApiKey(name="Courier", role=ApiKeyRole.PARTNER, owner_ids=owners, scopes=[Scope.LOCKERS_READ])
    created = await create_api_key(backend, command, DEVELOPMENT_ADMIN)
    keys.records[created.record.key_id] = created.record
    assert created.secret is not None
    return created.secret


def made_up(name: object) -> str:
    return format_key(ApiKeyId(f"made-up-{name}"), "0" * 64)


UNKNOWN = "The API key is unknown."
BUSY = "Too many API keys are being looked up: try again in a moment."


async def test_a_key_stands_for_its_holder(keys: Keys, backend: Backend, partner: str) -> None:
    (key_id,) = keys.records
    holder = await keys.result(partner)
    assert isinstance(holder, Principal)
    assert holder.credential == key_id
    assert holder == Principal(
        subject=f"key:{key_id}",
        role=Role.PARTNER,
        partner_of=frozenset({OwnerId("o1"), OwnerId("o2")}),
        scopes=frozenset({Scope.LOCKERS_READ}),
        by_key=True,
    )
    device = await create_api_key(
        backend, CreateApiKey(name="Door", role=ApiKeyRole.DEVICE, locker_id=LockerId("l1")), DEVELOPMENT_ADMIN
    )
    keys.records[device.record.key_id] = device.record
    assert await keys.result(str(device.secret)) == Principal(
        subject=f"key:{device.record.key_id}", role=Role.DEVICE, locker_id=LockerId("l1"), by_key=True
    )


async def test_a_revoked_key_is_rejected_after_three_seconds(keys: Keys, backend: Backend, partner: str) -> None:
    (key_id,) = keys.records
    assert isinstance(await keys.result(partner), Principal)
    keys.records[key_id] = await revoke_api_key(backend, RevokeApiKey(key_id=key_id), DEVELOPMENT_ADMIN)
    keys.now = 2.9
    assert isinstance(await keys.result(partner), Principal)
    keys.now = 3.0
    assert await keys.result(partner) == "The API key was revoked."
    assert keys.reads == [key_id] * 2


async def test_a_suspended_key_is_rejected_in_the_same_time_and_only_its_holder_learns_why(
    keys: Keys, backend: Backend, partner: str
) -> None:
    (key_id,) = keys.records
    assert isinstance(await keys.result(partner), Principal)
    suspend = SuspendApiKey(key_id=key_id, expected_version=1)
    keys.records[key_id] = await suspend_api_key(backend, suspend, DEVELOPMENT_ADMIN)
    keys.now = 2.9
    assert isinstance(await keys.result(partner), Principal)
    keys.now = 3.0
    assert await keys.result(partner) == "The API key is suspended."
    assert await keys.result(format_key(key_id, "0" * 64)) == UNKNOWN
    resume = ResumeApiKey(key_id=key_id, expected_version=2)
    keys.records[key_id] = await resume_api_key(backend, resume, DEVELOPMENT_ADMIN)
    keys.now = 6.0
    assert isinstance(await keys.result(partner), Principal)


async def test_repeating_an_invalid_key_does_not_reach_the_store_and_a_malformed_one_never_does(keys: Keys) -> None:
    for number in range(10):
        assert await keys.result(f"{made_up(1)[:-2]}{number:02d}") == UNKNOWN
        assert await keys.result(f"slk_{number}") == UNKNOWN
    assert keys.reads == ["made-up-1"]


async def test_the_cache_is_limited_and_made_up_keys_do_not_evict_real_ones(keys: Keys, partner: str) -> None:
    (key_id,) = keys.records
    await keys.result(partner)
    await keys.result(made_up("first"))
    keys.now = 2.9
    await keys.result(made_up("first"))
    keys.now = 3.0
    await keys.result(made_up("first"))
    assert keys.reads == [key_id, "made-up-first", "made-up-first"]
    await keys.result(partner)
    for number in range(10_000):
        await keys.result(made_up(number))
    await keys.result(made_up("first"))
    await keys.result(made_up(9999))
    await keys.result(partner)
    assert [keys.reads.count(ApiKeyId(name)) for name in (key_id, "made-up-first", "made-up-9999")] == [2, 3, 1]


async def test_a_client_that_disconnects_does_not_end_the_read_for_the_others(keys: Keys, partner: str) -> None:
    keys.answers.clear()
    hasty, patient = await keys.held(partner, partner, reads=1)
    hasty.cancel()
    await asyncio.wait([hasty])
    assert not patient.done()
    keys.answers.set()
    assert isinstance(await patient, Principal)
    assert len(keys.reads) == 1


async def test_of_many_made_up_keys_sixteen_are_read_and_known_keys_do_not_wait(keys: Keys, partner: str) -> None:
    await keys.result(partner)
    keys.now = 3.0  # what is known must be read again
    keys.answers.clear()
    tasks = await keys.held(*map(made_up, range(500)), reads=16)
    known = asyncio.create_task(keys.result(partner))
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    assert {task.result() for task in done} == {BUSY}
    assert len(keys.reads) == 1 + 16
    keys.answers.set()
    assert isinstance(await known, Principal)
    results = await asyncio.gather(*tasks)
    assert (results.count(BUSY), results.count(UNKNOWN)) == (500 - 116, 116)
    assert await keys.result(made_up("later")) == UNKNOWN
