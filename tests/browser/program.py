"""Finds a browser; `python -m tests.browser.program` installs one if there is none."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import typer
from playwright.sync_api import sync_playwright

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
# Installs into the user's cache; the system package comes second and needs root.
PLAYWRIGHT = [[sys.executable, "-m", "playwright", "install", "chromium"]]
DEBIAN = [["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "chromium"]]
TIMEOUT_SECONDS = 600


def find_browser() -> str | None:
    """The path of a Chromium or Chrome, if there is one."""
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None:
        with sync_playwright() as playwright:
            own = playwright.chromium.executable_path
        found = own if Path(own).exists() else None
    return found


def main() -> None:
    """Tries to install a browser; if that fails, the tests report it."""
    installations = [PLAYWRIGHT]
    if os.geteuid() == 0 and shutil.which("apt-get"):
        installations.append(DEBIAN)
    for commands in installations:
        if find_browser() is None:
            typer.echo("Installing a browser for the tests of GraphiQL (once)")
            _run(commands)


def _run(commands: list[list[str]]) -> None:
    for command in commands:
        try:
            completed = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, timeout=TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            return
        if completed.returncode:
            return


if __name__ == "__main__":
    main()
