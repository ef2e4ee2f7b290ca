import math
import re
from pathlib import Path

from domain.activity import ActivityKind, Happening, history_places
from domain.models import LocationId, LockerId, OwnerId
from loaders.codecs import ACTIVITY, LOG_ENTRY
from loaders.contracts.activity import KEEP_HISTORY
from loaders.contracts.registry import CONTRACTS
from resolvers.bindings.base import Reading
from resolvers.schema import bound_schema
from server.cli.documentation import fields_by_contract
from server.settings import Settings

SCHEMA = bound_schema()
DOCTOR = [f"QC-8{number}" for number in range(4)]
FOLLOWING = ["QC-121", "QC-122"]
USED = fields_by_contract(SCHEMA)


def test_every_contract_is_used_by_a_field_except_those_of_budgets_commands_and_the_tables_state() -> None:
    unused = [contract_id for contract_id, fields in USED.items() if not fields]
    assert unused == [
        "QC-50",
        "QC-70",
        "QC-71",
        "QC-72",
        "QC-74",
        "QC-75",
        "QC-76",
        "QC-77",
        "QC-78",
        "QC-79",
        *DOCTOR,
        "QC-113",
        "QC-115",
        "QC-116",
        *FOLLOWING,
        "QC-140",
        "QC-141",
        "QC-150",
        "QC-165",
        *(f"QC-{number}" for number in range(187, 196)),  # deliveries of webhooks
        "QC-200",
        *(f"QC-{number}" for number in range(207, 213)),  # what erases an owner
    ]


def test_every_field_that_reads_or_writes_uses_a_registered_contract() -> None:
    for fields in SCHEMA.types.values():
        for field in fields.values():
            if isinstance(field.binding, Reading):
                assert field.binding.contracts, field.name
                assert all(CONTRACTS[contract.id] is contract for contract in field.binding.contracts), field.name


def test_the_cost_of_log_and_history_is_that_of_the_contracts() -> None:
    page = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()
    table = page.partition("### What log and history cost")[2].partition("| USD |")[0]
    rows = dict(re.findall(r"^\| (\w+ (?:units )?of [\w ,]+) \| (.*) \|$", table, re.MULTILINE))
    opened = Happening(
        kind=ActivityKind.DOOR_OPENED, locker_id=LockerId("l"), location_id=LocationId("p"), owner_id=OwnerId("o")
    )
    (kept,) = KEEP_HISTORY.costs(None, 1)
    log_units = 2 * math.ceil(LOG_ENTRY.usual / 1024)  # as a part of a transaction
    copies, usd = len(history_places(opened)), []
    expected: dict[str, list[str]] = {name: [] for name in rows}
    for lockers in (10_000, 50_000):
        daily = 20 * lockers
        units = 30 * daily * log_units, 30 * daily * copies * kept.expected.write_units
        sizes = [
            daily * Settings().log_days * (LOG_ENTRY.usual + 100) / 1e9,
            daily * Settings().history_days * copies * (ACTIVITY.usual + 100) / 1e9,
        ]
        values = [*(f"{count / 1e6:.0f} million" for count in units), *(f"{size:.1f}" for size in sizes)]
        for found, value in zip(expected.values(), values, strict=True):
            found.append(value)
        usd.append(f"{sum(units) / 1e6 * 0.625 + sum(sizes) * 0.25:.0f}")
    assert rows == {name: " | ".join(values) for name, values in expected.items()}
    assert f"| USD | {' | '.join(usd)} |" in page
