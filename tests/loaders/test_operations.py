"""Operations as values: each renders to the exact request, names and values in placeholders."""

from __future__ import annotations

import dataclasses
from uuid import UUID

import pytest

from loaders.table.keys import Between, Key, Prefix
from loaders.table.operations import Action, BatchGet, Get, Put, Query, Step, Transact
from loaders.table.updates import Update

KEY = Key("LOCKER#l1", "META")
WIRE_KEY = {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "META"}}


@pytest.mark.parametrize("consistent", [False, True])
def test_a_get_says_how_fresh_it_wants_to_be(consistent: bool) -> None:  # noqa: FBT001
    assert Get("QC-01", KEY, consistent).render("T") == {
        "TableName": "T",
        "Key": WIRE_KEY,
        "ConsistentRead": consistent,
    }


@pytest.mark.parametrize("consistent", [False, True])
def test_a_batch_keeps_the_order_of_its_keys(consistent: bool) -> None:  # noqa: FBT001
    operation = BatchGet("QC-01", (KEY, Key("OWNER#acme", "META")), consistent)
    assert operation.render("T") == {
        "RequestItems": {
            "T": {
                "Keys": [WIRE_KEY, {"PK": {"S": "OWNER#acme"}, "SK": {"S": "META"}}],
                "ConsistentRead": consistent,
            }
        }
    }


def test_a_query_of_a_prefix_begins_at_its_partitions_end_or_behind_a_key() -> None:
    query = Query("QC-02", Prefix("OWNER#acme", "LOCKER#"), 26)
    request = {
        "TableName": "T",
        "KeyConditionExpression": "#PK = :pk AND begins_with(#SK, :prefix)",
        "ExpressionAttributeNames": {"#PK": "PK", "#SK": "SK"},
        "ExpressionAttributeValues": {":pk": {"S": "OWNER#acme"}, ":prefix": {"S": "LOCKER#"}},
        "Limit": 26,
        "ScanIndexForward": True,
        "ConsistentRead": False,
    }
    assert query.render("T") == request
    behind = dataclasses.replace(query, start=KEY, forward=False, consistent=True)
    assert behind.render("T") == {
        **request,
        "ScanIndexForward": False,
        "ConsistentRead": True,
        "ExclusiveStartKey": WIRE_KEY,
    }


def test_a_query_between_two_keys_names_both() -> None:
    assert Query("QC-05", Between("LOCKER#l1", "RES#a", "RES#b~"), 3).render("T") == {
        "TableName": "T",
        "KeyConditionExpression": "#PK = :pk AND #SK BETWEEN :low AND :high",
        "ExpressionAttributeNames": {"#PK": "PK", "#SK": "SK"},
        "ExpressionAttributeValues": {":pk": {"S": "LOCKER#l1"}, ":low": {"S": "RES#a"}, ":high": {"S": "RES#b~"}},
        "Limit": 3,
        "ScanIndexForward": True,
        "ConsistentRead": False,
    }


def test_a_prefix_holds_its_partitions_keys_that_begin_so() -> None:
    within = Prefix("OWNER#acme", "LOCKER#")
    assert Key("OWNER#acme", "LOCKER#l1") in within
    assert Key("OWNER#acme", "LOCKER#") in within
    assert Key("OWNER#acme", "RES#l1") not in within
    assert Key("OWNER#other", "LOCKER#l1") not in within


def test_a_range_holds_both_of_its_bounds() -> None:
    within = Between("LOCKER#l1", "RES#b", "RES#d")
    assert [sk for sk in ("RES#a", "RES#b", "RES#c", "RES#d", "RES#d#") if Key("LOCKER#l1", sk) in within] == [
        "RES#b",
        "RES#c",
        "RES#d",
    ]
    assert Key("LOCKER#l2", "RES#c") not in within


