"""How an id is written in a published line tells nothing of the user who asked."""

from __future__ import annotations

import csv
import io
import json
import re
from random import Random

import pytest

from querycloak.live.runner import Run, run_stream
from querycloak.methods.stream.stream_statement import StreamSettings


@pytest.mark.parametrize("settings", [{}, {"ids": "original"}, {"ids": "epoch", "epoch": "20"}])
@pytest.mark.parametrize("kind", ["csv", "json", "quoted csv"])
def test_how_the_asker_was_written_is_not_published(tmp_path, kind, settings):
    """Quotes around an id would tell that the asker's id needs them, and so that it is one of a few."""
    users = [str(1000 + i) for i in range(8)] + [f"smith, {i}" for i in range(3)]
    random = Random(3)
    table = [(random.choice(users), f"query {i}", "Top/News") for i in range(300)]
    table[0] = (users[0], *table[0][1:])
    file = io.StringIO()
    if kind == "json":
        for user, query, path in table:
            who = int(user) if user.isdigit() else user
            file.write(json.dumps({"user": who, "query": query, "category": path}) + "\n")
    else:
        quoting = csv.QUOTE_MINIMAL if kind == "csv" else csv.QUOTE_ALL
        csv.writer(file, lineterminator="\n", quoting=quoting).writerows([("user", "query", "category"), *table])
    (tmp_path / "log").write_text(file.getvalue())
    given = StreamSettings(k=3, depth=1, as_in_paper=True, **settings)
    run_stream(Run("self-adjusting", given, tmp_path / "log", tmp_path / "release", seed=1))
    shown = set()  # the id as it is written, without its letters and digits; the form of the asker
    asker = {query: user for user, query, _ in table}
    for line in (tmp_path / "release").read_text().splitlines():
        query = re.search(r"query \d+", line)
        if query is not None:
            user = line[: query.start()]
            shown.add((re.sub(r"[0-9a-f]+", "", user), asker[query[0]].isdigit()))
    forms = {is_number: {form for form, n in shown if n == is_number} for is_number in (True, False)}
    assert forms[True] == forms[False] != set()
    assert len(forms[True]) == (2 if settings == {"ids": "original"} else 1)
