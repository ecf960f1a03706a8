"""`querycloak stream --shards N`: one process per shard, started, watched, stopped and summed up by this one.

A child is the same command with `--shard i/N`. It tells on its standard output, one line of JSON each, how many records
it has published and at the end what it came to. It stops when its standard input ends: however this process ends, no
child is left behind. Signals reach this process alone, which hands them on. Where one child fails the others are asked
to stop, which keeps what waits in their checkpoints; the same command then goes on.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from querycloak.cli.say import say_error
from querycloak.errors import ParameterError

if TYPE_CHECKING:
    from types import TracebackType

    from querycloak.cli.shard_options import Parts
    from querycloak.live.run import Run
    from querycloak.progress import Progress

__all__ = ["ChildProgress", "Children", "follow_parent", "joined_summary", "run_children"]

TICK: Final = 0.05
TOLD_SECONDS: Final = 0.25
"""Seconds between two lines of a child about how far it is."""
SUMS: Final = (
    "records in",
    "records out",
    "records waiting",
    "records in the open epoch",
    "records dropped",
    "records unclassified",
)


class ChildProgress:
    """The progress of a shard, told to the process that started it."""

    def __init__(self) -> None:
        self._units = 0
        self._told = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._tell({"advance": self._units})

    def start(self, step: str, total: int | None = None) -> None:
        """Say nothing: the parent shows one bar for all."""

    def advance(self, units: int = 1) -> None:
        """Tell how many more records were published, now and then."""
        self._units += units
        if time.monotonic() - self._told >= TOLD_SECONDS:
            self._tell({"advance": self._units})
            self._units, self._told = 0, time.monotonic()

    def note(self, text: str) -> None:
        """Tell a note."""
        self._tell({"note": text})

    def tell_compiling(self) -> None:
        """Say so when kernels are compiled on the first run."""
        from querycloak.arrays.jit import tell_compiling

        tell_compiling(lambda: self.note("compiling kernels (on the first run only, some seconds) …"))

    def summary(self, found: dict[str, Any]) -> None:
        """Tell what the shard came to."""
        import msgspec

        from querycloak.cli.output import _plain

        self._tell({"summary": json.loads(msgspec.json.encode(found, enc_hook=_plain))})

    @staticmethod
    def _tell(said: dict[str, Any]) -> None:
        try:
            with open(1, "wb", buffering=0, closefd=False) as parent:
                parent.write(json.dumps(said).encode() + b"\n")
        except OSError:  # the parent is gone: standard input says so, too
            return


def follow_parent() -> None:
    """Stop this process, as by SIGTERM, when the one that started it is gone."""

    def wait() -> None:
        while os.read(0, 1):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="parent", daemon=True).start()


@dataclass
class _Child:
    """One process."""

    process: subprocess.Popen[bytes]
    said: list[dict[str, Any]] = field(default_factory=list)
    """lines that were not looked at yet"""
    summary: dict[str, Any] | None = None
    asked: int = 0
    """the signal that it was sent"""


class Children:
    """The processes of all shards."""

    def __init__(self, commands: list[list[str]]) -> None:
        """Start them."""
        self._shown: set[bytes] = set()
        self._guard = threading.Lock()
        self._threads: list[threading.Thread] = []
        self.all: list[_Child] = []
        env = {**os.environ, "PYTHONSAFEPATH": "1", "PYTHONUNBUFFERED": "1"}
        for command in commands:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter, with the words of our own command line
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=env,
                start_new_session=True,  # Ctrl-C reaches this process alone
            )
            child = _Child(process)
            self.all.append(child)
            for target in (self._listen, self._pass_on):
                thread = threading.Thread(target=target, args=(child,), daemon=True)
                thread.start()
                self._threads.append(thread)

    def _listen(self, child: _Child) -> None:
        """Take the lines that a child tells."""
        assert child.process.stdout is not None
        for line in child.process.stdout:
            try:
                said = json.loads(line)
            except ValueError:
                continue
            with self._guard:
                child.said.append(said)

    def _pass_on(self, child: _Child) -> None:
        """Show what a child writes to standard error; what several say alike, once."""
        assert child.process.stderr is not None
        for line in child.process.stderr:
            with self._guard:
                is_new = line not in self._shown
                self._shown.add(line)
            if is_new:
                say_error(line.decode(errors="replace").rstrip())

    def watch(self, asked: list[int], progress: Progress) -> None:
        """Wait for all; hand signals on, and stop the others where one has failed."""
        notes: set[str] = set()
        handed = 0
        while True:
            running = [c for c in self.all if c.process.poll() is None]
            for child in self.all:
                self._look(child, progress, notes)
            if not running:
                break
            if len(asked) > handed:
                handed = len(asked)
                self.ask(asked[-1])
            elif any(c.process.returncode and not c.asked for c in self.all):
                self.ask(signal.SIGTERM)
            time.sleep(TICK)
        for thread in self._threads:
            thread.join(5.0)
        for child in self.all:
            self._look(child, progress, notes)

    def ask(self, number: int) -> None:
        """Send a signal to those that run, once each."""
        for child in self.all:
            if child.process.poll() is None and child.asked != number:
                child.asked = number
                child.process.send_signal(number)

    def _look(self, child: _Child, progress: Progress, notes: set[str]) -> None:
        with self._guard:
            said, child.said = child.said, []
        for line in said:
            if line.get("advance"):
                progress.advance(int(line["advance"]))
            if "note" in line and line["note"] not in notes:
                notes.add(line["note"])
                progress.note(line["note"])
            child.summary = line.get("summary", child.summary)

    def code(self) -> int:
        """Return the worst exit code; that of a child which was asked to stop counts less than a failure."""
        codes = [(c.process.returncode, bool(c.asked)) for c in self.all]
        plain = [(128 - code if code < 0 else code, was_asked) for code, was_asked in codes]
        failed = [code for code, was_asked in plain if code and (not was_asked or code < 128)]
        return max(failed or [code for code, _ in plain], default=0)

    def end(self) -> None:
        """End those that still run, by their ids."""
        for child in self.all:
            if child.process.poll() is None:
                child.process.terminate()
        for child in self.all:
            try:
                child.process.wait(30.0)
            except subprocess.TimeoutExpired:
                child.process.kill()
                child.process.wait()
            for pipe in (child.process.stdin, child.process.stdout, child.process.stderr):
                if pipe is not None:
                    pipe.close()


def run_children(run: Run, parts: Parts, progress: Progress) -> tuple[int, list[dict[str, Any]]]:
    """Run all shards to their ends; return the exit code, and what each came to that said so."""
    from querycloak.live.pipes import stopping
    from querycloak.live.runner import _can_wind
    from querycloak.live.secret import make_secret

    count = parts.count or 1
    if not (_can_wind(run.source) and _can_wind(run.output)):
        raise ParameterError(
            "--shards needs files or brokers, with --from and --to: each shard reads and writes alone."
        )
    if run.checkpoint is not None:
        run.checkpoint.mkdir(mode=0o700, parents=True, exist_ok=True)
    more: list[str] = []
    with ExitStack() as stack:
        if run.settings.ids != "original" and run.seed is None:
            secret = parts.secret
            if secret is None and run.checkpoint is not None:
                secret = run.checkpoint / "secret"
            if secret is None:
                secret = Path(stack.enter_context(tempfile.TemporaryDirectory())) / secrets.token_hex(4)
            make_secret(secret)
            more = [] if parts.secret is not None else ["--secret", str(secret)]
        words = [sys.executable, "-m", "querycloak", *sys.argv[1:], *more, "--child"]
        asked = stack.enter_context(stopping())
        children = Children([[*words, "--shard", f"{i}/{count}"] for i in range(count)])
        stack.callback(children.end)
        progress.start(f"{run.method}: streaming over {count} shards")
        children.watch(asked, progress)
    found = [child.summary for child in children.all if child.summary is not None]
    return children.code(), found


def joined_summary(found: list[dict[str, Any]], count: int) -> str:
    """Return the lines that end a run over shards."""
    from querycloak.cli.stream_summary import clock_lines
    from querycloak.methods.stream.clock import FAR, LATE

    stats = [f["stats"] for f in found]
    total = {name: sum(s[name] for s in stats) for name in SUMS}
    skipped = sum(sum(s["lines skipped"].values()) for s in stats)
    done = all(f["finished"] for f in found) and len(found) == count
    kept = " (kept in the checkpoints)" if any(f["kept_in_checkpoint"] for f in found) else " (dropped)"
    lines = [
        f"{'done' if done else 'stopped'}: {total['records in']:,} records in, {total['records out']:,} out, "
        f"{total['records waiting']:,} waiting{kept}, {total['records unclassified']:,} unclassified, "
        f"{skipped:,} lines skipped"
        + (f", {total['records dropped']:,} dropped because they waited too long" if total["records dropped"] else "")
    ]
    lines += [
        f"  shard {s['shard']}: {s['records in']:,} in, {s['records out']:,} out to {f['release']}; "
        f"p99 of the delay {s['delay p99']:,.0f} records, {s['records per second']:,.0f} records/s"
        for f, s in zip(found, stats, strict=True)
    ]
    lines += clock_lines({name: sum(s.get(name, 0) for s in stats) for name in (FAR, LATE)})
    lines.append(f"guarantee: {found[0]['statement']['model']}")
    shared = [text for text in found[0]["statement"]["does_not_cover"] if not text.startswith("this is shard")]
    return "\n".join([*lines, *(f"  does not cover: {text}" for text in shared)])
