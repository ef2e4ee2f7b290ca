import re
from pathlib import Path

import pytest

from server.settings import Settings, variable_of
from tests.documentation import ROOT

FILES = [ROOT / "Dockerfile", ROOT / "compose.yaml", *(path for path in (ROOT / "deploy").rglob("*") if path.is_file())]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_setting_that_is_named_exists(path: Path) -> None:
    named = set(re.findall(r"SMARTLOCKER_[A-Z_]+", path.read_text()))
    assert named <= {variable_of(name) for name in Settings.model_fields}
