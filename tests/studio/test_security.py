"""Who is let in, and who is not: each test sends real bytes to a real server."""

from __future__ import annotations

import itertools
import re
import socket

import pytest
from fake_desk import SECRET
from serving import ask, served

from querycloak.studio.security import HOST, PAGE_POLICY, Keys
from querycloak.studio.server import listen

PAGES = ["/", "/logs/p0/columns", "/logs/p0/results", "/logs/p0/state", "/logs/p0/runs/r0", "/static/studio.js"]


def test_the_first_address_gives_the_cookie_and_loses_the_token(keys):
    status, headers, _ = ask(keys, f"/?token={keys.token}", cookie=False)
    assert (status, headers["location"]) == (303, f"{keys.room}/")
    cookie = headers["set-cookie"]
    assert cookie.startswith(f"querycloak-{keys.port}={keys.session};")
    assert {"HttpOnly", "SameSite=strict", f"Path={keys.room}"} <= set(cookie.split("; "))
    assert keys.token not in cookie
    assert keys.token not in headers["location"]


def test_a_visit_from_another_site_is_sent_on_by_a_page_of_ours(keys):
    """A strict cookie is kept back on a redirect that another site began, so the browser must begin again."""
    status, headers, text = ask(keys, f"/?token={keys.token}", cookie=False, headers={"Sec-Fetch-Site": "cross-site"})
    assert (status, headers["location"]) == (200, None)
    assert f"0;url={keys.room}/" in text
    assert headers["set-cookie"].startswith(keys.cookie)


@pytest.mark.parametrize("token", ["", "wrong", "é", "%ff%00", "a&token=b"])
def test_a_wrong_token_gets_no_cookie(keys, token):
    status, headers, text = ask(keys, f"/?token={token.encode('ascii', 'replace').decode()}", cookie=False)
    assert (status, headers["set-cookie"]) == (403, None)
    assert keys.session not in text
    assert keys.room not in text


def test_two_tokens_are_none(keys):
    assert ask(keys, f"/?token={keys.token}&token=x", cookie=False)[0] == 403
    assert ask(keys, "/", cookie=False)[0] == 403


@pytest.mark.parametrize("page", PAGES)
def test_no_page_without_the_cookie_or_with_a_wrong_one(keys, page):
    assert ask(keys, keys.room + page)[0] == 200
    for cookie in (False, "wrong", keys.session[:-1], keys.session + "x", keys.token, '"'):
        status, headers, text = ask(keys, keys.room + page, cookie=cookie)
        assert status == 403
        assert "set-cookie" not in headers
        assert "sweep" not in text


def test_outside_the_room_nothing_answers_even_with_the_cookie(keys):
    for path in ("/logs/p0/results", "/static/studio.js", "/nothing", keys.room, f"{keys.room}x/", f"/x{keys.room}/"):
        status, _, text = ask(keys, path)
        assert status == 403
        assert keys.room not in text


@pytest.mark.parametrize("page", ["/?token={token}", "{room}/", "{room}/logs/p0/state"])
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost.evil.example:{port}",
        "",
        "[::1]:{port}",
    ],
)
def test_a_foreign_host_is_refused(keys, page, host):
    """As after DNS rebinding: the browser believes that evil.example is at 127.0.0.1."""
    path = page.format(token=keys.token, room=keys.room)
    assert ask(keys, path, host=f"localhost:{keys.port}")[0] < 400
    status, headers, _ = ask(keys, path, host=host.format(port=keys.port) or " ")
    assert status in {400, 403}
    assert "set-cookie" not in headers


def test_two_hosts_are_refused(keys):
    """What a proxy and we could read differently is not read at all."""
    with socket.create_connection((HOST, keys.port), timeout=10) as raw:
        ours = f"127.0.0.1:{keys.port}"
        raw.sendall(f"GET /?token={keys.token} HTTP/1.1\r\nHost: {ours}\r\nHost: evil.example\r\n\r\n".encode())
        assert b"set-cookie" not in raw.recv(65536).lower()


