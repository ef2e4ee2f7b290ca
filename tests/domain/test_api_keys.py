"""API keys: their form, and how one is known again."""

from __future__ import annotations

import hmac
import string
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.api_keys import ApiKey, ApiKeyId, ApiKeyRole, digest_of, id_in, matches, principal_of, spelled_key
from domain.models import LockerId
from domain.principal import Principal, Role
from domain.times import Instant

IDS = st.text(string.ascii_letters + string.digits + "_-", min_size=1, max_size=64)
SECRETS = st.binary(min_size=32, max_size=32).map(bytes.hex)
DEVICE = ApiKey(
    key_id=ApiKeyId("k1"),
    name="Hall 3",
    role=ApiKeyRole.DEVICE,
    owner_ids=(),
    locker_id=LockerId("l1"),
    scopes=(),
    digest=digest_of(spelled_key(ApiKeyId("k1"), "0" * 64)),
    created_at=Instant("2026-03-01T12:00:00.000Z"),
    created_by="root",
    expires_at=None,
)


@given(IDS, SECRETS)
def test_a_key_names_its_id_whatever_the_id_is(key_id: str, secret: str) -> None:
    assert id_in(spelled_key(ApiKeyId(key_id), secret)) == key_id


@pytest.mark.parametrize(
    "text",
    [
        "",
        "slk_",
        "slk_k1",
        "slk_k1_",
        "slk__" + "0" * 64,
        "slk_k1_" + "0" * 63,
        "slk_k1_" + "A" * 64,
        "slk_k#1_" + "0" * 64,
        "slk_" + "k" * 65 + "_" + "0" * 64,
        "xslk_k1_" + "0" * 64,
        "slk_k1_" + "0" * 64 + "\n",
        "SLK_k1_" + "0" * 64,
    ],
)
def test_what_has_another_form_is_no_key(text: str) -> None:
    assert id_in(text) is None


@given(SECRETS)
def test_only_the_whole_key_matches(secret: str) -> None:
    text = spelled_key(ApiKeyId("k1"), secret)
    api_key = replace(DEVICE, digest=digest_of(text))
    assert matches(api_key, text)
    for other in (text[:-1], text + "0", secret, api_key.digest, spelled_key(ApiKeyId("k2"), secret), ""):
        assert not matches(api_key, other)


def test_a_key_is_never_an_admins_or_an_owners() -> None:
    assert {Role(role) for role in ApiKeyRole} == {Role.PARTNER, Role.DEVICE}
    assert principal_of(DEVICE) == Principal(subject="key:k1", role=Role.DEVICE, locker_id=LockerId("l1"), by_key=True)


def test_a_key_is_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[object, object]] = []
    monkeypatch.setattr(hmac, "compare_digest", lambda *pair: compared.append(pair))
    text = spelled_key(DEVICE.key_id, "0" * 64)
    assert not matches(DEVICE, text)
    assert compared == [(DEVICE.digest, digest_of(text))]
