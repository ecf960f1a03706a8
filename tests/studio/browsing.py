"""A real Chromium that notes what pages say, ask for and try."""

from __future__ import annotations

import shutil
from contextlib import contextmanager

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
OVERFLOWING = """[...document.querySelectorAll('body *')].filter(e =>
    !e.closest('.wide, pre, svg, .unseen, .skip, .samples, .log') && e.getBoundingClientRect().width
    && e.getBoundingClientRect().right > window.innerWidth + 1).map(e => e.tagName + '.' + e.className)"""


@contextmanager
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        try:
            yield opened
        finally:
            opened.close()


def watch(page):
    """Note everything that a page says, asks for, or pops up."""
    page.said, page.asked = [], []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(f"error: {error}"))
    page.on("request", lambda request: page.asked.append(request.url))

    def popped(dialog):
        page.said.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    page.on("dialog", popped)
    return page


def open_tab(context):
    return watch(context.new_page())


def was_silent(page, port):
    """The page said nothing, popped nothing up, and asked nobody but us."""
    assert page.said == []
    ours = (f"http://127.0.0.1:{port}/", "data:", "about:")
    assert [url for url in page.asked if not url.startswith(ours)] == []
    return True
