"""The channel for errors: what a client may read of them, and what only the log gets."""

from __future__ import annotations

import logging
import re
from typing import Any

from graphql import GraphQLError, GraphQLSyntaxError

from domain.errors import SmartLockerError, TooComplexError
from server.observation import note_failure

__all__ = ["describe_errors", "internal_message", "request_error"]

logger = logging.getLogger(__name__)

_VARIABLE = re.compile(r"Variable '\$(?P<name>\w+)' has invalid value(?: at (?P<place>[^:]+))?:")
_PART = re.compile(r"\w+")


def request_error(message: str, code: str, status: int, request_id: str) -> dict[str, Any]:
    """An error of the request as a whole, in the form of every other."""
    note_failure(code, status)
    return {"message": message, "extensions": {"code": code, "status": status, "requestId": request_id}}


def internal_message(request_id: str) -> str:
    """All that a client reads of a fault of ours."""
    return f"Something went wrong here. The request's id is {request_id}."


def describe_errors(errors: list[GraphQLError], request_id: str, *, executed: bool) -> list[dict[str, Any]]:
    """The errors of an answer as the client sees them, each with its code, status and the request's id.

    Args:
        errors: what graphql-core made of them.
        request_id: the request's id, for the answer and the log.
        executed: whether execution began; before it, an error is the document's.
    """
    described = []
    for error in errors:
        shown = dict(error.formatted)
        extensions = _extensions(error, executed=executed)
        note_failure(extensions["code"], extensions["status"])
        if extensions["status"] == _INTERNAL["status"]:
            logger.error("request %s failed at %s", request_id, error.path, exc_info=error.original_error)
            shown["message"] = internal_message(request_id)
        described.append(shown | {"extensions": extensions | {"requestId": request_id}})
    return described


_INTERNAL = {"code": "INTERNAL_SERVER_ERROR", "status": 500}


def _extensions(error: GraphQLError, *, executed: bool) -> dict[str, Any]:
    cause = error.original_error
    if isinstance(cause, SmartLockerError):
        place = {"inputPath": list(cause.path)} if cause.path else {}
        details = cause.details if isinstance(cause, TooComplexError) else {}
        return {"code": cause.code, "status": cause.status, **place, **details}
    if isinstance(error, GraphQLSyntaxError):
        return {"code": "GRAPHQL_PARSE_FAILED", "status": 400}
    if not executed and (cause is None or isinstance(cause, GraphQLError)):
        return {"code": "GRAPHQL_VALIDATION_FAILED", "status": 400}
    if cause is None or isinstance(cause, GraphQLError):
        return {"code": "BAD_USER_INPUT", "status": 400, **_variable_path(error.message)}
    return _INTERNAL


def _variable_path(message: str) -> dict[str, list[str]]:
    """Where in the variables a value was bad: graphql-core says it in the message alone."""
    match = _VARIABLE.match(message)
    return {} if match is None else {"inputPath": [match["name"], *_PART.findall(match["place"] or "")]}
