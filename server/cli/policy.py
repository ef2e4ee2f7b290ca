"""AWS permissions by least privilege: exactly the operations that the contracts send."""

from typing import Any

from loaders.contracts import doctor, maintenance
from loaders.contracts.base import Contract
from loaders.contracts.cost import Part
from loaders.contracts.reading import ReadOne
from loaders.contracts.registry import CONTRACTS
from loaders.contracts.scanning import ReadTable
from loaders.contracts.writing import WriteContract
from loaders.tools.definition import definition


def policy(table: str, *, operators: bool) -> dict[str, Any]:
    """The policy of servers, or of operators, who may also do what only commands do, such as a Scan."""
    sent = {name for one in CONTRACTS.values() if operators or not _is_for_commands(one) for name in _operations(one)}
    resource = f"arn:aws:dynamodb:*:*:table/{table}"
    indexes = [f"{resource}/index/{index['IndexName']}" for index in definition(table)["GlobalSecondaryIndexes"]]
    return {
        "Version": "2012-10-17",
        "Statement": [
            _statement("Table", sorted({"DescribeTable", *sent}), [resource]),
            _statement("Index", ["Query"], indexes),
        ],
    }


def _statement(name: str, operations: list[str], resources: list[str]) -> dict[str, Any]:
    actions = [f"dynamodb:{operation}" for operation in operations]
    return {"Sid": name, "Effect": "Allow", "Action": actions, "Resource": resources}


def _is_for_commands(contract: Contract) -> bool:
    """Whether no server sends it."""
    in_modules = any(contract is one for module in (doctor, maintenance) for one in vars(module).values())
    return in_modules or isinstance(contract, ReadTable)


def _operations(contract: Contract) -> set[str]:
    """The operations that AWS asks permissions for: of a transaction those of its steps."""
    if isinstance(contract, WriteContract):
        parts = [read if isinstance(read, Part) else read.part for read in (*contract.reads, *contract.fallbacks)]
        operations = {part.operation for part in parts} | {f"{rule.action}Item" for rule in contract.rules}
        return operations - {"TransactWriteItems"}
    # An item is read together with others that are asked for at the same time.
    return {contract.operation, "BatchGetItem"} if isinstance(contract, ReadOne) else {contract.operation}
