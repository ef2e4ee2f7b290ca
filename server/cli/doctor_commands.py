"""The command that checks the invariants of the table and repairs it."""

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from domain.access_codes import CodeRing
from domain.errors import InternalError, OperatorError, SmartLockerError
from domain.ids import check_id
from loaders.following.leases import unfollowed
from loaders.table.clock import StoreClock
from loaders.tools.definition import describe_table
from loaders.tools.doctor import Doctor, Records, Table, check_export_file, full_scan_cost
from loaders.tools.findings import Finding
from loaders.tools.transfer import check_export
from server.auth.code_keys import read_ring
from server.cli.command import CommandError, load_settings
from server.cli.table import confirm, open_table, rules_clock
from server.settings import Settings

_FOUND, _FAILED = 1, 2

Ids = Annotated[list[str] | None, typer.Option(metavar="ID", help="Check it and what belongs to it; can be repeated.")]


def doctor_command(
    locker: Ids = None,
    owner: Ids = None,
    location: Ids = None,
    booking: Ids = None,
    export: Annotated[Path | None, typer.Option(metavar="FILE", help="Check a file of `smartlocker export`.")] = None,
    full_scan: Annotated[bool, typer.Option("--full-scan", help="Check the whole table; states its cost.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation of a full scan.")] = False,
    rate: Annotated[float, typer.Option(min=1, help="The most items a full scan reads in a second.")] = 1000,
    repair: Annotated[bool, typer.Option("--repair", help="Repair copies, pointers, claims and half days.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Check the invariants of the table. Ends with 0 if all hold, 1 if some do not, 2 if they were not checked."""
    try:
        ids = [tuple(map(check_id, named or ())) for named in (locker, owner, location, booking)]
    except ValueError as error:
        raise typer.BadParameter(f"an id {error}") from None
    records = Records(*ids)  # type: ignore[arg-type]  # checked ids
    if sum([bool(records.keys), export is not None, full_scan]) != 1:
        raise typer.BadParameter("name lockers, owners, locations or bookings, or use --export or --full-scan")
    if repair and export is not None:
        raise typer.BadParameter("an export cannot be repaired: name the records, or use --full-scan")
    try:
        if export is not None:
            check_export(export)
            settings = load_settings()
            found, table = check_export_file(export, rules_clock(settings, StoreClock())(), _ring(settings))
            left = found
        else:
            found, left, table = asyncio.run(_examine(records, yes=yes, rate=rate, repair=repair))
    except (InternalError, OperatorError, SmartLockerError, typer.Abort) as error:
        typer.echo(f"smartlocker: {' '.join(str(error).split()) or 'nothing was done'}", err=True)
        raise typer.Exit(_FAILED) from None
    _report(found, left, table, as_json=as_json)
    raise typer.Exit(_FOUND if left else 0)


async def _examine(
    records: Records, *, yes: bool, rate: float, repair: bool
) -> tuple[list[Finding], list[Finding], Table]:
    """Returns the findings, those that are left after repairs, and the table as far as it was read."""
    settings = load_settings()
    async with open_table(settings, any_state=not repair) as (connection, store, clock):
        doctor = Doctor(store, clock, _ring(settings))
        if records.keys:
            missing = await doctor.missing(records)
            if missing:
                raise CommandError(f"{', '.join(key.pk for key in missing)} does not exist")
            found, table = await doctor.check(records), Table()
        else:
            cost = full_scan_cost(await describe_table(connection) or {})
            typer.echo(f"Checking table {connection.table} {cost}.", err=True)
            confirm("Check the whole table?", yes=yes, err=True)
            found, table = await doctor.check_table(
                items_per_second=rate, progress=lambda read: typer.echo(f"{read:,} items read", err=True)
            )
            table.unfollowed = await unfollowed(store)
        return found, await doctor.repair(found) if repair else found, table


def _ring(settings: Settings) -> CodeRing | None:
    """The secrets of access codes, if they are set: those of a development server may be another table's."""
    return None if settings.code_keys is None else read_ring(settings)


def _report(found: list[Finding], left: list[Finding], table: Table, *, as_json: bool) -> None:
    repaired = [finding for finding in found if finding not in left]
    if as_json:
        report: dict[str, Any] = {"findings": list(map(_shown, left)), "repaired": list(map(_shown, repaired))}
        report |= {"unknown": table.unknown, "expired": table.expired, "unfollowed": table.unfollowed}
        typer.echo(json.dumps(report, indent=2))
        return
    for kind, count in sorted(table.unknown.items()):
        typer.echo(f"{kind}: {count} of a kind that is not known")
    if table.expired:
        typer.echo(f"{table.expired} expired, which the store has not deleted: see `smartlocker table expire`")
    if table.unfollowed:
        parts = ", ".join(map(str, table.unfollowed))
        typer.echo(f"nobody follows the log (parts {parts}): history and figures stand still until a server does")
    for finding in repaired:
        typer.echo(f"{finding.invariant}  {finding.place}: {finding.problem} (repaired)")
    for finding in left:
        remedy = "can be repaired" if finding.repair else "needs a decision"
        typer.echo(f"{finding.invariant}  {finding.place}: {finding.problem} ({remedy})")
    summary = f"{_count(left)}, {len(repaired)} repaired" if repaired else _count(left)
    typer.echo(summary)


def _count(findings: list[Finding]) -> str:
    return {0: "no violation", 1: "1 violation"}.get(len(findings), f"{len(findings)} violations")


def _shown(finding: Finding) -> dict[str, Any]:
    return {
        "invariant": finding.invariant,
        "item": finding.place,
        "problem": finding.problem,
        "repairable": finding.repair is not None,
    }
