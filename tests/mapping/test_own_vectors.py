"""Word vectors of one's own: used by the layers, named in the statement by a digest and never by a path."""

from __future__ import annotations

import json

import numpy as np
import pytest

import querycloak as qc
from querycloak.errors import InputError, ParameterError
from querycloak.evaluation.workbench import Workbench
from querycloak.knowledge.vectors import MAGIC, load_vectors
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.logs.query_log import QueryLog
from querycloak.mapping import Mapper

KNOWN = ("guitar", "violin", "trumpet", "hotel", "motel", "resort", "airport", "music", "concert", "vacation")


@pytest.fixture
def file(tmp_path):
    """Some of our words, and two of which ours know nothing: one that is used like guitar, one that is like nothing."""
    ours = load_vectors()
    rows = [ours.matrix[ours.words[word]] for word in KNOWN]
    words = [*KNOWN, "zzgitarre", "zznothing"]
    rows += [ours.matrix[ours.words["guitar"]], np.roll(rows[0], 7) * 0 + np.eye(64, dtype=np.int8)[63] * 127]
    text = "\n".join(words).encode() + b"\n"
    header = {"words": len(words), "dimensions": 64, "type": "float16", "bytes": len(text)}
    path = tmp_path / "secret-name.bin"
    path.write_bytes(MAGIC + json.dumps(header).encode() + b"\n" + text + np.array(rows, np.float16).tobytes())
    return path


def test_new_words_are_read_by_their_neighbours(file):
    wordnet = load_wordnet()
    own, ours = Mapper(wordnet, f"layers:{file}"), Mapper(wordnet)
    assert ours.concepts("zzgitarre") == (-1,)
    instrument = wordnet.concept("musical instrument")
    assert wordnet.covers(instrument, own.concepts("zzgitarre")[0])
    assert own.concepts("zznothing") == (-1,)
    assert Mapper(wordnet, f"certain:{file}").concepts("zzgitarre") == (-1,)
    assert own.concepts("nike") == ours.concepts("nike")


def test_the_statement_names_a_digest_and_the_release_asks_for_the_file(file):
    log = QueryLog.of([f"u{i % 4}" for i in range(16)], ["guitar", "violin", "hotel", "motel"] * 4)
    release = qc.anonymize(log, "semantic-microaggregation", seed=1, k=2, mapping=f"layers:{file}")
    digest = load_vectors(file).digest
    assert release.statement.mapping == f"layers, vectors {digest[:16]}"
    assert "secret-name" not in str(
        release.statement.to_json() if hasattr(release.statement, "to_json") else vars(release.statement)
    )
    with pytest.raises(ParameterError, match="give that file with --vectors"):
        Workbench(log).for_release(release)
    assert Workbench(log, mapping=f"layers:{file}").for_release(release).mapping == f"layers:{file}"


def test_other_mappings_use_no_vectors(file):
    with pytest.raises(ParameterError, match="uses no vectors"):
        Mapper(load_wordnet(), f"segments:{file}")
    with pytest.raises(InputError, match="cannot be read"):
        Mapper(load_wordnet(), "layers:no-such-file")


def test_a_file_that_changed_is_read_again(file):
    before = load_vectors(file)
    assert load_vectors(file) is before
    file.write_bytes(file.read_bytes().replace(b"zzgitarre", b"zzgitarra"))
    assert "zzgitarra" in load_vectors(file).words
