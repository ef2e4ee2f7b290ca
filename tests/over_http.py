"""GraphQL over HTTP as the tests of the server send it, and what they expect of every refusal."""

from typing import Any

import httpx

from tests.api import Api

"""The fixture `open_api`."""

JSON = "application/json"
GRAPHQL = "application/graphql-response+json"


async def post(
    api: Api, query: str | None, /, accept: str = JSON, headers: dict[str, str] | None = None, **content: Any
) -> httpx.Response:
    """The response to a request of the API's caller."""
    document = {} if query is None else {"query": query}
    headers = {"Accept": accept, **api.headers, **(headers or {})}
    return await api.client.post("/graphql", json=document | content, headers=headers)


def only_error(response: httpx.Response, code: str, status: int) -> dict[str, Any]:
    """The one error of a response; its code, its status and the request's id are as they should be."""
    (error,) = response.json()["errors"]
    extensions = {"code": code, "status": status, "requestId": response.headers["x-request-id"]}
    assert error["extensions"] | extensions == error["extensions"], error
    return dict(error)


def assert_rejected(
    response: httpx.Response, code: str, status: int, message: str | None = None, accept: str = JSON
) -> None:
    """The whole request was rejected: an HTTP status of its own, one error and no data, in the accepted media type."""
    assert (response.status_code, response.headers["content-type"]) == (status, f"{accept}; charset=utf-8")
    assert "data" not in response.json()
    error = only_error(response, code, status)
    assert message in {None, error["message"]}
