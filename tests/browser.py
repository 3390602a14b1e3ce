"""A browser for the tests of the page: one of the system, or one that is installed.

    python tests/browser.py

installs one if there is none, and axe-core, which finds faults of accessibility, by npm.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
AXE = Path(__file__).parents[1] / ".venv/axe/node_modules/axe-core/axe.min.js"
AXE_VERSION = "4.14.0"
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


def install_axe():
    """Install axe-core into .venv by npm, if there is npm."""
    npm = shutil.which("npm")
    if npm is not None and not AXE.exists():
        command = [npm, "install", "--no-audit", "--no-fund", "--prefix", AXE.parents[2]]
        subprocess.run([*command, f"axe-core@{AXE_VERSION}"], check=False)


def main():
    if find_browser() is None:
        install_browser()
    install_axe()
    print(AXE if AXE.exists() else "no axe-core: the tests of accessibility will be skipped")
    print(find_browser() or "no browser: the tests of the page will be skipped")


if __name__ == "__main__":
    main()
