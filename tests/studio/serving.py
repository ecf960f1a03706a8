"""A studio that is really served, on a free port of 127.0.0.1, while a test asks it things."""

from __future__ import annotations

import http.client
import threading
import time
from contextlib import contextmanager

from querycloak.studio.context import Studio
from querycloak.studio.security import Keys
from querycloak.studio.server import listen, make_server
from querycloak.studio.vega import VegaFile


@contextmanager
def served(desk, *, max_upload=500_000_000, vega=None):
    """Serve a desk; yields the keys. `vega` is the folder of its script, the work folder where it is None."""
    listener = listen(0)
    keys = Keys(listener.getsockname()[1])
    server = make_server(Studio(desk, keys, VegaFile(vega or desk.work), "logs", max_upload))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield keys
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()


def ask(keys, path, method="GET", *, headers=None, body=None, cookie=True, host=None):
    """Send one request as it is; returns (status, headers, text)."""
    connection = http.client.HTTPConnection("127.0.0.1", keys.port, timeout=20)
    sent = {"Host": host or f"127.0.0.1:{keys.port}"}
    if cookie:
        sent["Cookie"] = f"{keys.cookie}={keys.session if cookie is True else cookie}"
    if method == "POST":
        sent |= {"Origin": f"http://127.0.0.1:{keys.port}", "Content-Type": "application/x-www-form-urlencoded"}
    sent |= headers or {}
    try:
        connection.request(method, path, body, {name: value for name, value in sent.items() if value is not None})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode("utf-8", "replace")
    finally:
        connection.close()
