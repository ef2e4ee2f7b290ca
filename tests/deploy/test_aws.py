import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from loaders.contracts import doctor, maintenance
from loaders.contracts.registry import CONTRACTS
from loaders.contracts.scanning import ReadTable
from loaders.tools.definition import definition
from server.cli.policy import policy
from server.settings import Settings
from tests.deploy.monitoring import DOCUMENTED
from tests.documentation import ROOT

TEMPLATE = ROOT / "deploy" / "aws" / "smartlocker.yaml"
REQUESTS = ROOT / "tests" / "contracts" / "requests"
STEP = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem"}


class Loader(yaml.SafeLoader):  # type: ignore[misc]  # it has no types
    """Reads CloudFormation's functions as what they are applied to."""


def _applied(loader: Any, _: str, node: Any) -> Any:
    match type(node).__name__:
        case "ScalarNode":
            return loader.construct_scalar(node)
        case "SequenceNode":
            return loader.construct_sequence(node, deep=True)
    return loader.construct_mapping(node, deep=True)


Loader.add_multi_constructor("!", _applied)
RESOURCES: dict[str, dict[str, Any]] = {
    name: resource["Properties"]
    for name, resource in yaml.load(TEMPLATE.read_text(), Loader)["Resources"].items()  # noqa: S506  # a safe one
    if "Properties" in resource
}


def test_the_linter_has_nothing_to_say() -> None:
    program = Path(sys.executable).parent / "cfn-lint"
    found = subprocess.run([program, TEMPLATE], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, "")


def test_the_table_is_that_of_the_product() -> None:
    table = RESOURCES["Table"]
    assert {name: table[name] for name in definition("") if name != "TableName"} == {
        name: value for name, value in definition("").items() if name != "TableName"
    }
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expiresAt", "Enabled": True}
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table["DeletionProtectionEnabled"]


def statements(role: str) -> dict[str, list[str]]:
    (document,) = [one["PolicyDocument"] for one in RESOURCES[role]["Policies"] if one["PolicyName"] == "table"]
    return {statement["Sid"]: statement["Action"] for statement in document["Statement"]}


def test_the_roles_allow_what_the_contracts_need_and_nothing_else() -> None:
    for role, operators in (("TaskRole", False), ("OperatorRole", True)):
        assert statements(role) == {
            one["Sid"]: one["Action"] for one in policy("SmartLocker", operators=operators)["Statement"]
        }
    assert set(statements("OperatorRole")["Table"]) - set(statements("TaskRole")["Table"]) == {"dynamodb:Scan"}


def sent(contract_id: str) -> set[str]:
    """The permissions that the recorded requests of a contract take."""
    text = (REQUESTS / f"{contract_id}.txt").read_text()
    operations = set(re.findall(rf"^  {contract_id} (\w+)", text, re.MULTILINE)) - {"TransactWriteItems"}
    own = re.findall(rf"^  {contract_id} TransactWriteItems:.*\n((?:    .*\n)*)", text, re.MULTILINE)
    steps = re.findall(r"^    [^ ].*?: (Put|Update|Delete|ConditionCheck) ", "".join(own), re.MULTILINE)
    return {f"dynamodb:{name}" for name in (*operations, *(STEP[step] for step in steps))}


def test_the_roles_allow_exactly_what_the_suite_sends() -> None:
    """The suite records the requests of every contract, and fails if others are sent."""
    commands = {
        one.id for module in (doctor, maintenance) for one in vars(module).values() if hasattr(one, "hot_partition")
    }
    commands |= {name for name, contract in CONTRACTS.items() if isinstance(contract, ReadTable)}
    for role, ids in (("TaskRole", CONTRACTS.keys() - commands), ("OperatorRole", CONTRACTS.keys())):
        recorded = [name for name in ids if (REQUESTS / f"{name}.txt").exists()]
        assert set().union(*map(sent, recorded)) == set(statements(role)["Table"]) - {"dynamodb:DescribeTable"}


def test_alarms_read_metrics_and_name_sections_of_the_runbook_that_exist() -> None:
    text = TEMPLATE.read_text()
    ours = set(re.findall(r"MetricName: (smartlocker_\w+)", text))
    assert len(ours) == 5
    assert ours <= DOCUMENTED
    headings = re.findall(r"^## (.+)$", (ROOT / "docs" / "runbook.md").read_text(), re.MULTILINE)
    sections = re.findall(r"docs/runbook\.md#(\w+)", text)
    assert len(sections) == 9
    assert set(sections) <= {heading.lower() for heading in headings}


def test_a_server_has_the_time_that_it_needs_to_stop() -> None:
    settings = Settings()
    (server, _) = RESOURCES["ServerTask"]["ContainerDefinitions"]
    assert server["StopTimeout"] >= settings.drain_seconds + settings.request_seconds + 5
    attributes = {one["Key"]: one["Value"] for one in RESOURCES["Target"]["TargetGroupAttributes"]}
    assert int(attributes["deregistration_delay.timeout_seconds"]) > settings.request_seconds
    idle = {one["Key"]: one["Value"] for one in RESOURCES["Balancer"]["LoadBalancerAttributes"]}
    environment = {one["Name"]: one["Value"] for one in server["Environment"]}
    assert int(environment["SMARTLOCKER_IDLE_SECONDS"]) > int(idle["idle_timeout.timeout_seconds"])
