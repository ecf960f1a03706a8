"""`--mapping` on every command that maps: one option, one name, one sentence where it is wrong."""

from __future__ import annotations

import json

import pytest
from cli.command import querycloak, refused
from samples import sample_log

import querycloak as qc

COMMANDS = {
    "map": ("map", "tea"),
    "anonymize": ("anonymize", "log.tsv", "-o", "release.tsv", "-m", "sweep"),
    "attack": ("attack", "log.tsv", "release.tsv"),
    "measure": ("measure", "log.tsv", "release.tsv"),
    "check": ("check", "log.tsv", "release.tsv"),
    "compare": ("compare", "log.tsv", "-o", "out"),
    "stream": ("stream", "-i", "log.tsv", "-o", "release.tsv"),
    "audit": ("audit", "histogram-dp"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_wrong_mapping_is_one_sentence_before_any_work(command, tmp_path):
    done = querycloak(*COMMANDS[command], "--mapping", "phrase", cwd=tmp_path)
    told = refused(
        done, "There is no mapping 'phrase'. Did you mean 'phrases'? There are: certain, layers, phrases, segments."
    )
    assert told.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_the_statement_says_which_mapping_and_that_it_is_public(tmp_path):
    qc.write_log(sample_log(), tmp_path / "log.tsv")
    words = ["anonymize", "log.tsv", "-o", "release.tsv", "-m", "semantic-microaggregation", "--seed", "1"]
    done = querycloak(*words, "--mapping", "phrases", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "mapping: phrases, by public knowledge, not learned from the log" in done.stdout
    said = json.loads((tmp_path / "release.tsv.statement.json").read_text())["statement"]
    assert (said["mapping"], said["mapping_learned"]) == ("phrases", False)


@pytest.mark.slow
def test_measures_read_as_the_release_was_made(tmp_path):
    """Without the option the mapping of the statement is taken; it changes what is measured."""
    texts = ["cheap hotels san francisco airport", "water sports shop london", "tea cups and coffee pots"]
    rows = [(f"u{u}", texts[(u + q) % 3]) for u in range(12) for q in range(4)]
    qc.write_log(qc.QueryLog.of([u for u, _ in rows], [t for _, t in rows]), tmp_path / "log.tsv")
    words = ["anonymize", "log.tsv", "-o", "release.tsv", "-m", "clump", "--k", "2", "--truth", "truth.tsv"]
    assert querycloak(*words, "--seed", "1", "--mapping", "phrases", cwd=tmp_path).returncode == 0

    def measured(*more):
        words = ["measure", "log.tsv", "release.tsv", "--truth", "truth.tsv", "--only", "generalization", "--json"]
        return json.loads(querycloak(*words, *more, cwd=tmp_path).stdout)["measures"]

    assert measured() == measured("--mapping", "phrases") != measured("--mapping", "segments")


def test_a_stream_without_categories_says_its_mapping(tmp_path):
    qc.write_log(sample_log(), tmp_path / "log.tsv")
    words = ["stream", "-i", "log.tsv", "-o", "release.tsv", "--k", "2", "--depth", "1", "--seed", "1"]
    assert querycloak(*words, "--mapping", "phrases", cwd=tmp_path).returncode == 0
    assert qc.read_release(tmp_path / "release.tsv").statement.mapping == "phrases"
    categories = [f"Top/{i % 2}" for i in range(len(sample_log()))]
    lines = ["user\tquery\tcategory", *(f"u{i % 7}\ttea\t{c}" for i, c in enumerate(categories))]
    (tmp_path / "given.tsv").write_text("\n".join(lines) + "\n")
    assert querycloak("stream", "-i", "given.tsv", "-o", "left.tsv", "--k", "2", cwd=tmp_path).returncode == 0
    assert qc.read_release(tmp_path / "left.tsv").statement.mapping == ""
