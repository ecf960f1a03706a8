"""One user who writes times in another way changes nobody else's events: the pattern is that of most, not of all."""

from __future__ import annotations

import numpy as np
import pytest

import querycloak as qc

HEAD = "user\tquery\ttime\turl\n"
OTHERS = [
    f"u{i:03d}\tflu\t2006-03-01 10:{i // 60:02d}:{i % 60:02d}\thttp://{site}.com\n" for i in range(300) for site in "ab"
]
SECONDS = [f"u{i:03d}\tflu\t{1141207810000 + 1000 * i + ms}\thttp://{ms}.com\n" for i in range(300) for ms in (1, 9)]
WRITTEN = [
    "2006-03-01T10:00:00", "2006-03-01T10:00:00.5Z", "1141207810", "060301100000", "20060301", "2006-03-01 10:00"
]  # fmt: skip


def events_of_others(path, lines):
    path.write_text(HEAD + "".join(lines))
    log = qc.read_log(path, yes=True)
    return int(log.event[np.array([u != "heavy" for u in log.users.to_list()])[log.user]].sum())


@pytest.mark.parametrize("others", [OTHERS, SECONDS], ids=["text", "milliseconds"])
@pytest.mark.parametrize("written", WRITTEN)
def test_one_user_does_not_change_the_events_of_others(tmp_path, others, written) -> None:
    mine = [f"heavy\town {i}\t{written}\thttp://c.com\n" for i in range(601)]
    assert events_of_others(tmp_path / "log.tsv", others) == 300
    assert events_of_others(tmp_path / "log.tsv", [*mine, *others]) == 300


def test_the_two_files_of_the_fault(tmp_path) -> None:
    """300 searches of two clicks were counted as 300 without one user, and as 600 with."""
    mine = [f"heavy\town {i}\t1141207810\thttp://c.com\n" for i in range(601)]
    counts = []
    for lines in (OTHERS, [*mine, *OTHERS]):
        (tmp_path / "log.tsv").write_text(HEAD + "".join(lines))
        settings = {"choose": "korolova", "per_user": 2, "epsilon": 50.0, "delta": 1e-6}
        table = qc.anonymize(qc.read_log(tmp_path / "log.tsv", yes=True), "frequent-queries", seed=1, **settings).log
        counts.append(int(table.extra["count"][table.queries.to_list().index("flu")]))
    assert abs(counts[0] - counts[1]) <= 2
