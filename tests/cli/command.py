"""Runs the command line as a user does: in this process where that is enough, in one of its own where it is not."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from querycloak.cli import main


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


def querycloak(*words, cwd="."):
    """Run the command in this process."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with (
        contextlib.chdir(Path(cwd)),
        patch.object(sys, "argv", ["querycloak", *map(str, words)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    return Done(code, out.getvalue(), err.getvalue())


def querycloak_process(*words, cwd=None, timeout=300):
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "querycloak", *map(str, words)],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )


def refused(done, *parts):
    """The user's mistake: exit 2, one sentence on standard error, no traceback."""
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    for part in parts:
        assert part in done.stderr
    return done.stderr
