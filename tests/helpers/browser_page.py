"""Chromium for tests of pages: flags, rules of accessibility, pictures for the documentation."""

from __future__ import annotations

import importlib.resources
import os
import shutil
from pathlib import Path

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
PICTURES = os.environ.get("VOICENYM_PICTURES")
"""Folder for pictures of the page; none are made without it."""
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
    "--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream",
]  # fmt: skip


def picture(page, name, part="body"):
    """Stores a picture of a part of the page."""
    if PICTURES:
        place = Path(PICTURES) / f"serve-{name}.jpg"
        page.locator(part).screenshot(path=place, type="jpeg", quality=45)


def violations(page):
    """Rules of axe that the page breaks, each with the elements."""
    place = importlib.resources.files("axe_playwright_python") / "axe.min.js"
    page.evaluate(place.read_text("utf-8"))  # not as a script, which the policy refuses
    found = page.evaluate("axe.run().then(found => found.violations)")
    return [(one["id"], [node["html"] for node in one["nodes"]]) for one in found]
