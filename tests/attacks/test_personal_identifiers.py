from __future__ import annotations

from sample_releases import distinct_log, release_of

from querycloak.attacks.personal_identifiers import personal_identifiers
from querycloak.randomness import Randomness

LOG = distinct_log()


def test_a_known_share_is_found():
    rows = [["tea", "ann@example.com", "12 elm street", "tea"], ["219-09-9999", "tea", "tea", "tea"]]
    result = personal_identifiers(LOG, release_of(LOG, rows, [0, 1]), Randomness(1))
    assert result.rate == 3 / 8
    assert result.details["mail"] == 1 / 8
    assert result.details["card"] == 0


def test_own_name_searches_by_form():
    rows = [["who is zaphod beeblebrox", "zaphod beeblebrox family tree", "who is the president of france", "tea"]]
    assert personal_identifiers(LOG, release_of(LOG, rows, [0]), Randomness(1)).details["own name"] == 2 / 4


def test_names_of_persons_count_and_famous_ones_do_not():
    rows = [["karen hartwell boston", "tea", "abraham lincoln", "hartwell, karen"]]
    result = personal_identifiers(LOG, release_of(LOG, rows, [0]), Randomness(1))
    assert (result.details["name"], result.details["own name"], result.rate) == (2 / 4, 0, 2 / 4)


def test_a_clean_release():
    assert personal_identifiers(LOG, release_of(LOG, [["tea"]], [0]), Randomness(1)).rate == 0
