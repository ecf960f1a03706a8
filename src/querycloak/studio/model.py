"""What the studio shows: plain frozen values, which are also what it keeps on disk as JSON.

They hold no query and no user id, but for two that say so: masked samples of a column, and rows before and after.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal

from querycloak.evaluation.exposure import Exposure  # noqa: TC001 - msgspec reads the types of fields
from querycloak.evaluation.limits import LIMITS, Limits

__all__ = [
    "ACTIVE",
    "CheckSummary",
    "Exposed",
    "FoundColumn",
    "Job",
    "JobKind",
    "LightSummary",
    "LogFile",
    "Look",
    "Project",
    "Reading",
    "Rows",
    "State",
    "StudioRun",
    "TaskSummary",
]

State = Literal["waiting", "running", "done", "failed", "cancelled"]
JobKind = Literal["generate", "look", "expose", "run"]
ACTIVE: Final[frozenset[State]] = frozenset({"waiting", "running"})
"""States of a job that has not ended."""


@dataclass(frozen=True)
class LogFile:
    """A file that may be a log."""

    name: str
    """path below the studio's folder, with slashes; `uploads/…` and `generated/…` are in the work folder"""
    size: int
    """bytes"""
    modified: float
    """seconds since 1970"""


@dataclass(frozen=True)
class FoundColumn:
    """One column of a log, before anything of it is read for good."""

    position: int
    """from 1, as everywhere in QueryCloak"""
    name: str
    """what to call it: as its header does, or `column 2` where the first line is data or may be; short"""
    key: str
    """its exact name, if it has one; where the first line may be data, that may be data too: not to be shown"""
    role: str
    """user, query, time, rank, url, category; empty = none, or nothing says which"""
    sure: bool
    """a common name in a header, or a well-known form, says so; False = the user must say"""
    samples: tuple[str, ...]
    """a few values: letters as `a`, digits as `0`, so that their form is seen and nothing else"""
    first: str = ""
    """its field in the first line, as it is, where that may be a header or data: show it where asked only"""


@dataclass(frozen=True)
class Look:
    """What the first lines of a log tell."""

    format: str
    """aol, excite, tsv, csv, jsonl, json, ubi, parquet"""
    header: bool | None
    """the first line names the columns; None = it may be a header or data, and the user must say"""
    columns: tuple[FoundColumn, ...]
    needs: tuple[str, ...]
    """roles that must be chosen, of user and query; `header` where the first line may be either"""
    problem: str = ""
    """why it must be chosen, in one sentence; empty where all is known"""
    named: bool = False
    """the format always names its columns (JSON, Parquet): there is no question of a header"""


@dataclass(frozen=True)
class Job:
    """Work of the child process."""

    id: str
    kind: JobKind
    state: State = "waiting"
    step: str = ""
    """what is being done, in a few words"""
    done: int = 0
    total: int | None = None
    """units of the step; None = unknown"""
    notes: tuple[str, ...] = ()
    """what the user should know, in the order of the work"""
    error: str = ""
    """one sentence, where it failed or was cancelled"""
    started: float | None = None
    ended: float | None = None
    """seconds since 1970"""
    estimate: float | None = None
    """seconds that the whole job takes, by what like jobs took; None = unknown"""

    @property
    def active(self) -> bool:
        """It waits or runs."""
        return self.state in ACTIVE


@dataclass(frozen=True)
class Exposed:
    """What a log exposes as it is: of a release with new ids and nothing else."""

    rows: int
    users: int
    queries: int
    """query events: a search with three clicks is one"""
    distinct: int
    """distinct queries"""
    span: str
    """`1 March to 31 May 2006 (92 days)`; empty without times"""
    exposure: Exposure
    lines: tuple[tuple[str, str, str], ...]
    """(what, value, what it means) of `evaluation.exposure`"""


@dataclass(frozen=True)
class Reading:
    """How the log of a project is read: what the user confirmed."""

    roles: dict[str, str]
    """role → position of its column, from 1, as text"""
    columns: dict[str, str]
    """role → column as `ReadOptions.columns` takes it; empty = the file says it all by itself"""
    header: bool | None = None
    format: str | None = None
    encoding: Literal["auto", "utf-8", "utf-16", "latin-1"] = "auto"
    on_error: Literal["stop", "skip"] = "stop"
    assume_yes: bool = False


@dataclass(frozen=True)
class Project:
    """One log with everything that is done with it."""

    id: str
    file: LogFile
    created: float
    look: Look | None = None
    reading: Reading | None = None
    """None = roles are not confirmed"""
    exposed: Exposed | None = None
    tasks: tuple[str, ...] = ("popularity", "topics")
    limits: Limits = LIMITS
    job: Job | None = None
    """the latest of generate, look and expose"""
    directory: str = ""
    """the file with the sites of a generated log and their categories; empty = there is none"""

    @property
    def roles(self) -> dict[str, str] | None:
        """Role → position of its column, from 1, as text; None = not confirmed."""
        return None if self.reading is None else self.reading.roles


@dataclass(frozen=True)
class LightSummary:
    """The answer to one of the regulators' three questions."""

    question: str
    asks: str
    colour: Literal["green", "amber", "red"]
    says: str


@dataclass(frozen=True)
class TaskSummary:
    """What the release is good for, in one task: 1 = the original log, 0 = the method run blindly."""

    name: str
    scaled: float | None
    low: float | None
    high: float | None
    """None where the log itself is not better than a blind one"""
    useful: bool
    possible: bool
    note: str = ""
    wanted: bool = False
    """it is one of the tasks that the release is for"""


@dataclass(frozen=True)
class CheckSummary:
    """What a run came to, for a list and a chart; the page of the check has the rest."""

    verdict: Literal["RELEASE", "DO NOT RELEASE", "NEEDS A HUMAN"]
    reasons: tuple[str, ...]
    changes: tuple[str, ...]
    not_tested: tuple[str, ...]
    lights: tuple[LightSummary, ...]
    guarantee: str
    """the formal model in one line, or `none`"""
    worst: str
    """the attack that is nearest to its limit, or farthest above it; empty = there is none"""
    worst_gain: float | None
    """what the release adds to its success, at most"""
    worst_limit: float | None
    worst_times: float | None
    """the gain as a multiple of its limit: 1 = at the limit; None where no attack was judged, or the limit is 0"""
    own_row_share: float
    """share of the published rows whose text one person alone asked"""
    tasks: tuple[TaskSummary, ...]
    rows: int
    """published"""
    rows_before: int
    published_nothing: bool
    has_truth: bool
    release: str
    """name of the release's file in the run's folder"""
    seconds: dict[str, float] = field(default_factory=dict)
    """how long each step took"""


@dataclass(frozen=True)
class StudioRun:
    """One method with one choice of settings, and the release it made."""

    id: str
    project: str
    method: str
    settings: dict[str, Any]
    """those that were given; all others have their defaults"""
    name: str
    """`sweep min_query_users=5`"""
    created: float
    job: Job
    tasks: tuple[str, ...]
    limits: Limits
    """what it is judged by: those of the project when it started"""
    directory: str = ""
    resolver: str = ""
    """files of background knowledge, by their names as in `LogFile`; empty = none"""
    check: CheckSummary | None = None
    """None until the run is done"""


@dataclass(frozen=True)
class Rows:
    """Rows before and after, of people who are numbered, not named; masked or as they are."""

    before_columns: tuple[str, ...]
    before: tuple[tuple[str, ...], ...]
    after_columns: tuple[str, ...]
    after: tuple[tuple[str, ...], ...]
    masked: bool
