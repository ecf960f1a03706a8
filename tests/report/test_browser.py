"""The report in a real browser: drawn, silent, and asking nothing of any host."""

from __future__ import annotations

import shutil

import pytest
from samples import sample_log

from querycloak.evaluation.compare import compare, plan_runs
from querycloak.evaluation.workbench import Workbench
from querycloak.report.html import write_report

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SECTIONS = 8


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("comparison")
    found = compare(Workbench(sample_log()), plan_runs(["sweep"], {"min_query_users": [1, 2, 30]}), folder)
    return write_report(found, folder)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_opens_offline(report, scheme):
    from playwright.sync_api import sync_playwright

    said, asked = [], []
    with sync_playwright() as play:
        options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
        browser = play.chromium.launch(executable_path=CHROMIUM, args=options)
        page = browser.new_page(color_scheme=scheme, viewport={"width": 1000, "height": 900})
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(report.as_uri())
        assert page.locator("section").count() == SECTIONS
        assert page.locator("svg").count() == 6
        for i in range(6):
            box = page.locator("svg").nth(i).bounding_box()
            assert box["width"] > 200
            assert box["height"] > 40
        marks = page.locator("svg [role='graphics-symbol']").count()
        assert marks > 50, "charts without marks"
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        ink = page.evaluate("getComputedStyle(document.querySelector('svg')).color")
        wide = page.evaluate("document.documentElement.scrollWidth")
        page.set_viewport_size({"width": 390, "height": 800})
        narrow = page.evaluate("document.documentElement.scrollWidth")
        browser.close()
    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert (paper, ink) == {
        "light": ("rgb(255, 255, 255)", "rgb(27, 31, 36)"),
        "dark": ("rgb(13, 17, 23)", "rgb(230, 237, 243)"),
    }[scheme]
    assert wide <= 1000
    assert narrow <= 390, "the page scrolls sideways on a phone"
