"""Run by the Python of a clean environment: the command line on every method that it lists, in one process.

`python every_method.py LOG DIRECTORY` prints JSON: method → its exit code and the last line that it wrote to standard
error. Releases go to the current folder.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys

from querycloak.cli import main

STREAMS = ("self-adjusting", "fixed-depth", "flat")


def call(*arguments: str) -> tuple[int, str, str]:
    """Return the exit code, standard output and standard error of one command."""
    out, err = io.StringIO(), io.StringIO()
    sys.argv = ["querycloak", *arguments]
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    return code, out.getvalue(), err.getvalue()


if __name__ == "__main__":
    log, directory = sys.argv[1:]
    _, listed, _ = call("methods")
    found = {}
    for method in (line.split()[0] for line in listed.splitlines() if line):
        options = {"policy": ["--rules", "duckduckgo-2026"]}.get(method, [])
        if method in {"url-microaggregation", "word-microaggregation"}:
            options = ["--directory", directory]
        if method in STREAMS:
            code, _, err = call("stream", "--input", log, "--output", f"{method}.tsv", "--method", method)
        else:
            code, _, err = call("anonymize", log, "--output", f"{method}.tsv", "--method", method, *options)
        found[method] = [code, (err.strip().splitlines() or [""])[-1]]
    print(json.dumps(found))
