import httpx
import pytest

from server.http.host_origin import MAX_LOGGED_ORIGINS
from tests.api import CREATE_OWNER, Api, unchanged
from tests.conftest import Dump, OpenApi
from tests.over_http import assert_rejected
from tests.wire import Wire

APP = "https://app.example.com"
PREFLIGHT = {"Access-Control-Request-Method": "POST"}
OWNER = {"query": CREATE_OWNER, "variables": {"input": {"ownerId": "ada", "kind": "USER", "name": "Ada"}}}


async def create(api: Api, **headers: str) -> httpx.Response:
    return await api.client.post("/graphql", json=OWNER, headers=headers)


async def test_loopback_names_and_clients_without_an_origin_are_allowed(api: Api) -> None:
    for host in ("localhost", "LOCALHOST:8000", "127.0.0.1:1", "[::1]", "[::1]:8000"):
        assert (await create(api, Host=host)).status_code == 200, host


async def test_another_host_name_is_rejected_and_nothing_runs(api: Api, dump: Dump, wire: Wire) -> None:
    names = ("evil.example", "evil.example:8000", "localhost.evil.example", "evil.example:localhost", "[::2]", "")
    async with unchanged(dump):
        for host in names:
            response = await create(api, Host=host)
            assert_rejected(
                response, "FORBIDDEN", 403, "The host name is not allowed: add it to SMARTLOCKER_ALLOWED_HOSTS."
            )
            page = await api.client.get("/graphql", headers={"Host": host, "Accept": "text/html"})
            assert page.status_code == 403
    assert not wire.calls


async def test_the_names_can_be_set_and_the_address_that_is_listened_on_is_one(open_api: OpenApi) -> None:
    async with open_api(allowed_hosts=("api.example.com",), host="::") as api:
        for host, status in (("api.example.com", 200), ("[::]:8000", 200), ("localhost", 403)):
            assert (await create(api, Host=host)).status_code == status, host
    async with open_api(allowed_hosts=("*",)) as api:
        assert (await create(api, Host="whatever")).status_code == 200


async def test_a_slash_at_the_end_of_the_path_changes_nothing(development_api: Api) -> None:
    client = development_api.client
    for host, status in (("evil.example", 403), ("localhost", 200), ("[", 403)):
        response = await client.post("/graphql/", json=OWNER, headers={"Host": host})
        assert response.status_code == status
        assert "location" not in response.headers
    assert (await client.get("/graphql/", params={"query": "{ __typename }"})).json() == {
        "data": {"__typename": "Query"}
    }
    page = await client.get("/graphql/", headers={"Accept": "text/html"})
    assert page.text == (await client.get("/graphql", headers={"Accept": "text/html"})).text
    assert (await client.get("/graphql//tokens")).status_code == 200  # where the page at that address looks for them
    assert (await client.put("/graphql/")).status_code == 405


async def test_probes_may_come_by_any_name(api: Api) -> None:
    for path in ("/health", "/ready"):
        assert (await api.client.get(path, headers={"Host": "10.1.2.3:8000"})).status_code == 200


async def test_pages_of_the_same_host_may_send_requests(api: Api) -> None:
    for origin in ("http://localhost", "https://localhost", "HTTP://LOCALHOST"):
        response = await create(api, Origin=origin)
        assert response.status_code == 200
        assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize("origins", [(), (APP,)])
async def test_pages_of_another_origin_are_rejected_and_nothing_runs(
    open_api: OpenApi, dump: Dump, wire: Wire, origins: tuple[str, ...]
) -> None:
    others = ("https://evil.example", "http://localhost:3000", "http://localhost.evil.example", "ftp://localhost")
    malformed = ("null", "", "localhost", "://", "http://[", "//localhost", "http://%1%z")
    async with open_api(cors_origins=origins) as api, unchanged(dump):
        for origin in (*others, *malformed):
            response = await create(api, Origin=origin)
            assert_rejected(
                response, "FORBIDDEN", 403, "The origin is not allowed: add it to SMARTLOCKER_CORS_ORIGINS."
            )
            assert "access-control-allow-origin" not in response.headers
            read = await api.client.get("/graphql", params={"query": "{ __typename }"}, headers={"Origin": origin})
            assert read.status_code == 403
    assert not wire.calls


async def test_pages_of_a_listed_origin_may_ask_and_read(open_api: OpenApi) -> None:
    async with open_api(cors_origins=(APP, "https://other.example.com")) as api:
        response = await create(api, Origin=APP)
        assert response.json()["data"]["createOwner"]["userErrors"] == []
        assert response.headers["access-control-allow-origin"] == APP
        assert "access-control-allow-credentials" not in response.headers
        assert set(response.headers["access-control-expose-headers"].split(", ")) == {"Retry-After", "X-Request-Id"}
        assert response.headers["vary"] == "Accept, Accept-Encoding, Origin"


async def test_a_preflight_is_answered_by_the_list(api: Api, open_api: OpenApi) -> None:
    without_list = await api.client.options("/graphql", headers={"Origin": APP, **PREFLIGHT})
    assert without_list.status_code == 403
    assert "access-control-allow-origin" not in without_list.headers
    asked = PREFLIGHT | {"Access-Control-Request-Headers": "authorization,content-type,apollo-require-preflight"}
    async with open_api(cors_origins=(APP,)) as listed:
        allowed = await listed.client.options("/graphql", headers={"Origin": APP, **asked})
        assert allowed.status_code == 200
        assert allowed.headers["access-control-allow-origin"] == APP
        assert allowed.headers["access-control-allow-methods"] == "GET, POST"
        assert "authorization" in allowed.headers["access-control-allow-headers"]
        refused = await listed.client.options("/graphql", headers={"Origin": "https://evil.example", **asked})
        assert refused.status_code == 400
        assert "access-control-allow-origin" not in refused.headers


@pytest.mark.parametrize("origins", [(), (APP,)])
async def test_a_refused_origin_is_logged_once_with_the_setting_that_allows_it(
    open_api: OpenApi, caplog: pytest.LogCaptureFixture, origins: tuple[str, ...]
) -> None:
    async with open_api(cors_origins=origins) as api:
        for _ in range(2):
            await create(api, Origin="https://Other.example.com:8443")
            await api.client.options("/graphql", headers={"Origin": "https://third.example.com", **PREFLIGHT})
            for fine in ("http://localhost", *origins):
                assert (await create(api, Origin=fine)).status_code == 200
            for no_origin in ("null", "", "https://a b", "https://name:secret@example.com", f"https://{'a' * 300}"):
                await create(api, Origin=no_origin)
    assert [record.getMessage() for record in caplog.records if record.name == "server.http.host_origin"] == [
        f"requests from pages of https://{name} are refused: add it to SMARTLOCKER_CORS_ORIGINS"
        for name in ("other.example.com:8443", "third.example.com")
    ]


async def test_a_bounded_number_of_invented_origins_is_logged(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    for number in range(MAX_LOGGED_ORIGINS + 5):
        await api.client.options("/graphql", headers={"Origin": f"https://{number}.example.com", **PREFLIGHT})
    assert len([record for record in caplog.records if record.name == "server.http.host_origin"]) == MAX_LOGGED_ORIGINS


async def test_every_response_has_security_headers(api: Api) -> None:
    for path in ("/graphql", "/graphql?query={__typename}", "/health", "/ready", "/", "/nowhere"):
        headers = (await api.client.get(path)).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert "strict-transport-security" not in headers
    over_tls = await api.client.get("https://localhost/health")
    assert over_tls.headers["strict-transport-security"] == "max-age=31536000"
