"""The whole path in a real browser, with the real engine and the command as a user starts it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import zipfile
from contextlib import contextmanager

import pytest
from browsing import CHROMIUM, chromium, open_tab, was_silent

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")]

LONG = 240_000
"""Milliseconds that a run may take on a busy machine."""
SCRIPT, IMAGE = "<script>alert(1)</script>", "<img src=x onerror=alert(2)>"
HOSTILE_NAME = "<img src=x onerror=alert(3)> (copy) \u202evst.csv"


@contextmanager
def studio(folder):
    """Run `querycloak studio`, and yield its first address."""
    command = [sys.executable, "-m", "querycloak", "studio", str(folder), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            yield re.search(r"http://\S+", server.stdout.readline())[0]
        finally:
            server.send_signal(signal.SIGINT)
            out, err = server.communicate(timeout=30)
    assert server.returncode == 0
    assert err == "", "the terminal stays silent"
    assert "ended" in out


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("logs")
    (made / f"{SCRIPT}.tsv".replace("/", "")).write_text("user\tquery\n1\tweather\n")
    return made


@pytest.fixture(scope="module")
def address(folder):
    with studio(folder) as found:
        yield found


@pytest.fixture(scope="module")
def port(address):
    return int(re.search(r":(\d+)/", address)[1])


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture
def context(browser, address):
    made = browser.new_context(viewport={"width": 1400, "height": 900}, accept_downloads=True)
    made.set_default_timeout(60_000)
    made.first = address
    yield made
    made.close()


@pytest.fixture
def tab(context, address):
    page = open_tab(context)
    page.goto(address)
    return page


def generate(page, users=60, queries=1500):
    page.get_by_label("People").fill(str(users))
    page.get_by_label("Queries").fill(str(queries))
    page.get_by_label("Seed").fill("1")
    page.get_by_role("button", name="Generate a log").click()
    page.get_by_text("of the people asked something that nobody else asked").wait_for(timeout=LONG)


def to_methods(page):
    page.get_by_role("link", name="Continue: what is the release for?").click()
    page.get_by_role("button", name="Continue to the methods").click()
    page.get_by_role("heading", name="Choose methods").wait_for()


def start(page, method, **settings):
    page.locator(f"details#{method} > summary").click()
    for name, value in settings.items():
        page.locator(f"#{method}-{name}").fill(str(value))
    page.get_by_role("button", name=f"Run {method}", exact=True).click()
    page.get_by_role("heading", name="Results").wait_for()


def download(page):
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download release").click()
    return waiting.value


def test_from_the_first_address_to_the_zip_on_a_generated_log(tab, port, tmp_path):
    assert "token" not in tab.url
    assert tab.evaluate("document.cookie") == "", "scripts cannot read the cookie"
    generate(tab)
    to_methods(tab)
    start(tab, "sweep", min_query_users=3)
    tab.locator("#runs tbody tr").wait_for(timeout=LONG)
    assert tab.locator(".job").count() == 0
    marks = tab.locator("#chart svg path[aria-label^='sweep'], #chart svg .mark-symbol path")
    marks.first.wait_for()
    marks.first.hover()
    assert "sweep min_query_users=3" in tab.locator("#tip").inner_text()
    boxes = tab.locator("#method-boxes input")
    boxes.first.uncheck()
    assert tab.locator("#runs tbody tr:visible").count() == 0
    boxes.first.check()
    marks.first.wait_for()
    marks.first.click()
    tab.locator(".verdict h1").wait_for()
    verdict = tab.locator(".verdict h1").inner_text()
    assert any(word in verdict for word in ("RELEASE", "NEEDS A HUMAN"))
    frame = tab.frame_locator("iframe.check")
    tab.locator("iframe.check").scroll_into_view_if_needed()
    assert verdict.lstrip("✓✗? ") in frame.locator("h1").inner_text()
    tab.wait_for_function("() => document.querySelector('iframe.check').height > 1500")
    assert "••" in tab.locator("#rows").inner_text()
    tab.get_by_role("button", name="Show the texts").click()
    tab.get_by_text("Unmasked:").wait_for()
    assert "••" not in tab.locator("#rows table").first.inner_text()
    assert "querycloak anonymize" in tab.locator("#command").inner_text()
    assert "import querycloak" in tab.locator("#script").inner_text()
    saved = tmp_path / "release.zip"
    download(tab).save_as(saved)
    names = zipfile.ZipFile(saved).namelist()
    assert {"README.txt", "check.html"} <= {name.rsplit("/", 1)[-1] for name in names}
    assert any(name.endswith(".statement.json") for name in names)
    assert not any("truth" in name for name in names)
    assert was_silent(tab, port)


def test_an_uploaded_csv_with_odd_columns_a_hostile_name_and_hostile_queries(tab, port, tmp_path):
    """Nothing of a name, a header or a query ever runs, masked or not."""
    texts = [f"weather {SCRIPT}", IMAGE, "=1+1", "javascript:alert(4)", "cheap flights", "\x1b[31mred", "\u202egnp.exe"]
    rows = [
        f'{i % 12},"{texts[(i * 7 + i // 12) % len(texts)]}",x{i % 5},2006-03-{1 + i % 28:02} 10:00:00'
        for i in range(400)
    ]
    log = tmp_path / "odd.csv"
    log.write_text(f'"wer? {SCRIPT}","was ={IMAGE}","","wann, bitte"\n' + "\n".join(rows) + "\n")
    tab.locator("#file").set_input_files({"name": HOSTILE_NAME, "mimeType": "text/csv", "buffer": log.read_bytes()})
    tab.get_by_role("button", name="Upload and look at it").click()
    tab.locator("select[name=role-1]").wait_for(timeout=LONG)
    text = tab.locator("main").inner_text()
    assert "cheap flights" not in text, "samples are masked"
    assert "wer?" not in text, "the first line may be a person's"
    tab.get_by_text("Show the first line as it is").click()
    assert f"wer? {SCRIPT}" in tab.locator("main").inner_text()
    for column, role in (("1", "user"), ("2", "query"), ("4", "time")):
        tab.locator(f"select[name=role-{column}]").select_option(role)
    tab.get_by_label("yes, it is a header").check()
    tab.get_by_role("button", name="Confirm").click()
    tab.get_by_text("asked something that nobody else asked").wait_for(timeout=LONG)
    assert "400" in tab.locator(".facts").inner_text()
    to_methods(tab)
    start(tab, "sweep", min_query_users=2)
    tab.locator("#runs tbody tr a").wait_for(timeout=LONG)
    tab.locator("#runs tbody tr a").click()
    tab.get_by_role("button", name="Show the texts").click()
    tab.get_by_text("Unmasked:").wait_for()
    shown = tab.locator("#rows").inner_text()
    assert SCRIPT in shown or IMAGE in shown, "the texts are there, as texts"
    tab.locator("iframe.check").scroll_into_view_if_needed()
    tab.frame_locator("iframe.check").locator("h1").wait_for()
    download(tab)
    tab.get_by_role("link", name="QueryCloak").click()
    tab.get_by_role("heading", name="In this folder").wait_for()
    assert tab.locator("script:not([src])").count() == 0
    assert tab.locator("main img").count() == 0
    assert was_silent(tab, port)


def test_cancel_reload_and_a_second_tab(tab, context, port, address):
    """A long run goes on through a reload and is seen in another tab; cancelled there, it ends here."""
    generate(tab, users=400, queries=30_000)
    to_methods(tab)
    start(tab, "synthetic-dp")
    job = tab.locator(".job")
    job.wait_for()
    tab.reload()
    job.wait_for()
    says = tab.locator(".says").inner_text()
    tab.wait_for_function("before => document.querySelector('.says').textContent !== before", arg=says)
    other = open_tab(context)
    other.goto(tab.url)
    other.locator(".job").wait_for()
    assert other.locator(".job b").inner_text() == "synthetic-dp"
    other.get_by_role("button", name="Cancel").click()
    other.locator(".ended").wait_for()
    tab.locator(".ended").wait_for()  # without a reload
    assert "cancelled" in tab.locator(".ended").inner_text()
    assert tab.locator(".job").count() == 0
    other.get_by_role("link", name="Run more methods").click()
    start(other, "sweep", min_query_users=5)
    tab.locator("#runs tbody tr").wait_for(timeout=LONG)
    assert "sweep" in tab.locator("#said").inner_text(), "said to a screen reader"
    tab.locator("#chart svg").wait_for()
    assert was_silent(tab, port)
    assert was_silent(other, port)


def test_whoever_has_no_cookie_is_refused_in_the_browser_too(browser, tab, address):
    stranger = browser.new_context()
    page = stranger.new_page()
    assert page.goto(tab.url).status == 403
    assert page.goto(address[:-1] + ("x" if address[-1] != "x" else "y")).status == 403
    stranger.close()


def test_another_page_of_this_machine_can_neither_write_nor_frame(tab, context, port):
    """Another port of 127.0.0.1 is the same site to the browser: it sends strict cookies there."""
    import http.server
    import threading

    cookies = []

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            cookies.append(self.headers.get("Cookie"))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(
                f"<form method=post action='{room}generate'><input name=users value=9>"
                f"<input name=queries value=99></form>"
                f"<iframe src='{room}'></iframe>".encode()
            )

        def log_message(self, *_):
            pass

    room = tab.url
    before = tab.locator(".tile").count()
    server = http.server.HTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        evil = context.new_page()
        evil.goto(f"http://127.0.0.1:{server.server_port}/")
        assert cookies[0] is None, "the cookie is bound to the room, which other servers do not know"
        assert "QueryCloak" not in (evil.frames[1].content() if len(evil.frames) > 1 else "")
        assert evil.evaluate(f"fetch('{room}').then(() => 'read', () => 'refused')") == "refused"
        with evil.expect_navigation():
            evil.evaluate("document.forms[0].submit()")
        assert "came from a page that is not the studio's" in evil.content()
    finally:
        server.shutdown()
        server.server_close()
    tab.reload()
    assert tab.locator(".tile").count() == before


def test_what_was_done_is_there_after_a_restart(browser, tmp_path):
    (tmp_path / "log.csv").write_text("user,query\n" + "".join(f"{i % 9},weather {i % 4}\n" for i in range(90)))
    for again in (False, True):
        with studio(tmp_path) as address:
            page = browser.new_page()
            page.goto(address)
            if again:
                assert "90 rows of 9 people" in page.locator(".tile").inner_text()
            else:
                page.get_by_role("button", name="log.csv").click()
                page.get_by_role("button", name="Confirm").click(timeout=LONG)
                page.get_by_text("nobody else asked").first.wait_for(timeout=LONG)
            page.close()
