import hmac
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.api_keys import ApiKey, ApiKeyId, ApiKeyRole, format_key, hash_key, parse_key_id, verify_key
from domain.models import LockerId
from domain.times import Instant

IDS = st.text(string.ascii_letters + string.digits + "_-", min_size=1, max_size=64)
SECRETS = st.binary(min_size=32, max_size=32).map(bytes.hex)
ZEROS = "0" * 64
DEVICE = ApiKey(
    key_id=ApiKeyId("k1"),
    name="Hall 3",
    role=ApiKeyRole.DEVICE,
    owner_ids=(),
    locker_id=LockerId("l1"),
    scopes=(),
    digest=hash_key(format_key(ApiKeyId("k1"), ZEROS)),
    created_at=Instant("2026-03-01T12:00:00.000Z"),
    created_by="root",
    expires_at=None,
)


@given(IDS, SECRETS)
def test_the_id_of_a_key_can_be_read_from_its_text(key_id: str, secret: str) -> None:
    assert parse_key_id(format_key(ApiKeyId(key_id), secret)) == key_id


@pytest.mark.parametrize(
    "text",
    [
        *["", "slk_", "slk_k1", "slk_k1_", "slk_k1_" + "0" * 63, "slk_k1_" + "A" * 64],
        *[f"slk__{ZEROS}", f"slk_k#1_{ZEROS}", f"slk_{'k' * 65}_{ZEROS}"],
        *[f"xslk_k1_{ZEROS}", f"slk_k1_{ZEROS}\n", f"SLK_k1_{ZEROS}"],
    ],
)
def test_a_text_in_another_form_is_not_a_key(text: str) -> None:
    assert parse_key_id(text) is None


def test_a_key_is_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[object, object]] = []
    monkeypatch.setattr(hmac, "compare_digest", lambda *pair: compared.append(pair))
    text = format_key(DEVICE.key_id, ZEROS)
    assert not verify_key(DEVICE, text)
    assert compared == [(DEVICE.digest, hash_key(text))]
