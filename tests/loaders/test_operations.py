"""Operations as values: each renders to the exact request, names and values in placeholders."""

from __future__ import annotations

from uuid import UUID

from loaders.table.keys import Key
from loaders.table.operations import Action, Step, Transact


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
