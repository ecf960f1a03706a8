"""Apply each seeded fault to a copy of the package and expect its tests to fail.

`python tests/mutation/run.py [NAME …]`, or `make mutation`. The tests of all faults also run on the package as it is,
and must pass there. Each fault has a copy of its own, in which only the files on the way to the changed one are new and
all others are links. Kernels run without the JIT, so nothing is compiled. A fault counts as caught when a test fails in
its body, and not by an error that any broken line would raise (NameError, ImportError, …): those would prove nothing
about the tests.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import resource
import shutil
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
PACKAGE = ROOT / "src" / "querycloak"
sys.path.insert(0, str(TESTS))

from mutation.fault import Fault  # noqa: E402, TC001
from mutation.faults import FAULTS, WITH_SESSION  # noqa: E402
from mutation.warm_pytest import WarmPytest  # noqa: E402

BROKEN = re.compile(
    r"^(?:\S+:\d+: )?(?:E +)?(NameError|ImportError|ModuleNotFoundError|SyntaxError|UnboundLocalError)", re.MULTILINE
)
SUMMARY = re.compile(r"\b\d+ (passed|failed|errors?)\b")
LIMIT = 240
"""seconds for the tests of one fault"""
_THREAD = threading.local()
"""each thread has a server of its own"""
SERVERS: list[WarmPytest] = []
SCRATCH = tempfile.TemporaryDirectory(prefix="querycloak-faults-")
_TIMES = itertools.count(1_000_000_000)


@dataclass(frozen=True)
class Outcome:
    """What became of one fault."""

    fault: Fault
    caught: bool
    seen: str
    seconds: float


def changed(fault: Fault) -> tuple[Path, str]:
    """Return the file that a fault changes and its new text; an anchor that is not there exactly once is an error."""
    target = PACKAGE / fault.where
    files = [target] if target.is_file() else sorted(target.rglob("*.py"))
    found = [file for file in files for _ in range(file.read_text().count(fault.right))]
    if len(found) != 1:
        raise LookupError(
            f"fault {fault.name!r}: its text is in {fault.where} {len(found)} times, expected once; "
            "the line was edited: adapt the fault in tests/mutation/faults.py"
        )
    (file,) = found
    text = file.read_text().replace(fault.right, fault.wrong)
    compile(text, str(file), "exec")
    return file, text


def copy_with(file: Path, text: str, into: Path) -> None:
    """Make `into`/querycloak: links to the package, with one file changed.

    All faults of a thread have the same folder, so that what was compiled of other files stays valid. A compiled file
    is known by the time and size of its source: each changed file has a time of its own.
    """
    shutil.rmtree(into / "querycloak", ignore_errors=True)
    way = [file, *file.parents]
    way = way[: way.index(PACKAGE) + 1]

    def link(folder: Path, copy: Path) -> None:
        copy.mkdir()
        for entry in folder.iterdir():
            if entry == file:
                (copy / entry.name).write_text(text)
                os.utime(copy / entry.name, (next(_TIMES),) * 2)
            elif entry in way:
                link(entry, copy / entry.name)
            elif entry.name != "__pycache__":
                (copy / entry.name).symlink_to(entry)

    link(PACKAGE, into / "querycloak")


def run_tests(tests: list[str], source: Path) -> tuple[int, str]:
    """Run tests on the package in `source`: exit code and output of pytest."""
    arguments = [
        *("-x", "-q", "--tb=line", "--no-header", "-p", "no:cacheprovider"),
        *("-p", "no:xdist", "-p", "no:anyio", "-o", "addopts=", "-o", f"pythonpath={source} {TESTS}"),
        f"--basetemp={SCRATCH.name}/tmp-{threading.get_ident()}",  # pytest clears away folders that others still use
        *("--hypothesis-profile=faults", "-W", "ignore:overflow:RuntimeWarning"),
        *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
        *(str(TESTS / test) for test in tests),
    ]
    if not hasattr(_THREAD, "pytest"):
        compiled = {"PYTHONPYCACHEPREFIX": f"{SCRATCH.name}/compiled", "PYTHONDONTWRITEBYTECODE": ""}
        _THREAD.pytest = WarmPytest({"NUMBA_DISABLE_JIT": "1", **compiled})
        SERVERS.append(_THREAD.pytest)
    code, output = _THREAD.pytest.run(arguments, [str(source), str(TESTS)], ROOT, LIMIT)
    return code, output if code >= 0 else f"no end within {LIMIT} s, or a crash ({code})"


def last_line(output: str) -> str:
    """Return what pytest says in one line: the error of the failed test, or its last line."""
    lines = [line for line in output.splitlines() if line.strip()]
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    return (failed or lines or ["no output"])[-1]


def try_fault(fault: Fault) -> Outcome:
    """Apply a fault to a copy and run its tests."""
    begun = time.monotonic()
    file, text = changed(fault)
    if not hasattr(_THREAD, "folder"):
        _THREAD.folder = Path(tempfile.mkdtemp(prefix="fault-", dir=SCRATCH.name))
    copy_with(file, text, _THREAD.folder)
    code, output = run_tests(list(fault.tests), _THREAD.folder)
    if code not in {0, 1} or SUMMARY.search(output) is None:  # pytest itself was cut off: nothing was found out
        code, output = run_tests(list(fault.tests), _THREAD.folder)
    failed = code == 1 and re.search(r"\b\d+ failed\b", output) is not None
    caught = failed and not BROKEN.search(output)
    return Outcome(fault, caught, last_line(output), time.monotonic() - begun)


def main() -> int:
    """Try all faults, or those named."""
    parser = argparse.ArgumentParser(description="Apply seeded faults to copies of the package; tests must notice.")
    parser.add_argument("names", nargs="*", help="faults to try; all without a name")
    parser.add_argument("--spark", action="store_true", help="those alone whose tests start a session of Spark")
    parser.add_argument("-n", "--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    unknown = set(options.names) - {fault.name for fault in FAULTS}
    if unknown:
        parser.error(f"no such fault: {', '.join(sorted(unknown))}")
    faults = [fault for fault in FAULTS if fault.name in options.names]
    if not options.names:
        faults = [fault for fault in FAULTS if any(t.startswith(WITH_SESSION) for t in fault.tests) == options.spark]
    for fault in faults:
        changed(fault)

    begun = time.monotonic()
    by_file: dict[str, set[str]] = {}
    for test in (test for fault in faults for test in fault.tests):
        by_file.setdefault(test.partition("::")[0], set()).add(test)
    survivors, red = 0, 0
    with ThreadPoolExecutor(options.processes) as pool:
        sound = pool.map(lambda tests: run_tests(sorted(tests), PACKAGE.parent), by_file.values())
        outcomes = pool.map(try_fault, faults)
        for file, (code, output) in zip(by_file, sound, strict=True):
            red += code != 0
            print(f"{'green   ' if code == 0 else 'RED     '} without a fault: {file}: {last_line(output)}", flush=True)
        for outcome in outcomes:
            survivors += not outcome.caught
            verdict = "caught  " if outcome.caught else "SURVIVES"
            print(f"{verdict} {outcome.seconds:5.1f} s  {outcome.fault.name}: {outcome.seen[:150]}", flush=True)
    for server in SERVERS:
        server.close()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime
    took = f"{time.monotonic() - begun:.0f} s, {cpu:.0f} s of processor time"
    print(f"{len(faults) - survivors} of {len(faults)} faults caught in {took}")
    if red:
        print("Some tests fail on the package as it is: what they say about faults means nothing.")
    return 1 if survivors or red else 0


if __name__ == "__main__":
    sys.exit(main())
