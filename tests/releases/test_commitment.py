"""A statement commits to its input, and only the salt of the truth file opens that."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest
from samples import sample_log

import querycloak as qc
from querycloak.errors import InputError, ParameterError
from querycloak.logs.content_digest import content_digest
from querycloak.releases.commitment import NO_COMMITMENT, Opening, commit, is_commitment
from querycloak.releases.files import read_statement, statement_path
from querycloak.releases.truth_file import read_opening

CHECK = "the release was made from exactly this log"


def written(folder, seed=1, log=None):
    """Write truth and release, and return the path of the release."""
    log = sample_log() if log is None else log
    release = qc.anonymize(log, "semantic-microaggregation", k=4, seed=seed)
    commitment = qc.write_truth(release, log, folder / "truth")
    qc.write_release(release, folder / "release.tsv", commitment=commitment)
    return folder / "release.tsv"


def opened(path, log, truth):
    return next(f for f in qc.verify(path, log, truth=truth) if f.check == CHECK)


def test_the_salt_of_the_truth_opens_the_commitment(tmp_path):
    path = written(tmp_path)
    assert opened(path, sample_log(), tmp_path / "truth").holds is True


def test_it_is_the_digest_of_salt_and_content(tmp_path):
    path = written(tmp_path)
    salt, _ = read_opening(tmp_path / "truth", qc.read_release(path))
    lines = (tmp_path / "truth").read_bytes().split(b"\n", 2)[2]  # without header and salt
    told = hashlib.sha256(lines).digest()
    stated = read_statement(path).input_commitment
    assert stated == hashlib.sha256(salt + content_digest(sample_log()) + told).hexdigest()
    assert is_commitment(stated)
    assert len(salt) == 32


def test_one_row_of_another_log_is_noticed(tmp_path):
    path = written(tmp_path)
    log = sample_log()
    swapped = np.arange(len(log))
    swapped[[0, 1]] = [1, 0]
    for other in (log.take(swapped), log.take(np.arange(len(log) - 1))):
        assert opened(path, other, tmp_path / "truth").holds is False


def test_two_runs_on_the_same_log_have_different_commitments(tmp_path):
    """The same seed, so that all else is the same: a salt that followed the seed would tell equal inputs."""
    seen = set()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        path = written(tmp_path / name)
        seen.add(read_statement(path).input_commitment)
    assert len(seen) == 2
    tables = {(tmp_path / name / "release.tsv").read_bytes() for name in ("one", "two")}
    assert len(tables) == 1


def test_the_salt_is_in_the_truth_alone(tmp_path):
    path = written(tmp_path)
    salt, _ = read_opening(tmp_path / "truth", qc.read_release(path))
    published = path.read_bytes() + statement_path(path).read_bytes()
    assert salt.hex().encode() in (tmp_path / "truth").read_bytes()
    for form in (salt, salt.hex().encode(), salt.hex().upper().encode()):
        assert form not in published


def test_no_digest_of_the_log_without_a_salt_is_published(tmp_path):
    path = written(tmp_path)
    assert content_digest(sample_log()).hex() not in statement_path(path).read_text()
    assert read_statement(path).input_commitment != hashlib.sha256(content_digest(sample_log())).hexdigest()


def test_without_a_truth_there_is_none(tmp_path):
    release = qc.anonymize(sample_log(), "sweep", seed=1)
    qc.write_release(release, tmp_path / "release.tsv")
    assert json.loads(statement_path(tmp_path / "release.tsv").read_text())["statement"]["input_commitment"] == (
        NO_COMMITMENT
    )
    found = next(f for f in qc.verify(tmp_path / "release.tsv", sample_log()) if f.check == CHECK)
    assert (found.holds, found.seen) == (None, NO_COMMITMENT)


def test_with_a_log_alone_it_says_what_is_missing(tmp_path):
    found = next(f for f in qc.verify(written(tmp_path), sample_log()) if f.check == CHECK)
    assert found.holds is None
    assert "--truth" in found.seen


def test_a_truth_needs_its_log(tmp_path):
    with pytest.raises(ParameterError, match="log is needed"):
        qc.verify(written(tmp_path), truth=tmp_path / "truth")


def test_the_truth_of_another_release_is_refused(tmp_path):
    path = written(tmp_path)
    (tmp_path / "other").mkdir()
    written(tmp_path / "other", seed=2)
    with pytest.raises(InputError, match="does not belong to this release"):
        qc.verify(path, sample_log(), truth=tmp_path / "other" / "truth")


def test_the_truth_of_another_run_with_equal_ids_does_not_open(tmp_path):
    path = written(tmp_path)
    (tmp_path / "again").mkdir()
    written(tmp_path / "again")
    assert opened(path, sample_log(), tmp_path / "again" / "truth").holds is False


def test_a_truth_without_a_salt_says_so(tmp_path):
    path = written(tmp_path)
    lines = (tmp_path / "truth").read_text().splitlines(keepends=True)
    (tmp_path / "old").write_text("".join(line for line in lines if not line.startswith("salt")))
    found = opened(path, sample_log(), tmp_path / "old")
    assert (found.holds, "no salt" in found.seen) == (None, True)


@pytest.mark.parametrize("salt", ["", "ab", "x" * 64, "ab" * 33])
def test_a_salt_that_is_none_is_refused(tmp_path, salt):
    path = written(tmp_path)
    text = (tmp_path / "truth").read_text().splitlines(keepends=True)
    text[1] = f"salt\t\t{salt}\n"
    (tmp_path / "truth").write_text("".join(text))
    with pytest.raises(InputError, match="64 hexadecimal digits"):
        qc.verify(path, sample_log(), truth=tmp_path / "truth")


def test_a_short_salt_is_never_used():
    with pytest.raises(ValueError, match="32 bytes"):
        commit(Opening(b"", b""), sample_log())


def test_a_truth_whose_people_were_exchanged_does_not_open_it(tmp_path):
    path = written(tmp_path)
    header, salt, first, second, *rest = (tmp_path / "truth").read_text().splitlines()
    (_, one, ann), (_, two, bob) = first.split("\t"), second.split("\t")
    assert ann != bob
    (tmp_path / "truth").write_text("\n".join([header, salt, f"user\t{one}\t{bob}", f"user\t{two}\t{ann}", *rest, ""]))
    assert opened(path, sample_log(), tmp_path / "truth").holds is False
    with pytest.raises(InputError, match="or was changed"):
        qc.read_release(path, log=sample_log(), truth=tmp_path / "truth")
