"""The studio while methods run: how long every request takes, and when the first results of a log are there.

    python benchmarks/studio.py [--queries 56000]

Two tabs are played: one asks how far the runs are, five times as often as a page does; the other goes through all
pages. Times are those of whole answers, measured by the client.
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import urlencode

LIMIT = 0.2
"""Seconds that no request may take."""


class Session:
    """A browser of the poor: one address, one cookie, every answer timed."""

    def __init__(self, address: str) -> None:
        self.port, token = re.search(r":(\d+)/\?token=(\S+)", address).groups()
        self.taken: list[tuple[float, str]] = []
        self.cookie = ""
        _, headers, _ = self.ask(f"/?token={token}")
        self.cookie, self.room = headers["set-cookie"].split(";")[0], headers["location"].rstrip("/")
        self.taken.clear()

    def ask(self, path: str, form: dict | None = None) -> tuple[int, http.client.HTTPMessage, bytes]:
        """Send one request and time it."""
        headers = {"Cookie": self.cookie, "Origin": f"http://127.0.0.1:{self.port}"}
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        began = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", int(self.port), timeout=60)
        connection.request("GET" if form is None else "POST", path, None if form is None else urlencode(form), headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        self.taken.append((time.perf_counter() - began, re.sub(r"/[0-9a-f]{16}", "/…", path.partition("?")[0])))
        assert answer.status < 400, (answer.status, path, body[:500])
        return answer.status, answer.headers, body

    def page(self, path: str, form: dict | None = None) -> tuple[str, bytes]:
        """Ask for a page below the room; returns where it sends us, and the body."""
        _, headers, body = self.ask(self.room + path, form)
        return (headers["location"] or "").removeprefix(self.room), body

    def wait(self, state: str) -> None:
        """Wait until nothing is going on."""
        while json.loads(self.page(state)[1])["active"]:
            time.sleep(0.1)


def play(session: Session, project: str, stop: threading.Event, gap: float, pages: list[str] | None) -> None:
    while not stop.is_set():
        if pages is None:
            session.page(f"{project}/state")
            time.sleep(gap)
            continue
        for path in pages:
            session.page(path)
            time.sleep(gap)
        for run in set(re.findall(rb"/runs/([0-9a-f]{16})\"", session.page(f"{project}/results")[1])):
            for part in ("", "/check", "/release.zip", "?texts=shown"):
                session.page(f"{project}/runs/{run.decode()}{part}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--queries", type=int, default=56_000)
    queries = options.parse_args().queries
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.tsv"
        command = [sys.executable, "-m", "querycloak"]
        made = [
            "generate",
            "--users",
            str(max(10, queries // 56)),
            "--queries",
            str(queries),
            "--seed",
            "1",
            "-o",
            str(log),
        ]
        subprocess.run([*command, *made], check=True, capture_output=True)
        server = subprocess.Popen([*command, "studio", folder, "--no-browser"], stdout=subprocess.PIPE, text=True)
        try:
            measure(server.stdout.readline(), log)
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(20)


def measure(address: str, log: Path) -> None:
    session = Session(address)
    session.page("/")
    began = time.perf_counter()
    project = session.page("/open", {"name": log.name})[0].rsplit("/", 1)[0]
    session.wait(f"{project}/state")
    looked = time.perf_counter()
    body = session.page(f"{project}/columns")[1].decode()
    roles = {}
    for name, select in re.findall(r'<select name="(role-\d+)".*?>(.*?)</select>', body, re.DOTALL):
        roles[name] = (re.findall(r'value="(\w*)" selected', select) or [""])[0]
    session.page(f"{project}/columns", roles | {"header": "yes"})
    session.wait(f"{project}/state")
    exposed = time.perf_counter()
    assert b"of the people asked something that nobody else asked" in session.page(f"{project}/exposed")[1]
    print(f"{log.stat().st_size:,} bytes: columns after {looked - began:.1f} s, exposure after {exposed - began:.1f} s")
    session.page(f"{project}/aims", {"task": "topics"})
    started = time.perf_counter()
    session.page(f"{project}/runs", {"set": "first"})
    stop = threading.Event()
    pages = ["/", *(f"{project}/{name}" for name in ("columns", "exposed", "aims", "methods", "results")),
             "/static/studio.css", "/static/studio.js", "/static/frontier.js", "/static/vega.js"]  # fmt: skip
    tabs = [threading.Thread(target=play, args=(session, project, stop, *how)) for how in ((0.14, None), (0.1, pages))]
    for tab in tabs:
        tab.start()
    seen: dict[str, float] = {}
    while True:
        found = json.loads(session.page(f"{project}/state")[1])
        for name, verdict in found["verdicts"].values():
            if name not in seen:
                seen[name] = time.perf_counter() - started
                print(f"  {seen[name]:6.1f} s  {name}: {verdict}")
        if not found["active"]:
            break
        time.sleep(0.25)
    stop.set()
    for tab in tabs:
        tab.join()
    times = sorted(t for t, _ in session.taken)
    print(f"{len(times):,} requests while methods ran: median {1000 * statistics.median(times):.0f} ms, "
          f"99 % below {1000 * times[int(0.99 * len(times))]:.0f} ms, largest {1000 * times[-1]:.0f} ms")  # fmt: skip
    for t, path in sorted(session.taken, reverse=True)[:5]:
        print(f"  {1000 * t:4.0f} ms  {path.replace(session.room, '')}")
    print(f"above {1000 * LIMIT:.0f} ms: {sum(t > LIMIT for t in times)}")


if __name__ == "__main__":
    main()
