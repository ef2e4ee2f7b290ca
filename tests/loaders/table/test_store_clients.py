import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from botocore.retries.standard import ThrottledRetryableChecker, TransientRetryableChecker

from domain.errors import UnavailableError
from loaders.codecs import LOCKER
from loaders.table.client import DynamoStore
from loaders.table.errors import BusyError, ConditionFailedError, StoreError, TransactionRefusedError
from loaders.table.operations import Action, BatchGet, Get, Put, Query, Step, Transact, Update
from loaders.table.positions import Key, Prefix
from loaders.table.raw_transport import RETRIED_CODES, RETRIED_STATUSES
from loaders.table.recording import RecordedStore
from loaders.table.transport import NoAnswerError, RefusedRequestError
from loaders.table.values import item_from_wire
from loaders.trace import Trace
from tests.loaders.table.conftest import Client
from tests.scripted import Reply, ScriptedStore, failed, ok
from tests.wire import Call, Wire

KEY = Key("LOCKER#l1", "META")
GET = Get("QC-01", KEY, shape=LOCKER.shape)
ITEM = {"PK": {"S": KEY.pk}, "SK": {"S": KEY.sk}, "version": {"N": "1"}}
IS_NEW = "attribute_not_exists(#PK)"
TRANSACTION = Transact(
    "QC-11",
    (
        Step("locker", Action.PUT, KEY, {"version": 1}, IS_NEW),
        Step("owner", Action.CHECK, Key("OWNER#acme", "META"), condition="attribute_exists(#PK)"),
    ),
)
SUCCESS_HEAD = b"HTTP/1.1 200 OK\r\n"


# On the embedded store


@pytest_asyncio.fixture
async def real(
    open_to: Callable[..., AbstractAsyncContextManager[DynamoStore]], wire: Wire, table: str
) -> AsyncIterator[DynamoStore]:
    """The client, on the embedded store behind the proxy."""
    async with open_to(wire.url) as opened:
        yield DynamoStore(opened.transport, table)


def put(key: Key, **attributes: Any) -> Put:
    return Put("QC-08", Step("event", Action.PUT, key, attributes, IS_NEW))


async def test_an_item_comes_back_as_it_was_written(real: DynamoStore) -> None:
    attributes = {
        "text": 'Schließfach № 7 🔐 \\ " \n \x7f',
        "number": 12345678901234567890123456789012345678,
        "exact": Decimal("0.1"),
        "flag": True,
        "nothing": None,
        "map": {"list": [1, {"deep": "value"}], "empty": {}},
        "long": "x" * 100_000,
    }
    await real.put(put(KEY, **attributes))
    found = await real.get(replace(GET, consistent=True))
    assert isinstance(found, dict)
    assert item_from_wire(found) == {"PK": KEY.pk, "SK": KEY.sk, **attributes}
    assert await real.get(Get("QC-01", Key("LOCKER#none", "META"))) is None


async def test_a_put_that_is_refused_brings_the_item_that_is_there(real: DynamoStore) -> None:
    await real.put(put(KEY, version=1))
    with pytest.raises(ConditionFailedError) as refused:
        await real.put(put(KEY, version=2))
    assert refused.value.item == {"PK": KEY.pk, "SK": KEY.sk, "version": 1}


async def test_an_update_returns_the_item_and_is_refused_by_its_condition(real: DynamoStore) -> None:
    await real.put(put(KEY, count=1))
    update = Update(
        "QC-50", Step("spent", Action.UPDATE, KEY, {"seen": True}, "#count < :most", {":most": 2}, {"count": 1})
    )
    assert await real.update(update) == {"PK": KEY.pk, "SK": KEY.sk, "count": 2, "seen": True}
    with pytest.raises(ConditionFailedError) as refused:
        await real.update(update)
    assert refused.value.item == {"PK": KEY.pk, "SK": KEY.sk, "count": 2, "seen": True}


async def test_a_transaction_is_written_whole_or_refused_by_its_steps_names(real: DynamoStore) -> None:
    with pytest.raises(TransactionRefusedError) as refused:
        await real.transact(replace(TRANSACTION, token=str(uuid4())))
    assert refused.value.failed == {"owner": None}
    assert await real.get(replace(GET, consistent=True)) is None
    await real.put(put(Key("OWNER#acme", "META")))
    await real.transact(replace(TRANSACTION, token=str(uuid4())))
    with pytest.raises(TransactionRefusedError) as refused:
        await real.transact(replace(TRANSACTION, token=str(uuid4())))
    assert refused.value.failed == {"locker": {"PK": KEY.pk, "SK": KEY.sk, "version": 1}}


