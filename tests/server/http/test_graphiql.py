import gzip
import re
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import httpx
import pytest

from loaders.backend import Backend
from loaders.tools.demo import DemoShape, load_demo
from tests.api import Api
from tests.conftest import OpenApi
from tests.npm import pinned

ROOT = Path(__file__).parents[3]
SOURCES = ROOT / "graphiql"
BUILT = ROOT / "server" / "static" / "graphiql"
EXAMPLES = {path.stem: path.read_text() for path in (SOURCES / "src" / "examples").glob("*.graphql")}
NAMES = sorted(path.name.removesuffix(".gz") for path in (BUILT / "assets").iterdir())
TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".ttf": "font/ttf",
    ".woff2": "font/woff2",
}


class References(HTMLParser):
    """The files that a page loads, and the scripts that it has itself."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.inline: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value for name, value in attrs if name in {"src", "href"} and value]
        self.inline += [tag] if tag == "style" or (tag == "script" and "src" not in dict(attrs)) else []


async def page(client: httpx.AsyncClient) -> httpx.Response:
    return await client.get("/graphql", headers={"Accept": "text/html"})


async def asset(client: httpx.AsyncClient, name: str, **headers: str) -> httpx.Response:
    return await client.get(f"/graphql/assets/{name}", headers=headers)


async def test_the_page_comes_with_a_policy_that_lets_in_nothing_but_this_host(api: Api) -> None:
    response = await page(api.client)
    policy = dict(part.split(" ", 1) for part in response.headers["content-security-policy"].split("; "))
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "worker-src": "'self'",
        "connect-src": "'self'",
        "font-src": "'self'",
        "img-src": "'self' data:",
        "style-src": "'self' 'unsafe-inline'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == "no-referrer"
    assert response.headers["x-frame-options"] == "DENY"


async def test_all_that_the_page_loads_is_there_and_on_this_host(api: Api) -> None:
    references = References((await page(api.client)).text)
    assert len(references.addresses) >= 3
    assert not references.inline
    for address in references.addresses:
        assert address.startswith("/graphql/assets/")
        assert (await api.client.get(address)).status_code == 200


async def test_a_file_has_its_type_its_encoding_and_may_be_cached_forever(api: Api) -> None:
    by_type = {Path(name).suffix: name for name in NAMES}
    assert by_type.keys() <= TYPES.keys()
    for suffix, name in by_type.items():
        packed = await asset(api.client, name, **{"Accept-Encoding": "gzip, deflate, br, zstd"})
        plain = await asset(api.client, name, **{"Accept-Encoding": "identity"})
        assert packed.headers["content-encoding"] == "gzip"
        assert packed.headers["content-length"] == str((BUILT / "assets" / f"{name}.gz").stat().st_size)
        assert "content-encoding" not in plain.headers
        for response in (packed, plain):
            assert response.status_code == 200
            assert response.content == gzip.decompress((BUILT / "assets" / f"{name}.gz").read_bytes())
            assert response.headers["content-type"] == TYPES[suffix]
            assert response.headers["cache-control"] == "public, max-age=31536000, immutable"
            assert response.headers["vary"] == "Accept-Encoding"
            assert response.headers["x-content-type-options"] == "nosniff"
            # A worker obeys the policy that its own script came with.
            assert response.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'; ")


async def test_a_file_is_compressed_only_for_clients_that_accept_it(api: Api) -> None:
    for accepted, encoding in (("gzip", "gzip"), ("*", "gzip"), ("", None), ("br", None), ("gzip;q=0, *", None)):
        response = await asset(api.client, NAMES[0], **{"Accept-Encoding": accepted})
        assert response.headers.get("content-encoding") == encoding


async def test_only_the_files_of_the_page_can_be_read_and_only_read(api: Api) -> None:
    for name in ("index.html", "missing.js", "..%2Findex.html", "..%2F..%2F..%2Fapp.py", "%00", ""):
        assert (await asset(api.client, name)).status_code == 404
    address = f"/graphql/assets/{NAMES[0]}"
    assert (await api.client.post(address)).status_code == 405
    head = await api.client.head(address)
    assert (head.status_code, head.content) == (200, b"")


@pytest.mark.parametrize(("folder", "page"), [("graphiql", "graphiql"), ("examples/dashboard", "dashboard")])
def test_a_build_was_made_from_its_sources(folder: str, page: str) -> None:
    sources = ROOT / folder
    paths = sorted(
        path.relative_to(sources).as_posix()
        for path in sources.rglob("*")
        if path.is_file() and path.relative_to(sources).parts[0] not in {"node_modules", "dist", "README.md"}
    )
    marks = [f"{path}\n{sha256((sources / path).read_bytes()).hexdigest()}\n" for path in paths]
    built_from = (BUILT.parent / page / "sources.sha256").read_text().strip()
    assert sha256("".join(marks).encode()).hexdigest() == built_from, f"{folder} has changed: run `make {page}`"


def test_the_build_is_small_compressed_and_carries_its_licenses() -> None:
    files = [path for path in BUILT.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 3_000_000
    assert sum(path.stat().st_size for path in (BUILT.parent / "dashboard" / "assets").iterdir()) < 250_000
    assert {path.name for path in files if path.suffix != ".gz"} == {"index.html", "LICENSES.txt", "sources.sha256"}
    licenses = (BUILT / "LICENSES.txt").read_text()
    for package in ("graphiql 5.", "@graphiql/plugin-explorer 5.", "monaco-editor 0.", "react 19.", "graphql 16."):
        assert f"\n{package}" in licenses
    assert "THIRD-PARTY SOFTWARE NOTICES" in licenses
    assert "SIL OPEN FONT LICENSE" in licenses


@pytest.mark.parametrize(
    "folder",
    ["graphiql", "examples/dashboard", "tests/browser", "loaders/table", "tests/clients/webhooks", "tests/http"],
)
def test_npm_packages_are_pinned_by_hash_and_by_no_registry(folder: str) -> None:
    packages = pinned(ROOT / folder)
    assert packages
    for package in packages.values():
        assert package["integrity"].startswith("sha512-")
        assert "resolved" not in package


def test_the_first_tab_is_the_readmes_first_query_for_the_demo_owner() -> None:
    (query, *_) = re.findall(r"```graphql\n(.+?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert EXAMPLES["first"].split("query FirstQuery ")[1] == query.replace("owner-0001", "owner-0002")


async def test_the_examples_give_the_promised_answers_on_the_demo_data(api: Api, backend: Backend) -> None:
    await load_demo(backend.store, DemoShape(), backend.clock(), lambda _: None)
    window = {"startAt": "2026-03-04T09:00:00Z", "endAt": "2026-03-04T17:00:00Z"}
    reserve = {"lockerId": "locker-000026", "reservationId": "graphiql", "ownerId": "owner-0002", **window}
    answers = {
        "first": await api.run(EXAMPLES["first"]),
        "viewer": await api.run(EXAMPLES["viewer"]),
        "now": await api.run(EXAMPLES["now"], ownerId="owner-0002", first=5),
        "stale": await api.run(EXAMPLES["stale"]),
        "reserve": await api.run(EXAMPLES["reserve"], input=reserve),
        "activity": await api.run(EXAMPLES["activity"], ownerId="owner-0002", first=10),
    }
    assert answers.keys() == EXAMPLES.keys() - {"changes"}  # which is a subscription
    assert answers["first"]["owner"]["name"] == "Elif Eriksen"
    assert answers["viewer"]["viewer"]["role"] == "ADMIN"
    lockers = answers["now"]["owner"]["lockers"]["nodes"]
    assert all(locker["latestEvent"] for locker in lockers)
    assert any(locker["activeReservation"] for locker in lockers)
    assert [error["currentVersion"] for error in answers["stale"]["ben"]["userErrors"]] == [2]
    assert answers["reserve"]["createReservation"]["userErrors"] == []
    activities = answers["activity"]["owner"]["activity"]["nodes"]
    assert len(activities) == 10
    assert {activity["actor"] and activity["actor"]["role"] for activity in activities} >= {None, "DEVICE"}
    assert any(activity["reservation"] for activity in activities)


async def test_the_dashboard_is_served_where_the_settings_say_so(open_api: OpenApi) -> None:
    for settings, status in (
        ({}, 200),
        ({"profile": "production"}, 404),
        ({"profile": "production", "dashboard": "on"}, 200),
    ):
        async with open_api(**settings) as api:
            page = await api.client.get("/dashboard")
            assert page.status_code == status
            if status == 200:
                assert page.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
                for address in re.findall(r'(?:src|href)="(/dashboard/[^"]+)"', page.text):
                    assert (await api.client.get(address)).status_code == 200, address
