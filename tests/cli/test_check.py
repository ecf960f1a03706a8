"""`querycloak check` as a data steward meets it: a verdict, an exit code, a page."""

from __future__ import annotations

import json

import pytest
from cli.command import querycloak, refused

import querycloak as qc


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A log, and a release of it by two methods."""
    folder = tmp_path_factory.mktemp("check")
    qc.write_generated(qc.generate(users=80, queries=2400, seed=5), folder / "log.tsv")
    for name, words in {
        "groups": ["plain-microaggregation", "--k", "4", "--as-in-paper"],
        "seeded": ["plain-microaggregation", "--k", "4", "--as-in-paper", "--seed", "3"],
    }.items():
        truth = ["--truth", folder / f"{name}.truth"]
        done = querycloak("anonymize", folder / "log.tsv", "-o", folder / f"{name}.tsv", "-m", *words, *truth)
        assert done.returncode == 0, done.stderr
    return folder


def check(folder, name, *words):
    truth = ["--truth", folder / f"{name}.truth"] if (folder / f"{name}.truth").exists() else []
    return querycloak("check", folder / "log.tsv", folder / f"{name}.tsv", *truth, *words)


@pytest.mark.slow
def test_texts_of_single_people_are_not_released(made, tmp_path):
    done = check(made, "groups", "-o", tmp_path / "page.html")
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.startswith("DO NOT RELEASE: ")
    assert "texts that one person alone asked" in done.stdout.splitlines()[0]
    assert "leave out --as-in-paper" in done.stdout
    assert "DO NOT RELEASE" in (tmp_path / "page.html").read_text()


def test_json_has_everything(made):
    found = json.loads(check(made, "groups", "--json").stdout)
    assert found["verdict"] == "DO NOT RELEASE"
    assert {light["question"] for light in found["lights"]} == {"singling out", "linkability", "inference"}
    assert found["run"]["exposure"]["own_texts"] > 0
    assert found["run"]["attacks"]
    assert found["run"]["utility"]


def test_without_the_truth_it_says_what_it_could_not_test(made):
    done = querycloak("check", made / "log.tsv", made / "groups.tsv")
    assert done.returncode == 1  # the texts are seen without it
    assert "not tested: claim: it needs the truth of the release to keep score (--truth)" in done.stdout


def test_a_release_made_with_a_seed_is_for_experiments(made):
    done = check(made, "seeded")
    assert done.returncode == 1
    assert "made with a seed" in done.stdout


@pytest.fixture(scope="module")
def popular(tmp_path_factory):
    """Many people who ask the same things, each in another order; and a private table of what they ask."""
    folder = tmp_path_factory.mktemp("popular")
    asked = ["green tea shop", "car insurance", "flu symptoms", "water sports", "truck engine", "coffee cups"]
    lines = ["user\tquery\ttime"]
    for person in range(800):
        mine = [asked[(person * (i + 1) + i) % 6] for i in range(3)] + [f"private matter number {person}"]
        lines += [f"u{person}\t{q}\t2026-01-0{1 + i} 10:00:00" for i, q in enumerate(mine)]
    (folder / "log.tsv").write_text("\n".join(lines) + "\n")
    words = ["frequent-queries", "--epsilon", "2", "--delta", "1e-6", "--per-user", "4"]
    done = querycloak("anonymize", folder / "log.tsv", "-o", folder / "counts.tsv", "-m", *words)
    assert done.returncode == 0, done.stderr
    return folder


def test_a_safe_and_useful_release_is_released(popular):
    done = check(popular, "counts", "--for", "popularity")
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("RELEASE: all four conditions hold")


def test_a_release_is_not_judged_by_what_its_kind_can_never_do(popular):
    refused(check(popular, "counts", "--for", "profiles"), "publishes counts without users", "leave profiles out")


def test_limits_are_options(made):
    loose = ["--max-risk", "1", "--max-claim", "1", "--max-membership", "1", "--max-membership-at-1", "1"]
    loose += ["--max-own-texts", "1", "--max-identifiers", "1", "--for", "topics"]
    found = json.loads(check(made, "groups", "--json", *loose).stdout)
    assert found["verdict"] != "DO NOT RELEASE"
    assert found["limits"]["own_texts"] == 1
    assert all(light["colour"] != "red" for light in found["lights"])


def test_mistakes_get_one_sentence(made, tmp_path):
    other = tmp_path / "other.tsv"
    qc.write_generated(qc.generate(users=60, queries=900, seed=9), other)
    refused(querycloak("check", other, made / "groups.tsv", "--truth", made / "groups.truth"), "belong")
    refused(querycloak("check", made / "log.tsv", made / "groups.tsv", "--truth", tmp_path / "none"), "none")
    foreign = tmp_path / "foreign.truth"
    foreign.write_text("kind\tpublished\toriginal\nuser\tx\ty\n")
    refused(querycloak("check", made / "log.tsv", made / "groups.tsv", "--truth", foreign), "does not belong")
    refused(check(made, "groups", "--for", "topcis"), "Did you mean 'topics'")
    refused(check(made, "groups", "--max-risk", "2"), "from 0 to 1")
    refused(check(made, "groups", "--method", "sweep"), "was made by plain-microaggregation")
    refused(check(made, "groups", "-o", made / "log.tsv"), "choose another output")
    one = tmp_path / "one.tsv"
    one.write_text("user\tquery\n" + "".join(f"ann\tgreen tea number {i}\n" for i in range(4)))
    done = querycloak(
        "anonymize", one, "-o", tmp_path / "o.tsv", "-m", "sweep", "--as-in-paper", "--truth", tmp_path / "o.truth"
    )
    assert done.returncode == 0, done.stderr
    refused(querycloak("check", one, tmp_path / "o.tsv", "--truth", tmp_path / "o.truth"), "one user")
    refused(querycloak("attack", one, tmp_path / "o.tsv", "--truth", tmp_path / "o.truth"), "one user")
