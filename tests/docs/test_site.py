"""The documentation site: it builds without a warning, asks nothing of any host, and has every public name."""

from __future__ import annotations

import functools
import http.server
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import threading

import pytest
from places import ROOT

import querycloak as qc

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
LOOKED_AT = ["index.html", "methods/semantic-microaggregation.html", "reference/functions.html"]


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def hook():
    return load("site_hook")


@pytest.mark.parametrize(
    ("docstring", "becomes"),
    [
        (".. methods\na: b=1,\n    c=2\nd: e=3\n.. end of methods\n", "- `a`: b=1, c=2\n- `d`: e=3\n"),
        ("Add.\n\n>>> 1 + 1\n2\n\nMore.", "Add.\n\n```pycon\n>>> 1 + 1\n2\n```\n\nMore."),
        ("Add.\n\n>>> 1 + 1\n2\n\n>>> 3\n3", "Add.\n\n```pycon\n>>> 1 + 1\n2\n\n>>> 3\n3\n```"),
        ("As it was.", "As it was."),
    ],
)
def test_docstrings_become_markdown(docstring, becomes):
    assert load("site_docstrings").as_markdown(docstring) == becomes


@pytest.mark.parametrize(
    ("link", "here", "page", "becomes"),
    [
        ("[a](../ARCHITECTURE.md#the-tree)", "docs/api.md", "api.md", "[a](architecture.md#the-tree)"),
        ("[a](../../CHANGELOG.md)", "docs/methods/flat.md", "methods/flat.md", "[a](../changes.md)"),
        ("[a](docs/adr/0071-the-gate.md)", "ARCHITECTURE.md", "architecture.md", "[a](adr/0071-the-gate.md)"),
        ("[`x.py`](../src/querycloak/x.py#L3)", "docs/fidelity.md", "fidelity.md", "`x.py`"),
        ("[licence](LICENSE)", "CONTRIBUTING.md", "contributing.md", "licence"),
        ("[cards](methods/)", "docs/fidelity.md", "fidelity.md", "[cards](methods/README.md)"),
        ("[risk](../risk.md)", "docs/methods/flat.md", "methods/flat.md", "[risk](../risk.md)"),
        ("[up](#top)", "docs/risk.md", "risk.md", "[up](#top)"),
        ("[web](https://curlie.org)", "docs/risk.md", "risk.md", "[web](https://curlie.org)"),
        ("![plot](clump.svg)", "docs/methods/clump.md", "methods/clump.md", "![plot](clump.svg)"),
        ("```sh\n[a](LICENSE)\n```", "docs/risk.md", "risk.md", "```sh\n[a](LICENSE)\n```"),
    ],
)
def test_links_that_leave_the_docs_work_in_the_site(hook, link, here, page, becomes):
    assert hook.rewrite(link, here, page) == becomes


def test_the_navigation_leaves_out_pages_to_come_and_fills_patterns_in(hook, tmp_path):
    for name in ("here.md", "adr/0001-a.md", "adr/0002-b.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("# x\n")
    nav = [
        {"A": [{"Here": "here.md"}, {"Later": "later.md"}, {"All later": [{"Later": "later.md"}]}]},
        {"B": ["adr/*"]},
    ]
    found = hook.expand(nav, tmp_path, {"later.md"})
    assert found == [{"A": [{"Here": "here.md"}]}, {"B": ["adr/0001-a.md", "adr/0002-b.md"]}]


def test_the_reference_has_every_public_name_once():
    text = "".join(path.read_text() for path in (ROOT / "docs" / "reference").glob("*.md"))
    named = re.findall(r"^::: querycloak\.(\w+)$", text, flags=re.MULTILINE)
    assert sorted(named) == sorted(set(qc.__all__) - {"__version__"})


def build(target, *, docs=None):
    """Build the site as `make docs` does, of these pages. Not with --quiet: that hides warnings from --strict, too."""
    config = ROOT / "mkdocs.yml"
    if docs is not None:
        text = config.read_text().replace("docs_dir: docs", f"docs_dir: {docs}")
        for ours in ("tools/site", "src]"):
            text = text.replace(ours, f"{ROOT}/{ours}")
        config = docs.parent / "mkdocs.yml"
        config.write_text(text)
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", config, "--site-dir", target],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    target = tmp_path_factory.mktemp("site")
    done = build(target)
    assert done.returncode == 0, done.stdout + done.stderr
    return target


@pytest.mark.slow
def test_every_page_is_built_and_names_no_other_host(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 80
    for page in pages:
        text = page.read_text()
        asked = re.findall(r"<(?:script|link|img|iframe)[^>]*?(?:src|href)=\"?((?:https?:)?//[^\" >]+)", text)
        assert not asked, f"{page.name}: {asked}"
        assert not re.findall(r"^(?:<p>)?:::", text, flags=re.MULTILINE), page.name


FAULTS = [
    ("glossary.md", "[gone](gone.md)", "gone.md"),
    ("glossary.md", "[gone](risk.md#no-such-heading)", "no-such-heading"),
    ("new-page.md", "# In no list", "new-page.md"),
]


def build_with(faults, folder):
    docs = folder / "docs"
    shutil.copytree(ROOT / "docs", docs)
    for page, text, _ in faults:
        path = docs / page
        path.write_text((path.read_text() if path.exists() else "") + f"\n{text}\n")
    done = build(folder / "site", docs=docs)
    assert done.returncode != 0
    return done.stdout + done.stderr


@pytest.mark.slow
def test_each_fault_is_one_of_those_that_end_the_build(tmp_path):
    """Each is a warning of its own, and no other page has one: with --strict, any warning ends the build."""
    said = build_with(FAULTS, tmp_path)
    warnings = re.split(r"^(?=WARNING|ERROR|Aborted)", said, flags=re.MULTILINE)
    for _, _, words in FAULTS:
        assert [part for part in warnings if part.startswith("WARNING") and words in part], words
    assert f"Aborted with {len(FAULTS)} warnings in strict mode" in said


@pytest.mark.slow
def test_a_name_that_the_package_has_not_ends_the_build(tmp_path):
    assert "querycloak.Gone" in build_with([("reference/types.md", "::: querycloak.Gone", "")], tmp_path)


@pytest.fixture(scope="module")
def address(site):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield opened
        opened.close()


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("width", [1400, 420])
@pytest.mark.parametrize("name", LOOKED_AT)
def test_a_page_is_silent_asks_no_other_host_and_fits(name, width, browser, address):
    page = browser.new_page(viewport={"width": width, "height": 900})
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}/{name}")
    page.wait_for_load_state("networkidle")
    assert not said
    assert asked
    assert [url for url in asked if not url.startswith((address, "data:"))] == []
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    page.close()


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_the_search_finds_a_method_and_the_toggle_turns_the_lights_off(browser, address):
    page = browser.new_page(viewport={"width": 1400, "height": 900}, color_scheme="light")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}/index.html")
    page.wait_for_load_state("networkidle")  # what is typed before the script runs is lost
    page.click(".md-search__input")
    page.keyboard.type("k-anonymity of generalized")
    page.wait_for_selector(".md-search-result__item a", timeout=60_000)
    assert page.locator(".md-search-result__item").count() > 0
    page.keyboard.press("Escape")
    for _ in range(2):  # as the system has it → light → dark
        page.locator("form[data-md-component=palette] label:visible").click()
    assert page.get_attribute("body", "data-md-color-scheme") == "slate"
    assert [url for url in asked if not url.startswith((address, "data:"))] == []
    page.close()
