from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from querycloak.knowledge.directory import SiteDirectory
from querycloak.mapping.sites import categorise, site_of_query

DIRECTORY = SiteDirectory.of(
    ["kings.com", "kings.com/chess", "kings.com/chess/clubs", "free.net/~ann", "bbc.co.uk", "blog.bbc.co.uk"],
    ["Top/Arts", "Top/Games", "Top/Games/Clubs", "Top/Home", "Top/News", "Top/Society"],
)


def names(urls):
    return [DIRECTORY.taxonomy.path(c) if c >= 0 else None for c in categorise(urls, DIRECTORY)]


def test_longest_match_first():
    found = {
        "http://www.kings.com": "Top/Arts",
        "http://kings.com/about/us": "Top/Arts",
        "http://kings.com/chess/": "Top/Games",
        "http://kings.com/chess/rules.html?x=1": "Top/Games",
        "http://kings.com/chess/clubs/oslo/2006": "Top/Games/Clubs",
        "http://kings.com/chessmen": "Top/Arts",
        "https://shop.kings.com/x": "Top/Arts",
        "http://free.net/~ann/cats": "Top/Home",
        "http://free.net/~bob": None,
        "http://news.bbc.co.uk/1/hi": "Top/News",
        "http://blog.bbc.co.uk/": "Top/Society",
        "http://other.co.uk/": None,
        "": None,
        "not an address": None,
        "http://kings.com/chess" + "/deep" * 40: "Top/Games",
    }
    assert names(list(found)) == list(found.values())
    assert categorise([], DIRECTORY).dtype == np.int32
    assert categorise(pl.Series(["kings.com", None]), DIRECTORY).tolist() == [
        DIRECTORY.taxonomy.concept("Top/Arts"),
        -1,
    ]


parts = st.sampled_from(["", "chess", "clubs", "x"])


@given(st.lists(st.tuples(st.sampled_from(["kings.com", "a.kings.com", "free.net"]), st.lists(parts, max_size=5))))
def test_equals_naive(addresses):
    listed = dict(DIRECTORY.sites.iter_rows())

    def naive(host, path):
        path = "/".join(["", *path]).rstrip("/")
        while path:
            if host + path in listed:
                return listed[host + path]
            path = path.rpartition("/")[0]
        return listed.get(host, listed.get(".".join(host.split(".")[-2:]), -1))

    urls = [f"http://{host}/{'/'.join(path)}" for host, path in addresses]
    assert categorise(urls, DIRECTORY).tolist() == [naive(host, path) for host, path in addresses]


@pytest.mark.parametrize(
    ("query", "site", "words"),
    [
        ("www.animals.com", "animals.com", ("animals",)),
        ("http://www.animals.com/cats?x", "animals.com", ("animals",)),
        ("animals.com", "animals.com", ("animals",)),
        ("WWW Animals Com", "animals.com", ("animals",)),
        ("animals .com", "animals.com", ("animals",)),
        ("www. animals. com", "animals.com", ("animals",)),
        ("cheap-flights.co.uk", "cheap-flights.co.uk", ("cheap", "flights")),
        ("mail.me.com", "mail.me.com", ("mail", "me")),
        ("http:animals.com", None, None),
        ("animals", None, None),
        ("animals com", None, None),
        ("dr. smith", None, None),
        ("ann@animals.com", None, None),
        ("apple.com movies", None, None),
        ("version 2.0", None, None),
        ("telluride.co.", None, None),
        ("www.com", None, None),
        ("", None, None),
    ],
)
def test_web_addresses_typed_as_queries(query, site, words):
    assert site_of_query(query) == (None if site is None else (site, words))
