"""`querycloak studio` as it is started, and what it says where it cannot."""

from __future__ import annotations

import builtins
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import ExitStack

import pytest
from cli.command import querycloak, refused


def test_what_is_no_folder_or_no_size_is_refused(tmp_path):
    (tmp_path / "log.tsv").write_text("user\tquery\n")
    assert "is not a folder" in refused(querycloak("studio", tmp_path / "log.tsv"))
    assert "is not a folder" in refused(querycloak("studio", tmp_path / "nothing"))
    for size in ("much", "0", "-5M", "1X"):
        said = refused(querycloak("studio", tmp_path, f"--max-upload={size}"))
        assert "--max-upload must be a size such as" in said


def test_a_port_that_is_taken_is_refused_with_a_sentence(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"Port {port} cannot be used" in refused(querycloak("studio", tmp_path, "--port", port, "--no-browser"))


@pytest.mark.parametrize("missing", ["starlette", "uvicorn", "python_multipart", "vl_convert"])
def test_without_its_libraries_it_says_what_to_install(tmp_path, monkeypatch, missing):
    real = builtins.__import__

    def without(name, *rest):
        if name == missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    assert refused(querycloak("studio", tmp_path)).strip().endswith("install `querycloak[studio]`.")


def test_help_loads_no_server():
    code = (
        "import sys; sys.argv = ['querycloak', 'studio', '--help']\n"
        "from querycloak.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'starlette', 'uvicorn', 'jinja2', 'polars', 'numba'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_its_owner_until_a_signal_and_leaves_no_key_behind(tmp_path, number):
    """The browser is given a file that only its owner can read; nobody sees the key in the list of processes."""
    seen = tmp_path / "opened"
    browser = tmp_path / "browser.sh"
    browser.write_text(f'#!/bin/sh\necho "$@" > {seen}.part; mv {seen}.part {seen}\n')
    browser.chmod(0o700)
    command = [sys.executable, "-m", "querycloak", "studio", str(tmp_path)]
    environment = os.environ | {"BROWSER": f"{browser} %s"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, text=True, env=environment) as server, ExitStack() as stack:
        stack.callback(server.kill)  # where something fails it would be waited for without end
        try:
            address = re.search(r"http://\S+", server.stdout.readline())[0]
            page = urllib.request.urlopen(address, timeout=60)  # follows the redirect, without keeping the cookie
        except urllib.error.HTTPError as refusal:
            page = refusal
        page.close()
        assert page.code == 403
        deadline = time.monotonic() + 60
        while not seen.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        token = address.rpartition("=")[2]
        assert token not in seen.read_text()
        opener = tmp_path / ".querycloak-studio" / "open.html"
        assert token in opener.read_text()
        assert stat.S_IMODE(opener.stat().st_mode) == 0o600
        server.send_signal(number)
        out, err = server.communicate(timeout=60)
    assert (server.returncode, err) == (0, "")
    assert "ended" in out
    assert not opener.exists()
    assert not any(token in path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file())


def test_it_is_in_the_help():
    assert "studio" in querycloak("--help").stdout
