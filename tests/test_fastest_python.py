"""The interpreter that `make serve` installs for."""

import os
import subprocess
import sys
from pathlib import Path

NAME = f"python{sys.version_info.major}.{sys.version_info.minor}"
SCRIPT = Path(__file__).parents[1] / "bench" / "fastest_python.py"


def interpreter(folder: Path, command: str) -> str:
    """A folder of the search path with a program that is named as an interpreter of this version."""
    folder.mkdir()
    (folder / NAME).write_text(f"#!/bin/sh\n{command}\n")
    (folder / NAME).chmod(0o755)
    return str(folder)


def chosen(*folders: str) -> tuple[str, str]:
    """The interpreter that it prints, and its message."""
    environment = os.environ | {"PATH": os.pathsep.join(folders)}
    run = subprocess.run([sys.executable, SCRIPT], capture_output=True, check=True, text=True, env=environment)
    return run.stdout.strip(), run.stderr.strip()


def test_the_fastest_interpreter_is_chosen_and_named(tmp_path: Path) -> None:
    fast = interpreter(tmp_path / "fast", "echo 0.00001 /optimized/python")
    slow = interpreter(tmp_path / "slow", "echo 99 /debugging/python")
    path, said = chosen(slow, fast)
    assert path == "/optimized/python"
    assert said.startswith("Using /optimized/python, 0.00 of the time of ")


def test_without_a_faster_one_that_can_be_installed_for_it_stays_as_it_is(tmp_path: Path) -> None:
    slow = interpreter(tmp_path / "slow", "echo 99 /debugging/python")
    bare = interpreter(tmp_path / "bare", "echo 0.00001 /without/venv; exit 1")
    assert chosen(slow, bare, str(tmp_path / "missing")) == (sys.executable, f"Using {sys.executable}")
