"""A server of one's own, and a browser that opens its page."""

from __future__ import annotations

import pytest
from browser_page import CHROMIUM, FLAGS


@pytest.fixture(scope="module")
def own(start, tmp_path_factory):
    """A server without tokens, as on a laptop."""
    with start(tmp_path_factory.mktemp("page") / "server", "--workers", 2) as found:
        yield found


@pytest.fixture(scope="module")
def browser_flags():
    """Flags of the browser; a module with others has this fixture of its own."""
    return FLAGS


@pytest.fixture(scope="module")
def browser(browser_flags):
    """Chromium."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as tools:
        found = tools.chromium.launch(executable_path=CHROMIUM, args=browser_flags)
        yield found
        found.close()
