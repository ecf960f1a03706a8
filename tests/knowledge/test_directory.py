from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from querycloak.errors import InputError
from querycloak.knowledge.addresses import _split, registered_domains, split_addresses
from querycloak.knowledge.directory import SiteDirectory
from querycloak.knowledge.paths import tree_of_paths


@pytest.mark.parametrize(
    ("address", "host", "path"),
    [
        ("http://www.Animals.com/", "animals.com", ""),
        ("animals.com:80/Cats", "animals.com", "/Cats"),
        ("//animals.com", "animals.com", ""),
        ("https://ann:secret@animals.com/a@b?c#d", "animals.com", "/a@b"),
        ("animals.com#a?b", "animals.com", ""),
        ("animals.com/a//", "animals.com", "/a"),
        ("www.com", "www.com", ""),
        ("www.animals.com.", "animals.com", ""),
        ("http://[::1]:8080/x", "[::1]", "/x"),
        ("  ", "", ""),
        ("/only/path", "", "/only/path"),
    ],
)
def test_normal_form(address, host, path):
    assert split_addresses(pl.Series([address])).row(0) == (host, path)


@given(
    st.lists(st.none() | st.text("aZ0.-/:@#? w", max_size=8) | st.sampled_from(["www.a.com", "www.com"]), max_size=6)
)
def test_hosts_in_normal_form_already_are_what_all_others_become(addresses):
    together = split_addresses(pl.Series(addresses, dtype=pl.String))
    assert together.rows() == [_split(pl.Series([address], dtype=pl.String)).row(0) for address in addresses]


def test_registered_domains():
    hosts = ["a.b.animals.com", "news.bbc.co.uk", "bbc.co.uk", "co.uk", "abc.net.au", "10.0.0.1", "[::1]", "localhost"]
    expected = ["animals.com", "bbc.co.uk", "bbc.co.uk", "co.uk", "abc.net.au", None, None, None]
    assert registered_domains(pl.Series(hosts)).to_list() == expected


def test_of_several_categories_the_shallowest_then_the_largest_is_taken():
    directory = SiteDirectory.of(
        ["x.com", "x.com", "http://x.com/", "y.com", "z.com", "y.com"],
        ["Top/A/Deep", "Top/C", "Top/B", "Top/C", "Top/B", "Top/B"],
    )
    category = {site: directory.taxonomy.paths[c] for site, c in directory.sites.iter_rows()}
    assert category == {"x.com": "Top/B", "y.com": "Top/B", "z.com": "Top/B"}
    count = dict(zip(directory.taxonomy.paths, directory.site_count.tolist(), strict=True))
    assert count == {"Top": 0, "Top/A": 0, "Top/A/Deep": 1, "Top/B": 3, "Top/C": 2}


def test_with_a_taxonomy_unknown_categories_become_the_nearest_above():
    taxonomy, _ = tree_of_paths(["Top/Arts", "Top/Kids_and_Teens"], name="odp")
    directory = SiteDirectory.of(
        ["a.com", "b.com", "c.com"], ["Top/Arts/Film", "Top/Kids_and_Teens", "Other"], taxonomy
    )
    assert sorted(directory.sites.rows()) == [("a.com", 1), ("b.com", 2)]
    with pytest.raises(InputError, match="no site with a category"):
        SiteDirectory.of(["a.com"], ["Other"], taxonomy)


def test_repr_has_no_site():
    assert repr(SiteDirectory.of(["secret.com"], ["Top/Arts"])) == "SiteDirectory(1 sites, 2 categories)"
