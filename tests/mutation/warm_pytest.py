"""pytest in processes that have the large libraries imported already: half of the time of a short test is imports.

`WarmPytest` starts one server; for each run the server forks a child, which runs pytest and ends. Nothing of a run
stays: the server itself never imports the package under test, and starts no threads.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

__all__ = ["WarmPytest"]

LIBRARIES = (
    *("numpy", "polars", "numba", "msgspec", "typer", "rich.progress", "jinja2", "psutil", "Stemmer", "opendp.prelude"),
    *("cryptography.hazmat.primitives.asymmetric.ed25519", "phonenumbers", "tldextract"),
    *("scipy.sparse", "scipy.special", "scipy.stats", "pytest", "_pytest.assertion.rewrite", "hypothesis"),
    *("hypothesis.strategies", "hypothesis.internal.conjecture.engine", "hypothesis.extra.numpy"),
)
"""What is imported before. pytest would rewrite the assertions of hypothesis, and is told not to mind."""


class WarmPytest:
    """A server that runs pytest on request, one run at a time."""

    def __init__(self, environment: dict[str, str]) -> None:
        command = [sys.executable, __file__]
        self._server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **environment}, text=True
        )

    def run(self, arguments: list[str], path: list[str], folder: Path, limit: float) -> tuple[int, str]:
        """Run pytest with `path` first in sys.path: exit code and output; -1 where it takes more than `limit` s."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        with tempfile.NamedTemporaryFile(prefix="querycloak-pytest-") as out:
            asked = {"arguments": arguments, "path": path, "folder": str(folder), "limit": limit, "out": out.name}
            self._server.stdin.write(json.dumps(asked) + "\n")
            self._server.stdin.flush()
            answer = self._server.stdout.readline()
            if not answer:
                raise RuntimeError("the server of warm pytest processes has ended")
            return int(answer), Path(out.name).read_text(errors="replace")

    def close(self) -> None:
        """End the server."""
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait()


def serve() -> None:
    """Answer requests until the input ends."""
    for name in LIBRARIES:
        __import__(name)
    gc.freeze()  # children need not look for garbage among these
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            _run(asked)
        print(_wait(child, time.monotonic() + asked["limit"]), flush=True)


def _run(asked: dict[str, Any]) -> None:
    """Run pytest in the child, and end it."""
    code = 3
    try:
        os.setsid()
        with open(asked["out"], "wb") as out, open(os.devnull, "rb") as nothing:  # noqa: PTH123 - descriptors
            os.dup2(out.fileno(), 1)
            os.dup2(out.fileno(), 2)
            os.dup2(nothing.fileno(), 0)
        os.chdir(asked["folder"])
        os.environ["PYTHONPATH"] = os.pathsep.join(asked["path"])
        sys.path[:0] = asked["path"]
        import pytest

        code = int(pytest.main(asked["arguments"]))
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _wait(child: int, until: float) -> int:
    """Return the exit code of a child; one that does not end in time is killed with all that it started: -1."""
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > until:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return -1
        time.sleep(0.01)


if __name__ == "__main__":
    serve()
