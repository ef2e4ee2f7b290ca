"""From a request's bytes to what its client asks for, and every way in which a request is refused."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import orjson

from domain.errors import UnavailableError
from server.negotiation import JSON, parse_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

    from domain.errors import SmartLockerError

__all__ = [
    "Explain",
    "Operation",
    "RefusedError",
    "RequestError",
    "asks_early_for_cost",
    "asks_for_cost",
    "names_a_document",
    "operation_of",
    "parse_json",
    "read_content",
    "refusal_of",
]

_BODY_BYTES = 256 * 1024
_APQ_VERSION = 1
_JSON_DEPTH = 32
# Each value takes time wherever it is looked at. The most that one field needs is an event's metadata: 16 KB can hold
# 8,189 of them.
_JSON_VALUES = 10_000
# An object takes far more than its values do. No more events than 25 are taken at once, and in metadata, which has 50
# keys in all, no more objects than that hold anything.
_JSON_OBJECTS = 50
# It takes whatever follows a quote, so that it never goes back: what is no JSON must not take long either.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.?[^"\\]*+)*+"?', re.DOTALL)
_COST = "SmartLocker-Cost"


Explain: TypeAlias = Literal["off", "after", "plan"]


class Operation(NamedTuple):
    """What a client asks for: a document, or the name of one that is known here, and what to run of it.

    Beside the answer it may ask for an explanation of it, after it ran or in place of running it, and for its cost.
    """

    query: str | None
    document_id: str | None
    sha256: str | None
    variables: dict[str, Any] | None
    operation_name: str | None
    explain: Explain = "off"
    cost: bool = False


class RefusedError(Exception):
    """The request is not GraphQL over HTTP: it fails with this status, whatever the answer's media type."""

    def __init__(
        self,
        status: int,
        message: str,
        code: str = "BAD_USER_INPUT",
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.headers = headers or {}


class RequestError(RefusedError):
    """The request is well-formed and cannot be run: an error like any other, so plain JSON has it with status 200."""


def refusal_of(problem: SmartLockerError) -> RefusedError:
    """The refusal of the whole request for a problem around it; of one that passes it says when to come again."""
    headers = {"Retry-After": str(problem.retry_after_seconds)} if isinstance(problem, UnavailableError) else None
    return RefusedError(problem.status, problem.message, problem.code, headers)


def names_a_document(request: Request) -> bool:
    """Whether a URL asks for anything, or merely leads here."""
    return not {"query", "documentId", "extensions"}.isdisjoint(request.query_params)


async def read_content(request: Request) -> Any:
    """What a GET or POST request holds, whatever it is."""
    return _from_url(request) if request.method == "GET" else await _from_body(request)


def asks_early_for_cost(request: Request) -> bool:
    """Whether a request asks what it takes, as far as that is known before its body is read."""
    content = None
    if request.method == "GET":
        with suppress(RefusedError):
            content = {"extensions": _json_parameter(request, "extensions")}
    return asks_for_cost(request.headers, content)


def asks_for_cost(headers: Mapping[str, str], content: Any) -> bool:
    """Whether a request asks what it takes: also one that is refused is told, as far as it could be read."""
    extensions = content.get("extensions") if isinstance(content, dict) else None
    asked = extensions.get("cost") if isinstance(extensions, dict) else None
    return headers.get(_COST) == "1" if asked is None else asked is True


def _from_url(request: Request) -> dict[str, Any]:
    parameters = request.query_params
    return {
        **{name: parameters.get(name) for name in ("query", "documentId")},
        "operationName": parameters.get("operationName") or None,
        **{name: _json_parameter(request, name) for name in ("variables", "extensions")},
    }


def _json_parameter(request: Request, name: str) -> Any:
    text = request.query_params.get(name)
    return parse_json(text.encode(errors="replace")) if text else None


async def _from_body(request: Request) -> Any:
    media_type, parameters = parse_value(request.headers.get("content-type", ""))
    if media_type == "multipart/form-data":
        raise RefusedError(415, f"Uploads are off: the body must be {JSON}.", headers={"Accept": JSON})
    if media_type != JSON or parameters.get("charset", "utf-8").lower() not in {"utf-8", "utf8"}:
        raise RefusedError(415, f"The body must be {JSON} in UTF-8.", headers={"Accept": JSON})
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise RefusedError(415, "The body must not be compressed.", headers={"Accept-Encoding": "identity"})
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _BODY_BYTES:
            raise RefusedError(413, f"The body may have {_BODY_BYTES // 1024} KB at most.")
    if body.lstrip().startswith(b"["):
        raise RefusedError(400, "Batching is off: send one request at a time, as a JSON object.")
    return parse_json(bytes(body))


def parse_json(text: bytes) -> Any:
    """Strict JSON whose numbers stay exact: one parser knows the rules, the other keeps the digits."""
    if _count_values(text) > _JSON_VALUES:
        raise RefusedError(400, f"The request's JSON may have {_JSON_VALUES:,} values at most.")
    try:
        _check_shape(orjson.loads(text))
        return json.loads(text, parse_float=Decimal)
    except (ValueError, ArithmeticError) as error:
        if str(error).startswith("depth limit exceeded"):  # orjson's own, far above ours
            raise _too_deep() from error
        raise RefusedError(400, "The request is not valid JSON.") from error


def _count_values(text: bytes) -> int:
    """Every value follows a comma or is the first of a list or an object; an empty one counts as if it had a value.

    To parse very many takes long, so they are counted on the text.
    """
    bare = _STRING.sub(b"", text)
    return sum(map(bare.count, (b",", b"[", b"{")))


def _check_shape(content: Any) -> None:
    """Level by level, which takes no stack; nothing here needs more than a few of them."""
    level = [[content]]
    for _ in range(_JSON_DEPTH + 1):
        below: list[Any] = []
        for node in level:
            children = list(node.values()) if isinstance(node, dict) else node
            objects = [child for child in children if isinstance(child, dict)]
            if isinstance(node, list) and len(objects) > _JSON_OBJECTS:
                raise RefusedError(400, f"A list of the request's JSON may have {_JSON_OBJECTS} objects at most.")
            below += objects
            below += [child for child in children if isinstance(child, list)]
        if not below:
            return
        level = below
    raise _too_deep()


def _too_deep() -> RefusedError:
    return RefusedError(400, f"The request's JSON may be {_JSON_DEPTH} levels deep at most.")


def operation_of(content: Any, headers: Mapping[str, str]) -> Operation:
    """What a request's content asks for."""
    if not isinstance(content, dict):
        raise RefusedError(400, "The request must be a JSON object.")
    query, document_id, name = (_text(content, key) for key in ("query", "documentId", "operationName"))
    variables, extensions = (_object(content, key) for key in ("variables", "extensions"))
    extensions = extensions or {}
    sha256 = _persisted(extensions)
    if document_id is not None and (query is not None or sha256 is not None):
        raise RefusedError(400, "documentId takes the place of query and of extensions.persistedQuery.")
    if document_id is None and sha256 is None and not (query and query.strip()):
        raise RefusedError(400, "query must be a GraphQL document, or documentId the id of one that is known here.")
    explain, cost = _explain(extensions, headers), _cost(extensions, headers)
    return Operation(query, document_id, sha256, variables, name, explain, cost)


def _explain(extensions: dict[str, Any], headers: Mapping[str, str]) -> Explain:
    """What the request's own extension says, else the header."""
    match extensions.get("explain"):
        case None:
            return "after" if _is_set(headers, "SmartLocker-Explain") else "off"
        case False:
            return "off"
        case True:
            return "after"
        case "plan":
            return "plan"
        case _:
            raise RefusedError(400, 'extensions.explain must be true, "plan" or false.')


def _cost(extensions: dict[str, Any], headers: Mapping[str, str]) -> bool:
    asked = extensions.get("cost")
    if asked is None:
        return _is_set(headers, _COST)
    if not isinstance(asked, bool):
        raise RefusedError(400, "extensions.cost must be true or false.")
    return asked


def _is_set(headers: Mapping[str, str], name: str) -> bool:
    value = headers.get(name, "0")
    if value not in {"0", "1"}:
        raise RefusedError(400, f"{name} must be 1 or 0.")
    return value == "1"


def _persisted(extensions: dict[str, Any]) -> str | None:
    """The hash that Apollo's protocol sends for or with a document."""
    persisted = extensions.get("persistedQuery")
    if persisted is None:
        return None
    if not isinstance(persisted, dict) or not isinstance(persisted.get("sha256Hash"), str):
        raise RefusedError(400, "extensions.persistedQuery must have a version and a sha256Hash.")
    if persisted.get("version") != _APQ_VERSION:
        raise RefusedError(400, f"extensions.persistedQuery must have version {_APQ_VERSION}.")
    sha256: str = persisted["sha256Hash"]
    return sha256


def _text(content: dict[str, Any], key: str) -> str | None:
    value = content.get(key)
    if value is not None and not isinstance(value, str):
        raise RefusedError(400, f"{key} must be text.")
    return value


def _object(content: dict[str, Any], key: str) -> dict[str, Any] | None:
    value = content.get(key)
    if value is not None and not isinstance(value, dict):
        raise RefusedError(400, f"{key} must be a JSON object.")
    return value