def test_a_put_step_writes_key_and_attributes_under_its_condition() -> None:
    step = Step("locker", Action.PUT, KEY, {"version": 1, "status": "AVAILABLE"}, "attribute_not_exists(#PK)")
    assert step.render("T") == {
        "Put": {
            "TableName": "T",
            "Item": {**WIRE_KEY, "version": {"N": "1"}, "status": {"S": "AVAILABLE"}},
            "ConditionExpression": "attribute_not_exists(#PK)",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            "ExpressionAttributeNames": {"#PK": "PK"},
        }
    }


def test_a_step_without_a_condition_asks_for_nothing_back() -> None:
    assert Step("copy", Action.DELETE, KEY).render("T") == {"Delete": {"TableName": "T", "Key": WIRE_KEY}}


def test_an_update_sets_what_has_a_value_and_removes_what_has_none() -> None:
    step = Step(
        "locker",
        Action.UPDATE,
        KEY,
        {"status": "OCCUPIED", "alias": None, "version": 2, "email": None},
        "#version = :expectedVersion",
        {":expectedVersion": 1},
    )
    assert step.render("T") == {
        "Update": {
            "TableName": "T",
            "Key": WIRE_KEY,
            "UpdateExpression": "SET #status = :status, #version = :version REMOVE #alias, #email",
            "ConditionExpression": "#version = :expectedVersion",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            "ExpressionAttributeNames": {
                "#alias": "alias",
                "#email": "email",
                "#status": "status",
                "#version": "version",
            },
            "ExpressionAttributeValues": {
                ":expectedVersion": {"N": "1"},
                ":status": {"S": "OCCUPIED"},
                ":version": {"N": "2"},
            },
        }
    }


def test_a_check_step_only_looks() -> None:
    assert Step("owner", Action.CHECK, KEY, condition="attribute_exists(#PK)").render("T") == {
        "ConditionCheck": {
            "TableName": "T",
            "Key": WIRE_KEY,
            "ConditionExpression": "attribute_exists(#PK)",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            "ExpressionAttributeNames": {"#PK": "PK"},
        }
    }


def test_a_lone_put_is_the_same_as_its_step() -> None:
    assert Put("QC-08", KEY, {"a": True}, "attribute_not_exists(#PK)").render("T") == {
        "TableName": "T",
        "Item": {**WIRE_KEY, "a": {"BOOL": True}},
        "ConditionExpression": "attribute_not_exists(#PK)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#PK": "PK"},
    }


def test_a_transaction_keeps_its_steps_in_order_and_its_token_however_often_it_is_rendered() -> None:
    transaction = Transact("QC-06", (Step("b", Action.DELETE, Key("b", "b")), Step("a", Action.DELETE, Key("a", "a"))))
    assert transaction.render("T") == {
        "TransactItems": [
            {"Delete": {"TableName": "T", "Key": {"PK": {"S": "b"}, "SK": {"S": "b"}}}},
            {"Delete": {"TableName": "T", "Key": {"PK": {"S": "a"}, "SK": {"S": "a"}}}},
        ],
        "ClientRequestToken": transaction.token,
    }
    assert transaction.render("T") == transaction.render("T")


def test_every_transaction_has_a_token_of_its_own_that_dynamodb_takes() -> None:
    tokens = {Transact("QC-06", ()).token for _ in range(100)}
    assert len(tokens) == 100
    assert all(str(UUID(token)) == token and len(token) <= 36 for token in tokens)


def test_an_update_adds_to_what_is_there_and_sets_the_rest_under_its_condition() -> None:
    update = Update("QC-50", KEY, {"expiresAt": 9}, "#count < :most", {":most": 5}, {"count": 2})
    assert update.render("T") == {
        "TableName": "T",
        "Key": WIRE_KEY,
        "UpdateExpression": "SET #expiresAt = :expiresAt, #count = #count + :countAdded",
        "ConditionExpression": "#count < :most",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ReturnValues": "ALL_NEW",
        "ExpressionAttributeNames": {"#count": "count", "#expiresAt": "expiresAt"},
        "ExpressionAttributeValues": {":most": {"N": "5"}, ":expiresAt": {"N": "9"}, ":countAdded": {"N": "2"}},
    }
