"""A browser for the tests of the page: one of the system, or one that is installed.

    python tests/browser.py

installs one if there is none.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# No updates, no network access of its own, and it can run as root.
OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_browser():
    """Return the path of a browser, or None."""
    for name in NAMES:
        if found := shutil.which(name):
            return found
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def install_browser():
    """Install a package of the system if we are root, or else Playwright's own build."""
    ways = []
    if shutil.which("apt-get") and os.geteuid() == 0:
        ways += [["apt-get", "update", "-q"], ["apt-get", "install", "-y", "-q", "chromium"]]
    ways.append([sys.executable, "-m", "playwright", "install", "chromium"])
    for way in ways:
        if find_browser() is None:
            subprocess.run(way, check=False, stdout=subprocess.DEVNULL)


def main():
    if find_browser() is None:
        install_browser()
    print(find_browser() or "no browser: the tests of the page will be skipped")


if __name__ == "__main__":
    main()
