import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_every_package_of_the_product_has_its_layer() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "bench"}
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    assert packages == set(rules["root_packages"]) == set(rules["contracts"][0]["layers"])