FOREIGN = [
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "https://127.0.0.1:{port}"},
    {"Origin": "http://127.0.0.1:1"},
    {"Origin": "http://localhost:{port}"},  # the request was sent to 127.0.0.1
    {"Origin": "http://127.0.0.1:{port}", "Sec-Fetch-Site": "cross-site"},
    {"Origin": "http://127.0.0.1:{port}", "Sec-Fetch-Site": "same-site"},  # another port of this machine
    {"Origin": None, "Sec-Fetch-Site": "none"},
    {"Origin": None},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
def test_what_changes_something_must_come_from_our_own_page(keys, desk, headers):
    headers = {name: value and value.format(port=keys.port) for name, value in headers.items()}
    before = len(desk.projects()), len(desk.runs("p0"))
    for path, body in (
        ("/open", "name=log.tsv"),
        ("/logs/p0/runs", "method=sweep"),
        ("/generate", "users=9&queries=9"),
    ):
        assert ask(keys, keys.room + path, "POST", headers=headers, body=body)[0] == 403
    assert (len(desk.projects()), len(desk.runs("p0"))) == before
    ours = {"Origin": f"http://127.0.0.1:{keys.port}", "Sec-Fetch-Site": "same-origin"}
    assert ask(keys, f"{keys.room}/open", "POST", headers=ours, body="name=log.tsv")[0] == 303
    assert len(desk.projects()) == before[0] + 1


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_pages_are_not_given_to_other_sites(keys, site):
    assert ask(keys, f"{keys.room}/logs/p0/state", headers={"Sec-Fetch-Site": site})[0] == 403


def test_no_get_changes_anything_and_no_other_method_is_known(keys, desk):
    before = len(desk.projects()), desk.runs("p0")
    posts = ["/open?name=log.tsv", "/generate?users=9&queries=9", "/upload", "/logs/p0/jobs/jp0-4/cancel"]
    for path, method in itertools.product(posts, ("GET", "HEAD")):
        assert ask(keys, keys.room + path, method)[0] == 405
    assert ask(keys, f"{keys.room}/logs/p0/runs?method=sweep")[0] in {404, 405}
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        assert ask(keys, f"{keys.room}/open", method, headers={"Origin": f"http://127.0.0.1:{keys.port}"})[0] == 405
    assert (len(desk.projects()), desk.runs("p0")) == before


def test_every_answer_binds_the_browser(keys):
    for page in [*PAGES, "/nothing"]:
        _, headers, _ = ask(keys, keys.room + page)
        assert headers["content-security-policy"] == PAGE_POLICY
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        if "/static/" not in page:
            assert headers["cache-control"] == "no-store"
    assert "unsafe" not in PAGE_POLICY
    assert "http" not in PAGE_POLICY


def test_the_page_of_the_check_can_run_no_script(keys):
    _, headers, text = ask(keys, f"{keys.room}/logs/p0/runs/r0/check")
    rules = dict(rule.split(" ", 1) for rule in headers["content-security-policy"].split("; "))
    assert "<script>" in text, "the made-up page tries"
    assert rules["default-src"] == "'none'"
    assert "script-src" not in rules
    assert rules["sandbox"] == "allow-same-origin"
    assert rules["frame-ancestors"] == "'self'"


def test_texts_are_masked_until_they_are_asked_for(keys):
    page = f"{keys.room}/logs/p0/runs/r0"
    assert "john doe" in SECRET
    assert "john doe" not in ask(keys, page)[2]
    shown = ask(keys, f"{page}?texts=shown")
    assert "john doe" in shown[2]
    assert shown[1]["cache-control"] == "no-store"


@pytest.mark.parametrize("page", ["/", "/logs/p0/columns", "/logs/p0/results", "/logs/p0/runs/r0?texts=shown"])
def test_hostile_texts_are_texts(keys, page):
    text = ask(keys, keys.room + page)[2]
    assert "&lt;script&gt;alert(1)" in text or "results" in page
    assert re.findall(r"<script(?! defer src=| type=\"application/json\")", text) == []
    assert "<img src=x" not in text


