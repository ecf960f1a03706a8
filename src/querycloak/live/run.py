"""What is asked of a run over a stream, and what it came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from querycloak.logs.atomic import is_pipe
from querycloak.logs.read_options import ReadOptions
from querycloak.mapping.modes import DEFAULT_MAPPING, stated_mapping
from querycloak.releases.files import statement_path

if TYPE_CHECKING:
    from pathlib import Path

    from querycloak.methods.stream.stream_statement import StreamSettings
    from querycloak.releases.signing import SigningKey
    from querycloak.releases.statement import PrivacyStatement

__all__ = ["Run", "Summary"]


@dataclass(frozen=True)
class Run:
    """What is asked for."""

    method: str
    settings: StreamSettings
    source: Path | None = None
    """None = standard input"""
    output: Path | None = None
    """None = standard output"""
    statement: Path | None = None
    """None = next to the output, if that is a file"""
    truth: Path | None = None
    stats: Path | None = None
    """also write the summary there, as JSON"""
    checkpoint: Path | None = None
    checkpoint_records: int = 1_000_000
    checkpoint_seconds: float = 30.0
    options: ReadOptions = field(default_factory=ReadOptions)
    """how the input is to be read"""
    max_wait: float = 1.0
    safe_csv: bool = True
    """texts of CSV that a spreadsheet would take for formulas get an apostrophe"""
    seed: int | None = None
    taxonomy: str = ""
    """what the classifier maps to, by name"""
    mapping: str = DEFAULT_MAPPING
    """how the classifier reads queries"""
    key: SigningKey | None = None
    """what signs the statement; None = unsigned"""
    command: str = ""
    """the command, for the statement"""

    def must_agree(self) -> dict[str, Any]:
        """Return what a checkpoint must share with this run."""
        files = {"input": self.source, "output": self.output, "truth": self.truth}
        same = {name: None if path is None else str(path.resolve()) for name, path in files.items()}
        read = {"columns": dict(self.options.columns), "format": self.options.format, "header": self.options.header}
        given = {"method": self.method, "seed": self.seed, "encoding": self.options.encoding, **read}
        given |= {"taxonomy": self.taxonomy, "mapping": stated_mapping(self.mapping), "safe_csv": self.safe_csv}
        return {**given, **self.settings.to_json(), **same}

    @property
    def statement_path(self) -> Path | None:
        """Where the statement goes; None = nowhere."""
        if self.statement is not None or self.output is None or is_pipe(self.output):
            return self.statement
        return statement_path(self.output)


@dataclass(frozen=True)
class Summary:
    """What a run came to."""

    statement: PrivacyStatement
    stats: dict[str, Any]
    finished: bool
    """the input has ended; False = stopped before"""
    signal: int = 0
    """what interrupted the run: Ctrl-C, or another signal before the end of a file; 0 = nothing did"""
    kept: bool = False
    """what waits is kept in a checkpoint"""
