from __future__ import annotations

import gzip
from contextlib import suppress

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from places import DATA

from querycloak.errors import InputError, TaxonomyError, UserError
from querycloak.knowledge.paths import tree_of_paths
from querycloak.knowledge.table import read_directory, read_taxonomy


def write(tmp_path, text):
    path = tmp_path / "table"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
@pytest.mark.parametrize("head", ["", "path\n", "\ufeffpath\r\n"])
def test_paths(tmp_path, pack, head):
    path = write(tmp_path, pack((head + "Top/Arts/Film_Noir\nTop/News\nTop/Arts\n\n").encode()))
    assert read_taxonomy(path).paths == ["Top", "Top/Arts", "Top/Arts/Film Noir", "Top/News"]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["food/fruit"], ["food", "food/fruit"]),
        (["food/fruit", "sport"], ["Top", "Top/food", "Top/food/fruit", "Top/sport"]),
        (["Top/Arts", "Arts/Film"], ["Top", "Top/Arts", "Top/Arts/Film"]),
        (["/a//b/", "a/b"], ["a", "a/b"]),
        (["a / b", " a/ /b", "a/b\t"], ["a", "a/b"]),
        (["", "Top/Arts"], ["Top", "Top/Arts"]),
        ([""], ["Top"]),
        (["a/b c", "a/b", "a/b/c", "a/b!"], ["a", "a/b", "a/b/c", "a/b c", "a/b!"]),  # a subtree is a slice
    ],
)
def test_trees_of_paths(paths, expected):
    assert tree_of_paths(paths, name="t")[0].paths == expected


parts = st.text("ab_/ é\0", max_size=6)


@given(st.lists(parts, min_size=1, max_size=12))
def test_every_path_finds_its_concept(paths):
    tree, concept = tree_of_paths(paths, name="t")
    for path, node in zip(paths, concept, strict=True):
        parts = [part.strip(" ").replace("_", " ") for part in path.replace("\0", "").split("/")]
        clean = [part for part in parts if part]
        found = tree.paths[node].split("/")
        assert found[len(found) - len(clean) :] == clean
        assert len(found) - len(clean) <= 1
    assert len(tree) >= len({tuple(tree.ancestors(int(c))) for c in concept})
    assert tree.size[0] == len(tree)


def test_child_and_parent(tmp_path):
    path = write(tmp_path, "child\tparent\tlabels\nx1\tx0\tapple|apples\nx0\t\tfood\nx2\tx0\t\n")
    tree = read_taxonomy(path)
    assert tree.labels == [["food"], ["apple", "apples"], ["x2"]]
    assert tree.parent.tolist() == [-1, 0, 0]


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("a\t\nb\tc\nc\tb\n", TaxonomyError, "cycle through '[bc]'"),
        ("a\t\nb\t\n", TaxonomyError, "2 roots"),
        ("a\t\nb\tz\n", TaxonomyError, "'b' has the parent 'z', which does not exist"),
        ("a\t\nb\n", InputError, "line 2: expected 2 tab-separated fields, found 1"),
        ("a\t\tl\tm\n", InputError, "line 1: expected 2 or 3 tab-separated fields, found 4"),
        ("a\t\na\ta\n", InputError, "line 2: the child 'a' is listed twice"),
        ("a\t\n\ta\n", InputError, "line 2: the child is empty"),
        ("", InputError, "is empty"),
        ("path\n", TaxonomyError, "empty"),
        (b"\x7fELF\0\0", InputError, "binary"),
        ("a/" * 200, TaxonomyError, "levels"),
    ],
)
def test_bad_taxonomies(tmp_path, text, error, message):
    with pytest.raises(error, match=message):
        read_taxonomy(write(tmp_path, text))


def test_directory(tmp_path):
    path = write(tmp_path, "host\tcategory\nwww.A.com\tTop/Arts\nb.org/x/\tTop/Arts/Film\n\n")
    directory = read_directory(path)
    listed = {site: directory.taxonomy.paths[c] for site, c in directory.sites.iter_rows()}
    assert listed == {"a.com": "Top/Arts", "b.org/x": "Top/Arts/Film"}
    assert read_directory(write(tmp_path, "a.com,Top/FAQs,_Help\n")).taxonomy.paths == ["Top", "Top/FAQs, Help"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("host\na.com\n", "expected two columns, site and category path, found host"),
        ("a.com\nb.com\n", "expected two columns, site and category path, found one"),
        ("host\tcountry\na.com\tit\n", "found host, country"),
        ("a.com\tTop\nb.com\n", "line 2: expected two fields"),
        ("a.com\tTop\tmore\n", "line 1: expected two fields"),
        ("a.com\tTop\nb.com\t\n", "line 2: the category of the site is empty"),
        ("a.com\tTop\nb.com\t / /\n", "line 2: the category of the site is empty"),
        ("a.com\tTo\0p\n", "expected a table, found binary data"),
        ("", "is empty"),
        (b"\0\1", "binary"),
    ],
)
def test_bad_directories(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_directory(write(tmp_path, text))


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(tmp_path_factory, data):
    path = write(tmp_path_factory.mktemp("fuzz"), data)
    for read in (read_taxonomy, read_directory):
        with suppress(UserError):
            read(path)


def test_empty_levels_are_passed_over_with_and_without_a_taxonomy(tmp_path):
    path = write(tmp_path, "a.com\tTop//Arts/ /Film_Noir/\nb.com\tTop/Arts\n")
    own = read_directory(path)
    tree = read_taxonomy(write(tmp_path, "Top/Arts/Film_Noir\n"))
    given = read_directory(write(tmp_path, "a.com\tTop//Arts/ /Film_Noir/\nb.com\tTop/Arts\n"), tree)
    for directory in (own, given):
        listed = {site: directory.taxonomy.paths[c] for site, c in directory.sites.iter_rows()}
        assert listed == {"a.com": "Top/Arts/Film Noir", "b.com": "Top/Arts"}


def test_a_site_twice_has_the_category_that_is_least_deep_and_counts_in_both(tmp_path):
    directory = read_directory(write(tmp_path, "a.com\tTop/Arts/Film\nwww.a.com/\tTop/Games\na.com\tTop/Games\n"))
    assert directory.sites.rows() == [("a.com", directory.taxonomy.concept("Top/Games"))]
    assert dict(zip(directory.taxonomy.paths, directory.site_count.tolist(), strict=True)) == {
        "Top": 0,
        "Top/Arts": 0,
        "Top/Arts/Film": 1,
        "Top/Games": 1,
    }


def test_missing_file_and_directory(tmp_path):
    for read in (read_taxonomy, read_directory):
        with pytest.raises(InputError, match="no such file"):
            read(tmp_path / "none")
        with pytest.raises(InputError, match="found a directory"):
            read(tmp_path)


@pytest.mark.data
@pytest.mark.skipif(not DATA.exists(), reason="the real data are not next to the checkout")
def test_real_tables():
    tree = read_taxonomy(DATA / "odp-tree.tsv")
    assert (len(tree), tree.height, tree.label(0)) == (5_599, 3, "Top")
    directory = read_directory(DATA / "odp-hosts.tsv.gz", tree)
    assert len(directory) == 482_442
    assert directory.taxonomy is tree
    assert directory.site_count[tree.concept("Top/Kids_and_Teens")] == 15_288
