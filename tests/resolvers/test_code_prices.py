"""What access codes ask of the store: operations, as docs/access-codes.md states them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.api import mutation
from tests.codes import CREATE, PROVISION, furnish, verify, wrong
from tests.principals import device

if TYPE_CHECKING:
    from tests.api import Api
    from tests.wire import Wire

PAGE = (Path(__file__).parents[2] / "docs" / "access-codes.md").read_text()
READS = ("BatchGetItem", "GetItem", "Query")


def sent(wire: Wire) -> tuple[str, str]:
    """The requests since the last look, as the page words them."""
    reads = [f"{wire.operations[name]} {name}" for name in READS if wire.operations[name]]
    items = [len(call.request["TransactItems"]) for call in wire.of("TransactWriteItems")]
    writes = f"1 TransactWriteItems of {items[0]} items" if items else "none"
    wire.reset()
    return ", ".join(reads), writes


async def test_the_page_states_the_requests_of_codes(api: Api, wire: Wire) -> None:
    await furnish(api)
    wire.reset()
    values = {"codeId": "c1", "kind": "RESERVATION", "lockerId": "l1", "reservationId": "r1"}
    digits = (await api.mutate(mutation("createAccessCode", "digits"), **values))["digits"]
    found: dict[str, Any] = {"create a code of a reservation": sent(wire)}
    await verify(api, digits, "a0")
    found["verify, granted, with the check-in"] = sent(wire)
    await verify(api, digits, "a1")
    found["verify, granted, after the check-in"] = sent(wire)
    await verify(api, wrong(digits), "a2")
    found["verify, denied"] = sent(wire)
    for number in range(4):
        await verify(api, wrong(digits), f"b{number}")
    wire.reset()
    await verify(api, digits, "c")
    found["verify, locked out"] = sent(wire)
    for number in range(2):
        await api.mutate(CREATE, codeId=f"s{number}", kind="STANDING", lockerId="l1")
    await api.mutate(PROVISION, lockerId="l1", generation=1)
    await api.reservation("r2", "l1", "ada", "2026-03-02T10:00:00Z", "2026-03-02T11:00:00Z")
    await api.mutate(CREATE, codeId="c2", kind="RESERVATION", lockerId="l1", reservationId="r2")
    wire.reset()
    await api.by(device("l1")).run('{ locker(lockerId: "l1") { accessCodeList { revision } } }')
    found["list for a locker's device"] = sent(wire)
    stated = {
        name: (reads, writes)
        for name, reads, writes in re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE)
    }
    assert {name: stated.get(name) for name in found} == found
