"""The messages of `graphql-transport-ws`: checked, or refused by the end of the connection."""

from __future__ import annotations

from typing import Any, Final

import orjson

from server.http.endpoint import to_json
from server.http.request import parse_json
from server.http_errors import HttpError

BAD_REQUEST: Final = 4400
_MAX_ID_LENGTH: Final = 128


class CloseError(Exception):
    """The connection ends with this code."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


def parsed(text: str) -> dict[str, Any]:
    try:
        message = parse_json(text.encode(), "message")
    except HttpError as error:
        raise CloseError(BAD_REQUEST, error.message) from None
    if not isinstance(message, dict):
        raise CloseError(BAD_REQUEST, "A message is an object")
    return message


def id_of(message: dict[str, Any]) -> str:
    operation_id = message.get("id")
    if not isinstance(operation_id, str) or not 1 <= len(operation_id) <= _MAX_ID_LENGTH:
        raise CloseError(BAD_REQUEST, f"A message needs an id of 1 to {_MAX_ID_LENGTH} characters")
    return operation_id


def pong(payload: dict[str, Any] | None) -> bytes:
    try:
        return to_json({"type": "pong"} if payload is None else {"type": "pong", "payload": payload})
    except orjson.JSONEncodeError:
        raise CloseError(BAD_REQUEST, "A number of the payload is out of range") from None


def is_object(payload: Any) -> bool:
    return payload is None or isinstance(payload, dict)


def check_payload(payload: dict[str, Any]) -> None:
    if not isinstance(payload.get("query", ""), str) or not isinstance(payload.get("operationName") or "", str):
        raise CloseError(BAD_REQUEST, "query and operationName are strings")
    if not is_object(payload.get("variables")) or not is_object(payload.get("extensions")):
        raise CloseError(BAD_REQUEST, "variables and extensions are objects")
    if {"query", "documentId", "extensions"}.isdisjoint(payload):
        raise CloseError(BAD_REQUEST, "A subscribe message needs a query")