def _form(name, data, boundary="xxBOUNDARYxx"):
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()
    return head + data + f"\r\n--{boundary}--\r\n".encode(), {
        "Content-Type": f"multipart/form-data; boundary={boundary}"
    }


def test_an_upload_arrives_byte_for_byte(keys, desk):
    data = bytes(range(256)) * 300 + b"\r\n--xxBOUNDARY\r\n"
    body, headers = _form("my log.csv", data)
    assert ask(keys, f"{keys.room}/upload", "POST", headers=headers, body=body)[0] == 303
    assert desk.uploads["my log.csv"] == data


def test_an_upload_above_the_limit_is_cut_with_a_clear_page(keys, desk):
    body, headers = _form("large.csv", b"x" * 100_001)
    status, _, text = ask(keys, f"{keys.room}/upload", "POST", headers=headers, body=body)
    assert status == 413
    assert "larger" in text
    assert "large.csv" not in desk.uploads
    body, headers = _form("far too large.csv", b"x" * 20_000_000)
    assert ask(keys, f"{keys.room}/upload", "POST", headers=headers, body=body)[0] == 413


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", "multipart/form-data; boundary=x"),
        (b"nonsense", "multipart/form-data; boundary=x"),
        (
            b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\ncut off',
            "multipart/form-data; boundary=x",
        ),
        (
            b'--x\r\nContent-Disposition: form-data; name="file"; filename=""\r\n\r\n\r\n--x--\r\n',
            "multipart/form-data; boundary=x",
        ),
        (b"a=b", "application/x-www-form-urlencoded"),
        (b"a=b", "multipart/form-data"),
        (b"a=b", "multipart/form-data; boundary=" + "x" * 500),
    ],
)
def test_an_upload_that_is_none_is_refused_with_a_sentence(keys, desk, body, kind):
    before = dict(desk.uploads)
    status, _, text = ask(keys, f"{keys.room}/upload", "POST", headers={"Content-Type": kind}, body=body)
    assert status == 400
    assert 'role="alert"' in text
    assert desk.uploads == before


def test_a_form_without_an_end_is_refused(keys):
    assert ask(keys, f"{keys.room}/open", "POST", body="a" * 300_000)[0] == 400
    assert ask(keys, f"{keys.room}/open", "POST", body="&".join(f"a{i}=b" for i in range(600)))[0] == 400
    assert ask(keys, f"{keys.room}/open", "POST", body=b"\xff\xfe=x")[0] == 400


def test_a_fault_of_ours_is_a_sentence_and_the_terminal_learns_no_text(keys, desk, monkeypatch, capfd):
    def broken(_):
        raise ValueError(f"could not read {SECRET}")

    monkeypatch.setattr(desk, "runs", broken)
    status, headers, text = ask(keys, f"{keys.room}/logs/p0/results")
    assert status == 500
    assert "Traceback" not in text
    assert "john doe" not in text
    assert headers["content-security-policy"] == PAGE_POLICY
    said = "".join(capfd.readouterr())
    assert re.search(r"ValueError at studio/run_routes\.py:\d+", said)
    assert "john doe" not in said


def test_nothing_is_printed_for_requests(keys, capfd):
    for page in PAGES:
        ask(keys, keys.room + page)
    ask(keys, "/?token=wrong", cookie=False)
    assert "".join(capfd.readouterr()) == ""


def test_it_listens_on_this_machine_alone():
    listener = listen(0)
    try:
        assert listener.getsockname()[0] == "127.0.0.1"
    finally:
        listener.close()


def test_two_studios_do_not_share_a_cookie(keys, desk):
    with served(desk) as others:
        assert others.cookie != keys.cookie
        assert others.session != keys.session
        assert (
            ask(others, f"{others.room}/", cookie=False, headers={"Cookie": f"{others.cookie}={keys.session}"})[0]
            == 403
        )


def test_keys_are_long_and_not_shown():
    made = Keys(1)
    assert len({made.token, made.session, Keys(1).token, Keys(1).session}) == 4
    assert len(made.token) >= 43
    assert made.token not in repr(made)
    assert made.session not in repr(made)
