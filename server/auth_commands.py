"""The commands for credentials: `smartlocker keys …` and `smartlocker token`."""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Column, Table

from domain.api_keys import ApiKeyRole, CreateApiKey, RevokeApiKey
from domain.commands import understand
from domain.principal import Principal, Role, Scope
from domain.times import shift
from loaders.backend import Backend
from loaders.contracts import QC_63
from loaders.pages import Slice
from loaders.reads import api_keys
from loaders.table.client import open_store
from loaders.table.definition import check_table, create_table
from loaders.writes.api_keys import create_api_key, revoke_api_key
from server.app import new_id, utc_now
from server.claims import BadTokenError, principal_from
from server.command import CommandError, load_settings, wide_console
from server.development import development_token
from server.store import connect

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from domain.api_keys import ApiKey
    from domain.times import Instant

__all__ = ["keys_app", "token"]

keys_app = typer.Typer(help="API keys of partners and devices.", no_args_is_help=True)

_DURATION = re.compile(r"(?P<count>[1-9][0-9]{0,4})(?P<unit>[dh])")
_CREATED_BY = "command line"

Owners = Annotated[list[str] | None, typer.Option("--owner", help="The owner; for a partner, repeat it for each.")]
Scopes = Annotated[list[Scope] | None, typer.Option("--scope", help="What a partner may do; repeat it for each.")]
LockerOption = Annotated[str | None, typer.Option("--locker", help="A device's locker.")]


@keys_app.command("create")
def keys_create(
    role: Annotated[ApiKeyRole, typer.Option(help="Whom it is for.")],
    name: Annotated[str, typer.Option(help="What people call it.")],
    owner: Owners = None,
    scope: Scopes = None,
    locker: LockerOption = None,
    expires: Annotated[str | None, typer.Option(help="When it ends, such as 90d or 12h; left out: never.")] = None,
) -> None:
    """Create a key, and show it this once."""
    now = utc_now()
    values = {
        "name": name,
        "role": role,
        "owner_ids": owner or [],
        "scopes": scope or [],
        "locker_id": locker,
        "expires_at": None if expires is None else shift(now, _duration(expires)),
    }

    async def work() -> None:
        async with _open_backend() as backend:
            created = await create_api_key(backend, understand(CreateApiKey, values), _CREATED_BY)
        # The key alone goes to the output, so that it can be led into a file.
        typer.echo(f"key {created.record.key_id}, shown this once:", err=True)
        typer.echo(created.secret)

    asyncio.run(work())


@keys_app.command("list")
def keys_list() -> None:
    """List all keys, newest first."""

    async def work() -> None:
        # The id is what `keys revoke` takes, so it stays whole whatever the width.
        listing = Table(Column("id", no_wrap=True), "name", "role", "for", "scopes", "made", "state")
        async with _open_backend() as backend:
            cursor: str | None = None
            while True:
                page = await api_keys(backend.store, Slice(QC_63.page.maximum, cursor=cursor))
                for _, api_key in page.entries:
                    listing.add_row(*_row(api_key, backend.clock()))
                cursor = page.next_cursor
                if cursor is None:
                    break
        wide_console().print(listing)

    asyncio.run(work())


@keys_app.command("revoke")
def keys_revoke(key_id: Annotated[str, typer.Argument(help="The key's id.")]) -> None:
    """Revoke a key, for good: within five seconds no server takes it."""

    async def work() -> None:
        async with _open_backend() as backend:
            revoked = await revoke_api_key(backend, understand(RevokeApiKey, {"key_id": key_id}))
        typer.echo(f"key {revoked.key_id} is revoked since {revoked.revoked_at}")

    asyncio.run(work())


def token(
    role: Annotated[Role, typer.Option(help="Whom to play.")] = Role.ADMIN,
    owner: Owners = None,
    organization: Annotated[
        list[str] | None, typer.Option(help="An organisation that the owner belongs to; repeat it for each.")
    ] = None,
    locker: LockerOption = None,
    scope: Scopes = None,
    hours: Annotated[int, typer.Option(min=1, max=8760, help="How long it holds.")] = 12,
) -> None:
    """Make a token for a development server on the same data directory."""
    settings = load_settings()
    if settings.profile != "development":
        raise CommandError("only the development profile has tokens of its own: get one from your issuer")
    owners = owner or []
    if role is Role.OWNER and len(owners) != 1:
        raise CommandError("an owner's token needs one --owner")
    claims: dict[str, Any] = {
        "sub": f"development-{role}",
        "role": role,
        "ownerId": owners[0] if role is Role.OWNER else None,
        "organizations": organization,
        "partnerOf": owners,
        "lockerId": locker,
        "scope": list(scope or []),
    }
    try:
        principal: Principal = principal_from(claims, {})
    except BadTokenError as error:
        raise CommandError(str(error)) from None
    typer.echo(development_token(settings.data_dir, principal, timedelta(hours=hours)))


@asynccontextmanager
async def _open_backend() -> AsyncIterator[Backend]:
    settings = load_settings()
    async with connect(settings) as connection:
        if settings.is_embedded:
            await create_table(connection)
        await check_table(connection)
        async with open_store(connection) as store:
            yield Backend(store, utc_now, new_id, settings.longest_reservation)


def _row(api_key: ApiKey, now: Instant) -> tuple[str, ...]:
    if api_key.revoked_at is not None:
        state = f"revoked {api_key.revoked_at}"
    elif api_key.expires_at is None:
        state = "live"
    else:
        state = f"{'expired' if api_key.expires_at <= now else 'until'} {api_key.expires_at}"
    holder = ", ".join(api_key.owner_ids) or str(api_key.locker_id)
    return api_key.key_id, api_key.name, api_key.role, holder, " ".join(api_key.scopes), api_key.created_at, state


def _duration(text: str) -> timedelta:
    match = _DURATION.fullmatch(text)
    if match is None:
        raise CommandError("--expires must be a number of days or hours, such as 90d or 12h")
    count = int(match["count"])
    return timedelta(days=count) if match["unit"] == "d" else timedelta(hours=count)
