"""What is asked of a run over a stream, and what it came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from querycloak.live.address import Address
from querycloak.logs.atomic import is_pipe
from querycloak.logs.read_options import ReadOptions
from querycloak.mapping.modes import DEFAULT_MAPPING, stated_mapping
from querycloak.releases.statement_file import statement_path

if TYPE_CHECKING:
    from querycloak.live.address import Place
    from querycloak.live.secret import IdSecret
    from querycloak.live.shards import Shard
    from querycloak.methods.stream.stream_statement import StreamSettings
    from querycloak.releases.signing import SigningKey
    from querycloak.releases.statement import PrivacyStatement

__all__ = ["Run", "Summary"]


@dataclass(frozen=True)
class Run:
    """What is asked for."""

    method: str
    settings: StreamSettings
    source: Place = None
    """None = standard input"""
    output: Place = None
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
    shard: Shard | None = None
    """the part of the stream that is taken; None = all of it. Output and checkpoint are those of the shard"""
    secret: IdSecret | None = None
    """what the ids of all shards are made of; None = there are no shards, or ids are the original ones"""
    take_over: tuple[Path, ...] = ()
    """checkpoints of the shards that there were before, whose waiting records this one goes on with"""

    def must_agree(self) -> dict[str, Any]:
        """Return what a checkpoint must share with this run."""
        ends = {"input": self.source, "output": self.output, "truth": self.truth}
        same = {name: str(end.resolve()) if isinstance(end, Path) else end and str(end) for name, end in ends.items()}
        read = {"columns": dict(self.options.columns), "format": self.options.format, "header": self.options.header}
        given = {"method": self.method, "seed": self.seed, "encoding": self.options.encoding, **read}
        given["shard"] = None if self.shard is None else str(self.shard)
        given["secret"] = None if self.secret is None else self.secret.fingerprint
        given |= {"taxonomy": self.taxonomy, "mapping": stated_mapping(self.mapping), "safe_csv": self.safe_csv}
        return {**given, **self.settings.to_json(), **same}

    @property
    def has_broker(self) -> bool:
        """Whether a broker is at one of the ends."""
        return isinstance(self.source, Address) or isinstance(self.output, Address)

    @property
    def statement_path(self) -> Path | None:
        """Where the statement goes; None = nowhere."""
        if self.statement is not None or not isinstance(self.output, Path) or is_pipe(self.output):
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