async def test_a_batch_returns_what_exists_and_asks_again_for_what_was_left_out(real: DynamoStore, wire: Wire) -> None:
    keys = [Key("OWNER#acme", f"LOCKER#{number}") for number in range(8)]
    for key in keys[:6]:
        await real.put(put(key))

    def leave_half(call: Call) -> None:
        ((table, part),) = call.request["RequestItems"].items()
        left = part["Keys"][1:]
        if left:
            first = part["Keys"][0]["SK"]
            answered = call.response["Responses"].get(table, [])
            call.response["Responses"][table] = [item for item in answered if item["SK"] == first]
            call.response["UnprocessedKeys"] = {table: {**part, "Keys": left}}

    wire.reset()
    wire.amend = leave_half
    assert set(await real.batch_get(BatchGet("QC-01", tuple(keys), shape=LOCKER.shape))) == set(keys[:6])
    assert [len(call.keys) for call in wire.calls] == [8, 7, 6, 5, 4, 3, 2, 1]


async def test_a_query_reads_its_range_in_both_orders_and_to_its_end(real: DynamoStore, wire: Wire) -> None:
    keys = [Key("OWNER#acme", f"LOCKER#{number}") for number in range(5)]
    for key in keys:
        await real.put(put(key, filling="x" * 300_000))
    wire.reset()
    query = Query("QC-02", Prefix("OWNER#acme", "LOCKER#"), 5)
    page = await real.query(query)
    assert [key for key, _ in page.placed] == keys
    assert wire.operations == {"Query": 2}, "an answer ends at 1 MB"
    page = await real.query(replace(query, limit=2, forward=False, start=keys[3]))
    assert ([key for key, _ in page.placed], page.last) == ([keys[2], keys[1]], keys[1])


async def test_a_scan_is_read_page_by_page(real: DynamoStore) -> None:
    keys = [Key("OWNER#acme", f"LOCKER#{number}") for number in range(3)]
    for key in keys:
        await real.put(put(key))
    first = await real.transport.send("Scan", {"TableName": real.table, "Limit": 2})
    start = first.body["LastEvaluatedKey"]
    rest = await real.transport.send("Scan", {"TableName": real.table, "ExclusiveStartKey": start})
    assert "LastEvaluatedKey" not in rest.body
    found = {(item["PK"]["S"], item["SK"]["S"]) for answer in (first, rest) for item in answer.body["Items"]}
    assert found == {*keys, ("TABLE", "FORMAT")}


async def test_a_table_that_is_missing_is_told(real: DynamoStore) -> None:
    with pytest.raises(StoreError, match="ResourceNotFoundException"):
        await DynamoStore(real.transport, "no-such-table").get(GET)


async def test_a_request_that_the_store_does_not_accept_is_our_fault(real: DynamoStore) -> None:
    with pytest.raises(StoreError, match="ValidationException"):
        await real.get(Get("QC-01", Key("", "")))


# Errors


@pytest.mark.parametrize(
    ("code", "status", "kind", "attempts"),
    [
        ("ResourceNotFoundException", 400, StoreError, 1),
        ("TransactionConflictException", 400, BusyError, 1),
        ("TransactionInProgressException", 400, BusyError, 3),
        ("ProvisionedThroughputExceededException", 400, UnavailableError, 3),
        ("RequestLimitExceeded", 400, UnavailableError, 3),
        ("ThrottlingException", 400, UnavailableError, 3),
        ("InternalServerError", 500, UnavailableError, 3),
        ("ServiceUnavailable", 503, UnavailableError, 3),
        ("SomethingNew", 500, UnavailableError, 3),
        ("SomethingNew", 501, UnavailableError, 1),
        ("SomethingNew", 502, UnavailableError, 3),
        ("SomethingNew", 504, UnavailableError, 3),
        ("SomethingNew", 400, StoreError, 1),
        ("ValidationException", 400, StoreError, 1),
        ("IdempotentParameterMismatchException", 400, StoreError, 1),
        ("ItemCollectionSizeLimitExceededException", 400, StoreError, 1),
        ("AccessDeniedException", 400, StoreError, 1),
        ("ExpiredTokenException", 400, StoreError, 1),
        ("UnrecognizedClientException", 400, StoreError, 1),
        ("RequestTimeout", 408, StoreError, 3),
        ("Moved", 301, StoreError, 1),
    ],
)
async def test_each_error_has_its_class_and_is_sent_again_where_that_helps(
    store: DynamoStore, scripted: ScriptedStore, code: str, status: int, kind: type[Exception], attempts: int
) -> None:
    scripted.script = [failed(code, status)] * 3
    with pytest.raises(Exception) as raised:  # noqa: PT011  # its exact class is what is asserted
        await store.get(GET)
    assert type(raised.value) is kind
    assert len(scripted.requests) == attempts
    refusal = raised.value.__cause__
    assert isinstance(refusal, RefusedRequestError)
    assert (refusal.code, refusal.message, refusal.status, refusal.retries) == (code, "why", status, attempts - 1)


