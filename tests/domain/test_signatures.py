"""Signatures of webhooks: the published vector, and the library that receivers in Python verify them with."""

import base64
import time

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from domain.access_codes import CodeRing, UnknownKeyError
from domain.signatures import signed_headers, spelled_secret

BODY = '{"type":"reservation.created","data":{"lockerId":"locker-1","note":"é"}}'.encode()
RING = CodeRing.of([("k2", b"2" * 32), ("k1", b"1" * 32)])
OLD, NEW = RING.webhook_secret("k1", "hook-1", 1), RING.webhook_secret("k2", "hook-1", 2)


def test_the_published_vector_is_signed_as_published() -> None:
    secret = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    assert signed_headers("msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}', [secret]) == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    assert spelled_secret(secret) == "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def test_while_a_secret_is_renewed_receivers_with_either_accept_a_message_and_others_do_not() -> None:
    headers = signed_headers("event-1", int(time.time()), BODY, [NEW, OLD])
    for secret in (NEW, OLD):
        assert Webhook(spelled_secret(secret)).verify(BODY, headers)["type"] == "reservation.created"
    with pytest.raises(WebhookVerificationError):
        Webhook(spelled_secret(RING.webhook_secret("k2", "hook-1", 3))).verify(BODY, headers)


@pytest.mark.parametrize("changed", ["webhook-id", "webhook-timestamp", "body"])
def test_a_message_that_was_changed_is_not_accepted(changed: str) -> None:
    now = int(time.time())
    headers, body = signed_headers("event-1", now, BODY, [NEW]), BODY
    match changed:
        case "webhook-id":
            headers[changed] = "event-2"
        case "webhook-timestamp":
            headers[changed] = str(now + 1)
        case _:
            body += b" "
    with pytest.raises(WebhookVerificationError, match="No matching signature"):
        Webhook(spelled_secret(NEW)).verify(body, headers)


def test_a_message_that_is_sent_again_after_five_minutes_is_not_accepted() -> None:
    with pytest.raises(WebhookVerificationError, match="too old"):
        Webhook(spelled_secret(NEW)).verify(BODY, signed_headers("event-1", int(time.time()) - 301, BODY, [NEW]))


def test_each_webhook_has_a_secret_of_its_own_of_32_bytes_with_each_key_and_number() -> None:
    places = [(key, hook, number) for key in ("k1", "k2") for hook in ("hook", "hook-1") for number in (1, 2, 11)]
    secrets = {RING.webhook_secret(*place) for place in places}
    assert {len(secret) for secret in secrets} == {32}
    assert len(secrets) == len(places)
    with pytest.raises(UnknownKeyError):
        RING.webhook_secret("k3", "hook-1", 1)


def test_a_secret_stays_the_same_whatever_else_the_ring_has() -> None:
    """Receivers keep it: what it is derived from must never change."""
    alone = CodeRing.of([("k1", b"1" * 32)])
    assert alone.webhook_secret("k1", "hook-1", 1) == OLD
    assert spelled_secret(OLD) == "whsec_D3gMbcdnpWlYauTY+DzR+eEUSleC6Qo9tb+Xmn1YH9c="
