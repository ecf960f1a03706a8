"""A studio whose desk is made up, served once for all fast tests of a file."""

from __future__ import annotations

import pytest
from fake_desk import FakeDesk
from serving import served


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studio")
    made = FakeDesk(folder, folder / "work")
    project = made.open("log.tsv")
    made.confirm(project.id, {"user": "1", "query": "3"})
    for _ in range(5):
        made.start(project.id, "sweep", {})
    return made


@pytest.fixture(scope="module")
def keys(desk):
    with served(desk, max_upload=100_000) as found:
        yield found
