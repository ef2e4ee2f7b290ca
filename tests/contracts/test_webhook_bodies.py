"""The bodies of webhooks, made of everything that the scenarios of the contracts log, against their JSON Schemas."""

import json
import re
from typing import Any

import fastjsonschema
import pytest

from domain.activity import Activity, ActivityKind, ids_of
from domain.models import OwnerId
from domain.webhook_bodies import TEST, body_of_test, body_schemas, delivery_body, reference_key
from loaders.codecs import LogEntry
from loaders.log import activities_of
from server.cli.documentation import events
from tests import logged
from tests.api import Api
from tests.conftest import NOW, Dump
from tests.contracts.snapshots import kept

SCHEMAS = body_schemas()
VALIDATE = fastjsonschema.compile(SCHEMAS)
HAPPENINGS = re.compile(r'happenings = ("(?:[^"\\]|\\.)*")')
OF_DEVICES = {ActivityKind.DOOR_CLOSED, ActivityKind.DOOR_ACCESS_DENIED, ActivityKind.DOOR_TAMPERED}


def scenarios_activities() -> list[Activity]:
    texts = [json.loads(text) for content in kept().values() for text in HAPPENINGS.findall(content)]
    entries = [LogEntry(shard=0, stamp=NOW, entry_id="e", happenings=text, expires_at=0) for text in texts]
    return [activity for entry in entries for activity in activities_of(entry)]


LOGGED = scenarios_activities()


def check(body: bytes) -> Any:
    """The body, after it has passed its schema as one that allows nothing else."""
    content = VALIDATE(json.loads(body))
    schema = SCHEMAS["definitions"][content["type"]]["properties"]
    assert content.keys() == schema.keys()
    assert content["data"].keys() <= schema["data"]["properties"].keys()
    for change in content["data"].get("changes", ()):
        assert change.keys() == {"field", "from", "to"}
    return content


def test_the_scenarios_log_every_kind_but_those_that_differ_from_others_by_a_word_of_a_device() -> None:
    assert {activity.happening.kind for activity in LOGGED} == set(ActivityKind) - OF_DEVICES


@pytest.mark.parametrize("activity", LOGGED, ids=lambda activity: str(activity.happening.kind))
def test_a_body_has_its_schema_for_whomever_it_is(activity: Activity) -> None:
    happening = activity.happening
    told = check(delivery_body(activity, None, None))
    assert (told["type"], told["timestamp"]) == (happening.kind, activity.occurred_at)
    for owner in happening.owners:
        is_who_reserved = happening.reservation_id is not None and owner == happening.owner_id
        assert (reference_key(happening, owner) is not None) == is_who_reserved
        reference = "order-1" if is_who_reserved else None
        assert check(delivery_body(activity, reference, owner))["data"].get("reference") == reference
    assert reference_key(happening, None) is None


def test_the_log_has_no_other_ids_than_its_kinds_say() -> None:
    known = {name for kind in ActivityKind for name in ids_of(kind)}
    for text in (text for content in kept().values() for text in HAPPENINGS.findall(content)):
        for happening in json.loads(json.loads(text)):
            assert happening.keys() & known <= set(ids_of(ActivityKind(happening["kind"]))), happening


async def test_what_devices_report_has_its_schema_too(api: Api, dump: Dump) -> None:
    await api.owner("ada")
    await api.locker("l1", "ada")
    await api.event("l1", action="CLOSE")
    await api.event("l1", action="DENIED", result="FAIL")
    await api.event("l1", action="TAMPER")
    activities = logged.activities(await dump())
    bodies = [check(delivery_body(activity, None, OwnerId("ada"))) for activity in activities]
    reported = [body for body in bodies if body["type"] in OF_DEVICES]
    assert {body["type"] for body in reported} == OF_DEVICES
    assert {(*body["data"],) for body in reported} == {("lockerId", "ownerId", "eventId")}


def test_the_page_shows_the_body_of_every_kind_with_all_that_is_logged() -> None:
    (lines,) = re.findall(r"```json\n(.+?)\n```", events(), re.DOTALL)
    shown = {body["type"]: body["data"] for body in map(check, lines.encode().splitlines())}
    assert shown.keys() == {*ActivityKind, TEST}
    for activity in LOGGED:
        told = check(delivery_body(activity, None, None))
        assert told["data"].keys() <= shown[told["type"]].keys() | {"changes"}
    for kind, data in shown.items():
        changes = [activity.happening.changes for activity in LOGGED if activity.happening.kind == kind]
        if all(changes) and changes:
            assert data["changes"][0]["field"] in {change.field for one in changes for change in one}


def test_a_test_of_a_webhook_has_its_schema() -> None:
    assert check(body_of_test("hook-1", NOW)) == {"type": TEST, "timestamp": NOW, "data": {"webhookId": "hook-1"}}


@pytest.mark.parametrize(
    "change",
    [{"type": "locker.stolen"}, {"data": {}}, {"data": {"lockerId": 5, "version": 1}}, {"timestamp": None}],
    ids=str,
)
def test_the_schema_refuses_what_is_no_body(change: dict[str, Any]) -> None:
    (activity, *_) = (one for one in LOGGED if one.happening.kind is ActivityKind.LOCKER_REGISTERED)
    body = json.loads(delivery_body(activity, None, None))
    assert VALIDATE(body)
    with pytest.raises(fastjsonschema.JsonSchemaException):
        VALIDATE(body | change)
