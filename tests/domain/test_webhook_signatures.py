"""Signatures of webhooks: the published vector, and the library that receivers in Python verify them with."""

import time
from base64 import b64decode

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from domain.access_codes import CodeRing, UnknownKeyError
from domain.webhook_signatures import secret_of, signed_headers

BODY = '{"type":"reservation.created","data":{"lockerId":"locker-1","note":"é"}}'.encode()
RING = CodeRing.of([("k2", b"2" * 32), ("k1", b"1" * 32)])
OLD, NEW = secret_of(RING, "k1", "hook-1", "1"), secret_of(RING, "k2", "hook-1", "2")


def test_the_published_vector_is_signed_as_published() -> None:
    published = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    assert signed_headers([published], "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}') == {
        "content-type": "application/json",
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_while_a_secret_is_renewed_receivers_with_either_accept_a_message_and_others_do_not() -> None:
    headers = signed_headers([NEW, OLD], "event-1", int(time.time()), BODY)
    for secret in (NEW, OLD):
        assert Webhook(secret).verify(BODY, headers)["type"] == "reservation.created"
    with pytest.raises(WebhookVerificationError):
        Webhook(secret_of(RING, "k2", "hook-1", "3")).verify(BODY, headers)


@pytest.mark.parametrize("changed", ["webhook-id", "webhook-timestamp", "body"])
def test_a_message_that_was_changed_is_not_accepted(changed: str) -> None:
    now = int(time.time())
    headers, body = signed_headers([NEW], "event-1", now, BODY), BODY
    match changed:
        case "webhook-id":
            headers[changed] = "event-2"
        case "webhook-timestamp":
            headers[changed] = str(now + 1)
        case _:
            body += b" "
    with pytest.raises(WebhookVerificationError, match="No matching signature"):
        Webhook(NEW).verify(body, headers)


def test_a_message_that_is_sent_again_after_five_minutes_is_not_accepted() -> None:
    with pytest.raises(WebhookVerificationError, match="too old"):
        Webhook(NEW).verify(BODY, signed_headers([NEW], "event-1", int(time.time()) - 301, BODY))


def test_each_webhook_has_a_secret_of_its_own_of_32_bytes_with_each_key_and_renewal() -> None:
    places = [(key, hook, secret) for key in ("k1", "k2") for hook in ("hook", "hook-1") for secret in ("1", "2", "11")]
    secrets = {secret_of(RING, *place) for place in places}
    assert {len(b64decode(secret.removeprefix("whsec_"), validate=True)) for secret in secrets} == {32}
    assert len(secrets) == len(places)
    with pytest.raises(UnknownKeyError):
        secret_of(RING, "k3", "hook-1", "1")


def test_a_secret_stays_the_same_whatever_else_the_ring_has() -> None:
    """Receivers keep it: what it is derived from must never change."""
    alone = CodeRing.of([("k1", b"1" * 32)])
    assert secret_of(alone, "k1", "hook-1", "1") == OLD == "whsec_D3gMbcdnpWlYauTY+DzR+eEUSleC6Qo9tb+Xmn1YH9c="