def test_the_raw_client_sends_again_what_the_sdk_does() -> None:
    throttled, transient = vars(ThrottledRetryableChecker()), vars(TransientRetryableChecker())
    codes = {*throttled["_throttled_error_codes"], *transient["_transient_error_codes"]}
    assert codes | {"ReplicatedWriteConflictException"} == RETRIED_CODES, "the last one is in the service's description"
    assert set(transient["_transient_status_codes"]) == RETRIED_STATUSES


async def test_an_error_of_ours_is_logged_with_its_request(store: DynamoStore, scripted: ScriptedStore) -> None:
    body = {"__type": "ValidationException", "message": "a client's data"}
    scripted.script = [ok(body, headers="x-amzn-RequestId: ABC123\r\n", status="400 Bad Request")]
    with pytest.raises(StoreError) as raised:
        await store.get(GET)
    assert raised.value.log_text == "ValidationException (request ABC123)"


@pytest.mark.parametrize("spelling", ["Kind", "com.amazonaws#Kind", "Kind:http://internal.amazon.com/", "a#Kind:b"])
async def test_a_code_is_found_in_every_spelling(store: DynamoStore, scripted: ScriptedStore, spelling: str) -> None:
    scripted.script = [ok({"__type": spelling, "Message": "why"}, status="400 Bad Request")]
    with pytest.raises(RefusedRequestError) as refused:
        await store.transport.send("GetItem", GET.render("T"))
    assert (refused.value.code, refused.value.message) == ("Kind", "why")


@pytest.mark.parametrize(
    ("status", "kind", "attempts"),
    [(400, StoreError, 1), (403, StoreError, 1), (413, StoreError, 1), (502, UnavailableError, 3)],
)
@pytest.mark.parametrize("body", [b"", b"<html>no</html>", b"no", b"{}"])
async def test_an_error_that_is_not_the_stores_is_told_by_its_status(
    store: DynamoStore, scripted: ScriptedStore, status: int, kind: type[Exception], attempts: int, body: bytes
) -> None:
    scripted.script = [ok(body, status=f"{status} Error")] * 3
    with pytest.raises(Exception) as raised:  # noqa: PT011  # its exact class is what is asserted
        await store.get(GET)
    assert type(raised.value) is kind
    refusal = raised.value.__cause__
    assert isinstance(refusal, RefusedRequestError)
    assert (refusal.code, refusal.status, len(scripted.requests)) == (str(status), status, attempts)


async def test_a_conflict_is_sent_again_with_the_same_token(store: DynamoStore, scripted: ScriptedStore) -> None:
    reasons = [{"Code": "TransactionConflict"}, {"Code": "None"}]
    scripted.script = [failed("TransactionCanceledException", CancellationReasons=reasons)] * 2
    await store.transact(TRANSACTION)
    assert [request.content["ClientRequestToken"] for request in scripted.requests] == [TRANSACTION.token] * 3


# Retries and answers that are lost or damaged

