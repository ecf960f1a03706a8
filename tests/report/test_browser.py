"""The pages in a real browser: drawn, silent, asking nothing of any host, and never wider than the window."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from sample_reports import check as sample_check
from sample_reports import comparison, run
from samples import sample_log

from querycloak.evaluation.assess import Assessor
from querycloak.evaluation.check import check_release
from querycloak.evaluation.compare import compare, plan_runs
from querycloak.evaluation.workbench import Workbench
from querycloak.report.check_page import write_check_page
from querycloak.report.html import write_report

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
COLOURS = {
    "light": ("rgb(255, 255, 255)", "rgb(27, 31, 36)"),
    "dark": ("rgb(13, 17, 23)", "rgb(230, 237, 243)"),
}
LONG = "a-method-with-a-rather-long-name min_query_users=20 another_setting=5"
OVERFLOWING = """[...document.querySelectorAll('body *')].filter(e =>
    !e.closest('.wide') && !e.closest('svg') && e.getBoundingClientRect().right > window.innerWidth + 1
).map(e => e.tagName + '.' + e.className)"""
OVERLAPPING = """[...document.querySelectorAll('.strip')].filter(row => {
    const boxes = [...row.children].map(e => e.getBoundingClientRect()).filter(b => b.width && b.height);
    const cut = [...row.children].some(e => !e.matches('.strip-plot') && e.scrollWidth > e.clientWidth + 1);
    return cut || boxes.some((a, i) => boxes.some((b, j) => i < j
        && a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1));
}).length"""

UNFOLD = "document.querySelectorAll('details').forEach(d => { d.open = true; })"
OUTSIDE = """[...document.querySelectorAll('svg.plot')].flatMap(svg => {
    const frame = svg.closest('figure').getBoundingClientRect();
    return [...svg.querySelectorAll('text')].filter(t => {
        const box = t.getBoundingClientRect();
        return box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1;
    }).map(t => t.textContent);
})"""

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Every kind of page: of a real comparison and a real check, and with long names and all three verdicts."""
    folder = tmp_path_factory.mktemp("pages")
    bench = Workbench(sample_log())
    out = {"report": write_report(compare(bench, plan_runs(["sweep"], {"min_query_users": [1, 2]}), folder), folder)}
    release = bench.anonymize("sweep", min_query_users=2)
    checks = {"real": check_release(Assessor(bench), release, tasks=("topics",))}
    for verdict in ("RELEASE", "DO NOT RELEASE", "NEEDS A HUMAN"):
        checks[verdict] = sample_check(verdict, text=LONG)
    for name, found in checks.items():
        out[name] = folder / f"{name}.html"
        write_check_page(found, out[name])
    (folder / "long").mkdir()
    runs = [run(f"{LONG} {i}", text=LONG) for i in range(12)]
    out["many runs"] = write_report(comparison(*runs, text=LONG), folder / "long")
    return out


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield opened
        opened.close()


@pytest.fixture
def open_page(browser, pages):
    """Opens a page, and notes what it says and asks for."""
    opened = []

    def open_one(name, scheme="light", width=1400):
        page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
        page.said, page.asked = [], []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(pages[name].as_uri())
        opened.append(page)
        return page

    yield open_one
    for page in opened:
        page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["report", "real", "RELEASE"])
def test_pages_are_silent_and_keep_the_colours_of_the_reader(open_page, name, scheme):
    page = open_page(name, scheme)
    assert page.said == []
    assert [url for url in page.asked if not url.startswith(("file:", "data:"))] == []
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    ink = page.evaluate("getComputedStyle(document.querySelector('section h2')).color")
    assert (paper, ink) == COLOURS[scheme]


