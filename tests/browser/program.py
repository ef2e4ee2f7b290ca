"""The browser of this machine; `python -m tests.browser.program` gets one where there is none and one can be had."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import typer
from playwright.sync_api import sync_playwright

__all__ = ["find_browser"]

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
# Into the user's own cache first; into the system only where there is no other way and it is ours to change.
OF_ITS_OWN = [[sys.executable, "-m", "playwright", "install", "chromium"]]
OF_DEBIAN = [["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "chromium"]]
SECONDS = 600


def find_browser() -> str | None:
    """The path of a Chromium or Chrome, if there is one."""
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None:
        with sync_playwright() as playwright:
            own = playwright.chromium.executable_path
        found = own if Path(own).exists() else None
    return found


def main() -> None:
    """Tries each way of getting one until there is one; that there is none is for the tests to say."""
    ways = [OF_ITS_OWN]
    if os.geteuid() == 0 and shutil.which("apt-get"):
        ways.append(OF_DEBIAN)
    for way in ways:
        if find_browser() is None:
            typer.echo("Getting a browser for the tests of GraphiQL (once)")
            _follow(way)


def _follow(way: list[list[str]]) -> None:
    for step in way:
        try:
            done = subprocess.run(step, check=False, stdin=subprocess.DEVNULL, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return
        if done.returncode:
            return


if __name__ == "__main__":
    main()
