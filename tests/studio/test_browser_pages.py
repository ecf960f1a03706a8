"""Every page in a real browser, on made-up runs: light and dark, wide and narrow, by keyboard, without scripts."""

from __future__ import annotations

import pytest
from browsing import CHROMIUM, OVERFLOWING, chromium, watch
from fake_desk import HOSTILE, FakeDesk
from serving import served

from querycloak.studio.forms import FIRST_SET

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")]

PAGES = {
    "start": "/",
    "columns": "/logs/p1/columns",
    "exposed": "/logs/p0/exposed",
    "aims": "/logs/p0/aims",
    "methods": "/logs/p0/methods#clump",
    "results": "/logs/p0/results",
    "run": "/logs/p0/runs/r2",
    "running": "/logs/p0/runs/r4",
}
COLOURS = {"light": ("rgb(255, 255, 255)", "rgb(27, 31, 36)"), "dark": ("rgb(13, 17, 23)", "rgb(230, 237, 243)")}


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made-up")
    desk = FakeDesk(folder, folder / "work")
    desk.check_page = lambda _: _harmless(folder / "check.html")
    desk.confirm(desk.open("logs/search-2006-05.tsv").id, {"user": "1", "query": "3"})
    desk.open("x.csv")
    for method, settings in FIRST_SET:
        desk.start("p0", method, settings)
    with served(desk) as found:
        found.__dict__["desk"] = desk
        yield found


def _harmless(path):
    path.write_text("<!doctype html><title>check</title><style>body{height:2345px}</style><h1>RELEASE</h1>")
    return path


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture
def go(browser, keys):
    """Open a page in a context of its own."""
    opened = []

    def open_one(name, **options):
        context = browser.new_context(**options)
        opened.append(context)
        page = watch(context.new_page())
        page.goto(keys.address)
        page.goto(f"http://127.0.0.1:{keys.port}{keys.room}{PAGES.get(name, name)}")
        return page

    yield open_one
    for context in opened:
        context.close()


@pytest.mark.parametrize("width", [1400, 420])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_pages_fit_are_silent_and_keep_the_colours_of_the_reader(go, name, scheme, width):
    page = go(name, color_scheme=scheme, viewport={"width": width, "height": 900})
    if name == "results":
        page.locator("#chart svg").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OVERFLOWING) == []
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    ink = page.evaluate("getComputedStyle(document.querySelector('footer') && document.body).color")
    assert (paper, ink) == COLOURS[scheme]
    assert page.said == []
    assert all(url.startswith(f"http://127.0.0.1:{page.url.split(':')[2].split('/')[0]}/") for url in page.asked)


def test_the_chart_follows_task_filters_and_colours(go):
    page = go("results", viewport={"width": 1400, "height": 900}, color_scheme="light")
    symbols = page.locator("#chart svg .mark-symbol path")
    symbols.first.wait_for()
    assert symbols.count() == 5, "one mark for each run that is done"
    where = symbols.first.get_attribute("transform")
    page.get_by_label("Useful for").select_option("topics")
    page.wait_for_function(
        "before => document.querySelector('#chart .mark-symbol path')?.getAttribute('transform') !== before", arg=where
    )
    page.get_by_role("checkbox", name="DO NOT RELEASE").uncheck()
    page.wait_for_function("() => document.querySelectorAll('#chart .mark-symbol path').length === 3")
    assert page.locator("#runs tbody tr:visible").count() == 3
    titles = page.locator("#chart svg").text_content()
    assert "safer" in titles
    assert "more useful" in titles
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(
        "() => [...document.querySelectorAll('#chart text')].some(t => t.getAttribute('fill') === '#e6edf3')"
    )
    symbols.first.click()
    page.locator(".verdict h1").wait_for()
    assert page.said == []


def test_the_table_sorts_by_keyboard(go):
    page = go("results")
    head = page.get_by_role("button", name="Worst attack")
    head.focus()
    page.keyboard.press("Enter")
    first = page.locator("#runs tbody tr th").first.inner_text()
    page.keyboard.press("Enter")
    assert page.locator("#runs tbody tr th").first.inner_text() != first
    assert page.locator("#runs th[aria-sort=descending]").count() == 1
    assert "Sorted by Worst attack, falling." in page.locator("#said").inner_text()


