"""What pyproject says of the direction of imports, held against the modules that there are."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
SEAM = "loaders.table"


def contracts() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
        "contracts"
    ]
    return found


def test_every_module_of_the_data_layer_but_the_seam_is_kept_from_the_sdk() -> None:
    modules = {f"loaders.{path.stem}" for path in (ROOT / "loaders").iterdir() if is_module(path)}
    assert SEAM in modules
    contract = contracts()[2]
    assert contract["name"] == "only the seam touches the AWS SDK"
    assert sorted(contract["source_modules"]) == sorted({"domain", "resolvers", "server"} | modules - {SEAM})
    assert contract["forbidden_modules"] == ["aioboto3", "aiobotocore", "boto3", "botocore"]


def test_every_package_of_the_product_has_its_layer() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"bench", "tests"}
    assert contracts()[0]["layers"] == ["server", "resolvers", "loaders", "domain"]
    assert packages == set(contracts()[0]["layers"])


def is_module(path: Path) -> bool:
    return (path.suffix == ".py" and path.stem != "__init__") or (path / "__init__.py").exists()
