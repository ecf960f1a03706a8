"""What the gate and `verify` see of epochs, and of ids that change."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from querycloak import api
from querycloak.errors import GateError
from querycloak.live.runner import Run, run_stream
from querycloak.logs.durations import round_down
from querycloak.logs.query_log import MISSING_TIME, QueryLog
from querycloak.logs.times import format_times
from querycloak.methods.stream.stream_statement import StreamSettings
from querycloak.releases.period_checks import check_periods
from querycloak.releases.publish import Evidence, publish_stream
from querycloak.releases.verify import verify_release

BEGIN, HOUR = 1_141_171_200, 3_600


LOG = QueryLog.of(
    [str(100 + i * 7 % 12) for i in range(300)],
    [f"query {i}" for i in range(300)],
    times=[BEGIN + HOUR * i for i in range(300)],
    categories=["top"] * 300,
)


def made(**settings):
    return api.anonymize(LOG, "self-adjusting", k=3, as_in_paper=True, seed=1, **settings)


def failed(release):
    return [f.check for f in verify_release(release) if f.holds is False]


@pytest.mark.parametrize("settings", [{"ids": "day"}, {"epoch": "20", "ids": "epoch"}, {"epoch": "1d", "ids": "epoch"}])
def test_an_id_in_two_periods_is_noticed(settings):
    release = made(**settings)
    check_periods(release.log, release.statement)
    assert failed(release) == []
    user = release.log.user.copy()
    user[-1] = user[0]
    wrong = replace(release, log=replace(release.log, user=user))
    with pytest.raises(GateError, match=f"another id in each {settings['ids']} is promised, and an id is in two"):
        check_periods(wrong.log, wrong.statement)
    assert f"no id is published in two {settings['ids']}s" in failed(wrong)


def test_epochs_out_of_their_order_are_noticed():
    release = made(epoch="20")
    check_periods(release.log, release.statement)
    assert failed(release) == []
    wrong = replace(release, log=replace(release.log, time=release.log.time[::-1].copy()))
    with pytest.raises(GateError, match="epochs are promised, and times go back"):
        check_periods(wrong.log, wrong.statement)
    assert failed(wrong) == ["epochs are published one after the other"]


def test_rows_without_a_time_tell_nothing():
    release = made(epoch="20", ids="epoch")
    time = np.where(np.arange(len(release.log)) % 3 == 0, MISSING_TIME, release.log.time)
    check_periods(replace(release.log, time=time), release.statement)
    check_periods(replace(release.log, time=None), release.statement)


def test_a_stream_without_epochs_may_have_any_order():
    release = made()
    check_periods(replace(release.log, time=release.log.time[::-1].copy()), release.statement)


def test_ids_of_periods_have_the_form_of_new_ones():
    """Live they are 16 digits, in memory 12; a number of another length is no new id."""
    release = made()
    for width, holds in ((12, True), (16, True), (17, False), (18, False), (13, False)):
        ids = release.log.users.str.pad_start(width, "7").str.slice(0, width)
        said = {f.check: f.holds for f in verify_release(replace(release, log=replace(release.log, users=ids)))}
        assert said["published ids have the form of new ones"] is holds


def test_the_gate_checks_periods():
    release = made(epoch="20")
    enough = Evidence(LOG, candidates=np.full(len(release.log), 3))
    assert len(publish_stream(release.log, release.statement, release.truth, enough).log) == len(release.log)
    wrong = replace(release.log, time=release.log.time[::-1].copy())
    with pytest.raises(GateError, match="times go back"):
        publish_stream(wrong, release.statement, release.truth, enough)


def test_the_gate_counts_candidates_and_looks_for_askers():
    release, few = made(), np.full(300, 3)
    few[7] = 2
    with pytest.raises(GateError, match="1 records would leave with fewer than 3 candidates"):
        publish_stream(release.log, release.statement, release.truth, Evidence(LOG, candidates=few[: len(release.log)]))
    own = replace(release.truth, asker=release.truth.user[release.log.user])
    with pytest.raises(GateError, match="records would leave under the user who asked them"):
        publish_stream(release.log, release.statement, own, Evidence(LOG, candidates=np.full(len(release.log), 3)))


@pytest.mark.parametrize(
    "settings",
    [{"time_grain": "7s"}, {"time_grain": "90s"}, {"epoch": "90s"}, {"epoch": "7s", "ids": "epoch"}],
    ids=str,
)
@pytest.mark.parametrize("pattern", ["%Y-%m-%d %H:%M", "%Y-%m-%d", "%Y%m%d"])
@pytest.mark.parametrize("live", [True, False])
def test_times_that_are_written_coarser_than_their_grain_are_of_it(tmp_path, pattern, settings, live):
    """A multiple of 7 seconds, written in minutes, is the minute in which it is."""
    step = 60 if "M" in pattern else 86_400
    written = format_times(np.array([BEGIN + step * (i // 3) for i in range(400)]), pattern).to_list()
    lines = [f"{100 + i * 7 % 12}\tquery {i}\t{written[i]}\tTop/News\n" for i in range(400)]
    (tmp_path / "log.tsv").write_text("AnonID\tQuery\tQueryTime\tCategory\n" + "".join(lines))
    out = tmp_path / "release.tsv"
    given = {"k": 3, "as_in_paper": True, **settings}
    if live:
        run_stream(Run("self-adjusting", StreamSettings(**given), tmp_path / "log.tsv", out, seed=1))
    else:
        log = api.read_log(tmp_path / "log.tsv")
        api.write_release(api.anonymize(log, "self-adjusting", seed=1, **given), out)
    assert [f.check for f in api.verify(out) if f.holds is False] == []
    release = api.read_release(out)
    assert len(release.log) > 200
    assert failed(replace(release, statement=replace(release.statement, time_grain="700d"))) != []


@pytest.mark.parametrize("grain", ["7s", "90s", "7m"])
@pytest.mark.parametrize("step", [1, 60])
def test_times_that_are_not_of_their_grain_are_noticed(grain, step):
    """Minutes are coarser than 7 seconds, whatever they are rounded to; nothing else passes unrounded."""
    times = BEGIN + step * np.arange(300)
    release = made(time_grain="day")
    n = len(release.log)
    said = replace(release.statement, time_grain=grain)
    wrong = replace(release, log=replace(release.log, time=times[:n]), statement=said)
    assert (f"times are rounded to the {grain}" in failed(wrong)) is ((grain, step) != ("7s", 60))
    right = replace(wrong, log=replace(wrong.log, time=round_down(times[:n], grain)))
    assert failed(right) == []
