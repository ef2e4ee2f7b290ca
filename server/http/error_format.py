"""The format of errors in responses; details of internal errors go to the log only."""

import logging
import re
from typing import Any

from graphql import GraphQLError, GraphQLSyntaxError

from domain.errors import SmartLockerError
from resolvers.api.enums import ENUM_VALUES
from server.telemetry.observation import record_error

logger = logging.getLogger(__name__)

_INVALID = re.compile(
    r"(?:Variable '\$|Argument ')(?P<name>\w+)' has invalid value(?: at (?P<place>[^:]+))?:"
    r"(?: Expected value of type '[^']+' (?:to include required|not to include unknown) field '(?P<field>\w{1,60})')?"
)
_PART = re.compile(r"\w+")
_ENUM = re.compile(
    r"\A(?P<place>(?:Variable|Argument) [^:]+: )?"
    r"(?:Value '.*' does not exist in '(?P<in>\w+)'|Enum '(?P<type>\w+)' cannot represent non-).*",
    re.DOTALL,
)
_QUOTES = [
    (re.compile(quote, re.DOTALL), rest)
    for quote, rest in (
        (r"(cannot represent [^:]{1,40}): .*", r"\1."),
        (r"((?:found|Unexpected) (?:Int|Float|String|BlockString)) '.*", r"\1."),
        (r" unknown field '(?!\w{1,60}').*", " an unknown field."),
        (r"[,;] found: .*", "."),
        (r" Found: .*", ""),
    )
]
"""How graphql-core quotes values, and what is left of that. Each takes linear time: values can be long."""


def request_error(message: str, code: str, status: int, request_id: str) -> dict[str, Any]:
    record_error(code, status)
    return {"message": message, "extensions": {"code": code, "status": status, "requestId": request_id}}


def internal_message(request_id: str) -> str:
    return f"Internal server error. Quote the request id {request_id} when you report it."


def format_errors(errors: list[GraphQLError], request_id: str, *, executed: bool) -> list[dict[str, Any]]:
    """The errors of a response, each with its code, status and the request id.

    If nothing was executed, they are errors of the document.
    """
    formatted = []
    for error in errors:
        entry = dict(error.formatted)
        extensions = _extensions(error, executed=executed)
        record_error(extensions["code"], extensions["status"])
        if extensions["status"] == _INTERNAL["status"]:
            logger.error("request %s failed at %s", request_id, error.path, exc_info=error.original_error)
            entry["message"] = internal_message(request_id)
        elif not isinstance(error.original_error, SmartLockerError):
            entry["message"] = _in_plain_words(error.message)
        formatted.append(entry | {"extensions": extensions | {"requestId": request_id}})
    return formatted


def _in_plain_words(message: str) -> str:
    """A message of graphql-core without the value that it quotes, which may be personal, and its word for null."""
    wrong = _ENUM.match(message)
    if wrong is not None:
        *names, last = ENUM_VALUES[wrong["in"] or wrong["type"]]
        return f"{wrong['place'] or ''}Expected {', '.join(names)} or {last}."
    for quote, rest in _QUOTES:
        message = quote.sub(rest, message)
    return f"{message.removesuffix('None.')}null." if message.endswith(" not to be None.") else message


_INTERNAL = {"code": "INTERNAL_SERVER_ERROR", "status": 500}


def _extensions(error: GraphQLError, *, executed: bool) -> dict[str, Any]:
    cause = error.original_error
    if isinstance(cause, SmartLockerError):
        place = {"inputPath": list(cause.path)} if cause.path else {}
        return {"code": cause.code, "status": cause.status, **place, **cause.details}
    if isinstance(error, GraphQLSyntaxError):
        return {"code": "GRAPHQL_PARSE_FAILED", "status": 400}
    if not executed and (cause is None or isinstance(cause, GraphQLError)):
        return {"code": "GRAPHQL_VALIDATION_FAILED", "status": 400, **_input_path(error.message)}
    if cause is None or isinstance(cause, GraphQLError):
        return {"code": "BAD_USER_INPUT", "status": 400, **_input_path(error.message)}
    return _INTERNAL


def _input_path(message: str) -> dict[str, list[str]]:
    """The path of an invalid value in the variables or arguments, which graphql-core has in the message only."""
    match = _INVALID.match(message)
    if match is None:
        return {}
    field = [match["field"]] if match["field"] else []
    return {"inputPath": [match["name"], *_PART.findall(match["place"] or ""), *field]}
