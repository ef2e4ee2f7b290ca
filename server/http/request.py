"""Parsing of GraphQL requests: URL or body, JSON within limits, and their extensions."""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

import orjson
from starlette.requests import ClientDisconnect, Request

from server.http.negotiation import JSON, parse_value
from server.http_errors import HttpError

_MAX_BODY_BYTES = 256 * 1024
_APQ_VERSION = 1
_MAX_JSON_DEPTH = 32
# Every value takes time. The largest legitimate value is the metadata of an event: its 16 KB hold up to 8,189 values.
_MAX_JSON_VALUES = 10_000
# An object takes far more time than its values. A mutation takes at most 25 events, and metadata has at most 50 keys.
_MAX_JSON_OBJECTS = 50
# Possessive, so that it never backtracks: invalid JSON must not take long either.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.?[^"\\]*+)*+"?', re.DOTALL)
_COST_HEADER = "SmartLocker-Cost"
_COST_NAME = _COST_HEADER.lower()
_EXPLAIN_HEADER = "SmartLocker-Explain"


ExplainMode: TypeAlias = Literal["off", "after", "plan"]


class GraphQLRequest(NamedTuple):
    """A GraphQL request: a document, or the id or hash of one, with its variables and operation name.

    It may also ask for an explanation, after the execution or instead of it, and for its cost.
    """

    query: str | None
    document_id: str | None
    sha256: str | None
    variables: dict[str, Any] | None
    operation_name: str | None
    explain: ExplainMode = "off"
    cost: bool = False


def has_document(request: Request) -> bool:
    return not {"query", "documentId", "extensions"}.isdisjoint(request.query_params)


async def read_content(request: Request) -> Any:
    return _from_url(request) if request.method == "GET" else await _from_body(request)


def wants_cost_early(request: Request) -> bool:
    """Whether a request asks for its cost, as far as this is known before its body is read."""
    content = None
    if request.method == "GET":
        with suppress(HttpError):
            content = {"extensions": _json_parameter(request, "extensions")}
    return wants_cost(request.headers, content)


def wants_cost(headers: Mapping[str, str], content: Any) -> bool:
    """Whether a request asks for its cost; it may be invalid in other ways."""
    extensions = content.get("extensions") if isinstance(content, dict) else None
    cost = extensions.get("cost") if isinstance(extensions, dict) else None
    return headers.get(_COST_NAME) == "1" if cost is None else cost is True


def _from_url(request: Request) -> dict[str, Any]:
    parameters = request.query_params
    return {
        **{name: parameters.get(name) for name in ("query", "documentId")},
        "operationName": parameters.get("operationName") or None,
        **{name: _json_parameter(request, name) for name in ("variables", "extensions")},
    }


def _json_parameter(request: Request, name: str) -> Any:
    text = request.query_params.get(name)
    return parse_json(text.encode(errors="replace"), f"parameter {name}") if text else None


async def _from_body(request: Request) -> Any:
    _check_content_type(request.headers.get("content-type", ""))
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise HttpError(
            415,
            "Compressed bodies are not supported: send the body uncompressed.",
            headers={"Accept-Encoding": "identity"},
        )
    body = bytearray()
    is_whole = False
    while not is_whole:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        is_whole = not message.get("more_body", False)
        if len(body) > _MAX_BODY_BYTES:
            raise HttpError(413, f"The body is larger than {_MAX_BODY_BYTES // 1024} KB.")
    if body.lstrip().startswith(b"["):
        raise HttpError(400, "Batching is not supported: send one request as a JSON object.")
    return parse_json(bytes(body))


@lru_cache(64)  # clients send few different ones
def _check_content_type(content_type: str) -> None:
    media_type, parameters = parse_value(content_type)
    if media_type == "multipart/form-data":
        raise HttpError(415, f"File uploads are not supported: send the body as {JSON}.", headers={"Accept": JSON})
    if media_type != JSON or parameters.get("charset", "utf-8").lower() not in {"utf-8", "utf8"}:
        raise HttpError(415, f"Send the body as {JSON} in UTF-8.", headers={"Accept": JSON})


def parse_json(text: bytes, where: str = "body") -> Any:
    """Parses JSON within limits and with exact numbers: orjson checks it strictly, json keeps all digits of floats."""
    if len(text) > _MAX_JSON_VALUES and _count_values(text) > _MAX_JSON_VALUES:
        raise HttpError(400, f"The JSON has more than {_MAX_JSON_VALUES:,} values.")
    try:
        content = orjson.loads(text)
        has_floats = _check_shape(content)
        return json.loads(text, parse_float=Decimal) if has_floats else content
    except (ValueError, ArithmeticError) as error:
        if str(error).startswith("depth limit exceeded"):  # orjson's own limit is far higher
            raise _too_deep() from error
        problem = error if isinstance(error, orjson.JSONDecodeError) else "a number is out of range"
        raise HttpError(400, f"The {where} is not valid JSON: {problem}.") from error


