from loaders.contracts.registry import CONTRACTS
from resolvers.bindings.base import Reading
from resolvers.schema import bound_schema
from server.cli.documentation import fields_by_contract

SCHEMA = bound_schema()
DOCTOR = [f"QC-8{number}" for number in range(4)]
FOLLOWING = [f"QC-12{number}" for number in range(3)]
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
    ]


def test_every_field_that_reads_or_writes_uses_a_registered_contract() -> None:
    for fields in SCHEMA.types.values():
        for field in fields.values():
            if isinstance(field.binding, Reading):
                assert field.binding.contracts, field.name
                assert all(CONTRACTS[contract.id] is contract for contract in field.binding.contracts), field.name
