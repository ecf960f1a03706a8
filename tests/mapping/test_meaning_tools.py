"""The tools behind the figures of docs/mapping.md: they score, learn and count as they say, and show no query."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

TOOLS = Path(__file__).parents[2] / "tools"


@pytest.fixture(autouse=True)
def tools_on_path(monkeypatch):
    monkeypatch.syspath_prepend(str(TOOLS))


def test_scores_are_over_pairs_of_query_and_topic():
    from kdd_cup import score

    found = score(
        [["a", "b"], [], ["c"], list("pqrstu")], [frozenset("a"), frozenset("ab"), frozenset("d"), frozenset("u")]
    )
    assert found.precision == 1 / 8  # the sixth topic of the last query is cut off
    assert found.recall == 1 / 5
    assert found.first == 1 / 4
    assert found.answered == 3 / 4
    assert found.f1 == pytest.approx(2 / 13)


def test_the_ridge_is_that_of_the_normal_equations():
    from topic_training import Data, predict

    random = np.random.default_rng(3)
    train = Data(random.normal(size=(30, 4)), random.random((30, 3)), (random.random((30, 3)) < 0.4).astype(float))
    test = Data(random.normal(size=(5, 4)), random.random((5, 3)), np.full((5, 3), np.nan))
    target = train.chosen - 0.3 * train.untrained
    centred = train.inputs - train.inputs.mean(axis=0)
    weights = np.linalg.solve(centred.T @ centred + 2.0 * np.eye(4), centred.T @ (target - target.mean(axis=0)))
    plain = (test.inputs - train.inputs.mean(axis=0)) @ weights + target.mean(axis=0) + 0.3 * test.untrained
    assert predict(train, test, 2.0, 0.3) == pytest.approx(plain)


def test_at_most_five_topics_and_one_where_any_speaks():
    from topic_training import answers

    scores = np.array([[0.1, 0.3, 0.2, 0.0, 0.0, 0.0], [0.6] * 6, [0.0] * 6, [0.0, 0.05, 0, 0, 0, 0]])
    assert answers(scores, 0.2) == [[1, 2], [0, 1, 2, 3, 4], [], [1]]


def test_every_tool_of_figures_is_run_or_named_as_one_that_maps_nothing():
    text = (TOOLS / "figures.sh").read_text()
    assert [path.stem for path in TOOLS.glob("*_figures.py") if path.stem not in text] == []


@pytest.mark.slow
def test_figures_of_files_of_ones_own_show_no_query(tmp_path, capsys, monkeypatch):
    import meaning_coverage
    import meaning_figures

    monkeypatch.setattr(meaning_coverage, "INVENTED", 20)
    words = ["cheap hotels in paris", "baseball scores", "chicken pox symptoms", "used honda civic", "mortgage rates"]
    topics = [r"Living\Travel & Vacation", r"Sports\Baseball", r"Living\Health & Fitness", r"Living\Car & Garage"]
    for name in ("first", "second"):
        lines = [f"{words[i % 5]} zxqy{i}\t{topics[i % 4]}\n" for i in range(40)]
        (tmp_path / f"{name}.tsv").write_text("".join(lines))
    (tmp_path / "log.tsv").write_text("user\tquery\n" + "".join(f"u{i}\t{word}\n" for i, word in enumerate(words)))
    given = [str(tmp_path / "first.tsv"), "--test", str(tmp_path / "second.tsv"), "--excite", str(tmp_path / "log.tsv")]
    monkeypatch.setattr(sys, "argv", ["meaning_figures.py", *given])
    meaning_figures.main()
    shown = capsys.readouterr().out
    assert "| trained: the vector and all of the above | 100.0%" in shown
    assert "| wordnet | layers | 100.0% |" in shown
    assert not any(word in shown for text in words for word in text.split() if len(word) > 3)
    assert "zxqy" not in shown