def test_the_first_tab_stop_skips_to_the_content(go):
    page = go("aims")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.locator(".skip").bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_every_control_has_a_name_and_a_visible_focus(go):
    for name in PAGES:
        page = go(name)
        names = page.evaluate("""[...document.querySelectorAll('button, a[href], input:not([type=hidden]), select')]
            .filter(e => e.offsetParent && !(e.textContent.trim() || e.ariaLabel || e.labels?.length || e.title))
            .map(e => e.outerHTML)""")
        assert names == []
        assert page.locator("main").count() == page.locator("h1").count() == 1


def test_copying_a_command(go):
    page = go("run", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy: As a command line").click()
    page.get_by_text("Copied", exact=True).wait_for()
    assert page.evaluate("navigator.clipboard.readText()").startswith("querycloak anonymize")


def test_the_frame_is_as_high_as_its_page(go):
    page = go("run")
    page.locator("iframe.check").scroll_into_view_if_needed()
    page.wait_for_function("() => document.querySelector('iframe.check').height >= 2345")


def test_the_path_without_scripts(go, keys):
    page = go("start", java_script_enabled=False)
    page.get_by_role("button", name="AOL/user").click()
    page.get_by_role("button", name="Confirm").click()
    page.get_by_role("link", name="Continue").click()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Run a good first set").click()
    page.locator("#runs tbody tr a").first.click()
    assert page.locator(".verdict h1").count() == 1
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download").click()
    assert waiting.value.suggested_filename.endswith(".zip")


def test_a_hostile_page_of_a_check_runs_nothing(browser, tmp_path):
    """Even if the page in the frame held scripts: the frame has no right to run them."""
    desk = FakeDesk(tmp_path, tmp_path / "work")
    desk.confirm(desk.open("log.tsv").id, {"user": "1"})
    desk.start("p0", "sweep", {})
    with served(desk) as keys:
        context = browser.new_context()
        page = watch(context.new_page())
        page.goto(keys.address)
        page.goto(f"http://127.0.0.1:{keys.port}{keys.room}/logs/p0/runs/r0")
        page.locator("iframe.check").scroll_into_view_if_needed()
        page.wait_for_timeout(500)
        assert HOSTILE in desk.check_page(None).read_text()
        assert not any(said.startswith("dialog") for said in page.said)
        assert any("Blocked script execution" in said for said in page.said), "it tried"
        context.close()


def test_an_upload_above_the_limit_shows_a_page(browser, tmp_path):
    """Without scripts the file is really sent; the browser still shows our sentence, and no broken connection."""
    desk = FakeDesk(tmp_path, tmp_path / "work")
    with served(desk, max_upload=200_000) as keys:
        for scripts in (True, False):
            context = browser.new_context(java_script_enabled=scripts)
            page = context.new_page()
            page.goto(keys.address)
            large = {"name": "large.csv", "mimeType": "text/csv", "buffer": b"x" * 30_000_000}
            page.locator("#file").set_input_files(large)
            page.get_by_role("button", name="Upload and").click()
            page.get_by_text("larger than").wait_for()
            assert page.locator("[role=alert]:visible").count() == 1
            context.close()
    assert desk.uploads == {}


def test_the_chart_comes_as_soon_as_vega_is_there(browser, keys, tmp_path):
    """A page that is opened before the script was made asks again, and no request waits."""
    import time

    with served(keys.desk, vega=tmp_path) as fresh:
        context = browser.new_context()
        page = watch(context.new_page())
        page.goto(fresh.address)
        began = time.monotonic()
        page.goto(f"http://127.0.0.1:{fresh.port}{fresh.room}/logs/p0/results", wait_until="domcontentloaded")
        page.locator("#chart svg").wait_for(timeout=120_000)
        assert sum("/static/vega.js" in url for url in page.asked) > 1, (
            f"it was there within {time.monotonic() - began:.1f} s"
        )
        assert page.said == []
        context.close()