@pytest.mark.parametrize("width", [1400, 420])
@pytest.mark.parametrize("name", ["report", "real", "RELEASE", "DO NOT RELEASE", "NEEDS A HUMAN", "many runs"])
def test_nothing_is_wider_than_the_window_and_nothing_covers_another(open_page, name, width):
    page = open_page(name, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "the page scrolls sideways"
    assert page.evaluate(OVERFLOWING) == []
    assert page.locator(".strip").count() > 3
    assert page.evaluate(OVERLAPPING) == 0
    page.evaluate(UNFOLD)
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "the page scrolls sideways, unfolded"
    assert page.evaluate(OVERFLOWING) == []
    assert page.evaluate(OVERLAPPING) == 0


def test_the_report_draws_its_pictures(open_page):
    page = open_page("report")
    assert page.locator("section").count() == 13
    page.evaluate(UNFOLD)
    drawn = page.locator("svg.plot")
    assert drawn.count() >= 3
    for i in range(drawn.count()):
        box = drawn.nth(i).bounding_box()
        assert box["width"] > 200
        assert box["height"] > 100
        assert drawn.nth(i).locator(":is(.badge, .mark, .line)").count() > 0, "a picture without marks"
    assert page.locator(".strip-plot .dot").count() > 50
    assert page.evaluate(OUTSIDE) == []


def test_pictures_are_readable_on_a_phone(open_page):
    """Texts are at least 9 pixels high, though a picture is as wide as the window."""
    page = open_page("many runs", width=420)
    page.evaluate(UNFOLD)
    sizes = page.evaluate(
        "[...document.querySelectorAll('svg.plot')].map(s => s.getBoundingClientRect().width"
        " / s.viewBox.baseVal.width * 11)"
    )
    assert len(sizes) == 3
    assert min(sizes) >= 9


def test_a_table_that_does_not_fit_scrolls_in_its_box_and_shows_a_shadow(open_page):
    page = open_page("many runs", width=420)
    page.evaluate(UNFOLD)
    box = page.locator(".wide:has(table.figures)").first
    assert box.evaluate("e => e.scrollWidth > e.clientWidth + 50")
    assert "local" in box.evaluate("e => getComputedStyle(e).backgroundAttachment")
    assert box.get_attribute("tabindex") == "0"  # to be scrolled by keys
    box.evaluate("e => { e.scrollIntoView(); e.firstElementChild.style.visibility = 'hidden'; }")  # the box alone
    more = box.screenshot()
    box.evaluate("e => { e.style.background = 'none'; }")
    plain = box.screenshot()
    assert more != plain, "no shadow where there is more"
    short = open_page("report").locator(".wide:has(table.verdicts)").first  # one that fits
    short.evaluate("e => { e.firstElementChild.style.visibility = 'hidden'; }")
    fits = short.screenshot()
    short.evaluate("e => { e.style.background = 'none'; }")
    assert short.screenshot() == fits, "a shadow where there is nothing more"


@pytest.mark.parametrize("name", ["report", "real"])
def test_the_data_in_a_page_can_be_read_and_runs_nothing(open_page, pages, name):
    page = open_page(name)
    found = page.evaluate("JSON.parse(document.getElementById('results').textContent)")
    if name == "report":
        assert found == json.loads((pages[name].parent / "results.json").read_text())
    else:
        assert found["verdict"] in page.locator("h1").inner_text()
    assert page.said == []


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="no pdftotext on this machine")
def test_it_prints_as_a_whole_and_every_page_says_that_it_is_internal(open_page, tmp_path):
    page = open_page("report")
    page.pdf(path=tmp_path / "report.pdf", prefer_css_page_size=True)
    pages = subprocess.run(
        ["pdftotext", "-layout", tmp_path / "report.pdf", "-"], check=True, capture_output=True, text=True
    ).stdout.split("\f")[:-1]
    assert 4 < len(pages) < 20
    assert all("Internal: do not publish" in text for text in pages)
    assert "May I release this?" in pages[0].replace("MAY I RELEASE THIS?", "May I release this?")
    whole = "\n".join(pages)
    for title in ("Topics before and after", "How long each step took", "Does not cover"):
        assert title in whole, "it stays folded on paper"


def test_the_verdict_is_seen_at_once(open_page):
    colours = set()
    for name in ("RELEASE", "DO NOT RELEASE", "NEEDS A HUMAN"):
        page = open_page(name, width=420)
        title = page.locator("h1")
        assert name in title.inner_text()
        box = title.bounding_box()
        assert box["y"] + box["height"] < 250, "below the fold of a phone"
        colours.add(title.evaluate("e => getComputedStyle(e).color"))
    assert len(colours) == 3


def test_before_and_after_are_next_to_each_other_and_below_on_a_phone(open_page):
    for width, aside in [(1400, True), (420, False)]:
        before, after = (open_page("real", width=width).locator(".pair > div").nth(i).bounding_box() for i in (0, 1))
        assert (after["x"] > before["x"] + 100) == aside
        assert (after["y"] > before["y"] + 100) != aside


def test_on_paper_nothing_stays_folded(open_page):
    page = open_page("DO NOT RELEASE")
    page.emulate_media(media="print")
    folded = page.locator(".verdict details li").first
    assert folded.bounding_box()["height"] > 5
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