def _count_values(text: bytes) -> int:
    """The number of values, counted in the text: parsing very many takes long.

    Each value follows a comma or is the first of a list or object; an empty list or object counts as one more.
    """
    without_strings = _STRING.sub(b"", text)
    return sum(map(without_strings.count, (b",", b"[", b"{")))


def _check_shape(content: Any) -> bool:
    """Checks depth and number of objects level by level, without recursion; returns whether there is a float.

    orjson also reads an integer that is too long for it as a float.
    """
    level = [[content]]
    has_floats = False
    for _ in range(_MAX_JSON_DEPTH + 1):
        below: list[Any] = []
        for node in level:
            objects = 0
            for child in node.values() if isinstance(node, dict) else node:
                kind = type(child)
                if kind is dict or kind is list:
                    below.append(child)
                    objects += kind is dict
                elif kind is float:
                    has_floats = True
            if isinstance(node, list) and objects > _MAX_JSON_OBJECTS:
                raise HttpError(400, f"A list of the JSON has more than {_MAX_JSON_OBJECTS} objects.")
        if not below:
            return has_floats
        level = below
    raise _too_deep()


def _too_deep() -> HttpError:
    return HttpError(400, f"The JSON is nested deeper than {_MAX_JSON_DEPTH} levels.")


def parse_request(content: Any, headers: Mapping[str, str]) -> GraphQLRequest:
    if not isinstance(content, dict):
        raise HttpError(400, "The request must be a JSON object.")
    query, document_id, name = _text(content, "query"), _text(content, "documentId"), _text(content, "operationName")
    variables, extensions = _object(content, "variables"), _object(content, "extensions") or {}
    sha256 = _persisted(extensions)
    if document_id is not None and (query is not None or sha256 is not None):
        raise HttpError(400, "Send either documentId, or query or extensions.persistedQuery.")
    if document_id is None and sha256 is None and not (query and query.strip()):
        raise HttpError(400, "Send a GraphQL document as query, or the id of a known document as documentId.")
    explain, cost = _explain(extensions, headers), _cost(extensions, headers)
    return GraphQLRequest(query, document_id, sha256, variables, name, explain, cost)


def _explain(extensions: dict[str, Any], headers: Mapping[str, str]) -> ExplainMode:
    """The request's extension, else the header."""
    match extensions.get("explain"):
        case None:
            return "after" if _is_set(headers, _EXPLAIN_HEADER) else "off"
        case False:
            return "off"
        case True:
            return "after"
        case "plan":
            return "plan"
        case _:
            raise HttpError(400, 'extensions.explain must be true, "plan" or false.')


def _cost(extensions: dict[str, Any], headers: Mapping[str, str]) -> bool:
    cost = extensions.get("cost")
    if cost is None:
        return _is_set(headers, _COST_HEADER)
    if not isinstance(cost, bool):
        raise HttpError(400, "extensions.cost must be true or false.")
    return cost


def _is_set(headers: Mapping[str, str], name: str) -> bool:
    value = headers.get(name.lower(), "0")
    if value not in {"0", "1"}:
        raise HttpError(400, f"{name} must be 1 or 0.")
    return value == "1"


def _persisted(extensions: dict[str, Any]) -> str | None:
    """The hash of Apollo's automatic persisted queries, sent instead of or with the document."""
    persisted = extensions.get("persistedQuery")
    if persisted is None:
        return None
    if not isinstance(persisted, dict) or not isinstance(persisted.get("sha256Hash"), str):
        raise HttpError(400, "extensions.persistedQuery must have a version and a sha256Hash.")
    if persisted.get("version") != _APQ_VERSION:
        raise HttpError(400, f"extensions.persistedQuery must have version {_APQ_VERSION}.")
    sha256: str = persisted["sha256Hash"]
    return sha256


def _text(content: dict[str, Any], key: str) -> str | None:
    value = content.get(key)
    if value is not None and not isinstance(value, str):
        raise HttpError(400, f"{key} must be a string.")
    return value


def _object(content: dict[str, Any], key: str) -> dict[str, Any] | None:
    value = content.get(key)
    if value is not None and not isinstance(value, dict):
        raise HttpError(400, f"{key} must be a JSON object.")
    return value
