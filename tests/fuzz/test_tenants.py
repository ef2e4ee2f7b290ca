"""Documents made at random, asked by one tenant: nothing of another's is ever shown or changed."""

from typing import Any

import httpx
import pytest

from domain.authorization import Principal, Scope
from loaders.backend import Backend
from tests.api import Api
from tests.conftest import Clock, Dump, OpenApi
from tests.fuzz.documents import SCHEMA, Document
from tests.fuzz.tenant_documents import COUNTS, tenant_documents
from tests.fuzz.tenants import is_foreign, stock, words_of
from tests.principals import device, owner, partner

PARTS = 2
ANNA = owner("anna", "guild")
ASKERS: list[Principal] = [*[ANNA] * 7, *[partner(*Scope, of="anna")] * 2, device("anna-1")]
NO_LIMITS = {
    "max_read_units": 10**12,
    "max_operations": 10**12,
    "max_items": 10**12,
    "max_tokens": 10**6,
    "max_depth": 20,
    "max_aliases": 10**4,
}
ASKED = {"SmartLocker-Cost": "1", "SmartLocker-Explain": "1"}


async def foreign(dump: Dump) -> dict[tuple[str, str], dict[str, Any]]:
    return {key: item for key, item in (await dump()).items() if is_foreign(key, item)}


async def ask(api: Api, document: Document, asker: Principal) -> httpx.Response:
    headers = {**api.by(asker).headers, **ASKED}
    content = {"query": document.text, "variables": document.variables}
    return await api.client.post("/graphql", json=content, headers=headers)


def check(document: Document, response: httpx.Response) -> dict[str, Any]:
    """An answer names of the second tenant no more than the document does."""
    answer: dict[str, Any] = response.json()
    codes = {error["extensions"]["code"] for error in answer.get("errors", [])}
    assert response.status_code == 200, (document, response.text)
    assert not codes & {"INTERNAL_SERVER_ERROR", "UNAVAILABLE", "GRAPHQL_VALIDATION_FAILED"}, (document, answer)
    reported = words_of(f"{response.text} {response.headers}")
    said = words_of(f"{document.text} {document.variables}")
    assert reported <= said, (document, reported - said, answer)
    return answer


def test_the_documents_begin_with_every_field_of_the_operations() -> None:
    assert SCHEMA.query_type is not None
    assert SCHEMA.mutation_type is not None
    assert set(COUNTS) == {*SCHEMA.query_type.fields, *SCHEMA.mutation_type.fields}


@pytest.mark.parametrize("part", range(PARTS))
async def test_no_document_of_one_tenant_shows_or_changes_anything_of_another(
    open_api: OpenApi, clock: Clock, backend: Backend, dump: Dump, part: int
) -> None:
    async with open_api(**NO_LIMITS) as api:
        known = await stock(api, clock, backend)
        names = list(COUNTS)[part::PARTS]
        made = tenant_documents(known, names)
        assert len(made) == sum(COUNTS[name] for name in names)
        before = await foreign(dump)
        for number, document in enumerate(made):
            check(document, await ask(api, document, ASKERS[number % len(ASKERS)]))
        assert await foreign(dump) == before
