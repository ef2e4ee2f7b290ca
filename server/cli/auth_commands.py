"""The commands `smartlocker keys …` and `smartlocker token`."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Annotated, Any, TypeVar

import typer
from rich.table import Column, Table

from domain.api_keys import ApiKey, ApiKeyRole
from domain.authorization import Principal, Role, Scope
from domain.commands.api_keys import CreateApiKey, ResumeApiKey, RevokeApiKey, SuspendApiKey
from domain.commands.base import parse_command
from domain.errors import BadInputError
from domain.times import Instant, shift
from loaders.backend import Backend
from loaders.contracts.api_keys import API_KEY_BY_ID, API_KEYS
from loaders.contracts.base import Order
from loaders.pages import PageRequest
from loaders.writes.api_keys import create_api_key, resume_api_key, revoke_api_key, suspend_api_key
from server.auth.claims import principal_from
from server.auth.development import development_token
from server.cli.command import CommandError, asynchronous, load_settings, table_console
from server.cli.table import open_table
from server.http_errors import InvalidCredentialsError
from server.new_ids import new_id
from server.settings import ClaimName

C = TypeVar("C", SuspendApiKey, ResumeApiKey)

keys_app = typer.Typer(help="Manage API keys of partners and devices.", no_args_is_help=True, add_completion=False)

_DURATION = re.compile(r"(?P<count>[1-9][0-9]{0,4})(?P<unit>[dh])")
_OPERATOR = Principal(subject="command line", role=Role.ADMIN)
_OPTIONS = {"ownerIds": "--owner", "scopes": "--scope", "lockerId": "--locker", "locationId": "--location"}
_CLAIMS: dict[ClaimName, str] = {
    "ownerId": "--owner",
    "organizations": "--organization",
    "partnerOf": "--owner",
    "lockerId": "--locker",
    "locationId": "--location",
    "scope": "--scope",
}

Owners = Annotated[list[str] | None, typer.Option("--owner", help="Owner id; for a partner, repeat the option.")]
Scopes = Annotated[list[Scope] | None, typer.Option("--scope", help="Scope of a partner; repeat the option.")]
KeyId = Annotated[str, typer.Argument(help="Id of the key.")]
LockerOption = Annotated[str | None, typer.Option("--locker", help="Locker id of a device.")]
LocationOption = Annotated[str | None, typer.Option("--location", help="Location id of a device of a location's door.")]


@keys_app.command("create")
@asynchronous
async def keys_create(
    role: Annotated[ApiKeyRole, typer.Option(case_sensitive=False, help="Role of the key.")],
    name: Annotated[str, typer.Option(help="Name of the key.")],
    owner: Owners = None,
    scope: Scopes = None,
    locker: LockerOption = None,
    location: LocationOption = None,
    expires: Annotated[
        str | None, typer.Option(help="Lifetime such as 90d or 12h. Default: the key does not expire.")
    ] = None,
) -> None:
    """Create a key and print its secret, which is not shown again."""
    lifetime = None if expires is None else _duration(expires)
    values = {
        "name": name,
        "role": role,
        "owner_ids": owner or [],
        "scopes": scope or [],
        "locker_id": locker,
        "location_id": location,
    }
    async with _open_backend() as backend:
        values["expires_at"] = None if lifetime is None else shift(backend.clock(), lifetime)
        try:
            created = await create_api_key(backend, parse_command(CreateApiKey, values), _OPERATOR)
        except BadInputError as error:
            # The message has the input names of the API.
            raise CommandError(re.sub("|".join(_OPTIONS), lambda name: _OPTIONS[name[0]], str(error))) from None
    # Only the secret goes to standard output, so that it can be redirected to a file.
    typer.echo(f"key {created.record.key_id} created; its secret is not shown again:", err=True)
    typer.echo(created.secret)


@keys_app.command("list")
@asynchronous
async def keys_list() -> None:
    """List all keys, newest first."""
    # The id is the argument of `keys revoke`, so it is never truncated.
    listing = Table(Column("id", no_wrap=True), "name", "role", "holder", "scopes", "created", "used", "state")
    async with _open_backend() as backend:
        cursor: str | None = None
        while True:
            page = await API_KEYS.page(
                backend.store, PageRequest(API_KEYS.page_rule.maximum, cursor=cursor), Order.DESC
            )
            for api_key in page.nodes:
                listing.add_row(*_row(api_key, backend.clock()))
            cursor = page.next_cursor
            if cursor is None:
                break
    table_console().print(listing)


@keys_app.command("suspend")
@asynchronous
async def keys_suspend(key_id: KeyId) -> None:
    """Suspend a key until it is resumed; after five seconds, no server accepts it."""
    async with _open_backend() as backend:
        suspended = await suspend_api_key(backend, await _change(backend, SuspendApiKey, key_id), _OPERATOR)
    typer.echo(f"key {suspended.key_id} suspended at {suspended.suspended_at}")


@keys_app.command("resume")
@asynchronous
async def keys_resume(key_id: KeyId) -> None:
    """Resume a suspended key; after five seconds, every server accepts it."""
    async with _open_backend() as backend:
        resumed = await resume_api_key(backend, await _change(backend, ResumeApiKey, key_id), _OPERATOR)
    typer.echo(f"key {resumed.key_id} resumed")


@keys_app.command("revoke")
@asynchronous
async def keys_revoke(key_id: KeyId) -> None:
    """Revoke a key permanently; after five seconds, no server accepts it."""
    async with _open_backend() as backend:
        revoked = await revoke_api_key(backend, parse_command(RevokeApiKey, {"key_id": key_id}), _OPERATOR)
    typer.echo(f"key {revoked.key_id} revoked at {revoked.revoked_at}")


def token(
    role: Annotated[Role, typer.Option(case_sensitive=False, help="Role of the token.")] = Role.ADMIN,
    owner: Owners = None,
    organization: Annotated[
        list[str] | None, typer.Option(help="Organization of the owner; repeat the option.")
    ] = None,
    locker: LockerOption = None,
    location: LocationOption = None,
    scope: Scopes = None,
    hours: Annotated[int, typer.Option(min=1, max=8760, help="Lifetime in hours.")] = 12,
) -> None:
    """Create a token for a development server with the same data directory."""
    settings = load_settings()
    if settings.profile != "development":
        raise CommandError("development tokens work in the development profile only: get a token from your issuer")
    owners = owner or []
    if role is Role.OWNER and len(owners) != 1:
        raise CommandError("an owner's token needs exactly one --owner")
    if role is Role.ADMIN and len(owners) > 1:
        raise CommandError("an admin's token takes one --owner at most")
    claims: dict[str, Any] = {
        "sub": f"development-{role}",
        "role": role,
        "--owner": owners if role is Role.PARTNER else next(iter(owners), None),
        "--organization": organization,
        "--locker": locker,
        "--location": location,
        "--scope": list(scope or []),
    }
    try:
        principal: Principal = principal_from(claims, _CLAIMS)
    except InvalidCredentialsError as error:
        raise CommandError(re.sub("[Tt]he (token's )?claims? ", "", str(error))) from None
    typer.echo(development_token(settings.data_dir, principal, timedelta(hours=hours)))


@asynccontextmanager
async def _open_backend() -> AsyncIterator[Backend]:
    settings = load_settings()
    async with open_table(settings) as (_, store, clock):
        yield Backend(store, clock, new_id, clock.stamp, settings.longest_reservation, retention=settings.retention)


def _row(api_key: ApiKey, now: Instant) -> tuple[str, ...]:
    if api_key.revoked_at is not None:
        state = f"revoked {api_key.revoked_at[:16]}"
    elif api_key.suspended_at is not None:
        state = f"suspended {api_key.suspended_at[:16]}"
    elif api_key.expires_at is None:
        state = "active"
    else:
        state = f"{'expired' if api_key.expires_at <= now else 'until'} {api_key.expires_at[:16]}"
    holder = ", ".join(api_key.owner_ids) or str(api_key.locker_id or api_key.location_id)
    used = (api_key.last_used_at or "never")[:13]
    about = (api_key.key_id, api_key.name, api_key.role, holder, " ".join(api_key.scopes))
    return *about, api_key.created_at[:16], used, state


async def _change(backend: Backend, command: type[C], key_id: str) -> C:
    """The command with the present version of the key: who types it does not name one."""
    found = await API_KEY_BY_ID.read(
        backend.store, parse_command(RevokeApiKey, {"key_id": key_id}).key_id, consistent=True
    )
    return parse_command(command, {"key_id": key_id, "expected_version": 1 if found is None else found.version})


def _duration(text: str) -> timedelta:
    match = _DURATION.fullmatch(text)
    if match is None:
        raise CommandError("--expires must be a number of days or hours, such as 90d or 12h")
    count = int(match["count"])
    return timedelta(days=count) if match["unit"] == "d" else timedelta(hours=count)