FAULTS = {
    "closed without an answer": Reply(b"", closes=True),
    "closed within the head": Reply(b"HTTP/1.1 200", closes=True),
    "closed within the body": Reply(SUCCESS_HEAD + b"Content-Length: 50\r\n\r\n{", closes=True),
    "closed within a chunk": Reply(SUCCESS_HEAD + b"Transfer-Encoding: chunked\r\n\r\n9\r\n{", closes=True),
    "closed before the last chunk": Reply(SUCCESS_HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", closes=True),
    "too short a length": Reply(SUCCESS_HEAD + b"Content-Length: 1\r\n\r\n{}"),
    "a length that is no number": Reply(SUCCESS_HEAD + b"Content-Length: two\r\n\r\n{}"),
    "no HTTP": Reply(b"what?\r\n\r\n", closes=True),
    "a chunk that is none": Reply(SUCCESS_HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n"),
    "a wrong checksum": Reply(SUCCESS_HEAD + b"x-amz-crc32: 1\r\nContent-Length: 2\r\n\r\n{}"),
    "a checksum that is no number": Reply(SUCCESS_HEAD + b"x-amz-crc32: x\r\nContent-Length: 1\r\n\r\n{"),
    "an error with a wrong checksum": Reply(b"HTTP/1.1 400 No\r\nx-amz-crc32: 1\r\nContent-Length: 2\r\n\r\n{}"),
    "no JSON": ok(b"<html>It works!</html>"),
    "JSON that is cut off": ok(b'{"Item": {"PK"'),
    "JSON that is no object": ok(b"[]"),
    "nothing": ok(b""),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
async def test_a_damaged_answer_is_asked_for_again(store: DynamoStore, scripted: ScriptedStore, fault: Reply) -> None:
    scripted.script = [fault, fault, ok({"Item": ITEM})]
    answer = await store.transport.send("GetItem", GET.render("T"))
    assert (answer.body["Item"], answer.retries) == (ITEM, 2)
    scripted.requests.clear()
    scripted.script = [fault] * 3
    with pytest.raises(NoAnswerError) as failure:
        await store.transport.send("GetItem", GET.render("T"))
    assert (failure.value.retries, len(scripted.requests)) == (2, 3)


@pytest.mark.parametrize(
    "fault", [failed("ThrottlingException"), failed("InternalServerError", 500), Reply(b"", closes=True)]
)
async def test_a_write_that_is_sent_again_is_the_same_write(
    store: DynamoStore, scripted: ScriptedStore, pauses: list[float], fault: Reply
) -> None:
    scripted.script = [fault, fault, ok()]
    await store.transact(TRANSACTION)
    assert [request.content for request in scripted.requests] == [TRANSACTION.render("T")] * 3
    assert len(pauses) == 2


async def test_pauses_between_attempts_are_drawn_from_a_range_that_doubles(
    store: DynamoStore, scripted: ScriptedStore, pauses: list[float], client: Client
) -> None:
    scripted.script = [failed("ThrottlingException")] * 3
    with pytest.raises(UnavailableError):
        await store.get(GET)
    longest = {"raw": (0.02, 0.04), "sdk": (1, 2)}[client]
    assert len(pauses) == 2
    assert all(0 < pause <= most for pause, most in zip(pauses, longest, strict=True))


ITEM_TEXT = b'{"Item": {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "META"}, "version": {"N": "1"}}}'
CHUNKS = b"%x\r\n%s\r\n" % (10, ITEM_TEXT[:10]) + b"%x;note=1\r\n%s\r\n" % (len(ITEM_TEXT) - 10, ITEM_TEXT[10:])
ANSWERS = {
    "chunked": Reply(SUCCESS_HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + CHUNKS + b"0\r\n\r\n"),
    "chunked with a trailer": Reply(
        SUCCESS_HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + CHUNKS + b"0\r\nNote: 1\r\n\r\n"
    ),
    "until the connection closes": Reply(SUCCESS_HEAD + b"\r\n" + ITEM_TEXT, closes=True),
    "HTTP/1.0": Reply(b"HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n" % len(ITEM_TEXT) + ITEM_TEXT, closes=True),
    "behind an interim answer": Reply(
        b"HTTP/1.1 100 Continue\r\n\r\n" + SUCCESS_HEAD + b"Content-Length: %d\r\n\r\n" % len(ITEM_TEXT) + ITEM_TEXT
    ),
    "without a checksum": Reply(SUCCESS_HEAD + b"Content-Length: %d\r\n\r\n" % len(ITEM_TEXT) + ITEM_TEXT),
    "names in capitals": Reply(SUCCESS_HEAD + b"CONTENT-LENGTH: %d\r\n\r\n" % len(ITEM_TEXT) + ITEM_TEXT),
    "closing": ok(ITEM_TEXT, headers="Connection: close\r\n", closes=True),
}


@pytest.mark.parametrize("reply", ANSWERS.values(), ids=ANSWERS)
async def test_an_answer_is_read_in_every_http_form(store: DynamoStore, scripted: ScriptedStore, reply: Reply) -> None:
    scripted.script = [reply, reply]
    assert await store.get(GET) == ITEM
    assert await store.get(GET) == ITEM
    assert len(scripted.requests) == 2


async def test_an_answer_may_come_byte_by_byte(store: DynamoStore, scripted: ScriptedStore) -> None:
    whole = ok({"Item": ITEM}).data
    scripted.script = [Reply(b"", after=asyncio.Event())]
    reading = asyncio.ensure_future(store.get(GET))
    await scripted.arrivals()
    for position in range(len(whole)):
        scripted.connections[0].write(whole[position : position + 1])
        await scripted.connections[0].drain()
        await asyncio.sleep(0)
    assert await reading == ITEM


# What is recorded

CAPACITY = {"TableName": "T", "CapacityUnits": 1.5}
SCENARIOS: dict[str, tuple[list[Reply], Any, tuple[Any, ...]]] = {
    "one item": ([ok({"Item": ITEM, "ConsumedCapacity": CAPACITY})], GET, (1, 1, 1, 1.5, "ok")),
    "no item": ([ok({"ConsumedCapacity": CAPACITY})], GET, (1, 1, 0, 1.5, "ok")),
    "at the third attempt": (
        [failed("ThrottlingException"), Reply(b"", closes=True), ok({"Item": ITEM, "ConsumedCapacity": CAPACITY})],
        GET,
        (3, 1, 1, 1.5, "ok"),
    ),
    "throttled": ([failed("ThrottlingException")] * 3, GET, (3, 0, 0, 0.0, "UNAVAILABLE")),
    "lost": ([Reply(b"", closes=True)] * 3, GET, (3, 0, 0, 0.0, "UNAVAILABLE")),
    "refused": ([failed("ValidationException")], GET, (1, 0, 0, 0.0, "FAILED")),
    "two pages": (
        [
            ok({"Items": [ITEM], "LastEvaluatedKey": KEY.wire, "ConsumedCapacity": CAPACITY}),
            ok({"Items": [ITEM], "ConsumedCapacity": CAPACITY}),
        ],
        Query("QC-02", Prefix("OWNER#acme", "LOCKER#"), 5),
        (2, 2, 2, 3.0, "ok"),
    ),
    "a batch with keys left out": (
        [
            ok(
                {
                    "Responses": {"T": [ITEM]},
                    "UnprocessedKeys": {"T": {"Keys": [KEY.wire]}},
                    "ConsumedCapacity": [CAPACITY],
                }
            ),
            ok({"Responses": {}, "ConsumedCapacity": [CAPACITY, CAPACITY]}),
        ],
        BatchGet("QC-01", (KEY,)),
        (2, 1, 1, 4.5, "ok"),
    ),
    "a conflict": ([failed("ConditionalCheckFailedException")], put(KEY), (1, 0, 0, 0.0, "CONFLICT")),
    "a transaction": ([ok({"ConsumedCapacity": [CAPACITY]})], TRANSACTION, (1, 1, 0, 1.5, "ok")),
}


@pytest.mark.parametrize(("script", "operation", "recorded"), SCENARIOS.values(), ids=SCENARIOS)
async def test_attempts_pages_items_capacity_and_outcome_are_recorded(
    store: DynamoStore, scripted: ScriptedStore, script: list[Reply], operation: Any, recorded: tuple[Any, ...]
) -> None:
    scripted.script = list(script)
    trace = Trace()
    watched = RecordedStore(store, trace)
    methods: dict[type, Any] = {Get: watched.get, BatchGet: watched.batch_get, Query: watched.query, Put: watched.put}
    try:
        await methods.get(type(operation), watched.transact)(operation)
    except (StoreError, UnavailableError):
        assert recorded[-1] != "ok"
    (record,) = trace.records
    assert (record.attempts, record.pages, record.returned, record.units, record.outcome) == recorded
    assert record.attempts == len(scripted.requests)
    assert all(request.content["ReturnConsumedCapacity"] == "TOTAL" for request in scripted.requests)
