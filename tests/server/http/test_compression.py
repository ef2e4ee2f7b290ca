import gzip
import json

import brotli
import httpx
import pytest
import pytest_asyncio
from starlette.responses import Response

from server.http.compression import compress
from tests.api import Api

NAMES = '{ owner(ownerId: "acme") { lockers { nodes { alias } } } }'


@pytest_asyncio.fixture
async def acme(api: Api) -> httpx.AsyncClient:
    """An owner whose lockers' names make an answer of some KB."""
    await api.owner("acme")
    for number in range(20):
        await api.locker(f"l{number:02}", "acme", alias=f"{'Bike cellar ' * 8}{number}")
    return api.client


async def raw(client: httpx.AsyncClient, query: str, **headers: str) -> tuple[httpx.Response, bytes]:
    async with client.stream("POST", "/graphql", json={"query": query}, headers=headers) as response:
        return response, b"".join([chunk async for chunk in response.aiter_raw()])


def decode(body: bytes, coding: str) -> bytes:
    return bytes({"br": brotli.decompress, "gzip": gzip.decompress, "identity": bytes}[coding](body))


async def test_a_response_over_1_kb_has_the_coding_that_the_client_prefers(acme: httpx.AsyncClient) -> None:
    plain, text = await raw(acme, NAMES, **{"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert len(text) > 2048
    assert len(json.loads(text)["data"]["owner"]["lockers"]["nodes"]) == 20
    for accept_encoding, coding in (("gzip, deflate, br, zstd", "br"), ("gzip", "gzip"), ("deflate", "identity")):
        response, body = await raw(acme, NAMES, **{"Accept-Encoding": accept_encoding})
        assert response.headers.get("content-encoding", "identity") == coding
        assert response.headers["content-length"] == str(len(body))
        assert response.headers["vary"] == "Accept, Accept-Encoding"
        assert decode(body, coding) == text
        assert coding == "identity" or len(body) < len(text) / 4
    del acme.headers["accept-encoding"]
    unasked, body = await raw(acme, NAMES)
    assert ("content-encoding" in unasked.headers, body) == (False, text)


async def test_errors_over_1_kb_are_compressed_too(acme: httpx.AsyncClient) -> None:
    query = "{ " + " ".join(f"unknown{number}" for number in range(10)) + " }"
    accept = {"Accept-Encoding": "gzip", "Accept": "application/graphql-response+json"}
    response, body = await raw(acme, query, **accept)
    assert (response.status_code, response.headers["content-encoding"]) == (400, "gzip")
    assert len(json.loads(gzip.decompress(body))["errors"]) == 10


@pytest.mark.parametrize("coding", ["br", "gzip"])
@pytest.mark.parametrize(("size", "compressed"), [(1024, False), (1025, True), (64 * 1024 + 1, True)])
async def test_compression_begins_above_1024_bytes(coding: str, size: int, *, compressed: bool) -> None:
    content = bytes(index * index % 251 for index in range(size))
    response = Response(content)
    await compress(response, coding)
    assert response.headers.get("content-encoding") == (coding if compressed else None)
    assert response.headers["content-length"] == str(len(response.body))
    assert decode(bytes(response.body), coding if compressed else "identity") == content
