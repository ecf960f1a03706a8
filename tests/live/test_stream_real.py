"""A real log of 1997 through the stream, its queries mapped to WordNet."""

from __future__ import annotations

import pytest
from places import EXCITE

from querycloak import api
from querycloak.evaluation.workbench import mapper_of
from querycloak.live.runner import Run, run_stream
from querycloak.logs.read_options import ReadOptions
from querycloak.mapping.mapped_paths import MappedPaths
from querycloak.methods.stream.stream_statement import StreamSettings

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not EXCITE.exists(), reason="the real logs are not next to the checkout"),
]


@pytest.mark.needs_jit
def test_excite(tmp_path):
    release, truth = tmp_path / "release.log", tmp_path / "truth.tsv"
    settings = StreamSettings(k=3, depth=4, as_in_paper=True)
    run = Run("self-adjusting", settings, EXCITE, release, truth=truth, options=ReadOptions(on_error="skip"), seed=1)
    found = run_stream(run, MappedPaths(mapper_of(api.load_taxonomy())))
    assert found.stats["lines skipped"] == {"rows without a query, left out": 533}
    assert found.stats["records in"] == 3968
    assert found.stats["records out"] > 0.95 * 3968
    assert found.stats["records unclassified"] < 0.25 * 3968
    lines = EXCITE.read_bytes().split(b"\n")
    without_user = {line.split(b"\t", 1)[1] for line in lines if line}
    out = release.read_bytes().split(b"\n")[:-1]
    assert {line.split(b"\t", 1)[1] for line in out} <= without_user
    log = api.read_log(EXCITE)
    results = api.attack(log, api.read_release(release, log=log, truth=truth), names=["stream-linkage"], seed=1)
    assert all(r.high < 1 / 3 for r in results)
