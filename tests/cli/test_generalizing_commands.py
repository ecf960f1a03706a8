"""`clump` and `partition` from the command line, over a taxonomy from a file: release, measure, refusals."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from cli.command import querycloak, refused

TREE = """food\t
fruit\tfood
meat\tfood
apple\tfruit
orange\tfruit
banana\tfruit
beef\tmeat
chicken\tmeat
"""
FOODS = ["apple", "orange", "banana", "beef", "chicken"]


@pytest.fixture
def place(tmp_path):
    rows = [(f"u{u}", FOODS[(u * i) % 5]) for u in range(1, 13) for i in range(1, 4)]
    rows += [("stranger", "xyzzy")]
    (tmp_path / "log.tsv").write_text("user\tquery\n" + "".join(f"{u}\t{q}\n" for u, q in rows))
    (tmp_path / "tree.tsv").write_text(TREE)
    return tmp_path


def anonymize(place, *options):
    return querycloak(
        "anonymize", place / "log.tsv", "-o", place / "out.tsv", "--taxonomy", place / "tree.tsv", *options
    )


@pytest.mark.parametrize(
    "options",
    [
        ("clump", "--k", 4),
        ("clump", "--k", 4, "--search", 2, "--order", "increasing", "--duplicates", "drop", "--refine"),
        ("partition", "--k", 4),
    ],
)
def test_the_file_alone_proves_k(place, options):
    done = anonymize(place, "--truth", place / "truth", "--method", *options)
    assert done.returncode == 0, done.stderr
    assert "k-anonymity of users' generalized transactions, k = 4" in done.stdout
    head, *lines = (place / "out.tsv").read_text().splitlines()
    assert head == "user\tquery\tcategory\tconcept_id"
    rows = {}
    for line in lines:
        user, label, path, key = line.split("\t")
        assert key == label, "the file of the taxonomy names each concept by its label"
        assert path.split("/")[0] == "food"
        assert path.split("/")[-1] == label
        rows.setdefault(user, []).append((label, path))
    assert len(rows) == 12
    assert min(Counter(map(tuple, rows.values())).values()) >= 4
    statement = json.loads((place / "out.tsv.statement.json").read_text())["statement"]
    assert statement["counts_in"]["users without a concept"] == 1

    measured = querycloak(
        "measure",
        place / "log.tsv",
        place / "out.tsv",
        *("--truth", place / "truth", "--taxonomy", place / "tree.tsv", "--json"),
    )
    assert measured.returncode == 0, measured.stderr
    (score,) = [s for s in json.loads(measured.stdout)["measures"] if s["measure"] == "generalization"]
    assert score["value"] == statement["figures"]["distortion, share of worst case"]
    assert score["details"]["false items, share"] == 0


@pytest.mark.parametrize("method", ["clump", "partition"])
def test_classes_can_be_verified_and_measured(place, method):
    done = anonymize(place, "--truth", place / "truth", "--method", method, "--k", 4, "--output-form", "classes")
    assert done.returncode == 0, done.stderr
    head, *lines = (place / "out.tsv").read_text().splitlines()
    assert head == "class\tsize\tconcept\tcount\tpath\tconcept_id"
    sizes = {line.split("\t")[0]: int(line.split("\t")[1]) for line in lines}
    assert sum(sizes.values()) == 12
    assert min(sizes.values()) >= 4
    verified = querycloak("verify", place / "out.tsv", "--log", place / "log.tsv", "--truth", place / "truth")
    assert verified.returncode == 0, verified.stdout
    assert "every published user shares its log with at least 3 others" in verified.stdout
    taxonomy = ("--taxonomy", place / "tree.tsv", "--json")
    measured = querycloak("measure", place / "log.tsv", place / "out.tsv", "--truth", place / "truth", *taxonomy)
    assert measured.returncode == 0, measured.stderr
    (score,) = [s for s in json.loads(measured.stdout)["measures"] if s["measure"] == "generalization"]
    statement = json.loads((place / "out.tsv.statement.json").read_text())["statement"]
    assert {name: score["details"][name] for name in statement["figures"]} == statement["figures"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--k", 1), "--k must be an integer >= 2, got 1."),
        (("--search", 0), "--search must be an integer >= 1, got 0."),
        (("--k", 13), "clump with k = 13 needs 13 or more users with a concept, but 12 of 13 users have a concept"),
    ],
)
def test_refused_in_one_sentence(place, options, message):
    assert message in refused(anonymize(place, "--method", "clump", *options))
    assert not (place / "out.tsv").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [("drink\t\n", "'drink'"), ("tea\tdrink\n", "'drink'"), ("tea\tpot\npot\ttea\n", "cycle through")],
)
def test_a_taxonomy_that_is_no_tree_is_refused_with_the_node(place, line, message):
    (place / "tree.tsv").write_text(TREE + line)
    assert message in refused(anonymize(place, "--method", "clump"))
